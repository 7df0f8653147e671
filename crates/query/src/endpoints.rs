//! Endpoints: single requests, the ranking, one Endpoint's figures, its chart, one request with its trace.

use std::collections::BTreeMap;
use std::sync::Arc;

use tidewatch_domain::ranking::{self, ApdexBands, EndpointAggregate, Impact};
use tidewatch_store::plan::{Filter, Function, Key};
use tidewatch_store::tables::Table;
use uuid::Uuid;

use super::answer::Row;
use super::ask::{self, Ask};
use super::chart::{self, Chart};
use super::entities::{self, Bands, Figures, milliseconds, whole};
use super::page::{self, Paging};
use super::projects::Projects;
use super::row_list::RowList;
use super::time::{self, Range};
use super::trend::{self, Subject};
use super::views::endpoint::*;
use super::views::page::{ListRequest, Page};
use super::{attributes, filters, ids, occurrences, trace};
use crate::error::QueryError;
use tidewatch_accounts::{By, Project, SlowEndpoint};

/// The Endpoint of requests without a route. Spec: endpoint naming, rule 2.
pub const UNMATCHED: &str = "UNMATCHED";

const ROW_ORDERS: [(&str, &str); 3] =
    [("recorded_at", "time"), ("duration", "duration"), ("status_code", "status_code")];

/// An Endpoint row as the API shows it; every column of the table has been asked for.
pub fn view(row: Row<'_>, project: Uuid) -> EndpointRow {
    EndpointRow {
        id: ids::show_row(row.id16("row_id")),
        project_id: project.to_string(),
        endpoint: row.text("name").to_owned(),
        duration: row.int("duration"),
        recorded_at: time::show(row.int("time")),
        status_code: row.int("status_code") as i32,
        body_size: row.int("body_size"),
        client_ip: row.text("client_ip").to_owned(),
        attributes: attributes::map(row.bytes("attributes")),
        app_version: row.text("app_version").to_owned(),
        server_name: row.text("server_name").to_owned(),
        trace_id: row.trace_id("trace_id").to_string(),
        span_id: row.span_id("span_id").to_string(),
        parent_span_id: ids::show_span(row.span_id("parent_span_id")),
        is_stream: row.flag("is_stream"),
        is_root: row.flag("is_root"),
    }
}

/// One page of rows.
async fn rows(ask: &Ask, project: &Project, list: &RowList, filter: Filter) -> Result<Vec<EndpointRow>, QueryError> {
    let answer = ask.ask(list.plan(Table::Endpoints, project.number, filter)).await?;
    Ok(answer.rows().map(|row| view(row, project.id)).collect())
}

/// `POST /api/endpoints`.
pub async fn list(ask: &Ask, project: &Project, request: ListRequest) -> Result<Page<EndpointRow>, QueryError> {
    let list = RowList::read(ask, &request, &ROW_ORDERS)?;
    let filter = list.filter.clone().and(filters::contains("name", request.search.as_deref()));
    let (answer, total) = ask.page(list.plan(Table::Endpoints, project.number, filter)).await?;
    Ok(list.paging.page(answer.rows().map(|row| view(row, project.id)).collect(), total))
}

/// How the ranking is ordered.
#[derive(Clone, Copy)]
enum GroupOrder {
    Impact,
    Count,
    Percentile(usize),
    Average,
    LastSeen,
    Name,
    ErrorRate,
    ServerErrorRate,
}

const GROUP_ORDERS: [(&str, GroupOrder); 10] = [
    ("impact", GroupOrder::Impact),
    ("count", GroupOrder::Count),
    ("p50_duration", GroupOrder::Percentile(0)),
    ("p95_duration", GroupOrder::Percentile(1)),
    ("p99_duration", GroupOrder::Percentile(2)),
    ("avg_duration", GroupOrder::Average),
    ("last_seen", GroupOrder::LastSeen),
    ("endpoint", GroupOrder::Name),
    ("error_rate", GroupOrder::ErrorRate),
    ("server_error_rate", GroupOrder::ServerErrorRate),
];

/// One Endpoint of the ranking.
struct Ranked {
    name: String,
    figures: Figures,
    impact: Impact,
}

/// `POST /api/endpoints/grouped`. WIRE 8.1.
pub async fn groups(ask: &Ask, project: &Project, request: ListRequest) -> Result<Page<EndpointGroup>, QueryError> {
    let now = ask.context.clock.now_ns();
    let range = Range::of_list(request.from_date.as_deref(), request.to_date.as_deref(), now)?;
    let paging = Paging::read(request.pagination)?;
    let order = page::order(request.order_by.as_deref(), &GROUP_ORDERS)?;
    let root = filters::root(request.root_filter.as_deref())?;
    let filter = root.and(filters::contains("name", request.search.as_deref()));

    let mut ranked = ranked(ask, project, range, filter.clone()).await?;
    sort(&mut ranked, order, page::is_descending(request.sort_direction));
    let total = ranked.len() as u64;
    let data = with_trends(ask, project, range, filter, paging.cut(ranked)).await?;
    Ok(paging.page(data, total))
}

/// The worst of the range, by impact.
pub async fn worst(ask: &Ask, project: &Project, range: Range, count: usize) -> Result<Vec<EndpointGroup>, QueryError> {
    let mut ranked = ranked(ask, project, range, Filter::True).await?;
    sort(&mut ranked, GroupOrder::Impact, true);
    ranked.truncate(count);
    with_trends(ask, project, range, Filter::True, ranked).await
}

async fn ranked(ask: &Ask, project: &Project, range: Range, filter: Filter) -> Result<Vec<Ranked>, QueryError> {
    let number = project.number;
    let slow = ask.context.control.slow_endpoints(number).await?;
    let offset_ns = |slow: &SlowEndpoint| slow.offset_ms.saturating_mul(1_000_000);
    let bands = Bands::with_offsets(slow.iter().map(|(name, slow)| (name.as_str(), offset_ns(slow))));
    let found = entities::by_name(ask, Table::Endpoints, number, range, filter, &bands).await?;
    let rank = |(name, figures): (String, Figures)| {
        let slow_offset_ns = slow.get(&name).map_or(0, offset_ns);
        Ranked { impact: impact(&name, &figures, slow_offset_ns), name, figures }
    };
    Ok(found.into_iter().map(rank).collect())
}

fn impact(name: &str, figures: &Figures, slow_offset_ns: i64) -> Impact {
    ranking::impact(&EndpointAggregate {
        total: figures.total,
        timed: figures.timed,
        satisfied: figures.satisfied,
        tolerating: figures.tolerating,
        bad: figures.bad,
        client_errors: figures.client_errors,
        p99_ns: figures.percentiles.map(|percentiles| percentiles[2]),
        slow_offset_ns,
        is_unmatched: name == UNMATCHED,
    })
}

/// Equal ones by request count, then by name, so that pages do not overlap.
fn sort(ranked: &mut [Ranked], order: GroupOrder, is_descending: bool) {
    let key = |row: &Ranked| match order {
        GroupOrder::Impact => row.impact.score,
        GroupOrder::Count => row.figures.total,
        GroupOrder::Percentile(index) => row.figures.percentile(index),
        GroupOrder::Average => row.figures.average(),
        GroupOrder::LastSeen => row.figures.last_seen as f64,
        GroupOrder::Name => 0.0,
        GroupOrder::ErrorRate => row.figures.error_rate(),
        GroupOrder::ServerErrorRate => row.figures.server_error_rate(),
    };
    ranked.sort_by(|left, right| {
        let by_name = left.name.cmp(&right.name);
        let ascending = match order {
            GroupOrder::Name => by_name,
            _ => key(left).total_cmp(&key(right)),
        };
        let wanted = if is_descending { ascending.reverse() } else { ascending };
        wanted.then(right.figures.total.total_cmp(&left.figures.total)).then(by_name)
    });
}

async fn with_trends(
    ask: &Ask,
    project: &Project,
    range: Range,
    filter: Filter,
    ranked: Vec<Ranked>,
) -> Result<Vec<EndpointGroup>, QueryError> {
    let names: Vec<String> = ranked.iter().map(|row| row.name.clone()).collect();
    let filter = filter.and(filters::texts("name", &names));
    let subject = Subject { table: Table::Endpoints, project: project.number, filter, column: "name" };
    let trends = trend::trends(ask, subject, range).await?;
    Ok(ranked.into_iter().map(|row| group(&row, trends.line(row.name.as_str()))).collect())
}

fn group(row: &Ranked, trend: Vec<super::views::page::TrendPoint>) -> EndpointGroup {
    let Ranked { name, figures, impact } = row;
    EndpointGroup {
        endpoint: name.clone(),
        count: whole(figures.total),
        p50_duration: figures.percentile(0).round() as i64,
        p95_duration: figures.percentile(1).round() as i64,
        p99_duration: figures.percentile(2).round() as i64,
        avg_duration: figures.average().round() as i64,
        last_seen: time::show(figures.last_seen),
        impact: impact.score,
        impact_reason: impact.reason.clone(),
        impact_level: match impact.level {
            ranking::ImpactLevel::Critical => ImpactLevel::Critical,
            ranking::ImpactLevel::High => ImpactLevel::High,
            ranking::ImpactLevel::Medium => ImpactLevel::Medium,
            ranking::ImpactLevel::Good => ImpactLevel::Good,
        },
        apdex: ranking::apdex(figures.satisfied, figures.tolerating, figures.timed),
        error_count: whole(figures.errors),
        server_error_count: whole(figures.server_errors),
        client_error_count: whole(figures.client_errors),
        stream_count: whole(figures.total - figures.timed),
        has_root: figures.has_root,
        has_non_root: figures.has_non_root,
        trend,
    }
}

/// `POST /api/endpoints/endpoint`. `search` looks into the attributes' values.
pub async fn one(ask: &Ask, project: &Project, name: &str, request: ListRequest) -> Result<EndpointPage, QueryError> {
    let list = RowList::read(ask, &request, &ROW_ORDERS)?;
    let filter = list.of_name(name, &request);
    let bands = Bands::same(ApdexBands::detail());
    let (data, figures, status_counts, minutes) = tokio::try_join!(
        rows(ask, project, &list, filter.clone()),
        entities::figures(ask, Table::Endpoints, project.number, list.range, filter.clone(), &bands),
        status_counts(ask, project, list.range, filter.clone()),
        entities::minutes_with_data(ask, Table::Endpoints, project.number, list.range),
    )?;
    if figures.rows == 0 && !entities::is_known(ask, Table::Endpoints, project.number, name).await? {
        return Err(QueryError::not_found("this project has never recorded an endpoint of this name"));
    }
    let stats = EndpointStats {
        count: whole(figures.total),
        avg_duration: milliseconds(figures.average()),
        median_duration: milliseconds(figures.percentile(0)),
        p95_duration: milliseconds(figures.percentile(1)),
        p99_duration: milliseconds(figures.percentile(2)),
        apdex: ranking::apdex(figures.satisfied, figures.tolerating, figures.timed),
        error_rate: figures.error_rate(),
        server_error_rate: figures.server_error_rate(),
        client_error_rate: figures.share(figures.client_errors),
        throughput: figures.total / minutes,
    };
    Ok(EndpointPage { data, pagination: list.paging.info(figures.rows), stats, status_counts })
}

/// Outputs of [`status_counts`].
const STATUS_CODE: &str = "status_code";
const COUNT: &str = "count";

async fn status_counts(
    ask: &Ask,
    project: &Project,
    range: Range,
    filter: Filter,
) -> Result<BTreeMap<String, u64>, QueryError> {
    let (keys, aggregates) = (vec![Key::column(STATUS_CODE)], vec![Function::Weight.named(COUNT)]);
    let answer = ask.ask(ask::groups(Table::Endpoints, &[project.number], range, filter, keys, aggregates)).await?;
    Ok(answer.rows().map(|row| (row.int(STATUS_CODE).to_string(), row.count(COUNT))).collect())
}

/// `POST /api/endpoints/chart`.
pub async fn chart(ask: &Ask, project: &Project, request: EndpointChartRequest) -> Result<EndpointChart, QueryError> {
    let now = ask.context.clock.now_ns();
    let range = Range::of_list(request.from_date.as_deref(), request.to_date.as_deref(), now)?;
    let only = request.endpoint.filter(|name| !name.is_empty());
    let lines =
        entity_chart(ask, Table::Endpoints, project.number, range, request.interval_minutes, only, request.metric_type)
            .await?;
    let point = |point: chart::Point| EndpointChartPoint {
        timestamp: time::show(point.start),
        endpoint: point.name,
        value: point.value,
    };
    Ok(EndpointChart {
        endpoints: lines.names,
        series: lines.points.into_iter().map(point).collect(),
        interval_minutes: lines.interval_minutes,
    })
}

/// The chart of Endpoints or Tasks.
pub async fn entity_chart(
    ask: &Ask,
    table: Table,
    project: u32,
    range: Range,
    interval_minutes: Option<i64>,
    only: Option<String>,
    metric: ChartMetric,
) -> Result<chart::Lines, QueryError> {
    let total_time = Function::Sum("duration").named(chart::VALUE).only(entities::timed());
    let quantile = |share| {
        let function = Function::Quantiles { column: "duration", qs: vec![share] };
        function.named(chart::VALUE).only(entities::timed())
    };
    let count = Function::Weight.named(chart::VALUE);
    let (weight, value) = match metric {
        ChartMetric::TotalTime => (total_time.clone(), total_time),
        ChartMetric::P50 => (total_time, quantile(0.50)),
        ChartMetric::P95 => (total_time, quantile(0.95)),
        ChartMetric::P99 => (total_time, quantile(0.99)),
        ChartMetric::Count => (count.clone(), count),
    };
    let chart = Chart { table, project, range, interval_minutes, only, filter: Filter::True, weight, value };
    chart::lines(ask, chart, |row| match metric {
        ChartMetric::Count => row.opt_number(chart::VALUE),
        ChartMetric::TotalTime => row.opt_number(chart::VALUE).map(milliseconds),
        ChartMetric::P50 | ChartMetric::P95 | ChartMetric::P99 => row.numbers(chart::VALUE).map(|q| milliseconds(q[0])),
    })
    .await
}

/// `POST /api/endpoints/{id}`.
pub async fn detail(
    ask: &Ask,
    project: &Arc<Project>,
    id: [u8; 16],
    recorded_at: Option<i64>,
) -> Result<EndpointDetail, QueryError> {
    let answer = entities::find(ask, Table::Endpoints, project.number, id, recorded_at).await?;
    let row = answer.first().ok_or_else(|| QueryError::not_found("there is no such row in this project"))?;
    let endpoint = view(row, project.id);
    let (trace_id, span_id) = (row.trace_id("trace_id"), row.span_id("span_id"));
    let window = Range::around(row.int("time"));
    let projects = Projects::one(project);
    let (trace, exceptions) = tokio::try_join!(
        trace::load(ask, &projects, trace_id, window, Some(span_id)),
        occurrences::of_trace(ask, project, trace_id, window),
    )?;
    let own = exceptions.iter().find(|exception| exception.view.owner_id == endpoint.id);
    Ok(EndpointDetail {
        exception: own.map(|exception| exception.brief()),
        exceptions: exceptions.into_iter().map(|exception| exception.view).collect(),
        messages: Vec::new(),
        has_spans: !trace.spans.is_empty(),
        span_graph_status: trace.status.clone(),
        spans: trace.views(),
        endpoint,
    })
}

/// Longest slowness that can be accepted.
const SLOW_OFFSET_MS_MAX: i64 = 3_600_000;

/// `GET /api/endpoints/slow`.
pub async fn slow(ask: &Ask, project: &Project, endpoint: String) -> Result<SlowOffset, QueryError> {
    let number = project.number;
    let slow = ask.context.control.slow_endpoint(number, &endpoint).await?;
    let slow = slow.unwrap_or(SlowEndpoint { offset_ms: 0, reason: String::new() });
    Ok(SlowOffset { offset_ms: slow.offset_ms, reason: slow.reason })
}

/// `POST /api/endpoints/slow`.
pub async fn set_slow(
    ask: &Ask,
    by: &By,
    project: &Project,
    request: SlowOffsetRequest,
) -> Result<SlowOffset, QueryError> {
    if request.endpoint.trim().is_empty() {
        return Err(QueryError::unprocessable("endpoint is empty"));
    }
    if !(0..=SLOW_OFFSET_MS_MAX).contains(&request.offset_ms) {
        return Err(QueryError::unprocessable(format!("offsetMs is 0 to {SLOW_OFFSET_MS_MAX}")));
    }
    let slow = SlowEndpoint { offset_ms: request.offset_ms, reason: request.reason };
    ask.context.control.set_slow_endpoint(by, project, &request.endpoint, &slow).await?;
    Ok(SlowOffset { offset_ms: slow.offset_ms, reason: slow.reason })
}
