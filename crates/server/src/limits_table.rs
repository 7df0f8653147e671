//! The table of limits in `docs/limits.md`.

use std::time::Duration;

use tidewatch_domain::rules::session;
use tidewatch_lake::{CONFIRMED_AFTER, DAYS_PER_HOUR, UNTIMED_WINDOW_NS, WINDOW_NS};
use tidewatch_store::query_memory::REQUEST_BYTES_MAX;

use tidewatch_limits::*;

/// Every limit as strings: its name, its value, and its source in the specification.
pub fn table() -> Vec<[String; 3]> {
    let row = |name: &str, value: String, source: &str| [name.to_owned(), value, source.to_owned()];
    let mut rows = Vec::new();
    for (name, limits, source) in CLASSES {
        rows.push(row(&format!("{name} body"), bytes(limits.body_bytes_max), source));
        rows.push(row(&format!("{name} body, in total"), time(limits.body_total_max), source));
        rows.push(row(&format!("{name} body, between two pieces"), time(limits.body_gap_max), source));
        let slow = match limits.slow_response {
            SlowResponse::Timeout408 => "408",
            SlowResponse::Retry503 => "503 with Retry-After",
        };
        rows.push(row(&format!("{name} body, when too slow"), slow.to_owned(), "\"Slow client\""));
        let admission = match limits.gate {
            Gate::Open => continue,
            Gate::Ingest => "a slot, or a place in the queue, or 503",
            Gate::Upload => "a slot within the wait, or 503",
        };
        rows.push(row(
            &format!("{name} body, before it is read"),
            admission.to_owned(),
            "\"Ingest/Upload concurrency\"",
        ));
    }
    rows.extend([
        row("slowest average pace of a body", format!("{} bytes a second", SLOW_BYTES_PER_SECOND), "\"Slow client\""),
        row("... asked for after", time(SLOW_AFTER), "\"Slow client\""),
        row("one uploaded file", bytes(UPLOAD_FILE_BYTES_MAX), "\"Upload size\""),
        row("files of one upload", UPLOAD_FILES_MAX.to_string(), "\"Upload size\""),
        row("uploads at once", UPLOAD_CONCURRENT.to_string(), "\"Upload concurrency\""),
        row("wait for an upload's turn", time(UPLOAD_WAIT_MAX), "\"Upload concurrency\""),
        row("uploads kept of one project", bytes((SYMBOLS_PROJECT_MB << 20) as usize), "our own"),
        row("parts of a stored file that are written and read", bytes(BLOB_PART_BYTES), "our own"),
        row("calls of the store of files at once", BLOB_CALLS_MAX.to_string(), "our own"),
        row("parts of one upload that are no files", UPLOAD_FIELDS_MAX.to_string(), "our own"),
        row("one such part", bytes(UPLOAD_FIELD_BYTES_MAX), "our own"),
        row("headers of one part", bytes(PART_HEADER_BYTES_MAX), "our own"),
        row("headers", time(HEADERS_MAX), "\"Headers\""),
        row("headers of one request", format!("{}, {HEADER_COUNT_MAX} lines", bytes(HEADER_BYTES_MAX)), "our own"),
        row("connections", CONNECTIONS_MAX.to_string(), "our own"),
        row("... of one address that is no trusted proxy", format!("one in {CONNECTION_SHARES} of them"), "our own"),
        row("... beyond them, for /health, /livez and /readyz", CONNECTIONS_RESERVED.to_string(), "our own"),
        row("... to the metrics' listener", METRICS_CONNECTIONS_MAX.to_string(), "our own"),
        row("HTTP/2: requests at once on a connection", HTTP2_STREAMS_MAX.to_string(), "our own"),
        row("HTTP/2: resets before a connection is closed", HTTP2_RESETS_MAX.to_string(), "our own"),
        row("drain of what is in flight on a stop", time(DRAIN_MAX), "our own"),
        row("idle keep-alive", time(IDLE_MAX), "\"Idle keep-alive\""),
        row(
            "exports worked on at once",
            format!("2 x cores, at least {INGEST_CONCURRENT_MIN}"),
            "\"Ingest concurrency\"",
        ),
        row(
            "exports that wait for a slot",
            format!("{INGEST_WAITING_PER_SLOT} x the above, at least {INGEST_WAITING_MIN}"),
            "\"Ingest concurrency\"",
        ),
        row("bodies of exports in memory, and what is made of them", bytes(INGEST_BYTES_HELD_MAX), "our own"),
        row("... of one project", bytes(INGEST_BYTES_HELD_MAX / QUARTERS * PROJECT_SHARE_QUARTERS), "our own"),
        row(
            "Retry-After of a 503",
            format!("{} to {} s, at random", RETRY_AFTER_SECONDS.start(), RETRY_AFTER_SECONDS.end()),
            "our own",
        ),
        row("exports of tables at once", EXPORTS_MAX.to_string(), "our own"),
        row("... one of them", time(EXPORT_MAX), "our own"),
        row(
            "... its client may take",
            format!("{} for {}", time(EXPORT_CHUNK_MAX), bytes(EXPORT_CHUNK_BYTES)),
            "our own",
        ),
        row("live tails of logs at once", LIVE_TAILS_MAX.to_string(), "our own"),
        row("... of one user", LIVE_TAILS_PER_USER_MAX.to_string(), "our own"),
        row("... one of them", time(LIVE_TAIL_MAX), "our own"),
        row(
            "... log records in one event",
            format!("{LIVE_TAIL_RECORDS_MAX}, {}", bytes(LIVE_TAIL_EVENT_BYTES_MAX)),
            "our own",
        ),
        row("... time between two events", time(LIVE_TAIL_PAUSE), "our own"),
        row("... log records not read yet", bytes(LIVE_TAIL_BYTES_MAX), "our own"),
        row("JSON bodies in memory", bytes(JSON_BYTES_HELD_MAX), "our own"),
        row("journal on disk", bytes(JOURNAL_BYTES_MAX as usize), "our own"),
        row("bodies that wait for the disk", bytes(JOURNAL_QUEUE_BYTES_MAX), "our own"),
        row("an export or a span is a retry for", time(Duration::from_nanos(WINDOW_NS as u64)), "our own"),
        row(
            "... an export in which any record has no time of its own",
            time(Duration::from_nanos(UNTIMED_WINDOW_NS as u64)),
            "our own",
        ),
        row("a clock that jumped ahead by more than a day is followed after", time(CONFIRMED_AFTER), "our own"),
        row("... days of telemetry that become too old in an hour", DAYS_PER_HOUR.to_string(), "our own"),
        row("a query: lists of spans and whole traces", time(SPANS_DEADLINE), "wire, 8.8"),
        row("... any other but a metrics query", time(LIST_DEADLINE), "our own"),
        row(
            "memory of all queries",
            format!("a quarter of what there is, at least {}", bytes(QUERY_BYTES_MIN)),
            "our own",
        ),
        row("... of one query", format!("half of that, at most {}", bytes(REQUEST_BYTES_MAX)), "our own"),
        row("names of Endpoints of one service and day", NAMES_PER_SERVICE_DAY.to_string(), "decision 27"),
        row("metrics query: queries", METRICS_QUERIES_MAX.to_string(), "\"Metrics query\""),
        row("metrics query: tag filters", METRICS_TAG_FILTERS_MAX.to_string(), "\"Metrics query\""),
        row("metrics query: days", METRICS_DAYS_MAX.to_string(), "\"Metrics query\""),
        row("metrics query: points of a series", METRICS_POINTS_MAX.to_string(), "\"Metrics query\""),
        row("metrics query: groups", METRICS_GROUPS_MAX.to_string(), "\"Metrics query\""),
        row("metrics query: deadline", time(METRICS_DEADLINE), "\"Metrics query\""),
        row("query of the query language", "4 KiB, 64 terms, 16 levels".to_owned(), "our own"),
        row("facets of a list", format!("{FACETS_MAX} of {FACET_VALUES_MAX} values"), "our own"),
        row("... rows that are counted exactly, at least", COUNTED_ROWS_MIN.to_string(), "our own"),
        row("completions of a query", COMPLETIONS_MAX.to_string(), "our own"),
        row("inner spans that a search for traces looks at", TRACE_MATCHES_MAX.to_string(), "our own"),
        row("traces that a search for traces finds about", TRACE_SEARCH_TRACES_MAX.to_string(), "our own"),
        row("spans of a trace in columns", TRACE_SPANS_MAX.to_string(), "our own"),
        row(
            "a conversation: AI Traces; spans",
            format!("{AI_CONVERSATION_CALLS_MAX}; {AI_CONVERSATION_SPANS_MAX}"),
            "our own",
        ),
        row(
            "... bytes of an answer's messages; of a message; of a tool's arguments or result",
            format!(
                "{}; {}; {}",
                bytes(AI_CONVERSATION_BYTES_MAX),
                bytes(AI_MESSAGE_BYTES_MAX),
                bytes(AI_TOOL_BYTES_MAX)
            ),
            "our own",
        ),
        row("spans that a search for traces reads", TRACE_SEARCH_SPANS_MAX.to_string(), "our own"),
        row(
            "an explanation's samples: selected, other, earlier requests; spans",
            format!("{EXPLAIN_SELECTED_MAX}; {EXPLAIN_REST_MAX}; {EXPLAIN_BEFORE_MAX}; {EXPLAIN_SPANS_MAX}"),
            "our own",
        ),
        row("requests whose spans an explanation always reads", EXPLAIN_FIRST_REQUESTS.to_string(), "our own"),
        row(
            "an explanation's time, unless set, and at most",
            format!("{}; {}", time(EXPLAIN_BUDGET), time(EXPLAIN_BUDGET_MAX)),
            "our own",
        ),
        row(
            "an explanation's attributes, their distinct values, and the length of a value",
            format!("{EXPLAIN_ATTRIBUTES_MAX}; {EXPLAIN_VALUES_MAX}; {}", bytes(EXPLAIN_VALUE_BYTES_MAX)),
            "our own",
        ),
        row("an explanation's distinct values in all", bytes(EXPLAIN_BYTES_MAX), "our own"),
        row("a heatmap's columns and rows", format!("{HEATMAP_COLUMNS_MAX}; {HEATMAP_ROWS_MAX}"), "our own"),
        row("spans of an entity, either side", time(SPAN_WINDOW), "\"Span read window\""),
        row("a login's life", time(LOGIN_LIFE), "wire, 5.1"),
        row("a session cookie's value: replaced after", time(SESSION_ROTATION), "our own"),
        row("sessions of one person", SESSIONS_MAX.to_string(), "our own"),
        row("a known browser is forgotten after", time(DEVICE_LIFE), "our own"),
        row("known browsers of one person", DEVICES_MAX.to_string(), "our own"),
        row("linking a provider: proof of the account", time(LINK_PROOF_MAX), "our own"),
        row("... codes mailed in 15 minutes", LINK_MAILS_MAX.to_string(), "our own"),
        row("step-up: a proof lasts", time(STEP_UP_LIFE), "our own"),
        row("an access token's life", time(ACCESS_LIFE), "wire, 5.4"),
        row("a refresh token's life from its last use", time(REFRESH_LIFE), "wire, 5.4"),
        row("... is answered again for", time(REFRESH_GRACE), "wire, 5.4"),
        row("a device code's life", time(DEVICE_CODE_LIFE), "wire, 5.4"),
        row("between two polls of a device", time(DEVICE_INTERVAL), "wire, 5.4"),
        row("an authorization code's life", time(OAUTH_CODE_LIFE), "wire, 5.4"),
        row("between password and second factor", time(SECOND_FACTOR_MAX), "our own"),
        row(
            "wrong second factors of one account",
            format!("{SECOND_FACTOR_TRIES_MAX} in {}", time(SECOND_FACTOR_WINDOW)),
            "our own",
        ),
        row("a setup token's life", time(SETUP_LIFE), "our own"),
        row("projects of one organization", PROJECTS_PER_ORGANIZATION_MAX.to_string(), "our own"),
        row("organizations that one person owns", ORGANIZATIONS_OWNED_MAX.to_string(), "our own"),
        row("invitations of one person a day", INVITATIONS_OF_PERSON_MAX.to_string(), "our own"),
        row("invitations of one organization a day", INVITATIONS_OF_ORGANIZATION_MAX.to_string(), "our own"),
        row("invitations to one address a day", INVITATIONS_TO_ADDRESS_MAX.to_string(), "our own"),
        row("projects made at once", PROJECTS_AT_ONCE_MAX.to_string(), "our own"),
        row("passkeys of one person", PASSKEYS_MAX.to_string(), "our own"),
        row("a passkey's answer", time(PASSKEY_CEREMONY_MAX), "our own"),
        row("personal access tokens of one person", PERSONAL_TOKENS_MAX.to_string(), "our own"),
        row("a personal access token's life, unless it says", format!("{PERSONAL_TOKEN_DAYS} days"), "our own"),
        row("projects that a token can be limited to", TOKEN_PROJECTS_MAX.to_string(), "our own"),
        row("a replaced project token is still taken for", time(TOKEN_GRACE), "our own"),
        row("a right that another node revoked still holds for", time(DIRECTORY_PAUSE), "our own"),
        row("a deleted project's rows and uploads are looked for, at least", time(PURGE_DELAY), "our own"),
        row("names compared in one request", COMPARED_NAMES_MAX.to_string(), "our own"),
        row("new Issues, services, versions and names in one answer", NEW_LISTED_MAX.to_string(), "our own"),
        row("reported deploys of a project", DEPLOYS_MAX.to_string(), "our own"),
        row("deploys in one answer", DEPLOYS_LISTED_MAX.to_string(), "our own"),
        row("Issues of a project with a stored decision", ISSUE_DECISIONS_MAX.to_string(), "our own"),
        row("hashes of a project that are merged into others", ISSUE_MERGES_MAX.to_string(), "our own"),
        row("activity of one Issue, without comments", format!("{ISSUE_ACTIVITY_MAX} entries"), "our own"),
        row("counted values of the tags of an Issue", bytes(ISSUE_TAG_BYTES_MAX), "our own"),
        row("Issues that one is compared with", SIMILAR_ISSUES_COMPARED_MAX.to_string(), "our own"),
        row("the template of links to the code host", bytes(SOURCE_URL_BYTES_MAX), "our own"),
        row("comments on one Issue", ISSUE_COMMENTS_MAX.to_string(), "our own"),
        row("one comment on an Issue", format!("{ISSUE_COMMENT_CHARS_MAX} characters"), "our own"),
        row("versions of a project whose first sight is stored", FIRST_VERSIONS_MAX.to_string(), "our own"),
        row("one value of a reported deploy", format!("{DEPLOY_CHARS_MAX} characters"), "our own"),
        row("the address of a reported deploy's page", bytes(DEPLOY_URL_BYTES_MAX), "our own"),
        row("a reported deploy without a time repeats one of the last", time(DEPLOY_REPEAT), "our own"),
        row("a first sight belongs to a reported deploy within", time(DEPLOY_SEEN_WITHIN), "our own"),
        row("a reported deploy may be in the future by", time(DEPLOY_AHEAD_MAX), "our own"),
        row("healthcheck paths of a project", HEALTHCHECK_PATHS_MAX.to_string(), "wire, 5.6"),
        row("healthcheck paths of a project, together", bytes(HEALTHCHECK_PATHS_BYTES_MAX), "our own"),
        row("profile labels of a project", PROFILE_LABELS_MAX.to_string(), "wire, 5.6"),
        row("inputs of a request beside its body", bytes(REQUEST_ATTRIBUTES_BYTES_MAX), "our own"),
        row("events, logs and actions of a segment of a recording", bytes(session::SEGMENT_BYTES_MAX), "our own"),
        row("recordings are kept, at most", format!("{} days", session::RECORDING_DAYS), "our own"),
        row("a session without activity ends after", time(Duration::from_nanos(session::IDLE_NS as u64)), "wire, 8.7"),
        row("the longest session", time(Duration::from_nanos(session::DURATION_MAX_NS as u64)), "wire, 8.7"),
        row("shortest password", format!("{PASSWORD_CHARS_MIN} characters"), "wire, 5.1"),
        row("longest project name", format!("{PROJECT_NAME_CHARS_MAX} characters"), "wire, 5.6"),
    ]);
    for window in Window::ALL {
        let (what, source) = window.about();
        rows.push(row(&format!("per IP: {what}"), format!("{} a minute", window.requests_max()), source));
    }
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
        0 => format!("{} ms", duration.as_millis()),
        count => format!("{count} s"),
    }
}
