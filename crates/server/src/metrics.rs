//! Counters and histograms of the server itself. Counting is a few atomic additions; `http/exposition.rs` writes them out.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tidewatch_lake::{Work, Worked};

use crate::limits::METRIC_BUCKETS_MS;

/// How long something took, in buckets.
#[derive(Default)]
pub struct Histogram {
    /// One more than there are bounds: what took longer than all.
    counts: [AtomicU64; METRIC_BUCKETS_MS.len() + 1],
    total_us: AtomicU64,
}

impl Histogram {
    pub fn add(&self, took: Duration) {
        let ms = took.as_secs_f64() * MS_PER_SECOND;
        let at = METRIC_BUCKETS_MS.iter().take_while(|bound| ms > **bound).count();
        self.counts[at].fetch_add(1, Ordering::Relaxed);
        self.total_us.fetch_add(took.as_micros() as u64, Ordering::Relaxed);
    }

    /// Writes it in the text format. `labels`: none, or `a="b",`.
    pub fn write(&self, text: &mut String, name: &str, labels: &str) {
        let mut count = 0;
        let buckets = METRIC_BUCKETS_MS.iter().zip(&self.counts).map(|(bound, own)| {
            count += own.load(Ordering::Relaxed);
            (bound / MS_PER_SECOND, count)
        });
        let buckets: Vec<_> = buckets.collect();
        count += self.counts[METRIC_BUCKETS_MS.len()].load(Ordering::Relaxed);
        let total = Duration::from_micros(self.total_us.load(Ordering::Relaxed));
        write_histogram(text, name, labels, buckets, (count, total));
    }
}

/// `buckets`: upper bounds in seconds, and how many took at most so long. `all`: how many there were, and their sum.
pub fn write_histogram(
    text: &mut String,
    name: &str,
    labels: &str,
    buckets: impl IntoIterator<Item = (f64, u64)>,
    (count, total): (u64, Duration),
) {
    for (bound, count) in buckets {
        let _ = writeln!(text, "{name}_bucket{{{labels}le=\"{bound}\"}} {count}");
    }
    let labels = labels.trim_end_matches(',');
    let separator = if labels.is_empty() { "" } else { "," };
    let _ = writeln!(text, "{name}_bucket{{{labels}{separator}le=\"+Inf\"}} {count}");
    let _ = writeln!(text, "{name}_sum{{{labels}}} {}\n{name}_count{{{labels}}} {count}", total.as_secs_f64());
}

const MS_PER_SECOND: f64 = 1000.0;

/// What ingest waits for.
#[derive(Default)]
pub struct IngestMetrics {
    /// For a slot.
    pub admission: Histogram,
    /// From the journal's copy until durable and visible.
    pub journal: Histogram,
}

/// What the store does for itself.
#[derive(Default)]
pub struct StoreMetrics {
    pub flush: Histogram,
    pub merge: Histogram,
    /// Rows that were kept no longer.
    pub removed_rows: AtomicU64,
    /// Rows of the oldest days, dropped for the disk budget.
    pub budget_rows: AtomicU64,
    pub failures: AtomicU64,
}

impl StoreMetrics {
    pub fn add(&self, worked: &Worked) {
        match worked.work {
            Work::Flush => self.flush.add(worked.took),
            Work::Merge => self.merge.add(worked.took),
            Work::Remove => drop(self.removed_rows.fetch_add(worked.rows, Ordering::Relaxed)),
            Work::MakeRoom => drop(self.budget_rows.fetch_add(worked.rows, Ordering::Relaxed)),
        }
        self.failures.fetch_add(u64::from(worked.has_failed), Ordering::Relaxed);
    }
}
