//! The binary: its first output, signals, and the data after `kill -9`.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;

use crate::client;
use crate::otlp::{PROTOBUF, span, traces};

/// A server process on its own port.
struct Server {
    child: Child,
    address: SocketAddr,
}

impl Server {
    /// Returns once the process has printed that it is ready.
    fn start(data: &Path) -> Server {
        Server::start_with(data, &[])
    }

    fn start_with(data: &Path, more: &[&str]) -> Server {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tidewatch"))
            .env("TIDEWATCH_SETUP_CODE", "off")
            .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
            .arg(data)
            .args(more)
            .env("RUST_LOG", "error")
            // The sent records were captured on a fixed day and must not expire.
            .env("TIDEWATCH_RETENTION_DAYS", "0")
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let out = BufReader::new(child.stdout.take().expect("a pipe"));
        let ready = out.lines().map_while(Result::ok).find(|line| line.contains("ready at http://"));
        let line = ready.expect("it says when it is ready");
        let address = line.rsplit("http://").next().and_then(|address| address.trim().parse().ok());
        Server { child, address: address.expect("an address") }
    }

    fn send_signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &id]).status().expect("kill runs").success());
    }

    fn signal(mut self, name: &str) -> ExitStatus {
        self.send_signal(name);
        self.child.wait().expect("it ends")
    }
}

#[tokio::test]
async fn a_server_stops_on_sigterm_and_survives_sigkill() {
    let data = TempDir::new().unwrap();
    let server = Server::start(data.path());
    let account =
        json!({"email": "a@b.cd", "name": "A", "password": "12345678", "organizationName": "O", "projectName": "p"});
    let body = account.to_string();
    let answer = client::send(server.address, "POST", "/api/register", &[], body.as_bytes()).await.expect(201).json();
    let login = format!("Bearer {}", answer["token"].as_str().unwrap());
    let token = format!("Bearer {}", answer["project"]["token"].as_str().unwrap());
    let project = answer["project"]["id"].as_str().unwrap().to_owned();
    let post = async |address, number| {
        let headers = [PROTOBUF, ("Authorization", token.as_str())];
        client::send(address, "POST", "/api/otel/v1/traces", &headers, &traces(vec![span(number)])).await.expect(200);
    };
    let spans = async |address| {
        let path = format!("/api/spans?projectId={project}");
        let range = json!({"fromDate": "2026-06-01T00:00:00Z", "toDate": "2026-06-02T00:00:00Z"}).to_string();
        let headers = [("Authorization", login.as_str())];
        let answer = client::send(address, "POST", &path, &headers, range.as_bytes()).await.expect(200).json();
        answer["pagination"]["total"].as_u64()
    };

    post(server.address, 1).await;
    assert_eq!(spans(server.address).await, Some(1), "what was acknowledged is seen at once");
    assert_eq!(server.signal("-KILL").code(), None);

    let server = Server::start(data.path());
    assert_eq!(spans(server.address).await, Some(1), "after kill -9");
    post(server.address, 1).await;
    post(server.address, 2).await;
    assert_eq!(spans(server.address).await, Some(2), "a retry counts nothing twice");
    server.send_signal("-HUP");
    assert_eq!(spans(server.address).await, Some(2), "SIGHUP ends nothing");
    assert_eq!(server.signal("-TERM").code(), Some(0));

    let server = Server::start(data.path());
    assert_eq!(spans(server.address).await, Some(2), "after an orderly stop");
    assert_eq!(server.signal("-INT").code(), Some(0));
}

// Spec: authentication, rule 3: trusted proxies can be changed while the server runs.
#[tokio::test]
async fn settings_are_reloaded_on_sighup() {
    let data = TempDir::new().unwrap();
    let file = data.path().join("tidewatch.toml");
    let trust = |proxies: &str| std::fs::write(&file, format!("trusted_proxies = \"{proxies}\"\n")).unwrap();
    trust("192.0.2.1");
    let server = Server::start_with(&data.path().join("data"), &["--config", file.to_str().unwrap()]);
    let login = async |client: u8| {
        let address = format!("198.51.100.{client}");
        client::send(server.address, "POST", "/api/login", &[("X-Forwarded-For", &address)], b"{}").await.status
    };
    let mut clients = 1..250_u8;
    while login(clients.next().expect("loopback is not trusted: all are one client")).await != 429 {}
    // Invalid settings change nothing and do not stop the server.
    trust("nonsense");
    server.send_signal("-HUP");
    trust("127.0.0.0/8");
    server.send_signal("-HUP");
    let deadline = Instant::now() + Duration::from_secs(30);
    while login(clients.next().unwrap_or(250)).await == 429 {
        assert!(Instant::now() < deadline, "each is a client of its own");
    }
    assert_eq!(server.signal("-TERM").code(), Some(0));
}

#[test]
fn the_openapi_document_is_printed() {
    let output = Command::new(env!("CARGO_BIN_EXE_tidewatch")).arg("openapi").output().unwrap();
    assert!(output.status.success());
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(document["paths"]["/api/otel/v1/traces"]["post"].is_object());
    assert!(document["paths"]["/api/login"]["post"].is_object());
}
