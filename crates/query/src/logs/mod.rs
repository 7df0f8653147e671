//! Logs: the list and its histogram; [`live`] tails; the records [`around`] one; those [`of_entity`]; [`patterns`]. Spec: logs mapping; WIRE 8.4.

pub mod around;
pub mod live;
pub mod of_entity;
pub mod patterns;

use std::collections::{BTreeMap, HashMap};

use tidewatch_domain::units::{DAY_NS, MINUTE_NS};
use tidewatch_store::plan::{AttributeScope, Filter, Function, Key, Op, Order, Plan, Value};
use tidewatch_store::tables::Table;
use xxhash_rust::xxh3::Xxh3;

use crate::answer::Row;
use crate::error::QueryError;
use crate::executor::Executor;
use crate::export;
use crate::language::{self, RowKind};
use crate::page::{self, Paging};
use crate::plans::{self, Window};
use crate::projects::Projects;
use crate::time::{self, Buckets, Range, automatic_minutes};
use crate::views::log::*;
use crate::views::page::Page;
use crate::{attributes, distributed, filters, ids};
use tidewatch_accounts::Project;

/// Maximum attribute filters of one request.
const ATTRIBUTE_FILTERS_MAX: usize = 20;
/// Maximum range, in nanoseconds, of a body search without another condition. WIRE 8.4.
const FREE_SEARCH_MAX: i64 = DAY_NS;
/// The highest OTLP severity number.
const SEVERITY_MAX: u8 = 24;
const SERVICES_MAX: usize = 200;
const HISTOGRAM_BUCKETS_MAX: i64 = 200;

const COLUMNS: [&str; 14] = [
    "project",
    "time",
    "observed_time",
    "severity",
    "severity_text",
    "body",
    "trace_id",
    "span_id",
    "event_name",
    "server_name",
    "scope",
    "scope_attributes",
    "attributes",
    "resource",
];

/// The conditions of a request. That on the service is separate, because the histogram counts all services.
struct Conditions {
    range: Range,
    service: Filter,
    others: Filter,
}

/// The conditions of a request on records of `projects`.
async fn conditions(executor: &Executor, projects: &[u32], request: &LogListRequest) -> Result<Conditions, QueryError> {
    let now_ns = executor.context.clock.now_ns();
    let range = Range::of_list(request.from_date.as_deref(), request.to_date.as_deref(), now_ns)?;
    let non_empty = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let mut others = Vec::new();
    if let Some(id) = non_empty(&request.distributed_trace_id) {
        let traces = distributed::traces(executor, projects, ids::parse_trace(&id)?, range).await?;
        others.push(filters::ids("trace_id", traces.into_iter().map(|trace| trace.0)));
    }
    if let Some(id) = non_empty(&request.trace_id) {
        others.push(filters::trace(ids::parse_trace(&id)?));
    }
    if let Some(id) = non_empty(&request.span_id) {
        others.push(filters::span(ids::parse_span(&id)?));
    }
    match request.min_severity {
        Some(severity) if severity > SEVERITY_MAX => {
            return Err(QueryError::unprocessable(format!("minSeverity is 0 to {SEVERITY_MAX}")));
        }
        Some(severity) if severity > 0 => {
            others.push(Filter::Compare { column: "severity", op: Op::Ge, value: Value::U64(severity.into()) });
        }
        _ => {}
    }
    if request.attribute_filters.len() > ATTRIBUTE_FILTERS_MAX {
        return Err(QueryError::unprocessable(format!("at most {ATTRIBUTE_FILTERS_MAX} attribute filters")));
    }
    others.extend(request.attribute_filters.iter().map(attribute_filter));
    let service = non_empty(&request.service_name).map_or(Filter::True, |name| filters::text("server_name", &name));

    let query = request.query.as_deref();
    let of_query = language::filter(RowKind::Log, query)?;
    let is_unfiltered = others.is_empty() && service == Filter::True && !language::is_selective(query);
    if is_unfiltered && of_query != Filter::True && range.length() > FREE_SEARCH_MAX {
        return Err(unfiltered_search());
    }
    others.push(of_query);
    if let Some(needle) = request.search.as_deref().map(str::trim).filter(|needle| !needle.is_empty()) {
        others.push(match request.search_type {
            LogSearch::Body if is_unfiltered && range.length() > FREE_SEARCH_MAX => {
                return Err(unfiltered_search());
            }
            LogSearch::Body => filters::contains("body", Some(needle)),
            LogSearch::Attribute => Filter::Any(
                ALL_SCOPES.map(|scope| Filter::AnyAttributeContains { scope, needle: needle.to_owned() }).to_vec(),
            ),
        });
    }
    if let Some(id) = non_empty(&request.exclude_trace_id) {
        others.push(filters::not(filters::trace(ids::parse_trace(&id)?)));
    }
    // Spec: logs mapping: a trace's Logs tab shows records that carry both ids.
    if request.linked_only {
        others.push(filters::not(Filter::eq("trace_id", Value::Bytes(vec![0; 16]))));
        others.push(filters::not(Filter::eq("span_id", Value::Bytes(vec![0; 8]))));
    }
    Ok(Conditions { range, service, others: filters::all(others) })
}

fn unfiltered_search() -> QueryError {
    QueryError::unprocessable(
        "a body search over more than 24 hours needs a service, a trace, a severity or an attribute filter",
    )
}

/// The scopes that hold attributes of a log record.
const ALL_SCOPES: [AttributeScope; 3] = [AttributeScope::Record, AttributeScope::Scope, AttributeScope::Resource];

fn attribute_filter(condition: &LogAttributeFilter) -> Filter {
    let within =
        |scope| Filter::Attribute { scope, key: condition.key.clone(), op: Op::Eq, value: condition.value.clone() };
    match condition.scope {
        LogScope::Resource => within(AttributeScope::Resource),
        LogScope::Scope => within(AttributeScope::Scope),
        LogScope::Log => within(AttributeScope::Record),
        LogScope::Any => Filter::Any(ALL_SCOPES.map(within).to_vec()),
    }
}

/// The plan of an export: all records that pass the filters of `request`, with all columns, in any order. Pages and
/// orders are ignored. Fails like [`list`].
pub async fn export_plan(
    executor: &Executor,
    projects: &Projects,
    request: &LogListRequest,
) -> Result<Plan, QueryError> {
    let Conditions { range, service, others } = conditions(executor, &projects.numbers(), request).await?;
    Ok(Plan { filter: service.and(others), ..export::plan(Table::Logs, projects.numbers(), range) })
}

/// `POST /api/logs`. `projects`: the requested one, or all that the caller may read.
pub async fn list(
    executor: &Executor,
    projects: &Projects,
    request: LogListRequest,
) -> Result<Page<LogView>, QueryError> {
    let traces = [&request.trace_id, &request.distributed_trace_id];
    if request.all_projects && traces.iter().all(|id| id.as_deref().unwrap_or_default().is_empty()) {
        return Err(QueryError::unprocessable("allProjects needs a traceId or a distributedTraceId"));
    }
    let numbers = projects.numbers();
    let Conditions { range, service, others } = conditions(executor, &numbers, &request).await?;
    let paging = Paging::read(request.pagination)?;
    let column = match page::order(&request.order_by)? {
        LogOrder::Timestamp => "time",
    };
    let order = vec![Order { column, descending: page::is_descending(request.sort_direction) }];
    let filter = service.and(others);
    let plan = plans::rows(Table::Logs, &numbers, range, filter, COLUMNS.to_vec(), order, paging.window());
    let (answer, total) = executor.page(plan).await?;
    let mut copies = HashMap::new();
    let data = answer.rows().map(|row| view(row, numbered(row, &mut copies), projects)).collect();
    Ok(paging.page(data, total))
}

/// The id of a record: the hash of its content, plus the number of equal records before it in `copies`.
fn numbered(row: Row<'_>, copies: &mut HashMap<u128, u128>) -> u128 {
    let content = content_hash(row);
    let count = copies.entry(content).or_insert(0);
    *count += 1;
    content.wrapping_add(*count - 1)
}

/// A hash of the record's content. It serves as its id, because log records have none; equal records on a page are
/// numbered on from it.
fn content_hash(row: Row<'_>) -> u128 {
    let mut hash = Xxh3::new();
    hash.update(&row.int("time").to_le_bytes());
    hash.update(&row.int("observed_time").to_le_bytes());
    hash.update(row.bytes("trace_id"));
    hash.update(row.bytes("span_id"));
    hash.update(row.text("server_name").as_bytes());
    hash.update(row.text("body").as_bytes());
    hash.update(row.bytes("attributes"));
    hash.update(row.bytes("resource"));
    hash.digest128()
}

fn view(row: Row<'_>, id: u128, projects: &Projects) -> LogView {
    let observed = row.int("observed_time");
    LogView {
        project: projects.named(row.int("project") as u32),
        id: uuid::Builder::from_custom_bytes(id.to_be_bytes()).into_uuid().to_string(),
        timestamp: time::to_rfc3339(row.int("time")),
        observed_timestamp: if observed == 0 { String::new() } else { time::to_rfc3339(observed) },
        severity_text: row.text("severity_text").to_owned(),
        severity_number: row.int("severity") as u8,
        service_name: row.text("server_name").to_owned(),
        body: row.text("body").to_owned(),
        trace_id: ids::format_trace(row.trace_id("trace_id")),
        span_id: ids::format_span(row.span_id("span_id")),
        resource_attributes: attributes::map(row.bytes("resource")),
        scope_name: row.text("scope").to_owned(),
        scope_attributes: attributes::map(row.bytes("scope_attributes")),
        log_attributes: attributes::map(row.bytes("attributes")),
        event_name: row.text("event_name").to_owned(),
    }
}

/// Output column of the histogram's plans.
const COUNT: &str = "count";

/// `POST /api/logs/histogram`. Counts by service ignore the request's service filter, so that all can be chosen from.
pub async fn histogram(
    executor: &Executor,
    project: &Project,
    request: LogListRequest,
) -> Result<LogHistogram, QueryError> {
    let numbers = [project.number];
    let Conditions { range, service, others } = conditions(executor, &numbers, &request).await?;
    let buckets = Buckets::at_most(range, HISTOGRAM_BUCKETS_MAX, automatic_minutes(range) * MINUTE_NS);
    let keys = vec![plans::bucket(&buckets), Key::column("severity_text")];
    let count = || vec![Function::Count.named(COUNT)];
    let order = vec![plans::greatest(COUNT)];
    let by_service = vec![Key::column("server_name")];
    let all = service.and(others.clone());
    let (counted, services) = tokio::try_join!(
        executor.run(plans::groups(Table::Logs, &numbers, range, all, keys, count())),
        executor.run(plans::ordered_groups(
            Table::Logs,
            &numbers,
            range,
            others,
            by_service,
            count(),
            order,
            Window::first(SERVICES_MAX)
        )),
    )?;
    let mut by_time: BTreeMap<i64, BTreeMap<String, u64>> = BTreeMap::new();
    for row in counted.rows() {
        by_time
            .entry(row.int(plans::BUCKET))
            .or_default()
            .insert(row.text("severity_text").to_owned(), row.count(COUNT));
    }
    let bucket = |(start, counts)| LogBucket { timestamp: time::to_rfc3339(start), counts };
    let service = |row: Row<'_>| ServiceCount { name: row.text("server_name").to_owned(), count: row.count(COUNT) };
    Ok(LogHistogram {
        buckets: by_time.into_iter().map(bucket).collect(),
        interval_minutes: buckets.width / MINUTE_NS,
        services: services.rows().map(service).collect(),
    })
}
