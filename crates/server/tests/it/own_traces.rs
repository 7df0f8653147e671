//! The server's own spans: sent to itself, without end nowhere; an endpoint that is dead changes nothing.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tidewatch_server::config::Config;
use tidewatch_server::http::socket::ListenAddress;

use crate::client;
use crate::harness::Harness;
use crate::metrics::get;

/// What the figures say of our own spans: waiting, sent, dropped.
async fn figures(socket: &Path) -> [u64; 3] {
    let text = get(socket, "/metrics").await;
    ["waiting", "sent_total", "dropped_total"].map(|name| {
        let name = format!("tidewatch_own_spans_{name} ");
        let line = text.lines().find_map(|line| line.strip_prefix(&name)).expect("own spans have their figures");
        line.parse().expect("a number")
    })
}

async fn until(socket: &Path, what: &str, holds: impl Fn([u64; 3]) -> bool) -> [u64; 3] {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let found = figures(socket).await;
        if holds(found) {
            return found;
        }
        assert!(Instant::now() < deadline, "{what}: {found:?}");
        tokio::task::yield_now().await;
    }
}

fn with_figures(config: &mut Config) {
    config.metrics_listen = Some(ListenAddress::Unix(config.data_dir.join("metrics.sock")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_watches_itself() {
    let mut harness = Harness::start_with(|config| {
        with_figures(config);
        config.flush_seconds = 3600;
        let headers = config.data_dir.join("headers");
        if headers.exists() {
            config.traces_endpoint = Some("self".into());
            config.traces_headers_file = Some(headers);
        }
    })
    .await;
    let project = harness.register().await;
    let data = harness.app().config.data_dir.clone();
    std::fs::write(data.join("headers"), format!("Authorization=Bearer%20{}\n", project.token)).expect("a file");
    harness.restart().await;

    let socket = data.join("metrics.sock");
    let parent = ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    let unsampled = ("traceparent", "00-0af7651916cd43dd8448eb211c80319d-b7ad6b7169203331-00");
    client::send(harness.address(), "GET", "/api/has-organizations", &[parent], b"").await.expect(200);
    client::send(harness.address(), "GET", "/health", &[unsampled], b"").await.expect(200);
    client::send(harness.address(), "POST", "/api/exception-stack-traces/secret", &[], b"").await.expect(401);
    harness.app().intake.lake().flush().expect("the disk works");
    // Two requests and at least one flush wait, together or apart; the health check is not sampled.
    until(&socket, "the first are sent", |[waiting, sent, _]| waiting == 0 && sent >= 2).await;
    let [_, sent, dropped] = figures(&socket).await;
    assert_eq!(dropped, 0);

    let question = json!({ "fromDate": Value::Null, "toDate": Value::Null });
    let path = format!("/api/endpoints/grouped?projectId={}", project.id);
    let found = harness.api("POST", &path, &question).await.expect(200).json().to_string();
    for endpoint in ["GET /api/has-organizations", "POST /api/exception-stack-traces/{hash}"] {
        assert!(found.contains(endpoint), "{endpoint}: {found}");
    }
    assert!(!found.contains("/health") && !found.contains("/v1/traces"), "{found}");

    // The question was a request, and no sending made another.
    until(&socket, "the question is sent", |[waiting, now, _]| waiting == 0 && now > sent).await;
    let [_, sent, _] = figures(&socket).await;
    harness.app().intake.lake().flush().expect("the disk works");
    let after = until(&socket, "a flush waits for a request", |[waiting, ..]| waiting > 0).await;
    assert_eq!(after[1..], [sent, 0], "spans of storing spans wait");
    harness.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_endpoint_changes_nothing_and_is_counted() {
    let harness = Harness::start_with(|config| {
        with_figures(config);
        // Nothing listens on the port of `tcpmux`.
        config.traces_endpoint = Some("http://127.0.0.1:1".into());
    })
    .await;
    let socket = harness.app().config.data_dir.join("metrics.sock");
    for _ in 0..5 {
        client::send(harness.address(), "GET", "/health", &[], b"").await.expect(200);
    }
    let [_, sent, _] = until(&socket, "what cannot be sent is counted", |[_, _, dropped]| dropped >= 5).await;
    assert_eq!(sent, 0);
    client::send(harness.address(), "GET", "/health", &[], b"").await.expect(200);
}
