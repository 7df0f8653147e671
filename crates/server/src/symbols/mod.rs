//! Debug files and source maps that projects upload: kept as they came, and as `.tw` artifacts made from them.
//!
//! - [`keys`]: where each is kept. [`sort`]: what an upload is, and its key. [`store`]: the files on disk.
//! - [`build`]: the thread that makes artifacts.
//!
//! ```text
//! http/uploads ─> sort (format, ids) ─> store.put (durable) ─> 200
//!                                          └─> build: original ─> crates/symbols ─> store.put_artifact
//! ```
//!
//! An artifact is a cache: whoever misses it, or finds it stale, asks [`build`] for it.

pub mod build;
pub mod keys;
pub mod sort;
pub mod store;

use std::path::Path;
use std::sync::Arc;

use tokio::sync::Semaphore;

use self::build::Builder;
use self::store::SymbolStore;

/// What the server has of them.
pub struct Symbols {
    pub store: Arc<SymbolStore>,
    pub builder: Builder,
    /// Uploads read into memory at once: a file is read whole, and may be 200 MB.
    pub reading: Semaphore,
}

impl Symbols {
    /// Below the server's data directory.
    pub fn open(data_dir: &Path) -> std::io::Result<Symbols> {
        let store = Arc::new(SymbolStore::new(data_dir.join("blobs")));
        let builder = Builder::start(store.clone())?;
        Ok(Symbols { store, builder, reading: Semaphore::new(1) })
    }
}
