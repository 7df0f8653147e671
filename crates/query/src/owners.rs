//! Who owns an exception whose ancestors came in another request: climbed over the stored spans whenever somebody looks,
//! so that no read shows a stale owner. DECISIONS 8.

use std::collections::{BTreeSet, HashMap};

use tidewatch_domain::model::{SpanId, TraceId};
use tidewatch_domain::project::EntityKind;
use tidewatch_domain::waterfall::{StoredOwners, StoredSpan};
use tidewatch_store::tables::Table;

use super::answer::{Answer, Row};
use super::ask::{self, Ask, Window};
use super::time::Range;
use super::{filters, spans};
use crate::error::QueryError;

/// Spans looked at for the owners of one page.
const SPANS_MAX: usize = 500_000;

/// The nearest Endpoint or Task above an exception's span, that span included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    pub kind: EntityKind,
    pub name: String,
    pub span_id: SpanId,
}

/// Where an exception's owner is to be found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stored {
    /// Decided when it was written.
    Final(Option<Owner>),
    /// Climb from this span.
    Above(SpanId),
}

impl Stored {
    /// From a row of exceptions: `owner_kind`, `owner_name`, `owner_span_id`.
    pub fn read(row: Row<'_>) -> Stored {
        let span_id = row.span_id("owner_span_id");
        let known = |kind| Stored::Final(Some(Owner { kind, name: row.text("owner_name").to_owned(), span_id }));
        match row.int("owner_kind") {
            1 => known(EntityKind::Endpoint),
            2 => known(EntityKind::Task),
            255 => Stored::Above(span_id),
            _ => Stored::Final(None),
        }
    }
}

/// A climb: from which span of which trace, at about what time.
#[derive(Debug, Clone, Copy)]
pub struct Climb {
    pub trace_id: TraceId,
    pub start: SpanId,
    pub time: i64,
}

/// The owners found; a climb without one is absent.
pub async fn climb(ask: &Ask, project: u32, climbs: &[Climb]) -> Result<HashMap<(TraceId, SpanId), Owner>, QueryError> {
    let traces: BTreeSet<TraceId> = climbs.iter().map(|climb| climb.trace_id).collect();
    let Some(range) = climbs.iter().map(|climb| Range::around(climb.time)).reduce(Range::join) else {
        return Ok(HashMap::new());
    };
    let look = |table: Table, columns: Vec<&'static str>| {
        let filter = filters::ids("trace_id", traces.iter().map(|trace| trace.0));
        ask.ask(ask::rows(table, &[project], range, filter, columns, vec![], Window::first(SPANS_MAX)))
    };
    let named = || vec!["trace_id", "span_id", "name"];
    let (spans, endpoints, tasks) = tokio::try_join!(
        look(Table::Spans, vec!["trace_id", "span_id", "parent_span_id", "promoted"]),
        look(Table::Endpoints, named()),
        look(Table::Tasks, named()),
    )?;
    let mut owners = HashMap::new();
    let forest = forest(&spans, &names(&endpoints), &names(&tasks));
    for climb in climbs {
        if let Some(owner) = forest.get(&climb.trace_id).and_then(|tree| tree.owner(climb.start)) {
            let owner = Owner { kind: owner.kind, name: owner.name.to_owned(), span_id: owner.span_id };
            owners.insert((climb.trace_id, climb.start), owner);
        }
    }
    Ok(owners)
}

type Names<'a> = HashMap<(TraceId, SpanId), &'a str>;

fn names(answer: &Answer) -> Names<'_> {
    answer.rows().map(|row| ((row.trace_id("trace_id"), row.span_id("span_id")), row.text("name"))).collect()
}

fn forest<'a>(spans: &Answer, endpoints: &Names<'a>, tasks: &Names<'a>) -> HashMap<TraceId, StoredOwners<'a>> {
    let mut traces: HashMap<TraceId, Vec<StoredSpan<'a>>> = HashMap::new();
    for row in spans.rows() {
        let (trace_id, span_id) = (row.trace_id("trace_id"), row.span_id("span_id"));
        let promoted = row.int("promoted") as u8;
        let (entity, names) = match promoted {
            promoted if promoted & spans::ENDPOINT != 0 => (Some(EntityKind::Endpoint), endpoints),
            promoted if promoted & spans::TASK != 0 => (Some(EntityKind::Task), tasks),
            _ => (None, endpoints),
        };
        let name = names.get(&(trace_id, span_id)).copied().unwrap_or("");
        let parent_span_id = row.span_id("parent_span_id");
        traces.entry(trace_id).or_default().push(StoredSpan { span_id, parent_span_id, entity, name });
    }
    traces.into_iter().map(|(trace, spans)| (trace, StoredOwners::new(spans))).collect()
}
