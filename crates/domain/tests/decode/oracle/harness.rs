//! Decodes any bytes, compares the result with the oracle and panics when they differ. The fuzz targets call this.

use std::collections::HashMap;

use bumpalo::Bump;
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use prost::Message;
use serde_json::from_slice;
use tidewatch_domain::decode::{self, DecodeError, Encoding};
use tidewatch_domain::model::{
    Body, KeyValue, Layout, Metric, MetricBatch, MetricKind, PointData, Signal, Slice, share_keys,
};
use tidewatch_domain::wire::{copy_attribute, encode_attribute};

use super::{assert_same, canonical, convert};

/// Messages of bodies that only our decoders refuse, by design.
const STRICTER: [&str; 3] = ["nested deeper than", "in one request", "too large"];

/// Messages of JSON bodies that only our decoder refuses: the generated types also read an array as an object.
const STRICTER_JSON: [&str; 1] = ["is not an object"];

/// Protobuf: both accept or refuse the body and read the same records, also when the body is repeated.
pub fn protobuf(signal: Signal, body: &[u8]) {
    once(signal, body);
    once(signal, &[body, body].concat());
}

fn once(signal: Signal, body: &[u8]) {
    let arena = Bump::new();
    match signal {
        Signal::Traces => {
            let ours = decode::traces(Encoding::Protobuf, body, &arena);
            let theirs = ExportTraceServiceRequest::decode(body);
            if let Some((ours, theirs)) = agreed(ours, theirs) {
                assert_encoded_attributes(&ours.attributes, &ours.body);
                let lists: Vec<_> = ours.spans.iter().map(|span| (span.attributes, span.layout)).collect();
                assert_layouts(&ours.attributes, &ours.body, &lists);
                assert_same(&canonical::traces(&ours), &canonical::traces(&convert::traces(&theirs, &arena)));
            }
        }
        Signal::Logs => {
            let ours = decode::logs(Encoding::Protobuf, body, &arena);
            let theirs = ExportLogsServiceRequest::decode(body);
            if let Some((ours, theirs)) = agreed(ours, theirs) {
                assert_encoded_attributes(&ours.attributes, &ours.body);
                assert_same(&canonical::logs(&ours), &canonical::logs(&convert::logs(&theirs, &arena)));
            }
        }
        Signal::Metrics => {
            let ours = decode::metrics(Encoding::Protobuf, body, &arena);
            let theirs = ExportMetricsServiceRequest::decode(body);
            if let Some((ours, theirs)) = agreed(ours, theirs) {
                assert_encoded_attributes(&ours.attributes, &ours.body);
                assert_same(&canonical::metrics(&ours), &canonical::metrics(&convert::metrics(&theirs, &arena)));
            }
        }
    }
}

/// Asserts that encoded attributes of the body equal their stored form.
fn assert_encoded_attributes(attributes: &[KeyValue<'_>], body: &Body<'_>) {
    assert_eq!(body.encoded_attributes.len(), attributes.len());
    for (attribute, encoded) in attributes.iter().zip(&body.encoded_attributes) {
        let (mut copied, mut written) = (Vec::new(), Vec::new());
        copy_attribute(attribute, encoded, &mut copied);
        encode_attribute(attribute, &mut written);
        assert_eq!(copied, written, "{attribute:?}");
    }
}

/// Asserts that lists with the same key set number share their keys, and that encoded sizes are right.
fn assert_layouts(attributes: &[KeyValue<'_>], body: &Body<'_>, lists: &[(Slice, Layout)]) {
    let mut known: HashMap<u32, Slice> = HashMap::new();
    for (list, layout) in lists {
        if layout.key_set > 0 {
            let first = *known.entry(layout.key_set).or_insert(*list);
            assert!(share_keys(first.of(attributes), list.of(attributes)), "{first:?} {list:?}");
        }
        if layout.encoded_bytes > 0 {
            let pairs = body.encoded(*list);
            assert!(pairs.iter().all(|pair| !pair.is_empty()), "{list:?}");
            let size: usize = pairs.iter().map(|pair| 1 + pair.len()).sum();
            assert_eq!(size, layout.encoded_bytes as usize, "{list:?}");
        }
    }
}

/// JSON: bodies that the generated types read give the same batch. Our decoder also accepts enum names, 1e3 and null.
pub fn json(signal: Signal, body: &[u8]) {
    let arena = Bump::new();
    if std::str::from_utf8(body).is_err() {
        // The generated types validate UTF-8 only in strings they keep, our decoder everywhere.
        assert!(decode::traces(Encoding::Json, body, &arena).is_err());
        return;
    }
    match signal {
        Signal::Traces => {
            let ours = decode::traces(Encoding::Json, body, &arena);
            let Ok(theirs) = from_slice::<ExportTraceServiceRequest>(body) else { return };
            let Some(ours) = accepted(ours) else { return };
            let theirs = convert::traces(&theirs, &arena);
            assert_same(&canonical::traces(&ours), &canonical::traces(&theirs));
        }
        Signal::Logs => {
            let ours = decode::logs(Encoding::Json, body, &arena);
            let Ok(theirs) = from_slice::<ExportLogsServiceRequest>(body) else { return };
            let Some(ours) = accepted(ours) else { return };
            let theirs = convert::logs(&theirs, &arena);
            assert_same(&canonical::logs(&ours), &canonical::logs(&theirs));
        }
        Signal::Metrics => {
            let ours = decode::metrics(Encoding::Json, body, &arena);
            let Ok(theirs) = from_slice::<ExportMetricsServiceRequest>(body) else { return };
            let theirs = convert::metrics(&theirs, &arena);
            if ours.is_err() && has_empty(&theirs) {
                return;
            }
            let Some(mut ours) = accepted(ours) else { return };
            clear_empty(&mut ours, &theirs);
            assert_same(&canonical::metrics(&ours), &canonical::metrics(&theirs));
        }
    }
}

/// The generated types read unreadable metric data or point values as absent.
fn has_empty(theirs: &MetricBatch<'_>) -> bool {
    theirs.metrics.iter().any(|metric| metric.kind == MetricKind::Empty)
        || theirs.points.iter().any(|point| point.data == PointData::Empty)
}

/// Clears metric data and point values that the generated types read as absent.
fn clear_empty(ours: &mut MetricBatch<'_>, theirs: &MetricBatch<'_>) {
    for (ours, theirs) in ours.metrics.iter_mut().zip(&theirs.metrics) {
        if theirs.kind == MetricKind::Empty {
            let points = Slice { start: theirs.points.start, end: theirs.points.start };
            *ours = Metric { kind: theirs.kind, temporality: theirs.temporality, monotonic: false, points, ..*ours };
        }
    }
    *ours = canonical::metrics(ours);
    for (ours, theirs) in ours.points.iter_mut().zip(&theirs.points) {
        if theirs.data == PointData::Empty {
            ours.data = PointData::Empty;
        }
    }
}

fn agreed<T, U>(ours: Result<T, DecodeError>, theirs: Result<U, prost::DecodeError>) -> Option<(T, U)> {
    match (ours, theirs) {
        (Ok(ours), Ok(theirs)) => Some((ours, theirs)),
        (Err(_), Err(_)) => None,
        (Err(ours), Ok(_)) => {
            assert!(STRICTER.iter().any(|limit| ours.message.contains(limit)), "only we refuse: {ours}");
            None
        }
        // The depth limit of the generated types counts every message, ours only values.
        (Ok(_), Err(theirs)) => {
            assert!(theirs.to_string().contains("recursion limit"), "only they refuse: {theirs}");
            None
        }
    }
}

fn accepted<T>(ours: Result<T, DecodeError>) -> Option<T> {
    match ours {
        Ok(batch) => Some(batch),
        Err(error) => {
            let mut limits = STRICTER.iter().chain(&STRICTER_JSON);
            assert!(limits.any(|limit| error.message.contains(limit)), "only we refuse: {error}");
            None
        }
    }
}
