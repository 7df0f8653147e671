//! Ids of native reports: UUIDs as span ids, and ids of items that have none. SPEC span rule 2; WIRE 1.3, 1.4, 9.

use sha2::{Digest, Sha256};

use super::row_id::v5;
use crate::model::{AnyValue, NativeId, ProjectId, RowId, SpanId, TraceId};

/// The prefix of the hash of a UUID-width span id. WIRE 9.
const SPAN_ID_DOMAIN: &[u8] = b"traceway.native.span-id.v1:";

/// The eight bytes that stand for a span id of UUID width: in the store, and in an OTLP export. Zero for none. WIRE 9.
pub fn span_id_of(id: NativeId) -> SpanId {
    if id.is_none() {
        return SpanId::default();
    }
    let digest = Sha256::new().chain_update(SPAN_ID_DOMAIN).chain_update(id.0).finalize();
    SpanId(*digest.first_chunk().expect("a SHA-256 digest has 32 bytes"))
}

/// The trace id of a UUID: its 16 bytes.
pub fn trace_id_of(id: NativeId) -> TraceId {
    TraceId(id.0)
}

/// The attribute by which a server names the trace of the web page that called it. WIRE 1.10.
pub const LINKED_TRACE: &str = "traceway.distributed_trace_id";

/// The trace id in the value of [`LINKED_TRACE`]: a UUID with or without hyphens; none when it is another text.
pub fn linked_trace(value: AnyValue<'_>) -> TraceId {
    let uuid = value.as_str().and_then(|text| uuid::Uuid::try_parse(text.trim()).ok());
    uuid.map_or(TraceId::default(), |uuid| TraceId(uuid.into_bytes()))
}

/// The kinds of items whose ids the server derives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Derived {
    /// A run without a valid id.
    Run = 1,
    /// A span without a valid id.
    Span = 2,
    /// An exception or message; clients give it no id.
    Exception = 3,
}

/// The id of an item that has none: UUID v5 of its content in the project's namespace, so that the item has the same id
/// in a retry. `ordinal` distinguishes equal items of one report.
pub fn derived_id(
    project: ProjectId,
    kind: Derived,
    parent: NativeId,
    time_ns: i64,
    text: &str,
    ordinal: u32,
) -> RowId {
    let mut name = Vec::with_capacity(text.len() + 40);
    name.extend_from_slice(b"native");
    name.push(kind as u8);
    name.extend_from_slice(&parent.0);
    name.extend_from_slice(&time_ns.to_be_bytes());
    name.extend_from_slice(&ordinal.to_be_bytes());
    name.extend_from_slice(text.as_bytes());
    v5(project, &name)
}

#[cfg(test)]
mod tests {
    use super::*;

    // printf 'traceway.native.span-id.v1:\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01' | sha256sum
    #[test]
    fn uuid_width_span_ids_are_mapped_to_eight_bytes() {
        assert_eq!(span_id_of(NativeId([1; 16])).to_string(), "8311b202a16e6a9a");
        assert_eq!(span_id_of(NativeId::default()), SpanId::default());
    }

    // WIRE 1.10: a bare UUID or 32 hex digits, else ignored.
    #[test]
    fn linked_trace_table() {
        let uuid = "0b6f7d0e-6f5e-4a53-9f3e-1a2b3c4d5e6f";
        let digits = "0b6f7d0e6f5e4a539f3e1a2b3c4d5e6f";
        for (text, expected) in
            [(uuid, digits), (digits, digits), (" 0B6F7D0E6F5E4A539F3E1A2B3C4D5E6F", digits), ("x", ""), ("", "")]
        {
            let linked = linked_trace(AnyValue::Str(text));
            assert_eq!(if linked.is_none() { String::new() } else { linked.to_string() }, expected, "{text:?}");
        }
        assert!(linked_trace(AnyValue::Int(7)).is_none());
    }

    #[test]
    fn every_part_of_an_item_matters_to_its_id() {
        let of = |kind, parent, time, text: &str, ordinal| {
            derived_id(ProjectId([7; 16]), kind, NativeId([parent; 16]), time, text, ordinal)
        };
        let ids = [
            of(Derived::Exception, 1, 1, "a", 0),
            of(Derived::Span, 1, 1, "a", 0),
            of(Derived::Exception, 2, 1, "a", 0),
            of(Derived::Exception, 1, 2, "a", 0),
            of(Derived::Exception, 1, 1, "b", 0),
            of(Derived::Exception, 1, 1, "a", 1),
        ];
        for (position, id) in ids.iter().enumerate() {
            assert!(!ids[..position].contains(id), "{id} twice");
        }
        assert_eq!(ids[0], of(Derived::Exception, 1, 1, "a", 0));
    }
}
