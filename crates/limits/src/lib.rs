//! Every limit of the service as a constant, admission control ([`admission`]), and the clock ([`clock`]).
//!
//! A value that the specification sets cites its row of "Limits". Relations between values are checked at compile time.
//! [`CLASSES`] lists the classes of request bodies and [`Window`] the per-IP windows; `docs/operate/limits.md` lists
//! every value.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod admission;
pub mod clock;

use std::time::Duration;

/// Bytes in a kilobyte of 1024 bytes.
pub const KB: usize = 1 << 10;
/// Bytes in a megabyte of 10^6 bytes.
pub const MB: usize = 1_000_000;
/// Bytes in a mebibyte.
pub const MIB: usize = 1 << 20;

const fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

const fn minutes(count: u64) -> Duration {
    Duration::from_secs(60 * count)
}

/// The limits on the request bodies of a class of routes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouteLimits {
    /// Maximum size after decompression, bytes; counted while streaming. Larger bodies get 413.
    pub body_bytes_max: usize,
    /// Maximum time from the end of the headers to the last byte.
    pub body_total_max: Duration,
    /// Maximum time between two chunks of the body.
    pub body_gap_max: Duration,
    /// Response to a client that exceeds one of these times.
    pub slow_response: SlowResponse,
    /// Admission gate that the request passes before its body is read.
    pub gate: Gate,
}

/// The admission gate of a class of routes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// No gate.
    Open,
    /// Slots for exports. Spec: limits, row "Ingest concurrency".
    Ingest,
    /// Slots for uploads. Spec: limits, row "Upload concurrency".
    Upload,
}

/// The response to a client that sends its body too slowly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlowResponse {
    /// 408. Spec: errors, row 408.
    Timeout408,
    /// 503. Spec: errors, row 503: OTLP exporters retry 503 and never 408.
    Retry503,
}

/// OTLP exports. Spec: limits, rows "OTLP body" (both) and "Slow client".
/// 10 MB is taken as 10 x 2^20 bytes, the reading that rejects less.
pub const OTLP: RouteLimits = RouteLimits {
    body_bytes_max: 10 * MIB,
    body_total_max: minutes(2),
    body_gap_max: seconds(20),
    slow_response: SlowResponse::Retry503,
    gate: Gate::Ingest,
};

/// `/api/report` and profiles. Spec: limits, rows "Report and profile body", "`/api/report` body".
pub const REPORT: RouteLimits = RouteLimits {
    body_bytes_max: 64 * MIB,
    body_total_max: minutes(10),
    body_gap_max: seconds(20),
    slow_response: SlowResponse::Retry503,
    gate: Gate::Ingest,
};

/// All other JSON bodies. Spec: limits, rows "Database-writing endpoints body" and "Request body".
pub const JSON: RouteLimits = RouteLimits {
    body_bytes_max: 8 * MIB,
    body_total_max: minutes(10),
    body_gap_max: seconds(30),
    slow_response: SlowResponse::Timeout408,
    gate: Gate::Open,
};

/// Bodies of requests without a login, such as login and registration. Spec: limits, row "Anonymous auth endpoint
/// bodies".
pub const ANONYMOUS: RouteLimits = RouteLimits { body_bytes_max: 64 * KB, ..JSON };

/// The logo of a status page. WIRE 6. 1 MB is taken as 2^20 bytes, the reading that rejects less.
pub const STATUS_LOGO: RouteLimits = RouteLimits { body_bytes_max: MIB, ..JSON };

/// Symbol and source-map uploads. Spec: limits, rows "Upload size" and "Upload body".
pub const UPLOAD: RouteLimits = RouteLimits {
    body_bytes_max: 250 * MIB,
    body_total_max: minutes(30),
    body_gap_max: seconds(30),
    slow_response: SlowResponse::Timeout408,
    gate: Gate::Upload,
};
/// A storage thread is missing when it is busy and its last heartbeat is older than this: `/livez` responds with 503.
/// Work between two heartbeats takes milliseconds; the longest waits for a disk.
pub const HEARTBEAT_SILENCE_MAX: Duration = minutes(2);
/// Like [`HEARTBEAT_SILENCE_MAX`], for threads that store nothing: `/livez` stays 200 and names the thread, and so does
/// the log. The longest work between two heartbeats waits for a mail server.
pub const BACKGROUND_SILENCE_MAX: Duration = minutes(10);
/// Interval between two checks for missing background threads, and between two log lines about one.
pub const BACKGROUND_CHECK_PAUSE: Duration = minutes(1);
/// Target size of a file of journal records that were set aside, bytes.
pub const LOST_FILE_BYTES: usize = 8 * MIB;
/// Disk space reserved for opening the control database on a full disk, bytes. SQLite's WAL index takes 32 KiB.
pub const CONTROL_RESERVE_BYTES: usize = 256 * KB;
/// Every class of bodies: name, limits, and rows of the specification.
pub const CLASSES: [(&str, RouteLimits, &str); 6] = [
    ("OTLP", OTLP, "\"OTLP body\", \"Slow client\""),
    ("report and profile", REPORT, "\"Report and profile body\", \"/api/report body\""),
    ("JSON", JSON, "\"Database-writing endpoints body\", \"Request body\""),
    ("anonymous", ANONYMOUS, "\"Anonymous auth endpoint bodies\""),
    ("upload", UPLOAD, "\"Upload size\", \"Upload body\""),
    ("logo of a status page", STATUS_LOGO, "wire, 6"),
];

/// Size of one uploaded file, bytes. Spec: limits, row "Upload size".
pub const UPLOAD_FILE_BYTES_MAX: usize = 200 * MIB;
/// Files per upload. Spec: limits, row "Upload size".
pub const UPLOAD_FILES_MAX: usize = 1000;
/// A larger blob is written and read in parts of this size, bytes.
pub const BLOB_PART_BYTES: usize = 8 * MIB;
/// Concurrent calls of the store of blobs.
pub const BLOB_CALLS_MAX: usize = 16;
/// Multipart fields of an upload that are not files. More are refused with 422.
pub const UPLOAD_FIELDS_MAX: usize = 100;
/// Size of such a field, bytes. Larger ones are refused with 413.
pub const UPLOAD_FIELD_BYTES_MAX: usize = 64 * KB;
/// Size of the headers of one multipart field or file, bytes. Larger ones are refused with 400.
pub const PART_HEADER_BYTES_MAX: usize = 8 * KB;
/// Length of a multipart boundary, bytes. RFC 2046, 5.1.1.
pub const BOUNDARY_BYTES_MAX: usize = 70;
/// Bytes of an uploaded file that are buffered before they are written.
pub const UPLOAD_WRITE_BYTES: usize = 256 * KB;
/// Uploads that are received at once. Spec: limits, row "Upload concurrency".
pub const UPLOAD_CONCURRENT: usize = 4;
/// Time that an upload waits for a slot; then 503. Spec: limits, row "Upload concurrency".
pub const UPLOAD_WAIT_MAX: Duration = seconds(30);

/// Minimum average transfer rate of a body, bytes per second. Spec: limits, row "Slow client".
pub const SLOW_BYTES_PER_SECOND: u64 = 1000;
/// The minimum transfer rate applies once a body has taken this long. Spec: limits, row "Slow client".
pub const SLOW_AFTER: Duration = seconds(20);

/// Time after its deadline in which a body is read once more: bytes that have arrived already are not refused.
pub const LATE_READ_MAX: Duration = Duration::from_millis(250);

/// Time until the headers of a request are complete. Spec: limits, row "Headers".
pub const HEADERS_MAX: Duration = seconds(15);
/// Size of the request line and headers together, bytes. Larger ones are refused with 431. Also the size of a read of a
/// body.
pub const HEADER_BYTES_MAX: usize = 64 * KB;
/// Headers of one request. More are refused with 431.
pub const HEADER_COUNT_MAX: usize = 100;
/// Time after which an idle connection is closed. Spec: limits, row "Idle keep-alive".
pub const IDLE_MAX: Duration = minutes(2);
/// Open connections of all listeners but the metrics listener, by default. To accept one more, the connection that has
/// been idle longest is closed.
pub const CONNECTIONS_MAX: usize = 10_000;
/// Fraction of the connections that one address (IPv6: one /64) may have, as a divisor; trusted proxies are exempt.
pub const CONNECTION_SHARES: usize = 10;
/// Connections beyond [`CONNECTIONS_MAX`] that are reserved for health probes.
pub const CONNECTIONS_RESERVED: usize = 64;
/// Open connections of the metrics listener.
pub const METRICS_CONNECTIONS_MAX: usize = 100;
/// Unread bytes of a request body beyond which an HTTP/1 connection is closed after the response.
pub const UNREAD_BODY_BYTES: u64 = 8 * 1024;
/// Time for which the rest of a refused body is read and discarded after the response, so that the client reads the
/// response.
pub const LINGER_MAX: Duration = seconds(5);
/// Interval between checks of the TLS certificate files.
pub const TLS_RELOAD_PAUSE: Duration = minutes(1);
/// Concurrent streams of one HTTP/2 connection.
pub const HTTP2_STREAMS_MAX: u32 = 200;
/// Flow-control window of one HTTP/2 stream, bytes.
pub const HTTP2_STREAM_WINDOW_BYTES: u32 = 256 << 10;
/// Flow-control window of one HTTP/2 connection, bytes.
pub const HTTP2_CONNECTION_WINDOW_BYTES: u32 = 1 << 20;
/// Streams that a client may reset before they are accepted, and that the server may reset, until the connection is
/// closed (rapid reset).
pub const HTTP2_RESETS_MAX: usize = 50;
/// Time that requests in flight may take after a shutdown was requested.
pub const DRAIN_MAX: Duration = seconds(30);

/// Rows in the memtable before a flush.
pub const FLUSH_ROWS: usize = 262_144;
/// Size of the memtable in mebibytes; an eighth is flushed at a time.
pub const MEMTABLE_MB: usize = 256;
/// Age of the memtable's oldest request at which it is flushed, seconds.
pub const FLUSH_SECONDS: u64 = 30;
/// Default retention of telemetry, days.
pub const RETENTION_DAYS: u32 = 30;

/// Minimum number of ingest slots. Spec: limits, row "Ingest concurrency".
pub const INGEST_CONCURRENT_MIN: usize = 4;
/// Length of the ingest queue per slot. Spec: limits, row "Ingest concurrency".
pub const INGEST_WAITING_PER_SLOT: usize = 4;
/// Minimum length of the ingest queue. Spec: limits, row "Ingest concurrency".
pub const INGEST_WAITING_MIN: usize = 16;
/// Bodies up to this size in bytes are decoded inline; larger ones on a blocking thread.
pub const INGEST_INLINE_BYTES_MAX: usize = 256 * KB;
/// Like [`INGEST_INLINE_BYTES_MAX`], for compressed bodies: their size before decompression.
pub const INGEST_INLINE_COMPRESSED_BYTES_MAX: usize = 32 * KB;
/// Burst of a project's rate limit: what it may send in this time may come at once after a pause.
pub const RATE_BURST: Duration = seconds(10);
/// Allowed origins per project, of pages that may send with its token.
pub const ALLOWED_ORIGINS_MAX: usize = 50;
/// Maximum value of a quota that the databases store.
pub const QUOTA_MAX: u64 = 1 << 53;
/// Memory for the bodies of exports and the rows decoded from them, bytes, over all connections. Beyond it requests get
/// 503.
pub const INGEST_BYTES_HELD_MAX: usize = 512 * MIB;
/// Approximate maximum ratio of the memory of the decoded rows to the size of the body.
pub const BODY_EXPANSION_MAX: usize = 32;
/// Approximate memory of the rows of one record without its strings, bytes.
pub const ROW_BYTES: usize = 512;
/// Quarters of a memory budget that one project may hold, so that it cannot lock out the others.
pub const PROJECT_SHARE_QUARTERS: usize = 3;
/// Denominator of [`PROJECT_SHARE_QUARTERS`].
pub const QUARTERS: usize = 4;
/// Total size of the journal's segments, bytes. When it is reached, exports get 503 until the store has caught up.
pub const JOURNAL_BYTES_MAX: u64 = 2 << 30;
/// Size of the accepted bodies that wait to be written to the journal, bytes.
pub const JOURNAL_QUEUE_BYTES_MAX: usize = 64 * MIB;
/// Memory for the JSON bodies of the API, bytes, over all connections. Beyond it requests get 503.
pub const JSON_BYTES_HELD_MAX: usize = 64 * MIB;
/// Decoded requests that a replay buffers ahead of the one it applies.
pub const REPLAY_AHEAD: usize = 4;
/// Interval at which a replay that waits for a flush checks whether flushes fail.
pub const REPLAY_CHECK_PAUSE: Duration = seconds(1);
/// Time that a replay waits for a flush before it logs that it waits.
pub const REPLAY_WAIT: Duration = seconds(30);
/// Size of a request on `admin.sock`, bytes.
pub const ADMIN_REQUEST_BYTES_MAX: u64 = 16 << 10;
/// Time from a connection to `admin.sock` until its request is complete.
pub const ADMIN_REQUEST_MAX: Duration = seconds(10);
/// Pause after a connection to `admin.sock` could not be accepted.
pub const ADMIN_ACCEPT_PAUSE: Duration = seconds(1);
/// Pause between two log lines about the same kind of refused export.
pub const REJECTION_LOG_PAUSE: Duration = minutes(1);
/// Refused requests without a project that are stored for display.
pub const REFUSALS_KEPT_MAX: usize = 1000;
/// Characters shown of the token that such a request was sent with.
pub const REFUSED_TOKEN_CHARS: usize = 4;
/// Projects whose last refusal messages are stored.
pub const REFUSED_PROJECTS_MAX: usize = 1000;
/// JSON responses of at least this size in bytes are compressed if the client accepts it.
pub const COMPRESSED_BYTES_MIN: u64 = 1024;
/// Maximum first allocation for a body of several chunks, whatever length it declares, bytes.
pub const BODY_BYTES_FIRST_MAX: usize = 1 << 20;

/// Range of the random `Retry-After` of a 503, seconds: clients do not retry all at once. DECISIONS 19.
pub const RETRY_AFTER_SECONDS: std::ops::RangeInclusive<u64> = 1..=5;
/// Maximum random delay added to the `Retry-After` of a quota, which is at most a tenth of it.
pub const QUOTA_RETRY_SPREAD_MAX: Duration = minutes(15);

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
/// Time that a client may take for [`EXPORT_CHUNK_BYTES`], about [`SLOW_BYTES_PER_SECOND`]. Then the export is aborted.
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
/// Endpoint names of a service on one day; also Task names and AI Trace names, each. DECISIONS 27.
pub const NAMES_PER_SERVICE_DAY: usize = 10_000;
/// Callers, and callees, that are kept in memory until the other side of their call arrives. docs/use/services.md.
pub const UNPAIRED_CALLS_MAX: usize = 131_072;
/// `nice` value of query threads, relative to ingest.
pub const QUERY_NICE: i32 = 5;
/// `nice` value of the thread that builds artifacts from symbol files, relative to ingest.
pub const SYMBOLS_NICE: i32 = 5;

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
/// Reported deploys of a project; beyond it the earliest are deleted.
pub const DEPLOYS_MAX: usize = 10_000;
/// Versions of a project, by service and environment, whose first sight is stored. A program that makes a version for
/// every process would fill the control database.
pub const FIRST_VERSIONS_MAX: usize = 10_000;
/// Deploys in one answer, the latest ones.
pub const DEPLOYS_LISTED_MAX: usize = 500;
/// Characters of the service, environment, version, commit or author of a reported deploy.
pub const DEPLOY_CHARS_MAX: usize = 200;
/// Issues of a project with a stored decision: resolved, muted or archived.
pub const ISSUE_DECISIONS_MAX: i64 = 50_000;
/// Hashes of a project that are merged into others.
pub const ISSUE_MERGES_MAX: i64 = 10_000;
/// Entries of the activity of one Issue, without comments; beyond it the earliest are deleted.
pub const ISSUE_ACTIVITY_MAX: i64 = 500;
/// Entries of the activity of an Issue with all its merged hashes in one answer, the latest ones.
pub const ISSUE_ACTIVITY_LISTED_MAX: usize = 1000;
/// Comments on one Issue.
pub const ISSUE_COMMENTS_MAX: i64 = 500;
/// Memory of the values of tags that are counted over the occurrences of an Issue, bytes.
pub const ISSUE_TAG_BYTES_MAX: usize = 8 * MIB;
/// Issues of one exception type that an Issue is compared with, those that occurred last.
pub const SIMILAR_ISSUES_COMPARED_MAX: usize = 500;
/// Bytes of the template of links to the code host, and of the folder that is cut from paths.
pub const SOURCE_URL_BYTES_MAX: usize = 500;
/// Characters of a comment on an Issue.
pub const ISSUE_COMMENT_CHARS_MAX: usize = 10_000;
/// Notification rules of a project.
pub const NOTIFICATION_RULES_MAX: i64 = 200;
/// Characters of the name of a notification rule.
pub const RULE_NAME_CHARS_MAX: usize = 100;
/// Bytes of the configuration of a notification rule, as JSON.
pub const RULE_CONFIG_BYTES_MAX: usize = 16 * 1024;
/// Minutes of the cooldown and of the snooze of a notification rule: 30 days.
pub const RULE_MINUTES_MAX: i64 = 30 * 24 * 60;
/// Subjects of a notification rule that one evaluation looks at, those with most records.
pub const RULE_SUBJECTS_MAX: usize = 1000;
/// Changes of states of notification rules in one transaction.
pub const RULE_CHANGES_MAX: usize = 200;
/// Issues of a project that a rule for new Issues knows from before, the latest.
pub const KNOWN_ISSUES_MAX: usize = 100_000;
/// Known Issues that one statement adds.
pub const KNOWN_ISSUES_PER_STATEMENT: usize = 500;
/// Rows in memory that rules on arrival have not evaluated yet, of one project.
pub const RULE_ARRIVALS_MAX: usize = 100_000;
/// Interval between two evaluations of rules on arrival.
pub const RULE_ARRIVALS_PAUSE: Duration = Duration::from_millis(250);
/// The time for which one node evaluates polled rules, unless it extends it.
pub const RULE_LEASE: Duration = seconds(90);
/// Pause after a failed evaluation of rules on arrival.
pub const RULE_ARRIVALS_RETRY: Duration = seconds(5);
/// Time that one evaluation of the rules of a project may take.
pub const RULE_DEADLINE: Duration = seconds(30);
/// Interval between two evaluations of polled rules, seconds, unless the operator sets another. WIRE 7.
pub const NOTIFICATION_POLL_SECONDS: u64 = 60;
/// Shortest interval between two evaluations of polled rules, seconds. WIRE 7.
pub const NOTIFICATION_POLL_SECONDS_MIN: u64 = 5;
/// Days that notifications are kept for the history.
pub const NOTIFICATION_DAYS: i64 = 90;
/// Points of the preview of a notification rule.
pub const RULE_PREVIEW_POINTS_MAX: i64 = 2016;
/// Moments in the preview of a notification rule at which it would have fired, the latest.
pub const RULE_PREVIEW_FIRINGS_MAX: usize = 500;
/// Saved views of one user in a project, private and shared.
pub const SAVED_VIEWS_OF_USER_MAX: i64 = 100;
/// Shared views of a project.
pub const SAVED_VIEWS_SHARED_MAX: i64 = 500;
/// Characters of the name of a saved view.
pub const SAVED_VIEW_NAME_CHARS_MAX: usize = 100;
/// Bytes of the query string of a saved view.
pub const SAVED_VIEW_SEARCH_BYTES_MAX: usize = 8 * 1024;
/// Teams of an organization.
pub const ONCALL_TEAMS_MAX: i64 = 100;
/// Members and projects of a team, each.
pub const ONCALL_TEAM_ENTRIES_MAX: usize = 200;
/// On-call schedules of an organization.
pub const ONCALL_SCHEDULES_MAX: i64 = 100;
/// Escalation policies of an organization.
pub const ONCALL_POLICIES_MAX: i64 = 100;
/// Characters of the names of teams, schedules, layers and policies.
pub const ONCALL_NAME_CHARS_MAX: usize = 100;
/// Characters of the descriptions of teams and schedules, and of the body of a page that a person opens.
pub const ONCALL_DESCRIPTION_CHARS_MAX: usize = 1000;
/// Layers of a schedule.
pub const ONCALL_LAYERS_MAX: usize = 10;
/// People in a layer.
pub const ONCALL_LAYER_USERS_MAX: usize = 100;
/// Restrictions of a layer.
pub const ONCALL_RESTRICTIONS_MAX: usize = 20;
/// Days of a custom rotation.
pub const ONCALL_INTERVAL_DAYS_MAX: i64 = 365;
/// Length of an override.
pub const ONCALL_OVERRIDE_MAX: Duration = minutes(30 * 24 * 60);
/// Overrides of a schedule that have not ended long ago.
pub const ONCALL_OVERRIDES_MAX: i64 = 500;
/// Range of a timeline.
pub const ONCALL_TIMELINE_MAX: Duration = minutes(62 * 24 * 60);
/// How far back an iCalendar feed reaches.
pub const ONCALL_CALENDAR_PAST: Duration = minutes(7 * 24 * 60);
/// Steps of an escalation policy.
pub const ONCALL_STEPS_MAX: usize = 10;
/// Targets of a step.
pub const ONCALL_STEP_TARGETS_MAX: usize = 10;
/// Minutes between two steps.
pub const ONCALL_STEP_MINUTES_MAX: i64 = 1440;
/// How often the steps of a policy run again.
pub const ONCALL_REPEAT_MAX: i64 = 5;
/// Pages of a project that are stored; resolved ones beyond are deleted, oldest first.
pub const ONCALL_PAGES_MAX: i64 = 10_000;
/// Pages that one request acknowledges or resolves, and hashes of Issues in one request.
pub const ONCALL_BULK_MAX: usize = 500;
/// Pages of one answer.
pub const ONCALL_PAGES_LISTED_MAX: i64 = 100;
/// Deliveries of a page in one answer.
pub const ONCALL_DELIVERIES_LISTED_MAX: i64 = 500;
/// Pages of a handover.
pub const ONCALL_HANDOVER_PAGES_MAX: i64 = 500;
/// Contact methods of a user.
pub const ONCALL_CONTACT_METHODS_MAX: usize = 20;
/// Bytes of one value of the configuration of a contact method.
pub const ONCALL_CONTACT_BYTES_MAX: usize = 2000;
/// Digits of a phone number. ITU-T E.164 has at most 15.
pub const PHONE_DIGITS_MIN: usize = 8;
/// The largest such number.
pub const PHONE_DIGITS_MAX: usize = 15;
/// Characters of an SMS, of which a link is never cut: three segments of GSM's alphabet at most.
pub const SMS_CHARS_MAX: usize = 320;
/// Codes and tests that a user sends to contact methods in an hour.
pub const ONCALL_CONTACT_SENDS_MAX: i64 = 10;
/// Life of the code that verifies a contact method.
pub const ONCALL_CODE_LIFE: Duration = minutes(10);
/// Attempts to enter such a code.
pub const ONCALL_CODE_ATTEMPTS_MAX: i64 = 5;
/// Steps of a chain of contact methods.
pub const ONCALL_CHAIN_STEPS_MAX: usize = 10;
/// Minutes until a step of a chain.
pub const ONCALL_CHAIN_MINUTES_MAX: i64 = 120;
/// Notifications, pages and people that one statement of the escalation lists.
pub const ONCALL_BATCH: i64 = 100;
/// Seconds between two looks for pages that are due. WIRE 7: `ONCALL_POLL_SECONDS`.
pub const ONCALL_POLL_SECONDS: u64 = 30;
/// The smallest such value.
pub const ONCALL_POLL_SECONDS_MIN: u64 = 5;
/// Pause between two looks for notifications that become pages.
pub const ONCALL_PAUSE: Duration = seconds(2);
/// The time for which one node opens and escalates pages, unless it extends it.
pub const ONCALL_LEASE: Duration = seconds(60);
/// Monitors of a project.
pub const MONITORS_MAX: i64 = 500;
/// Characters of the name of a monitor. WIRE 6.
pub const MONITOR_NAME_CHARS_MAX: usize = 200;
/// Seconds between two checks of a monitor. WIRE 6.
pub const MONITOR_INTERVAL_SECONDS: std::ops::RangeInclusive<i64> = 30..=86_400;
/// Seconds that one check may take. WIRE 6.
pub const MONITOR_TIMEOUT_SECONDS: std::ops::RangeInclusive<i64> = 1..=120;
/// Consecutive bad results that make a monitor down. WIRE 6.
pub const MONITOR_THRESHOLD: std::ops::RangeInclusive<i64> = 1..=10;
/// Seconds between two reports of a heartbeat.
pub const HEARTBEAT_PERIOD_SECONDS: std::ops::RangeInclusive<i64> = 30..=366 * 86_400;
/// Seconds that a report of a heartbeat may be late.
pub const HEARTBEAT_GRACE_SECONDS: std::ops::RangeInclusive<i64> = 0..=30 * 86_400;
/// Equal reports of a heartbeat within this time are one result.
pub const HEARTBEAT_REPEAT: Duration = seconds(10);
/// Bytes of the configuration of a monitor.
pub const MONITOR_CONFIG_BYTES_MAX: usize = 128 * KB;
/// Header fields, accepted statuses and DNS records of a monitor.
pub const MONITOR_HEADERS_MAX: usize = 50;
/// Memory of the compiled regular expression of a monitor, bytes.
pub const MONITOR_REGEX_BYTES_MAX: usize = MIB;
/// Bytes that a monitor reads of a response.
pub const MONITOR_RESPONSE_BYTES_MAX: usize = MIB;
/// Redirects that a check follows.
pub const MONITOR_REDIRECTS_MAX: usize = 10;
/// Characters of the reason of a result.
pub const MONITOR_REASON_CHARS_MAX: usize = 500;
/// Retention of the results of monitors. The sums by hour and day are bounded by number.
pub const MONITOR_RESULTS_RETENTION: Duration = Duration::from_secs(90 * 24 * 60 * 60);
/// Stored results of a monitor; the oldest are removed.
pub const MONITOR_RESULTS_MAX: i64 = 20_000;
/// Stored sums by hour of a monitor: 90 days and the current one.
pub const MONITOR_HOURS_MAX: i64 = 91 * 24;
/// Stored sums by day of a monitor.
pub const MONITOR_DAYS_MAX: i64 = 400;
/// Stored changes of the state of a monitor.
pub const MONITOR_TRANSITIONS_MAX: i64 = 1000;
/// Days of the bars of a monitor's availability. WIRE 6.
pub const MONITOR_BAR_DAYS: i64 = 90;
/// Points of the small chart of a monitor.
pub const MONITOR_SPARKLINE_POINTS: i64 = 60;
/// Points of the chart of a monitor.
pub const MONITOR_SERIES_POINTS_MAX: i64 = 500;
/// Checks that run at the same time.
pub const MONITORS_CONCURRENT: usize = 64;
/// Checks that run at the same time because users have requested them.
pub const MONITOR_RUNS_MAX: usize = 8;
/// Pause between two looks at the schedule of monitors.
pub const MONITORS_PAUSE: Duration = seconds(1);
/// Time for which a node takes the lease of monitors.
pub const MONITORS_LEASE: Duration = minutes(1);
/// A clock that is this far from where it should be has jumped.
pub const MONITORS_CLOCK_JUMP: Duration = seconds(30);
/// Bytes of the script of a check by a browser. WIRE 6.
pub const BROWSER_SCRIPT_BYTES_MAX: usize = 100 * KB;
/// Bytes of the configuration of such a monitor, as JSON.
pub const BROWSER_CONFIG_BYTES_MAX: usize = 256 * KB;
/// Bytes of such a check for a browser runner, as JSON.
pub const BROWSER_JOB_BYTES_MAX: usize = 2 * BROWSER_CONFIG_BYTES_MAX;
/// Variables of a script.
pub const BROWSER_ENV_MAX: usize = 50;
/// Bytes of the name of a variable, and of its value.
pub const BROWSER_ENV_BYTES_MAX: (usize, usize) = (64, 4 * KB);
/// Checks by a browser that run at the same time.
pub const BROWSER_CHECKS_CONCURRENT: usize = 2;
/// Memory of the processes of a check together, bytes.
pub const BROWSER_MEMORY_BYTES_MAX: u64 = 1 << 30;
/// Pause between two looks at their memory.
pub const BROWSER_MEMORY_PAUSE: Duration = Duration::from_millis(200);
/// Objects of a script, mebibytes.
pub const BROWSER_SCRIPT_HEAP_MIB: u64 = 256;
/// Size of a file that a browser writes.
pub const BROWSER_FILE_BYTES_MAX: u64 = 64 << 20;
/// Files that a process of a check has open.
pub const BROWSER_OPEN_FILES_MAX: u64 = 4096;
/// Open connections of a browser runner.
pub const BROWSER_RUNNER_CONNECTIONS_MAX: usize = 100;
/// Connections of a browser.
pub const BROWSER_CONNECTIONS_MAX: usize = 128;
/// Size of a message of a script for its browser, which is parsed.
pub const BROWSER_REQUEST_BYTES_MAX: usize = 8 * MIB;
/// Size of a message of a browser for a script.
pub const BROWSER_MESSAGE_BYTES_MAX: usize = 32 * MIB;
/// Bytes of what a script prints.
pub const BROWSER_OUTPUT_BYTES_MAX: usize = 4 * KB;
/// The niceness of the processes of a check.
pub const BROWSER_NICE: i32 = 10;
/// Time after its limit in which a worker ends its processes and reports.
pub const BROWSER_GRACE: Duration = seconds(10);
/// Bytes of the address of a reported deploy's page.
pub const DEPLOY_URL_BYTES_MAX: usize = 2000;
/// A reported deploy without a time repeats one of equal service, environment and version within this time.
pub const DEPLOY_REPEAT: Duration = minutes(60);
/// A first sight within this time of a reported deploy of the version belongs to it.
pub const DEPLOY_SEEN_WITHIN: Duration = minutes(60);
/// The time of a reported deploy may be this far ahead of the server's clock.
pub const DEPLOY_AHEAD_MAX: Duration = minutes(60);
/// Pause before first sights are written again after a failure.
pub const FIRST_VERSIONS_PAUSE: Duration = seconds(10);
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

/// Connections of one node to the control database.
pub const CONTROL_CONNECTIONS: u32 = 8;
/// Time that a request waits for a connection to the control database.
pub const CONTROL_WAIT_MAX: Duration = seconds(15);
/// Time after which an idle connection to PostgreSQL is closed.
pub const CONTROL_IDLE_MAX: Duration = minutes(10);
/// Maximum age of a connection to PostgreSQL.
pub const CONTROL_LIFE_MAX: Duration = minutes(30);
/// Interval at which a node checks whether another has changed users or permissions: the time within which a revoked
/// permission ends on every node.
pub const DIRECTORY_PAUSE: Duration = seconds(1);
/// Maximum grace period that a token rotation may request, hours.
pub const TOKEN_GRACE_HOURS_MAX: u64 = 168;
/// Default time for which a project's replaced token is still accepted.
pub const TOKEN_GRACE: Duration = Duration::from_secs(24 * 60 * 60);
/// Healthcheck paths of a project. WIRE 5.6.
pub const HEALTHCHECK_PATHS_MAX: usize = 50;
/// Size of a project's healthcheck paths, one per line, bytes: every journal record of its traces contains them.
pub const HEALTHCHECK_PATHS_BYTES_MAX: usize = 4096;
/// Labels on a project's allowlist of profile labels. WIRE 5.6.
pub const PROFILE_LABELS_MAX: usize = 20;
/// Characters of a healthcheck path or profile label.
pub const SETTING_TEXT_CHARS_MAX: usize = 200;
/// The project's own terms of content flags.
pub const AI_FLAGGED_TERMS_MAX: usize = 200;
/// Characters of such a term.
pub const AI_FLAGGED_TERM_CHARS_MAX: usize = 100;
/// Size of all such terms of a project: every journal record of spans contains them. Bytes.
pub const AI_FLAGGED_TERMS_BYTES_MAX: usize = 8 * 1024;
/// Size of the inputs of a request that are not in its body, bytes: its journal record contains them.
pub const REQUEST_ATTRIBUTES_BYTES_MAX: usize = 64 * KB;
/// Interval at which the retention of projects is passed to the store and deleted projects are purged.
pub const RETENTION_PAUSE: Duration = seconds(15);
/// Time from the deletion of a project to its purge; exports and uploads that were in flight then have ended.
pub const PURGE_DELAY: Duration = minutes(60);
/// Deadline of the query for remaining rows of a deleted project.
pub const PURGE_CHECK_MAX: Duration = minutes(1);
/// Maximum retention of a project, days.
pub const PROJECT_RETENTION_DAYS_MAX: u32 = 3650;
/// Maximum cost of a bcrypt hash; hashes of a higher cost are not verified. Each step doubles the time. WIRE 5.1 has
/// 12.
pub const BCRYPT_COST_MAX: u32 = 14;
/// Lifetime of a login. WIRE 5.1.
pub const LOGIN_LIFE: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Age at which the value of a session cookie is rotated.
pub const SESSION_ROTATION: Duration = minutes(15);
/// Time for which the previous cookie value is accepted after the new one was received.
pub const SESSION_COOKIE_GRACE: Duration = minutes(1);
/// Time after a sign-in for which a browser counts as a known device of the account.
pub const DEVICE_LIFE: Duration = Duration::from_secs(180 * 24 * 60 * 60);
/// Known devices of one user; beyond it, the device with the oldest sign-in is removed.
pub const DEVICES_MAX: i64 = 50;
/// Time within which a user must prove ownership of the account that a provider's sign-in will be linked to.
pub const LINK_PROOF_MAX: Duration = minutes(10);
/// Codes mailed to one account for that proof, within [`SECOND_FACTOR_WINDOW`].
pub const LINK_MAILS_MAX: i64 = 3;
/// Sessions of one user; beyond it, the least recently used one ends.
pub const SESSIONS_MAX: i64 = 200;
/// Time after a step-up within which a user may change credentials and roles and delete things.
pub const STEP_UP_LIFE: Duration = minutes(5);
/// Lifetime of an access token. WIRE 5.4.
pub const ACCESS_LIFE: Duration = minutes(15);
/// Lifetime of a refresh token from its last use. WIRE 5.4.
pub const REFRESH_LIFE: Duration = Duration::from_secs(90 * 24 * 60 * 60);
/// Time within which a reused refresh token gets the same response again, and does not end the sign-in. WIRE 5.4.
pub const REFRESH_GRACE: Duration = seconds(30);
/// Lifetime of a device code. WIRE 5.4.
pub const DEVICE_CODE_LIFE: Duration = minutes(10);
/// Minimum interval between two polls of a device. WIRE 5.4.
pub const DEVICE_INTERVAL: Duration = seconds(5);
/// Lifetime of an authorization code. WIRE 5.4.
pub const OAUTH_CODE_LIFE: Duration = minutes(5);
/// Time after which a registered client without any sign-in is deleted.
pub const UNUSED_CLIENT_LIFE: Duration = Duration::from_secs(24 * 60 * 60);
/// Registered clients without any sign-in; beyond it, the oldest is deleted. Anybody may register clients.
pub const UNUSED_CLIENTS_MAX: i64 = 1000;
/// Redirect URIs of a registered client.
pub const REDIRECT_URIS_MAX: usize = 3;
/// Length of a redirect URI, bytes.
pub const REDIRECT_URI_BYTES_MAX: usize = 500;
/// Characters in the name of a client or a personal access token.
pub const CREDENTIAL_NAME_CHARS_MAX: usize = 100;
/// Projects in the scope of a token.
pub const TOKEN_PROJECTS_MAX: usize = 100;
/// Personal access tokens of one user.
pub const PERSONAL_TOKENS_MAX: i64 = 100;
/// Default lifetime of a personal access token, days.
pub const PERSONAL_TOKEN_DAYS: u32 = 90;
/// Maximum lifetime of a personal access token, days.
pub const PERSONAL_TOKEN_DAYS_MAX: u32 = 3650;
/// Time between the password and the second factor of a sign-in.
pub const SECOND_FACTOR_MAX: Duration = minutes(5);
/// Wrong second factors of one account within [`SECOND_FACTOR_WINDOW`], from all clients together; more get 429.
pub const SECOND_FACTOR_TRIES_MAX: i64 = 10;
/// Window of [`SECOND_FACTOR_TRIES_MAX`] and [`LINK_MAILS_MAX`].
pub const SECOND_FACTOR_WINDOW: Duration = minutes(15);
/// Recovery codes of one user.
pub const RECOVERY_CODES: usize = 10;
/// Lifetime of a setup token.
pub const SETUP_LIFE: Duration = minutes(60);
/// Projects of one organization. Every node has all of them in memory.
pub const PROJECTS_PER_ORGANIZATION_MAX: i64 = 500;
/// Projects that one request may create.
pub const PROJECTS_AT_ONCE_MAX: usize = 50;
/// Passkeys of one user.
pub const PASSKEYS_MAX: i64 = 20;
/// Time from a passkey's challenge to its response. WebAuthn, 15.1, recommends 5 to 10 minutes.
pub const PASSKEY_CEREMONY_MAX: Duration = minutes(5);
/// Characters of a User-Agent in the audit log.
pub const USER_AGENT_CHARS_MAX: usize = 300;
/// Minimum interval between two updates of a token's time of last use.
pub const LAST_USED_PAUSE: Duration = minutes(1);
/// Minimum length of a key that the operator configures for signing or sealing, bytes.
pub const LOGIN_KEY_BYTES_MIN: usize = 32;
/// Minimum length of a password, characters. WIRE 5.1.
pub const PASSWORD_CHARS_MIN: usize = 8;
/// Maximum length of a password, bytes. Longer ones are refused without hashing.
pub const PASSWORD_BYTES_MAX: usize = 1024;
/// Password hashes computed concurrently; each takes 19 MB and tens of milliseconds.
pub const PASSWORD_HASHES_MAX: usize = 2;
/// Passwords of unknown clients that wait to be hashed; more get 503.
pub const PASSWORD_HASHES_WAITING_MAX: usize = 32;
/// Passwords that may wait in addition, of users who are signed in, or sign in from an address that they used before.
pub const PASSWORD_HASHES_RESERVED: usize = 32;
/// Failed sign-ins at one account without a delay.
pub const GUESSES_FREE: u32 = 20;
/// Maximum delay after further failures: 1, 2, 4, ... seconds after the last one, up to this.
pub const GUESS_PAUSE_MAX: Duration = minutes(1);
/// Time without a failure after which the failures of an account are reset.
pub const GUESSES_RESET_AFTER: Duration = minutes(15);
/// IPv6 prefix lengths, and the failed sign-ins per minute that a network of each may have.
pub const GUESSES_PER_NETWORK: [(u32, u32); 2] = [(56, 30), (48, 100)];
/// Accounts and networks whose failed sign-ins are counted.
pub const GUESSED_MAX: usize = 65_536;
/// Oldest of these counters that are dropped when the table is full.
pub const GUESSES_DROPPED: usize = GUESSED_MAX / 2;
/// Lifetime of an invitation. WIRE 5.2.
pub const INVITATION_LIFE: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Lifetime of a password reset link.
pub const RESET_LIFE: Duration = minutes(60);
/// Minimum interval between two password reset mails to the same user. WIRE 5.2.
pub const RESET_PAUSE: Duration = minutes(60);
/// Password reset requests processed concurrently in the background, after their response; more get 503.
pub const RESETS_MAX: usize = 64;
/// Organizations that one user may own.
pub const ORGANIZATIONS_OWNED_MAX: usize = 10;
/// Invitations by one user within [`INVITATIONS_WINDOW`]; each sends a mail.
pub const INVITATIONS_OF_PERSON_MAX: i64 = 50;
/// Invitations by one organization within [`INVITATIONS_WINDOW`].
pub const INVITATIONS_OF_ORGANIZATION_MAX: i64 = 100;
/// Invitations to one address within [`INVITATIONS_WINDOW`], from all organizations together.
pub const INVITATIONS_TO_ADDRESS_MAX: i64 = 5;
/// Window of the limits on invitations.
pub const INVITATIONS_WINDOW: Duration = Duration::from_secs(24 * 60 * 60);
/// Project roles that one request may set.
pub const PROJECT_ROLES_MAX: usize = 1000;
/// Length of an e-mail address, bytes. RFC 5321: 64 + 1 + 255.
pub const EMAIL_BYTES_MAX: usize = 320;
/// Time of one request to an identity provider.
pub const SSO_CALL_MAX: Duration = seconds(10);
/// Size of the response of an identity provider, bytes.
pub const SSO_ANSWER_BYTES_MAX: u64 = 1 << 20;
/// Time for which a discovery document is cached.
pub const SSO_DISCOVERY_LIFE: Duration = minutes(60);
/// Time from the redirect to an identity provider to its callback.
pub const SSO_SIGN_IN_LIFE: Duration = minutes(10);
/// Accepted difference between the clocks of an identity provider and of this server.
pub const SSO_CLOCKS_APART: Duration = seconds(60);
/// Entries of the audit log in one response.
pub const AUDIT_ENTRIES_MAX: i64 = 200;
/// Entries of the audit log in one export; `before` continues it.
pub const AUDIT_EXPORT_ENTRIES_MAX: i64 = 100_000;
/// Interval at which the outbox is polled when no mail is added.
pub const MAIL_PAUSE: Duration = seconds(5);
/// Mails claimed and sent in one batch.
pub const MAIL_BATCH: i64 = 20;
/// Lease of a mail that a node is sending: other nodes do not send it in this time.
pub const MAIL_LEASE: Duration = minutes(15);
/// Timeout of one SMTP command.
pub const MAIL_TIMEOUT: Duration = seconds(30);
/// Delay before a mail that the mail server did not accept is retried; doubled each time.
pub const MAIL_RETRY_MIN: Duration = seconds(10);
/// Maximum delay between two attempts at a mail.
pub const MAIL_RETRY_MAX: Duration = minutes(60);
/// Age at which an unsent mail is given up; what it is about has expired by then.
pub const MAIL_LIFE: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Attempts at a mail that the mail server refuses permanently.
pub const MAIL_REFUSED_TRIES: i64 = 10;
/// Channels of a project.
pub const CHANNELS_MAX: i64 = 100;
/// Characters of the name of a channel.
pub const CHANNEL_NAME_CHARS_MAX: usize = 100;
/// Bytes of one value in the configuration of a channel.
pub const CHANNEL_VALUE_BYTES_MAX: usize = 4 << 10;
/// Recipients of a mail channel. WIRE 7.
pub const CHANNEL_RECIPIENTS_MAX: usize = 10;
/// Own headers of a webhook, and labels of GitHub issues.
pub const CHANNEL_ENTRIES_MAX: usize = 20;
/// Window of the rate of a channel.
pub const CHANNEL_WINDOW: Duration = minutes(1);
/// Messages that are sent to a channel within [`CHANNEL_WINDOW`]; of more notifications digests are made.
pub const CHANNEL_MESSAGES_MAX: i64 = 10;
/// Messages within [`CHANNEL_WINDOW`] to a channel whose receiver follows each alert, and takes no digests.
pub const CHANNEL_EVENTS_MAX: i64 = 100;
/// Notifications in one digest.
pub const DIGEST_NOTIFICATIONS_MAX: i64 = 500;
/// Notifications that a digest lists; the others are counted.
pub const DIGEST_LINES_MAX: usize = 50;
/// Attempts at a notification. WIRE 7.
pub const NOTIFICATION_TRIES: usize = 1 + NOTIFICATION_RETRIES.len();
/// Delays between the attempts at a notification. WIRE 7.
pub const NOTIFICATION_RETRIES: [Duration; 4] = [minutes(1), minutes(5), minutes(15), minutes(60)];
/// Maximum delay between two attempts at a notification.
pub const NOTIFICATION_RETRY_MAX: Duration = minutes(60);
/// Messages of one channel that are claimed together, and sent one after the other.
pub const NOTIFICATION_CLAIM_MAX: usize = 10;
/// Lease of a message that a node is sending, renewed before each message: other nodes do not send it in this time.
pub const NOTIFICATION_LEASE: Duration = minutes(2);
/// Channels and direct targets that are sent to at once.
pub const NOTIFICATION_SENDERS_MAX: usize = 8;
/// Default interval at which the outbox of notifications is polled when this node queues none.
pub const OUTBOX_POLL_SECONDS: u64 = 15;
/// Time of one request to the server of a channel.
pub const NOTIFICATION_CALL_MAX: Duration = seconds(15);
/// Size of the response of a channel's server that is read, bytes.
pub const NOTIFICATION_ANSWER_BYTES_MAX: u64 = 4 << 20;
/// Characters of the response of a channel's server that are shown.
pub const NOTIFICATION_ANSWER_CHARS_SHOWN: usize = 200;
/// Time for which the outcome of a notification is kept.
pub const NOTIFICATION_OUTCOMES_KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// Interval at which older outcomes are deleted.
pub const NOTIFICATION_TIDY_PAUSE: Duration = minutes(60);
/// Time that a stop waits for messages that are being sent. Others are sent after the next start.
pub const NOTIFICATION_STOP_MAX: Duration = seconds(2);
/// Tests of channels that run at once.
pub const CHANNEL_TESTS_MAX: usize = 4;
/// Characters in the name of a project. WIRE 5.6.
pub const PROJECT_NAME_CHARS_MAX: usize = 100;

/// Time within which an alert joins the open incident of its project, counted from the incident's latest alert.
pub const INCIDENT_GROUP_WINDOW: Duration = minutes(5);
/// Default time from the end of the last alert of an incident to its resolution: an alert that fires again joins it.
pub const INCIDENT_GRACE_SECONDS: u64 = 300;
/// Issues on the timeline of one incident.
pub const INCIDENT_ISSUES_MAX: usize = 50;
/// Interval at which new notifications are grouped into incidents.
pub const INCIDENT_PAUSE: Duration = seconds(2);
/// Lease of the node that groups notifications.
pub const INCIDENT_LEASE: Duration = seconds(60);
/// Notifications that one transaction groups.
pub const INCIDENT_NOTIFICATIONS: i64 = 200;
/// Alerts stored with one incident; further ones only raise its severity.
pub const INCIDENT_ALERTS_MAX: usize = 200;
/// Open incidents of an organization; beyond, alerts join the latest one, and none is opened by hand.
pub const INCIDENTS_OPEN_MAX: usize = 100;
/// Incidents in one answer.
pub const INCIDENTS_LISTED_MAX: i64 = 100;
/// Updates of one incident.
pub const INCIDENT_UPDATES_MAX: i64 = 200;
/// Characters in the title of an incident.
pub const INCIDENT_TITLE_CHARS_MAX: usize = 200;
/// Characters in one update of an incident, and in the description of a maintenance window.
pub const INCIDENT_MESSAGE_CHARS_MAX: usize = 5000;
/// Time before an incident whose deploys and new Issues are on its timeline.
pub const INCIDENT_CAUSES_BEFORE: Duration = minutes(60);
/// Entries of the timeline of an incident.
pub const INCIDENT_TIMELINE_MAX: usize = 500;
/// Size of a post-mortem, bytes.
pub const POST_MORTEM_BYTES_MAX: usize = 64 * KB;
/// Depth of nested elements in Markdown; deeper ones are shown without their formatting.
pub const MARKDOWN_DEPTH_MAX: usize = 16;
/// Length of the address of a link in Markdown, bytes; a longer one is no link.
pub const MARKDOWN_LINK_BYTES_MAX: usize = 2000;
/// Status pages of an organization.
pub const STATUS_PAGES_MAX: i64 = 50;
/// Monitors on one status page. WIRE 6.
pub const STATUS_PAGE_CHECKS_MAX: usize = 50;
/// Characters in the name of a status page. WIRE 6.
pub const STATUS_PAGE_NAME_CHARS_MAX: usize = 200;
/// Characters in the description of a status page. WIRE 6.
pub const STATUS_PAGE_DESCRIPTION_CHARS_MAX: usize = 500;
/// Characters in the name of a group of components.
pub const STATUS_GROUP_CHARS_MAX: usize = 100;
/// Days of availability on a status page. WIRE 6.
pub const STATUS_DAYS: usize = 90;
/// Time for which a status page is served from memory. WIRE 6.
pub const STATUS_PAGE_LIFE: Duration = seconds(30);
/// Status pages in memory; beyond, the oldest is removed.
pub const STATUS_PAGES_CACHED_MAX: usize = 1000;
/// Incidents on one status page.
pub const STATUS_INCIDENTS_MAX: i64 = 50;
/// Outages of its monitors on one status page.
pub const STATUS_OUTAGES_MAX: i64 = 500;
/// Maintenance windows of one status page; beyond, the oldest ended ones are deleted.
pub const STATUS_MAINTENANCE_MAX: i64 = 50;
/// Longest maintenance window.
pub const STATUS_MAINTENANCE_SPAN_MAX: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// Subscribers of one status page.
pub const STATUS_SUBSCRIBERS_MAX: i64 = 1000;
/// Time to confirm a subscription.
pub const STATUS_CONFIRM_LIFE: Duration = Duration::from_secs(24 * 60 * 60);
/// Minimum time between two requests of one subscriber to confirm.
pub const STATUS_CONFIRM_PAUSE: Duration = minutes(60);
/// Size of the address of a webhook that subscribes, bytes.
pub const STATUS_WEBHOOK_BYTES_MAX: usize = 2000;

/// Length of a per-IP window. Spec: "Per-IP fixed-window limits".
pub const WINDOW: Duration = minutes(1);
/// Rows of the count-min sketch of the per-IP windows. An address is counted in one cell of each row, and its count is
/// the smallest of them: with four million addresses a minute collisions are rare.
pub const WINDOW_ROWS: usize = 4;
/// Binary logarithm of the number of one-byte cells in a row of the sketch.
pub const WINDOW_CELL_BITS: u32 = 20;
/// Length of the prefix by which IPv6 addresses are counted: one subscriber has the rest.
pub const IPV6_PREFIX_BITS: u32 = 64;
/// Minimum interval between two log lines about one untrusted proxy.
pub const PROXY_LOG_PAUSE: Duration = minutes(1);
/// Untrusted proxies that are logged within [`PROXY_LOG_PAUSE`].
pub const PROXY_LOG_ADDRESSES_MAX: usize = 1000;

/// Defines the per-IP windows, and a type of the same name for each: an extractor `_: PerIp<Login>` limits a route.
macro_rules! windows {
    ($($(#[$doc:meta])* $word:ident: $most:literal a minute, $what:literal, $source:literal;)*) => {
        /// A limit on the requests per minute of one client address. Each window is counted separately.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Window { $($(#[$doc])* $word),* }

        impl Window {
            /// Every window, in the order of declaration.
            pub const ALL: &[Window] = &[$(Window::$word),*];

            /// Maximum number of requests per minute.
            pub const fn requests_max(self) -> u8 {
                match self { $(Window::$word => $most),* }
            }

            /// What is limited, and its source in the specification.
            pub const fn about(self) -> (&'static str, &'static str) {
                match self { $(Window::$word => ($what, $source)),* }
            }
        }

        /// One type for each window.
        pub mod per_ip {
            /// Maps a type to its window.
            pub trait Named {
                /// The window that the type stands for.
                const WINDOW: super::Window;
            }
            $($(#[$doc])* pub struct $word; impl Named for $word { const WINDOW: super::Window = super::Window::$word; })*
        }
    };
}

windows! {
    /// `/login`.
    Login: 10 a minute, "/login", "\"Per-IP\"";
    /// `/register`.
    Register: 10 a minute, "/register", "\"Per-IP\"";
    /// SSO start.
    SsoStart: 20 a minute, "SSO start", "\"Per-IP\"";
    /// SSO callback.
    SsoCallback: 20 a minute, "SSO callback", "\"Per-IP\"";
    /// `/auth/token` and `/auth/device/token` together. A device-code poll gets `slow_down` instead of 429:
    /// `ApiError::for_grant`.
    Token: 60 a minute, "/auth/token and /auth/device/token together", "\"Per-IP\"";
    /// `/auth/logout`.
    Logout: 20 a minute, "/auth/logout", "\"Per-IP\"";
    /// `/forgot-password`.
    ForgotPassword: 5 a minute, "/forgot-password", "\"Per-IP\"";
    /// Password-reset validation.
    ResetValidation: 30 a minute, "password-reset validation", "\"Per-IP\"";
    /// Password-reset consumption.
    ResetConsumption: 10 a minute, "password-reset consumption", "\"Per-IP\"";
    /// Invitation lookup.
    InvitationLookup: 30 a minute, "invitation lookup", "\"Per-IP\"";
    /// Invitation acceptance.
    InvitationAcceptance: 10 a minute, "invitation acceptance", "\"Per-IP\"";
    /// Starting a device login.
    DeviceAuthorize: 10 a minute, "device login, start", "wire, appendix A";
    /// Second step of a login.
    SecondFactor: 10 a minute, "/login/mfa", "our own";
    /// Turning a second factor on or off, and its recovery codes.
    SecondFactorChange: 10 a minute, "second factor, changes", "our own";
    /// Change of one's own password.
    PasswordChange: 10 a minute, "/me/password", "our own";
    /// Step-up: a signed-in user proves their identity again.
    StepUp: 10 a minute, "/me/step-up", "our own";
    /// Challenges for passkeys.
    Passkey: 20 a minute, "passkey, challenges", "our own";
    /// Sign-in with a passkey.
    PasskeyLogin: 10 a minute, "passkey, sign-in", "our own";
    /// Adding and removing passkeys.
    PasskeyChange: 20 a minute, "passkey, changes", "our own";
    /// Creating the first organization after a sign-in with a provider.
    FinishSetup: 10 a minute, "/auth/finish-setup", "our own";
    /// Requests with a setup token.
    Setup: 60 a minute, "setup tokens", "our own";
    /// Registration of an OAuth client.
    OauthRegister: 10 a minute, "OAuth client registration", "wire, appendix A";
    /// Public status pages: page, JSON, feed and badge together.
    StatusPage: 30 a minute, "public status pages", "\"Per-IP\"";
    /// Logos of public status pages.
    StatusLogo: 60 a minute, "logos of public status pages", "wire, 6";
    /// Look-up of the status page of a custom domain.
    StatusDomain: 60 a minute, "status page of a domain, look-up", "wire, 6";
    /// Subscribing to a status page, confirming and unsubscribing.
    StatusSubscription: 10 a minute, "subscriptions to status pages", "our own";
    /// Lookup of an acknowledge link.
    AckLookup: 30 a minute, "acknowledge link, look-up", "wire, appendix A";
    /// Reports of heartbeats.
    Heartbeat: 240 a minute, "heartbeat reports", "our own";
    /// Acknowledging with such a link.
    Ack: 10 a minute, "acknowledge link", "wire, appendix A";
    /// iCalendar feeds of shifts.
    OncallFeed: 30 a minute, "iCalendar feed of on-call shifts", "our own";
}

/// Upper bounds of the buckets of duration histograms, milliseconds.
pub const METRIC_BUCKETS_MS: [f64; 14] =
    [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0, 5000.0, 10_000.0, 30_000.0];

/// Artifacts of symbol files in the build queue; others are built when they are needed.
pub const ARTIFACTS_WAITING_MAX: usize = 10_000;
/// Size of the artifact cache in memory, bytes.
pub const ARTIFACT_CACHE_BYTES: usize = 64 * MIB;
/// Time for which a missing artifact is not looked up again; an upload ends it at once.
pub const ARTIFACT_MISSING_FOR: Duration = seconds(60);
/// Entries of the artifact cache: artifacts in memory and known missing ones.
pub const ARTIFACTS_KNOWN_MAX: usize = 100_000;
/// Missing debug files of a project that are recorded.
pub const MISSING_SYMBOLS_MAX: usize = 1000;
/// Interval at which the state of symbols (missing files, last uses) is persisted when it has changed.
pub const SYMBOL_STATE_PAUSE: Duration = seconds(10);
/// Resolution of an upload's time of last use: minimum interval between two updates.
pub const SYMBOL_USE_PAUSE: Duration = minutes(60);
/// Minimum size that a file is charged with against a project's quota, bytes: a small file takes a block of the disk.
pub const SYMBOL_CHARGE_MIN: u64 = 4 << 10;
/// Warnings in the response to one upload.
pub const UPLOAD_WARNINGS_MAX: usize = 20;
/// App versions recorded for one file content.
pub const SYMBOL_VERSIONS_MAX: usize = 20;
/// Default number of symbol files that one project may store.
pub const SYMBOLS_PROJECT_FILES: u64 = 50_000;
/// Maximum time to build one artifact: then the file is given up, and the next is built.
pub const ARTIFACT_BUILD_MAX: Duration = minutes(5);
/// Spans per query when stack traces are resymbolicated.
pub const RESYMBOLICATE_SPANS: usize = 1000;
/// Default size of the uploads that one project may store, mebibytes.
pub const SYMBOLS_PROJECT_MB: u64 = 20 << 10;
/// Age in days up to which stack traces are resymbolicated when their symbols are uploaded.
pub const RESYMBOLICATE_DAYS: u64 = 7;
/// Delay from an upload of symbols to the resymbolication of stack traces, and between two rounds.
pub const RESYMBOLICATE_PAUSE: Duration = seconds(2);
/// Time to symbolicate the stack traces of one request; the rest is stored raw and resymbolicated in the background.
pub const RESOLVE_REQUEST_MAX: Duration = Duration::from_millis(100);
/// Time to symbolicate the console of a recording when it is read; the rest is shown raw.
pub const RESOLVE_RECORDING_MAX: Duration = Duration::from_millis(500);
/// Length of the file name that a source map or script is stored under, bytes.
pub const SYMBOL_NAME_BYTES_MAX: usize = 200;
/// Characters shown of the name of a file, a tool or an app version as it was sent.
pub const UPLOAD_NAME_CHARS_SHOWN: usize = 200;

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
/// Default length of the traffic in demo data, minutes.
pub const DEMO_HISTORY_MINUTES: u64 = 60;
/// Maximum length of the traffic in demo data, minutes.
pub const DEMO_HISTORY_MINUTES_MAX: u64 = 240;
/// Attempts at an export of demo data while the server is too busy to store it.
pub const DEMO_ATTEMPTS: u32 = 20;
/// Pause between two attempts at an export of demo data.
pub const DEMO_PAUSE: Duration = Duration::from_millis(250);

/// Own spans that wait to be sent; more are dropped and counted.
pub const OWN_SPANS_WAITING_MAX: usize = 4096;
/// Own spans in one batch.
pub const OWN_SPANS_BATCH: usize = 512;
/// Maximum delay of an own span before its batch is sent.
pub const OWN_SPANS_EVERY: Duration = seconds(1);
/// Maximum pause before a batch that the endpoint cannot accept is sent again; the pause doubles each time.
pub const OWN_SPANS_PAUSE_MAX: Duration = seconds(60);
/// Attempts at a batch of own spans before it is dropped, after about five minutes.
pub const OWN_SPANS_ATTEMPTS: u32 = 10;
/// Timeout of one request with a batch of own spans.
pub const OWN_SPANS_SEND_MAX: Duration = seconds(5);
/// Length of a request's path in its own span, bytes.
pub const OWN_SPAN_PATH_BYTES_MAX: usize = 1024;
/// Maximum length of a `tracestate` that is propagated, bytes. W3C Trace Context: at least 512.
pub const TRACE_STATE_BYTES_MAX: usize = 512;

// The requests of a message end within its lease: four of them for a GitHub issue.
const _: () = assert!(4 * NOTIFICATION_CALL_MAX.as_secs() < NOTIFICATION_LEASE.as_secs());
const _: () = assert!(UPLOAD_FILE_BYTES_MAX < UPLOAD.body_bytes_max);
// Every list of labels fits, in UTF-8, with a quarter for the rest.
const _: () = assert!(PROFILE_LABELS_MAX * (5 + 4 * SETTING_TEXT_CHARS_MAX) < REQUEST_ATTRIBUTES_BYTES_MAX / 4 * 3);
const _: () = assert!(ANONYMOUS.body_bytes_max < JSON.body_bytes_max);
const _: () = assert!(JSON.body_bytes_max < OTLP.body_bytes_max && OTLP.body_bytes_max < REPORT.body_bytes_max);
const _: () = assert!(OTLP.body_gap_max.as_secs() < OTLP.body_total_max.as_secs());
const _: () = assert!(REPORT.body_total_max.as_secs() < UPLOAD.body_total_max.as_secs());
const _: () = assert!(INGEST_BYTES_HELD_MAX >= 4 * OTLP.body_bytes_max);
const _: () =
    assert!(INGEST_BYTES_HELD_MAX / QUARTERS * PROJECT_SHARE_QUARTERS >= BODY_EXPANSION_MAX * OTLP.body_bytes_max);
const _: () = assert!(JSON_BYTES_HELD_MAX >= 4 * JSON.body_bytes_max);
const _: () = assert!(INGEST_INLINE_COMPRESSED_BYTES_MAX < INGEST_INLINE_BYTES_MAX);
const _: () = assert!(INGEST_INLINE_BYTES_MAX <= OTLP.body_bytes_max);
const _: () = assert!(JOURNAL_QUEUE_BYTES_MAX as u64 * 4 < JOURNAL_BYTES_MAX);
const _: () = assert!(*RETRY_AFTER_SECONDS.start() >= 1);
const _: () = assert!(REPORT.body_bytes_max < INGEST_BYTES_HELD_MAX / QUARTERS * PROJECT_SHARE_QUARTERS);
const _: () = assert!(HTTP2_STREAM_WINDOW_BYTES <= HTTP2_CONNECTION_WINDOW_BYTES);
const _: () = assert!(WINDOW_ROWS as u32 * WINDOW_CELL_BITS <= u128::BITS);
const _: () = assert!(OTLP.body_bytes_max >= 10 * MB);
const _: () = assert!(OWN_SPANS_BATCH < OWN_SPANS_WAITING_MAX);
