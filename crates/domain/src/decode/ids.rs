//! Validation of trace and span ids. DECISIONS 5; OTLP row "JSON ids".

use crate::model::{InvalidId, Span, SpanId, TraceId};

/// An id field as received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Received<const N: usize> {
    /// Missing or empty.
    #[default]
    Absent,
    Bytes([u8; N]),
    /// Another length, or (in JSON) not hexadecimal.
    Wrong,
}

impl<const N: usize> Received<N> {
    /// Protobuf: raw bytes.
    #[inline]
    pub(crate) fn bytes(bytes: &[u8]) -> Self {
        match <[u8; N]>::try_from(bytes) {
            Ok(id) => Received::Bytes(id),
            Err(_) if bytes.is_empty() => Received::Absent,
            Err(_) => Received::Wrong,
        }
    }

    /// JSON: hexadecimal in either case. Base64, which some senders use against the specification, has another length.
    pub(crate) fn hex(text: &str) -> Self {
        if text.is_empty() {
            return Received::Absent;
        }
        if text.len() != 2 * N {
            return Received::Wrong;
        }
        let (digits, _) = text.as_bytes().as_chunks::<2>();
        let mut id = [0; N];
        let mut seen = 0;
        for (byte, &[high, low]) in id.iter_mut().zip(digits) {
            let (high, low) = (NIBBLES[usize::from(high)], NIBBLES[usize::from(low)]);
            seen |= high | low;
            *byte = high << 4 | low;
        }
        if seen >= NO_DIGIT { Received::Wrong } else { Received::Bytes(id) }
    }

    /// The bytes; all zero when absent or wrong.
    pub(crate) fn or_none(self) -> [u8; N] {
        match self {
            Received::Bytes(id) => id,
            Received::Absent | Received::Wrong => [0; N],
        }
    }
}

const NO_DIGIT: u8 = 0x80;

/// The value of each hexadecimal digit; [`NO_DIGIT`] for any other byte.
const NIBBLES: [u8; 256] = {
    let mut nibbles = [NO_DIGIT; 256];
    let mut value = 0;
    while value < 16 {
        nibbles[b"0123456789abcdef"[value] as usize] = value as u8;
        nibbles[b"0123456789ABCDEF"[value] as usize] = value as u8;
        value += 1;
    }
    nibbles
};

/// The ids of a span as received.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SpanIds {
    pub trace: Received<16>,
    pub span: Received<8>,
    pub parent: Received<8>,
}

impl SpanIds {
    /// Sets the ids of `span`, and `invalid` to the first refused one of trace, span and parent id.
    pub(crate) fn assign_to(self, span: &mut Span<'_>) {
        span.trace_id = TraceId(self.trace.or_none());
        span.span_id = SpanId(self.span.or_none());
        // An all-zero parent id means root, like an absent one. DECISIONS 5.
        span.parent_span_id = SpanId(self.parent.or_none());
        span.invalid = self.refusal();
    }

    fn refusal(self) -> Option<InvalidId> {
        match (self.trace, self.span, self.parent) {
            (Received::Absent | Received::Wrong, _, _) => Some(InvalidId::TraceId),
            (Received::Bytes(id), _, _) if id == [0; 16] => Some(InvalidId::ZeroTraceId),
            (_, Received::Absent | Received::Wrong, _) => Some(InvalidId::SpanId),
            (_, Received::Bytes(id), _) if id == [0; 8] => Some(InvalidId::ZeroSpanId),
            (_, _, Received::Wrong) => Some(InvalidId::ParentSpanId),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // DECISIONS 5.
    #[test]
    fn refusals() {
        const TRACE: &[u8] = &[1; 16];
        const SPAN: &[u8] = &[2; 8];
        for (trace, span, parent, expected) in [
            (TRACE, SPAN, &[][..], None),
            (TRACE, SPAN, &[3; 8], None),
            (TRACE, SPAN, &[0; 8], None),
            (&[], SPAN, &[], Some(InvalidId::TraceId)),
            (&[1; 15], SPAN, &[], Some(InvalidId::TraceId)),
            (&[1; 24], SPAN, &[], Some(InvalidId::TraceId)),
            (&[0; 16], SPAN, &[], Some(InvalidId::ZeroTraceId)),
            (TRACE, &[], &[], Some(InvalidId::SpanId)),
            (TRACE, &[2; 9], &[], Some(InvalidId::SpanId)),
            (TRACE, &[0; 8], &[], Some(InvalidId::ZeroSpanId)),
            (TRACE, SPAN, &[3; 7], Some(InvalidId::ParentSpanId)),
            (TRACE, SPAN, &[0; 16], Some(InvalidId::ParentSpanId)),
            (&[1; 3], &[0; 8], &[3; 7], Some(InvalidId::TraceId)),
        ] {
            let ids =
                SpanIds { trace: Received::bytes(trace), span: Received::bytes(span), parent: Received::bytes(parent) };
            let mut assigned = Span::default();
            ids.assign_to(&mut assigned);
            assert_eq!(assigned.invalid, expected, "{trace:?} {span:?} {parent:?}");
            assert_eq!(assigned.trace_id.0[..], *if trace.len() == 16 { trace } else { &[0; 16] });
        }
    }

    // OTLP row "JSON ids": hexadecimal in either case; base64 is refused, never misread.
    #[test]
    fn hexadecimal() {
        let id = Received::Bytes([0x5b, 0x8e, 0xff, 0xf7, 0x98, 0x03, 0x81, 0x03]);
        for (text, expected) in [
            ("5b8efff798038103", id),
            ("5B8EFFF798038103", id),
            ("5b8EFff798038103", id),
            ("", Received::Absent),
            ("5b8efff79803810", Received::Wrong),
            ("5b8efff7980381033", Received::Wrong),
            ("5b8efff79803810g", Received::Wrong),
            ("W47/95gDgQM=", Received::Wrong),
            ("0x5b8efff7980381", Received::Wrong),
            ("5b8efff7 8038103", Received::Wrong),
            ("5b8efff79803810ü", Received::Wrong),
            ("5b8efff7980381ü", Received::Wrong),
        ] {
            assert_eq!(Received::<8>::hex(text), expected, "{text}");
        }
        assert_eq!(Received::<16>::hex("W47/95gDgQPSabYzgT/GDA=="), Received::Wrong);
    }
}
