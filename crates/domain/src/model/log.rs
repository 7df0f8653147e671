//! Log records as received.

use super::{AnyValue, Attributes, Body, KeyValue, Resource, Scope, Slice, SpanId, TraceId};

/// One log export request.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LogBatch<'a> {
    /// The request body.
    pub body: Body<'a>,
    /// Resource blocks, in the order received.
    pub resources: Vec<Resource<'a>>,
    /// Scope blocks, in the order received.
    pub scopes: Vec<Scope<'a>>,
    /// Log records, in the order received.
    pub records: Vec<LogRecord<'a>>,
    /// Attributes of resources, scopes and records.
    pub attributes: Vec<KeyValue<'a>>,
}

/// A log record. Ids of the wrong length read as none: the record is kept without a trace.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LogRecord<'a> {
    /// Index into `resources`.
    pub resource: u32,
    /// Index into `scopes`.
    pub scope: u32,
    /// Nanoseconds since the epoch; 0 when absent.
    pub time_ns: u64,
    /// Nanoseconds since the epoch; 0 when absent.
    pub observed_time_ns: u64,
    /// 1 (TRACE) to 24 (FATAL4); 0 when absent or outside that range.
    pub severity_number: u8,
    /// As received; empty when absent.
    pub severity_text: &'a str,
    /// A string or a structured value.
    pub body: AnyValue<'a>,
    /// Range in `LogBatch::attributes`.
    pub attributes: Slice,
    /// `dropped_attributes_count`.
    pub dropped_attributes: u32,
    /// W3C trace flags in the low byte.
    pub flags: u32,
    /// All zero when absent.
    pub trace_id: TraceId,
    /// All zero when absent.
    pub span_id: SpanId,
    /// Empty when absent.
    pub event_name: &'a str,
}

impl<'a> LogBatch<'a> {
    /// Look-up in a range of the attributes.
    pub fn attributes(&self, slice: Slice) -> Attributes<'_, 'a> {
        Attributes(slice.of(&self.attributes))
    }
}
