//! Uploaded debug files and source maps of a project, what is missing, a stack trace tried out, and the source around
//! its frames.

use std::sync::Arc;

use tidewatch_symbols::{DebugId, Hints, Need, SourceContext};

use super::time;
use super::views::symbols::*;
use crate::app::App;
use crate::control::Project;
use crate::error::ApiError;
use crate::http::gate::upload;
use crate::symbols::store::Listed;

/// By key. `shows_addresses`: to somebody who may read the audit log, which has them too.
pub async fn list(app: &Arc<App>, project: &Project, shows_addresses: bool) -> Result<Vec<SymbolFile>, ApiError> {
    let (symbols, id) = (app.symbols.clone(), project.id);
    let found = tokio::task::spawn_blocking(move || symbols.list(id)).await.map_err(ApiError::internal)?;
    let files = found.map_err(upload::disk_error)?.into_iter().map(|Listed { path, info, used_ns }| SymbolFile {
        key: path,
        kind: info.kind,
        name: info.name,
        version: info.version,
        bytes: info.bytes,
        has_debug_info: info.has_debug_info,
        arch: info.arch,
        uploaded_at: time::show(info.uploaded_ns),
        uploaded_by: info.by.map(|by| UploadedBy {
            credential: "upload_token".to_owned(),
            user_agent: by.user_agent,
            address: shows_addresses.then_some(by.address),
        }),
        last_used_at: used_ns.map(time::show),
    });
    Ok(files.collect())
}

/// Whether it was there.
pub async fn remove(app: &Arc<App>, project: &Project, key: String) -> Result<SymbolFileRemoved, ApiError> {
    let (symbols, id) = (app.symbols.clone(), project.id);
    let removed = tokio::task::spawn_blocking(move || symbols.remove(id, &key)).await.map_err(ApiError::internal)?;
    removed.map(|removed| SymbolFileRemoved { removed }).map_err(upload::disk_error)
}

/// The latest first.
pub fn missing(app: &App, project: &Project) -> Vec<WaitingForSymbols> {
    let waiting = app.symbols.missing.list(project.id);
    let views = waiting.into_iter().map(|(need, waiting)| WaitingForSymbols {
        missing: missing_view(&need),
        traces: waiting.traces,
        first_seen: time::show(waiting.first_ns),
        last_seen: time::show(waiting.last_ns),
    });
    views.collect()
}

/// As ingest would do it; nothing is stored.
pub async fn resolve(app: &Arc<App>, project: &Project, asked: ResolveRequest) -> Result<ResolvedTrace, ApiError> {
    let debug_id = asked_id(&asked)?;
    let (symbols, id, now_ns) = (app.symbols.clone(), project.id, app.clock.now_ns());
    let work = move || {
        let hints = Hints { language: asked.language.as_deref(), debug_id, ..Hints::default() };
        match symbols.resolve(id, &asked.stack_trace, &hints, now_ns) {
            Some((resolved, missing)) => ResolvedTrace {
                stack_trace: resolved.text,
                frames: resolved.frames,
                resolved: resolved.resolved,
                missing: missing.iter().map(missing_view).collect(),
            },
            None => ResolvedTrace { stack_trace: asked.stack_trace, frames: 0, resolved: 0, missing: Vec::new() },
        }
    };
    tokio::task::spawn_blocking(work).await.map_err(ApiError::internal)
}

/// The source around the frames of a raw trace.
pub async fn sources(app: &Arc<App>, project: &Project, asked: ResolveRequest) -> Result<FrameSources, ApiError> {
    let debug_id = asked_id(&asked)?;
    let (symbols, id, now_ns) = (app.symbols.clone(), project.id, app.clock.now_ns());
    let work = move || {
        let hints = Hints { language: asked.language.as_deref(), debug_id, ..Hints::default() };
        let found = symbols.context(id, &asked.stack_trace, &hints, now_ns).into_iter();
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

fn asked_id(asked: &ResolveRequest) -> Result<Option<DebugId>, ApiError> {
    let parse = |text: &String| DebugId::parse(text).ok_or_else(|| ApiError::malformed("debugId is not hexadecimal"));
    asked.debug_id.as_ref().map(parse).transpose()
}

fn missing_view(need: &Need) -> MissingSymbols {
    let view = |kind: &str, id: Option<DebugId>, name: &str| MissingSymbols {
        kind: kind.to_owned(),
        debug_id: id.map_or_else(String::new, |id| id.to_string()),
        name: name.to_owned(),
    };
    match need {
        Need::Native { id, arch } => view("debug_file", Some(*id), arch.as_str()),
        Need::OnlyDart { arch } => view("debug_file", None, arch.as_str()),
        Need::Mapping { id } => view("mapping", Some(*id), ""),
        Need::Script { debug_id, file } => view("source_map", *debug_id, file),
    }
}
