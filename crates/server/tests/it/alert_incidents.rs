//! Incidents: `/api/organizations/{id}/incidents`, and notifications that become incidents. Issue 22 item 4.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tidewatch_alerts::channels::{AlertStatus, Notification, Severity};

use tidewatch_domain::units::MINUTE_NS;

use crate::engines::On;
use crate::harness::{Harness, Project};
use crate::mailbox::{Mailbox, member, organization};
use crate::requests::at;

/// 2026-11-23T09:44:00Z.
const NOW: i64 = 1_795_427_040_000_000_000;
/// The default of the setting.
const GRACE: Duration = Duration::from_secs(300);

struct Desk {
    harness: Harness,
    project: Project,
    clock: Arc<AtomicI64>,
    organization: i64,
}

impl Desk {
    async fn open(database: &On) -> Desk {
        let clock = Arc::new(AtomicI64::new(NOW));
        let (harness, project) = Harness::registered_at(database, &clock, |_| {}).await;
        let organization = organization(&harness).await;
        Desk { harness, project, clock, organization }
    }

    fn path(&self, rest: &str) -> String {
        format!("/api/organizations/{}/incidents{rest}", self.organization)
    }

    /// Stores a notification of project 1 as the evaluation of a rule does, at the time of the clock.
    async fn notify(&self, status: &str, key: &str, severity: &str) {
        self.notify_of("metric_threshold", status, key, severity).await;
    }

    async fn notify_of(&self, rule_type: &str, status: &str, key: &str, severity: &str) {
        let notification = Notification {
            organization: self.organization,
            project: Some(1),
            alert_key: key.to_owned(),
            status: if status == "firing" { AlertStatus::Firing } else { AlertStatus::Resolved },
            severity: Severity::of_name(severity).expect("a severity"),
            rule_type: rule_type.to_owned(),
            rule_name: "rule".to_owned(),
            subject: format!("{key} is slow"),
            body: "body".to_owned(),
            path: "/p/x".to_owned(),
            series: Vec::new(),
            at_ns: self.clock.load(Ordering::SeqCst),
        };
        self.harness.app().alerting.rooms.channels.notify(&notification, &[]).await.expect("a notification");
    }

    fn wait_minutes(&self, minutes: i64) {
        self.clock.fetch_add(minutes * MINUTE_NS, Ordering::SeqCst);
    }

    async fn list(&self) -> Vec<Value> {
        let list = self.harness.api("GET", &self.path(""), &Value::Null).await.expect(200).json();
        list["incidents"].as_array().expect("a list").clone()
    }

    async fn detail(&self, id: &Value) -> Value {
        self.harness.api("GET", &self.path(&format!("/{id}")), &Value::Null).await.expect(200).json()
    }

    /// The incidents once `is_right` holds for them.
    async fn until(&self, is_right: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        let began = Instant::now();
        loop {
            let incidents = self.list().await;
            if is_right(&incidents) {
                return incidents;
            }
            assert!(began.elapsed() < Duration::from_secs(60), "{incidents:#?}");
            tokio::task::yield_now().await;
        }
    }

    /// Waits until every notification was grouped.
    async fn grouped(&self) {
        let began = Instant::now();
        while self
            .harness
            .app()
            .alerting
            .rooms
            .incidents
            .has_ungrouped_notifications(self.clock.load(Ordering::SeqCst), GRACE)
            .await
            .expect("a database")
        {
            assert!(began.elapsed() < Duration::from_secs(60), "notifications are not grouped");
            tokio::task::yield_now().await;
        }
    }
}

fn kinds(detail: &Value) -> Vec<String> {
    let entries = detail["timeline"].as_array().expect("a list").iter();
    entries
        .map(|entry| format!("{} {}", crate::harness::text(&entry["kind"]), crate::harness::text(&entry["title"])))
        .collect()
}

on_both! {
    // Issue 22: alerts that fire together are one incident, which is resolved after they end.
    async fn notifications_become_incidents(database) {
        let desk = Desk::open(&database).await;
        let deploy = json!({ "service": "shop", "version": "1.2", "time": "2026-11-23T09:40:00Z" });
        desk.harness.api("POST", &at("/api/deploys", &desk.project), &deploy).await.expect(200);
        desk.notify("firing", "info", "info").await;
        desk.notify_of("channel_failed", "firing", "channel:1", "critical").await;
        desk.notify("firing", "a", "warning").await;
        desk.wait_minutes(2);
        desk.notify("firing", "b", "critical").await;
        let incidents = desk.until(|incidents| incidents.first().is_some_and(|one| one["severity"] == "critical")).await;
        assert_eq!(incidents.len(), 1);
        let incident = &incidents[0];
        let fields = ["title", "status", "automatic", "projectName", "startedAt", "resolvedAt"];
        let expected = json!(["a is slow", "investigating", true, "first", "2026-11-23T09:44:00Z", null]);
        assert_eq!(json!(fields.map(|field| incident[field].clone())), expected);

        desk.wait_minutes(1);
        desk.notify("resolved", "a", "warning").await;
        desk.notify("resolved", "b", "critical").await;
        desk.grouped().await;
        desk.wait_minutes(4);
        desk.grouped().await;
        assert_eq!(desk.list().await[0]["resolvedAt"], Value::Null, "within the grace");
        desk.wait_minutes(1);
        let incidents = desk.until(|incidents| incidents[0]["status"] == "resolved").await;
        assert_eq!(incidents[0]["resolvedAt"], "2026-11-23T09:52:00Z");
        let detail = desk.detail(&incident["id"]).await;
        assert_eq!(
            kinds(&detail),
            [
                "deploy shop 1.2", "opened a is slow", "alert_fired a is slow", "alert_fired b is slow",
                "alert_ended a is slow", "alert_ended b is slow", "update resolved",
            ],
        );
        assert!(crate::harness::text(&detail["postMortemDraft"]).contains("Deploy: shop 1.2"));
        let open = desk.harness.api("GET", &desk.path("?status=open"), &Value::Null).await.expect(200).json();
        assert_eq!(open["incidents"], json!([]));
        desk.harness.api("GET", &desk.path("?status=x"), &Value::Null).await.expect(400);
    }

    // Never twice, never lost: the process dies at any moment, and nodes without the lease do nothing.
    async fn each_notification_counts_once(database) {
        let mut desk = Desk::open(&database).await;
        for round in 0..3 {
            for key in ["a", "b", "c"] {
                desk.notify("firing", &format!("{key}{round}"), "warning").await;
            }
            desk.harness.crash().await;
        }
        desk.grouped().await;
        let incidents = desk.list().await;
        assert_eq!(incidents.len(), 1, "{incidents:#?}");
        let alerts = desk.detail(&incidents[0]["id"]).await["alerts"].as_array().expect("a list").len();
        assert_eq!(alerts, 9);
        let announcer = desk.harness.app().alerting.announcer.clone();
        let incidents = &desk.harness.app().alerting.rooms.incidents;
        let grouped = incidents
            .group_notifications("another lease", "nobody", &announcer, NOW, GRACE, |_, _, _| panic!("without the lease"))
            .await;
        assert_eq!(grouped.expect("a database"), None);
    }

    // Incidents by hand, with updates; each status of issue 22.
    async fn people_open_and_resolve_incidents(database) {
        let desk = Desk::open(&database).await;
        for (body, status) in [
            (json!({}), 400),
            (json!({ "title": "" }), 422),
            (json!({ "title": "a\nb" }), 422),
            (json!({ "title": "x".repeat(201) }), 422),
            (json!({ "title": "x", "severity": "bad" }), 422),
            (json!({ "title": "x", "status": "open" }), 422),
            (json!({ "title": "x", "message": "x".repeat(5001) }), 422),
            (json!({ "title": "x", "projectId": "x" }), 400),
            (json!({ "title": "x", "projectId": "5f4dcc3b-5aa7-45d6-8d83-27deb882cf99" }), 404),
            (json!({ "title": "x", "statusPageIds": [7] }), 404),
        ] {
            assert_eq!(desk.harness.api("POST", &desk.path(""), &body).await.status, status, "{body}");
        }
        assert!(desk.list().await.is_empty());
        let body = json!({ "title": "Disk full", "message": "We look.", "projectId": desk.project.id });
        let id = desk.harness.api("POST", &desk.path(""), &body).await.expect(201).json()["id"].clone();
        let updates = desk.path(&format!("/{id}/updates"));
        for (status, message, expected) in [
            ("identified", "A log grows.", 201),
            ("monitoring", "", 422),
            ("fine", "x", 422),
            ("monitoring", "It is rotated.", 201),
            ("resolved", "Space again.", 201),
            ("resolved", "twice", 409),
            ("investigating", "It is back.", 201),
            ("resolved", "Gone.", 201),
        ] {
            desk.wait_minutes(1);
            let body = json!({ "status": status, "message": message });
            let answer = desk.harness.api("POST", &updates, &body).await;
            assert_eq!(answer.status, expected, "{status} {message}");
        }
        let detail = desk.detail(&id).await;
        assert_eq!(
            kinds(&detail)[1..],
            [
                "update investigating", "update identified", "update monitoring", "update resolved",
                "update investigating", "update resolved",
            ],
        );
        assert_eq!(detail["timeline"][1]["author"], "owner@example.com");
        let change = json!({ "title": "Disk was full", "severity": "critical" });
        let changed = desk.harness.api("PUT", &desk.path(&format!("/{id}")), &change).await.expect(200).json();
        let incident = &changed["incident"];
        assert_eq!(json!([incident["title"], incident["severity"], incident["status"]]), json!(["Disk was full", "critical", "resolved"]));
        desk.harness.api("GET", &desk.path("/999"), &Value::Null).await.expect(404);
        let stranger = desk.harness.stranger().await;
        desk.harness.api_as(&stranger, "GET", &desk.path(&format!("/{id}")), &Value::Null).await.expect(403);
    }

    // Post-mortems in Markdown: a tree without HTML.
    async fn post_mortems_are_trees_without_html(database) {
        let desk = Desk::open(&database).await;
        let id = desk.harness.api("POST", &desk.path(""), &json!({ "title": "x" })).await.expect(201).json()["id"].clone();
        let path = desk.path(&format!("/{id}/post-mortem"));
        let hostile = "# <script>alert(1)</script>\n\n[a](javascript:alert(1)) [b](https://example.com) **c**";
        let preview = format!("/api/organizations/{}/post-mortems/preview", desk.organization);
        let shown = desk.harness.api("POST", &preview, &json!({ "body": hostile })).await.expect(200).json();
        let leaf = |text: &str| json!({ "kind": "text", "text": text, "level": 0, "href": "", "children": [] });
        let node = |kind: &str, level: i64, href: &str, children: Value| json!({ "kind": kind, "text": "", "level": level, "href": href, "children": children });
        let paragraph = &shown["nodes"][1];
        assert_eq!(shown["nodes"][0]["kind"], "heading");
        let said: String = shown["nodes"][0]["children"].as_array().expect("a list").iter().map(|one| crate::harness::text(&one["text"])).collect();
        assert_eq!(said, "<script>alert(1)</script>");
        let link = node("link", 0, "https://example.com", json!([leaf("b")]));
        let strong = node("strong", 0, "", json!([leaf("c")]));
        let children = paragraph["children"].as_array().expect("a list");
        assert!(children.contains(&link) && children.contains(&strong) && children.contains(&leaf("a")), "{paragraph}");
        assert!(!shown.to_string().contains("javascript:"), "{shown}");

        assert_eq!(desk.detail(&id).await["postMortem"], Value::Null);
        desk.harness.api("DELETE", &path, &Value::Null).await.expect(404);
        let large = json!({ "body": "x".repeat((64 << 10) + 1) });
        desk.harness.api("PUT", &path, &large).await.expect(422);
        let stored = desk.harness.api("PUT", &path, &json!({ "body": hostile })).await.expect(200).json();
        assert_eq!((&stored["body"], &stored["published"], &stored["nodes"]), (&json!(hostile), &json!(false), &shown["nodes"]));
        desk.harness.api("PUT", &path, &json!({ "body": "short", "published": true })).await.expect(200);
        let list = format!("/api/organizations/{}/post-mortems", desk.organization);
        let rows = desk.harness.api("GET", &list, &Value::Null).await.expect(200).json();
        assert_eq!((&rows["postMortems"][0]["incident"]["id"], &rows["postMortems"][0]["published"]), (&id, &json!(true)));
        desk.harness.api("DELETE", &path, &Value::Null).await.expect(200);
        assert_eq!(desk.detail(&id).await["postMortem"], Value::Null);
    }

    // Members see incidents of the projects that they can open; readers change nothing.
    async fn members_see_their_incidents(database) {
        let mut mailbox = Mailbox::open().await;
        let (harness, project) = mailbox.harness(&database).await;
        let path = format!("/api/organizations/{}/incidents", organization(&harness).await);
        let (reader, _) = member(&harness, &mut mailbox, "reader", "readonly").await;
        let id = harness.api("POST", &path, &json!({ "title": "x", "projectId": project.id })).await.expect(201).json()["id"].clone();
        for (method, rest, body, status) in [
            ("GET", String::new(), Value::Null, 200),
            ("GET", format!("/{id}"), Value::Null, 200),
            ("POST", String::new(), json!({ "title": "y" }), 403),
            ("PUT", format!("/{id}"), json!({ "title": "y" }), 403),
            ("POST", format!("/{id}/updates"), json!({ "status": "resolved", "message": "y" }), 403),
            ("PUT", format!("/{id}/post-mortem"), json!({ "body": "y" }), 403),
        ] {
            let answer = harness.api_as(&reader, method, &format!("{path}{rest}"), &body).await;
            assert_eq!(answer.status, status, "{method} {rest}");
        }
    }
}
