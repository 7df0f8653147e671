//! The rules of paging, as the transactions of this folder call them.

use std::collections::HashMap;

use tidewatch_accounts::ControlError;

use super::schedules::OncallSchedule;
use crate::channels::Severity;

/// Where an open page is in its policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageProgress {
    /// The step that runs next, from 0.
    pub step: i64,
    /// Number of complete runs of all steps.
    pub round: i64,
    /// When it runs, nanoseconds since the epoch; `None`: no step runs.
    pub next_ns: Option<i64>,
    /// The length of the wait for it, nanoseconds.
    pub wait_ns: i64,
}

/// Where an open page is in the chain of a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PersonProgress {
    /// Steps with this delay or a smaller one are over; -1: none.
    pub passed_minutes: i64,
    /// When the next step runs, nanoseconds since the epoch.
    pub next_ns: i64,
    /// The length of the wait for it, nanoseconds.
    pub wait_ns: i64,
}

/// Input of the decision about the next step of a page.
#[derive(Debug)]
pub struct StepInput<'a> {
    /// Definition of the policy when the page was opened, JSON.
    pub policy: &'a str,
    /// Where the page is.
    pub progress: PageProgress,
    /// Schedules of the organization.
    pub schedules: &'a [OncallSchedule],
    /// Members of the teams of the organization.
    pub teams: &'a HashMap<i64, Vec<i64>>,
    /// Nanoseconds since the epoch.
    pub now_ns: i64,
}

/// The decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepOutcome {
    /// Where the page is afterwards.
    pub progress: PageProgress,
    /// The step that runs now.
    pub ran: Option<i64>,
    /// People whom it reaches, each once.
    pub users: Vec<i64>,
    /// Channels that it reaches, each once.
    pub channels: Vec<i64>,
}

/// Input of the decision about the next step in the chain of a person.
#[derive(Debug)]
pub struct ChainInput<'a> {
    /// Ids of contact methods with their delays in minutes.
    pub steps: &'a [(i64, i64)],
    /// Contact methods that may be used.
    pub usable: &'a [i64],
    /// Where the page is in the chain.
    pub progress: PersonProgress,
    /// Nanoseconds since the epoch.
    pub now_ns: i64,
}

/// The decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainOutcome {
    /// Contact methods to use now.
    pub methods: Vec<i64>,
    /// The address of the account is used.
    pub falls_back: bool,
    /// Next progress of the chain; `None`: the chain is over.
    pub next: Option<PersonProgress>,
}

/// The rules.
pub trait PagingRules: Send + Sync {
    /// Whether a page of this severity is of high urgency in a policy.
    fn is_urgent(&self, policy: &str, severity: Severity) -> Result<bool, ControlError>;
    /// The progress of a page that is opened now.
    fn opened(&self, now_ns: i64) -> PageProgress;
    /// Advances a page by at most one step.
    fn step(&self, input: &StepInput<'_>) -> Result<StepOutcome, ControlError>;
    /// The progress of a person whom a page reaches now.
    fn reached(&self, now_ns: i64) -> PersonProgress;
    /// Advances the chain of a person.
    fn chain(&self, input: &ChainInput<'_>) -> ChainOutcome;
    /// The configuration of a channel that delivers to a contact method.
    fn delivery(&self, method_type: &str, config: &serde_json::Value) -> serde_json::Value;
}
