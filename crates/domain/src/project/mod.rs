//! Projects a decoded batch into rows by applying the rules in order.
//!
//! Every input record is accounted for exactly once: in a list of rows, or in `dropped` with a reason. This file defines
//! the rows; [`traces`], [`logs`], [`metrics`] and [`report`] build them.

mod ai_usage;
mod healthchecks;
mod logs;
mod metrics;
mod nested_exceptions;
mod profiles;
mod report;
mod report_rows;
mod sessions;
mod traces;

pub use logs::{logs, logs_with};
pub use metrics::metrics;
pub use profiles::{
    ENDPOINT_LABEL, LABEL_VALUES_MAX, ProfileProjection, ProfileRow, ProfileSource, SampleRow, StackRow, TRUNCATED,
    profiles,
};
pub use report::report;
pub use report_rows::{ReportProjection, SegmentRow, SessionRow};
pub use traces::{traces, traces_with};

use std::sync::Arc;

use crate::model::{InvalidId, KeyValue, NativeId, ProjectId, RowId, Slice, SpanId, TraceId};
use crate::rules::ai_trace::Flags;
use crate::rules::ai_trace::usage::AiUsage;
pub use crate::rules::classify::Promoted;
use crate::rules::content_terms::ContentTerms;
pub use crate::rules::drop_reason::DropReason;
use crate::rules::exception::{AsReceived, Symbolicate};
use crate::rules::exponential::ExplicitBuckets;
use crate::rules::framework::Framework;
use crate::rules::group_versions::GroupVersions;
use crate::rules::grouping_rules::{FINGERPRINT_VERSION, GroupingRules, NO_RULES, RuledException};
use crate::rules::healthcheck::Healthchecks;
use crate::rules::peer::Peer;
use crate::rules::prices::{self, Price};

/// The project, its settings and the receive time of a request.
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectContext {
    /// Namespace of the row ids.
    pub project: ProjectId,
    /// When the request was accepted, nanoseconds since the epoch. The time of records without one (DECISIONS 17).
    pub received_ns: i64,
    /// Settings of the project at that time.
    pub settings: IngestSettings,
}

/// Data from outside the request: prices, symbols and the rule of grouping. It changes the content of rows, never their number.
#[derive(Clone, Copy)]
pub struct Enrichment<'e> {
    /// Prices of AI models. DECISIONS 12.
    pub prices: &'e [Price<'e>],
    /// Symbolication of stack traces. DECISIONS 14.
    pub symbols: &'e dyn Symbolicate,
    /// Versions of the rule that groups exceptions.
    pub grouping: GroupVersions,
    /// The grouping rules of the project.
    pub grouping_rules: &'e GroupingRules,
}

impl Enrichment<'_> {
    /// The group of an exception, and the version of the rule that makes it.
    fn group(&self, exception: &RuledException<'_, '_>) -> (u64, u8) {
        let default = || self.grouping.group(&exception.input);
        if !exception.input.fingerprint.is_empty() {
            return (default().0, FINGERPRINT_VERSION);
        }
        if self.grouping_rules.is_empty() {
            return default();
        }
        match self.grouping_rules.fingerprint(exception, || default().0) {
            Some(fingerprint) => (fingerprint.hash(), FINGERPRINT_VERSION),
            None => default(),
        }
    }
}

impl Default for Enrichment<'_> {
    /// The built-in prices and versions of grouping, and no symbols.
    fn default() -> Self {
        Enrichment {
            prices: prices::BUILT_IN,
            symbols: &AsReceived,
            grouping: GroupVersions::BUILT_IN,
            grouping_rules: &NO_RULES,
        }
    }
}

/// Project settings that affect stored rows. Journaled with each request, so that a replay gives the same rows.
#[derive(Debug, Clone, PartialEq)]
pub struct IngestSettings {
    /// Stores root spans that no rule promotes as plain Spans. DECISIONS 4; off by default.
    pub keep_unmatched_roots: bool,
    /// Creates Issues from `exception.*` attributes of log records. DECISIONS 9; off by default.
    pub issues_from_logs: bool,
    /// Sample rate of traces without errors, 0 to 1. SPEC sampling; 1 by default.
    pub sample_rate: f64,
    /// Sample rate of traces with errors, 0 to 1. SPEC sampling; 1 by default.
    pub error_sample_rate: f64,
    /// Promotes model calls that other conventions than `gen_ai.*` describe. DECISIONS 26; off by default.
    pub ai_conventions: bool,
    /// Stores exponential histograms and summaries. docs/decisions/0013; off by default.
    pub all_metric_kinds: bool,
    /// Stores the recordings of sessions; on by default.
    pub session_recordings: bool,
    /// Content flags of AI Traces. WIRE 8.3; off by default.
    pub content_terms: Option<Arc<ContentTerms>>,
    /// Drops successful health checks. WIRE 8.6; off by default.
    pub healthchecks: Option<Arc<Healthchecks>>,
    /// The framework of the project: symbolication of native reports, and whether OTLP spans make entities. WIRE 4.3, 5.6.
    pub framework: Framework,
    /// Start of the project's retention, nanoseconds since the epoch. Older records are dropped. DECISIONS 25;
    /// `i64::MIN` by default.
    pub oldest_ns: i64,
}

impl Default for IngestSettings {
    fn default() -> Self {
        IngestSettings {
            keep_unmatched_roots: false,
            issues_from_logs: false,
            ai_conventions: false,
            all_metric_kinds: false,
            session_recordings: true,
            sample_rate: 1.0,
            error_sample_rate: 1.0,
            content_terms: None,
            healthchecks: None,
            framework: Framework::Other,
            oldest_ns: i64::MIN,
        }
    }
}

/// A record that is not stored. A metric without points is not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dropped {
    /// Index into the batch's `spans`, `records` or `points`.
    pub record: u32,
    /// Reason for which it is not stored.
    pub reason: DropReason,
}

/// The rows of one trace export.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TraceProjection<'a> {
    /// Spans to store, ascending by index.
    pub spans: Vec<KeptSpan<'a>>,
    /// Endpoints and Tasks. A span is at most one of the two.
    pub entities: Vec<Entity<'a>>,
    /// AI Traces.
    pub ai_traces: Vec<AiTrace<'a>>,
    /// Occurrences of Issues.
    pub exceptions: Vec<Exception<'a>>,
    /// Spans that are not stored. `spans` and `dropped` together contain every index of the batch exactly once.
    pub dropped: Vec<Dropped>,
    /// The part of `dropped` that the partial success response reports.
    pub rejected: Vec<(u32, InvalidId)>,
    /// Number of model calls without `gen_ai.*` that the project's settings do not promote. DECISIONS 26.
    pub other_ai: u64,
    /// Ids of UUID width, by index into `batch.spans`; empty for OTLP. SPEC span rule 2.
    pub native_ids: Vec<NativeSpanIds>,
}

/// The UUIDs of a span of a native report, of which `span_id` and `parent_span_id` are hashes. WIRE 9.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NativeSpanIds {
    /// The span's id. The run's id for an exception; none without a run.
    pub span: NativeId,
    /// The parent's id; none for a root.
    pub parent: NativeId,
}

/// A span to store.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KeptSpan<'a> {
    /// Index into `batch.spans`.
    pub span: u32,
    /// Start in nanoseconds since the epoch; the receive time when the span has none.
    pub start_ns: i64,
    /// Nanoseconds, never negative.
    pub duration_ns: i64,
    /// `service.name`; empty when absent. SPEC edge-platform exports.
    pub server_name: &'a str,
    /// DECISIONS 15.
    pub app_version: &'a str,
    /// The entities that the span is promoted to.
    pub promoted: Promoted,
    /// HTTP status of the span, 0 when none. DECISIONS 3.
    pub http_status: i16,
    /// Number of spans that this one represents under sampling by the project and by the sender. DECISIONS 13,
    /// docs/decisions/0012.
    pub weight: f64,
    /// The other end of the span's call.
    pub peer: Option<Peer<'a>>,
    /// Whether the span's call failed: HTTP status of 500 and above, or error status without one of 400 to 499.
    pub is_error: bool,
}

/// The kind of an entity that owns spans and exceptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum EntityKind {
    /// An inbound HTTP request.
    Endpoint = 1,
    /// A run of background work.
    Task = 2,
}

/// An occurrence of an Endpoint or Task: a copy of the span that started it. SPEC span rule 2, entity rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entity<'a> {
    /// Endpoint or Task.
    pub kind: EntityKind,
    /// Index into `batch.spans`; the span is also in `spans`.
    pub span: u32,
    /// Index into `TraceProjection::spans`.
    pub kept: u32,
    /// DECISIONS 11.
    pub row_id: RowId,
    /// Name of the group.
    pub name: &'a str,
    /// HTTP status; 0 for Tasks and when missing.
    pub status_code: i16,
    /// Whether the span has no parent in any process. SPEC entity rows.
    pub is_root: bool,
    /// Whether the response is a stream. DECISIONS 10.
    pub is_stream: bool,
    /// Whether the span has an error status or an HTTP status of 500 and above.
    pub is_error: bool,
    /// Address of the client; empty when absent.
    pub client_ip: &'a str,
    /// Size of the response body in bytes; 0 when absent.
    pub body_size: i64,
    /// The trace of the web page that sent the request; none when unknown. WIRE 1.10.
    pub linked_trace: TraceId,
}

/// An AI Trace. DECISIONS 12, WIRE 8.3. `None` means absent, never zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AiTrace<'a> {
    /// Index into `batch.spans`.
    pub span: u32,
    /// Index into `TraceProjection::spans`.
    pub kept: u32,
    /// DECISIONS 11.
    pub row_id: RowId,
    /// Name of the group.
    pub name: &'a str,
    /// Whether the span has no parent in any process.
    pub is_root: bool,
    /// Whether the span has an error status.
    pub is_error: bool,
    /// Requested model.
    pub model: Option<&'a str>,
    /// Model that answered.
    pub response_model: Option<&'a str>,
    /// For example `openai`.
    pub provider: Option<&'a str>,
    /// For example `chat`.
    pub operation: Option<&'a str>,
    /// Tokens of the prompt.
    pub input_tokens: Option<i64>,
    /// Tokens of the response.
    pub output_tokens: Option<i64>,
    /// Tokens of both.
    pub total_tokens: Option<i64>,
    /// The part of the input tokens that was read from a cache.
    pub cached_tokens: Option<i64>,
    /// The part of the output tokens that was spent on reasoning.
    pub reasoning_tokens: Option<i64>,
    /// The part of the input tokens that was written to a cache.
    pub cache_write_tokens: Option<i64>,
    /// Cost of the input, US dollars.
    pub input_cost: Option<f64>,
    /// Cost of the output, US dollars.
    pub output_cost: Option<f64>,
    /// Cost of both, US dollars.
    pub total_cost: Option<f64>,
    /// Whether the costs come from the price table instead of the span.
    pub cost_estimated: bool,
    /// Reason for which the model stopped.
    pub finish_reason: Option<&'a str>,
    /// End user of the application.
    pub user_id: Option<&'a str>,
    /// Empty when absent.
    pub conversation_id: &'a str,
    /// Number of tool calls.
    pub tool_call_count: i64,
    /// Flags that a reader should look at.
    pub flags: Flags,
    /// Whether the events of the span have messages of the conversation.
    pub has_event_messages: bool,
    /// Terms of the word lists in the conversation, see `content_terms::joined`; `None` without one.
    pub flagged_terms: Option<&'a str>,
    /// Id of the response; of a run of a tool, id of the tool call.
    pub call_id: Option<&'a str>,
    /// Whether its usage repeats that of other AI Traces of the request, so that it is in no sum. DECISIONS 32.
    pub repeats_usage: bool,
}

impl AiTrace<'_> {
    /// The part that decides whether it repeats others.
    pub fn usage(&self) -> AiUsage {
        AiUsage::new(self.total_tokens.is_some() || self.total_cost.is_some(), self.operation, self.call_id)
    }
}

/// One occurrence of an Issue. SPEC classification rule 3, DECISIONS 7, 8.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exception<'a> {
    /// Index into `batch.spans`, or into `batch.records` for a log. The span may be a dropped root.
    pub span: u32,
    /// DECISIONS 11.
    pub row_id: RowId,
    /// Nanoseconds since the epoch.
    pub time_ns: i64,
    /// Group by the rule of [`crate::grouping`], shown as 16 hex digits. DECISIONS 30.
    pub group: u64,
    /// Version of the rule that `group` comes from.
    pub group_version: u8,
    /// `exception.type`.
    pub exception_type: &'a str,
    /// `exception.message`.
    pub message: &'a str,
    /// Displayed stack trace: `type: message`, then the frames. WIRE 4.4 "OTLP exception".
    pub stack_trace: &'a str,
    /// The attribute of scope or resource that names the build. Stored with the event's attributes.
    pub build: Option<KeyValue<'a>>,
    /// Range of the event's attributes in `batch.attributes`; empty for an exception in the span's own attributes.
    pub event_attributes: Slice,
    /// `service.name`; empty when absent.
    pub server_name: &'a str,
    /// DECISIONS 15.
    pub app_version: &'a str,
    /// The Endpoint or Task that the exception is attributed to.
    pub owner: Owner<'a>,
    /// Weight of the span, see [`KeptSpan::weight`].
    pub weight: f64,
    /// Whether it is a captured message instead of an exception. WIRE 1.4.
    pub is_message: bool,
    /// UUID of the session of a native report; none when unknown. WIRE 1.4.
    pub session: NativeId,
}

/// The nearest Endpoint or Task above a span, itself included. DECISIONS 8.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Owner<'a> {
    /// The owner is in the same request, and so are all spans between. Final.
    Known {
        /// Endpoint or Task.
        kind: EntityKind,
        /// Name of the owner's group.
        name: &'a str,
        /// Span of the owner.
        span_id: SpanId,
    },
    /// The chain of parents ends inside the request at a root that is not an entity. Final.
    None,
    /// The chain of parents leaves the request at this span id. The owner is resolved in the store at query time.
    Above(SpanId),
}

/// A log record to store. DECISIONS 17.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KeptLog<'a> {
    /// Index into `batch.records`.
    pub record: u32,
    /// Nanoseconds since the epoch.
    pub time_ns: i64,
    /// `service.name`; empty when absent.
    pub server_name: &'a str,
    /// Upper-cased severity text, else the name of the number, else empty. WIRE 8.4.
    pub severity_text: &'a str,
    /// 1 (TRACE) to 24 (FATAL4); 0 when absent.
    pub severity_number: u8,
    /// A string as it is, any other value as JSON, empty when absent.
    pub body: &'a str,
}

/// The rows of one log export.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LogProjection<'a> {
    /// Log records to store, ascending by index.
    pub logs: Vec<KeptLog<'a>>,
    /// Occurrences of Issues, only with `issues_from_logs`. DECISIONS 9.
    pub exceptions: Vec<Exception<'a>>,
    /// Log records that are not stored.
    pub dropped: Vec<Dropped>,
}

/// A metric value to store. A histogram point gives two, `.avg` and `.count`; a summary also one per quantile.
/// DECISIONS 16; docs/decisions/0013.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MetricValue<'a> {
    /// Index into `batch.points`.
    pub point: u32,
    /// Index into `batch.metrics`.
    pub metric: u32,
    /// Name of the stored metric.
    pub name: &'a str,
    /// Nanoseconds since the epoch.
    pub time_ns: i64,
    /// The value; always finite.
    pub value: f64,
    /// The exact value of an integer point beyond 2^53. DECISIONS 16.
    pub integer: Option<i64>,
    /// The buckets of a histogram, in its `.count` row.
    pub buckets: Option<&'a ExplicitBuckets<'a>>,
    /// `service.name`; empty when absent.
    pub server_name: &'a str,
}

/// The rows of one metric export.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MetricProjection<'a> {
    /// Values to store.
    pub values: Vec<MetricValue<'a>>,
    /// Points without any stored value.
    pub dropped: Vec<Dropped>,
}

#[cfg(test)]
mod tests;
