//! The state of an Issue: the decision of a user, and what occurred since. Issues: states, regressions.
//!
//! | decision | the Issue is in this state | then |
//! |---|---|---|
//! | none | always | open |
//! | resolved | until it occurs again | regressed |
//! | resolved in the next version | until it occurs in a later version, or without a version | regressed |
//! | muted | until the time or the number of occurrences, whichever is first | open |
//! | archived | until it occurs again | open |

/// Decision of a user about an Issue. Times are nanoseconds since the epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// It is resolved in every version.
    Resolved,
    /// It is resolved in versions that are first seen after the decision.
    ResolvedInNextVersion,
    /// It is hidden for a while. Without both bounds it stays muted.
    Muted {
        /// The end of the mute, exclusive.
        until_ns: Option<i64>,
        /// The number of occurrences since the decision that ends the mute.
        until_count: Option<u64>,
    },
    /// It is hidden until it occurs again.
    Archived,
}

/// Occurrences after the time of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Since {
    /// Whether it occurred.
    pub occurred: bool,
    /// Occurrences, weighted by sampling. Used for mutes only.
    pub count: f64,
    /// Whether it occurred in a version that was first seen after the decision, or without a version.
    pub in_later_version: bool,
}

/// The state of an Issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// Nobody has decided, or the decision no longer holds.
    Open,
    /// It occurred again after it was resolved.
    Regressed,
    /// See [`Decision::Resolved`].
    Resolved,
    /// See [`Decision::ResolvedInNextVersion`].
    ResolvedInNextVersion,
    /// See [`Decision::Muted`].
    Muted,
    /// See [`Decision::Archived`].
    Archived,
}

/// The state at the time `now_ns` of an Issue with a decision.
pub fn issue_state(decision: Decision, since: Since, now_ns: i64) -> State {
    match decision {
        Decision::Resolved if since.occurred => State::Regressed,
        Decision::Resolved => State::Resolved,
        // An occurrence without a version may be of a later one. It is not hidden.
        Decision::ResolvedInNextVersion if since.in_later_version => State::Regressed,
        Decision::ResolvedInNextVersion => State::ResolvedInNextVersion,
        Decision::Muted { until_ns, until_count } => {
            let is_over = until_ns.is_some_and(|until| until <= now_ns)
                || until_count.is_some_and(|until| since.count >= until as f64);
            if is_over { State::Open } else { State::Muted }
        }
        Decision::Archived if since.occurred => State::Open,
        Decision::Archived => State::Archived,
    }
}

impl State {
    /// Whether lists show the Issue by default.
    pub fn is_open(self) -> bool {
        matches!(self, State::Open | State::Regressed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1000;

    #[track_caller]
    fn check(decision: Decision, count: f64, in_later_version: bool, expected: State) {
        let since = Since { occurred: count > 0.0, count, in_later_version };
        assert_eq!(issue_state(decision, since, NOW), expected, "{decision:?} {since:?}");
    }

    #[test]
    fn state_table() {
        use Decision::{Archived, Resolved, ResolvedInNextVersion};
        check(Resolved, 0.0, false, State::Resolved);
        check(Resolved, 1.0, false, State::Regressed);
        check(Resolved, 0.5, true, State::Regressed);
        check(ResolvedInNextVersion, 0.0, false, State::ResolvedInNextVersion);
        check(ResolvedInNextVersion, 9.0, false, State::ResolvedInNextVersion);
        check(ResolvedInNextVersion, 1.0, true, State::Regressed);
        check(Archived, 0.0, false, State::Archived);
        check(Archived, 1.0, false, State::Open);
    }

    #[test]
    fn mute_table() {
        let muted = |until_ns, until_count| Decision::Muted { until_ns, until_count };
        check(muted(Some(NOW + 1), None), 5.0, true, State::Muted);
        check(muted(Some(NOW), None), 0.0, false, State::Open);
        check(muted(None, Some(10)), 9.5, false, State::Muted);
        check(muted(None, Some(10)), 10.0, false, State::Open);
        check(muted(Some(NOW + 1), Some(10)), 10.0, false, State::Open);
        check(muted(Some(NOW), Some(10)), 1.0, false, State::Open);
        check(muted(Some(NOW + 1), Some(10)), 1.0, false, State::Muted);
        check(muted(None, None), 1e9, true, State::Muted);
    }

    #[test]
    fn only_open_and_regressed_issues_are_shown() {
        let shown = [State::Open, State::Regressed];
        let hidden = [State::Resolved, State::ResolvedInNextVersion, State::Muted, State::Archived];
        assert!(shown.into_iter().all(State::is_open) && !hidden.into_iter().any(State::is_open));
    }
}
