//! Progress of a page in its policy and in the chains of people, as the transactions that change pages store it.

use std::collections::{BTreeSet, HashMap};

use tidewatch_accounts::ControlError;

use super::chain::{self, ChainProgress, ChainStep};
use super::escalation::{self, Progress};
use super::policy::{PolicyDefinition, TargetKind};
use super::wait::Wait;
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
pub struct StepInput<'a> {
    /// Definition of the policy when the page was opened, JSON.
    pub policy: &'a str,
    /// Where the page is.
    pub progress: PageProgress,
    /// The user whom a schedule has on call now.
    pub on_call: &'a dyn Fn(i64) -> Option<i64>,
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

/// Whether a page of this severity is of high urgency in a policy.
pub(super) fn is_urgent(policy: &str, severity: Severity) -> Result<bool, ControlError> {
    Ok(read(policy)?.is_urgent(severity))
}

/// The progress of a page that is opened now.
pub(super) fn opened(now_ns: i64) -> PageProgress {
    stored(Progress::opened(now_ns))
}

/// Advances a page by at most one step.
pub(super) fn step(input: &StepInput<'_>) -> Result<StepOutcome, ControlError> {
    let policy = read(input.policy)?;
    let before = Progress {
        step: usize::try_from(input.progress.step).unwrap_or(usize::MAX),
        round: input.progress.round,
        wait: input.progress.next_ns.map(|until_ns| Wait { until_ns, length_ns: input.progress.wait_ns }),
    };
    let (ran, after) = escalation::advance(&policy, before, input.now_ns);
    let mut outcome = StepOutcome { progress: stored(after), ran: None, users: Vec::new(), channels: Vec::new() };
    let Some(step) = ran.and_then(|index| policy.steps.get(index)) else { return Ok(outcome) };
    outcome.ran = ran.and_then(|index| i64::try_from(index).ok());
    let mut users = BTreeSet::new();
    let mut channels = BTreeSet::new();
    for target in &step.targets {
        match target.kind {
            TargetKind::Schedule => users.extend((input.on_call)(target.id)),
            TargetKind::Team => users.extend(input.teams.get(&target.id).into_iter().flatten().copied()),
            TargetKind::User => drop(users.insert(target.id)),
            TargetKind::Channel => drop(channels.insert(target.id)),
        }
    }
    outcome.users = users.into_iter().collect();
    outcome.channels = channels.into_iter().collect();
    Ok(outcome)
}

/// The progress of a person whom a page reaches now.
pub(super) fn reached(now_ns: i64) -> PersonProgress {
    progress(ChainProgress::begin(now_ns))
}

/// Advances the chain of a person.
pub(super) fn chain(input: &ChainInput<'_>) -> ChainOutcome {
    let steps: Vec<ChainStep> =
        input.steps.iter().map(|&(method, delay_minutes)| ChainStep { method, delay_minutes }).collect();
    let before = ChainProgress {
        passed_minutes: input.progress.passed_minutes,
        wait: Wait { until_ns: input.progress.next_ns, length_ns: input.progress.wait_ns },
    };
    let run = chain::advance(&steps, input.usable, before, input.now_ns);
    ChainOutcome { methods: run.methods, falls_back: run.falls_back, next: run.next.map(progress) }
}

fn read(policy: &str) -> Result<PolicyDefinition, ControlError> {
    serde_json::from_str(policy).map_err(|_| ControlError::Unreadable("an escalation policy"))
}

fn stored(progress: Progress) -> PageProgress {
    PageProgress {
        step: i64::try_from(progress.step).unwrap_or(i64::MAX),
        round: progress.round,
        next_ns: progress.wait.map(|wait| wait.until_ns),
        wait_ns: progress.wait.map_or(0, |wait| wait.length_ns),
    }
}

fn progress(chain: ChainProgress) -> PersonProgress {
    PersonProgress { passed_minutes: chain.passed_minutes, next_ns: chain.wait.until_ns, wait_ns: chain.wait.length_ns }
}
