//! Escalation policies: whom a page reaches, step by step.

use serde::{Deserialize, Serialize};
use tidewatch_limits as limits;

use crate::channels::Severity;

/// Kind of a step's target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TargetKind {
    /// The person on call.
    Schedule,
    /// Every member of a team.
    Team,
    /// One person.
    User,
    /// A notification channel.
    Channel,
}

/// One target of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StepTarget {
    /// Kind of the target.
    #[serde(rename = "type")]
    pub kind: TargetKind,
    /// Its id.
    pub id: i64,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// People and channels that the step reaches.
    pub targets: Vec<StepTarget>,
    /// Minutes until the next step, if nobody acknowledges.
    pub delay_minutes: i64,
}

/// Which chain of the people runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UrgencyRule {
    /// High for critical notifications.
    #[default]
    Auto,
    /// Always the chain for high urgency.
    High,
    /// Always the chain for low urgency.
    Low,
}

/// A policy as users write it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyDefinition {
    /// The version of this form: 1.
    #[serde(default = "first")]
    pub schema_version: u32,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// Number of times that all steps run again.
    #[serde(default)]
    pub repeat: i64,
    /// Which chain of the people runs.
    #[serde(default)]
    pub urgency: UrgencyRule,
}

fn first() -> u32 {
    1
}

impl PolicyDefinition {
    /// Checks the numbers. The error is a sentence for the user.
    pub fn check(&self) -> Result<(), String> {
        if self.steps.is_empty() || self.steps.len() > limits::ONCALL_STEPS_MAX {
            return Err(format!("a policy has 1 to {} steps", limits::ONCALL_STEPS_MAX));
        }
        if !(0..=limits::ONCALL_REPEAT_MAX).contains(&self.repeat) {
            return Err(format!("repeat is 0 to {}", limits::ONCALL_REPEAT_MAX));
        }
        for step in &self.steps {
            if step.targets.is_empty() || step.targets.len() > limits::ONCALL_STEP_TARGETS_MAX {
                return Err(format!("a step has 1 to {} targets", limits::ONCALL_STEP_TARGETS_MAX));
            }
            if !(1..=limits::ONCALL_STEP_MINUTES_MAX).contains(&step.delay_minutes) {
                return Err(format!("delayMinutes is 1 to {}", limits::ONCALL_STEP_MINUTES_MAX));
            }
        }
        Ok(())
    }

    /// Whether a page of this severity is of high urgency.
    pub fn is_urgent(&self, severity: Severity) -> bool {
        match self.urgency {
            UrgencyRule::Auto => severity == Severity::Critical,
            UrgencyRule::High => true,
            UrgencyRule::Low => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(change: impl FnOnce(&mut PolicyDefinition)) -> PolicyDefinition {
        let target = StepTarget { kind: TargetKind::User, id: 1 };
        let step = Step { targets: vec![target], delay_minutes: 5 };
        let mut policy =
            PolicyDefinition { schema_version: 1, steps: vec![step], repeat: 0, urgency: UrgencyRule::Auto };
        change(&mut policy);
        policy
    }

    #[test]
    fn numbers_are_bounded() {
        type Change = fn(&mut PolicyDefinition);
        let table: [(Change, bool); 9] = [
            (|_| {}, true),
            (|policy| policy.repeat = 5, true),
            (|policy| policy.repeat = 6, false),
            (|policy| policy.repeat = -1, false),
            (|policy| policy.steps.clear(), false),
            (|policy| policy.steps = vec![policy.steps[0].clone(); 11], false),
            (|policy| policy.steps[0].targets.clear(), false),
            (|policy| policy.steps[0].delay_minutes = 0, false),
            (|policy| policy.steps[0].delay_minutes = 1441, false),
        ];
        for (index, (change, is_right)) in table.into_iter().enumerate() {
            assert_eq!(policy(change).check().is_ok(), is_right, "row {index}");
        }
    }

    #[test]
    fn urgency_follows_the_rule_and_the_severity() {
        for (rule, severity, expected) in [
            (UrgencyRule::Auto, Severity::Critical, true),
            (UrgencyRule::Auto, Severity::Warning, false),
            (UrgencyRule::Auto, Severity::Info, false),
            (UrgencyRule::High, Severity::Info, true),
            (UrgencyRule::Low, Severity::Critical, false),
        ] {
            assert_eq!(policy(|policy| policy.urgency = rule).is_urgent(severity), expected, "{rule:?} {severity:?}");
        }
    }
}
