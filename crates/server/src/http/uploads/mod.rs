//! The doors for symbol files: `/api/symbols/upload` and `/api/sourcemaps/upload`. WIRE 4.1, 4.2.
//!
//! 200 `{"uploaded": n}` when every file is kept, durably; else nothing new is, and each refused file gets a sentence
//! (422). 400 no files; 401 no project's upload token; 413 too much is kept already; 413, 422, 503: `gate/upload`.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::header::USER_AGENT;
use serde::Serialize;
use utoipa::ToSchema;

use super::gate::auth::{Origin, bearer};
use super::gate::upload::{self, Upload, UploadedFile};
use super::openapi::Failures;
use crate::app::App;
use crate::control::Project;
use crate::error::ApiError;
use crate::limits;
use crate::redact::plain;
use crate::symbols::Symbols;
use crate::symbols::sort::{self, Fields, Kept};
use crate::symbols::store::{Info, Put, Uploader};

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
pub async fn symbols(State(app): State<Arc<App>>, from: Origin, request: Request) -> Result<Json<Uploaded>, ApiError> {
    take(app, from, request, |_| true).await
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
pub async fn source_maps(
    State(app): State<Arc<App>>,
    from: Origin,
    request: Request,
) -> Result<Json<Uploaded>, ApiError> {
    take(app, from, request, sort::is_source_map_or_script).await
}

/// The form field that files come in. WIRE 4.1.
const FILES: &str = "files";

async fn take(
    app: Arc<App>,
    from: Origin,
    request: Request,
    is_meant: fn(&str) -> bool,
) -> Result<Json<Uploaded>, ApiError> {
    let now_ns = app.clock.now_ns();
    let project = bearer(request.headers()).and_then(|token| app.control.project_by_upload_token(token, now_ns));
    let project = project.ok_or(ApiError::Unauthorized("missing or wrong upload token"))?;
    let agent = request.headers().get(USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let by = Uploader { user_agent: shown(agent), address: from.address.to_string() };
    let upload = upload::receive(&app, request, &limits::UPLOAD).await?;
    if upload.files.iter().all(|file| file.field != FILES) {
        return Err(ApiError::malformed("No files uploaded"));
    }
    let _turn = app.symbols.reading.acquire().await.map_err(ApiError::internal)?;
    let keeping = Keeping {
        symbols: app.symbols.clone(),
        project,
        bytes_max: app.config.symbols_project_bytes_max(),
        by,
        now_ns,
    };
    let keep = move || keeping.keep(&upload, is_meant);
    tokio::task::spawn_blocking(keep).await.map_err(ApiError::internal)?.map(Json)
}

/// One upload on its way to the store.
struct Keeping {
    symbols: Arc<Symbols>,
    project: Arc<Project>,
    /// Of all the project's uploads together.
    bytes_max: Option<u64>,
    by: Uploader,
    now_ns: i64,
}

impl Keeping {
    /// One file is in memory at a time. Blocks.
    fn keep(&self, upload: &Upload, is_meant: fn(&str) -> bool) -> Result<Uploaded, ApiError> {
        let fields = Fields::of(&upload.fields);
        let files: Vec<&UploadedFile> =
            upload.files.iter().filter(|file| file.field == FILES && is_meant(&file.name)).collect();
        let mut sorted: Vec<Vec<Kept>> = Vec::new();
        let mut refused = Vec::new();
        let mut growth = 0;
        for file in &files {
            let bytes = read(file)?;
            match sort::sort(&bytes, &file.name, fields) {
                Ok(kept) => {
                    growth += kept.iter().map(|kept| self.growth(kept, &bytes)).sum::<u64>();
                    sorted.push(kept);
                }
                Err(why) => refused.push(format!("{}: {why}", shown(&file.name))),
            }
        }
        if !refused.is_empty() {
            return Err(ApiError::unprocessable(refused.join("; ")));
        }
        self.has_room(growth)?;
        for (file, kept) in files.iter().zip(&sorted) {
            let bytes = read(file)?;
            for kept in kept {
                self.put(file, kept, &bytes, fields.version)?;
            }
        }
        Ok(Uploaded { uploaded: files.len() })
    }

    fn growth(&self, kept: &Kept, bytes: &[u8]) -> u64 {
        self.symbols.store.growth(self.project.id, kept, bytes)
    }

    /// 413 when the project would keep too much.
    fn has_room(&self, growth: u64) -> Result<(), ApiError> {
        let Some(bytes_max) = self.bytes_max.filter(|_| growth > 0) else { return Ok(()) };
        let kept = self.symbols.store.size(self.project.id).map_err(upload::disk_error)?;
        if kept.saturating_add(growth) <= bytes_max {
            return Ok(());
        }
        self.symbols.over_quota.fetch_add(1, Ordering::Relaxed);
        Err(ApiError::NoRoom(format!(
            "the project keeps {kept} bytes of symbols, and with these {growth} it would pass its limit of {bytes_max}: \
             delete old uploads, or raise TIDEWATCH_SYMBOLS_PROJECT_MB"
        )))
    }

    fn put(&self, file: &UploadedFile, kept: &Kept, bytes: &[u8], version: Option<&str>) -> Result<(), ApiError> {
        let info = Info {
            kind: kept.key.kind().to_owned(),
            name: shown(&file.name),
            version: version.map(shown),
            bytes: 0,
            hash: String::new(),
            has_debug_info: kept.has_debug_info,
            uploaded_ns: self.now_ns,
            arch: kept.arch.map(|arch| arch.as_str().to_owned()),
            by: Some(self.by.clone()),
        };
        let symbols = &self.symbols;
        let put = symbols.store.put(self.project.id, kept, &file.path, bytes, info).map_err(upload::disk_error)?;
        if put == Put::Stored {
            symbols.cache.forget(self.project.id, &kept.key);
            symbols.builder.ask(self.project.id, kept.key.clone());
        }
        Ok(())
    }
}

fn read(file: &UploadedFile) -> Result<Vec<u8>, ApiError> {
    std::fs::read(&file.path).map_err(upload::disk_error)
}

/// A sender's own words, short enough to be shown and on one line.
fn shown(text: &str) -> String {
    plain(text, limits::UPLOAD_NAME_CHARS_SHOWN)
}
