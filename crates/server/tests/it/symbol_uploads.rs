//! Uploads of symbols, and traces to resolve with them.

use std::path::Path;

use serde_json::{Value, json};
use tidewatch_ingest::symbols::keys::SymbolKey;
use uuid::Uuid;

use crate::client::{self, Answer};
use crate::harness::{Harness, text};

pub const SYMBOLS: &str = "/api/symbols/upload";
pub const SOURCE_MAPS: &str = "/api/sourcemaps/upload";

/// A file of `fixtures/symbols`, stored plain or compressed.
pub fn fixture(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/symbols").join(name);
    std::fs::read(&path).unwrap_or_else(|_| {
        let compressed = std::fs::read(format!("{}.zst", path.display())).expect("a fixture");
        zstd::decode_all(&compressed[..]).expect("a fixture is valid zstd")
    })
}

pub struct Uploads {
    pub harness: Harness,
    pub project: Uuid,
    pub token: String,
}

impl Uploads {
    pub async fn start() -> Uploads {
        Uploads::start_with(|_| {}).await
    }

    pub async fn start_with(change: fn(&mut tidewatch_server::config::Config)) -> Uploads {
        let mut harness = Harness::start_with(change).await;
        let project = harness.register().await;
        let projects = harness.api("GET", "/api/projects", &Value::Null).await.expect(200).json();
        let token = text(&projects[0]["sourceMapToken"]);
        Uploads { project: project.id.parse().expect("a UUID"), token, harness }
    }

    /// `files`: name and content. `fields`: name and value, sent first, like the Gradle plugin.
    pub async fn send(&self, path: &str, token: &str, fields: &[(&str, &str)], files: &[(&str, &[u8])]) -> Answer {
        let mut body = Vec::new();
        for (name, value) in fields {
            let head = format!("--XX\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
            body.extend_from_slice(head.as_bytes());
        }
        for (name, content) in files {
            let head = format!("--XX\r\nContent-Disposition: form-data; name=\"files\"; filename=\"{name}\"\r\n\r\n");
            body.extend_from_slice(&[head.as_bytes(), content, b"\r\n"].concat());
        }
        body.extend_from_slice(b"--XX--\r\n");
        let authorization = format!("Bearer {token}");
        let headers = [("Content-Type", "multipart/form-data; boundary=XX"), ("Authorization", authorization.as_str())];
        client::send(self.harness.address(), "POST", path, &headers, &body).await
    }

    pub async fn accepted(&self, path: &str, fields: &[(&str, &str)], files: &[(&str, &[u8])]) -> u64 {
        let answer = self.send(path, &self.token, fields, files).await.expect(200);
        answer.json()["uploaded"].as_u64().expect("a number")
    }

    pub async fn refused(&self, fields: &[(&str, &str)], files: &[(&str, &[u8])]) -> String {
        let answer = self.send(SYMBOLS, &self.token, fields, files).await.expect(422);
        text(&answer.json()["error"])
    }

    /// Paths of the stored files, without the project's id.
    pub fn kept(&self) -> Vec<String> {
        let found = self.harness.app().ingest.symbols.store.list(self.project).expect("the disk works");
        found.into_iter().map(|listed| listed.path.replace(&format!("{}/", self.project), "")).collect()
    }

    /// The artifact, after all requested artifacts are built.
    pub async fn artifact(&self, key: SymbolKey) -> Option<Vec<u8>> {
        let (symbols, project) = (self.harness.app().ingest.symbols.clone(), self.project);
        let read = move || {
            symbols.builder.wait_until_idle();
            symbols.store.artifact(project, &key).expect("the disk works").map(Vec::from)
        };
        tokio::task::spawn_blocking(read).await.expect("no panic")
    }
}

/// An error of a browser or an app in OTLP/JSON.
pub fn failed(number: u32, language: &str, exception_type: &str, message: &str, stack: &str) -> Value {
    let attribute = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970");
    let start = now.as_nanos() as u64 - u64::from(number) * 1_000_000_000;
    json!({ "resourceSpans": [{
        "resource": { "attributes": [attribute("telemetry.sdk.language", language), attribute("service.name", &format!("shop {language}"))] },
        "scopeSpans": [{ "spans": [{
            "traceId": format!("{number:032x}"), "spanId": format!("{number:016x}"), "parentSpanId": "cd".repeat(8),
            "name": "checkout", "kind": 1,
            "startTimeUnixNano": start.to_string(), "endTimeUnixNano": (start + 1_000_000).to_string(),
            "events": [{ "name": "exception", "timeUnixNano": start.to_string(), "attributes": [
                attribute("exception.type", exception_type),
                attribute("exception.message", message),
                attribute("exception.stacktrace", stack),
            ]}],
        }]}],
    }]})
}

impl Uploads {
    /// Reports an error and returns its occurrence as the API shows it.
    pub async fn occurrence(&self, number: u32, language: &str, text: [&str; 3], project_token: &str) -> Value {
        let body = failed(number, language, text[0], text[1], text[2]);
        self.harness.post_json("traces", project_token, &body).await.expect(200);
        let path = format!("/api/distributed-traces/{number:032x}?projectId={}", self.project);
        let found = self.harness.api("POST", &path, &json!({})).await.expect(200).json();
        found["exceptions"][0].clone()
    }

    pub async fn get(&self, path: &str) -> Value {
        self.harness.api("GET", &format!("{path}?projectId={}", self.project), &Value::Null).await.expect(200).json()
    }

    pub async fn settle(&self) {
        let symbols = self.harness.app().ingest.symbols.clone();
        tokio::task::spawn_blocking(move || symbols.builder.wait_until_idle()).await.expect("no panic");
    }
}
