//! Flat views that borrow from one OTLP request.
//!
//! A batch consists of flat lists; records refer to them by index or range. Strings and bytes borrow from the request
//! body, or from the arena when the encoding differs (JSON escapes, base64).

mod ids;
mod log;
mod metric;
mod profile;
mod recycle;
mod report;
mod trace;
mod value;

pub use ids::{InvalidId, ProjectId, RowId, SpanId, TraceId};
pub use log::{LogBatch, LogRecord};
pub use metric::{
    ExponentialBuckets, ExponentialHistogramPoint, HistogramPoint, Metric, MetricBatch, MetricKind, Point, PointData,
    Quantile, SummaryPoint, Temporality,
};
pub use profile::{Function, Label, Location, Mapping, Profile, ProfileBatch, ProfileFormat, Sample, SampleType};
pub use report::{
    InvalidItems, NativeId, Recording, ReportBatch, ReportedException, ReportedMetric, Run, RunSpan, Session,
};
pub use trace::{Event, Link, Resource, Scope, Span, SpanKind, StatusCode, TraceBatch};
pub use value::{AnyValue, Attributes, Body, KeyValue, Layout, Slice, is_blank, share_keys};

/// The three OTLP signals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "named as in OTLP")]
pub enum Signal {
    Traces,
    Metrics,
    Logs,
}

impl Signal {
    /// The name in the API: `traces`, `metrics` or `logs`.
    pub fn as_str(self) -> &'static str {
        match self {
            Signal::Traces => "traces",
            Signal::Metrics => "metrics",
            Signal::Logs => "logs",
        }
    }
}

/// The content of an accepted request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RequestKind {
    /// An OTLP export request.
    Otlp(Signal),
    /// A native report: traces, exceptions, metrics and sessions in one body.
    Report,
    /// A profile in the format of pprof. WIRE 2.1.
    Profile,
    /// Profiles as an OTLP export request (`v1development`).
    OtlpProfiles,
}

impl RequestKind {
    /// The name in the API, where it is called the signal: `traces`, `metrics`, `logs`, `reports` or `profiles`.
    pub fn as_str(self) -> &'static str {
        match self {
            RequestKind::Otlp(signal) => signal.as_str(),
            RequestKind::Report => "reports",
            RequestKind::Profile | RequestKind::OtlpProfiles => "profiles",
        }
    }

    /// Whether the request can have spans.
    pub fn has_spans(self) -> bool {
        matches!(self, RequestKind::Otlp(Signal::Traces) | RequestKind::Report)
    }
}

impl From<Signal> for RequestKind {
    fn from(signal: Signal) -> RequestKind {
        RequestKind::Otlp(signal)
    }
}
