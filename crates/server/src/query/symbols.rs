//! Uploaded debug files and source maps of a project, what is missing, and a stack trace tried out.

use std::sync::Arc;

use tidewatch_symbols::{DebugId, Hints, Need};

use super::time;
use super::views::symbols::*;
use crate::app::App;
use crate::control::Project;
use crate::error::ApiError;
use crate::http::gate::upload;

/// By key.
pub async fn list(app: &Arc<App>, project: &Project) -> Result<Vec<SymbolFile>, ApiError> {
    let (symbols, id) = (app.symbols.clone(), project.id);
    let found = tokio::task::spawn_blocking(move || symbols.store.list(id)).await.map_err(ApiError::internal)?;
    let files = found.map_err(upload::disk_error)?.into_iter().map(|(key, info)| SymbolFile {
        key,
        kind: info.kind,
        name: info.name,
        version: info.version,
        bytes: info.bytes,
        has_debug_info: info.has_debug_info,
        uploaded_at: time::show(info.uploaded_ns),
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
    let debug_id = match &asked.debug_id {
        Some(text) => Some(DebugId::parse(text).ok_or_else(|| ApiError::malformed("debugId is not hexadecimal"))?),
        None => None,
    };
    let (symbols, id) = (app.symbols.clone(), project.id);
    let work = move || {
        let hints = Hints { language: asked.language.as_deref(), debug_id, ..Hints::default() };
        match symbols.resolve(id, &asked.stack_trace, &hints) {
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
