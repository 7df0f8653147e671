//! Notification rules about what Tidewatch finds: the impact of Endpoints, changes for the worse, spikes of Issues, and
//! data that it refuses. OTLP in, notification out.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::{Value, json};
use tidewatch_alerts::rules::evaluation::poll::Poller;
use tidewatch_domain::units::MINUTE_NS;

use crate::changes;
use crate::harness::Harness;
use crate::requests::{Made, NOON_NS, export, request};
use crate::rules::{Setup, requests, seconds};

fn firing(subject: &str) -> (String, String) {
    ("firing".to_owned(), subject.to_owned())
}

fn resolved(subject: &str) -> (String, String) {
    ("resolved".to_owned(), format!("Resolved: {subject}"))
}

// Each level fires when the impact rises to it, not below it, and not for what was above when the rule began.
#[tokio::test]
async fn the_impact_of_an_endpoint_fires_when_it_rises_to_a_level() {
    for (rule_type, below, above, score, severity) in [
        ("impact_score_critical", 25, 40, "0.75", "critical"),
        ("impact_score_high", 15, 25, "0.5", "warning"),
        ("impact_score_medium", 5, 15, "0.25", "warning"),
    ] {
        let setup = Setup::at(12).await;
        setup.send(&requests(1, "/old", 1, 100, above, 5.0)).await;
        setup.create(rule_type, json!({})).await;
        setup.poll().await;
        assert!(setup.notified().await.is_empty(), "{rule_type}: above from the beginning");
        setup.send(&requests(1000, "/pay", 2, 100, below, 5.0)).await;
        setup.send(&requests(2000, "/few", 2, 49, 49, 5.0)).await;
        setup.poll().await;
        assert!(setup.notified().await.is_empty(), "{rule_type}: {:?}", setup.notified().await);

        setup.send(&requests(3000, "/cart", 11, 100, above, 5.0)).await;
        setup.poll().await;
        let subject = format!("GET /cart: impact is {score}");
        assert_eq!(setup.notified().await, [firing(&subject)], "{rule_type}");
        let row = setup.history().await["data"][0].clone();
        assert_eq!((&row["severity"], &row["ruleType"]), (&json!(severity), &json!(rule_type)));
        assert!(row["body"].as_str().expect("sentences").contains("% of requests are bad"), "{row}");
        setup.pass_minutes(1);
        setup.poll().await;
        assert_eq!(setup.notified().await.len(), 1, "{rule_type} stays");

        // Both recover. Only what has fired says so; the other one fires when it rises again.
        setup.send(&requests(10_000, "/cart", 12, 2000, 0, 5.0)).await;
        setup.send(&requests(20_000, "/old", 12, 2000, 0, 5.0)).await;
        setup.poll().await;
        let ended = setup.notified().await;
        assert_eq!(ended.len(), 2, "{rule_type}: {ended:?}");
        assert_eq!(ended[1].0, "resolved", "{rule_type}");
        assert!(ended[1].1.starts_with("Resolved: GET /cart: impact is 0.0"), "{rule_type}: {ended:?}");
        setup.pass_minutes(1);
        setup.send(&requests(30_000, "/old", 13, 2000, 2000, 5.0)).await;
        setup.poll().await;
        assert_eq!(setup.notified().await[2], firing("GET /old: impact is 0.75"), "{rule_type}");
    }
}

/// Occurrences of an Issue in a minute.
fn errors(first: u64, minute: i64, count: u64) -> Vec<Made> {
    let one = |n: u64| request(first + n, "/pay", 500, seconds(minute) + n as f64 * 0.1, 5.0);
    (0..count).map(|n| one(n).exception("TypeError", "null")).collect()
}

#[tokio::test]
async fn a_spike_of_an_issue_fires_once_in_its_cooldown_and_ends() {
    let setup = Setup::at(70).await;
    let config = json!({ "baselineHours": 1 });
    let mut body = setup.body("issue_spike", &config);
    body["cooldownMinutes"] = json!(30);
    setup.call("POST", "", &body).await.expect(201);
    // About twenty in ten minutes are usual.
    for minute in 5..70 {
        setup.send(&errors(100 * minute as u64, minute, 2)).await;
    }
    let rare = (0..19).map(|n| request(50_000 + n, "/cart", 500, seconds(69), 5.0).exception("RareError", "rare"));
    setup.send(&rare.collect::<Vec<_>>()).await;
    setup.poll().await;
    assert!(setup.notified().await.is_empty(), "{:?}", setup.notified().await);

    setup.send(&errors(60_000, 69, 120)).await;
    setup.poll().await;
    let found = setup.notified().await;
    assert_eq!(found.len(), 1, "{found:?}");
    let (status, subject) = &found[0];
    assert_eq!(status, "firing");
    assert!(
        subject.starts_with("TypeError: null occurs ") && subject.ends_with(" times as often as usual"),
        "{subject}"
    );
    let path = setup.history().await["data"][0]["path"].clone();
    assert!(path.as_str().expect("a path").contains("/issues/"), "{path}");

    // It does not occur: the spike is over at once.
    setup.pass_minutes(12);
    setup.poll().await;
    assert_eq!(setup.notified().await[1], resolved("TypeError: null does not occur"));
    // Within the cooldown nothing fires, after it what still breaches does.
    setup.send(&errors(70_000, 81, 1000)).await;
    setup.poll().await;
    assert_eq!(setup.notified().await.len(), 2);
    setup.pass_minutes(19);
    setup.send(&errors(80_000, 100, 4000)).await;
    setup.poll().await;
    assert_eq!(setup.notified().await.len(), 3);
    assert_eq!(setup.notified().await[2].0, "firing");

    // The preview names the Issue, and sees that the spike ended between two others.
    let preview = json!({ "ruleType": "issue_spike", "config": config, "cooldownMinutes": 0 });
    let preview = setup.call("POST", "/preview", &preview).await.expect(200).json();
    let firings = preview["firings"].as_array().expect("a list");
    assert!(
        firings.iter().all(|one| one["subject"].as_str().is_some_and(|title| title.starts_with("TypeError: null ")))
    );
    let times: Vec<&Value> = firings.iter().map(|one| &one["timestamp"]).collect();
    assert!(times.ends_with(&[&json!("2026-06-01T13:11:00Z"), &json!("2026-06-01T13:31:00Z")]), "{preview}");

    // A rule about one Issue is silent about others.
    let hash = path.as_str().expect("a path").rsplit('/').next().expect("a hash").to_owned();
    let other = u64::from_str_radix(&hash, 16).expect("a hash") ^ 1;
    setup.create("issue_spike", json!({ "exceptionHash": format!("{other:016x}"), "baselineHours": 1 })).await;
    setup.poll().await;
    assert_eq!(setup.notified().await.len(), 3);
    setup.create("issue_spike", json!({ "exceptionHash": hash, "baselineHours": 1 })).await;
    setup.poll().await;
    assert_eq!(setup.notified().await.len(), 4);
}

#[tokio::test]
async fn refused_and_dropped_data_fires_and_ends() {
    let setup = Setup::at(12).await;
    let malformed = async || {
        let json = [("Content-Type", "application/json")];
        setup.harness.post_otlp("logs", &setup.project.token, &json, b"{").await.expect(400);
    };
    let mut body = setup.body("drops", &json!({ "thresholdCount": 3 }));
    body["cooldownMinutes"] = json!(15);
    setup.call("POST", "", &body).await.expect(201);
    // What is stored, and a retry, are no loss.
    let good = requests(1, "/pay", 11, 5, 0, 5.0);
    setup.send(&good).await;
    setup.send(&good).await;
    malformed().await;
    malformed().await;
    setup.poll().await;
    assert!(setup.notified().await.is_empty(), "{:?}", setup.notified().await);
    malformed().await;
    setup.poll().await;
    let subject = "3 requests or records were refused or dropped";
    assert_eq!(setup.notified().await, [firing(subject)]);
    setup.pass_minutes(1);
    setup.poll().await;
    assert_eq!(setup.notified().await.len(), 1, "it stays");

    setup.pass_minutes(6);
    setup.poll().await;
    assert_eq!(setup.notified().await[1], resolved("0 requests or records were refused or dropped"));
    for _ in 0..3 {
        malformed().await;
    }
    setup.poll().await;
    assert_eq!(setup.notified().await.len(), 2, "within the cooldown");
    setup.pass_minutes(8);
    for _ in 0..15 {
        malformed().await;
    }
    setup.poll().await;
    assert_eq!(setup.notified().await[2], firing("15 requests or records were refused or dropped"));
    assert_eq!(setup.history().await["data"][0]["severity"], "critical", "five times the threshold");
}

// What the Overview lists: fires with its sentence, only for the rules that are about it, and ends when it is over.
#[tokio::test]
async fn a_change_for_the_worse_fires_and_ends() {
    let end = changes::END as i64;
    let (wall, uptime) = (Arc::new(AtomicI64::new(NOON_NS as i64 + end * MINUTE_NS)), Arc::new(AtomicI64::new(0)));
    let mut harness = Harness::with_clocks(&wall, &uptime, |_| {}).await;
    let project = harness.register().await;
    let setup = Setup::of(harness, project, wall.clone()).await;
    setup.create("change", json!({ "kinds": ["task", "ai_trace", "issue"] })).await;
    setup.create("change", json!({ "name": "GET /carts" })).await;
    let mut poller = Poller::new(setup.harness.app().query.clone(), "the only node".to_owned());
    poller.poll().await.expect("an evaluation");
    changes::send(&setup.harness, &setup.project).await;
    let mut pass = async |minutes: i64| {
        wall.fetch_add(minutes * MINUTE_NS, Ordering::Relaxed);
        uptime.fetch_add(minutes * MINUTE_NS, Ordering::Relaxed);
        poller.poll().await.expect("an evaluation");
    };
    pass(5).await;
    assert!(setup.notified().await.is_empty(), "rules about others: {:?}", setup.notified().await);

    setup.create("change", json!({ "kinds": ["endpoint"], "name": "GET /ord*" })).await;
    pass(1).await;
    assert!(setup.notified().await.is_empty(), "changes are looked for every five minutes");
    pass(5).await;
    let found = setup.notified().await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, "firing");
    for part in ["GET /orders is ", "times slower (P50 ", "fails in "] {
        assert!(found[0].1.contains(part), "{found:?}");
    }
    let row = setup.history().await["data"][0].clone();
    assert!(row["path"].as_str().expect("a path").ends_with("/endpoints/GET%20%2Forders"), "{row}");

    // Healthy data for an hour and a half.
    let mut random = fastrand::Rng::with_seed(7);
    let from = end + 11;
    let mut spans = Vec::new();
    for minute in from..from + 90 {
        for (call, route) in
            ["/orders", "/carts", "/orders", "/carts", "/orders", "/carts", "/orders"].iter().enumerate()
        {
            let (id, second) = (1_000_000 + (minute * 10) as u64 + call as u64, seconds(minute) + 8.0 * call as f64);
            spans.push(request(id, route, 200, second, 80.0 + 40.0 * random.f64()));
        }
    }
    for some in spans.chunks(500) {
        setup.harness.post_json("traces", &setup.project.token, &export("checkout", some)).await.expect(200);
    }
    for _ in 0..18 {
        pass(5).await;
    }
    let found = setup.notified().await;
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(found[1].0, "resolved", "{found:?}");
    assert!(found[1].1.starts_with("Resolved: GET /orders "), "{found:?}");
    assert_eq!(setup.history().await["data"][0]["open"], Value::Bool(false));
}
