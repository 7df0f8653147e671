//! `POST /api/deploys` and `/api/deploys/list`: reported deploys, and the first sight of each version.

use serde_json::{Value, json};
use sqlx::{Connection, Executor, SqliteConnection};

use crate::harness::{Harness, Project};
use crate::requests::{FROM, TO, at, column, export, request};

/// Sends one request of a version of `checkout`, `second` seconds after noon.
async fn send(harness: &Harness, project: &Project, version: &str, environment: Option<&str>, second: f64) {
    let trace = (second * 10.0) as u64 + 1;
    let mut body = export("checkout", &[request(trace, "/orders", 200, second, 80.0)]);
    let attributes = body["resourceSpans"][0]["resource"]["attributes"].as_array_mut().expect("a list");
    let mut add = |key: &str, value: &str| attributes.push(json!({ "key": key, "value": { "stringValue": value } }));
    add("service.version", version);
    environment.into_iter().for_each(|name| add("deployment.environment.name", name));
    harness.post_json("traces", &project.token, &body).await.expect(200);
}

async fn list(harness: &Harness, project: &Project) -> Value {
    harness.query_json(project, "/api/deploys/list", json!({})).await
}

async fn report(harness: &Harness, project: &Project, body: Value) -> Value {
    harness.api("POST", &at("/api/deploys", project), &body).await.expect(200).json()
}

on_both! {
    // Issue 21: the first sight of a version per service and environment, as soon as its request is acknowledged. An
    // earlier record, a retry and a crash change no more than its time.
    async fn the_first_record_of_a_version_is_a_deploy(database) {
        let (mut harness, project) = Harness::registered(&database).await;
        let other = harness.project("other").await;
        send(&harness, &project, "1.41.0", Some("production"), 0.0).await;
        send(&harness, &project, "1.42.0", Some("production"), 3600.0).await;
        send(&harness, &project, "1.42.0", Some("production"), 3000.0).await;
        send(&harness, &project, "1.42.0", Some("staging"), 1800.0).await;
        send(&harness, &project, "1.42.0", Some("production"), 7200.0).await;
        let expected = json!([
            ["1.42.0", "production", "2026-06-01T12:50:00Z", "1.41.0"],
            ["1.42.0", "staging", "2026-06-01T12:30:00Z", null],
            ["1.41.0", "production", "2026-06-01T12:00:00Z", null],
        ]);
        for _ in 0..2 {
            let found = list(&harness, &project).await;
            let row = |one: &Value| json!([one["version"], one["environment"], one["time"], one["previous"]]);
            let rows: Vec<Value> = found["data"].as_array().expect("a list").iter().map(row).collect();
            assert_eq!(json!(rows), expected);
            assert_eq!((&found["truncated"], &found["data"][0]["reported"]), (&json!(false), &json!(false)));
            assert_eq!(list(&harness, &other).await["data"], json!([]));
            send(&harness, &project, "1.42.0", Some("production"), 3600.0).await;
            harness.crash().await;
        }
        let of_other = json!({ "service": "cart" });
        assert_eq!(harness.query_json(&project, "/api/deploys/list", of_other).await["data"], json!([]));
    }

    // Issue 21: a pipeline reports commit, author and address; a retry changes nothing.
    async fn a_reported_deploy_takes_the_first_sight_of_its_version(database) {
        let (harness, project) = Harness::registered(&database).await;
        send(&harness, &project, "1.41.0", None, 0.0).await;
        send(&harness, &project, "1.42.0", None, 3600.0).await;
        let body = json!({
            "service": "checkout", "version": "1.42.0", "time": "2026-06-01T12:55:00Z", "commit": "4be1f00",
            "author": "Ada", "url": "https://ci.example.com/runs/7",
        });
        for _ in 0..2 {
            let made = report(&harness, &project, body.clone()).await;
            let expected = json!({
                "service": "checkout", "environment": "", "version": "1.42.0", "time": "2026-06-01T12:55:00Z",
                "firstSeen": "2026-06-01T13:00:00Z", "reported": true, "previous": "1.41.0", "commit": "4be1f00",
                "author": "Ada", "url": "https://ci.example.com/runs/7",
            });
            assert_eq!(made, expected);
            assert_eq!(list(&harness, &project).await["data"][0], expected);
        }
        assert_eq!(column(&list(&harness, &project).await, "version"), ["1.42.0", "1.41.0"]);
        // Without a time a retry is recognized too.
        let now = || report(&harness, &project, json!({ "service": "cart", "version": "7" }));
        assert_eq!(now().await["time"], now().await["time"]);
    }
}

#[tokio::test]
async fn wrong_reports_are_refused() {
    let (harness, project) = Harness::with_project().await;
    for (body, status) in [
        (json!({ "version": "1" }), 400),
        (json!({ "service": "a", "version": "1", "time": "yesterday" }), 400),
        (json!({ "service": "a", "version": "1", "time": "2200-01-01T00:00:00Z" }), 422),
        (json!({ "service": "a", "version": "x".repeat(201) }), 422),
        (json!({ "service": "a", "version": "1", "url": "javascript:alert(1)" }), 422),
    ] {
        harness.api("POST", &at("/api/deploys", &project), &body).await.expect(status);
    }
    let range = json!({ "fromDate": TO, "toDate": FROM });
    harness.query(&project, "/api/deploys/list", range).await.expect(422);
}

// A crash between the flush of a request and the storing of its version, and data of older releases: the version is
// found in the stored counts.
#[tokio::test]
async fn a_version_that_was_not_stored_is_found_at_the_next_start() {
    let (mut harness, project) = Harness::with_project().await;
    send(&harness, &project, "1.42.0", Some("production"), 0.0).await;
    list(&harness, &project).await;
    harness.stop().await;
    let path = format!("sqlite://{}", harness.data().join("control.sqlite").display());
    let mut control = SqliteConnection::connect(&path).await.expect("the control database");
    control.execute("DELETE FROM first_versions").await.expect("they are deleted");
    control.database().close().await.expect("it is closed");
    harness.start_again().await;
    let all = json!({ "fromDate": "2026-01-01T00:00:00Z", "toDate": "2100-01-01T00:00:00Z" });
    loop {
        let found = harness.query_json(&project, "/api/deploys/list", all.clone()).await;
        if let [found] = found["data"].as_array().expect("a list").as_slice() {
            assert_eq!((&found["version"], &found["environment"]), (&json!("1.42.0"), &json!("production")));
            break;
        }
    }
}

// Issue 21, item 5: what got slower with a version, what is new, what is fixed, and since which version a name is there.
#[tokio::test]
async fn a_version_says_what_it_changed() {
    let (harness, project) = Harness::with_project().await;
    let mut random = fastrand::Rng::with_seed(3);
    for (version, from) in [("1.41.0", 0), ("1.42.0", 180)] {
        let is_new = version == "1.42.0";
        let mut spans = Vec::new();
        for minute in from..from + 180 {
            let id = 4 * minute + 1;
            let second = minute as f64 * 60.0;
            let usual = 80.0 + 40.0 * random.f64();
            spans.push(request(id, "/orders", 200, second, if is_new { 3.0 * usual } else { usual }));
            let old = request(id + 1, "/carts", if is_new { 200 } else { 500 }, second, usual);
            spans.push(if is_new { old } else { old.exception("OldFault", "x") });
            if is_new {
                spans.push(request(id + 2, "/refunds", 500, second, usual).exception("NewFault", "y"));
            }
        }
        let mut body = export("checkout", &spans);
        let attributes = body["resourceSpans"][0]["resource"]["attributes"].as_array_mut().expect("a list");
        attributes.push(json!({ "key": "service.version", "value": { "stringValue": version } }));
        harness.post_json("traces", &project.token, &body).await.expect(200);
    }
    let body = json!({ "service": "checkout", "version": "1.42.0" });
    let page = harness.query_json(&project, "/api/deploys/version", body).await;
    assert_eq!((&page["deploy"]["previous"], &page["calls"]), (&json!("1.41.0"), &json!(540)), "{page}");
    let named = |list: &str| -> Vec<Value> {
        page[list].as_array().expect("a list").iter().map(|one| json!([one["name"], one["metric"]])).collect()
    };
    assert_eq!(named("worse"), [json!(["GET /orders", "p50"]), json!(["GET /orders", "p95"])]);
    assert_eq!(named("better"), [json!(["GET /carts", "error_rate"])]);
    assert_eq!(named("new"), [json!(["NewFault", null]), json!(["GET /refunds", null])]);
    assert_eq!(named("fixed"), [json!(["OldFault", null])]);
    assert_eq!(page["worse"][0]["beforeCount"], 180);
    // An Issue that continues under another hash is neither new nor fixed.
    let hash = |list: &str| page[list][0]["exceptionHash"].clone();
    let merge = json!({ "hashes": [hash("new")], "into": hash("fixed") });
    harness.query_json(&project, "/api/exception-stack-traces/merge", merge).await;
    let body = json!({ "service": "checkout", "version": "1.42.0" });
    let merged = harness.query_json(&project, "/api/deploys/version", body).await;
    assert_eq!((&merged["new"][0]["name"], &merged["new"][1]), (&json!("GET /refunds"), &Value::Null), "{merged}");
    assert_eq!(merged["fixed"], json!([]));
    let unknown = json!({ "service": "checkout", "version": "9" });
    harness.query(&project, "/api/deploys/version", unknown).await.expect(404);

    for (name, expected) in [("GET /refunds", json!("1.42.0")), ("GET /orders", Value::Null)] {
        let first = harness.query_json(&project, "/api/first-version", json!({ "name": name })).await;
        assert_eq!((&first["version"], &first["service"]), (&expected, &json!("checkout")), "{name}");
    }
    let none = harness.query_json(&project, "/api/first-version", json!({ "name": "GET /none" })).await;
    assert_eq!(none, json!({ "version": null, "service": "", "since": null }));
}
