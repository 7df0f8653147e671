//! Limits of uploads, and of symbol files and what is built from them.

use std::time::Duration;

use crate::units::{KB, MIB, minutes, seconds};

/// Size of one uploaded file, bytes. Spec: limits, row "Upload size".
pub const UPLOAD_FILE_BYTES_MAX: usize = 200 * MIB;
/// Files per upload. Spec: limits, row "Upload size".
pub const UPLOAD_FILES_MAX: usize = 1000;
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
/// `nice` value of the thread that builds artifacts from symbol files, relative to ingest.
pub const SYMBOLS_NICE: i32 = 5;
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
/// Releases of one source map, script or mapping that are kept; older ones are removed unless they are used.
pub const SYMBOL_RELEASES_MAX: usize = 50;
/// Age in days from which source maps, scripts and mappings of a release are removed unless they are used.
pub const SYMBOL_RELEASE_DAYS: u64 = 180;
/// Days for which a stack trace that used an upload keeps it.
pub const SYMBOL_USED_DAYS: u64 = 30;
/// Interval at which uploads of old releases are looked for.
pub const SYMBOL_RETENTION_PAUSE: Duration = minutes(60);
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
