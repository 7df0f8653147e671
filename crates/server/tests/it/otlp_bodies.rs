//! Bodies of exporters: encodings, sizes, decompression bombs, transfer codings, unusual values. OTLP.md.

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
use opentelemetry_proto::tonic::common::v1::{AnyValue, ArrayValue, KeyValue, any_value};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use serde_json::json;
use tidewatch_store::tables::Table;

use crate::client;
use crate::harness::Harness;
use crate::otlp::{JSON, PROTOBUF, deflate, gzip, span, traces, traces_json, traces_of_bytes, zlib, zstd};

const LIMIT: usize = 10 << 20;

// OTLP.md, row "Compression"; DECISIONS 11: a retry in another coding is the same request.
#[tokio::test]
async fn every_coding_carries_the_same_export() {
    let (harness, project) = Harness::with_project().await;
    let (one, two) = (traces((0..600).map(span).collect()), traces((600..1200).map(span).collect()));
    let members = {
        let (head, tail) = two.split_at(two.len() / 2);
        [gzip(head), gzip(tail)].concat()
    };
    for (coding, body, rows) in [
        ("gzip", gzip(&one), 600),
        ("GZIP", gzip(&one), 600),
        ("deflate", zlib(&one), 600),
        ("deflate", deflate(&one), 600),
        ("zstd", zstd(&one), 600),
        ("identity", one.clone(), 600),
        ("gzip", members, 1200),
    ] {
        let headers = [PROTOBUF, ("Content-Encoding", coding)];
        let answer = harness.post_otlp("traces", &project.token, &headers, &body).await.expect(200);
        assert_eq!(answer.body, b"", "{coding}");
        assert_eq!(harness.rows(Table::Spans), rows, "{coding}");
    }
}

// OTLP.md, row "Size"; spec: limits, row "OTLP body"; DECISIONS 21.
#[tokio::test]
async fn ten_megabytes_pass_and_one_byte_more_does_not() {
    let (harness, project) = Harness::with_project().await;
    let (full, over) = (traces_of_bytes(LIMIT), traces_of_bytes(LIMIT + 1));
    for (name, headers, body, expected) in [
        ("plain, at the limit", &[PROTOBUF][..], full.clone(), 200),
        ("plain, one over", &[PROTOBUF], over.clone(), 413),
        ("gzip, at the limit", &[PROTOBUF, ("Content-Encoding", "gzip")], gzip(&full), 200),
        ("gzip, one over", &[PROTOBUF, ("Content-Encoding", "gzip")], gzip(&over), 413),
        ("zstd, one over", &[PROTOBUF, ("Content-Encoding", "zstd")], zstd(&over), 413),
        ("deflate, one over", &[PROTOBUF, ("Content-Encoding", "deflate")], zlib(&over), 413),
        ("gzip bomb", &[PROTOBUF, ("Content-Encoding", "gzip")], gzip(&vec![0; 300 << 20]), 413),
        ("zstd bomb", &[PROTOBUF, ("Content-Encoding", "zstd")], zstd(&vec![0; 300 << 20]), 413),
    ] {
        let answer = harness.post_otlp("traces", &project.token, headers, &body).await;
        assert_eq!(answer.status, expected, "{name}");
    }
    let chunked = [b"POST /api/otel/v1/traces HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/x-protobuf\r\nAuthorization: Bearer ".as_slice(), project.token.as_bytes(), b"\r\nTransfer-Encoding: chunked\r\n\r\n", format!("{:x}\r\n", over.len()).as_bytes(), &over, b"\r\n0\r\n\r\n"].concat();
    client::raw(harness.address(), &chunked).await.expect(413);
}

#[tokio::test]
async fn the_limit_is_a_setting() {
    let mut harness = Harness::start_with(|config| config.otlp_body_bytes_max = 1000).await;
    let project = harness.register().await;
    for (bytes, expected) in [(1000, 200), (1001, 413)] {
        let answer = harness.post_otlp("traces", &project.token, &[PROTOBUF], &traces_of_bytes(bytes)).await;
        assert_eq!(answer.status, expected, "{bytes}");
    }
}

// OTLP.md, row "Transport".
#[tokio::test]
async fn chunked_bodies_and_expect_continue() {
    let (harness, project) = Harness::with_project().await;
    let body = traces_json(2).to_string();
    let (head, tail) = body.split_at(body.len() / 2);
    let token = &project.token;
    let chunked = format!(
        "POST /api/otel/v1/traces HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Authorization: Bearer {token}\r\nTransfer-Encoding: chunked\r\n\r\n\
         {:x}\r\n{head}\r\n{:x}\r\n{tail}\r\n0\r\n\r\n",
        head.len(),
        tail.len()
    );
    client::raw(harness.address(), chunked.as_bytes()).await.expect(200);
    assert_eq!(harness.rows(Table::Spans), 2);

    let expecting = format!(
        "POST /api/otel/v1/traces HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Authorization: Bearer {token}\r\nExpect: 100-continue\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let answer = client::raw(harness.address(), expecting.as_bytes()).await;
    assert_eq!(answer.status, 100, "the interim answer comes first");
    assert!(answer.body.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer.body));
}

// OTLP.md, row "Compression": bodies that do not match their encoding.
#[tokio::test]
async fn damaged_encodings_are_400() {
    let (harness, project) = Harness::with_project().await;
    let whole = gzip(&traces(vec![span(1)]));
    for (coding, body) in [
        ("gzip", traces(vec![span(1)])),
        ("gzip", whole[..whole.len() - 4].to_vec()),
        ("zstd", whole.clone()),
        ("deflate", b"\xff\xff".to_vec()),
    ] {
        let headers = [PROTOBUF, ("Content-Encoding", coding)];
        harness.post_otlp("traces", &project.token, &headers, &body).await.expect(400);
    }
}

// OTLP.md, rows "Empty envelopes", "JSON keys", "JSON other", "Protobuf".
#[tokio::test]
async fn odd_but_readable_exports_are_accepted() {
    let (harness, project) = Harness::with_project().await;
    for body in [
        json!({}),
        json!({"resourceSpans": []}),
        json!({"resourceSpans": [{}]}),
        json!({"resourceSpans": [{"scopeSpans": [{}]}]}),
        json!({"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": []}], "later": {"a": [1, {}]}}], "new": 1}),
    ] {
        let answer = harness.post_json("traces", &project.token, &body).await;
        assert_eq!((answer.status, answer.json()), (200, json!({})), "{body}");
    }
    let mut body = traces_json(1);
    let one = &mut body["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
    one["attributes"] = json!([
        {"key": "empty", "value": {}}, {"key": "none"}, {"key": "int", "value": {"intValue": "9223372036854775807"}},
        {"key": "number", "value": {"intValue": 7}}, {"key": "nan", "value": {"doubleValue": "NaN"}},
        {"key": "bytes", "value": {"bytesValue": "AAEC"}},
    ]);
    one["unknownField"] = json!({"deep": [null, true]});
    harness.post_json("traces", &project.token, &body).await.expect(200);
    assert_eq!(harness.rows(Table::Spans), 1);
}

#[tokio::test]
async fn spans_of_1970_and_2100_and_with_negative_durations_are_stored() {
    let (harness, project) = Harness::with_project().await;
    let at = |number, start, end| Span { start_time_unix_nano: start, end_time_unix_nano: end, ..span(number) };
    let year_2100 = 4_102_444_800_000_000_000;
    let spans = vec![
        at(1, 1, 2),
        at(2, year_2100, year_2100 + 1),
        at(3, 0, 0),
        at(4, 2_000_000_000, 1_000_000_000),
        at(5, u64::MAX, u64::MAX),
    ];
    let body = traces(spans);
    let answer = harness.post_otlp("traces", &project.token, &[PROTOBUF], &body).await.expect(200);
    assert_eq!(harness.rows(Table::Spans), 4);
    // DECISIONS 25: no query could reach a time that does not fit 64-bit nanoseconds.
    let partial_success =
        ExportTraceServiceResponse::decode(&answer.body[..]).expect("protobuf").partial_success.expect("it says so");
    assert_eq!(partial_success.rejected_spans, 1);
}

// OTLP.md, row "JSON other": depth is limited, and no depth stops the server.
#[tokio::test]
async fn deep_nesting_does_not_stop_the_server() {
    let (harness, project) = Harness::with_project().await;
    let mut value = AnyValue { value: Some(any_value::Value::BoolValue(true)) };
    for _ in 0..2000 {
        value = AnyValue { value: Some(any_value::Value::ArrayValue(ArrayValue { values: vec![value] })) };
    }
    let attributes = vec![KeyValue { key: "deep".into(), value: Some(value), ..KeyValue::default() }];
    let body = traces(vec![Span { attributes, ..span(1) }]);
    let protobuf = harness.post_otlp("traces", &project.token, &[PROTOBUF], &body).await;
    let deep = format!("{}1{}", "{\"arrayValue\":{\"values\":[".repeat(50_000), "]}}".repeat(50_000));
    let body =
        format!("{{\"resourceSpans\":[{{\"resource\":{{\"attributes\":[{{\"key\":\"a\",\"value\":{deep}}}]}}}}]}}");
    let json = harness.post_otlp("traces", &project.token, &[JSON], body.as_bytes()).await;
    let skipped = format!("{{\"unknown\":{}{}}}", "[".repeat(200_000), "]".repeat(200_000));
    let unknown = harness.post_otlp("traces", &project.token, &[JSON], skipped.as_bytes()).await;
    for answer in [protobuf, json, unknown] {
        assert!(matches!(answer.status, 200 | 400), "{}", answer.status);
    }
    harness.post_otlp("traces", &project.token, &[PROTOBUF], &traces(vec![span(2)])).await.expect(200);
}

#[tokio::test]
async fn invalid_utf8_does_not_reject_a_batch() {
    let (harness, project) = Harness::with_project().await;
    let mut body = traces(vec![Span { name: "XXXX".into(), ..span(1) }, span(2)]);
    let at = body.windows(4).position(|four| four == b"XXXX").unwrap();
    body[at..at + 2].copy_from_slice(&[0xff, 0xfe]);
    let answer = harness.post_otlp("traces", &project.token, &[PROTOBUF], &body).await;
    assert!(matches!(answer.status, 200 | 400), "{}", answer.status);
    if answer.status == 200 {
        assert_eq!(harness.rows(Table::Spans), 2);
    }
}
