//! Debug files and source maps that projects upload: kept as they came, and as `.tw` artifacts made from them.
//!
//! - [`keys`]: where each is kept. [`sort`]: what an upload is, and its key. [`store`]: the files on disk ([`disk`]),
//!   [`info`]: what is known of each, [`index`]: the same of a project, in memory.
//! - [`build`]: the thread that makes artifacts. [`cache`]: those in memory. [`resolve`]: stack traces; [`named`]: which
//!   build they say they are from; [`gather`]: the artifacts that they refer to. [`missing`]: what they asked for in vain;
//!   [`uses`]: what they found, and when; [`again`]: those stored raw before, [`waiting`]: the queue of their projects.
//! - [`notes`]: writes both down, away from requests. [`check`]: the files on disk against their hashes.
//!
//! ```text
//! http/uploads ─> sort (format, ids) ─> store.put (durable) ─> 200
//!                                          └─> build: original ─> crates/symbols ─> store.put_artifact
//! ```
//!
//! An artifact is a cache: whoever misses it, or finds it stale, asks [`build`] for it.

pub mod build;
pub mod cache;
pub mod check;
mod disk;
pub mod gather;
pub mod index;
pub mod info;
pub mod keys;
pub mod missing;
pub mod named;
pub mod notes;
pub mod resolve;
pub mod sort;
pub mod store;
pub mod uses;
pub mod waiting;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use tokio::sync::Semaphore;
use uuid::Uuid;

use self::build::Builder;
use self::cache::Cache;
use self::keys::SymbolKey;
use self::missing::Missing;
use self::store::{Listed, SymbolStore};
use self::uses::Uses;
use self::waiting::Waiting;
use tidewatch_limits as limits;

/// What the server has of them.
pub struct Symbols {
    pub store: Arc<SymbolStore>,
    pub builder: Builder,
    pub cache: Arc<Cache>,
    pub missing: Missing,
    pub uses: Uses,
    pub again: Arc<Waiting>,
    /// Uploads read into memory at once: a file is read whole, and may be 200 MB.
    pub reading: Semaphore,
    /// Uploads refused because their project has too much already.
    pub over_quota: AtomicU64,
}

impl Symbols {
    /// Below the server's data directory.
    pub fn open(data_dir: &Path, on_start: fn()) -> std::io::Result<Symbols> {
        let blobs = data_dir.join("blobs");
        let missing = Missing::open(blobs.join("missing"));
        let again = Arc::new(Waiting::open(blobs.join("again"))?);
        let store = Arc::new(SymbolStore::new(blobs));
        let cache = Arc::new(Cache::new(limits::ARTIFACT_CACHE_BYTES));
        let builder =
            Builder::start(store.clone(), cache.clone(), again.clone(), limits::ARTIFACT_BUILD_MAX, on_start)?;
        let (uses, reading) = (Uses::default(), Semaphore::new(1));
        Ok(Symbols { store, builder, cache, missing, uses, again, reading, over_quota: AtomicU64::new(0) })
    }

    /// Every original of a project, by path. Blocks.
    pub fn list(&self, project: Uuid) -> std::io::Result<Vec<Listed>> {
        let mut list = self.store.list(project)?;
        for listed in &mut list {
            let used = SymbolKey::of_path(&listed.path, project).and_then(|key| self.uses.of(project, &key));
            listed.used_ns = listed.used_ns.max(used);
        }
        Ok(list)
    }

    /// Removes what is kept under a listed path. Whether it was there. Blocks.
    pub fn remove(&self, project: Uuid, path: &str) -> std::io::Result<bool> {
        // Only what is listed: a path from outside opens nothing.
        if !self.store.list(project)?.iter().any(|known| known.path == path) {
            return Ok(false);
        }
        let removed = self.store.remove(project, path)?;
        if let Some(key) = SymbolKey::of_path(path, project) {
            self.builder.interrupt(project, &key);
            self.uses.forget(project, &key);
        }
        self.cache.forget_all(project);
        Ok(removed)
    }

    /// Has the artifact made that this original belongs to: of a script, its map's. Blocks.
    pub fn build(&self, project: Uuid, key: SymbolKey) -> std::io::Result<()> {
        let key = if key.has_artifact() { Some(key) } else { self.store.ask(project, |index| index.sibling(&key))? };
        if let Some(key) = key {
            self.builder.ask(project, key);
        }
        Ok(())
    }

    /// Has the artifacts made that a server which ended did not get to. Blocks.
    pub fn build_missing(&self, project: Uuid) -> std::io::Result<()> {
        for listed in self.store.list(project)? {
            let key = SymbolKey::of_path(&listed.path, project).filter(SymbolKey::has_artifact);
            if let Some(key) = key.filter(|key| !self.store.has_artifact(project, key)) {
                self.builder.ask(project, key);
            }
        }
        Ok(())
    }

    /// Removes everything of a project that is no more: uploads, artifacts, what was missing. Blocks.
    pub fn remove_all(&self, project: Uuid) -> std::io::Result<()> {
        self.builder.forget(project);
        self.store.remove_all(project)?;
        self.missing.forget(project)?;
        self.again.forget(project)?;
        self.uses.forget_all(project);
        self.cache.forget_all(project);
        Ok(())
    }
}
