//! The doors for symbol files: `/api/symbols/upload` and `/api/sourcemaps/upload`. WIRE 4.1, 4.2.
//!
//! 200 `{"uploaded": n}` when every file is kept, durably; else nothing new is, and each refused file gets a sentence
//! (422). 400 no files; 401 no project's upload token; 413, 422, 503: `gate/upload`.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use serde::Serialize;
use utoipa::ToSchema;

use super::gate::auth::bearer;
use super::gate::upload::{self, Upload, UploadedFile};
use super::openapi::Failures;
use crate::app::App;
use crate::control::Project;
use crate::error::ApiError;
use crate::limits;
use crate::symbols::Symbols;
use crate::symbols::sort::{self, Fields, Kept};
use crate::symbols::store::{Info, Put};

/// What was kept.
#[derive(Debug, Serialize, ToSchema)]
pub struct Uploaded {
    /// Files; one with several architectures counts once.
    uploaded: usize,
}

/// Files with debug information, and source maps: what each is, is read from it.
#[utoipa::path(
    post,
    path = "/api/symbols/upload",
    operation_id = "uploadSymbols",
    tag = "symbols",
    request_body(content_type = "multipart/form-data"),
    responses((status = 200, description = "All are kept", body = Uploaded), Failures)
)]
pub async fn symbols(State(app): State<Arc<App>>, request: Request) -> Result<Json<Uploaded>, ApiError> {
    take(app, request, |_| true).await
}

/// Source maps and the scripts they belong to; other files are passed over.
#[utoipa::path(
    post,
    path = "/api/sourcemaps/upload",
    operation_id = "uploadSourceMaps",
    tag = "symbols",
    request_body(content_type = "multipart/form-data"),
    responses((status = 200, description = "All are kept", body = Uploaded), Failures)
)]
pub async fn source_maps(State(app): State<Arc<App>>, request: Request) -> Result<Json<Uploaded>, ApiError> {
    take(app, request, sort::is_source_map_or_script).await
}

/// The form field that files come in. WIRE 4.1.
const FILES: &str = "files";

async fn take(app: Arc<App>, request: Request, is_meant: fn(&str) -> bool) -> Result<Json<Uploaded>, ApiError> {
    let now_ns = app.clock.now_ns();
    let project = bearer(request.headers()).and_then(|token| app.control.project_by_upload_token(token, now_ns));
    let project = project.ok_or(ApiError::Unauthorized("missing or wrong upload token"))?;
    let upload = upload::receive(&app, request, &limits::UPLOAD).await?;
    if upload.files.iter().all(|file| file.field != FILES) {
        return Err(ApiError::malformed("No files uploaded"));
    }
    let _turn = app.symbols.reading.acquire().await.map_err(ApiError::internal)?;
    let symbols = app.symbols.clone();
    let keep = move || keep(&symbols, &project, &upload, is_meant, now_ns);
    tokio::task::spawn_blocking(keep).await.map_err(ApiError::internal)?.map(Json)
}

/// One file is in memory at a time. Blocks.
fn keep(
    symbols: &Symbols,
    project: &Project,
    upload: &Upload,
    is_meant: fn(&str) -> bool,
    now_ns: i64,
) -> Result<Uploaded, ApiError> {
    let fields = Fields::of(&upload.fields);
    let files: Vec<&UploadedFile> =
        upload.files.iter().filter(|file| file.field == FILES && is_meant(&file.name)).collect();
    let mut sorted: Vec<Vec<Kept>> = Vec::new();
    let mut refused = Vec::new();
    for file in &files {
        match sort::sort(&read(file)?, &file.name, fields) {
            Ok(kept) => sorted.push(kept),
            Err(why) => refused.push(format!("{}: {why}", shown(&file.name))),
        }
    }
    if !refused.is_empty() {
        return Err(ApiError::unprocessable(refused.join("; ")));
    }
    for (file, kept) in files.iter().zip(&sorted) {
        let bytes = read(file)?;
        for kept in kept {
            let info = Info {
                kind: kept.key.kind().to_owned(),
                name: shown(&file.name),
                version: fields.version.map(shown),
                bytes: 0,
                hash: String::new(),
                has_debug_info: kept.has_debug_info,
                uploaded_ns: now_ns,
            };
            if symbols.store.put(project.id, kept, &file.path, &bytes, info).map_err(upload::disk_error)? == Put::Stored
            {
                symbols.cache.forget(project.id, &kept.key);
                symbols.builder.ask(project.id, kept.key.clone());
            }
        }
    }
    Ok(Uploaded { uploaded: files.len() })
}

fn read(file: &UploadedFile) -> Result<Vec<u8>, ApiError> {
    std::fs::read(&file.path).map_err(upload::disk_error)
}

/// A sender's own words, short enough to be shown and on one line.
fn shown(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(limits::UPLOAD_NAME_CHARS_SHOWN).collect()
}
