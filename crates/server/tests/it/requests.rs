//! Helpers for tests of the read API: exports built in the test, and lists read back.
//!
//! Times are seconds after [`NOON`]; every list is read over that day.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};
use tidewatch_server::http::routes;

use crate::client::Answer;
use crate::harness::{Harness, Project};

pub const NOON: &str = "2026-06-01T12:00:00Z";
/// [`NOON`] in nanoseconds.
pub const NOON_NS: u64 = 1_780_315_200_000_000_000;
pub const FROM: &str = "2026-06-01T00:00:00Z";
pub const TO: &str = "2026-06-02T00:00:00Z";

pub const SERVER: u8 = 2;
pub const CLIENT: u8 = 3;
pub const CONSUMER: u8 = 5;

/// A span being built.
#[derive(Clone)]
pub struct Made(Value);

/// A span of trace `trace`, `ms` long, starting `second` seconds after noon.
pub fn made(trace: u64, span: u64, kind: u8, name: &str, second: f64, ms: f64) -> Made {
    let start = NOON_NS + (second * 1e9) as u64;
    Made(json!({
        "traceId": format!("{trace:032x}"), "spanId": format!("{span:016x}"), "name": name, "kind": kind,
        "startTimeUnixNano": start.to_string(), "endTimeUnixNano": (start + (ms * 1e6) as u64).to_string(),
        "attributes": [], "events": [],
    }))
}

/// A root SERVER span of `GET <route>`.
pub fn request(trace: u64, route: &str, status: u16, second: f64, ms: f64) -> Made {
    made(trace, trace, SERVER, "GET", second, ms)
        .with("http.request.method", "GET")
        .with("http.route", route)
        .with("url.path", route)
        .with_int("http.response.status_code", status.into())
}

impl Made {
    pub fn parent(mut self, span: u64) -> Made {
        self.0["parentSpanId"] = format!("{span:016x}").into();
        self
    }

    pub fn of_trace(mut self, trace_id: &str) -> Made {
        self.0["traceId"] = trace_id.into();
        self
    }

    pub fn with(mut self, key: &str, value: &str) -> Made {
        self.push("attributes", json!({ "key": key, "value": { "stringValue": value } }));
        self
    }

    pub fn with_int(mut self, key: &str, value: i64) -> Made {
        self.push("attributes", json!({ "key": key, "value": { "intValue": value.to_string() } }));
        self
    }

    pub fn state(mut self, trace_state: &str) -> Made {
        self.0["traceState"] = trace_state.into();
        self
    }

    pub fn failed(mut self) -> Made {
        self.0["status"] = json!({ "code": 2, "message": "failed" });
        self
    }

    /// Adds an `exception` event at the span's start.
    pub fn exception(self, kind: &str, message: &str) -> Made {
        self.thrown(kind, message, &format!("{kind}: {message}\n    at work (app.js:1:2)"))
    }

    /// Adds an `exception` event with this stack trace at the span's start.
    pub fn thrown(mut self, kind: &str, message: &str, stack: &str) -> Made {
        let text = |key: &str, value: String| json!({ "key": key, "value": { "stringValue": value } });
        let attributes = json!([
            text("exception.type", kind.to_owned()),
            text("exception.message", message.to_owned()),
            text("exception.stacktrace", stack.to_owned()),
        ]);
        let time = self.0["startTimeUnixNano"].clone();
        self.push("events", json!({ "name": "exception", "timeUnixNano": time, "attributes": attributes }));
        self
    }

    fn push(&mut self, list: &str, item: Value) {
        self.0[list].as_array_mut().expect("a list").push(item);
    }
}

/// A trace export of one service.
pub fn export(service: &str, spans: &[Made]) -> Value {
    let spans: Vec<&Value> = spans.iter().map(|span| &span.0).collect();
    json!({ "resourceSpans": [{ "resource": resource(service), "scopeSpans": [{ "scope": { "name": "lib" }, "spans": spans }] }] })
}

pub fn resource(service: &str) -> Value {
    json!({ "attributes": [{ "key": "service.name", "value": { "stringValue": service } }] })
}

impl Harness {
    /// Sends spans of the service `shop`.
    pub async fn send(&self, project: &Project, spans: &[Made]) {
        self.post_json("traces", &project.token, &export("shop", spans)).await.expect(200);
    }

    /// Posts a query about a project; where the route takes a range, it is the day unless the body has one.
    pub async fn query(&self, project: &Project, path: &str, body: Value) -> Answer {
        let mut whole = Map::new();
        if takes(path, "fromDate") {
            whole.insert("fromDate".to_owned(), FROM.into());
            whole.insert("toDate".to_owned(), TO.into());
        }
        whole.extend(body.as_object().cloned().unwrap_or_default());
        self.api("POST", &at(path, project), &Value::Object(whole)).await
    }

    /// Like [`Harness::query`], for a query that succeeds; returns the JSON.
    pub async fn query_json(&self, project: &Project, path: &str, body: Value) -> Value {
        self.query(project, path, body).await.expect(200).json()
    }

    /// Sends a GET about a project that succeeds; returns the JSON.
    pub async fn got(&self, project: &Project, path: &str) -> Value {
        self.api("GET", &at(path, project), &Value::Null).await.expect(200).json()
    }
}

/// Whether the body of a POST to `path` has a field, according to the document.
pub fn takes(path: &str, field: &str) -> bool {
    static BODIES: LazyLock<Vec<(Vec<String>, String)>> = LazyLock::new(|| {
        let document = serde_json::to_value(routes::generate_document()).expect("a document is JSON");
        let mut bodies = Vec::new();
        for (path, item) in document["paths"].as_object().expect("paths") {
            let schema = &item["post"]["requestBody"]["content"]["application/json"]["schema"];
            bodies.push((path.split('/').map(str::to_owned).collect(), fields(&document, schema)));
        }
        bodies
    });
    let path = path.split('?').next().unwrap_or_default();
    let parts: Vec<&str> = path.split('/').collect();
    let is_it = |described: &Vec<String>| {
        described.len() == parts.len()
            && described.iter().zip(&parts).all(|(name, part)| name.starts_with('{') || name == part)
    };
    let literal = |described: &Vec<String>| described.iter().filter(|name| !name.starts_with('{')).count();
    let found = BODIES.iter().filter(|(described, _)| is_it(described)).max_by_key(|(described, _)| literal(described));
    found.is_some_and(|(_, fields)| fields.contains(&format!("{field:?} ")))
}

/// The properties of a schema and of the parts that it consists of, as text.
fn fields(document: &Value, schema: &Value) -> String {
    if let Some(reference) = schema["$ref"].as_str() {
        return fields(document, document.pointer(&reference[1..]).unwrap_or(&Value::Null));
    }
    if let Some(parts) = schema["allOf"].as_array() {
        return parts.iter().map(|part| fields(document, part)).collect();
    }
    schema["properties"].as_object().into_iter().flatten().map(|(name, _)| format!("{name:?} ")).collect()
}

/// Adds `projectId` to the path.
pub fn at(path: &str, project: &Project) -> String {
    let mark = if path.contains('?') { '&' } else { '?' };
    format!("{path}{mark}projectId={}", project.id)
}

/// The values of one field of every row.
pub fn column<'v>(rows: &'v Value, field: &str) -> Vec<&'v Value> {
    rows["data"].as_array().expect("a list").iter().map(|row| &row[field]).collect()
}
