//! One span of ours, and a batch of them as OTLP/JSON.

use serde_json::json;

use super::parent::Parent;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Internal = 1,
    Server = 2,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    Text(String),
    Int(i64),
}

/// Times are nanoseconds since the epoch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    pub kind: Kind,
    name: String,
    trace_id: [u8; 16],
    span_id: [u8; 8],
    parent: Option<Parent>,
    start_ns: i64,
    end_ns: i64,
    attributes: Vec<(&'static str, Value)>,
    has_failed: bool,
}

/// Span flags of OTLP: sampled, "it is known whether the parent is remote", and that it is.
const SAMPLED: u32 = 1;
const KNOWS_PARENT: u32 = 0x100;
const REMOTE_PARENT: u32 = 0x200;
const STATUS_ERROR: u8 = 2;

impl Span {
    /// In the parent's trace, or as the root of a new one. `times`: start and end.
    pub fn new(
        kind: Kind,
        name: String,
        times: (i64, i64),
        parent: Option<Parent>,
        attributes: Vec<(&'static str, Value)>,
        has_failed: bool,
    ) -> Span {
        let trace_id = parent.as_ref().map_or_else(random, |parent| parent.trace_id);
        let (start_ns, end_ns) = times;
        Span { kind, name, trace_id, span_id: random(), parent, start_ns, end_ns, attributes, has_failed }
    }

    fn to_json(&self) -> serde_json::Value {
        let attributes: Vec<_> = self.attributes.iter().map(|(key, value)| attribute(key, value)).collect();
        let remote = if self.parent.is_some() { REMOTE_PARENT } else { 0 };
        json!({
            "traceId": hex(&self.trace_id),
            "spanId": hex(&self.span_id),
            "parentSpanId": self.parent.as_ref().map_or_else(String::new, |parent| hex(&parent.span_id)),
            "traceState": self.parent.as_ref().map_or("", |parent| &parent.state),
            "flags": SAMPLED | KNOWS_PARENT | remote,
            "name": self.name,
            "kind": self.kind as u8,
            "startTimeUnixNano": self.start_ns.to_string(),
            "endTimeUnixNano": self.end_ns.to_string(),
            "attributes": attributes,
            "status": { "code": if self.has_failed { STATUS_ERROR } else { 0 } },
        })
    }
}

/// An OTLP/JSON trace export.
pub fn export(spans: &[Span]) -> serde_json::Value {
    let resource = [
        ("service.name", Value::Text("tidewatch".into())),
        ("service.version", Value::Text(env!("CARGO_PKG_VERSION").into())),
    ];
    let resource: Vec<_> = resource.iter().map(|(key, value)| attribute(key, value)).collect();
    let spans: Vec<_> = spans.iter().map(Span::to_json).collect();
    json!({ "resourceSpans": [{
        "resource": { "attributes": resource },
        "scopeSpans": [{ "scope": { "name": "tidewatch" }, "spans": spans }],
    }] })
}

/// `traceparent` of an export: a trace that nobody samples, so that it makes no spans.
pub fn unsampled() -> String {
    format!("00-{}-{}-00", hex(&random::<16>()), hex(&random::<8>()))
}

fn attribute(key: &str, value: &Value) -> serde_json::Value {
    let value = match value {
        Value::Text(text) => json!({ "stringValue": text }),
        Value::Int(number) => json!({ "intValue": number.to_string() }),
    };
    json!({ "key": key, "value": value })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Never all zero, which would be no id.
fn random<const BYTES: usize>() -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    if getrandom::fill(&mut bytes).is_err() || bytes == [0; BYTES] {
        bytes = [1; BYTES];
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_continues_its_caller() {
        let caller = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let parent = Parent::read(caller);
        let span = |parent| Span::new(Kind::Server, "GET /a".into(), (1, 2), parent, vec![("n", Value::Int(3))], true);
        let (child, root) = (span(parent).to_json(), span(None).to_json());
        assert_eq!(child["traceId"], "0af7651916cd43dd8448eb211c80319c");
        assert_eq!((&child["parentSpanId"], &child["flags"]), (&json!("b7ad6b7169203331"), &json!(0x301)));
        assert_eq!((&root["parentSpanId"], &root["flags"]), (&json!(""), &json!(0x101)));
        assert_eq!(root["traceId"].as_str().map(str::len), Some(32));
        assert_ne!(root["spanId"], child["spanId"]);
        assert_eq!((&root["endTimeUnixNano"], &root["status"]["code"]), (&json!("2"), &json!(2)));
        assert_eq!(root["attributes"], json!([{ "key": "n", "value": { "intValue": "3" } }]));
        assert!(!Parent::read(&unsampled()).expect("it can be read").is_sampled);
    }
}
