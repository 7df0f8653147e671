//! A histogram of the time that groups take to become durable. The writer thread records, any thread reads.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Upper bounds of the buckets in milliseconds. Longer durations are in `count` and `sum` only.
const BOUNDS_MS: [u64; 13] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000];

#[derive(Default)]
pub(crate) struct Histogram {
    counts: [AtomicU64; BOUNDS_MS.len() + 1],
    sum_us: AtomicU64,
}

/// A snapshot of the histogram since the journal was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Latencies {
    /// Upper bound and cumulative count of each bucket, ascending.
    pub buckets: Vec<(Duration, u64)>,
    /// Number of groups.
    pub count: u64,
    /// Sum of all durations.
    pub sum: Duration,
}

impl Histogram {
    pub fn record(&self, took: Duration) {
        let bucket = BOUNDS_MS.iter().take_while(|bound| took > Duration::from_millis(**bound)).count();
        self.counts[bucket].fetch_add(1, Ordering::Relaxed);
        self.sum_us.fetch_add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    pub fn snapshot(&self) -> Latencies {
        let mut count = 0;
        let mut buckets = Vec::with_capacity(BOUNDS_MS.len());
        for (bound, own) in BOUNDS_MS.iter().zip(&self.counts) {
            count += own.load(Ordering::Relaxed);
            buckets.push((Duration::from_millis(*bound), count));
        }
        count += self.counts[BOUNDS_MS.len()].load(Ordering::Relaxed);
        Latencies { buckets, count, sum: Duration::from_micros(self.sum_us.load(Ordering::Relaxed)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_cumulative() {
        let histogram = Histogram::default();
        for us in [0, 1000, 1001, 300_000, 60_000_000] {
            histogram.record(Duration::from_micros(us));
        }
        let latencies = histogram.snapshot();
        let bucket = |ms| {
            let bound = Duration::from_millis(ms);
            latencies.buckets.iter().find(|bucket| bucket.0 == bound).map(|bucket| bucket.1)
        };
        let counts = [1, 2, 200, 500, 10_000].map(bucket);
        assert_eq!(counts, [Some(2), Some(3), Some(3), Some(4), Some(4)]);
        assert_eq!((latencies.count, latencies.sum), (5, Duration::from_micros(60_302_001)));
    }
}
