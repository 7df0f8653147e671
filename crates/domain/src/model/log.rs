//! Log records as received.

use super::{AnyValue, Attributes, Body, KeyValue, Resource, Scope, Slice, SpanId, TraceId};

/// One log export request.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LogBatch<'a> {
    pub body: Body<'a>,
    pub resources: Vec<Resource<'a>>,
    pub scopes: Vec<Scope<'a>>,
    pub records: Vec<LogRecord<'a>>,
    pub attributes: Vec<KeyValue<'a>>,
}

/// A log record. Ids of the wrong length read as none: the record is kept, outside any trace.
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
    pub severity_text: &'a str,
    pub body: AnyValue<'a>,
    pub attributes: Slice,
    pub dropped_attributes: u32,
    pub flags: u32,
    pub trace_id: TraceId,
    pub span_id: SpanId,
    pub event_name: &'a str,
}

impl<'a> LogBatch<'a> {
    pub fn attributes(&self, slice: Slice) -> Attributes<'_, 'a> {
        Attributes(slice.of(&self.attributes))
    }
}
