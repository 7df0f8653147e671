//! Random numbers for generated telemetry: the same seed gives the same traffic.

/// A seeded random number generator with the distributions that generated telemetry needs.
pub struct Random(fastrand::Rng);

impl Random {
    /// A generator with this seed.
    pub fn new(seed: u64) -> Self {
        Random(fastrand::Rng::with_seed(seed))
    }

    /// A random number of 64 bits.
    pub fn next(&mut self) -> u64 {
        self.0.u64(..)
    }

    /// A random number x with 0 <= x < `bound`; `bound` > 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0.u64(..bound)
    }

    /// A random number x with 0 <= x < 1.
    pub fn unit(&mut self) -> f64 {
        self.0.f64()
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// A random element of a list, which is not empty.
    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }

    /// A random duration in milliseconds around `typical`, with the long right tail of real latencies.
    pub fn latency_ms(&mut self, typical: f64) -> f64 {
        let normal = (0..6).map(|_| self.unit()).sum::<f64>() - 3.0;
        typical * (normal * 0.55).exp()
    }

    /// A random number of mean 0 and variance 1, about normal, between -6 and 6.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }

    /// A random id of N bytes.
    pub fn id<const N: usize>(&mut self) -> [u8; N] {
        let mut id = [0; N];
        self.0.fill(&mut id);
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_seed_same_traffic() {
        let (mut one, mut two) = (Random::new(7), Random::new(7));
        assert_eq!((0..9).map(|_| one.next()).collect::<Vec<_>>(), (0..9).map(|_| two.next()).collect::<Vec<_>>());
        assert_eq!(one.id::<16>(), two.id());
        assert!((0..1000).all(|_| one.latency_ms(40.0) > 0.0));
    }
}
