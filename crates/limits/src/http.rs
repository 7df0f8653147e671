//! Limits of connections and headers.

use std::time::Duration;

use crate::units::{KB, minutes, seconds};

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
/// JSON responses of at least this size in bytes are compressed if the client accepts it.
pub const COMPRESSED_BYTES_MIN: u64 = 1024;
/// Range of the random `Retry-After` of a 503, seconds: clients do not retry all at once. DECISIONS 19.
pub const RETRY_AFTER_SECONDS: std::ops::RangeInclusive<u64> = 1..=5;
/// Characters of the name of an unknown field in the message of its refusal.
pub const UNKNOWN_FIELD_CHARS_MAX: usize = 200;
