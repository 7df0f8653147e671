//! Flat, borrowed views over one OTLP request.
//!
//! A batch is a handful of flat lists; a record points into them by range or index. Text and bytes borrow
//! from the request body, or from the arena when the body spells them differently (JSON escapes, hex ids).

mod ids;
mod log;
mod metric;
mod recycle;
mod trace;
mod value;

pub use ids::{InvalidId, ProjectId, RowId, SpanId, TraceId};
pub use log::{LogBatch, LogRecord};
pub use metric::{HistogramPoint, Metric, MetricBatch, MetricKind, Point, PointData, Temporality};
pub use trace::{Event, Link, Resource, Scope, Span, SpanKind, StatusCode, TraceBatch};
pub use value::{AnyValue, Attributes, Body, KeyValue, Layout, Slice, is_blank, share_keys};

/// The three OTLP signals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Signal {
    Traces,
    Metrics,
    Logs,
}

impl Signal {
    /// `traces`, `metrics` or `logs`: the last segment of the export path.
    pub fn as_str(self) -> &'static str {
        match self {
            Signal::Traces => "traces",
            Signal::Metrics => "metrics",
            Signal::Logs => "logs",
        }
    }
}
