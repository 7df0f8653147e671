//! Metrics as received.

use super::{Attributes, Body, KeyValue, Resource, Scope, Slice};

/// One metric export request.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MetricBatch<'a> {
    pub body: Body<'a>,
    pub resources: Vec<Resource<'a>>,
    pub scopes: Vec<Scope<'a>>,
    pub metrics: Vec<Metric<'a>>,
    pub points: Vec<Point<'a>>,
    pub attributes: Vec<KeyValue<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Metric<'a> {
    /// Index into `resources`.
    pub resource: u32,
    /// Index into `scopes`.
    pub scope: u32,
    pub name: &'a str,
    pub description: &'a str,
    pub unit: &'a str,
    pub kind: MetricKind,
    pub temporality: Temporality,
    /// Of a sum.
    pub monotonic: bool,
    /// Into `points`.
    pub points: Slice,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
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

/// OTLP numbers; unknown ones read as `Unspecified`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
pub enum Temporality {
    #[default]
    Unspecified = 0,
    Delta = 1,
    Cumulative = 2,
}

impl Temporality {
    pub fn from_number(number: i64) -> Self {
        match number {
            1 => Temporality::Delta,
            2 => Temporality::Cumulative,
            _ => Temporality::Unspecified,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Point<'a> {
    pub attributes: Slice,
    /// Nanoseconds since the epoch; 0 when absent.
    pub start_ns: u64,
    /// Nanoseconds since the epoch; 0 when absent.
    pub time_ns: u64,
    /// Bit 0: "no recorded value".
    pub flags: u32,
    pub data: PointData<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum PointData<'a> {
    /// A number point without a value, or a point of a kind that is not stored (exponential histogram, summary).
    #[default]
    Empty,
    Int(i64),
    Double(f64),
    Histogram(HistogramPoint<'a>),
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct HistogramPoint<'a> {
    pub count: u64,
    pub sum: Option<f64>,
    pub min: Option<f64>,
    pub max: Option<f64>,
    /// Ascending upper bounds; one fewer than `buckets`, or both empty.
    pub bounds: &'a [f64],
    pub buckets: &'a [u64],
}

impl<'a> MetricBatch<'a> {
    pub fn attributes(&self, slice: Slice) -> Attributes<'_, 'a> {
        Attributes(slice.of(&self.attributes))
    }
}
