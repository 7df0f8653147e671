//! `tidewatch admin`, beside a running server.

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

#[test]
fn those_locked_out_get_in_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    assert!(!admin(&data, &["list"], "").status.success(), "a wrong directory is said, not made");
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

    // The running server takes it up within a second; its first answers may still be of before.
    let ended = (0..3000).any(|_| {
        std::thread::park_timeout(std::time::Duration::from_millis(10));
        server.call("GET", "/api/projects", Some(&account.jwt), &Value::Null).0 == 401
    });
    assert!(ended, "the owner's old sessions have ended");
    for (email, password, role) in [
        ("owner@example.com", "battery staple", "owner"),
        ("new@example.com", "correct horse", "admin"),
        ("other@example.com", made.as_str(), "readonly"),
    ] {
        let login = json!({ "email": email, "password": password });
        let (status, bundle) = server.call("POST", "/api/login", None, &login);
        assert_eq!((status, &bundle["organizations"][0]["role"]), (200, &json!(role)), "{email}");
    }
}
