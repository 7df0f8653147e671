//! Limits on the bodies of requests, by class of routes.

use std::time::Duration;

use crate::units::{KB, MIB, minutes, seconds};

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

/// Every class of bodies: name, limits, and rows of the specification.
pub const CLASSES: [(&str, RouteLimits, &str); 6] = [
    ("OTLP", OTLP, "\"OTLP body\", \"Slow client\""),
    ("report and profile", REPORT, "\"Report and profile body\", \"/api/report body\""),
    ("JSON", JSON, "\"Database-writing endpoints body\", \"Request body\""),
    ("anonymous", ANONYMOUS, "\"Anonymous auth endpoint bodies\""),
    ("upload", UPLOAD, "\"Upload size\", \"Upload body\""),
    ("logo of a status page", STATUS_LOGO, "wire, 6"),
];
/// Minimum average transfer rate of a body, bytes per second. Spec: limits, row "Slow client".
pub const SLOW_BYTES_PER_SECOND: u64 = 1000;
/// The minimum transfer rate applies once a body has taken this long. Spec: limits, row "Slow client".
pub const SLOW_AFTER: Duration = seconds(20);
/// Time after its deadline in which a body is read once more: bytes that have arrived already are not refused.
pub const LATE_READ_MAX: Duration = Duration::from_millis(250);
/// Unread bytes of a request body beyond which an HTTP/1 connection is closed after the response.
pub const UNREAD_BODY_BYTES: u64 = 8 * 1024;
/// Time for which the rest of a refused body is read and discarded after the response, so that the client reads the
/// response.
pub const LINGER_MAX: Duration = seconds(5);
/// Memory for the JSON bodies of the API, bytes, over all connections. Beyond it requests get 503.
pub const JSON_BYTES_HELD_MAX: usize = 64 * MIB;
/// Maximum first allocation for a body of several chunks, whatever length it declares, bytes.
pub const BODY_BYTES_FIRST_MAX: usize = 1 << 20;
