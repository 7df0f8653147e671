//! An encoder of OTLP export requests, protobuf. The demo, the load tool and the server's own spans use it.
//!
//! [`block`] appends one block of a resource and its records to a request; [`span`], [`log_record`] and [`metric`] append
//! a record to a block. They take the structs of [`crate::model`] and leave out what these hold by range: attributes,
//! events and links are appended afterwards, attributes by [`Message::attribute`] with the number of their field, such as
//! [`SPAN_ATTRIBUTES`].
//!
//! Nothing else in the workspace encodes OTLP; responses to exporters use it too.

mod message;

pub use message::Message;

use crate::model::{
    AnyValue, Event, KeyValue, LogRecord, Metric, MetricKind, Point, PointData, Scope, Span, StatusCode,
};

/// `Resource.attributes`.
pub const RESOURCE_ATTRIBUTES: u8 = 1;
/// `Span.Event.attributes`.
pub const EVENT_ATTRIBUTES: u8 = 3;
/// `LogRecord.attributes`.
pub const LOG_ATTRIBUTES: u8 = 6;
/// `NumberDataPoint.attributes`.
pub const NUMBER_ATTRIBUTES: u8 = 7;
/// `HistogramDataPoint.attributes`.
pub const HISTOGRAM_ATTRIBUTES: u8 = 9;
/// `Span.attributes`.
pub const SPAN_ATTRIBUTES: u8 = 9;

/// The field of a scope block that holds its spans, log records or metrics.
const RECORDS: u32 = 2;
/// The field of a gauge, sum or histogram that holds its points.
const POINTS: u32 = 1;

/// Appends one `ResourceSpans`, `ResourceLogs` or `ResourceMetrics`, which have the same field numbers, to a request.
/// `resource` fills the resource, `records` appends the records of the one scope.
pub fn block(
    request: &mut Message<'_>,
    resource: impl FnOnce(&mut Message<'_>),
    scope: &Scope<'_>,
    records: impl FnOnce(&mut Message<'_>),
) {
    request.message(1, |block| {
        block.message(1, resource);
        block.message(2, |of_scope| {
            of_scope.message(1, |message| {
                message.text(1, scope.name);
                if !scope.version.is_empty() {
                    message.text(2, scope.version);
                }
            });
            records(of_scope);
        });
    });
}

/// Appends a record from its encoded message.
pub fn encoded(records: &mut Message<'_>, record: &[u8]) {
    records.bytes(RECORDS, record);
}

/// Appends a span. `rest` appends its attributes and events.
pub fn span(records: &mut Message<'_>, span: &Span<'_>, rest: impl FnOnce(&mut Message<'_>)) {
    records.message(RECORDS, |message| {
        span_fields(message, span);
        rest(message);
    });
}

/// The fields of a `Span` without its attributes, events and links.
pub fn span_fields(message: &mut Message<'_>, span: &Span<'_>) {
    message.bytes(1, &span.trace_id.0);
    message.bytes(2, &span.span_id.0);
    if !span.trace_state.is_empty() {
        message.text(3, span.trace_state);
    }
    if !span.parent_span_id.is_none() {
        message.bytes(4, &span.parent_span_id.0);
    }
    message.text(5, span.name);
    message.uint(6, span.kind as u64);
    message.fixed64(7, span.start_ns);
    message.fixed64(8, span.end_ns);
    message.fixed32(16, span.flags);
    if span.status != StatusCode::Unset {
        message.message(15, |status| status.uint(3, span.status as u64));
    }
}

/// Appends an event to a span.
pub fn event(span: &mut Message<'_>, event: &Event<'_>, attributes: &[KeyValue<'_>]) {
    span.message(11, |message| {
        message.fixed64(1, event.time_ns);
        message.text(2, event.name);
        for KeyValue { key, value } in attributes {
            message.attribute(EVENT_ATTRIBUTES, key, *value);
        }
    });
}

/// Appends the event by which a span reports an exception.
pub fn exception(span: &mut Message<'_>, time_ns: u64, kind: &str, message: &str, stack_trace: &str) {
    let attributes = [
        KeyValue { key: "exception.type", value: AnyValue::Str(kind) },
        KeyValue { key: "exception.message", value: AnyValue::Str(message) },
        KeyValue { key: "exception.stacktrace", value: AnyValue::Str(stack_trace) },
    ];
    event(span, &Event { time_ns, name: "exception", ..Event::default() }, &attributes);
}

/// Appends a log record. `rest` appends its attributes.
pub fn log_record(records: &mut Message<'_>, record: &LogRecord<'_>, rest: impl FnOnce(&mut Message<'_>)) {
    records.message(RECORDS, |message| {
        log_fields(message, record);
        rest(message);
    });
}

/// The fields of a `LogRecord` without its attributes.
pub fn log_fields(message: &mut Message<'_>, record: &LogRecord<'_>) {
    message.fixed64(1, record.time_ns);
    message.uint(2, u64::from(record.severity_number));
    message.text(3, record.severity_text);
    message.message(5, |any| any.value(record.body));
    if record.flags != 0 {
        message.fixed32(8, record.flags);
    }
    if !record.trace_id.is_none() {
        message.bytes(9, &record.trace_id.0);
    }
    if !record.span_id.is_none() {
        message.bytes(10, &record.span_id.0);
    }
    if record.observed_time_ns != 0 {
        message.fixed64(11, record.observed_time_ns);
    }
}

/// Appends a gauge, sum or histogram. `points` appends its points.
pub fn metric(records: &mut Message<'_>, metric: &Metric<'_>, points: impl FnOnce(&mut Message<'_>)) {
    records.message(RECORDS, |message| metric_fields(message, metric, points));
}

/// The fields of a `Metric`. One of another kind than a gauge, sum or histogram has no points.
pub fn metric_fields(message: &mut Message<'_>, metric: &Metric<'_>, points: impl FnOnce(&mut Message<'_>)) {
    message.text(1, metric.name);
    if !metric.description.is_empty() {
        message.text(2, metric.description);
    }
    message.text(3, metric.unit);
    match metric.kind {
        MetricKind::Gauge => message.message(5, points),
        MetricKind::Sum => message.message(7, |sum| {
            points(sum);
            sum.uint(2, metric.temporality as u64);
            sum.uint(3, u64::from(metric.monotonic));
        }),
        MetricKind::Histogram => message.message(9, |histogram| {
            points(histogram);
            histogram.uint(2, metric.temporality as u64);
        }),
        MetricKind::Empty | MetricKind::ExponentialHistogram | MetricKind::Summary => {}
    }
}

/// Appends a point to a gauge, sum or histogram. `rest` appends its attributes.
pub fn point(data: &mut Message<'_>, point: &Point<'_>, rest: impl FnOnce(&mut Message<'_>)) {
    data.message(POINTS, |message| {
        if point.start_ns != 0 {
            message.fixed64(2, point.start_ns);
        }
        message.fixed64(3, point.time_ns);
        match point.data {
            PointData::Empty | PointData::ExponentialHistogram(_) | PointData::Summary(_) => {}
            PointData::Int(value) => message.fixed64(6, value.cast_unsigned()),
            PointData::Double(value) => message.double(4, value),
            PointData::Histogram(histogram) => {
                message.fixed64(4, histogram.count);
                if let Some(sum) = histogram.sum {
                    message.double(5, sum);
                }
                message.packed_fixed64(6, histogram.buckets.iter().copied());
                message.packed_fixed64(7, histogram.bounds.iter().map(|bound| bound.to_bits()));
            }
        }
        rest(message);
    });
}
