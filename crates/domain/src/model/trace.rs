//! Spans as received.

use super::{AnyValue, Attributes, Body, InvalidId, KeyValue, Layout, Slice, SpanId, TraceId};

/// One trace export request. Every index and [`Slice`] refers to the lists here.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TraceBatch<'a> {
    /// The request body.
    pub body: Body<'a>,
    /// Resource blocks, in the order received.
    pub resources: Vec<Resource<'a>>,
    /// Scope blocks, in the order received.
    pub scopes: Vec<Scope<'a>>,
    /// Spans with valid ids, in the order received.
    pub spans: Vec<Span<'a>>,
    /// One entry per span with invalid ids, in the order received.
    pub refused: Vec<InvalidId>,
    /// Attributes of resources, scopes, spans, events and links.
    pub attributes: Vec<KeyValue<'a>>,
    /// Span events; those of one span are contiguous.
    pub events: Vec<Event<'a>>,
    /// Span links; those of one span are contiguous.
    pub links: Vec<Link<'a>>,
}

/// One `ResourceSpans`, `ResourceLogs` or `ResourceMetrics` block. The entry-point rule treats it as one process.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Resource<'a> {
    /// Range in the batch's attributes.
    pub attributes: Slice,
    /// Empty when absent.
    pub schema_url: &'a str,
    /// `dropped_attributes_count`.
    pub dropped_attributes: u32,
}

/// The instrumentation scope of a group of records.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Scope<'a> {
    /// Index into `resources`.
    pub resource: u32,
    /// Empty when absent.
    pub name: &'a str,
    /// Empty when absent.
    pub version: &'a str,
    /// Range in the batch's attributes.
    pub attributes: Slice,
    /// Empty when absent.
    pub schema_url: &'a str,
}

/// A span as received.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Span<'a> {
    /// Index into `resources`.
    pub resource: u32,
    /// Index into `scopes`.
    pub scope: u32,
    /// Never zero in a valid span.
    pub trace_id: TraceId,
    /// Never zero in a valid span.
    pub span_id: SpanId,
    /// All zero for a root span.
    pub parent_span_id: SpanId,
    /// Set when an id was refused; unreadable ids are then zero. Decoders move such spans to [`TraceBatch::refused`].
    pub invalid: Option<InvalidId>,
    /// W3C `tracestate`.
    pub trace_state: &'a str,
    /// As received.
    pub name: &'a str,
    /// `Unspecified` when absent.
    pub kind: SpanKind,
    /// Nanoseconds since the epoch, UTC, as received.
    pub start_ns: u64,
    /// Nanoseconds since the epoch, UTC, as received.
    pub end_ns: u64,
    /// W3C trace flags in the low byte; 0x100: remoteness is known, 0x200: the parent is remote.
    pub flags: u32,
    /// `Unset` when absent.
    pub status: StatusCode,
    /// Empty when absent.
    pub status_message: &'a str,
    /// Range in `TraceBatch::attributes`.
    pub attributes: Slice,
    /// Encoded layout of the attributes.
    pub layout: Layout,
    /// Range in `TraceBatch::events`.
    pub events: Slice,
    /// Range in `TraceBatch::links`.
    pub links: Slice,
    /// `dropped_attributes_count`.
    pub dropped_attributes: u32,
    /// `dropped_events_count`.
    pub dropped_events: u32,
    /// `dropped_links_count`.
    pub dropped_links: u32,
}

/// A span event as received.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Event<'a> {
    /// Nanoseconds since the epoch; 0 when absent.
    pub time_ns: u64,
    /// Empty when absent.
    pub name: &'a str,
    /// Range in `TraceBatch::attributes`.
    pub attributes: Slice,
    /// `dropped_attributes_count`.
    pub dropped_attributes: u32,
}

/// A span link as received. Invalid ids read as zero and do not refuse the span.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Link<'a> {
    /// All zero when absent or invalid.
    pub trace_id: TraceId,
    /// All zero when absent or invalid.
    pub span_id: SpanId,
    /// W3C `tracestate`.
    pub trace_state: &'a str,
    /// Range in `TraceBatch::attributes`.
    pub attributes: Slice,
    /// `dropped_attributes_count`.
    pub dropped_attributes: u32,
    /// W3C trace flags in the low byte.
    pub flags: u32,
}

/// Span kind with its OTLP number. Unknown numbers read as `Unspecified`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
#[expect(missing_docs, reason = "named as in OTLP")]
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
    /// SERVER or CONSUMER. Any other kind is the client side when caller and callee share a span id. DECISIONS 11.
    pub fn is_server_side(self) -> bool {
        matches!(self, SpanKind::Server | SpanKind::Consumer)
    }

    /// The kind with this OTLP number.
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

/// Status code with its OTLP number. Unknown numbers read as `Unset`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
#[expect(missing_docs, reason = "named as in OTLP")]
pub enum StatusCode {
    #[default]
    Unset = 0,
    Ok = 1,
    Error = 2,
}

impl StatusCode {
    /// The code with this OTLP number.
    pub fn from_number(number: i64) -> Self {
        match number {
            1 => StatusCode::Ok,
            2 => StatusCode::Error,
            _ => StatusCode::Unset,
        }
    }
}

impl<'a> TraceBatch<'a> {
    /// Look-up in a range of the attributes.
    pub fn attributes(&self, slice: Slice) -> Attributes<'_, 'a> {
        Attributes(slice.of(&self.attributes))
    }

    /// Attributes of a span.
    pub fn span_attributes(&self, span: &Span<'a>) -> Attributes<'_, 'a> {
        self.attributes(span.attributes)
    }

    /// Attributes of a span's resource.
    pub fn resource_attributes(&self, span: &Span<'a>) -> Attributes<'_, 'a> {
        self.attributes(self.resources[span.resource as usize].attributes)
    }

    /// `service.name` of the span's resource; empty when absent.
    pub fn service(&self, span: &Span<'a>) -> &'a str {
        self.resource_attributes(span).get("service.name").and_then(AnyValue::as_str).unwrap_or("")
    }
}
