//! Sessions: the list, one session with its segments and errors, the documents of recordings. WIRE 8.7.
//!
//! A session has several rows, one per state that a client sent. The newest closed state counts, else the newest.

use std::collections::{BTreeSet, HashMap, HashSet};

use tidewatch_domain::query_language::evaluate;
use tidewatch_domain::rules::issue_group::issue_title;
use tidewatch_domain::rules::session;
use tidewatch_domain::units::{DAY_NS, HOUR_NS};
use tidewatch_store::columns;
use tidewatch_store::plan::{AttributeScope, Filter, Function, Key, Op, Value};
use tidewatch_store::tables::Table;

use super::answer::{Answer, Row};
use super::executor::Executor;
use super::language;
use super::language::computed::SessionValues;
use super::page::{self, Paging};
use super::plans::{self, Window};
use super::time::{self, Range};
use super::views::page::Page;
use super::views::session::*;
use super::{attributes, filters, ids};
use crate::error::QueryError;
use tidewatch_accounts::Project;

/// Maximum attribute filters of one request.
const ATTRIBUTE_FILTERS_MAX: usize = 20;
/// Maximum rows that an attribute filter with `contains` reads.
const CONTAINS_ROWS_MAX: usize = 100_000;
/// Maximum states of the sessions of one page.
const STATES_MAX: usize = 20_000;
/// Maximum segments of one session: one per second of the longest.
const SEGMENTS_MAX: usize = 4_000;
/// Maximum errors and linked traces of one session.
const ERRORS_MAX: usize = 1_000;
const LINKED_MAX: usize = 100;

type Id = [u8; 16];

/// Values by which the list is sorted and filtered.
#[derive(Debug, Clone, Copy)]
struct Summary {
    id: Id,
    started: i64,
    /// `None` while it is open.
    end: Option<i64>,
    errors: u64,
    has_recording: bool,
}

impl Summary {
    fn duration(&self) -> i64 {
        self.end.map_or(0, |end| end.saturating_sub(self.started))
    }
}

/// `POST /api/sessions`.
pub async fn list(
    executor: &Executor,
    project: &Project,
    request: SessionListRequest,
) -> Result<Page<SessionRow>, QueryError> {
    let now = executor.context.clock.now_ns();
    let range = Range::of_list(request.from_date.as_deref(), request.to_date.as_deref(), now)?;
    let paging = Paging::read(request.pagination)?;
    let order = page::order(&request.order_by)?;
    let (stored, computed) = language::computed::of_sessions(request.query.as_deref())?;
    let matching = matching(executor, project.number, range, &request, stored).await?;
    let mut found = summaries(executor, project.number, range, Filter::True, now).await?;
    let at_least = request.min_duration_ms.map_or(i64::MIN, |milliseconds| (milliseconds * 1.0e6).round() as i64);
    let at_most = request.max_duration_ms.map_or(i64::MAX, |milliseconds| (milliseconds * 1.0e6).round() as i64);
    found.retain(|session| {
        matching.as_ref().is_none_or(|ids| ids.contains(&session.id))
            && (at_least..=at_most).contains(&session.duration())
            && request.has_errors.is_none_or(|wanted| wanted == (session.errors > 0))
            && evaluate(&computed, &SessionValues { duration: session.duration(), errors: session.errors })
    });
    let is_descending = page::is_descending(request.sort_direction);
    found.sort_by(|left, right| {
        let ascending = match order {
            SessionOrder::StartedAt => left.started.cmp(&right.started),
            SessionOrder::Duration => left.duration().cmp(&right.duration()),
            SessionOrder::ErrorCount => left.errors.cmp(&right.errors),
        };
        let wanted = if is_descending { ascending.reverse() } else { ascending };
        wanted.then(left.id.cmp(&right.id))
    });
    let total = found.len() as u64;
    let shown = paging.cut(found);
    Ok(paging.page(views(executor, project.number, range, shown).await?, total))
}

/// The sessions of which any state passes the conditions on text, and `query`; `None` without such conditions.
async fn matching(
    executor: &Executor,
    project: u32,
    range: Range,
    request: &SessionListRequest,
    query: Filter,
) -> Result<Option<HashSet<Id>>, QueryError> {
    if request.attribute_filters.len() > ATTRIBUTE_FILTERS_MAX {
        return Err(QueryError::unprocessable(format!("at most {ATTRIBUTE_FILTERS_MAX} attribute filters")));
    }
    let columns = [("user_id", &request.user), ("page", &request.page), ("browser", &request.browser)];
    let columns = columns.map(|(column, text)| filters::contains(column, text.as_deref()));
    let equals = request.attribute_filters.iter().filter(|one| one.operator == SessionAttributeOperator::Equals);
    let equals = equals.map(|one| Filter::Attribute {
        scope: AttributeScope::Record,
        key: one.key.clone(),
        op: Op::Eq,
        value: one.value.clone(),
    });
    let contains: Vec<&SessionAttributeFilter> = request
        .attribute_filters
        .iter()
        .filter(|one| one.operator == SessionAttributeOperator::Contains && !one.value.is_empty())
        .collect();
    let candidates = contains.iter().map(|one| any_attribute(&one.value));
    let filter = filters::all(columns.into_iter().chain(equals).chain(candidates).chain(search(request))).and(query);
    if filter == Filter::True {
        return Ok(None);
    }
    if contains.is_empty() {
        let (keys, count) = (vec![Key::column("session_id")], vec![Function::Count.named("rows")]);
        let answer = executor.run(plans::groups(Table::Sessions, &[project], range, filter, keys, count)).await?;
        return Ok(Some(answer.rows().map(|row| row.id16("session_id")).collect()));
    }
    // The engine finds a text in any attribute; which one it is, is checked here.
    let columns = vec!["session_id", "attributes"];
    let window = Window::first(CONTAINS_ROWS_MAX + 1);
    let answer = executor.run(plans::rows(Table::Sessions, &[project], range, filter, columns, vec![], window)).await?;
    if answer.len() > CONTAINS_ROWS_MAX {
        return Err(QueryError::unprocessable("too many sessions match the attribute filter; narrow the range"));
    }
    let passes = |row: &Row<'_>| {
        let all = attributes::map(row.bytes("attributes")).0;
        contains.iter().all(|one| {
            let needle = one.value.to_ascii_lowercase();
            all.get(&one.key).is_some_and(|text| text.to_ascii_lowercase().contains(&needle))
        })
    };
    Ok(Some(answer.rows().filter(passes).map(|row| row.id16("session_id")).collect()))
}

fn any_attribute(needle: &str) -> Filter {
    Filter::AnyAttributeContains { scope: AttributeScope::Record, needle: needle.to_owned() }
}

fn search(request: &SessionListRequest) -> Option<Filter> {
    let needle = request.search.as_deref().map(str::trim).filter(|needle| !needle.is_empty())?;
    let columns = ["user_id", "page", "browser", "os", "client_ip", "app_version"];
    let mut any: Vec<Filter> = columns.iter().map(|column| filters::contains(column, Some(needle))).collect();
    any.push(any_attribute(needle));
    any.extend(ids::parse_row(needle).ok().map(|id| filters::ids("session_id", [id])));
    Some(Filter::Any(any))
}

/// The sessions that started in the range and pass `filter`, in any order.
async fn summaries(
    executor: &Executor,
    project: u32,
    range: Range,
    filter: Filter,
    now: i64,
) -> Result<Vec<Summary>, QueryError> {
    let keys = || vec![Key::column("session_id")];
    let states = vec![
        Function::Min("time").named("started"),
        Function::Max("end_time").named("ended"),
        Function::Max("version").named("version"),
    ];
    let states = plans::groups(Table::Sessions, &[project], range, filter.clone(), keys(), states);
    let during = during(range);
    let segments = vec![Function::Max("end_time").named("ended")];
    let segments = plans::groups(Table::SessionSegments, &[project], during, filter.clone(), keys(), segments);
    let errors = vec![Function::Weight.named("count")];
    let of_sessions = filters::not(filters::is("is_message"));
    let of_sessions = of_sessions.and(filters::not(Filter::IsNull { column: "session_id" })).and(filter);
    let errors = plans::groups(Table::Exceptions, &[project], during, of_sessions, keys(), errors);
    let (states, segments, errors) =
        tokio::try_join!(executor.run(states), executor.run(segments), executor.run(errors))?;
    let segments: HashMap<Id, i64> = segments.rows().map(|row| (row.id16("session_id"), row.int("ended"))).collect();
    let errors: HashMap<Id, u64> = errors.rows().map(|row| (row.id16("session_id"), row.count("count"))).collect();
    let summary = |row: Row<'_>| {
        let (id, started) = (row.id16("session_id"), row.int("started"));
        let segment = segments.get(&id).copied();
        let last = session::last_activity(started, row.int("version"), segment.unwrap_or(started));
        Summary {
            id,
            started,
            end: session::end(started, row.int("ended"), last, now),
            errors: errors.get(&id).copied().unwrap_or(0),
            has_recording: segment.is_some(),
        }
    };
    Ok(states.rows().map(summary).collect())
}

/// The range in which sessions that start in `range` have segments and errors, also if clocks differ.
fn during(range: Range) -> Range {
    Range { from: range.from.saturating_sub(HOUR_NS), to: range.to.saturating_add(session::DURATION_MAX_NS + HOUR_NS) }
}

/// The views of sessions, in their order.
async fn views(
    executor: &Executor,
    project: u32,
    range: Range,
    shown: Vec<Summary>,
) -> Result<Vec<SessionRow>, QueryError> {
    if shown.is_empty() {
        return Ok(Vec::new());
    }
    let filter = filters::ids("session_id", shown.iter().map(|session| session.id));
    let columns = plans::all_columns(Table::Sessions);
    let (order, window) = (vec![plans::descending("version")], Window::first(STATES_MAX));
    let answer = executor.run(plans::rows(Table::Sessions, &[project], range, filter, columns, order, window)).await?;
    let mut states: HashMap<Id, Vec<Row<'_>>> = HashMap::new();
    for row in answer.rows() {
        states.entry(row.id16("session_id")).or_default().push(row);
    }
    Ok(shown.iter().filter_map(|session| Some(view(session, states.get(&session.id)?))).collect())
}

/// The view of a session; `states`: newest first.
fn view(session: &Summary, states: &[Row<'_>]) -> SessionRow {
    let closed = states.iter().find(|state| state.int("end_time") != 0);
    let newest = closed.or(states.first()).expect("a session has a state");
    let strings = |column: &'static str| {
        let all = [newest].into_iter().chain(states).map(move |state| state.text(column));
        all.filter(|string| !string.is_empty())
    };
    let latest = |column: &'static str| strings(column).next().unwrap_or("").to_owned();
    let pages: HashSet<&str> = strings("page").collect();
    // A state that only ends the session may have none but the address.
    let described = || states.iter().map(|state| attributes::map(state.bytes("attributes")));
    let own = attributes::map(newest.bytes("attributes"));
    let attributes = if own.0.len() > 1 { own } else { described().find(|map| map.0.len() > 1).unwrap_or(own) };
    let traces: BTreeSet<String> = states.iter().map(|state| ids::format_trace(state.trace_id("trace_id"))).collect();
    SessionRow {
        id: ids::format_row(session.id),
        started_at: time::to_rfc3339(session.started),
        ended_at: session.end.map(time::to_rfc3339),
        duration: session.duration(),
        attributes,
        client_ip: latest("client_ip"),
        app_version: latest("app_version"),
        user_id: latest("user_id"),
        browser: latest("browser"),
        os: latest("os"),
        page_count: pages.len() as u64,
        error_count: session.errors,
        has_recording: session.has_recording,
        linked_trace_ids: traces.into_iter().filter(|trace| !trace.is_empty()).collect(),
    }
}

/// `POST /api/sessions/{id}`.
pub async fn detail(
    executor: &Executor,
    project: &Project,
    id: Id,
    started_at: Option<i64>,
) -> Result<SessionDetail, QueryError> {
    let now = executor.context.clock.now_ns();
    let around = |at: i64| Range { from: at.saturating_sub(DAY_NS), to: at.saturating_add(DAY_NS) };
    let range = started_at.map_or(Range::ALL, around);
    let of_session = filters::ids("session_id", [id]);
    let found = summaries(executor, project.number, range, of_session.clone(), now).await?;
    let session =
        found.first().copied().ok_or_else(|| QueryError::not_found("there is no such session in this project"))?;
    let day = around(session.started);
    let (mut views, segments, errors) = tokio::try_join!(
        views(executor, project.number, day, vec![session]),
        segments(executor, project.number, day, id),
        errors(executor, project.number, during(day), of_session),
    )?;
    let session = views.pop().ok_or_else(|| QueryError::not_found("there is no such session in this project"))?;
    let mut linked: BTreeSet<String> = session.linked_trace_ids.iter().cloned().collect();
    linked.extend(errors.iter().map(|error| error.trace_id.clone()).filter(|trace| !trace.is_empty()));
    let requests = requests(executor, project.number, during(day), &linked).await?;
    linked.extend(requests);
    Ok(SessionDetail { session, segments, errors, linked_trace_ids: linked.into_iter().collect() })
}

/// The segments of a session, by index. Recordings of its exceptions are no segments unless their index is free.
async fn segments(executor: &Executor, project: u32, range: Range, id: Id) -> Result<Vec<SegmentView>, QueryError> {
    let columns = vec!["segment", "time", "end_time", "event_bytes", "exception_id"];
    let order = vec![plans::ascending("segment"), plans::ascending("exception_id"), plans::ascending("time")];
    let filter = filters::ids("session_id", [id]);
    let window = Window::first(SEGMENTS_MAX);
    let plan = plans::rows(Table::SessionSegments, &[project], during(range), filter, columns, order, window);
    let answer = executor.run(plan).await?;
    let mut views: Vec<SegmentView> = answer
        .rows()
        .map(|row| SegmentView {
            segment_index: row.int("segment") as u32,
            started_at: time::to_rfc3339(row.int("time")),
            ended_at: time::to_rfc3339(row.int("end_time")),
            event_bytes: row.u64("event_bytes"),
        })
        .collect();
    views.dedup_by_key(|view| view.segment_index);
    Ok(views)
}

async fn errors(
    executor: &Executor,
    project: u32,
    range: Range,
    filter: Filter,
) -> Result<Vec<SessionError>, QueryError> {
    let columns = plans::all_columns(Table::Exceptions);
    let (order, window) = (vec![plans::ascending("time")], Window::first(ERRORS_MAX));
    let answer =
        executor.run(plans::rows(Table::Exceptions, &[project], range, filter, columns, order, window)).await?;
    let error = |row: Row<'_>| SessionError {
        id: ids::format_row(row.id16("row_id")),
        exception_hash: ids::format_hash(row.u64("group")),
        title: issue_title(row.text("exception_type"), row.text("message"), row.text("stack_trace")),
        recorded_at: time::to_rfc3339(row.int("time")),
        trace_id: ids::format_trace(row.trace_id("trace_id")),
        span_id: ids::format_native(row.bytes("native_ids"), row.span_id("span_id"), Default::default()).0,
        is_message: row.flag("is_message"),
    };
    Ok(answer.rows().map(error).collect())
}

/// The traces of requests that name one of `traces` as that of the page. WIRE 1.10.
async fn requests(
    executor: &Executor,
    project: u32,
    range: Range,
    traces: &BTreeSet<String>,
) -> Result<Vec<String>, QueryError> {
    let traces: Vec<Id> = traces.iter().filter_map(|trace| Some(ids::parse_trace(trace).ok()?.0)).collect();
    if traces.is_empty() {
        return Ok(Vec::new());
    }
    let (keys, count) = (vec![Key::column("trace_id")], vec![Function::Count.named("rows")]);
    let filter = filters::ids("linked_trace_id", traces);
    let window = Window::first(LINKED_MAX);
    let plan = plans::ordered_groups(Table::Endpoints, &[project], range, filter, keys, count, vec![], window);
    let answer = executor.run(plan).await?;
    Ok(answer.rows().map(|row| ids::format_trace(row.trace_id("trace_id"))).collect())
}

/// The document of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordingDocument {
    /// JSON of events, logs and actions.
    pub json: Vec<u8>,
    /// Version of the app that was recorded; empty when unknown.
    pub app_version: String,
}

/// The document of a session's segment.
pub async fn segment_document(
    executor: &Executor,
    project: &Project,
    id: Id,
    segment: u32,
) -> Result<RecordingDocument, QueryError> {
    let filter = filters::ids("session_id", [id]).and(Filter::eq("segment", Value::U64(segment.into())));
    document(executor, project, filter).await
}

/// The document of the recording of an exception.
pub async fn clip_document(
    executor: &Executor,
    project: &Project,
    exception: Id,
) -> Result<RecordingDocument, QueryError> {
    document(executor, project, filters::ids("exception_id", [exception])).await
}

async fn document(executor: &Executor, project: &Project, filter: Filter) -> Result<RecordingDocument, QueryError> {
    let columns = vec!["exception_id", "session_id", "time", "document_bytes", "document"];
    // A segment of the session itself precedes the recordings of its exceptions.
    let order = vec![plans::ascending("exception_id"), plans::ascending("time")];
    let plan =
        plans::rows(Table::SessionSegments, &[project.number], Range::ALL, filter, columns, order, Window::first(1));
    let answer = executor.run(plan).await?;
    let row = answer.first().ok_or_else(|| QueryError::not_found("there is no such recording in this project"))?;
    let json = columns::document(row.bytes("document"), row.u64("document_bytes"))?;
    let app_version = recorded_version(executor, project, row.id16("session_id"), row.id16("exception_id")).await?;
    Ok(RecordingDocument { json, app_version })
}

/// The version of the app in a session, else in an exception; empty when unknown.
async fn recorded_version(
    executor: &Executor,
    project: &Project,
    session: Id,
    exception: Id,
) -> Result<String, QueryError> {
    for (table, column, id) in [(Table::Sessions, "session_id", session), (Table::Exceptions, "row_id", exception)] {
        if id == Id::default() {
            continue;
        }
        let (columns, order) = (vec!["time", "app_version"], vec![plans::descending("time")]);
        let filter = filters::ids(column, [id]).and(filters::not(filters::text("app_version", "")));
        let plan = plans::rows(table, &[project.number], Range::ALL, filter, columns, order, Window::first(1));
        if let Some(row) = executor.run(plan).await?.first() {
            return Ok(row.text("app_version").to_owned());
        }
    }
    Ok(String::new())
}

/// Of these exceptions, those with a recording of their own.
pub async fn recorded(executor: &Executor, project: u32, exceptions: &Answer) -> Result<HashSet<Id>, QueryError> {
    let times = || exceptions.rows().map(|row| row.int("time"));
    let (Some(first), Some(last)) = (times().min(), times().max()) else { return Ok(HashSet::new()) };
    // The recording of an exception is of the minute before it; clocks may differ.
    let range = Range { from: first.saturating_sub(DAY_NS), to: last.saturating_add(DAY_NS) };
    let filter = filters::ids("exception_id", exceptions.rows().map(|row| row.id16("row_id")));
    let columns = vec!["exception_id"];
    let window = Window::first(exceptions.len().saturating_mul(16));
    let plan = plans::rows(Table::SessionSegments, &[project], range, filter, columns, vec![], window);
    Ok(executor.run(plan).await?.rows().map(|row| row.id16("exception_id")).collect())
}

/// Records to delete for a user.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OfUser {
    /// Ids of the user's sessions.
    pub sessions: BTreeSet<Id>,
    /// Row ids of the exceptions of these sessions.
    pub exceptions: BTreeSet<Id>,
}

/// The sessions of a user, by the exact id, and the exceptions of these sessions.
pub async fn of_user(executor: &Executor, project: &Project, user: &str) -> Result<OfUser, QueryError> {
    let keys = |column| vec![Key::column(column)];
    let count = || vec![Function::Count.named("rows")];
    let filter = filters::text("user_id", user);
    let plan = plans::groups(Table::Sessions, &[project.number], Range::ALL, filter, keys("session_id"), count());
    let answer = executor.run(plan).await?;
    let sessions: BTreeSet<Id> = answer.rows().map(|row| row.id16("session_id")).collect();
    if sessions.is_empty() {
        return Ok(OfUser::default());
    }
    let filter = filters::ids("session_id", sessions.iter().copied());
    let plan = plans::groups(Table::Exceptions, &[project.number], Range::ALL, filter, keys("row_id"), count());
    let answer = executor.run(plan).await?;
    Ok(OfUser { sessions, exceptions: answer.rows().map(|row| row.id16("row_id")).collect() })
}
