//! `tidewatch admin` with a running server.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use super::server::Server;

fn admin(data: &Path, words: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tidewatch"))
        .arg("admin")
        .args(words)
        .arg("--data-dir")
        .arg(data)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let _ = child.stdin.take().expect("piped").write_all(input.as_bytes());
    child.wait_with_output().expect("it ends")
}

/// Scenario: one part of the store is damaged. Guarantee: an operator can make the rest readable, and answers state the
/// gap.
#[test]
fn a_damaged_part_is_set_aside_and_reported_in_answers() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    // Each export becomes its own part; there are too few parts to be merged.
    let mut server = Server::start(&data, &[("TIDEWATCH_FLUSH_ROWS", "1")]);
    let account = server.register();
    let now_ns = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_nanos();
    for body in ["one", "two"] {
        let record = json!({"timeUnixNano": now_ns().to_string(), "body": {"stringValue": body}});
        let export = json!({"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]});
        assert_eq!(server.call("POST", "/api/otel/v1/logs", Some(&account.project_token), &export).0, 200);
        let parts = || parts_of_logs(&data).len();
        let flushed = (0..6000).any(|_| {
            std::thread::park_timeout(std::time::Duration::from_millis(10));
            parts() == if body == "one" { 1 } else { 2 }
        });
        assert!(flushed, "a part for each export");
    }
    let logs = |server: &Server| {
        let path = format!("/api/logs?projectId={}", account.project_id);
        let range = json!({"fromDate": "2020-01-01T00:00:00Z", "toDate": "2100-01-01T00:00:00Z"});
        let mut answer = super::server::agent()
            .post(format!("{}{path}", server.base))
            .header("Authorization", format!("Bearer {}", account.jwt))
            .header("Content-Type", "application/json")
            .send(range.to_string())
            .expect("the server answers");
        let is_incomplete = answer.headers().contains_key("tidewatch-incomplete");
        let body: Value = answer.body_mut().read_json().unwrap_or(Value::Null);
        (answer.status().as_u16(), body["pagination"]["total"].as_u64(), is_incomplete)
    };
    assert_eq!(logs(&server), (200, Some(2), false));
    server.kill();
    let part = parts_of_logs(&data).remove(0);
    let mut bytes = std::fs::read(&part).expect("a part");
    bytes[100] ^= 1;
    std::fs::write(&part, bytes).expect("it can be written");
    server.restart();
    assert_eq!(logs(&server), (500, None, false), "never short in silence");

    let name = part.to_str().expect("a path of text");
    let refused = admin(&data, &["set-part-aside", "--part", name], "");
    assert!(!refused.status.success(), "the server runs");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("stop the server first"), "{refused:?}");
    server.kill();
    assert!(!admin(&data, &["set-part-aside", "--part", "parts/logs/none.parquet"], "").status.success());
    let done = admin(&data, &["set-part-aside", "--part", name], "");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(String::from_utf8_lossy(&done.stdout).contains("lost"), "{done:?}");
    server.restart();
    assert_eq!(logs(&server), (200, Some(1), true));
}

fn parts_of_logs(data: &Path) -> Vec<std::path::PathBuf> {
    let days = std::fs::read_dir(data.join("parts/logs")).into_iter().flatten().flatten();
    let parts = days.flat_map(|day| std::fs::read_dir(day.path()).into_iter().flatten().flatten());
    let mut paths: Vec<_> =
        parts.map(|part| part.path()).filter(|path| path.extension().is_some_and(|end| end == "parquet")).collect();
    paths.sort();
    paths
}

#[test]
fn locked_out_people_regain_access() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    assert!(!admin(&data, &["list"], "").status.success(), "a wrong directory is reported, not created");
    assert!(!data.exists());
    let mut server = Server::start(&data, &[]);
    let account = server.register();
    let say = |words: &[&str], input: &str| {
        let output = admin(&data, words, input);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{words:?}: {text} {}", String::from_utf8_lossy(&output.stderr));
        text
    };
    let list = say(&["list"], "");
    assert!(list.contains("owner@example.com") && list.contains("owner of Org") && list.contains("in use"), "{list}");

    say(&["reset-password", "--email", "Owner@example.com", "--password-stdin"], "battery staple\n");
    say(&["create-user", "--email", "new@example.com", "--role", "user", "--password-stdin"], "correct horse");
    say(&["promote", "--email", "new@example.com", "--role", "admin"], "");
    say(&["reset-2fa", "--email", "new@example.com"], "");
    let made = say(&["create-user", "--email", "other@example.com"], "");
    let made = made.lines().last().and_then(|line| line.rsplit(' ').next()).expect("a password").to_owned();
    for words in [
        &["promote", "--email", "nobody@example.com", "--role", "admin"][..],
        &["promote", "--email", "new@example.com", "--role", "god"],
        &["create-user", "--email", "new@example.com"],
        &["reset-password", "--email", "new@example.com", "--password-stdin"],
        &["list", "--organization"],
    ] {
        assert!(!admin(&data, words, "short").status.success(), "{words:?}");
    }

    let login = |email: &str, password: &str| {
        server.call("POST", "/api/login", None, &json!({ "email": email, "password": password }))
    };
    // The running server loads new users within a second. Sign-ins are limited to ten per minute.
    let is_known = (0..6).any(|_| {
        std::thread::park_timeout(std::time::Duration::from_secs(1));
        login("other@example.com", &made).0 == 200
    });
    assert!(is_known, "who was made last can sign in");
    assert_eq!(
        server.call("GET", "/api/projects", Some(&account.jwt), &Value::Null).0,
        401,
        "the owner's session ended"
    );
    for (email, password, role) in [
        ("owner@example.com", "battery staple", "owner"),
        ("new@example.com", "correct horse", "admin"),
        ("other@example.com", made.as_str(), "readonly"),
    ] {
        let (status, bundle) = login(email, password);
        assert_eq!((status, &bundle["organizations"][0]["role"]), (200, &json!(role)), "{email}");
    }
}
