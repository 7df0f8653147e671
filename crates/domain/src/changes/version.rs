//! The relation of a version of a service to a change.

/// Requests of each side that a comparison needs.
const REQUESTS: f64 = 20.0;

/// Requests and bad ones among them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Served {
    /// Requests.
    pub calls: f64,
    /// Failed requests, or those slower than usual.
    pub bad: f64,
}

/// How a version relates to a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// It is worse than the older versions in the same minutes.
    Carries,
    /// The change began when it went live; there is nothing to compare it with.
    BeganWith,
    /// The older versions are as bad: it is not named.
    Refuted,
}

impl Served {
    fn share(self) -> f64 {
        if self.calls > 0.0 { self.bad / self.calls } else { 0.0 }
    }
}

/// Relates a new version to a change. `new` and `old`: requests of the version and of all others since the change;
/// `was`: all requests before. `is_new`: whether the version was first seen within five minutes of the start.
pub fn carried_by(new: Served, old: Served, was: Served, is_new: bool) -> Option<Relation> {
    let shift = |of: Served| of.share() - was.share();
    let is_comparable = new.calls >= REQUESTS && old.calls >= REQUESTS;
    if is_comparable && z(new, old) >= 3.0 && new.share() - old.share() >= 0.5 * shift(new) {
        return Some(Relation::Carries);
    }
    if !is_new {
        return None;
    }
    let all = Served { calls: new.calls + old.calls, bad: new.bad + old.bad };
    if old.calls >= REQUESTS && z(old, was) >= 2.0 && shift(old) >= 0.5 * shift(all) {
        return Some(Relation::Refuted);
    }
    Some(Relation::BeganWith)
}

/// Two proportions: how many standard deviations the bad share of `one` is above that of `other`.
fn z(one: Served, other: Served) -> f64 {
    let pooled = (one.bad + other.bad) / (one.calls + other.calls).max(1.0);
    let variance = pooled * (1.0 - pooled) * (1.0 / one.calls.max(1.0) + 1.0 / other.calls.max(1.0));
    if variance > 0.0 { (one.share() - other.share()) / variance.sqrt() } else { 0.0 }
}
