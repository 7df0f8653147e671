//! The doors for symbol files: `/api/symbols/upload` and `/api/sourcemaps/upload`. WIRE 4.1, 4.2.
//!
//! Each file is judged alone. 200 `{"uploaded": n, "rejected": [{name, error}]}`: those that are accepted are kept, durably;
//! 422 when none is, 413 when that is for want of room. 400 no files; 401 no project's upload token; 413, 422, 503:
//! `gate/upload`.

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
use crate::error::ApiError;
use tidewatch_accounts::Project;
use tidewatch_ingest::symbols::Symbols;
use tidewatch_ingest::symbols::sort;
use tidewatch_ingest::symbols::sort::{Fields, Kept};
use tidewatch_ingest::symbols::store::{Growth, Info, Put, Uploader};
use tidewatch_limits as limits;
use tidewatch_runtime::redact::plain;

/// What was kept.
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct Uploaded {
    /// Files; one with several architectures counts once.
    uploaded: usize,
    /// Files that are not kept. Left out when there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    rejected: Vec<RejectedFile>,
    /// What the sender should know of files that are kept. Left out when there is nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    warnings: Vec<String>,
}

/// A file that is not kept.
#[derive(Debug, Serialize, ToSchema)]
pub struct RejectedFile {
    /// As its sender called it.
    name: String,
    /// Why: one sentence.
    error: String,
}

/// Files with debug information, and source maps: what each is, is read from it.
#[utoipa::path(
    post,
    path = "/api/symbols/upload",
    operation_id = "uploadSymbols",
    tag = "symbols",
    request_body(content_type = "multipart/form-data"),
    responses((status = 200, description = "Some are kept", body = Uploaded), Failures)
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
    responses((status = 200, description = "Some are kept", body = Uploaded), Failures)
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
        files_max: app.config.symbols_project_files_max(),
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
    files_max: Option<u64>,
    by: Uploader,
    now_ns: i64,
}

/// Why a file is not kept.
enum Refusal {
    Unusable(String),
    /// The project has too much already.
    NoRoom(String),
}

impl Keeping {
    /// One file is in memory at a time. Blocks.
    fn keep(&self, upload: &Upload, is_meant: fn(&str) -> bool) -> Result<Uploaded, ApiError> {
        let fields = Fields::of(&upload.fields);
        let mut answer = Uploaded::default();
        let mut lacks_room = true;
        // Before the first file and after the last: a round of resolving again that is under way knows neither.
        self.mark()?;
        for file in upload.files.iter().filter(|file| file.field == FILES && is_meant(&file.name)) {
            match self.take(file, fields, &mut answer.warnings)? {
                Ok(()) => answer.uploaded += 1,
                Err(refusal) => {
                    let (error, is_room) = match refusal {
                        Refusal::Unusable(why) => (why, false),
                        Refusal::NoRoom(why) => (why, true),
                    };
                    lacks_room &= is_room;
                    answer.rejected.push(RejectedFile { name: shown(&file.name), error });
                }
            }
        }
        self.mark()?;
        if answer.uploaded > 0 || answer.rejected.is_empty() {
            return Ok(answer);
        }
        let sentences: Vec<String> =
            answer.rejected.iter().map(|file| format!("{}: {}", file.name, file.error)).collect();
        let why = sentences.join("; ");
        Err(if lacks_room { ApiError::NoRoom(why) } else { ApiError::unprocessable(why) })
    }

    fn mark(&self) -> Result<(), ApiError> {
        self.symbols.again.mark(self.project.id).map_err(upload::disk_error)
    }

    /// Keeps one file under all its keys, or none of it.
    fn take(
        &self,
        file: &UploadedFile,
        fields: Fields<'_>,
        warnings: &mut Vec<String>,
    ) -> Result<Result<(), Refusal>, ApiError> {
        let bytes = read(file)?;
        let sorted = match sort::sort(&bytes, &file.name, fields) {
            Ok(sorted) => sorted,
            Err(why) => return Ok(Err(Refusal::Unusable(why))),
        };
        if let Some(why) = self.lacks_room(&sorted, &bytes).map_err(upload::disk_error)? {
            self.symbols.over_quota.fetch_add(1, Ordering::Relaxed);
            return Ok(Err(Refusal::NoRoom(why)));
        }
        for kept in &sorted {
            self.put(file, kept, &bytes, fields.version, warnings)?;
        }
        Ok(Ok(()))
    }

    /// Why the project would keep too much.
    fn lacks_room(&self, sorted: &[Kept], bytes: &[u8]) -> std::io::Result<Option<String>> {
        let (store, project) = (&self.symbols.store, self.project.id);
        let mut growth = Growth::default();
        for kept in sorted {
            let more = store.growth(project, kept, bytes)?;
            growth = Growth { bytes: growth.bytes + more.bytes, files: growth.files + more.files };
        }
        let (kept_bytes, kept_files) = store.ask(project, |index| (index.charged(), index.files()))?;
        let is_over = |kept: u64, more: u64, max: Option<u64>| max.filter(|max| more > 0 && kept + more > *max);
        if let Some(max) = is_over(kept_bytes, growth.bytes, self.bytes_max) {
            let more = growth.bytes;
            return Ok(Some(format!(
                "the project keeps {kept_bytes} bytes of symbols, and with these {more} it would pass its limit of {max}: \
                 delete old uploads, or raise TIDEWATCH_SYMBOLS_PROJECT_MB"
            )));
        }
        Ok(is_over(kept_files, growth.files, self.files_max).map(|max| {
            format!(
                "the project keeps {kept_files} symbol files, and its limit is {max}: delete old uploads, or raise \
                 TIDEWATCH_SYMBOLS_PROJECT_FILES"
            )
        }))
    }

    fn put(
        &self,
        file: &UploadedFile,
        kept: &Kept,
        bytes: &[u8],
        version: Option<&str>,
        warnings: &mut Vec<String>,
    ) -> Result<(), ApiError> {
        let info = Info {
            kind: kept.key.kind().to_owned(),
            name: shown(&file.name),
            version: version.map(shown),
            has_debug_info: kept.has_debug_info,
            uploaded_ns: self.now_ns,
            arch: kept.arch.map(|arch| arch.as_str().to_owned()),
            path: kept.path.as_ref().map(|path| path.as_str().to_owned()),
            debug_id: kept.debug_id.map(|id| id.to_string()),
            by: Some(self.by.clone()),
            ..Info::default()
        };
        let (symbols, project) = (&self.symbols, self.project.id);
        let (put, key) = symbols.store.put(project, kept, &file.path, bytes, info).map_err(upload::disk_error)?;
        if put == Put::Stored {
            symbols.builder.interrupt(project, &key);
            symbols.cache.forget(project, &key);
            symbols.build(project, key.clone()).map_err(upload::disk_error)?;
        }
        if key.is_source_map() && kept.debug_id.is_none() {
            let others =
                symbols.store.ask(project, |index| index.of_same_name(&key).map(str::to_owned).collect::<Vec<_>>());
            for other in others.map_err(upload::disk_error)?.iter().take(limits::UPLOAD_WARNINGS_MAX) {
                if warnings.len() < limits::UPLOAD_WARNINGS_MAX {
                    warnings.push(sort::collision(&shown(&file.name), &shown(other)));
                }
            }
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
