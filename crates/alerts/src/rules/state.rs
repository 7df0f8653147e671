//! The state machine of a rule for one subject: when it fires, and when it ends.
//!
//! | state | measured | then |
//! |---|---|---|
//! | quiet | breach | pending, or firing when the required time is 0 |
//! | pending | breach for the required time | fires, unless snoozed or within the cooldown of the last firing |
//! | pending | no breach | quiet |
//! | firing | breach | stays; fires again when it has become more severe and the cooldown is over |
//! | firing | no breach | resolves |
//! | any | no data | stays; after [`NO_DATA_NS`] it resolves, or is quiet |

use tidewatch_domain::units::SECOND_NS;

use crate::channels::Severity;
use crate::rules::{RuleState, RuleStateKind};

/// Without data a state is kept for this long: data may be late. Nanoseconds.
pub const NO_DATA_NS: i64 = 3600 * SECOND_NS;
/// A last firing that is further in the future is of a clock that was wrong, and does not count.
const CLOCK_JUMP_MAX: i64 = 2 * 3600 * SECOND_NS;
/// A state without changes is stored again for its time of data after this long, nanoseconds.
const DATA_STEP_NS: i64 = 600 * SECOND_NS;

/// Result of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// Nothing.
    NoData,
    /// A value that does not breach.
    Fine,
    /// A value that breaches.
    Breach(Severity),
}

/// The terms of a rule. Nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Terms {
    /// Time for which the condition is true before the rule fires.
    pub for_ns: i64,
    /// Time between two firings.
    pub cooldown_ns: i64,
    /// Whether nothing fires.
    pub is_snoozed: bool,
}

/// Effect of a measurement on an alert.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing fires.
    Nothing,
    /// It fires still.
    Stay,
    /// It fires: people are notified.
    Fire(Severity),
    /// It ends: people are notified.
    Resolve,
}

/// The next state and what follows. `None`: no state, as before the first breach.
pub fn step(before: Option<&RuleState>, seen: Seen, terms: Terms, now_ns: i64) -> (Option<RuleState>, Outcome) {
    let Some(state) = before else {
        let Seen::Breach(severity) = seen else { return (None, Outcome::Nothing) };
        let begun = RuleState {
            kind: RuleStateKind::Pending,
            since_ns: now_ns,
            fired_ns: None,
            data_ns: now_ns,
            severity,
            marker: 0,
        };
        return due(begun, severity, terms, now_ns);
    };
    let state = *state;
    match seen {
        Seen::NoData if now_ns.saturating_sub(state.data_ns) < NO_DATA_NS => match state.kind {
            RuleStateKind::Firing => (Some(state), Outcome::Stay),
            _ => (Some(state), Outcome::Nothing),
        },
        Seen::NoData | Seen::Fine => match state.kind {
            RuleStateKind::Firing => (Some(quiet(state, now_ns)), Outcome::Resolve),
            RuleStateKind::Pending => {
                let after = state.fired_ns.map(|_| quiet(state, now_ns));
                (after, Outcome::Nothing)
            }
            RuleStateKind::Quiet => (Some(state), Outcome::Nothing),
        },
        Seen::Breach(severity) => match state.kind {
            RuleStateKind::Quiet => {
                let begun = RuleState { kind: RuleStateKind::Pending, since_ns: now_ns, data_ns: now_ns, ..state };
                due(begun, severity, terms, now_ns)
            }
            RuleStateKind::Pending => due(with_data(state, now_ns), severity, terms, now_ns),
            RuleStateKind::Firing => {
                let is_worse = severity > state.severity;
                if is_worse && may_fire(&state, terms, now_ns) {
                    fire(state, severity, now_ns)
                } else {
                    (Some(with_data(state, now_ns)), Outcome::Stay)
                }
            }
        },
    }
}

/// Fires a pending state when it is time.
fn due(state: RuleState, severity: Severity, terms: Terms, now_ns: i64) -> (Option<RuleState>, Outcome) {
    let is_due = now_ns.saturating_sub(state.since_ns) >= terms.for_ns;
    if is_due && may_fire(&state, terms, now_ns) {
        fire(RuleState { since_ns: now_ns, ..state }, severity, now_ns)
    } else {
        (Some(state), Outcome::Nothing)
    }
}

fn fire(state: RuleState, severity: Severity, now_ns: i64) -> (Option<RuleState>, Outcome) {
    let fired = RuleState { kind: RuleStateKind::Firing, fired_ns: Some(now_ns), data_ns: now_ns, severity, ..state };
    (Some(fired), Outcome::Fire(severity))
}

fn quiet(state: RuleState, now_ns: i64) -> RuleState {
    RuleState { kind: RuleStateKind::Quiet, since_ns: now_ns, data_ns: now_ns, ..state }
}

/// The state with a newer time of data, in steps, so that a state which stays is rarely stored.
fn with_data(state: RuleState, now_ns: i64) -> RuleState {
    let is_old = now_ns.saturating_sub(state.data_ns).saturating_abs() >= DATA_STEP_NS;
    RuleState { data_ns: if is_old { now_ns } else { state.data_ns }, ..state }
}

/// Whether neither a snooze nor the cooldown forbids to fire. A clock that was set back by an hour sees the last firing
/// in its future: the cooldown is not over.
pub fn may_fire(state: &RuleState, terms: Terms, now_ns: i64) -> bool {
    let is_cooling = state.fired_ns.is_some_and(|fired| {
        now_ns.saturating_sub(fired) < terms.cooldown_ns && fired.saturating_sub(now_ns) <= CLOCK_JUMP_MAX
    });
    !terms.is_snoozed && !is_cooling
}

#[cfg(test)]
mod tests;
