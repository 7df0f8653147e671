//! Every table and column: the only schema. Arrow schemas, Parquet parts and the documentation derive from it.
//!
//! Times are nanoseconds since the epoch, UTC. Ids are raw bytes; an all-zero id means "none".
//! Binary attribute columns hold a serialised OTLP `KeyValueList` (field 1, repeated `KeyValue`), so any OTLP
//! library can read them. `project` is the number of the project in the control database.
//!
//! A column that is added to a table is nullable and comes last: it is null in the rows of parts written before
//! (`lake/added_columns.rs`).

/// How a column is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Bool,
    U8,
    I16,
    U32,
    U64,
    I64,
    F64,
    Text,
    Bytes,
    /// 8 raw bytes.
    Id8,
    /// 16 raw bytes.
    Id16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    pub name: &'static str,
    pub kind: Kind,
    pub nullable: bool,
    /// Many rows of a request have the same bytes: held once in memory.
    pub shared: bool,
    /// One line: unit and meaning.
    pub doc: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Table {
    Spans = 0,
    Endpoints = 1,
    Tasks = 2,
    AiTraces = 3,
    Exceptions = 4,
    Logs = 5,
    MetricPoints = 6,
    /// What was received and what became of it, per project, signal, reason and minute.
    IngestCounts = 7,
}

const fn column(name: &'static str, kind: Kind, doc: &'static str) -> Column {
    Column { name, kind, nullable: false, shared: false, doc }
}

const fn optional(name: &'static str, kind: Kind, doc: &'static str) -> Column {
    Column { name, kind, nullable: true, shared: false, doc }
}

/// Opaque bytes of which many rows have the same.
const fn shared(name: &'static str, doc: &'static str) -> Column {
    Column { name, kind: Kind::Bytes, nullable: false, shared: true, doc }
}

/// Text of which many rows have the same.
const fn label(name: &'static str, doc: &'static str) -> Column {
    Column { name, kind: Kind::Text, nullable: false, shared: true, doc }
}

const PROJECT: Column = column("project", Kind::U32, "number of the project");
const TRACE_ID: Column = column("trace_id", Kind::Id16, "trace id as received; zero when none");
const SPAN_ID: Column = column("span_id", Kind::Id8, "span id as received; zero when none");
const PARENT: Column = column("parent_span_id", Kind::Id8, "direct parent; zero for a root span");
const NAME: Column = label("name", "name");
const DURATION: Column = column("duration", Kind::I64, "nanoseconds, never negative");
const SERVER_NAME: Column = label("server_name", "service.name of the resource, empty when absent");
const APP_VERSION: Column = label("app_version", "application version, empty when unknown");
const ATTRIBUTES: Column = column("attributes", Kind::Bytes, "the record's attributes, OTLP KeyValueList");
const RESOURCE: Column = shared("resource", "resource attributes, OTLP KeyValueList");
const SCOPE: Column = label("scope", "instrumentation scope name");
const SCOPE_VERSION: Column = label("scope_version", "instrumentation scope version");
const ROW_ID: Column = column("row_id", Kind::Id16, "UUID v5 of project, trace and span (and event index)");
const WEIGHT: Column = column("weight", Kind::F64, "how many records this one stands for: 1 / sample rate");
const IS_ROOT: Column = column("is_root", Kind::Bool, "no parent in any process");
const IS_ERROR: Column = column("is_error", Kind::Bool, "error status, or HTTP status of 500 and above");
const DROPPED_ATTRIBUTES: Column = column("dropped_attributes", Kind::U32, "attributes the SDK dropped");

/// `time` of a span: its start.
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
    label("status_message", "status message"),
    column("http_status", Kind::I16, "HTTP status, 0 when none"),
    column("promoted", Kind::U8, "bit 0 Endpoint, 1 Task, 2 AI Trace, 3 has exceptions"),
    SERVER_NAME,
    APP_VERSION,
    SCOPE,
    SCOPE_VERSION,
    label("trace_state", "W3C trace state"),
    column("flags", Kind::U32, "OTLP span flags"),
    WEIGHT,
    ATTRIBUTES,
    RESOURCE,
    column("events", Kind::Bytes, "events as in an OTLP Span message: field 11, repeated Event"),
    column("links", Kind::Bytes, "links as in an OTLP Span message: field 13, repeated Link"),
    DROPPED_ATTRIBUTES,
    column("dropped_events", Kind::U32, "events the SDK dropped"),
    column("dropped_links", Kind::U32, "links the SDK dropped"),
];

/// `name` is the Endpoint's name; `time` the span's start.
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
];

/// The same columns as [`ENDPOINTS`]; status 0.
pub const TASKS: &[Column] = ENDPOINTS;

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
];

pub const EXCEPTIONS: &[Column] = &[
    PROJECT,
    column("group", Kind::U64, "hash of the normalised trace, shown as 16 hex digits"),
    column("time", Kind::I64, "when it was recorded"),
    TRACE_ID,
    SPAN_ID,
    ROW_ID,
    label("exception_type", "exception.type, empty when absent"),
    column("message", Kind::Text, "exception.message, empty when absent"),
    column("stack_trace", Kind::Text, "header and frames"),
    SERVER_NAME,
    APP_VERSION,
    column("owner_kind", Kind::U8, "0 nobody, 1 Endpoint, 2 Task, 255 look above owner_span_id when reading"),
    label("owner_name", "name of the owning Endpoint or Task"),
    column("owner_span_id", Kind::Id8, "the owner's span, or where to look"),
    WEIGHT,
    ATTRIBUTES,
    column("event_attributes", Kind::Bytes, "attributes of the exception event, OTLP KeyValueList"),
];

pub const LOGS: &[Column] = &[
    PROJECT,
    SERVER_NAME,
    column("time", Kind::I64, "DECISIONS 17"),
    column("observed_time", Kind::I64, "observed time, 0 when absent"),
    column("severity", Kind::U8, "OTLP severity number, 0 to 24"),
    label("severity_text", "upper case"),
    column("body", Kind::Text, "text, or JSON of any other value"),
    TRACE_ID,
    SPAN_ID,
    label("event_name", "event name"),
    column("flags", Kind::U32, "W3C flags"),
    SCOPE,
    SCOPE_VERSION,
    shared("scope_attributes", "OTLP KeyValueList"),
    ATTRIBUTES,
    RESOURCE,
    DROPPED_ATTRIBUTES,
];

pub const METRIC_POINTS: &[Column] = &[
    PROJECT,
    NAME,
    column("time", Kind::I64, "time of the point"),
    column("start_time", Kind::I64, "start of the interval, 0 when absent"),
    column("value", Kind::F64, "always finite"),
    column("metric_kind", Kind::U8, "OTLP kind received: 1 gauge, 2 sum, 3 histogram"),
    column("temporality", Kind::U8, "1 delta, 2 cumulative, 0 unspecified"),
    column("monotonic", Kind::Bool, "of a sum"),
    label("unit", "UCUM unit"),
    label("description", "description"),
    column("series", Kind::U64, "hash of name, attributes and resource: one per time series"),
    SERVER_NAME,
    // Those of a series come again with each of its points.
    shared("attributes", ATTRIBUTES.doc),
    RESOURCE,
    SCOPE,
    optional("bounds", Kind::Bytes, "of a histogram's .count: upper bounds, little-endian f64"),
    optional("buckets", Kind::Bytes, "of a histogram's .count: counts, little-endian u64"),
    optional("int_value", Kind::I64, "exact value of an integer point beyond 2^53; null in all other rows"),
];

/// `project` 0: requests whose token belongs to no project.
pub const INGEST_COUNTS: &[Column] = &[
    PROJECT,
    column("time", Kind::I64, "start of the minute"),
    column("signal", Kind::Text, "traces, metrics or logs"),
    column("outcome", Kind::Text, "accepted, rejected (requests); bytes; kept, dropped, trimmed, sent (records)"),
    column(
        "reason",
        Kind::Text,
        "why rejected, dropped or trimmed; of sent: service, SDK language, name and version, service version, separated by U+001F; else empty",
    ),
    column("count", Kind::U64, "requests, bytes or records"),
];

impl Table {
    pub const ALL: [Table; 8] = [
        Table::Spans,
        Table::Endpoints,
        Table::Tasks,
        Table::AiTraces,
        Table::Exceptions,
        Table::Logs,
        Table::MetricPoints,
        Table::IngestCounts,
    ];

    /// Folder name under `parts/`, and the name in the catalog.
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
        }
    }

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
        }
    }

    /// The index and description of a column.
    pub fn column(self, name: &str) -> Option<(usize, &'static Column)> {
        self.columns().iter().enumerate().find(|(_, column)| column.name == name)
    }

    /// Sort order of a part, most significant first. Every table has `time`; spans sort it in 5-minute buckets
    /// before the trace id, so that one trace lies together.
    pub fn sort_key(self) -> &'static [&'static str] {
        match self {
            Table::Spans => &["project", "time/5m", "trace_id", "time"],
            Table::Endpoints | Table::Tasks | Table::AiTraces => &["project", "name", "time"],
            Table::Exceptions => &["project", "group", "time"],
            Table::Logs => &["project", "server_name", "time"],
            Table::MetricPoints => &["project", "name", "series", "time"],
            Table::IngestCounts => &["project", "time", "signal"],
        }
    }

    /// Columns whose equal values mean "the same row" when parts are merged; empty when rows have no identity.
    ///
    /// Of `kind` only the side counts: SERVER and CONSUMER against the rest. Zipkin and B3 share one span id, and with it
    /// the row ids, between caller and callee: what both recorded of a model call or an exception differs in time.
    /// DECISIONS 11.
    pub fn identity(self) -> &'static [&'static str] {
        match self {
            Table::Spans => &["project", "trace_id", "span_id", "kind"],
            Table::Endpoints | Table::Tasks => &["project", "row_id"],
            Table::AiTraces | Table::Exceptions => &["project", "row_id", "time"],
            Table::Logs | Table::MetricPoints | Table::IngestCounts => &[],
        }
    }
}
