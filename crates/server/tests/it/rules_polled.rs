//! Polled notification rules of each family: OTLP in, notification out; previews; clocks that jump. WIRE 7.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::{Value, json};
use tidewatch_alerts::rules::config::RuleConfig;
use tidewatch_alerts::rules::evaluation::poll::Poller;
use tidewatch_domain::units::MINUTE_NS;

use crate::harness::{Harness, Project, text};
use crate::requests::{CONSUMER, Made, NOON_NS, at, export, made, request, resource};
use crate::rules::{HISTORY, RULES, Setup, channel, requests, seconds};

fn runs(first: u64, name: &str, minute: i64, count: u64, failed: u64, ms: f64) -> Vec<Made> {
    let one = |n: u64| {
        let run = made(first + n, first + n, CONSUMER, name, seconds(minute) + n as f64 * 0.01, ms);
        if n < failed { run.failed() } else { run }
    };
    (0..count).map(one).collect()
}

/// A polled rule of this type and configuration fires with `expected` at minute 12 after `bad` arrived, and is resolved
/// after `good` at minute 80, when there is something.
async fn polled(rule_type: &str, config: Value, bad: Vec<Made>, expected: &str, good: Vec<Made>) {
    let setup = Setup::at(12).await;
    setup.create(rule_type, config).await;
    setup.poll().await;
    assert!(setup.notified().await.is_empty(), "{rule_type} without data");
    setup.send(&bad).await;
    setup.poll().await;
    let found = setup.notified().await;
    assert_eq!(found, [("firing".to_owned(), expected.to_owned())], "{rule_type}");
    setup.pass_minutes(1);
    setup.poll().await;
    assert_eq!(setup.notified().await.len(), 1, "{rule_type} stays");
    let open = at(&format!("{HISTORY}/open-count"), &setup.project);
    assert_eq!(setup.harness.api("GET", &open, &Value::Null).await.expect(200).json(), json!({ "count": 1 }));
    if good.is_empty() {
        return;
    }
    setup.pass_minutes(67);
    setup.send(&good).await;
    setup.poll().await;
    let found = setup.notified().await;
    assert_eq!(found.len(), 2, "{rule_type}: {found:?}");
    assert_eq!(found[1].0, "resolved", "{rule_type}");
    assert_eq!(setup.harness.api("GET", &open, &Value::Null).await.expect(200).json(), json!({ "count": 0 }));
}

#[tokio::test]
async fn rules_of_endpoints_fire_and_end() {
    let good = || requests(1000, "/pay", 79, 30, 0, 5.0);
    polled("error_rate_threshold", json!({}), requests(1, "/pay", 11, 20, 2, 5.0), "10 % of requests fail", good())
        .await;
    let bad = || requests(1, "/pay", 11, 40, 1, 5.0);
    polled("endpoint_error_rate", json!({}), bad(), "GET /pay: 2.5 % of requests fail", good()).await;
    let slow = || requests(1, "/pay", 11, 60, 0, 2000.0);
    polled("endpoint_p95_threshold", json!({}), slow(), "GET /pay: P95 is 2 s", good()).await;
    polled("endpoint_p99_threshold", json!({ "endpoint": "GET /p*" }), slow(), "GET /pay: P99 is 2 s", good()).await;
    let good_again = requests(1000, "/pay", 79, 60, 0, 5.0);
    polled("apdex_drop", json!({}), slow(), "Apdex is 0", good_again).await;
}

#[tokio::test]
async fn rules_of_tasks_fire_and_end() {
    let good = || runs(1000, "mail", 79, 30, 0, 5.0);
    let config = json!({ "taskName": "mail" });
    polled("task_failure_rate", config, runs(1, "mail", 11, 10, 2, 5.0), "mail: 20 % of runs fail", good()).await;
    let slow = runs(1, "mail", 10, 3, 0, 40_000.0);
    polled("task_duration_threshold", json!({}), slow, "mail: P95 is 40 s", good()).await;
}

#[tokio::test]
async fn rules_of_exceptions_searches_and_objectives_fire_and_end() {
    let failed = |first: u64, count: u64| -> Vec<Made> {
        let one = |n| request(first + n, "/pay", 500, seconds(11), 5.0).exception("TypeError", "null");
        (0..count).map(one).collect()
    };
    let good = || requests(1000, "/pay", 79, 200, 0, 5.0);
    let config = json!({ "thresholdCount": 20 });
    polled("error_count_threshold", config, failed(1, 20), "20 exceptions in the last 60 minutes", good()).await;
    let config = json!({ "rows": "endpoint", "query": "status>=500", "operator": "gte", "thresholdValue": 5 });
    let expected = "number of endpoints (status>=500) is 5, threshold 5";
    polled("query_threshold", config, failed(1, 5), expected, good()).await;
    let config = json!({ "rows": "endpoint", "measure": "p95", "thresholdValue": 100 });
    let slow = requests(1, "/pay", 11, 10, 0, 250.0);
    polled("query_threshold", config, slow, "P95 of endpoints (any) is 250 ms, threshold 100 ms", good()).await;
    let burning = requests(1, "/pay", 11, 100, 50, 5.0);
    polled(
        "slo_burn",
        json!({ "objectivePercent": 99 }),
        burning,
        "GET /pay: the error budget burns 50 times too fast",
        vec![],
    )
    .await;
}

#[tokio::test]
async fn metrics_fire_and_end() {
    let setup = Setup::at(12).await;
    let point = |minute: i64, value: f64| {
        let time = (NOON_NS as i64 + minute * MINUTE_NS).to_string();
        let metric =
            json!({ "name": "queue.depth", "gauge": { "dataPoints": [{ "timeUnixNano": time, "asDouble": value }] } });
        json!({ "resourceMetrics": [{ "resource": resource("shop"), "scopeMetrics": [{ "metrics": [metric] }] }] })
    };
    let send = async |body: Value| {
        setup.harness.post_json("metrics", &setup.project.token, &body).await.expect(200);
    };
    let metric = json!({ "metricName": "queue.depth", "thresholdValue": 10, "aggregation": "max" });
    setup.create("metric_threshold", metric.clone()).await;
    let mut held = metric;
    held["forMinutes"] = json!(2);
    setup.create("query_threshold", held).await;
    setup.poll().await;
    send(point(11, 11.0)).await;
    setup.poll().await;
    let first = [("firing".to_owned(), "queue.depth is 11, threshold 10".to_owned())];
    assert_eq!(setup.notified().await, first, "the other one waits for two minutes");
    setup.pass_minutes(2);
    setup.poll().await;
    assert_eq!(setup.notified().await.len(), 2);
    setup.pass_minutes(8);
    send(point(21, 1.0)).await;
    setup.poll().await;
    let statuses: Vec<String> = setup.notified().await.into_iter().map(|(status, _)| status).collect();
    assert_eq!(statuses, ["firing", "firing", "resolved", "resolved"]);
}

/// A rule of something missing needs a server that has run for its time.
#[tokio::test]
async fn missing_data_fires_after_the_server_has_run_long_enough() {
    let setup = Setup::at(61).await;
    setup.create("no_data", json!({ "silenceMinutes": 10 })).await;
    setup.create("throughput_drop", json!({})).await;
    let mut poller = Poller::new(setup.harness.app().query.clone(), "the only node".to_owned());
    for minute in 0..60 {
        setup.send(&requests(1 + 100 * minute as u64, "/pay", minute, 20, 0, 5.0)).await;
    }
    setup.send(&requests(7001, "/pay", 60, 1, 0, 5.0)).await;
    setup.pass_minutes(11);
    poller.poll().await.expect("an evaluation");
    let found = setup.notified().await;
    assert_eq!(found, [("firing".to_owned(), "No data from first for 12 minutes".to_owned())]);
    setup.pass_minutes(4);
    poller.poll().await.expect("an evaluation");
    let found = setup.notified().await;
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[1].1.starts_with("Requests dropped by"), "{found:?}");
    // A server that has just started knows nothing about what it missed.
    let other = setup.harness.project("other").await;
    let other_channel = channel(&setup.harness, &other).await;
    let body = json!({ "channelId": other_channel, "name": "a", "ruleType": "no_data" });
    setup.harness.api("POST", &at(RULES, &other), &body).await.expect(201);
    setup.harness.post_json("traces", &other.token, &export("x", &requests(1, "/x", 1, 1, 0, 1.0))).await.expect(200);
    setup.poll().await;
    let history = setup.harness.api("POST", &at(HISTORY, &other), &json!({})).await.expect(200).json();
    assert_eq!(history["data"], json!([]));
    setup.send(&requests(8000, "/pay", 75, 400, 0, 5.0)).await;
    setup.pass_minutes(1);
    poller.poll().await.expect("an evaluation");
    let found = setup.notified().await;
    assert!(
        found.contains(&("resolved".to_owned(), "Resolved: No data from first for 1 minutes".to_owned())),
        "{found:?}"
    );
}

// "The clock jumps an hour either way without a storm."
#[tokio::test]
async fn a_clock_that_jumps_an_hour_fires_nothing() {
    let start = NOON_NS as i64 + 70 * MINUTE_NS;
    for jump in [60, -60] {
        let (wall, uptime) = (Arc::new(AtomicI64::new(start)), Arc::new(AtomicI64::new(0)));
        let mut harness = Harness::with_clocks(&wall, &uptime, |_| {}).await;
        let project = harness.register().await;
        let setup = Setup::of(harness, project, wall.clone()).await;
        setup.create("no_data", json!({ "silenceMinutes": 5 })).await;
        setup.create("throughput_drop", json!({ "lookbackMinutes": 5, "baselineMinutes": 60 })).await;
        setup.create("error_rate_threshold", json!({})).await;
        let mut poller = Poller::new(setup.harness.app().query.clone(), "the only node".to_owned());
        for minute in 0..70 {
            setup.send(&requests(1 + 100 * minute, "/pay", minute as i64, 20, 0, 5.0)).await;
        }
        let pass = |minutes: i64| {
            wall.fetch_add(minutes * MINUTE_NS, Ordering::Relaxed);
            uptime.fetch_add(minutes * MINUTE_NS, Ordering::Relaxed);
        };
        uptime.fetch_add(100 * MINUTE_NS, Ordering::Relaxed);
        poller.poll().await.expect("an evaluation");
        wall.fetch_add(jump * MINUTE_NS, Ordering::Relaxed);
        for _ in 0..5 {
            poller.poll().await.expect("an evaluation");
            pass(3);
        }
        assert!(setup.notified().await.is_empty(), "{jump}: {:?}", setup.notified().await);
    }
}

#[tokio::test]
async fn front_end_projects_have_rules_for_new_errors_only() {
    let setup = Setup::at(0).await;
    let body = json!({ "name": "site", "framework": "react" });
    let created = setup.harness.api("POST", "/api/projects", &body).await.expect(201).json();
    let project = Project { id: text(&created["id"]), token: text(&created["token"]) };
    let channel = channel(&setup.harness, &project).await;
    for rule_type in RuleConfig::TYPES {
        let body = json!({ "channelId": channel, "name": rule_type, "ruleType": rule_type, "config": {} });
        let status = if rule_type == "new_error" { 201 } else { 422 };
        setup.harness.api("POST", &at(RULES, &project), &body).await.expect(status);
    }
}

#[tokio::test]
async fn a_preview_shows_when_a_rule_would_have_fired() {
    let setup = Setup::at(120).await;
    setup.send(&requests(1, "/pay", 12, 40, 20, 5.0)).await;
    setup.send(&requests(100, "/pay", 60, 40, 0, 5.0)).await;
    setup.send(&[request(200, "/pay", 500, seconds(30), 5.0).exception("TypeError", "null")]).await;
    let preview = async |rule_type: &str, config: Value| {
        let body = json!({ "ruleType": rule_type, "config": config });
        setup.call("POST", "/preview", &body).await.expect(200).json()
    };
    let found = preview("error_rate_threshold", json!({})).await;
    assert_eq!((&found["threshold"], &found["unit"], &found["count"]), (&json!(5.0), &json!("%"), &json!(1)));
    let firing = &found["firings"][0];
    assert_eq!((&firing["timestamp"], &firing["severity"]), (&json!("2026-06-01T12:15:00Z"), &json!("critical")));
    assert_eq!(firing["subject"], "50 % of requests fail");
    let values: Vec<f64> =
        found["series"].as_array().expect("a list").iter().filter_map(|one| one["value"].as_f64()).collect();
    assert_eq!(values, [50.0, 0.0]);
    let found = preview("new_error", json!({})).await;
    assert_eq!(found["firings"][0]["subject"], "New Issue: TypeError: null");
    for rule_type in RuleConfig::TYPES {
        let config = if rule_type == "metric_threshold" || rule_type == "query_threshold" {
            json!({ "metricName": "x" })
        } else {
            json!({})
        };
        assert!(preview(rule_type, config).await["firings"].is_array(), "{rule_type}");
    }
    setup.call("POST", "/preview", &json!({ "ruleType": "other" })).await.expect(422);
}
