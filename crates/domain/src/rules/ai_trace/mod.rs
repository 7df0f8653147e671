//! Reads the model call of an AI span: names, tokens, cost, tool calls. DECISIONS 12, 32, WIRE 8.3.
//!
//! [`spellings`] has the spellings of every field, [`fields`] reads them, [`conventions`] the calls without `gen_ai.*`, [`usage`] the rule of rows
//! that repeat the usage of others. [`conversation`] is computed at query time and not stored separately from the span.

mod conventions;
mod conversation;
mod fields;
mod flags;
mod logged;
mod messages;
mod spellings;
mod tool_calls;
mod turns;
pub mod usage;

pub use conventions::{MARKERS, convention_of};
pub use conversation::{Conversation, conversation, has_messages};
pub use flags::{Flag, Flagged, Flags, flags};
pub use logged::{LOGGED_EVENTS, LoggedMessage};
pub use messages::{Message, ToolCall};
pub use spellings::EXECUTE_TOOL;
pub use turns::{Step, StepKind, TREE_SPANS_MAX, TreeNode, Turn, repeated, turns};

use bumpalo::Bump;

use super::prices::{self, Cost, Price, Tokens};
use super::value_text::value_text;
use crate::model::{AnyValue, Attributes, KeyValue, is_blank};
use fields::Fields;
use spellings::Field;

/// The columns of an AI Trace row that come from attributes. `None` means absent, never zero.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ModelCall<'a> {
    /// Name of the AI Trace. The row falls back to the span's name.
    pub name: Option<&'a str>,
    /// Requested model; the model that answered if none was requested.
    pub model: Option<&'a str>,
    /// Model that answered.
    pub response_model: Option<&'a str>,
    /// Provider.
    pub provider: Option<&'a str>,
    /// Operation, for example `chat`.
    pub operation: Option<&'a str>,
    /// Id of the response; of a run of a tool, id of the tool call.
    pub call_id: Option<&'a str>,
    /// Token counts. The input includes cached tokens.
    pub tokens: Tokens,
    /// Sum of input and output, unless the span states another.
    pub total_tokens: Option<i64>,
    /// Costs in the span's attributes.
    pub stated_cost: Cost,
    /// Whether the provider bills the call as a batch.
    pub is_batch: bool,
    /// Finish reasons, comma-separated.
    pub finish_reason: Option<&'a str>,
    /// End user of the application.
    pub user_id: Option<&'a str>,
    /// Conversation, else the span's session.
    pub conversation_id: Option<&'a str>,
    /// Number of tool calls.
    pub tool_call_count: i64,
}

impl<'a> ModelCall<'a> {
    /// Reads a model call by every convention.
    pub fn read(attributes: &[KeyValue<'a>], arena: &'a Bump) -> Self {
        let found = Fields::read(attributes);
        let operation = found.text(Field::Operation);
        let call_id = match operation {
            Some(EXECUTE_TOOL) => found.text(Field::ToolCallId),
            _ => found.text(Field::ResponseId),
        };
        let response_model = found.text(Field::ResponseModel);
        let tier = found.text(Field::ServiceTier).unwrap_or("");
        let mut call = ModelCall {
            name: found.text(Field::Name),
            model: found.text(Field::Model).or(response_model),
            response_model,
            provider: found.text(Field::Provider),
            operation,
            call_id,
            tokens: tokens(&found),
            total_tokens: found.count(Field::Total),
            stated_cost: Cost {
                input: found.amount(Field::InputCost),
                output: found.amount(Field::OutputCost),
                total: found.amount(Field::TotalCost),
            },
            is_batch: ["batch", "flex"].iter().any(|batch| tier.eq_ignore_ascii_case(batch)),
            finish_reason: found.value(Field::FinishReason).and_then(|value| joined(value, arena)),
            user_id: found.text(Field::User),
            conversation_id: found.text(Field::Conversation).or_else(|| found.text(Field::Session)),
            tool_call_count: messages::tool_call_count(Attributes(attributes), operation, arena),
        };
        call.tokens.include_cached(call.total_tokens);
        call.complete_totals();
        call
    }

    /// Fills in missing totals from their parts.
    fn complete_totals(&mut self) {
        self.total_tokens = self.total_tokens.or_else(|| sum(self.tokens.input, self.tokens.output));
        let Cost { input, output, total } = self.stated_cost;
        let parts = || (input.is_some() || output.is_some()).then(|| input.unwrap_or(0.0) + output.unwrap_or(0.0));
        self.stated_cost.total = total.or_else(parts);
    }

    /// The costs in the span's attributes; without any, the costs by the price table and `true` for estimated.
    pub fn cost(&self, table: &[Price<'_>], time_ns: i64) -> (Cost, bool) {
        if self.stated_cost != Cost::default() {
            return (self.stated_cost, false);
        }
        let price = [self.model, self.response_model]
            .into_iter()
            .flatten()
            .find_map(|model| prices::price_of(table, model, time_ns));
        let cost = price.map_or_else(Cost::default, |price| prices::cost(&price, self.tokens, self.is_batch));
        (cost, cost.total.is_some())
    }
}

fn tokens(found: &Fields<'_>) -> Tokens {
    Tokens {
        input: found.count(Field::Input),
        cached: found.count(Field::Cached),
        cache_write: found.count(Field::CacheWrite).or_else(|| found.count(Field::CacheWriteHour)),
        cache_write_hour: found.count(Field::CacheWriteHour),
        output: found.count(Field::Output),
        reasoning: found.count(Field::Reasoning),
        audio_input: found.count(Field::AudioInput),
        audio_output: found.count(Field::AudioOutput),
        image_input: found.count(Field::ImageInput),
        image_output: found.count(Field::ImageOutput),
    }
}

fn sum(left: Option<i64>, right: Option<i64>) -> Option<i64> {
    (left.is_some() || right.is_some()).then(|| left.unwrap_or(0).saturating_add(right.unwrap_or(0)))
}

/// A string, or a list joined by commas; the list may be written as JSON.
fn joined<'a>(value: AnyValue<'a>, arena: &'a Bump) -> Option<&'a str> {
    if let AnyValue::Str(text) = value
        && text.starts_with('[')
        && let Ok(items) = serde_json::from_str::<Vec<String>>(text)
    {
        let text = items.join(",");
        return (!is_blank(&text)).then(|| &*arena.alloc_str(&text));
    }
    let text = match value {
        AnyValue::Array([one]) => value_text(*one, arena),
        AnyValue::Array(items) => {
            let parts: Vec<_> = items.iter().map(|item| value_text(*item, arena)).collect();
            arena.alloc_str(&parts.join(","))
        }
        other => value_text(other, arena),
    };
    (!text.trim().is_empty()).then_some(text)
}

#[cfg(test)]
mod captured;
#[cfg(test)]
mod tests;
