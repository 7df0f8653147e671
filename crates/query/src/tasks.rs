//! Tasks. They are ranked by the time lost to slow runs: count x (P95 - P50).

use tidewatch_domain::ranking::task_rank;
use tidewatch_store::plan::Filter;
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
use super::{attributes, ids};
use crate::error::QueryError;

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
            span_id: entities::span_id(row, project),
            parent_span_id: ids::format_span(row.span_id("parent_span_id")),
            is_stream: row.flag("is_stream"),
            is_root: row.flag("is_root"),
        }
    }

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
            metric: request.metric_type,
            ..ChartBody::by_column(column, request.task)
        }
    }

    fn chart_values(metric: ChartMetric) -> ChartValues {
        ChartValues::of_durations(metric, Self::timed())
    }

    fn chart_view(lines: Lines) -> TaskChart {
        let point = |timestamp, task, value| TaskChartPoint { timestamp, task, value };
        let (tasks, series, interval_minutes) = lines.parts(point);
        TaskChart { tasks, series, interval_minutes }
    }

    fn detail_view(parts: DetailParts<Self>) -> TaskDetail {
        TaskDetail {
            task: parts.row,
            has_spans: !parts.spans.is_empty(),
            spans: parts.spans,
            span_graph_status: parts.span_graph_status,
            exception: parts.exception,
            exceptions: parts.exceptions,
            messages: Vec::new(),
        }
    }
}
