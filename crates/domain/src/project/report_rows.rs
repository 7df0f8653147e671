//! The rows of one report.

use super::{Dropped, MetricProjection, TraceProjection};
use crate::model::{MetricBatch, NativeId, Recording, RowId, Slice, TraceBatch, TraceId};
use crate::rules::session::SessionFacts;

/// The rows of one report. Its records are the entries of `traces.spans` (runs, spans and exceptions, in this order of
/// each run), then the points of `metrics`, then the sessions and the segments of recordings.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReportProjection<'a> {
    /// Root spans of runs, their spans, and one entry per exception.
    pub traces: TraceBatch<'a>,
    /// Identity of each entry of `traces.spans` in a retry: the span's id, or the row id of an exception.
    pub records: Vec<NativeId>,
    /// Rows of `traces`.
    pub rows: TraceProjection<'a>,
    /// The values of metrics, as gauges.
    pub metrics: MetricBatch<'a>,
    /// Rows of `metrics`.
    pub metric_rows: MetricProjection<'a>,
    /// Whether a record has no time of its own.
    pub is_untimed: bool,
    /// Number of items that are in no list above because they cannot be read.
    pub invalid: u64,
    /// States of sessions to store.
    pub sessions: Vec<SessionRow<'a>>,
    /// Segments of recordings to store.
    pub segments: Vec<SegmentRow<'a>>,
    /// Identity of each session and then each segment of the report in a retry; 0 if it is not stored.
    pub session_records: Vec<u128>,
    /// Sessions and segments that are not stored, by index into `session_records`.
    pub sessions_dropped: Vec<Dropped>,
}

/// A state of a session: the newest counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SessionRow<'a> {
    /// Index into `ReportProjection::session_records`.
    pub record: u32,
    /// Identifies the state: equal for equal content.
    pub row_id: RowId,
    /// Id of the session.
    pub id: NativeId,
    /// Start, nanoseconds since the epoch.
    pub time_ns: i64,
    /// End as received, nanoseconds since the epoch; 0 while the session is open.
    pub end_ns: i64,
    /// Greater in states that were received later; nanoseconds since the epoch.
    pub version: i64,
    /// The trace of the page.
    pub trace_id: TraceId,
    /// Facts from the attributes.
    pub facts: SessionFacts<'a>,
    /// Name and version of the browser; empty when unknown.
    pub browser: &'a str,
    /// Range in `traces.attributes`.
    pub attributes: Slice,
    /// Address of the client; empty when unknown.
    pub client_ip: &'a str,
}

/// A segment of a recording.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SegmentRow<'a> {
    /// Index into `ReportProjection::session_records`.
    pub record: u32,
    /// Identifies the segment: session, exception and index.
    pub row_id: RowId,
    /// The session; none when the segment is the recording of an exception only.
    pub session: NativeId,
    /// Row id of the exception; zeros when the segment is of a session only.
    pub exception: RowId,
    /// Start, nanoseconds since the epoch.
    pub time_ns: i64,
    /// End, nanoseconds since the epoch.
    pub end_ns: i64,
    /// Id of the user, as far as the report says; empty when unknown.
    pub user_id: &'a str,
    /// The segment as received.
    pub recording: Recording<'a>,
}
