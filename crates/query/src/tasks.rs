//! Tasks. They are ranked by the time lost to slow runs: count x (P95 - P50).

use tidewatch_domain::ranking::task_rank;
use tidewatch_store::plan::{Aggregate, Filter, Key, KeySource};
use tidewatch_store::tables::Table;
use uuid::Uuid;

use super::answer::Row;
use super::chart::Lines;
use super::entities::{
    self, ChartBody, ChartValues, DetailParts, EntityKind, EntityStats, RankedGroup, SortValue, milliseconds, whole,
};
use super::executor::Executor;
use super::language::RowKind;
use super::time::{self, Range};
use super::views::endpoint::ChartMetric;
use super::views::page::{PageInfo, TrendPoint};
use super::views::task::*;
use super::{attributes, filters, ids};
use crate::error::QueryError;
use tidewatch_accounts::Project;

/// Runs of queue jobs and console commands.
pub struct Task;

impl EntityKind for Task {
    const TABLE: Table = Table::Tasks;
    const ROWS: RowKind = RowKind::Task;
    const NOUN: &'static str = "a task";

    type RowOrder = TaskOrder;
    type GroupOrder = TaskGroupOrder;
    type Context = ();
    type Metrics = ();
    /// `count x (P95 - P50)`, nanoseconds. Spec: entity rows, "Default ranking".
    type Rank = f64;
    type GroupExtra = ();
    /// Minutes over which the throughput is computed.
    type NameExtra = f64;
    type RowExtra = ();
    type Row = TaskRow;
    type Group = TaskGroup;
    type NamePage = TaskPage;
    type ChartRequest = TaskChartRequest;
    type ChartMetric = ChartMetric;
    type Chart = TaskChart;
    type Detail = TaskDetail;

    fn column(order: TaskOrder) -> &'static str {
        match order {
            TaskOrder::RecordedAt => "time",
            TaskOrder::Duration => "duration",
        }
    }

    fn row(row: Row<'_>, project: Uuid) -> TaskRow {
        TaskRow {
            id: ids::format_row(row.id16("row_id")),
            project_id: project.to_string(),
            task_name: row.text("name").to_owned(),
            duration: row.int("duration"),
            recorded_at: time::to_rfc3339(row.int("time")),
            status_code: row.int("status_code") as i32,
            client_ip: row.text("client_ip").to_owned(),
            attributes: attributes::map(row.bytes("attributes")),
            app_version: row.text("app_version").to_owned(),
            server_name: row.text("server_name").to_owned(),
            trace_id: row.trace_id("trace_id").to_string(),
            span_id: ids::format_entity_span(
                project,
                row.id16("row_id"),
                row.trace_id("trace_id"),
                row.span_id("span_id"),
            ),
            parent_span_id: ids::format_span(row.span_id("parent_span_id")),
            is_stream: row.flag("is_stream"),
            is_root: row.flag("is_root"),
        }
    }

    fn search(text: Option<&str>) -> Filter {
        filters::contains("name", text)
    }

    /// Streams have no latency. Spec: entity rows, "Other".
    fn timed() -> Filter {
        filters::is_not("is_stream")
    }

    async fn ranking_context(_: &Executor, _: &Project) -> Result<(), QueryError> {
        Ok(())
    }

    fn name_context() {}

    fn aggregates((): &()) -> Vec<Aggregate> {
        Vec::new()
    }

    fn metrics(_: Row<'_>) {}

    fn rank(_: &str, stats: &EntityStats<()>, (): &()) -> f64 {
        task_rank(stats.total, stats.percentile(0), stats.percentile(1))
    }

    fn sort_value(order: TaskGroupOrder, found: &RankedGroup<Self>) -> SortValue {
        let stats = &found.stats;
        SortValue::Number(match order {
            TaskGroupOrder::Impact => found.rank,
            TaskGroupOrder::Count => stats.total,
            TaskGroupOrder::P50Duration => stats.percentile(0),
            TaskGroupOrder::P95Duration => stats.percentile(1),
            TaskGroupOrder::P99Duration => stats.percentile(2),
            TaskGroupOrder::AvgDuration => stats.average(),
            TaskGroupOrder::LastSeen => stats.last_seen as f64,
            TaskGroupOrder::ErrorRate => stats.error_rate(),
            TaskGroupOrder::Task | TaskGroupOrder::TaskName => return SortValue::Name,
        })
    }

    async fn group_extra(_: &Executor, _: u32, _: Range, _: Filter, _: &Key) -> Result<(), QueryError> {
        Ok(())
    }

    fn group_view(found: RankedGroup<Self>, (): &(), trend: Vec<TrendPoint>) -> TaskGroup {
        let RankedGroup { name, stats, rank: impact } = found;
        TaskGroup {
            task_name: name,
            count: whole(stats.total),
            stored_count: stats.rows,
            p50_duration: stats.percentile(0).round() as i64,
            p95_duration: stats.percentile(1).round() as i64,
            p99_duration: stats.percentile(2).round() as i64,
            avg_duration: stats.average().round() as i64,
            last_seen: time::to_rfc3339(stats.last_seen),
            impact,
            error_count: whole(stats.errors),
            has_root: stats.has_root,
            has_non_root: stats.has_non_root,
            trend,
        }
    }

    async fn name_extra(executor: &Executor, project: u32, range: Range, _: Filter) -> Result<f64, QueryError> {
        entities::minutes_with_data(executor, Table::Tasks, project, range).await
    }

    fn name_view(data: Vec<TaskRow>, pagination: PageInfo, stats: &EntityStats<()>, minutes: f64) -> TaskPage {
        let stats = TaskStats {
            count: whole(stats.total),
            stored_count: stats.rows,
            avg_duration: milliseconds(stats.average()),
            median_duration: milliseconds(stats.percentile(0)),
            p95_duration: milliseconds(stats.percentile(1)),
            p99_duration: milliseconds(stats.percentile(2)),
            throughput: stats.total / minutes,
            error_rate: stats.error_rate(),
        };
        TaskPage { data, stats, pagination }
    }

    fn chart_body(request: TaskChartRequest) -> ChartBody<ChartMetric> {
        let by_name = request.group_by == TaskGrouping::Name;
        let name = request.task.filter(|name| !name.is_empty());
        let (only, of_name) = if by_name { (name, None) } else { (None, name) };
        let column = match request.group_by {
            TaskGrouping::Name => "name",
            TaskGrouping::Version => "app_version",
            TaskGrouping::Service => "server_name",
        };
        ChartBody {
            from_date: request.from_date,
            to_date: request.to_date,
            interval_minutes: request.interval_minutes,
            query: request.query,
            only,
            metric: request.metric_type,
            filter: of_name.map_or(Filter::True, |name| filters::text("name", &name)),
            grouping: KeySource::Column(column),
        }
    }

    fn chart_values(metric: ChartMetric) -> ChartValues {
        ChartValues::of_durations(metric, Self::timed())
    }

    fn chart_view(lines: Lines) -> TaskChart {
        let (tasks, points, interval_minutes) = lines.parts();
        let series = points.map(|(timestamp, task, value)| TaskChartPoint { timestamp, task, value });
        TaskChart { tasks, series: series.collect(), interval_minutes }
    }

    async fn row_extra(_: &Executor, _: u32, _: Row<'_>, _: Range) -> Result<(), QueryError> {
        Ok(())
    }

    fn detail_view(parts: DetailParts<Self>) -> TaskDetail {
        TaskDetail {
            exception: parts.own_exception(),
            exceptions: parts.exceptions.into_iter().map(|exception| exception.view).collect(),
            messages: Vec::new(),
            has_spans: !parts.trace.spans.is_empty(),
            span_graph_status: parts.trace.status.clone(),
            spans: parts.trace.views(),
            task: parts.row,
        }
    }
}
