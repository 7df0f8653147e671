//! A sketch of a distribution of integers: counts per logarithmic bucket.
//!
//! Every power of two is divided into 64 buckets of equal width, so that a bucket's middle is within 1/128 of each of
//! its values: the relative error of a quantile is below 0.8 %. Integers below 128 have a bucket each and are exact.
//! Sketches are merged by adding counts; counts are weights and need not be integers.

use crate::rollup::samples::quantiles_of_ascending;

/// Buckets of one power of two.
const SLICES: i16 = 64;
/// Beyond every bucket, on either side: damaged bytes must not create an arbitrarily large sketch.
const BUCKET_MAX: i16 = 64 * SLICES;
/// Low bits of a double's mantissa, which do not affect the bucket.
const SHIFT: u32 = 52 - 6;
/// Offset that puts 1 in bucket 1.
const BELOW_ONE: i64 = (1023 << 6) - 1;

/// The bucket of a value: 0 for zero, ascending with the value, negated for negative values.
pub fn bucket_of(value: i64) -> i16 {
    // A double has 53 significant bits, more than a bucket, so rounding moves a value at most across a bucket's edge.
    let bits = (value.unsigned_abs() as f64).to_bits();
    if value == 0 {
        return 0;
    }
    let bucket = ((bits >> SHIFT) as i64 - BELOW_ONE) as i16;
    if value < 0 { -bucket } else { bucket }
}

/// The least integer of a bucket; that of a negative one is the least in magnitude.
pub fn least_of(bucket: i16) -> i64 {
    if bucket == 0 {
        return 0;
    }
    let low = f64::from_bits(((i64::from(bucket.unsigned_abs()) + BELOW_ONE) as u64) << SHIFT).ceil();
    if bucket < 0 { -(low as i64) } else { low as i64 }
}

/// The value that represents a bucket: the middle of its integers.
pub fn middle_of(bucket: i16) -> f64 {
    if bucket == 0 {
        return 0.0;
    }
    let low = f64::from_bits(((i64::from(bucket.unsigned_abs()) + BELOW_ONE) as u64) << SHIFT);
    let octave = f64::from_bits(low.to_bits() >> 52 << 52);
    // The integers low, low + 1 … low + width - 1.
    let width = (octave / f64::from(SLICES)).max(1.0);
    let middle = low + (width - 1.0) / 2.0;
    if bucket < 0 { -middle } else { middle }
}

/// Counts of buckets. Most groups of a query have few values, which take less memory and time as a list.
#[derive(Debug, Clone)]
pub struct Sketch(Counts);

#[derive(Debug, Clone)]
enum Counts {
    /// Buckets in any order, some of them several times; at most [`FEW`].
    Few(Vec<(i16, f64)>),
    /// Counts of consecutive buckets.
    Many {
        /// Bucket of the first count; a multiple of [`SLICES`].
        first: i16,
        counts: Vec<f64>,
    },
}

/// Buckets of the list: 512 bytes.
const FEW: usize = 32;

impl Default for Sketch {
    fn default() -> Sketch {
        Sketch(Counts::Few(Vec::new()))
    }
}

impl Sketch {
    /// Adds `weight` copies of a value; does nothing when the weight is not positive.
    pub fn add(&mut self, value: i64, weight: f64) {
        if weight > 0.0 {
            self.add_bucket(bucket_of(value), weight);
        }
    }

    /// Adds `weight` to the count of a bucket; buckets beyond those of all values are clamped.
    #[inline]
    pub fn add_bucket(&mut self, bucket: i16, weight: f64) {
        match &mut self.0 {
            Counts::Few(list) if list.len() < FEW => {
                if weight > 0.0 {
                    list.push((bucket.clamp(-BUCKET_MAX, BUCKET_MAX), weight));
                }
            }
            Counts::Few(_) => {
                self.count();
                self.add_bucket(bucket, weight);
            }
            Counts::Many { first, counts } => {
                // A bucket below the first wraps to a large index.
                let at = (i32::from(bucket) - i32::from(*first)) as u32 as usize;
                if let Some(count) = counts.get_mut(at) {
                    *count += weight;
                } else {
                    let bucket = bucket.clamp(-BUCKET_MAX, BUCKET_MAX);
                    reach(first, counts, bucket);
                    counts[(i32::from(bucket) - i32::from(*first)) as usize] += weight;
                }
            }
        }
    }

    /// Reads steps up to the first byte that is not below `end`. Each step is added to `bucket`, and the count of that
    /// bucket is incremented. Returns the number of steps read; `bucket` is then the last bucket.
    pub fn add_ones(&mut self, bucket: &mut i16, steps: &[u8], end: u8) -> usize {
        let ones = steps.iter().position(|step| *step >= end).unwrap_or(steps.len());
        if matches!(&self.0, Counts::Few(list) if list.len() + ones > FEW) {
            self.count();
        }
        match &mut self.0 {
            Counts::Few(list) => {
                for step in &steps[..ones] {
                    *bucket = bucket.wrapping_add(i16::from(*step));
                    list.push(((*bucket).clamp(-BUCKET_MAX, BUCKET_MAX), 1.0));
                }
            }
            Counts::Many { first, counts } => {
                let mut at = i32::from(*bucket) - i32::from(*first);
                for step in &steps[..ones] {
                    at += i32::from(*step);
                    if let Some(count) = counts.get_mut(at as u32 as usize) {
                        *count += 1.0;
                    } else {
                        let bucket = ((at + i32::from(*first)) as i16).clamp(-BUCKET_MAX, BUCKET_MAX);
                        reach(first, counts, bucket);
                        at = i32::from(bucket) - i32::from(*first);
                        counts[at as usize] += 1.0;
                    }
                }
                *bucket = (at + i32::from(*first)) as i16;
            }
        }
        ones
    }

    /// Turns the list into counts.
    #[cold]
    fn count(&mut self) {
        let Counts::Few(list) = &mut self.0 else { return };
        let list = std::mem::take(list);
        let (mut first, mut counts) = (0, Vec::new());
        let ends = [list.iter().map(|(bucket, _)| *bucket).min(), list.iter().map(|(bucket, _)| *bucket).max()];
        ends.into_iter().flatten().for_each(|bucket| reach(&mut first, &mut counts, bucket));
        self.0 = Counts::Many { first, counts };
        list.into_iter().for_each(|(bucket, count)| self.add_bucket(bucket, count));
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Sketch) {
        match &other.0 {
            Counts::Few(list) => list.iter().for_each(|(bucket, count)| self.add_bucket(*bucket, *count)),
            Counts::Many { first, counts } => {
                counted(*first, counts).for_each(|(bucket, count)| self.add_bucket(bucket, count));
            }
        }
    }

    /// Buckets with their positive counts, ascending.
    pub fn buckets(&self) -> Vec<(i16, f64)> {
        match &self.0 {
            Counts::Few(list) => {
                let mut ascending = list.clone();
                ascending.sort_unstable_by_key(|(bucket, _)| *bucket);
                ascending.dedup_by(|next, kept| {
                    let is_same = next.0 == kept.0;
                    kept.1 += if is_same { next.1 } else { 0.0 };
                    is_same
                });
                ascending
            }
            Counts::Many { first, counts } => counted(*first, counts).collect(),
        }
    }

    /// Bytes allocated on the heap.
    pub fn bytes(&self) -> usize {
        match &self.0 {
            Counts::Few(list) => list.capacity() * size_of::<(i16, f64)>(),
            Counts::Many { counts, .. } => counts.capacity() * size_of::<f64>(),
        }
    }

    /// Like [`Samples::quantiles`](super::samples::Samples::quantiles) (WIRE 8.1), with every value moved to the middle
    /// of its bucket. `None` without values.
    pub fn quantiles(&self, qs: &[f64]) -> Option<Vec<f64>> {
        let values: Vec<(f64, f64)> =
            self.buckets().into_iter().map(|(bucket, count)| (middle_of(bucket), count)).collect();
        (!values.is_empty()).then(|| quantiles_of_ascending(&values, qs))
    }
}

fn counted(first: i16, counts: &[f64]) -> impl Iterator<Item = (i16, f64)> {
    let positive = counts.iter().enumerate().filter(|(_, count)| **count > 0.0);
    positive.map(move |(at, count)| (first + at as i16, *count))
}

/// Extends `counts` to this bucket, by whole powers of two at either end.
#[cold]
fn reach(first: &mut i16, counts: &mut Vec<f64>, bucket: i16) {
    let start = bucket.div_euclid(SLICES) * SLICES;
    if counts.is_empty() {
        *first = start;
    }
    if start < *first {
        let more = (*first - start) as usize;
        counts.splice(0..0, std::iter::repeat_n(0.0, more));
        *first = start;
    }
    let end = (i32::from(start) + i32::from(SLICES) - i32::from(*first)) as usize;
    if counts.len() < end {
        counts.resize(end, 0.0);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rollup::samples::Samples;

    /// Maximum relative error of any quantile, for weights of at least 1.
    const RELATIVE_ERROR: f64 = 1.0 / 128.0;

    fn durations() -> impl Strategy<Value = i64> {
        // All magnitudes are equally likely.
        (0..63_u32, any::<u64>()).prop_map(|(bits, noise)| ((1_u64 << bits) | (noise & ((1 << bits) - 1))) as i64)
    }

    fn samples() -> impl Strategy<Value = Vec<(i64, f64)>> {
        let weight = prop_oneof![4 => Just(1.0), 1 => (1..20_u8).prop_map(f64::from), 1 => 1.0..50.0];
        prop::collection::vec((durations(), weight), 1..200)
    }

    fn sketch(samples: &[(i64, f64)]) -> Sketch {
        let mut sketch = Sketch::default();
        samples.iter().for_each(|(value, weight)| sketch.add(*value, *weight));
        sketch
    }

    #[test]
    fn small_numbers_are_exact() {
        for value in -127..128 {
            assert_eq!(middle_of(bucket_of(value)), value as f64);
        }
    }

    #[test]
    fn buckets_ascend_and_middles_are_near_their_values() {
        let mut last = bucket_of(0);
        for bits in 0..63 {
            for step in 0..128_i64 {
                let value = (1_i64 << bits) + ((1_i64 << bits) as f64 * step as f64 / 128.0) as i64;
                let bucket = bucket_of(value);
                assert!(bucket >= last, "{value}");
                last = bucket;
                assert_eq!(bucket_of(-value), -bucket);
            }
        }
        for value in [i64::MAX, i64::MIN, i64::MIN + 1] {
            let middle = middle_of(bucket_of(value));
            assert!((middle - value as f64).abs() <= RELATIVE_ERROR * (value as f64).abs(), "{value} {middle}");
        }
    }

    proptest! {
        #[test]
        fn a_value_is_near_the_middle_of_its_bucket(value in durations()) {
            let middle = middle_of(bucket_of(value));
            prop_assert!((middle - value as f64).abs() <= RELATIVE_ERROR * value as f64, "{} {}", value, middle);
        }

        // Issue 3: relative error at most 1 %, by weight.
        #[test]
        fn quantiles_are_within_their_error(samples in samples(), q in 0.0..=1.0) {
            let mut exact = Samples::default();
            samples.iter().for_each(|(value, weight)| exact.add(*value as f64, *weight));
            let exact = exact.quantiles(&[q, 0.0, 1.0]).unwrap();
            let found = sketch(&samples).quantiles(&[q, 0.0, 1.0]).unwrap();
            for (exact, found) in exact.iter().zip(&found) {
                prop_assert!((exact - found).abs() <= RELATIVE_ERROR * exact.abs() * (1.0 + 1e-9), "{} {}", exact, found);
            }
        }

        #[test]
        fn merging_commutes_and_associates(
            a in prop::collection::vec((any::<i64>(), 1..9_u8), 0..50),
            b in prop::collection::vec((any::<i64>(), 1..9_u8), 0..50),
            c in prop::collection::vec((any::<i64>(), 1..9_u8), 0..50),
        ) {
            let of = |list: &[(i64, u8)]| {
                sketch(&list.iter().map(|(value, weight)| (*value, f64::from(*weight))).collect::<Vec<_>>())
            };
            let merged = |list: &[&Sketch]| {
                let mut all = Sketch::default();
                list.iter().for_each(|sketch| all.merge(sketch));
                all.buckets()
            };
            let (x, y, z) = (of(&a), of(&b), of(&c));
            let mut xy = x.clone();
            xy.merge(&y);
            let mut yz = y.clone();
            yz.merge(&z);
            let all = of(&[a, b, c].concat()).buckets();
            prop_assert_eq!(&merged(&[&x, &y, &z]), &all);
            prop_assert_eq!(&merged(&[&z, &y, &x]), &all);
            prop_assert_eq!(&merged(&[&xy, &z]), &all);
            prop_assert_eq!(&merged(&[&x, &yz]), &all);
        }
    }
}
