//! Retries, and requests that only resemble one. DECISIONS 11.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::{Value, json};
use tidewatch_domain::units::SECOND_NS;
use tidewatch_store::tables::Table;

use crate::engines::On;
use crate::harness::{Harness, Project};
use crate::requests::{CLIENT, CONSUMER, NOON_NS, SERVER, export, made, resource};

async fn send(harness: &Harness, project: &Project, signal: &str, body: &Value) {
    harness.post_json(signal, &project.token, body).await.expect(200);
}

/// DURABILITY 7: the same records without times, sent three times.
#[tokio::test]
async fn telemetry_without_times_is_a_retry_for_five_minutes_only() {
    let clock = Arc::new(AtomicI64::new(NOON_NS as i64));
    let (mut harness, project) = Harness::registered_at(&On::sqlite(), &clock, |_| {}).await;
    let record = json!({ "severityNumber": 9, "body": { "stringValue": "backup finished" } });
    let logs =
        json!({ "resourceLogs": [{ "resource": resource("backup"), "scopeLogs": [{ "logRecords": [record] }] }] });
    let metric = json!({ "name": "m", "gauge": { "dataPoints": [{ "asInt": "1" }] } });
    let points =
        json!({ "resourceMetrics": [{ "resource": resource("backup"), "scopeMetrics": [{ "metrics": [metric] }] }] });
    for (seconds, stored) in [(0, 1), (60, 1), (230, 1), (320, 2), (330, 2), (3600, 3)] {
        clock.store(NOON_NS as i64 + seconds * SECOND_NS, Ordering::Relaxed);
        send(&harness, &project, "logs", &logs).await;
        send(&harness, &project, "metrics", &points).await;
        let rows = [Table::Logs, Table::MetricPoints].map(|table| harness.rows(table));
        assert_eq!(rows, [stored; 2], "after {seconds} s");
        if seconds == 60 {
            harness.crash().await;
        }
        if seconds == 320 {
            harness.restart().await;
        }
    }
}

/// DURABILITY 8: both sides of a call as Zipkin's B3 propagation reports them through the Collector: one span id, one
/// parent, two services, two exports.
#[tokio::test]
async fn both_spans_of_a_shared_span_id_are_stored() {
    let (mut harness, project) = Harness::with_project().await;
    // front (1) calls back; the caller's unmatched root is dropped without its children.
    let front = [made(1, 1, CLIENT, "call back", 0.0, 50.0), made(2, 7, CLIENT, "call queue", 1.0, 9.0).parent(6)];
    let get = |trace, span| {
        made(trace, span, SERVER, "GET /stock", 0.001, 40.0)
            .with("http.request.method", "GET")
            .with("http.route", "/stock")
            .with_int("http.response.status_code", 500)
            .exception("OutOfStock", "none left")
    };
    let back = [get(1, 1), made(1, 2, CLIENT, "SELECT", 0.002, 5.0).parent(1)];
    let queue = [made(2, 7, CONSUMER, "restock", 1.001, 5.0).parent(6)];
    let exports = [export("front", &front), export("back", &back), export("queue", &queue)];
    for body in exports.iter().chain(&exports) {
        send(&harness, &project, "traces", body).await;
    }
    let stored = |harness: &Harness| {
        [Table::Spans, Table::Endpoints, Table::Tasks, Table::Exceptions].map(|table| harness.rows(table))
    };
    // The dropped root and four spans.
    assert_eq!(stored(&harness), [4, 1, 1, 1]);
    harness.restart().await;
    // Each span is in its own export: only its own key identifies it as a duplicate.
    for (service, spans) in [("front", &front[..]), ("back", &back[..]), ("queue", &queue[..])] {
        for span in spans {
            send(&harness, &project, "traces", &export(service, &[span.clone(), span.clone()])).await;
        }
    }
    assert_eq!(stored(&harness), [4, 1, 1, 1]);
    let endpoints = harness.query_json(&project, "/api/endpoints/grouped", json!({})).await;
    let row = &endpoints["data"][0];
    assert_eq!(
        (&row["endpoint"], &row["count"], &endpoints["data"][1]),
        (&json!("GET /stock"), &json!(1), &Value::Null)
    );

    // Both sides are shown, the callee's span below the caller's, and the callee's children below that.
    let trace = harness.query_json(&project, &format!("/api/distributed-traces/{:032x}", 2), json!({})).await;
    let spans = trace["spans"].as_array().cloned().unwrap_or_default();
    let shown: Vec<_> = spans.iter().map(|span| (span["name"].clone(), span["depth"].clone())).collect();
    assert_eq!(shown, [(json!("call queue"), json!(0)), (json!("restock"), json!(1))], "{trace}");
}
