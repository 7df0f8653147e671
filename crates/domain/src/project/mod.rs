//! The rules, in order: a decoded batch in, rows out, and a named reason for every record that is no row.
//!
//! Every input record is accounted for exactly once: in a list of rows, or in `dropped` / `rejected`.
//! Here are the rows; [`traces`], [`logs`] and [`metrics`] make them.

mod healthchecks;
mod logs;
mod metrics;
mod traces;

pub use logs::{logs, logs_with};
pub use metrics::metrics;
pub use traces::{traces, traces_with};

use std::sync::Arc;

use crate::model::{InvalidId, KeyValue, ProjectId, RowId, Slice, SpanId};
pub use crate::rules::classify::Promoted;
pub use crate::rules::drop_reason::DropReason;
use crate::rules::exception::{AsReceived, Symbolicate};
use crate::rules::healthcheck::Healthchecks;
use crate::rules::prices::{self, Price};

/// What the rules need to know about the project and the moment. No clock is read here.
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectContext {
    pub project: ProjectId,
    /// When the request was accepted; the time of records that carry none (DECISIONS 17).
    pub received_ns: i64,
    pub settings: IngestSettings,
}

/// What is known besides the request: it changes what rows say, never how many there are.
#[derive(Clone, Copy)]
pub struct Known<'k> {
    /// Of AI models. DECISIONS 12.
    pub prices: &'k [Price<'k>],
    /// Of the programs that stack traces come from. DECISIONS 14.
    pub symbols: &'k dyn Symbolicate,
}

impl Default for Known<'_> {
    /// The built-in prices, and nothing about any program.
    fn default() -> Self {
        Known { prices: prices::BUILT_IN, symbols: &AsReceived }
    }
}

/// The project's own settings that change what is stored. Journalled with each request, so that a replay decides alike.
#[derive(Debug, Clone, PartialEq)]
pub struct IngestSettings {
    /// Keep roots that match nothing as plain Spans. DECISIONS 4; off by default.
    pub keep_unmatched_roots: bool,
    /// Issues from `exception.*` on log records. DECISIONS 9; off by default.
    pub issues_from_logs: bool,
    /// Share of normal traces recorded, 0 to 1. SPEC sampling; 1 by default.
    pub sample_rate: f64,
    /// Share of error traces recorded, 0 to 1. SPEC sampling; 1 by default.
    pub error_sample_rate: f64,
    /// Promote model calls that are described without `gen_ai.*`. DECISIONS 26; off by default.
    pub ai_conventions: bool,
    /// Leave out health checks that went well. WIRE 8.6; off by default.
    pub healthchecks: Option<Arc<Healthchecks>>,
    /// Records from before this are older than what the project keeps, nanoseconds since the epoch. DECISIONS 25;
    /// `i64::MIN` by default.
    pub oldest_ns: i64,
}

impl Default for IngestSettings {
    fn default() -> Self {
        IngestSettings {
            keep_unmatched_roots: false,
            issues_from_logs: false,
            ai_conventions: false,
            sample_rate: 1.0,
            error_sample_rate: 1.0,
            healthchecks: None,
            oldest_ns: i64::MIN,
        }
    }
}

/// One record that is no row: its index in the batch's `spans`, `records` or `points`
/// (for a metric without any point: none is counted).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dropped {
    pub record: u32,
    pub reason: DropReason,
}

/// The rows of one trace export.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TraceProjection<'a> {
    /// Spans to store, ascending by index.
    pub spans: Vec<KeptSpan<'a>>,
    /// Endpoints and Tasks. A span is at most one of the two.
    pub entities: Vec<Entity<'a>>,
    pub ai_traces: Vec<AiTrace<'a>>,
    pub exceptions: Vec<Exception<'a>>,
    /// Spans that are not stored. Together with `spans`: every index of the batch exactly once.
    pub dropped: Vec<Dropped>,
    /// The part of `dropped` that the sender is told about, with why.
    pub rejected: Vec<(u32, InvalidId)>,
    /// Model calls without `gen_ai.*` that the project's settings do not promote. DECISIONS 26.
    pub other_ai: u64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KeptSpan<'a> {
    /// Index into `batch.spans`.
    pub span: u32,
    /// Nanoseconds since the epoch: as received; the receive time when the span carries none.
    pub start_ns: i64,
    /// Nanoseconds, never negative.
    pub duration_ns: i64,
    /// `service.name`, "" when absent. SPEC edge-platform exports.
    pub server_name: &'a str,
    /// DECISIONS 15.
    pub app_version: &'a str,
    pub promoted: Promoted,
    /// HTTP status of the span, 0 when none. DECISIONS 3.
    pub http_status: i16,
    /// How many spans this one stands for under sampling: 1 / rate. DECISIONS 13.
    pub weight: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum EntityKind {
    Endpoint = 1,
    Task = 2,
}

/// An Endpoint or Task occurrence: a copy of the span that started it. SPEC span rule 2, entity rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entity<'a> {
    pub kind: EntityKind,
    /// Index into `batch.spans`; the span is also in `spans`.
    pub span: u32,
    /// Position in `TraceProjection::spans`.
    pub kept: u32,
    pub row_id: RowId,
    pub name: &'a str,
    /// HTTP status; 0 for Tasks and when missing.
    pub status_code: i16,
    /// No parent in any process. SPEC entity rows.
    pub is_root: bool,
    /// DECISIONS 10.
    pub is_stream: bool,
    /// Error status on the span, or a status of 500 and above.
    pub is_error: bool,
    pub client_ip: &'a str,
    pub body_size: i64,
}

/// A gen_ai span. DECISIONS 12, WIRE 8.3. `None` means absent, never zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AiTrace<'a> {
    pub span: u32,
    pub kept: u32,
    pub row_id: RowId,
    pub name: &'a str,
    pub is_root: bool,
    pub is_error: bool,
    pub model: Option<&'a str>,
    pub response_model: Option<&'a str>,
    pub provider: Option<&'a str>,
    pub operation: Option<&'a str>,
    pub input_tokens: Option<i64>,
    pub output_tokens: Option<i64>,
    pub total_tokens: Option<i64>,
    pub cached_tokens: Option<i64>,
    pub reasoning_tokens: Option<i64>,
    /// US dollars.
    pub input_cost: Option<f64>,
    pub output_cost: Option<f64>,
    pub total_cost: Option<f64>,
    /// The costs come from the price table, not from the span.
    pub cost_estimated: bool,
    pub finish_reason: Option<&'a str>,
    pub user_id: Option<&'a str>,
    pub conversation_id: &'a str,
    pub tool_call_count: i64,
}

/// One occurrence of an Issue. SPEC classification rule 3, DECISIONS 7, 8.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exception<'a> {
    /// Index into `batch.spans` (or `batch.records` for a log). The span may be a dropped root.
    pub span: u32,
    pub row_id: RowId,
    /// Nanoseconds since the epoch.
    pub time_ns: i64,
    /// First 16 hex digits of the SHA-256 of the normalised trace, as a number. WIRE 4.6.
    pub group: u64,
    pub exception_type: &'a str,
    pub message: &'a str,
    /// Header and stack as shown: `type: message`, then the frames. WIRE 4.4 "OTLP exception".
    pub stack_trace: &'a str,
    /// The attribute of scope or resource that names the build; stored as one of the event.
    pub build: Option<KeyValue<'a>>,
    /// Attributes of the event, in `batch.attributes`; empty when the span's own attributes made it.
    pub event_attributes: Slice,
    pub server_name: &'a str,
    pub app_version: &'a str,
    pub owner: Owner<'a>,
    pub weight: f64,
}

/// The nearest Endpoint or Task above a span, itself included. DECISIONS 8.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Owner<'a> {
    /// Found in the same request, with every span between: final.
    Known { kind: EntityKind, name: &'a str, span_id: SpanId },
    /// The way up ends inside the request at a root that is no entity: final.
    Nobody,
    /// The way up leaves the request at this span id: look in the store, at read time, from there.
    Above(SpanId),
}

/// One log record to store. DECISIONS 17.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KeptLog<'a> {
    /// Index into `batch.records`.
    pub record: u32,
    pub time_ns: i64,
    pub server_name: &'a str,
    /// Upper-cased text, else from the number, else "". WIRE 8.4.
    pub severity_text: &'a str,
    pub severity_number: u8,
    /// Strings as they are, other values as JSON, absent as "".
    pub body: &'a str,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct LogProjection<'a> {
    pub logs: Vec<KeptLog<'a>>,
    /// Only with `issues_from_logs`. DECISIONS 9.
    pub exceptions: Vec<Exception<'a>>,
    pub dropped: Vec<Dropped>,
}

/// One stored value. A histogram point makes two (`.avg`, `.count`); DECISIONS 16.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MetricValue<'a> {
    /// Index into `batch.points`.
    pub point: u32,
    /// Index into `batch.metrics`.
    pub metric: u32,
    pub name: &'a str,
    pub time_ns: i64,
    pub value: f64,
    /// The exact value where a double may not hold it: of an integer point beyond 2^53. DECISIONS 16.
    pub integer: Option<i64>,
    /// This row carries the histogram's bounds and buckets (the `.count` row does).
    pub with_buckets: bool,
    pub server_name: &'a str,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct MetricProjection<'a> {
    pub values: Vec<MetricValue<'a>>,
    /// Points that gave no value at all.
    pub dropped: Vec<Dropped>,
}

#[cfg(test)]
mod tests;
