//! Sums of doubles that do not depend on the order of the rows, except for the last bit in rare cases.

/// A sum with twice the precision of a double, clamped to the range of finite doubles.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Total {
    plain: Pair,
    /// The sum of terms that could overflow, scaled by [`SCALE`].
    huge: Pair,
    pub rows: u64,
}

/// `high + low`, `low` below the last digit of `high`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Pair {
    high: f64,
    low: f64,
}

const HUGE: f64 = 1e280;
/// A power of two, so that scaling is exact.
const SCALE: f64 = f64::from_bits((1023 - 256) << 52);

impl Pair {
    fn add(&mut self, term: f64) {
        let sum = self.high + term;
        let part = sum - self.high;
        let error = (self.high - (sum - part)) + (term - part);
        self.high = sum;
        self.low += error;
    }

    fn merge(&mut self, other: Pair) {
        self.add(other.high);
        self.low += other.low;
    }

    fn value(self) -> f64 {
        self.high + self.low
    }
}

impl Total {
    /// Adds a term, which is not NaN.
    pub fn add(&mut self, term: f64) {
        self.rows += 1;
        let term = term.clamp(f64::MIN, f64::MAX);
        if term.abs() < HUGE {
            self.plain.add(term);
        } else {
            self.huge.add(term * SCALE);
        }
    }

    pub fn merge(&mut self, other: &Total) {
        self.rows += other.rows;
        self.plain.merge(other.plain);
        self.huge.merge(other.huge);
    }

    pub fn value(&self) -> f64 {
        if self.huge == Pair::default() {
            return self.plain.value();
        }
        if self.huge.value() == 0.0 {
            return self.plain.value();
        }
        let mut all = self.huge;
        all.add(self.plain.high * SCALE);
        all.add(self.plain.low * SCALE);
        (all.value() / SCALE).clamp(f64::MIN, f64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(terms: &[f64], expected: f64) {
        let mut forward = Total::default();
        terms.iter().for_each(|term| forward.add(*term));
        let mut backward = Total::default();
        terms.iter().rev().for_each(|term| backward.add(*term));
        let mut merged = Total::default();
        for term in terms {
            let mut one = Total::default();
            one.add(*term);
            merged.merge(&one);
        }
        assert_eq!([forward.value(), backward.value(), merged.value()], [expected; 3], "{terms:?}");
    }

    #[test]
    fn sums_do_not_depend_on_order() {
        check(&[], 0.0);
        check(&[0.1; 10], 1.0);
        check(&[1e100, 1.0, -1e100], 1.0);
        check(&[f64::MAX, f64::MAX, -f64::MAX], f64::MAX);
        check(&[f64::MAX, f64::MAX], f64::MAX);
        check(&[f64::MIN, f64::MIN], f64::MIN);
        check(&[1e300, 5.0, -1e300], 5.0);
    }
}
