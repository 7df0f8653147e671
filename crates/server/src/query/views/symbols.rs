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
    /// Of the app, when the sender said it.
    #[schema(required)]
    pub version: Option<String>,
    pub bytes: u64,
    /// Without it nothing can be looked up in a native file.
    pub has_debug_info: bool,
    #[schema(format = DateTime)]
    pub uploaded_at: String,
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
}

/// The same with how many wait for it since the server started.
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
