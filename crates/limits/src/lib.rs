//! Every number of the specification's "Limits", as a table. `gate/` enforces them and holds none.
//!
//! Each value cites its row of the spec; relations between them are checked when compiling. [`CLASSES`] are the bodies,
//! [`Window`] the per-IP windows; `docs/limits.md` lists them.

#![forbid(unsafe_code)]

pub mod admission;
pub mod clock;

use std::time::Duration;

/// Bytes.
pub const KB: usize = 1 << 10;
pub const MB: usize = 1_000_000;
pub const MIB: usize = 1 << 20;

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
    pub gate: Gate,
}

/// What a request passes before its body is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    Open,
    /// Spec: limits, row "Ingest concurrency".
    Ingest,
    /// Spec: limits, row "Upload concurrency".
    Upload,
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
    gate: Gate::Ingest,
};

/// `/api/report` and profiles. Spec: limits, rows "Report and profile body", "`/api/report` body".
pub const REPORT: RouteLimits = RouteLimits {
    body_bytes_max: 64 * MIB,
    body_total_max: minutes(10),
    body_gap_max: seconds(20),
    slow_answer: SlowAnswer::Retry503,
    gate: Gate::Ingest,
};

/// Every other JSON body. Spec: limits, rows "Database-writing endpoints body" and "Request body".
pub const JSON: RouteLimits = RouteLimits {
    body_bytes_max: 8 * MIB,
    body_total_max: minutes(10),
    body_gap_max: seconds(30),
    slow_answer: SlowAnswer::Timeout408,
    gate: Gate::Open,
};

/// Login, registration and the like. Spec: limits, row "Anonymous auth endpoint bodies".
pub const ANONYMOUS: RouteLimits = RouteLimits { body_bytes_max: 64 * KB, ..JSON };

/// Symbol and source-map uploads. Spec: limits, rows "Upload size" and "Upload body".
pub const UPLOAD: RouteLimits = RouteLimits {
    body_bytes_max: 250 * MIB,
    body_total_max: minutes(30),
    body_gap_max: seconds(30),
    slow_answer: SlowAnswer::Timeout408,
    gate: Gate::Upload,
};
/// A storage thread is missing when it is busy and its last heartbeat is older than this: `/livez` answers 503. Work
/// between two heartbeats takes milliseconds; the longest waits for a disk.
pub const HEARTBEAT_SILENCE_MAX: Duration = minutes(2);
/// The same for threads that store nothing: `/livez` stays 200 and names the thread, and so does the log. The longest work
/// between two heartbeats waits for a mail server.
pub const BACKGROUND_SILENCE_MAX: Duration = minutes(10);
/// Interval between two checks of these threads, and between two log lines about one.
pub const BACKGROUND_LOOK_PAUSE: Duration = minutes(1);
/// Target size of a file of journal records that were set aside, bytes.
pub const LOST_FILE_BYTES: usize = 8 * MIB;
/// Space that is kept for opening the control database on a full disk: SQLite's index of its log takes 32 KiB.
pub const CONTROL_RESERVE_BYTES: usize = 256 * KB;
/// Every class of bodies: its name, its limits, its rows of the specification.
pub const CLASSES: [(&str, RouteLimits, &str); 5] = [
    ("OTLP", OTLP, "\"OTLP body\", \"Slow client\""),
    ("report and profile", REPORT, "\"Report and profile body\", \"/api/report body\""),
    ("JSON", JSON, "\"Database-writing endpoints body\", \"Request body\""),
    ("anonymous", ANONYMOUS, "\"Anonymous auth endpoint bodies\""),
    ("upload", UPLOAD, "\"Upload size\", \"Upload body\""),
];

/// Spec: limits, row "Upload size".
pub const UPLOAD_FILE_BYTES_MAX: usize = 200 * MIB;
/// Spec: limits, row "Upload size".
pub const UPLOAD_FILES_MAX: usize = 1000;
/// Parts of an upload that are no files; over it: 422.
pub const UPLOAD_FIELDS_MAX: usize = 100;
/// One such part; over it: 413.
pub const UPLOAD_FIELD_BYTES_MAX: usize = 64 * KB;
/// The headers of one part; over it: 400.
pub const PART_HEADER_BYTES_MAX: usize = 8 * KB;
/// A multipart boundary. RFC 2046, 5.1.1.
pub const BOUNDARY_BYTES_MAX: usize = 70;
/// Bytes of an uploaded file that are gathered before they are written.
pub const UPLOAD_WRITE_BYTES: usize = 256 * KB;
/// Spec: limits, row "Upload concurrency".
pub const UPLOAD_CONCURRENT: usize = 4;
/// Spec: limits, row "Upload concurrency": then 503.
pub const UPLOAD_WAIT_MAX: Duration = seconds(30);

/// Spec: limits, row "Slow client": bytes per second on average ...
pub const SLOW_BYTES_PER_SECOND: u64 = 1000;
/// ... once this much of the body's time has passed.
pub const SLOW_AFTER: Duration = seconds(20);

/// How long past its deadline a body is looked at once more: what has arrived meanwhile is not refused.
pub const LAST_LOOK: Duration = Duration::from_millis(250);

/// Spec: limits, row "Headers".
pub const HEADERS_MAX: Duration = seconds(15);
/// A request's line and headers together; over it: 431. Also the most that is read of a body at a time.
pub const HEADER_BYTES_MAX: usize = 64 * KB;
/// Headers of one request; over it: 431.
pub const HEADER_COUNT_MAX: usize = 100;
/// Spec: limits, row "Idle keep-alive".
pub const IDLE_MAX: Duration = minutes(2);
/// Connections open at once, over all listeners but the metrics', unless the operator says otherwise. For the next one
/// the connection that has been idle longest is closed.
pub const CONNECTIONS_MAX: usize = 10_000;
/// One address (IPv6: one /64) that is no trusted proxy has one of so many shares of them.
pub const CONNECTION_SHARES: usize = 10;
/// Beyond them, for probes alone.
pub const CONNECTIONS_RESERVED: usize = 64;
/// Connections to the metrics' listener.
pub const METRICS_CONNECTIONS_MAX: usize = 100;
/// More of a request body than this, left unread, ends an HTTP/1 connection. Bytes.
pub const UNREAD_BODY_BYTES: u64 = 8 * 1024;
/// How long a refused body is thrown away after its answer, so that its sender reads the answer.
pub const LINGER_MAX: Duration = seconds(5);
/// How often the TLS certificate's files are looked at.
pub const TLS_RELOAD_PAUSE: Duration = minutes(1);
/// Requests at once on one HTTP/2 connection.
pub const HTTP2_STREAMS_MAX: u32 = 200;
/// Bytes of one HTTP/2 stream, and of one connection, that may arrive before they are read.
pub const HTTP2_STREAM_WINDOW_BYTES: u32 = 256 << 10;
pub const HTTP2_CONNECTION_WINDOW_BYTES: u32 = 1 << 20;
/// Streams a client may reset before they are accepted, and that may fail here, until its connection is closed: rapid reset.
pub const HTTP2_RESETS_MAX: usize = 50;
/// How long requests in flight may take once a stop is asked for.
pub const DRAIN_MAX: Duration = seconds(30);

/// Rows in the memtable before a flush.
pub const FLUSH_ROWS: usize = 262_144;
/// Mebibytes of rows that are not yet in parts; an eighth is flushed at a time.
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
pub const INGEST_INLINE_BYTES_MAX: usize = 256 * KB;
/// As above for compressed bodies, counted before they are inflated.
pub const INGEST_INLINE_COMPRESSED_BYTES_MAX: usize = 32 * KB;
/// How much of its rate a project may send at once after a pause.
pub const RATE_BURST: Duration = seconds(10);
/// Origins of pages that may send with a project's token.
pub const ALLOWED_ORIGINS_MAX: usize = 50;
/// Of a quota: what the databases hold.
pub const QUOTA_MAX: u64 = 1 << 53;
/// Bodies of exports and what is made of them, held in memory at once, over all connections; beyond it 503.
pub const INGEST_BYTES_HELD_MAX: usize = 512 * MIB;
/// A body becomes at most about so many times as large when its records are read and made rows of.
pub const MADE_OF_BODY_MAX: usize = 32;
/// About what the rows of a record take beside its texts.
pub const ROW_BYTES: usize = 512;
/// What one project may hold of these, so that it cannot lock out the others: this many quarters.
pub const PROJECT_SHARE_QUARTERS: usize = 3;
/// Of a whole.
pub const QUARTERS: usize = 4;
/// The journal's segments together. Full means 503 until the store has caught up.
pub const JOURNAL_BYTES_MAX: u64 = 2 << 30;
/// Accepted bodies that wait for the disk.
pub const JOURNAL_QUEUE_BYTES_MAX: usize = 64 * MIB;
/// JSON bodies of the API held in memory at once; beyond it 503.
pub const JSON_BYTES_HELD_MAX: usize = 64 * MIB;
/// Decoded requests that a replay holds ahead of the one it applies.
pub const REPLAY_AHEAD: usize = 4;
/// How often a replay that waits for a flush looks whether flushes fail.
pub const REPLAY_LOOK: Duration = seconds(1);
/// How long a replay waits for a flush before it says so.
pub const REPLAY_WAIT: Duration = seconds(30);
/// A request on `admin.sock`.
pub const ADMIN_REQUEST_BYTES_MAX: u64 = 16 << 10;
/// From a connection to `admin.sock` until its request is there.
pub const ADMIN_REQUEST_MAX: Duration = seconds(10);
/// After a connection to `admin.sock` could not be accepted.
pub const ADMIN_ACCEPT_PAUSE: Duration = seconds(1);
/// Pause between two log lines about the same kind of refused export.
pub const REJECTION_LOG_PAUSE: Duration = minutes(1);
/// Refused requests that belong to no project, kept for people to look at.
pub const REFUSALS_KEPT_MAX: usize = 1000;
/// Of what such a request sent as a token, characters that are shown.
pub const REFUSED_TOKEN_CHARS: usize = 4;
/// Projects of which the last refusals' sentences are kept.
pub const REFUSED_PROJECTS_MAX: usize = 1000;
/// Answers in JSON of this size or more are compressed for who takes that.
pub const COMPRESSED_BYTES_MIN: u64 = 1024;
/// First allocation for a body that comes in several pieces, whatever length it declares.
pub const BODY_BYTES_FIRST_MAX: usize = 1 << 20;

/// `Retry-After` of a 503 is drawn from this range, in seconds, so that clients do not come back as one. DECISIONS 19.
pub const RETRY_AFTER_SECONDS: std::ops::RangeInclusive<u64> = 1..=5;
/// `Retry-After` of a quota is up to a tenth later than the moment it waits for, and by no more than this.
pub const QUOTA_RETRY_SPREAD_MAX: Duration = minutes(15);

/// Exports of tables that are read at once; beyond it 503. Each holds rows of the memtable until it has sent them.
pub const EXPORTS_MAX: usize = 2;
/// One piece of an export, once it has its turn among the questions, ...
pub const EXPORT_PIECE_MAX: Duration = seconds(60);
/// ... and how often a piece that was too late is tried.
pub const EXPORT_PIECE_TRIES: u32 = 5;
/// Before an export asks again for a turn, when too many questions wait.
pub const EXPORT_TURN_PAUSE: Duration = seconds(1);
/// Bytes of an export that are sent at a time ...
pub const EXPORT_CHUNK_BYTES: usize = 64 * KB;
/// ... and how long its client may take for them: about [`SLOW_BYTES_PER_SECOND`]. Then the export breaks off.
pub const EXPORT_CHUNK_MAX: Duration = minutes(1);
/// An export in all: parts that were replaced meanwhile stay on the disk for so long.
pub const EXPORT_MAX: Duration = minutes(12 * 60);
/// A row group of an export as Parquet: rows, ...
pub const EXPORT_GROUP_ROWS: usize = 128 * 1024;
/// ... and bytes in memory.
pub const EXPORT_GROUP_BYTES: usize = 32 * MIB;
/// Questions that may wait for a query thread, per thread; beyond it 503.
pub const ASK_WAITING_PER_THREAD: usize = 64;
/// All questions together may hold at least this, however small the machine; one question half of it.
pub const QUERY_BYTES_MIN: usize = 64 * MIB;
/// Names of Endpoints that a service may have on one day; as many of Tasks and of AI Traces. DECISIONS 27.
pub const NAMES_PER_SERVICE_DAY: usize = 10_000;
/// How far questions stand back (`nice`) behind what takes in data.
pub const QUERY_NICE: i32 = 5;
/// As above, the making of artifacts from symbol files.
pub const SYMBOLS_NICE: i32 = 5;

/// Spec: metrics query.
pub const METRICS_QUERIES_MAX: usize = 50;
pub const METRICS_TAG_FILTERS_MAX: usize = 20;
pub const METRICS_DAYS_MAX: i64 = 731;
/// Days that a list of spans may always cover; more when the project keeps more. WIRE 8.8.
pub const SPAN_LIST_DAYS_MIN: i64 = 31;
pub const METRICS_POINTS_MAX: i64 = 2000;
pub const METRICS_GROUPS_MAX: usize = 200;
pub const METRICS_DEADLINE: Duration = seconds(30);

/// Lists of spans and whole traces. WIRE 8.8.
pub const SPANS_DEADLINE: Duration = seconds(20);
/// Every other dashboard question.
pub const LIST_DEADLINE: Duration = seconds(10);
/// Inner spans that a search for traces by service or attribute looks at, latest first.
pub const TRACE_MATCHES_MAX: usize = 50_000;
/// Spans of one graph; more are counted, not shown (`span_limit`). Spec: span, rule 4.
pub const GRAPH_SPANS_MAX: usize = 20_000;

/// Spec: limits, row "Span read window": how far from its Endpoint, Task or AI Trace a span may be, either side.
pub const SPAN_WINDOW: Duration = Duration::from_secs(24 * 60 * 60);

/// Connections of one node to the control database.
pub const CONTROL_CONNECTIONS: u32 = 8;
/// How long a request waits for one of them.
pub const CONTROL_WAIT_MAX: Duration = seconds(15);
/// How long one of PostgreSQL's is kept unused ...
pub const CONTROL_IDLE_MAX: Duration = minutes(10);
/// ... and at all.
pub const CONTROL_LIFE_MAX: Duration = minutes(30);
/// How often a node looks whether another has changed who may see what: a revoked right ends everywhere within this.
pub const DIRECTORY_PAUSE: Duration = seconds(1);
/// Hours of grace that a rotation may ask for.
pub const TOKEN_GRACE_HOURS_MAX: u64 = 168;
/// How long a project's replaced token is still taken, unless the rotation says.
pub const TOKEN_GRACE: Duration = Duration::from_secs(24 * 60 * 60);
/// WIRE 5.6.
pub const HEALTHCHECK_PATHS_MAX: usize = 50;
/// All of them, one per line: every journalled trace request of the project carries them.
pub const HEALTHCHECK_PATHS_BYTES_MAX: usize = 4096;
/// WIRE 5.6.
pub const PROFILE_LABELS_MAX: usize = 20;
/// One of either.
pub const SETTING_TEXT_CHARS_MAX: usize = 200;
/// How often the store is told what projects keep, and deleted projects are looked after.
pub const KEEPING_PAUSE: Duration = seconds(15);
/// After a deletion; exports and uploads that were under way then have ended.
pub const PURGE_SETTLES: Duration = minutes(60);
/// How long looking for what is left of a deleted project may take.
pub const PURGE_LOOK_MAX: Duration = minutes(1);
/// Days of retention that a project may ask for.
pub const PROJECT_RETENTION_DAYS_MAX: u32 = 3650;
/// bcrypt hashes of a higher cost are not checked: each step doubles the time. WIRE 5.1 has 12.
pub const BCRYPT_COST_MAX: u32 = 14;
/// Life of a login. WIRE 5.1.
pub const LOGIN_LIFE: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// A session's cookie gets another value after this much use.
pub const SESSION_ROTATION: Duration = minutes(15);
/// The value before is taken this much longer once the new one was seen.
pub const SESSION_COOKIE_GRACE: Duration = minutes(1);
/// A browser is known to an account for this long after a sign-in.
pub const DEVICE_LIFE: Duration = Duration::from_secs(180 * 24 * 60 * 60);
/// Known browsers of one person; beyond it, the one of the oldest sign-in is forgotten.
pub const DEVICES_MAX: i64 = 50;
/// How long the account may be proved that a provider's sign-in is to be linked to.
pub const LINK_PROOF_MAX: Duration = minutes(10);
/// Codes mailed to one account for that, within [`SECOND_FACTOR_WINDOW`].
pub const LINK_MAILS_MAX: i64 = 3;
/// Sessions of one person; beyond it, the one that was not seen for longest ends.
pub const SESSIONS_MAX: i64 = 200;
/// After a proof of who they are, a person may change credentials and roles and delete for this long.
pub const STEP_UP_LIFE: Duration = minutes(5);
/// Life of an access token. WIRE 5.4.
pub const ACCESS_LIFE: Duration = minutes(15);
/// Life of a refresh token from its last use. WIRE 5.4.
pub const REFRESH_LIFE: Duration = Duration::from_secs(90 * 24 * 60 * 60);
/// A refresh token that comes again this soon is answered again, and does not end the sign-in. WIRE 5.4.
pub const REFRESH_GRACE: Duration = seconds(30);
/// Life of a device code. WIRE 5.4.
pub const DEVICE_CODE_LIFE: Duration = minutes(10);
/// Between two polls of a device. WIRE 5.4.
pub const DEVICE_INTERVAL: Duration = seconds(5);
/// Life of an authorization code. WIRE 5.4.
pub const OAUTH_CODE_LIFE: Duration = minutes(5);
/// A registered client that nobody has signed in with is forgotten after this ...
pub const UNUSED_CLIENT_LIFE: Duration = Duration::from_secs(24 * 60 * 60);
/// ... and the oldest of them beyond this number: anybody may register clients.
pub const UNUSED_CLIENTS_MAX: i64 = 1000;
pub const REDIRECT_URIS_MAX: usize = 3;
pub const REDIRECT_URI_BYTES_MAX: usize = 500;
/// Of a client or a personal access token.
pub const CREDENTIAL_NAME_CHARS_MAX: usize = 100;
/// Projects that a token can be limited to.
pub const TOKEN_PROJECTS_MAX: usize = 100;
/// Personal access tokens of one person.
pub const PERSONAL_TOKENS_MAX: i64 = 100;
/// Days that one lives when it does not say.
pub const PERSONAL_TOKEN_DAYS: u32 = 90;
/// Days that one may live.
pub const PERSONAL_TOKEN_DAYS_MAX: u32 = 3650;
/// Between password and second factor.
pub const SECOND_FACTOR_MAX: Duration = minutes(5);
/// Wrong second factors of one account within the window; beyond it 429, whoever sends them.
pub const SECOND_FACTOR_TRIES_MAX: i64 = 10;
pub const SECOND_FACTOR_WINDOW: Duration = minutes(15);
pub const RECOVERY_CODES: usize = 10;
/// Life of a setup token.
pub const SETUP_LIFE: Duration = minutes(60);
/// Projects of one organization: every node has all of them in memory.
pub const PROJECTS_PER_ORGANIZATION_MAX: i64 = 500;
/// Projects that one request makes.
pub const PROJECTS_AT_ONCE_MAX: usize = 50;
/// Passkeys of one person.
pub const PASSKEYS_MAX: i64 = 20;
/// From a passkey's challenge to its answer. WebAuthn, 15.1, recommends 5 to 10 minutes.
pub const PASSKEY_CEREMONY_MAX: Duration = minutes(5);
/// Of a User-Agent in the audit log.
pub const USER_AGENT_CHARS_MAX: usize = 300;
/// The last use of a token is noted at most this often.
pub const LAST_USED_PAUSE: Duration = minutes(1);
/// An operator's own key for logins.
pub const LOGIN_KEY_BYTES_MIN: usize = 32;
/// WIRE 5.1.
pub const PASSWORD_CHARS_MIN: usize = 8;
/// A longer one is refused rather than hashed.
pub const PASSWORD_BYTES_MAX: usize = 1024;
/// Password hashes computed at once; each takes 19 MB and tens of milliseconds.
pub const PASSWORD_HASHES_MAX: usize = 2;
/// Strangers' passwords that wait for it; beyond it 503.
pub const PASSWORD_HASHES_WAITING_MAX: usize = 32;
/// As many again of people who are signed in, or sign in from an address that they have signed in from before.
pub const PASSWORD_HASHES_RESERVED: usize = 32;
/// Failed sign-ins at one account that nothing waits for ...
pub const GUESSES_FREE: u32 = 20;
/// ... then each waits 1, 2, 4, ... seconds behind the last, up to this, ...
pub const GUESS_PAUSE_MAX: Duration = minutes(1);
/// ... until there was none for so long.
pub const GUESSES_FORGOTTEN: Duration = minutes(15);
/// IPv6 prefixes and the failed sign-ins a minute that each may have.
pub const GUESSES_PER_NETWORK: [(u32, u32); 2] = [(56, 30), (48, 100)];
/// Accounts and networks that are counted.
pub const GUESSED_MAX: usize = 65_536;
/// Of these the oldest, dropped when there is no room.
pub const GUESSES_DROPPED: usize = GUESSED_MAX / 2;
/// Life of an invitation. WIRE 5.2.
pub const INVITATION_LIFE: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Life of a link that sets a new password ...
pub const RESET_LIFE: Duration = minutes(60);
/// ... and from one such mail to the next of the same user. WIRE 5.2.
pub const RESET_PAUSE: Duration = minutes(60);
/// Forgotten passwords looked up at once, behind answers that do not wait for them; beyond it 503.
pub const RESETS_MAX: usize = 64;
/// Organizations that one person may own.
pub const ORGANIZATIONS_OWNED_MAX: usize = 10;
/// Invitations, each with its mail, within the window: of one person, ...
pub const INVITATIONS_OF_PERSON_MAX: i64 = 50;
/// ... of one organization, ...
pub const INVITATIONS_OF_ORGANIZATION_MAX: i64 = 100;
/// ... and to one address, whoever sends them.
pub const INVITATIONS_TO_ADDRESS_MAX: i64 = 5;
pub const INVITATIONS_WINDOW: Duration = Duration::from_secs(24 * 60 * 60);
/// Roles in single projects that one request sets.
pub const PROJECT_ROLES_MAX: usize = 1000;
/// RFC 5321: 64 + 1 + 255.
pub const EMAIL_BYTES_MAX: usize = 320;
/// For one question to a provider that signs people in.
pub const SSO_CALL_MAX: Duration = seconds(10);
/// Of its answer.
pub const SSO_ANSWER_BYTES_MAX: u64 = 1 << 20;
/// How long what discovery found is believed.
pub const SSO_DISCOVERY_LIFE: Duration = minutes(60);
/// From the way to a provider until the way back.
pub const SSO_SIGN_IN_LIFE: Duration = minutes(10);
/// Its clock and ours.
pub const SSO_CLOCKS_APART: Duration = seconds(60);
/// Lines of the audit log in one answer ...
pub const AUDIT_LINES_MAX: i64 = 200;
/// ... and in one export; `before` goes on.
pub const AUDIT_EXPORT_LINES_MAX: i64 = 100_000;
/// How often the outbox is looked into when nothing wakes it.
pub const MAIL_PAUSE: Duration = seconds(5);
/// Mails sent in one round.
pub const MAIL_BATCH: i64 = 20;
/// How long a node keeps a mail to itself that it is sending.
pub const MAIL_LEASE: Duration = minutes(15);
/// One command of the conversation with the mail server.
pub const MAIL_TIMEOUT: Duration = seconds(30);
/// A mail that was not taken is tried again after this, doubled each time ...
pub const MAIL_RETRY_MIN: Duration = seconds(10);
/// ... up to this.
pub const MAIL_RETRY_MAX: Duration = minutes(60);
/// What it tells about has run out by then.
pub const MAIL_LIFE: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Tries of a mail that the mail server refuses for good.
pub const MAIL_REFUSED_TRIES: i64 = 10;
/// WIRE 5.6.
pub const PROJECT_NAME_CHARS_MAX: usize = 100;

/// Length of a per-IP window. Spec: "Per-IP fixed-window limits".
pub const WINDOW: Duration = minutes(1);
/// Counters of the per-IP windows: this many rows, each with two to the power of `.._BITS` one-byte cells. An address is
/// counted in one cell of each row and its count is the smallest: four million addresses a minute hardly disturb each other.
pub const WINDOW_ROWS: usize = 4;
pub const WINDOW_CELL_BITS: u32 = 20;
/// IPv6 addresses are counted by this prefix: one subscriber has the rest.
pub const IPV6_PREFIX_BITS: u32 = 64;
/// Pause between two log lines about a proxy that is not trusted ...
pub const PROXY_LOG_PAUSE: Duration = minutes(1);
/// ... and how many addresses may have a line each meanwhile.
pub const PROXY_LOG_ADDRESSES_MAX: usize = 1000;

/// The per-IP windows, and a type of the same name for each: a route is limited by naming it, `_: PerIp<Login>`.
macro_rules! windows {
    ($($(#[$doc:meta])* $word:ident: $most:literal a minute, $what:literal, $source:literal;)*) => {
        /// Requests of one client address a minute. Each counts on its own.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Window { $($(#[$doc])* $word),* }

        impl Window {
            pub const ALL: &[Window] = &[$(Window::$word),*];

            pub const fn requests_max(self) -> u8 {
                match self { $(Window::$word => $most),* }
            }

            /// What is limited, and where the specification says so.
            pub const fn about(self) -> (&'static str, &'static str) {
                match self { $(Window::$word => ($what, $source)),* }
            }
        }

        /// The windows as types.
        pub mod per_ip {
            /// Names a window.
            pub trait Named { const WINDOW: super::Window; }
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
    /// `/auth/token` and `/auth/device/token` together. A device-code poll hears `slow_down` instead of 429:
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
    /// Proofs of who is signed in.
    StepUp: 10 a minute, "/me/step-up", "our own";
    /// Challenges for passkeys.
    Passkey: 20 a minute, "passkey, challenges", "our own";
    /// Sign-in with a passkey.
    PasskeyLogin: 10 a minute, "passkey, sign-in", "our own";
    /// Adding and removing passkeys.
    PasskeyChange: 20 a minute, "passkey, changes", "our own";
    /// The first organization after a sign-in elsewhere.
    FinishSetup: 10 a minute, "/auth/finish-setup", "our own";
    /// What a setup token opens.
    Setup: 60 a minute, "setup tokens", "our own";
    /// Registration of an OAuth client.
    OauthRegister: 10 a minute, "OAuth client registration", "wire, appendix A";
    /// Looking at an acknowledge link.
    AckLookup: 30 a minute, "acknowledge link, look-up", "wire, appendix A";
    /// Following it.
    Ack: 10 a minute, "acknowledge link", "wire, appendix A";
}

/// Upper bounds of the buckets that durations are counted in, milliseconds.
pub const METRIC_BUCKETS_MS: [f64; 14] =
    [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0, 5000.0, 10_000.0, 30_000.0];

/// Artifacts of symbol files that wait to be made; others are made when they are needed.
pub const ARTIFACTS_WAITING_MAX: usize = 10_000;
/// Artifacts in memory.
pub const ARTIFACT_CACHE_BYTES: usize = 64 * MIB;
/// How long an artifact that was not there is not looked for again; an upload ends it at once.
pub const ARTIFACT_MISSING_FOR: Duration = seconds(60);
/// Artifacts in memory or known to be missing.
pub const ARTIFACTS_KNOWN_MAX: usize = 100_000;
/// Debug files of a project that stack traces asked for in vain.
pub const MISSING_SYMBOLS_MAX: usize = 1000;
/// What is known of symbols (missing ones, last uses) is written down this often, when it has changed.
pub const SYMBOL_NOTES_PAUSE: Duration = seconds(10);
/// When an upload was used last is written down this often.
pub const SYMBOL_USE_PAUSE: Duration = minutes(60);
/// What a small file of a project counts as: it takes a block of the disk, whatever is in it.
pub const SYMBOL_CHARGE_MIN: u64 = 4 << 10;
/// Warnings in the answer to one upload.
pub const UPLOAD_WARNINGS_MAX: usize = 20;
/// Versions of an app that are noted beside one content.
pub const SYMBOL_VERSIONS_MAX: usize = 20;
/// Files that one project may keep, unless the operator says otherwise.
pub const SYMBOLS_PROJECT_FILES: u64 = 50_000;
/// How long the making of one artifact may take: then the file is given up, and others go on.
pub const ARTIFACT_BUILD_MAX: Duration = minutes(5);
/// Spans that are asked for at once when stack traces are resolved again.
pub const RESOLVE_AGAIN_SPANS: usize = 1000;
/// Mebibytes of uploads that one project may keep, unless the operator says otherwise.
pub const SYMBOLS_PROJECT_MB: u64 = 20 << 10;
/// Days back that stack traces are resolved again when their symbols come.
pub const RESOLVE_AGAIN_DAYS: u64 = 7;
/// From when symbols come until stack traces are resolved again, and between two such rounds.
pub const RESOLVE_AGAIN_PAUSE: Duration = seconds(2);
/// For the stack traces of one request; what does not fit is stored raw and resolved again in the background.
pub const RESOLVE_REQUEST_MAX: Duration = Duration::from_millis(100);
/// Of the file name that a source map or script is kept under.
pub const SYMBOL_NAME_BYTES_MAX: usize = 200;
/// Of a file's, a tool's or an app version's name, as its sender wrote it.
pub const UPLOAD_NAME_CHARS_SHOWN: usize = 200;

/// Services that one answer lists.
pub const SERVICES_LISTED_MAX: usize = 200;
/// Endpoints, Tasks, AI Traces or Issues that are counted for the Connect page.
pub const PROMOTED_NAMES_MAX: usize = 1000;
/// Minutes of traffic that demo data is made of.
pub const DEMO_HISTORY_MINUTES: u64 = 60;
/// The same at most.
pub const DEMO_HISTORY_MINUTES_MAX: u64 = 240;
/// How often an export of demo data is tried while the server is too busy to store it.
pub const DEMO_ATTEMPTS: u32 = 20;
/// Between two of them.
pub const DEMO_PAUSE: Duration = Duration::from_millis(250);

/// Own spans that wait to be sent, at most; more are dropped and counted.
pub const OWN_SPANS_WAITING_MAX: usize = 4096;
/// Own spans sent at once.
pub const OWN_SPANS_BATCH: usize = 512;
/// From the first own span that waits until it is sent.
pub const OWN_SPANS_EVERY: Duration = seconds(1);
/// While the endpoint cannot take a batch it is sent again after a pause, doubled up to this.
pub const OWN_SPANS_PAUSE_MAX: Duration = seconds(60);
/// How often a batch is sent before it is given up: after some five minutes.
pub const OWN_SPANS_ATTEMPTS: u32 = 10;
/// For one batch of own spans.
pub const OWN_SPANS_SEND_MAX: Duration = seconds(5);
/// Of a request's path in its own span.
pub const OWN_SPAN_PATH_BYTES_MAX: usize = 1024;
/// A longer `tracestate` is not passed on. W3C Trace Context: at least 512.
pub const TRACE_STATE_BYTES_MAX: usize = 512;

const _: () = assert!(UPLOAD_FILE_BYTES_MAX < UPLOAD.body_bytes_max);
const _: () = assert!(ANONYMOUS.body_bytes_max < JSON.body_bytes_max);
const _: () = assert!(JSON.body_bytes_max < OTLP.body_bytes_max && OTLP.body_bytes_max < REPORT.body_bytes_max);
const _: () = assert!(OTLP.body_gap_max.as_secs() < OTLP.body_total_max.as_secs());
const _: () = assert!(REPORT.body_total_max.as_secs() < UPLOAD.body_total_max.as_secs());
const _: () = assert!(INGEST_BYTES_HELD_MAX >= 4 * OTLP.body_bytes_max);
const _: () =
    assert!(INGEST_BYTES_HELD_MAX / QUARTERS * PROJECT_SHARE_QUARTERS >= MADE_OF_BODY_MAX * OTLP.body_bytes_max);
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
