//! The conversation of an AI Trace, read from the attributes and events of its span.

use bumpalo::Bump;
use tidewatch_accounts::Project;
use tidewatch_domain::model::{Attributes, SpanId, TraceId};
use tidewatch_domain::rules::ai_trace;
use tidewatch_domain::wire;
use tidewatch_store::plan::Plan;
use tidewatch_store::tables::Table;

use super::answer::Row;
use super::entities::detail;
use super::executor::Executor;
use super::filters;
use super::plans::{self, Window};
use super::time::Range;
use super::views::ai::{Conversation, Message, StoredConversation, ToolCall};
use crate::error::QueryError;

/// Queries the conversation of a span (`None` without content) and the names of the tools it called.
pub async fn of_span(
    executor: &Executor,
    project: u32,
    (trace_id, span_id): (TraceId, SpanId),
    window: Range,
) -> Result<(Option<Conversation>, Vec<String>), QueryError> {
    Ok(executor.run(of_one(project, (trace_id, span_id), window)).await?.first().map(read).unwrap_or_default())
}

/// The plan of a span with the columns of its conversation.
fn of_one(project: u32, (trace_id, span_id): (TraceId, SpanId), window: Range) -> Plan {
    let filter = filters::trace(trace_id).and(filters::span(span_id));
    let columns = vec!["attributes", "events"];
    plans::rows(Table::Spans, &[project], window, filter, columns, vec![], Window::first(1))
}

/// Attributes of a span that describe its conversation.
pub struct InAttributes {
    /// The names of the tools that the span called.
    pub tool_names: Vec<String>,
    /// Whether they have a part of the conversation.
    pub has_content: bool,
}

/// Reads the attributes of a span.
pub fn of_attributes(attributes: &[u8]) -> InAttributes {
    let arena = Bump::new();
    let decoded = Attributes(wire::decode_attributes(attributes, &arena));
    let found = ai_trace::conversation(decoded, []);
    InAttributes { has_content: !found.is_empty(), tool_names: found.tool_names }
}

/// The pointer to the conversation of an AI Trace, by the ids of its project and its row. WIRE 8.3.
pub fn pointer(project: &str, id: &str) -> String {
    format!("ai-traces/{project}/{id}.json")
}

/// `GET /api/ai-traces/{id}/conversation`. [`QueryError::NotFound`] when there is no such row, or no conversation.
pub async fn stored(
    executor: &Executor,
    project: &Project,
    id: [u8; 16],
    recorded_at: Option<i64>,
) -> Result<StoredConversation, QueryError> {
    let answer = detail::find(executor, Table::AiTraces, project.number, id, recorded_at).await?;
    let missing = || QueryError::not_found("this AI trace has no conversation");
    let row = answer.first().ok_or_else(missing)?;
    let span = (row.trace_id("trace_id"), row.span_id("span_id"));
    let answer = executor.run(of_one(project.number, span, Range::around(row.int("time")))).await?;
    let found = answer.first().map(content).filter(|found| !found.is_empty()).ok_or_else(missing)?;
    let (inputs, outputs) = found.messages.split_at(found.input_count.min(found.messages.len()));
    Ok(StoredConversation {
        input: found.input.clone().or_else(|| as_json(inputs)),
        output: found.output.clone().or_else(|| as_json(outputs)),
    })
}

/// Messages that no attribute has as a whole, as the JSON of `gen_ai.input.messages`.
fn as_json(messages: &[ai_trace::Message]) -> Option<String> {
    let views: Vec<Message> = messages.iter().map(message).collect();
    (!views.is_empty()).then(|| serde_json::to_string(&views).ok()).flatten()
}

/// Decodes the conversation of a span with the columns `attributes` and `events`.
pub fn content(span: Row<'_>) -> ai_trace::Conversation {
    let arena = Bump::new();
    let attributes = Attributes(wire::decode_attributes(span.bytes("attributes"), &arena));
    let events = wire::decode_events(span.bytes("events"), &arena);
    ai_trace::conversation(attributes, events.iter().map(|event| (event.name, Attributes(event.attributes))))
}

/// The view of a message.
pub fn message(message: &ai_trace::Message) -> Message {
    let call = |call: &ai_trace::ToolCall| ToolCall { name: call.name.clone(), arguments: call.arguments.clone() };
    Message {
        role: message.role.clone(),
        content: message.content.clone(),
        tool_calls: message.tool_calls.iter().map(call).collect(),
    }
}

fn read(span: Row<'_>) -> (Option<Conversation>, Vec<String>) {
    let found = content(span);
    let messages: Vec<Message> = found.messages.iter().map(message).collect();
    let conversation =
        (!found.is_empty()).then_some(Conversation { input: found.input, output: found.output, messages });
    (conversation, found.tool_names)
}
