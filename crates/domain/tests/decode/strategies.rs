//! Random requests with many edge cases: empty, huge, nested, repeated, not finite.

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, ArrayValue, InstrumentationScope, KeyValue, KeyValueList};
use opentelemetry_proto::tonic::logs::v1::{LogRecord, ResourceLogs, ScopeLogs};
use opentelemetry_proto::tonic::metrics::v1::*;
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::span::{Event, Link};
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span, Status};
use proptest::collection::vec;
use proptest::prelude::*;

/// Keys from a small set, so that they repeat, and sometimes any text.
pub fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(vec!["http.route", "k", "exception.type", ""]).prop_map(str::to_owned),
        1 => text(),
    ]
}

/// Text with quotes, escapes, controls and characters of every length.
pub fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        2 => "[a-z/ .]{0,12}",
        1 => vec(prop_oneof![prop::sample::select(vec!['"', '\\', '\n', '\0', 'ü', '€', '😀', '/']), any::<char>()], 0..6)
            .prop_map(String::from_iter),
        1 => "[a-zü]{120,200}",
    ]
}

pub fn double() -> impl Strategy<Value = f64> {
    prop_oneof![
        prop::sample::select(vec![0.0, -0.0, 1.0, 0.1, 1e300, 5e-324, f64::INFINITY, f64::NEG_INFINITY, f64::NAN]),
        prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL,
    ]
}

pub fn int() -> impl Strategy<Value = i64> {
    prop_oneof![prop::sample::select(vec![0, 1, -1, i64::MIN, i64::MAX, 127, 128, 1 << 53]), any::<i64>()]
}

fn scalar() -> impl Strategy<Value = Option<Value>> {
    prop_oneof![
        1 => Just(None),
        4 => text().prop_map(|text| Some(Value::StringValue(text))),
        1 => any::<bool>().prop_map(|boolean| Some(Value::BoolValue(boolean))),
        2 => int().prop_map(|number| Some(Value::IntValue(number))),
        1 => double().prop_map(|number| Some(Value::DoubleValue(number))),
        1 => vec(any::<u8>(), 0..7).prop_map(|bytes| Some(Value::BytesValue(bytes))),
    ]
}

pub fn any_value() -> impl Strategy<Value = AnyValue> {
    scalar().prop_map(|value| AnyValue { value }).prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4)
                .prop_map(|values| AnyValue { value: Some(Value::ArrayValue(ArrayValue { values })) }),
            vec((key(), prop::option::weighted(0.9, inner)), 0..4).prop_map(|pairs| {
                let values = pairs.into_iter().map(|(key, value)| pair(key, value)).collect();
                AnyValue { value: Some(Value::KvlistValue(KeyValueList { values })) }
            }),
        ]
    })
}

fn pair(key: String, value: Option<AnyValue>) -> KeyValue {
    KeyValue { key, value, key_strindex: 0 }
}

pub fn attributes() -> impl Strategy<Value = Vec<KeyValue>> {
    vec((key(), prop::option::weighted(0.9, any_value())).prop_map(|(key, value)| pair(key, value)), 0..5)
}

/// Ids, mostly of the right length.
fn id(length: usize) -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        8 => vec(any::<u8>(), length),
        1 => Just(vec![0; length]),
        1 => Just(Vec::new()),
        1 => vec(any::<u8>(), 0..30),
    ]
}

fn time() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(1_795_219_200_050_000_001), Just(u64::MAX), any::<u64>()]
}

fn count() -> impl Strategy<Value = u32> {
    prop_oneof![4 => Just(0), 1 => 0..300u32, 1 => any::<u32>()]
}

fn enum_number() -> impl Strategy<Value = i32> {
    prop_oneof![6 => 0..26, 1 => any::<i32>()]
}

fn resource() -> impl Strategy<Value = Option<Resource>> {
    let resource = (attributes(), count()).prop_map(|(attributes, dropped_attributes_count)| Resource {
        attributes,
        dropped_attributes_count,
        entity_refs: Vec::new(),
    });
    prop::option::weighted(0.9, resource)
}

fn scope() -> impl Strategy<Value = Option<InstrumentationScope>> {
    let scope = (text(), text(), attributes(), count()).prop_map(|(name, version, attributes, dropped)| {
        InstrumentationScope { name, version, attributes, dropped_attributes_count: dropped }
    });
    prop::option::weighted(0.9, scope)
}

fn event() -> impl Strategy<Value = Event> {
    (time(), text(), attributes(), count()).prop_map(|(time_unix_nano, name, attributes, dropped)| Event {
        time_unix_nano,
        name,
        attributes,
        dropped_attributes_count: dropped,
    })
}

fn link() -> impl Strategy<Value = Link> {
    (id(16), id(8), text(), attributes(), count(), count()).prop_map(
        |(trace_id, span_id, trace_state, attributes, dropped_attributes_count, flags)| Link {
            trace_id,
            span_id,
            trace_state,
            attributes,
            dropped_attributes_count,
            flags,
        },
    )
}

fn span() -> impl Strategy<Value = Span> {
    let head = (id(16), id(8), prop_oneof![Just(Vec::new()), id(8)], text(), count(), text(), enum_number());
    let lists = (attributes(), vec(event(), 0..3), vec(link(), 0..3));
    let tail = (time(), time(), count(), count(), count(), prop::option::of((text(), enum_number())));
    (head, lists, tail).prop_map(|(head, lists, tail)| {
        let (trace_id, span_id, parent_span_id, trace_state, flags, name, kind) = head;
        let (attributes, events, links) = lists;
        let (start_time_unix_nano, end_time_unix_nano, attributes_lost, events_lost, links_lost, status) = tail;
        Span {
            trace_id,
            span_id,
            trace_state,
            parent_span_id,
            flags,
            name,
            kind,
            start_time_unix_nano,
            end_time_unix_nano,
            attributes,
            dropped_attributes_count: attributes_lost,
            events,
            dropped_events_count: events_lost,
            links,
            dropped_links_count: links_lost,
            status: status.map(|(message, code)| Status { message, code }),
        }
    })
}

pub fn traces() -> impl Strategy<Value = ExportTraceServiceRequest> {
    let group = (scope(), vec(span(), 0..4), text()).prop_map(|(scope, spans, schema_url)| ScopeSpans {
        scope,
        spans,
        schema_url,
    });
    let block = (resource(), vec(group, 0..3), text()).prop_map(|(resource, scope_spans, schema_url)| ResourceSpans {
        resource,
        scope_spans,
        schema_url,
    });
    vec(block, 0..3).prop_map(|resource_spans| ExportTraceServiceRequest { resource_spans })
}

fn log_record() -> impl Strategy<Value = LogRecord> {
    let head = (time(), time(), enum_number(), text(), prop::option::of(any_value()));
    let tail = (attributes(), count(), count(), id(16), id(8), text());
    (head, tail).prop_map(|(head, tail)| {
        let (time_unix_nano, observed_time_unix_nano, severity_number, severity_text, body) = head;
        let (attributes, dropped_attributes_count, flags, trace_id, span_id, event_name) = tail;
        LogRecord {
            time_unix_nano,
            observed_time_unix_nano,
            severity_number,
            severity_text,
            body,
            attributes,
            dropped_attributes_count,
            flags,
            trace_id,
            span_id,
            event_name,
        }
    })
}

pub fn logs() -> impl Strategy<Value = ExportLogsServiceRequest> {
    let group = (scope(), vec(log_record(), 0..4), text()).prop_map(|(scope, log_records, schema_url)| ScopeLogs {
        scope,
        log_records,
        schema_url,
    });
    let block = (resource(), vec(group, 0..3), text()).prop_map(|(resource, scope_logs, schema_url)| ResourceLogs {
        resource,
        scope_logs,
        schema_url,
    });
    vec(block, 0..3).prop_map(|resource_logs| ExportLogsServiceRequest { resource_logs })
}

fn exemplars() -> impl Strategy<Value = Vec<Exemplar>> {
    let value = prop_oneof![
        Just(None),
        finite().prop_map(|value| Some(exemplar::Value::AsDouble(value))),
        int().prop_map(|value| Some(exemplar::Value::AsInt(value))),
    ];
    let exemplar = (attributes(), time(), id(8), id(16), value).prop_map(
        |(filtered_attributes, time_unix_nano, span_id, trace_id, value)| Exemplar {
            filtered_attributes,
            time_unix_nano,
            span_id,
            trace_id,
            value,
        },
    );
    vec(exemplar, 0..2)
}

/// Metric values without NaN, which JSON of the generated types cannot represent here.
fn finite() -> impl Strategy<Value = f64> {
    double().prop_filter("finite", |value| value.is_finite())
}

fn number_point() -> impl Strategy<Value = NumberDataPoint> {
    let value = prop_oneof![
        Just(None),
        finite().prop_map(|value| Some(number_data_point::Value::AsDouble(value))),
        int().prop_map(|value| Some(number_data_point::Value::AsInt(value))),
    ];
    (attributes(), time(), time(), exemplars(), count(), value).prop_map(
        |(attributes, start_time_unix_nano, time_unix_nano, exemplars, flags, value)| NumberDataPoint {
            attributes,
            start_time_unix_nano,
            time_unix_nano,
            exemplars,
            flags,
            value,
        },
    )
}

fn histogram_point() -> impl Strategy<Value = HistogramDataPoint> {
    let buckets = prop_oneof![
        vec(any::<u64>(), 0..5).prop_map(|counts| {
            let bounds = (1..counts.len()).map(|bound| bound as f64 * 2.5).collect();
            (counts, bounds)
        }),
        (vec(any::<u64>(), 0..5), vec(finite(), 0..5)),
    ];
    let numbers = (any::<u64>(), prop::option::of(finite()), prop::option::of(finite()), prop::option::of(finite()));
    (attributes(), time(), time(), numbers, buckets, exemplars(), count()).prop_map(
        |(attributes, start, time, (count, sum, min, max), (bucket_counts, explicit_bounds), exemplars, flags)| {
            HistogramDataPoint {
                attributes,
                start_time_unix_nano: start,
                time_unix_nano: time,
                count,
                sum,
                bucket_counts,
                explicit_bounds,
                exemplars,
                flags,
                min,
                max,
            }
        },
    )
}

fn exponential_point() -> impl Strategy<Value = ExponentialHistogramDataPoint> {
    let buckets = || {
        let buckets = (any::<i32>(), vec(any::<u64>(), 0..4))
            .prop_map(|(offset, bucket_counts)| exponential_histogram_data_point::Buckets { offset, bucket_counts });
        prop::option::of(buckets)
    };
    (attributes(), time(), time(), finite(), any::<i32>(), buckets(), buckets(), exemplars(), count()).prop_map(
        |(attributes, start, time, number, scale, positive, negative, exemplars, flags)| {
            ExponentialHistogramDataPoint {
                attributes,
                start_time_unix_nano: start,
                time_unix_nano: time,
                count: time,
                sum: Some(number),
                scale,
                zero_count: start,
                positive,
                negative,
                flags,
                exemplars,
                min: None,
                max: Some(number),
                zero_threshold: number,
            }
        },
    )
}

fn summary_point() -> impl Strategy<Value = SummaryDataPoint> {
    let quantiles = vec(
        (finite(), finite()).prop_map(|(quantile, value)| summary_data_point::ValueAtQuantile { quantile, value }),
        0..3,
    );
    (attributes(), time(), time(), finite(), quantiles, count()).prop_map(
        |(attributes, start, time, sum, quantile_values, flags)| SummaryDataPoint {
            attributes,
            start_time_unix_nano: start,
            time_unix_nano: time,
            count: time,
            sum,
            quantile_values,
            flags,
        },
    )
}

fn metric() -> impl Strategy<Value = Metric> {
    let data = prop_oneof![
        Just(None),
        vec(number_point(), 0..3).prop_map(|data_points| Some(metric::Data::Gauge(Gauge { data_points }))),
        (vec(number_point(), 0..3), 0..4, any::<bool>()).prop_map(
            |(data_points, aggregation_temporality, is_monotonic)| {
                Some(metric::Data::Sum(Sum { data_points, aggregation_temporality, is_monotonic }))
            }
        ),
        (vec(histogram_point(), 0..3), 0..4).prop_map(|(data_points, aggregation_temporality)| {
            Some(metric::Data::Histogram(Histogram { data_points, aggregation_temporality }))
        }),
        (vec(exponential_point(), 0..3), 0..4).prop_map(|(data_points, aggregation_temporality)| {
            Some(metric::Data::ExponentialHistogram(ExponentialHistogram { data_points, aggregation_temporality }))
        }),
        vec(summary_point(), 0..3).prop_map(|data_points| Some(metric::Data::Summary(Summary { data_points }))),
    ];
    (text(), text(), text(), attributes(), data).prop_map(|(name, description, unit, metadata, data)| Metric {
        name,
        description,
        unit,
        metadata,
        data,
    })
}

pub fn metrics() -> impl Strategy<Value = ExportMetricsServiceRequest> {
    let group = (scope(), vec(metric(), 0..4), text()).prop_map(|(scope, metrics, schema_url)| ScopeMetrics {
        scope,
        metrics,
        schema_url,
    });
    let block = (resource(), vec(group, 0..3), text())
        .prop_map(|(resource, scope_metrics, schema_url)| ResourceMetrics { resource, scope_metrics, schema_url });
    vec(block, 0..3).prop_map(|resource_metrics| ExportMetricsServiceRequest { resource_metrics })
}
