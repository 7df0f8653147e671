//! Reads the conversation of an AI Trace, at query time.
//!
//! SDKs encode it in six ways. The first one present wins, separately for input and output: a complete string
//! (`gen_ai.prompt`), JSON messages (`gen_ai.input.messages`), one attribute per field (`gen_ai.prompt.0.role`), the
//! Vercel AI SDK's attributes, OpenInference's (`llm.input_messages.0.message.role`), span events
//! (`gen_ai.user.message`).

use super::messages::{Message, ToolCall, messages_of};
use crate::model::{AnyValue, Attributes};
use crate::wire::value_text;

/// The conversation of one model call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Conversation {
    /// As sent; `None` when absent.
    pub input: Option<String>,
    /// As sent; `None` when absent.
    pub output: Option<String>,
    /// Input messages, then output messages.
    pub messages: Vec<Message>,
    /// Number of input messages, those of the system included.
    pub input_count: usize,
    /// Distinct names of the tools that the model called in this response or that this span executed.
    pub tool_names: Vec<String>,
}

impl Conversation {
    /// Whether nothing of the conversation was recorded.
    pub fn is_empty(&self) -> bool {
        self.input.is_none() && self.output.is_none() && self.messages.is_empty()
    }
}

const INPUTS: [&str; 7] = [
    "gen_ai.prompt",
    "gen_ai.input.messages",
    "trace.input",
    "span.input",
    "ai.prompt.messages",
    "ai.prompt",
    "langfuse.observation.input",
];
/// The complete outputs, the first present one wins.
pub(super) const OUTPUTS: [&str; 6] = [
    "gen_ai.completion",
    "gen_ai.output.messages",
    "trace.output",
    "span.output",
    "ai.response.text",
    "langfuse.observation.output",
];

/// Fallback attributes of one side of the conversation.
struct Side {
    role: &'static str,
    /// Prefixes of attributes with one field of a message each: OpenLLMetry's, OpenInference's.
    indexed: [&'static str; 2],
    /// OpenInference's complete string, which has less detail than the messages.
    complete: &'static str,
}

const INPUT: Side = Side { role: "user", indexed: ["gen_ai.prompt.", "llm.input_messages."], complete: "input.value" };
const OUTPUT: Side =
    Side { role: "assistant", indexed: ["gen_ai.completion.", "llm.output_messages."], complete: "output.value" };

/// Reads a conversation. `events` are the names and attributes of the span's events, in order.
pub fn conversation<'b, 'a: 'b>(
    attributes: Attributes<'b, 'a>,
    events: impl IntoIterator<Item = (&'b str, Attributes<'b, 'a>)>,
) -> Conversation {
    let text = |keys: &[&str]| {
        keys.iter().find_map(|key| attributes.get(key).map(owned_text).filter(|text| !text.trim().is_empty()))
    };
    let mut conversation = Conversation { input: text(&INPUTS), output: text(&OUTPUTS), ..Conversation::default() };

    let (event_inputs, event_outputs) = from_events(events);
    let system = text(&["gen_ai.system_instructions"]).map_or_else(Vec::new, |text| messages_of(&text, "system"));
    let messages = |known: &Option<String>, side: &Side, from_events: Vec<Message>| {
        if let Some(text) = known {
            return messages_of(text, side.role);
        }
        let indexed = side.indexed.iter().map(|prefix| from_indexed(attributes, prefix, side.role));
        let found = indexed.chain([from_events]).find(|found| !found.is_empty());
        found.or_else(|| Some(messages_of(&text(&[side.complete])?, side.role))).unwrap_or_default()
    };
    conversation.messages = system;
    conversation.messages.extend(messages(&conversation.input, &INPUT, event_inputs));
    conversation.input_count = conversation.messages.len();
    let mut outputs = messages(&conversation.output, &OUTPUT, event_outputs);
    conversation.input = conversation.input.or_else(|| text(&[INPUT.complete]));
    conversation.output = conversation.output.or_else(|| text(&[OUTPUT.complete]));
    if let Some(calls) = text(&["ai.response.toolCalls"]) {
        let has =
            |call: &ToolCall| outputs.iter().flat_map(|message| &message.tool_calls).any(|known| known.is_same(call));
        let calls = messages_of(&calls, "assistant").into_iter();
        let new: Vec<Message> = calls.filter(|message| !message.tool_calls.iter().all(has)).collect();
        outputs.extend(new);
    }
    conversation.tool_names = tool_names(&outputs, attributes);
    conversation.messages.extend(outputs);
    conversation
}

fn owned_text(value: AnyValue<'_>) -> String {
    value_text(value).into_owned()
}

/// Reads one attribute per field: `gen_ai.prompt.0.role`, `.content`, `.tool_calls.0.name`, `.arguments`.
fn from_indexed(attributes: Attributes<'_, '_>, prefix: &str, role: &str) -> Vec<Message> {
    const MESSAGES_MAX: usize = 4_096;
    let mut messages: Vec<(usize, Message)> = Vec::new();
    for attribute in attributes.0 {
        let Some((index, field)) = attribute.key.strip_prefix(prefix).and_then(|rest| rest.split_once('.')) else {
            continue;
        };
        let Ok(index) = index.parse::<usize>() else { continue };
        let place = match messages.binary_search_by_key(&index, |(index, _)| *index) {
            Ok(place) => place,
            Err(_) if messages.len() >= MESSAGES_MAX => continue,
            Err(place) => {
                messages.insert(place, (index, Message { role: role.to_owned(), ..Message::default() }));
                place
            }
        };
        // OpenInference writes `message.role`.
        let field = field.strip_prefix("message.").unwrap_or(field);
        set_field(&mut messages[place].1, field, owned_text(attribute.value));
    }
    messages.into_iter().map(|(_, message)| message).collect()
}

fn set_field(message: &mut Message, field: &str, text: String) {
    match field {
        "role" => message.role = text,
        "content" => message.content = text,
        _ => {
            let Some((index, field)) = field.strip_prefix("tool_calls.").and_then(|rest| rest.split_once('.')) else {
                return;
            };
            // Calls are numbered from 0 without gaps. Other indexes are ignored.
            let Ok(index) = index.parse::<usize>() else { return };
            if index == message.tool_calls.len() {
                message.tool_calls.push(ToolCall::default());
            }
            let Some(call) = message.tool_calls.get_mut(index) else { return };
            match field.strip_prefix("tool_call.function.").unwrap_or(field) {
                "name" => call.name = text,
                "arguments" => call.arguments = text,
                "id" | "tool_call.id" => call.id = text,
                _ => {}
            }
        }
    }
}

/// Input and output messages in events: `gen_ai.user.message`, `gen_ai.choice`, `gen_ai.content.prompt`, …
fn from_events<'b, 'a: 'b>(
    events: impl IntoIterator<Item = (&'b str, Attributes<'b, 'a>)>,
) -> (Vec<Message>, Vec<Message>) {
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    for (name, attributes) in events {
        let text = |keys: &[&str]| keys.iter().find_map(|key| attributes.get(key)).map(owned_text).unwrap_or_default();
        match name {
            "gen_ai.content.prompt" => inputs.extend(messages_of(&text(&["gen_ai.prompt"]), "user")),
            "gen_ai.content.completion" => outputs.extend(messages_of(&text(&["gen_ai.completion"]), "assistant")),
            "gen_ai.client.inference.operation.details" => {
                inputs.extend(messages_of(&text(&["gen_ai.input.messages"]), "user"));
                outputs.extend(messages_of(&text(&["gen_ai.output.messages"]), "assistant"));
            }
            "gen_ai.choice" => {
                outputs.extend(messages_of(&text(&["message", "gen_ai.event.content", "content"]), "assistant"))
            }
            _ => {
                let Some(role) = name.strip_prefix("gen_ai.").and_then(|rest| rest.strip_suffix(".message")) else {
                    continue;
                };
                inputs.extend(messages_of(&text(&["content", "gen_ai.event.content"]), role));
            }
        }
    }
    (inputs, outputs)
}

/// Whether the events of a span have messages of its conversation.
pub fn has_messages<'b, 'a: 'b>(events: impl IntoIterator<Item = (&'b str, Attributes<'b, 'a>)>) -> bool {
    let (inputs, outputs) = from_events(events);
    !inputs.is_empty() || !outputs.is_empty()
}

/// The tools of a response and of the span's own run.
pub(super) fn tool_names(messages: &[Message], attributes: Attributes<'_, '_>) -> Vec<String> {
    let executed = attributes.text("gen_ai.tool.name").map(str::to_owned);
    let called = messages.iter().flat_map(|message| &message.tool_calls).map(|call| call.name.clone());
    let mut names: Vec<String> = Vec::new();
    for name in executed.into_iter().chain(called).filter(|name| !name.is_empty()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}
