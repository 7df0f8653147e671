//! The memory of the whole process stays within its budgets under heavy queries and exports.

use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

use super::ports::free_address;
use super::server::{Account, Server, agent};

/// The number of different names of Endpoints.
const NAMES: usize = 12_000;
/// Concurrent queries.
const READERS: usize = 8;
const ROUNDS_MAX: usize = 20;
const BUDGET_MB: usize = 64;

/// The peak resident set size of the process in bytes.
fn peak(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("the process runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    1024 * line.trim().trim_end_matches("kB").trim().parse::<u64>().expect("a number")
}

fn start(data: &Path, settings: &[(&'static str, &str)]) -> (Server, Account, String) {
    let metrics_address = free_address();
    let mut server = Server::start(data, settings);
    server.set("TIDEWATCH_METRICS_LISTEN", &metrics_address);
    server.kill();
    server.restart();
    let account = server.register();
    (server, account, metrics_address)
}

/// A value of `/metrics`.
fn metric(metrics_address: &str, name: &str) -> f64 {
    let text =
        agent().get(format!("http://{metrics_address}/metrics")).call().expect("an answer").body_mut().read_to_string();
    let text = text.expect("text");
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("no {name} in {text}"))
}

fn spans(first: usize, count: usize) -> Value {
    let span = |n: usize| {
        json!({
            "traceId": format!("{:032x}", n + 1), "spanId": format!("{:016x}", n + 1), "name": "GET", "kind": 2,
            "startTimeUnixNano": (1_780_315_200_000_000_000_u64 + n as u64).to_string(),
            "endTimeUnixNano": (1_780_315_200_005_000_000_u64 + n as u64 * 3).to_string(),
            "attributes": [
                {"key": "http.request.method", "value": {"stringValue": "GET"}},
                {"key": "http.route", "value": {"stringValue": format!("/orders/{n}/of/some/customer")}},
            ],
        })
    };
    let all: Vec<Value> = (first..first + count).map(span).collect();
    json!({"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"spans": all}]}]})
}

fn send(server: &Server, account: &Account, body: &[u8], headers: &[(&str, &str)]) -> u16 {
    let mut request = agent().post(format!("{}/api/otel/v1/traces", server.base));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.header("Authorization", format!("Bearer {}", account.project_token));
    request.send(body).expect("an answer").status().as_u16()
}

/// Queries that together need more than the budget wait for each other; all are answered.
#[test]
fn concurrent_heavy_queries_stay_within_the_budget_and_are_all_answered() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let budget = BUDGET_MB.to_string();
    let settings = [
        ("TIDEWATCH_QUERY_MEMORY_MB", budget.as_str()),
        ("TIDEWATCH_QUERY_THREADS", "8"),
        ("TIDEWATCH_NAMES_MAX", "0"),
        ("TIDEWATCH_RETENTION_DAYS", "0"),
    ];
    let (server, account, metrics_address) = start(&folder.path().join("data"), &settings);
    for first in (0..NAMES).step_by(2000) {
        let body = spans(first, 2000).to_string();
        assert_eq!(send(&server, &account, body.as_bytes(), &[("Content-Type", "application/json")]), 200);
    }
    // Repeats until some of them ran concurrently, which depends on the machine.
    let waited = (0..ROUNDS_MAX).any(|_| {
        std::thread::scope(|scope| {
            let query = || server.query("/api/endpoints/grouped", json!({"pagination": {"page": 1, "pageSize": 20}}));
            let readers: Vec<_> = (0..READERS).map(|_| scope.spawn(query)).collect();
            for reader in readers {
                let page = reader.join().expect("an answer");
                assert_eq!(page["pagination"]["total"], NAMES);
            }
        });
        metric(&metrics_address, "tidewatch_query_memory_waits_total") > 0.0
    });
    assert!(waited, "no query waited");
    let [peak_bytes, max, held] = ["peak_bytes", "max_bytes", "bytes"]
        .map(|name| metric(&metrics_address, &format!("tidewatch_query_memory_{name}")));
    assert_eq!(max, (BUDGET_MB << 20) as f64);
    assert!(peak_bytes > 0.0 && peak_bytes <= max, "{peak_bytes} of {max}");
    assert_eq!((held, metric(&metrics_address, "tidewatch_query_memory_waiting")), (0.0, 0.0));
}

/// A report of 64 MB of recordings that do not compress: a few copies of it are in memory, and its recordings are read
/// back. Spec: "Report and profile body".
#[test]
fn a_report_of_sixty_four_megabytes_takes_bounded_memory() {
    const SEGMENTS: usize = 5;
    const SEGMENT_BYTES: usize = 13_400_000;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (server, account, _) = start(&folder.path().join("data"), &[]);
    let mut state = 88_172_645_463_325_252_u64;
    let mut digit = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[(state % 64) as usize])
    };
    let now = jiff::Timestamp::now().to_string();
    let id = "4b0e6a5c-2a7d-4f2e-9a0b-aabbccddeeff";
    let segments: Vec<Value> = (0..SEGMENTS)
        .map(|index| {
            let video: String = (0..SEGMENT_BYTES).map(|_| digit()).collect();
            json!({ "sessionId": id, "segmentIndex": index, "events": [video], "startedAt": now, "endedAt": now })
        })
        .collect();
    let frame = json!({ "sessions": [{ "id": id, "startedAt": now }], "sessionRecordings": segments });
    let body = json!({ "collectionFrames": [frame] }).to_string();
    assert!((63 << 20..=64 << 20).contains(&body.len()), "{} bytes", body.len());
    let before = peak(server.pid());
    let report = |body: &[u8]| {
        let request = agent().post(format!("{}/api/report", server.base));
        let request = request.header("Authorization", format!("Bearer {}", account.project_token));
        request.send(body).expect("an answer").status().as_u16()
    };
    assert_eq!(report(body.as_bytes()), 200);
    let grown = peak(server.pid()).saturating_sub(before);
    assert!(grown < 256 << 20, "{} MB more", grown >> 20);
    println!("{} MB more for a report of {} MB", grown >> 20, body.len() >> 20);
    let found = server.query(&format!("/api/sessions/{id}"), json!({}));
    let sizes: Vec<_> = found["segments"].as_array().expect("a list").iter().map(|one| &one["eventBytes"]).collect();
    assert_eq!(sizes, vec![&json!(SEGMENT_BYTES + 4); SEGMENTS]);
}

/// Two kilobytes that inflate to a million empty records are refused before a record is built.
#[test]
fn bodies_of_empty_records_take_no_memory() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (server, account, metrics_address) = start(&folder.path().join("data"), &[]);
    // ResourceSpans { ScopeSpans { spans: a million empty ones } }.
    let field = |number: u8, bytes: &[u8]| {
        let mut length = bytes.len();
        let mut field = vec![number << 3 | 2];
        while length >= 0x80 {
            field.push(length as u8 | 0x80);
            length >>= 7;
        }
        field.push(length as u8);
        [field, bytes.to_vec()].concat()
    };
    let body = field(1, &field(2, &[0x12, 0].repeat(1_000_000)));
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(&body).expect("memory");
    let body = gzip.finish().expect("memory");
    assert!(body.len() < 4096, "{} bytes", body.len());
    let before = peak(server.pid());
    let headers = [("Content-Type", "application/x-protobuf"), ("Content-Encoding", "gzip")];
    std::thread::scope(|scope| {
        let senders: Vec<_> = (0..12).map(|_| scope.spawn(|| send(&server, &account, &body, &headers))).collect();
        for sender in senders {
            assert_eq!(sender.join().expect("an answer"), 400);
        }
    });
    let grown = peak(server.pid()).saturating_sub(before);
    assert!(grown < 100 << 20, "{} MB more", grown >> 20);
    assert_eq!(metric(&metrics_address, "tidewatch_export_bytes_held"), 0.0);
}
