//! The server's own metrics on their own listener; Unix sockets; readiness and liveness.

use std::path::Path;

use tidewatch_server::listen::ListenAddress;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

use crate::client;
use crate::harness::Harness;
use crate::otlp::{PROTOBUF, span, traces};

/// The response from a Unix socket, with its head.
pub async fn get(socket: &Path, path: &str) -> String {
    let mut stream = UnixStream::connect(socket).await.expect("the server listens");
    let request = format!("GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Forwarded-For: 1.2.3.4\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("the server reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("an answer");
    answer
}

const LOG: &[u8] = br#"{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"a"}}]}]}]}"#;

#[tokio::test]
async fn metrics_have_a_listener_of_their_own() {
    let mut harness = Harness::start_with(|config| {
        config.metrics_listen = Some(ListenAddress::Unix(config.data_dir.join("metrics.sock")));
    })
    .await;
    let project = harness.register().await;
    harness.post_otlp("traces", &project.token, &[PROTOBUF], &traces(vec![span(1)])).await.expect(200);
    harness.post_otlp("traces", "wrong", &[PROTOBUF], b"").await.expect(401);
    harness.post_otlp("logs", &project.token, &[("Content-Type", "application/json")], LOG).await.expect(200);
    harness.post_otlp("logs", &project.token, &[("Content-Type", "application/json")], LOG).await.expect(200);
    let answer = get(&harness.app().process.config.data_dir.join("metrics.sock"), "/metrics").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    for line in [
        "tidewatch_http_requests_total{route=\"/api/otel/v1/traces\",status=\"2xx\"} 1",
        "tidewatch_http_requests_total{route=\"/api/otel/v1/traces\",status=\"4xx\"} 1",
        "tidewatch_http_request_seconds_count{route=\"/api/otel/v1/traces\"} 2",
        "tidewatch_admission_wait_seconds_count 3",
        "tidewatch_journal_wait_seconds_count 3",
        "tidewatch_journal_commit_seconds_count 3",
        "tidewatch_flush_seconds_count 0",
        "tidewatch_merge_seconds_count 0",
        "tidewatch_journal_waiting 0",
        "tidewatch_questions_waiting 0",
        "tidewatch_flush_waiting 0",
        "tidewatch_records_total{signal=\"traces\",outcome=\"kept\",reason=\"\"} 1",
        "tidewatch_records_total{signal=\"logs\",outcome=\"kept\",reason=\"\"} 1",
        "tidewatch_records_total{signal=\"logs\",outcome=\"dropped\",reason=\"duplicate\"} 1",
        "tidewatch_admission_waiting 0",
        "tidewatch_clock_ahead_seconds 0",
        "tidewatch_disk_bytes_max 0",
        "tidewatch_disk_budget_rows_total 0",
        "tidewatch_export_bytes_held 0",
        "tidewatch_rows{table=\"spans\",in=\"memory\"} 1",
        "tidewatch_refused_exports_total{reason=\"bad_token\",signal=\"traces\"} 1",
    ] {
        assert!(answer.lines().any(|found| found == line), "{line}\n{answer}");
    }
    assert!(get(&harness.app().process.config.data_dir.join("metrics.sock"), "/").await.starts_with("HTTP/1.1 404"));
    let lake = &harness.app().lake;
    lake.flush().expect("the disk works");
    lake.merge(harness.app().process.clock.now_ns()).expect("the disk works");
    let answer = get(&harness.app().process.config.data_dir.join("metrics.sock"), "/metrics").await;
    for line in [
        "tidewatch_flush_seconds_count 1",
        "tidewatch_store_failures_total 0",
        "tidewatch_parts{table=\"spans\"} 1",
        "tidewatch_records_total{signal=\"logs\",outcome=\"kept\",reason=\"\"} 1",
    ] {
        assert!(answer.lines().any(|found| found == line), "{line}\n{answer}");
    }
    let public = client::send(harness.address(), "GET", "/metrics", &[], b"").await;
    assert_eq!(public.status, 404, "never on the public listener");
}

#[tokio::test]
async fn a_unix_socket_beside_an_address() {
    let mut harness = Harness::start_with(|config| {
        let path = config.data_dir.join("http.sock");
        config.listen.push(ListenAddress::Unix(path));
    })
    .await;
    let socket = harness.app().process.config.data_dir.join("http.sock");
    for path in ["/health", "/readyz", "/livez"] {
        assert!(get(&socket, path).await.contains("{\"status\":\"ok\"}"), "{path}");
        client::send(harness.address(), "GET", path, &[], b"").await.expect(200);
    }
    // Clients of the socket file are on this machine: they count as a trusted proxy.
    assert!(get(&socket, "/test/address").await.ends_with("1.2.3.4"));
    harness.restart().await;
    assert!(get(&socket, "/health").await.starts_with("HTTP/1.1 200"), "after a restart");
    harness.stop().await;
    assert!(!socket.exists(), "the file goes with the server");
}
