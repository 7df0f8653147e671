use super::*;
use crate::rules::prices::BUILT_IN;

const NOON_2026: i64 = 1_795_219_200_000_000_000;

fn attributes(pairs: &[(&'static str, AnyValue<'static>)]) -> Vec<KeyValue<'static>> {
    pairs.iter().map(|(key, value)| KeyValue { key, value: *value }).collect()
}

fn text(pairs: &[(&'static str, &'static str)]) -> Vec<KeyValue<'static>> {
    pairs.iter().map(|(key, value)| KeyValue { key, value: AnyValue::Str(value) }).collect()
}

// Spec: entity rows, AI Trace; DECISIONS 12.
#[test]
fn reads_the_current_conventions() {
    const REASONS: &[AnyValue<'static>] = &[AnyValue::Str("stop"), AnyValue::Str("length")];
    let arena = Bump::new();
    let call = ModelCall::read(
        &attributes(&[
            ("gen_ai.operation.name", AnyValue::Str("chat")),
            ("gen_ai.provider.name", AnyValue::Str("openai")),
            ("gen_ai.system", AnyValue::Str("az.ai.openai")),
            ("gen_ai.request.model", AnyValue::Str("gpt-4o")),
            ("gen_ai.response.model", AnyValue::Str("gpt-4o-2024-08-06")),
            ("gen_ai.usage.input_tokens", AnyValue::Int(120)),
            ("gen_ai.usage.output_tokens", AnyValue::Double(45.0)),
            ("gen_ai.usage.cache_read.input_tokens", AnyValue::Str("64")),
            ("gen_ai.usage.reasoning.output_tokens", AnyValue::Int(12)),
            ("gen_ai.response.finish_reasons", AnyValue::Array(REASONS)),
            ("trace.name", AnyValue::Str("Plan my trip")),
            ("user.id", AnyValue::Str("u1")),
            ("session.id", AnyValue::Str("s1")),
            ("gen_ai.conversation.id", AnyValue::Str("c1")),
        ]),
        &arena,
    );
    assert_eq!(call.name, Some("Plan my trip"));
    assert_eq!((call.model, call.response_model), (Some("gpt-4o"), Some("gpt-4o-2024-08-06")));
    assert_eq!((call.provider, call.operation), (Some("openai"), Some("chat")));
    let tokens =
        Tokens { input: Some(120), cached: Some(64), output: Some(45), reasoning: Some(12), ..Tokens::default() };
    assert_eq!((call.tokens, call.total_tokens), (tokens, Some(165)));
    assert_eq!((call.finish_reason, call.user_id, call.conversation_id), (Some("stop,length"), Some("u1"), Some("c1")));
}

#[test]
fn reads_the_older_names() {
    let arena = Bump::new();
    for (pairs, expected) in [
        (
            vec![("gen_ai.usage.prompt_tokens", "10"), ("gen_ai.usage.completion_tokens", "4")],
            (Some(10), Some(4), None, None),
        ),
        (vec![("gen_ai.usage.input_tokens.cached", "8")], (None, None, Some(8), None)),
        (vec![("gen_ai.usage.cache_read_input_tokens", "8")], (None, None, Some(8), None)),
        (vec![("gen_ai.usage.output_tokens.reasoning", "3")], (None, None, None, Some(3))),
        (vec![("gen_ai.usage.reasoning_tokens", "3")], (None, None, None, Some(3))),
        (vec![("gen_ai.usage.input_tokens", "-1")], (None, None, None, None)),
    ] {
        let tokens = ModelCall::read(&text(&pairs), &arena).tokens;
        assert_eq!((tokens.input, tokens.output, tokens.cached, tokens.reasoning), expected, "{pairs:?}");
    }
    let system = ModelCall::read(&text(&[("gen_ai.system", "anthropic")]), &arena);
    assert_eq!(system.provider, Some("anthropic"));
}

// DECISIONS 12: costs from the span if present, else estimated by the table; unknown models have no cost.
#[test]
fn cost_table() {
    let arena = Bump::new();
    for (pairs, total, estimated) in [
        (vec![("gen_ai.usage.input_cost", "0.5"), ("gen_ai.usage.output_cost", "0.25")], Some(0.75), false),
        (vec![("gen_ai.usage.total_cost", "0.5"), ("gen_ai.request.model", "gpt-4o")], Some(0.5), false),
        (vec![("gen_ai.request.model", "gpt-4o"), ("gen_ai.usage.input_tokens", "1000000")], Some(2.5), true),
        (
            vec![
                ("gen_ai.request.model", "alias"),
                ("gen_ai.response.model", "gpt-4o-2024-08-06"),
                ("gen_ai.usage.output_tokens", "1000000"),
            ],
            Some(10.0),
            true,
        ),
        (vec![("gen_ai.request.model", "own-model"), ("gen_ai.usage.input_tokens", "1000000")], None, false),
        (vec![("gen_ai.request.model", "gpt-4o")], None, false),
        (vec![], None, false),
    ] {
        let (cost, is_estimated) = ModelCall::read(&text(&pairs), &arena).cost(BUILT_IN, NOON_2026);
        assert_eq!((cost.total, is_estimated), (total, estimated), "{pairs:?}");
    }
}

// WIRE 8.3: OpenAI, Anthropic, OpenTelemetry parts; else 1 if the operation executes a tool.
#[test]
fn tool_calls_table() {
    let arena = Bump::new();
    for (pairs, expected) in [
        (vec![("gen_ai.operation.name", "execute_tool")], 1),
        (vec![("gen_ai.operation.name", "chat")], 0),
        (
            vec![(
                "gen_ai.completion",
                r#"{"choices":[{"message":{"tool_calls":[{"type":"function","function":{"name":"a","arguments":"{}"}},{"function":{"name":"b"}}]}}]}"#,
            )],
            2,
        ),
        (
            vec![(
                "gen_ai.completion",
                r#"{"role":"assistant","content":[{"type":"text","text":"x"},{"type":"tool_use","name":"a","input":{}}]}"#,
            )],
            1,
        ),
        (
            vec![(
                "gen_ai.output.messages",
                r#"[{"role":"assistant","parts":[{"type":"tool_call","name":"a","arguments":{"q":1}}]}]"#,
            )],
            1,
        ),
        (vec![("ai.response.toolCalls", r#"[{"toolCallId":"1","toolName":"a","args":"{}"}]"#)], 1),
        (vec![("gen_ai.completion.0.tool_calls.0.name", "a"), ("gen_ai.completion.0.tool_calls.0.arguments", "{}")], 1),
        (vec![("gen_ai.completion", "use the tool")], 0),
        (vec![("gen_ai.completion", "[tool")], 0),
    ] {
        assert_eq!(ModelCall::read(&text(&pairs), &arena).tool_call_count, expected, "{pairs:?}");
    }
}

/// `role: content [tool arguments]` per message.
fn summary(conversation: &Conversation) -> String {
    let line = |message: &Message| {
        let calls: Vec<_> =
            message.tool_calls.iter().map(|call| format!(" [{} {}]", call.name, call.arguments)).collect();
        format!("{}: {}{}", message.role, message.content, calls.concat())
    };
    conversation.messages.iter().map(line).collect::<Vec<_>>().join(" | ")
}

#[test]
fn conversation_table() {
    for (pairs, expected) in [
        (vec![("gen_ai.prompt", "hi"), ("gen_ai.completion", "hello")], "user: hi | assistant: hello"),
        (
            vec![("gen_ai.prompt", r#"[{"role":"system","content":"be brief"},{"role":"user","content":"hi"}]"#)],
            "system: be brief | user: hi",
        ),
        (
            vec![
                ("gen_ai.system_instructions", r#"[{"type":"text","content":"be brief"}]"#),
                ("gen_ai.input.messages", r#"[{"role":"user","parts":[{"type":"text","content":"root call"}]}]"#),
                (
                    "gen_ai.output.messages",
                    r#"[{"role":"assistant","parts":[{"type":"text","content":"Hello"},{"type":"tool_call","name":"find","arguments":{"q":1}}],"finish_reason":"stop"}]"#,
                ),
            ],
            r#"system: be brief | user: root call | assistant: Hello [find {"q":1}]"#,
        ),
        (
            vec![
                ("gen_ai.prompt.1.role", "user"),
                ("gen_ai.prompt.1.content", "second"),
                ("gen_ai.prompt.0.role", "system"),
                ("gen_ai.prompt.0.content", "first"),
                ("gen_ai.completion.0.content", "third"),
                ("gen_ai.completion.0.tool_calls.0.name", "find"),
                ("gen_ai.completion.0.tool_calls.0.arguments", "{}"),
            ],
            "system: first | user: second | assistant: third [find {}]",
        ),
        (
            vec![
                ("ai.prompt.messages", r#"[{"role":"user","content":[{"type":"text","text":"otters"}]}]"#),
                ("ai.response.text", "Hello there"),
            ],
            "user: otters | assistant: Hello there",
        ),
        (vec![("ai.prompt", r#"{"system":"s","prompt":"p"}"#)], "system: s | user: p"),
        (
            vec![
                ("input.value", "everything as one string"),
                ("llm.input_messages.0.message.role", "system"),
                ("llm.input_messages.0.message.content", "be brief"),
                ("llm.input_messages.1.message.role", "user"),
                ("llm.input_messages.1.message.content", "hi"),
                ("llm.output_messages.0.message.role", "assistant"),
                ("llm.output_messages.0.message.content", "hello"),
                ("llm.output_messages.0.message.tool_calls.0.tool_call.function.name", "find"),
                ("llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments", "{}"),
            ],
            "system: be brief | user: hi | assistant: hello [find {}]",
        ),
        (vec![("input.value", "hi"), ("output.value", "hello")], "user: hi | assistant: hello"),
        (
            vec![("langfuse.observation.input", "hi"), ("langfuse.observation.output", "hello")],
            "user: hi | assistant: hello",
        ),
        (vec![("gen_ai.prompt", "[not json")], "user: [not json"),
        (vec![("gen_ai.prompt", "  ")], ""),
        (vec![], ""),
    ] {
        assert_eq!(summary(&conversation(Attributes(&text(&pairs)), [])), expected);
    }
}

#[test]
fn conversation_from_events() {
    let system = text(&[("content", "be brief")]);
    let user = text(&[("gen_ai.event.content", r#"{"content":"hi"}"#)]);
    let choice = text(&[(
        "message",
        r#"{"content":"hello","tool_calls":[{"type":"function","function":{"name":"find","arguments":"{}"}}]}"#,
    )]);
    let found = conversation(
        Attributes(&[]),
        [
            ("gen_ai.system.message", Attributes(&system)),
            ("gen_ai.user.message", Attributes(&user)),
            ("exception", Attributes(&[])),
            ("gen_ai.choice", Attributes(&choice)),
        ],
    );
    assert_eq!(summary(&found), "system: be brief | user: hi | assistant: hello [find {}]");
    assert_eq!(found.tool_names, ["find"]);
    let prompt = text(&[("gen_ai.prompt", "p")]);
    let completion = text(&[("gen_ai.completion", "c")]);
    let found = conversation(
        Attributes(&[]),
        [("gen_ai.content.prompt", Attributes(&prompt)), ("gen_ai.content.completion", Attributes(&completion))],
    );
    assert_eq!(summary(&found), "user: p | assistant: c");
}
