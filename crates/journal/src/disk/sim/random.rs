//! The seeded choices of a simulation.

/// A random number generator: the same seed gives the same choices.
#[derive(Clone)]
pub struct Random(fastrand::Rng);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(fastrand::Rng::with_seed(seed))
    }

    #[expect(clippy::should_implement_trait, reason = "an endless stream; no iterator adaptors wanted")]
    pub fn next(&mut self) -> u64 {
        self.0.u64(..)
    }

    /// A number in `0..bound`; 0 when `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 { 0 } else { self.0.u64(..bound) }
    }

    /// True in `out` of `of` cases.
    pub fn chance(&mut self, out: u64, of: u64) -> bool {
        self.below(of) < out
    }
}
