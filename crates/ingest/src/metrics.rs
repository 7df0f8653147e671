//! Counters and histograms of the server itself, and their encoding for Prometheus.
//!
//! Counting is a few atomic additions. `http/exposition.rs` encodes all metrics for each scrape.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use prometheus_client::encoding::{DescriptorEncoder, EncodeGaugeValue, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use tidewatch_domain::units::{MILLISECOND_NS, SECOND_NS};
use tidewatch_journal::Latencies;
use tidewatch_store::{CompletedWork, Work};

use tidewatch_limits::METRIC_BUCKETS_MS;

/// A histogram of durations.
#[derive(Default)]
pub struct Histogram {
    /// Counts per bucket; the last one is for durations above all bounds.
    counts: [AtomicU64; METRIC_BUCKETS_MS.len() + 1],
    total_us: AtomicU64,
}

impl Histogram {
    /// Adds one duration.
    pub fn add(&self, took: Duration) {
        let ms = took.as_secs_f64() * MS_PER_SECOND;
        let at = METRIC_BUCKETS_MS.iter().take_while(|bound| ms > **bound).count();
        self.counts[at].fetch_add(1, Ordering::Relaxed);
        self.total_us.fetch_add(took.as_micros() as u64, Ordering::Relaxed);
    }

    /// The current contents.
    pub fn snapshot(&self) -> Durations {
        let bounds = METRIC_BUCKETS_MS.iter().map(|bound| bound / MS_PER_SECOND).chain([f64::INFINITY]);
        let counts = self.counts.iter().map(|count| count.load(Ordering::Relaxed));
        let total = Duration::from_micros(self.total_us.load(Ordering::Relaxed));
        Durations { buckets: bounds.zip(counts).collect(), total }
    }
}

/// The contents of a histogram of durations at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Durations {
    /// Upper bounds in seconds, the last one infinite, each with the number of durations above the bound before it.
    buckets: Vec<(f64, u64)>,
    total: Duration,
}

impl Durations {
    /// From counts that include the counts of all smaller bounds.
    pub fn of_cumulative(times: &Latencies) -> Durations {
        let bounds = times.buckets.iter().map(|(bound, count)| (bound.as_secs_f64(), *count));
        let mut below = 0;
        let buckets = bounds.chain([(f64::INFINITY, times.count)]).map(|(bound, count)| {
            let own = count.saturating_sub(below);
            below = count;
            (bound, own)
        });
        Durations { buckets: buckets.collect(), total: times.sum }
    }
}

/// Encodes metric families in version 0.0.4 of Prometheus' text format.
pub struct Families<'e>(pub DescriptorEncoder<'e>);

impl Families<'_> {
    /// A gauge without labels.
    pub fn gauge(&mut self, name: &str, help: &str, value: impl EncodeGaugeValue) -> fmt::Result {
        self.family(MetricType::Gauge, name, help)?.sample(&[], value)
    }

    /// A counter without labels. Its name ends with `_total`.
    pub fn counter(&mut self, name: &str, help: &str, value: impl EncodeGaugeValue) -> fmt::Result {
        self.family(MetricType::Counter, name, help)?.sample(&[], value)
    }

    /// Begins a family. Its samples follow.
    pub fn family<'f>(&'f mut self, kind: MetricType, name: &'f str, help: &str) -> Result<Family<'f>, fmt::Error> {
        self.0.encode_descriptor(name, help, None, kind).map(Family)
    }
}

/// Encodes the samples of one metric family.
pub struct Family<'f>(MetricEncoder<'f>);

impl Family<'_> {
    /// A sample of a gauge or counter.
    pub fn sample(&mut self, labels: &[(&str, &str)], value: impl EncodeGaugeValue) -> fmt::Result {
        // A counter is encoded as a gauge: only OpenMetrics leaves `_total` out of the name of its family.
        match labels {
            [] => self.0.encode_gauge(&value),
            labels => self.0.encode_family(&labels)?.encode_gauge(&value),
        }
    }

    /// A sample of a histogram.
    pub fn histogram(&mut self, labels: &[(&str, &str)], durations: &Durations) -> fmt::Result {
        let Durations { buckets, total } = durations;
        let count = buckets.iter().map(|(_, count)| count).sum();
        match labels {
            [] => self.0.encode_histogram::<NoLabelSet>(total.as_secs_f64(), count, buckets, None),
            labels => {
                let mut encoder = self.0.encode_family(&labels)?;
                encoder.encode_histogram::<NoLabelSet>(total.as_secs_f64(), count, buckets, None)
            }
        }
    }
}

const MS_PER_SECOND: f64 = (SECOND_NS / MILLISECOND_NS) as f64;

/// Waiting times of exports.
#[derive(Default)]
pub struct IngestMetrics {
    /// Time in the admission queue.
    pub admission: Histogram,
    /// From the append to the journal until the export is durable and visible.
    pub journal: Histogram,
}

/// Background work of the store.
#[derive(Default)]
pub struct StoreMetrics {
    /// Durations of flushes.
    pub flush: Histogram,
    /// Durations of merges.
    pub merge: Histogram,
    /// Rows removed because they are past their retention.
    pub removed_rows: AtomicU64,
    /// Rows of the oldest days, dropped for the disk budget.
    pub budget_rows: AtomicU64,
    /// Background work that failed.
    pub failures: AtomicU64,
}

impl StoreMetrics {
    /// Counts one piece of background work.
    pub fn add(&self, worked: &CompletedWork) {
        match worked.work {
            Work::Flush => self.flush.add(worked.took),
            Work::Merge => self.merge.add(worked.took),
            Work::Remove => drop(self.removed_rows.fetch_add(worked.rows, Ordering::Relaxed)),
            Work::MakeRoom => drop(self.budget_rows.fetch_add(worked.rows, Ordering::Relaxed)),
        }
        self.failures.fetch_add(u64::from(worked.has_failed), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use prometheus_client::collector::Collector;
    use prometheus_client::encoding::text::encode_registry;
    use prometheus_client::registry::Registry;

    use super::*;

    #[derive(Debug)]
    struct Example;

    impl Collector for Example {
        fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
            let histogram = Histogram::default();
            for ms in [0, 1, 3, 30, 1_000_000] {
                histogram.add(Duration::from_millis(ms));
            }
            let mut families = Families(encoder);
            families.counter("a_total", "An example.", 7_u64)?;
            families.family(MetricType::Gauge, "b", "Another.")?.sample(&[("path", "\"\\\n")], 1.5)?;
            families.family(MetricType::Histogram, "c", "Durations.")?.histogram(&[("d", "e")], &histogram.snapshot())
        }
    }

    #[test]
    fn families_in_the_text_format_of_prometheus() {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(Example));
        let mut text = String::new();
        encode_registry(&mut text, &registry).expect("memory takes it");
        let expected = "# HELP a_total An example.\n# TYPE a_total counter\na_total 7\n\
                        # HELP b Another.\n# TYPE b gauge\nb{path=\"\\\"\\\\\\n\"} 1.5\n\
                        # HELP c Durations.\n# TYPE c histogram\nc_sum{d=\"e\"} 1000.034\nc_count{d=\"e\"} 5\n";
        let buckets = text.strip_prefix(expected).expect(&text);
        assert!(buckets.starts_with("c_bucket{le=\"0.001\",d=\"e\"} 2\n"), "{text}");
        assert!(buckets.ends_with("c_bucket{le=\"30.0\",d=\"e\"} 4\nc_bucket{le=\"+Inf\",d=\"e\"} 5\n"), "{text}");
    }

    #[test]
    fn cumulative_counts_become_counts_per_bucket() {
        let ms = Duration::from_millis;
        let times = Latencies { buckets: vec![(ms(1), 2), (ms(2), 2), (ms(5), 6)], count: 7, sum: ms(40) };
        let buckets = Durations::of_cumulative(&times).buckets;
        assert_eq!(buckets, [(0.001, 2), (0.002, 0), (0.005, 4), (f64::INFINITY, 1)]);
    }
}
