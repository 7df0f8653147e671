//! `tidewatch export`: a table as a file, from a running server or a data directory.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tidewatch_store::tables::Table;

use super::parquet_readers::{profiles, python, sessions};
use super::server::{Account, Server};

const FORMATS: [&str; 3] = ["parquet", "ndjson", "csv"];
/// The day of all rows that are sent.
const DAY: [&str; 4] = ["--from", "2026-11-19", "--to", "2026-11-20"];
/// 2026-11-19, 12:00 UTC.
const NOON: u64 = 1_795_089_600_000_000_000;

/// The binary with these arguments; the value of `--token` is passed in the environment.
fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidewatch"));
    command.arg("export").args(DAY).env_remove("TIDEWATCH_ACCESS_TOKEN");
    match arguments.iter().position(|argument| *argument == "--token") {
        Some(at) => {
            command.args(&arguments[..at]).args(&arguments[at + 2..]).env("TIDEWATCH_ACCESS_TOKEN", arguments[at + 1])
        }
        None => command.args(arguments),
    };
    command
}

fn run(arguments: &[&str]) -> Output {
    command(arguments).output().expect("the binary runs")
}

#[track_caller]
fn succeed(arguments: &[&str]) -> Vec<u8> {
    let output = run(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// The standard error of a command that fails.
#[track_caller]
fn fail(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(!output.status.success(), "{arguments:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of UTF-8")
}

/// A token with the scope `read`.
fn token(server: &Server, account: &Account) -> String {
    let body = json!({ "name": "export", "scopes": ["read"] });
    let (status, made) = server.call("POST", "/api/personal-access-tokens", Some(&account.jwt), &body);
    assert_eq!(status, 201, "{made}");
    made["token"].as_str().expect("a token").to_owned()
}

fn attributes(pairs: &[(&str, Value)]) -> Value {
    pairs.iter().map(|(key, value)| json!({"key": key, "value": value})).collect()
}

/// Sends rows of every table; the ids depend on `round`.
fn send(server: &Server, token: &str, round: u64) {
    let text = |text: &str| json!({ "stringValue": text });
    let span = |n: u64| {
        let (trace, id) = (format!("{:032x}", (round << 32) + n / 4 + 1), (round << 32) + n + 1);
        let route = format!("/items/{}", n % 3);
        let (kind, attributes) = match n % 4 {
            0 => (
                2,
                attributes(&[
                    ("http.request.method", text("GET")),
                    ("http.route", text(&route)),
                    ("http.response.status_code", json!({"intValue": if n.is_multiple_of(8) { "500" } else { "200" }})),
                ]),
            ),
            1 => (5, attributes(&[("messaging.system", text("kafka"))])),
            2 => (
                3,
                attributes(&[
                    ("gen_ai.request.model", text("gpt-4o")),
                    ("gen_ai.usage.input_tokens", json!({"intValue": "7"})),
                ]),
            ),
            _ => (
                1,
                attributes(&[
                    ("note", text("a, \"b\"\n日本")),
                    ("list", json!({"arrayValue": {"values": [{"intValue": "1"}]}})),
                ]),
            ),
        };
        let events = json!([{"name": "exception", "timeUnixNano": (NOON + n).to_string(), "attributes": attributes_of_exception(n)}]);
        json!({
            "traceId": trace, "spanId": format!("{id:016x}"), "kind": kind, "name": format!("span {n}"), "attributes": attributes,
            "parentSpanId": if n.is_multiple_of(4) { String::new() } else { format!("{:016x}", (round << 32) + n / 4 * 4 + 1) },
            "startTimeUnixNano": (NOON + n * 1_000_000_007).to_string(), "endTimeUnixNano": (NOON + n * 1_000_000_007 + 5_000_001 * n).to_string(),
            "events": if n.is_multiple_of(4) { events } else { json!([]) },
            "links": [{"traceId": format!("{:032x}", n + 7), "spanId": format!("{:016x}", n + 7)}],
        })
    };
    let resource = json!({"attributes": attributes(&[("service.name", text("shop")), ("host.name", text("h1"))])});
    let spans: Vec<Value> = (0..200).map(span).collect();
    let log = |n: u64| {
        json!({
            "timeUnixNano": (NOON + n).to_string(), "severityNumber": 9, "body": {"stringValue": format!("order {n} of round {round}")},
            "traceId": format!("{:032x}", (round << 32) + n + 1), "spanId": format!("{:016x}", (round << 32) + n + 1), "attributes": attributes(&[("n", json!({"intValue": n.to_string()}))]),
        })
    };
    let logs: Vec<Value> = (0..30).map(log).collect();
    let metrics = json!([
        {"name": "jobs", "unit": "1", "sum": {"dataPoints": [{"timeUnixNano": NOON.to_string(), "asInt": ((round % 4) << 60).to_string(), "attributes": []}], "aggregationTemporality": 2, "isMonotonic": true}},
        {"name": "latency", "unit": "ms", "histogram": {"dataPoints": [{"timeUnixNano": (NOON + round).to_string(), "count": "4", "sum": 100.0, "explicitBounds": [10.5, 20.0], "bucketCounts": ["1", "2", "1"]}], "aggregationTemporality": 1}},
    ]);
    for (path, body) in [
        ("report", sessions(NOON + round, round)),
        ("otel/v1development/profiles", profiles(NOON + round, round)),
        (
            "otel/v1/traces",
            json!({"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": "lib"}, "spans": spans}]}]}),
        ),
        (
            "otel/v1/logs",
            json!({"resourceLogs": [{"resource": resource, "scopeLogs": [{"scope": {"name": "app"}, "logRecords": logs}]}]}),
        ),
        (
            "otel/v1/metrics",
            json!({"resourceMetrics": [{"resource": resource, "scopeMetrics": [{"scope": {"name": "m"}, "metrics": metrics}]}]}),
        ),
    ] {
        let (status, answer) = server.call("POST", &format!("/api/{path}"), Some(token), &body);
        assert_eq!(status, 200, "{answer}");
    }
}

fn attributes_of_exception(n: u64) -> Value {
    let text = |text: String| json!({ "stringValue": text });
    attributes(&[
        ("exception.type", text(format!("Odd{}", n % 3))),
        ("exception.message", text(format!("declined {n}"))),
        ("exception.stacktrace", text(format!("Odd\n    at f (a.js:{n}:1)"))),
    ])
}

/// The sorted lines of a table's export.
fn lines(arguments: &[&str], table: &str) -> Vec<String> {
    let mut all = vec!["--table", table, "--format", "ndjson"];
    all.extend(arguments);
    let mut lines: Vec<String> = String::from_utf8(succeed(&all)).expect("UTF-8").lines().map(str::to_owned).collect();
    lines.sort_unstable();
    lines
}

/// Every file below a folder, with its bytes and modification time.
fn everything(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, std::time::SystemTime)> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        if entry.is_dir() {
            files.extend(everything(&entry));
        } else if entry.is_file() {
            let changed = entry.metadata().and_then(|metadata| metadata.modified()).expect("a time");
            files.insert(entry.clone(), (std::fs::read(&entry).expect("a readable file"), changed));
        }
    }
    files
}

fn tables() -> impl Iterator<Item = &'static str> {
    // Requests are counted by the wall clock, not by the time of the rows; recordings expire by the wall clock.
    let is_by_clock = |table: &Table| matches!(table, Table::IngestCounts | Table::SessionSegments);
    Table::ALL.into_iter().filter(move |table| !is_by_clock(table)).map(Table::name)
}

/// Guarantee: an export holds every acknowledged row once, from memory, journal and parts, and other tools can read it
/// (docs/integrate/export.md).
#[test]
fn every_row_is_exported_from_memory_journal_and_parts() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let mut server = Server::start(&data, &[("TIDEWATCH_FLUSH_SECONDS", "3600")]);
    let account = server.register();
    let pat = token(&server, &account);
    send(&server, &account.project_token, 1);
    server.stop();
    server.restart();
    // The first round is in parts now, the second in memory and in the journal.
    send(&server, &account.project_token, 2);
    let base = server.base.clone();
    let remote = ["--url", base.as_str(), "--token", pat.as_str()];
    let files = folder.path().join("files");
    std::fs::create_dir(&files).expect("a folder");
    let mut from_server = BTreeMap::new();
    for table in tables() {
        for format in FORMATS {
            let file = files.join(format!("{table}.{format}"));
            let mut arguments = vec!["--table", table, "--format", format, "--output", text(&file)];
            arguments.extend(remote);
            assert_eq!(succeed(&arguments), b"", "standard output is for exports");
        }
        from_server.insert(table, lines(&remote, table));
    }
    let total = |path: &str| server.total(path, json!({})) as usize;
    for (table, path) in [
        ("endpoints", "/api/endpoints"),
        ("tasks", "/api/tasks"),
        ("logs", "/api/logs"),
        ("ai_traces", "/api/ai-traces"),
    ] {
        assert_eq!(from_server[table].len(), total(path), "{table}");
    }
    assert_eq!(from_server["spans"].len(), 400);
    assert!(
        from_server
            .values()
            .all(|lines| !lines.is_empty() && lines.iter().all(|line| line.contains(&account.project_id)))
    );
    let target = python();
    let program = |name: &str| {
        let mut command = Command::new(target.join("venv/bin/python"));
        command.arg(target.join(name));
        command
    };
    let output = program("exports.py").arg(&files).args(tables()).output().expect("Python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr).lines().last().unwrap_or_default());
    let counts: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(from_server.iter().all(|(table, lines)| counts[table] == lines.len()), "{counts}");

    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/integrate/export.md");
    let output = program("examples.py").arg(document).current_dir(&files).output().expect("Python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let answers: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let answers: Vec<&Vec<Value>> = answers.as_array().expect("answers").iter().filter_map(Value::as_array).collect();
    assert_eq!(answers.len(), 3, "examples of the document");
    assert_eq!(answers[0].len(), 3, "three routes: {:?}", answers[0]);
    assert!(!answers[1].is_empty() && answers[2].len() == 100, "{:?}", answers[1]);

    // A directory in use by a server, and one whose server was killed.
    assert!(fail(&["--table", "spans", "--data-dir", text(&data)]).contains("a server uses"));
    server.kill();
    let before = everything(&data);
    for table in tables() {
        assert_eq!(lines(&["--data-dir", text(&data)], table), from_server[table], "{table}");
    }
    let project = ["--data-dir", text(&data), "--project", &account.project_id];
    assert_eq!(lines(&project, "spans").len(), 400);
    assert!(everything(&data) == before, "an export changes nothing in the directory");
    assert!(
        fail(&["--table", "spans", "--data-dir", text(&data), "--project", "6a2f41a3-c54c-fce8-32d2-0324e1c32e22"])
            .contains("there is no project")
    );
}

#[test]
fn invalid_exports_fail_with_a_message() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut server = Server::start(&folder.path().join("data"), &[]);
    let account = server.register();
    let pat = token(&server, &account);
    let base = server.base.clone();
    let remote = ["--url", base.as_str(), "--token", pat.as_str(), "--table", "spans"];
    let with = |more: &[&'static str]| fail(&[&remote[..], more].concat());
    assert!(
        fail(&["--table", "users", "--url", &base, "--token", &pat])
            .contains("there is no table users; it is one of spans")
    );
    assert!(with(&["--project", "6a2f41a3-c54c-fce8-32d2-0324e1c32e22"]).contains("403: you are not a member"));
    assert!(with(&["--project", "first"]).contains("400: projectId is not a UUID"));
    assert!(with(&["--output", "/nowhere/spans.parquet"]).contains("cannot create /nowhere/spans.parquet.part"));
    assert!(fail(&["--table", "spans", "--url", &base, "--token", "twp_wrong"]).contains("401"));
    assert!(fail(&["--table", "spans", "--url", &base]).contains("personal access token"));
    assert!(fail(&["--table", "spans", "--url", "http://127.0.0.1:1", "--token", &pat]).contains("cannot be reached"));
    let data = folder.path().join("nothing");
    assert!(fail(&["--table", "spans", "--data-dir", text(&data)]).contains("there is no store"));
    let turned = Command::new(env!("CARGO_BIN_EXE_tidewatch"))
        .args(["export", "--table", "spans", "--from", "2026-11-20", "--to", "2026-11-19", "--url", &base])
        .output()
        .expect("the binary runs");
    assert!(String::from_utf8_lossy(&turned.stderr).contains("--to is before --from"));
    // An export without rows succeeds.
    assert_eq!(succeed(&[&remote[..], &["--format", "ndjson"]].concat()), b"");
    let names = String::from_utf8(succeed(&[&remote[..], &["--format", "csv"]].concat())).expect("UTF-8");
    assert!(
        names.starts_with("project,trace_id,span_id,parent_span_id,time,duration_ns,name,")
            && names.lines().count() == 1
    );
    assert!(succeed(&remote).starts_with(b"PAR1"));
}

/// An interrupted export ends with an error and leaves no file.
#[test]
fn an_interrupted_export_fails_and_leaves_no_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut server = Server::start(&folder.path().join("data"), &[("TIDEWATCH_FLUSH_SECONDS", "3600")]);
    let account = server.register();
    let pat = token(&server, &account);
    // More than the socket buffers of both sides hold.
    for round in 1..=150 {
        send(&server, &account.project_token, round);
    }
    let file = folder.path().join("spans.ndjson");
    let base = server.base.clone();
    let arguments = ["--table", "spans", "--format", "ndjson", "--url", &base, "--token", &pat];
    // The client stops reading; then the server is killed.
    let mut child = command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary runs");
    let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut line = String::new();
    out.read_line(&mut line).expect("a first row");
    assert!(serde_json::from_str::<Value>(&line).is_ok(), "{line}");
    server.kill();
    let mut rest = String::new();
    out.read_to_string(&mut rest).expect("what had come");
    let output = child.wait_with_output().expect("it ends");
    assert!(!output.status.success(), "{} rows", rest.lines().count());
    assert!(String::from_utf8_lossy(&output.stderr).contains("the server broke the export off"));

    // A file that cannot be written completely gets no name.
    server.restart();
    let limited = Command::new("bash")
        .args(["-c", "ulimit -f 64; trap '' XFSZ; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_tidewatch"), "export"])
        .args(DAY)
        .args(&arguments[..6])
        .env("TIDEWATCH_ACCESS_TOKEN", &pat)
        .args(["--output", text(&file)])
        .output()
        .expect("bash runs");
    let said = String::from_utf8_lossy(&limited.stderr);
    assert!(!limited.status.success() && said.contains("nothing of it was kept"), "{said}");
    let names = std::fs::read_dir(folder.path()).expect("a folder");
    assert!(names.flatten().all(|entry| !entry.file_name().to_string_lossy().contains("ndjson")));
    assert_eq!(lines(&["--url", &base, "--token", &pat], "spans").len(), 150 * 200);
}
