//! Extreme times: of senders, and of the server when its clock jumps. DECISIONS 25.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use tidewatch_domain::units::{DAY_NS, SECOND_NS};
use tidewatch_store::TelemetryStore;

use serde_json::{Value, json};
use tidewatch_store::tables::Table;

use crate::client::Answer;
use crate::engines::On;
use crate::harness::{Harness, Project};
use crate::requests::{NOON_NS, SERVER, export, made, request, resource};

const NOON: i64 = NOON_NS as i64;

fn days_before_noon(days: i64) -> u64 {
    (NOON - days * DAY_NS) as u64
}

/// A root request at this time in nanoseconds.
fn at(trace: u64, time_ns: u64) -> Value {
    let mut export = export("shop", &[request(trace, "/cart", 200, 0.0, 5.0)]);
    let span = &mut export["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
    span["startTimeUnixNano"] = time_ns.to_string().into();
    span["endTimeUnixNano"] = time_ns.saturating_add(5_000_000).to_string().into();
    export
}

fn logs(times: &[u64]) -> Value {
    let record = |time: &u64| json!({ "timeUnixNano": time.to_string(), "body": { "stringValue": "line" } });
    let records: Vec<Value> = times.iter().map(record).collect();
    json!({ "resourceLogs": [{ "resource": resource("shop"), "scopeLogs": [{ "logRecords": records }] }] })
}

fn points(times: &[u64]) -> Value {
    let points: Vec<Value> =
        times.iter().map(|time| json!({ "timeUnixNano": time.to_string(), "asInt": "1" })).collect();
    let metric = json!({ "name": "m", "gauge": { "dataPoints": points } });
    json!({ "resourceMetrics": [{ "resource": resource("shop"), "scopeMetrics": [{ "metrics": [metric] }] }] })
}

async fn send(harness: &Harness, project: &Project, signal: &str, body: &Value) -> Answer {
    harness.post_json(signal, &project.token, body).await.expect(200)
}

fn sentence(answer: Answer) -> Value {
    answer.json()["partialSuccess"]["errorMessage"].clone()
}

/// Dropped records of all signals, by reason.
async fn dropped(harness: &Harness, project: &Project) -> Vec<(String, u64)> {
    let found = harness.query_json(project, "/api/drops", json!({ "fromDate": null, "toDate": null })).await;
    let rows = found["data"].as_array().expect("a list");
    let mut counts: Vec<_> = rows
        .iter()
        .map(|row| (row["reason"].as_str().unwrap_or_default().to_owned(), row["count"].as_u64().unwrap_or(0)))
        .collect();
    counts.sort();
    counts
}

/// DURABILITY 11: no query could reach these times.
#[tokio::test]
async fn times_that_do_not_fit_are_refused_one_by_one() {
    let (harness, project) = Harness::with_project().await;
    let mut spans = export("shop", &[1, 2].map(|trace| request(trace, "/cart", 200, 0.0, 5.0)));
    spans["resourceSpans"][0]["scopeSpans"][0]["spans"][1]["startTimeUnixNano"] = (1_u64 << 63).to_string().into();
    let invalid = "1 span rejected: time does not fit 64-bit nanoseconds (1)";
    assert_eq!(sentence(send(&harness, &project, "traces", &spans).await), invalid);
    let message = sentence(send(&harness, &project, "logs", &logs(&[NOON_NS, i64::MAX as u64, u64::MAX])).await);
    assert_eq!(message, "2 log records rejected: time does not fit 64-bit nanoseconds (2)");
    let message = sentence(send(&harness, &project, "metrics", &points(&[NOON_NS, i64::MAX as u64])).await);
    assert_eq!(message, "1 data point rejected: time does not fit 64-bit nanoseconds (1)");
    let expected = [1, 1, 2].map(|count| ("invalid_time".to_owned(), count));
    assert_eq!(dropped(&harness, &project).await, expected);
    let rows = [Table::Spans, Table::Endpoints, Table::Logs, Table::MetricPoints].map(|table| harness.rows(table));
    assert_eq!(rows, [1, 1, 1, 1], "the others are stored");
}

/// DURABILITY 12: records that retention would remove at once are not stored, and the response says so.
#[tokio::test]
async fn records_older_than_the_retention_are_refused_one_by_one() {
    let clock = Arc::new(AtomicI64::new(NOON));
    let (mut harness, project) =
        Harness::registered_at(&On::sqlite(), &clock, |config| config.retention_days = 30).await;
    let midnight = (NOON - 30 * DAY_NS).div_euclid(DAY_NS) * DAY_NS;
    let times = [midnight as u64 - 1, midnight as u64, NOON_NS, 0];
    let old = "1 log record rejected: older than the project's retention (1)";
    assert_eq!(sentence(send(&harness, &project, "logs", &logs(&times)).await), old);
    let old = "1 data point rejected: older than the project's retention (1)";
    assert_eq!(sentence(send(&harness, &project, "metrics", &points(&times)).await), old);
    let old = "1 span rejected: older than the project's retention (1)";
    assert_eq!(sentence(send(&harness, &project, "traces", &at(1, midnight as u64 - 1)).await), old);
    send(&harness, &project, "traces", &at(2, midnight as u64)).await;
    let stored = |harness: &Harness| {
        [Table::Spans, Table::Endpoints, Table::Logs, Table::MetricPoints].map(|table| harness.rows(table))
    };
    assert_eq!(stored(&harness), [1, 1, 3, 3]);
    let reasons: Vec<String> = dropped(&harness, &project).await.into_iter().map(|(reason, _)| reason).collect();
    assert_eq!(reasons, ["too_old"; 3]);

    // A replay repeats the decision, whatever the time and the setting are by then.
    clock.fetch_add(20 * SECOND_NS, Ordering::Relaxed);
    harness.change(|config| config.retention_days = 365);
    harness.crash().await;
    assert_eq!(stored(&harness), [1, 1, 3, 3]);
    assert_eq!(dropped(&harness, &project).await.len(), 3);
    assert_eq!(sentence(send(&harness, &project, "traces", &at(3, midnight as u64 - 1)).await), Value::Null);

    // The project's setting applies.
    let path = format!("/api/projects?projectId={}", project.id);
    harness.api("PUT", &path, &json!({ "retentionDays": 7 })).await.expect(200);
    let old = "1 span rejected: older than the project's retention (1)";
    assert_eq!(sentence(send(&harness, &project, "traces", &at(4, days_before_noon(8))).await), old);
    assert_eq!(sentence(send(&harness, &project, "traces", &at(5, days_before_noon(7))).await), Value::Null);
}

/// DURABILITY 3 and DECISIONS 25: neither retention nor the age limit follows a clock that jumped.
#[tokio::test]
async fn a_clock_that_jumps_ahead_loses_nothing() {
    let (wall, uptime) = (Arc::new(AtomicI64::new(NOON)), Arc::new(AtomicI64::new(0)));
    let mut harness = Harness::with_clocks(&wall, &uptime, |config| config.retention_days = 30).await;
    let project = harness.register().await;
    send(&harness, &project, "traces", &at(1, days_before_noon(30))).await;
    send(&harness, &project, "traces", &at(2, NOON_NS)).await;
    wall.fetch_add(400 * DAY_NS, Ordering::Relaxed);
    assert_eq!(sentence(send(&harness, &project, "traces", &at(3, NOON_NS)).await), Value::Null);
    retained(&harness).await;
    assert_eq!(harness.rows(Table::Spans), 3);
    assert_eq!(harness.app().lake.clock_ahead_ns(), 400 * DAY_NS);
    harness.restart().await;
    retained(&harness).await;
    assert_eq!(harness.rows(Table::Spans), 3, "nor after a restart");
    wall.fetch_add(-400 * DAY_NS, Ordering::Relaxed);
    retained(&harness).await;
    // A retry of a span from before the jump is a duplicate, a new span is stored.
    send(&harness, &project, "traces", &at(2, NOON_NS)).await;
    send(&harness, &project, "traces", &at(4, NOON_NS)).await;
    assert_eq!(harness.rows(Table::Spans), 4);
    assert_eq!(harness.app().lake.clock_ahead_ns(), 0);
}

/// `retention_trust_clock` makes retention follow the clock.
#[tokio::test]
async fn a_clock_is_followed_at_once_when_the_operator_says_so() {
    let (wall, uptime) = (Arc::new(AtomicI64::new(NOON)), Arc::new(AtomicI64::new(0)));
    let mut harness = Harness::with_clocks(&wall, &uptime, |config| config.retention_days = 30).await;
    let project = harness.register().await;
    send(&harness, &project, "traces", &at(1, NOON_NS)).await;
    wall.fetch_add(40 * DAY_NS, Ordering::Relaxed);
    harness.restart().await;
    retained(&harness).await;
    assert_eq!(harness.rows(Table::Spans), 1);
    harness.change(|config| config.retention_trust_clock = true);
    harness.restart().await;
    retained(&harness).await;
    assert_eq!(harness.rows(Table::Spans), 0);
}

/// DURABILITY 10: a span of the future is found at its own time, and expires by the day of its receipt.
#[tokio::test]
async fn a_span_of_the_future_is_found_and_expires() {
    let clock = Arc::new(AtomicI64::new(NOON));
    let (harness, project) = Harness::registered_at(&On::sqlite(), &clock, |config| config.retention_days = 30).await;
    let far = 7_258_118_400_000_000_000_u64;
    send(&harness, &project, "traces", &at(1, far)).await;
    let range = json!({ "fromDate": "2199-12-31T00:00:00Z", "toDate": "2200-01-02T00:00:00Z" });
    for _ in 0..2 {
        let found = harness.query_json(&project, "/api/endpoints", range.clone()).await;
        assert_eq!(found["pagination"]["total"], 1);
        flush(&harness).await;
    }
    for (days, left) in [(31, 1), (1, 0)] {
        clock.fetch_add(days * DAY_NS, Ordering::Relaxed);
        let lake = harness.app().lake.clone();
        let now = clock.load(Ordering::Relaxed);
        tokio::task::spawn_blocking(move || lake.retain(now)).await.expect("no panic").expect("the disk works");
        assert_eq!(harness.rows(Table::Spans), left);
    }
}

/// DURABILITY 20: records of tests do not expire in any year.
#[tokio::test]
async fn servers_of_tests_keep_old_rows() {
    let clock = Arc::new(AtomicI64::new(NOON + 10 * 365 * DAY_NS));
    let (harness, project) = Harness::registered_at(&On::sqlite(), &clock, |_| {}).await;
    harness.send(&project, &[made(1, 1, SERVER, "old", 0.0, 1.0).with("http.route", "/old")]).await;
    retained(&harness).await;
    assert_eq!(harness.rows(Table::Spans), 1);
}

async fn flush(harness: &Harness) {
    let lake = harness.app().lake.clone();
    tokio::task::spawn_blocking(move || lake.flush()).await.expect("no panic").expect("the disk works");
}

/// Applies retention, which the lake's thread does every minute.
async fn retained(harness: &Harness) {
    flush(harness).await;
    let lake = harness.app().lake.clone();
    tokio::task::spawn_blocking(move || lake.remove_due()).await.expect("no panic");
}
