//! The state of a generator: its random numbers and its vocabulary.

use super::vocabulary::{SERVICES, Vocabulary};
use crate::demo::random::Random;

/// The time range of a request's records: `from_ns .. from_ns + length_ns`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    /// Start. Nanoseconds since the epoch.
    pub from_ns: u64,
    /// Length in nanoseconds.
    pub length_ns: u64,
}

/// Generates a sequence of export requests.
pub struct Generator {
    pub(super) random: Random,
    pub(super) vocabulary: Vocabulary,
    /// The series with which the next request of points continues.
    pub(super) next_series: u64,
}

impl Generator {
    /// A generator whose output depends only on `seed`.
    pub fn new(seed: u64) -> Generator {
        Generator { random: Random::new(seed), vocabulary: Vocabulary::new(), next_series: 0 }
    }

    /// A random service; some are much busier than others.
    pub(super) fn service(&mut self) -> usize {
        let draw = self.random.unit();
        ((draw * draw) * SERVICES as f64) as usize
    }

    pub(super) fn moment(&mut self, period: Period) -> u64 {
        period.from_ns + self.random.below(period.length_ns.max(1))
    }
}
