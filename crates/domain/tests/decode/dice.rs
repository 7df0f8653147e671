//! A seeded source of choices: the same seed gives the same mutations.

pub struct Dice(fastrand::Rng);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(fastrand::Rng::with_seed(seed))
    }

    pub fn roll(&mut self) -> u64 {
        self.0.u64(..)
    }

    /// A number less than `bound`, which must not be 0.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0.usize(..bound)
    }

    /// True with probability 1 / `n`.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}
