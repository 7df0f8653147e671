//! Finds the tool calls in a model's response. Gives the same result as `messages_of`, but builds only an outline of the
//! JSON value in the arena, because it runs for every AI Trace at ingest.

use std::fmt;

use bumpalo::Bump;
use bumpalo::collections::Vec;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// The ids of the tool calls in the messages of a JSON value, `None` for a call without one; empty when `text` is not
/// JSON.
pub(super) fn ids_in<'t>(text: &str, arena: &'t Bump) -> Vec<'t, Option<&'t str>> {
    let mut ids = Vec::new_in(arena);
    if !text.trim_start().starts_with(['{', '[']) {
        return ids;
    }
    let mut json = serde_json::Deserializer::from_str(text);
    let value = Seed(arena).deserialize(&mut json).and_then(|value| json.end().map(|()| value));
    if let Ok(value) = value {
        in_messages(&value, &mut |call| ids.push(call.id()));
    }
    ids
}

/// Whether this value of `type` marks a tool call.
pub(super) fn is_tool_call_type(text: &str) -> bool {
    matches!(text, "function" | "tool_use" | "tool_call" | "tool-call")
}

/// The parts of a JSON value that decide the count.
#[derive(Debug, Clone, Copy)]
enum Outline<'t> {
    List(&'t [Outline<'t>]),
    /// The relevant fields in order. The last of duplicate names wins.
    Object(&'t [(Field, Outline<'t>)]),
    /// A string of at most [`ID_BYTES_MAX`].
    Text(&'t str),
    /// A longer string.
    LongText,
    Other,
}

macro_rules! fields {
    ($($name:ident = $text:literal),* $(,)?) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        enum Field { $($name),* }

        impl Field {
            fn of(text: &str) -> Option<Field> {
                match text {
                    $($text => Some(Field::$name),)*
                    _ => None,
                }
            }
        }
    };
}
fields! {
    Choices = "choices", Message = "message", Messages = "messages", Prompt = "prompt", System = "system",
    Content = "content", Parts = "parts", Text = "text", ToolCalls = "tool_calls", Type = "type", ToolName = "toolName",
    Id = "id", ToolCallId = "toolCallId", CallId = "call_id",
}

/// Longer strings are no ids of tool calls.
const ID_BYTES_MAX: usize = 128;

impl<'t> Outline<'t> {
    fn get(&self, name: Field) -> Option<&'t Outline<'t>> {
        let Outline::Object(fields) = self else { return None };
        fields.iter().rev().find(|(field, _)| *field == name).map(|(_, value)| value)
    }

    fn list(&self) -> &'t [Outline<'t>] {
        if let Outline::List(items) = self { items } else { &[] }
    }

    fn is_tool_call(&self) -> bool {
        match self.get(Field::Type) {
            Some(Outline::Text(kind)) => is_tool_call_type(kind),
            Some(Outline::LongText) => false,
            _ => self.get(Field::ToolName).is_some(),
        }
    }

    fn id(&self) -> Option<&'t str> {
        [Field::Id, Field::ToolCallId, Field::CallId].iter().find_map(|name| match self.get(*name) {
            Some(Outline::Text(id)) => Some(*id).filter(|id| !id.is_empty()),
            _ => None,
        })
    }
}

/// Passes the tool calls in a message, a list of messages, or an envelope around a list.
fn in_messages<'t>(value: &Outline<'t>, found: &mut dyn FnMut(&Outline<'t>)) {
    match value {
        Outline::List(items) if items.iter().all(Outline::is_tool_call) => items.iter().for_each(found),
        Outline::List(items) => items.iter().for_each(|item| in_messages(item, found)),
        Outline::Object(_) => {
            if let Some(Outline::List(choices)) = value.get(Field::Choices) {
                let messages = choices.iter().filter_map(|choice| choice.get(Field::Message));
                return messages.for_each(|message| in_messages(message, found));
            }
            if value.get(Field::Messages).is_some() || value.get(Field::Prompt).is_some() {
                let lists = [Field::System, Field::Prompt, Field::Messages];
                return lists.iter().filter_map(|name| value.get(*name)).for_each(|list| in_messages(list, found));
            }
            let list = |name| value.get(name).map_or(&[][..], Outline::list);
            let parts = [Field::Content, Field::Parts, Field::Text].into_iter().flat_map(list);
            parts.filter(|part| part.is_tool_call()).for_each(&mut *found);
            list(Field::ToolCalls).iter().for_each(found);
        }
        Outline::Text(_) | Outline::LongText | Outline::Other => {}
    }
}

/// Deserializes any value into the arena.
#[derive(Clone, Copy)]
struct Seed<'t>(&'t Bump);

impl<'de, 't> DeserializeSeed<'de> for Seed<'t> {
    type Value = Outline<'t>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Outline<'t>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, 't> Visitor<'de> for Seed<'t> {
    type Value = Outline<'t>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON value")
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Outline<'t>, E> {
        Ok(Outline::Other)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Outline<'t>, E> {
        Ok(Outline::Other)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Outline<'t>, E> {
        Ok(Outline::Other)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Outline<'t>, E> {
        Ok(Outline::Other)
    }

    fn visit_unit<E: Error>(self) -> Result<Outline<'t>, E> {
        Ok(Outline::Other)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Outline<'t>, E> {
        Ok(match text.len() {
            0..=ID_BYTES_MAX => Outline::Text(self.0.alloc_str(text)),
            _ => Outline::LongText,
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Outline<'t>, A::Error> {
        let mut list = Vec::new_in(self.0);
        while let Some(item) = items.next_element_seed(self)? {
            list.push(item);
        }
        Ok(Outline::List(list.into_bump_slice()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Outline<'t>, A::Error> {
        let mut list = Vec::new_in(self.0);
        while let Some(name) = fields.next_key_seed(FieldSeed)? {
            let value = fields.next_value_seed(self)?;
            if let Some(name) = name {
                list.push((name, value));
            }
        }
        Ok(Outline::Object(list.into_bump_slice()))
    }
}

struct FieldSeed;

impl<'de> DeserializeSeed<'de> for FieldSeed {
    type Value = Option<Field>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<Field>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for FieldSeed {
    type Value = Option<Field>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a name")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Option<Field>, E> {
        Ok(Field::of(text))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::messages::messages_of;
    use super::*;

    fn counted_by_messages(text: &str) -> usize {
        messages_of(text, "assistant").iter().map(|message| message.tool_calls.len()).sum()
    }

    #[track_caller]
    fn check(text: &str, expected: usize) {
        assert_eq!(ids_in(text, &Bump::new()).len(), expected, "{text}");
        assert_eq!(counted_by_messages(text), expected, "{text}");
    }

    // WIRE 8.3.
    #[test]
    fn responses_table() {
        check(r#"[{"role":"assistant","parts":[{"type":"tool_call","name":"f"},{"type":"text"}]}]"#, 1);
        check(r#"{"choices":[{"message":{"tool_calls":[{},{}]}},{"message":null},7]}"#, 2);
        check(r#"{"messages":[{"content":[{"type":"tool_use"}]}],"prompt":[{"toolName":"f"}]}"#, 2);
        check(r#"[{"toolName":"f"},{"type":"tool-call"}]"#, 2);
        check(r#" [{"type":1,"toolName":null}]"#, 1);
        check("[]", 0);
        check("tool", 0);
        // The last of duplicate names wins, also when it is escaped.
        check(r#"{"tool_calls":[1],"tool_calls":[1,2]}"#, 2);
        check(r#"{"tool_calls":[1,2],"tool\u005fcalls":[1]}"#, 1);
        check(r#"{"content":[{"type":"tool_call","type":"text"}]}"#, 0);
        check(r#"{"content":[{"type":"tool\u005fcall"}]}"#, 1);
    }

    #[test]
    fn ids_table() {
        let arena = Bump::new();
        let text = r#"[{"parts":[{"type":"tool_call","id":"a"}],"tool_calls":[{"id":"b"},{"id":7},{"id":""}]}]"#;
        assert_eq!(ids_in(text, &arena).as_slice(), [Some("a"), Some("b"), None, None]);
        assert_eq!(ids_in(r#"[{"toolName":"f","toolCallId":"c"}]"#, &arena).as_slice(), [Some("c")]);
    }

    #[test]
    fn invalid_json_has_no_tool_calls() {
        for text in [
            r#"[{"type":"tool_call"}"#,
            r#"[{"type":"tool_call"}] x"#,
            r#"[{"type":"tool_call","a":1e999}]"#,
            r#"[{"type":"tool_call","a":"\ud800"}]"#,
            r#"[{"type":"tool_call","a":"\x"}]"#,
            "[{\"type\":\"tool_call\",\"a\":\"\n\"}]",
            &["[{\"tool_calls\":[1],\"a\":", &"[".repeat(200), &"]".repeat(200), "}]"].concat(),
        ] {
            check(text, 0);
        }
    }

    /// JSON values, and some invalid ones, built from relevant names and types.
    fn any_response() -> impl Strategy<Value = String> {
        let text = prop::sample::select(vec![
            r#""tool_call""#,
            r#""function""#,
            r#""text""#,
            r#""tool\u005fuse""#,
            r#""\ud83d""#,
            "1",
            "-0.5e3",
            "1e400",
            "null",
            "true",
            "[]",
            "{}",
            "01",
            r#""a\nb""#,
        ]);
        let name = prop::sample::select(vec![
            "choices",
            "message",
            "messages",
            "prompt",
            "system",
            "content",
            "parts",
            "text",
            "tool_calls",
            "type",
            "toolName",
            "function",
            "name",
            "tool\\u005fcalls",
            "other",
        ]);
        text.prop_map(str::to_owned).prop_recursive(6, 48, 4, move |inner| {
            let fields = prop::collection::vec((name.clone(), inner.clone()), 0..5);
            prop_oneof![
                prop::collection::vec(inner, 0..4).prop_map(|items| ["[", &items.join(","), "]"].concat()),
                fields.prop_map(|fields| {
                    let fields: std::vec::Vec<_> =
                        fields.iter().map(|(name, value)| ["\"", name, "\": ", value].concat()).collect();
                    ["{", &fields.join(" ,"), "}"].concat()
                }),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn counts_the_tool_calls_of_the_messages(text in any_response(), cut in any::<prop::sample::Index>(), is_cut in prop::bool::weighted(0.1)) {
            let text = if is_cut { text.get(..cut.index(text.len())).unwrap_or("") } else { &text };
            prop_assert_eq!(ids_in(text, &Bump::new()).len(), counted_by_messages(text), "{}", text);
        }
    }
}
