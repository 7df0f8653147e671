//! AI Traces. Only they have tokens, costs, models and conversations.

use std::collections::HashMap;

use tidewatch_store::plan::{Aggregate, AttributeScope, Filter, Function, Key, KeySource};
use tidewatch_store::tables::Table;
use uuid::Uuid;

use super::ai_flags;
use super::ai_metrics::{self, AiMetrics, model_calls, tokens, tool_runs};
use super::answer::Row;
use super::chart::{Lines, VALUE};
use super::entities::{
    ChartBody, ChartValues, DetailParts, EntityKind, EntityStats, ListBody, RankedGroup, SortValue, milliseconds, whole,
};
use super::executor::Executor;
use super::language::RowKind;
use super::plans;
use super::time::{self, Range};
use super::views::ai::*;
use super::views::page::{ListRequest, PageInfo, TrendPoint};
use super::{attributes, conversation, filters, grouping, ids};
use crate::error::QueryError;

/// Calls of generative models and runs of their tools.
pub struct AiTrace;

/// Values that the roll-ups of AI Traces do not have, of one group.
#[derive(Debug, Default)]
pub struct GroupDetails {
    /// Requested models, sorted.
    models: Vec<String>,
    cached_tokens: Option<f64>,
    reasoning_tokens: Option<f64>,
    /// Weighted AI Traces with a flag.
    flagged: f64,
}

impl<O> ListBody<O> for AiListRequest<O> {
    fn split(self) -> (ListRequest<O>, Filter) {
        let conversation = self.conversation_id.filter(|id| !id.is_empty());
        let conversation = conversation.map_or(Filter::True, |id| filters::text("conversation_id", &id));
        (self.list, of_calls(self.calls).and(conversation).and(ai_flags::any_of(&self.flags)))
    }
}

impl<O> ListBody<O> for AiGroupRequest<O> {
    fn split(self) -> (ListRequest<O>, Filter) {
        self.list.split()
    }

    fn grouping(&self) -> KeySource {
        grouping_of(self.group_by)
    }
}

/// Where the values of a grouping are stored.
fn grouping_of(grouping: AiGrouping) -> KeySource {
    let column = match grouping {
        AiGrouping::Name => "name",
        AiGrouping::Model => "model",
        AiGrouping::Provider => "provider",
        AiGrouping::User => "user_id",
        AiGrouping::Service => "server_name",
        AiGrouping::Conversation => "conversation_id",
        AiGrouping::Prompt => {
            return KeySource::Attribute { scope: AttributeScope::Record, key: "gen_ai.prompt.name".to_owned() };
        }
    };
    KeySource::Column(column)
}

fn of_calls(calls: AiCalls) -> Filter {
    match calls {
        AiCalls::All => Filter::True,
        AiCalls::Model => model_calls(),
        AiCalls::Tool => tool_runs(),
    }
}

fn add(left: Option<f64>, right: Option<f64>) -> Option<f64> {
    match (left, right) {
        (Some(left), Some(right)) => Some(left + right),
        (left, right) => left.or(right),
    }
}

impl EntityKind for AiTrace {
    const TABLE: Table = Table::AiTraces;
    const ROWS: RowKind = RowKind::AiTrace;
    const NOUN: &'static str = "an AI trace";

    type RowOrder = AiTraceOrder;
    type GroupOrder = AiTraceGroupOrder;
    type Context = ();
    type Metrics = AiMetrics;
    type Rank = ();
    type GroupExtra = HashMap<String, GroupDetails>;
    type NameExtra = ();
    /// The conversation, and the names of the called tools.
    type RowExtra = (Option<Conversation>, Vec<String>);
    type Row = AiTraceRow;
    type Group = AiTraceGroup;
    type NamePage = AiTracePage;
    type ChartRequest = AiChartRequest;
    type ChartMetric = AiChartMetric;
    type Chart = AiChart;
    type Detail = AiTraceDetail;

    fn column(order: AiTraceOrder) -> &'static str {
        match order {
            AiTraceOrder::RecordedAt => "time",
            AiTraceOrder::Duration => "duration",
            AiTraceOrder::TotalCost => "total_cost",
            AiTraceOrder::TotalTokens => "total_tokens",
        }
    }

    fn row(row: Row<'_>, project: Uuid) -> AiTraceRow {
        let attributes = attributes::map(row.bytes("attributes"));
        let streamed = attributes.0.get("gen_ai.request.stream").or(attributes.0.get("llm.is_streaming"));
        let flags = ai_flags::of_row(row);
        let found = conversation::of_attributes(row.bytes("attributes"));
        let id = ids::format_row(row.id16("row_id"));
        let has_conversation = found.has_content || row.opt_int("event_messages") == Some(1);
        AiTraceRow {
            storage_key: if has_conversation {
                conversation::pointer(&project.to_string(), &id)
            } else {
                String::new()
            },
            id,
            project_id: project.to_string(),
            recorded_at: time::to_rfc3339(row.int("time")),
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
            cache_write_tokens: row.opt_int("cache_write_tokens"),
            reasoning_tokens: row.opt_int("reasoning_tokens"),
            input_cost: row.opt_number("input_cost"),
            output_cost: row.opt_number("output_cost"),
            total_cost: row.opt_number("total_cost"),
            cost_estimated: row.flag("cost_estimated"),
            is_counted: row.opt_int("repeats_usage").is_none(),
            trace_name: row.text("name").to_owned(),
            user_id: row.text("user_id").to_owned(),
            finish_reason: row.text("finish_reason").to_owned(),
            server_name: row.text("server_name").to_owned(),
            app_version: row.text("app_version").to_owned(),
            is_stream: streamed.is_some_and(|streamed| streamed == "true"),
            attributes,
            trace_id: row.trace_id("trace_id").to_string(),
            span_id: row.span_id("span_id").to_string(),
            parent_span_id: ids::format_span(row.span_id("parent_span_id")),
            is_root: row.flag("is_root"),
            is_error: row.flag("is_error"),
            conversation_id: row.text("conversation_id").to_owned(),
            tool_call_count: row.int("tool_call_count"),
            tool_names: found.tool_names,
            flagged: !flags.is_empty(),
            flags,
            flagged_terms: ai_flags::terms_of_row(row),
        }
    }

    /// The name or the model contains `text`.
    fn search(text: Option<&str>) -> Filter {
        match filters::contains("name", text) {
            Filter::True => Filter::True,
            by_name => Filter::Any(vec![by_name, filters::contains("model", text)]),
        }
    }

    fn timed() -> Filter {
        Filter::True
    }

    fn aggregates((): &()) -> Vec<Aggregate> {
        ai_metrics::aggregates()
    }

    fn metrics(row: Row<'_>) -> AiMetrics {
        AiMetrics::read(row)
    }

    fn rank(_: &str, _: &EntityStats<AiMetrics>, (): &()) {}

    fn sort_value(order: AiTraceGroupOrder, found: &RankedGroup<Self>) -> SortValue {
        let stats = &found.stats;
        SortValue::Number(match order {
            AiTraceGroupOrder::TotalCost => return SortValue::AbsentLast(stats.own.total_cost),
            AiTraceGroupOrder::Count => stats.total,
            AiTraceGroupOrder::TotalTokens => stats.own.total_tokens.unwrap_or(-1.0),
            AiTraceGroupOrder::P50Duration => stats.percentile(0),
            AiTraceGroupOrder::P95Duration => stats.percentile(1),
            AiTraceGroupOrder::AvgDuration => stats.average(),
            AiTraceGroupOrder::LastSeen => stats.last_seen as f64,
            AiTraceGroupOrder::ErrorRate => stats.error_rate(),
            AiTraceGroupOrder::TraceName => return SortValue::Name,
        })
    }

    async fn group_extra(
        executor: &Executor,
        project: u32,
        range: Range,
        filter: Filter,
        key: &Key,
    ) -> Result<HashMap<String, GroupDetails>, QueryError> {
        let (keys, aggregates) = (
            vec![key.clone(), KeySource::Column("model").named("requested")],
            ai_metrics::parts_of_tokens().into_iter().chain([ai_flags::flagged()]).collect(),
        );
        let answer = executor.run(plans::groups(Table::AiTraces, &[project], range, filter, keys, aggregates)).await?;
        let mut details = HashMap::<String, GroupDetails>::new();
        for row in answer.rows() {
            let group = details.entry(row.text(key.name).to_owned()).or_default();
            if let Some(model) = row.opt_text("requested").filter(|model| !model.is_empty()) {
                group.models.push(model.to_owned());
            }
            let [cached, reasoning] = ai_metrics::read_parts_of_tokens(row);
            group.cached_tokens = add(group.cached_tokens, cached);
            group.reasoning_tokens = add(group.reasoning_tokens, reasoning);
            group.flagged += row.number(ai_flags::FLAGGED);
        }
        details.values_mut().for_each(|group| group.models.sort_unstable());
        Ok(details)
    }

    fn group_view(
        found: RankedGroup<Self>,
        details: &HashMap<String, GroupDetails>,
        trend: Vec<TrendPoint>,
    ) -> AiTraceGroup {
        let RankedGroup { name, stats, .. } = found;
        let details = details.get(&name);
        let own = &stats.own;
        let average = |sum: Option<f64>, counted: f64| sum.filter(|_| counted > 0.0).map(|sum| sum / counted);
        AiTraceGroup {
            count: whole(stats.total),
            stored_count: stats.rows,
            tool_count: whole(own.tools),
            p50_duration: stats.percentile(0).round() as i64,
            p95_duration: stats.percentile(1).round() as i64,
            avg_duration: stats.average().round() as i64,
            total_tokens: tokens(own.total_tokens),
            input_tokens: tokens(own.input_tokens),
            output_tokens: tokens(own.output_tokens),
            cached_tokens: tokens(details.and_then(|group| group.cached_tokens)),
            reasoning_tokens: tokens(details.and_then(|group| group.reasoning_tokens)),
            total_cost: own.total_cost,
            estimated_cost: own.estimated > 0,
            unpriced_count: whole(own.unpriced),
            avg_input_tokens: average(own.input_tokens, own.counted_inputs),
            avg_output_tokens: average(own.output_tokens, own.counted_outputs),
            last_seen: time::to_rfc3339(stats.last_seen),
            has_root: stats.has_root,
            has_non_root: stats.has_non_root,
            error_count: whole(stats.errors),
            flagged_count: whole(details.map_or(0.0, |group| group.flagged)),
            models: details.map(|group| group.models.clone()).unwrap_or_default(),
            trend,
            trace_name: name,
        }
    }

    fn name_view(data: Vec<AiTraceRow>, pagination: PageInfo, stats: &EntityStats<AiMetrics>, (): ()) -> AiTracePage {
        let own = &stats.own;
        let stats = AiTraceStats {
            count: whole(stats.total),
            stored_count: stats.rows,
            tool_count: whole(own.tools),
            avg_duration: milliseconds(stats.average()),
            median_duration: milliseconds(stats.percentile(0)),
            p95_duration: milliseconds(stats.percentile(1)),
            error_rate: stats.error_rate(),
            input_tokens: tokens(own.input_tokens),
            output_tokens: tokens(own.output_tokens),
            total_tokens: tokens(own.total_tokens),
            total_cost: own.total_cost,
            estimated_cost: own.estimated > 0,
            unpriced_count: whole(own.unpriced),
        };
        AiTracePage { data, stats, pagination }
    }

    async fn own_chart(
        executor: &Executor,
        project: u32,
        range: Range,
        body: &ChartBody<AiChartMetric>,
    ) -> Result<Option<Lines>, QueryError> {
        if body.metric != AiChartMetric::TokenKinds {
            return Ok(None);
        }
        let only = body.only.as_ref().filter(|name| !name.is_empty());
        let only = only.map_or(Filter::True, |name| {
            grouping::of_names(Table::AiTraces, &body.grouping, std::slice::from_ref(name))
        });
        let filter = body.filter.clone().and(only);
        ai_metrics::token_kinds(executor, project, range, filter, body.interval_minutes).await.map(Some)
    }

    fn chart_body(request: AiChartRequest) -> ChartBody<AiChartMetric> {
        ChartBody {
            from_date: request.from_date,
            to_date: request.to_date,
            interval_minutes: request.interval_minutes,
            query: request.query,
            only: request.trace,
            metric: request.metric_type,
            filter: of_calls(request.calls).and(ai_flags::any_of(&request.flags)),
            grouping: grouping_of(request.group_by),
        }
    }

    fn chart_values(metric: AiChartMetric) -> ChartValues {
        let (weight, value) = match metric {
            AiChartMetric::Cost => {
                let cost = Function::Sum("total_cost").named(VALUE).only(ai_metrics::counted_with("total_cost"));
                return ChartValues { weight: cost.clone(), value: cost, is_duration: false };
            }
            AiChartMetric::Tokens | AiChartMetric::TokenKinds => {
                let tokens = Function::Sum("total_tokens").named(VALUE).only(ai_metrics::counted_with("total_tokens"));
                return ChartValues { weight: tokens.clone(), value: tokens, is_duration: false };
            }
            AiChartMetric::Count => (Function::Weight, Function::Weight),
            AiChartMetric::P95 => {
                (Function::Sum("duration"), Function::Quantiles { column: "duration", qs: vec![0.95] })
            }
        };
        let is_duration = metric == AiChartMetric::P95;
        ChartValues { weight: weight.named(VALUE), value: value.named(VALUE), is_duration }
    }

    fn chart_view(lines: Lines) -> AiChart {
        let point = |timestamp, trace, value| AiChartPoint { timestamp, trace, value };
        let (traces, series, interval_minutes) = lines.parts(point);
        AiChart { traces, series, interval_minutes }
    }

    async fn row_extra(
        executor: &Executor,
        project: u32,
        row: Row<'_>,
        window: Range,
    ) -> Result<(Option<Conversation>, Vec<String>), QueryError> {
        let span = (row.trace_id("trace_id"), row.span_id("span_id"));
        conversation::of_span(executor, project, span, window).await
    }

    fn detail_view(parts: DetailParts<Self>) -> AiTraceDetail {
        let (mut ai_trace, (conversation, tool_names)) = (parts.row, parts.extra);
        // Rows of earlier versions do not say that the messages are in events.
        if conversation.is_some() {
            ai_trace.storage_key = conversation::pointer(&ai_trace.project_id, &ai_trace.id);
        }
        if !tool_names.is_empty() {
            ai_trace.tool_names = tool_names;
        }
        AiTraceDetail {
            ai_trace,
            has_spans: !parts.spans.is_empty(),
            spans: parts.spans,
            span_graph_status: parts.span_graph_status,
            conversation,
            exceptions: parts.exceptions,
        }
    }
}
