//! Notification rules over the API: OTLP in, notification out. WIRE 7; item "Rules" of the alerts issue.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tidewatch_alerts::channels::Severity;
use tidewatch_alerts::rules::evaluation::poll::{LEASE, Poller};
use tidewatch_alerts::rules::{RuleBatch, RuleChange, RuleChanges, RuleState, RuleStateKind};
use tidewatch_domain::units::MINUTE_NS;

use crate::client::Answer;
use crate::harness::{Harness, Project, text};
use crate::requests::{CLIENT, Made, NOON_NS, at, column, made, request};

pub const RULES: &str = "/api/notification-rules";
pub const HISTORY: &str = "/api/notification-history";

/// A project with a channel, and the clock of its server.
pub struct Setup {
    pub harness: Harness,
    pub project: Project,
    pub channel: i64,
    pub clock: Arc<AtomicI64>,
}

impl Setup {
    /// The clock shows `minute` minutes after noon.
    pub async fn at(minute: i64) -> Setup {
        let clock = Arc::new(AtomicI64::new(NOON_NS as i64 + minute * MINUTE_NS));
        let (harness, project) = Harness::with_project_at(&clock).await;
        Setup::of(harness, project, clock).await
    }

    pub async fn of(harness: Harness, project: Project, clock: Arc<AtomicI64>) -> Setup {
        let channel = channel(&harness, &project).await;
        Setup { harness, project, channel, clock }
    }

    pub async fn call(&self, method: &str, path: &str, body: &Value) -> Answer {
        self.harness.api(method, &at(&format!("{RULES}{path}"), &self.project), body).await
    }

    pub fn body(&self, rule_type: &str, config: &Value) -> Value {
        json!({ "channelId": self.channel, "name": format!("my {rule_type}"), "ruleType": rule_type, "config": config,
                "cooldownMinutes": 0 })
    }

    pub async fn create(&self, rule_type: &str, config: Value) -> i64 {
        let created = self.call("POST", "", &self.body(rule_type, &config)).await.expect(201).json();
        created["id"].as_i64().expect("an id")
    }

    /// Evaluates the polled rules as the node `holder`.
    pub async fn poll_as(&self, holder: &str) -> bool {
        let mut poller = Poller::new(self.harness.app().query.clone(), holder.to_owned());
        poller.poll().await.expect("an evaluation")
    }

    pub async fn poll(&self) {
        assert!(self.poll_as("the only node").await);
    }

    pub fn pass_minutes(&self, minutes: i64) {
        self.clock.fetch_add(minutes * MINUTE_NS, Ordering::Relaxed);
    }

    pub async fn history(&self) -> Value {
        self.harness.api("POST", &at(HISTORY, &self.project), &json!({})).await.expect(200).json()
    }

    /// Status and subject of each notification, the oldest first.
    pub async fn notified(&self) -> Vec<(String, String)> {
        let history = self.history().await;
        let rows = history["data"].as_array().expect("a list");
        rows.iter().rev().map(|row| (text(&row["status"]), text(&row["subject"]))).collect()
    }

    /// Waits for a number of notifications, as long as a rule on arrival may take on a busy machine.
    pub async fn until_notified(&self, count: usize) -> Vec<(String, String)> {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let found = self.notified().await;
            if found.len() >= count || Instant::now() > deadline {
                assert_eq!(found.len(), count, "{found:?}");
                return found;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    pub async fn send(&self, spans: &[Made]) {
        self.harness.send(&self.project, spans).await;
    }
}

pub async fn channel(harness: &Harness, project: &Project) -> i64 {
    let app = harness.app();
    let id = project.id.parse().expect("a UUID");
    let project = app.accounts.control.projects.project_by_id(id).expect("the project");
    let config = json!({ "url": "https://example.com/hook" });
    app.alerting
        .rooms
        .channels
        .create_channel(&app.accounts.by_server(), &project, "hook", "webhook", &config)
        .await
        .expect("a channel")
}

pub fn seconds(minute: i64) -> f64 {
    (minute * 60) as f64
}

/// `count` requests of a route in a minute after noon; the first `failed` of them have status 500.
pub fn requests(first: u64, route: &str, minute: i64, count: u64, failed: u64, ms: f64) -> Vec<Made> {
    let one = |n: u64| {
        let status = if n < failed { 500 } else { 200 };
        request(first + n, route, status, seconds(minute) + n as f64 * 0.01, ms)
    };
    (0..count).map(one).collect()
}

fn call(id: u64, name: &str, minute: i64, cost: &str, conversation: &str) -> Made {
    made(id, id, CLIENT, name, seconds(minute), 100.0)
        .with("gen_ai.operation.name", "chat")
        .with("gen_ai.conversation.id", conversation)
        .with("gen_ai.usage.total_cost", cost)
}

on_both! {
    async fn rules_are_created_changed_snoozed_and_deleted(database) {
        let clock = Arc::new(AtomicI64::new(NOON_NS as i64));
        let (harness, project) = Harness::registered_at(&database, &clock, |_| {}).await;
        let setup = Setup::of(harness, project, clock).await;
        assert_eq!(setup.call("GET", "", &Value::Null).await.expect(200).json(), json!({ "rules": [] }));
        let body = json!({ "channelId": setup.channel, "name": " errors ", "ruleType": "error_rate_threshold" });
        let created = setup.call("POST", "", &body).await.expect(201).json();
        let id = created["id"].as_i64().expect("an id");
        let config = json!({ "thresholdPercent": 5.0, "lookbackMinutes": 5, "minRequests": 10.0 });
        for (key, expected) in [
            ("name", json!("errors")), ("config", config), ("cooldownMinutes", json!(15)), ("severity", json!("")),
            ("enabled", json!(true)), ("snoozedUntil", Value::Null), ("firing", json!(0)),
        ] {
            assert_eq!(created[key], expected, "{key}");
        }
        let path = format!("/{id}");
        let changed = json!({ "channelId": setup.channel, "name": "silence", "ruleType": "no_data",
                              "config": { "silenceMinutes": 3 }, "severity": "info", "cooldownMinutes": 1 });
        let answer = setup.call("PUT", &path, &changed).await.expect(200).json();
        assert_eq!((&answer["ruleType"], &answer["severity"]), (&json!("no_data"), &json!("info")));
        assert_eq!(setup.call("POST", &format!("{path}/toggle"), &Value::Null).await.expect(200).json()["enabled"], false);
        assert_eq!(setup.call("POST", &format!("{path}/toggle"), &Value::Null).await.expect(200).json()["enabled"], true);
        let snooze = format!("{path}/snooze");
        let snoozed = setup.call("POST", &snooze, &json!({ "durationMinutes": 30 })).await.expect(200).json();
        assert_eq!(snoozed["snoozedUntil"], "2026-06-01T12:30:00Z");
        let ended = setup.call("POST", &snooze, &json!({ "durationMinutes": 0 })).await.expect(200).json();
        assert_eq!(ended["snoozedUntil"], Value::Null);
        for (body, status) in [
            (json!({}), 400),
            (json!({ "channelId": setup.channel + 1, "name": "a", "ruleType": "no_data" }), 404),
            (json!({ "channelId": setup.channel, "name": " ", "ruleType": "no_data" }), 422),
            (json!({ "channelId": setup.channel, "name": "a", "ruleType": "other" }), 422),
            (json!({ "channelId": setup.channel, "name": "a", "ruleType": "no_data", "severity": "bad" }), 422),
            (json!({ "channelId": setup.channel, "name": "a", "ruleType": "no_data", "cooldownMinutes": -1 }), 422),
            (json!({ "channelId": setup.channel, "name": "a", "ruleType": "no_data", "config": { "x": 1 } }), 422),
        ] {
            setup.call("POST", "", &body).await.expect(status);
        }
        setup.call("POST", &snooze, &json!({ "durationMinutes": 43_201 })).await.expect(422);
        let elsewhere = setup.harness.project("other").await;
        setup.harness.api("DELETE", &at(&format!("{RULES}{path}"), &elsewhere), &Value::Null).await.expect(404);
        let deleted = setup.call("DELETE", &path, &Value::Null).await.expect(200).json();
        assert_eq!(deleted, json!({ "deleted": true }));
        setup.call("DELETE", &path, &Value::Null).await.expect(404);
    }

    // Two nodes on one database never fire twice, and one takes over from the other.
    async fn one_node_evaluates_and_another_takes_over(database) {
        let clock = Arc::new(AtomicI64::new(NOON_NS as i64 + 2 * MINUTE_NS));
        let (harness, project) = Harness::registered_at(&database, &clock, |_| {}).await;
        let setup = Setup::of(harness, project, clock).await;
        setup.create("error_rate_threshold", json!({})).await;
        setup.send(&requests(1, "/pay", 1, 20, 10, 5.0)).await;
        assert!(setup.poll_as("one").await);
        assert_eq!(setup.notified().await.len(), 1);
        assert!(!setup.poll_as("other").await, "one has the lease");
        // One is killed. Its lease ends, and the other continues from the database.
        setup.pass_minutes(2);
        assert!(setup.poll_as("other").await);
        assert_eq!(setup.notified().await.len(), 1, "it fires still");
        assert!(!setup.poll_as("one").await);
        setup.pass_minutes(10);
        setup.send(&requests(100, "/pay", 12, 20, 0, 5.0)).await;
        assert!(setup.poll_as("one").await);
        let expected = [("firing", "50 % of requests fail"), ("resolved", "Resolved: 0 % of requests fail")];
        assert_eq!(setup.notified().await, expected.map(|(status, subject)| (status.to_owned(), subject.to_owned())));
    }

    // A change is one transaction: state, notification and outbox. Repeated, it changes nothing.
    async fn a_change_of_a_state_is_applied_once_and_under_the_lease(database) {
        let clock = Arc::new(AtomicI64::new(NOON_NS as i64));
        let (harness, project) = Harness::registered_at(&database, &clock, |_| {}).await;
        let setup = Setup::of(harness, project, clock).await;
        let id = setup.create("error_count_threshold", json!({})).await;
        let (control, rules) = (setup.harness.app().accounts.control.clone(), setup.harness.app().alerting.rooms.rules.clone());
        let number = control.projects.project_by_id(setup.project.id.parse().expect("a UUID")).expect("the project").number;
        let rule = rules.notification_rules(number).await.expect("rules").remove(0);
        let now = NOON_NS as i64;
        let kind = RuleStateKind::Firing;
        let state = RuleState { kind, since_ns: now, fired_ns: Some(now), data_ns: now, severity: Severity::Warning, marker: 0 };
        let notification = tidewatch_alerts::channels::Notification {
            organization: control.people.first_organization().expect("an organization"),
            project: Some(number),
            alert_key: tidewatch_alerts::rules::alert_key(id, ""),
            status: tidewatch_alerts::channels::AlertStatus::Firing,
            severity: Severity::Warning,
            rule_type: rule.rule_type.clone(),
            rule_name: rule.name.clone(),
            subject: "fires".to_owned(),
            body: String::new(),
            path: "/".to_owned(),
            series: Vec::new(),
            at_ns: now,
        };
        let change = RuleChange {
            rule: id, rule_updated_ns: rule.updated_ns, subject: String::new(), before: None, after: Some(state),
            notification: Some(notification), claim: None,
        };
        let batch = RuleBatch { changes: vec![change.clone()], known: Vec::new() };
        let apply = async |holder: &str, batch: &RuleBatch| {
            rules.apply_rule_changes(Some((LEASE, holder)), batch, now).await.expect("a transaction")
        };
        assert_eq!(apply("one", &batch).await, RuleChanges::NoLease, "nobody has it");
        assert!(control.database().take_lease(LEASE, "one", now, now + MINUTE_NS).await.expect("a lease"));
        assert_eq!(apply("other", &batch).await, RuleChanges::NoLease);
        assert!(setup.notified().await.is_empty());
        assert_eq!(apply("one", &batch).await, RuleChanges::Applied { conflicts: 0 });
        // The process ended after the commit, before it knew: it repeats the change.
        assert_eq!(apply("one", &batch).await, RuleChanges::Applied { conflicts: 1 });
        let edited = RuleChange { rule_updated_ns: 1, before: Some(state), after: None, ..change };
        let edited = RuleBatch { changes: vec![edited], known: Vec::new() };
        assert_eq!(apply("one", &edited).await, RuleChanges::Applied { conflicts: 0 }, "the rule was edited meanwhile");
        assert_eq!(setup.notified().await.len(), 1);
        assert_eq!(setup.history().await["data"][0]["waiting"], 1, "it is queued for the channel");
        assert_eq!(setup.history().await["pagination"]["total"], 1);
        assert_eq!(setup.call("GET", "", &Value::Null).await.expect(200).json()["rules"][0]["firing"], 1);
        // Without the rule its alert ends.
        setup.call("DELETE", &format!("/{id}"), &Value::Null).await.expect(200);
        let statuses: Vec<String> = setup.notified().await.into_iter().map(|(status, _)| status).collect();
        assert_eq!(statuses, ["firing", "resolved"]);
    }

    // On arrival: the first sight of an Issue, once, also after a crash that follows the 200.
    async fn new_issues_fire_once(database) {
        let clock = Arc::new(AtomicI64::new(NOON_NS as i64 + MINUTE_NS));
        let (harness, project) = Harness::registered_at(&database, &clock, |_| {}).await;
        let mut setup = Setup::of(harness, project, clock).await;
        let failed = |n: u64, kind: &str| request(n, "/pay", 500, n as f64, 5.0).exception(kind, "declined");
        setup.send(&[failed(1, "OldError")]).await;
        setup.create("new_error", json!({ "ignorePatterns": ["Ignored*"] })).await;
        setup.send(&[failed(2, "OldError"), failed(3, "IgnoredError"), failed(4, "NewError"), failed(5, "NewError")]).await;
        let found = setup.until_notified(1).await;
        assert_eq!(found, [("firing".to_owned(), "New Issue: NewError: declined".to_owned())]);
        let row = setup.history().await["data"][0].clone();
        assert_eq!((&row["severity"], &row["ruleType"]), (&json!("critical"), &json!("new_error")));
        assert!(text(&row["path"]).contains("/issues/"));
        // The process is killed right after the 200.
        setup.send(&[failed(6, "LateError"), failed(7, "NewError")]).await;
        setup.harness.crash().await;
        let found = setup.until_notified(2).await;
        assert_eq!(found[1].1, "New Issue: LateError: declined");
        setup.harness.restart().await;
        setup.send(&[failed(8, "LastError"), failed(9, "LateError")]).await;
        assert_eq!(setup.until_notified(3).await[2].1, "New Issue: LastError: declined");
    }
}

#[tokio::test]
async fn issues_that_occur_again_fire_once_for_each_decision() {
    let setup = Setup::at(1).await;
    let failed = |n: u64, second: f64| request(n, "/pay", 500, second, 5.0).exception("TypeError", "null");
    setup.send(&[failed(1, 1.0)]).await;
    setup.create("error_regression", json!({})).await;
    setup.create("new_error", json!({})).await;
    let list = setup.harness.query_json(&setup.project, "/api/exception-stack-traces", json!({})).await;
    let hash = text(&list["data"][0]["exceptionHash"]);
    let decide = async |state: &str| {
        let body = json!({ "hashes": [hash], "state": state });
        setup.harness.query_json(&setup.project, "/api/exception-stack-traces/state", body).await;
    };
    decide("resolved").await;
    setup.send(&[failed(2, 70.0), failed(3, 71.0)]).await;
    setup.until_notified(1).await;
    setup.send(&[failed(4, 72.0)]).await;
    setup.pass_minutes(2);
    decide("archived").await;
    setup.send(&[failed(5, 200.0)]).await;
    // The rule for regressions, and that for new Issues: "first after archive".
    let found = setup.until_notified(3).await;
    assert!(found.iter().all(|(status, subject)| status == "firing" && subject == "Issue is back: TypeError: null"));
    let types = setup.history().await;
    let mut types: Vec<String> = column(&types, "ruleType").into_iter().map(text).collect();
    types.sort();
    assert_eq!(types, ["error_regression", "error_regression", "new_error"]);
    // They are open until somebody decides about the Issue.
    let opened = async || {
        let count = setup.harness.got(&setup.project, &format!("{HISTORY}/open-count")).await["count"].clone();
        let listed = column(&setup.history().await, "open").into_iter().filter(|open| **open == json!(true)).count();
        (count, listed)
    };
    assert_eq!(opened().await, (json!(2), 2));
    setup.pass_minutes(2);
    decide("resolved").await;
    assert_eq!(opened().await, (json!(0), 0));
}

#[tokio::test]
async fn costs_and_flagged_content_of_ai_calls_fire_on_arrival() {
    let mut setup = Setup::at(10).await;
    let change = json!({ "aiFlaggedLanguages": [], "aiFlaggedTerms": ["kraken", "whale"] });
    setup.harness.api("PUT", &at("/api/projects", &setup.project), &change).await.expect(200);
    setup.create("ai_trace_cost", json!({ "traceName": "chat*", "thresholdCost": 0.5 })).await;
    setup
        .send(&[call(1, "chat a", 1, "0.4", "c1"), call(2, "embed", 1, "2", "c2"), call(3, "chat b", 1, "0.5", "c3")])
        .await;
    assert_eq!(setup.until_notified(1).await[0].1, "chat b: a call cost $0.5");
    assert_eq!(setup.history().await["data"][0]["open"], json!(false), "it is over when it fires");
    let flagged = setup.create("ai_flagged_content", json!({ "terms": ["kraken"] })).await;
    let saying = |id: u64, words: &str| {
        let messages = json!([{ "role": "user", "content": words }]).to_string();
        call(id, "talk", 2, "0", &format!("t{id}")).with("gen_ai.input.messages", &messages)
    };
    setup.send(&[saying(10, "a whale"), saying(11, "the kraken"), saying(12, "nothing")]).await;
    let found = setup.until_notified(2).await;
    assert_eq!(found[1].1, "talk: flagged content");
    setup.create("ai_conversation_cost", json!({ "thresholdCost": 3 })).await;
    setup.send(&[call(20, "embed", 3, "2", "long")]).await;
    setup.send(&[call(21, "embed", 4, "1.5", "long"), call(22, "embed", 4, "1", "short")]).await;
    assert_eq!(setup.until_notified(3).await[2].1, "A conversation cost $3.5");
    setup.send(&[call(23, "embed", 5, "1", "long")]).await;
    // After a crash what was evaluated is not evaluated again.
    setup.harness.crash().await;
    setup.send(&[call(30, "chat c", 5, "1.5", "c9")]).await;
    let found = setup.until_notified(4).await;
    assert_eq!(found[3].1, "chat c: a call cost $1.5");
    assert_eq!(setup.history().await["data"][0]["severity"], "critical", "three times the threshold");
    // Two calls of one name within the cooldown are one notification.
    setup.call("DELETE", &format!("/{flagged}"), &Value::Null).await.expect(200);
    let mut body = setup.body("ai_trace_cost", &json!({ "traceName": "slow", "thresholdCost": 0.1 }));
    body["cooldownMinutes"] = json!(15);
    setup.call("POST", "", &body).await.expect(201);
    setup
        .send(&[call(40, "slow", 6, "0.2", "d1"), call(41, "slow", 6, "0.3", "d2"), call(42, "chat d", 6, "1", "d3")])
        .await;
    let found = setup.until_notified(6).await;
    assert_eq!(found.iter().filter(|(_, subject)| subject.starts_with("slow")).count(), 1, "{found:?}");
}
