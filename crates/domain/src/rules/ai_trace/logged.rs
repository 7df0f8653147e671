//! Messages of a model call that were sent as log records of its span. DECISIONS 32.
//!
//! OpenTelemetry's instrumentations write a record for each message (`gen_ai.user.message`, `gen_ai.choice`), with the
//! message in the body, or one record with all of them (`gen_ai.client.inference.operation.details`). Records may arrive
//! before their span and after it, so they are read at query time.

use serde_json::Value;

use super::conversation::{Conversation, tool_names};
use super::messages::{Message, from_value, messages_of};
use crate::model::Attributes;
use crate::wire::value_text;

/// The event names of records with messages.
pub const LOGGED_EVENTS: [&str; 6] = [
    "gen_ai.system.message",
    "gen_ai.user.message",
    "gen_ai.assistant.message",
    "gen_ai.tool.message",
    "gen_ai.choice",
    "gen_ai.client.inference.operation.details",
];

/// A log record of the span of a model call.
#[derive(Debug, Clone, Copy)]
pub struct LoggedMessage<'b, 'a> {
    /// Event name of the record, one of [`LOGGED_EVENTS`].
    pub event: &'b str,
    /// Body as text, or as JSON.
    pub body: &'b str,
    /// Attributes of the record.
    pub attributes: Attributes<'b, 'a>,
}

impl Conversation {
    /// Whether records may have messages that the span has not.
    pub fn lacks_messages(&self) -> bool {
        !self.has_input() || self.messages.len() <= self.input_count
    }

    fn has_input(&self) -> bool {
        self.messages.iter().take(self.input_count).any(|message| message.role != "system")
    }

    /// Adds the messages of records, in the order of the records, to the side that has none.
    pub fn add_logged<'b, 'a: 'b>(&mut self, records: impl IntoIterator<Item = LoggedMessage<'b, 'a>>) {
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        for record in records {
            read(record, &mut inputs, &mut outputs);
        }
        let has_output = self.messages.len() > self.input_count;
        if !self.has_input() {
            let new: Vec<Message> = inputs.into_iter().filter(|message| !self.messages.contains(message)).collect();
            let (at, count) = (self.input_count, new.len());
            self.messages.splice(at..at, new);
            self.input_count += count;
        }
        if !has_output {
            for name in tool_names(&outputs, Attributes(&[])) {
                if !self.tool_names.contains(&name) {
                    self.tool_names.push(name);
                }
            }
            self.messages.extend(outputs);
        }
    }
}

fn read(record: LoggedMessage<'_, '_>, inputs: &mut Vec<Message>, outputs: &mut Vec<Message>) {
    let LoggedMessage { event, body, attributes } = record;
    let is_json = body.trim_start().starts_with(['{', '[']);
    let body = is_json.then(|| serde_json::from_str::<Value>(body).ok()).flatten().unwrap_or_else(|| body.into());
    let attribute =
        |keys: &[&str]| keys.iter().find_map(|key| attributes.get(key)).map(|of| value_text(of).into_owned());
    match event {
        "gen_ai.client.inference.operation.details" => {
            let sides = [
                ("gen_ai.system_instructions", "system", true),
                ("gen_ai.input.messages", "user", true),
                ("gen_ai.output.messages", "assistant", false),
            ];
            for (key, role, is_input) in sides {
                let into = if is_input { &mut *inputs } else { &mut *outputs };
                match (attribute(&[key]), body.get(key)) {
                    (Some(text), _) => into.extend(messages_of(&text, role)),
                    (None, Some(Value::String(text))) => into.extend(messages_of(text, role)),
                    (None, Some(value)) => into.extend(from_value(value, role)),
                    (None, None) => {}
                }
            }
        }
        "gen_ai.choice" => match body.get("message").unwrap_or(&body) {
            message if has_content(message) => outputs.extend(from_value(message, "assistant")),
            _ => {
                let text = attribute(&["message", "gen_ai.event.content", "content"]).unwrap_or_default();
                outputs.extend(messages_of(&text, "assistant"));
            }
        },
        _ => {
            let role = event.strip_prefix("gen_ai.").and_then(|rest| rest.strip_suffix(".message"));
            let Some(role) = role else { return };
            match has_content(&body) {
                true => inputs.extend(from_value(&body, role)),
                false => {
                    let text = attribute(&["content", "gen_ai.event.content"]).unwrap_or_default();
                    inputs.extend(messages_of(&text, role));
                }
            }
        }
    }
}

/// Whether a message has more than a role: senders may be set up to leave out the content.
fn has_content(message: &Value) -> bool {
    match message {
        Value::Object(fields) => ["content", "parts", "text", "tool_calls"].iter().any(|key| fields.contains_key(*key)),
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::{AnyValue, KeyValue};

    fn summary(conversation: &Conversation) -> String {
        let message = |message: &Message| {
            let calls = message.tool_calls.iter().map(|call| format!(" [{}]", call.name)).collect::<String>();
            format!("{}: {}{calls}", message.role, message.content)
        };
        conversation.messages.iter().map(message).collect::<Vec<_>>().join(" | ")
    }

    fn record<'b>(event: &'b str, body: &'b str) -> LoggedMessage<'b, 'b> {
        LoggedMessage { event, body, attributes: Attributes(&[]) }
    }

    const CHOICE: &str = r#"{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":"Let me look",
        "tool_calls":[{"id":"c1","type":"function","function":{"name":"find","arguments":"{}"}}]}}"#;

    // DECISIONS 32.
    #[test]
    fn records_table() {
        let turn = [
            record("gen_ai.system.message", r#"{"content":"Be brief."}"#),
            record("gen_ai.user.message", r#"{"content":"Two and two?"}"#),
            record("gen_ai.assistant.message", r#"{"tool_calls":[{"id":"c0","function":{"name":"add"}}]}"#),
            record("gen_ai.tool.message", r#"{"id":"c0","content":"4"}"#),
            record("gen_ai.choice", CHOICE),
        ];
        let mut found = Conversation::default();
        found.add_logged(turn);
        let expected =
            "system: Be brief. | user: Two and two? | assistant:  [add] | tool: 4 | assistant: Let me look [find]";
        assert_eq!((summary(&found).as_str(), found.input_count), (expected, 4));
        // The tools of this turn, not of its history.
        assert_eq!(found.tool_names, ["find"]);
        assert!(!found.lacks_messages());
        let before = found.clone();
        found.add_logged(turn);
        assert_eq!(found, before, "a side that has messages keeps them");

        let mut plain = Conversation::default();
        plain.add_logged([
            record("gen_ai.user.message", "Hello"),
            record("gen_ai.choice", r#"{"message":{"role":"assistant"}}"#),
        ]);
        assert_eq!(summary(&plain), "user: Hello");
    }

    #[test]
    fn one_record_with_all_messages() {
        let attributes = [
            KeyValue {
                key: "gen_ai.input.messages",
                value: AnyValue::Str(r#"[{"role":"user","parts":[{"type":"text","content":"hi"}]}]"#),
            },
            KeyValue {
                key: "gen_ai.output.messages",
                value: AnyValue::Str(r#"[{"role":"assistant","parts":[{"type":"text","content":"hello"}]}]"#),
            },
        ];
        let event = "gen_ai.client.inference.operation.details";
        let mut found = Conversation::default();
        found.add_logged([LoggedMessage { event, body: "", attributes: Attributes(&attributes) }]);
        assert_eq!(summary(&found), "user: hi | assistant: hello");
        let body = r#"{"gen_ai.input.messages":[{"role":"user","content":"hi"}],"gen_ai.output.messages":"hello"}"#;
        let mut found = Conversation::default();
        found.add_logged([record(event, body)]);
        assert_eq!(summary(&found), "user: hi | assistant: hello");
    }

    proptest! {
        #[test]
        fn any_record_is_read(body: String, json in r#"[\[{"a-z:,\]}]{0,40}"#, event in prop::sample::select(LOGGED_EVENTS.to_vec())) {
            for body in [&body, &json] {
                let mut found = Conversation::default();
                found.add_logged([record(event, body)]);
                prop_assert!(found.input_count <= found.messages.len());
            }
        }
    }
}
