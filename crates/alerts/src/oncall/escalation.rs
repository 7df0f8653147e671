//! Which step of a policy runs when.

use tidewatch_domain::units::MINUTE_NS;

use super::policy::PolicyDefinition;
use super::wait::Wait;

/// Where an open page is in its policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The step that runs next.
    pub step: usize,
    /// Number of complete runs of all steps.
    pub round: i64,
    /// Until the step runs; `None`: nothing runs.
    pub wait: Option<Wait>,
}

impl Progress {
    /// A page that was opened now: its first step is due.
    pub fn opened(now_ns: i64) -> Progress {
        Progress { step: 0, round: 0, wait: Some(Wait::begin(now_ns, 0)) }
    }
}

/// Advances a page by at most one step. Returns the step to run, if one is due, and the progress afterwards.
pub fn advance(policy: &PolicyDefinition, progress: Progress, now_ns: i64) -> (Option<usize>, Progress) {
    let Some(wait) = progress.wait.map(|wait| wait.bounded(now_ns)) else { return (None, progress) };
    if !wait.is_over(now_ns) {
        return (None, Progress { wait: Some(wait), ..progress });
    }
    let Some(step) = policy.steps.get(progress.step) else {
        return (None, Progress { wait: None, ..progress });
    };
    let wait = Some(Wait::begin(now_ns, step.delay_minutes * MINUTE_NS));
    let next = if progress.step + 1 < policy.steps.len() {
        Progress { step: progress.step + 1, round: progress.round, wait }
    } else if progress.round < policy.repeat {
        Progress { step: 0, round: progress.round + 1, wait }
    } else {
        Progress { step: progress.step + 1, round: progress.round, wait: None }
    };
    (Some(progress.step), next)
}

#[cfg(test)]
mod tests {
    use super::super::policy::{Step, StepTarget, TargetKind, UrgencyRule};
    use super::*;

    fn policy(delays: &[i64], repeat: i64) -> PolicyDefinition {
        let target = StepTarget { kind: TargetKind::User, id: 1 };
        let steps = delays.iter().map(|&delay_minutes| Step { targets: vec![target], delay_minutes }).collect();
        PolicyDefinition { schema_version: 1, steps, repeat, urgency: UrgencyRule::Auto }
    }

    /// The minutes at which steps run when the page is looked at in these minutes.
    fn runs(policy: &PolicyDefinition, minutes: impl IntoIterator<Item = i64>) -> Vec<(i64, usize)> {
        let mut progress = Progress::opened(0);
        let mut found = Vec::new();
        for minute in minutes {
            let (ran, next) = advance(policy, progress, minute * MINUTE_NS);
            found.extend(ran.map(|step| (minute, step)));
            progress = next;
        }
        found
    }

    #[test]
    fn steps_run_after_their_delays_and_repeat() {
        for (delays, repeat, expected) in [
            (vec![5], 0, vec![(0, 0)]),
            (vec![5, 10], 0, vec![(0, 0), (5, 1)]),
            (vec![5, 10, 1], 0, vec![(0, 0), (5, 1), (15, 2)]),
            (vec![5], 2, vec![(0, 0), (5, 0), (10, 0)]),
            (vec![5, 10], 1, vec![(0, 0), (5, 1), (15, 0), (20, 1)]),
        ] {
            assert_eq!(runs(&policy(&delays, repeat), 0..200), expected, "{delays:?} repeat {repeat}");
        }
    }

    // A clock that jumps an hour either way causes no storm: one step early, or a step after its whole delay again.
    #[test]
    fn a_jump_of_the_clock_runs_at_most_one_step_early() {
        let policy = policy(&[5, 5, 5, 5], 5);
        let ahead = runs(&policy, (0..3).chain(63..75));
        assert_eq!(ahead, [(0, 0), (63, 1), (68, 2), (73, 3)]);
        let mut progress = Progress::opened(100 * MINUTE_NS);
        let mut found = Vec::new();
        for minute in (100..103).chain(43..55) {
            let (ran, next) = advance(&policy, progress, minute * MINUTE_NS);
            found.extend(ran.map(|step| (minute, step)));
            progress = next;
        }
        assert_eq!(found, [(100, 0), (48, 1), (53, 2)]);
    }

    // A server that was down runs one step when it is back, and the next one after the delay.
    #[test]
    fn after_an_outage_one_step_runs() {
        assert_eq!(runs(&policy(&[5, 5, 5], 0), [0, 500, 501, 504, 505]), [(0, 0), (500, 1), (505, 2)]);
    }
}
