//! AI Traces: single calls, groups by name, one name's figures, its chart, one call with its conversation.

use std::collections::HashMap;
use std::sync::Arc;

use bumpalo::Bump;
use tidewatch_domain::model::{Attributes, SpanId, TraceId};
use tidewatch_domain::ranking::by_total_cost;
use tidewatch_domain::rules::ai_trace;
use tidewatch_domain::wire;
use tidewatch_store::plan::{Filter, Function, Key};
use tidewatch_store::tables::Table;
use uuid::Uuid;

use super::ai_figures::{Figures, aggregates, model_calls, tool_runs};
use super::answer::{Answer, Row};
use super::ask::{self, Ask, Window};
use super::chart::{self, Chart};
use super::entities::{self, milliseconds, whole};
use super::page::{self, Paging};
use super::projects::Projects;
use super::row_list::RowList;
use super::time::{self, Range};
use super::trend::{self, Subject};
use super::views::ai::*;
use super::views::page::Page;
use super::{attributes, filters, ids, occurrences, trace};
use crate::error::QueryError;
use tidewatch_accounts::Project;

const ROW_ORDERS: [(&str, &str); 4] =
    [("recorded_at", "time"), ("duration", "duration"), ("total_cost", "total_cost"), ("total_tokens", "total_tokens")];

/// An AI Trace row as the API shows it; every column of the table has been asked for.
pub fn view(row: Row<'_>, project: Uuid) -> AiTraceRow {
    let (shown, tool_names) = attributes_and_tools(row.bytes("attributes"));
    AiTraceRow {
        id: ids::show_row(row.id16("row_id")),
        project_id: project.to_string(),
        recorded_at: time::show(row.int("time")),
        duration: row.int("duration"),
        status_code: row.int("status_code") as i32,
        model: row.text("model").to_owned(),
        response_model: row.text("response_model").to_owned(),
        provider: row.text("provider").to_owned(),
        operation: row.text("operation").to_owned(),
        input_tokens: row.opt_int("input_tokens"),
        output_tokens: row.opt_int("output_tokens"),
        total_tokens: row.opt_int("total_tokens"),
        cached_tokens: row.opt_int("cached_tokens"),
        reasoning_tokens: row.opt_int("reasoning_tokens"),
        input_cost: row.opt_number("input_cost"),
        output_cost: row.opt_number("output_cost"),
        total_cost: row.opt_number("total_cost"),
        cost_estimated: row.flag("cost_estimated"),
        trace_name: row.text("name").to_owned(),
        user_id: row.text("user_id").to_owned(),
        finish_reason: row.text("finish_reason").to_owned(),
        server_name: row.text("server_name").to_owned(),
        app_version: row.text("app_version").to_owned(),
        storage_key: String::new(),
        is_stream: shown
            .0
            .get("gen_ai.request.stream")
            .or(shown.0.get("llm.is_streaming"))
            .is_some_and(|v| v == "true"),
        attributes: shown,
        trace_id: row.trace_id("trace_id").to_string(),
        span_id: row.span_id("span_id").to_string(),
        parent_span_id: ids::show_span(row.span_id("parent_span_id")),
        is_root: row.flag("is_root"),
        is_error: row.flag("is_error"),
        conversation_id: row.text("conversation_id").to_owned(),
        tool_call_count: row.int("tool_call_count"),
        tool_names,
        flagged: false,
        flagged_terms: Vec::new(),
    }
}

/// The attributes, and the tools that were called.
fn attributes_and_tools(bytes: &[u8]) -> (super::views::AttributeMap, Vec<String>) {
    let arena = Bump::new();
    let decoded = Attributes(wire::decode_attributes(bytes, &arena));
    let conversation = ai_trace::conversation(decoded, []);
    (attributes::map(bytes), conversation.tool_names)
}

async fn rows(ask: &Ask, project: &Project, list: &RowList, filter: Filter) -> Result<Vec<AiTraceRow>, QueryError> {
    let answer = ask.ask(list.plan(Table::AiTraces, project.number, filter)).await?;
    Ok(answer.rows().map(|row| view(row, project.id)).collect())
}

/// `POST /api/ai-traces`. `search`: name or model.
pub async fn list(ask: &Ask, project: &Project, request: AiListRequest) -> Result<Page<AiTraceRow>, QueryError> {
    let list = RowList::read(ask, &request.list, &ROW_ORDERS)?;
    let filter = list.filter.clone().and(search(request.list.search.as_deref())).and(narrowed(&request));
    let (answer, total) = ask.page(list.plan(Table::AiTraces, project.number, filter)).await?;
    Ok(list.paging.page(answer.rows().map(|row| view(row, project.id)).collect(), total))
}

/// `calls` and `conversationId`.
fn narrowed(request: &AiListRequest) -> Filter {
    let conversation = request.conversation_id.as_deref().filter(|id| !id.is_empty());
    of_calls(request.calls).and(conversation.map_or(Filter::True, |id| filters::text("conversation_id", id)))
}

fn of_calls(calls: AiCalls) -> Filter {
    match calls {
        AiCalls::All => Filter::True,
        AiCalls::Model => model_calls(),
        AiCalls::Tool => tool_runs(),
    }
}

fn search(text: Option<&str>) -> Filter {
    match filters::contains("name", text) {
        Filter::True => Filter::True,
        by_name => Filter::Any(vec![by_name, filters::contains("model", text)]),
    }
}

fn tokens(sum: Option<f64>) -> Option<i64> {
    sum.map(|sum| sum.round() as i64)
}

#[derive(Clone, Copy)]
enum GroupOrder {
    Cost,
    Count,
    Tokens,
    Percentile(usize),
    Average,
    LastSeen,
    Name,
    ErrorRate,
}

const GROUP_ORDERS: [(&str, GroupOrder); 9] = [
    ("total_cost", GroupOrder::Cost),
    ("count", GroupOrder::Count),
    ("total_tokens", GroupOrder::Tokens),
    ("p50_duration", GroupOrder::Percentile(0)),
    ("p95_duration", GroupOrder::Percentile(1)),
    ("avg_duration", GroupOrder::Average),
    ("last_seen", GroupOrder::LastSeen),
    ("trace_name", GroupOrder::Name),
    ("error_rate", GroupOrder::ErrorRate),
];

/// `POST /api/ai-traces/grouped`. Spec: entity rows, "Default ranking": total cost.
pub async fn groups(ask: &Ask, project: &Project, request: AiListRequest) -> Result<Page<AiTraceGroup>, QueryError> {
    let narrowed = narrowed(&request);
    let request = request.list;
    let now = ask.context.clock.now_ns();
    let range = Range::of_list(request.from_date.as_deref(), request.to_date.as_deref(), now)?;
    let paging = Paging::read(request.pagination)?;
    let order = page::order(request.order_by.as_deref(), &GROUP_ORDERS)?;
    let filter = filters::root(request.root_filter.as_deref())?.and(search(request.search.as_deref()));
    let filter = filter.and(narrowed);

    let number = project.number;
    let keys = vec![Key::column("name")];
    let answer = ask.ask(ask::groups(Table::AiTraces, &[number], range, filter.clone(), keys, aggregates())).await?;
    let mut found: Vec<(String, Figures)> =
        answer.rows().map(|row| (row.text("name").to_owned(), Figures::read(row))).collect();
    sort(&mut found, order, page::is_descending(request.sort_direction));
    let total = found.len() as u64;
    let shown = paging.cut(found);

    let names: Vec<String> = shown.iter().map(|(name, _)| name.clone()).collect();
    let filter = filter.and(filters::texts("name", &names));
    let subject = Subject { table: Table::AiTraces, project: number, filter: filter.clone(), column: "name" };
    let (trends, mut models) =
        tokio::try_join!(trend::trends(ask, subject, range), models(ask, number, range, filter))?;
    let group = |(name, figures): (String, Figures)| {
        let average = |sum: Option<f64>, counted: f64| sum.filter(|_| counted > 0.0).map(|sum| sum / counted);
        AiTraceGroup {
            count: whole(figures.count),
            tool_count: whole(figures.tools),
            p50_duration: figures.percentile(0).round() as i64,
            p95_duration: figures.percentile(1).round() as i64,
            avg_duration: figures.average().round() as i64,
            total_tokens: tokens(figures.total_tokens),
            total_cost: figures.total_cost,
            estimated_cost: figures.estimated > 0,
            unpriced_count: whole(figures.unpriced),
            avg_input_tokens: average(figures.input_tokens, figures.counted_inputs),
            avg_output_tokens: average(figures.output_tokens, figures.counted_outputs),
            last_seen: time::show(figures.last_seen),
            has_root: figures.has_root,
            has_non_root: figures.has_non_root,
            error_count: whole(figures.errors),
            models: models.remove(&name).unwrap_or_default(),
            trend: trends.line(name.as_str()),
            trace_name: name,
        }
    };
    Ok(paging.page(shown.into_iter().map(group).collect(), total))
}

/// What is not priced comes last, whichever way the cost is sorted. Equal ones by calls, then by name.
fn sort(found: &mut [(String, Figures)], order: GroupOrder, is_descending: bool) {
    let key = |figures: &Figures| match order {
        GroupOrder::Cost | GroupOrder::Name => 0.0,
        GroupOrder::Count => figures.count,
        GroupOrder::Tokens => figures.total_tokens.unwrap_or(-1.0),
        GroupOrder::Percentile(index) => figures.percentile(index),
        GroupOrder::Average => figures.average(),
        GroupOrder::LastSeen => figures.last_seen as f64,
        GroupOrder::ErrorRate => figures.error_rate(),
    };
    found.sort_by(|(left_name, left), (right_name, right)| {
        let by_name = left_name.cmp(right_name);
        let wanted = match order {
            GroupOrder::Cost => match (left.total_cost, right.total_cost) {
                (Some(_), Some(_)) if !is_descending => by_total_cost(right.total_cost, left.total_cost),
                (left, right) => by_total_cost(left, right),
            },
            GroupOrder::Name if is_descending => by_name.reverse(),
            GroupOrder::Name => by_name,
            _ if is_descending => key(right).total_cmp(&key(left)),
            _ => key(left).total_cmp(&key(right)),
        };
        wanted.then(right.count.total_cmp(&left.count)).then(by_name)
    });
}

/// Requested models by name of the AI Trace, sorted.
async fn models(
    ask: &Ask,
    project: u32,
    range: Range,
    filter: Filter,
) -> Result<HashMap<String, Vec<String>>, QueryError> {
    let keys = vec![Key::column("name"), Key::column("model")];
    let plan = ask::groups(Table::AiTraces, &[project], range, filter, keys, vec![Function::Count.named("rows")]);
    let answer = ask.ask(plan).await?;
    let mut models: HashMap<String, Vec<String>> = HashMap::new();
    for row in answer.rows() {
        if let Some(model) = row.opt_text("model").filter(|model| !model.is_empty()) {
            models.entry(row.text("name").to_owned()).or_default().push(model.to_owned());
        }
    }
    models.values_mut().for_each(|models| models.sort_unstable());
    Ok(models)
}

/// `POST /api/ai-traces/trace`. `search` looks into the attributes' values.
pub async fn one(ask: &Ask, project: &Project, name: &str, request: AiListRequest) -> Result<AiTracePage, QueryError> {
    let list = RowList::read(ask, &request.list, &ROW_ORDERS)?;
    let filter = list.of_name(name, &request.list).and(narrowed(&request));
    let plan = ask::groups(Table::AiTraces, &[project.number], list.range, filter.clone(), vec![], aggregates());
    let (data, answer) = tokio::try_join!(rows(ask, project, &list, filter.clone()), ask.ask(plan))?;
    let figures = answer.first().map(Figures::read).unwrap_or_default();
    if figures.rows == 0 && !entities::is_known(ask, Table::AiTraces, project.number, name).await? {
        return Err(QueryError::not_found("this project has never recorded an AI trace of this name"));
    }
    let stats = AiTraceStats {
        count: whole(figures.count),
        tool_count: whole(figures.tools),
        avg_duration: milliseconds(figures.average()),
        median_duration: milliseconds(figures.percentile(0)),
        p95_duration: milliseconds(figures.percentile(1)),
        error_rate: figures.error_rate(),
        input_tokens: tokens(figures.input_tokens),
        output_tokens: tokens(figures.output_tokens),
        total_tokens: tokens(figures.total_tokens),
        total_cost: figures.total_cost,
        estimated_cost: figures.estimated > 0,
        unpriced_count: whole(figures.unpriced),
    };
    Ok(AiTracePage { data, stats, pagination: list.paging.info(figures.rows) })
}

/// `POST /api/ai-traces/chart`.
pub async fn chart(ask: &Ask, project: &Project, request: AiChartRequest) -> Result<AiChart, QueryError> {
    let now = ask.context.clock.now_ns();
    let range = Range::of_list(request.from_date.as_deref(), request.to_date.as_deref(), now)?;
    let metric = request.metric_type;
    let p95 = Function::Quantiles { column: "duration", qs: vec![0.95] };
    let (weight, value) = match metric {
        AiChartMetric::Cost => (Function::Sum("total_cost"), Function::Sum("total_cost")),
        AiChartMetric::Tokens => (Function::Sum("total_tokens"), Function::Sum("total_tokens")),
        AiChartMetric::Count => (Function::Weight, Function::Weight),
        AiChartMetric::P95 => (Function::Sum("duration"), p95),
    };
    let chart = Chart {
        table: Table::AiTraces,
        project: project.number,
        range,
        interval_minutes: request.interval_minutes,
        only: request.trace.filter(|name| !name.is_empty()),
        filter: of_calls(request.calls),
        weight: weight.named(chart::VALUE),
        value: value.named(chart::VALUE),
    };
    let number = |row: Row<'_>| match metric {
        AiChartMetric::P95 => row.numbers(chart::VALUE).map(|quantiles| milliseconds(quantiles[0])),
        AiChartMetric::Cost | AiChartMetric::Tokens | AiChartMetric::Count => row.opt_number(chart::VALUE),
    };
    let lines = chart::lines(ask, chart, number).await?;
    let point = |point: chart::Point| AiChartPoint {
        timestamp: time::show(point.start),
        trace: point.name,
        value: point.value,
    };
    Ok(AiChart {
        traces: lines.names,
        series: lines.points.into_iter().map(point).collect(),
        interval_minutes: lines.interval_minutes,
    })
}

/// `POST /api/ai-traces/{id}`.
pub async fn detail(
    ask: &Ask,
    project: &Arc<Project>,
    id: [u8; 16],
    recorded_at: Option<i64>,
) -> Result<AiTraceDetail, QueryError> {
    let answer = entities::find(ask, Table::AiTraces, project.number, id, recorded_at).await?;
    let row = answer.first().ok_or_else(|| QueryError::not_found("there is no such row in this project"))?;
    let mut ai_trace = view(row, project.id);
    let (trace_id, span_id) = (row.trace_id("trace_id"), row.span_id("span_id"));
    let window = Range::around(row.int("time"));
    let projects = Projects::one(project);
    let (trace, exceptions, own) = tokio::try_join!(
        trace::load(ask, &projects, trace_id, window, Some(span_id)),
        occurrences::of_trace(ask, project, trace_id, window),
        own_span(ask, project.number, trace_id, span_id, window),
    )?;
    let (conversation, tool_names) = own.first().map(conversation).unwrap_or_default();
    if !tool_names.is_empty() {
        ai_trace.tool_names = tool_names;
    }
    Ok(AiTraceDetail {
        ai_trace,
        has_spans: !trace.spans.is_empty(),
        span_graph_status: trace.status.clone(),
        spans: trace.views(),
        conversation,
        exceptions: exceptions.into_iter().map(|exception| exception.view).collect(),
    })
}

async fn own_span(
    ask: &Ask,
    project: u32,
    trace_id: TraceId,
    span_id: SpanId,
    window: Range,
) -> Result<Answer, QueryError> {
    let filter = filters::trace(trace_id).and(filters::span(span_id));
    let columns = vec!["attributes", "events"];
    ask.ask(ask::rows(Table::Spans, &[project], window, filter, columns, vec![], Window::first(1))).await
}

/// What was said, from the span's attributes and events, and the tools called; no conversation without content.
fn conversation(span: Row<'_>) -> (Option<Conversation>, Vec<String>) {
    let arena = Bump::new();
    let attributes = Attributes(wire::decode_attributes(span.bytes("attributes"), &arena));
    let events = wire::decode_events(span.bytes("events"), &arena);
    let found =
        ai_trace::conversation(attributes, events.iter().map(|event| (event.name, Attributes(event.attributes))));
    let message = |message: &ai_trace::Message| Message {
        role: message.role.clone(),
        content: message.content.clone(),
        tool_calls: message
            .tool_calls
            .iter()
            .map(|call| ToolCall { name: call.name.clone(), arguments: call.arguments.clone() })
            .collect(),
    };
    let messages: Vec<Message> = found.messages.iter().map(message).collect();
    let is_empty = found.input.is_none() && found.output.is_none() && messages.is_empty();
    let conversation = (!is_empty).then_some(Conversation { input: found.input, output: found.output, messages });
    (conversation, found.tool_names)
}
