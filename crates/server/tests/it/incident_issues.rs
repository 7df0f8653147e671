//! Issues on the timeline of an incident, and alerts about them, which have no end. Issue 22 item 4.

use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tidewatch_limits as limits;

use crate::harness::{Harness, text};
use crate::mailbox::organization;
use crate::requests::{Made, NOON_NS, request};
use crate::rules::{Setup, requests, seconds};

/// The incidents of the organization, once `is_right` holds for them.
async fn until(setup: &Setup, is_right: impl Fn(&[Value]) -> bool) -> Vec<Value> {
    let path = format!("/api/organizations/{}/incidents", organization(&setup.harness).await);
    let began = Instant::now();
    loop {
        let list = setup.harness.api("GET", &path, &Value::Null).await.expect(200).json();
        let incidents = list["incidents"].as_array().expect("a list").clone();
        if is_right(&incidents) {
            return incidents;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{incidents:#?}");
        tokio::task::yield_now().await;
    }
}

async fn detail(setup: &Setup, id: &Value) -> Value {
    let path = format!("/api/organizations/{}/incidents/{id}", organization(&setup.harness).await);
    setup.harness.api("GET", &path, &Value::Null).await.expect(200).json()
}

/// `kind title` of each entry about an Issue.
fn issues(detail: &Value) -> Vec<String> {
    let entries = detail["timeline"].as_array().expect("a list").iter();
    let of_issues = entries.filter(|entry| text(&entry["kind"]).starts_with("issue"));
    of_issues.map(|entry| format!("{} {}", text(&entry["kind"]), text(&entry["title"]))).collect()
}

fn failed(id: u64, minute: i64, kind: &str) -> Made {
    request(id, "/pay", 500, seconds(minute), 5.0).exception(kind, "declined")
}

on_both! {
    // New and returned Issues of the time of the incident and the hour before it, with links; no others.
    async fn issues_are_on_the_timeline(database) {
        let clock = Arc::new(AtomicI64::new(NOON_NS as i64));
        let (harness, project) = Harness::registered_at(&database, &clock, |_| {}).await;
        let setup = Setup::of(harness, project, clock).await;
        setup.pass_minutes(5);
        setup.send(&[failed(1, 1, "OldError"), failed(2, 1, "BackError")]).await;
        let list = setup.harness.query_json(&setup.project, "/api/exception-stack-traces", json!({})).await;
        let rows = list["data"].as_array().expect("a list").iter();
        let back = rows.clone().find(|row| text(&row["exceptionType"]) == "BackError").map(|row| text(&row["exceptionHash"]));
        let back = back.unwrap_or_else(|| panic!("{list}"));
        let resolve = json!({ "hashes": [back], "state": "resolved" });
        setup.harness.query_json(&setup.project, "/api/exception-stack-traces/state", resolve.clone()).await;
        setup.pass_minutes(100);

        setup.create("error_rate_threshold", json!({})).await;
        setup.send(&[failed(3, 60, "EarlyError"), failed(4, 100, "OldError"), failed(5, 101, "BackError")]).await;
        setup.send(&requests(100, "/pay", 104, 20, 20, 5.0)).await;
        setup.poll().await;
        let incidents = until(&setup, |incidents| incidents.len() == 1).await;
        let found = detail(&setup, &incidents[0]["id"]).await;
        let expected = ["issue_new EarlyError: declined", "issue_regressed BackError: declined"];
        assert_eq!(issues(&found), expected);
        assert_eq!(found["lacksIssues"], json!(false));
        let entry = found["timeline"].as_array().expect("a list").iter().find(|entry| text(&entry["kind"]) == "issue_regressed");
        assert_eq!(entry.map(|entry| &entry["path"]), Some(&json!(format!("/p/{}/issues/{back}", setup.project.id))));
        let draft = text(&found["postMortemDraft"]);
        assert!(draft.contains("New Issue: EarlyError: declined") && draft.contains("Issue is back: BackError"), "{draft}");

        // Resolved again, the return stays on the timeline. After the end of the incident nothing joins it.
        setup.harness.query_json(&setup.project, "/api/exception-stack-traces/state", resolve).await;
        setup.pass_minutes(10);
        setup.send(&requests(1000, "/pay", 114, 1000, 0, 5.0)).await;
        setup.poll().await;
        until(&setup, |incidents| incidents[0]["updatedAt"] == "2026-06-01T13:55:00Z").await;
        setup.pass_minutes(5);
        until(&setup, |incidents| incidents[0]["status"] == "resolved").await;
        setup.pass_minutes(10);
        setup.send(&[failed(6, 129, "LateError")]).await;
        assert_eq!(issues(&detail(&setup, &incidents[0]["id"]).await), expected);
    }

    // A new Issue opens an incident, and does not keep it open.
    async fn an_alert_about_an_issue_has_no_end(database) {
        let clock = Arc::new(AtomicI64::new(NOON_NS as i64));
        let (harness, project) = Harness::registered_at(&database, &clock, |_| {}).await;
        let setup = Setup::of(harness, project, clock).await;
        setup.pass_minutes(5);
        setup.create("new_error", json!({})).await;
        setup.send(&[failed(1, 4, "NewError")]).await;
        setup.until_notified(1).await;
        let incidents = until(&setup, |incidents| incidents.len() == 1).await;
        assert_eq!(incidents[0]["status"], "investigating");
        let found = detail(&setup, &incidents[0]["id"]).await;
        assert_eq!(found["alerts"][0]["momentary"], json!(true));
        assert!(!found["timeline"].to_string().contains("alert_ended"), "{found}");
        setup.pass_minutes(5);
        let incidents = until(&setup, |incidents| incidents[0]["status"] == "resolved").await;
        assert_eq!(incidents[0]["resolvedAt"], "2026-06-01T12:10:00Z");
    }
}

// The timeline says how many it leaves out.
#[tokio::test]
async fn the_issues_of_a_timeline_are_bounded() {
    let setup = Setup::at(5).await;
    let many = (limits::INCIDENT_ISSUES_MAX + 3) as u64;
    let spans: Vec<Made> = (0..many).map(|n| failed(1 + n, 4, &format!("Error{}", letters(n)))).collect();
    setup.send(&spans).await;
    let path = format!("/api/organizations/{}/incidents", organization(&setup.harness).await);
    let body = json!({ "title": "Much fails", "projectId": setup.project.id });
    let id = setup.harness.api("POST", &path, &body).await.expect(201).json()["id"].clone();
    let found = issues(&detail(&setup, &id).await);
    assert_eq!(found.len(), limits::INCIDENT_ISSUES_MAX + 1);
    assert_eq!(found.last().map(String::as_str), Some("issue_new 3 more Issues"));
}

/// Types that differ in letters: numbers are not part of what Issues are grouped by.
fn letters(n: u64) -> String {
    let letter = |n: u64| char::from(b'A' + (n % 26) as u8);
    [letter(n / 26), letter(n)].iter().collect()
}
