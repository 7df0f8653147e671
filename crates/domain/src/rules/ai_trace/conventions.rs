//! Marks of model calls without `gen_ai.*`: OpenInference, Langfuse and the Vercel AI SDK. DECISIONS 26.
//!
//! A project setting promotes them. Their fields are read as those of every AI span ([`super::fields`]).
//!
//! A span is such a call if a marker attribute says so: `openinference.span.kind` LLM, `langfuse.observation.type`
//! generation, or an `ai.operationId` whose last segment calls a provider (`doGenerate`, `doStream`, `doEmbed`). Outer
//! spans of the Vercel AI SDK (`ai.generateText`) repeat the tokens of the calls below them and do not count.

use crate::model::KeyValue;

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

#[cfg(test)]
mod tests {
    use bumpalo::Bump;
    use proptest::prelude::*;

    use super::super::ModelCall;
    use super::*;
    use crate::model::AnyValue;
    use crate::rules::prices::{Cost, Tokens};

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
        assert_eq!(ModelCall::read(&pairs, &Bump::new()), expected, "{convention:?}");
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
                tokens: Tokens {
                    input: Some(21),
                    cached: Some(8),
                    output: Some(9),
                    reasoning: Some(3),
                    ..Tokens::default()
                },
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
                tokens: Tokens { input: Some(100), cached: Some(60), output: Some(20), ..Tokens::default() },
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
            let arena = Bump::new();
            let call = ModelCall::read(&pairs, &arena);
            prop_assert!(call.total_tokens.is_none_or(|tokens| tokens >= 0));
        }
    }
}
