//! How long projects keep what they have, and what is left of a deleted one: nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use tidewatch_store::TelemetryStore;

use serde_json::{Value, json};
use tidewatch_server::keeping::{self, Journalled};
use tidewatch_store::tables::Table;

use crate::ask::{NOON_NS, request};
use crate::client;
use crate::engines::On;
use crate::harness::{Harness, Project, text};

const HOUR_NS: i64 = 60 * 60 * 1_000_000_000;

/// The store is told, and removes what it removes within a minute.
async fn removed(harness: &Harness) {
    let app = harness.app().clone();
    let work = move || {
        let journalled = Journalled::default();
        keeping::look(&app, &journalled).expect("nothing fails");
        app.intake.lake().flush().expect("the disk works");
        app.intake.lake().retain(app.clock.now_ns()).expect("the disk works");
        keeping::look(&app, &journalled).expect("nothing fails");
    };
    tokio::task::spawn_blocking(work).await.expect("no panic");
}

/// Whether an export with this text lies in the journal.
fn is_journalled(harness: &Harness, text: &str) -> bool {
    let files = std::fs::read_dir(harness.app().config.data_dir.join("journal")).expect("the journal is there");
    files
        .map(|file| std::fs::read(file.expect("an entry").path()).expect("a file"))
        .any(|content| content.windows(text.len()).any(|window| window == text.as_bytes()))
}

async fn endpoints(harness: &Harness, project: &Project) -> usize {
    let list = harness.asked(project, "/api/endpoints/grouped", json!({})).await;
    list["data"].as_array().expect("a list").len()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_project_keeps_what_it_has_as_long_as_it_says() {
    let clock = Arc::new(AtomicI64::new(NOON_NS as i64 + 10 * 24 * HOUR_NS));
    let (mut harness, short) = Harness::registered_at(&On::sqlite(), &clock, |config| config.retention_days = 0).await;
    let long = harness.project("long").await;
    for project in [&short, &long] {
        harness.send(project, &[request(1, "/cart", 200, 0.0, 5.0)]).await;
        assert_eq!(endpoints(&harness, project).await, 1);
    }
    let path = format!("/api/projects?projectId={}", short.id);
    harness.api("PUT", &path, &json!({ "retentionDays": 7 })).await.expect(200);
    // Hidden at once ...
    assert_eq!((endpoints(&harness, &short).await, endpoints(&harness, &long).await), (0, 1));
    // ... and gone soon.
    removed(&harness).await;
    assert_eq!(harness.rows(Table::Endpoints), 1);
    harness.restart().await;
    harness.api("PUT", &path, &json!({ "retentionDays": 0 })).await.expect(200);
    assert_eq!((endpoints(&harness, &short).await, endpoints(&harness, &long).await), (0, 1));
}

on_both! {
    async fn a_deleted_project_leaves_nothing_behind(database) {
        let clock = Arc::new(AtomicI64::new(NOON_NS as i64));
        let (mut harness, doomed) =
            Harness::registered_at(&database, &clock, |config| config.retention_days = 0).await;
        let other = harness.project("other").await;
        harness.send(&other, &[request(1, "/cart", 200, 0.0, 5.0)]).await;
        harness.send(&doomed, &[request(1, "/doomed", 200, 0.0, 5.0)]).await;
        assert!(is_journalled(&harness, "/doomed"));
        let projects = harness.api("GET", "/api/projects", &Value::Null).await.expect(200).json();
        let authorization = format!("Bearer {}", text(&projects[0]["sourceMapToken"]));
        let body = "--XX\r\nContent-Disposition: form-data; name=\"files\"; filename=\"app.js\"\r\n\r\nlet a = 1;\r\n--XX--\r\n";
        let headers = [("Content-Type", "multipart/form-data; boundary=XX"), ("Authorization", &authorization)];
        client::send(harness.address(), "POST", "/api/sourcemaps/upload", &headers, body.as_bytes()).await.expect(200);
        let id = doomed.id.parse().expect("a UUID");
        let uploads = |harness: &Harness| harness.app().symbols.store.list(id).expect("the disk works").len();
        assert_eq!(uploads(&harness), 1);

        let path = format!("/api/projects?projectId={}", doomed.id);
        harness.api("DELETE", &path, &json!({ "name": "first" })).await.expect(200);
        let asked = json!({});
        assert_eq!(harness.ask(&doomed, "/api/endpoints/grouped", asked).await.status, 403, "nobody sees it");
        // The server ends before anything is removed.
        harness.crash().await;
        removed(&harness).await;
        assert_eq!((uploads(&harness), harness.rows(Table::Endpoints)), (0, 1));
        assert_eq!(endpoints(&harness, &other).await, 1);
        assert!(harness.app().intake.lake().purged().expect("it can be read").is_empty(), "something may still come");
        // The journal has gone on to a new file before it takes the next export; the old one goes when that is looked at.
        harness.send(&other, &[request(2, "/cart", 200, 0.0, 5.0)]).await;
        removed(&harness).await;
        assert!(!is_journalled(&harness, "/doomed"));

        clock.fetch_add(2 * HOUR_NS, Ordering::Relaxed);
        removed(&harness).await;
        let purged = |harness: &Harness| harness.app().intake.lake().purged().expect("it can be read").len();
        assert_eq!(purged(&harness), 1);
        harness.restart().await;
        assert_eq!((purged(&harness), harness.rows(Table::Endpoints)), (1, 2));
    }
}
