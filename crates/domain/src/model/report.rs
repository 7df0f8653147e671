//! A native report as received. WIRE 1.

use super::{Attributes, KeyValue, Slice};

/// One report. Every [`Slice`] refers to the lists here.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReportBatch<'a> {
    /// `appVersion`; empty when absent.
    pub app_version: &'a str,
    /// `serverName`; empty when absent.
    pub server_name: &'a str,
    /// `proguardUuid`: the build of an Android application; empty when absent.
    pub proguard_uuid: &'a str,
    /// Runs of endpoints and tasks, in the order received.
    pub runs: Vec<Run<'a>>,
    /// Spans of the runs; those of one run are contiguous.
    pub spans: Vec<RunSpan<'a>>,
    /// Exceptions and messages, in the order received.
    pub exceptions: Vec<ReportedException<'a>>,
    /// Metric values, in the order received.
    pub metrics: Vec<ReportedMetric<'a>>,
    /// Sessions, in the order received. One session may occur several times.
    pub sessions: Vec<Session>,
    /// Segments of session recordings, in the order received.
    pub recordings: Vec<Recording<'a>>,
    /// Attributes of runs, spans, exceptions, metrics and sessions.
    pub attributes: Vec<KeyValue<'a>>,
    /// Items that cannot be read, by their list.
    pub invalid: InvalidItems,
}

/// Number of items of each list that cannot be read: `null`, another JSON type than an object, or a field of the wrong
/// type. They do not refuse the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct InvalidItems {
    /// Frames. Their items are not counted.
    pub frames: u32,
    /// Of `traces`.
    pub runs: u32,
    /// Of `spans`.
    pub spans: u32,
    /// Of `stackTraces`.
    pub exceptions: u32,
    /// Of `metrics`.
    pub metrics: u32,
    /// Of `sessions`.
    pub sessions: u32,
    /// Of `sessionRecordings`.
    pub recordings: u32,
}

impl InvalidItems {
    /// Items of all lists.
    pub fn total(self) -> u64 {
        let lists = [self.frames, self.runs, self.spans, self.exceptions, self.metrics, self.sessions, self.recordings];
        lists.into_iter().map(u64::from).sum()
    }
}

/// A UUID; all zero when absent, invalid or nil.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct NativeId(pub [u8; 16]);

impl NativeId {
    /// Whether there is no id.
    pub fn is_none(self) -> bool {
        self.0 == [0; 16]
    }
}

/// One request to an endpoint or one run of a task. WIRE 1.3.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Run<'a> {
    /// `id`; the server assigns one when it is none.
    pub id: NativeId,
    /// `endpoint`: `METHOD /route`, or the name of the task.
    pub name: &'a str,
    /// Nanoseconds, as received.
    pub duration_ns: i64,
    /// Start, nanoseconds since the epoch; 0 when absent.
    pub time_ns: i64,
    /// HTTP status; 0 for tasks.
    pub status: i16,
    /// Bytes of the response body.
    pub body_size: i64,
    /// As received; empty when absent.
    pub client_ip: &'a str,
    /// Range in `ReportBatch::attributes`.
    pub attributes: Slice,
    /// Range in `ReportBatch::spans`.
    pub spans: Slice,
    /// Whether it is a run of a task.
    pub is_task: bool,
    /// `distributedTraceId`.
    pub trace_id: NativeId,
    /// `sampleRate`, in (0, 1]; 1 when absent or out of range.
    pub sample_rate: f64,
}

/// A span of a run. WIRE 1.3.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RunSpan<'a> {
    /// `id`; the server assigns one when it is none.
    pub id: NativeId,
    /// `parentSpanId`; the run's root span when it is none.
    pub parent: NativeId,
    /// As received.
    pub name: &'a str,
    /// Start, nanoseconds since the epoch; 0 when absent.
    pub time_ns: i64,
    /// Nanoseconds, as received.
    pub duration_ns: i64,
    /// Range in `ReportBatch::attributes`.
    pub attributes: Slice,
}

/// An exception or a message. WIRE 1.4.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ReportedException<'a> {
    /// `traceId`: the run that it belongs to.
    pub run: NativeId,
    /// Whether that run is a task.
    pub is_task: bool,
    /// The first line is `Type: message`; the text of a message.
    pub stack_trace: &'a str,
    /// Nanoseconds since the epoch; 0 when absent.
    pub time_ns: i64,
    /// Range in `ReportBatch::attributes`.
    pub attributes: Slice,
    /// Whether it is a captured message.
    pub is_message: bool,
    /// `sessionRecordingId`: matches [`Recording::exception`] of the same report; empty when absent.
    pub recording: &'a str,
    /// `sessionId`.
    pub session: NativeId,
    /// `distributedTraceId`.
    pub trace_id: NativeId,
    /// `debugIds`: debug ids by file name, a range in `ReportBatch::attributes`.
    pub debug_ids: Slice,
}

/// One value of a metric. WIRE 1.5.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ReportedMetric<'a> {
    /// As received.
    pub name: &'a str,
    /// As received; always finite.
    pub value: f64,
    /// The value, when it is an integer that the double does not hold exactly.
    pub int_value: Option<i64>,
    /// Nanoseconds since the epoch; 0 when absent.
    pub time_ns: i64,
    /// `tags`, a range in `ReportBatch::attributes`.
    pub tags: Slice,
}

/// The state of a session. WIRE 1.6.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Session {
    /// Never none.
    pub id: NativeId,
    /// Nanoseconds since the epoch; 0 when absent.
    pub started_ns: i64,
    /// Nanoseconds since the epoch; 0 while the session is open.
    pub ended_ns: i64,
    /// Range in `ReportBatch::attributes`.
    pub attributes: Slice,
    /// `distributedTraceId`.
    pub trace_id: NativeId,
}

/// A segment of a session's recording. WIRE 1.7.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Recording<'a> {
    /// `exceptionId`: matches [`ReportedException::recording`] of the same report; empty when absent.
    pub exception: &'a str,
    /// `sessionId`.
    pub session: NativeId,
    /// `segmentIndex`.
    pub segment: u32,
    /// JSON as received; empty when absent, `null`, `[]` or `{}`.
    pub events: &'a str,
    /// Like `events`.
    pub logs: &'a str,
    /// Like `events`.
    pub actions: &'a str,
    /// Nanoseconds since the epoch; 0 when absent.
    pub started_ns: i64,
    /// Nanoseconds since the epoch; 0 when absent.
    pub ended_ns: i64,
}

impl<'a> ReportBatch<'a> {
    /// Look-up in a range of the attributes.
    pub fn attributes(&self, slice: Slice) -> Attributes<'_, 'a> {
        Attributes(slice.of(&self.attributes))
    }
}
