//! A log that cannot be written stops nothing: ingest, refusals, flush, retention and merging continue, and lost lines
//! are counted.

use std::fs::File;
use std::process::Stdio;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use tidewatch_domain::units;

use super::ports::free_address;
use super::server::{Server, agent};
use super::small_disk::SmallDisk;

const DAY_NS: u128 = units::DAY_NS as u128;

#[test]
fn a_closed_pipe_as_log_stops_nothing() {
    assert_everything_continues(|| {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        writer.into()
    });
}

/// `/dev/full` fails every write with ENOSPC.
#[test]
fn a_log_on_a_full_disk_stops_nothing() {
    assert_everything_continues(|| File::options().write(true).open("/dev/full").expect("a full device").into());
}

fn assert_everything_continues(log: fn() -> Stdio) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let metrics = free_address();
    // Each export becomes its own part.
    let settings = [
        ("TIDEWATCH_FLUSH_ROWS", "1"),
        ("TIDEWATCH_RETENTION_DAYS", "0"),
        ("TIDEWATCH_METRICS_LISTEN", metrics.as_str()),
    ];
    let mut server = Server::start_with_log(&data, &settings, log);
    let account = server.register();
    assert_eq!(export(&server, &account.project_token, &[days_ago(40), days_ago(41)], "old"), 200);
    until("the flush", || metric(&metrics, "tidewatch_flush_seconds_count") >= 1);

    // The start and the retention write log lines; the same thread merges after the retention.
    server.kill();
    server.set("TIDEWATCH_RETENTION_DAYS", "30");
    server.restart();
    until("the retention", || metric(&metrics, "tidewatch_removed_rows_total") >= 1);
    let malformed = agent()
        .post(format!("{}/api/otel/v1/logs", server.base))
        .header("Authorization", format!("Bearer {}", account.project_token))
        .header("Content-Type", "application/json")
        .send("{")
        .expect("an answer, not a closed connection");
    assert_eq!(malformed.status(), 400, "a refusal that is logged");
    for number in 0..3 {
        assert_eq!(export(&server, &account.project_token, &[days_ago(5); 4], &format!("export {number}")), 200);
    }
    until("the merge", || metric(&metrics, "tidewatch_merge_seconds_count") >= 1);
    assert!(metric(&metrics, "tidewatch_log_lines_lost_total") >= 2, "the lost lines are counted");
    assert_eq!(server.total("/api/logs", json!({})), 12);
}

/// Scenario: the log is on the data's disk, as with `2>> data/log`. Guarantee: exports are refused while the disk is
/// full, a restart on the full disk succeeds, and everything continues when space is available.
#[test]
fn a_log_on_the_datas_full_disk_stops_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Some(disk) = SmallDisk::mount(folder.path()) else {
        // Without the permission to mount, only the log is on a full device.
        return assert_everything_continues(|| {
            File::options().write(true).open("/dev/full").expect("a full device").into()
        });
    };
    // Flushes do not free space.
    let settings = [("TIDEWATCH_FLUSH_SECONDS", "3600")];
    let mut server = Server::start_by(disk.entering(), &folder.path().join("data"), &settings);
    let account = server.register();
    let refused = (0..400).any(|number| {
        let filler = format!("{number} {}", "x".repeat(500_000));
        let status = export(&server, &account.project_token, &[days_ago(0)], &filler);
        assert!(status == 200 || status == 503, "{status}");
        status == 503
    });
    assert!(refused, "the disk is full");
    // Each request writes a log line: together more than the free space in the log file's last page.
    for number in 0..100 {
        let body = format!("{number} {}", "z".repeat(2_000_000));
        assert_eq!(export(&server, &account.project_token, &[days_ago(0)], &body), 503);
    }
    let acked = server.total("/api/logs", json!({}));
    assert!(acked > 0, "what was acknowledged is read");

    server.kill();
    server.restart();
    assert_eq!(server.total("/api/logs", json!({})), acked, "a restart on the full disk starts, and reads");
    assert_eq!(export(&server, &account.project_token, &[days_ago(0)], &"y".repeat(2_000_000)), 503);

    // A clean stop frees some space, which is filled before the next start.
    server.stop();
    disk.fill("more");
    server.restart();
    assert_eq!(server.total("/api/logs", json!({})), acked, "a start on a disk without one free page reads");

    std::fs::remove_file(disk.seen_from_outside("ballast")).expect("the ballast is there");
    until("an export is taken again", || export(&server, &account.project_token, &[days_ago(0)], "after") == 200);
    assert_eq!(server.total("/api/logs", json!({})), acked + 1);
}

/// Nanoseconds since the epoch.
fn days_ago(days: u128) -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_nanos() - days * DAY_NS
}

/// Exports one log record at each of these times; returns the status.
fn export(server: &Server, token: &str, times: &[u128], body: &str) -> u16 {
    let record = |time: &u128| json!({"timeUnixNano": time.to_string(), "body": {"stringValue": body}});
    let records: Vec<Value> = times.iter().map(record).collect();
    let export = json!({"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]});
    server.call("POST", "/api/otel/v1/logs", Some(token), &export).0
}

/// A value of `/metrics`; 0 if it does not exist yet.
fn metric(metrics: &str, name: &str) -> u64 {
    let mut answer = agent().get(format!("http://{metrics}/metrics")).call().expect("the metrics are served");
    let text = answer.body_mut().read_to_string().expect("text");
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.and_then(|value| value.parse().ok()).unwrap_or(0)
}

fn until(what: &str, mut is_done: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !is_done() {
        assert!(Instant::now() < deadline, "{what} does not come");
        std::thread::park_timeout(Duration::from_millis(50));
    }
}
