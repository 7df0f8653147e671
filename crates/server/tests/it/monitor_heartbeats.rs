//! Heartbeats: jobs that report. Item "Monitors": late and failed; `/api/heartbeat`.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::{Value, json};

use crate::harness::{Harness, text};
use crate::monitor_target::World;
use crate::requests::NOON_NS;

/// A job that reports every 30 s, and may be 10 s late.
async fn create(world: &World) -> (i64, String) {
    let body =
        json!({ "name": "Backup", "checkType": "heartbeat", "config": { "periodSeconds": 30, "graceSeconds": 10 } });
    let made = world.call("POST", "", &body).await.expect(201).json();
    assert_eq!(made["failureThreshold"], 1);
    (made["id"].as_i64().expect("an id"), text(&made["token"]))
}

async fn report(world: &World, method: &str, path: &str, status: u16) {
    world.harness.api_as("", method, &format!("/api/heartbeat/{path}"), &Value::Null).await.expect(status);
}

/// Waits until the monitor has a state.
async fn becomes(world: &World, id: i64, state: &str) {
    while world.state(id).await != state {
        tokio::task::yield_now().await;
    }
}

/// Waits for a result of the schedule at the current time.
async fn looked_now(world: &World, id: i64, wall: &AtomicI64) {
    let now = jiff::Timestamp::from_nanosecond(wall.load(Ordering::SeqCst).into()).expect("a time").to_string();
    while world.results(id).await.first().is_none_or(|result| result["at"] != now.as_str()) {
        tokio::task::yield_now().await;
    }
}

on_both! {
    async fn a_job_is_late_fails_and_recovers(database) {
        let world = World::on(&database).await;
        world.add_rule().await;
        let (id, token) = create(&world).await;
        if database.url.is_none() {
            assert!(world.harness.control_files_contain("Backup"), "names are stored in the clear");
            assert!(!world.harness.control_files_contain(&token[4..]), "only its hash is stored");
        }
        assert_eq!(world.get(id).await.get("token"), None, "the token is shown once");
        assert_eq!(world.state(id).await, "unknown", "nothing was reported yet");

        report(&world, "GET", &token, 200).await;
        assert_eq!(world.state(id).await, "up");
        report(&world, "GET", &token, 200).await;
        assert_eq!(world.results(id).await.len(), 1, "repetitions are one result");
        world.advance(41);
        becomes(&world, id, "down").await;
        let late = "late: the latest report was at 2026-06-01T12:00:00Z, and the next one was due by 2026-06-01T12:00:40Z";
        assert_eq!(world.results(id).await[0]["reason"], late);
        report(&world, "POST", &token, 200).await;
        assert_eq!(world.state(id).await, "up");

        for (path, method, state, reason) in [
            ("fail", "POST", "down", "the job has failed"),
            ("0", "GET", "up", ""),
            ("3", "GET", "down", "the job has ended with exit code 3"),
            ("0", "POST", "up", ""),
        ] {
            world.advance(1);
            report(&world, method, &format!("{token}/{path}"), 200).await;
            assert_eq!(world.state(id).await, state, "{path}");
            assert_eq!(world.results(id).await[0]["reason"], reason, "{path}");
        }
        for path in [format!("{token}/256"), format!("{token}/done"), format!("{token}x"), "twh_guess".to_owned()] {
            report(&world, "GET", &path, 404).await;
        }
        let statuses: Vec<String> = world.notifications().await.into_iter().map(|(status, _, _)| status).collect();
        assert_eq!(statuses, ["firing", "resolved", "firing", "resolved", "firing", "resolved"]);
        world.call("POST", &format!("/{id}/run"), &Value::Null).await.expect(422);

        // A paused job is not late.
        world.call("PUT", &format!("/{id}"), &json!({ "enabled": false })).await.expect(200);
        report(&world, "GET", &format!("{token}/fail"), 200).await;
        assert_eq!(world.state(id).await, "unknown");
        world.call("PUT", &format!("/{id}"), &json!({ "enabled": true })).await.expect(200);
        let before = world.results(id).await.len();
        let replaced = world.call("POST", &format!("/{id}/token"), &Value::Null).await.expect(200).json();
        report(&world, "GET", &token, 404).await;
        report(&world, "GET", &text(&replaced["token"]), 200).await;
        assert_eq!(world.results(id).await.len(), before + 1);
        assert_eq!(world.state(id).await, "up");
    }
}

/// Reports that no server could receive are forgiven: after a restart, and when the clock jumps ahead.
#[tokio::test]
async fn no_job_is_late_because_of_the_server() {
    let (wall, uptime) = (Arc::new(AtomicI64::new(NOON_NS as i64)), Arc::new(AtomicI64::new(0)));
    let mut harness = Harness::with_clocks(&wall, &uptime, |_| {}).await;
    let project = harness.register().await;
    let mut world = World::of(harness, project, wall.clone());
    let (id, token) = create(&world).await;
    // Its results show that the schedule was looked at.
    let looked = json!({ "name": "a", "checkType": "dns", "intervalSeconds": 30, "config": { "name": "a.example", "server": "127.0.0.1" } });
    let looked = world.create(&looked).await;
    looked_now(&world, looked, &wall).await;
    // In steps below the difference of both clocks that counts as a jump: the server may read one before the other.
    let step = |seconds: i64| {
        for _ in 0..seconds / 25 {
            wall.fetch_add(25 * 1_000_000_000, Ordering::SeqCst);
            uptime.fetch_add(25 * 1_000_000_000, Ordering::SeqCst);
        }
    };

    report(&world, "GET", &token, 200).await;
    wall.fetch_add(3600 * 1_000_000_000, Ordering::SeqCst);
    looked_now(&world, looked, &wall).await;
    assert_eq!(world.state(id).await, "up", "the clock has jumped");
    step(50);
    becomes(&world, id, "down").await;

    report(&world, "GET", &token, 200).await;
    assert_eq!(world.state(id).await, "up");
    world.harness.stop().await;
    step(600);
    world.harness.start_again().await;
    looked_now(&world, looked, &wall).await;
    assert_eq!(world.state(id).await, "up", "the server did not run");
    step(50);
    becomes(&world, id, "down").await;
}
