//! Tasks: single runs, the ranking, one Task's figures, its chart, one run with its trace.

use std::sync::Arc;

use tidewatch_domain::ranking::{ApdexBands, task_rank};
use tidewatch_store::plan::Filter;
use tidewatch_store::tables::Table;
use uuid::Uuid;

use super::answer::Row;
use super::ask::Ask;
use super::chart;
use super::entities::{self, Bands, Figures, milliseconds, whole};
use super::page::{self, Paging};
use super::projects::Projects;
use super::row_list::RowList;
use super::time::{self, Range};
use super::trend::{self, Subject};
use super::views::page::{ListRequest, Page};
use super::views::task::*;
use super::{attributes, endpoints, filters, ids, occurrences, trace};
use crate::error::QueryError;
use tidewatch_accounts::Project;

const ROW_ORDERS: [(&str, &str); 2] = [("recorded_at", "time"), ("duration", "duration")];

/// A Task row as the API shows it; every column of the table has been asked for.
pub fn view(row: Row<'_>, project: Uuid) -> TaskRow {
    TaskRow {
        id: ids::show_row(row.id16("row_id")),
        project_id: project.to_string(),
        task_name: row.text("name").to_owned(),
        duration: row.int("duration"),
        recorded_at: time::show(row.int("time")),
        status_code: row.int("status_code") as i32,
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

async fn rows(ask: &Ask, project: &Project, list: &RowList, filter: Filter) -> Result<Vec<TaskRow>, QueryError> {
    let answer = ask.ask(list.plan(Table::Tasks, project.number, filter)).await?;
    Ok(answer.rows().map(|row| view(row, project.id)).collect())
}

/// `POST /api/tasks`.
pub async fn list(ask: &Ask, project: &Project, request: ListRequest) -> Result<Page<TaskRow>, QueryError> {
    let list = RowList::read(ask, &request, &ROW_ORDERS)?;
    let filter = list.filter.clone().and(filters::contains("name", request.search.as_deref()));
    let (answer, total) = ask.page(list.plan(Table::Tasks, project.number, filter)).await?;
    Ok(list.paging.page(answer.rows().map(|row| view(row, project.id)).collect(), total))
}

/// What the ranking can be ordered by.
#[derive(Clone, Copy)]
enum GroupOrder {
    Impact,
    Count,
    Percentile(usize),
    Average,
    LastSeen,
    Name,
    ErrorRate,
}

const GROUP_ORDERS: [(&str, GroupOrder); 10] = [
    ("impact", GroupOrder::Impact),
    ("count", GroupOrder::Count),
    ("p50_duration", GroupOrder::Percentile(0)),
    ("p95_duration", GroupOrder::Percentile(1)),
    ("p99_duration", GroupOrder::Percentile(2)),
    ("avg_duration", GroupOrder::Average),
    ("last_seen", GroupOrder::LastSeen),
    ("task", GroupOrder::Name),
    ("task_name", GroupOrder::Name),
    ("error_rate", GroupOrder::ErrorRate),
];

/// `count x (P95 - P50)`. Spec: entity rows, "Default ranking".
fn rank(figures: &Figures) -> f64 {
    task_rank(figures.total, figures.percentile(0), figures.percentile(1))
}

/// `POST /api/tasks/grouped`.
pub async fn groups(ask: &Ask, project: &Project, request: ListRequest) -> Result<Page<TaskGroup>, QueryError> {
    let now = ask.context.clock.now_ns();
    let range = Range::of_list(request.from_date.as_deref(), request.to_date.as_deref(), now)?;
    let paging = Paging::read(request.pagination)?;
    let order = page::order(request.order_by.as_deref(), &GROUP_ORDERS)?;
    let root = filters::root(request.root_filter.as_deref())?;
    let filter = root.and(filters::contains("name", request.search.as_deref()));

    let bands = Bands::same(ApdexBands::detail());
    let mut found = entities::by_name(ask, Table::Tasks, project.number, range, filter.clone(), &bands).await?;
    sort(&mut found, order, page::is_descending(request.sort_direction));
    let total = found.len() as u64;
    let shown = paging.cut(found);

    let names: Vec<String> = shown.iter().map(|(name, _)| name.clone()).collect();
    let filter = filter.and(filters::texts("name", &names));
    let subject = Subject { table: Table::Tasks, project: project.number, filter, column: "name" };
    let trends = trend::trends(ask, subject, range).await?;
    let group = |(name, figures): (String, Figures)| TaskGroup {
        count: whole(figures.total),
        p50_duration: figures.percentile(0).round() as i64,
        p95_duration: figures.percentile(1).round() as i64,
        p99_duration: figures.percentile(2).round() as i64,
        avg_duration: figures.average().round() as i64,
        last_seen: time::show(figures.last_seen),
        impact: rank(&figures),
        error_count: whole(figures.errors),
        has_root: figures.has_root,
        has_non_root: figures.has_non_root,
        trend: trends.line(name.as_str()),
        task_name: name,
    };
    Ok(paging.page(shown.into_iter().map(group).collect(), total))
}

/// Equal ones by run count, then by name, so that pages do not overlap.
fn sort(found: &mut [(String, Figures)], order: GroupOrder, is_descending: bool) {
    let key = |figures: &Figures| match order {
        GroupOrder::Impact => rank(figures),
        GroupOrder::Count => figures.total,
        GroupOrder::Percentile(index) => figures.percentile(index),
        GroupOrder::Average => figures.average(),
        GroupOrder::LastSeen => figures.last_seen as f64,
        GroupOrder::Name => 0.0,
        GroupOrder::ErrorRate => figures.error_rate(),
    };
    found.sort_by(|(left_name, left), (right_name, right)| {
        let by_name = left_name.cmp(right_name);
        let ascending = match order {
            GroupOrder::Name => by_name,
            _ => key(left).total_cmp(&key(right)),
        };
        let wanted = if is_descending { ascending.reverse() } else { ascending };
        wanted.then(right.total.total_cmp(&left.total)).then(by_name)
    });
}

/// `POST /api/tasks/task`. `search` looks into the attributes' values.
pub async fn one(ask: &Ask, project: &Project, name: &str, request: ListRequest) -> Result<TaskPage, QueryError> {
    let list = RowList::read(ask, &request, &ROW_ORDERS)?;
    let filter = list.of_name(name, &request);
    let bands = Bands::same(ApdexBands::detail());
    let (data, figures, minutes) = tokio::try_join!(
        rows(ask, project, &list, filter.clone()),
        entities::figures(ask, Table::Tasks, project.number, list.range, filter.clone(), &bands),
        entities::minutes_with_data(ask, Table::Tasks, project.number, list.range),
    )?;
    if figures.rows == 0 && !entities::is_known(ask, Table::Tasks, project.number, name).await? {
        return Err(QueryError::not_found("this project has never recorded a task of this name"));
    }
    let stats = TaskStats {
        count: whole(figures.total),
        avg_duration: milliseconds(figures.average()),
        median_duration: milliseconds(figures.percentile(0)),
        p95_duration: milliseconds(figures.percentile(1)),
        p99_duration: milliseconds(figures.percentile(2)),
        throughput: figures.total / minutes,
        error_rate: figures.error_rate(),
    };
    Ok(TaskPage { data, stats, pagination: list.paging.info(figures.rows) })
}

/// `POST /api/tasks/chart`.
pub async fn chart(ask: &Ask, project: &Project, request: TaskChartRequest) -> Result<TaskChart, QueryError> {
    let now = ask.context.clock.now_ns();
    let range = Range::of_list(request.from_date.as_deref(), request.to_date.as_deref(), now)?;
    let only = request.task.filter(|name| !name.is_empty());
    let (interval, metric) = (request.interval_minutes, request.metric_type);
    let lines = endpoints::entity_chart(ask, Table::Tasks, project.number, range, interval, only, metric).await?;
    let point = |point: chart::Point| TaskChartPoint {
        timestamp: time::show(point.start),
        task: point.name,
        value: point.value,
    };
    Ok(TaskChart {
        tasks: lines.names,
        series: lines.points.into_iter().map(point).collect(),
        interval_minutes: lines.interval_minutes,
    })
}

/// `POST /api/tasks/{id}`.
pub async fn detail(
    ask: &Ask,
    project: &Arc<Project>,
    id: [u8; 16],
    recorded_at: Option<i64>,
) -> Result<TaskDetail, QueryError> {
    let answer = entities::find(ask, Table::Tasks, project.number, id, recorded_at).await?;
    let row = answer.first().ok_or_else(|| QueryError::not_found("there is no such row in this project"))?;
    let task = view(row, project.id);
    let (trace_id, span_id) = (row.trace_id("trace_id"), row.span_id("span_id"));
    let window = Range::around(row.int("time"));
    let projects = Projects::one(project);
    let (trace, exceptions) = tokio::try_join!(
        trace::load(ask, &projects, trace_id, window, Some(span_id)),
        occurrences::of_trace(ask, project, trace_id, window),
    )?;
    let own = exceptions.iter().find(|exception| exception.view.owner_id == task.id);
    Ok(TaskDetail {
        exception: own.map(|exception| exception.brief()),
        exceptions: exceptions.into_iter().map(|exception| exception.view).collect(),
        messages: Vec::new(),
        has_spans: !trace.spans.is_empty(),
        span_graph_status: trace.status.clone(),
        spans: trace.views(),
        task,
    })
}
