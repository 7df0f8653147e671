//! SIGKILL at any moment under load: no acknowledged record is lost, and none is stored twice.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::server::{Account, Server, agent};

const KILLS: u64 = 50;
const SENDERS: u64 = 4;
const SPANS_PER_REQUEST: u64 = 8;
const TRACES: &str = "otel/v1/traces";
const LOGS: &str = "otel/v1/logs";
const PROFILES: &str = "otel/v1development/profiles";
const REPORT: &str = "report";

/// Mission 1: acknowledged records are durable. Senders retry unacknowledged requests byte for byte, as exporters do.
#[test]
fn fifty_kills_lose_no_acked_record_and_duplicate_none() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    // Small, frequent flushes, so that kills interrupt flushes, catalog transactions and merges too.
    let settings = [("TIDEWATCH_FLUSH_ROWS", "400"), ("TIDEWATCH_FLUSH_SECONDS", "1")];
    let mut server = Server::start(&data, &settings);
    let account = server.register();
    let senders: Vec<Sender> = (0..SENDERS).map(Sender::new).collect();

    for round in 0..KILLS {
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for sender in &senders {
                scope.spawn(|| sender.run(&server.base, &account, &stop));
            }
            // A different moment each round: between 5 and 160 ms of load.
            std::thread::park_timeout(Duration::from_millis(5 + round * 37 % 156));
            stop.store(true, Ordering::Relaxed);
            sigkill(server.pid());
        });
        server.kill();
        server.restart();
    }
    senders.iter().for_each(|sender| sender.settle(&server.base, &account));

    let acked: u64 = senders.iter().map(|sender| sender.acked.load(Ordering::Relaxed)).sum();
    assert!(acked > KILLS * SPANS_PER_REQUEST, "the senders got through between the kills: {acked}");
    assert_eq!(stored_spans(&server, acked), acked, "every acked span is stored exactly once");
    assert_eq!(server.total("/api/logs", json!({})), acked, "and every acked log record");
    assert_eq!(server.total("/api/endpoints", json!({})), acked / SPANS_PER_REQUEST, "and every Endpoint");

    let graph = server.query(
        "/api/profiles/flamegraph",
        json!({"serviceName": "kill-test", "type": "go:profile_cpu:nanoseconds", "fromDate": "2026-11-01T00:00:00Z",
            "toDate": "2026-11-30T00:00:00Z"}),
    );
    let profiles = acked / SPANS_PER_REQUEST;
    assert_eq!(graph["profileCount"], profiles, "and every profile");
    assert_eq!((&graph["total"], &graph["missingStacks"]), (&json!((7 * profiles) as f64), &json!(0)));
    assert_eq!(graph["names"], json!(["total", "main"]));

    assert_eq!(recorded_sessions(&server, profiles), profiles, "and every session with its recording");

    server.kill();
    server.restart();
    assert_eq!(stored_spans(&server, acked), acked, "a last restart changes nothing");
    assert_eq!(recorded_sessions(&server, profiles), profiles);
}

/// Pages through all sessions; each has a recording.
fn recorded_sessions(server: &Server, expected: u64) -> u64 {
    let mut seen = HashMap::new();
    for page in 1..=expected / 100 + 2 {
        let answer = server.query("/api/sessions", json!({ "pagination": { "page": page, "pageSize": 100 } }));
        for row in answer["data"].as_array().expect("rows") {
            assert_eq!(row["hasRecording"], true, "{row}");
            *seen.entry(row["id"].to_string()).or_insert(0) += 1;
        }
    }
    assert!(seen.values().all(|count| *count == 1), "no session comes twice");
    seen.len() as u64
}

/// Pages through all spans, and asserts that each id occurs once.
fn stored_spans(server: &Server, expected: u64) -> u64 {
    let mut seen: HashMap<String, u32> = HashMap::new();
    for page in 1..=expected / 100 + 2 {
        let body = json!({"fromDate": "2026-11-01T00:00:00Z", "toDate": "2026-11-30T00:00:00Z",
            "orderBy": "start_time", "sortDirection": "asc", "pagination": {"page": page, "pageSize": 100}});
        let answer = server.query("/api/spans", body);
        let rows = answer["data"].as_array().expect("rows");
        for row in rows {
            *seen.entry(format!("{}/{}", row["traceId"], row["spanId"])).or_default() += 1;
        }
        if rows.is_empty() {
            break;
        }
    }
    assert_eq!(seen.values().filter(|count| **count > 1).count(), 0, "no span comes twice");
    seen.len() as u64
}

fn sigkill(pid: u32) {
    std::process::Command::new("kill").args(["-9", &pid.to_string()]).status().expect("kill(1)");
}

/// Sends traces and their logs one after the other; stores unacknowledged requests for the next attempt.
struct Sender {
    id: u64,
    next: AtomicU64,
    acked: AtomicU64,
    waiting: Mutex<Vec<(&'static str, String)>>,
}

impl Sender {
    fn new(id: u64) -> Sender {
        Sender { id, next: AtomicU64::new(1), acked: AtomicU64::new(0), waiting: Mutex::new(Vec::new()) }
    }

    fn run(&self, base: &str, account: &Account, stop: &AtomicBool) {
        self.settle(base, account);
        while !stop.load(Ordering::Relaxed) {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let mut waiting = self.waiting.lock().expect("one thread a sender");
            waiting.push((TRACES, self.trace(number)));
            waiting.push((LOGS, self.logs(number)));
            waiting.push((PROFILES, self.profile(number)));
            waiting.push((REPORT, self.session(number)));
            drop(waiting);
            self.settle(base, account);
        }
    }

    /// Sends the unacknowledged requests, oldest first, until all are acknowledged or the server is killed.
    fn settle(&self, base: &str, account: &Account) {
        let mut waiting = self.waiting.lock().expect("one thread a sender");
        while let Some((path, body)) = waiting.first() {
            let answer = agent()
                .post(format!("{base}/api/{path}"))
                .header("Authorization", format!("Bearer {}", account.project_token))
                .header("Content-Type", "application/json")
                .send(body.as_str());
            match answer {
                Ok(response) if response.status() == 200 => {
                    if *path == TRACES {
                        self.acked.fetch_add(SPANS_PER_REQUEST, Ordering::Relaxed);
                    }
                    waiting.remove(0);
                }
                Ok(response) => assert_eq!(response.status(), 503, "only back-pressure may refuse a valid export"),
                Err(_) => return,
            }
        }
    }

    fn trace(&self, number: u64) -> String {
        let spans: Vec<Value> = (0..SPANS_PER_REQUEST).map(|index| self.span(number, index)).collect();
        json!({"resourceSpans": [{"resource": resource(), "scopeSpans": [{"spans": spans}]}]}).to_string()
    }

    fn span(&self, number: u64, index: u64) -> Value {
        let start = 1_795_219_200_000_000_000 + number * 1_000_000 + index;
        json!({
            "traceId": format!("{:016x}{number:016x}", self.id + 1),
            "spanId": format!("{:016x}", index + 1),
            "parentSpanId": if index == 0 { String::new() } else { format!("{index:016x}") },
            "name": "GET /kill", "kind": if index == 0 { 2 } else { 1 },
            "startTimeUnixNano": start.to_string(), "endTimeUnixNano": (start + 1000).to_string(),
            "attributes": if index == 0 { json!([
                {"key": "http.request.method", "value": {"stringValue": "GET"}},
                {"key": "http.route", "value": {"stringValue": "/kill"}},
            ]) } else { json!([]) },
        })
    }

    /// A profile with one sample, whose stack is that of every other.
    fn profile(&self, number: u64) -> String {
        let profile = json!({
            "sampleType": {"typeStrindex": 1, "unitStrindex": 2}, "samples": [{"stackIndex": 1, "values": ["7"]}],
            "timeUnixNano": (1_795_219_200_000_000_000 + number * 1_000_000 + self.id).to_string(), "durationNano": "1000",
        });
        json!({
            "resourceProfiles": [{"resource": resource(), "scopeProfiles": [{"profiles": [profile]}]}],
            "dictionary": {
                "stringTable": ["", "cpu", "nanoseconds", "main"], "functionTable": [{}, {"nameStrindex": 3}],
                "locationTable": [{}, {"lines": [{"functionIndex": 1}]}],
                "stackTable": [{}, {"locationIndices": [1]}],
            },
        })
        .to_string()
    }

    /// A report with a session and a segment of its recording. Recordings older than 30 days are not stored.
    fn session(&self, number: u64) -> String {
        let now = jiff::Timestamp::now().to_string();
        let id = format!("{:08x}-0000-4000-8000-{number:012x}", self.id + 1);
        json!({ "collectionFrames": [{
            "sessions": [{ "id": id, "startedAt": now, "attributes": { "userId": format!("u{}", self.id) } }],
            "sessionRecordings": [{ "sessionId": id, "segmentIndex": 0, "events": [number], "startedAt": now, "endedAt": now }],
        }] })
        .to_string()
    }

    fn logs(&self, number: u64) -> String {
        let records: Vec<Value> = (0..SPANS_PER_REQUEST)
            .map(|index| json!({
                "timeUnixNano": (1_795_219_200_000_000_000 + number * 1_000_000 + index).to_string(),
                "severityNumber": 9, "body": {"stringValue": format!("sender {} trace {number} line {index}", self.id)},
            }))
            .collect();
        json!({"resourceLogs": [{"resource": resource(), "scopeLogs": [{"logRecords": records}]}]}).to_string()
    }
}

fn resource() -> Value {
    json!({"attributes": [{"key": "service.name", "value": {"stringValue": "kill-test"}}]})
}
