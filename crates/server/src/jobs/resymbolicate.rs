//! Resolves stack traces that were stored raw, once their symbols are uploaded. DECISIONS 14.
//!
//! Exceptions of the last [`limits::RESYMBOLICATE_DAYS`] days are processed in the background, part by part. Changed
//! rows are rewritten and belong to another Issue afterwards. The original trace is stored with each of them, so this
//! can be repeated whenever symbols change.
//!
//! A trace is resolved with the symbols of the build that it names itself: on the exception, its span, its scope or its
//! resource ([`tidewatch_ingest::symbols::build_hints`]). Resolved frames stay: only frames that are still raw change.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::{ArrayRef, BooleanArray, DictionaryArray, RecordBatch, StringArray, UInt8Array, UInt64Array};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{DataType, Int32Type};
use bumpalo::Bump;
use tidewatch_domain::grouping::Occurrence;
use tidewatch_domain::model::{Attributes, KeyValue, SpanId, TraceId};
use tidewatch_domain::rules::exception::{ExceptionText, Origin, RawStack, Symbolic, fingerprint};
use tidewatch_domain::rules::group_versions::{FIRST_VERSION, GroupVersion};
use tidewatch_domain::rules::grouping_rules::FINGERPRINT_VERSION;
use tidewatch_domain::units::DAY_NS;
use tidewatch_domain::wire;
use tidewatch_journal::heartbeat::Heartbeat;
use tidewatch_store::StoreError;
use tidewatch_store::tables::Table;
use tidewatch_store::{Changed, Rewrite};
use tidewatch_symbols::{DebugId, Hints, Trace};
use tokio::sync::watch;

use super::regroup;
use crate::contexts::Ingest;
use tidewatch_accounts::Project;
use tidewatch_ingest::symbols::build_hints::BuildHints;
use tidewatch_ingest::symbols::resolve::symbolic;
use tidewatch_ingest::symbols::resymbolication_queue::QueuedProject;
use tidewatch_limits as limits;
use tidewatch_query::answer::{Answer, Row};
use tidewatch_query::context::QueryContext;
use tidewatch_query::filters;
use tidewatch_query::plans;
use tidewatch_query::plans::Window;
use tidewatch_query::time::Range;
use tidewatch_runtime::background::{Background, HeartbeatGuard};

/// Processes queued projects until `stopped`.
pub async fn run(
    query: Arc<QueryContext>,
    ingest: Arc<Ingest>,
    background: Arc<Background>,
    mut stopped: watch::Receiver<bool>,
) {
    let running = HeartbeatGuard(Heartbeat::new("symbols-again"));
    let heartbeat = &running.0;
    background.add(heartbeat);
    let starting = ingest.clone();
    let build_missing = move || {
        for project in starting.symbols.resymbolication.projects() {
            if let Err(error) = starting.symbols.build_missing(project) {
                tracing::error!(%error, "symbol artifacts that are missing cannot be found: {error}");
            }
        }
    };
    if let Err(error) = tokio::task::spawn_blocking(build_missing).await {
        tracing::error!(%error, "looking for missing symbol artifacts failed: {error}");
    }
    loop {
        heartbeat.idle();
        tokio::select! {
            () = ingest.symbols.resymbolication.added() => {}
            _ = stopped.wait_for(|stop| *stop) => return,
        }
        let marking = ingest.clone();
        let mark = move || {
            if let Err(error) = marking.symbols.resymbolication.save() {
                tracing::warn!(%error, "which stack traces to resolve again cannot be written: {error}");
            }
        };
        if let Err(error) = tokio::task::spawn_blocking(mark).await {
            tracing::error!(%error, "writing which stack traces to resolve again failed: {error}");
        }
        // Requests that did not find the symbols yet are stored after this pause, and are processed too.
        tokio::select! {
            () = tokio::time::sleep(limits::RESYMBOLICATE_PAUSE) => {}
            _ = stopped.wait_for(|stop| *stop) => return,
        }
        let (query, ingest) = (query.clone(), ingest.clone());
        let (stop, beating) = (stopped.clone(), heartbeat.clone());
        let work = move || {
            // Artifacts of one upload are built one after another: one pass over the rows serves all of them.
            ingest.symbols.builder.wait_until_idle();
            // Called before each batch of rows.
            let stop = || {
                beating.beat();
                *stop.borrow()
            };
            for queued in ingest.symbols.resymbolication.take() {
                process(&query, &ingest, queued, &stop);
            }
            beating.idle();
        };
        if let Err(error) = tokio::task::spawn_blocking(work).await {
            tracing::error!(%error, "resolving stack traces again failed: {error}");
        }
    }
}

/// Processes one project. If that fails or is stopped, its mark stays: the next upload or the next start retries it.
/// Blocks.
fn process(query: &Arc<QueryContext>, ingest: &Ingest, queued: QueuedProject, stop: &dyn Fn() -> bool) {
    if let Some(project) = query.projects.project_by_id(queued.project)
        && let Err(error) = resolve_again(query, ingest, &project, stop)
    {
        tracing::error!(%error, "stack traces cannot be resolved again: {error}");
        return;
    }
    if !stop()
        && let Err(error) = ingest.symbols.resymbolication.done(queued)
    {
        tracing::warn!(%error, "which stack traces to resolve again cannot be written: {error}");
    }
}

/// Resolves the raw stack traces of a project. Returns the number of changed exceptions. `stop` is polled before each
/// batch of rows. Blocks.
pub fn resolve_again(
    query: &Arc<QueryContext>,
    ingest: &Ingest,
    project: &Project,
    stop: &dyn Fn() -> bool,
) -> Result<usize, StoreError> {
    let days = Duration::from_secs(limits::RESYMBOLICATE_DAYS * 24 * 60 * 60);
    let which = Rewrite {
        table: Table::Exceptions,
        project: project.number,
        since_ns: query.clock.now_ns() - i64::try_from(days.as_nanos()).unwrap_or(i64::MAX),
    };
    let newest = query.grouping.newest();
    let mut changed = 0;
    query.store.rewrite(which, stop, &mut |batch| {
        let found = changes(query, ingest, project, batch)?;
        changed += found.len();
        if found.is_empty() {
            return Ok(None);
        }
        let after = with_changes(batch, &found, newest)?;
        regroup::follow_rows(query, project, &moved(batch, &after))?;
        Ok(Some(after))
    })?;
    if !stop() {
        regroup::lead_on(query, project)?;
    }
    if changed > 0 {
        tracing::info!(project = project.number, changed, "resolved {changed} stack traces again");
    }
    Ok(changed)
}

/// The new values of a row.
struct Change {
    row: usize,
    exception_type: String,
    stack_trace: String,
    group: u64,
}

fn changes(
    query: &QueryContext,
    ingest: &Ingest,
    project: &Project,
    batch: &RecordBatch,
) -> Result<Vec<Change>, StoreError> {
    let answer = Answer::new(batch.clone());
    let arena = Bump::new();
    let mut slots = Vec::new();
    for (number, row) in answer.rows().enumerate() {
        if row.int("project") == i64::from(project.number) {
            let sent = Sent::read(row, &arena);
            if sent.may_be_raw() {
                slots.push((number, row, sent));
            }
        }
    }
    let mut origins = HashMap::new();
    for rows in slots.chunks(limits::RESYMBOLICATE_SPANS) {
        origins.extend(span_origins(query, project, rows.iter().map(|(_, row, _)| *row))?);
    }
    let mut changes = Vec::new();
    for (number, row, sent) in slots {
        let origin = origins.get(&span_of(row));
        let (old, old_type) = (row.text("stack_trace"), row.text("exception_type"));
        let new = sent.resolved(ingest, project, origin, query.clock.now_ns(), &arena);
        let text = new.text.filter(|text| keeps_resolved_frames(old, sent.text.stack_trace, text));
        let exception_type = new.exception_type.as_deref().unwrap_or(old_type);
        let stack_trace = text.as_deref().unwrap_or(old);
        if stack_trace != old || (exception_type != old_type && text.is_some()) {
            let resource: &[KeyValue<'_>] = match origin {
                Some(origin) => wire::decode_attributes(arena.alloc_slice_copy(&origin.resource), &arena),
                None => &[],
            };
            // A resolved trace has frames, so that the name of the span does not count.
            let occurrence = Occurrence {
                language: Attributes(resource).text("telemetry.sdk.language").unwrap_or(""),
                exception_type,
                message: row.text("message"),
                stack_trace,
                context: "",
                fingerprint: fingerprint(Attributes(sent.event), Attributes(sent.record), &arena),
            };
            let group = (query.grouping.newest().hash)(&occurrence);
            let (exception_type, stack_trace) = (exception_type.to_owned(), stack_trace.to_owned());
            changes.push(Change { row: number, exception_type, stack_trace, group });
        }
    }
    Ok(changes)
}

/// An exception as it was received, as far as its row has it.
struct Sent<'a> {
    text: ExceptionText<'a>,
    /// Attributes of the exception.
    attributes: &'a [KeyValue<'a>],
    /// Attributes of its span or log record.
    record: &'a [KeyValue<'a>],
    /// Attributes of its event, which name the build of an exception that its span itself reports.
    event: &'a [KeyValue<'a>],
    /// Attributes of the resource; empty in rows of earlier versions.
    resource: &'a [KeyValue<'a>],
    /// Version of the app in the row.
    app_version: &'a str,
}

impl<'a> Sent<'a> {
    fn read(row: Row<'_>, arena: &'a Bump) -> Sent<'a> {
        let decoded = |column| wire::decode_attributes(arena.alloc_slice_copy(row.bytes(column)), arena);
        let (event, record) = (decoded("event_attributes"), decoded("attributes"));
        let has_exception = event.iter().any(|attribute| attribute.key.starts_with("exception."));
        let attributes = if has_exception { event } else { record };
        Sent {
            text: ExceptionText::read(Attributes(attributes), arena),
            attributes,
            record,
            event,
            resource: decoded("resource"),
            app_version: arena.alloc_str(row.text("app_version")),
        }
    }

    /// Whether symbols could resolve it, for any language and build.
    fn may_be_raw(&self) -> bool {
        let hints = Hints { debug_id: DebugId::parse("1"), ..Hints::default() };
        Trace::read(self.text.stack_trace, &hints).is_some()
    }

    fn resolved(
        &self,
        ingest: &Ingest,
        project: &Project,
        origin: Option<&SpanOrigin>,
        now_ns: i64,
        arena: &'a Bump,
    ) -> Symbolic<'a> {
        let copied = |text: &str| &*arena.alloc_str(text);
        let resource = origin.map(|origin| wire::decode_attributes(arena.alloc_slice_copy(&origin.resource), arena));
        let stored = Some(self.resource).filter(|resource| !resource.is_empty());
        let resource = resource.or(stored);
        let origin = Origin {
            // The event of a native report has what symbolication needs of the resource.
            resource: Attributes(resource.unwrap_or(self.event)),
            scope_name: origin.map_or("", |origin| copied(&origin.scope)),
            scope: Attributes(self.event),
            record: Attributes(self.record),
        };
        let text = &self.text;
        let raw = RawStack {
            text: text.stack_trace,
            exception_type: text.exception_type,
            origin,
            attributes: Attributes(self.attributes),
        };
        let named = BuildHints::of(&raw);
        let named = if resource.is_none() { named.or_version(self.app_version) } else { named };
        let resolved = named.with_hints(|hints| ingest.symbols.resolve(project.id, raw.text, hints, now_ns));
        resolved.map(|(resolved, _)| symbolic(resolved, &raw)).unwrap_or_default()
    }
}

/// Whether `new` has every resolved line of `old`: a resolved frame is never replaced by one of another build. Frames
/// are renumbered, so their numbers are ignored.
fn keeps_resolved_frames(old: &str, raw: &str, new: &str) -> bool {
    fn unnumbered(line: &str) -> &str {
        let digits = line.strip_prefix('#').map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
        digits.and_then(|rest| rest.strip_prefix(' ')).unwrap_or(line)
    }
    let as_sent: HashSet<&str> = raw.lines().collect();
    let mut lines = new.lines().map(unnumbered);
    let mut resolved = old.lines().filter(|line| !as_sent.contains(line)).map(unnumbered);
    resolved.all(|line| lines.any(|kept| kept == line))
}

/// Hashes of changed rows, before and after.
fn moved(batch: &RecordBatch, after: &Changed) -> HashSet<(u64, u64)> {
    let (before, after_rows) = (Answer::new(batch.clone()), Answer::new(after.to.clone()));
    let is_changed = |(number, _): &(usize, Row<'_>)| after.rows.value(*number);
    let before = before.rows().enumerate().filter(is_changed).map(|(_, row)| row.u64("group"));
    before.zip(after_rows.rows().map(|row| row.u64("group"))).filter(|(before, after)| before != after).collect()
}

/// The changed rows of a batch with their new values, and the Issues they belong to.
fn with_changes(batch: &RecordBatch, changes: &[Change], newest: &GroupVersion) -> Result<Changed, StoreError> {
    let mut is_changed = vec![false; batch.num_rows()];
    changes.iter().for_each(|change| is_changed[change.row] = true);
    let rows = BooleanArray::from(is_changed);
    let chosen = filter_record_batch(batch, &rows).map_err(StoreError::internal("change stack traces"))?;
    let answer = Answer::new(chosen.clone());
    let is_fingerprint = |row: Row<'_>| row.opt_int("group_version") == Some(i64::from(FINGERPRINT_VERSION));
    let groups = answer.rows().zip(changes).map(|(row, change)| {
        // No symbols change a fingerprint.
        if is_fingerprint(row) { row.u64("group") } else { change.group }
    });
    let groups: ArrayRef = Arc::new(UInt64Array::from_iter_values(groups));
    let mut columns: Vec<ArrayRef> = chosen.columns().to_vec();
    let place = |name| Table::Exceptions.column(name).expect("a column of exceptions").0;
    // A string column is a dictionary or plain, like the batch's column.
    let strings = |place: usize, text: fn(&Change) -> &str| -> ArrayRef {
        let values = changes.iter().map(text);
        match chosen.column(place).data_type() {
            DataType::Dictionary(..) => Arc::new(values.collect::<DictionaryArray<Int32Type>>()),
            _ => Arc::new(StringArray::from_iter_values(values)),
        }
    };
    columns[place("group")] = groups;
    let versions = answer.rows().map(|row| match is_fingerprint(row) {
        true => Some(FINGERPRINT_VERSION),
        false => Some(newest.version).filter(|version| *version != FIRST_VERSION),
    });
    columns[place("group_version")] = Arc::new(versions.collect::<UInt8Array>());
    columns[place("stack_trace")] = strings(place("stack_trace"), |change| &change.stack_trace);
    columns[place("exception_type")] = strings(place("exception_type"), |change| &change.exception_type);
    let to = RecordBatch::try_new(batch.schema(), columns).map_err(StoreError::internal("change stack traces"))?;
    Ok(Changed { rows, to })
}

/// Resource and scope of a span, which are not stored with each exception.
#[derive(Debug, Clone)]
struct SpanOrigin {
    resource: Arc<[u8]>,
    scope: String,
}

fn span_of(row: Row<'_>) -> (TraceId, SpanId) {
    (row.trace_id("trace_id"), row.span_id("span_id"))
}

/// Reads resource and scope of the spans of these rows, as far as they are stored.
fn span_origins<'r>(
    query: &QueryContext,
    project: &Project,
    rows: impl Iterator<Item = Row<'r>> + Clone,
) -> Result<HashMap<(TraceId, SpanId), SpanOrigin>, StoreError> {
    let (Some(from), Some(to)) =
        (rows.clone().map(|row| row.int("time")).min(), rows.clone().map(|row| row.int("time")).max())
    else {
        return Ok(HashMap::new());
    };
    let filter = filters::all([
        filters::ids("trace_id", rows.clone().map(|row| row.trace_id("trace_id").0)),
        filters::ids("span_id", rows.map(|row| row.span_id("span_id").0)),
    ]);
    let range = Range { from: from.saturating_sub(DAY_NS), to: to.saturating_add(DAY_NS) };
    let columns = vec!["trace_id", "span_id", "resource", "scope"];
    let window = Window::first(2 * limits::RESYMBOLICATE_SPANS);
    let plan = plans::rows(Table::Spans, &[project.number], range, filter, columns, Vec::new(), window);
    let answer =
        Answer::new(query.store.query(&query.store.request_memory(), &plan, Instant::now() + limits::LIST_DEADLINE)?);
    let mut known: HashSet<Arc<[u8]>> = HashSet::new();
    let mut origins = HashMap::new();
    for row in answer.rows() {
        let bytes = row.bytes("resource");
        let resource = known.get(bytes).cloned().unwrap_or_else(|| Arc::from(bytes));
        known.insert(resource.clone());
        origins.insert(span_of(row), SpanOrigin { resource, scope: row.text("scope").to_owned() });
    }
    Ok(origins)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(old: &str, new: &str, expected: bool) {
        let raw = "E: x\n#00 aa 0x1 App\n#01 bb 0x2 Kit";
        assert_eq!(keeps_resolved_frames(old, raw, new), expected, "{old:?} {new:?}");
    }

    // A resolved frame is never replaced by one of another build.
    #[test]
    fn resolved_frames_stay() {
        let raw = "E: x\n#00 aa 0x1 App\n#01 bb 0x2 Kit";
        check(raw, "E: x\n#0 f (a.c:1:2)\n#01 bb 0x2 Kit", true);
        let half = "E: x\n#00 aa 0x1 App\n#1 g (b.c:1:2)";
        check(half, "E: x\n#0 inner (a.c:1:2)\n#1 f (a.c:1:2)\n#2 g (b.c:1:2)", true);
        check(half, "E: x\n#0 f (a.c:1:2)\n#1 other (b.c:1:2)", false);
        check(half, raw, false);
    }
}
