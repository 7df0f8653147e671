//! Parses and formats the ids of requests and responses. Ids that do not parse are [`QueryError::Malformed`].

use tidewatch_domain::model::{NativeId, ProjectId, SpanId, TraceId};
use tidewatch_domain::rules::native_ids::span_id_of;
use tidewatch_domain::rules::row_id::entity_row_id;
use uuid::Uuid;

use crate::error::QueryError;

/// Hexadecimal digits of the id of a native report's span.
pub const UUID_DIGITS: usize = 32;

/// Parses 32 hexadecimal digits; dashes are ignored. A trace id of zeros is malformed.
pub fn parse_trace(text: &str) -> Result<TraceId, QueryError> {
    let malformed = || QueryError::malformed("a trace id is 32 hexadecimal digits");
    let digits: String = text.trim().chars().filter(|letter| *letter != '-').collect();
    let bytes = hex::<16>(&digits).ok_or_else(malformed)?;
    Some(TraceId(bytes)).filter(|id| !id.is_none()).ok_or_else(malformed)
}

/// Parses 16 hexadecimal digits; or 32, dashes ignored: the UUID of a span of a native report. Spec: span, rule 2.
pub fn parse_span(text: &str) -> Result<SpanId, QueryError> {
    let digits: String = text.trim().chars().filter(|letter| *letter != '-').collect();
    let native = || hex::<16>(&digits).map(|uuid| span_id_of(NativeId(uuid)));
    let id = hex::<8>(&digits).map(SpanId).or_else(native);
    id.ok_or_else(|| QueryError::malformed("a span id is 16 hexadecimal digits, or 32 of a native report"))
}

/// Parses the hash of an Issue: 16 hexadecimal digits.
pub fn parse_hash(text: &str) -> Result<u64, QueryError> {
    hex::<8>(text.trim())
        .map(u64::from_be_bytes)
        .ok_or_else(|| QueryError::malformed("an exception hash is 16 hexadecimal digits"))
}

/// 16 hexadecimal digits.
pub fn format_hash(hash: u64) -> String {
    format!("{hash:016x}")
}

/// Parses a row id: a UUID.
pub fn parse_row(text: &str) -> Result<[u8; 16], QueryError> {
    Uuid::try_parse(text.trim()).map(Uuid::into_bytes).map_err(|_| QueryError::malformed("a row id is a UUID"))
}

/// A UUID with hyphens.
pub fn format_row(id: [u8; 16]) -> String {
    Uuid::from_bytes(id).to_string()
}

/// 32 hexadecimal digits; empty for an id of zeros.
pub fn format_trace(id: TraceId) -> String {
    if id.is_none() { String::new() } else { id.to_string() }
}

/// 16 hexadecimal digits; empty for an id of zeros.
pub fn format_span(id: SpanId) -> String {
    if id.is_none() { String::new() } else { id.to_string() }
}

/// The own id and the parent's id of a span in the form that its SDK sent: 32 hexadecimal digits if the column
/// `native_ids` has them, else 16; empty for none.
pub fn format_native(native_ids: &[u8], own: SpanId, parent: SpanId) -> (String, String) {
    let mut uuids = native_ids.chunks_exact(16).map(|uuid| Uuid::from_slice(uuid).unwrap_or_default());
    match uuids.next() {
        Some(span) => (span.simple().to_string(), uuids.next().map_or(String::new(), |uuid| uuid.simple().to_string())),
        None => (format_span(own), format_span(parent)),
    }
}

/// The id of the span of an Endpoint, a Task or an AI Trace: its row id, 32 hexadecimal digits, if the row comes from a
/// native report; else 16. Spec: span, rule 2.
pub fn format_entity_span(project: Uuid, row_id: [u8; 16], trace: TraceId, span: SpanId) -> String {
    match row_id == entity_row(project, trace, span) {
        true => span.to_string(),
        false => Uuid::from_bytes(row_id).simple().to_string(),
    }
}

/// Row id of a span's Endpoint, Task or AI Trace. Spec: span, rule 2.
pub fn entity_row(project: Uuid, trace: TraceId, span: SpanId) -> [u8; 16] {
    entity_row_id(ProjectId(project.into_bytes()), trace, span).0
}

fn hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    if digits.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let digit = |letter: u8| char::from(letter).to_digit(16);
        *byte = (digit(pair[0])? * 16 + digit(pair[1])?) as u8;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_parsed_in_every_accepted_form() {
        let plain = "5b8efff798038103d269b633813fc60c";
        assert_eq!(parse_trace(plain).unwrap().to_string(), plain);
        assert_eq!(parse_trace("5B8EFFF7-9803-8103-D269-B633813FC60C").unwrap().to_string(), plain);
        for bad in ["", "5b8e", "zz8efff798038103d269b633813fc60c", "00000000000000000000000000000000"] {
            assert!(matches!(parse_trace(bad), Err(QueryError::Malformed(_))), "{bad}");
        }
        assert_eq!(parse_span("eee19b7ec3c1b174").unwrap().to_string(), "eee19b7ec3c1b174");
        // WIRE 9: the eight bytes that stand for a UUID.
        for native in ["01010101-0101-0101-0101-010101010101", "01010101010101010101010101010101"] {
            assert_eq!(parse_span(native).unwrap().to_string(), "8311b202a16e6a9a");
        }
        assert!(parse_span("eee19b7ec3c1b1").is_err());
        assert_eq!(format_hash(parse_hash("00ff00000000000a").unwrap()), "00ff00000000000a");
        assert!(matches!(parse_row("x"), Err(QueryError::Malformed(_))));
        assert_eq!(format_span(SpanId::default()), "");
    }
}
