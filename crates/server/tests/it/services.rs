//! `GET /api/services`: services with counts of their records, read without telemetry rows.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use tidewatch_domain::units::MINUTE_NS;
use tidewatch_store::TelemetryStore;

use serde_json::{Value, json};
use tidewatch_store::tables::Table;

use crate::client;
use crate::harness::{Harness, Project};
use crate::requests::{NOON_NS, made, request};

/// Starts at ten and a half minutes after noon, with a clock that the test advances.
async fn at_noon() -> (Harness, Project, Arc<AtomicI64>) {
    let wall = Arc::new(AtomicI64::new(NOON_NS as i64 + 10 * MINUTE_NS + MINUTE_NS / 2));
    let uptime = Arc::new(AtomicI64::new(0));
    let mut harness = Harness::with_clocks(&wall, &uptime, |_| {}).await;
    let project = harness.register().await;
    (harness, project, wall)
}

async fn services(harness: &Harness, project: &Project) -> Value {
    harness.got(project, "/api/services").await
}

fn resource(attributes: &[(&str, &str)]) -> Value {
    let pair = |(key, value): &(&str, &str)| json!({ "key": key, "value": { "stringValue": value } });
    json!({ "attributes": attributes.iter().map(pair).collect::<Vec<_>>() })
}

fn checkout(version: &str) -> Value {
    resource(&[
        ("service.name", "checkout"),
        ("service.version", version),
        ("telemetry.sdk.language", "python"),
        ("telemetry.sdk.name", "opentelemetry"),
        ("telemetry.sdk.version", "1.38.0"),
    ])
}

fn spans(resource: &Value, spans: &[crate::requests::Made]) -> Value {
    let mut export = crate::requests::export("", spans);
    export["resourceSpans"][0]["resource"] = resource.clone();
    export
}

fn logs(resource: &Value, bodies: &[&str]) -> Value {
    let record = |body: &&str| json!({ "timeUnixNano": NOON_NS.to_string(), "body": { "stringValue": body } });
    let records: Vec<Value> = bodies.iter().map(record).collect();
    json!({ "resourceLogs": [{ "resource": resource, "scopeLogs": [{ "logRecords": records }] }] })
}

fn gauge(resource: &Value, values: &[f64]) -> Value {
    let point = |value: &f64| json!({ "timeUnixNano": NOON_NS.to_string(), "asDouble": value });
    let points: Vec<Value> = values.iter().map(point).collect();
    let metric = json!({ "name": "depth", "gauge": { "dataPoints": points } });
    json!({ "resourceMetrics": [{ "resource": resource, "scopeMetrics": [{ "metrics": [metric] }] }] })
}

fn nothing() -> Value {
    json!({ "count": 0, "lastHour": 0, "lastSeen": null })
}

#[tokio::test]
async fn services_are_listed_with_their_counts() {
    let (mut harness, project, wall) = at_noon().await;
    let none = json!({ "names": 0, "count": 0, "storedCount": 0, "first": null });
    let empty = json!({ "endpoints": none, "tasks": none, "aiTraces": none, "issues": none });
    assert_eq!(
        services(&harness, &project).await,
        json!({ "services": [], "environments": [], "truncated": false, "promoted": empty })
    );

    let first = [
        request(1, "/cart", 200, 0.0, 5.0),
        request(2, "/pay", 500, 1.0, 5.0).exception("PayError", "declined"),
        request(3, "/pay", 200, 2.0, 5.0),
        // An unmatched root is dropped and not counted.
        made(4, 4, 1, "cron", 3.0, 1.0),
    ];
    let first = spans(&checkout("1.41.0"), &first);
    harness.post_json("traces", &project.token, &first).await.expect(200);
    // A retry is not counted again.
    harness.post_json("traces", &project.token, &first).await.expect(200);
    harness.post_json("logs", &project.token, &logs(&checkout("1.41.0"), &["a", "b"])).await.expect(200);
    // A resource with fewer attributes does not clear known values.
    let bare = resource(&[("service.name", "checkout")]);
    harness.post_json("logs", &project.token, &logs(&bare, &["c"])).await.expect(200);
    wall.fetch_add(2 * MINUTE_NS, Ordering::Relaxed);
    let edge = resource(&[("service.name", "edge")]);
    harness.post_json("metrics", &project.token, &gauge(&edge, &[1.0, 2.0, 3.0])).await.expect(200);

    let found = services(&harness, &project).await;
    let (noon, later) = ("2026-06-01T12:10:00Z", "2026-06-01T12:12:00Z");
    assert_eq!(
        found["services"],
        json!([
            {
                "name": "edge", "language": null, "sdkName": null, "sdkVersion": null, "version": null,
                "lastSeen": later, "traces": nothing(), "logs": nothing(),
                "metrics": { "count": 3, "lastHour": 3, "lastSeen": later },
            },
            {
                "name": "checkout", "language": "python", "sdkName": "opentelemetry", "sdkVersion": "1.38.0",
                "version": "1.41.0", "lastSeen": noon, "metrics": nothing(),
                "traces": { "count": 3, "lastHour": 3, "lastSeen": noon },
                "logs": { "count": 3, "lastHour": 3, "lastSeen": noon },
            },
        ])
    );
    let promoted = &found["promoted"];
    assert_eq!(promoted["endpoints"], json!({ "names": 2, "count": 3, "storedCount": 3, "first": "GET /pay" }));
    assert_eq!((&promoted["tasks"], &promoted["aiTraces"]), (&none, &none));
    assert_eq!((&promoted["issues"]["names"], &promoted["issues"]["count"]), (&json!(1), &json!(1)));
    let hash = promoted["issues"]["first"].as_str().expect("an issue's hash");
    harness.query_json(&project, &format!("/api/exception-stack-traces/{hash}"), json!({})).await;

    // After a deploy the service is still one, with the latest version. A crash and a restart lose nothing of it.
    wall.fetch_add(90 * MINUTE_NS, Ordering::Relaxed);
    harness
        .post_json("traces", &project.token, &spans(&checkout("1.42.0"), &[request(9, "/cart", 200, 30.0, 5.0)]))
        .await
        .expect(200);
    // While the version is rolled out, the former one still sends.
    harness.post_json("logs", &project.token, &logs(&checkout("1.41.0"), &["d"])).await.expect(200);
    // The first sight of a version is stored in the background.
    let mut deployed = services(&harness, &project).await;
    for _ in 0..1000 {
        if deployed["services"][0]["version"] == "1.42.0" {
            break;
        }
        client::arrive().await;
        deployed = services(&harness, &project).await;
    }
    let checkout = &deployed["services"][0];
    assert_eq!((&checkout["name"], &checkout["version"]), (&json!("checkout"), &json!("1.42.0")));
    assert_eq!((&checkout["traces"]["count"], &checkout["traces"]["lastHour"]), (&json!(4), &json!(1)));
    assert_eq!((&checkout["logs"]["count"], &checkout["logs"]["lastHour"]), (&json!(4), &json!(1)));
    harness.crash().await;
    assert_eq!(services(&harness, &project).await["services"], deployed["services"]);
    harness.restart().await;
    assert_eq!(services(&harness, &project).await["services"], deployed["services"]);

    let early = format!("/api/services?from={}&to={}", "2026-06-01T12:12:00Z", "2026-06-01T12:30:00Z");
    let early = harness.got(&project, &early).await;
    assert_eq!(early["services"].as_array().map(Vec::len), Some(1), "the other was silent then: {early}");
}

#[tokio::test]
async fn services_are_listed_in_their_own_project_only() {
    let (harness, project, _) = at_noon().await;
    harness.post_json("logs", &project.token, &logs(&checkout("1"), &["a"])).await.expect(200);
    let other = harness.project("other").await;
    assert_eq!(services(&harness, &other).await["services"], json!([]));
    let stranger = harness.stranger().await;
    let path = format!("/api/services?projectId={}", project.id);
    harness.api_as(&stranger, "GET", &path, &Value::Null).await.expect(403);
}

/// Counts by sender change neither `/api/drops` nor the server's metrics.
#[tokio::test]
async fn counts_by_sender_are_not_counted_as_records() {
    let (harness, project, _) = at_noon().await;
    harness.post_json("logs", &project.token, &logs(&checkout("1"), &["a", "b"])).await.expect(200);
    let drops = harness.query_json(&project, "/api/drops", json!({ "fromDate": null, "toDate": null })).await;
    assert_eq!(drops["kept"], json!([{ "signal": "logs", "count": 2 }]));
    assert_eq!((&drops["data"], &drops["requests"].as_array().map(Vec::len)), (&json!([]), &Some(1)));
    let outcomes: Vec<&Value> = drops["series"].as_array().expect("points").iter().map(|one| &one["outcome"]).collect();
    assert_eq!(outcomes, ["accepted", "kept"]);
    let counted = harness.app().lake.outcome_counts();
    assert!(counted.iter().all(|one| one.outcome != "sent"), "a sender's name is no label: {counted:?}");
}

/// Service names come from senders: their number per minute is bounded, and further ones are counted together.
#[tokio::test]
async fn excess_services_are_counted_together() {
    let (harness, project, _) = at_noon().await;
    let resources = |from: usize, to: usize| -> Value {
        let blocks = (from..to).map(|number| {
            let resource = resource(&[("service.name", &format!("s{number:04}"))]);
            logs(&resource, &["a"])["resourceLogs"][0].clone()
        });
        json!({ "resourceLogs": blocks.collect::<Vec<_>>() })
    };
    harness.post_json("logs", &project.token, &resources(0, 700)).await.expect(200);
    let rows = harness.rows(Table::IngestCounts);
    assert_eq!(rows, 500 + 1 + 3, "500 services, the others, and accepted, bytes, kept");
    harness.post_json("logs", &project.token, &resources(700, 900)).await.expect(200);
    assert_eq!(harness.rows(Table::IngestCounts), rows);
    let found = services(&harness, &project).await;
    assert_eq!((found["services"].as_array().map(Vec::len), &found["truncated"]), (Some(200), &json!(true)));
    let other = found["services"].as_array().expect("services").iter().find(|one| one["name"] == "(other)");
    assert_eq!(other.expect("the others")["logs"]["count"], 400);
    let drops = harness.query_json(&project, "/api/drops", json!({ "fromDate": null, "toDate": null })).await;
    assert_eq!(drops["kept"], json!([{ "signal": "logs", "count": 900 }]));
}
