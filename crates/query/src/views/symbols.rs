//! Uploaded debug files and source maps, and what stack traces still wait for.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// One uploaded file, or one architecture of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SymbolFile {
    /// Names it in `DELETE /api/symbols`.
    pub key: String,
    /// `dsym`, `elf`, `dart`, `mapping`, `source_map` or `script`.
    pub kind: String,
    /// As its sender called it.
    pub name: String,
    /// Of the app, when the sender said it: the latest that it was sent for.
    #[schema(required)]
    pub version: Option<String>,
    /// Every version that the same content was sent for, the latest first.
    pub versions: Vec<String>,
    pub bytes: u64,
    /// Without it nothing can be looked up in a native file.
    pub has_debug_info: bool,
    /// Of native code: `arm64`, `arm64e`, `x64`, `arm`, `ia32`, `riscv64` or `any`.
    #[schema(required)]
    pub arch: Option<String>,
    #[schema(format = DateTime)]
    pub uploaded_at: String,
    /// Null: it was uploaded before that was noted.
    #[schema(required)]
    pub uploaded_by: Option<UploadedBy>,
    /// When a stack trace was resolved with it last, to about an hour; null: never.
    #[schema(required, format = DateTime)]
    pub last_used_at: Option<String>,
}

/// Who sent a file. An upload token is the project's, not a person's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UploadedBy {
    /// The kind of credential: `upload_token`.
    pub credential: String,
    /// As the tool calls itself; may be empty.
    pub user_agent: String,
    /// Its network address, for those who may read the audit log; else null.
    #[schema(required)]
    pub address: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SymbolFileRemoved {
    pub removed: bool,
}

/// A file that stack traces asked for in vain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MissingSymbols {
    /// `debug_file`, `mapping` or `source_map`.
    pub kind: String,
    /// The debug id; empty when only a file name is known.
    pub debug_id: String,
    /// A script's file name, or the architecture of native code; may be empty.
    pub name: String,
    /// The path of a script's URL, which tells scripts of one name apart; else empty.
    pub path: String,
}

/// The same with how many stack traces asked for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitingForSymbols {
    #[serde(flatten)]
    pub missing: MissingSymbols,
    pub traces: u64,
    #[schema(format = DateTime)]
    pub first_seen: String,
    #[schema(format = DateTime)]
    pub last_seen: String,
}

/// A stack trace to try.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResolveRequest {
    pub stack_trace: String,
    /// As `telemetry.sdk.language`; without it the form of the frames decides.
    pub language: Option<String>,
    /// Of the build, where the trace does not say it.
    pub debug_id: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResolvedTrace {
    /// As sent, where nothing was found.
    pub stack_trace: String,
    /// Raw frames recognised.
    pub frames: usize,
    /// Of these, resolved.
    pub resolved: usize,
    pub missing: Vec<MissingSymbols>,
}

/// The source around one frame of a resolved stack trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FrameSource {
    /// `file`, `line` and `column` are those of the resolved frame.
    pub file: String,
    pub line: u32,
    pub column: u32,
    /// Number of the first of `lines`.
    pub first_line: u32,
    /// At most five before the frame's line and five after it, each cut to some 200 bytes.
    pub lines: Vec<String>,
    /// Where in the frame's line, as it is here, the column is: UTF-16 units from its beginning.
    #[schema(required)]
    pub mark: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FrameSources {
    /// In the order of the frames; those whose source is known, each place once, at most 64.
    pub frames: Vec<FrameSource>,
}
