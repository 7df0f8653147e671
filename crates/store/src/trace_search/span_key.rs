//! Identity of spans in traces.

/// A span of a trace.
pub(super) type TraceSpan = ([u8; 16], SpanKey);

/// Identifies a span in its trace: Zipkin and B3 share one span id between caller and callee. DECISIONS 11.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct SpanKey {
    pub(super) id: [u8; 8],
    pub(super) is_server_side: bool,
}

impl SpanKey {
    pub(super) fn of(id: [u8; 8], kind: u8) -> SpanKey {
        let is_server_side = tidewatch_domain::model::SpanKind::from_number(kind.into()).is_server_side();
        SpanKey { id, is_server_side }
    }
}
