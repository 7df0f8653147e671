//! Limits of exports, and of what they keep in memory.

use std::time::Duration;

use crate::units::{KB, MIB, minutes, seconds};

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
/// Sets of buffers for decoding that are kept between exports.
pub const INGEST_WORKSPACES_KEPT: usize = 4;
/// Size up to which such a buffer is kept, bytes. Larger ones are freed after their export.
pub const INGEST_BUFFER_BYTES_KEPT: usize = 4 * MIB;
/// Quarters of a memory budget that one project may hold, so that it cannot lock out the others.
pub const PROJECT_SHARE_QUARTERS: usize = 3;
/// Denominator of [`PROJECT_SHARE_QUARTERS`].
pub const QUARTERS: usize = 4;
/// Pause between two log lines about the same kind of refused export.
pub const REJECTION_LOG_PAUSE: Duration = minutes(1);
/// Refused requests without a project that are stored for display.
pub const REFUSALS_KEPT_MAX: usize = 1000;
/// Characters shown of the token that such a request was sent with.
pub const REFUSED_TOKEN_CHARS: usize = 4;
/// Projects whose last refusal messages are stored.
pub const REFUSED_PROJECTS_MAX: usize = 1000;
/// Maximum random delay added to the `Retry-After` of a quota, which is at most a tenth of it.
pub const QUOTA_RETRY_SPREAD_MAX: Duration = minutes(15);
/// Endpoint names of a service on one day; also Task names and AI Trace names, each. DECISIONS 27.
pub const NAMES_PER_SERVICE_DAY: usize = 10_000;
/// Callers, and callees, that are kept in memory until the other side of their call arrives. docs/services.md.
pub const UNPAIRED_CALLS_MAX: usize = 131_072;
/// Spans of traces with AI Traces that are kept in memory, to compare their usage with that of later requests.
/// docs/decisions/0021.
pub const AI_USAGE_SPANS_MAX: usize = 65_536;
/// Interval between looks at the price table of AI models. docs/use/ai-traces.md.
pub const AI_PRICES_RELOAD_PAUSE: Duration = Duration::from_secs(10);
/// Versions of a project, by service and environment, whose first sight is stored. A program that makes a version for
/// every process would fill the control database.
pub const FIRST_VERSIONS_MAX: usize = 10_000;
/// Pause before first sights are written again after a failure.
pub const FIRST_VERSIONS_PAUSE: Duration = seconds(10);
/// Size of the inputs of a request that are not in its body, bytes: its journal record contains them.
pub const REQUEST_ATTRIBUTES_BYTES_MAX: usize = 64 * KB;
