//! The fields of each kind of row: names, columns, types.

use tidewatch_domain::rules::ai_trace::Flag;
use tidewatch_store::tables::Table;

use crate::filters::ENVIRONMENT_KEYS;
pub use crate::views::query::RowKind;

/// A field with a column, or with several keys.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Field {
    /// The names in queries; the first one is shown.
    pub names: &'static [&'static str],
    /// Where its value is read.
    pub source: Source,
    /// Meaning, in one line.
    pub doc: &'static str,
}

/// Where the value of a field is read, and its type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Source {
    /// A text column; empty: the row lacks the field.
    Text(&'static str),
    /// A column of numbers.
    Number(&'static str),
    /// A column of numbers; 0: the row lacks the field.
    NonZero(&'static str),
    /// A column of nanoseconds.
    Duration(&'static str),
    /// A column of bytes; 0: the row lacks the field.
    Size(&'static str),
    /// A column of nanoseconds since the epoch.
    Time(&'static str),
    /// An unsigned column of named numbers; 0 without a name: the row lacks the field.
    Named(&'static str, &'static [Name]),
    /// A boolean column: `true` or `false`.
    Bool(&'static str),
    /// A column of ids in hexadecimal digits; zeros: the row lacks the field.
    Id(&'static str),
    /// An unsigned column as 16 hexadecimal digits.
    Hash(&'static str),
    /// `error` or `ok` by a boolean column, or the number of a column; 0: the row has no number.
    Outcome {
        /// The boolean column that is true for errors.
        error: &'static str,
        /// The column of HTTP status codes.
        code: &'static str,
    },
    /// `true` for spans with the status ERROR or an HTTP status of 500 and above, else `false`.
    SpanError,
    /// A column of bits with names; null: none of them. A row has as many values as bits.
    Bits(&'static str, &'static [Bit]),
    /// `true` for rows with at least one of the bits, else `false`.
    AnyBit(&'static str, &'static [Bit]),
    /// A text column of terms, see `domain::rules::content_terms::joined`. A row has as many values as terms.
    Terms(&'static str),
    /// The first of these attributes that the row has, of any level.
    Attributes(&'static [&'static str]),
    /// Computed for lists; no row has it. See [`super::computed`].
    Computed,
}

/// A name, and the numbers that it stands for, ends included.
pub type Name = (&'static str, f64, f64);

/// The name of a bit, and its mask.
pub type Bit = (&'static str, u64);

/// Flags of AI Traces.
pub const AI_FLAGS: [Bit; Flag::ALL.len()] = {
    let mut bits = [("", 0); Flag::ALL.len()];
    let mut at = 0;
    while at < bits.len() {
        bits[at] = (Flag::ALL[at].name(), Flag::ALL[at].bit() as u64);
        at += 1;
    }
    bits
};

/// OTLP severity numbers.
pub const SEVERITIES: &[Name] = &[
    ("trace", 1.0, 4.0),
    ("debug", 5.0, 8.0),
    ("info", 9.0, 12.0),
    ("warn", 13.0, 16.0),
    ("warning", 13.0, 16.0),
    ("error", 17.0, 20.0),
    ("fatal", 21.0, 24.0),
    ("critical", 21.0, 24.0),
];

/// OTLP span kinds.
pub const SPAN_KINDS: &[Name] = &[
    ("internal", 1.0, 1.0),
    ("server", 2.0, 2.0),
    ("client", 3.0, 3.0),
    ("producer", 4.0, 4.0),
    ("consumer", 5.0, 5.0),
];

/// OTLP status codes.
pub const SPAN_STATUSES: &[Name] = &[("unset", 0.0, 0.0), ("ok", 1.0, 1.0), ("error", 2.0, 2.0)];

const fn field(names: &'static [&'static str], source: Source, doc: &'static str) -> Field {
    Field { names, source, doc }
}

const SERVICE: Field =
    field(&["service", "service.name", "server_name"], Source::Text("server_name"), "name of the service");
const VERSION: Field = field(&["version", "service.version"], Source::Text("app_version"), "version of the service");
const NAME: Field = field(&["name"], Source::Text("name"), "name");
const DURATION: Field = field(&["duration"], Source::Duration("duration"), "duration");
const TIME: Field = field(&["time"], Source::Time("time"), "start");
const TRACE: Field = field(&["trace", "trace_id"], Source::Id("trace_id"), "trace id");
const SPAN: Field = field(&["span", "span_id"], Source::Id("span_id"), "span id");
const PARENT: Field = field(&["parent", "parent_span_id"], Source::Id("parent_span_id"), "span id of the parent");
const IS_ROOT: Field = field(&["root"], Source::Bool("is_root"), "without a parent");
const IS_ERROR: Field = field(&["error"], Source::Bool("is_error"), "failed");
const OUTCOME: Field =
    field(&["status"], Source::Outcome { error: "is_error", code: "status_code" }, "error or ok, or the HTTP status");
const SCOPE: Field = field(&["otel.scope.name"], Source::Text("scope"), "name of the instrumentation scope");
const SCOPE_VERSION: Field =
    field(&["otel.scope.version"], Source::Text("scope_version"), "version of the instrumentation scope");

const METHOD: Field = field(&["method"], Source::Attributes(&["http.request.method", "http.method"]), "HTTP method");
const PATH: Field = field(&["path"], Source::Attributes(&["url.path", "http.target"]), "path of the request");
const ROUTE: Field = field(&["route"], Source::Attributes(&["http.route"]), "route of the request");
const HOST: Field = field(&["host"], Source::Attributes(&["host.name"]), "host that sent the record");
const SERVER: Field =
    field(&["server"], Source::Attributes(&["server.address", "net.peer.name"]), "server that was called");
const PEER: Field =
    field(&["peer"], Source::Text("peer"), "database, messaging destination or host at the other end of a call");
const ENVIRONMENT: Field =
    field(&["env", "environment"], Source::Attributes(&ENVIRONMENT_KEYS), "environment of the deployment");
/// [`ENVIRONMENT`] of rows that have a column of it.
const OWN_ENVIRONMENT: Field =
    field(&["env", "environment"], Source::Text("environment"), "environment of the deployment");
const USER: Field = field(&["user"], Source::Attributes(&["user.id", "enduser.id"]), "user on whose behalf it ran");

const SPANS: &[Field] = &[
    SERVICE,
    NAME,
    DURATION,
    field(&["error"], Source::SpanError, "status ERROR, or an HTTP status of 500 and above"),
    field(&["status"], Source::Named("status", SPAN_STATUSES), "OTLP status"),
    field(&["kind"], Source::Named("kind", SPAN_KINDS), "kind of span"),
    field(&["http.status"], Source::NonZero("http_status"), "HTTP status"),
    field(&["status_message"], Source::Text("status_message"), "message of the status"),
    VERSION,
    METHOD,
    PATH,
    ROUTE,
    ENVIRONMENT,
    HOST,
    SERVER,
    PEER,
    USER,
    TRACE,
    SPAN,
    PARENT,
    TIME,
    SCOPE,
    SCOPE_VERSION,
];

const ENDPOINTS: &[Field] = &[
    SERVICE,
    NAME,
    DURATION,
    OUTCOME,
    IS_ERROR,
    VERSION,
    METHOD,
    PATH,
    ROUTE,
    OWN_ENVIRONMENT,
    HOST,
    SERVER,
    USER,
    field(&["client"], Source::Text("client_ip"), "address of the client"),
    field(&["size"], Source::Size("body_size"), "size of the response's body"),
    field(&["stream"], Source::Bool("is_stream"), "streaming response"),
    IS_ROOT,
    TRACE,
    SPAN,
    PARENT,
    TIME,
];

const TASKS: &[Field] = &[
    SERVICE,
    NAME,
    DURATION,
    OUTCOME,
    IS_ERROR,
    VERSION,
    OWN_ENVIRONMENT,
    HOST,
    SERVER,
    USER,
    IS_ROOT,
    TRACE,
    SPAN,
    PARENT,
    TIME,
];

const AI_TRACES: &[Field] = &[
    SERVICE,
    NAME,
    DURATION,
    OUTCOME,
    IS_ERROR,
    VERSION,
    field(&["model"], Source::Text("model"), "requested model"),
    field(&["response_model"], Source::Text("response_model"), "model that answered"),
    field(&["provider"], Source::Text("provider"), "provider"),
    field(&["operation"], Source::Text("operation"), "operation, such as chat or execute_tool"),
    field(&["cost", "total_cost"], Source::Number("total_cost"), "cost in US dollars"),
    field(&["input_cost"], Source::Number("input_cost"), "cost of the input in US dollars"),
    field(&["output_cost"], Source::Number("output_cost"), "cost of the output in US dollars"),
    field(&["input_tokens"], Source::Number("input_tokens"), "input tokens"),
    field(&["output_tokens"], Source::Number("output_tokens"), "output tokens"),
    field(&["tokens", "total_tokens"], Source::Number("total_tokens"), "tokens"),
    field(&["cached_tokens"], Source::Number("cached_tokens"), "input tokens from a cache"),
    field(&["cache_write_tokens"], Source::Number("cache_write_tokens"), "input tokens written to a cache"),
    field(&["reasoning_tokens"], Source::Number("reasoning_tokens"), "output tokens of reasoning"),
    field(&["finish_reason"], Source::Text("finish_reason"), "finish reasons, joined by comma"),
    field(&["user", "user.id"], Source::Text("user_id"), "user"),
    field(&["conversation"], Source::Text("conversation_id"), "conversation, session or trace id"),
    field(&["tool_calls"], Source::Number("tool_call_count"), "tool calls"),
    field(&["prompt"], Source::Attributes(&["gen_ai.prompt.name"]), "name of the prompt"),
    field(&["flag"], Source::Bits("flags", &AI_FLAGS), "flag, such as truncated or flagged_content"),
    field(&["flagged"], Source::AnyBit("flags", &AI_FLAGS), "with a flag"),
    field(&["flagged_term"], Source::Terms("flagged_terms"), "term of the word lists in the conversation"),
    OWN_ENVIRONMENT,
    HOST,
    SERVER,
    IS_ROOT,
    TRACE,
    SPAN,
    PARENT,
    TIME,
];

const ISSUES: &[Field] = &[
    SERVICE,
    field(&["type", "exception.type"], Source::Text("exception_type"), "type of the exception"),
    field(&["message", "exception.message"], Source::Text("message"), "message of the exception"),
    field(&["stack", "exception.stacktrace"], Source::Text("stack_trace"), "stack trace"),
    field(&["owner"], Source::Text("owner_name"), "Endpoint or Task that failed"),
    field(&["hash", "issue"], Source::Hash("group"), "hash of the Issue"),
    VERSION,
    METHOD,
    PATH,
    ROUTE,
    OWN_ENVIRONMENT,
    HOST,
    SERVER,
    USER,
    TRACE,
    SPAN,
    TIME,
];

const LOGS: &[Field] = &[
    SERVICE,
    field(&["level", "severity"], Source::Named("severity", SEVERITIES), "severity"),
    field(&["severity_text"], Source::Text("severity_text"), "severity as the sender names it"),
    field(&["body", "message"], Source::Text("body"), "text of the record"),
    field(&["event", "event.name"], Source::Text("event_name"), "name of the event"),
    field(&["version", "service.version"], Source::Attributes(&["service.version"]), "version of the service"),
    METHOD,
    PATH,
    ROUTE,
    ENVIRONMENT,
    HOST,
    SERVER,
    USER,
    TRACE,
    SPAN,
    TIME,
    SCOPE,
    SCOPE_VERSION,
];

const SESSIONS: &[Field] = &[
    field(&["user", "user.id"], Source::Text("user_id"), "user"),
    field(&["page"], Source::Text("page"), "page"),
    field(&["browser"], Source::Text("browser"), "browser"),
    field(&["os"], Source::Text("os"), "operating system"),
    field(&["client"], Source::Text("client_ip"), "address of the client"),
    field(&["duration"], Source::Computed, "time from the start to the end; 0 while it is open"),
    field(&["errors"], Source::Computed, "number of errors"),
    SERVICE,
    VERSION,
    TRACE,
    TIME,
];

impl RowKind {
    /// Every kind.
    pub const ALL: [RowKind; 7] = [
        RowKind::Span,
        RowKind::Log,
        RowKind::Issue,
        RowKind::Endpoint,
        RowKind::Task,
        RowKind::AiTrace,
        RowKind::Session,
    ];

    /// The table of the rows.
    pub fn table(self) -> Table {
        match self {
            RowKind::Span => Table::Spans,
            RowKind::Log => Table::Logs,
            RowKind::Issue => Table::Exceptions,
            RowKind::Endpoint => Table::Endpoints,
            RowKind::Task => Table::Tasks,
            RowKind::AiTrace => Table::AiTraces,
            RowKind::Session => Table::Sessions,
        }
    }

    /// Whether a row has a span, and `child.` is any span below it.
    pub fn has_descendants(self) -> bool {
        matches!(self, RowKind::Endpoint | RowKind::Task | RowKind::AiTrace)
    }

    /// The plural in messages.
    pub fn noun(self) -> &'static str {
        match self {
            RowKind::Span => "spans",
            RowKind::Log => "log records",
            RowKind::Issue => "exceptions",
            RowKind::Endpoint => "endpoints",
            RowKind::Task => "tasks",
            RowKind::AiTrace => "AI traces",
            RowKind::Session => "sessions",
        }
    }

    /// The fields besides attributes, the most used first.
    pub fn fields(self) -> &'static [Field] {
        match self {
            RowKind::Span => SPANS,
            RowKind::Log => LOGS,
            RowKind::Issue => ISSUES,
            RowKind::Endpoint => ENDPOINTS,
            RowKind::Task => TASKS,
            RowKind::AiTrace => AI_TRACES,
            RowKind::Session => SESSIONS,
        }
    }

    /// The field with this name; `None`: the name is the key of an attribute.
    pub fn field(self, name: &str) -> Option<&'static Field> {
        self.fields().iter().find(|field| field.names.contains(&name))
    }

    /// The path in the JSON object of a body that a name such as `body.user.id` stands for; `None` for other names, and
    /// for rows without a body.
    pub fn body_path(self, name: &str) -> Option<&str> {
        let path = name.strip_prefix("body.").filter(|path| !path.is_empty());
        path.filter(|_| self == RowKind::Log)
    }

    /// The fields whose values lists count beside their rows.
    pub fn facets(self) -> &'static [&'static str] {
        match self {
            RowKind::Span => &["service", "status", "kind", "http.status", "env", "version"],
            RowKind::Log => &["level", "service", "env", "host", "event"],
            RowKind::Issue => &["service", "type", "version", "env", "owner"],
            RowKind::Endpoint => &["service", "status", "method", "error", "env", "version"],
            RowKind::Task => &["service", "error", "env", "version"],
            RowKind::AiTrace => {
                &["model", "provider", "operation", "error", "service", "user", "prompt", "finish_reason", "flag"]
            }
            RowKind::Session => &["browser", "os", "version", "page"],
        }
    }

    /// The text columns that a word without a field is searched in.
    pub fn searched(self) -> &'static [&'static str] {
        match self {
            RowKind::Span => &["name", "status_message"],
            // Only the body, because its index rules out most blocks.
            RowKind::Log => &["body"],
            RowKind::Issue => &["exception_type", "message", "stack_trace"],
            RowKind::Endpoint | RowKind::Task | RowKind::AiTrace => &["name"],
            RowKind::Session => &["user_id", "page", "browser", "os", "client_ip", "app_version"],
        }
    }
}
