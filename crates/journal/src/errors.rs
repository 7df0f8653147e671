//! Why an append was refused, and why a journal could not be opened.

use crate::Position;
use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

/// Why a record is not in the journal. The sender may try again later, except after `TooLarge`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// The journal or its queue is at its bound: wait until the store has caught up.
    #[error("the journal is full")]
    Full,
    #[error("no space left on the journal's disk")]
    NoSpace,
    #[error("cannot write the journal: {0}")]
    Io(String),
    #[error("the journal is closed")]
    Closed,
    #[error("a record of {bytes} bytes exceeds the bound of {bytes_max} bytes")]
    TooLarge { bytes: usize, bytes_max: usize },
}

impl From<&io::Error> for AppendError {
    fn from(error: &io::Error) -> AppendError {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => AppendError::NoSpace,
            _ => AppendError::Io(error.to_string()),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("the journal in {0} is in use by another process")]
    Locked(PathBuf),
    #[error("cannot {action} {path}: {source}")]
    Io { action: &'static str, path: PathBuf, source: io::Error },
    #[error("segment {path} has format version {version}; this program reads version {known}")]
    Version { path: PathBuf, version: u32, known: u32 },
    #[error("journal options: {0}")]
    Options(String),
    #[error("cannot replay the record at position {position}: {source}")]
    Replay { position: Position, source: Box<dyn Error + Send + Sync> },
}

impl OpenError {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> OpenError {
        move |source| OpenError::Io { action, path: path.to_path_buf(), source }
    }
}
