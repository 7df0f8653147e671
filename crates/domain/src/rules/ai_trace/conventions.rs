//! Model calls by other conventions than `gen_ai.*`: OpenInference, Langfuse and the Vercel AI SDK. DECISIONS 26.
//!
//! A span is such a call if a marker attribute says so: `openinference.span.kind` LLM, `langfuse.observation.type`
//! generation, or an `ai.operationId` whose last segment calls a provider (`doGenerate`, `doStream`, `doEmbed`). Outer
//! spans of the Vercel AI SDK (`ai.generateText`) repeat the tokens of the calls below them and do not count.

use std::collections::HashMap;

use super::ModelCall;
use super::messages::messages_of;
use crate::model::{AnyValue, Attributes, KeyValue, is_blank};
use crate::rules::prices::{Cost, Tokens};

/// The attributes that mark the kind of a span.
pub const MARKERS: [&str; 3] = ["openinference.span.kind", "langfuse.observation.type", "ai.operationId"];

/// A convention for attributes of model calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Convention {
    /// `llm.*`.
    OpenInference,
    /// `langfuse.*`.
    Langfuse,
    /// `ai.*`.
    VercelAi,
}

/// The convention of this marker, if it marks a model call.
pub fn convention(marker: &KeyValue<'_>) -> Option<Convention> {
    let value = marker.value.as_str()?.trim();
    match marker.key {
        "openinference.span.kind" => value.eq_ignore_ascii_case("LLM").then_some(Convention::OpenInference),
        "langfuse.observation.type" => value.eq_ignore_ascii_case("generation").then_some(Convention::Langfuse),
        "ai.operationId" => {
            let call = value.strip_prefix("ai.")?.rsplit_once('.')?.1;
            ["doGenerate", "doStream", "doEmbed"].contains(&call).then_some(Convention::VercelAi)
        }
        _ => None,
    }
}

/// The convention of the first marker that marks a model call.
pub fn convention_of(attributes: &[KeyValue<'_>]) -> Option<Convention> {
    attributes.iter().find_map(convention)
}

impl<'a> ModelCall<'a> {
    /// Reads a model call by this convention. Absent values are `None`, never zero.
    pub fn read_by(convention: Convention, attributes: &[KeyValue<'a>]) -> Self {
        let found = Attributes(attributes);
        let mut call = match convention {
            Convention::OpenInference => open_inference(found),
            Convention::Langfuse => langfuse(found),
            Convention::VercelAi => vercel_ai(found),
        };
        call.name = text(found, &["trace.name", "langfuse.trace.name"]);
        call.user_id = call.user_id.or_else(|| text(found, &["user.id", "enduser.id"]));
        call.conversation_id = call.conversation_id.or_else(|| text(found, &["session.id"]));
        call.complete_totals();
        call.tool_call_count = tool_calls(convention, found);
        call
    }
}

fn open_inference<'a>(found: Attributes<'_, 'a>) -> ModelCall<'a> {
    ModelCall {
        model: text(found, &["llm.model_name"]),
        provider: text(found, &["llm.provider", "llm.system"]),
        finish_reason: text(found, &["llm.finish_reason"]),
        tokens: Tokens {
            input: count(found, &["llm.token_count.prompt"]),
            cached: count(found, &["llm.token_count.prompt_details.cache_read"]),
            output: count(found, &["llm.token_count.completion"]),
            reasoning: count(found, &["llm.token_count.completion_details.reasoning"]),
        },
        total_tokens: count(found, &["llm.token_count.total"]),
        stated_cost: Cost {
            input: amount(found, "llm.cost.prompt"),
            output: amount(found, "llm.cost.completion"),
            total: amount(found, "llm.cost.total"),
        },
        ..ModelCall::default()
    }
}

fn langfuse<'a>(found: Attributes<'_, 'a>) -> ModelCall<'a> {
    let usage = amounts(found, "langfuse.observation.usage_details");
    let cost = amounts(found, "langfuse.observation.cost_details");
    let tokens = |names: &[&str]| {
        let amount = names.iter().find_map(|name| usage.get(*name)).copied();
        amount.filter(|amount| (0.0..9e15).contains(amount)).map(|amount| amount as i64)
    };
    ModelCall {
        model: text(found, &["langfuse.observation.model.name"]),
        user_id: text(found, &["langfuse.user.id"]),
        conversation_id: text(found, &["langfuse.session.id"]),
        tokens: Tokens {
            input: tokens(&["input", "prompt_tokens", "input_tokens"]),
            cached: tokens(&["input_cached_tokens", "cache_read_input_tokens", "input_cache_read"]),
            output: tokens(&["output", "completion_tokens", "output_tokens"]),
            reasoning: tokens(&["output_reasoning_tokens", "output_reasoning"]),
        },
        total_tokens: tokens(&["total", "total_tokens"]),
        stated_cost: Cost {
            input: cost.get("input").copied(),
            output: cost.get("output").copied(),
            total: cost.get("total").copied(),
        },
        ..ModelCall::default()
    }
}

fn vercel_ai<'a>(found: Attributes<'_, 'a>) -> ModelCall<'a> {
    ModelCall {
        model: text(found, &["ai.model.id"]),
        response_model: text(found, &["ai.response.model"]),
        provider: text(found, &["ai.model.provider"]),
        finish_reason: text(found, &["ai.response.finishReason"]),
        user_id: text(found, &["ai.telemetry.metadata.userId"]),
        conversation_id: text(found, &["ai.telemetry.metadata.sessionId"]),
        tokens: Tokens {
            input: count(found, &["ai.usage.inputTokens", "ai.usage.promptTokens", "ai.usage.tokens"]),
            cached: count(found, &["ai.usage.cachedInputTokens"]),
            output: count(found, &["ai.usage.outputTokens", "ai.usage.completionTokens"]),
            reasoning: count(found, &["ai.usage.reasoningTokens"]),
        },
        total_tokens: count(found, &["ai.usage.totalTokens"]),
        ..ModelCall::default()
    }
}

/// Number of tool calls in the response.
fn tool_calls(convention: Convention, found: Attributes<'_, '_>) -> i64 {
    let in_messages = |key: &str| {
        let text = found.get(key).and_then(AnyValue::as_str).unwrap_or_default();
        messages_of(text, "assistant").iter().map(|message| message.tool_calls.len()).sum::<usize>()
    };
    let calls = match convention {
        Convention::OpenInference => {
            let names = found.0.iter().filter(|attribute| {
                attribute.key.starts_with("llm.output_messages.") && attribute.key.ends_with(".tool_call.function.name")
            });
            names.count()
        }
        Convention::Langfuse => in_messages("langfuse.observation.output"),
        Convention::VercelAi => in_messages("ai.response.toolCalls"),
    };
    i64::try_from(calls).unwrap_or(i64::MAX)
}

fn text<'a>(found: Attributes<'_, 'a>, keys: &[&str]) -> Option<&'a str> {
    keys.iter().find_map(|key| found.get(key)?.as_str().filter(|text| !is_blank(text)))
}

fn count(found: Attributes<'_, '_>, keys: &[&str]) -> Option<i64> {
    keys.iter().find_map(|key| found.get(key)?.as_int().filter(|count| *count >= 0))
}

fn amount(found: Attributes<'_, '_>, key: &str) -> Option<f64> {
    found.get(key)?.as_double()
}

/// The finite numbers of a JSON object; empty when the value is not an object.
fn amounts(found: Attributes<'_, '_>, key: &str) -> HashMap<String, f64> {
    let text = found.get(key).and_then(AnyValue::as_str).unwrap_or_default();
    let object: HashMap<String, serde_json::Value> = serde_json::from_str(text).unwrap_or_default();
    let number =
        |(name, value): (String, serde_json::Value)| Some((name, value.as_f64().filter(|number| number.is_finite())?));
    object.into_iter().filter_map(number).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Pair = (&'static str, AnyValue<'static>);

    fn attributes(pairs: &[Pair]) -> Vec<KeyValue<'static>> {
        pairs.iter().map(|(key, value)| KeyValue { key, value: *value }).collect()
    }

    // DECISIONS 26.
    #[test]
    fn markers_table() {
        for (key, value, expected) in [
            ("openinference.span.kind", "LLM", Some(Convention::OpenInference)),
            ("openinference.span.kind", "llm", Some(Convention::OpenInference)),
            ("openinference.span.kind", "CHAIN", None),
            ("openinference.span.kind", "EMBEDDING", None),
            ("openinference.span.kind", "", None),
            ("langfuse.observation.type", "generation", Some(Convention::Langfuse)),
            ("langfuse.observation.type", "span", None),
            ("ai.operationId", "ai.generateText.doGenerate", Some(Convention::VercelAi)),
            ("ai.operationId", "ai.streamText.doStream", Some(Convention::VercelAi)),
            ("ai.operationId", "ai.embed.doEmbed", Some(Convention::VercelAi)),
            ("ai.operationId", "ai.generateText", None),
            ("ai.operationId", "ai.toolCall", None),
            ("ai.operationId", "doGenerate", None),
            ("ai.operationId", "ai.generateText.doSomethingElse", None),
            ("llm.request.type", "chat", None),
        ] {
            let pairs = attributes(&[(key, AnyValue::Str(value))]);
            assert_eq!(convention_of(&pairs), expected, "{key} {value}");
            assert!(expected.is_none() || MARKERS.contains(&key));
        }
        assert_eq!(convention_of(&attributes(&[("ai.operationId", AnyValue::Int(1))])), None);
    }

    #[track_caller]
    fn check(pairs: &[Pair], expected: ModelCall<'_>) {
        let pairs = attributes(pairs);
        let convention = convention_of(&pairs).expect("a model call");
        assert_eq!(ModelCall::read_by(convention, &pairs), expected, "{convention:?}");
    }

    #[test]
    fn open_inference_calls() {
        use AnyValue::{Double, Int, Str};
        check(
            &[
                ("openinference.span.kind", Str("LLM")),
                ("llm.model_name", Str("gpt-4o-mini")),
                ("llm.provider", Str("openai")),
                ("llm.token_count.prompt", Int(21)),
                ("llm.token_count.completion", Int(9)),
                ("llm.token_count.prompt_details.cache_read", Int(8)),
                ("llm.token_count.completion_details.reasoning", Int(3)),
                ("llm.cost.prompt", Double(0.25)),
                ("llm.cost.completion", Double(0.5)),
                ("session.id", Str("s-1")),
                ("user.id", Str("u-1")),
                ("llm.output_messages.0.message.tool_calls.0.tool_call.function.name", Str("weather")),
            ],
            ModelCall {
                model: Some("gpt-4o-mini"),
                provider: Some("openai"),
                tokens: Tokens { input: Some(21), cached: Some(8), output: Some(9), reasoning: Some(3) },
                total_tokens: Some(30),
                stated_cost: Cost { input: Some(0.25), output: Some(0.5), total: Some(0.75) },
                conversation_id: Some("s-1"),
                user_id: Some("u-1"),
                tool_call_count: 1,
                ..ModelCall::default()
            },
        );
        check(
            &[("openinference.span.kind", Str("LLM")), ("llm.system", Str("mistral")), ("llm.model_name", Str(" "))],
            ModelCall { provider: Some("mistral"), ..ModelCall::default() },
        );
    }

    #[test]
    fn langfuse_calls() {
        use AnyValue::Str;
        check(
            &[
                ("langfuse.observation.type", Str("generation")),
                ("langfuse.observation.model.name", Str("claude-sonnet-4")),
                ("langfuse.observation.usage_details", Str(r#"{"input":100,"output":20,"input_cached_tokens":60}"#)),
                ("langfuse.observation.cost_details", Str(r#"{"total":0.03}"#)),
                ("langfuse.session.id", Str("s-2")),
                ("langfuse.user.id", Str("u-2")),
                ("langfuse.trace.name", Str("support-bot")),
            ],
            ModelCall {
                name: Some("support-bot"),
                model: Some("claude-sonnet-4"),
                tokens: Tokens { input: Some(100), cached: Some(60), output: Some(20), reasoning: None },
                total_tokens: Some(120),
                stated_cost: Cost { input: None, output: None, total: Some(0.03) },
                conversation_id: Some("s-2"),
                user_id: Some("u-2"),
                ..ModelCall::default()
            },
        );
        check(
            &[
                ("langfuse.observation.type", Str("generation")),
                ("langfuse.observation.usage_details", Str(r#"{"input":-1,"output":"x","total":1e300}"#)),
                ("langfuse.observation.cost_details", Str("none")),
            ],
            ModelCall::default(),
        );
    }

    #[test]
    fn vercel_ai_calls() {
        use AnyValue::{Int, Str};
        check(
            &[
                ("ai.operationId", Str("ai.embed.doEmbed")),
                ("ai.model.provider", Str("openai.embedding")),
                ("ai.model.id", Str("text-embedding-3-small")),
                ("ai.telemetry.metadata.userId", Str("u1")),
                ("ai.usage.tokens", Int(5)),
            ],
            ModelCall {
                model: Some("text-embedding-3-small"),
                provider: Some("openai.embedding"),
                tokens: Tokens { input: Some(5), ..Tokens::default() },
                total_tokens: Some(5),
                user_id: Some("u1"),
                ..ModelCall::default()
            },
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read(usage: String, cost in "[{}\":,0-9a-z.eE+-]{0,60}") {
            let pairs = [
                KeyValue { key: "langfuse.observation.type", value: AnyValue::Str("generation") },
                KeyValue { key: "langfuse.observation.usage_details", value: AnyValue::Str(&usage) },
                KeyValue { key: "langfuse.observation.cost_details", value: AnyValue::Str(&cost) },
            ];
            let call = ModelCall::read_by(Convention::Langfuse, &pairs);
            prop_assert!(call.total_tokens.is_none_or(|tokens| tokens >= 0));
        }
    }
}
