//! Exports for tests: small ones in both encodings, and their spans.

use std::io::Write;

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};
use prost::Message;
use serde_json::{Value, json};

pub const PROTOBUF: (&str, &str) = ("Content-Type", "application/x-protobuf");
pub const JSON: (&str, &str) = ("Content-Type", "application/json");

/// 2026-06-01T12:00:00Z.
pub const NOON_NS: u64 = 1_780_315_200_000_000_000;

/// A client span with an unknown parent: stored as a plain Span, independently of the rules for roots.
pub fn span(number: u64) -> Span {
    Span {
        trace_id: vec![0xab; 16],
        span_id: (number + 1).to_be_bytes().to_vec(),
        parent_span_id: vec![0xcd; 8],
        name: format!("span {number}"),
        kind: 3,
        start_time_unix_nano: NOON_NS,
        end_time_unix_nano: NOON_NS + 1_000_000,
        ..Span::default()
    }
}

pub fn traces(spans: Vec<Span>) -> Vec<u8> {
    let scope_spans = vec![ScopeSpans { spans, ..ScopeSpans::default() }];
    let resource_spans = vec![ResourceSpans { scope_spans, ..ResourceSpans::default() }];
    ExportTraceServiceRequest { resource_spans }.encode_to_vec()
}

/// An export of `count` spans in JSON.
pub fn traces_json(count: u64) -> Value {
    let spans: Vec<Value> = (0..count)
        .map(|number| {
            json!({
                "traceId": "ab".repeat(16), "spanId": format!("{:016x}", number + 1), "parentSpanId": "cd".repeat(8),
                "name": format!("span {number}"), "kind": 3,
                "startTimeUnixNano": NOON_NS.to_string(), "endTimeUnixNano": (NOON_NS + 1_000_000).to_string(),
            })
        })
        .collect();
    json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": spans }] }] })
}

/// A trace export of exactly this many bytes: one span with a long name.
pub fn traces_of_bytes(bytes: usize) -> Vec<u8> {
    let with_name = |length: usize| traces(vec![Span { name: "n".repeat(length), ..span(0) }]);
    let mut length = bytes - 200;
    loop {
        let body = with_name(length);
        match body.len() {
            made if made == bytes => return body,
            made if made < bytes => length += bytes - made,
            made => length -= made - bytes,
        }
    }
}

pub fn empty(signal: &str) -> Vec<u8> {
    match signal {
        "traces" => ExportTraceServiceRequest::default().encode_to_vec(),
        "metrics" => ExportMetricsServiceRequest::default().encode_to_vec(),
        _ => ExportLogsServiceRequest::default().encode_to_vec(),
    }
}

pub fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(body).expect("writing to memory");
    encoder.finish().expect("writing to memory")
}

pub fn zlib(body: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(body).expect("writing to memory");
    encoder.finish().expect("writing to memory")
}

pub fn deflate(body: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(body).expect("writing to memory");
    encoder.finish().expect("writing to memory")
}

pub fn zstd(body: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(body, 1).expect("memory for it")
}
