//! Every limit of the service as a constant, in a file per area; admission control ([`admission`]), and the clock
//! ([`clock`]).
//!
//! A value that the specification sets cites its row of "Limits". Relations between values are checked at compile time.
//! [`CLASSES`] lists the classes of request bodies and [`Window`] the per-IP windows; `docs/operate/limits.md` lists every
//! value.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod accounts;
pub mod admission;
mod alerts;
mod bodies;
mod browser;
mod channels;
pub mod clock;
mod http;
mod ingest;
mod monitors;
mod oncall;
mod process;
mod projects;
mod query;
mod status_pages;
mod storage;
mod units;
mod uploads;
mod windows;

pub use accounts::*;
pub use alerts::*;
pub use bodies::*;
pub use browser::*;
pub use channels::*;
pub use http::*;
pub use ingest::*;
pub use monitors::*;
pub use oncall::*;
pub use process::*;
pub use projects::*;
pub use query::*;
pub use status_pages::*;
pub use storage::*;
pub use units::*;
pub use uploads::*;
pub use windows::*;

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
