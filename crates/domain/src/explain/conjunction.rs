//! Two conditions that explain the selection only together.

use super::score::{Baseline, Score};
use super::search::{Candidate, Search};
use super::statistics::two_proportions;
use super::table::{Condition, Counts, Set};

/// Two conditions, and the statistics of the requests that meet both.
pub struct Pair {
    pub first: Condition,
    pub second: Condition,
    pub counts: Counts,
    pub score: Score,
}

/// First conditions that are tried, and second ones for each.
const TRIED: usize = 3;

/// The best pair that explains clearly more than each of its conditions.
pub fn conjunction(search: &Search<'_>, baseline: &Baseline, kept: &[Candidate]) -> Option<Pair> {
    let best = kept.first()?;
    let mut found: Option<Pair> = None;
    for first in kept.iter().take(TRIED) {
        let within = search.within(first.condition);
        let Some(inner) = Baseline::same_minutes(within.remaining()) else { continue };
        let seconds = within.kept(&inner).into_iter().filter(|second| {
            second.condition.column != first.condition.column
                && second.score.share >= 0.5
                && second.score.explained >= 0.3
                && overlap_on(search, first.condition, second.condition) <= 0.8
        });
        for second in seconds.take(TRIED) {
            let pair = pair(search, baseline, first, &second);
            let names_best = [first.condition, second.condition].into_iter().any(|one| {
                one == best.condition
                    || [Set::Selected, Set::Rest].iter().all(|&set| search.overlap(one, best.condition, set) >= 0.95)
            });
            let factor = if names_best { 0.8 } else { 1.1 };
            let least = factor * best.score.score;
            let is_pair = pair.score.explained >= 0.85 * first.score.explained.max(best.score.explained)
                && pair.score.score >= least
                && is_more_than_each(search, first.condition, second.condition, &pair);
            if is_pair && found.as_ref().is_none_or(|found| pair.score.score > found.score.score) {
                found = Some(pair);
            }
        }
    }
    found
}

fn pair(search: &Search<'_>, baseline: &Baseline, first: &Candidate, second: &Candidate) -> Pair {
    let counts = search
        .count(|request| search.table.holds(first.condition, request) && search.table.holds(second.condition, request));
    Pair { first: first.condition, second: second.condition, counts, score: baseline.score(counts) }
}

/// Whether the band holds more of the requests with both conditions than of those with only one of them.
fn is_more_than_each(search: &Search<'_>, first: Condition, second: Condition, pair: &Pair) -> bool {
    let holds = |condition, request| search.table.holds(condition, request);
    let only_first = search.count(|request| holds(first, request) && !holds(second, request));
    let only_second = search.count(|request| !holds(first, request) && holds(second, request));
    let rates = search.table.rates;
    let rate = |counts: Counts| {
        let on = counts.on(rates);
        if on > 0.0 { counts.selected() / rates.selected / on } else { 0.0 }
    };
    [only_first, only_second].into_iter().all(|other| {
        let (a, n) = (pair.counts.selected(), pair.counts.selected() + pair.counts.rest());
        let (b, m) = (other.selected(), other.selected() + other.rest());
        rate(pair.counts) >= 1.5 * rate(other) && two_proportions(a, n, b, m) >= 3.9
    })
}

/// Jaccard index of two conditions in the selected minutes.
fn overlap_on(search: &Search<'_>, a: Condition, b: Condition) -> f64 {
    let count = |holds: &dyn Fn(usize) -> bool| {
        let counts = search.count(holds);
        counts.selected() + counts.rest()
    };
    let both = count(&|request| search.table.holds(a, request) && search.table.holds(b, request));
    let either = count(&|request| search.table.holds(a, request) || search.table.holds(b, request));
    if either > 0.0 { both / either } else { 1.0 }
}
