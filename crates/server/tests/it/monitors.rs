//! Monitors: schedule, states and notifications. WIRE 6; item "Monitors". Types: `monitor_checks.rs`.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::{Value, json};
use tidewatch_accounts::secrets::seal::Sealer;
use tidewatch_accounts::{Actor, Control, NewAccount};
use tidewatch_alerts::monitors::{Lease, MonitorResult, MonitorSlot, Monitors, NewMonitor};

use crate::engines::On;
use crate::harness::Harness;
use crate::mailbox::organization;
use crate::monitor_target::{Target, World};
use crate::requests::{NOON_NS, at, column};

fn firing(subject: &str) -> (String, String, i64) {
    ("firing".to_owned(), subject.to_owned(), 1)
}

fn resolved(subject: &str) -> (String, String, i64) {
    ("resolved".to_owned(), subject.to_owned(), 1)
}

on_both! {
    // WIRE 6: down only after N consecutive failures; rule type check_down notifies and resolves.
    async fn a_monitor_is_down_after_its_threshold_and_recovers(database) {
        let world = World::on(&database).await;
        world.add_rule().await;
        let target = Target::open().await;
        let id = world.create_http(&target).await;
        let first = world.results_at_least(id, 1).await;
        assert_eq!((&first[0]["outcome"], &first[0]["statusCode"]), (&json!("up"), &json!(200)));
        assert!(first[0]["totalMs"].as_f64().is_some_and(|total| total > 0.0), "{first:?}");
        assert_eq!(world.state(id).await, "up");

        target.respond(503, "no");
        let failed = world.next(id).await;
        assert_eq!((&failed["outcome"], &failed["reason"]), (&json!("down"), &json!("status 503")));
        assert_eq!(world.state(id).await, "up", "one failure of two");
        assert!(world.notifications().await.is_empty());
        world.next(id).await;
        assert_eq!(world.state(id).await, "down");
        let open = at("/api/synthetics/open-count", &world.project);
        assert_eq!(world.harness.api("GET", &open, &Value::Null).await.expect(200).json(), json!({ "count": 1 }));
        world.next(id).await;
        assert_eq!(world.notifications().await, [firing("Shop is down: status 503")], "once per change");

        target.respond(200, "ok");
        world.next(id).await;
        assert_eq!(world.state(id).await, "up");
        let recovered = resolved("Shop is up again after 1 min");
        assert_eq!(world.notifications().await, [firing("Shop is down: status 503"), recovered]);

        let series = world.call("POST", &format!("/{id}/series"), &json!({})).await.expect(200).json();
        let changes: Vec<_> = column(&json!({ "data": series["transitions"] }), "to").into_iter().cloned().collect();
        assert_eq!(changes, ["up", "down", "up"]);
        assert_eq!(series["uptimePct"], 40.0);
        assert_eq!(series["days"], json!([{ "bucket": "2026-06-01T00:00:00Z", "total": 5, "up": 2, "missed": 0 }]));
        let total: i64 = series["points"].as_array().unwrap().iter().map(|point| point["total"].as_i64().unwrap()).sum();
        assert_eq!(total, 5);
        let days = world.harness.app().alerting.rooms.monitors.monitor_days(&[id], 0, i64::MAX).await.expect("days");
        assert_eq!((days[&id][0].total, days[&id][0].up), (5, 2));
        let states = world.harness.app().alerting.rooms.monitors.monitor_states(&[id, 999_999]).await.expect("states");
        assert_eq!((states.len(), states[0].name.as_str()), (1, "Shop"));
        let organization = organization(&world.harness).await;
        let all = world.harness.app().alerting.rooms.monitors.monitors_of_organization(organization).await.expect("monitors");
        assert_eq!(all, states);

        let overview = at("/api/synthetics/overview", &world.project);
        let overview = world.harness.api("POST", &overview, &json!({})).await.expect(200).json();
        assert_eq!(overview["counts"], json!({ "up": 1, "down": 0, "unknown": 0, "paused": 0 }));
        let row = &overview["checks"][0];
        assert_eq!((&row["check"]["id"], &row["lastResult"]["outcome"]), (&json!(id), &json!("up")));
        assert_eq!(row["durations"].as_array().map(Vec::len), Some(5));
        // Sums of whole hours outlive the results.
        let days = json!({ "fromDate": "2026-03-10T00:00:00Z", "toDate": "2026-06-02T00:00:00Z" });
        let series = world.call("POST", &format!("/{id}/series"), &days).await.expect(200).json();
        assert_eq!((&series["points"][0]["total"], &series["points"][0]["up"]), (&json!(5), &json!(2)));
    }

    // "restart without a storm": a monitor that is down stays so, and nobody is notified again.
    async fn a_restart_repeats_nothing(database) {
        let mut world = World::on(&database).await;
        world.add_rule().await;
        let target = Target::open().await;
        target.respond(500, "");
        let id = world.create_http(&target).await;
        world.results_at_least(id, 1).await;
        world.next(id).await;
        assert_eq!(world.state(id).await, "down");
        world.harness.restart().await;
        world.advance(3600);
        let results = world.results_at_least(id, 4).await;
        let outcomes: Vec<&Value> = results.iter().map(|result| &result["outcome"]).collect();
        assert_eq!(outcomes, ["down", "missed", "down", "down"], "one check, and the others are missed");
        assert_eq!(target.requests().len(), 3);
        assert_eq!(world.notifications().await, [firing("Shop is down: status 500")]);
    }

    // A paused or deleted monitor ends its alert.
    async fn an_alert_ends_with_its_monitor(database) {
        let world = World::on(&database).await;
        world.add_rule().await;
        let target = Target::open().await;
        target.respond(500, "");
        let body = json!({ "name": "a", "checkType": "http", "failureThreshold": 1, "config": { "url": target.url() } });
        let id = world.create(&body).await;
        world.results_at_least(id, 1).await;
        let path = format!("/{id}");
        let paused = world.call("PUT", &path, &json!({ "enabled": false })).await.expect(200).json();
        assert_eq!((&paused["enabled"], &paused["state"]), (&json!(false), &json!("unknown")));
        world.call("PUT", &path, &json!({ "enabled": true })).await.expect(200);
        world.results_at_least(id, 2).await;
        assert_eq!(world.state(id).await, "down");
        world.call("DELETE", &path, &Value::Null).await.expect(200);
        world.call("GET", &path, &Value::Null).await.expect(404);
        let down = "a is down: status 500";
        let ended = [firing(down), resolved("a is paused; it was down for 0 s"), firing(down), resolved("a is deleted; it was down for 0 s")];
        assert_eq!(world.notifications().await, ended);
    }

    // Leader by lease: a result of a node without it is not stored, nor a second one of a slot.
    async fn only_the_holder_of_the_lease_stores_results_and_each_slot_once(database) {
        const NOW: i64 = NOON_NS as i64;
        let open = || async { Control::open(&database.location(), Sealer::new(&[1; 32])).await.expect("a node") };
        let (first, second) = (open().await, open().await);
        let (one, other) = (Monitors::new(first.database()), Monitors::new(second.database()));
        let by = Actor { user_id: None, name: "a test".into(), address: String::new(), user_agent: String::new(), at_ns: NOW };
        let account = NewAccount {
            email: "a@example.com".into(), name: "A".into(), password_hash: "none".into(), organization_name: "A".into(),
            timezone: "UTC".into(), project_name: "a".into(), framework: "opentelemetry".into(),
        };
        first.register(&by, &account).await.expect("an account");
        let project = first.all_projects().into_iter().next().expect("a project");
        let new = NewMonitor {
            name: "a".into(), check_type: "http".into(), is_enabled: true, interval_seconds: 30, timeout_seconds: 10,
            failure_threshold: 1, period_seconds: 0, grace_seconds: 0, config: json!({}),
        };
        let (id, token) = one.create_monitor(&by, &project, &new).await.expect("a monitor");
        assert_eq!(token, None);
        let lease = |holder| Lease { name: "monitors", holder };
        assert!(first.database().take_lease("monitors", "one", NOW, NOW + 60).await.expect("a lease"));
        assert!(!second.database().take_lease("monitors", "other", NOW, NOW + 60).await.expect("a lease"));
        let down = MonitorResult::unmeasured(NOW, tidewatch_alerts::monitors::MonitorOutcome::Down, "no".into());
        let slot = |holder, slot_ns| MonitorSlot { lease: lease(holder), slot_ns, missed: Vec::new() };
        assert!(!other.record_monitor_result(id, &down, Some(&slot("other", 1))).await.expect("no error"));
        assert!(one.record_monitor_result(id, &down, Some(&slot("one", 1))).await.expect("no error"));
        assert!(!one.record_monitor_result(id, &down, Some(&slot("one", 1))).await.expect("no error"));
        // The other node continues after the lease, and the first one's late result is not stored.
        assert!(second.database().take_lease("monitors", "other", NOW + 61, NOW + 120).await.expect("a lease"));
        assert!(!one.record_monitor_result(id, &down, Some(&slot("one", 2))).await.expect("no error"));
        assert!(other.record_monitor_result(id, &down, Some(&slot("other", 2))).await.expect("no error"));
        assert_eq!(one.latest_monitor_results(id, 10).await.expect("results").len(), 2);
        assert_eq!(one.monitor_transitions(id, 0).await.expect("changes").len(), 1);
    }
}

/// Two servers on one database: every slot has one result, every change one notification, and one server is enough.
#[tokio::test]
async fn two_servers_check_and_notify_once() {
    let database = On::postgres().await;
    let mut world = World::on(&database).await;
    world.add_rule().await;
    let (clock, login) = (world.clock.clone(), world.harness.login.clone());
    let mut second = Harness::on_at(&database, &clock, |config| config.allow_private_monitor_targets = true).await;
    second.login = login;
    let target = Target::open().await;
    let id = world.create_http(&target).await;
    world.results_at_least(id, 1).await;
    target.respond(500, "");
    for _ in 0..3 {
        world.next(id).await;
    }
    target.respond(200, "");
    world.next(id).await;
    assert_eq!(world.results(id).await.len(), 5);
    assert_eq!(target.requests().len(), 5);
    let subjects: Vec<String> = world.notifications().await.into_iter().map(|(_, subject, _)| subject).collect();
    assert_eq!(subjects, ["Shop is down: status 500", "Shop is up again after 1 min"]);

    world.harness.stop().await;
    let world = World { harness: second, ..world };
    world.next(id).await;
    assert_eq!(target.requests().len(), 6);
}

/// The clock jumps an hour ahead and back: one check each, and no change of the state.
#[tokio::test]
async fn a_clock_that_jumps_makes_no_storm() {
    let (wall, uptime) = (Arc::new(AtomicI64::new(NOON_NS as i64)), Arc::new(AtomicI64::new(0)));
    let mut harness = Harness::with_clocks(&wall, &uptime, |config| config.allow_private_monitor_targets = true).await;
    let project = harness.register().await;
    let world = World::of(harness, project, wall.clone());
    let target = Target::open().await;
    let id = world.create_http(&target).await;
    world.results_at_least(id, 1).await;
    for (jump, results) in [(3600, 3), (-3600, 4)] {
        wall.fetch_add(jump * 1_000_000_000, Ordering::SeqCst);
        loop {
            // Also results of after the clock went back.
            let body = json!({ "fromDate": "2026-06-01T00:00:00Z", "toDate": "2026-06-02T00:00:00Z" });
            let page = world.call("POST", &format!("/{id}/results"), &body).await.expect(200).json();
            if page["pagination"]["total"].as_u64() >= Some(results) {
                break;
            }
            tokio::task::yield_now().await;
        }
    }
    assert_eq!(target.requests().len(), 3, "one check at first and one per jump; the others are missed");
    assert_eq!(world.state(id).await, "up");
}
