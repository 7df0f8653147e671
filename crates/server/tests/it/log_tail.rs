//! The live tail of logs over HTTP. Limits: `docs/operate/limits.md`.

use serde_json::{Value, json};
use tidewatch_limits as limits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::harness::{Harness, Project};
use crate::requests::{NOON_NS, column};

/// A client that reads events as they come.
struct Events {
    stream: TcpStream,
    received: String,
}

impl Events {
    async fn open(harness: &Harness, credential: &str, project: &Project, query: &str) -> Events {
        let mut stream = TcpStream::connect(harness.address()).await.expect("the server listens");
        let request = format!(
            "GET /api/logs/tail?projectId={}&query={query} HTTP/1.1\r\nHost: test\r\nAccept: text/event-stream\r\n\
             Authorization: Bearer {credential}\r\n\r\n",
            project.id
        );
        stream.write_all(request.as_bytes()).await.expect("an open connection");
        let mut events = Events { stream, received: String::new() };
        events.until(": open").await;
        assert!(events.received.starts_with("HTTP/1.1 200"), "{}", events.received);
        assert!(events.received.to_lowercase().contains("content-type: text/event-stream"), "{}", events.received);
        events
    }

    /// Reads until a line of an event begins with `start`, and returns the rest of the line.
    async fn until(&mut self, start: &str) -> String {
        loop {
            if let Some(at) = self.received.find(start)
                && let Some(end) = self.received[at..].find('\n')
            {
                let line = self.received[at + start.len()..at + end].trim().to_owned();
                if start != ": open" {
                    self.received.drain(..at + end);
                }
                return line;
            }
            let mut chunk = [0; 64 * 1024];
            let read = self.stream.read(&mut chunk).await.expect("an open connection");
            assert!(read > 0, "the stream has ended: {}", self.received);
            self.received.push_str(&String::from_utf8_lossy(&chunk[..read]));
        }
    }

    /// The next event `logs`.
    async fn logs(&mut self) -> Value {
        self.until("event: logs").await;
        serde_json::from_str(&self.until("data: ").await).expect("JSON")
    }
}

fn export(records: &[(u64, u64, String)]) -> Value {
    let record = |(second, severity, body): &(u64, u64, String)| {
        json!({ "timeUnixNano": (NOON_NS + second * 1_000_000_000).to_string(), "severityNumber": severity,
            "body": { "stringValue": body } })
    };
    let records: Vec<Value> = records.iter().map(record).collect();
    json!({ "resourceLogs": [{ "resource": crate::requests::resource("shop"), "scopeLogs": [{ "logRecords": records }] }] })
}

async fn send(harness: &Harness, project: &Project, records: &[(u64, u64, &str)]) {
    let records: Vec<_> = records.iter().map(|(second, level, body)| (*second, *level, (*body).to_owned())).collect();
    harness.post_json("logs", &project.token, &export(&records)).await.expect(200);
}

/// A record that is shown is stored; a repeated request and other projects are not shown.
#[tokio::test]
async fn a_tail_shows_the_stored_records_that_pass_its_query() {
    let (harness, project) = Harness::with_project().await;
    let other = harness.project("other").await;
    send(&harness, &project, &[(0, 17, "before the tail")]).await;
    let mut all = Events::open(&harness, &harness.login, &project, "").await;
    let mut errors = Events::open(&harness, &harness.login, &project, "level%3E%3Derror%20payment").await;
    send(&harness, &other, &[(1, 17, "payment of another project")]).await;
    send(&harness, &project, &[(3, 17, "Payment declined"), (1, 9, "payment accepted"), (2, 17, "no stock")]).await;
    let event = all.logs().await;
    assert_eq!(column(&event, "body"), ["payment accepted", "no stock", "Payment declined"], "by time");
    assert_eq!((&event["skipped"], &event["missed"]), (&json!(0), &json!(0)));
    assert_eq!(column(&errors.logs().await, "body"), ["Payment declined"]);
    let list = harness.query_json(&project, "/api/logs", json!({ "query": "stock" })).await;
    assert_eq!(event["data"][1], list["data"][0], "a record is the same in the list");

    // The same request again is a retry.
    send(&harness, &project, &[(3, 17, "Payment declined"), (1, 9, "payment accepted"), (2, 17, "no stock")]).await;
    send(&harness, &project, &[(9, 17, "payment lost")]).await;
    assert_eq!(column(&all.logs().await, "body"), ["payment lost"]);
    assert_eq!(column(&errors.logs().await, "body"), ["payment lost"]);
}

#[tokio::test]
async fn records_beyond_the_rate_are_counted() {
    let (harness, project) = Harness::with_project().await;
    let mut events = Events::open(&harness, &harness.login, &project, "line").await;
    let count = 3 * limits::LIVE_TAIL_RECORDS_MAX as u64;
    // Of equal time, as in a burst: they stay in the order in which they were sent.
    let records: Vec<_> = (0..count).map(|number| (7, 9, format!("line {number}"))).collect();
    harness.post_json("logs", &project.token, &export(&records)).await.expect(200);
    let event = events.logs().await;
    let shown = column(&event, "body");
    assert_eq!(shown.len(), limits::LIVE_TAIL_RECORDS_MAX);
    let latest = (count - shown.len() as u64..count).map(|number| json!(format!("line {number}")));
    assert_eq!(shown, latest.collect::<Vec<_>>().iter().collect::<Vec<_>>(), "the latest are shown");
    assert_eq!((&event["skipped"], &event["missed"]), (&json!(count - shown.len() as u64), &json!(0)));
}

#[tokio::test]
async fn wrong_queries_and_too_many_tails_are_refused() {
    let (harness, project) = Harness::with_project().await;
    let path = format!("/api/logs/tail?projectId={}", project.id);
    let accepting = async |path: &str| {
        let authorization = format!("Bearer {}", harness.login);
        let headers = [("Accept", "text/event-stream"), ("Authorization", authorization.as_str())];
        crate::client::send(harness.address(), "GET", path, &headers, b"").await
    };
    let answer = accepting(&format!("{path}&query=level%3Anone")).await.expect(400).json();
    assert_eq!(answer["position"], 6, "{answer}");
    harness.api("GET", &path, &Value::Null).await.expect(400);
    let mut open = Vec::new();
    for _ in 0..limits::LIVE_TAILS_PER_USER_MAX {
        open.push(Events::open(&harness, &harness.login, &project, "").await);
    }
    assert!(accepting(&path).await.expect(503).header("retry-after").is_some());
    // A closed connection makes room, as soon as the server notices.
    open.pop();
    while harness.app().live_tails.enter(1).is_none() {
        tokio::task::yield_now().await;
    }
}

/// Spec: a session that ends, ends everywhere; and a stopping server does not wait for its tails.
#[tokio::test]
async fn a_tail_ends_with_its_session_and_with_the_server() {
    let (mut harness, project) = Harness::with_project().await;
    let login = json!({ "email": "owner@example.com", "password": "correct horse" });
    let second = harness.api_as("", "POST", "/api/login", &login).await.expect(200).json();
    let second = crate::harness::text(&second["token"]);
    let mut ending = Events::open(&harness, &second, &project, "").await;
    let mut staying = Events::open(&harness, &harness.login, &project, "").await;
    harness.api_as(&second, "POST", "/api/me/logout", &Value::Null).await.expect(200);
    ending.until("event: end").await;
    assert_eq!(ending.until("data: ").await, r#"{"reason":"signed_out"}"#);
    send(&harness, &project, &[(1, 9, "still here")]).await;
    assert_eq!(column(&staying.logs().await, "body"), ["still here"]);
    let stopped = std::time::Instant::now();
    harness.stop().await;
    assert!(stopped.elapsed() < limits::DRAIN_MAX);
    staying.until("event: end").await;
    assert_eq!(staying.until("data: ").await, r#"{"reason":"stopping"}"#);
}
