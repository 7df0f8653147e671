//! `POST /api/ai-conversations/conversation`: the turns of a conversation, with their messages and runs of tools.
//!
//! 1. The AI Traces of the conversation, the runs of tools and the spans of their traces, without attributes.
//! 2. The turns, by the rules in `domain::rules::ai_trace`.
//! 3. For the turns of one page: their rows, the attributes and events of their spans, the attributes of their tools.

use std::collections::{BTreeSet, HashMap, HashSet};

use tidewatch_domain::model::{SpanId, TraceId};
use tidewatch_domain::rules::ai_trace::{self, Step, StepKind, TreeNode, Turn};
use tidewatch_domain::units::DAY_NS;
use tidewatch_store::plan::Filter;
use tidewatch_store::tables::Table;

use super::ai_metrics::tool_runs;
use super::ai_traces::AiTrace;
use super::answer::Row;
use super::entities::EntityKind;
use super::executor::Executor;
use super::page::Paging;
use super::plans::{self, Window};
use super::time::{self, Range};
use super::views::AttributeMap;
use super::views::ai::{AiTraceRow, Message};
use super::views::ai_conversation::*;
use super::{ai_conversations, ai_flags, conversation, filters, ids};
use crate::error::QueryError;
use tidewatch_accounts::Project;
use tidewatch_limits as limits;

/// Spans whose messages are decoded at a time.
const DECODED_AT_A_TIME: usize = 10;
/// Earlier calls of a page that a call is compared with.
const COMPARED_CALLS: usize = 8;

type SpanKey = (TraceId, SpanId);

/// A span of the traces of the conversation, without attributes.
struct Known {
    step: Step,
    duration: i64,
    name: String,
    service: String,
    is_error: bool,
    /// Values of an AI Trace; `None` for other spans.
    call: Option<Call>,
}

struct Call {
    row_id: [u8; 16],
    view: TurnSpan,
}

/// `POST /api/ai-conversations/conversation`. [`QueryError::NotFound`] when the conversation has no row in the range.
pub async fn read(
    executor: &Executor,
    project: &Project,
    request: ConversationRequest,
) -> Result<ConversationPage, QueryError> {
    if request.conversation_id.is_empty() {
        return Err(QueryError::malformed("conversationId is missing"));
    }
    let now = executor.context.clock.now_ns();
    let range = Range::of_list(request.from_date.as_deref(), request.to_date.as_deref(), now)?;
    let paging = Paging::read(request.pagination)?;
    let id = &request.conversation_id;
    let (totals, found) = tokio::try_join!(
        ai_conversations::totals(executor, project, range, id),
        Spans::read(executor, project, range, id),
    )?;
    let absent = || QueryError::not_found("there is no such conversation in this project and time range");
    let conversation = totals.ok_or_else(absent)?;
    let Spans { known, mut is_partial } = found;
    let steps: Vec<Step> = known.iter().map(|known| known.step).collect();
    let turns = ai_trace::turns(&steps);
    let total = turns.len() as u64;
    is_partial |= turns.iter().any(|turn| turn.is_cut);
    let window = paging.window();
    let shown: Vec<Turn> = turns.into_iter().skip(window.offset).take(window.limit).collect();

    let mut rows = rows(executor, project, range, &known, &shown).await?;
    let mut messages = messages(executor, project, &known, &shown).await?;
    let mut data = Vec::with_capacity(shown.len());
    for turn in shown {
        let of_span = |at: usize| {
            let Step { trace_id, span_id, .. } = known[at].step;
            (trace_id, span_id)
        };
        let key = of_span(turn.call);
        let span = |node: &TreeNode| rows.span(&known[node.step], node.depth);
        let tools = turn.tree.iter().map(span).collect();
        let Some(call) = rows.calls.remove(&key) else { continue };
        let (messages, repeated) = messages.remove(&key).unwrap_or_default();
        data.push(ConversationTurn { call, messages, repeated_messages: repeated, tools, tools_cut: turn.is_cut });
    }
    Ok(ConversationPage { conversation, data, pagination: paging.info(total), is_partial })
}

/// The spans of the traces of a conversation.
struct Spans {
    known: Vec<Known>,
    /// Whether a limit left rows or spans out.
    is_partial: bool,
}

impl Spans {
    async fn read(executor: &Executor, project: &Project, range: Range, id: &str) -> Result<Spans, QueryError> {
        const CALL: [&str; 13] = [
            "time",
            "duration",
            "trace_id",
            "span_id",
            "parent_span_id",
            "row_id",
            "name",
            "server_name",
            "is_error",
            "model",
            "operation",
            "total_cost",
            "flags",
        ];
        const SPAN: [&str; 8] =
            ["time", "duration", "trace_id", "span_id", "parent_span_id", "name", "server_name", "status"];
        let read = |table, range, filter, columns: &[&'static str], limit: usize| {
            let order = vec![plans::ascending("time")];
            let window = Window::first(limit + 1);
            executor.run(plans::rows(table, &[project.number], range, filter, columns.to_vec(), order, window))
        };
        let most = limits::AI_CONVERSATION_CALLS_MAX;
        let calls = read(Table::AiTraces, range, filters::text("conversation_id", id), &CALL, most).await?;
        let traces: BTreeSet<[u8; 16]> = calls.rows().map(|row| row.trace_id("trace_id").0).collect();
        if traces.is_empty() {
            return Ok(Spans { known: Vec::new(), is_partial: false });
        }
        let around = Range { from: range.from.saturating_sub(DAY_NS), to: range.to.saturating_add(DAY_NS) };
        let in_traces = filters::ids("trace_id", traces);
        let tools_filter = in_traces.clone().and(tool_runs());
        let spans_max = limits::AI_CONVERSATION_SPANS_MAX;
        let (tools, spans) = tokio::try_join!(
            read(Table::AiTraces, around, tools_filter, &CALL, most),
            read(Table::Spans, around, in_traces, &SPAN, spans_max),
        )?;
        let is_partial = calls.len() > most || tools.len() > most || spans.len() > spans_max;
        let mut known = Vec::new();
        let mut seen: HashSet<SpanKey> = HashSet::new();
        let all = calls.rows().take(most).chain(tools.rows().take(most)).map(|row| (row, true));
        for (row, is_call) in all.chain(spans.rows().take(spans_max).map(|row| (row, false))) {
            // An AI Trace comes before the span that it is a copy of.
            if seen.insert((row.trace_id("trace_id"), row.span_id("span_id"))) {
                known.push(Known::read(row, is_call));
            }
        }
        Ok(Spans { known, is_partial })
    }
}

impl Known {
    fn read(row: Row<'_>, is_call: bool) -> Known {
        let kind = match is_call {
            true if row.text("operation") == "execute_tool" => StepKind::Tool,
            true => StepKind::Model,
            false => StepKind::Other,
        };
        let step = Step {
            trace_id: row.trace_id("trace_id"),
            span_id: row.span_id("span_id"),
            parent: row.span_id("parent_span_id"),
            start_ns: row.int("time"),
            kind,
        };
        const STATUS_ERROR: i64 = 2;
        let is_error = if is_call { row.flag("is_error") } else { row.int("status") == STATUS_ERROR };
        let mut known = Known {
            step,
            duration: row.int("duration"),
            name: row.text("name").to_owned(),
            service: row.text("server_name").to_owned(),
            is_error,
            call: None,
        };
        if is_call {
            let row_id = row.id16("row_id");
            let view = TurnSpan {
                kind: if kind == StepKind::Tool { TurnSpanKind::Tool } else { TurnSpanKind::Model },
                row_id: Some(ids::format_row(row_id)),
                model: row.text("model").to_owned(),
                total_cost: row.opt_number("total_cost"),
                flags: ai_flags::of_row(row),
                ..known.view(0)
            };
            known.call = Some(Call { row_id, view });
        }
        known
    }

    fn view(&self, depth: usize) -> TurnSpan {
        if let Some(call) = &self.call {
            return TurnSpan { depth: depth as u64, ..call.view.clone() };
        }
        TurnSpan {
            trace_id: ids::format_trace(self.step.trace_id),
            span_id: ids::format_span(self.step.span_id),
            depth: depth as u64,
            name: self.name.clone(),
            kind: TurnSpanKind::Span,
            service_name: self.service.clone(),
            start_time: time::to_rfc3339(self.step.start_ns),
            duration: self.duration,
            is_error: self.is_error,
            row_id: None,
            tool_name: String::new(),
            arguments: String::new(),
            result: String::new(),
            model: String::new(),
            total_cost: None,
            flags: Vec::new(),
        }
    }
}

/// The rows of the calls and of the runs of tools on a page.
struct Rows {
    calls: HashMap<SpanKey, AiTraceRow>,
    /// Name, arguments and result of runs of tools.
    runs: HashMap<SpanKey, [String; 3]>,
}

impl Rows {
    fn span(&self, known: &Known, depth: usize) -> TurnSpan {
        let view = known.view(depth);
        match self.runs.get(&(known.step.trace_id, known.step.span_id)) {
            Some([tool_name, arguments, result]) => {
                TurnSpan { tool_name: tool_name.clone(), arguments: arguments.clone(), result: result.clone(), ..view }
            }
            None => view,
        }
    }
}

async fn rows(
    executor: &Executor,
    project: &Project,
    range: Range,
    known: &[Known],
    shown: &[Turn],
) -> Result<Rows, QueryError> {
    let in_trees = shown.iter().flat_map(|turn| turn.tree.iter().map(|node| node.step));
    let tools = in_trees.filter(|at| known[*at].step.kind == StepKind::Tool);
    let wanted: BTreeSet<[u8; 16]> = shown
        .iter()
        .map(|turn| turn.call)
        .chain(tools)
        .filter_map(|at| known[at].call.as_ref().map(|call| call.row_id))
        .collect();
    let mut found = Rows { calls: HashMap::new(), runs: HashMap::new() };
    let around = Range { from: range.from.saturating_sub(DAY_NS), to: range.to.saturating_add(DAY_NS) };
    let wanted: Vec<[u8; 16]> = wanted.into_iter().collect();
    for chunk in wanted.chunks(DECODED_AT_A_TIME) {
        let filter = filters::ids("row_id", chunk.iter().copied());
        let columns = plans::all_columns(Table::AiTraces);
        // Both sides of a Zipkin span may have recorded the call.
        let window = Window::first(2 * chunk.len());
        let plan = plans::rows(Table::AiTraces, &[project.number], around, filter, columns, vec![], window);
        for row in executor.run(plan).await?.rows() {
            let key = (row.trace_id("trace_id"), row.span_id("span_id"));
            let mut view = AiTrace::row(row, project.id);
            if view.operation == "execute_tool" {
                found.runs.insert(key, run(&view.attributes));
            }
            view.attributes = AttributeMap::default();
            found.calls.insert(key, view);
        }
    }
    Ok(found)
}

/// Name, arguments and result of a run of a tool.
fn run(attributes: &AttributeMap) -> [String; 3] {
    const NAMES: [&str; 2] = ["gen_ai.tool.name", "ai.toolCall.name"];
    const ARGUMENTS: [&str; 4] =
        ["gen_ai.tool.call.arguments", "ai.toolCall.args", "traceloop.entity.input", "input.value"];
    const RESULTS: [&str; 4] =
        ["gen_ai.tool.call.result", "ai.toolCall.result", "traceloop.entity.output", "output.value"];
    let first = |keys: &[&str]| {
        let text = keys.iter().find_map(|key| attributes.0.get(*key)).cloned().unwrap_or_default();
        cut(text, limits::AI_TOOL_BYTES_MAX).0
    };
    [first(&NAMES), first(&ARGUMENTS), first(&RESULTS)]
}

type TurnMessages = (Vec<TurnMessage>, u64);

/// The messages of each turn that no earlier turn of the page had, and the number of those that one had.
async fn messages(
    executor: &Executor,
    project: &Project,
    known: &[Known],
    shown: &[Turn],
) -> Result<HashMap<SpanKey, TurnMessages>, QueryError> {
    let mut found = HashMap::new();
    let mut earlier: Vec<Vec<ai_trace::Message>> = Vec::new();
    let mut budget = limits::AI_CONVERSATION_BYTES_MAX;
    for chunk in shown.chunks(DECODED_AT_A_TIME) {
        let steps: Vec<Step> = chunk.iter().map(|turn| known[turn.call].step).collect();
        let (Some(first), Some(last)) =
            (steps.iter().map(|step| step.start_ns).min(), steps.iter().map(|step| step.start_ns).max())
        else {
            continue;
        };
        let range = Range { from: first, to: last.saturating_add(1) };
        let mut read = content(executor, project, range, &steps).await?;
        for step in steps {
            let key = (step.trace_id, step.span_id);
            let Some(content) = read.remove(&key) else { continue };
            let input = &content.messages[..content.input_count.min(content.messages.len())];
            let compared = earlier.iter().rev().take(COMPARED_CALLS);
            let repeated = compared.map(|call| ai_trace::repeated(call, input)).max().unwrap_or(0);
            let views = content.messages.iter().enumerate().skip(repeated).map(|(index, message)| {
                let is_output = index >= content.input_count;
                let allowed = budget.min(limits::AI_MESSAGE_BYTES_MAX);
                let (message, used, cut_bytes) = message_view(message, allowed);
                budget = budget.saturating_sub(used);
                TurnMessage { message, is_output, cut_bytes: cut_bytes as u64 }
            });
            let views = views.collect();
            found.insert(key, (views, repeated as u64));
            earlier.push(content.messages);
        }
        let old = earlier.len().saturating_sub(COMPARED_CALLS);
        earlier.drain(..old);
    }
    Ok(found)
}

async fn content(
    executor: &Executor,
    project: &Project,
    range: Range,
    steps: &[Step],
) -> Result<HashMap<SpanKey, ai_trace::Conversation>, QueryError> {
    let filter = of_spans(steps);
    let columns = vec!["trace_id", "span_id", "attributes", "events"];
    let window = Window::first(2 * steps.len());
    let plan = plans::rows(Table::Spans, &[project.number], range, filter, columns, vec![], window);
    let mut found: HashMap<SpanKey, ai_trace::Conversation> = HashMap::new();
    for row in executor.run(plan).await?.rows() {
        let key = (row.trace_id("trace_id"), row.span_id("span_id"));
        let content = conversation::content(row);
        let known = found.entry(key).or_default();
        if known.messages.is_empty() {
            *known = content;
        }
    }
    let lacking: Vec<SpanKey> = found.iter().filter(|(_, of)| of.lacks_messages()).map(|(key, _)| *key).collect();
    // Records of a call may have times before and after its span.
    let around = Range { from: range.from.saturating_sub(DAY_NS), to: range.to.saturating_add(DAY_NS) };
    let logged = conversation::Logged::read(executor, project.number, lacking.iter().copied(), around).await?;
    for key in lacking {
        if let Some(conversation) = found.get_mut(&key) {
            logged.add_to(key, conversation);
        }
    }
    Ok(found)
}

fn of_spans(steps: &[Step]) -> Filter {
    let traces: BTreeSet<[u8; 16]> = steps.iter().map(|step| step.trace_id.0).collect();
    filters::ids("trace_id", traces).and(filters::ids("span_id", steps.iter().map(|step| step.span_id.0)))
}

/// A message of at most `bytes_max` bytes of content and arguments, the bytes it has, and the bytes that were cut off.
fn message_view(message: &ai_trace::Message, bytes_max: usize) -> (Message, usize, usize) {
    let mut view = conversation::message(message);
    let whole = bytes(&view);
    let mut left = bytes_max;
    let arguments = view.tool_calls.iter_mut().map(|call| &mut call.arguments);
    for text in std::iter::once(&mut view.content).chain(arguments) {
        *text = cut(std::mem::take(text), left).0;
        left -= text.len();
    }
    let used = bytes(&view);
    (view, used, whole - used)
}

fn bytes(message: &Message) -> usize {
    message.content.len() + message.tool_calls.iter().map(|call| call.arguments.len()).sum::<usize>()
}

/// The first `bytes_max` bytes of a string, or fewer so that no character is divided, and the number of the others.
fn cut(mut text: String, bytes_max: usize) -> (String, usize) {
    let whole = text.len();
    let mut end = bytes_max.min(whole);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    let cut = whole - text.len();
    (text, cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_messages_are_cut_between_characters() {
        let message = ai_trace::Message {
            role: "user".to_owned(),
            content: "añb".to_owned(),
            tool_calls: vec![ai_trace::ToolCall {
                name: "f".to_owned(),
                arguments: "{}".to_owned(),
                ..ai_trace::ToolCall::default()
            }],
        };
        for (most, content, arguments, cut_bytes) in
            [(100, "añb", "{}", 0), (5, "añb", "{", 1), (4, "añb", "", 2), (2, "a", "{", 4), (0, "", "", 6)]
        {
            let (view, used, cut) = message_view(&message, most);
            assert_eq!(
                (view.content.as_str(), view.tool_calls[0].arguments.as_str(), cut),
                (content, arguments, cut_bytes)
            );
            assert!(used <= most);
        }
    }
}
