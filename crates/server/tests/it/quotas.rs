//! Quotas of projects per day and per second, and allowed origins of web pages.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::{Value, json};

use tidewatch_domain::units::SECOND_NS;

use crate::client::Answer;
use crate::engines::On;
use crate::harness::{Harness, Project};
use crate::requests::{self, NOON_NS, request};

/// An export of `spans` spans.
fn export(trace: u64, spans: u64) -> Value {
    let spans: Vec<_> = (0..spans).map(|span| request(trace + span, "/cart", 200, 1.0, 5.0)).collect();
    requests::export("shop", &spans)
}

async fn started(clock: &Arc<AtomicI64>) -> (Harness, Project) {
    Harness::registered_at(&On::sqlite(), clock, |_| {}).await
}

fn noon() -> Arc<AtomicI64> {
    Arc::new(AtomicI64::new(NOON_NS as i64))
}

async fn change(harness: &Harness, project: &Project, change: Value) -> Answer {
    harness.api("PUT", &format!("/api/projects?projectId={}", project.id), &change).await
}

/// The number of trace exports refused for this reason, as the page Connect shows it.
async fn refused(harness: &Harness, project: &Project, reason: &str) -> u64 {
    let body = json!({"fromDate": "2026-06-01T00:00:00Z", "toDate": "2026-06-03T00:00:00Z"});
    let path = format!("/api/drops?projectId={}", project.id);
    let drops = harness.api("POST", &path, &body).await.expect(200).json();
    let counts = drops["data"].as_array().expect("a list").iter();
    counts.filter(|count| count["reason"] == reason).filter_map(|count| count["count"].as_u64()).sum()
}

#[tokio::test]
async fn an_exhausted_daily_quota_is_429_until_midnight() {
    let clock = noon();
    let (mut harness, project) = started(&clock).await;
    let settings = change(&harness, &project, json!({"dailyRecordsMax": 10})).await.expect(200).json();
    assert_eq!(settings["settings"]["dailyRecordsMax"], 10);
    for trace in [100, 200] {
        harness.post_json("traces", &project.token, &export(trace, 6)).await.expect(200);
    }
    let answer = harness.post_json("traces", &project.token, &export(300, 1)).await.expect(429);
    let wait: u64 = answer.header("Retry-After").and_then(|wait| wait.parse().ok()).expect("it is told when");
    assert!((43_200..=44_100).contains(&wait), "midnight, and not all at once: {wait}");
    assert_eq!(answer.json()["code"], 8, "RESOURCE_EXHAUSTED, as google.rpc.Status");
    let other = harness.project("other").await;
    harness.post_json("traces", &other.token, &export(400, 1)).await.expect(200);
    assert_eq!(refused(&harness, &project, "over_quota").await, 1);

    // Records accepted today still count after a stop and after a crash.
    harness.restart().await;
    harness.post_json("traces", &project.token, &export(500, 1)).await.expect(429);
    harness.crash().await;
    harness.post_json("traces", &project.token, &export(500, 1)).await.expect(429);

    clock.fetch_add(12 * 60 * 60 * SECOND_NS, Ordering::Relaxed);
    harness.post_json("traces", &project.token, &export(600, 1)).await.expect(200);
    let settings = change(&harness, &project, json!({"dailyRecordsMax": 0})).await.expect(200).json();
    assert_eq!(settings["settings"]["dailyRecordsMax"], 0);
}

#[tokio::test]
async fn decompressed_bytes_count_and_the_smaller_limit_applies() {
    let clock = noon();
    let (harness, project) =
        Harness::registered_at(&On::sqlite(), &clock, |config| config.project_daily_records = 3).await;
    let body = export(100, 2);
    let bytes = body.to_string().len() as u64;
    change(&harness, &project, json!({"dailyBytesMax": 2 * bytes, "dailyRecordsMax": 1000})).await.expect(200);
    harness.post_json("traces", &project.token, &body).await.expect(200);
    // The same body again is a retry: it is not stored again, but its bytes count as received.
    harness.post_json("traces", &project.token, &body).await.expect(200);
    harness.post_json("traces", &project.token, &export(300, 1)).await.expect(429);
    change(&harness, &project, json!({"dailyBytesMax": 0})).await.expect(200);
    harness.post_json("traces", &project.token, &export(300, 1)).await.expect(429);
    assert_eq!(refused(&harness, &project, "over_quota").await, 2, "the server's own limit holds besides");
    let (status, most) = (422, (1_u64 << 53) + 1);
    change(&harness, &project, json!({ "dailyBytesMax": most })).await.expect(status);
}

#[tokio::test]
async fn a_rate_allows_a_burst_of_ten_seconds() {
    let clock = noon();
    let (harness, project) = started(&clock).await;
    change(&harness, &project, json!({"recordsPerSecondMax": 2})).await.expect(200);
    harness.post_json("traces", &project.token, &export(100, 20)).await.expect(200);
    let answer = harness.post_json("traces", &project.token, &export(200, 1)).await.expect(429);
    let wait: u64 = answer.header("Retry-After").and_then(|wait| wait.parse().ok()).expect("it is told when");
    assert!((1..=5).contains(&wait), "{wait}");
    assert_eq!(refused(&harness, &project, "over_rate").await, 1);
    clock.fetch_add(SECOND_NS, Ordering::Relaxed);
    harness.post_json("traces", &project.token, &export(200, 1)).await.expect(200);
}

#[tokio::test]
async fn origins_that_are_not_on_the_list_are_refused() {
    let clock = noon();
    let (harness, project) = started(&clock).await;
    let send = async |origin: &'static str, trace: u64| {
        let mut headers = vec![("Content-Type", "application/json")];
        if !origin.is_empty() {
            headers.push(("Origin", origin));
        }
        let body = export(trace, 1).to_string();
        harness.post_otlp("traces", &project.token, &headers, body.as_bytes()).await
    };
    send("https://anything.example", 1).await.expect(200);
    let origins = json!({"allowedOrigins": ["https://Shop.example/", "https://*.pay.example", "https://shop.example"]});
    let settings = change(&harness, &project, origins).await.expect(200).json();
    assert_eq!(settings["settings"]["allowedOrigins"], json!(["https://shop.example", "https://*.pay.example"]));
    for (origin, trace, expected) in [
        ("https://shop.example", 2, 200),
        ("https://eu.pay.example", 3, 200),
        // Without an `Origin` header: not a browser.
        ("", 4, 200),
        ("https://evil.example", 5, 403),
        ("null", 6, 403),
    ] {
        let answer = send(origin, trace).await.expect(expected);
        assert_eq!(answer.header("Access-Control-Allow-Origin"), Some("*"), "{origin}: the page may read why");
    }
    assert_eq!(refused(&harness, &project, "origin_not_allowed").await, 2);
    for wrong in ["shop.example", "https://shop.example/page", "*"] {
        change(&harness, &project, json!({ "allowedOrigins": [wrong] })).await.expect(422);
    }
    change(&harness, &project, json!({"allowedOrigins": []})).await.expect(200);
    send("https://evil.example", 7).await.expect(200);
}
