//! The score of one condition: excess mode and same-minutes mode.

use super::statistics::{BOUND_Z, divergence, g_test, p_value, wilson_lower, wilson_upper};
use super::table::{Counts, SampleRates};

/// Requests before the selection from which the excess is estimated.
const BEFORE_MIN: f64 = 200.0;
/// Requests in the same minutes that a comparison needs.
const REST_MIN: f64 = 20.0;
/// The strength of the prior that an unseen value is as often in the band as all, in requests.
const PRIOR: f64 = 300.0;
/// Selected requests that a condition covers at least.
pub const SUPPORT_MIN: f64 = 5.0;
/// Least share of the selection, and least explained part.
const SHARE_MIN: f64 = 0.05;

/// Baseline with which conditions are compared.
#[derive(Debug, Clone, Copy)]
pub enum Baseline {
    /// The requests of the same minutes that are not in the band.
    SameMinutes {
        /// Counts of all requests.
        all: Counts,
    },
    /// Expected content of the band if it were as before.
    Excess {
        /// Counts of all requests.
        all: Counts,
        /// The fraction of the table.
        rates: SampleRates,
        /// Share of the band before.
        rate_before: f64,
        /// Requests in the band that should not be there.
        excess: f64,
    },
    /// The five minutes before the selection.
    JustBefore {
        /// Counts of all requests.
        all: Counts,
    },
}

/// The statistics of one condition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// Divergence of the shares' bounds in nats; 0: nothing.
    pub score: f64,
    /// Part of the selection that would vanish if the condition's requests behaved like the others.
    pub explained: f64,
    /// Share of the condition in the selection, or in its excess.
    pub share: f64,
    /// P-value of the difference.
    pub p_value: f64,
    /// Selected requests.
    pub support: f64,
}

impl Score {
    /// Whether the condition counts as tested.
    pub fn is_tested(&self) -> bool {
        self.support >= SUPPORT_MIN && self.share >= SHARE_MIN
    }

    /// Whether the condition is kept among `tests` tested ones.
    pub fn is_kept(&self, tests: usize, level: f64) -> bool {
        self.is_tested()
            && self.explained >= SHARE_MIN
            && self.score > 0.0
            && self.p_value <= level / tests.max(1) as f64
    }
}

impl Baseline {
    /// Excess mode when enough is known of the time before, and the excess is real.
    pub fn excess(all: Counts, rates: SampleRates) -> Option<Baseline> {
        let (before, before_band) = (all.before(), all.selected_before());
        if before < BEFORE_MIN || all.selected() <= 0.0 {
            return None;
        }
        let rate_before = before_band / before;
        let (selected, on) = (all.selected() / rates.selected, all.on(rates));
        let excess = selected - rate_before * on;
        let variance = selected / rates.selected + (on / before).powi(2) * before_band;
        let is_real = excess >= 3.0 * variance.sqrt() || excess >= 0.3 * selected;
        (is_real && excess > 0.0).then_some(Baseline::Excess { all, rates, rate_before, excess })
    }

    /// Same-minutes mode when there are requests to compare with.
    pub fn same_minutes(all: Counts) -> Option<Baseline> {
        (all.rest() >= REST_MIN).then_some(Baseline::SameMinutes { all })
    }

    /// The score of a condition with these counts.
    pub fn score(&self, counts: Counts) -> Score {
        let support = counts.selected();
        match *self {
            Baseline::SameMinutes { all } => shares(support, all.selected(), counts.rest(), all.rest()),
            Baseline::JustBefore { all } => shares(support, all.selected(), counts.just_before(), all.just_before()),
            Baseline::Excess { all, rates, rate_before, excess } => {
                let covered = counts.on(rates);
                // Counts before are of one sample: their ratio needs no rate.
                let strength = counts.before() + PRIOR;
                let rate = (counts.selected_before() + PRIOR * rate_before) / strength;
                // Requests of a kind that always was in the band more often are excess too when they became more.
                let usual = all.on(rates) * counts.before() / all.before();
                let as_before = if rate > rate_before { covered.min(usual) } else { covered };
                let more = covered - as_before;
                let above = support / rates.selected - as_before * rate - more * rate_before;
                let variance = support.max(1.0) / (rates.selected * rates.selected)
                    + (as_before * as_before * rate + more * more * rate_before) / strength;
                let deviation = variance.sqrt();
                let share = (above / excess).clamp(0.0, 1.0);
                let lower = ((above - BOUND_Z * deviation) / excess).clamp(1e-9, 1.0 - 1e-6);
                let expected = covered / all.on(rates);
                Score {
                    score: divergence(lower, expected),
                    explained: explained(share, expected),
                    share,
                    p_value: p_value((above - expected * excess) / deviation),
                    support,
                }
            }
        }
    }
}

/// `a` of `n` selected requests against `b` of `m` others.
fn shares(a: f64, n: f64, b: f64, m: f64) -> Score {
    let (share, other) = (a / n, b / m);
    Score {
        score: divergence(wilson_lower(a, n, BOUND_Z), wilson_upper(b, m, BOUND_Z)),
        explained: explained(share, other),
        share,
        p_value: g_test(a, n, b, m),
        support: a,
    }
}

fn explained(share: f64, other: f64) -> f64 {
    if other < 1.0 { (share - other) / (1.0 - other) } else { 0.0 }
}
