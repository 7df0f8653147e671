//! Explicit bounds for exponential histograms. DECISIONS 16; docs/decisions/0013.
//!
//! A bound is `2^(index / 2^scale)`, computed from the fraction in lowest terms. So bounds of one value have equal bits at
//! every scale, and the buckets of a finer scale nest exactly in those of a coarser one.

use bumpalo::Bump;
use bumpalo::collections::Vec as ArenaVec;

use crate::model::{ExponentialBuckets, ExponentialHistogramPoint};

/// Supported scales: those of OpenTelemetry SDKs (-10 to 20) and Prometheus (-4 to 8).
const SCALES: std::ops::RangeInclusive<i32> = -11..=20;

/// Maximum buckets with measurements that are stored of one sign of a point. SDKs send at most 160 by default.
const BUCKETS_MAX: usize = 640;

/// The buckets of a histogram with explicit bounds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ExplicitBuckets<'a> {
    /// Finite, strictly ascending upper bounds; one fewer than `counts`, or both empty.
    pub bounds: &'a [f64],
    /// Count of each bucket.
    pub counts: &'a [u64],
}

/// The buckets of a point with measurements, as explicit buckets; empty ones between them are merged. A point with more
/// than 640 of a sign is stored at the finest scale that needs no more. No buckets when there are no measurements, or
/// when the scale or the zero threshold is invalid.
pub fn explicit_buckets<'a>(point: &ExponentialHistogramPoint<'_>, arena: &'a Bump) -> ExplicitBuckets<'a> {
    let threshold = point.zero_threshold;
    let is_valid = SCALES.contains(&point.scale) && threshold >= 0.0 && threshold.is_finite();
    if !is_valid {
        return ExplicitBuckets::default();
    }
    let mut explicit = Explicit { bounds: ArenaVec::new_in(arena), counts: ArenaVec::new_in(arena) };
    let negative: Vec<Cell> = cells(point.negative, point.scale);
    for cell in negative.iter().rev() {
        explicit.push(-cell.to, -cell.from, cell.count);
    }
    if point.zero_count > 0 {
        // Zero has no width of its own; without negative measurements the bucket begins at zero.
        let from = if threshold > 0.0 { -threshold } else { -f64::MIN_POSITIVE };
        match negative.is_empty() {
            true => explicit.push_first(threshold, point.zero_count),
            false => explicit.push(from, threshold, point.zero_count),
        }
    }
    for cell in cells(point.positive, point.scale) {
        explicit.push(cell.from, cell.to, cell.count);
    }
    explicit.finish()
}

/// A bucket with measurements above `from` and at most `to`.
struct Cell {
    from: f64,
    to: f64,
    count: u64,
}

/// The buckets with measurements, ascending.
fn cells(buckets: ExponentialBuckets<'_>, scale: i32) -> Vec<Cell> {
    let filled = || {
        let indexes = (i64::from(buckets.offset)..).zip(buckets.counts);
        indexes.filter(|(_, count)| **count > 0).map(|(index, count)| (index, *count))
    };
    // Bucket `i` at one scale is a part of bucket `i >> n` at the scale that is less by `n`.
    let count_at = |shift: u32| {
        let mut last = None;
        filled().filter(|(index, _)| last.replace(index >> shift) != Some(index >> shift)).count()
    };
    let shift = (0..32).find(|shift| count_at(*shift) <= BUCKETS_MAX).unwrap_or(32);
    let scale = scale - shift.cast_signed();
    let mut cells: Vec<(i64, u64)> = Vec::new();
    for (index, count) in filled().map(|(index, count)| (index >> shift, count)) {
        match cells.last_mut() {
            Some(last) if last.0 == index => last.1 = last.1.saturating_add(count),
            _ => cells.push((index, count)),
        }
    }
    let cell = |(index, count)| Cell { from: bound(index, scale), to: bound(index + 1, scale), count };
    cells.into_iter().map(cell).collect()
}

/// `2^(index / 2^scale)`, at most the greatest double.
fn bound(index: i64, scale: i32) -> f64 {
    let common = index.trailing_zeros().cast_signed().min(scale).max(0);
    let (index, scale) = (index >> common, scale - common);
    let exponent = index as f64 * f64::from(-scale).exp2();
    exponent.exp2().min(f64::MAX)
}

struct Explicit<'a> {
    bounds: ArenaVec<'a, f64>,
    counts: ArenaVec<'a, u64>,
}

impl<'a> Explicit<'a> {
    /// Adds the first bucket, which has no lower bound.
    fn push_first(&mut self, to: f64, count: u64) {
        self.bounds.push(to);
        self.counts.push(count);
    }

    /// Adds a bucket. The part below the last bound belongs to the buckets before; a bucket without another part is
    /// merged with the last one.
    fn push(&mut self, from: f64, to: f64, count: u64) {
        if self.bounds.last().is_none_or(|last| *last < from) {
            self.push_first(from, 0);
        }
        match (self.bounds.last(), self.counts.last_mut()) {
            (Some(last), Some(last_count)) if to <= *last => *last_count = last_count.saturating_add(count),
            _ => self.push_first(to, count),
        }
    }

    fn finish(mut self) -> ExplicitBuckets<'a> {
        if self.bounds.is_empty() {
            return ExplicitBuckets::default();
        }
        self.counts.push(0);
        ExplicitBuckets { bounds: self.bounds.into_bump_slice(), counts: self.counts.into_bump_slice() }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn buckets(offset: i32, counts: &[u64]) -> ExponentialBuckets<'_> {
        ExponentialBuckets { offset, counts }
    }

    #[track_caller]
    fn check(point: ExponentialHistogramPoint<'_>, bounds: &[f64], counts: &[u64]) {
        let arena = Bump::new();
        assert_eq!(explicit_buckets(&point, &arena), ExplicitBuckets { bounds, counts }, "{point:?}");
    }

    // The OpenTelemetry data model: bucket i holds values above base^i and at most base^(i+1).
    #[test]
    fn buckets_have_the_bounds_of_their_scale() {
        let point = ExponentialHistogramPoint::default();
        check(point, &[], &[]);
        check(
            ExponentialHistogramPoint { positive: buckets(0, &[3, 0, 5]), ..point },
            &[1.0, 2.0, 4.0, 8.0],
            &[0, 3, 0, 5, 0],
        );
        check(ExponentialHistogramPoint { positive: buckets(-1, &[0, 2]), ..point }, &[1.0, 2.0], &[0, 2, 0]);
        let half = 2_f64.sqrt();
        check(
            ExponentialHistogramPoint { scale: 1, positive: buckets(0, &[1, 1]), ..point },
            &[1.0, half, 2.0],
            &[0, 1, 1, 0],
        );
        check(ExponentialHistogramPoint { scale: -1, positive: buckets(1, &[7]), ..point }, &[4.0, 16.0], &[0, 7, 0]);
        check(ExponentialHistogramPoint { negative: buckets(0, &[3, 5]), ..point }, &[-4.0, -2.0, -1.0], &[0, 5, 3, 0]);
    }

    #[test]
    fn zeros_are_a_bucket() {
        let point = ExponentialHistogramPoint { zero_count: 4, ..ExponentialHistogramPoint::default() };
        check(point, &[0.0], &[4, 0]);
        check(ExponentialHistogramPoint { positive: buckets(0, &[1]), ..point }, &[0.0, 1.0, 2.0], &[4, 0, 1, 0]);
        check(
            ExponentialHistogramPoint { zero_threshold: 0.5, positive: buckets(-1, &[1]), ..point },
            &[0.5, 1.0],
            &[4, 1, 0],
        );
        let both = ExponentialHistogramPoint { negative: buckets(0, &[2]), positive: buckets(0, &[1]), ..point };
        check(both, &[-2.0, -1.0, -f64::MIN_POSITIVE, 0.0, 1.0, 2.0], &[0, 2, 0, 4, 0, 1, 0]);
        // A threshold above the first buckets: their counts stay.
        let above = ExponentialHistogramPoint { zero_threshold: 3.0, positive: buckets(0, &[1, 2]), ..point };
        check(above, &[3.0, 4.0], &[5, 2, 0]);
    }

    #[test]
    fn invalid_points_have_no_buckets() {
        let point = ExponentialHistogramPoint { positive: buckets(0, &[1]), ..ExponentialHistogramPoint::default() };
        for scale in [i32::MIN, -12, 21, i32::MAX] {
            check(ExponentialHistogramPoint { scale, ..point }, &[], &[]);
        }
        for zero_threshold in [-1.0, f64::NAN, f64::INFINITY] {
            check(ExponentialHistogramPoint { zero_threshold, ..point }, &[], &[]);
        }
    }

    #[test]
    fn bounds_at_the_limits_of_doubles_are_finite() {
        let point = ExponentialHistogramPoint::default();
        let tiny = f64::from_bits(1);
        check(
            ExponentialHistogramPoint { positive: buckets(1023, &[1, 1]), ..point },
            &[2_f64.powi(1023), f64::MAX],
            &[0, 2, 0],
        );
        check(ExponentialHistogramPoint { positive: buckets(i32::MAX, &[1]), ..point }, &[f64::MAX], &[1, 0]);
        check(ExponentialHistogramPoint { positive: buckets(-1075, &[1]), ..point }, &[0.0, tiny], &[0, 1, 0]);
        check(ExponentialHistogramPoint { positive: buckets(i32::MIN, &[1]), ..point }, &[0.0], &[1, 0]);
    }

    proptest! {
        #[test]
        fn any_point_has_valid_buckets_and_keeps_its_counts(
            scale in -13..22_i32,
            offsets in (any::<i32>(), -300..300_i32),
            counts in (prop::collection::vec(0..9_u64, 0..2000), prop::collection::vec(0..9_u64, 0..20)),
            zero_count in 0..3_u64,
            zero_threshold in prop_oneof![Just(0.0), 0.0..1e3, any::<f64>()],
        ) {
            let point = ExponentialHistogramPoint {
                scale,
                zero_count,
                zero_threshold,
                positive: buckets(offsets.1, &counts.0),
                negative: buckets(offsets.0, &counts.1),
                ..ExponentialHistogramPoint::default()
            };
            let arena = Bump::new();
            let ExplicitBuckets { bounds, counts: found } = explicit_buckets(&point, &arena);
            prop_assert!(bounds.iter().all(|bound| bound.is_finite()));
            prop_assert!(bounds.is_sorted_by(|left, right| left < right), "{bounds:?}");
            if !bounds.is_empty() {
                let all: u64 = counts.0.iter().chain(&counts.1).sum();
                prop_assert_eq!((found.len(), found.iter().sum::<u64>()), (bounds.len() + 1, all + zero_count));
            }
        }

        /// A coarser scale has a part of the bounds of a finer one, with equal bits.
        #[test]
        fn bounds_nest(index in -100_000..100_000_i64, scale in -10..20_i32) {
            prop_assert_eq!(bound(index, scale).to_bits(), bound(2 * index, scale + 1).to_bits());
        }
    }
}
