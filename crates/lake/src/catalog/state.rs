//! The state of a catalog: its connection, and the lists that its checksums cover.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use rusqlite::Connection;

use super::meta::{Entry, Meta};
use super::reserve::Reserve;

pub struct Catalog {
    pub(super) path: PathBuf,
    /// `None` after a failure that leaves its state in doubt; it is opened again before the next use.
    pub(super) connection: Option<Connection>,
    pub(super) meta: Meta,
    pub(super) listed: Listed,
    pub(super) ids: Arc<AtomicU64>,
    pub(super) reserve: Reserve,
    #[cfg(test)]
    pub(super) probe: Option<Probe>,
}

/// Called before each step of a transaction in tests; an error takes the place of SQLite's result.
#[cfg(test)]
pub type Probe = Arc<dyn Fn(Step) -> rusqlite::Result<()> + Send + Sync>;

/// The steps of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Before the database is opened, or opened again.
    Open,
    Begin,
    /// After the first statement.
    Statement,
    /// Before COMMIT: a failure means that it was not committed.
    Commit,
    /// After COMMIT: a failure hides that it was committed.
    Committed,
}

/// The listed files, by id.
#[derive(Default)]
pub(super) struct Listed {
    pub parts: HashMap<u64, Entry>,
    pub dedup: HashMap<u64, Entry>,
}
