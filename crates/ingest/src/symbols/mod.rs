//! Debug files and source maps that projects upload: stored as received, and as `.tw` artifacts that are built from
//! them.
//!
//! - [`keys`]: where each file is stored. [`classify_upload`]: the kind and the keys of an upload. [`store`]: the files
//!   on disk ([`disk`]), [`info`]: their metadata, [`index`]: a project's files in memory.
//! - [`build`]: the thread that builds artifacts. [`cache`]: artifacts in memory. [`resolve`]: symbolication;
//!   [`build_hints`]: the build that a stack trace's telemetry names; [`release`]: which uploads fit its release;
//!   [`retention`]: removes uploads of old releases, which [`removals`] counts; [`gather`]: the artifacts that a stack trace
//!   refers to. [`missing`]: files that were requested and not found; [`last_used`]: when files were used;
//!   [`resymbolication_queue`]: projects with raw traces to resolve again.
//! - [`persist`]: writes missing files and uses to disk, outside of requests. [`check`]: verifies the files against
//!   their hashes.
//!
//! ```text
//! http/uploads ─> classify_upload (format, ids) ─> store.put (durable) ─> 200
//!                                                     └─> build: original ─> crates/symbols ─> store.put_artifact
//! ```
//!
//! An artifact is a cache: code that finds it missing or stale requests it from [`build`].
//!
//! Invariants: an original and the request to resolve traces again are durable before the 200; a resolved frame is
//! never replaced by one of another build; ingest waits for no artifact and writes no file.

pub mod build;
pub mod build_hints;
pub mod cache;
pub mod check;
pub mod classify_upload;
mod disk;
pub mod gather;
pub mod index;
pub mod info;
pub mod keys;
pub mod last_used;
pub mod missing;
pub mod persist;
pub mod recording;
pub mod release;
pub mod removals;
pub mod resolve;
pub mod resymbolication_queue;
mod retention;
pub mod store;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use tokio::sync::Semaphore;
use uuid::Uuid;

use self::build::Builder;
use self::cache::Cache;
use self::keys::SymbolKey;
use self::last_used::LastUsed;
use self::missing::Missing;
use self::removals::Removals;
use self::resymbolication_queue::ResymbolicationQueue;
use self::store::{Listed, SymbolStore};
use tidewatch_blobs::BlobStore;
use tidewatch_limits as limits;

/// Symbol files of all projects, with their caches and background state.
pub struct Symbols {
    /// Originals and artifacts on disk.
    pub store: Arc<SymbolStore>,
    /// Builds artifacts.
    pub builder: Builder,
    /// Artifacts in memory.
    pub cache: Arc<Cache>,
    /// Files that stack traces requested and that are not uploaded.
    pub missing: Missing,
    /// When each file was used last.
    pub last_used: LastUsed,
    /// Projects whose stored raw stack traces are to be resolved again.
    pub resymbolication: Arc<ResymbolicationQueue>,
    /// Permits to read an upload into memory. A file is read whole and may have 200 MB.
    pub reading: Semaphore,
    /// Counts of uploads of old releases that were removed.
    pub removals: Removals,
    /// Number of uploads refused because of the project's quota.
    pub over_quota: AtomicU64,
}

impl Symbols {
    /// Opens the store below the data directory and starts the builder. `on_start` is called on the builder's thread.
    pub fn open(data_dir: &Path, on_start: fn()) -> std::io::Result<Symbols> {
        let blobs = data_dir.join("blobs");
        let missing = Missing::open(blobs.join("missing"));
        let removals = Removals::open(blobs.join("removed"))?;
        let resymbolication = Arc::new(ResymbolicationQueue::open(blobs.join("again"))?);
        let blobs = BlobStore::in_folder(blobs)?;
        match blobs.remove_pending() {
            Ok(0) => {}
            Ok(removed) => tracing::info!(removed, "removed {removed} incomplete writes of symbol files"),
            Err(error) => tracing::warn!(%error, "incomplete writes of symbol files cannot be removed: {error}"),
        }
        let store = Arc::new(SymbolStore::new(blobs));
        let cache = Arc::new(Cache::new(limits::ARTIFACT_CACHE_BYTES));
        let builder = Builder::start(
            store.clone(),
            cache.clone(),
            resymbolication.clone(),
            limits::ARTIFACT_BUILD_MAX,
            on_start,
        )?;
        let (last_used, reading) = (LastUsed::default(), Semaphore::new(1));
        Ok(Symbols {
            store,
            builder,
            cache,
            missing,
            last_used,
            resymbolication,
            reading,
            removals,
            over_quota: AtomicU64::new(0),
        })
    }

    /// Lists every original of a project, by path. Blocks.
    pub fn list(&self, project: Uuid) -> std::io::Result<Vec<Listed>> {
        let mut list = self.store.list(project)?;
        for listed in &mut list {
            let used = SymbolKey::of_path(&listed.path, project).and_then(|key| self.last_used.of(project, &key));
            listed.used_ns = listed.used_ns.max(used);
        }
        Ok(list)
    }

    /// Removes the original with a listed path, and its artifact. Returns whether it existed. Blocks.
    pub fn remove(&self, project: Uuid, path: &str) -> std::io::Result<bool> {
        // Only listed paths are accepted: a path from a request is never opened.
        if !self.store.list(project)?.iter().any(|known| known.path == path) {
            return Ok(false);
        }
        let removed = self.store.remove(project, path)?;
        if let Some(key) = SymbolKey::of_path(path, project) {
            self.builder.interrupt(project, &key);
            self.last_used.forget(project, &key);
        }
        self.cache.forget_all(project);
        Ok(removed)
    }

    /// Queues the build of an original's artifact; for a script, that of its source map. Blocks.
    pub fn build(&self, project: Uuid, key: SymbolKey) -> std::io::Result<()> {
        let key =
            if key.has_artifact() { Some(key) } else { self.store.with_index(project, |index| index.sibling(&key))? };
        if let Some(key) = key {
            self.builder.enqueue(project, key);
        }
        Ok(())
    }

    /// Queues the builds of all missing artifacts of a project, which an earlier process did not finish. Blocks.
    pub fn build_missing(&self, project: Uuid) -> std::io::Result<()> {
        for listed in self.store.list(project)? {
            let key = SymbolKey::of_path(&listed.path, project).filter(SymbolKey::has_artifact);
            if let Some(key) = key.filter(|key| !self.store.has_artifact(project, key)) {
                self.builder.enqueue(project, key);
            }
        }
        Ok(())
    }

    /// Removes all files and state of a deleted project. Blocks.
    pub fn remove_all(&self, project: Uuid) -> std::io::Result<()> {
        self.builder.forget(project);
        self.store.remove_all(project)?;
        self.missing.forget(project)?;
        self.resymbolication.forget(project)?;
        self.removals.forget(project)?;
        self.last_used.forget_all(project);
        self.cache.forget_all(project);
        Ok(())
    }
}
