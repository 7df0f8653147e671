//! The tables of notification rules.

mod rules;
mod states;

pub use rules::{NewRule, NotificationRule};
pub use states::{RuleBatch, RuleChange, RuleChanges, RuleClaim, RuleState, RuleStateKind, alert_key};
