//! Limits of queries, exports of tables and live tails.

use std::time::Duration;

use crate::units::{KB, MIB, minutes, seconds};

/// Concurrent exports of tables; more get 503. Each holds rows of the memtable until it has sent them.
pub const EXPORTS_MAX: usize = 2;
/// Deadline of the query for one piece of an export, from the time it has a query slot.
pub const EXPORT_PIECE_MAX: Duration = seconds(60);
/// Attempts at a piece of an export whose deadline passes.
pub const EXPORT_PIECE_TRIES: u32 = 5;
/// Pause before an export requests a query slot again when the queue was full.
pub const EXPORT_QUEUE_PAUSE: Duration = seconds(1);
/// Bytes of an export that are sent at a time.
pub const EXPORT_CHUNK_BYTES: usize = 64 * KB;
/// Time that a client may take for [`EXPORT_CHUNK_BYTES`], about [`crate::SLOW_BYTES_PER_SECOND`]. Then the export is aborted.
pub const EXPORT_CHUNK_MAX: Duration = minutes(1);
/// Total time of an export. Parts that were replaced meanwhile stay on the disk until it ends.
pub const EXPORT_MAX: Duration = minutes(12 * 60);
/// Rows in a row group of an export in Parquet.
pub const EXPORT_GROUP_ROWS: usize = 128 * 1024;
/// Bytes in memory of a row group of an export in Parquet.
pub const EXPORT_GROUP_BYTES: usize = 32 * MIB;
/// Queries that may wait for a query thread, per thread; more get 503.
pub const QUERIES_WAITING_PER_THREAD: usize = 64;
/// Minimum memory of all queries together, bytes, on any machine; one query may hold half of it.
pub const QUERY_BYTES_MIN: usize = 64 * MIB;
/// `nice` value of query threads, relative to ingest.
pub const QUERY_NICE: i32 = 5;
/// Queries in one metrics request. Spec: metrics query.
pub const METRICS_QUERIES_MAX: usize = 50;
/// Tag filters of one metrics query. Spec: metrics query.
pub const METRICS_TAG_FILTERS_MAX: usize = 20;
/// Time range of a metrics query, days. Spec: metrics query.
pub const METRICS_DAYS_MAX: i64 = 731;
/// Days that a list of spans may always cover; with a longer retention, as many as that. WIRE 8.8.
pub const SPAN_LIST_DAYS_MIN: i64 = 31;
/// Points in a series of a metrics query. Spec: metrics query.
pub const METRICS_POINTS_MAX: i64 = 2000;
/// Groups in the result of a metrics query. Spec: metrics query.
pub const METRICS_GROUPS_MAX: usize = 200;
/// Deadline of a metrics request. Spec: metrics query.
pub const METRICS_DEADLINE: Duration = seconds(30);
/// Deadline of lists of spans and of whole traces. WIRE 8.8.
pub const SPANS_DEADLINE: Duration = seconds(20);
/// Subjects whose minutes one request for changes reads: those that differ most from their usual values.
pub const CHANGED_SUBJECTS_MAX: usize = 24;
/// Deploys in one answer, the latest ones.
pub const DEPLOYS_LISTED_MAX: usize = 500;
/// Entries of the activity of an Issue with all its merged hashes in one answer, the latest ones.
pub const ISSUE_ACTIVITY_LISTED_MAX: usize = 1000;
/// Memory of the values of tags that are counted over the occurrences of an Issue, bytes.
pub const ISSUE_TAG_BYTES_MAX: usize = 8 * MIB;
/// Issues of one exception type that an Issue is compared with, those that occurred last.
pub const SIMILAR_ISSUES_COMPARED_MAX: usize = 500;
/// New Issues in one answer of changes.
pub const NEW_ISSUES_MAX: usize = 10;
/// Names that one request compares: those of a page.
pub const COMPARED_NAMES_MAX: usize = 100;
/// New Issues, services, versions and names in one answer.
pub const NEW_LISTED_MAX: usize = 20;
/// Rows of a subject that are read to find which others it calls, half before and half after its change.
pub const CALLERS_SAMPLED: usize = 200;
/// Rows of the subjects that it calls in these traces.
pub const CALLEES_READ_MAX: usize = 5000;
/// Subjects whose added times are compared for one cause, of those that got slower together; the most harmful ones.
pub const SHARED_CAUSE_SUBJECTS_MAX: usize = 6;
/// Rows of each whose spans are read, before its change and since.
pub const SHARED_CAUSE_ROWS: usize = 100;
/// Size of a text in a row of a list, bytes; longer ones are cut, and whole in the row's details.
pub const LIST_TEXT_BYTES_MAX: usize = 4 * KB;
/// Size of all strings in one field of a row of a list, such as its attributes, bytes.
pub const LIST_FIELD_BYTES_MAX: usize = 32 * KB;
/// Deadline of every other dashboard query.
pub const LIST_DEADLINE: Duration = seconds(10);
/// Bodies of log records whose JSON is read for the names of fields.
pub const BODIES_LISTED_MAX: usize = 500;
/// Fields of one of these bodies.
pub const BODY_PATHS_MAX: usize = 50;
/// Log records that patterns are made of.
pub const PATTERN_RECORDS_MAX: u64 = 500_000;
/// Time after which patterns are made of the records so far.
pub const PATTERN_BUDGET: Duration = seconds(5);
/// Patterns that are distinguished; records of further ones are counted together.
pub const PATTERNS_MAX: usize = 1000;
/// Distinct words at one place of the tree of patterns.
pub const PATTERN_BRANCHES_MAX: usize = 64;
/// Patterns in one answer, the most frequent ones.
pub const PATTERNS_LISTED_MAX: usize = 200;
/// Bytes of the example of a pattern.
pub const PATTERN_EXAMPLE_BYTES_MAX: usize = 2000;
/// Points of the trend of a pattern.
pub const PATTERN_TREND_POINTS_MAX: i64 = 48;
/// Log records before and after a record in one answer, each.
pub const LOGS_AROUND_MAX: usize = 100;
/// Default of [`LOGS_AROUND_MAX`].
pub const LOGS_AROUND_DEFAULT: usize = 20;
/// Log records of one nanosecond that are put in order; of more, some.
pub const LOGS_AROUND_SAME_TIME_MAX: usize = 2000;
/// Live tails of logs; more get 503.
pub const LIVE_TAILS_MAX: usize = 64;
/// Live tails of one user; more get 503.
pub const LIVE_TAILS_PER_USER_MAX: usize = 4;
/// Minimum time between two events of a live tail.
pub const LIVE_TAIL_PAUSE: Duration = Duration::from_millis(250);
/// Log records in one event of a live tail, the latest ones; further ones are counted.
pub const LIVE_TAIL_RECORDS_MAX: usize = 50;
/// Size of the records in one event of a live tail, bytes; records beyond it are counted.
pub const LIVE_TAIL_EVENT_BYTES_MAX: usize = MIB;
/// Log records that live tails have not read yet, bytes over all projects; the oldest are discarded and counted.
pub const LIVE_TAIL_BYTES_MAX: usize = 16 * MIB;
/// Requests whose log records live tails have not read yet, over all projects.
pub const LIVE_TAIL_BATCHES_MAX: usize = 4096;
/// Log records of one request that live tails read, bytes; the rest is counted.
pub const LIVE_TAIL_REQUEST_BYTES_MAX: usize = MIB;
/// Interval at which a live tail checks that its user may still read the project.
pub const LIVE_TAIL_CHECK: Duration = seconds(5);
/// Total time of a live tail.
pub const LIVE_TAIL_MAX: Duration = minutes(4 * 60);
/// Length of a query of the query language, bytes.
pub const QUERY_TEXT_BYTES_MAX: usize = 4096;
/// Terms of a query of the query language.
pub const QUERY_TERMS_MAX: usize = 64;
/// Levels of parentheses, braces and negations of a query of the query language.
pub const QUERY_DEPTH_MAX: usize = 16;
/// Rows that counts of values read at least: fewer rows are all counted, more may be estimated from a sample.
pub const COUNTED_ROWS_MIN: u64 = 50_000;
/// Values of a field, or sets of keys, that are counted for one completion.
pub const COUNTED_VALUES_MAX: usize = 1000;
/// Strings in the answer to a completion.
pub const COMPLETIONS_MAX: usize = 50;
/// Facets of a list.
pub const FACETS_MAX: usize = 16;
/// Values of a facet.
pub const FACET_VALUES_MAX: usize = 10;
/// Inner spans that a search for traces by service or attribute examines, latest first.
pub const TRACE_MATCHES_MAX: usize = 50_000;
/// Traces after which a search for traces reads no further ones, latest first.
pub const TRACE_SEARCH_TRACES_MAX: usize = 1000;
/// Traces of the sample that a search for traces plots when it cannot find all.
pub const TRACE_SAMPLE_MAX: usize = 1000;
/// Time in which the traces to sample from are read; later there is no sample.
pub const TRACE_SAMPLE_BUDGET: Duration = seconds(2);
/// Spans that a search for traces reads to evaluate its conditions.
pub const TRACE_SEARCH_SPANS_MAX: usize = 300_000;
/// Requests that an explanation samples of the selection, of the others in the same minutes, and of the time before.
pub const EXPLAIN_SELECTED_MAX: usize = 10_000;
/// Operations, and services, of one answer about where the time of rows goes.
pub const BREAKDOWN_ROWS_MAX: usize = 50;
/// Rows whose traces are searched for the log records of an Endpoint, Task or AI Trace: the latest.
pub const ENTITY_LOG_ROWS_MAX: usize = 1_000;
/// Log records of one Endpoint, Task or AI Trace in an answer.
pub const ENTITY_LOGS_MAX: usize = 100;
/// See [`EXPLAIN_SELECTED_MAX`].
pub const EXPLAIN_REST_MAX: usize = 20_000;
/// See [`EXPLAIN_SELECTED_MAX`].
pub const EXPLAIN_BEFORE_MAX: usize = 10_000;
/// Spans that an explanation reads for the own time of operations and for attributes of the spans below a request.
pub const EXPLAIN_SPANS_MAX: usize = 500_000;
/// Requests whose spans an explanation always reads; those of further ones only within its time.
pub const EXPLAIN_FIRST_REQUESTS: usize = 4_000;
/// Time in which an explanation reads further spans, unless the request sets it, and the longest that it may set.
pub const EXPLAIN_BUDGET: Duration = Duration::from_millis(300);
/// See [`EXPLAIN_BUDGET`].
pub const EXPLAIN_BUDGET_MAX: Duration = seconds(8);
/// Distinct attributes that an explanation compares; further ones are left out.
pub const EXPLAIN_ATTRIBUTES_MAX: usize = 500;
/// Distinct values of an attribute in an explanation; an attribute with more is left out.
pub const EXPLAIN_VALUES_MAX: usize = 65_536;
/// Length of an attribute's value in an explanation, bytes; an attribute with a longer one is left out.
pub const EXPLAIN_VALUE_BYTES_MAX: usize = 4096;
/// Distinct attribute values of an explanation, bytes in all; attributes beyond are left out.
pub const EXPLAIN_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Columns of a heatmap.
pub const HEATMAP_COLUMNS_MAX: i64 = 120;
/// Rows of a heatmap.
pub const HEATMAP_ROWS_MAX: usize = 48;
/// Spans of a trace that are read for its answer in columns, earliest first.
pub const TRACE_SPANS_MAX: usize = 500_000;
/// Spans of one graph; further ones are only counted (`span_limit`). Spec: span, rule 4.
pub const GRAPH_SPANS_MAX: usize = 20_000;
/// AI Traces of a conversation, and runs of tools in its traces, that its page reads, earliest first.
pub const AI_CONVERSATION_CALLS_MAX: usize = 2000;
/// Log records with messages that are read for the calls on a page of a conversation.
pub const AI_LOGGED_MESSAGES_MAX: usize = 2000;
/// Spans of the traces of a conversation that its page reads, earliest first.
pub const AI_CONVERSATION_SPANS_MAX: usize = 20_000;
/// Messages in one answer of a conversation, bytes of content and arguments.
pub const AI_CONVERSATION_BYTES_MAX: usize = 4 * MIB;
/// One message in the answer of a conversation, bytes of content and arguments.
pub const AI_MESSAGE_BYTES_MAX: usize = 32 * KB;
/// Arguments or result of a run of a tool in the answer of a conversation, bytes.
pub const AI_TOOL_BYTES_MAX: usize = 4 * KB;
/// Maximum distance in time of a span from its Endpoint, Task or AI Trace, on either side. Spec: limits, row "Span read
/// window".
pub const SPAN_WINDOW: Duration = Duration::from_secs(24 * 60 * 60);
/// Nodes of a map of services.
pub const SERVICE_MAP_NODES_MAX: usize = 250;
/// Edges of a map of services.
pub const SERVICE_MAP_EDGES_MAX: usize = 1000;
/// Combinations of service and address that a map of services is computed from, the most frequent ones.
pub const SERVICE_CALLS_READ_MAX: usize = 20_000;
/// Points of a chart of a service.
pub const SERVICE_POINTS_MAX: i64 = 400;
/// Versions on the page of a service, the latest ones.
pub const SERVICE_VERSIONS_MAX: usize = 50;
/// Processes on the page of a service, those with most spans.
pub const SERVICE_INSTANCES_MAX: usize = 100;
/// Minutes at the end of the range in which the processes of a service are looked up.
pub const SERVICE_INSTANCE_MINUTES: i64 = 30;
/// Services, and environments, that one request selects.
pub const GLOBAL_FILTER_VALUES_MAX: usize = 50;
/// Services in one response.
pub const SERVICES_LISTED_MAX: usize = 200;
/// Endpoints, Tasks, AI Traces or Issues that are counted for the Connect page.
pub const PROMOTED_NAMES_MAX: usize = 1000;
