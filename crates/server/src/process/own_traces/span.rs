//! An own span, and the encoding of a batch as an OTLP export request.

use tidewatch_domain::encode::{self, Message, RESOURCE_ATTRIBUTES, SPAN_ATTRIBUTES};
use tidewatch_domain::model::{self, AnyValue, Scope, SpanId, SpanKind, StatusCode, TraceId};

use super::parent::Parent;

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A string.
    Text(String),
    /// An integer.
    Int(i64),
}

/// An ended span. Times are nanoseconds since the epoch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Span kind.
    pub kind: SpanKind,
    name: String,
    trace_id: [u8; 16],
    span_id: [u8; 8],
    parent: Option<Parent>,
    start_ns: i64,
    end_ns: i64,
    attributes: Vec<(&'static str, Value)>,
    has_failed: bool,
}

/// Span flags of OTLP: sampled, "has is-remote information", and "is remote".
const SAMPLED: u32 = 1;
const KNOWS_PARENT: u32 = 0x100;
const REMOTE_PARENT: u32 = 0x200;

impl Span {
    /// A span in the parent's trace, or the root of a new one. `times`: start and end.
    pub fn new(
        kind: SpanKind,
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

    fn write(&self, records: &mut Message<'_>) {
        let remote = if self.parent.is_some() { REMOTE_PARENT } else { 0 };
        let span = model::Span {
            trace_id: TraceId(self.trace_id),
            span_id: SpanId(self.span_id),
            parent_span_id: SpanId(self.parent.as_ref().map_or([0; 8], |parent| parent.span_id)),
            trace_state: self.parent.as_ref().map_or("", |parent| &parent.state),
            flags: SAMPLED | KNOWS_PARENT | remote,
            name: &self.name,
            kind: self.kind,
            start_ns: self.start_ns.unsigned_abs(),
            end_ns: self.end_ns.unsigned_abs(),
            status: if self.has_failed { StatusCode::Error } else { StatusCode::Unset },
            ..model::Span::default()
        };
        encode::span(records, &span, |span| {
            for (key, value) in &self.attributes {
                let value = match value {
                    Value::Text(text) => AnyValue::Str(text),
                    Value::Int(number) => AnyValue::Int(*number),
                };
                span.attribute(SPAN_ATTRIBUTES, key, value);
            }
        });
    }
}

/// Encodes a trace export request as protobuf.
pub fn export(spans: &[Span]) -> Vec<u8> {
    let mut body = Vec::new();
    let scope = Scope { name: "tidewatch", ..Scope::default() };
    encode::block(
        &mut Message(&mut body),
        |resource| {
            resource.attribute(RESOURCE_ATTRIBUTES, "service.name", AnyValue::Str("tidewatch"));
            resource.attribute(RESOURCE_ATTRIBUTES, "service.version", AnyValue::Str(env!("CARGO_PKG_VERSION")));
        },
        &scope,
        |records| spans.iter().for_each(|span| span.write(records)),
    );
    body
}

/// `traceparent` of an export: a trace that is not sampled, so that the receiver creates no spans.
pub fn unsampled() -> String {
    format!("00-{}-{}-00", hex(&random::<16>()), hex(&random::<8>()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A random id, never all zero, which would be invalid.
fn random<const BYTES: usize>() -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    if getrandom::fill(&mut bytes).is_err() || bytes == [0; BYTES] {
        bytes = [1; BYTES];
    }
    bytes
}

#[cfg(test)]
mod tests {
    use tidewatch_domain::decode::{self, Encoding};

    use super::*;

    #[test]
    fn a_span_continues_its_caller() {
        let caller = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let span =
            |parent| Span::new(SpanKind::Server, "GET /a".into(), (1, 2), parent, vec![("n", Value::Int(3))], true);
        let body = export(&[span(Parent::read(caller)), span(None)]);
        let arena = bumpalo::Bump::new();
        let batch = decode::traces(Encoding::Protobuf, &body, &arena).expect("an export request");
        let [child, root] = &batch.spans[..] else { panic!("{:?}", batch.spans) };
        assert_eq!(hex(&child.trace_id.0), "0af7651916cd43dd8448eb211c80319c");
        assert_eq!((hex(&child.parent_span_id.0).as_str(), child.flags), ("b7ad6b7169203331", 0x301));
        assert_eq!((root.parent_span_id, root.flags), (SpanId::default(), 0x101));
        assert!(!root.trace_id.is_none() && root.span_id != child.span_id);
        assert_eq!((root.kind, root.end_ns, root.status), (SpanKind::Server, 2, StatusCode::Error));
        assert_eq!(batch.span_attributes(root).get("n"), Some(AnyValue::Int(3)));
        assert_eq!(batch.service(root), "tidewatch");
        assert!(!Parent::read(&unsampled()).expect("it can be read").is_sampled);
    }
}
