//! Flags of AI Traces: stored bits as names, and filters on them. The rules are in `domain::rules::ai_trace`.

use tidewatch_domain::rules::ai_trace::{Flag, Flags};
use tidewatch_domain::rules::content_terms;
use tidewatch_store::plan::{Aggregate, Filter, Function};

use super::answer::Row;
use super::views::ai::AiFlag;

/// The output column of [`flagged`].
pub const FLAGGED: &str = "flagged";

fn rule(flag: AiFlag) -> Flag {
    match flag {
        AiFlag::Truncated => Flag::Truncated,
        AiFlag::ContentFilter => Flag::ContentFilter,
        AiFlag::Refused => Flag::Refused,
        AiFlag::EmptyAnswer => Flag::EmptyAnswer,
        AiFlag::InvalidToolCall => Flag::InvalidToolCall,
        AiFlag::ToolError => Flag::ToolError,
        AiFlag::FlaggedContent => Flag::FlaggedContent,
    }
}

fn view(flag: Flag) -> AiFlag {
    match flag {
        Flag::Truncated => AiFlag::Truncated,
        Flag::ContentFilter => AiFlag::ContentFilter,
        Flag::Refused => AiFlag::Refused,
        Flag::EmptyAnswer => AiFlag::EmptyAnswer,
        Flag::InvalidToolCall => AiFlag::InvalidToolCall,
        Flag::ToolError => AiFlag::ToolError,
        Flag::FlaggedContent => AiFlag::FlaggedContent,
    }
}

/// The flags of a row with the column `flags`; none in rows that an earlier version stored.
pub fn of_row(row: Row<'_>) -> Vec<AiFlag> {
    let bits = row.opt_int("flags").and_then(|bits| u32::try_from(bits).ok());
    Flags(bits.unwrap_or(0)).iter().map(view).collect()
}

/// The terms of a row with the column `flagged_terms`.
pub fn terms_of_row(row: Row<'_>) -> Vec<String> {
    content_terms::split(row.text("flagged_terms")).map(str::to_owned).collect()
}

/// Rows with at least one of these flags; every row when empty.
pub fn any_of(flags: &[AiFlag]) -> Filter {
    match flags.iter().fold(0, |mask, flag| mask | rule(*flag).bit()) {
        0 => Filter::True,
        mask => has(mask),
    }
}

/// The weighted number of rows with a flag.
pub fn flagged() -> Aggregate {
    let all = Flag::ALL.iter().fold(0, |mask, flag| mask | flag.bit());
    Function::Weight.named(FLAGGED).only(has(all))
}

fn has(mask: u32) -> Filter {
    Filter::HasBits { column: "flags", mask: u64::from(mask) }
}
