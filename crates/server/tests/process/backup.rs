//! `tidewatch backup`, `restore` and `check`: the real binary with a real server.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tidewatch_journal::disk::sim::rounds;

use super::server::{Account, Server, agent};

fn tidewatch(words: &[&str], paths: &[&Path], data: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidewatch"));
    command.args(&words[..1]).args(paths).args(&words[1..]).arg("--data-dir").arg(data);
    command.output().expect("the binary runs")
}

fn output_of(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[track_caller]
fn succeeds(output: &Output) -> String {
    assert!(output.status.success(), "{}", output_of(output));
    output_of(output)
}

#[track_caller]
fn fails(output: &Output, why: &str) {
    assert!(!output.status.success() && output_of(output).contains(why), "{why}: {}", output_of(output));
}

/// Ten minutes ago.
fn start_ns() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_nanos() as u64;
    now - 600 * 1_000_000_000
}

fn attribute(key: &str, value: Value) -> Value {
    json!({"key": key, "value": value})
}

fn resource(service: &str) -> Value {
    json!({"attributes": [attribute("service.name", json!({"stringValue": service}))]})
}

/// A request span with a failing child span.
fn trace(number: u64, start: u64) -> Value {
    let at = |offset: u64| (start + number * 1_000_000 + offset).to_string();
    let spans = json!([{
        "traceId": format!("{:032x}", number + 1), "spanId": "0000000000000001", "name": "GET /cart", "kind": 2,
        "startTimeUnixNano": at(0), "endTimeUnixNano": at(5000 + number),
        "attributes": [
            attribute("http.request.method", json!({"stringValue": "GET"})),
            attribute("http.route", json!({"stringValue": format!("/cart/{}", number % 5)})),
            attribute("http.response.status_code", json!({"intValue": if number.is_multiple_of(3) { 500 } else { 200 }})),
        ],
        "events": [{"timeUnixNano": at(10), "name": "exception", "attributes": [
            attribute("exception.type", json!({"stringValue": "IOError"})),
            attribute("exception.message", json!({"stringValue": format!("shelf {} is empty", number % 4)})),
            attribute("exception.stacktrace", json!({"stringValue": "IOError: shelf\n  at shop.py:1\n"})),
        ]}],
    }, {
        "traceId": format!("{:032x}", number + 1), "spanId": "0000000000000002", "parentSpanId": "0000000000000001",
        "name": "chat", "kind": 3, "startTimeUnixNano": at(100), "endTimeUnixNano": at(900),
        "attributes": [
            attribute("gen_ai.system", json!({"stringValue": "openai"})),
            attribute("gen_ai.request.model", json!({"stringValue": "house-model"})),
            attribute("gen_ai.usage.input_tokens", json!({"intValue": 1000})),
            attribute("gen_ai.usage.output_tokens", json!({"intValue": 10})),
        ],
    }, {
        "traceId": format!("{:032x}", number + 900_001), "spanId": "0000000000000001", "name": "orders process", "kind": 5,
        "startTimeUnixNano": at(0), "endTimeUnixNano": at(70), "attributes": [],
    }]);
    json!({"resourceSpans": [{"resource": resource("shop"), "scopeSpans": [{"spans": spans}]}]})
}

fn logs(number: u64, start: u64) -> Value {
    let record = json!({"timeUnixNano": (start + number).to_string(), "severityNumber": 9 + number % 9,
        "body": {"stringValue": format!("line {number}")}});
    json!({"resourceLogs": [{"resource": resource("shop"), "scopeLogs": [{"logRecords": [record]}]}]})
}

fn metrics(number: u64, start: u64) -> Value {
    let point = json!({"timeUnixNano": (start + number * 1_000_000_000).to_string(), "asDouble": number as f64});
    let metric = json!({"name": "queue.length", "unit": "1", "gauge": {"dataPoints": [point]}});
    json!({"resourceMetrics": [{"resource": resource("shop"), "scopeMetrics": [{"metrics": [metric]}]}]})
}

/// Retries until the export is accepted: with a small memtable, the server responds with 503 during a flush.
#[track_caller]
fn store(base: &str, account: &Account, signal: &str, body: &Value) {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        match send(base, account, signal, body) {
            Some(200) => return,
            Some(503) if Instant::now() < deadline => std::thread::park_timeout(Duration::from_millis(10)),
            other => panic!("{signal}: {other:?}"),
        }
    }
}

fn send(base: &str, account: &Account, signal: &str, body: &Value) -> Option<u16> {
    let answer = agent()
        .post(format!("{base}/api/otel/v1/{signal}"))
        .header("Authorization", format!("Bearer {}", account.project_token))
        .header("Content-Type", "application/json")
        .send(body.to_string().as_str());
    answer.ok().map(|answer| answer.status().as_u16())
}

/// The server's answers to a set of reads: request, status, body.
fn answers(server: &Server, start: u64) -> Vec<(String, u16, Value)> {
    let account = server.account.as_ref().expect("registered");
    let time = |ns: u64| {
        let days = ns / 1_000_000_000 / 86_400;
        // Whole days around the data; the store formats days as `YYYY-MM-DD`.
        format!("{}T00:00:00Z", tidewatch_store::days::day_name(days as i32))
    };
    let day = 86_400 * 1_000_000_000;
    let range = json!({"fromDate": time(start - day), "toDate": time(start + 2 * day)});
    let project = &account.project_id;
    let mut requested = Vec::new();
    for path in [
        "/api/endpoints/grouped",
        "/api/endpoints",
        "/api/endpoints/chart",
        "/api/tasks/grouped",
        "/api/tasks",
        "/api/ai-traces",
        "/api/ai-traces/grouped",
        "/api/ai-traces/chart",
        "/api/spans",
        "/api/logs",
        "/api/logs/histogram",
        "/api/exception-stack-traces",
        "/api/drops",
    ] {
        requested.push(("POST", format!("{path}?projectId={project}"), range.clone()));
    }
    requested.push(("POST", format!("/api/distributed-traces/{:032x}?projectId={project}", 1), json!({})));
    for path in [
        "/api/projects",
        "/api/symbols",
        "/api/endpoints/slow",
        "/api/metrics/discover",
        "/api/me/grants",
        "/api/personal-access-tokens",
        "/api/has-organizations",
    ] {
        let range = match path {
            "/api/metrics/discover" => format!("&from={}&to={}", range["fromDate"], range["toDate"]).replace('"', ""),
            _ => String::new(),
        };
        requested.push(("GET", format!("{path}?projectId={project}{range}"), Value::Null));
    }
    let send_request = |(method, path, body): (&str, String, Value)| {
        let (status, answer) = server.call(method, &path, Some(&account.jwt), &body);
        (format!("{method} {path}"), status, answer)
    };
    requested.into_iter().map(send_request).collect()
}

#[test]
fn a_restored_server_gives_the_same_answers() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (data, target) = (folder.path().join("data"), folder.path().join("backup"));
    let settings = [("TIDEWATCH_FLUSH_ROWS", "60"), ("TIDEWATCH_FLUSH_SECONDS", "1000")];
    std::fs::create_dir(&data).expect("a folder");
    let prices = r#"[{"model": "house-model", "from": "2020-01-01", "input": 1.5, "output": 9}]"#;
    std::fs::write(data.join("ai-prices.json"), prices).expect("a price table");
    let mut server = Server::start(&data, &settings);
    let account = server.register();
    let start = start_ns();
    for number in 0..60 {
        store(&server.base, &account, "traces", &trace(number, start));
        store(&server.base, &account, "logs", &logs(number, start));
        store(&server.base, &account, "metrics", &metrics(number, start));
    }
    let (status, _) = server.call("POST", "/api/projects", Some(&account.jwt), &json!({"name": "second"}));
    assert_eq!(status, 201);
    let before = answers(&server, start);
    let refused: Vec<_> = before.iter().filter(|(_, status, _)| *status != 200).collect();
    assert!(refused.len() < 4, "nearly all are answered: {refused:?}");
    let rows = |path: &str| {
        before.iter().find(|(requested, ..)| requested.contains(path)).map(|(_, _, answer)| answer.clone())
    };
    assert_eq!(rows("/api/spans").expect("asked")["pagination"]["total"], 180, "there is something to compare");

    fails(&tidewatch(&["check"], &[], &data), "a server uses");
    fails(&tidewatch(&["backup"], &[&data.join("inside")], &data), "lies in the data directory");
    let printed = succeeds(&tidewatch(&["backup", "--with-secrets"], &[&target], &data));
    assert!(printed.contains("verified"), "{printed}");
    // Keys are copied only with `--with-secrets`.
    let without = folder.path().join("without");
    succeeds(&tidewatch(&["backup"], &[&without], &data));
    assert!(target.join("secrets").is_dir() && !without.join("secrets").exists());
    fails(&tidewatch(&["backup"], &[&target], &data), "is not empty");
    // The server continues to accept data; the backup does not change.
    for number in 60..90 {
        store(&server.base, &account, "traces", &trace(number, start));
    }
    server.kill();
    let base = server.base.clone();
    drop(server);

    succeeds(&tidewatch(&["check"], &[], &target));
    succeeds(&tidewatch(&["check"], &[], &data));
    let restored = folder.path().join("restored");
    fails(&tidewatch(&["restore"], &[&target], &data), "is not empty");
    succeeds(&tidewatch(&["restore"], &[&target], &restored));
    succeeds(&tidewatch(&["check"], &[], &restored));
    let mut server = Server::start(&restored, &settings);
    server.account = Some(account);
    for ((requested, status, answer), (_, status_after, answer_after)) in before.iter().zip(answers(&server, start)) {
        // The address differs, and so do values held only in memory: overload refusals and times of last requests.
        let answers = [(answer, &base), (&answer_after, &server.base)];
        let [answer, answer_after] = answers.map(|(answer, base)| {
            let mut answer = answer.clone();
            for counts in ["data", "requests", "series"] {
                let counts = answer.get_mut(counts).and_then(Value::as_array_mut);
                counts.into_iter().for_each(|counts| counts.retain(|count| count["reason"] != "overloaded"));
            }
            let requests = answer.get_mut("requests").and_then(Value::as_array_mut);
            for request in requests.into_iter().flatten() {
                request.as_object_mut().expect("an object").retain(|name, _| !name.starts_with("last"));
            }
            answer.to_string().replace(base.as_str(), "http://server")
        });
        assert_eq!((status, answer), (&status_after, answer_after), "{requested}");
    }
    drop(server);

    // A damaged record of the journal is reported, and nothing is changed.
    let segments = std::fs::read_dir(data.join("journal")).expect("a folder");
    let segments = segments.map(|entry| entry.expect("an entry").path());
    let first = segments.filter(|path| path.extension().is_some_and(|found| found == "segment")).min();
    let first = first.expect("the server was killed with records in its journal");
    let mut bytes = std::fs::read(&first).expect("a segment");
    // After the header, in the first record's body.
    bytes[4096 + 200] ^= 1;
    std::fs::write(&first, &bytes).expect("a segment");
    let checked = tidewatch(&["check"], &[], &data);
    fails(&checked, "one finding");
    assert!(String::from_utf8_lossy(&checked.stdout).contains(first.to_str().expect("text")), "{checked:?}");
    assert_eq!(std::fs::read(&first).expect("a segment"), bytes);

    // A damaged backup is not restored, and a damaged directory is reported.
    let part = find(&target, "parquet");
    let mut bytes = std::fs::read(&part).expect("a part");
    bytes[100] ^= 1;
    // Not in place: hard links to the same file do not change.
    std::fs::remove_file(&part).expect("a file");
    std::fs::write(&part, bytes).expect("a part");
    fails(&tidewatch(&["restore"], &[&target], &folder.path().join("other")), "it is not what was backed up");
    let checked = tidewatch(&["check"], &[], &target);
    // One finding of the store, one of the manifest.
    fails(&checked, "2 findings");
    assert!(String::from_utf8_lossy(&checked.stdout).contains(part.to_str().expect("text")), "{checked:?}");
    std::fs::remove_file(target.join("manifest.json")).expect("a manifest");
    fails(&tidewatch(&["restore"], &[&target], &folder.path().join("another")), "is no complete backup");
}

fn find(folder: &Path, extension: &str) -> std::path::PathBuf {
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                return path;
            }
        }
    }
    panic!("no file ends with {extension}");
}

/// Scenario: backups under load, with small flushes and merges, and the server killed right afterwards. Guarantee: a
/// backup holds every record that was acknowledged before it began, once.
#[test]
fn records_acknowledged_before_a_backup_are_restored() {
    const SENDERS: u64 = 3;
    const ROUNDS: u64 = 4;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let settings = [("TIDEWATCH_FLUSH_ROWS", "60"), ("TIDEWATCH_FLUSH_SECONDS", "1")];
    let mut server = Server::start(&data, &settings);
    let account = server.register();
    let start = start_ns();
    let next = AtomicU64::new(0);
    for round in 0..rounds(ROUNDS) {
        let target = folder.path().join(format!("backup-{round}"));
        let (stop, acked) = (AtomicBool::new(false), Mutex::new(Vec::new()));
        let promised = std::thread::scope(|scope| {
            for _ in 0..SENDERS {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if send(&server.base, &account, "traces", &trace(number, start)) == Some(200) {
                            acked.lock().expect("no panic").push(number);
                        }
                    }
                });
            }
            while acked.lock().expect("no panic").len() < 30 {
                std::thread::yield_now();
            }
            let promised = acked.lock().expect("no panic").clone();
            let written = tidewatch(&["backup", "--with-secrets"], &[&target], &data);
            stop.store(true, Ordering::Relaxed);
            succeeds(&written);
            promised
        });
        server.kill();

        let restored = folder.path().join(format!("restored-{round}"));
        succeeds(&tidewatch(&["restore"], &[&target], &restored));
        succeeds(&tidewatch(&["check"], &[], &restored));
        let mut copy = Server::start(&restored, &settings);
        copy.account = Some(account.clone());
        let stored = traces(&copy);
        for number in &promised {
            assert_eq!(stored.iter().filter(|found| *found == number).count(), 1, "round {round}: trace {number}");
        }
        drop(copy);
        server.restart();
    }
}

/// The numbers of all traces with an Endpoint.
fn traces(server: &Server) -> Vec<u64> {
    let mut numbers = Vec::new();
    for page in 1.. {
        let answer = server.query("/api/endpoints", json!({"pagination": {"page": page, "pageSize": 100}}));
        let rows = answer["data"].as_array().expect("rows");
        if rows.is_empty() {
            return numbers;
        }
        let number = |row: &Value| {
            let id = row["traceId"].as_str().expect("a trace").replace('-', "");
            u64::from_str_radix(&id[16..], 16).expect("hexadecimal") - 1
        };
        numbers.extend(rows.iter().map(number));
    }
    numbers
}
