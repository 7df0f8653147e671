//! The tables of notification rules.

mod rows;
mod rules;
mod states;

pub use rows::NotificationRule;
pub use rules::NewRule;
pub use states::{RuleBatch, RuleChange, RuleChanges, RuleClaim, RuleState, RuleStateKind, alert_key};
