//! The goals of the benchmarks and their target values.

use Bound::{AtLeast, AtMost};

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    AtLeast(f64),
    AtMost(f64),
}

pub struct Goal {
    pub id: &'static str,
    pub what: &'static str,
    pub unit: &'static str,
    pub bound: Bound,
}

impl Goal {
    pub fn is_met(&self, value: f64) -> bool {
        match self.bound {
            AtLeast(least) => value >= least,
            AtMost(most) => value <= most,
        }
    }
}

const fn goal(id: &'static str, what: &'static str, unit: &'static str, bound: Bound) -> Goal {
    Goal { id, what, unit, bound }
}

/// A measured goal. `note` is shown beside the value.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    pub id: &'static str,
    pub value: f64,
    pub note: String,
}

impl Measured {
    pub fn new(id: &'static str, value: f64, note: impl Into<String>) -> Measured {
        assert!(GOALS.iter().any(|goal| goal.id == id), "{id} is no goal");
        Measured { id, value, note: note.into() }
    }
}

pub const GOALS: &[Goal] = &[
    goal("G1a", "decode, rules and columns, beside prost decoding alone", "x faster", AtLeast(3.5)),
    goal("G1b", "instructions for that", "per span", AtMost(5_000.0)),
    goal("G1c", "heap allocations for that", "per span", AtMost(0.1)),
    goal("G2", "CPU of the durable ack path, beside hyper + prost, discarded", "x", AtMost(0.75)),
    goal("G3", "CPU of a gzip request, beside the same one plain", "x", AtMost(1.5)),
    goal("G4", "JSON decoding, beside serde_json into the generated types", "x faster", AtLeast(2.5)),
    goal("G5a", "rich spans, flush and merges included", "per CPU-second", AtLeast(180_000.0)),
    goal("G5b", "log records, flush and merges included", "per CPU-second", AtLeast(250_000.0)),
    goal("G5c", "metric points, flush and merges included", "per CPU-second", AtLeast(800_000.0)),
    goal("G6a", "a lean span at rest", "bytes", AtMost(36.0)),
    goal("G6b", "a rich span at rest", "bytes", AtMost(45.0)),
    goal("G6c", "a log record at rest", "bytes", AtMost(50.0)),
    goal("G6d", "a metric point at rest", "bytes", AtMost(6.0)),
    goal("G7a", "ack p99 at half of saturation, beside 2 x the p99 of fdatasync + 5 ms", "x", AtMost(1.0)),
    goal("G7b", "p99 of reads with ingest, beside without", "x", AtMost(2.0)),
    goal("G7c", "longest stall of an ack", "ms", AtMost(250.0)),
    goal("G8a", "ranking of Endpoints, Tasks, AI Traces, any range", "ms", AtMost(50.0)),
    goal("G8b", "chart", "ms", AtMost(50.0)),
    goal("G8c", "one Endpoint's latest and slowest occurrences", "ms", AtMost(100.0)),
    goal("G8d", "trace by id within 24 h", "ms", AtMost(20.0)),
    goal("G8e", "trace by id without a time", "ms", AtMost(200.0)),
    goal("G8f", "spans by a promoted attribute, 24 h", "ms", AtMost(150.0)),
    goal("G8g", "spans by a rare attribute, 24 h", "ms", AtMost(500.0)),
    goal("G8h", "list of Issues", "ms", AtMost(50.0)),
    goal("G8i", "rare substring in all logs", "ms", AtMost(300.0)),
    goal("G8j", "latest 50 logs with a frequent substring", "ms", AtMost(50.0)),
    goal("G8k", "metric, 200 groups x 60 buckets", "ms", AtMost(50.0)),
    goal("G8l", "first read of a started server, cold files, beside warm", "x", AtMost(5.0)),
    goal("G9a", "memory, idle, on the large data", "MB", AtMost(40.0)),
    goal("G9b", "peak memory under full load (64 MB + the memtable's 256 MB)", "MB", AtMost(64.0 + 268.0)),
    goal("G10a", "ready on the large data", "s", AtMost(1.0)),
    goal("G10b", "journal replay", "spans/s", AtLeast(500_000.0)),
    goal("G11", "spans per CPU-second over OTLP/gRPC, beside OTLP/HTTP", "x", AtLeast(0.8)),
    goal("G12", "spans per CPU-second in native reports, beside OTLP JSON", "x", AtLeast(0.8)),
    goal("G13a", "segments of recordings, flush and merges included", "per CPU-second", AtLeast(1_000.0)),
    goal("G13b", "a segment at rest, beside its JSON", "x", AtMost(0.2)),
    goal("G14a", "profile samples, flush and merges included", "per CPU-second", AtLeast(100_000.0)),
    goal("G14b", "a profile sample at rest", "bytes", AtMost(4.0)),
    goal("G14c", "flame graph of a day of profiles", "ms", AtMost(200.0)),
    goal("G15a", "Overview: what changed, what is bad, new, and its costs, 24 h, together", "ms", AtMost(150.0)),
    goal("G15b", "heatmap of one Endpoint, 24 h", "ms", AtMost(60.0)),
    goal("G15c", "Explain at its default sample, 24 h", "ms", AtMost(300.0)),
    goal("G15d", "search of traces by a promoted attribute of any span, 24 h", "ms", AtMost(200.0)),
    goal("G15e", "map of services over 30 days", "ms", AtMost(100.0)),
    goal("G15f", "completion of a key's values, 24 h", "ms", AtMost(50.0)),
    goal("G15g", "ack p99 with a live tail of 20,000 log records a second, beside without", "x", AtMost(1.25)),
    goal("G15h", "log records that this tail is sent a second, beside its bound", "x", AtMost(1.0)),
];
