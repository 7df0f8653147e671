//! Exact quantiles from all values of a group.

/// The values of one group.
#[derive(Debug, Clone, Default)]
pub struct Samples {
    values: Vec<f64>,
    /// By value, its weight; empty while all weights are 1.
    weights: Vec<f64>,
}

impl Samples {
    /// Adds a value; does nothing when the weight is not positive.
    pub fn add(&mut self, value: f64, weight: f64) {
        if weight.is_nan() || weight <= 0.0 {
            return;
        }
        if weight != 1.0 && self.weights.is_empty() {
            self.weights = vec![1.0; self.values.len()];
        }
        if weight != 1.0 || !self.weights.is_empty() {
            self.weights.push(weight);
        }
        self.values.push(value);
    }

    /// Adds the values of `other`.
    pub fn merge(&mut self, mut other: Samples) {
        if self.values.is_empty() {
            *self = other;
            return;
        }
        if self.weights.is_empty() && !other.weights.is_empty() {
            self.weights = vec![1.0; self.values.len()];
        }
        if !self.weights.is_empty() && other.weights.is_empty() {
            other.weights = vec![1.0; other.values.len()];
        }
        self.values.append(&mut other.values);
        self.weights.append(&mut other.weights);
    }

    /// For every `q`, the value at `q * (n - 1)` in ascending order, interpolated linearly between neighbours (WIRE
    /// 8.1).
    ///
    /// A weight `w` counts as `w` equal values, so `n` is the sum of weights; a fraction of a copy stretches the step
    /// to the next value. `None` without values.
    pub fn quantiles(&mut self, qs: &[f64]) -> Option<Vec<f64>> {
        if self.values.is_empty() {
            return None;
        }
        if self.weights.is_empty() {
            return Some(self.plain_quantiles(qs));
        }
        let mut pairs: Vec<(f64, f64)> = self.values.iter().copied().zip(self.weights.iter().copied()).collect();
        pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        Some(quantiles_of_ascending(&pairs, qs))
    }

    /// Selects each value in linear time instead of sorting.
    fn plain_quantiles(&mut self, qs: &[f64]) -> Vec<f64> {
        let last = self.values.len() - 1;
        qs.iter()
            .map(|q| {
                let index = q * last as f64;
                let low = (index.floor() as usize).min(last);
                let (_, at, above) = self.values.select_nth_unstable_by(low, f64::total_cmp);
                let at = *at;
                let next = above.iter().copied().min_by(f64::total_cmp).unwrap_or(at);
                between(at, next, index - low as f64)
            })
            .collect()
    }
}

/// [`Samples::quantiles`] of ascending values with positive weights; at least one.
pub(super) fn quantiles_of_ascending(pairs: &[(f64, f64)], qs: &[f64]) -> Vec<f64> {
    // By value, the number of copies up to and including it.
    let mut sum = 0.0;
    let ends: Vec<f64> = pairs
        .iter()
        .map(|(_, weight)| {
            sum += weight;
            sum
        })
        .collect();
    qs.iter().map(|q| weighted(pairs, &ends, q * (sum - 1.0).max(0.0))).collect()
}

/// The value at `index` among the copies. `pairs`: values ascending, with weights; `ends`: the running sum of weights.
fn weighted(pairs: &[(f64, f64)], ends: &[f64], index: f64) -> f64 {
    let last = pairs.len() - 1;
    let at = ends.partition_point(|end| *end <= index).min(last);
    // The last copy of this value is at its end minus one; later indexes are interpolated to the next value.
    let past = index - (ends[at] - 1.0);
    if past <= 0.0 {
        return pairs[at].0;
    }
    between(pairs[at].0, pairs[(at + 1).min(last)].0, past.min(1.0))
}

/// The point a `fraction` of the way from `low` to `high`; huge values do not overflow.
fn between(low: f64, high: f64, fraction: f64) -> f64 {
    if fraction == 0.0 || low == high { low } else { low * (1.0 - fraction) + high * fraction }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(samples: &[(f64, f64)], q: f64, expected: f64) {
        let mut all = Samples::default();
        samples.iter().for_each(|(value, weight)| all.add(*value, *weight));
        assert_eq!(all.quantiles(&[0.0, q, 1.0, q]).unwrap()[3], expected, "{samples:?} at {q}");
        let mut halves = Samples::default();
        for chunk in samples.chunks(2).rev() {
            let mut half = Samples::default();
            chunk.iter().for_each(|(value, weight)| half.add(*value, *weight));
            halves.merge(half);
        }
        assert_eq!(halves.quantiles(&[q]).unwrap(), [expected], "{samples:?} at {q}, merged");
    }

    #[test]
    fn interpolated_at_q_times_n_minus_1() {
        let of = |values: &[f64]| values.iter().map(|value| (*value, 1.0)).collect::<Vec<_>>();
        check(&of(&[7.0]), 0.99, 7.0);
        check(&of(&[1.0, 2.0]), 0.5, 1.5);
        check(&of(&[3.0, 1.0, 2.0]), 0.5, 2.0);
        check(&of(&[1.0, 2.0, 3.0, 4.0]), 0.5, 2.5);
        check(&of(&[4.0, 3.0, 2.0, 1.0]), 0.0, 1.0);
        check(&of(&[4.0, 3.0, 2.0, 1.0]), 1.0, 4.0);
        check(&of(&[f64::MAX, f64::MIN]), 0.5, 0.0);
    }

    #[test]
    fn a_weight_counts_as_equal_values() {
        // 1 1 2 2
        check(&[(2.0, 2.0), (1.0, 2.0)], 0.5, 1.5);
        check(&[(2.0, 2.0), (1.0, 2.0)], 0.0, 1.0);
        // 1 2 2 2
        check(&[(2.0, 3.0), (1.0, 1.0)], 0.5, 2.0);
        check(&[(1.0, 10.0), (100.0, 1.0)], 0.95, 50.5);
        check(&[(1.0, 0.0), (5.0, 1.0), (f64::MAX, -1.0)], 0.5, 5.0);
    }

    #[test]
    fn quantiles_of_no_values_are_none() {
        assert_eq!(Samples::default().quantiles(&[0.5]), None);
    }
}
