//! Responses to exporters: authentication, statuses, bodies in the request's encoding, CORS, paths. OTLP.md;
//! DECISIONS 19.

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use serde_json::{Value, json};
use tidewatch_store::tables::Table;

use crate::client::{self, Answer};
use crate::harness::Harness;
use crate::otlp::{JSON, PROTOBUF, empty, span, traces, traces_json};

/// `google.rpc.Status`, as a client decodes it.
#[derive(Clone, PartialEq, Message)]
struct Status {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
    #[prost(message, repeated, tag = "3")]
    details: Vec<Any>,
}

#[derive(Clone, PartialEq, Message)]
struct Any {
    #[prost(string, tag = "1")]
    type_url: String,
    #[prost(bytes = "vec", tag = "2")]
    value: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
struct BadRequest {
    #[prost(message, repeated, tag = "1")]
    field_violations: Vec<FieldViolation>,
}

#[derive(Clone, PartialEq, Message)]
struct FieldViolation {
    #[prost(string, tag = "1")]
    field: String,
    #[prost(string, tag = "2")]
    description: String,
}

#[track_caller]
fn status(answer: &Answer) -> Status {
    assert_eq!(answer.header("Content-Type"), Some("application/x-protobuf"));
    Status::decode(answer.body.as_slice()).expect("a google.rpc.Status")
}

// OTLP.md, row "Success body".
#[tokio::test]
async fn full_success_is_an_empty_response_in_the_requests_encoding() {
    let (harness, project) = Harness::with_project().await;
    for signal in ["traces", "metrics", "logs"] {
        for (path, expected) in [("application/x-protobuf", &b""[..]), ("application/json", b"{}")] {
            let body = if expected.is_empty() { empty(signal) } else { b"{}".to_vec() };
            let answer = harness.post_otlp(signal, &project.token, &[("Content-Type", path)], &body).await.expect(200);
            assert_eq!(answer.header("Content-Type"), Some(path), "{signal}");
            assert_eq!(answer.body, expected, "{signal}");
        }
    }
    let answer = harness.post_otlp("traces", &project.token, &[PROTOBUF], &traces(vec![span(1)])).await.expect(200);
    let response = ExportTraceServiceResponse::decode(answer.body.as_slice()).unwrap();
    assert_eq!(response.partial_success, None, "unset on full success");
    let answer = harness.post_json("traces", &project.token, &traces_json(3)).await.expect(200);
    assert_eq!(answer.json(), json!({}));
    assert_eq!(harness.rows(Table::Spans), 3, "the span sent twice is stored once");
}

// OTLP.md, rows "partial_success" and "Protobuf"; DECISIONS 5.
#[tokio::test]
async fn bad_ids_reject_their_span_alone() {
    let (harness, project) = Harness::with_project().await;
    let spans = vec![
        span(1),
        Span { trace_id: vec![1; 15], ..span(2) },
        Span { trace_id: vec![], ..span(3) },
        Span { span_id: vec![0; 8], ..span(4) },
        Span { parent_span_id: vec![0; 8], ..span(5) },
        span(6),
    ];
    let answer = harness.post_otlp("traces", &project.token, &[PROTOBUF], &traces(spans)).await.expect(200);
    let partial = ExportTraceServiceResponse::decode(answer.body.as_slice()).unwrap().partial_success.unwrap();
    assert_eq!(partial.rejected_spans, 3);
    assert_eq!(partial.error_message, "3 spans rejected: trace id is not 16 bytes (2), span id is all zero (1)");
    assert!(harness.rows(Table::Spans) >= 2, "the good ones are stored");

    let mut body = traces_json(2);
    body["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["traceId"] = json!("not hexadecimal");
    let answer = harness.post_json("traces", &project.token, &body).await.expect(200).json();
    assert_eq!(answer["partialSuccess"]["rejectedSpans"], "1", "int64 is text in OTLP JSON");
    assert_eq!(answer["partialSuccess"]["errorMessage"], "1 span rejected: trace id is not 16 bytes (1)");
}

// Spec: authentication, rule 1. OTLP.md, row "Error body".
#[tokio::test]
async fn exports_without_a_project_token_are_refused() {
    let (harness, project) = Harness::with_project().await;
    let wrong = "0".repeat(32);
    for authorization in [
        String::new(),
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        format!("Bearer {wrong}"),
        format!("Basic {}", project.token),
        project.token.clone(),
        format!("Bearer {}", harness.login),
        format!("Bearer {}x", project.token),
    ] {
        let headers = [PROTOBUF, ("Authorization", authorization.as_str())];
        let answer =
            client::send(harness.address(), "POST", "/api/otel/v1/traces", &headers, &traces(vec![span(1)])).await;
        assert_eq!(answer.status, 401, "{authorization}");
        let status = status(&answer);
        assert_eq!((status.code, status.message.as_str()), (16, "missing or wrong project token"), "{authorization}");
    }
    let headers = [JSON, ("Authorization", "Bearer nobody")];
    let answer = client::send(harness.address(), "POST", "/api/otel/v1/logs", &headers, b"{}").await.expect(401);
    assert_eq!(answer.json(), json!({"code": 16, "message": "missing or wrong project token"}));
    assert_eq!(harness.rows(Table::Spans), 0);
}

// OTLP.md, rows "Content-Type" and "Compression".
#[tokio::test]
async fn unknown_types_and_encodings_are_415() {
    let (harness, project) = Harness::with_project().await;
    let body = traces(vec![span(1)]);
    for (headers, expected) in [
        (&[("Content-Type", "Application/X-Protobuf; charset=utf-8")][..], 200),
        (&[("Content-Type", "application/protobuf")], 200),
        (&[PROTOBUF, ("Content-Encoding", "identity")], 200),
        (&[("Content-Type", "text/plain")], 415),
        (&[("Content-Type", "application/octet-stream")], 415),
        (&[], 415),
        (&[PROTOBUF, ("Content-Encoding", "snappy")], 415),
        (&[PROTOBUF, ("Content-Encoding", "br")], 415),
        (&[PROTOBUF, ("Content-Encoding", "gzip, gzip")], 415),
    ] {
        let answer = harness.post_otlp("traces", &project.token, headers, &body).await;
        assert_eq!(answer.status, expected, "{headers:?}");
        if headers.contains(&PROTOBUF) && expected == 415 {
            assert_eq!(status(&answer).code, 12, "{headers:?}");
        }
    }
}

// OTLP.md, row "Error body": 400 carries BadRequest details, in the request's encoding.
#[tokio::test]
async fn undecodable_bodies_are_400_with_details() {
    let (harness, project) = Harness::with_project().await;
    for body in [&b"\xff\xff\xff"[..], b"\x0a\x7f", b"{\"resourceSpans\":[]}"] {
        let answer = harness.post_otlp("traces", &project.token, &[PROTOBUF], body).await.expect(400);
        let status = status(&answer);
        assert_eq!(status.code, 3);
        assert_eq!(status.details[0].type_url, "type.googleapis.com/google.rpc.BadRequest");
        let detail = BadRequest::decode(status.details[0].value.as_slice()).unwrap();
        assert_eq!(detail.field_violations[0].field, "body");
        assert_eq!(detail.field_violations[0].description, status.message);
        assert!(!status.message.is_empty());
    }
    for body in ["not json", "[]", "{\"resourceSpans\":", "{\"resourceSpans\":7}", "", "\u{0}"] {
        let answer = harness.post_otlp("traces", &project.token, &[JSON], body.as_bytes()).await.expect(400);
        assert_eq!(answer.header("Content-Type"), Some("application/json"), "{body}");
        let status = answer.json();
        assert_eq!(status["code"], 3, "{body}");
        assert_eq!(status["details"][0]["@type"], "type.googleapis.com/google.rpc.BadRequest", "{body}");
        assert_eq!(status["details"][0]["fieldViolations"][0]["description"], status["message"], "{body}");
    }
}

// OTLP.md, row "CORS".
#[tokio::test]
async fn browsers_may_export_from_any_origin() {
    let (harness, project) = Harness::with_project().await;
    for path in ["/api/otel/v1/traces", "/api/otel/v1/logs/", "/v1/metrics"] {
        let headers = [
            ("Origin", "https://shop.example"),
            ("Access-Control-Request-Method", "POST"),
            ("Access-Control-Request-Headers", "authorization,content-type,x-custom"),
        ];
        let answer = client::send(harness.address(), "OPTIONS", path, &headers, b"").await.expect(204);
        assert_eq!(answer.header("Access-Control-Allow-Origin"), Some("*"), "{path}");
        assert_eq!(answer.header("Access-Control-Allow-Methods"), Some("POST, OPTIONS"), "{path}");
        let allowed = answer.header("Access-Control-Allow-Headers").unwrap().to_lowercase();
        for name in ["content-type", "content-encoding", "authorization", "traceparent", "tracestate", "x-custom"] {
            assert!(allowed.split(", ").flat_map(|list| list.split(',')).any(|allowed| allowed == name), "{name}");
        }
        assert!(answer.header("Access-Control-Max-Age").is_some());
    }
    for token in [project.token.as_str(), "wrong"] {
        let answer = harness.post_otlp("traces", token, &[JSON, ("Origin", "https://shop.example")], b"{}").await;
        assert_eq!(answer.header("Access-Control-Allow-Origin"), Some("*"));
        assert_eq!(answer.header("Access-Control-Expose-Headers"), Some("Retry-After"));
    }
}

// OTLP.md, row "Paths".
#[tokio::test]
async fn the_paths_of_exporters_are_served() {
    let (harness, project) = Harness::with_project().await;
    let authorization = format!("Bearer {}", project.token);
    let headers = [JSON, ("Authorization", authorization.as_str())];
    for (method, path, expected) in [
        ("POST", "/api/otel/v1/traces", 200),
        ("POST", "/api/otel/v1/traces/", 200),
        ("POST", "/api/otel/v1/metrics/", 200),
        ("POST", "/api/otel/v1/logs/", 200),
        ("POST", "/v1/traces", 200),
        ("POST", "/v1/logs/", 200),
        ("GET", "/api/otel/v1/traces", 405),
        ("PUT", "/v1/logs", 405),
        ("POST", "/api/otel", 404),
        ("POST", "/api/otel/v1/spans", 404),
        ("POST", "/api/otel/v1development/profiles", 200),
    ] {
        let answer = client::send(harness.address(), method, path, &headers, b"{}").await;
        assert_eq!(answer.status, expected, "{method} {path}");
        if expected == 405 {
            assert_eq!(answer.json()["code"], 12, "{path}");
            assert_eq!(answer.header("Allow"), Some("POST, OPTIONS"));
        }
    }
}

// Spec: errors, row 503; OTLP.md, rows "Retryable" and "Throttling".
#[tokio::test]
async fn a_stopping_journal_is_503_with_a_jittered_retry_after() {
    let (harness, project) = Harness::with_project().await;
    let app = harness.app().clone();
    tokio::task::spawn_blocking(move || app.ingest.durable_store.close()).await.unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for number in 0..40 {
        let answer =
            harness.post_otlp("traces", &project.token, &[PROTOBUF], &traces(vec![span(number)])).await.expect(503);
        assert_eq!(status(&answer).code, 14);
        seen.insert(answer.header("Retry-After").unwrap().parse::<u64>().unwrap());
    }
    assert!(seen.iter().all(|seconds| *seconds >= 1), "{seen:?}");
    assert!(seen.len() > 1, "not the same for everybody: {seen:?}");
}

// DECISIONS 4: refusals are counted and shown.
#[tokio::test]
async fn refusals_are_counted_by_reason() {
    let (harness, project) = Harness::with_project().await;
    harness.post_otlp("traces", "wrong", &[PROTOBUF], b"").await.expect(401);
    harness.post_otlp("traces", &project.token, &[PROTOBUF], b"\xff").await.expect(400);
    harness.post_otlp("logs", &project.token, &[], b"").await.expect(415);
    harness.post_otlp("logs", &project.token, &[JSON, ("Content-Encoding", "gzip")], b"{}").await.expect(400);
    let app = harness.app().clone();
    tokio::task::spawn_blocking(move || app.lake.flush()).await.unwrap().unwrap();
    assert_eq!(harness.rows(Table::IngestCounts), 4);
}

#[tokio::test]
async fn health_is_ok_once_started() {
    let harness = Harness::start().await;
    let answer = harness.api("GET", "/health", &Value::Null).await.expect(200);
    assert_eq!(answer.json(), json!({"status": "ok"}));
}
