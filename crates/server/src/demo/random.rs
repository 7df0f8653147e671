//! A small seeded generator: the same seed gives the same traffic.

/// xorshift64*; good enough to look natural, and reproducible everywhere.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// 0 <= x < `bound`; `bound` > 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// 0 <= x < 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }

    /// Milliseconds around `typical`, with the long right tail that real latencies have.
    pub fn latency_ms(&mut self, typical: f64) -> f64 {
        let normal = (0..6).map(|_| self.unit()).sum::<f64>() - 3.0;
        typical * (normal * 0.55).exp()
    }

    pub fn hex(&mut self, digits: usize) -> String {
        let mut text = String::with_capacity(digits);
        while text.len() < digits {
            text.push_str(&format!("{:016x}", self.next()));
        }
        text.truncate(digits);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_seed_same_traffic() {
        let (mut one, mut two) = (Random::new(7), Random::new(7));
        assert_eq!((0..9).map(|_| one.next()).collect::<Vec<_>>(), (0..9).map(|_| two.next()).collect::<Vec<_>>());
        assert_eq!(one.hex(32).len(), 32);
        assert!((0..1000).all(|_| one.latency_ms(40.0) > 0.0));
    }
}
