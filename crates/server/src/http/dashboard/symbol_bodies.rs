//! Uploaded debug files and source maps, and the files that stack traces need.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// One uploaded file, or one architecture of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SymbolFile {
    /// Key of the file in `DELETE /api/symbols`.
    pub key: String,
    /// `dsym`, `elf`, `dart`, `mapping`, `source_map` or `script`.
    pub kind: String,
    /// File name given by the sender.
    pub name: String,
    /// Version of the application for which the file was uploaded, of several the latest; null when the sender gave none.
    #[schema(required)]
    pub version: Option<String>,
    /// All versions for which the same content was uploaded, latest first.
    pub versions: Vec<String>,
    /// Distribution for which the file was uploaded: one of several builds of a version; null when the sender gave none.
    #[schema(required)]
    pub dist: Option<String>,
    /// Size in bytes.
    pub bytes: u64,
    /// Whether a native file has debug information, without which it resolves nothing.
    pub has_debug_info: bool,
    /// Architecture of native code: `arm64`, `arm64e`, `x64`, `arm`, `ia32`, `riscv64` or `any`; null for other files.
    #[schema(required)]
    pub arch: Option<String>,
    /// Time of the upload.
    #[schema(format = DateTime)]
    pub uploaded_at: String,
    /// The sender; null when it was not recorded.
    #[schema(required)]
    pub uploaded_by: Option<UploadedBy>,
    /// Latest time a stack trace was resolved with the file, within about an hour; null: never.
    #[schema(required, format = DateTime)]
    pub last_used_at: Option<String>,
}

/// The sender of a file. An upload token belongs to the project, not to a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UploadedBy {
    /// The kind of credential: `upload_token`.
    pub credential: String,
    /// User agent of the upload tool; may be empty.
    pub user_agent: String,
    /// Network address of the sender; null for users who may not read the audit log.
    #[schema(required)]
    pub address: Option<String>,
}

/// Result of a removal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SymbolFileRemoved {
    /// Whether the file existed.
    pub removed: bool,
}

/// A file that is needed to resolve stack traces and is not uploaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MissingSymbols {
    /// `debug_file`, `mapping` or `source_map`.
    pub kind: String,
    /// The debug id; empty when only a file name is known.
    pub debug_id: String,
    /// File name of a script, or architecture of native code; may be empty.
    pub name: String,
    /// Path of a script's URL, which distinguishes scripts of one name; else empty.
    pub path: String,
    /// Version of the application in the stack traces; null when they name none, or when `debugId` identifies the build.
    #[schema(required)]
    pub version: Option<String>,
}

/// A missing file with the stack traces that need it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitingForSymbols {
    /// The file.
    #[serde(flatten)]
    pub missing: MissingSymbols,
    /// Number of stack traces that need it.
    pub traces: u64,
    /// Time of the first stack trace.
    #[schema(format = DateTime)]
    pub first_seen: String,
    /// Time of the latest stack trace.
    #[schema(format = DateTime)]
    pub last_seen: String,
}

/// A stack trace to resolve.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResolveRequest {
    /// The stack trace.
    pub stack_trace: String,
    /// `telemetry.sdk.language`; when null, derived from the form of the frames.
    pub language: Option<String>,
    /// Debug id of the build, if the stack trace does not contain it.
    pub debug_id: Option<String>,
    /// Version of the application. Uploads of another version do not apply; null: the newest upload applies.
    pub version: Option<String>,
    /// Distribution of the application.
    pub dist: Option<String>,
}

/// A resolved stack trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResolvedTrace {
    /// The stack trace; unchanged when nothing was resolved.
    pub stack_trace: String,
    /// Number of recognized raw frames.
    pub frames: usize,
    /// Number of these frames that were resolved.
    pub resolved: usize,
    /// Files that are needed and not uploaded.
    pub missing: Vec<MissingSymbols>,
}

/// The source around one frame of a resolved stack trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FrameSource {
    /// File of the resolved frame.
    pub file: String,
    /// Line of the resolved frame, from 1.
    pub line: u32,
    /// Column of the resolved frame, from 1.
    pub column: u32,
    /// Line number of the first element of `lines`.
    pub first_line: u32,
    /// Source lines: at most five before and five after the frame's line, each truncated to about 200 bytes.
    pub lines: Vec<String>,
    /// Position of the column in the frame's line as returned, in UTF-16 units from 0; null past its end.
    #[schema(required)]
    pub mark: Option<u32>,
}

/// The source around the frames of a stack trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FrameSources {
    /// Frames with known source, in the order of the stack trace, each place once; at most 64.
    pub frames: Vec<FrameSource>,
}

/// Uploads of old releases that were removed for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RemovedSymbols {
    /// `too_many_releases`: there are 50 newer releases of the file. `release_too_old`: it is older than 180 days. Files
    /// that a stack trace used in the last 30 days are not removed.
    pub reason: String,
    /// Number of files.
    pub files: u64,
    /// Their size in bytes, as it counted against the quota.
    pub bytes: u64,
    /// Time of the latest removal.
    #[schema(format = DateTime)]
    pub last_removed: String,
}
