//! The states of monitors, and the words about their changes.

use tidewatch_domain::units::SECOND_NS;
use tidewatch_query::time;

/// State of a monitor's target, from its results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MonitorState {
    /// The latest results are good.
    Up,
    /// As many consecutive results as its threshold were bad.
    Down,
    /// Nothing is known yet, or it is paused.
    Unknown,
}

impl MonitorState {
    /// The name on the wire and in the database.
    pub fn name(self) -> &'static str {
        match self {
            MonitorState::Up => "up",
            MonitorState::Down => "down",
            MonitorState::Unknown => "unknown",
        }
    }

    pub(super) fn of_name(name: &str) -> MonitorState {
        match name {
            "up" => MonitorState::Up,
            "down" => MonitorState::Down,
            _ => MonitorState::Unknown,
        }
    }
}

/// The result of one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MonitorOutcome {
    /// It is as it should be.
    Up,
    /// It is not.
    Down,
    /// The check was not made.
    Missed,
}

impl MonitorOutcome {
    /// The name on the wire and in the database.
    pub fn name(self) -> &'static str {
        match self {
            MonitorOutcome::Up => "up",
            MonitorOutcome::Down => "down",
            MonitorOutcome::Missed => "missed",
        }
    }

    pub(super) fn of_name(name: &str) -> MonitorOutcome {
        match name {
            "up" => MonitorOutcome::Up,
            "down" => MonitorOutcome::Down,
            _ => MonitorOutcome::Missed,
        }
    }
}

/// State of a monitor, derived from its results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MonitorStanding {
    /// The state.
    pub state: MonitorState,
    /// Consecutive bad results.
    pub failures: i64,
    /// Time since which it has the state, nanoseconds since the epoch.
    pub since_ns: i64,
}

impl MonitorStanding {
    /// The standing after a result. WIRE 6: down only after `failure_threshold` consecutive bad results. One good result
    /// ends it. A check that was not made changes nothing.
    #[must_use]
    pub(super) fn after(self, outcome: MonitorOutcome, failure_threshold: i64, at_ns: i64) -> MonitorStanding {
        let (state, failures) = match outcome {
            MonitorOutcome::Missed => return self,
            MonitorOutcome::Up => (MonitorState::Up, 0),
            MonitorOutcome::Down => {
                let failures = self.failures.saturating_add(1);
                let state = if failures >= failure_threshold { MonitorState::Down } else { self.state };
                (state, failures)
            }
        };
        let since_ns = if state == self.state { self.since_ns } else { at_ns };
        MonitorStanding { state, failures, since_ns }
    }
}

/// A change of the state of a monitor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MonitorChange {
    /// Name of the monitor.
    pub name: String,
    /// The state before.
    pub before: MonitorStanding,
    /// The state since.
    pub after: MonitorStanding,
    /// Reason of the change; empty for a recovery.
    pub reason: String,
}

impl MonitorChange {
    /// Subject and body of the notification about the change.
    pub(super) fn words(&self) -> (String, String) {
        let MonitorChange { name, before, after, reason } = self;
        if after.state == MonitorState::Down {
            let at = time::to_rfc3339(after.since_ns);
            let failures = match after.failures {
                0 | 1 => String::new(),
                count => format!(" {count} consecutive checks failed."),
            };
            return (format!("{name} is down: {reason}"), format!("Down since {at}: {reason}.{failures}"));
        }
        let lasted = duration(after.since_ns.saturating_sub(before.since_ns));
        let at = time::to_rfc3339(before.since_ns);
        let body = format!("Down for {lasted}, since {at}.");
        match after.state {
            MonitorState::Up => (format!("{name} is up again after {lasted}"), body),
            _ => (format!("{name} is {reason}; it was down for {lasted}"), body),
        }
    }
}

/// A duration in its two largest units.
fn duration(duration_ns: i64) -> String {
    let seconds = duration_ns.max(0) / SECOND_NS;
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, _) => format!("{minutes} min"),
        (0, _, _) => format!("{hours} h {minutes} min"),
        _ => format!("{days} d {hours} h"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NEW: MonitorStanding = MonitorStanding { state: MonitorState::Unknown, failures: 0, since_ns: 0 };

    /// Results `u`, `d` and `m`, and the states after each: `U`, `D` and `?`.
    fn states(results: &str, failure_threshold: i64) -> String {
        let mut standing = NEW;
        let mut states = String::new();
        for (at, result) in results.chars().enumerate() {
            let outcome = match result {
                'u' => MonitorOutcome::Up,
                'd' => MonitorOutcome::Down,
                _ => MonitorOutcome::Missed,
            };
            standing = standing.after(outcome, failure_threshold, at as i64 + 1);
            states.push(match standing.state {
                MonitorState::Up => 'U',
                MonitorState::Down => 'D',
                MonitorState::Unknown => '?',
            });
        }
        states
    }

    #[test]
    fn down_after_consecutive_failures_only() {
        for (results, failure_threshold, expected) in [
            ("u", 1, "U"),
            ("d", 1, "D"),
            ("m", 1, "?"),
            ("ddd", 3, "??D"),
            ("uddu", 3, "UUUU"),
            ("udddu", 3, "UUUDU"),
            ("uddmdu", 3, "UUUUDU"),
            ("uddudd", 3, "UUUUUU"),
            ("dmmmm", 1, "DDDDD"),
            ("ddddu", 2, "?DDDU"),
        ] {
            assert_eq!(states(results, failure_threshold), expected, "{results} with {failure_threshold}");
        }
    }

    #[test]
    fn the_words_say_what_and_since_when() {
        const START: i64 = 1_780_315_200 * SECOND_NS;
        let change = |before: MonitorState, after: MonitorState, failures, reason: &str| MonitorChange {
            name: "Checkout".into(),
            before: MonitorStanding { state: before, failures: 0, since_ns: START },
            after: MonitorStanding { state: after, failures, since_ns: START + 754 * SECOND_NS },
            reason: reason.into(),
        };
        let (up, down, unknown) = (MonitorState::Up, MonitorState::Down, MonitorState::Unknown);
        for (change, subject, body) in [
            (
                change(up, down, 3, "status 503"),
                "Checkout is down: status 503",
                "Down since 2026-06-01T12:12:34Z: status 503. 3 consecutive checks failed.",
            ),
            (change(unknown, down, 1, "late"), "Checkout is down: late", "Down since 2026-06-01T12:12:34Z: late."),
            (
                change(down, up, 0, ""),
                "Checkout is up again after 12 min",
                "Down for 12 min, since 2026-06-01T12:00:00Z.",
            ),
            (
                change(down, unknown, 0, "paused"),
                "Checkout is paused; it was down for 12 min",
                "Down for 12 min, since 2026-06-01T12:00:00Z.",
            ),
        ] {
            assert_eq!(change.words(), (subject.to_owned(), body.to_owned()));
        }
        for (seconds, expected) in [(5, "5 s"), (60, "1 min"), (3660, "1 h 1 min"), (90_000, "1 d 1 h"), (-5, "0 s")] {
            assert_eq!(duration(seconds * SECOND_NS), expected);
        }
    }

    proptest! {
        /// The state equals that of a naive look at all results.
        #[test]
        fn the_state_is_that_of_all_results(results in "[udm]{0,40}", failure_threshold in 1..=10_i64) {
            let found = states(&results, failure_threshold);
            for end in 1..=results.len() {
                let mut expected = '?';
                let mut failures = 0;
                for result in results[..end].chars().filter(|result| *result != 'm') {
                    failures = if result == 'd' { failures + 1 } else { 0 };
                    match result {
                        'u' => expected = 'U',
                        _ if failures >= failure_threshold => expected = 'D',
                        _ => {}
                    }
                }
                prop_assert_eq!(found.chars().nth(end - 1), Some(expected));
            }
        }
    }
}
