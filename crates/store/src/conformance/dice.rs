//! A seeded random number generator: one number reproduces a failing case.

/// A seeded random number generator.
pub struct Dice(fastrand::Rng);

impl Dice {
    /// Creates a generator; equal seeds make equal choices.
    pub fn new(seed: u64) -> Dice {
        Dice(fastrand::Rng::with_seed(seed))
    }

    /// A number below `bound`; panics when `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0.usize(..bound)
    }

    /// True with a probability of 1 in `times`.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// A random element; panics when `from` is empty.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// Shuffles a list in place.
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        self.0.shuffle(list);
    }
}
