//! Flags of AI Traces: what a reader of conversations should look at, by rules on the span alone.
//!
//! | flag | rule |
//! |---|---|
//! | `truncated` | a finish reason says that a limit of tokens ended the answer |
//! | `content_filter` | a finish reason says that a filter of the provider removed or blocked content |
//! | `refused` | a finish reason says that the model declined to answer |
//! | `empty_answer` | a successful call that generates text has no output tokens, or recorded an output without text and tool calls |
//! | `invalid_tool_call` | a finish reason says that the model called a tool in a malformed way |
//! | `tool_error` | a run of a tool failed |
//! | `flagged_content` | the conversation has a term of the project's word lists (`rules/content_terms`) |
//!
//! Flags are stored as bits of a number. Invariant: a bit keeps its meaning.

use super::conversation::OUTPUTS;
use super::messages::messages_of;
use crate::model::{Attributes, is_blank};
use crate::wire::value_text;

/// A flag of an AI Trace. Its number is the position of its bit in the stored column `flags`, and never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Flag {
    /// The answer ended at a limit of tokens.
    Truncated = 0,
    /// A filter of the provider removed or blocked content.
    ContentFilter = 1,
    /// The model declined to answer.
    Refused = 2,
    /// A successful call without an answer.
    EmptyAnswer = 3,
    /// The model called a tool in a malformed way.
    InvalidToolCall = 4,
    /// A run of a tool failed.
    ToolError = 5,
    /// The conversation has a term of the project's word lists. Set with the terms, not by [`flags`].
    FlaggedContent = 6,
}

impl Flag {
    /// Every flag.
    pub const ALL: [Flag; 7] = [
        Flag::Truncated,
        Flag::ContentFilter,
        Flag::Refused,
        Flag::EmptyAnswer,
        Flag::InvalidToolCall,
        Flag::ToolError,
        Flag::FlaggedContent,
    ];

    /// The bit in [`Flags`].
    pub const fn bit(self) -> u32 {
        1 << self as u8
    }

    /// The name in the API.
    pub const fn name(self) -> &'static str {
        match self {
            Flag::Truncated => "truncated",
            Flag::ContentFilter => "content_filter",
            Flag::Refused => "refused",
            Flag::EmptyAnswer => "empty_answer",
            Flag::InvalidToolCall => "invalid_tool_call",
            Flag::ToolError => "tool_error",
            Flag::FlaggedContent => "flagged_content",
        }
    }

    /// The flag of a finish reason. OpenTelemetry leaves the values to the providers: OpenAI, Anthropic, Gemini, Bedrock,
    /// Mistral, Cohere, Vercel AI SDK.
    fn of_finish_reason(reason: &str) -> Option<Flag> {
        const REASONS: [(Flag, &[&str]); 4] = [
            (
                Flag::Truncated,
                &["length", "max_tokens", "model_length", "max_output_tokens", "model_context_window_exceeded"],
            ),
            (
                Flag::ContentFilter,
                &[
                    "content_filter",
                    "content_filtered",
                    "guardrail_intervened",
                    "safety",
                    "image_safety",
                    "recitation",
                    "blocklist",
                    "prohibited_content",
                    "spii",
                    "error_toxic",
                ],
            ),
            (Flag::Refused, &["refusal"]),
            (Flag::InvalidToolCall, &["malformed_function_call", "unexpected_tool_call", "malformed_tool_use"]),
        ];
        let reason = reason.trim();
        let equals = |known: &&str| {
            known.len() == reason.len()
                && known
                    .bytes()
                    .zip(reason.bytes())
                    .all(|(known, byte)| known == byte.to_ascii_lowercase() || (known == b'_' && byte == b'-'))
        };
        REASONS.iter().find(|(_, reasons)| reasons.iter().any(equals)).map(|(flag, _)| *flag)
    }
}

/// Flags as bits, see [`Flag::bit`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(pub u32);

impl Flags {
    /// Adds a flag.
    pub fn set(&mut self, flag: Flag) {
        self.0 |= flag.bit();
    }

    /// The flags in the order of [`Flag::ALL`]. Bits of later versions are ignored.
    pub fn iter(self) -> impl Iterator<Item = Flag> {
        Flag::ALL.into_iter().filter(move |flag| self.0 & flag.bit() != 0)
    }
}

/// The values that flags are computed from.
#[derive(Debug, Clone, Copy)]
pub struct Flagged<'a> {
    /// `gen_ai.operation.name`.
    pub operation: Option<&'a str>,
    /// Finish reasons, comma-separated.
    pub finish_reason: Option<&'a str>,
    /// Output tokens.
    pub output_tokens: Option<i64>,
    /// Tool calls in the answer.
    pub tool_call_count: i64,
    /// Whether the span failed.
    pub is_error: bool,
}

/// A recorded output of more bytes is not empty.
const EMPTY_BYTES_MAX: usize = 4_096;

/// The flags of a span with these values and attributes.
pub fn flags(call: Flagged<'_>, attributes: Attributes<'_, '_>) -> Flags {
    let mut flags = Flags::default();
    if call.operation == Some("execute_tool") {
        if call.is_error {
            flags.set(Flag::ToolError);
        }
        return flags;
    }
    call.finish_reason.unwrap_or("").split(',').filter_map(Flag::of_finish_reason).for_each(|flag| flags.set(flag));
    let generates = matches!(call.operation, Some("chat" | "text_completion" | "generate_content"));
    if generates && !call.is_error && call.tool_call_count == 0 {
        let is_empty = call.output_tokens == Some(0) || has_empty_output(attributes);
        if is_empty {
            flags.set(Flag::EmptyAnswer);
        }
    }
    flags
}

/// Whether an output is recorded that has neither text nor tool calls. False without a recorded output.
fn has_empty_output(attributes: Attributes<'_, '_>) -> bool {
    let Some(output) = OUTPUTS.iter().find_map(|key| attributes.get(key)) else { return false };
    let output = value_text(output);
    match output.trim_start().as_bytes().first() {
        None => true,
        Some(b'{' | b'[') if output.len() <= EMPTY_BYTES_MAX && !names_text(&output) => {
            messages_of(&output, "assistant")
                .iter()
                .all(|message| is_blank(&message.content) && message.tool_calls.is_empty())
        }
        Some(_) => false,
    }
}

/// Whether a key `content` or `text` of a JSON document has a string that is not blank. Parsing allocates; nearly every
/// output is known not to be empty without it.
fn names_text(json: &str) -> bool {
    ["\"content\"", "\"text\""].iter().any(|key| {
        json.match_indices(key).any(|(at, _)| {
            let value = json[at + key.len()..].trim_start().strip_prefix(':').map(str::trim_start);
            let text = value.and_then(|value| value.strip_prefix('"')).map(str::trim_start);
            text.is_some_and(|text| !text.starts_with(['"', '\\']))
        })
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::{AnyValue, KeyValue};

    const CHAT: Flagged<'static> = Flagged {
        operation: Some("chat"),
        finish_reason: Some("stop"),
        output_tokens: Some(10),
        tool_call_count: 0,
        is_error: false,
    };

    #[track_caller]
    fn check(call: Flagged<'_>, output: Option<&str>, expected: &[&str]) {
        let attributes = output.map(|text| KeyValue { key: "gen_ai.output.messages", value: AnyValue::Str(text) });
        let found = flags(call, Attributes(attributes.as_slice()));
        assert_eq!(found.iter().map(Flag::name).collect::<Vec<_>>(), expected, "{call:?} {output:?}");
    }

    // The table of the module.
    #[test]
    fn finish_reasons_table() {
        for (reason, expected) in [
            ("stop", &[] as &[&str]),
            ("end_turn", &[]),
            ("tool_calls", &[]),
            ("", &[]),
            ("length", &["truncated"]),
            ("max_tokens", &["truncated"]),
            ("MAX_TOKENS", &["truncated"]),
            ("stop,length", &["truncated"]),
            ("content_filter", &["content_filter"]),
            ("content-filter", &["content_filter"]),
            ("SAFETY", &["content_filter"]),
            ("guardrail_intervened", &["content_filter"]),
            ("refusal", &["refused"]),
            ("MALFORMED_FUNCTION_CALL", &["invalid_tool_call"]),
            ("length, refusal", &["truncated", "refused"]),
            ("lengthy", &[]),
        ] {
            check(Flagged { finish_reason: Some(reason), ..CHAT }, None, expected);
        }
        check(Flagged { finish_reason: None, ..CHAT }, None, &[]);
    }

    #[test]
    fn empty_answers_table() {
        let empty: &[&str] = &["empty_answer"];
        for (output, expected) in [
            (None, &[] as &[&str]),
            (Some(""), empty),
            (Some("  \n"), empty),
            (Some("[]"), empty),
            (Some(r#"[{"role":"assistant","parts":[{"type":"text","content":""}]}]"#), empty),
            (Some(r#"{"choices":[{"message":{"role":"assistant","content":null}}]}"#), empty),
            (Some(r#"[{"role":"assistant","content":"Hello"}]"#), &[]),
            (Some(r#"[{"role":"assistant","tool_calls":[{"function":{"name":"f"}}]}]"#), &[]),
            (Some("Hello"), &[]),
            (Some("{not JSON"), &[]),
        ] {
            check(CHAT, output, expected);
        }
        check(Flagged { output_tokens: Some(0), ..CHAT }, None, empty);
        check(Flagged { output_tokens: None, ..CHAT }, None, &[]);
        // Failed calls have no answer; tool calls are one; embeddings have none to give.
        check(Flagged { output_tokens: Some(0), is_error: true, ..CHAT }, None, &[]);
        check(Flagged { output_tokens: Some(0), tool_call_count: 1, ..CHAT }, None, &[]);
        check(Flagged { output_tokens: Some(0), operation: Some("embeddings"), ..CHAT }, None, &[]);
        check(Flagged { output_tokens: Some(0), operation: None, ..CHAT }, None, &[]);
    }

    #[test]
    fn failed_runs_of_tools_are_flagged() {
        let run = Flagged { operation: Some("execute_tool"), ..CHAT };
        check(run, None, &[]);
        check(Flagged { is_error: true, ..run }, None, &["tool_error"]);
        check(Flagged { is_error: true, ..CHAT }, None, &[]);
    }

    #[test]
    fn names_and_bits_are_distinct() {
        for (index, flag) in Flag::ALL.into_iter().enumerate() {
            assert_eq!(flag.bit(), 1 << index, "the bits are stored");
            assert_eq!(Flag::ALL.iter().filter(|other| other.name() == flag.name()).count(), 1);
        }
        assert_eq!(Flags(u32::MAX).iter().count(), Flag::ALL.len());
    }

    proptest! {
        #[test]
        fn any_output_and_reason_is_read(reason in ".*", output in ".*", json in r#"[\[{"a-z:,\]}]{0,40}"#) {
            for text in [&output, &json] {
                let pairs = [KeyValue { key: "gen_ai.completion", value: AnyValue::Str(text) }];
                let found = flags(Flagged { finish_reason: Some(&reason), ..CHAT }, Attributes(&pairs));
                prop_assert!(found.iter().count() <= Flag::ALL.len());
            }
        }
    }
}
