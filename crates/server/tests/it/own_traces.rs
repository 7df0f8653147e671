//! The server's own spans: sent to itself without an endless loop; an unreachable endpoint has no effect, requests to a
//! busy one are retried.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::http::StatusCode;
use axum::routing::post;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tidewatch_server::config::Config;
use tidewatch_server::listen::ListenAddress;
use tokio::net::TcpListener;

use crate::client;
use crate::harness::Harness;
use crate::metrics::get;

/// The metrics of the server's own spans: waiting, sent, dropped.
async fn own_span_counts(socket: &Path) -> [u64; 3] {
    let text = get(socket, "/metrics").await;
    ["waiting", "sent_total", "dropped_total"].map(|name| {
        let name = format!("tidewatch_own_spans_{name} ");
        let line = text.lines().find_map(|line| line.strip_prefix(&name)).expect("own spans have their metrics");
        line.parse().expect("a number")
    })
}

async fn until(socket: &Path, what: &str, holds: impl Fn([u64; 3]) -> bool) -> [u64; 3] {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let found = own_span_counts(socket).await;
        if holds(found) {
            return found;
        }
        assert!(Instant::now() < deadline, "{what}: {found:?}");
        tokio::task::yield_now().await;
    }
}

fn with_metrics(config: &mut Config) {
    config.metrics_listen = Some(ListenAddress::Unix(config.data_dir.join("metrics.sock")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_exports_traces_to_itself() {
    let mut harness = Harness::start_with(|config| {
        with_metrics(config);
        config.flush_seconds = 3600;
        let headers = config.data_dir.join("headers");
        if headers.exists() {
            config.traces_endpoint = Some("self".into());
            config.traces_headers_file = Some(headers);
        }
    })
    .await;
    let project = harness.register().await;
    let data = harness.app().process.config.data_dir.clone();
    std::fs::write(data.join("headers"), format!("Authorization=Bearer%20{}\n", project.token)).expect("a file");
    harness.restart().await;

    let socket = data.join("metrics.sock");
    let parent = ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    let unsampled = ("traceparent", "00-0af7651916cd43dd8448eb211c80319d-b7ad6b7169203331-00");
    client::send(harness.address(), "GET", "/api/has-organizations", &[parent], b"").await.expect(200);
    client::send(harness.address(), "GET", "/health", &[unsampled], b"").await.expect(200);
    client::send(harness.address(), "POST", "/api/exception-stack-traces/secret", &[], b"").await.expect(401);
    harness.app().lake.flush().expect("the disk works");
    // Two requests and at least one flush wait, in one or more exports; the health check is not sampled.
    until(&socket, "the first are sent", |[waiting, sent, _]| waiting == 0 && sent >= 2).await;
    let [_, sent, dropped] = own_span_counts(&socket).await;
    assert_eq!(dropped, 0);

    let body = json!({ "fromDate": Value::Null, "toDate": Value::Null });
    let path = format!("/api/endpoints/grouped?projectId={}", project.id);
    let found = harness.api("POST", &path, &body).await.expect(200).json().to_string();
    for endpoint in ["GET /api/has-organizations", "POST /api/exception-stack-traces/{hash}"] {
        assert!(found.contains(endpoint), "{endpoint}: {found}");
    }
    assert!(!found.contains("/health") && !found.contains("/v1/traces"), "{found}");

    // The query was one more request, and exports created none.
    until(&socket, "the query is sent", |[waiting, now, _]| waiting == 0 && now > sent).await;
    let [_, sent, _] = own_span_counts(&socket).await;
    harness.app().lake.flush().expect("the disk works");
    let after = until(&socket, "a flush waits for a request", |[waiting, ..]| waiting > 0).await;
    assert_eq!(after[1..], [sent, 0], "spans of storing spans wait");
    harness.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreachable_endpoint_does_not_affect_the_server() {
    let mut harness = Harness::start_with(|config| {
        with_metrics(config);
        // Nothing listens on the port of `tcpmux`.
        config.traces_endpoint = Some("http://127.0.0.1:1".into());
    })
    .await;
    let socket = harness.app().process.config.data_dir.join("metrics.sock");
    for _ in 0..5 {
        client::send(harness.address(), "GET", "/health", &[], b"").await.expect(200);
    }
    let found = until(&socket, "they wait", |[waiting, ..]| waiting >= 5).await;
    assert_eq!(found[1..], [0, 0]);
    client::send(harness.address(), "GET", "/health", &[], b"").await.expect(200);
    harness.stop().await;
}

/// An OTLP endpoint that responds with the given statuses, and the bodies that it received.
async fn endpoint(mut answers: Vec<u16>) -> (String, Arc<Mutex<Vec<Bytes>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    let seen = Arc::new(Mutex::new(Vec::new()));
    let heard = seen.clone();
    answers.reverse();
    let answers = Arc::new(Mutex::new(answers));
    let take = move |body: Bytes| {
        heard.lock().push(body);
        let status = answers.lock().pop().unwrap_or(200);
        async move { (StatusCode::from_u16(status).expect("a status"), [("Retry-After", "1")]) }
    };
    let router = Router::new().route("/v1/traces", post(take));
    tokio::spawn(async move { axum::serve(listener, router).await });
    (format!("http://{address}"), seen)
}

// OTLP/HTTP, failures: 429, 502, 503 and 504 are retried with the same bytes; other refusals are final.
#[tokio::test(flavor = "multi_thread")]
async fn retryable_refusals_are_sent_again_with_the_same_bytes() {
    let (url, seen) = endpoint(vec![503, 429, 200, 400]).await;
    let mut harness = Harness::start_with(|config| {
        with_metrics(config);
        config.traces_endpoint = std::fs::read_to_string(config.data_dir.join("endpoint")).ok();
    })
    .await;
    let data = harness.app().process.config.data_dir.clone();
    std::fs::write(data.join("endpoint"), url).expect("a file");
    harness.restart().await;
    let socket = data.join("metrics.sock");
    client::send(harness.address(), "GET", "/health", &[], b"").await.expect(200);
    let [_, sent, dropped] = until(&socket, "the third time it is taken", |[_, sent, _]| sent > 0).await;
    assert_eq!((sent, dropped), (1, 0));
    {
        let seen = seen.lock();
        assert_eq!(seen.len(), 3);
        assert!(seen.iter().all(|body| body == &seen[0]), "the same bytes, so that they are stored once");
    }
    client::send(harness.address(), "GET", "/health", &[], b"").await.expect(200);
    let found = until(&socket, "400 is final", |[_, _, dropped]| dropped > 0).await;
    assert_eq!(found, [0, 1, 1]);
    harness.stop().await;
}
