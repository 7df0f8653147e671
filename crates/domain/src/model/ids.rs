//! Trace, span, project and row ids.

use std::fmt;

/// A trace id. All zero means none, which only log records may have.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct TraceId(pub [u8; 16]);

/// A span id. All zero means none: the parent of a root span, or a log record outside any span.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct SpanId(pub [u8; 8]);

/// The project's UUID; the namespace of its row ids.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct ProjectId(pub [u8; 16]);

/// Deterministic UUID v5 of a stored row. DECISIONS 11.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct RowId(pub [u8; 16]);

/// Reasons for which a span is refused. DECISIONS 5: only this span is rejected, the rest of the batch is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidId {
    /// The trace id is not 16 bytes (or, in JSON, not hexadecimal).
    TraceId,
    /// The trace id is all zero.
    ZeroTraceId,
    /// The span id is not 8 bytes (or, in JSON, not hexadecimal).
    SpanId,
    /// The span id is all zero.
    ZeroSpanId,
    /// The parent span id is neither absent nor 8 bytes.
    ParentSpanId,
}

impl InvalidId {
    /// A clause for `partial_success.error_message`.
    pub fn message(self) -> &'static str {
        match self {
            InvalidId::TraceId => "trace id is not 16 bytes",
            InvalidId::ZeroTraceId => "trace id is all zero",
            InvalidId::SpanId => "span id is not 8 bytes",
            InvalidId::ZeroSpanId => "span id is all zero",
            InvalidId::ParentSpanId => "parent span id is neither empty nor 8 bytes",
        }
    }
}

impl TraceId {
    /// Whether the id is all zero.
    pub fn is_none(self) -> bool {
        self.0 == [0; 16]
    }
}

impl SpanId {
    /// Whether the id is all zero.
    pub fn is_none(self) -> bool {
        self.0 == [0; 8]
    }
}

fn write_hex(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = [b'0'; 32];
    let (pairs, _) = text.as_chunks_mut::<2>();
    for (pair, byte) in pairs.iter_mut().zip(bytes) {
        *pair = [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]];
    }
    f.write_str(std::str::from_utf8(&text[..2 * bytes.len()]).unwrap_or_default())
}

macro_rules! hex_display {
    ($($id:ident),*) => { $(
        /// Lower-case hexadecimal.
        impl fmt::Display for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_hex(&self.0, f)
            }
        }
        impl fmt::Debug for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_hex(&self.0, f)
            }
        }
    )* };
}
hex_display!(TraceId, SpanId, ProjectId, RowId);
