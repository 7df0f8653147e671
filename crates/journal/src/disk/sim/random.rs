//! The seeded random numbers of a simulation.

/// A random number generator: the same seed gives the same sequence.
#[derive(Clone)]
pub struct Random(fastrand::Rng);

impl Random {
    /// Equal seeds give equal sequences.
    pub fn new(seed: u64) -> Random {
        Random(fastrand::Rng::with_seed(seed))
    }

    /// The next 64 random bits.
    #[expect(clippy::should_implement_trait, reason = "an endless stream; no iterator adaptors wanted")]
    pub fn next(&mut self) -> u64 {
        self.0.u64(..)
    }

    /// A number in `0..bound`; 0 when `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 { 0 } else { self.0.u64(..bound) }
    }

    /// True with probability `numerator / denominator`.
    pub fn chance(&mut self, numerator: u64, denominator: u64) -> bool {
        self.below(denominator) < numerator
    }
}
