//! The target of monitors in tests: an HTTP server whose response a test changes, and a world with a clock.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tidewatch_alerts::channels::{NotificationFilter, StoredNotification};
use tidewatch_alerts::rules::NewRule;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::client::Answer;
use crate::engines::On;
use crate::harness::{Harness, Project};
use crate::requests::{NOON_NS, at};

/// An HTTP server on loopback.
pub struct Target {
    pub address: SocketAddr,
    response: Arc<Mutex<String>>,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Target {
    pub async fn open() -> Target {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let response = Arc::new(Mutex::new(String::new()));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (sent, received) = (response.clone(), requests.clone());
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    let Ok(byte) = stream.read_u8().await else { break };
                    head.push(byte);
                }
                let head = String::from_utf8_lossy(&head).into_owned();
                let length =
                    head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
                let _ = stream.read_exact(&mut vec![0; length.unwrap_or(0)]).await;
                received.lock().expect("no panic").push(head);
                let response = sent.lock().expect("no panic").clone();
                let _ = stream.write_all(response.as_bytes()).await;
            }
        });
        let target = Target { address, response, requests };
        target.respond(200, "ok");
        target
    }

    /// The status and the body of the next responses.
    pub fn respond(&self, status: u16, body: &str) {
        self.respond_with(status, "", body);
    }

    /// Like [`Target::respond`], with header lines that end with CRLF.
    pub fn respond_with(&self, status: u16, headers: &str, body: &str) {
        let length = body.len();
        *self.response.lock().expect("no panic") =
            format!("HTTP/1.1 {status} X\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}");
    }

    /// The heads of the requests so far.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("no panic").clone()
    }

    pub fn url(&self) -> String {
        format!("http://{}/health", self.address)
    }
}

/// A server with monitors, a project, and a clock that the test moves.
pub struct World {
    pub harness: Harness,
    pub project: Project,
    pub clock: Arc<AtomicI64>,
}

const CHECKS: &str = "/api/synthetics/checks";

impl World {
    pub async fn on(database: &On) -> World {
        let clock = Arc::new(AtomicI64::new(NOON_NS as i64));
        let (harness, project) =
            Harness::registered_at(database, &clock, |config| config.allow_private_monitor_targets = true).await;
        World { harness, project, clock }
    }

    /// A world of a running server.
    pub fn of(harness: Harness, project: Project, clock: Arc<AtomicI64>) -> World {
        World { harness, project, clock }
    }

    pub fn advance(&self, seconds: i64) {
        self.clock.fetch_add(seconds * 1_000_000_000, Ordering::SeqCst);
    }

    pub async fn call(&self, method: &str, path: &str, body: &Value) -> Answer {
        self.harness.api(method, &at(&format!("{CHECKS}{path}"), &self.project), body).await
    }

    /// Creates a monitor and returns its id.
    pub async fn create(&self, body: &Value) -> i64 {
        self.call("POST", "", body).await.expect(201).json()["id"].as_i64().expect("an id")
    }

    /// Creates an `http` monitor that is down after two failures.
    pub async fn create_http(&self, target: &Target) -> i64 {
        self.create(&json!({
            "name": "Shop", "checkType": "http", "intervalSeconds": 30, "failureThreshold": 2,
            "config": { "url": target.url() },
        }))
        .await
    }

    pub async fn get(&self, id: i64) -> Value {
        self.call("GET", &format!("/{id}"), &Value::Null).await.expect(200).json()
    }

    pub async fn state(&self, id: i64) -> String {
        crate::harness::text(&self.get(id).await["state"])
    }

    /// The results of the last day, newest first.
    pub async fn results(&self, id: i64) -> Vec<Value> {
        let body = json!({ "pagination": { "page": 1, "pageSize": 100 } });
        let page = self.call("POST", &format!("/{id}/results"), &body).await.expect(200).json();
        page["data"].as_array().expect("a list").clone()
    }

    /// Waits until a monitor has `count` results, and returns them.
    pub async fn results_at_least(&self, id: i64, count: usize) -> Vec<Value> {
        loop {
            let results = self.results(id).await;
            if results.len() >= count {
                return results;
            }
            tokio::task::yield_now().await;
        }
    }

    /// Moves the clock by the interval and waits for the next result.
    pub async fn next(&self, id: i64) -> Value {
        let before = self.results(id).await.len();
        self.advance(30);
        self.results_at_least(id, before + 1).await[0].clone()
    }

    fn stored_project(&self) -> Arc<tidewatch_accounts::Project> {
        let credentials = &self.harness.app().accounts.control.credentials;
        credentials.project_by_token(&self.project.token, self.clock.load(Ordering::SeqCst)).expect("the project")
    }

    /// Adds a channel that takes no message, and a rule for monitors.
    pub async fn add_rule(&self) {
        let (app, project) = (self.harness.app(), self.stored_project());
        let (by, config) = (app.accounts.by_server(), json!({}));
        let channel = app.alerting.rooms.channels.create_channel(&by, &project, "hook", "webhook", &config).await;
        let rule = NewRule {
            channel: channel.expect("a channel"),
            name: "Monitors".to_owned(),
            rule_type: "check_down".to_owned(),
            config,
            cooldown_minutes: 15,
            severity: None,
        };
        app.alerting.rooms.rules.create_rule(&by, &project, &rule, &[]).await.expect("a rule");
    }

    /// The notifications so far: status, subject, and number of deliveries.
    pub async fn notifications(&self) -> Vec<(String, String, i64)> {
        let rule_type = Some("check_down".to_owned());
        let filter = NotificationFilter { rule_type, to_ns: i64::MAX, ..NotificationFilter::default() };
        let (channels, project) = (&self.harness.app().alerting.rooms.channels, self.stored_project().number);
        let (mut found, _) = channels.notifications(project, &filter, 0, 100).await.expect("the notifications");
        found.reverse();
        let row =
            |one: StoredNotification| (one.status.name().to_owned(), one.subject, one.sent + one.waiting + one.failed);
        found.into_iter().map(row).collect()
    }
}
