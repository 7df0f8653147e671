//! Cuts of numbers.

use super::score::{Baseline, Score};
use super::table::{Condition, Counts, Predicate, Set};

/// A cut is chosen among many: it counts as this many tests.
pub const TESTS: usize = 4;
/// Buckets per power of two.
const BUCKETS: f64 = 8.0;

/// The bucket of a number: logarithmic on both sides of zero.
fn bucket(number: f64) -> i64 {
    // Smaller numbers are zero: their logarithms would spread over hundreds of buckets.
    const SMALLEST: f64 = 1e-9;
    let magnitude = number.abs();
    if magnitude < SMALLEST {
        return 0;
    }
    let bucket = ((magnitude / SMALLEST).log2() * BUCKETS).floor() as i64 + 1;
    if number < 0.0 { -bucket } else { bucket }
}

/// The best cut of a column of numbers: `>= cut` or `< cut`, and its counts.
///
/// `requests` are the places of the requests that are compared. A cut is the least number of its bucket.
pub fn best_cut(
    column: usize,
    numbers: &[f64],
    sets: &[Set],
    requests: &[u32],
    baseline: &Baseline,
) -> Option<(Condition, Counts, Score)> {
    let mut buckets = std::collections::BTreeMap::<i64, (f64, Counts)>::new();
    for &request in requests {
        let number = numbers[request as usize];
        if !number.is_nan() {
            let (least, counts) = buckets.entry(bucket(number)).or_insert((f64::INFINITY, Counts::default()));
            *least = least.min(number);
            counts.add(sets[request as usize]);
        }
    }
    let all = buckets.values().fold(Counts::default(), |sum, (_, counts)| sum.plus(*counts));
    let mut best: Option<(Condition, Counts, Score)> = None;
    let mut below = Counts::default();
    for (place, (least, counts)) in buckets.values().enumerate() {
        if place > 0 {
            for (predicate, counts) in
                [(Predicate::AtLeast(*least), all.minus(below)), (Predicate::LessThan(*least), below)]
            {
                let score = baseline.score(counts);
                let is_better = best
                    .as_ref()
                    .is_none_or(|(.., best)| (score.is_tested(), score.score) > (best.is_tested(), best.score));
                if is_better {
                    best = Some((Condition { column, predicate }, counts, score));
                }
            }
        }
        below = below.plus(*counts);
    }
    best
}
