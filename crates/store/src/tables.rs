//! Every table and column: the only schema. Arrow schemas, Parquet parts and the documentation derive from it.
//!
//! Times are nanoseconds since the epoch, UTC. Ids are raw bytes; an all-zero id means "none".
//! Binary attribute columns have a serialised OTLP `KeyValueList` (field 1, repeated `KeyValue`), which any OTLP
//! library can read. `project` is the number of the project in the control database.
//!
//! A column that is added to a table is nullable and comes last: it is null in the rows of earlier parts
//! (`lake/part/added_columns.rs`).

mod column;

pub use column::{Column, Kind};
use column::{column, dictionary_bytes, dictionary_text, optional, optional_dictionary};

/// The tables. Discriminants index arrays by table and never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Table {
    /// Spans as received.
    Spans = 0,
    /// Endpoints: inbound HTTP requests.
    Endpoints = 1,
    /// Tasks: runs of background work.
    Tasks = 2,
    /// AI Traces: spans with `gen_ai.*` attributes.
    AiTraces = 3,
    /// Recorded exceptions, the occurrences of Issues.
    Exceptions = 4,
    /// Log records.
    Logs = 5,
    /// Metric values.
    MetricPoints = 6,
    /// Counts of received requests, bytes and records per project, minute, signal, outcome and reason.
    IngestCounts = 7,
    /// Profiles: one row per profile and type of value.
    Profiles = 8,
    /// Samples of profiles, added up per profile, type, stack, labels and span.
    ProfileSamples = 9,
    /// Stacks of samples, each about once per project and day.
    ProfileStacks = 10,
    /// States of sessions of browsers and apps; of a session, the newest counts.
    Sessions = 11,
    /// Segments of the recordings of sessions and exceptions.
    SessionSegments = 12,
}

const PROJECT: Column = column("project", Kind::U32, "number of the project");
const TRACE_ID: Column = column("trace_id", Kind::Id16, "trace id as received; zero when none");
const SPAN_ID: Column = column("span_id", Kind::Id8, "span id as received; zero when none");
const PARENT: Column = column("parent_span_id", Kind::Id8, "direct parent; zero for a root span");
const NAME: Column = dictionary_text("name", "name");
const DURATION: Column = column("duration", Kind::I64, "nanoseconds, never negative");
const SERVER_NAME: Column = dictionary_text("server_name", "service.name of the resource, empty when absent");
const APP_VERSION: Column = dictionary_text("app_version", "application version, empty when unknown");
const ATTRIBUTES: Column = column("attributes", Kind::Bytes, "the record's attributes, OTLP KeyValueList");
const RESOURCE: Column = dictionary_bytes("resource", "resource attributes, OTLP KeyValueList");
// `deployment.environment.name`, else `deployment.environment`; rows of earlier versions have none of both columns.
const ENVIRONMENT: Column = optional_dictionary("environment", Kind::Text, "environment of the resource, null: none");
const OPTIONAL_RESOURCE: Column = optional_dictionary("resource", Kind::Bytes, RESOURCE.doc);
const SCOPE: Column = dictionary_text("scope", "instrumentation scope name");
const SCOPE_VERSION: Column = dictionary_text("scope_version", "instrumentation scope version");
const ROW_ID: Column = column("row_id", Kind::Id16, "UUID v5 of project, trace and span (and event index)");
const WEIGHT: Column = column(
    "weight",
    Kind::F64,
    "how many records this one stands for: 1 / sample rate, the project's times the sender's",
);
const IS_ROOT: Column = column("is_root", Kind::Bool, "no parent in any process");
const IS_ERROR: Column = column("is_error", Kind::Bool, "error status, or HTTP status of 500 and above");
const DROPPED_ATTRIBUTES: Column = column("dropped_attributes", Kind::U32, "attributes the SDK dropped");

/// Columns of [`Table::Spans`]; `time` is the span's start.
pub const SPANS: &[Column] = &[
    PROJECT,
    TRACE_ID,
    SPAN_ID,
    PARENT,
    column("time", Kind::I64, "start"),
    DURATION,
    NAME,
    column("kind", Kind::U8, "OTLP span kind, 0 to 5"),
    column("status", Kind::U8, "OTLP status code, 0 to 2"),
    dictionary_text("status_message", "status message"),
    column("http_status", Kind::I16, "HTTP status, 0 when none"),
    column("promoted", Kind::U8, "bit 0 Endpoint, 1 Task, 2 AI Trace, 3 has exceptions"),
    SERVER_NAME,
    APP_VERSION,
    SCOPE,
    SCOPE_VERSION,
    dictionary_text("trace_state", "W3C trace state"),
    column("flags", Kind::U32, "OTLP span flags"),
    WEIGHT,
    ATTRIBUTES,
    RESOURCE,
    column("events", Kind::Bytes, "events as in an OTLP Span message: field 11, repeated Event"),
    column("links", Kind::Bytes, "links as in an OTLP Span message: field 13, repeated Link"),
    DROPPED_ATTRIBUTES,
    column("dropped_events", Kind::U32, "events the SDK dropped"),
    column("dropped_links", Kind::U32, "links the SDK dropped"),
    optional("native_ids", Kind::Bytes, "of a native report: the span's UUID, then its parent's if it has one"),
    optional_dictionary(
        "peer",
        Kind::Text,
        "database, messaging destination or host at the other end, null: none known",
    ),
    optional(
        "peer_kind",
        Kind::U8,
        "1 database, 2 sent to, 3 host, 4 caller, 5 received from; null when there is none",
    ),
    optional_dictionary("peer_service", Kind::Text, "service at the other end, null: unknown when the row was stored"),
    optional(
        "is_error",
        Kind::Bool,
        "HTTP status of 500 and above, or error status without one of 400 to 499; null in rows of earlier versions",
    ),
    ENVIRONMENT,
];

/// Columns of [`Table::Endpoints`]; `name` is the Endpoint's name, `time` the span's start.
pub const ENDPOINTS: &[Column] = &[
    PROJECT,
    NAME,
    column("time", Kind::I64, "start"),
    DURATION,
    column("status_code", Kind::I16, "HTTP status, 0 when missing"),
    TRACE_ID,
    SPAN_ID,
    PARENT,
    ROW_ID,
    IS_ROOT,
    column("is_stream", Kind::Bool, "streaming response: SSE or WebSocket"),
    IS_ERROR,
    SERVER_NAME,
    APP_VERSION,
    column("client_ip", Kind::Text, "client.address, empty when absent"),
    column("body_size", Kind::I64, "response body bytes, 0 when absent"),
    WEIGHT,
    ATTRIBUTES,
    optional("linked_trace_id", Kind::Bytes, "trace of the web page that sent the request"),
    ENVIRONMENT,
    OPTIONAL_RESOURCE,
];

/// Columns of [`Table::Tasks`]: those of [`ENDPOINTS`]; `status_code` is 0.
pub const TASKS: &[Column] = ENDPOINTS;

/// Columns of [`Table::AiTraces`]; `time` is the span's start.
pub const AI_TRACES: &[Column] = &[
    PROJECT,
    NAME,
    column("time", Kind::I64, "start"),
    DURATION,
    column("status_code", Kind::I16, "HTTP status, 0 when missing"),
    TRACE_ID,
    SPAN_ID,
    PARENT,
    ROW_ID,
    IS_ROOT,
    IS_ERROR,
    SERVER_NAME,
    APP_VERSION,
    optional("model", Kind::Text, "requested model"),
    optional("response_model", Kind::Text, "model that answered"),
    optional("provider", Kind::Text, "provider"),
    optional("operation", Kind::Text, "gen_ai.operation.name"),
    optional("input_tokens", Kind::I64, "input tokens"),
    optional("output_tokens", Kind::I64, "output tokens"),
    optional("total_tokens", Kind::I64, "sum of both unless the span says otherwise"),
    optional("cached_tokens", Kind::I64, "of the input tokens"),
    optional("reasoning_tokens", Kind::I64, "of the output tokens"),
    optional("input_cost", Kind::F64, "US dollars"),
    optional("output_cost", Kind::F64, "US dollars"),
    optional("total_cost", Kind::F64, "US dollars; null when unpriced"),
    column("cost_estimated", Kind::Bool, "costs come from the price table"),
    optional("finish_reason", Kind::Text, "finish reasons, joined by comma"),
    optional("user_id", Kind::Text, "user.id"),
    column("conversation_id", Kind::Text, "conversation, session or trace id"),
    column("tool_call_count", Kind::I64, "tool calls"),
    WEIGHT,
    ATTRIBUTES,
    optional("flags", Kind::U32, "bits of flags (`domain/rules/ai_trace/flags.rs`); null in rows of earlier versions"),
    optional("flagged_terms", Kind::Text, "terms of the word lists, U+001F around each; null without one"),
    optional(
        "event_messages",
        Kind::Bool,
        "events of the span have messages; null: none, and in rows of earlier versions",
    ),
    ENVIRONMENT,
    OPTIONAL_RESOURCE,
    optional("call_id", Kind::Text, "id of the response; of a run of a tool, id of the tool call"),
    optional("cache_write_tokens", Kind::I64, "of the input tokens"),
    optional(
        "repeats_usage",
        Kind::Bool,
        "true: tokens and costs repeat those of other rows and are in no sum; null: they count",
    ),
];

/// Columns of [`Table::Exceptions`].
pub const EXCEPTIONS: &[Column] = &[
    PROJECT,
    column("group", Kind::U64, "hash of the normalised trace, shown as 16 hex digits"),
    column("time", Kind::I64, "when it was recorded"),
    TRACE_ID,
    SPAN_ID,
    ROW_ID,
    dictionary_text("exception_type", "exception.type, empty when absent"),
    column("message", Kind::Text, "exception.message, empty when absent"),
    column("stack_trace", Kind::Text, "header and frames"),
    SERVER_NAME,
    APP_VERSION,
    column("owner_kind", Kind::U8, "0 nobody, 1 Endpoint, 2 Task, 255 look above owner_span_id when reading"),
    dictionary_text("owner_name", "name of the owning Endpoint or Task"),
    column("owner_span_id", Kind::Id8, "the owner's span, or where to look"),
    WEIGHT,
    ATTRIBUTES,
    column("event_attributes", Kind::Bytes, "attributes of the exception event, OTLP KeyValueList"),
    optional("native_ids", Kind::Bytes, "of a native report: UUID of the Endpoint or Task"),
    optional("is_message", Kind::Bool, "true for a captured message; null for an exception"),
    optional("session_id", Kind::Bytes, "of a native report: UUID of the session"),
    ENVIRONMENT,
    OPTIONAL_RESOURCE,
    optional("group_version", Kind::U8, "version of the rule that made group; null: 1"),
];

/// Columns of [`Table::Logs`].
pub const LOGS: &[Column] = &[
    PROJECT,
    SERVER_NAME,
    column("time", Kind::I64, "DECISIONS 17"),
    column("observed_time", Kind::I64, "observed time, 0 when absent"),
    column("severity", Kind::U8, "OTLP severity number, 0 to 24"),
    dictionary_text("severity_text", "upper case"),
    column("body", Kind::Text, "text, or JSON of any other value"),
    TRACE_ID,
    SPAN_ID,
    dictionary_text("event_name", "event name"),
    column("flags", Kind::U32, "W3C flags"),
    SCOPE,
    SCOPE_VERSION,
    dictionary_bytes("scope_attributes", "OTLP KeyValueList"),
    ATTRIBUTES,
    RESOURCE,
    DROPPED_ATTRIBUTES,
];

/// Columns of [`Table::MetricPoints`].
pub const METRIC_POINTS: &[Column] = &[
    PROJECT,
    NAME,
    column("time", Kind::I64, "time of the point"),
    column("start_time", Kind::I64, "start of the interval, 0 when absent"),
    column("value", Kind::F64, "always finite"),
    column(
        "metric_kind",
        Kind::U8,
        "OTLP kind received: 1 gauge, 2 sum, 3 histogram, 4 exponential histogram, 5 summary",
    ),
    column("temporality", Kind::U8, "1 delta, 2 cumulative, 0 unspecified"),
    column("monotonic", Kind::Bool, "of a sum"),
    dictionary_text("unit", "UCUM unit"),
    dictionary_text("description", "description"),
    column("series", Kind::U64, "hash of name, attributes and resource: one per time series"),
    SERVER_NAME,
    // All points of a series have equal attributes.
    dictionary_bytes("attributes", ATTRIBUTES.doc),
    RESOURCE,
    SCOPE,
    optional("bounds", Kind::Bytes, "of a histogram's .count: upper bounds, little-endian f64"),
    optional("buckets", Kind::Bytes, "of a histogram's .count: counts, little-endian u64"),
    optional("int_value", Kind::I64, "exact value of an integer point beyond 2^53; null in all other rows"),
];

/// Columns of [`Table::IngestCounts`]; `project` is 0 for requests whose token belongs to no project.
pub const INGEST_COUNTS: &[Column] = &[
    PROJECT,
    column("time", Kind::I64, "start of the minute"),
    column("signal", Kind::Text, "traces, metrics, logs, reports or profiles"),
    column("outcome", Kind::Text, "accepted, rejected (requests); bytes; kept, dropped, trimmed, sent (records)"),
    column(
        "reason",
        Kind::Text,
        "why rejected, dropped or trimmed; of sent: service, SDK language, name and version, service version, separated by U+001F; else empty",
    ),
    column("count", Kind::U64, "requests, bytes or records"),
];

const PROFILE_TYPE: Column = dictionary_text("profile_type", "type, for example go:profile_cpu:nanoseconds");
const INSTANCE: Column = dictionary_text("instance", "name of the server or instance, empty when unknown");
const PROCESS: Column =
    optional_dictionary("process", Kind::Text, "the process, as its sender identifies it; null: unknown");
const STACK: Column = column("stack", Kind::U64, "FNV-1a hash of the stack's function names");

/// Columns of [`Table::Profiles`]; `time` is the profile's start.
pub const PROFILES: &[Column] = &[
    PROJECT,
    SERVER_NAME,
    PROFILE_TYPE,
    column("time", Kind::I64, "start"),
    DURATION,
    dictionary_text("profile", "kind of profile, for example cpu or heap"),
    dictionary_text("sample_type", "sample type as received"),
    dictionary_text("unit", "unit of the values"),
    column("is_gauge", Kind::Bool, "values are a state, of which the latest counts"),
    INSTANCE,
    APP_VERSION,
    column("samples", Kind::I64, "samples with a value"),
    column("value", Kind::I64, "sum of the values"),
    column("has_timestamps", Kind::Bool, "samples have times of their own"),
    PROCESS,
];

/// Columns of [`Table::ProfileSamples`]; `time` is the profile's start.
pub const PROFILE_SAMPLES: &[Column] = &[
    PROJECT,
    SERVER_NAME,
    PROFILE_TYPE,
    column("time", Kind::I64, "start of the profile"),
    STACK,
    column("value", Kind::I64, "sum of the values"),
    INSTANCE,
    APP_VERSION,
    dictionary_bytes("attributes", "stored labels, OTLP KeyValueList"),
    TRACE_ID,
    SPAN_ID,
    optional(
        "timestamps",
        Kind::Bytes,
        "times of the samples: nanoseconds since the profile's start, little-endian i64",
    ),
    PROCESS,
    optional("duration", Kind::I64, "duration of the profile, nanoseconds; null in rows of earlier versions"),
];

/// Columns of [`Table::ProfileStacks`]; `time` is the start of a UTC day on which the stack was sampled: retention counts
/// days, so that the stack is stored as long as the samples of the day.
pub const PROFILE_STACKS: &[Column] = &[
    PROJECT,
    column("time", Kind::I64, "start of the UTC day"),
    STACK,
    column("frames", Kind::Bytes, "root first: repeated message 1 of function 1, file 2, build id 3, address 4"),
];

const SESSION_ID: Column = column("session_id", Kind::Id16, "UUID of the session; zero when none");
const USER_ID: Column = column("user_id", Kind::Text, "id of the user, empty when unknown");

/// Columns of [`Table::Sessions`]; `time` is the session's start.
pub const SESSIONS: &[Column] = &[
    PROJECT,
    SESSION_ID,
    column("time", Kind::I64, "start"),
    column("end_time", Kind::I64, "end as received, 0 while the session is open"),
    column("version", Kind::I64, "receive time of the state; greater in later states of a request"),
    column("row_id", Kind::Id16, "hash of the state"),
    TRACE_ID,
    USER_ID,
    column("page", Kind::Text, "path or address of the page, empty when unknown"),
    column("browser", Kind::Text, "name and major version of the browser, empty when unknown"),
    column("os", Kind::Text, "operating system, empty when unknown"),
    column("client_ip", Kind::Text, "address of the client, empty when unknown"),
    SERVER_NAME,
    APP_VERSION,
    ATTRIBUTES,
];

/// Columns of [`Table::SessionSegments`]; `time` is the segment's start.
pub const SESSION_SEGMENTS: &[Column] = &[
    PROJECT,
    SESSION_ID,
    column("time", Kind::I64, "start"),
    column("end_time", Kind::I64, "end"),
    column("segment", Kind::U32, "index of the segment"),
    column("row_id", Kind::Id16, "hash of session, exception and index"),
    column("exception_id", Kind::Id16, "row id of the exception; zero when the segment is of a session only"),
    USER_ID,
    column("event_bytes", Kind::U64, "size of the events as received, bytes"),
    column("document_bytes", Kind::U64, "size of the document, bytes"),
    column("document", Kind::Bytes, "JSON of events, logs, actions, startedAt and endedAt, compressed with zstd"),
];

impl Table {
    /// Every table, in the order of the discriminants.
    pub const ALL: [Table; 13] = [
        Table::Spans,
        Table::Endpoints,
        Table::Tasks,
        Table::AiTraces,
        Table::Exceptions,
        Table::Logs,
        Table::MetricPoints,
        Table::IngestCounts,
        Table::Profiles,
        Table::ProfileSamples,
        Table::ProfileStacks,
        Table::Sessions,
        Table::SessionSegments,
    ];

    /// The name of the folder under `parts/` and in the catalog.
    pub fn name(self) -> &'static str {
        match self {
            Table::Spans => "spans",
            Table::Endpoints => "endpoints",
            Table::Tasks => "tasks",
            Table::AiTraces => "ai_traces",
            Table::Exceptions => "exceptions",
            Table::Logs => "logs",
            Table::MetricPoints => "metric_points",
            Table::IngestCounts => "ingest_counts",
            Table::Profiles => "profiles",
            Table::ProfileSamples => "profile_samples",
            Table::ProfileStacks => "profile_stacks",
            Table::Sessions => "sessions",
            Table::SessionSegments => "session_segments",
        }
    }

    /// The columns, in the order of schemas and rows.
    pub fn columns(self) -> &'static [Column] {
        match self {
            Table::Spans => SPANS,
            Table::Endpoints => ENDPOINTS,
            Table::Tasks => TASKS,
            Table::AiTraces => AI_TRACES,
            Table::Exceptions => EXCEPTIONS,
            Table::Logs => LOGS,
            Table::MetricPoints => METRIC_POINTS,
            Table::IngestCounts => INGEST_COUNTS,
            Table::Profiles => PROFILES,
            Table::ProfileSamples => PROFILE_SAMPLES,
            Table::ProfileStacks => PROFILE_STACKS,
            Table::Sessions => SESSIONS,
            Table::SessionSegments => SESSION_SEGMENTS,
        }
    }

    /// The index and definition of a column; `None` when the table has no such column.
    pub fn column(self, name: &str) -> Option<(usize, &'static Column)> {
        self.columns().iter().enumerate().find(|(_, column)| column.name == name)
    }

    /// Sort order of a part, most significant column first. Every table has `time`; spans are sorted by its 5-minute
    /// bucket before the trace id, so that the spans of a trace are adjacent.
    pub fn sort_key(self) -> &'static [&'static str] {
        match self {
            Table::Spans => &["project", "time/5m", "trace_id", "time"],
            Table::Endpoints | Table::Tasks | Table::AiTraces => &["project", "name", "time"],
            Table::Exceptions => &["project", "group", "time"],
            Table::Logs => &["project", "server_name", "time"],
            Table::MetricPoints => &["project", "name", "series", "time"],
            Table::IngestCounts => &["project", "time", "signal"],
            Table::Profiles | Table::ProfileSamples => &["project", "server_name", "profile_type", "time"],
            Table::ProfileStacks => &["project", "stack", "time"],
            Table::Sessions | Table::SessionSegments => &["project", "session_id", "time"],
        }
    }

    /// Columns that identify a row when parts are merged; empty when rows have no identity.
    ///
    /// Only the side of `kind` counts: SERVER and CONSUMER against the rest. With Zipkin and B3, caller and callee
    /// share one span id and therefore row ids: the rows of a model call or an exception that both recorded differ in
    /// time. DECISIONS 11.
    pub fn identity(self) -> &'static [&'static str] {
        match self {
            Table::Spans => &["project", "trace_id", "span_id", "kind"],
            Table::Endpoints | Table::Tasks | Table::Sessions | Table::SessionSegments => &["project", "row_id"],
            Table::AiTraces | Table::Exceptions => &["project", "row_id", "time"],
            Table::ProfileStacks => &["project", "stack", "time"],
            Table::Logs | Table::MetricPoints | Table::IngestCounts | Table::Profiles | Table::ProfileSamples => &[],
        }
    }
}
