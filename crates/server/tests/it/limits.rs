//! Every limit of `limits.rs`: `docs/operate/limits.md` lists it (`UPDATE_SNAPSHOTS=1` rewrites it), and the server
//! enforces it.
//!
//! Upload limits are in `uploads.rs`, timeouts in `slow.rs`, per-IP windows in `per_ip.rs`.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use tidewatch_limits as limits;

use crate::client;
use crate::harness::Harness;
use crate::otlp::{PROTOBUF, gzip, span, traces, traces_of_bytes, zlib, zstd};

#[test]
fn snapshot_of_the_limits() {
    let mut text = String::from(
        "# Limits\n\nGenerated from `crates/limits` by a test (`make snapshots`). Rows in quotes are those of the \
         [specification](../spec/specification.md), \"Limits\".\n\
         What an operator may change is in [configuration.md](configuration.md).\n\n\
         | Limit | Value | Source |\n|---|---|---|\n",
    );
    for [name, value, source] in tidewatch_server::process::limits_table::table() {
        writeln!(text, "| {name} | {value} | {source} |").expect("writing to a string");
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operate/limits.md");
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs::write(&path, &text).expect("docs can be written");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(written == text, "docs/operate/limits.md is old: run `make snapshots`");
}

/// An empty native report of this size.
fn report_of(bytes: usize) -> Vec<u8> {
    let mut body = b"{}".to_vec();
    body.resize(bytes, b' ');
    body
}

/// Every class of bodies on its own route: a body at the limit passes, and one byte more is 413 in every encoding.
// Spec: limits, rows "OTLP body", "Report and profile body", "Database-writing endpoints body", "Anonymous auth endpoint
// bodies"; errors, row 413; DECISIONS 21.
#[tokio::test]
async fn at_the_limit_passes_and_one_byte_over_does_not() {
    let (harness, project) = Harness::with_project().await;
    for (name, class, _) in limits::CLASSES {
        let max = class.body_bytes_max;
        let (path, bodies) = match name {
            "OTLP" => ("/api/otel/v1/traces", [traces_of_bytes(max), traces_of_bytes(max + 1)]),
            "report and profile" => ("/api/report", [report_of(max), report_of(max + 1)]),
            "JSON" => ("/test/json", [json_of(max), json_of(max + 1)]),
            "anonymous" => ("/test/anonymous", [json_of(max), json_of(max + 1)]),
            "upload" => continue,                // `uploads.rs`
            "logo of a status page" => continue, // `status_pages.rs`
            other => panic!("a new class of bodies: {other}"),
        };
        for (body, expected) in bodies.iter().zip([200, 413]) {
            for (coding, sent) in
                [("identity", body.clone()), ("gzip", gzip(body)), ("zstd", zstd(body)), ("deflate", zlib(body))]
            {
                let authorization = format!("Bearer {}", project.token);
                let headers = [PROTOBUF, ("Authorization", authorization.as_str()), ("Content-Encoding", coding)];
                let answer = client::send(harness.address(), "POST", path, &headers, &sent).await;
                assert_eq!(answer.status, expected, "{name}, {} bytes as {coding}", body.len());
                assert_eq!(answer.header("Retry-After"), None, "{name}: 413 is for good");
                let chunked = client::chunked(harness.address(), path, &headers, &sent).await;
                assert_eq!(chunked.status, expected, "{name}, {} bytes as {coding} in chunks", body.len());
            }
        }
    }
    assert_eq!((harness.app().bodies.held(), harness.app().json_bodies.held()), (0, 0), "all memory is given back");
}

// A declared length reserves no memory; one over the limit is refused before the body is read.
#[tokio::test]
async fn a_declared_length_over_the_limit_is_refused_at_once() {
    let (harness, project) = Harness::with_project().await;
    for (path, class) in [
        ("/api/otel/v1/traces", limits::OTLP),
        ("/api/report", limits::REPORT),
        ("/test/json", limits::JSON),
        ("/test/anonymous", limits::ANONYMOUS),
        ("/test/upload", limits::UPLOAD),
    ] {
        for length in [class.body_bytes_max as u64 + 1, 1 << 62] {
            let head = format!(
                "POST {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {}\r\nContent-Type: application/x-protobuf\r\n\
                 Content-Type: multipart/form-data; boundary=X\r\nContent-Length: {length}\r\n\r\n",
                project.token
            );
            let head = match path {
                "/test/upload" => head.replace("Content-Type: application/x-protobuf\r\n", ""),
                _ => head.replace("Content-Type: multipart/form-data; boundary=X\r\n", ""),
            };
            client::raw(harness.address(), head.as_bytes()).await.expect(413);
        }
    }
}

#[tokio::test]
async fn the_report_limit_is_a_setting() {
    let mut harness = Harness::start_with(|config| config.report_body_mb_max = 1).await;
    let project = harness.register().await;
    let authorization = format!("Bearer {}", project.token);
    for (bytes, expected) in [(1 << 20, 200), ((1 << 20) + 1, 413)] {
        let headers = [("Authorization", authorization.as_str())];
        let answer = client::send(harness.address(), "POST", "/api/report", &headers, &report_of(bytes)).await;
        assert_eq!(answer.status, expected, "{bytes}");
    }
}

// Spec: limits, row "Ingest concurrency"; errors, row 503.
#[tokio::test]
async fn slots_then_a_queue_then_503_with_a_jittered_retry_after() {
    // The setting is below the floor of four slots.
    let mut harness = Harness::start_with(|config| config.ingest_concurrent_max = 1).await;
    let project = harness.register().await;
    let app = harness.app().clone();
    let mut slots = Vec::new();
    for _ in 0..limits::INGEST_CONCURRENT_MIN {
        slots.push(app.admission.enter(u32::MAX).await.unwrap_or_else(|_| panic!("a free slot")));
    }
    let places = limits::INGEST_WAITING_MIN;
    let body = traces(vec![span(1)]);
    let waiting: Vec<_> = (0..places)
        .map(|_| {
            let (address, token, body) = (harness.address(), project.token.clone(), body.clone());
            tokio::spawn(async move {
                let authorization = format!("Bearer {token}");
                let headers = [PROTOBUF, ("Authorization", authorization.as_str())];
                client::send(address, "POST", "/api/otel/v1/traces", &headers, &body).await
            })
        })
        .collect();
    while app.admission.waiting() < places {
        tokio::task::yield_now().await;
    }
    assert_eq!(app.bodies.held(), 0, "who waits holds no memory");
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..30 {
        let answer = harness.post_otlp("traces", &project.token, &[PROTOBUF], &body).await.expect(503);
        seen.insert(answer.header("Retry-After").and_then(|text| text.parse::<u64>().ok()).expect("Retry-After"));
    }
    assert!(seen.len() > 1 && seen.iter().all(|seconds| limits::RETRY_AFTER_SECONDS.contains(seconds)), "{seen:?}");
    drop(slots);
    for answer in waiting {
        answer.await.expect("no panic").expect(200);
    }
    assert_eq!((app.admission.waiting(), app.bodies.held()), (0, 0));
}

/// A JSON document of this many bytes.
fn json_of(bytes: usize) -> Vec<u8> {
    [b"\"".to_vec(), vec![b'a'; bytes - 2], b"\"".to_vec()].concat()
}
