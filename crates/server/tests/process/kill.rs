//! SIGKILL at any moment under load: no record that was acknowledged over any protocol is lost, and none is stored twice.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, any_value};
use opentelemetry_proto::tonic::logs::v1::{LogRecord, ResourceLogs, ScopeLogs};
use prost::Message as _;
use serde_json::{Value, json};
use tidewatch_domain::encode::Message;
use tidewatch_journal::disk::sim::rounds;

use super::protocols::{Outcome, Protocol};
use super::server::{Account, Server};

const KILLS: u64 = 50;
const SENDERS: u64 = 4;
const SPANS_PER_REQUEST: u64 = 8;
/// 2026-11-21, in nanoseconds.
const START: u64 = 1_795_219_200_000_000_000;
const PPROF_SERVICE: &str = "kill-pprof";

/// Number of acknowledged requests of all senders.
fn acked_of(senders: &[Sender]) -> u64 {
    senders.iter().map(|sender| sender.acked.load(Ordering::Relaxed)).sum()
}

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

    let kills = rounds(KILLS);
    for round in 0..kills {
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for sender in &senders {
                scope.spawn(|| sender.run(&server.base, &account, &stop));
            }
            // A different moment each round: between 5 and 160 ms of load, every other time after an acknowledgement, so
            // that the senders get through on a machine that does much else.
            let before = acked_of(&senders);
            std::thread::park_timeout(Duration::from_millis(5 + round * 37 % 156));
            while round % 2 == 1 && acked_of(&senders) == before {
                std::thread::park_timeout(Duration::from_millis(1));
            }
            stop.store(true, Ordering::Relaxed);
            sigkill(server.pid());
        });
        server.kill();
        server.restart();
    }
    senders.iter().for_each(|sender| sender.settle(&server.base, &account));

    // Each number of a sender was acknowledged once over every protocol.
    let acked = acked_of(&senders);
    assert!(acked >= kills / 2, "the senders got through between the kills: {acked}");
    let spans = acked * (SPANS_PER_REQUEST + 1);
    assert_eq!(stored_spans(&server, spans), spans, "every acked span and task is stored exactly once");
    assert_eq!(server.total("/api/logs", json!({})), spans, "and every acked log record, of OTLP/HTTP and gRPC");
    assert_eq!(server.total("/api/endpoints", json!({})), acked, "and every Endpoint");
    assert_eq!(server.total("/api/tasks", json!({})), acked, "and every Task of a native report");
    for service in ["kill-test", PPROF_SERVICE] {
        let graph = server.query(
            "/api/profiles/flamegraph",
            json!({"serviceName": service, "type": "go:profile_cpu:nanoseconds", "fromDate": "2026-11-01T00:00:00Z",
                "toDate": "2026-11-30T00:00:00Z"}),
        );
        assert_eq!(graph["profileCount"], acked, "and every profile of {service}");
        assert_eq!((&graph["total"], &graph["missingStacks"]), (&json!((7 * acked) as f64), &json!(0)));
        assert_eq!(graph["names"], json!(["total", "main"]));
    }

    assert_eq!(recorded_sessions(&server, acked), acked, "and every session with its recording");

    server.kill();
    server.restart();
    assert_eq!(stored_spans(&server, spans), spans, "a last restart changes nothing");
    assert_eq!(recorded_sessions(&server, acked), acked);
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

/// Sends over every protocol, one after the other; keeps unacknowledged requests for the next attempt.
struct Sender {
    id: u64,
    next: AtomicU64,
    /// Numbers whose last request was acknowledged.
    acked: AtomicU64,
    waiting: Mutex<Vec<(Protocol, Vec<u8>)>>,
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
            waiting.extend([
                (Protocol::Otlp("v1/traces"), self.trace(number).into_bytes()),
                (Protocol::Otlp("v1/logs"), self.logs(number).into_bytes()),
                (Protocol::Otlp("v1development/profiles"), self.profile(number).into_bytes()),
                (Protocol::Grpc("logs.v1.LogsService"), self.log(number)),
                (Protocol::Pprof(PPROF_SERVICE), self.pprof(number)),
                (Protocol::Report, self.report(number).into_bytes()),
            ]);
            drop(waiting);
            self.settle(base, account);
        }
    }

    /// Sends the unacknowledged requests, oldest first, until all are acknowledged or the server is killed.
    fn settle(&self, base: &str, account: &Account) {
        let mut waiting = self.waiting.lock().expect("one thread a sender");
        while let Some((protocol, body)) = waiting.first() {
            match protocol.send(base, account, body) {
                Outcome::Accepted => {
                    self.acked.fetch_add(u64::from(*protocol == Protocol::Report), Ordering::Relaxed);
                    waiting.remove(0);
                }
                Outcome::Later => {}
                Outcome::Nothing => return,
            }
        }
    }

    fn trace(&self, number: u64) -> String {
        let spans: Vec<Value> = (0..SPANS_PER_REQUEST).map(|index| self.span(number, index)).collect();
        json!({"resourceSpans": [{"resource": resource(), "scopeSpans": [{"spans": spans}]}]}).to_string()
    }

    fn span(&self, number: u64, index: u64) -> Value {
        let start = START + number * 1_000_000 + index;
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
            "timeUnixNano": (START + number * 1_000_000 + self.id).to_string(), "durationNano": "1000",
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

    /// The same in the format of pprof.
    fn pprof(&self, number: u64) -> Vec<u8> {
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
        profile.uint(9, START + number * 1_000_000 + self.id);
        profile.uint(10, 1000);
        body
    }

    /// A native report with a Task, a session and a segment of its recording. Recordings older than 30 days are not
    /// stored.
    fn report(&self, number: u64) -> String {
        let now = jiff::Timestamp::now().to_string();
        let id = |kind: u32| format!("{:08x}-{kind:04x}-4000-8000-{number:012x}", self.id + 1);
        let task = json!({
            "id": id(1), "endpoint": "kill.task", "duration": 1000, "statusCode": 0, "isTask": true,
            "recordedAt": format!("2026-11-21T00:{:02}:{:02}Z", number / 60 % 60, number % 60),
        });
        let recording =
            json!({ "sessionId": id(2), "segmentIndex": 0, "events": [number], "startedAt": now, "endedAt": now });
        json!({ "collectionFrames": [{
            "traces": [task],
            "sessions": [{ "id": id(2), "startedAt": now, "attributes": { "userId": format!("u{}", self.id) } }],
            "sessionRecordings": [recording],
        }] })
        .to_string()
    }

    /// A log record as protobuf.
    fn log(&self, number: u64) -> Vec<u8> {
        let text = format!("sender {} number {number} over gRPC", self.id);
        let record = LogRecord {
            time_unix_nano: START + number * 1_000_000,
            severity_number: 9,
            body: Some(AnyValue { value: Some(any_value::Value::StringValue(text)) }),
            ..Default::default()
        };
        let scope_logs = vec![ScopeLogs { log_records: vec![record], ..Default::default() }];
        ExportLogsServiceRequest { resource_logs: vec![ResourceLogs { scope_logs, ..Default::default() }] }
            .encode_to_vec()
    }

    fn logs(&self, number: u64) -> String {
        let records: Vec<Value> = (0..SPANS_PER_REQUEST)
            .map(|index| json!({
                "timeUnixNano": (START + number * 1_000_000 + index).to_string(),
                "severityNumber": 9, "body": {"stringValue": format!("sender {} trace {number} line {index}", self.id)},
            }))
            .collect();
        json!({"resourceLogs": [{"resource": resource(), "scopeLogs": [{"logRecords": records}]}]}).to_string()
    }
}

fn resource() -> Value {
    json!({"attributes": [{"key": "service.name", "value": {"stringValue": "kill-test"}}]})
}
