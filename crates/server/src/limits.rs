//! Every number of the specification's "Limits", as a table. `gate/` enforces them and holds none.
//!
//! Each value cites its row of the spec; relations between them are checked when compiling.

use std::time::Duration;

/// Bytes.
pub const KB: usize = 1 << 10;
const MB: usize = 1_000_000;
const MIB: usize = 1 << 20;

const fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

const fn minutes(count: u64) -> Duration {
    Duration::from_secs(60 * count)
}

/// What a class of routes accepts as a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouteLimits {
    /// After decompression, counted while streaming; over it: 413.
    pub body_bytes_max: usize,
    /// From the end of the headers to the last byte.
    pub body_total_max: Duration,
    /// Between two pieces of the body.
    pub body_gap_max: Duration,
    pub slow_answer: SlowAnswer,
}

/// What a client hears whose body comes too slowly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlowAnswer {
    /// Spec: errors, row 408.
    Timeout408,
    /// Spec: errors, row 503: OTLP exporters retry 503 and never 408.
    Retry503,
}

/// OTLP exports. Spec: limits, rows "OTLP body" (both) and "Slow client".
/// 10 MB is taken as 10 x 2^20 bytes, the reading that rejects less.
pub const OTLP: RouteLimits = RouteLimits {
    body_bytes_max: 10 * MIB,
    body_total_max: minutes(2),
    body_gap_max: seconds(20),
    slow_answer: SlowAnswer::Retry503,
};

/// `/api/report` and profiles. Spec: limits, rows "Report and profile body", "`/api/report` body".
pub const REPORT: RouteLimits = RouteLimits {
    body_bytes_max: 64 * MIB,
    body_total_max: minutes(10),
    body_gap_max: seconds(20),
    slow_answer: SlowAnswer::Retry503,
};

/// Every other JSON body. Spec: limits, rows "Database-writing endpoints body" and "Request body".
pub const JSON: RouteLimits = RouteLimits {
    body_bytes_max: 8 * MIB,
    body_total_max: minutes(10),
    body_gap_max: seconds(30),
    slow_answer: SlowAnswer::Timeout408,
};

/// Login, registration and the like. Spec: limits, row "Anonymous auth endpoint bodies".
pub const ANONYMOUS: RouteLimits = RouteLimits { body_bytes_max: 64 * KB, ..JSON };

/// Symbol and source-map uploads. Spec: limits, rows "Upload size" and "Upload body".
pub const UPLOAD: RouteLimits = RouteLimits {
    body_bytes_max: 250 * MIB,
    body_total_max: minutes(30),
    body_gap_max: seconds(30),
    slow_answer: SlowAnswer::Timeout408,
};
/// Spec: limits, row "Upload size".
pub const UPLOAD_FILE_BYTES_MAX: usize = 200 * MIB;
/// Spec: limits, row "Upload size".
pub const UPLOAD_FILES_MAX: usize = 1000;
/// Spec: limits, row "Upload concurrency".
pub const UPLOAD_CONCURRENT: usize = 4;
/// Spec: limits, row "Upload concurrency": then 503.
pub const UPLOAD_WAIT_MAX: Duration = seconds(30);

/// Spec: limits, row "Slow client": bytes per second on average ...
pub const SLOW_BYTES_PER_SECOND: u64 = 1000;
/// ... once this much of the body's time has passed.
pub const SLOW_AFTER: Duration = seconds(20);

/// Spec: limits, row "Headers".
pub const HEADERS_MAX: Duration = seconds(15);
/// Spec: limits, row "Idle keep-alive".
pub const IDLE_MAX: Duration = minutes(2);
/// Requests at once on one HTTP/2 connection.
pub const HTTP2_STREAMS_MAX: u32 = 200;
/// How long requests in flight may take once a stop is asked for.
pub const DRAIN_MAX: Duration = seconds(30);

/// Rows in the memtable before a flush.
pub const FLUSH_ROWS: usize = 262_144;
/// Mebibytes of rows that are not yet in parts; half of it is flushed at a time.
pub const MEMTABLE_MB: usize = 256;
/// Age of the memtable's first request before a flush, seconds.
pub const FLUSH_SECONDS: u64 = 30;
/// How long telemetry is kept by default.
pub const RETENTION_DAYS: u32 = 30;

/// Spec: limits, row "Ingest concurrency": floor.
pub const INGEST_CONCURRENT_MIN: usize = 4;
/// Spec: limits, row "Ingest concurrency": waiting room, in multiples of the capacity ...
pub const INGEST_WAITING_PER_SLOT: usize = 4;
/// ... and at least this many.
pub const INGEST_WAITING_MIN: usize = 16;
/// Bodies up to this many bytes are decoded where they arrive; larger ones on a blocking thread.
pub const INGEST_INLINE_BYTES_MAX: usize = 64 * KB;
/// As above for compressed bodies, counted before they are inflated.
pub const INGEST_INLINE_COMPRESSED_BYTES_MAX: usize = 8 * KB;
/// Bodies of exports held in memory at once, over all connections; beyond it 503.
pub const INGEST_BYTES_HELD_MAX: usize = 256 * MIB;
/// The journal's segments together. Full means 503 until the store has caught up.
pub const JOURNAL_BYTES_MAX: u64 = 2 << 30;
/// Accepted bodies that wait for the disk.
pub const JOURNAL_QUEUE_BYTES_MAX: usize = 64 * MIB;
/// How long a replay waits for a flush before it says so.
pub const REPLAY_WAIT: Duration = seconds(30);
/// Pause between two log lines about the same kind of refused export.
pub const REJECTION_LOG_PAUSE: Duration = minutes(1);
/// First allocation for a body of unknown size.
pub const BODY_BYTES_HINT_MAX: usize = 256 * KB;

/// `Retry-After` of a 503 is drawn from this range, in seconds, so that clients do not come back as one. DECISIONS 19.
pub const RETRY_AFTER_SECONDS: std::ops::RangeInclusive<u64> = 1..=5;

/// One question to the store, unless its route says otherwise.
pub const ASK_MAX: Duration = seconds(30);
/// Questions that may wait for a query thread, per thread; beyond it 503.
pub const ASK_WAITING_PER_THREAD: usize = 64;

/// Spec: metrics query.
pub const METRICS_QUERIES_MAX: usize = 50;
pub const METRICS_TAG_FILTERS_MAX: usize = 20;
pub const METRICS_DAYS_MAX: i64 = 731;
pub const METRICS_POINTS_MAX: i64 = 2000;
pub const METRICS_GROUPS_MAX: usize = 200;
pub const METRICS_DEADLINE: Duration = seconds(30);

/// Lists of spans and whole traces. WIRE 8.8.
pub const SPANS_DEADLINE: Duration = seconds(20);
/// Every other dashboard question.
pub const LIST_DEADLINE: Duration = seconds(10);
/// Spans of one graph; more are counted, not shown (`span_limit`). Spec: span, rule 4.
pub const GRAPH_SPANS_MAX: usize = 20_000;

/// Spec: limits, row "Span read window": either side of the entity.
pub const SPAN_WINDOW: Duration = Duration::from_secs(24 * 60 * 60);

/// Life of a login. WIRE 5.1.
pub const LOGIN_LIFE: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// WIRE 5.1.
pub const PASSWORD_CHARS_MIN: usize = 8;
/// A longer one is refused rather than hashed.
pub const PASSWORD_BYTES_MAX: usize = 1024;
/// Password hashes computed at once; each takes 19 MB and tens of milliseconds.
pub const PASSWORD_HASHES_MAX: usize = 2;
/// WIRE 5.6.
pub const PROJECT_NAME_CHARS_MAX: usize = 100;

/// Per-IP windows, requests per minute. Spec: "Per-IP fixed-window limits".
pub mod per_ip {
    pub const LOGIN: u32 = 10;
    pub const SSO: u32 = 20;
    pub const TOKEN: u32 = 60;
    pub const LOGOUT: u32 = 20;
    pub const FORGOT_PASSWORD: u32 = 5;
    pub const RESET_VALIDATION: u32 = 30;
    pub const RESET_CONSUMPTION: u32 = 10;
    pub const INVITATION_LOOKUP: u32 = 30;
    pub const INVITATION_ACCEPTANCE: u32 = 10;
    pub const STATUS_PAGE: u32 = 30;
}

/// Answers to an export are small; the OTLP specification wants them under 4 MiB.
pub const EXPORT_ANSWER_BYTES_MAX: usize = 4 * MIB;

const _: () = assert!(UPLOAD_FILE_BYTES_MAX < UPLOAD.body_bytes_max);
const _: () = assert!(ANONYMOUS.body_bytes_max < JSON.body_bytes_max);
const _: () = assert!(JSON.body_bytes_max < OTLP.body_bytes_max && OTLP.body_bytes_max < REPORT.body_bytes_max);
const _: () = assert!(OTLP.body_gap_max.as_secs() < OTLP.body_total_max.as_secs());
const _: () = assert!(REPORT.body_total_max.as_secs() < UPLOAD.body_total_max.as_secs());
const _: () = assert!(INGEST_BYTES_HELD_MAX >= 4 * OTLP.body_bytes_max);
const _: () = assert!(INGEST_INLINE_COMPRESSED_BYTES_MAX < INGEST_INLINE_BYTES_MAX);
const _: () = assert!(INGEST_INLINE_BYTES_MAX <= OTLP.body_bytes_max);
const _: () = assert!(JOURNAL_QUEUE_BYTES_MAX as u64 * 4 < JOURNAL_BYTES_MAX);
const _: () = assert!(*RETRY_AFTER_SECONDS.start() >= 1);
const _: () = assert!(OTLP.body_bytes_max >= 10 * MB);

/// Every limit as a person reads it: what it is, its value, where the specification has it. `docs/limits.md` is this.
pub fn table() -> Vec<[String; 3]> {
    let row = |name: &str, value: String, source: &str| [name.to_owned(), value, source.to_owned()];
    let mut rows = Vec::new();
    for (name, limits, source) in [
        ("OTLP", OTLP, "\"OTLP body\", \"Slow client\""),
        ("report and profile", REPORT, "\"Report and profile body\", \"/api/report body\""),
        ("JSON", JSON, "\"Database-writing endpoints body\", \"Request body\""),
        ("anonymous", ANONYMOUS, "\"Anonymous auth endpoint bodies\""),
        ("upload", UPLOAD, "\"Upload size\", \"Upload body\""),
    ] {
        rows.push(row(&format!("{name} body"), bytes(limits.body_bytes_max), source));
        rows.push(row(&format!("{name} body, in total"), time(limits.body_total_max), source));
        rows.push(row(&format!("{name} body, between two pieces"), time(limits.body_gap_max), source));
        let slow = match limits.slow_answer {
            SlowAnswer::Timeout408 => "408",
            SlowAnswer::Retry503 => "503 with Retry-After",
        };
        rows.push(row(&format!("{name} body, when too slow"), slow.to_owned(), "\"Slow client\""));
    }
    rows.extend([
        row("slowest average pace of a body", format!("{} bytes a second", SLOW_BYTES_PER_SECOND), "\"Slow client\""),
        row("... asked for after", time(SLOW_AFTER), "\"Slow client\""),
        row("one uploaded file", bytes(UPLOAD_FILE_BYTES_MAX), "\"Upload size\""),
        row("files of one upload", UPLOAD_FILES_MAX.to_string(), "\"Upload size\""),
        row("uploads at once", UPLOAD_CONCURRENT.to_string(), "\"Upload concurrency\""),
        row("wait for an upload's turn", time(UPLOAD_WAIT_MAX), "\"Upload concurrency\""),
        row("headers", time(HEADERS_MAX), "\"Headers\""),
        row("idle keep-alive", time(IDLE_MAX), "\"Idle keep-alive\""),
        row(
            "large exports decoded at once",
            format!("2 x cores, at least {INGEST_CONCURRENT_MIN}"),
            "\"Ingest concurrency\"",
        ),
        row(
            "large exports that wait",
            format!("{INGEST_WAITING_PER_SLOT} x the above, at least {INGEST_WAITING_MIN}"),
            "\"Ingest concurrency\"",
        ),
        row("bodies of exports in memory", bytes(INGEST_BYTES_HELD_MAX), "our own"),
        row("journal on disk", bytes(JOURNAL_BYTES_MAX as usize), "our own"),
        row("bodies that wait for the disk", bytes(JOURNAL_QUEUE_BYTES_MAX), "our own"),
        row("one question to the store", time(ASK_MAX), "our own"),
        row("metrics query: queries", METRICS_QUERIES_MAX.to_string(), "\"Metrics query\""),
        row("metrics query: tag filters", METRICS_TAG_FILTERS_MAX.to_string(), "\"Metrics query\""),
        row("metrics query: days", METRICS_DAYS_MAX.to_string(), "\"Metrics query\""),
        row("metrics query: points of a series", METRICS_POINTS_MAX.to_string(), "\"Metrics query\""),
        row("metrics query: groups", METRICS_GROUPS_MAX.to_string(), "\"Metrics query\""),
        row("metrics query: deadline", time(METRICS_DEADLINE), "\"Metrics query\""),
        row("spans of an entity, either side", time(SPAN_WINDOW), "\"Span read window\""),
        row("a login's life", time(LOGIN_LIFE), "wire, 5.1"),
        row("shortest password", format!("{PASSWORD_CHARS_MIN} characters"), "wire, 5.1"),
        row("longest project name", format!("{PROJECT_NAME_CHARS_MAX} characters"), "wire, 5.6"),
    ]);
    rows
}

fn bytes(count: usize) -> String {
    match count {
        count if count.is_multiple_of(MIB) => format!("{} MiB", count / MIB),
        count if count.is_multiple_of(KB) => format!("{} KiB", count / KB),
        count => format!("{count} bytes"),
    }
}

fn time(duration: Duration) -> String {
    match duration.as_secs() {
        count if count >= 3600 && count.is_multiple_of(3600) => format!("{} h", count / 3600),
        count if count >= 60 && count.is_multiple_of(60) => format!("{} min", count / 60),
        count => format!("{count} s"),
    }
}
