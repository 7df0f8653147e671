//! Decodes any bytes and compares with the oracle; panics when the two differ. What the fuzz targets run.

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

/// Bodies that only we refuse, by design, told by our message.
const STRICTER: [&str; 3] = ["nested deeper than", "in one request", "too large"];

/// Bodies that the generated types' JSON reader takes and we refuse: it also reads an array where an object belongs.
const STRICTER_JSON: [&str; 1] = ["is not an object"];

/// Protobuf: accepted and refused alike, and the same records; also when every record comes twice.
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
                assert_stored_as_received(&ours.attributes, &ours.body);
                let lists: Vec<_> = ours.spans.iter().map(|span| (span.attributes, span.layout)).collect();
                assert_layouts(&ours.attributes, &ours.body, &lists);
                assert_same(&canonical::traces(&ours), &canonical::traces(&convert::traces(&theirs, &arena)));
            }
        }
        Signal::Logs => {
            let ours = decode::logs(Encoding::Protobuf, body, &arena);
            let theirs = ExportLogsServiceRequest::decode(body);
            if let Some((ours, theirs)) = agreed(ours, theirs) {
                assert_stored_as_received(&ours.attributes, &ours.body);
                assert_same(&canonical::logs(&ours), &canonical::logs(&convert::logs(&theirs, &arena)));
            }
        }
        Signal::Metrics => {
            let ours = decode::metrics(Encoding::Protobuf, body, &arena);
            let theirs = ExportMetricsServiceRequest::decode(body);
            if let Some((ours, theirs)) = agreed(ours, theirs) {
                assert_stored_as_received(&ours.attributes, &ours.body);
                assert_same(&canonical::metrics(&ours), &canonical::metrics(&convert::metrics(&theirs, &arena)));
            }
        }
    }
}

/// What is said to stand in the body as it is to be stored does.
fn assert_stored_as_received(attributes: &[KeyValue<'_>], body: &Body<'_>) {
    assert_eq!(body.attributes.len(), attributes.len());
    for (attribute, pair) in attributes.iter().zip(&body.attributes) {
        let (mut copied, mut written) = (Vec::new(), Vec::new());
        copy_attribute(attribute, pair, &mut copied);
        encode_attribute(attribute, &mut written);
        assert_eq!(copied, written, "{attribute:?}");
    }
}

/// What is said of lists is so: equal numbers have the same keys, of the same memory, and they take as much as is said.
fn assert_layouts(attributes: &[KeyValue<'_>], body: &Body<'_>, lists: &[(Slice, Layout)]) {
    let mut known: HashMap<u32, Slice> = HashMap::new();
    for (list, layout) in lists {
        if layout.keys > 0 {
            let first = *known.entry(layout.keys).or_insert(*list);
            assert!(share_keys(first.of(attributes), list.of(attributes)), "{first:?} {list:?}");
        }
        if layout.bytes > 0 {
            let pairs = body.pairs(*list);
            assert!(pairs.iter().all(|pair| !pair.is_empty()), "{list:?}");
            assert_eq!(pairs.iter().map(|pair| 1 + pair.len()).sum::<usize>(), layout.bytes as usize, "{list:?}");
        }
    }
}

/// JSON: whatever the generated types read, we read the same. (We read more: names of enums, numbers like 1e3, null.)
pub fn json(signal: Signal, body: &[u8]) {
    let arena = Bump::new();
    if std::str::from_utf8(body).is_err() {
        // They look for broken UTF-8 only in the strings they keep; we, anywhere.
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
            forgive_empty(&mut ours, &theirs);
            assert_same(&canonical::metrics(&ours), &canonical::metrics(&theirs));
        }
    }
}

/// Their JSON reader takes a metric's data, or a point's value, that it cannot read for an absent one.
fn has_empty(theirs: &MetricBatch<'_>) -> bool {
    theirs.metrics.iter().any(|metric| metric.kind == MetricKind::Empty)
        || theirs.points.iter().any(|point| point.data == PointData::Empty)
}

/// Empties in ours what is empty in theirs.
fn forgive_empty(ours: &mut MetricBatch<'_>, theirs: &MetricBatch<'_>) {
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
        // Their bound on nesting counts every message; ours only values.
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
