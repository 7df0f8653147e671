//! These rules, as the control database calls them within the transaction that changes a page.

use std::collections::BTreeSet;

use serde_json::Value;
use tidewatch_accounts::ControlError;

use super::chain::{self, ChainProgress, ChainStep};
use super::contact;
use super::escalation::{self, Progress};
use super::policy::{PolicyDefinition, TargetKind};
use super::schedule::{Override, Schedule};
use super::wait::Wait;
use crate::channels::Severity;
use crate::oncall::{
    ChainInput, ChainOutcome, OncallSchedule, PageProgress, PagingRules, PersonProgress, StepInput, StepOutcome,
};

/// The rules of this crate.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rules;

/// A stored schedule that can be evaluated; `None`: this release cannot read it.
pub fn schedule(stored: &OncallSchedule) -> Option<Schedule> {
    let definition = serde_json::from_str(&stored.definition).ok()?;
    let overrides = stored.overrides.iter();
    let overrides = overrides.map(|one| Override { user: one.user, start_ns: one.start_ns, end_ns: one.end_ns });
    Schedule::new(&stored.timezone, &definition, overrides.collect()).ok()
}

impl PagingRules for Rules {
    fn is_urgent(&self, policy: &str, severity: Severity) -> Result<bool, ControlError> {
        Ok(read(policy)?.is_urgent(severity))
    }

    fn opened(&self, now_ns: i64) -> PageProgress {
        stored(Progress::opened(now_ns))
    }

    fn step(&self, input: &StepInput<'_>) -> Result<StepOutcome, ControlError> {
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
                TargetKind::Schedule => {
                    let found = input.schedules.iter().find(|one| one.id == target.id).and_then(schedule);
                    users.extend(found.and_then(|schedule| schedule.user_at(input.now_ns)).map(|(user, _)| user));
                }
                TargetKind::Team => users.extend(input.teams.get(&target.id).into_iter().flatten().copied()),
                TargetKind::User => drop(users.insert(target.id)),
                TargetKind::Channel => drop(channels.insert(target.id)),
            }
        }
        outcome.users = users.into_iter().collect();
        outcome.channels = channels.into_iter().collect();
        Ok(outcome)
    }

    fn reached(&self, now_ns: i64) -> PersonProgress {
        progress(ChainProgress::begin(now_ns))
    }

    fn chain(&self, input: &ChainInput<'_>) -> ChainOutcome {
        let steps: Vec<ChainStep> =
            input.steps.iter().map(|&(method, delay_minutes)| ChainStep { method, delay_minutes }).collect();
        let before = ChainProgress {
            passed_minutes: input.progress.passed_minutes,
            wait: Wait { until_ns: input.progress.next_ns, length_ns: input.progress.wait_ns },
        };
        let run = chain::advance(&steps, input.usable, before, input.now_ns);
        ChainOutcome { methods: run.methods, falls_back: run.falls_back, next: run.next.map(progress) }
    }

    fn delivery(&self, method_type: &str, config: &Value) -> Value {
        contact::delivery(method_type, config)
    }
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
