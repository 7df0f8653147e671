//! Decoding allocates per request and not per span. A separate binary, because the counter replaces the global allocator.

use bumpalo::Bump;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, ArrayValue, KeyValue};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::span::Event;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};
use prost::Message;
use tidewatch_domain::decode::{Encoding, traces_into};
use tidewatch_domain::model::TraceBatch;

const SPANS: usize = 512;

fn attribute(key: &str, value: Value) -> KeyValue {
    KeyValue { key: key.to_owned(), value: Some(AnyValue { value: Some(value) }), key_strindex: 0 }
}

fn text(text: &str) -> Value {
    Value::StringValue(text.to_owned())
}

/// A request like the benchmark payload: seven attributes per span, an exception in every 16th.
fn request() -> ExportTraceServiceRequest {
    let spans = (0..SPANS as u64).map(|i| {
        let list = ArrayValue { values: vec![AnyValue { value: Some(text("gzip")) }; 2] };
        let exception = Event {
            name: "exception".to_owned(),
            attributes: vec![attribute("exception.stacktrace", text(&"  at f (a.js:1:2)\n".repeat(20)))],
            ..Event::default()
        };
        Span {
            trace_id: vec![1; 16],
            span_id: (i + 1).to_le_bytes().to_vec(),
            name: format!("GET /orders/{{id}} {i}"),
            kind: 2,
            start_time_unix_nano: 1_795_219_200_050_000_000 + i,
            end_time_unix_nano: 1_795_219_200_060_000_000 + i,
            attributes: vec![
                attribute("http.request.method", text("GET")),
                attribute("http.route", text("/orders/{id}")),
                attribute("url.path", text(&format!("/orders/{i}"))),
                attribute("http.response.status_code", Value::IntValue(200)),
                attribute("user_agent.original", text("Mozilla/5.0 \"ü\"")),
                attribute("sampled", Value::DoubleValue(0.5)),
                attribute("http.request.header.accept-encoding", Value::ArrayValue(list)),
            ],
            events: if i % 16 == 0 { vec![exception] } else { Vec::new() },
            ..Span::default()
        }
    });
    let resource = Resource { attributes: vec![attribute("service.name", text("shop"))], ..Resource::default() };
    let scope_spans = vec![ScopeSpans { spans: spans.collect(), ..ScopeSpans::default() }];
    let block = ResourceSpans { resource: Some(resource), scope_spans, schema_url: String::new() };
    ExportTraceServiceRequest { resource_spans: vec![block] }
}

/// Allocations of the first and of a later decode of the same body, with the batch and the arena reused.
fn allocations(encoding: Encoding, body: &[u8]) -> (u64, u64) {
    let mut kept = TraceBatch::default();
    let mut arena = Bump::new();
    let mut decode = || {
        let mut batch = std::mem::take(&mut kept).recycle();
        let counted = allocation_counter::measure(|| {
            traces_into(encoding, body, usize::MAX, &arena, &mut batch).expect("a valid body");
        });
        assert_eq!((batch.spans.len(), batch.events.len()), (SPANS, SPANS / 16));
        kept = batch.recycle();
        arena.reset();
        counted.count_total
    };
    let first = decode();
    decode();
    (first, decode())
}

#[test]
fn a_span_costs_less_than_a_tenth_of_an_allocation() {
    let request = request();
    for (encoding, body) in [
        (Encoding::Protobuf, request.encode_to_vec()),
        (Encoding::Json, serde_json::to_vec(&request).expect("valid JSON")),
    ] {
        let (first, later) = allocations(encoding, &body);
        // Lists double their capacity; everything else is in the arena.
        assert!(first < SPANS as u64 / 4, "{first} allocations in the first decode from {encoding:?}");
        assert!(later < SPANS as u64 / 10, "{later} allocations in a later decode from {encoding:?}");
        assert!(later <= 4, "{later} allocations in a later decode from {encoding:?}");
    }
}
