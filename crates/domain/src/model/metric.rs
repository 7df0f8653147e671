//! Metrics as received.

use super::{Attributes, Body, KeyValue, Resource, Scope, Slice};

/// One metric export request.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MetricBatch<'a> {
    /// The request body.
    pub body: Body<'a>,
    /// Resource blocks, in the order received.
    pub resources: Vec<Resource<'a>>,
    /// Scope blocks, in the order received.
    pub scopes: Vec<Scope<'a>>,
    /// Metrics, in the order received.
    pub metrics: Vec<Metric<'a>>,
    /// Data points, in the order received.
    pub points: Vec<Point<'a>>,
    /// Attributes of resources, scopes and points.
    pub attributes: Vec<KeyValue<'a>>,
}

/// A metric as received.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Metric<'a> {
    /// Index into `resources`.
    pub resource: u32,
    /// Index into `scopes`.
    pub scope: u32,
    /// Empty when absent.
    pub name: &'a str,
    /// Empty when absent.
    pub description: &'a str,
    /// UCUM unit; empty when absent.
    pub unit: &'a str,
    /// The kind of its data.
    pub kind: MetricKind,
    /// `Unspecified` for gauges and summaries.
    pub temporality: Temporality,
    /// Whether a sum is monotonic; false for other kinds.
    pub monotonic: bool,
    /// Range in `MetricBatch::points`.
    pub points: Slice,
}

/// The kind of a metric's data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
#[expect(missing_docs, reason = "named as in OTLP")]
pub enum MetricKind {
    /// No data field was present.
    #[default]
    Empty = 0,
    Gauge = 1,
    Sum = 2,
    Histogram = 3,
    ExponentialHistogram = 4,
    Summary = 5,
}

/// Aggregation temporality with its OTLP number. Unknown numbers read as `Unspecified`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
#[expect(missing_docs, reason = "named as in OTLP")]
pub enum Temporality {
    #[default]
    Unspecified = 0,
    Delta = 1,
    Cumulative = 2,
}

impl Temporality {
    /// The temporality with this OTLP number.
    pub fn from_number(number: i64) -> Self {
        match number {
            1 => Temporality::Delta,
            2 => Temporality::Cumulative,
            _ => Temporality::Unspecified,
        }
    }
}

/// A data point as received.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Point<'a> {
    /// Range in `MetricBatch::attributes`.
    pub attributes: Slice,
    /// Nanoseconds since the epoch; 0 when absent.
    pub start_ns: u64,
    /// Nanoseconds since the epoch; 0 when absent.
    pub time_ns: u64,
    /// Bit 0: "no recorded value".
    pub flags: u32,
    /// The value.
    pub data: PointData<'a>,
}

/// The value of a data point.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum PointData<'a> {
    /// A number point without a value.
    #[default]
    Empty,
    /// `asInt`.
    Int(i64),
    /// `asDouble`.
    Double(f64),
    /// A histogram with explicit bounds.
    Histogram(HistogramPoint<'a>),
    /// A histogram with exponential buckets.
    ExponentialHistogram(&'a ExponentialHistogramPoint<'a>),
    /// Quantiles that the sender computed.
    Summary(SummaryPoint<'a>),
}

/// A histogram with explicit bounds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct HistogramPoint<'a> {
    /// Number of measurements.
    pub count: u64,
    /// Sum of the measurements.
    pub sum: Option<f64>,
    /// Smallest measurement.
    pub min: Option<f64>,
    /// Largest measurement.
    pub max: Option<f64>,
    /// Ascending upper bounds; one fewer than `buckets`, or both empty.
    pub bounds: &'a [f64],
    /// Count of each bucket.
    pub buckets: &'a [u64],
}

/// A histogram with exponential buckets: `base = 2^(2^-scale)`, and bucket `i` holds values above `base^i` and at most
/// `base^(i+1)`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ExponentialHistogramPoint<'a> {
    /// Number of measurements.
    pub count: u64,
    /// Sum of the measurements.
    pub sum: Option<f64>,
    /// Smallest measurement.
    pub min: Option<f64>,
    /// Largest measurement.
    pub max: Option<f64>,
    /// The resolution.
    pub scale: i32,
    /// Number of measurements whose magnitude is at most `zero_threshold`.
    pub zero_count: u64,
    /// Not negative when valid.
    pub zero_threshold: f64,
    /// Buckets of positive measurements.
    pub positive: ExponentialBuckets<'a>,
    /// Buckets of the magnitudes of negative measurements.
    pub negative: ExponentialBuckets<'a>,
}

/// Consecutive buckets of an exponential histogram.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ExponentialBuckets<'a> {
    /// Number of the first bucket.
    pub offset: i32,
    /// Count of each bucket.
    pub counts: &'a [u64],
}

/// A summary.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SummaryPoint<'a> {
    /// Number of measurements.
    pub count: u64,
    /// Sum of the measurements.
    pub sum: f64,
    /// Quantiles, in the order received.
    pub quantiles: &'a [Quantile],
}

/// A quantile of a summary.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Quantile {
    /// 0 to 1 when valid.
    pub quantile: f64,
    /// The value of this quantile.
    pub value: f64,
}

impl<'a> MetricBatch<'a> {
    /// Look-up in a range of the attributes.
    pub fn attributes(&self, slice: Slice) -> Attributes<'_, 'a> {
        Attributes(slice.of(&self.attributes))
    }
}
