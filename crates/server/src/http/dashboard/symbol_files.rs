//! Uploaded debug files and source maps of a project, missing ones, and the symbolication of a stack trace on request.

use serde::Deserialize;
use tidewatch_symbols::{ArtifactRequest, DebugId, Hints, SourceContext};
use utoipa::ToSchema;

use crate::contexts::Ingest;
use crate::error::ApiError;
use crate::http::dashboard::symbol_bodies::*;
use crate::http::gate::upload;
use tidewatch_accounts::Project;
use tidewatch_ingest::symbols::missing::MissingFile;
use tidewatch_ingest::symbols::release::Release;
use tidewatch_ingest::symbols::removals::Removed;
use tidewatch_ingest::symbols::store::Listed;
use tidewatch_query::page::Paging;
use tidewatch_query::time;
use tidewatch_query::views::page::Page;

/// A validated request for a page of the list of files.
#[derive(Debug, Clone)]
pub struct FilesRequest {
    /// The requested page.
    pub paging: Paging,
    /// Substring of a name, a version, a key or a debug id, ignoring case; empty: all files.
    pub search: String,
    /// Kind of the files; empty: all kinds.
    pub kind: String,
    /// The value that files are sorted by.
    pub order: FileOrder,
    /// Whether the order is descending.
    pub is_descending: bool,
    /// Whether the response has addresses of uploaders: true for callers who may read the audit log, which has them
    /// too.
    pub shows_addresses: bool,
}

/// Orders of the list of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileOrder {
    #[default]
    Uploaded,
    Used,
    Name,
    Size,
}

/// A page of uploaded files. Files that are equal in the requested order are sorted by key.
pub async fn list(ingest: &Ingest, project: &Project, request: FilesRequest) -> Result<Page<SymbolFile>, ApiError> {
    let (symbols, id) = (ingest.symbols.clone(), project.id);
    let work = move || symbols.list(id).map(|found| page_of(found, &request));
    tokio::task::spawn_blocking(work).await.map_err(ApiError::internal)?.map_err(upload::disk_error)
}

fn page_of(mut found: Vec<Listed>, request: &FilesRequest) -> Page<SymbolFile> {
    let wanted = request.search.trim().to_lowercase();
    // Debug ids are searched with or without hyphens.
    let as_id: String = wanted.chars().filter(|letter| *letter != '-').collect();
    let is_id = as_id.len() >= ID_DIGITS_MIN && as_id.bytes().all(|byte| byte.is_ascii_hexdigit());
    found.retain(|Listed { path, info, .. }| {
        let has = |text: &str| text.to_lowercase().contains(&wanted);
        let versions = info.version.iter().chain(&info.earlier_versions).chain(&info.dist);
        let is_kind = request.kind.is_empty() || info.kind == request.kind;
        let name = path.rsplit('/').next().unwrap_or(path);
        is_kind
            && (has(&info.name)
                || has(name)
                || versions.into_iter().any(|version| has(version))
                || (is_id && path.contains(&as_id)))
    });
    found.sort_by(|one, other| {
        let order = match request.order {
            FileOrder::Uploaded => one.info.uploaded_ns.cmp(&other.info.uploaded_ns),
            FileOrder::Used => one.used_ns.cmp(&other.used_ns),
            FileOrder::Name => one.info.name.cmp(&other.info.name),
            FileOrder::Size => one.info.bytes.cmp(&other.info.bytes),
        };
        let order = if request.is_descending { order.reverse() } else { order };
        order.then_with(|| one.path.cmp(&other.path))
    });
    let total = found.len() as u64;
    let files = request.paging.cut(found).into_iter().map(|listed| file(listed, request.shows_addresses));
    request.paging.page(files.collect(), total)
}

/// Minimum digits of a search for a debug id; shorter ones may be words (`cafe`).
const ID_DIGITS_MIN: usize = 8;

fn file(Listed { path, info, used_ns }: Listed, shows_addresses: bool) -> SymbolFile {
    SymbolFile {
        key: path,
        kind: info.kind,
        name: info.name,
        versions: info.version.iter().chain(info.earlier_versions.iter().rev()).cloned().collect(),
        version: info.version,
        dist: info.dist,
        bytes: info.bytes,
        has_debug_info: info.has_debug_info,
        arch: info.arch,
        uploaded_at: time::to_rfc3339(info.uploaded_ns),
        uploaded_by: info.by.map(|by| UploadedBy {
            credential: "upload_token".to_owned(),
            user_agent: by.user_agent,
            address: shows_addresses.then_some(by.address),
        }),
        last_used_at: used_ns.map(time::to_rfc3339),
    }
}

/// Removes an uploaded file. The response states whether it existed.
pub async fn remove(ingest: &Ingest, project: &Project, key: String) -> Result<SymbolFileRemoved, ApiError> {
    let (symbols, id) = (ingest.symbols.clone(), project.id);
    let removed = tokio::task::spawn_blocking(move || symbols.remove(id, &key)).await.map_err(ApiError::internal)?;
    removed.map(|removed| SymbolFileRemoved { removed }).map_err(upload::disk_error)
}

/// Files that stack traces need and that were not uploaded, latest request first.
pub fn missing(ingest: &Ingest, project: &Project) -> Vec<WaitingForSymbols> {
    let waiting = ingest.symbols.missing.list(project.id);
    let views = waiting.into_iter().map(|(file, waiting)| WaitingForSymbols {
        missing: missing_view(&file),
        traces: waiting.traces,
        first_seen: time::to_rfc3339(waiting.first_ns),
        last_seen: time::to_rfc3339(waiting.last_ns),
    });
    views.collect()
}

/// Counts of removed uploads of old releases, by reason.
pub fn removed(ingest: &Ingest, project: &Project) -> Vec<RemovedSymbols> {
    let view = |removed: Removed| RemovedSymbols {
        reason: removed.reason.as_str().to_owned(),
        files: removed.files,
        bytes: removed.bytes,
        last_removed: time::to_rfc3339(removed.last_ns),
    };
    ingest.symbols.removals.list(project.id).into_iter().map(view).collect()
}

/// Symbolicates a stack trace as ingest does. Stores nothing.
pub async fn resolve(ingest: &Ingest, project: &Project, request: ResolveRequest) -> Result<ResolvedTrace, ApiError> {
    let debug_id = requested_debug_id(&request)?;
    let (symbols, id, now_ns) = (ingest.symbols.clone(), project.id, ingest.pipeline.clock.now_ns());
    let work = move || {
        let hints = hints(&request, debug_id);
        match symbols.resolve(id, &request.stack_trace, &hints, now_ns) {
            Some((resolved, missing)) => ResolvedTrace {
                stack_trace: resolved.text,
                frames: resolved.frames,
                resolved: resolved.resolved,
                missing: missing
                    .iter()
                    .map(|missing| missing_view(&MissingFile::of(missing, &Release::of(hints.version, hints.dist))))
                    .collect(),
            },
            None => {
                ResolvedTrace { stack_trace: request.stack_trace.clone(), frames: 0, resolved: 0, missing: Vec::new() }
            }
        }
    };
    tokio::task::spawn_blocking(work).await.map_err(ApiError::internal)
}

/// The source lines around the frames of a raw stack trace.
pub async fn sources(ingest: &Ingest, project: &Project, request: ResolveRequest) -> Result<FrameSources, ApiError> {
    let debug_id = requested_debug_id(&request)?;
    let (symbols, id, now_ns) = (ingest.symbols.clone(), project.id, ingest.pipeline.clock.now_ns());
    let work = move || {
        let hints = hints(&request, debug_id);
        let found = symbols.context(id, &request.stack_trace, &hints, now_ns).into_iter();
        let frames = found.map(|SourceContext { file, line, column, first, lines, mark }| FrameSource {
            file,
            line,
            column,
            first_line: first,
            lines,
            mark,
        });
        FrameSources { frames: frames.collect() }
    };
    tokio::task::spawn_blocking(work).await.map_err(ApiError::internal)
}

fn requested_debug_id(request: &ResolveRequest) -> Result<Option<DebugId>, ApiError> {
    let parse = |text: &String| DebugId::parse(text).ok_or_else(|| ApiError::malformed("debugId is not hexadecimal"));
    request.debug_id.as_ref().map(parse).transpose()
}

fn hints(request: &ResolveRequest, debug_id: Option<DebugId>) -> Hints<'_> {
    Hints {
        language: request.language.as_deref(),
        debug_id,
        version: request.version.as_deref(),
        dist: request.dist.as_deref(),
        ..Hints::default()
    }
}

fn missing_view(file: &MissingFile) -> MissingSymbols {
    let view = |kind: &str, id: Option<DebugId>, name: &str| MissingSymbols {
        kind: kind.to_owned(),
        debug_id: id.map_or_else(String::new, |id| id.to_string()),
        name: name.to_owned(),
        path: String::new(),
        version: file.version.clone(),
    };
    match &file.request {
        ArtifactRequest::Native { id, arch } => view("debug_file", Some(*id), arch.as_str()),
        ArtifactRequest::OnlyDart { arch } => view("debug_file", None, arch.as_str()),
        ArtifactRequest::Mapping { id } => view("mapping", Some(*id), ""),
        ArtifactRequest::Script { debug_id, path } => MissingSymbols {
            path: path.clone(),
            ..view("source_map", *debug_id, path.rsplit(['/', '\\']).next().unwrap_or(path))
        },
    }
}
