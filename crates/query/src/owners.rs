//! Owners of exceptions whose ancestors arrived in another request. Every read finds them by walking up the stored
//! spans, so that no read returns a stale owner. DECISIONS 8.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tidewatch_domain::model::{SpanId, TraceId};
use tidewatch_domain::project::EntityKind;
use tidewatch_domain::waterfall::{StoredOwners, StoredSpan};
use tidewatch_store::plan::{Filter, Value};
use tidewatch_store::tables::Table;

use super::answer::{Answer, Row};
use super::executor::Executor;
use super::plans::{self, Window};
use super::time::Range;
use super::{filters, ids, spans};
use crate::error::QueryError;
use tidewatch_accounts::Project;
use uuid::Uuid;

/// Maximum spans, and maximum entities of a kind, that are read for the owners of one page.
const SPANS_MAX: usize = 500_000;
/// Maximum exceptions without a stored owner whose owners are looked up for a condition on owners; the latest ones.
const LATE_OWNERS_MAX: usize = 20_000;
/// Maximum exceptions of one look-up for a condition on owners.
const LATE_OWNERS_STEP: usize = 1000;
/// `owner_kind` of exceptions whose owner is looked up when they are read.
const UNRESOLVED: u64 = 255;

/// The nearest Endpoint or Task above an exception's span, that span included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// Endpoint or Task.
    pub kind: EntityKind,
    /// Name of the entity.
    pub name: String,
    /// The span of the entity.
    pub span_id: SpanId,
    /// The row id of the entity.
    pub row_id: [u8; 16],
}

/// The owner as stored with the exception.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordedOwner {
    /// The owner was determined at ingest; `None`: the exception has no owner.
    Resolved(Option<Owner>),
    /// The owner is this span's entity or that of its nearest ancestor with one; see [`look_up`].
    Unresolved(SpanId),
}

impl RecordedOwner {
    /// Reads a row of exceptions of `project`.
    pub fn read(row: Row<'_>, project: Uuid) -> RecordedOwner {
        let span_id = row.span_id("owner_span_id");
        // The owner of a native exception is the run that it names.
        let row_id = match row.bytes("native_ids").first_chunk::<16>() {
            Some(uuid) => *uuid,
            None => ids::entity_row(project, row.trace_id("trace_id"), span_id),
        };
        let known = |kind| {
            RecordedOwner::Resolved(Some(Owner { kind, name: row.text("owner_name").to_owned(), span_id, row_id }))
        };
        match row.int("owner_kind") {
            1 => known(EntityKind::Endpoint),
            2 => known(EntityKind::Task),
            kind if kind == UNRESOLVED as i64 => RecordedOwner::Unresolved(span_id),
            _ => RecordedOwner::Resolved(None),
        }
    }
}

/// A request for the owner of an exception.
#[derive(Debug, Clone, Copy)]
pub struct OwnerLookup {
    /// The trace of the exception.
    pub trace_id: TraceId,
    /// The first span that is considered.
    pub start: SpanId,
    /// Time of the exception, nanoseconds since the epoch; spans near it are read.
    pub time: i64,
}

/// Finds owners by trace and start span. Lookups without an owner are absent.
pub async fn look_up(
    executor: &Executor,
    project: &Project,
    lookups: &[OwnerLookup],
) -> Result<HashMap<(TraceId, SpanId), Owner>, QueryError> {
    let traces: BTreeSet<TraceId> = lookups.iter().map(|lookup| lookup.trace_id).collect();
    let Some(range) = lookups.iter().map(|lookup| Range::around(lookup.time)).reduce(Range::join) else {
        return Ok(HashMap::new());
    };
    let read = |table: Table, columns: Vec<&'static str>| {
        let filter = filters::ids("trace_id", traces.iter().map(|trace| trace.0));
        executor.run(plans::rows(table, &[project.number], range, filter, columns, vec![], Window::first(SPANS_MAX)))
    };
    let named = || vec!["trace_id", "span_id", "name", "row_id"];
    let (spans, endpoints, tasks) = tokio::try_join!(
        read(Table::Spans, vec!["trace_id", "span_id", "parent_span_id", "promoted"]),
        read(Table::Endpoints, named()),
        read(Table::Tasks, named()),
    )?;
    let mut owners = HashMap::new();
    let (endpoints, tasks) = (entities(&endpoints), entities(&tasks));
    let forest = forest(&spans, &endpoints, &tasks);
    for lookup in lookups {
        if let Some(owner) = forest.get(&lookup.trace_id).and_then(|tree| tree.owner(lookup.start)) {
            let found = match owner.kind {
                EntityKind::Endpoint => endpoints.get(&(lookup.trace_id, owner.span_id)),
                EntityKind::Task => tasks.get(&(lookup.trace_id, owner.span_id)),
            };
            let derived = || ids::entity_row(project.id, lookup.trace_id, owner.span_id);
            let row_id = found.map_or_else(derived, |entity| entity.row_id);
            let owner = Owner { kind: owner.kind, name: owner.name.to_owned(), span_id: owner.span_id, row_id };
            owners.insert((lookup.trace_id, lookup.start), owner);
        }
    }
    Ok(owners)
}

/// The exceptions of a range whose owners arrived in another request: their row ids, by the name of the owner.
pub async fn late(
    executor: &Executor,
    project: &Project,
    range: Range,
) -> Result<BTreeMap<String, Vec<[u8; 16]>>, QueryError> {
    let filter = Filter::eq("owner_kind", Value::U64(UNRESOLVED));
    let columns = vec!["row_id", "trace_id", "owner_span_id", "time"];
    let (order, window) = (vec![plans::descending("time")], Window::first(LATE_OWNERS_MAX));
    let plan = plans::rows(Table::Exceptions, &[project.number], range, filter, columns, order, window);
    let exceptions = executor.run(plan).await?;
    let lookups: Vec<(OwnerLookup, [u8; 16])> = exceptions
        .rows()
        .map(|row| {
            let (trace_id, start) = (row.trace_id("trace_id"), row.span_id("owner_span_id"));
            (OwnerLookup { trace_id, start, time: row.int("time") }, row.id16("row_id"))
        })
        .collect();
    let mut late: BTreeMap<String, Vec<[u8; 16]>> = BTreeMap::new();
    for step in lookups.chunks(LATE_OWNERS_STEP) {
        let wanted: Vec<OwnerLookup> = step.iter().map(|(lookup, _)| *lookup).collect();
        let found = look_up(&executor.unfiltered(), project, &wanted).await?;
        for (lookup, row_id) in step {
            if let Some(owner) = found.get(&(lookup.trace_id, lookup.start)) {
                late.entry(owner.name.clone()).or_default().push(*row_id);
            }
        }
    }
    Ok(late)
}

struct Entity<'a> {
    name: &'a str,
    row_id: [u8; 16],
}

type Entities<'a> = HashMap<(TraceId, SpanId), Entity<'a>>;

fn entities(answer: &Answer) -> Entities<'_> {
    answer
        .rows()
        .map(|row| {
            let entity = Entity { name: row.text("name"), row_id: row.id16("row_id") };
            ((row.trace_id("trace_id"), row.span_id("span_id")), entity)
        })
        .collect()
}

fn forest<'a>(spans: &Answer, endpoints: &Entities<'a>, tasks: &Entities<'a>) -> HashMap<TraceId, StoredOwners<'a>> {
    let mut traces: HashMap<TraceId, Vec<StoredSpan<'a>>> = HashMap::new();
    for row in spans.rows() {
        let (trace_id, span_id) = (row.trace_id("trace_id"), row.span_id("span_id"));
        let promoted = row.int("promoted") as u8;
        let (entity, found) = match promoted {
            promoted if promoted & spans::ENDPOINT != 0 => (Some(EntityKind::Endpoint), endpoints),
            promoted if promoted & spans::TASK != 0 => (Some(EntityKind::Task), tasks),
            _ => (None, endpoints),
        };
        let name = found.get(&(trace_id, span_id)).map_or("", |entity| entity.name);
        let parent_span_id = row.span_id("parent_span_id");
        traces.entry(trace_id).or_default().push(StoredSpan { span_id, parent_span_id, entity, name });
    }
    traces.into_iter().map(|(trace, spans)| (trace, StoredOwners::new(spans))).collect()
}
