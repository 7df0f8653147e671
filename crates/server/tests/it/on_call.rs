//! On-call: schedules, escalation, acknowledge links, contact methods. Issue 22, item 6; WIRE 5.7.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::{Value, json};
use sqlx::{AnyConnection, Connection};
use tidewatch_accounts::{NewUser, Role, User};
use tidewatch_alerts::channels::{AlertStatus, Notification, Severity, Target};
use tidewatch_alerts::oncall::LEASE;
use tidewatch_domain::units::MINUTE_NS;
use tidewatch_server::config::Config;

use crate::client::Answer;
use crate::engines::On;
use crate::harness::{Harness, Project, text};
use crate::requests::at;

/// A server with a team, a schedule and a policy of two steps: who is on call, then the owner after five minutes.
pub struct Desk {
    pub harness: Harness,
    pub project: Project,
    pub organization: i64,
    pub clock: Arc<AtomicI64>,
    pub database: Option<String>,
    /// On call; a read-only member.
    pub grace: (Arc<User>, String),
    pub owner: i64,
    pub schedule: i64,
    pub policy: i64,
}

fn ns(time: &str) -> i64 {
    time.parse::<jiff::Timestamp>().expect("an instant").as_nanosecond() as i64
}

pub async fn until<T, F: Future<Output = Option<T>>>(mut look: impl FnMut() -> F) -> T {
    let began = std::time::Instant::now();
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(began.elapsed() < std::time::Duration::from_secs(60), "it does not happen");
        tokio::task::yield_now().await;
    }
}

impl Desk {
    pub async fn open(database: &On) -> Desk {
        Desk::open_with(database, |_| {}).await
    }

    /// Opens a desk with changed settings.
    pub async fn open_with(database: &On, also: impl Fn(&mut Config) + Send + Sync + 'static) -> Desk {
        let clock = Arc::new(AtomicI64::new(ns("2026-06-01T10:00:00Z")));
        let set = move |config: &mut Config| {
            config.base_url = Some("https://tide.example.com/".to_owned());
            also(config);
        };
        let (harness, project) = Harness::registered_at(database, &clock, set).await;
        let bundle = harness.api("GET", "/api/me/login-bundle", &Value::Null).await.expect(200).json();
        let organization = bundle["organizations"][0]["id"].as_i64().expect("an organization");
        let owner = bundle["user"]["id"].as_i64().expect("an id");
        let mut desk = Desk {
            grace: member(&harness, organization, "grace", Role::Readonly).await,
            database: database.url.clone(),
            harness,
            project,
            organization,
            clock,
            owner,
            schedule: 0,
            policy: 0,
        };
        let grace = desk.grace.0.id;
        let team = json!({ "name": "shop", "memberIds": [grace, owner], "projectIds": [desk.project.id] });
        let team = desk.call("POST", "/teams", &team).await.expect(201).json();
        assert_eq!((&team["memberCount"], &team["projects"][0]["name"]), (&json!(2), &json!("first")));
        let schedule = schedule(team["id"].as_i64().expect("an id"), "primary", &[grace]);
        let schedule = desk.call("POST", "/schedules", &schedule).await.expect(201).json();
        desk.schedule = schedule["id"].as_i64().expect("an id");
        let policy = policy(&[("schedule", desk.schedule, 5), ("user", owner, 10)], 0);
        desk.policy =
            desk.call("POST", "/escalation-policies", &policy).await.expect(201).json()["id"].as_i64().expect("an id");
        desk
    }

    pub fn path(&self, path: &str) -> String {
        format!("/api/organizations/{}{path}", self.organization)
    }

    pub async fn call(&self, method: &str, path: &str, body: &Value) -> Answer {
        self.harness.api(method, &self.path(path), body).await
    }

    pub async fn as_grace(&self, method: &str, path: &str, body: &Value) -> Answer {
        self.harness.api_as(&self.grace.1, method, path, body).await
    }

    /// Calls a route of pages.
    pub async fn pages(&self, method: &str, path: &str, body: &Value) -> Answer {
        self.harness.api(method, &at(&format!("/api/pages{path}"), &self.project), body).await
    }

    pub async fn list(&self) -> Vec<Value> {
        self.pages("POST", "", &json!({})).await.expect(200).json()["data"].as_array().expect("a list").clone()
    }

    pub async fn connection(&self) -> AnyConnection {
        let file = format!("sqlite://{}", self.harness.data().join("control.sqlite").display());
        let url = self.database.clone().unwrap_or(file);
        AnyConnection::connect(&url).await.expect("a connection")
    }

    /// Creates a channel of a type, as the API of channels does.
    pub async fn channel(&self, channel_type: &str, config: &Value) -> i64 {
        let app = self.harness.app();
        let project = app
            .accounts
            .control
            .credentials
            .project_by_token(&self.project.token, app.process.clock.now_ns())
            .expect("the project");
        let by = app.accounts.by_server();
        let channels = &app.alerting.rooms.channels;
        channels.create_channel(&by, &project, "a channel", channel_type, config).await.expect("a channel")
    }

    /// A rule fires, or has ended: a notification waits for the channel.
    pub async fn fire(&self, channel: i64, alert_key: &str, status: &str) {
        let notification = Notification {
            organization: self.organization,
            project: None,
            alert_key: alert_key.to_owned(),
            status: if status == "firing" { AlertStatus::Firing } else { AlertStatus::Resolved },
            severity: Severity::Critical,
            rule_type: "new_error".to_owned(),
            rule_name: "Errors".to_owned(),
            subject: "Checkout fails".to_owned(),
            body: "Since 10:00.".to_owned(),
            path: "/issues/1".to_owned(),
            series: Vec::new(),
            at_ns: self.clock.load(Ordering::SeqCst),
        };
        let channels = &self.harness.app().alerting.rooms.channels;
        channels.notify(&notification, &[Target::Channel(channel)]).await.expect("a notification");
    }

    pub async fn open_page(&self) -> i64 {
        let body = json!({ "policyId": self.policy, "subject": "Checkout fails", "body": "Since 10:00." });
        self.pages("POST", "/open", &body).await.expect(201).json()["id"].as_i64().expect("an id")
    }

    /// The deliveries of a page, once there are `count`: step, user, target, status.
    pub async fn deliveries(&self, page: i64, count: usize) -> Vec<Value> {
        until(async || {
            self.harness.app().alerting.oncall_wake.notify_one();
            let page = self.pages("GET", &format!("/{page}"), &Value::Null).await.expect(200).json();
            let all = page["notifications"].as_array().expect("a list");
            let row = |one: &Value| json!([one["level"], one["userId"], one["targetDesc"], one["status"]]);
            (all.len() >= count).then(|| all.iter().map(row).collect::<Vec<_>>())
        })
        .await
    }

    pub async fn advance(&self, minutes: i64) {
        self.clock.fetch_add(minutes * MINUTE_NS, Ordering::SeqCst);
        self.rounds().await;
    }

    /// Waits until the task has looked twice, the second time at everything that was due.
    pub async fn rounds(&self) {
        let lease = async || {
            let database = self.harness.app().accounts.control.database();
            database.lease_until(LEASE).await.expect("a read")
        };
        // A lease that was extended at the current time belongs to a round that began now.
        for _ in 0..2 {
            let tick = self.clock.fetch_add(1, Ordering::SeqCst) + 1;
            until(async || {
                self.harness.app().alerting.oncall_wake.notify_one();
                lease().await.filter(|until_ns| *until_ns == tick + MINUTE_NS)
            })
            .await;
        }
    }

    /// The targets that wait in the outbox, opened.
    pub async fn waiting(&self) -> Vec<Value> {
        let sealed: Vec<String> = sqlx::query_scalar(
            "SELECT target_sealed FROM notification_outbox WHERE channel_id IS NULL AND sent_ns IS NULL ORDER BY id",
        )
        .fetch_all(&mut self.connection().await)
        .await
        .expect("a read");
        let app = self.harness.app();
        let open = |sealed: &String| {
            app.accounts.control.database().sealer().open("notification target", sealed).expect("the key")
        };
        sealed.iter().map(|one| serde_json::from_str(&open(one)).expect("JSON")).collect()
    }

    /// The token of the acknowledge link of the last message.
    pub async fn token(&self) -> String {
        let waiting = self.waiting().await;
        let line = text(&waiting.last().expect("a message")["config"]["private"]);
        let token = line.strip_prefix("Acknowledge: https://tide.example.com/ack#token=");
        token.unwrap_or_else(|| panic!("no link in {line}")).to_owned()
    }
}

pub async fn member(harness: &Harness, organization: i64, name: &str, role: Role) -> (Arc<User>, String) {
    let app = harness.app();
    let by = app.accounts.by_server();
    let email = format!("{name}@example.com");
    let new = NewUser { email, name: name.to_owned(), password_hash: None, is_email_verified: true };
    let user = app.accounts.control.people.create_user(&by, &new).await.expect("a user");
    app.accounts.control.people.add_member(&by, organization, user.id, role).await.expect("a member");
    let login = harness.login_of(&user).await;
    (user, login)
}

pub fn schedule(team: i64, name: &str, users: &[i64]) -> Value {
    json!({ "teamId": team, "name": name, "timezone": "Europe/Berlin", "definition": { "layers": [{
        "name": "all", "rotationType": "weekly", "handoffTime": "09:00", "handoffDay": 1,
        "rotationStart": "2026-05-04", "userIds": users }] } })
}

/// Steps of one target each: type, id, delay.
pub fn policy(steps: &[(&str, i64, i64)], repeat: i64) -> Value {
    let step = |(kind, id, delay): &(&str, i64, i64)| json!({ "targets": [{ "type": kind, "id": id }], "delayMinutes": delay });
    let steps: Vec<Value> = steps.iter().map(step).collect();
    json!({ "name": format!("policy of {} steps", steps.len()),
        "definition": { "steps": steps, "repeat": repeat, "urgency": "auto" } })
}

on_both! {
    async fn a_notification_pages_who_is_on_call_and_the_link_stops_it(database) {
        let desk = Desk::open(&database).await;
        let channel = desk.channel("escalation", &json!({ "policyId": desk.policy })).await;
        desk.fire(channel, "rule:12:abc", "firing").await;
        let page = until(async || {
            desk.harness.app().alerting.oncall_wake.notify_one();
            desk.list().await.first().cloned()
        })
        .await;
        let id = page["id"].as_i64().expect("an id");
        let expected = json!(["open", "high", "critical", "Checkout fails", 1, "abc", "/issues/1"]);
        let fields = ["status", "urgency", "severity", "subject", "eventCount", "issueHash", "url"];
        assert_eq!(json!(fields.map(|field| page[field].clone())), expected);
        let grace = desk.grace.0.id;
        let first = desk.deliveries(id, 1).await;
        assert_eq!(json!(first), json!([[0, grace, "grace@example.com", "pending"]]));

        // Fired again: counted, and nobody is reached again.
        desk.fire(channel, "rule:12:abc", "firing").await;
        until(async || {
            desk.harness.app().alerting.oncall_wake.notify_one();
            (desk.list().await[0]["eventCount"] == 2).then_some(())
        })
        .await;
        desk.advance(4).await;
        assert_eq!(desk.deliveries(id, 1).await.len(), 1, "the next step is due after five minutes");
        desk.advance(1).await;
        let second = desk.deliveries(id, 2).await;
        assert_eq!(second[1], json!([1, desk.owner, "owner@example.com", "pending"]));

        // The link of the owner's message acknowledges. Opening it does not.
        let link = format!("/api/ack/{}", desk.token().await);
        let ack = async |method: &str| desk.harness.api_as("", method, &link, &Value::Null).await;
        let seen = ack("GET").await.expect(200).json();
        assert_eq!(json!([seen["subject"], seen["status"], seen["projectName"]]), json!(["Checkout fails", "open", "first"]));
        let done = ack("POST").await.expect(200).json();
        assert_eq!((&done["status"], &done["acknowledgedByName"]), (&json!("acknowledged"), &json!("Owner")));
        assert_eq!(ack("POST").await.expect(200).json(), done);
        let detail = desk.pages("GET", &format!("/{id}"), &Value::Null).await.expect(200).json();
        assert_eq!(json!([detail["page"]["acknowledgedBy"], detail["page"]["acknowledgedVia"]]), json!([desk.owner, "link"]));
        let states: Vec<&Value> = detail["notifications"].as_array().unwrap().iter().map(|one| &one["status"]).collect();
        assert_eq!(json!(states), json!(["cancelled", "cancelled"]), "what was not sent yet is taken back");
        desk.advance(60).await;
        assert_eq!(desk.deliveries(id, 2).await.len(), 2, "escalation has stopped");

        // The end of the alert resolves the page, and ends the link.
        desk.fire(channel, "rule:12:abc", "resolved").await;
        until(async || {
            desk.harness.app().alerting.oncall_wake.notify_one();
            (desk.list().await[0]["status"] == "resolved").then_some(())
        })
        .await;
        ack("GET").await.expect(404);
        ack("POST").await.expect(404);

        // The same alert opens another page.
        desk.fire(channel, "rule:12:abc", "firing").await;
        until(async || {
            desk.harness.app().alerting.oncall_wake.notify_one();
            (desk.list().await.len() == 2).then_some(())
        })
        .await;
    }

    // Two nodes on one database, kills and restarts: each notification becomes one page, each step runs once.
    async fn two_nodes_and_crashes_neither_repeat_nor_lose_a_page(database) {
        let mut desk = Desk::open(&database).await;
        let channel = desk.channel("escalation", &json!({ "policyId": desk.policy })).await;
        let other = match &database.url {
            Some(_) => Some(Harness::node_at(&database, &desk.clock).await),
            None => None,
        };
        for number in 0..20 {
            desk.fire(channel, &format!("rule:1:{number}"), "firing").await;
            if number == 10 {
                desk.harness.crash().await;
            }
            desk.harness.app().alerting.oncall_wake.notify_one();
            other.iter().for_each(|node| node.app().alerting.oncall_wake.notify_one());
        }
        // The lease of a process that was killed ends.
        desk.clock.fetch_add(2 * MINUTE_NS, Ordering::SeqCst);
        until(async || {
            desk.harness.app().alerting.oncall_wake.notify_one();
            other.iter().for_each(|node| node.app().alerting.oncall_wake.notify_one());
            (desk.list().await.len() == 20).then_some(())
        })
        .await;
        until(async || {
            desk.harness.app().alerting.oncall_wake.notify_one();
            (desk.waiting().await.len() == 20).then_some(())
        })
        .await;
        desk.harness.crash().await;
        desk.clock.fetch_add(6 * MINUTE_NS, Ordering::SeqCst);
        until(async || {
            desk.harness.app().alerting.oncall_wake.notify_one();
            other.iter().for_each(|node| node.app().alerting.oncall_wake.notify_one());
            (desk.waiting().await.len() >= 40).then_some(())
        })
        .await;
        for page in desk.list().await {
            assert_eq!(page["eventCount"], 1);
            let all = desk.deliveries(page["id"].as_i64().unwrap(), 2).await;
            assert_eq!(all.len(), 2, "{all:?}");
        }
    }

    // What a page sends is about an alert that is grouped itself, or about what a person has noticed.
    async fn messages_of_pages_open_no_incidents(database) {
        let desk = Desk::open(&database).await;
        let id = desk.open_page().await;
        desk.deliveries(id, 1).await;
        let app = desk.harness.app();
        let grace = std::time::Duration::from_secs(app.process.config.incident_grace_seconds);
        until(async || {
            let waits = app.alerting.rooms.incidents.has_ungrouped_notifications(app.process.clock.now_ns(), grace).await.expect("a read");
            (!waits).then_some(())
        })
        .await;
        let incidents = desk.call("GET", "/incidents", &Value::Null).await.expect(200).json();
        assert_eq!(incidents["incidents"], json!([]));
    }

    async fn roles_and_organizations(database) {
        let desk = Desk::open(&database).await;
        let stranger = desk.harness.stranger().await;
        let id = desk.open_page().await;
        let (grace, schedule_path) = (desk.grace.0.id, format!("/schedules/{}", desk.schedule));
        let team = desk.call("GET", "/teams", &Value::Null).await.expect(200).json()["teams"][0]["id"].as_i64().unwrap();
        let body = schedule(team, "another", &[grace]);
        for (method, path, body) in [
            ("GET", "/teams".to_owned(), Value::Null),
            ("GET", schedule_path.clone(), Value::Null),
            ("GET", "/escalation-policies".to_owned(), Value::Null),
            ("GET", "/oncall/now".to_owned(), Value::Null),
            ("GET", format!("/oncall/handover?scheduleId={}", desk.schedule), Value::Null),
        ] {
            desk.as_grace(method, &desk.path(&path), &body).await.expect(200);
            desk.harness.api_as(&stranger, method, &desk.path(&path), &body).await.expect(403);
        }
        for (method, path) in [
            ("POST", "/teams".to_owned()),
            ("POST", "/schedules".to_owned()),
            ("PUT", schedule_path.clone()),
            ("DELETE", schedule_path.clone()),
            ("POST", "/escalation-policies".to_owned()),
            ("DELETE", format!("/escalation-policies/{}", desk.policy)),
        ] {
            desk.as_grace(method, &desk.path(&path), &body).await.expect(403);
        }
        // Who reads the project acknowledges and resolves, but opens nothing.
        let one = at(&format!("/api/pages/{id}"), &desk.project);
        desk.harness.api_as(&stranger, "GET", &one, &Value::Null).await.expect(403);
        let open = json!({ "policyId": desk.policy, "subject": "x" });
        desk.as_grace("POST", &at("/api/pages/open", &desk.project), &open).await.expect(403);
        let act = |what: &str| at(&format!("/api/pages/{id}/{what}"), &desk.project);
        desk.as_grace("POST", &act("acknowledge"), &Value::Null).await.expect(200);
        let again = desk.as_grace("POST", &act("acknowledge"), &Value::Null).await.expect(409).json();
        assert_eq!(again["status"], "acknowledged");
        desk.as_grace("POST", &act("resolve"), &json!({ "archiveIssue": true })).await.expect(403);
        desk.as_grace("POST", &act("resolve"), &Value::Null).await.expect(200);
        desk.as_grace("POST", &act("resolve"), &Value::Null).await.expect(409);
        let elsewhere = desk.harness.project("other").await;
        desk.harness.api("GET", &at(&format!("/api/pages/{id}"), &elsewhere), &Value::Null).await.expect(404);
        // A schedule of another organization is no target.
        let bundle = desk.harness.api_as(&stranger, "GET", "/api/me/login-bundle", &Value::Null).await.json();
        let foreign = format!("/api/organizations/{}/escalation-policies", bundle["organizations"][0]["id"]);
        let body = policy(&[("schedule", desk.schedule, 5)], 0);
        desk.harness.api_as(&stranger, "POST", &foreign, &body).await.expect(422);
    }
}
