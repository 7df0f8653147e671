//! Uploads of symbol files: `/api/symbols/upload` and `/api/sourcemaps/upload`. WIRE 4.1, 4.2.
//!
//! Each file is accepted or rejected separately. 200 `{"uploaded": n, "rejected": [{name, error}]}`: the accepted files
//! are stored durably. 422 if all files are rejected, 413 if all are rejected because of the project's quota. 400: no
//! files. 401: not an upload token. 413, 422, 503: also by `gate/upload`.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::header::USER_AGENT;
use serde::Serialize;
use utoipa::ToSchema;

use super::gate::auth::{ClientInfo, bearer};
use super::gate::upload::{self, Upload, UploadedFile};
use super::openapi::Failures;
use crate::contexts::{Accounts, Ingest, Process};
use crate::error::ApiError;
use tidewatch_accounts::Project;
use tidewatch_ingest::symbols::Symbols;
use tidewatch_ingest::symbols::classify_upload;
use tidewatch_ingest::symbols::classify_upload::{ClassifiedFile, Fields};
use tidewatch_ingest::symbols::release::Release;
use tidewatch_ingest::symbols::store::{Growth, Info, Put, Uploader};
use tidewatch_limits as limits;
use tidewatch_runtime::redact::plain;

/// The result of an upload.
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct Uploaded {
    /// The number of accepted files. A file with several architectures counts once.
    uploaded: usize,
    /// The rejected files. Omitted if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    rejected: Vec<RejectedFile>,
    /// Warnings about accepted files. Omitted if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    warnings: Vec<String>,
}

/// A rejected file.
#[derive(Debug, Serialize, ToSchema)]
pub struct RejectedFile {
    /// The file name that the client sent.
    name: String,
    /// The reason, as one sentence.
    error: String,
}

/// Uploads debug files and source maps. The kind of each file is detected from its content.
#[utoipa::path(
    post,
    path = "/api/symbols/upload",
    operation_id = "uploadSymbols",
    tag = "symbols",
    request_body(content_type = "multipart/form-data"),
    responses((status = 200, description = "At least one file was accepted", body = Uploaded), Failures)
)]
pub async fn symbols(
    State(accounts): State<Arc<Accounts>>,
    State(ingest): State<Arc<Ingest>>,
    State(process): State<Arc<Process>>,
    from: ClientInfo,
    request: Request,
) -> Result<Json<Uploaded>, ApiError> {
    take(accounts, ingest, process, from, request, |_| true).await
}

/// Uploads source maps and the scripts that they describe. Other files are ignored.
#[utoipa::path(
    post,
    path = "/api/sourcemaps/upload",
    operation_id = "uploadSourceMaps",
    tag = "symbols",
    request_body(content_type = "multipart/form-data"),
    responses((status = 200, description = "At least one file was accepted", body = Uploaded), Failures)
)]
pub async fn source_maps(
    State(accounts): State<Arc<Accounts>>,
    State(ingest): State<Arc<Ingest>>,
    State(process): State<Arc<Process>>,
    from: ClientInfo,
    request: Request,
) -> Result<Json<Uploaded>, ApiError> {
    take(accounts, ingest, process, from, request, classify_upload::is_source_map_or_script).await
}

/// The form field of the files. WIRE 4.1.
const FILES: &str = "files";

async fn take(
    accounts: Arc<Accounts>,
    ingest: Arc<Ingest>,
    process: Arc<Process>,
    from: ClientInfo,
    request: Request,
    is_expected: fn(&str) -> bool,
) -> Result<Json<Uploaded>, ApiError> {
    let now_ns = accounts.clock.now_ns();
    let project =
        bearer(request.headers()).and_then(|token| accounts.control.credentials.project_by_upload_token(token, now_ns));
    let project = project.ok_or(ApiError::Unauthorized("missing or wrong upload token"))?;
    let agent = request.headers().get(USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let by = Uploader { user_agent: for_display(agent), address: from.address.to_string() };
    let upload = upload::receive(&ingest, &process, request, &limits::UPLOAD).await?;
    if upload.files.iter().all(|file| file.field != FILES) {
        return Err(ApiError::malformed("No files uploaded"));
    }
    let _permit = ingest.symbols.reading.acquire().await.map_err(ApiError::internal)?;
    let job = UploadJob {
        symbols: ingest.symbols.clone(),
        project,
        bytes_max: process.config.symbols_project_bytes_max(),
        files_max: process.config.symbols_project_files_max(),
        by,
        now_ns,
    };
    let run = move || job.run(&upload, is_expected);
    tokio::task::spawn_blocking(run).await.map_err(ApiError::internal)?.map(Json)
}

/// Stores the files of one upload.
struct UploadJob {
    symbols: Arc<Symbols>,
    project: Arc<Project>,
    /// The quota of the project in bytes. `None`: unlimited.
    bytes_max: Option<u64>,
    /// The quota of the project in files. `None`: unlimited.
    files_max: Option<u64>,
    by: Uploader,
    now_ns: i64,
}

/// Reasons for which a file is rejected.
enum Refusal {
    Unusable(String),
    /// The file would exceed the project's quota.
    NoRoom(String),
}

impl UploadJob {
    /// Stores the files that are accepted. At most one file is in memory. Blocks.
    fn run(&self, upload: &Upload, is_expected: fn(&str) -> bool) -> Result<Uploaded, ApiError> {
        let fields = Fields::of(&upload.fields);
        let mut result = Uploaded::default();
        let mut is_all_quota = true;
        // Before the first file and after the last: a concurrent round of re-symbolication may have missed the files.
        self.mark()?;
        for file in upload.files.iter().filter(|file| file.field == FILES && is_expected(&file.name)) {
            match self.take(file, fields, &mut result.warnings)? {
                Ok(()) => result.uploaded += 1,
                Err(refusal) => {
                    let (error, is_quota) = match refusal {
                        Refusal::Unusable(why) => (why, false),
                        Refusal::NoRoom(why) => (why, true),
                    };
                    is_all_quota &= is_quota;
                    result.rejected.push(RejectedFile { name: for_display(&file.name), error });
                }
            }
        }
        self.mark()?;
        if fields.release().id().is_some()
            && let Err(error) = self.symbols.remove_old_releases(self.project.id, self.now_ns)
        {
            tracing::warn!(%error, "symbols of old releases cannot be removed: {error}");
        }
        if result.uploaded > 0 || result.rejected.is_empty() {
            return Ok(result);
        }
        let messages: Vec<String> =
            result.rejected.iter().map(|file| format!("{}: {}", file.name, file.error)).collect();
        let why = messages.join("; ");
        Err(if is_all_quota { ApiError::NoRoom(why) } else { ApiError::unprocessable(why) })
    }

    fn mark(&self) -> Result<(), ApiError> {
        self.symbols.resymbolication.mark(self.project.id).map_err(upload::disk_error)
    }

    /// Stores one file under all its keys, or rejects it.
    fn take(
        &self,
        file: &UploadedFile,
        fields: Fields<'_>,
        warnings: &mut Vec<String>,
    ) -> Result<Result<(), Refusal>, ApiError> {
        let bytes = read(file)?;
        let classified = match classify_upload::classify_upload(&bytes, &file.name, fields) {
            Ok(classified) => classified,
            Err(why) => return Ok(Err(Refusal::Unusable(why))),
        };
        if let Some(why) = self.exceeds_quota(&classified, &bytes).map_err(upload::disk_error)? {
            self.symbols.over_quota.fetch_add(1, Ordering::Relaxed);
            return Ok(Err(Refusal::NoRoom(why)));
        }
        for classified_file in &classified {
            self.put(file, classified_file, &bytes, fields.release(), warnings)?;
        }
        Ok(Ok(()))
    }

    /// The error message if the file would exceed the project's quota.
    fn exceeds_quota(&self, classified: &[ClassifiedFile], bytes: &[u8]) -> std::io::Result<Option<String>> {
        let (store, project) = (&self.symbols.store, self.project.id);
        let mut growth = Growth::default();
        for classified_file in classified {
            let more = store.growth(project, classified_file, bytes)?;
            growth = Growth { bytes: growth.bytes + more.bytes, files: growth.files + more.files };
        }
        let (used_bytes, used_files) = store.with_index(project, |index| (index.charged(), index.files()))?;
        let is_over = |used: u64, more: u64, max: Option<u64>| max.filter(|max| more > 0 && used + more > *max);
        if let Some(max) = is_over(used_bytes, growth.bytes, self.bytes_max) {
            let more = growth.bytes;
            return Ok(Some(format!(
                "the project keeps {used_bytes} bytes of symbols, and with these {more} it would pass its limit of {max}: \
                 delete old uploads, or raise TIDEWATCH_SYMBOLS_PROJECT_MB"
            )));
        }
        Ok(is_over(used_files, growth.files, self.files_max).map(|max| {
            format!(
                "the project keeps {used_files} symbol files, and its limit is {max}: delete old uploads, or raise \
                 TIDEWATCH_SYMBOLS_PROJECT_FILES"
            )
        }))
    }

    fn put(
        &self,
        file: &UploadedFile,
        classified_file: &ClassifiedFile,
        bytes: &[u8],
        release: Release,
        warnings: &mut Vec<String>,
    ) -> Result<(), ApiError> {
        let info = Info {
            kind: classified_file.key.kind().to_owned(),
            name: for_display(&file.name),
            version: release.version,
            dist: release.dist,
            has_debug_info: classified_file.has_debug_info,
            uploaded_ns: self.now_ns,
            arch: classified_file.arch.map(|arch| arch.as_str().to_owned()),
            path: classified_file.path.as_ref().map(|path| path.as_str().to_owned()),
            debug_id: classified_file.debug_id.map(|id| id.to_string()),
            by: Some(self.by.clone()),
            ..Info::default()
        };
        let (symbols, project) = (&self.symbols, self.project.id);
        let (put, key) = symbols.store.put(project, classified_file, bytes, info).map_err(upload::disk_error)?;
        if put == Put::Stored {
            symbols.builder.interrupt(project, &key);
            symbols.cache.forget(project, &key);
            symbols.build(project, key.clone()).map_err(upload::disk_error)?;
        }
        if key.is_source_map() && classified_file.debug_id.is_none() {
            let others = symbols
                .store
                .with_index(project, |index| index.of_same_name(&key).map(str::to_owned).collect::<Vec<_>>());
            for other in others.map_err(upload::disk_error)?.iter().take(limits::UPLOAD_WARNINGS_MAX) {
                if warnings.len() < limits::UPLOAD_WARNINGS_MAX {
                    warnings.push(classify_upload::collision(&for_display(&file.name), &for_display(other)));
                }
            }
        }
        Ok(())
    }
}

fn read(file: &UploadedFile) -> Result<Vec<u8>, ApiError> {
    std::fs::read(&file.path).map_err(upload::disk_error)
}

/// A string of the client, shortened and on one line, for display.
fn for_display(text: &str) -> String {
    plain(text, limits::UPLOAD_NAME_CHARS_SHOWN)
}
