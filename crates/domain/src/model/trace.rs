//! Spans as received.

use super::{AnyValue, Attributes, Body, InvalidId, KeyValue, Layout, Slice, SpanId, TraceId};

/// One trace export request. Every index and [`Slice`] points into the lists here.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TraceBatch<'a> {
    pub body: Body<'a>,
    pub resources: Vec<Resource<'a>>,
    pub scopes: Vec<Scope<'a>>,
    /// In the order received.
    pub spans: Vec<Span<'a>>,
    /// Spans whose ids were refused, in the order received; nothing else of them is kept.
    pub refused: Vec<InvalidId>,
    pub attributes: Vec<KeyValue<'a>>,
    pub events: Vec<Event<'a>>,
    pub links: Vec<Link<'a>>,
}

/// One `ResourceSpans` (or `ResourceLogs`, `ResourceMetrics`) block: "a process" to the entry-point rule.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Resource<'a> {
    pub attributes: Slice,
    pub schema_url: &'a str,
    pub dropped_attributes: u32,
}

/// The instrumentation scope of a group of records.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Scope<'a> {
    /// Index into `resources`.
    pub resource: u32,
    pub name: &'a str,
    pub version: &'a str,
    pub attributes: Slice,
    pub schema_url: &'a str,
}

/// A span as received.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Span<'a> {
    /// Index into `resources`.
    pub resource: u32,
    /// Index into `scopes`.
    pub scope: u32,
    pub trace_id: TraceId,
    pub span_id: SpanId,
    /// All zero for a root span.
    pub parent_span_id: SpanId,
    /// Set when an id was refused; the id fields are then zero where they could not be read. Decoders keep no such span:
    /// see [`TraceBatch::refused`].
    pub invalid: Option<InvalidId>,
    pub trace_state: &'a str,
    pub name: &'a str,
    pub kind: SpanKind,
    /// Nanoseconds since the epoch, UTC, as received.
    pub start_ns: u64,
    /// Nanoseconds since the epoch, UTC, as received.
    pub end_ns: u64,
    /// W3C flags in the low byte; 0x100 "remoteness is known", 0x200 "parent is remote".
    pub flags: u32,
    pub status: StatusCode,
    pub status_message: &'a str,
    pub attributes: Slice,
    /// Of the attributes.
    pub layout: Layout,
    pub events: Slice,
    pub links: Slice,
    pub dropped_attributes: u32,
    pub dropped_events: u32,
    pub dropped_links: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Event<'a> {
    pub time_ns: u64,
    pub name: &'a str,
    pub attributes: Slice,
    pub dropped_attributes: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Link<'a> {
    /// As received; a link with an invalid id keeps what could be read and never rejects its span.
    pub trace_id: TraceId,
    pub span_id: SpanId,
    pub trace_state: &'a str,
    pub attributes: Slice,
    pub dropped_attributes: u32,
    pub flags: u32,
}

/// OTLP numbers; unknown ones read as `Unspecified`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
pub enum SpanKind {
    #[default]
    Unspecified = 0,
    Internal = 1,
    Server = 2,
    Client = 3,
    Producer = 4,
    Consumer = 5,
}

impl SpanKind {
    /// SERVER or CONSUMER; every other kind is the other side of a span id that caller and callee share. DECISIONS 11.
    pub fn is_server_side(self) -> bool {
        matches!(self, SpanKind::Server | SpanKind::Consumer)
    }

    pub fn from_number(number: i64) -> Self {
        match number {
            1 => SpanKind::Internal,
            2 => SpanKind::Server,
            3 => SpanKind::Client,
            4 => SpanKind::Producer,
            5 => SpanKind::Consumer,
            _ => SpanKind::Unspecified,
        }
    }
}

/// OTLP numbers; unknown ones read as `Unset`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
pub enum StatusCode {
    #[default]
    Unset = 0,
    Ok = 1,
    Error = 2,
}

impl StatusCode {
    pub fn from_number(number: i64) -> Self {
        match number {
            1 => StatusCode::Ok,
            2 => StatusCode::Error,
            _ => StatusCode::Unset,
        }
    }
}

impl<'a> TraceBatch<'a> {
    pub fn attributes(&self, slice: Slice) -> Attributes<'_, 'a> {
        Attributes(slice.of(&self.attributes))
    }

    pub fn span_attributes(&self, span: &Span<'a>) -> Attributes<'_, 'a> {
        self.attributes(span.attributes)
    }

    pub fn resource_attributes(&self, span: &Span<'a>) -> Attributes<'_, 'a> {
        self.attributes(self.resources[span.resource as usize].attributes)
    }

    /// `service.name` of the span's resource; empty when absent.
    pub fn service(&self, span: &Span<'a>) -> &'a str {
        self.resource_attributes(span).get("service.name").and_then(AnyValue::as_str).unwrap_or("")
    }
}
