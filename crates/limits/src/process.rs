//! Limits of the process: its threads, `admin.sock`, its own spans and metrics, demo data.

use std::time::Duration;

use crate::units::{KB, minutes, seconds};

/// A storage thread is missing when it is busy and its last heartbeat is older than this: `/livez` responds with 503.
/// Work between two heartbeats takes milliseconds; the longest waits for a disk.
pub const HEARTBEAT_SILENCE_MAX: Duration = minutes(2);
/// Like [`HEARTBEAT_SILENCE_MAX`], for threads that store nothing: `/livez` stays 200 and names the thread, and so does
/// the log. The longest work between two heartbeats waits for a mail server.
pub const BACKGROUND_SILENCE_MAX: Duration = minutes(10);
/// Interval between two checks for missing background threads, and between two log lines about one.
pub const BACKGROUND_CHECK_PAUSE: Duration = minutes(1);
/// Disk space reserved for opening the control database on a full disk, bytes. SQLite's WAL index takes 32 KiB.
pub const CONTROL_RESERVE_BYTES: usize = 256 * KB;
/// Time that requests in flight may take after a shutdown was requested.
pub const DRAIN_MAX: Duration = seconds(30);
/// Size of a request on `admin.sock`, bytes.
pub const ADMIN_REQUEST_BYTES_MAX: u64 = 16 << 10;
/// Time from a connection to `admin.sock` until its request is complete.
pub const ADMIN_REQUEST_MAX: Duration = seconds(10);
/// Pause after a connection to `admin.sock` could not be accepted.
pub const ADMIN_ACCEPT_PAUSE: Duration = seconds(1);
/// Upper bounds of the buckets of duration histograms, milliseconds.
pub const METRIC_BUCKETS_MS: [f64; 14] =
    [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0, 5000.0, 10_000.0, 30_000.0];
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
