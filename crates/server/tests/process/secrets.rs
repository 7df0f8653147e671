//! The server's own spans and log lines contain no credential, and only its owner may read the files it writes.
//!
//! Every route is called with secrets in its path, query and headers; none of them may be in a span or a log line of
//! the server.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use prost::Message;
use serde_json::json;
use tidewatch_server::http::routes;

use super::server::{Server, agent};

/// A string with the format of the server's tokens.
const SECRET: &str = "5ec2e75ec2e75ec2e75ec2e75ec2e75ec2e75ec2e75ec2e75ec2e75ec2e75ec2";

/// Starts an OTLP endpoint that accepts everything; returns its URL and the received bytes as a string.
fn collector() -> (String, Arc<Mutex<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let seen = Arc::new(Mutex::new(String::new()));
    let heard = seen.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let heard = heard.clone();
            std::thread::spawn(move || take(stream, &heard));
        }
    });
    (url, seen)
}

fn take(stream: TcpStream, heard: &Mutex<String>) {
    let mut reader = BufReader::new(stream);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if line == "\r\n" {
                break;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().expect("a length");
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).expect("a whole body");
        let export = ExportTraceServiceRequest::decode(&body[..]).expect("OTLP as protobuf");
        heard.lock().expect("no panic").push_str(&format!("{export:?}"));
        let answer = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
        reader.get_mut().write_all(answer).expect("the server reads");
    }
}

fn call(server: &Server, method: &str, path: &str, authorization: &str) {
    let request = ureq::http::Request::builder()
        .method(method)
        .uri(format!("{}{path}", server.base))
        .header("traceparent", "00-0af7651916cd43dd8448eb211c80319e-b7ad6b7169203331-01")
        .header("Authorization", format!("Bearer {authorization}"))
        .header("Link-Token", format!("twi_{SECRET}"))
        .header("Cookie", format!("tidewatch_session=tws_{SECRET}"))
        .header("User-Agent", format!("program/1 twp_{SECRET}"))
        .header("Content-Type", "application/json")
        .body(json!({ "token": format!("twr_{SECRET}"), "password": SECRET }).to_string());
    agent().run(request.expect("a request")).expect("the server answers");
}

#[test]
fn no_secret_is_in_own_spans_or_log_lines() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let (url, seen) = collector();
    let mut server = Server::start(&data, &[("TIDEWATCH_TRACES_ENDPOINT", &url), ("RUST_LOG", "debug")]);
    let account = server.register();

    let document = serde_json::to_value(routes::generate_document()).expect("a document is JSON");
    let mut routes = Vec::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for method in item.as_object().expect("operations").keys() {
            routes.push((method.to_uppercase(), path.clone()));
        }
    }
    // The address of a page, a misconfigured exporter, and a link with an extra slash.
    routes.extend(
        ["/accept-invitation/{token}", "/api/otel/{project}/v1/traces", "/api/password-reset/{token}/"]
            .map(|path| ("GET".to_owned(), path.to_owned())),
    );
    for (at, (method, path)) in routes.iter().enumerate() {
        let filled: Vec<String> = path
            .split('/')
            .map(|segment| match segment {
                "{project}" => account.project_token.clone(),
                segment if segment.starts_with('{') => format!("twk_{SECRET}"),
                segment => segment.to_owned(),
            })
            .collect();
        let query = format!("?token={}&code=twa_{SECRET}", account.project_token);
        let authorization = [account.project_token.as_str(), account.jwt.as_str(), SECRET][at % 3];
        call(&server, method, &format!("{}{query}", filled.join("/")), authorization);
    }

    let deadline = Instant::now() + Duration::from_secs(60);
    let spans = loop {
        let spans = seen.lock().expect("no panic").clone();
        if spans.matches(", span_id:").count() >= routes.len() {
            break spans;
        }
        assert!(Instant::now() < deadline, "the spans are sent: {spans}");
        std::thread::park_timeout(Duration::from_millis(10));
    };
    server.kill();
    let log = std::fs::read_to_string(data.with_extension("log")).expect("the log");
    assert!(log.contains("DEBUG"), "the log says more than it does by default");
    assert!(spans.contains("/api/invitations/{token}/accept"), "{spans}");
    for (name, text) in [("spans", &spans), ("log", &log)] {
        for (kind, secret) in
            [("a token", SECRET), ("the project's token", &account.project_token), ("the login", &account.jwt)]
        {
            let found = text.find(secret).map(|at| &text[at.saturating_sub(200)..(at + 80).min(text.len())]);
            assert_eq!(found, None, "{kind} in the {name}");
        }
    }
}

#[test]
fn files_are_readable_by_their_owner_only() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let socket = folder.path().join("metrics.sock");
    let listen = format!("unix:{}", socket.display());
    let mut server = Server::start(&data, &[("TIDEWATCH_METRICS_LISTEN", &listen), ("TIDEWATCH_FLUSH_SECONDS", "1")]);
    let account = server.register();
    let log = json!({ "resourceLogs": [{ "scopeLogs": [{ "logRecords": [{ "body": { "stringValue": "a" } }] }] }] });
    assert_eq!(server.call("POST", "/v1/logs", Some(&account.project_token), &log).0, 200);
    let deadline = Instant::now() + Duration::from_secs(60);
    let is_part = |path: &Path| path.extension().is_some_and(|extension| extension == "parquet");
    let files = loop {
        let files = below(&data);
        if files.iter().any(|path| is_part(path)) {
            break files;
        }
        assert!(Instant::now() < deadline, "a part is written: {files:?}");
        std::thread::park_timeout(Duration::from_millis(10));
    };
    let mode = |path: &Path| std::fs::metadata(path).map_or(0, |file| file.permissions().mode() & 0o777);
    for path in &files {
        assert_eq!(mode(path) & 0o077, 0, "{} is {:o}", path.display(), mode(path));
    }
    // The operator's umask decides who may connect.
    assert_ne!(mode(&socket) & 0o050, 0, "a proxy of another user opens the socket");
}

/// Every file and folder below a folder.
fn below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            }
            found.push(entry.path());
        }
    }
    found
}
