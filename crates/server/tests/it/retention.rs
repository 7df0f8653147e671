//! Retention per project, and the removal of everything of deleted projects.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use tidewatch_store::TelemetryStore;

use serde_json::{Value, json};
use tidewatch_domain::encode::Message;
use tidewatch_domain::units::HOUR_NS;
use tidewatch_server::jobs::retention_changes::{self, TidiedFor};
use tidewatch_store::tables::Table;

use crate::client;
use crate::engines::On;
use crate::harness::{Harness, Project, text};
use crate::requests::{NOON_NS, request};

/// Applies the projects' retention and removes expired rows, as the background tasks do within a minute.
async fn remove_expired(harness: &Harness) {
    let app = harness.app().clone();
    let work = move || {
        let tidied = TidiedFor::default();
        retention_changes::apply(&app.query, &app.ingest, &tidied).expect("nothing fails");
        app.lake.flush().expect("the disk works");
        app.lake.retain(app.process.clock.now_ns()).expect("the disk works");
        retention_changes::apply(&app.query, &app.ingest, &tidied).expect("nothing fails");
    };
    tokio::task::spawn_blocking(work).await.expect("no panic");
}

/// Whether a file of the journal contains this string.
fn is_in_journal(harness: &Harness, text: &str) -> bool {
    let files = std::fs::read_dir(harness.app().process.config.data_dir.join("journal")).expect("the journal is there");
    files
        .map(|file| std::fs::read(file.expect("an entry").path()).expect("a file"))
        .any(|content| content.windows(text.len()).any(|window| window == text.as_bytes()))
}

async fn endpoints(harness: &Harness, project: &Project) -> usize {
    let list = harness.query_json(project, "/api/endpoints/grouped", json!({})).await;
    list["data"].as_array().expect("a list").len()
}

/// Sends a session with a recording, and a profile with one sample.
async fn send_natively(harness: &Harness, project: &Project) {
    let authorization = format!("Bearer {}", project.token);
    let headers = [("Authorization", authorization.as_str()), ("Content-Type", "application/json")];
    let (id, at) = ("4b0e6a5c-2a7d-4f2e-9a0b-aabbccddeeff", "2026-06-01T12:00:00Z");
    let report = json!({ "collectionFrames": [{
        "sessions": [{ "id": id, "startedAt": at, "endedAt": at }],
        "sessionRecordings": [{ "sessionId": id, "segmentIndex": 0, "events": [1], "startedAt": at, "endedAt": at }],
    }] });
    let report = report.to_string();
    client::send(harness.address(), "POST", "/api/report", &headers, report.as_bytes()).await.expect(200);
    let mut body = Vec::new();
    let mut profile = Message(&mut body);
    profile.message(1, |sample_type| {
        sample_type.uint(1, 1);
        sample_type.uint(2, 2);
    });
    profile.message(2, |sample| {
        sample.uint(1, 1);
        sample.uint(2, 7);
    });
    profile.message(4, |location| {
        location.uint(1, 1);
        location.message(4, |line| line.uint(1, 1));
    });
    profile.message(5, |function| {
        function.uint(1, 1);
        function.uint(2, 3);
    });
    ["", "cpu", "nanoseconds", "main"].into_iter().for_each(|string| profile.text(6, string));
    profile.uint(9, NOON_NS);
    profile.uint(10, 1000);
    client::send(harness.address(), "POST", "/api/profiles/ingest", &headers, &body).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_past_the_retention_of_their_project_are_removed() {
    let clock = Arc::new(AtomicI64::new(NOON_NS as i64 + 10 * 24 * HOUR_NS));
    let (mut harness, short) = Harness::registered_at(&On::sqlite(), &clock, |config| config.retention_days = 0).await;
    let long = harness.project("long").await;
    for project in [&short, &long] {
        harness.send(project, &[request(1, "/cart", 200, 0.0, 5.0)]).await;
        assert_eq!(endpoints(&harness, project).await, 1);
    }
    let path = format!("/api/projects?projectId={}", short.id);
    harness.api("PUT", &path, &json!({ "retentionDays": 7 })).await.expect(200);
    // The rows are hidden at once.
    assert_eq!((endpoints(&harness, &short).await, endpoints(&harness, &long).await), (0, 1));
    // They are removed soon afterwards.
    remove_expired(&harness).await;
    assert_eq!(harness.rows(Table::Endpoints), 1);
    harness.restart().await;
    harness.api("PUT", &path, &json!({ "retentionDays": 0 })).await.expect(200);
    assert_eq!((endpoints(&harness, &short).await, endpoints(&harness, &long).await), (0, 1));
}

on_both! {
    async fn everything_of_a_deleted_project_is_removed(database) {
        let clock = Arc::new(AtomicI64::new(NOON_NS as i64));
        let (mut harness, doomed) =
            Harness::registered_at(&database, &clock, |config| config.retention_days = 0).await;
        let other = harness.project("other").await;
        harness.send(&other, &[request(1, "/cart", 200, 0.0, 5.0)]).await;
        harness.send(&doomed, &[request(1, "/doomed", 200, 0.0, 5.0)]).await;
        assert!(is_in_journal(&harness, "/doomed"));
        let projects = harness.api("GET", "/api/projects", &Value::Null).await.expect(200).json();
        let authorization = format!("Bearer {}", text(&projects[0]["sourceMapToken"]));
        let body = "--XX\r\nContent-Disposition: form-data; name=\"files\"; filename=\"app.js\"\r\n\r\nlet a = 1;\r\n--XX--\r\n";
        let headers = [("Content-Type", "multipart/form-data; boundary=XX"), ("Authorization", &authorization)];
        client::send(harness.address(), "POST", "/api/sourcemaps/upload", &headers, body.as_bytes()).await.expect(200);
        let id = doomed.id.parse().expect("a UUID");
        for project in [&doomed, &other] {
            send_natively(&harness, project).await;
        }
        let native = |harness: &Harness| {
            let tables = [Table::Sessions, Table::SessionSegments, Table::Profiles, Table::ProfileSamples, Table::ProfileStacks];
            tables.map(|table| harness.rows(table))
        };
        assert_eq!(native(&harness), [2; 5]);
        let uploads = |harness: &Harness| harness.app().ingest.symbols.store.list(id).expect("the disk works").len();
        assert_eq!(uploads(&harness), 1);

        let path = format!("/api/projects?projectId={}", doomed.id);
        harness.api("DELETE", &path, &json!({ "name": "first" })).await.expect(200);
        let no_filter = json!({});
        assert_eq!(harness.query(&doomed, "/api/endpoints/grouped", no_filter).await.status, 403, "nobody sees it");
        // The server ends before anything is removed.
        harness.crash().await;
        remove_expired(&harness).await;
        assert_eq!((uploads(&harness), harness.rows(Table::Endpoints)), (0, 1));
        assert_eq!(native(&harness), [1; 5], "its sessions, recordings and profiles too");
        let all_time = json!({ "fromDate": "2026-05-01T00:00:00Z", "toDate": "2026-07-01T00:00:00Z" });
        let left = harness.query_json(&other, "/api/sessions", all_time).await;
        assert_eq!((&left["pagination"]["total"], &left["data"][0]["hasRecording"]), (&json!(1), &json!(true)));
        assert_eq!(endpoints(&harness, &other).await, 1);
        assert!(harness.app().lake.purged().expect("it can be read").is_empty(), "something may still come");
        // The journal begins a new segment before the next export; the old one is deleted when the changes are applied again.
        harness.send(&other, &[request(2, "/cart", 200, 0.0, 5.0)]).await;
        remove_expired(&harness).await;
        assert!(!is_in_journal(&harness, "/doomed"));

        clock.fetch_add(2 * HOUR_NS, Ordering::Relaxed);
        remove_expired(&harness).await;
        let purged = |harness: &Harness| harness.app().lake.purged().expect("it can be read").len();
        assert_eq!(purged(&harness), 1);
        harness.restart().await;
        assert_eq!((purged(&harness), harness.rows(Table::Endpoints)), (1, 2));
    }
}
