//! The fields of spans that libraries sent in their own runs. `fixtures/ai` has the spans and the programs that made them.

use serde_json::Value;

use super::*;
use crate::rules::prices::BUILT_IN;

const NOON_2026: i64 = 1_795_219_200_000_000_000;

/// The call of the first span of this name in a file of captured spans.
fn call<'a>(file: &str, name: &str, arena: &'a Bump) -> ModelCall<'a> {
    fn value<'a>(of: &Value, arena: &'a Bump) -> AnyValue<'a> {
        match of {
            Value::String(text) => AnyValue::Str(arena.alloc_str(text)),
            Value::Bool(flag) => AnyValue::Bool(*flag),
            Value::Number(number) => {
                number.as_i64().map_or_else(|| AnyValue::Double(number.as_f64().expect("a number")), AnyValue::Int)
            }
            Value::Array(items) => {
                let items: Vec<_> = items.iter().map(|item| value(item, arena)).collect();
                AnyValue::Array(arena.alloc_slice_copy(&items))
            }
            Value::Null | Value::Object(_) => AnyValue::Empty,
        }
    }
    let spans: Value = serde_json::from_str(file).expect("JSON");
    let span = spans.as_array().expect("a list").iter().find(|span| span["name"] == name).expect("a span");
    let attributes: Vec<KeyValue<'a>> = span["attributes"]
        .as_object()
        .expect("attributes")
        .iter()
        .map(|(key, of)| KeyValue { key: arena.alloc_str(key), value: value(of, arena) })
        .collect();
    ModelCall::read(arena.alloc_slice_copy(&attributes), arena)
}

/// Expected cached, written and reasoning tokens, dollars, finish reason, user, conversation and id of the response.
type Expected = (
    (Option<i64>, Option<i64>, Option<i64>),
    Option<f64>,
    Option<&'static str>,
    (Option<&'static str>, Option<&'static str>),
    Option<&'static str>,
);

// DECISIONS 32. Every call has 1,000 input tokens and 100 output tokens.
#[test]
fn captured_spans_table() {
    const PLAIN: f64 = (1_000.0 * 0.15 + 100.0 * 0.6) / 1.0e6;
    const CACHED: f64 = (600.0 * 0.15 + 400.0 * 0.075 + 100.0 * 0.6) / 1.0e6;
    const SONNET: f64 = (500.0 * 3.0 + 400.0 * 0.3 + 60.0 * 3.75 + 40.0 * 6.0 + 100.0 * 15.0) / 1.0e6;
    // Without the tokens that are kept for an hour.
    const SONNET_SHORT: f64 = (500.0 * 3.0 + 400.0 * 0.3 + 100.0 * 3.75 + 100.0 * 15.0) / 1.0e6;
    let (openai, anthropic) = (Some("chatcmpl-1"), Some("msg_1"));
    let (nobody, ann) = ((None, None), (Some("ann"), Some("talk")));
    let table: &[(&str, &str, &str, Expected)] = &[
        (
            "openai-v2",
            include_str!("../../../../../fixtures/ai/openai-v2.json"),
            "chat gpt-4o-mini",
            ((None, None, None), Some(PLAIN), Some("stop"), nobody, openai),
        ),
        (
            "openllmetry",
            include_str!("../../../../../fixtures/ai/openllmetry.json"),
            "openai.chat",
            ((Some(400), None, Some(30)), Some(CACHED), Some("stop"), nobody, openai),
        ),
        (
            "openllmetry-anthropic",
            include_str!("../../../../../fixtures/ai/openllmetry-anthropic.json"),
            "anthropic.chat",
            ((Some(400), Some(100), None), Some(SONNET_SHORT), Some("stop"), nobody, anthropic),
        ),
        (
            "Anthropic's SDK",
            include_str!("../../../../../fixtures/ai/openllmetry-anthropic.json"),
            "anthropic.messages.create",
            ((Some(400), Some(100), None), Some(SONNET), Some("end_turn"), nobody, anthropic),
        ),
        (
            "openinference",
            include_str!("../../../../../fixtures/ai/openinference.json"),
            "ChatCompletion",
            ((Some(400), None, Some(30)), Some(CACHED), Some("stop"), ann, None),
        ),
        (
            "openinference-anthropic",
            include_str!("../../../../../fixtures/ai/openinference-anthropic.json"),
            "messages.create",
            ((Some(400), Some(100), None), Some(SONNET_SHORT), Some("end_turn"), nobody, None),
        ),
        (
            "langfuse",
            include_str!("../../../../../fixtures/ai/langfuse.json"),
            "OpenAI-generation",
            ((Some(400), None, Some(30)), Some(CACHED), None, nobody, None),
        ),
        (
            "litellm",
            include_str!("../../../../../fixtures/ai/litellm.json"),
            "litellm_request",
            ((Some(400), None, Some(30)), Some(0.000_18), Some("stop"), (Some("ann"), None), openai),
        ),
        (
            "strands",
            include_str!("../../../../../fixtures/ai/strands.json"),
            "chat",
            ((Some(400), None, None), Some(CACHED), None, nobody, None),
        ),
        (
            "vercel-ai",
            include_str!("../../../../../fixtures/ai/vercel-ai.json"),
            "ai.generateText.doGenerate",
            ((None, None, None), Some(PLAIN), Some("stop"), ann, openai),
        ),
    ];
    for (library, file, name, (tokens, dollars, finish, who, response)) in table {
        let arena = Bump::new();
        let found = call(file, name, &arena);
        assert_eq!((found.tokens.input, found.tokens.output), (Some(1_000), Some(100)), "{library}");
        assert_eq!(found.total_tokens, Some(1_100), "{library}");
        assert_eq!((found.tokens.cached, found.tokens.cache_write, found.tokens.reasoning), *tokens, "{library}");
        let cost = found.cost(BUILT_IN, NOON_2026).0.total;
        assert_eq!(cost.map(|cost| (cost * 1.0e9).round()), dollars.map(|cost| (cost * 1.0e9).round()), "{library}");
        assert_eq!(found.finish_reason, *finish, "{library}");
        assert_eq!((found.user_id, found.conversation_id), *who, "{library}");
        assert_eq!(found.call_id, *response, "{library}");
        assert!(found.model.is_some() && found.tool_call_count == 0, "{library}: {found:?}");
    }
}

// The run of an agent says its sum in `gen_ai.aggregated_usage.*`, which is in no sum.
#[test]
fn aggregated_usage_is_not_read() {
    let (file, arena) = (include_str!("../../../../../fixtures/ai/pydantic-ai.json"), Bump::new());
    let agent = call(file, "invoke_agent sums", &arena);
    assert_eq!((agent.tokens, agent.total_tokens, agent.operation), (Tokens::default(), None, Some("invoke_agent")));
    let chat = call(file, "chat gpt-4o-mini", &arena);
    assert_eq!((chat.tokens.cached, chat.tokens.reasoning), (Some(400), Some(30)));
    assert_eq!(chat.stated_cost.total, Some(0.000_18));
    assert_eq!(agent.conversation_id, chat.conversation_id);
}
