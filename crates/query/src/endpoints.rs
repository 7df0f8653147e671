//! Endpoints. Only they have an impact, an accepted slow offset and counts by HTTP status.

use std::collections::{BTreeMap, HashMap};

use tidewatch_domain::model::TraceId;
use tidewatch_domain::ranking::{self, ApdexBands, EndpointAggregate, Impact};
use tidewatch_domain::rules::endpoint_name::UNMATCHED;
use tidewatch_domain::units::{HOUR_NS, MINUTE_NS};
use tidewatch_store::plan::{Aggregate, Filter, Function, Key, Op};
use tidewatch_store::tables::Table;
use uuid::Uuid;

use super::answer::Row;
use super::chart::Lines;
use super::entities::{
    self, ChartBody, ChartValues, DetailParts, EntityKind, EntityStats, RankedGroup, SortValue, milliseconds, whole,
};
use super::executor::Executor;
use super::language::RowKind;
use super::plans;
use super::time::{self, Range};
use super::views::answers::AlwaysBad;
use super::views::endpoint::*;
use super::views::page::{PageInfo, TrendPoint};
use super::{attributes, filters, ids};
use crate::error::QueryError;
use tidewatch_accounts::{Actor, Project, SlowEndpoint};

/// Inbound HTTP requests, by method and route.
pub struct Endpoint;

/// The Apdex bands of every name.
#[derive(Debug, Clone)]
pub struct Bands {
    /// The bands of every name without an accepted slow offset.
    common: ApdexBands,
    /// Accepted slow offsets by name, nanoseconds.
    offsets: HashMap<String, i64>,
}

/// The bands of the page of one name.
impl Default for Bands {
    fn default() -> Bands {
        Bands { common: ApdexBands::detail(), offsets: HashMap::new() }
    }
}

impl Bands {
    /// Rows with a duration up to the bound that `edge` selects. A slow offset is added to the bounds of its name. WIRE
    /// 8.1.
    fn within(&self, edge: impl Fn(&ApdexBands) -> i64) -> Filter {
        let up_to = |bands: &ApdexBands| filters::compare("duration", Op::Le, edge(bands));
        if self.offsets.is_empty() {
            return up_to(&self.common);
        }
        let mut names: Vec<String> = self.offsets.keys().cloned().collect();
        names.sort_unstable();
        let mut any = vec![filters::not(filters::strings("name", &names)).and(up_to(&self.common))];
        any.extend(names.iter().map(|name| {
            let bands = ApdexBands::impact(self.offsets[name]);
            filters::text("name", name).and(up_to(&bands))
        }));
        Filter::Any(any)
    }
}

/// Metrics that only Endpoints have. Counts are weighted.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EndpointMetrics {
    satisfied: f64,
    tolerating: f64,
    /// Requests with HTTP status 500 and above, or slower than the tolerated duration.
    bad: f64,
    client_errors: f64,
    /// Errors without HTTP status 400 to 499.
    server_errors: f64,
}

impl EndpointMetrics {
    /// Satisfied and tolerating requests.
    pub fn within_bands(&self) -> (f64, f64) {
        (self.satisfied, self.tolerating)
    }
}

/// Output columns of the plans.
const SATISFIED: &str = "satisfied";
const TOLERATING: &str = "tolerating";
const BAD: &str = "bad";
const CLIENT_ERRORS: &str = "client_errors";
const SERVER_ERRORS: &str = "server_errors";
const STATUS_CODE: &str = "status_code";
const COUNT: &str = "count";
const ROWS: &str = "rows";

/// Telemetry of less time, nanoseconds, is told in counts: an hourly rate would be extrapolated.
const RATED_TIME: i64 = 5 * MINUTE_NS;

/// The Endpoints with failed or slow requests in the range, the worst first.
pub async fn always_bad(executor: &Executor, project: &Project, range: Range) -> Result<Vec<AlwaysBad>, QueryError> {
    let bands = Endpoint::ranking_context(executor, project).await?;
    let mut aggregates = Endpoint::aggregates(&bands);
    aggregates.extend([Function::Weight.named(COUNT), Function::Count.named(ROWS)]);
    let keys = vec![Key::column("name")];
    let plan = plans::groups(Table::Endpoints, &[project.number], range, Filter::True, keys, aggregates);
    let answer = executor.run(plan).await?;
    let is_rated = range.length() >= RATED_TIME;
    let hours = if is_rated { range.length() as f64 / HOUR_NS as f64 } else { 1.0 };
    let of_name = |row: Row<'_>| {
        let metrics = Endpoint::metrics(row);
        let bad = (metrics.bad + 0.5 * metrics.tolerating) / hours;
        let one = AlwaysBad {
            name: row.text("name").to_owned(),
            bad_an_hour: is_rated.then_some(bad),
            count: row.count(COUNT),
            stored_count: row.count(ROWS),
            bad_count: whole(metrics.bad),
            slow_count: whole(metrics.tolerating),
        };
        (bad, one)
    };
    let mut found: Vec<(f64, AlwaysBad)> = answer.rows().map(of_name).filter(|(bad, _)| *bad >= 1.0).collect();
    found.sort_by(|(one_bad, one), (other_bad, other)| {
        other_bad.total_cmp(one_bad).then_with(|| one.name.cmp(&other.name))
    });
    Ok(found.into_iter().map(|(_, one)| one).collect())
}

/// HTTP status below 500.
fn served() -> Filter {
    filters::compare("status_code", Op::Lt, 500)
}

/// HTTP status 500 and above.
fn failed() -> Filter {
    filters::compare("status_code", Op::Ge, 500)
}

/// HTTP status 400 to 499.
fn client_error() -> Filter {
    filters::compare("status_code", Op::Ge, 400).and(served())
}

impl EntityKind for Endpoint {
    const TABLE: Table = Table::Endpoints;
    const ROWS: RowKind = RowKind::Endpoint;
    const NOUN: &'static str = "an endpoint";

    type RowOrder = EndpointOrder;
    type GroupOrder = EndpointGroupOrder;
    type Context = Bands;
    type Metrics = EndpointMetrics;
    type Rank = Impact;
    type GroupExtra = ();
    /// Number of requests by HTTP status, and the minutes over which the throughput is computed.
    type NameExtra = (BTreeMap<String, u64>, f64);
    type RowExtra = ();
    type Row = EndpointRow;
    type Group = EndpointGroup;
    type NamePage = EndpointPage;
    type ChartRequest = EndpointChartRequest;
    type ChartMetric = ChartMetric;
    type Chart = EndpointChart;
    type Detail = EndpointDetail;

    fn column(order: EndpointOrder) -> &'static str {
        match order {
            EndpointOrder::RecordedAt => "time",
            EndpointOrder::Duration => "duration",
            EndpointOrder::StatusCode => "status_code",
        }
    }

    fn row(row: Row<'_>, project: Uuid) -> EndpointRow {
        EndpointRow {
            id: ids::format_row(row.id16("row_id")),
            project_id: project.to_string(),
            endpoint: row.text("name").to_owned(),
            duration: row.int("duration"),
            recorded_at: time::to_rfc3339(row.int("time")),
            status_code: row.int("status_code") as i32,
            body_size: row.int("body_size"),
            client_ip: row.text("client_ip").to_owned(),
            attributes: attributes::map(row.bytes("attributes")),
            app_version: row.text("app_version").to_owned(),
            server_name: row.text("server_name").to_owned(),
            trace_id: row.trace_id("trace_id").to_string(),
            span_id: entities::span_id(row, project),
            parent_span_id: ids::format_span(row.span_id("parent_span_id")),
            is_stream: row.flag("is_stream"),
            is_root: row.flag("is_root"),
            linked_trace_id: row.bytes("linked_trace_id").try_into().ok().map(|id| TraceId(id).to_string()),
        }
    }

    async fn ranking_context(executor: &Executor, project: &Project) -> Result<Bands, QueryError> {
        let slow = executor.context.projects.slow_endpoints(project.number).await?;
        let offset_ns = |(name, slow): (String, SlowEndpoint)| (name, slow.offset_ms.saturating_mul(1_000_000));
        Ok(Bands { common: ApdexBands::impact(0), offsets: slow.into_iter().map(offset_ns).collect() })
    }

    fn aggregates(bands: &Bands) -> Vec<Aggregate> {
        let satisfied = bands.within(|bands| bands.satisfied_ns);
        let tolerated = bands.within(|bands| bands.tolerated_ns);
        let slow = Self::timed().and(filters::not(tolerated.clone()));
        let tolerating = filters::all([Self::timed(), served(), filters::not(satisfied.clone()), tolerated]);
        vec![
            Function::Weight.named(SATISFIED).only(filters::all([Self::timed(), served(), satisfied])),
            Function::Weight.named(TOLERATING).only(tolerating),
            Function::Weight.named(BAD).only(Filter::Any(vec![failed(), slow])),
            Function::Weight.named(CLIENT_ERRORS).only(client_error()),
            Function::Weight.named(SERVER_ERRORS).only(filters::is("is_error").and(filters::not(client_error()))),
        ]
    }

    fn metrics(row: Row<'_>) -> EndpointMetrics {
        EndpointMetrics {
            satisfied: row.number(SATISFIED),
            tolerating: row.number(TOLERATING),
            bad: row.number(BAD),
            client_errors: row.number(CLIENT_ERRORS),
            server_errors: row.number(SERVER_ERRORS),
        }
    }

    fn rank(name: &str, stats: &EntityStats<EndpointMetrics>, bands: &Bands) -> Impact {
        ranking::impact(&EndpointAggregate {
            total: stats.total,
            timed: stats.timed,
            satisfied: stats.own.satisfied,
            tolerating: stats.own.tolerating,
            bad: stats.own.bad,
            client_errors: stats.own.client_errors,
            p99_ns: stats.percentiles.map(|percentiles| percentiles[2]),
            slow_offset_ns: bands.offsets.get(name).copied().unwrap_or(0),
            is_unmatched: name == UNMATCHED,
        })
    }

    fn sort_value(order: EndpointGroupOrder, found: &RankedGroup<Self>) -> SortValue {
        let stats = &found.stats;
        SortValue::Number(match order {
            EndpointGroupOrder::Impact => found.rank.score,
            EndpointGroupOrder::Count => stats.total,
            EndpointGroupOrder::P50Duration => stats.percentile(0),
            EndpointGroupOrder::P95Duration => stats.percentile(1),
            EndpointGroupOrder::P99Duration => stats.percentile(2),
            EndpointGroupOrder::AvgDuration => stats.average(),
            EndpointGroupOrder::LastSeen => stats.last_seen as f64,
            EndpointGroupOrder::ErrorRate => stats.error_rate(),
            EndpointGroupOrder::ServerErrorRate => stats.share(stats.own.server_errors),
            EndpointGroupOrder::Endpoint => return SortValue::Name,
        })
    }

    fn group_view(found: RankedGroup<Self>, (): &(), trend: Vec<TrendPoint>) -> EndpointGroup {
        let RankedGroup { name, stats, rank: impact } = found;
        EndpointGroup {
            endpoint: name,
            count: whole(stats.total),
            stored_count: stats.rows,
            p50_duration: stats.percentile(0).round() as i64,
            p95_duration: stats.percentile(1).round() as i64,
            p99_duration: stats.percentile(2).round() as i64,
            avg_duration: stats.average().round() as i64,
            last_seen: time::to_rfc3339(stats.last_seen),
            impact: impact.score,
            impact_reason: impact.reason,
            impact_level: match impact.level {
                ranking::ImpactLevel::Critical => ImpactLevel::Critical,
                ranking::ImpactLevel::High => ImpactLevel::High,
                ranking::ImpactLevel::Medium => ImpactLevel::Medium,
                ranking::ImpactLevel::Good => ImpactLevel::Good,
            },
            apdex: apdex(&stats),
            error_count: whole(stats.errors),
            server_error_count: whole(stats.own.server_errors),
            client_error_count: whole(stats.own.client_errors),
            stream_count: whole(stats.total - stats.timed),
            has_root: stats.has_root,
            has_non_root: stats.has_non_root,
            trend,
        }
    }

    async fn name_extra(
        executor: &Executor,
        project: u32,
        range: Range,
        filter: Filter,
    ) -> Result<(BTreeMap<String, u64>, f64), QueryError> {
        tokio::try_join!(
            status_counts(executor, project, range, filter),
            entities::minutes_with_data(executor, Table::Endpoints, project, range),
        )
    }

    fn name_view(
        data: Vec<EndpointRow>,
        pagination: PageInfo,
        stats: &EntityStats<EndpointMetrics>,
        (status_counts, minutes): (BTreeMap<String, u64>, f64),
    ) -> EndpointPage {
        let stats = EndpointStats {
            count: whole(stats.total),
            stored_count: stats.rows,
            avg_duration: milliseconds(stats.average()),
            median_duration: milliseconds(stats.percentile(0)),
            p95_duration: milliseconds(stats.percentile(1)),
            p99_duration: milliseconds(stats.percentile(2)),
            apdex: apdex(stats),
            error_rate: stats.error_rate(),
            server_error_rate: stats.share(stats.own.server_errors),
            client_error_rate: stats.share(stats.own.client_errors),
            throughput: stats.total / minutes,
        };
        EndpointPage { data, pagination, stats, status_counts }
    }

    fn chart_body(request: EndpointChartRequest) -> ChartBody<ChartMetric> {
        let column = match request.group_by {
            EndpointGrouping::Name => "name",
            EndpointGrouping::Version => "app_version",
            EndpointGrouping::Service => "server_name",
            EndpointGrouping::Status => "status_code",
        };
        ChartBody {
            from_date: request.from_date,
            to_date: request.to_date,
            interval_minutes: request.interval_minutes,
            query: request.query,
            metric: request.metric_type,
            ..ChartBody::by_column(column, request.endpoint)
        }
    }

    fn chart_values(metric: ChartMetric) -> ChartValues {
        ChartValues::of_durations(metric, Self::timed())
    }

    fn chart_view(lines: Lines) -> EndpointChart {
        let point = |timestamp, endpoint, value| EndpointChartPoint { timestamp, endpoint, value };
        let (endpoints, series, interval_minutes) = lines.parts(point);
        EndpointChart { endpoints, series, interval_minutes }
    }

    fn detail_view(parts: DetailParts<Self>) -> EndpointDetail {
        EndpointDetail {
            endpoint: parts.row,
            has_spans: !parts.spans.is_empty(),
            spans: parts.spans,
            span_graph_status: parts.span_graph_status,
            exception: parts.exception,
            exceptions: parts.exceptions,
            messages: Vec::new(),
        }
    }
}

fn apdex(stats: &EntityStats<EndpointMetrics>) -> Option<f64> {
    ranking::apdex(stats.own.satisfied, stats.own.tolerating, stats.timed)
}

async fn status_counts(
    executor: &Executor,
    project: u32,
    range: Range,
    filter: Filter,
) -> Result<BTreeMap<String, u64>, QueryError> {
    let (keys, aggregates) = (vec![Key::column(STATUS_CODE)], vec![Function::Weight.named(COUNT)]);
    let answer = executor.run(plans::groups(Table::Endpoints, &[project], range, filter, keys, aggregates)).await?;
    Ok(answer.rows().map(|row| (row.int(STATUS_CODE).to_string(), row.count(COUNT))).collect())
}

/// Maximum accepted slow offset, milliseconds.
const SLOW_OFFSET_MS_MAX: i64 = 3_600_000;

/// `GET /api/endpoints/slow`: the accepted slow offset of an Endpoint, 0 when none was set.
pub async fn slow(executor: &Executor, project: &Project, endpoint: String) -> Result<SlowOffset, QueryError> {
    let number = project.number;
    let slow = executor.context.projects.slow_endpoint(number, &endpoint).await?;
    let slow = slow.unwrap_or(SlowEndpoint { offset_ms: 0, reason: String::new() });
    Ok(SlowOffset { offset_ms: slow.offset_ms, reason: slow.reason })
}

/// `POST /api/endpoints/slow`. `by`: recorded in the audit log.
pub async fn set_slow(
    executor: &Executor,
    by: &Actor,
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
    executor.context.projects.set_slow_endpoint(by, project, &request.endpoint, &slow).await?;
    Ok(SlowOffset { offset_ms: slow.offset_ms, reason: slow.reason })
}
