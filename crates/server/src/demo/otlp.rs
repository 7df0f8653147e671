//! What one service exports: spans, logs and points, as OTLP/JSON bodies.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// A process of the shop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Service {
    pub name: &'static str,
    /// `telemetry.sdk.language`.
    pub language: &'static str,
    /// Version before and after the slow deploy.
    pub versions: [&'static str; 2],
}

#[derive(Debug, Clone, Copy)]
pub enum Kind {
    Internal = 1,
    Server = 2,
    Client = 3,
    Producer = 4,
    Consumer = 5,
}

/// A span being described. Times are nanoseconds since the epoch.
#[derive(Debug, Clone)]
pub struct Span {
    pub service: Service,
    pub trace_id: String,
    pub span_id: String,
    pub parent_id: String,
    pub kind: Kind,
    pub name: String,
    pub start_ns: u64,
    pub end_ns: u64,
    pub deployed: bool,
    pub parent_is_remote: bool,
    pub error: bool,
    pub attributes: Vec<(String, Value)>,
    pub events: Vec<Value>,
    pub links: Vec<Value>,
}

/// Everything waiting to be exported, by service and version.
#[derive(Default)]
pub struct Outbox {
    spans: BTreeMap<(Service, bool), Vec<Value>>,
    logs: BTreeMap<(Service, bool), Vec<Value>>,
    metrics: BTreeMap<(Service, bool), Vec<Value>>,
    pub span_count: usize,
}

/// An attribute list from `(key, value)` pairs; integers, doubles, booleans, strings and lists of strings.
pub fn attributes<'a>(pairs: impl IntoIterator<Item = (&'a str, Value)>) -> Vec<Value> {
    pairs.into_iter().map(|(key, value)| json!({"key": key, "value": any_value(value)})).collect()
}

fn any_value(value: Value) -> Value {
    match value {
        Value::String(text) => json!({"stringValue": text}),
        Value::Bool(flag) => json!({"boolValue": flag}),
        Value::Number(number) if number.is_i64() || number.is_u64() => json!({"intValue": number.to_string()}),
        Value::Number(number) => json!({"doubleValue": number}),
        Value::Array(values) => {
            json!({"arrayValue": {"values": values.into_iter().map(any_value).collect::<Vec<_>>()}})
        }
        _ => json!({}),
    }
}

/// An `exception` span event.
pub fn exception_event(time_ns: u64, exception_type: &str, message: &str, stack: &str) -> Value {
    json!({
        "timeUnixNano": time_ns.to_string(),
        "name": "exception",
        "attributes": attributes([
            ("exception.type", json!(exception_type)),
            ("exception.message", json!(message)),
            ("exception.stacktrace", json!(stack)),
        ]),
    })
}

impl Outbox {
    pub fn span(&mut self, span: Span) {
        let flags = 0x1 | 0x100 | if span.parent_is_remote { 0x200 } else { 0 };
        let pairs = span.attributes.iter().map(|(key, value)| (key.as_str(), value.clone()));
        let body = json!({
            "traceId": span.trace_id,
            "spanId": span.span_id,
            "parentSpanId": span.parent_id,
            "flags": flags,
            "name": span.name,
            "kind": span.kind as u8,
            "startTimeUnixNano": span.start_ns.to_string(),
            "endTimeUnixNano": span.end_ns.to_string(),
            "attributes": attributes(pairs),
            "events": span.events,
            "links": span.links,
            "status": if span.error { json!({"code": 2}) } else { json!({}) },
        });
        self.span_count += 1;
        self.spans.entry((span.service, span.deployed)).or_default().push(body);
    }

    /// `severity`: OTLP number. `span`: the span that logged it, if any.
    pub fn log(
        &mut self,
        service: Service,
        deployed: bool,
        time_ns: u64,
        severity: u8,
        body: &str,
        span: Option<&Span>,
    ) {
        let text = match severity {
            0..=8 => "DEBUG",
            9..=12 => "INFO",
            13..=16 => "WARN",
            _ => "ERROR",
        };
        let record = json!({
            "timeUnixNano": time_ns.to_string(),
            "severityNumber": severity,
            "severityText": text,
            "body": {"stringValue": body},
            "traceId": span.map_or("", |span| &span.trace_id),
            "spanId": span.map_or("", |span| &span.span_id),
            "attributes": attributes([("logger.name", json!(format!("{}.main", service.name)))]),
        });
        self.logs.entry((service, deployed)).or_default().push(record);
    }

    /// A gauge with one point.
    pub fn gauge(&mut self, service: Service, deployed: bool, time_ns: u64, name: &str, unit: &str, value: f64) {
        let metric = json!({
            "name": name,
            "unit": unit,
            "gauge": {"dataPoints": [{"timeUnixNano": time_ns.to_string(), "asDouble": value}]},
        });
        self.metrics.entry((service, deployed)).or_default().push(metric);
    }

    /// A cumulative counter's point.
    pub fn counter(
        &mut self,
        service: Service,
        deployed: bool,
        times: [u64; 2],
        name: &str,
        tag: (&str, &str),
        value: u64,
    ) {
        let [start_ns, time_ns] = times;
        let metric = json!({
            "name": name,
            "unit": "1",
            "sum": {"aggregationTemporality": 2, "isMonotonic": true, "dataPoints": [{
                "startTimeUnixNano": start_ns.to_string(),
                "timeUnixNano": time_ns.to_string(),
                "asInt": value.to_string(),
                "attributes": attributes([(tag.0, json!(tag.1))]),
            }]},
        });
        self.metrics.entry((service, deployed)).or_default().push(metric);
    }

    /// A delta histogram's point over `durations_ms`.
    pub fn histogram(&mut self, service: Service, deployed: bool, times: [u64; 2], name: &str, durations_ms: &[f64]) {
        const BOUNDS: [f64; 8] = [5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1000.0];
        let mut buckets = [0u64; BOUNDS.len() + 1];
        for duration in durations_ms {
            buckets[BOUNDS.iter().position(|bound| duration <= bound).unwrap_or(BOUNDS.len())] += 1;
        }
        let [start_ns, time_ns] = times;
        let metric = json!({
            "name": name,
            "unit": "ms",
            "histogram": {"aggregationTemporality": 1, "dataPoints": [{
                "startTimeUnixNano": start_ns.to_string(),
                "timeUnixNano": time_ns.to_string(),
                "count": durations_ms.len().to_string(),
                "sum": durations_ms.iter().sum::<f64>(),
                "bucketCounts": buckets.map(|count| count.to_string()),
                "explicitBounds": BOUNDS,
            }]},
        });
        self.metrics.entry((service, deployed)).or_default().push(metric);
    }

    /// The bodies to post, with the last path segment of each; the outbox is empty afterwards.
    pub fn take_bodies(&mut self) -> Vec<(&'static str, Value)> {
        self.span_count = 0;
        let mut bodies = Vec::new();
        for (signal, blocks, scopes, items, records) in [
            ("traces", "resourceSpans", "scopeSpans", "spans", std::mem::take(&mut self.spans)),
            ("logs", "resourceLogs", "scopeLogs", "logRecords", std::mem::take(&mut self.logs)),
            ("metrics", "resourceMetrics", "scopeMetrics", "metrics", std::mem::take(&mut self.metrics)),
        ] {
            for ((service, deployed), list) in records {
                for chunk in list.chunks(512) {
                    let scope = json!({"scope": {"name": "demo-shop", "version": "1.0.0"}, items: chunk});
                    bodies
                        .push((signal, json!({blocks: [{"resource": resource(service, deployed), scopes: [scope]}]})));
                }
            }
        }
        bodies
    }
}

fn resource(service: Service, deployed: bool) -> Value {
    json!({"attributes": attributes([
        ("service.name", json!(service.name)),
        ("service.version", json!(service.versions[usize::from(deployed)])),
        ("telemetry.sdk.language", json!(service.language)),
        ("telemetry.sdk.name", json!("opentelemetry")),
        ("deployment.environment.name", json!("production")),
        ("host.name", json!(format!("{}-7d9f-x2x9k", service.name))),
    ])})
}
