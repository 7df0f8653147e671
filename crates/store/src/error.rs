//! Why the store could not do what was asked. Few variants: each is something a caller decides on.

use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The disk refused; trying again later may help.
    #[error("cannot {what} {path}")]
    Io {
        what: &'static str,
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// The disk is full. Nothing acknowledged is lost: it waits in the memtable and the journal.
    #[error("no space left to {what} {path}")]
    NoSpace { what: &'static str, path: PathBuf },
    /// A file does not hold what was written to it.
    #[error("{path} is damaged: {why}")]
    Corrupt { path: PathBuf, why: String },
    /// The store will not go on as things are; the sentence says why, and what to do.
    #[error("{0}")]
    Refused(String),
    /// The deadline passed before the answer was complete.
    #[error("the deadline passed before the answer was complete")]
    Deadline,
    /// The question needs more memory than one question may use.
    #[error("the question needs more than its memory budget: {0}")]
    Budget(String),
    /// The plan names a column, kind or shape that does not exist.
    #[error("the question cannot be asked: {0}")]
    BadPlan(String),
    /// The database of the catalog refused.
    #[error("cannot {what} in the catalog")]
    Catalog {
        what: &'static str,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Arrow or Parquet refused rows that the schema allows: a defect of this crate.
    #[error("cannot {what}: {why}")]
    Internal { what: &'static str, why: String },
}

/// ENOMEM, ENFILE, EMFILE: the process has too little, whatever the file.
const SHORTAGES: [i32; 3] = [12, 23, 24];

impl StoreError {
    /// An I/O error with what was tried on which file; a full disk has a variant of its own.
    pub fn io(what: &'static str, path: &Path, source: std::io::Error) -> StoreError {
        let path = path.to_path_buf();
        match source.kind() {
            std::io::ErrorKind::InvalidData => StoreError::Corrupt { path, why: source.to_string() },
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => StoreError::NoSpace { what, path },
            _ => StoreError::Io { what, path, source },
        }
    }

    /// The file that cannot be read or written, or is damaged; `None` when the fault is not the file's, as with too many
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

    /// The error for work that panicked, with what `catch_unwind` caught.
    pub fn panicked(what: &'static str, panic: &(dyn std::any::Any + Send)) -> StoreError {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        StoreError::Internal { what, why: format!("a panic: {}", text.unwrap_or_default()) }
    }

    pub fn internal(what: &'static str) -> impl FnOnce(arrow::error::ArrowError) -> StoreError {
        move |source| StoreError::Internal { what, why: source.to_string() }
    }
}
