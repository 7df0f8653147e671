//! OTLP/gRPC: `Export` of the services over HTTP/2. OTLP specification, "OTLP/gRPC"; DECISIONS 11, 19.

use std::io::Write;
use std::net::SocketAddr;

use base64::Engine;
use base64::prelude::BASE64_STANDARD_NO_PAD;
use bytes::Bytes;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Frame;
use hyper::client::conn::http2::{self, SendRequest};
use hyper::{HeaderMap, Request};
use hyper_util::rt::{TokioExecutor, TokioIo};
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::{ExportTraceServiceRequest, ExportTraceServiceResponse};
use opentelemetry_proto::tonic::logs::v1::{LogRecord, ResourceLogs, ScopeLogs};
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};
use prost::Message;
use serde_json::json;
use tidewatch_store::tables::Table;

use crate::client::{arrive, send};
use crate::harness::{Harness, Project};
use crate::profiles;

const TRACES: &str = "opentelemetry.proto.collector.trace.v1.TraceService/Export";
const METRICS: &str = "opentelemetry.proto.collector.metrics.v1.MetricsService/Export";
const LOGS: &str = "opentelemetry.proto.collector.logs.v1.LogsService/Export";
const PROFILES: &str = "opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export";
const HEALTH: &str = "grpc.health.v1.Health/Check";
/// 2026-06-01T12:00:00Z, the time of the server under test.
const NOON: u64 = 1_780_315_200_000_000_000;

type Body = http_body_util::combinators::BoxBody<Bytes, std::convert::Infallible>;

/// The result of a call.
#[derive(Debug)]
struct Called {
    /// `grpc-status` of the trailers, or of the headers.
    status: u16,
    headers: HeaderMap,
    /// The body with its prefix.
    body: Bytes,
}

impl Called {
    fn message(&self) -> String {
        self.headers.get("grpc-message").map_or("", |text| text.to_str().expect("ASCII")).to_owned()
    }
}

async fn connect(address: SocketAddr) -> SendRequest<Body> {
    let stream = tokio::net::TcpStream::connect(address).await.expect("the server listens");
    let (sender, connection) =
        http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.expect("HTTP/2 without an upgrade");
    tokio::spawn(connection);
    sender
}

fn frame(flag: u8, message: &[u8]) -> Vec<u8> {
    [&[flag][..], &(message.len() as u32).to_be_bytes(), message].concat()
}

fn whole(body: Vec<u8>) -> Body {
    Full::new(Bytes::from(body)).boxed()
}

async fn call(client: &mut SendRequest<Body>, path: &str, headers: &[(&str, &str)], body: Body) -> Called {
    let mut request = Request::post(format!("http://tidewatch.example/{path}")).header("te", "trailers");
    if !headers.iter().any(|(name, _)| *name == "content-type") {
        request = request.header("content-type", "application/grpc");
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    client.ready().await.expect("the connection is open");
    let response = client.send_request(request.body(body).expect("a request")).await.expect("a response");
    assert_eq!(response.status(), 200);
    let headers = response.headers().clone();
    let collected = response.into_body().collect().await.expect("the whole response");
    let trailers = collected.trailers().cloned().unwrap_or_default();
    let status = trailers.get("grpc-status").or(headers.get("grpc-status")).expect("a status");
    let status = status.to_str().expect("ASCII").parse().expect("a number");
    Called { status, headers, body: collected.to_bytes() }
}

fn token(project: &Project) -> String {
    format!("Bearer {}", project.token)
}

fn span(number: u8, trace_id: Vec<u8>) -> Span {
    Span {
        trace_id,
        span_id: vec![number; 8],
        parent_span_id: vec![9; 8],
        name: "work".to_owned(),
        kind: 1,
        start_time_unix_nano: NOON,
        end_time_unix_nano: NOON + 1,
        ..Span::default()
    }
}

fn traces(spans: Vec<Span>) -> Vec<u8> {
    let scope_spans = vec![ScopeSpans { spans, ..ScopeSpans::default() }];
    let resource_spans = vec![ResourceSpans { scope_spans, ..ResourceSpans::default() }];
    ExportTraceServiceRequest { resource_spans }.encode_to_vec()
}

fn logs() -> Vec<u8> {
    let log_records = vec![LogRecord { time_unix_nano: NOON, severity_number: 9, ..LogRecord::default() }];
    let scope_logs = vec![ScopeLogs { log_records, ..ScopeLogs::default() }];
    ExportLogsServiceRequest { resource_logs: vec![ResourceLogs { scope_logs, ..ResourceLogs::default() }] }
        .encode_to_vec()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

// An acknowledged call is durable; a retry over the other protocol stores nothing twice. DECISIONS 11.
#[tokio::test]
async fn exports_are_stored_once_whatever_the_protocol() {
    let (mut harness, project) = Harness::with_project().await;
    let (authorization, mut client) = (token(&project), connect(harness.address()).await);
    let headers = [("authorization", authorization.as_str())];
    let rows = |harness: &Harness| (harness.rows(Table::Spans), harness.rows(Table::Logs));
    for _ in 0..2 {
        for (path, body) in [(TRACES, traces(vec![span(1, vec![1; 16])])), (LOGS, logs()), (METRICS, Vec::new())] {
            let called = call(&mut client, path, &headers, whole(frame(0, &body))).await;
            assert_eq!((called.status, &called.body[..]), (0, &[0; 5][..]), "{path}");
            assert_eq!(called.headers["content-type"], "application/grpc");
        }
        assert_eq!(rows(&harness), (1, 1));
    }
    let protobuf = [("Content-Type", "application/x-protobuf")];
    harness.post_otlp("traces", &project.token, &protobuf, &traces(vec![span(1, vec![1; 16])])).await.expect(200);
    harness.post_otlp("logs", &project.token, &protobuf, &logs()).await.expect(200);
    assert_eq!(rows(&harness), (1, 1));
    harness.crash().await;
    assert_eq!(rows(&harness), (1, 1));
    let mut client = connect(harness.address()).await;
    let body = whole(frame(1, &gzip(&logs())));
    let headers = [("authorization", authorization.as_str()), ("grpc-encoding", "gzip")];
    assert_eq!(call(&mut client, LOGS, &headers, body).await.status, 0);
    assert_eq!(rows(&harness), (1, 1), "the same message, compressed, after a crash");
}

// Profiles have the path of OTLP/HTTP: token, limits, partial success, durability, recognition of retries. DECISIONS 11.
#[tokio::test]
async fn profiles_are_stored_once_whatever_the_protocol() {
    let (mut harness, project) = Harness::with_project().await;
    let (authorization, mut client) = (token(&project), connect(harness.address()).await);
    let good = [("authorization", authorization.as_str())];
    let body = profiles::protobuf_request(&profiles::protobuf_profile(2));
    for _ in 0..2 {
        let called = call(&mut client, PROFILES, &good, whole(frame(0, &body))).await;
        assert_eq!((called.status, &called.body[..]), (0, &[0; 5][..]));
    }
    let headers = [("Authorization", authorization.as_str()), ("Content-Type", "application/x-protobuf")];
    send(harness.address(), "POST", "/api/otel/v1development/profiles", &headers, &body).await.expect(200);
    assert_eq!(harness.rows(Table::ProfileSamples), 1);
    harness.crash().await;
    let mut client = connect(harness.address()).await;
    let zipped = [("authorization", authorization.as_str()), ("grpc-encoding", "gzip")];
    assert_eq!(call(&mut client, PROFILES, &zipped, whole(frame(1, &gzip(&body)))).await.status, 0);
    assert_eq!(harness.rows(Table::ProfileSamples), 1, "the same message, compressed, after a crash");

    // Another profile, which both protocols answer alike and store once.
    let time = 1_780_315_200_000_000_000_u64.to_le_bytes();
    let mut other = profiles::protobuf_profile(2);
    let place = other.windows(8).position(|bytes| bytes == time).expect("the time of the profile");
    other[place..place + 8].copy_from_slice(&1_600_000_000_000_000_000_u64.to_le_bytes());
    let other = profiles::protobuf_request(&other);
    let called = call(&mut client, PROFILES, &good, whole(frame(0, &other))).await;
    let http = send(harness.address(), "POST", "/api/otel/v1development/profiles", &headers, &other).await;
    assert_eq!((called.status, http.status), (0, 200));
    assert_eq!(&called.body[5..], &http.body[..]);

    let large = vec![0; 11 << 20];
    for (headers, message, status) in [
        (&[][..], &body, 16),
        (&[("authorization", "Bearer 0123456789")], &body, 16),
        (&good, &large, 8),
        (&good, &vec![0xff; 9], 3),
    ] {
        let called = call(&mut client, PROFILES, headers, whole(frame(0, message))).await;
        assert_eq!(called.status, status, "{called:?}");
    }
    assert_eq!(harness.rows(Table::ProfileSamples), 2);
    // HealthCheckRequest { service = 1 }.
    let name = PROFILES.trim_end_matches("/Export");
    let request = [&[0x0a, name.len() as u8], name.as_bytes()].concat();
    assert_eq!(call(&mut client, HEALTH, &[], whole(frame(0, &request))).await.status, 0);
}

#[tokio::test]
async fn messages_may_be_compressed() {
    let (harness, project) = Harness::with_project().await;
    let (authorization, mut client) = (token(&project), connect(harness.address()).await);
    let zstd = |bytes: &[u8]| zstd::encode_all(bytes, 3).expect("memory takes it");
    let deflate = |bytes: &[u8]| {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).expect("memory takes it");
        encoder.finish().expect("memory takes it")
    };
    let message = |number| traces(vec![span(number, vec![1; 16])]);
    for (number, (encoding, body)) in [
        (1, ("gzip", frame(1, &gzip(&message(1))))),
        (2, ("zstd", frame(1, &zstd(&message(2))))),
        (3, ("deflate", frame(1, &deflate(&message(3))))),
        // A client that names a compression may send single messages without it.
        (4, ("gzip", frame(0, &message(4)))),
        (5, ("identity", frame(0, &message(5)))),
    ] {
        let headers = [("authorization", authorization.as_str()), ("grpc-encoding", encoding)];
        let called = call(&mut client, TRACES, &headers, whole(body)).await;
        assert_eq!((called.status, harness.rows(Table::Spans)), (0, number), "{encoding}");
    }
}

// OTLP specification, partial success.
#[tokio::test]
async fn rejected_records_are_reported() {
    let (harness, project) = Harness::with_project().await;
    let (authorization, mut client) = (token(&project), connect(harness.address()).await);
    let body = traces(vec![span(1, vec![1; 16]), span(2, vec![1; 3])]);
    let called = call(&mut client, TRACES, &[("authorization", &authorization)], whole(frame(0, &body))).await;
    assert_eq!(called.status, 0);
    let partial = ExportTraceServiceResponse::decode(&called.body[5..]).expect("a response").partial_success;
    let partial = partial.expect("a partial success");
    assert_eq!((partial.rejected_spans, harness.rows(Table::Spans)), (1, 1));
    assert!(partial.error_message.starts_with("1 span rejected: trace id"), "{}", partial.error_message);
}

// OTLP specification, failures: exporters do not retry these.
#[tokio::test]
async fn refusals_table() {
    let (harness, project) = Harness::with_project().await;
    let mut client = connect(harness.address()).await;
    let good = token(&project);
    let message = traces(vec![span(1, vec![1; 16])]);
    let large = vec![0; 11 << 20];
    for (headers, body, status, expected) in [
        (&[][..], frame(0, &message), 16, "missing or wrong project token"),
        (&[("authorization", "Bearer 0123456789")], frame(0, &message), 16, "missing or wrong project token"),
        (&[("authorization", &good)], message.clone(), 3, ""),
        (&[("authorization", &good)], Vec::new(), 3, "the gRPC message ended early"),
        (&[("authorization", &good)], frame(2, &message), 3, "the compressed flag of a gRPC message is 0 or 1, not 2"),
        (&[("authorization", &good)], frame(0, &[0xff; 9]), 3, ""),
        (
            &[("authorization", &good)],
            [frame(0, &message), frame(0, &message)].concat(),
            3,
            "the call has more than one gRPC message",
        ),
        (
            &[("authorization", &good)],
            frame(1, &message),
            3,
            "the gRPC message is compressed, but grpc-encoding names no compression",
        ),
        (&[("authorization", &good), ("grpc-encoding", "gzip")], frame(1, &message), 3, ""),
        (&[("authorization", &good), ("grpc-encoding", "snappy")], frame(1, &message), 12, ""),
        (&[("authorization", &good), ("content-type", "application/grpc+json")], frame(0, b"{}"), 12, ""),
        (&[("authorization", &good), ("content-type", "application/grpc-web")], frame(0, &message), 12, ""),
        // Spec: limits, an OTLP batch over 10 MB.
        (&[("authorization", &good)], frame(0, &large), 8, "the request body is larger than 10485760 bytes"),
        (&[("authorization", &good), ("grpc-encoding", "gzip")], frame(1, &gzip(&large)), 8, ""),
    ] {
        let called = call(&mut client, TRACES, headers, whole(body)).await;
        assert_eq!(called.status, status, "{headers:?} {called:?}");
        assert!(called.message().starts_with(expected), "{called:?}");
        assert!(!called.headers.contains_key("grpc-status-details-bin"), "{called:?}");
    }
    assert_eq!(harness.rows(Table::Spans), 0);
    let unknown =
        call(&mut client, "opentelemetry.proto.collector.trace.v1.TraceService/Import", &[], whole(vec![])).await;
    assert_eq!(unknown.status, 12);
    let drops = harness.query_json(&project, "/api/drops", json!({ "fromDate": null, "toDate": null })).await;
    let mut counted: Vec<(String, u64)> = drops["data"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|drop| (crate::harness::text(&drop["reason"]), drop["count"].as_u64().unwrap_or(0)))
        .collect();
    counted.sort();
    let expected = [("bad_encoding", 1), ("grpc", 3), ("malformed", 6), ("too_large", 2)];
    assert_eq!(counted, expected.map(|(reason, count)| (reason.to_owned(), count)));
}

// OTLP specification, throttling: RetryInfo tells when to retry. The quota is the project's own.
#[tokio::test]
async fn a_throttled_client_gets_a_retry_delay() {
    let (harness, project) = Harness::with_project().await;
    let path = format!("/api/projects?projectId={}", project.id);
    harness.api("PUT", &path, &json!({ "dailyRecordsMax": 1 })).await.expect(200);
    let (authorization, mut client) = (token(&project), connect(harness.address()).await);
    let mut last = None;
    for number in 1..4 {
        let body = traces(vec![span(number, vec![1; 16])]);
        last = Some(call(&mut client, TRACES, &[("authorization", &authorization)], whole(frame(0, &body))).await);
    }
    let last = last.expect("three calls");
    assert_eq!(last.status, 8, "{last:?}");
    let details = last.headers.get("grpc-status-details-bin").expect("RetryInfo");
    let details = BASE64_STANDARD_NO_PAD.decode(details).expect("Base64");
    assert!(String::from_utf8_lossy(&details).contains("type.googleapis.com/google.rpc.RetryInfo"));
}

// One connection carries many calls, and a client that disappears inside a message stores nothing.
#[tokio::test]
async fn calls_share_a_connection() {
    let (harness, project) = Harness::with_project().await;
    let authorization = token(&project);
    let client = connect(harness.address()).await;
    let calls = (1..=20).map(|number| {
        let (mut client, authorization) = (client.clone(), authorization.clone());
        tokio::spawn(async move {
            let body = whole(frame(0, &traces(vec![span(number, vec![number; 16])])));
            call(&mut client, TRACES, &[("authorization", &authorization)], body).await.status
        })
    });
    for one in calls.collect::<Vec<_>>() {
        assert_eq!(one.await.expect("no panic"), 0);
    }
    assert_eq!(harness.rows(Table::Spans), 20);

    let body = frame(0, &traces(vec![span(99, vec![99; 16])]));
    let (sender, receiver) = tokio::sync::mpsc::channel::<Bytes>(1);
    sender.send(Bytes::copy_from_slice(&body[..body.len() - 3])).await.expect("the body is open");
    let stream = Streamed(receiver);
    let mut aborted = connect(harness.address()).await;
    let request = Request::post(format!("http://tidewatch.example/{TRACES}"))
        .header("content-type", "application/grpc")
        .header("authorization", &authorization)
        .body(StreamBody::new(stream).boxed())
        .expect("a request");
    let sent = tokio::spawn(async move { aborted.send_request(request).await });
    sent.abort();
    drop(sender);
    let mut client = connect(harness.address()).await;
    let again = call(&mut client, TRACES, &[("authorization", &authorization)], whole(body)).await;
    assert_eq!((again.status, harness.rows(Table::Spans)), (0, 21));
}

// gRPC needs HTTP/2. A client that speaks HTTP/1.1, often a proxy, is told so in the terms of its content type.
#[tokio::test]
async fn calls_over_http_1_table() {
    let (harness, project) = Harness::with_project().await;
    let (authorization, body) = (token(&project), frame(0, &traces(vec![span(1, vec![1; 16])])));
    for (method, content_type, status, expected) in [
        ("POST", "application/grpc", 200, "gRPC needs HTTP/2"),
        ("POST", "application/x-protobuf", 415, "this is a path of OTLP/gRPC"),
        ("GET", "application/grpc", 405, ""),
    ] {
        let headers = [("authorization", authorization.as_str()), ("content-type", content_type)];
        let answer = send(harness.address(), method, &format!("/{TRACES}"), &headers, &body).await.expect(status);
        let grpc = answer.header("grpc-message").unwrap_or_default();
        let text = format!("{grpc}{}", String::from_utf8_lossy(&answer.body));
        assert!(text.contains(expected), "{content_type}: {text}");
        assert_eq!(answer.header("grpc-status"), (status == 200).then_some("12"), "{content_type}");
    }
    assert_eq!(harness.rows(Table::Spans), 0);
}

// Spec: limits, timeouts: less than 1 KB/s after 20 s. Exporters send the message again.
#[tokio::test]
async fn a_slow_message_is_refused_with_a_retry_delay() {
    let (harness, project) = Harness::with_project().await;
    let (authorization, mut client) = (token(&project), connect(harness.address()).await);
    let headers = [("authorization", authorization.as_str())];
    let (sender, receiver) = tokio::sync::mpsc::channel::<Bytes>(1);
    sender.send(Bytes::from_static(&[0, 0, 0, 1])).await.expect("the body is open");
    let called = call(&mut client, TRACES, &headers, StreamBody::new(Streamed(receiver)).boxed());
    tokio::pin!(called);
    tokio::select! {
        early = &mut called => panic!("refused before its time: {early:?}"),
        () = arrive() => {}
    }
    tokio::time::pause();
    let start = tokio::time::Instant::now();
    let called = called.await;
    let seconds = start.elapsed().as_secs();
    assert_eq!((called.status, called.message().as_str()), (14, "the request body came too slowly"));
    assert!(called.headers.contains_key("grpc-status-details-bin"), "{called:?}");
    assert!((20..40).contains(&seconds), "{seconds}");
    drop(sender);
    assert_eq!(harness.app().ingest.refusals_by_kind(), [("slow", "traces", 1)]);
}

/// The pieces of a body as they are sent.
struct Streamed(tokio::sync::mpsc::Receiver<Bytes>);

impl futures_core::Stream for Streamed {
    type Item = Result<Frame<Bytes>, std::convert::Infallible>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

// Load balancers ask for the health of a server and of its services.
#[tokio::test]
async fn health_table() {
    let (harness, _) = Harness::with_project().await;
    let mut client = connect(harness.address()).await;
    let service = |name: &str| [&[0x0a, name.len() as u8][..], name.as_bytes()].concat();
    for (message, status) in [
        (Vec::new(), 0),
        (service("opentelemetry.proto.collector.trace.v1.TraceService"), 0),
        (service("shop.Cart"), 5),
        (vec![0xff], 3),
    ] {
        let called = call(&mut client, HEALTH, &[], whole(frame(0, &message))).await;
        assert_eq!(called.status, status, "{called:?}");
        assert_eq!(called.body.len(), if status == 0 { 7 } else { 0 });
    }
    let called = call(&mut client, HEALTH, &[("grpc-encoding", "snappy")], whole(frame(0, &[]))).await;
    assert_eq!(called.status, 12, "{called:?}");
}
