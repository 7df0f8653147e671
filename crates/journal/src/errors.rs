//! Errors of appending to a journal and of opening one.

use crate::Position;
use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

/// Reasons for which a record was not appended. Every variant but `TooLarge` may succeed later.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// The journal or its queue has reached its size limit. Space returns once segments are trimmed.
    #[error("the journal is full")]
    Full,
    /// The disk or a quota is full.
    #[error("no space left on the journal's disk")]
    NoSpace,
    /// Writing or syncing failed.
    #[error("cannot write the journal: {0}")]
    Io(String),
    /// The journal was shut down, or its writer thread panicked.
    #[error("the journal is closed")]
    Closed,
    /// The payload exceeds `Options::record_bytes_max`.
    #[error("a record of {bytes} bytes exceeds the bound of {bytes_max} bytes")]
    TooLarge {
        /// Payload size.
        bytes: usize,
        /// `Options::record_bytes_max`.
        bytes_max: usize,
    },
}

impl From<&io::Error> for AppendError {
    fn from(error: &io::Error) -> AppendError {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => AppendError::NoSpace,
            _ => AppendError::Io(error.to_string()),
        }
    }
}

/// Reasons for which a journal could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process holds the lock of this directory.
    #[error("the journal in {0} is in use by another process")]
    Locked(PathBuf),
    /// A file operation failed.
    #[error("cannot {action} {path}: {source}")]
    Io {
        /// The operation, as a verb.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A later version of this program wrote the segment.
    #[error("segment {path} has format version {version}; this program reads version {known}")]
    Version {
        /// The segment.
        path: PathBuf,
        /// Its format version.
        version: u32,
        /// The only version this program reads.
        known: u32,
    },
    /// The size limits contradict each other.
    #[error("journal options: {0}")]
    Options(String),
    /// The caller's `replay` callback failed.
    #[error("cannot replay the record at position {position}: {source}")]
    Replay {
        /// Position of the record.
        position: Position,
        /// The error of the callback.
        source: Box<dyn Error + Send + Sync>,
    },
}

impl OpenError {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> OpenError {
        move |source| OpenError::Io { action, path: path.to_path_buf(), source }
    }
}
