//! Demo data: loaded into its own project, once; interrupted, failed and deleted like other data.

use serde_json::{Value, json};

use crate::engines::On;
use crate::harness::{Harness, Project, text};
use crate::requests::request;

/// The project of demo data.
async fn demo_project(harness: &Harness) -> Option<Value> {
    let projects = harness.api("GET", "/api/projects", &Value::Null).await.expect(200).json();
    let mut demos = projects.as_array().expect("a list").iter().filter(|project| project["demo"] == true);
    let demo = demos.next().cloned();
    assert!(demos.next().is_none(), "at most one: {projects}");
    demo
}

async fn organization(harness: &Harness) -> i64 {
    let projects = harness.api("GET", "/api/projects", &Value::Null).await.expect(200).json();
    projects[0]["organizationId"].as_i64().expect("an organization")
}

async fn path(harness: &Harness) -> String {
    format!("/api/organizations/{}/demo", organization(harness).await)
}

async fn state(harness: &Harness, path: &str) -> Value {
    harness.api("GET", path, &Value::Null).await.expect(200).json()
}

/// Polls the state until `holds` is true, and returns it.
async fn until(harness: &Harness, path: &str, holds: impl Fn(&Value) -> bool) -> Value {
    loop {
        let found = state(harness, path).await;
        if holds(&found) {
            return found;
        }
    }
}

fn is_not_loading(demo: &Value) -> bool {
    demo["state"] != "loading"
}

fn minutes(count: u64) -> Value {
    json!({ "historyMinutes": count })
}

async fn drops(harness: &Harness, project: &Project) -> Value {
    harness.query_json(project, "/api/drops", json!({ "fromDate": null, "toDate": null })).await
}

on_both! {
    async fn demo_data_is_loaded_into_a_project_of_its_own(database) {
        loads(&database).await;
    }
}

async fn loads(database: &On) {
    let (harness, first) = Harness::registered(database).await;
    let path = path(&harness).await;
    let none = json!({
        "state": "none", "projectId": null, "percent": 0, "spans": 0, "message": null, "isEmpty": true,
    });
    assert_eq!(state(&harness, &path).await, none);
    for wrong in [0, 241] {
        harness.api("POST", &path, &minutes(wrong)).await.expect(422);
    }

    // Two concurrent requests start one load.
    let began = minutes(2);
    let (one, other) = tokio::join!(harness.api("POST", &path, &began), harness.api("POST", &path, &began));
    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 202]);
    assert_eq!(one.json()["projectId"], other.json()["projectId"]);
    let loaded = until(&harness, &path, is_not_loading).await;
    assert_eq!(
        (&loaded["state"], &loaded["percent"], &loaded["message"]),
        (&json!("loaded"), &json!(100), &Value::Null)
    );
    assert!(loaded["spans"].as_u64().expect("a number") > 500, "{loaded}");

    let demo = demo_project(&harness).await.expect("a demo project");
    assert_eq!((&demo["id"], &demo["name"]), (&loaded["projectId"], &json!("Demo")));
    let demo = Project { id: text(&demo["id"]), token: text(&demo["token"]) };
    let services = harness.got(&demo, "/api/services").await;
    let names: Vec<&str> =
        services["services"].as_array().expect("a list").iter().filter_map(|one| one["name"].as_str()).collect();
    for name in ["storefront", "catalog", "checkout", "payments", "assistant"] {
        assert!(names.contains(&name), "{names:?}");
    }
    assert!(services["promoted"]["endpoints"]["names"].as_u64().expect("a number") > 3);
    assert!(services["promoted"]["aiTraces"]["count"].as_u64().expect("a number") > 0);
    // The exports are accepted and counted like any other, including the drops.
    let demo_drops = drops(&harness, &demo).await;
    assert!(demo_drops["requests"].as_array().expect("a list").iter().all(|one| one["outcome"] == "accepted"));

    // Other projects count nothing of the demo data.
    let other = drops(&harness, &first).await;
    assert_eq!((&other["kept"], &other["requests"], &other["series"]), (&json!([]), &json!([]), &json!([])));
    assert_eq!(harness.got(&first, "/api/services").await["services"], json!([]));
    assert_eq!(harness.got(&first, "/api/dashboard/overview").await["hasData"], false);

    // A second request returns the same project with the same data.
    let again = harness.api("POST", &path, &minutes(2)).await.expect(200).json();
    assert_eq!((&again["projectId"], &again["state"]), (&loaded["projectId"], &json!("loaded")));
    assert_eq!(drops(&harness, &demo).await["kept"], demo_drops["kept"]);

    // The project is deleted like any other; then demo data can be loaded again.
    let project_path = format!("/api/projects?projectId={}", demo.id);
    harness.api("DELETE", &project_path, &json!({ "name": "Demo" })).await.expect(200);
    assert_eq!(state(&harness, &path).await, none);
    assert!(demo_project(&harness).await.is_none());
    harness.post_json("logs", &demo.token, &json!({})).await.expect(401);
    let anew = harness.api("POST", &path, &minutes(1)).await.expect(202).json();
    assert_ne!(anew["projectId"], loaded["projectId"]);
    assert_eq!(until(&harness, &path, is_not_loading).await["state"], "loaded");
    // Ended loads are counted after the state has changed.
    until(&harness, &path, |_| harness.app().ingest.demos.ended().map(|(_, count)| count).sum::<u64>() == 2).await;
    let ended: Vec<u64> = harness.app().ingest.demos.ended().map(|(_, count)| count).collect();
    assert_eq!(ended, [2, 0, 0]);
}

#[tokio::test]
async fn demo_data_is_offered_while_nothing_has_arrived() {
    let (harness, project) = Harness::with_project().await;
    let path = path(&harness).await;
    let other = harness.project("other").await;
    assert_eq!(state(&harness, &path).await["isEmpty"], true);
    // A project with refused requests only is empty.
    harness.post_otlp("logs", &other.token, &[("Content-Type", "application/json")], b"{").await.expect(400);
    assert_eq!(state(&harness, &path).await["isEmpty"], true);
    harness.send(&project, &[request(1, "/cart", 200, 0.0, 5.0)]).await;
    assert_eq!(state(&harness, &path).await["isEmpty"], false);
    // A stranger may not read another organization's state.
    let stranger = harness.stranger().await;
    harness.api_as(&stranger, "GET", &path, &Value::Null).await.expect(403);
    harness.api_as(&stranger, "POST", &path, &minutes(1)).await.expect(403);
}

#[tokio::test]
async fn a_load_interrupted_by_a_crash_can_be_restarted_or_deleted() {
    let (mut harness, _) = Harness::with_project().await;
    let path = path(&harness).await;
    harness.api("POST", &path, &minutes(240)).await.expect(202);
    let half = until(&harness, &path, |demo| demo["spans"].as_u64() > Some(0)).await;
    assert_eq!(half["state"], "loading", "four hours take longer than their first minute: {half}");
    harness.crash().await;
    let interrupted = state(&harness, &path).await;
    assert_eq!((&interrupted["state"], &interrupted["projectId"]), (&json!("interrupted"), &half["projectId"]));

    let anew = harness.api("POST", &path, &minutes(1)).await.expect(202).json();
    assert_ne!(anew["projectId"], half["projectId"], "what is half there goes");
    assert_eq!(until(&harness, &path, is_not_loading).await["state"], "loaded");
    let demo = demo_project(&harness).await.expect("one demo project");
    assert_eq!(demo["id"], anew["projectId"]);
    let project_path = format!("/api/services?projectId={}", text(&half["projectId"]));
    harness.api("GET", &project_path, &Value::Null).await.expect(403);

    // A clean restart interrupts a load too, and does not wait for the rest of it.
    let remove = |id: &Value| format!("/api/projects?projectId={}", text(id));
    harness.api("DELETE", &remove(&demo["id"]), &json!({ "name": "Demo" })).await.expect(200);
    harness.api("POST", &path, &minutes(240)).await.expect(202);
    until(&harness, &path, |demo| demo["spans"].as_u64() > Some(0)).await;
    harness.restart().await;
    let interrupted = state(&harness, &path).await;
    assert_eq!(interrupted["state"], "interrupted");
    harness.api("DELETE", &remove(&interrupted["projectId"]), &json!({ "name": "Demo" })).await.expect(200);
    assert_eq!(state(&harness, &path).await["state"], "none");
}

#[tokio::test]
async fn a_load_ends_when_its_project_is_deleted() {
    let (harness, _) = Harness::with_project().await;
    let path = path(&harness).await;
    let began = harness.api("POST", &path, &minutes(240)).await.expect(202).json();
    until(&harness, &path, |demo| demo["spans"].as_u64() > Some(0)).await;
    let project_path = format!("/api/projects?projectId={}", text(&began["projectId"]));
    harness.api("DELETE", &project_path, &json!({ "name": "Demo" })).await.expect(200);
    let none = until(&harness, &path, |_| harness.app().ingest.demos.ended().any(|(_, count)| count > 0)).await;
    assert_eq!((&none["state"], &none["isEmpty"]), (&json!("none"), &json!(true)));
    let ended: Vec<(&str, u64)> =
        harness.app().ingest.demos.ended().map(|(end, count)| (end.as_str(), count)).collect();
    assert_eq!(ended, [("loaded", 0), ("failed", 0), ("stopped", 1)]);
}
