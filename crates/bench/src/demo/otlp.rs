//! Spans, logs and points of the processes as OTLP export requests.

use std::collections::BTreeMap;

use serde_json::Value;
use tidewatch_domain::encode::{self, LOG_ATTRIBUTES, Message, NUMBER_ATTRIBUTES, SPAN_ATTRIBUTES};
use tidewatch_domain::model::{
    self, AnyValue, HistogramPoint, LogRecord, Metric, MetricKind, Point, PointData, Scope, Signal, SpanId, SpanKind,
    StatusCode, Temporality, TraceId,
};

use super::instance::Instance;

/// Maximum number of records in one export request.
const RECORDS_MAX: usize = 1024;

/// Attributes in order.
pub type Attributes = Vec<(&'static str, Value)>;

/// A span under construction. Times are nanoseconds since the epoch.
#[derive(Debug, Clone)]
pub struct Span {
    /// The process it is from.
    pub instance: Instance,
    /// Trace id.
    pub trace_id: TraceId,
    /// Span id.
    pub span_id: SpanId,
    /// All zero for a root.
    pub parent_id: SpanId,
    /// Span kind.
    pub kind: SpanKind,
    /// Span name.
    pub name: String,
    /// Start.
    pub start_ns: u64,
    /// End.
    pub end_ns: u64,
    /// Whether the parent is in another process.
    pub parent_is_remote: bool,
    /// Whether the status is ERROR.
    pub error: bool,
    /// Attributes.
    pub attributes: Attributes,
    /// Recorded exceptions.
    pub exceptions: Vec<Exception>,
}

/// An `exception` event of a span.
#[derive(Debug, Clone)]
pub struct Exception {
    /// When it was recorded. Nanoseconds since the epoch.
    pub time_ns: u64,
    /// `exception.type`.
    pub kind: String,
    /// `exception.message`.
    pub message: String,
    /// `exception.stacktrace`.
    pub stack_trace: String,
}

/// Encoded records by process.
type Records = BTreeMap<Instance, Vec<Vec<u8>>>;

/// Records that are not exported yet.
#[derive(Default)]
pub struct ExportBuffer {
    spans: Records,
    logs: Records,
    metrics: Records,
    /// Number of spans.
    pub span_count: usize,
}

/// Appends an attribute: an integer, double, boolean, string or a list of those.
fn attribute(message: &mut Message<'_>, field: u8, key: &str, value: &Value) {
    fn scalar(value: &Value) -> AnyValue<'_> {
        match value {
            Value::String(text) => AnyValue::Str(text),
            Value::Bool(flag) => AnyValue::Bool(*flag),
            Value::Number(number) => match number.as_i64() {
                Some(integer) => AnyValue::Int(integer),
                None => number.as_f64().map_or(AnyValue::Empty, AnyValue::Double),
            },
            Value::Null | Value::Array(_) | Value::Object(_) => AnyValue::Empty,
        }
    }
    match value {
        Value::Array(values) => {
            let elements: Vec<AnyValue<'_>> = values.iter().map(scalar).collect();
            message.attribute(field, key, AnyValue::Array(&elements));
        }
        value => message.attribute(field, key, scalar(value)),
    }
}

impl ExportBuffer {
    /// Adds a span.
    pub fn span(&mut self, span: Span) {
        let fields = model::Span {
            trace_id: span.trace_id,
            span_id: span.span_id,
            parent_span_id: span.parent_id,
            flags: 0x1 | 0x100 | if span.parent_is_remote { 0x200 } else { 0 },
            name: &span.name,
            kind: span.kind,
            start_ns: span.start_ns,
            end_ns: span.end_ns,
            status: if span.error { StatusCode::Error } else { StatusCode::Unset },
            ..model::Span::default()
        };
        let mut bytes = Vec::new();
        let mut message = Message(&mut bytes);
        encode::span_fields(&mut message, &fields);
        for (key, value) in &span.attributes {
            attribute(&mut message, SPAN_ATTRIBUTES, key, value);
        }
        for Exception { time_ns, kind, message: text, stack_trace } in &span.exceptions {
            encode::exception(&mut message, *time_ns, kind, text, stack_trace);
        }
        self.span_count += 1;
        self.spans.entry(span.instance).or_default().push(bytes);
    }

    /// Adds a log record. `severity`: OTLP severity number. `span`: the span that logged it, if any.
    pub fn log(&mut self, instance: Instance, time_ns: u64, severity: u8, body: &str, span: Option<&Span>) {
        let severity_text = match severity {
            0..=8 => "DEBUG",
            9..=12 => "INFO",
            13..=16 => "WARN",
            _ => "ERROR",
        };
        let record = LogRecord {
            time_ns,
            severity_number: severity,
            severity_text,
            body: AnyValue::Str(body),
            trace_id: span.map_or_else(TraceId::default, |span| span.trace_id),
            span_id: span.map_or_else(SpanId::default, |span| span.span_id),
            ..LogRecord::default()
        };
        let mut bytes = Vec::new();
        let mut message = Message(&mut bytes);
        encode::log_fields(&mut message, &record);
        message.attribute(LOG_ATTRIBUTES, "logger.name", AnyValue::Str(&format!("{}.main", instance.service.name)));
        self.logs.entry(instance).or_default().push(bytes);
    }

    /// Adds a gauge with one point.
    pub fn gauge(&mut self, instance: Instance, time_ns: u64, name: &str, unit: &str, value: f64) {
        let metric = Metric { name, unit, kind: MetricKind::Gauge, ..Metric::default() };
        let point = Point { time_ns, data: PointData::Double(value), ..Point::default() };
        self.metric(instance, &metric, |points| encode::point(points, &point, |_| {}));
    }

    /// Adds a cumulative counter with one point. `times`: start and time of the point.
    pub fn counter(&mut self, instance: Instance, times: [u64; 2], name: &str, tag: (&str, &str), value: u64) {
        let [start_ns, time_ns] = times;
        let metric = Metric {
            name,
            unit: "1",
            kind: MetricKind::Sum,
            temporality: Temporality::Cumulative,
            monotonic: true,
            ..Metric::default()
        };
        let point = Point { start_ns, time_ns, data: PointData::Int(value.cast_signed()), ..Point::default() };
        self.metric(instance, &metric, |points| {
            encode::point(points, &point, |point| point.attribute(NUMBER_ATTRIBUTES, tag.0, AnyValue::Str(tag.1)));
        });
    }

    /// Adds a delta histogram with one point over `durations_ms`. `times`: start and time of the point.
    pub fn histogram(&mut self, instance: Instance, times: [u64; 2], name: &str, durations_ms: &[f64]) {
        const BOUNDS: [f64; 8] = [5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1000.0];
        let mut buckets = [0u64; BOUNDS.len() + 1];
        for duration in durations_ms {
            buckets[BOUNDS.iter().position(|bound| duration <= bound).unwrap_or(BOUNDS.len())] += 1;
        }
        let [start_ns, time_ns] = times;
        let metric = Metric {
            name,
            unit: "ms",
            kind: MetricKind::Histogram,
            temporality: Temporality::Delta,
            ..Metric::default()
        };
        let data = PointData::Histogram(HistogramPoint {
            count: durations_ms.len() as u64,
            sum: Some(durations_ms.iter().sum()),
            bounds: &BOUNDS,
            buckets: &buckets,
            ..HistogramPoint::default()
        });
        let point = Point { start_ns, time_ns, data, ..Point::default() };
        self.metric(instance, &metric, |points| encode::point(points, &point, |_| {}));
    }

    fn metric(&mut self, instance: Instance, metric: &Metric<'_>, points: impl FnOnce(&mut Message<'_>)) {
        let mut bytes = Vec::new();
        encode::metric_fields(&mut Message(&mut bytes), metric, points);
        self.metrics.entry(instance).or_default().push(bytes);
    }

    /// The requests to export, with the signal of each, as a collector in front of all processes sends them. The buffer
    /// is empty afterwards.
    pub fn take_bodies(&mut self) -> Vec<(Signal, Vec<u8>)> {
        self.span_count = 0;
        let scope = Scope { name: "demo-shop", version: "1.0.0", ..Scope::default() };
        let mut bodies = Vec::new();
        for (signal, records) in [
            (Signal::Traces, std::mem::take(&mut self.spans)),
            (Signal::Logs, std::mem::take(&mut self.logs)),
            (Signal::Metrics, std::mem::take(&mut self.metrics)),
        ] {
            let (mut body, mut count) = (Vec::new(), 0);
            for (instance, list) in records {
                let mut rest = list.as_slice();
                while !rest.is_empty() {
                    let (chunk, next) = rest.split_at(rest.len().min(RECORDS_MAX - count));
                    encode::block(
                        &mut Message(&mut body),
                        |message| instance.describe(message),
                        &scope,
                        |message| chunk.iter().for_each(|record| encode::encoded(message, record)),
                    );
                    (rest, count) = (next, count + chunk.len());
                    if count == RECORDS_MAX {
                        bodies.push((signal, std::mem::take(&mut body)));
                        count = 0;
                    }
                }
            }
            if count > 0 {
                bodies.push((signal, body));
            }
        }
        bodies
    }
}
