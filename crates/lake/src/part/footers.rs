//! A cache of footers and page indexes of parts, with bounded memory.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use parquet::arrow::arrow_reader::ArrowReaderMetadata;

use super::checksums::BlockSums;
use crate::attr_columns::AttrColumns;
use crate::index::trigram;
use crate::rollup::directory::Directory;
use crate::rollup::keys::Keys;

/// Bytes of decoded footers of one lake.
const FOOTER_BYTES_MAX: usize = 128 * 1024 * 1024;

/// An LRU cache of footers by part id.
pub struct Footers {
    bytes_max: usize,
    cache: Mutex<Cache>,
}

#[derive(Default)]
struct Cache {
    footers: HashMap<u64, Entry>,
    bytes: usize,
    /// Incremented with every use.
    clock: u64,
}

struct Entry {
    footer: Footer,
    bytes: usize,
    used: u64,
}

/// Decoded metadata of a part. Cheap to clone.
#[derive(Clone)]
pub struct Footer {
    /// The Parquet footer and page indexes.
    pub metadata: ArrowReaderMetadata,
    /// The block checksums.
    pub sums: Arc<BlockSums>,
    /// Location of the part's roll-up; `None` when it has none.
    pub rollup: Option<Arc<Rollup>>,
    /// Location of the part's trigram index; `None` when it has none.
    pub trigrams: Option<trigram::Directory>,
    /// The attributes that are stored in separate columns.
    pub attr_columns: Arc<AttrColumns>,
}

/// Location of a part's roll-up, and its keys once they were read.
#[derive(Debug)]
pub struct Rollup {
    /// Location of its sections.
    pub directory: Directory,
    /// The keys of its cells, decoded on first use.
    pub keys: OnceLock<Keys>,
}

impl Default for Footers {
    fn default() -> Self {
        Footers::new(FOOTER_BYTES_MAX)
    }
}

impl Footers {
    /// A cache of at most `bytes_max` bytes, or of one footer.
    pub fn new(bytes_max: usize) -> Footers {
        Footers { bytes_max, cache: Mutex::default() }
    }

    /// The cached footer of a part.
    pub fn get(&self, id: u64) -> Option<Footer> {
        let cache = &mut *self.cache.lock();
        cache.clock += 1;
        let entry = cache.footers.get_mut(&id)?;
        entry.used = cache.clock;
        Some(entry.footer.clone())
    }

    /// Adds a footer and evicts others when the cache is full. The newest is never evicted.
    pub fn insert(&self, id: u64, footer: &Footer) {
        let cache = &mut *self.cache.lock();
        cache.clock += 1;
        // Keys are decoded later. Decoded, they take about four times their encoded bytes.
        let keys = footer.rollup.as_ref().map_or(0, |rollup| rollup.directory.keys.length as usize * 4);
        let bytes = footer.metadata.metadata().memory_size() + keys;
        let entry = Entry { footer: footer.clone(), bytes, used: cache.clock };
        cache.bytes += bytes;
        cache.remove(id);
        cache.footers.insert(id, entry);
        while cache.bytes > self.bytes_max && cache.footers.len() > 1 {
            let oldest = cache.footers.iter().min_by_key(|(_, entry)| entry.used).map(|(id, _)| *id);
            cache.remove(oldest.expect("there is more than one footer"));
        }
    }

    /// Removes the footer of a part, if cached.
    pub fn remove(&self, id: u64) {
        self.cache.lock().remove(id);
    }
}

impl Cache {
    fn remove(&mut self, id: u64) {
        if let Some(entry) = self.footers.remove(&id) {
            self.bytes -= entry.bytes;
        }
    }
}
