//! The conversation of an AI Trace, read from the attributes and events of its span.

use bumpalo::Bump;
use tidewatch_domain::model::{Attributes, SpanId, TraceId};
use tidewatch_domain::rules::ai_trace;
use tidewatch_domain::wire;
use tidewatch_store::tables::Table;

use super::answer::Row;
use super::executor::Executor;
use super::filters;
use super::plans::{self, Window};
use super::time::Range;
use super::views::ai::{Conversation, Message, ToolCall};
use crate::error::QueryError;

/// Queries the conversation of a span (`None` without content) and the names of the tools it called.
pub async fn of_span(
    executor: &Executor,
    project: u32,
    (trace_id, span_id): (TraceId, SpanId),
    window: Range,
) -> Result<(Option<Conversation>, Vec<String>), QueryError> {
    let filter = filters::trace(trace_id).and(filters::span(span_id));
    let columns = vec!["attributes", "events"];
    let plan = plans::rows(Table::Spans, &[project], window, filter, columns, vec![], Window::first(1));
    Ok(executor.run(plan).await?.first().map(read).unwrap_or_default())
}

/// The names of the tools that a span called, as far as its attributes name them.
pub fn tool_names(attributes: &[u8]) -> Vec<String> {
    let arena = Bump::new();
    let decoded = Attributes(wire::decode_attributes(attributes, &arena));
    ai_trace::conversation(decoded, []).tool_names
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
    let is_empty = found.input.is_none() && found.output.is_none() && messages.is_empty();
    let conversation = (!is_empty).then_some(Conversation { input: found.input, output: found.output, messages });
    (conversation, found.tool_names)
}
