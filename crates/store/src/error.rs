//! Errors of an engine. Variants are only what callers handle differently.

use std::path::{Path, PathBuf};

/// An error of an engine.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// An I/O operation failed; a retry may succeed.
    #[error("cannot {what} {path}")]
    Io {
        /// The operation, for the message: `write`.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        source: std::io::Error,
    },
    /// The disk is full. No acknowledged row is lost: all remain in the memtable and the journal.
    #[error("no space left to {what} {path}")]
    NoSpace {
        /// The operation, for the message: `write`.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
    },
    /// A file does not contain what was written to it.
    #[error("{path} is damaged: {why}")]
    Corrupt {
        /// The damaged file.
        path: PathBuf,
        /// Fault of the content.
        why: String,
    },
    /// The engine refuses to start or to continue; the message says why and what to do.
    #[error("{0}")]
    Refused(String),
    /// The deadline passed before the answer was complete.
    #[error("the deadline passed before the answer was complete")]
    Deadline,
    /// The request needs more memory than one request may use; the message has the limit.
    #[error("the query needs more than its memory budget: {0}")]
    Budget(String),
    /// The plan has a column, kind or shape that does not exist.
    #[error("the query is not valid: {0}")]
    BadPlan(String),
    /// The database of the catalog failed.
    #[error("cannot {what} in the catalog")]
    Catalog {
        /// The operation, for the message.
        what: &'static str,
        /// The error of the database.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A defect of the engine: for instance, Arrow or Parquet rejected rows that the schema allows.
    #[error("cannot {what}: {why}")]
    Internal {
        /// The operation, for the message.
        what: &'static str,
        /// The cause.
        why: String,
    },
}

/// ENOMEM, ENFILE, EMFILE: the process has too few resources, whatever the file.
const SHORTAGES: [i32; 3] = [12, 23, 24];

impl StoreError {
    /// Converts an I/O error of the operation `what` on `path`. Invalid data becomes [`StoreError::Corrupt`], a full
    /// disk or quota [`StoreError::NoSpace`].
    pub fn io(what: &'static str, path: &Path, source: std::io::Error) -> StoreError {
        let path = path.to_path_buf();
        match source.kind() {
            std::io::ErrorKind::InvalidData => StoreError::Corrupt { path, why: source.to_string() },
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => StoreError::NoSpace { what, path },
            _ => StoreError::Io { what, path, source },
        }
    }

    /// The file that cannot be read or written, or is damaged; `None` when the cause is not the file, such as too many
    /// open files.
    pub fn faulty_file(&self) -> Option<&Path> {
        match self {
            StoreError::Io { source, .. } if source.raw_os_error().is_some_and(|code| SHORTAGES.contains(&code)) => {
                None
            }
            StoreError::Io { path, .. } | StoreError::Corrupt { path, .. } => Some(path),
            _ => None,
        }
    }

    /// The error of an operation that panicked, with the payload of `catch_unwind`.
    pub fn panicked(what: &'static str, panic: &(dyn std::any::Any + Send)) -> StoreError {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        StoreError::Internal { what, why: format!("a panic: {}", text.unwrap_or_default()) }
    }

    /// Converts an Arrow error of the operation `what` to [`StoreError::Internal`], for `map_err`.
    pub fn internal(what: &'static str) -> impl FnOnce(arrow::error::ArrowError) -> StoreError {
        move |source| StoreError::Internal { what, why: source.to_string() }
    }
}
