//! Chat messages in the formats of SDKs: OpenTelemetry parts, OpenAI, Anthropic, Vercel AI SDK.

use bumpalo::Bump;
use serde_json::Value;

use super::tool_calls;
use crate::model::Attributes;
use crate::wire::value_text;

/// A message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Message {
    /// `system`, `user`, `assistant`, `tool` as sent; empty when absent.
    pub role: String,
    /// Text parts joined by line breaks; parts that are neither text nor tool calls as JSON.
    pub content: String,
    /// Tool calls in the message.
    pub tool_calls: Vec<ToolCall>,
}

/// A tool call in a message. Equal calls have the same name and arguments: not every format has ids.
#[derive(Debug, Clone, Default)]
pub struct ToolCall {
    /// Id of the call; empty when absent.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// JSON, or as sent; empty when absent.
    pub arguments: String,
}

impl ToolCall {
    /// Whether both are one call: of the same id; without ids, equal ones.
    pub(super) fn is_same(&self, other: &ToolCall) -> bool {
        match self.id.is_empty() || other.id.is_empty() {
            true => self == other,
            false => self.id == other.id,
        }
    }
}

impl PartialEq for ToolCall {
    fn eq(&self, other: &ToolCall) -> bool {
        (&self.name, &self.arguments) == (&other.name, &other.arguments)
    }
}

impl Eq for ToolCall {}

/// Attributes with the model's response, which may contain tool calls.
const OUTPUTS: [&str; 6] = [
    "gen_ai.output.messages",
    "gen_ai.completion",
    "ai.response.toolCalls",
    "trace.output",
    "span.output",
    "langfuse.observation.output",
];

/// Prefixes of attributes with one field of a response each.
const INDEXED_OUTPUTS: [&str; 2] = ["gen_ai.completion.", "llm.output_messages."];

/// Number of tool calls in the response; without any, 1 for a span that executes a tool. WIRE 8.3.
///
/// Several attributes may repeat one response: a call counts once by its id, and calls without ids count as often as in
/// the attribute that has the most.
pub(super) fn tool_call_count(attributes: Attributes<'_, '_>, operation: Option<&str>, arena: &Bump) -> i64 {
    let (mut ids, mut most) = (Vec::new(), 0);
    let mut add = |calls: &[Option<&'_ str>]| {
        let mut distinct: Vec<&str> = calls.iter().copied().flatten().collect();
        distinct.sort_unstable();
        distinct.dedup();
        most = most.max(distinct.len() + calls.iter().filter(|id| id.is_none()).count());
        ids.extend(distinct.into_iter().map(str::to_owned));
    };
    for key in OUTPUTS {
        let Some(text) = attributes.get(key).map(value_text) else { continue };
        // Most responses cannot contain a call and are not parsed.
        if memchr::memmem::find(text.as_bytes(), b"tool").is_some() {
            add(&tool_calls::ids_in(&text, arena));
        }
    }
    for prefix in INDEXED_OUTPUTS {
        let calls = attributes.0.iter().filter(|kv| kv.key.starts_with(prefix) && is_tool_call_name(kv.key));
        let id = |name: &str| {
            let call = name.strip_suffix(".function.name").or_else(|| name.strip_suffix(".name"))?;
            attributes.0.iter().find(|kv| kv.key.strip_prefix(call) == Some(".id"))?.value.as_str()
        };
        add(&calls.map(|kv| id(kv.key)).collect::<Vec<_>>());
    }
    ids.sort_unstable();
    ids.dedup();
    match most.max(ids.len()) {
        0 => i64::from(operation == Some(super::spellings::EXECUTE_TOOL)),
        count => i64::try_from(count).unwrap_or(i64::MAX),
    }
}

fn is_tool_call_name(key: &str) -> bool {
    key.contains(".tool_calls.") && key.ends_with(".name")
}

/// The messages in a JSON value. Plain text is one message of `role`, blank text none.
pub(super) fn messages_of(text: &str, role: &str) -> Vec<Message> {
    let is_json = text.trim_start().starts_with(['{', '[']);
    match is_json.then(|| serde_json::from_str::<Value>(text)) {
        Some(Ok(value)) => from_value(&value, role),
        _ if text.trim().is_empty() => Vec::new(),
        _ => vec![Message { role: role.to_owned(), content: text.to_owned(), tool_calls: Vec::new() }],
    }
}

/// Reads a message, a list of messages, or an envelope around a list.
pub(super) fn from_value(value: &Value, role: &str) -> Vec<Message> {
    match value {
        Value::Array(items) if items.iter().all(is_tool_call) && !items.is_empty() => {
            vec![Message {
                role: role.to_owned(),
                content: String::new(),
                tool_calls: items.iter().map(tool_call).collect(),
            }]
        }
        Value::Array(items) => items.iter().flat_map(|item| from_value(item, role)).collect(),
        Value::Object(object) => {
            // OpenAI responses have `choices[].message`, requests `messages`; the Vercel SDK adds `system` and `prompt`.
            if let Some(Value::Array(choices)) = object.get("choices") {
                return choices
                    .iter()
                    .filter_map(|choice| choice.get("message"))
                    .flat_map(|item| from_value(item, role))
                    .collect();
            }
            if object.contains_key("messages") || object.contains_key("prompt") {
                let named = [("system", "system"), ("prompt", "user"), ("messages", role)];
                return named
                    .iter()
                    .filter_map(|(key, role)| object.get(*key).map(|item| from_value(item, role)))
                    .flatten()
                    .collect();
            }
            vec![one_message(value, role)]
        }
        Value::Null => Vec::new(),
        other => vec![Message { role: role.to_owned(), content: plain(other), tool_calls: Vec::new() }],
    }
}

fn one_message(value: &Value, role: &str) -> Message {
    let mut message =
        Message { role: value.get("role").and_then(Value::as_str).unwrap_or(role).to_owned(), ..Message::default() };
    let mut contents = Vec::new();
    let bodies = ["content", "parts", "text"].iter().filter_map(|key| value.get(*key)).collect::<Vec<_>>();
    for body in &bodies {
        match body {
            Value::Array(parts) => {
                parts.iter().for_each(|part| take_part(part, &mut contents, &mut message.tool_calls))
            }
            Value::Null => {}
            other => contents.push(plain(other)),
        }
    }
    if let Some(Value::Array(calls)) = value.get("tool_calls") {
        message.tool_calls.extend(calls.iter().map(tool_call));
    }
    if bodies.is_empty() && message.tool_calls.is_empty() {
        contents.push(plain(value));
    }
    message.content = contents.join("\n");
    message
}

fn take_part(part: &Value, contents: &mut Vec<String>, tool_calls: &mut Vec<ToolCall>) {
    let text = ["text", "content"].iter().find_map(|key| part.get(*key).and_then(Value::as_str));
    match text {
        _ if is_tool_call(part) => tool_calls.push(tool_call(part)),
        Some(text) => contents.push(text.to_owned()),
        None => contents.push(plain(part)),
    }
}

/// OpenAI `type: function`, Anthropic `tool_use`, OpenTelemetry `tool_call`, Vercel `tool-call`, or only its fields.
fn is_tool_call(value: &Value) -> bool {
    match value.get("type").and_then(Value::as_str) {
        Some(kind) => tool_calls::is_tool_call_type(kind),
        None => value.get("toolName").is_some(),
    }
}

fn tool_call(value: &Value) -> ToolCall {
    let inner = value.get("function").unwrap_or(value);
    let field = |names: &[&str]| names.iter().find_map(|name| inner.get(*name)).map(plain).unwrap_or_default();
    let id = ["id", "toolCallId", "call_id"].iter().find_map(|name| value.get(*name)?.as_str()).unwrap_or_default();
    ToolCall {
        id: id.to_owned(),
        name: field(&["name", "toolName"]),
        arguments: field(&["arguments", "input", "args"]),
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
