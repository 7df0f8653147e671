//! Reads the model call of a `gen_ai.*` span: names, tokens, cost, tool calls. DECISIONS 12, WIRE 8.3.
//!
//! [`Convention`] reads the calls of libraries that use other attributes. [`conversation`] is computed at query time and
//! not stored separately from the span.

mod conventions;
mod conversation;
mod flags;
mod messages;
mod tool_calls;
mod turns;

pub use conventions::{Convention, MARKERS, convention, convention_of};
pub use conversation::{Conversation, conversation, has_messages};
pub use flags::{Flag, Flagged, Flags, flags};
pub use messages::{Message, ToolCall};
pub use turns::{Step, StepKind, TREE_SPANS_MAX, TreeNode, Turn, repeated, turns};

use bumpalo::Bump;

use super::prices::{self, Cost, Price, Tokens};
use super::value_text::value_text;
use crate::model::{AnyValue, Attributes, KeyValue, is_blank};

/// The columns of an AI Trace row that come from attributes. `None` means absent, never zero.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ModelCall<'a> {
    /// `trace.name`. The row falls back to the span's name.
    pub name: Option<&'a str>,
    /// `gen_ai.request.model`.
    pub model: Option<&'a str>,
    /// `gen_ai.response.model`.
    pub response_model: Option<&'a str>,
    /// `gen_ai.provider.name`, else `gen_ai.system`.
    pub provider: Option<&'a str>,
    /// `gen_ai.operation.name`.
    pub operation: Option<&'a str>,
    /// Token counts.
    pub tokens: Tokens,
    /// `gen_ai.usage.total_tokens`, else the sum of input and output.
    pub total_tokens: Option<i64>,
    /// Costs in the span's attributes.
    pub stated_cost: Cost,
    /// `gen_ai.response.finish_reasons`, comma-separated.
    pub finish_reason: Option<&'a str>,
    /// `user.id`, else `enduser.id`.
    pub user_id: Option<&'a str>,
    /// `gen_ai.conversation.id`, else the span's `session.id`.
    pub conversation_id: Option<&'a str>,
    /// Number of tool calls.
    pub tool_call_count: i64,
}

impl<'a> ModelCall<'a> {
    /// Reads a model call by the `gen_ai.*` conventions, current and older ones.
    pub fn read(attributes: &[KeyValue<'a>], arena: &'a Bump) -> Self {
        let mut found = Found::default();
        for attribute in attributes {
            found.take(attribute.key, attribute.value, arena);
        }
        let mut call = found.call();
        call.tool_call_count = messages::tool_call_count(Attributes(attributes), call.operation, arena);
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
        let cost = price.map_or_else(Cost::default, |price| prices::cost(&price, self.tokens));
        (cost, cost.total.is_some())
    }
}

/// The attributes by name. The first present one of several names wins.
#[derive(Default)]
struct Found<'a> {
    call: ModelCall<'a>,
    system: Option<&'a str>,
    session: Option<&'a str>,
    /// The name of `user.id` in older conventions.
    end_user: Option<&'a str>,
    input: [Option<i64>; 2],
    output: [Option<i64>; 2],
    cached: [Option<i64>; 4],
    reasoning: [Option<i64>; 3],
}

impl<'a> Found<'a> {
    fn take(&mut self, key: &str, value: AnyValue<'a>, arena: &'a Bump) {
        let text = || value.as_str().filter(|text| !is_blank(text));
        let count = || value.as_int().filter(|count| *count >= 0);
        let call = &mut self.call;
        match key {
            "trace.name" => call.name = text(),
            "user.id" => call.user_id = text(),
            "enduser.id" => self.end_user = text(),
            "session.id" => self.session = text(),
            _ => {}
        }
        let Some(key) = key.strip_prefix("gen_ai.") else { return };
        match key {
            "request.model" => call.model = text(),
            "response.model" => call.response_model = text(),
            "provider.name" => call.provider = text(),
            "system" => self.system = text(),
            "operation.name" => call.operation = text(),
            "conversation.id" => call.conversation_id = text(),
            "response.finish_reasons" | "response.finish_reason" => call.finish_reason = joined(value, arena),
            "usage.input_tokens" => self.input[0] = count(),
            "usage.prompt_tokens" => self.input[1] = count(),
            "usage.output_tokens" => self.output[0] = count(),
            "usage.completion_tokens" => self.output[1] = count(),
            "usage.total_tokens" => call.total_tokens = count(),
            "usage.cache_read.input_tokens" => self.cached[0] = count(),
            "usage.input_tokens.cached" => self.cached[1] = count(),
            "usage.cache_read_input_tokens" => self.cached[2] = count(),
            "usage.cached_tokens" => self.cached[3] = count(),
            "usage.reasoning.output_tokens" => self.reasoning[0] = count(),
            "usage.output_tokens.reasoning" => self.reasoning[1] = count(),
            "usage.reasoning_tokens" => self.reasoning[2] = count(),
            "usage.input_cost" => call.stated_cost.input = value.as_double(),
            "usage.output_cost" => call.stated_cost.output = value.as_double(),
            "usage.total_cost" | "usage.cost" => call.stated_cost.total = value.as_double(),
            _ => {}
        }
    }

    fn call(self) -> ModelCall<'a> {
        let first = |counts: &[Option<i64>]| counts.iter().copied().flatten().next();
        let mut call = self.call;
        call.tokens = Tokens {
            input: first(&self.input),
            cached: first(&self.cached),
            output: first(&self.output),
            reasoning: first(&self.reasoning),
        };
        call.provider = call.provider.or(self.system);
        call.conversation_id = call.conversation_id.or(self.session);
        call.user_id = call.user_id.or(self.end_user);
        call.complete_totals();
        call
    }
}

fn sum(left: Option<i64>, right: Option<i64>) -> Option<i64> {
    (left.is_some() || right.is_some()).then(|| left.unwrap_or(0).saturating_add(right.unwrap_or(0)))
}

/// A string, or a list joined by commas.
fn joined<'a>(value: AnyValue<'a>, arena: &'a Bump) -> Option<&'a str> {
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
mod tests;
