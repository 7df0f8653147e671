//! How long groups took to become durable: counted by the writer thread, read by whoever wants to know.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Upper bounds of the buckets, milliseconds. What took longer than all is counted in the total only.
const BOUNDS_MS: [u64; 13] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000];

#[derive(Default)]
pub(crate) struct Counting {
    counts: [AtomicU64; BOUNDS_MS.len() + 1],
    total_us: AtomicU64,
}

/// Durations counted since the journal was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Times {
    /// Upper bound, and how many took at most so long (those of smaller bounds too).
    pub at_most: Vec<(Duration, u64)>,
    pub count: u64,
    pub total: Duration,
}

impl Counting {
    pub fn add(&self, took: Duration) {
        let bucket = BOUNDS_MS.iter().take_while(|bound| took > Duration::from_millis(**bound)).count();
        self.counts[bucket].fetch_add(1, Ordering::Relaxed);
        self.total_us.fetch_add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    pub fn times(&self) -> Times {
        let mut count = 0;
        let mut at_most = Vec::with_capacity(BOUNDS_MS.len());
        for (bound, own) in BOUNDS_MS.iter().zip(&self.counts) {
            count += own.load(Ordering::Relaxed);
            at_most.push((Duration::from_millis(*bound), count));
        }
        count += self.counts[BOUNDS_MS.len()].load(Ordering::Relaxed);
        Times { at_most, count, total: Duration::from_micros(self.total_us.load(Ordering::Relaxed)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_duration_is_in_every_bucket_that_holds_it() {
        let counting = Counting::default();
        for us in [0, 1000, 1001, 300_000, 60_000_000] {
            counting.add(Duration::from_micros(us));
        }
        let times = counting.times();
        let of =
            |ms| times.at_most.iter().find(|(bound, _)| *bound == Duration::from_millis(ms)).map(|(_, count)| *count);
        assert_eq!([of(1), of(2), of(200), of(500), of(10_000)], [Some(2), Some(3), Some(3), Some(4), Some(4)]);
        assert_eq!((times.count, times.total), (5, Duration::from_micros(60_302_001)));
    }
}
