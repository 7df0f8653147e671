//! Converts generated types to the model, copying everything into an arena.

use bumpalo::Bump;
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1 as proto;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::metrics::v1 as metrics;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value as NumberValue;
use opentelemetry_proto::tonic::resource::v1 as resource;
use opentelemetry_proto::tonic::trace::v1 as trace;
use tidewatch_domain::model::{
    AnyValue, Event, ExponentialBuckets, ExponentialHistogramPoint, HistogramPoint, InvalidId, KeyValue, Layout, Link,
    LogBatch, LogRecord, Metric, MetricBatch, MetricKind, Point, PointData, Quantile, Resource, Scope, Slice, Span,
    SpanId, SpanKind, StatusCode, SummaryPoint, Temporality, TraceBatch, TraceId,
};

pub fn any_value<'a>(value: Option<&proto::AnyValue>, arena: &'a Bump) -> AnyValue<'a> {
    match value.and_then(|value| value.value.as_ref()) {
        None | Some(Value::StringValueStrindex(_)) => AnyValue::Empty,
        Some(Value::StringValue(text)) => AnyValue::Str(arena.alloc_str(text)),
        Some(Value::BoolValue(boolean)) => AnyValue::Bool(*boolean),
        Some(Value::IntValue(number)) => AnyValue::Int(*number),
        Some(Value::DoubleValue(number)) => AnyValue::Double(*number),
        Some(Value::BytesValue(bytes)) => AnyValue::Bytes(arena.alloc_slice_copy(bytes)),
        Some(Value::ArrayValue(list)) => {
            let elements: Vec<_> = list.values.iter().map(|value| any_value(Some(value), arena)).collect();
            AnyValue::Array(arena.alloc_slice_copy(&elements))
        }
        Some(Value::KvlistValue(list)) => AnyValue::Map(attributes(&list.values, arena)),
    }
}

pub fn attributes<'a>(attributes: &[proto::KeyValue], arena: &'a Bump) -> &'a [KeyValue<'a>] {
    let pairs: Vec<_> = attributes
        .iter()
        .map(|pair| KeyValue { key: arena.alloc_str(&pair.key), value: any_value(pair.value.as_ref(), arena) })
        .collect();
    arena.alloc_slice_copy(&pairs)
}

pub fn traces<'a>(request: &ExportTraceServiceRequest, arena: &'a Bump) -> TraceBatch<'a> {
    let mut batch = TraceBatch::default();
    for block in &request.resource_spans {
        let owner = add_resource(block.resource.as_ref(), &block.schema_url, &mut batch.attributes, arena);
        batch.resources.push(owner);
        for group in &block.scope_spans {
            let resource = batch.resources.len() as u32 - 1;
            let owner = add_scope(group.scope.as_ref(), resource, &group.schema_url, &mut batch.attributes, arena);
            batch.scopes.push(owner);
            for span in &group.spans {
                add_span(span, &mut batch, arena);
            }
        }
    }
    batch
}

pub fn logs<'a>(request: &ExportLogsServiceRequest, arena: &'a Bump) -> LogBatch<'a> {
    let mut batch = LogBatch::default();
    for block in &request.resource_logs {
        let owner = add_resource(block.resource.as_ref(), &block.schema_url, &mut batch.attributes, arena);
        batch.resources.push(owner);
        for group in &block.scope_logs {
            let resource = batch.resources.len() as u32 - 1;
            let owner = add_scope(group.scope.as_ref(), resource, &group.schema_url, &mut batch.attributes, arena);
            batch.scopes.push(owner);
            for record in &group.log_records {
                batch.records.push(LogRecord {
                    resource,
                    scope: batch.scopes.len() as u32 - 1,
                    time_ns: record.time_unix_nano,
                    observed_time_ns: record.observed_time_unix_nano,
                    severity_number: if (1..25).contains(&record.severity_number) {
                        record.severity_number as u8
                    } else {
                        0
                    },
                    severity_text: arena.alloc_str(&record.severity_text),
                    body: any_value(record.body.as_ref(), arena),
                    attributes: add_attributes(&record.attributes, &mut batch.attributes, arena),
                    dropped_attributes: record.dropped_attributes_count,
                    flags: record.flags,
                    trace_id: TraceId(id(&record.trace_id)),
                    span_id: SpanId(id(&record.span_id)),
                    event_name: arena.alloc_str(&record.event_name),
                });
            }
        }
    }
    batch
}

pub fn metrics<'a>(request: &ExportMetricsServiceRequest, arena: &'a Bump) -> MetricBatch<'a> {
    let mut batch = MetricBatch::default();
    for block in &request.resource_metrics {
        let owner = add_resource(block.resource.as_ref(), &block.schema_url, &mut batch.attributes, arena);
        batch.resources.push(owner);
        for group in &block.scope_metrics {
            let resource = batch.resources.len() as u32 - 1;
            let owner = add_scope(group.scope.as_ref(), resource, &group.schema_url, &mut batch.attributes, arena);
            batch.scopes.push(owner);
            for metric in &group.metrics {
                add_metric(metric, &mut batch, arena);
            }
        }
    }
    batch
}

fn add_attributes<'a>(list: &[proto::KeyValue], flat: &mut Vec<KeyValue<'a>>, arena: &'a Bump) -> Slice {
    let start = flat.len() as u32;
    flat.extend_from_slice(attributes(list, arena));
    Slice { start, end: flat.len() as u32 }
}

fn add_resource<'a>(
    resource: Option<&resource::Resource>,
    schema_url: &str,
    flat: &mut Vec<KeyValue<'a>>,
    arena: &'a Bump,
) -> Resource<'a> {
    let resource = resource.cloned().unwrap_or_default();
    Resource {
        attributes: add_attributes(&resource.attributes, flat, arena),
        schema_url: arena.alloc_str(schema_url),
        dropped_attributes: resource.dropped_attributes_count,
    }
}

fn add_scope<'a>(
    scope: Option<&proto::InstrumentationScope>,
    resource: u32,
    schema_url: &str,
    flat: &mut Vec<KeyValue<'a>>,
    arena: &'a Bump,
) -> Scope<'a> {
    let scope = scope.cloned().unwrap_or_default();
    Scope {
        resource,
        name: arena.alloc_str(&scope.name),
        version: arena.alloc_str(&scope.version),
        attributes: add_attributes(&scope.attributes, flat, arena),
        schema_url: arena.alloc_str(schema_url),
    }
}

fn id<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().unwrap_or([0; N])
}

// DECISIONS 5.
fn refusal(span: &trace::Span) -> Option<InvalidId> {
    if span.trace_id.len() != 16 {
        Some(InvalidId::TraceId)
    } else if span.trace_id == [0; 16] {
        Some(InvalidId::ZeroTraceId)
    } else if span.span_id.len() != 8 {
        Some(InvalidId::SpanId)
    } else if span.span_id == [0; 8] {
        Some(InvalidId::ZeroSpanId)
    } else if ![0, 8].contains(&span.parent_span_id.len()) {
        Some(InvalidId::ParentSpanId)
    } else {
        None
    }
}

fn add_span<'a>(span: &trace::Span, batch: &mut TraceBatch<'a>, arena: &'a Bump) {
    if let Some(invalid) = refusal(span) {
        return batch.refused.push(invalid);
    }
    let attributes = add_attributes(&span.attributes, &mut batch.attributes, arena);
    let (first_event, first_link) = (batch.events.len() as u32, batch.links.len() as u32);
    for event in &span.events {
        let attributes = add_attributes(&event.attributes, &mut batch.attributes, arena);
        batch.events.push(Event {
            time_ns: event.time_unix_nano,
            name: arena.alloc_str(&event.name),
            attributes,
            dropped_attributes: event.dropped_attributes_count,
        });
    }
    for link in &span.links {
        let attributes = add_attributes(&link.attributes, &mut batch.attributes, arena);
        batch.links.push(Link {
            trace_id: TraceId(id(&link.trace_id)),
            span_id: SpanId(id(&link.span_id)),
            trace_state: arena.alloc_str(&link.trace_state),
            attributes,
            dropped_attributes: link.dropped_attributes_count,
            flags: link.flags,
        });
    }
    let status = span.status.clone().unwrap_or_default();
    batch.spans.push(Span {
        layout: Layout::default(),
        resource: batch.resources.len() as u32 - 1,
        scope: batch.scopes.len() as u32 - 1,
        trace_id: TraceId(id(&span.trace_id)),
        span_id: SpanId(id(&span.span_id)),
        parent_span_id: SpanId(id(&span.parent_span_id)),
        invalid: None,
        trace_state: arena.alloc_str(&span.trace_state),
        name: arena.alloc_str(&span.name),
        kind: SpanKind::from_number(span.kind.into()),
        start_ns: span.start_time_unix_nano,
        end_ns: span.end_time_unix_nano,
        flags: span.flags,
        status: StatusCode::from_number(status.code.into()),
        status_message: arena.alloc_str(&status.message),
        attributes,
        events: Slice { start: first_event, end: batch.events.len() as u32 },
        links: Slice { start: first_link, end: batch.links.len() as u32 },
        dropped_attributes: span.dropped_attributes_count,
        dropped_events: span.dropped_events_count,
        dropped_links: span.dropped_links_count,
    });
}

fn add_metric<'a>(metric: &metrics::Metric, batch: &mut MetricBatch<'a>, arena: &'a Bump) {
    let first = batch.points.len() as u32;
    let (mut temporality, mut monotonic) = (0, false);
    let (kind, points): (_, Vec<Point<'a>>) = match &metric.data {
        None => (MetricKind::Empty, Vec::new()),
        Some(Data::Gauge(gauge)) => {
            let points = gauge.data_points.iter().map(|point| number_point(point, &mut batch.attributes, arena));
            (MetricKind::Gauge, points.collect())
        }
        Some(Data::Sum(sum)) => {
            (temporality, monotonic) = (sum.aggregation_temporality, sum.is_monotonic);
            let points = sum.data_points.iter().map(|point| number_point(point, &mut batch.attributes, arena));
            (MetricKind::Sum, points.collect())
        }
        Some(Data::Histogram(histogram)) => {
            temporality = histogram.aggregation_temporality;
            let points = histogram.data_points.iter().map(|point| histogram_point(point, &mut batch.attributes, arena));
            (MetricKind::Histogram, points.collect())
        }
        Some(Data::ExponentialHistogram(histogram)) => {
            temporality = histogram.aggregation_temporality;
            let points = histogram.data_points.iter().map(|point| Point {
                attributes: add_attributes(&point.attributes, &mut batch.attributes, arena),
                start_ns: point.start_time_unix_nano,
                time_ns: point.time_unix_nano,
                flags: point.flags,
                data: PointData::ExponentialHistogram(arena.alloc(exponential(point, arena))),
            });
            (MetricKind::ExponentialHistogram, points.collect())
        }
        Some(Data::Summary(summary)) => {
            let points = summary.data_points.iter().map(|point| {
                let quantile = |at: &metrics::summary_data_point::ValueAtQuantile| Quantile {
                    quantile: at.quantile,
                    value: at.value,
                };
                let quantiles = arena.alloc_slice_fill_iter(point.quantile_values.iter().map(quantile));
                Point {
                    attributes: add_attributes(&point.attributes, &mut batch.attributes, arena),
                    start_ns: point.start_time_unix_nano,
                    time_ns: point.time_unix_nano,
                    flags: point.flags,
                    data: PointData::Summary(SummaryPoint { count: point.count, sum: point.sum, quantiles }),
                }
            });
            (MetricKind::Summary, points.collect())
        }
    };
    batch.points.extend(points);
    batch.metrics.push(Metric {
        resource: batch.resources.len() as u32 - 1,
        scope: batch.scopes.len() as u32 - 1,
        name: arena.alloc_str(&metric.name),
        description: arena.alloc_str(&metric.description),
        unit: arena.alloc_str(&metric.unit),
        kind,
        temporality: Temporality::from_number(temporality.into()),
        monotonic,
        points: Slice { start: first, end: batch.points.len() as u32 },
    });
}

fn exponential<'a>(point: &metrics::ExponentialHistogramDataPoint, arena: &'a Bump) -> ExponentialHistogramPoint<'a> {
    let buckets = |buckets: &Option<metrics::exponential_histogram_data_point::Buckets>| match buckets {
        Some(buckets) => {
            ExponentialBuckets { offset: buckets.offset, counts: arena.alloc_slice_copy(&buckets.bucket_counts) }
        }
        None => ExponentialBuckets::default(),
    };
    ExponentialHistogramPoint {
        count: point.count,
        sum: point.sum,
        min: point.min,
        max: point.max,
        scale: point.scale,
        zero_count: point.zero_count,
        zero_threshold: point.zero_threshold,
        positive: buckets(&point.positive),
        negative: buckets(&point.negative),
    }
}

fn number_point<'a>(point: &metrics::NumberDataPoint, flat: &mut Vec<KeyValue<'a>>, arena: &'a Bump) -> Point<'a> {
    Point {
        attributes: add_attributes(&point.attributes, flat, arena),
        start_ns: point.start_time_unix_nano,
        time_ns: point.time_unix_nano,
        flags: point.flags,
        data: match point.value {
            None => PointData::Empty,
            Some(NumberValue::AsDouble(value)) => PointData::Double(value),
            Some(NumberValue::AsInt(value)) => PointData::Int(value),
        },
    }
}

fn histogram_point<'a>(
    point: &metrics::HistogramDataPoint,
    flat: &mut Vec<KeyValue<'a>>,
    arena: &'a Bump,
) -> Point<'a> {
    let (bounds, buckets) = (&point.explicit_bounds, &point.bucket_counts);
    let fits = buckets.len() == bounds.len() + 1
        && bounds.iter().all(|bound| bound.is_finite())
        && bounds.windows(2).all(|pair| pair[0] < pair[1]);
    let data = HistogramPoint {
        count: point.count,
        sum: point.sum,
        min: point.min,
        max: point.max,
        bounds: if fits { arena.alloc_slice_copy(bounds) } else { &[] },
        buckets: if fits { arena.alloc_slice_copy(buckets) } else { &[] },
    };
    Point {
        attributes: add_attributes(&point.attributes, flat, arena),
        start_ns: point.start_time_unix_nano,
        time_ns: point.time_unix_nano,
        flags: point.flags,
        data: PointData::Histogram(data),
    }
}
