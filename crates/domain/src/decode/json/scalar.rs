//! Reads ids, enums, booleans and bytes.

use super::reader::Reader;
use crate::base64;
use crate::decode::fault::{Fault, fault};
use crate::decode::ids::Received;

impl<'a> Reader<'a> {
    /// An id. Any type but a string (some senders write byte arrays) is a wrong id and does not refuse the body.
    pub(super) fn id<const N: usize>(&mut self) -> Result<Received<N>, Fault> {
        if self.peek() == Some(b'"') {
            return Ok(Received::hex(self.string("id")?));
        }
        self.skip()?;
        Ok(Received::Wrong)
    }

    pub(super) fn boolean(&mut self, what: &str) -> Result<bool, Fault> {
        self.peek();
        if self.take_word("true") {
            Ok(true)
        } else if self.take_word("false") {
            Ok(false)
        } else {
            Err(self.wrong_type(what, "true or false"))
        }
    }

    /// The number of an enum value. OTLP/JSON requires numbers; `names`, in the order of their numbers, are accepted too.
    /// An unknown name reads as 0, "unspecified" in every OTLP enum.
    pub(super) fn enumeration(&mut self, what: &str, names: &[&str]) -> Result<i64, Fault> {
        if self.peek() != Some(b'"') {
            return self.int64(what);
        }
        let text = self.string(what)?;
        if let Some(number) = names.iter().position(|name| *name == text) {
            return Ok(number as i64);
        }
        Ok(text.parse().unwrap_or(0))
    }

    /// Base64, decoded into the arena.
    pub(super) fn base64(&mut self, what: &str) -> Result<&'a [u8], Fault> {
        let start = self.at;
        let text = self.string(what)?;
        let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 3);
        match base64::decode(text.as_bytes(), &mut bytes) {
            Some(()) => Ok(self.stacks.arena.alloc_slice_copy(&bytes)),
            None => Err(fault!("JSON: {what} at byte {start} is not base64")),
        }
    }
}

/// `SpanKind`.
pub(super) const SPAN_KINDS: &[&str] = &[
    "SPAN_KIND_UNSPECIFIED",
    "SPAN_KIND_INTERNAL",
    "SPAN_KIND_SERVER",
    "SPAN_KIND_CLIENT",
    "SPAN_KIND_PRODUCER",
    "SPAN_KIND_CONSUMER",
];

/// `Status.StatusCode`.
pub(super) const STATUS_CODES: &[&str] = &["STATUS_CODE_UNSET", "STATUS_CODE_OK", "STATUS_CODE_ERROR"];

/// `AggregationTemporality`.
pub(super) const TEMPORALITIES: &[&str] =
    &["AGGREGATION_TEMPORALITY_UNSPECIFIED", "AGGREGATION_TEMPORALITY_DELTA", "AGGREGATION_TEMPORALITY_CUMULATIVE"];

/// `SeverityNumber`.
pub(super) const SEVERITIES: &[&str] = &[
    "SEVERITY_NUMBER_UNSPECIFIED",
    "SEVERITY_NUMBER_TRACE",
    "SEVERITY_NUMBER_TRACE2",
    "SEVERITY_NUMBER_TRACE3",
    "SEVERITY_NUMBER_TRACE4",
    "SEVERITY_NUMBER_DEBUG",
    "SEVERITY_NUMBER_DEBUG2",
    "SEVERITY_NUMBER_DEBUG3",
    "SEVERITY_NUMBER_DEBUG4",
    "SEVERITY_NUMBER_INFO",
    "SEVERITY_NUMBER_INFO2",
    "SEVERITY_NUMBER_INFO3",
    "SEVERITY_NUMBER_INFO4",
    "SEVERITY_NUMBER_WARN",
    "SEVERITY_NUMBER_WARN2",
    "SEVERITY_NUMBER_WARN3",
    "SEVERITY_NUMBER_WARN4",
    "SEVERITY_NUMBER_ERROR",
    "SEVERITY_NUMBER_ERROR2",
    "SEVERITY_NUMBER_ERROR3",
    "SEVERITY_NUMBER_ERROR4",
    "SEVERITY_NUMBER_FATAL",
    "SEVERITY_NUMBER_FATAL2",
    "SEVERITY_NUMBER_FATAL3",
    "SEVERITY_NUMBER_FATAL4",
];
