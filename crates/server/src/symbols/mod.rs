//! Debug files and source maps that projects upload: kept as they came, and as `.tw` artifacts made from them.
//!
//! - [`keys`]: where each is kept. [`sort`]: what an upload is, and its key. [`store`]: the files on disk.
//! - [`build`]: the thread that makes artifacts. [`cache`]: those in memory. [`resolve`]: stack traces. [`missing`]: what
//!   they asked for in vain; [`again`]: those stored raw before.
//!
//! ```text
//! http/uploads ─> sort (format, ids) ─> store.put (durable) ─> 200
//!                                          └─> build: original ─> crates/symbols ─> store.put_artifact
//! ```
//!
//! An artifact is a cache: whoever misses it, or finds it stale, asks [`build`] for it.

pub mod again;
pub mod build;
pub mod cache;
pub mod keys;
pub mod missing;
pub mod resolve;
pub mod sort;
pub mod store;

use std::path::Path;
use std::sync::Arc;

use tokio::sync::Semaphore;
use uuid::Uuid;

use self::again::Again;
use self::build::Builder;
use self::cache::Cache;
use self::missing::Missing;
use self::store::SymbolStore;
use crate::limits;

/// What the server has of them.
pub struct Symbols {
    pub store: Arc<SymbolStore>,
    pub builder: Builder,
    pub cache: Arc<Cache>,
    pub missing: Missing,
    pub again: Arc<Again>,
    /// Uploads read into memory at once: a file is read whole, and may be 200 MB.
    pub reading: Semaphore,
}

impl Symbols {
    /// Below the server's data directory.
    pub fn open(data_dir: &Path) -> std::io::Result<Symbols> {
        let store = Arc::new(SymbolStore::new(data_dir.join("blobs")));
        let cache = Arc::new(Cache::new(limits::ARTIFACT_CACHE_BYTES));
        let again = Arc::new(Again::default());
        let builder = Builder::start(store.clone(), cache.clone(), again.clone())?;
        Ok(Symbols { store, builder, cache, missing: Missing::default(), again, reading: Semaphore::new(1) })
    }

    /// Removes what is kept under a listed path. Whether it was there. Blocks.
    pub fn remove(&self, project: Uuid, path: &str) -> std::io::Result<bool> {
        // Only what is listed: a path from outside opens nothing.
        if !self.store.list(project)?.iter().any(|(known, _)| known == path) {
            return Ok(false);
        }
        let removed = self.store.remove(path)?;
        self.cache.forget_all(project);
        Ok(removed)
    }
}
