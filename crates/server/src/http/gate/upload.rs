//! Uploads: writes `multipart/form-data` to files on disk, within the limits "Upload size", "Upload body" and "Upload
//! concurrency".
//!
//! 400: not multipart. 408: too slow. 413: too large (one file, or the body). 415: a content encoding. 422: too many
//! files. 503: no slot in time. At most one frame of the body and one write buffer are in memory.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use axum::extract::Request;
use axum::http::header::CONTENT_TYPE;
use uuid::Uuid;

use super::body::{body_error, declared_length};
use super::multipart::{Event, Multipart, MultipartError, PartHead};
use crate::contexts::{Ingest, Process};
use crate::error::ApiError;
use tidewatch_ingest::coding;
use tidewatch_ingest::coding::Coding;
use tidewatch_limits as limits;
use tidewatch_limits::RouteLimits;
use tidewatch_limits::admission::slots::Permit;
use tidewatch_limits::admission::slow_client::BodyReader;

/// An upload on disk. Dropping it removes the files and releases the slot.
pub struct Upload {
    /// The files, in the order of the body.
    pub files: Vec<UploadedFile>,
    /// The other parts: name and value.
    pub fields: Vec<(String, String)>,
    folder: Folder,
    _permit: Permit,
}

/// One file of an upload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UploadedFile {
    /// The name of the form field.
    pub field: String,
    /// The file name that the client sent. Not safe as a path.
    pub name: String,
    /// Where the file is stored.
    pub path: PathBuf,
    /// The file's length.
    pub bytes: u64,
}

/// Waits for a slot, then writes the whole upload to disk.
pub async fn receive(
    ingest: &Ingest,
    process: &Process,
    request: Request,
    limits: &RouteLimits,
) -> Result<Upload, ApiError> {
    let no_slot = ApiError::Overloaded("too many uploads at once; try again later");
    let entered = tokio::time::timeout(limits::UPLOAD_WAIT_MAX, ingest.uploads.enter(NO_PROJECT)).await;
    let permit = entered.map_err(|_| no_slot.clone())?.map_err(|_| no_slot)?;
    let headers = request.headers();
    if coding::of(headers) != Ok(Coding::Identity) {
        return Err(ApiError::UnsupportedMedia("uploads take no content encoding".to_owned()));
    }
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let parser = Multipart::new(content_type).map_err(malformed)?;
    let declared = declared_length(headers);
    let body = BodyReader::new(request.into_body(), declared, limits).map_err(|error| body_error(error, limits))?;
    let folder = Folder::make(&process.config.upload_folder()).await?;
    let mut receiver = Receiver {
        upload: Upload { files: Vec::new(), fields: Vec::new(), folder, _permit: permit },
        open: Open::Nothing,
    };
    receiver.run(parser, body, limits).await?;
    Ok(receiver.upload)
}

/// The slots of uploads have one queue for all projects.
const NO_PROJECT: u32 = 0;

fn malformed(error: MultipartError) -> ApiError {
    ApiError::malformed(error.to_string())
}

struct Receiver {
    upload: Upload,
    open: Open,
}

/// The part being received.
enum Open {
    Nothing,
    File { writer: Writer, field: String, name: String },
    Field { name: String, value: Vec<u8> },
}

impl Receiver {
    async fn run(&mut self, mut parser: Multipart, mut body: BodyReader, limits: &RouteLimits) -> Result<(), ApiError> {
        while let Some(bytes) = body.next(&mut ()).await.map_err(|error| body_error(error, limits))? {
            parser.push(&bytes);
            while let Some(event) = parser.event().map_err(malformed)? {
                match event {
                    Event::Part(head) => self.begin(head)?,
                    Event::Data(data) => self.data(&data).await?,
                    Event::PartEnd => self.end().await?,
                    Event::End => {}
                }
            }
        }
        parser.finish().map_err(malformed)
    }

    fn begin(&mut self, head: PartHead) -> Result<(), ApiError> {
        let Upload { files, fields, folder, .. } = &self.upload;
        self.open = match head.file_name {
            Some(_) if files.len() == limits::UPLOAD_FILES_MAX => {
                let most = limits::UPLOAD_FILES_MAX;
                return Err(ApiError::unprocessable(format!("an upload has at most {most} files")));
            }
            Some(name) => {
                let writer = Writer::new(folder.0.join(files.len().to_string()));
                Open::File { writer, field: head.name, name }
            }
            None if fields.len() == limits::UPLOAD_FIELDS_MAX => {
                let most = limits::UPLOAD_FIELDS_MAX;
                return Err(ApiError::unprocessable(format!("an upload has at most {most} parts that are no files")));
            }
            None => Open::Field { name: head.name, value: Vec::new() },
        };
        Ok(())
    }

    async fn data(&mut self, data: &[u8]) -> Result<(), ApiError> {
        match &mut self.open {
            Open::Nothing => Ok(()),
            Open::File { writer, .. } => {
                if writer.bytes + data.len() as u64 > limits::UPLOAD_FILE_BYTES_MAX as u64 {
                    return Err(ApiError::TooLarge(limits::UPLOAD_FILE_BYTES_MAX));
                }
                writer.write(data).await
            }
            Open::Field { value, .. } => {
                if value.len() + data.len() > limits::UPLOAD_FIELD_BYTES_MAX {
                    return Err(ApiError::TooLarge(limits::UPLOAD_FIELD_BYTES_MAX));
                }
                value.extend_from_slice(data);
                Ok(())
            }
        }
    }

    async fn end(&mut self) -> Result<(), ApiError> {
        match std::mem::replace(&mut self.open, Open::Nothing) {
            Open::Nothing => {}
            Open::File { mut writer, field, name } => {
                writer.flush().await?;
                self.upload.files.push(UploadedFile { field, name, path: writer.path, bytes: writer.bytes });
            }
            Open::Field { name, value } => {
                self.upload.fields.push((name, String::from_utf8_lossy(&value).into_owned()));
            }
        }
        Ok(())
    }
}

/// The directory of one upload. Dropping it removes it.
struct Folder(PathBuf);

impl Folder {
    async fn make(below: &Path) -> Result<Folder, ApiError> {
        let path = below.join(Uuid::new_v4().to_string());
        let made = path.clone();
        blocking(move || std::fs::create_dir_all(&made)).await?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let path = std::mem::take(&mut self.0);
        let remove = move || {
            if let Err(error) = std::fs::remove_dir_all(&path) {
                tracing::warn!(%error, "cannot remove the upload {}: {error}", path.display());
            }
        };
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(remove)),
            Err(_) => remove(),
        }
    }
}

/// Writes a file on blocking threads, with a buffer of [`limits::UPLOAD_WRITE_BYTES`].
struct Writer {
    path: PathBuf,
    file: Option<std::fs::File>,
    buffer: Vec<u8>,
    /// The number of bytes written and buffered.
    bytes: u64,
}

impl Writer {
    fn new(path: PathBuf) -> Writer {
        Writer { path, file: None, buffer: Vec::new(), bytes: 0 }
    }

    async fn write(&mut self, data: &[u8]) -> Result<(), ApiError> {
        self.buffer.extend_from_slice(data);
        self.bytes += data.len() as u64;
        if self.buffer.len() >= limits::UPLOAD_WRITE_BYTES { self.flush().await } else { Ok(()) }
    }

    async fn flush(&mut self) -> Result<(), ApiError> {
        let (file, buffer, path) = (self.file.take(), std::mem::take(&mut self.buffer), self.path.clone());
        let written = blocking(move || {
            let mut file = match file {
                Some(file) => file,
                None => std::fs::File::create_new(path)?,
            };
            file.write_all(&buffer)?;
            Ok((file, buffer))
        });
        let (file, mut buffer) = written.await?;
        buffer.clear();
        (self.file, self.buffer) = (Some(file), buffer);
        Ok(())
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> Result<T, ApiError> {
    let done = tokio::task::spawn_blocking(work).await.map_err(ApiError::internal)?;
    done.map_err(disk_error)
}

/// The response to a disk error: 503 if the disk is full, otherwise 500.
pub fn disk_error(error: std::io::Error) -> ApiError {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => ApiError::Overloaded("the disk is full; try again later"),
        _ => ApiError::internal(error),
    }
}
