//! Footers and page indexes of parts, kept while they fit: thousands of parts must not fill the memory.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use parquet::arrow::arrow_reader::ArrowReaderMetadata;

use super::checksums::BlockSums;
use crate::attr_columns::AttrColumns;
use crate::index::trigram;
use crate::rollup::directory::Directory;
use crate::rollup::keys::Keys;

/// Decoded footers of one lake, in memory.
const FOOTER_BYTES_MAX: usize = 128 * 1024 * 1024;

/// Footers by part id; the least recently used go first.
pub struct Footers {
    bytes_max: usize,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    footers: HashMap<u64, Entry>,
    bytes: usize,
    /// Grows with every use.
    clock: u64,
}

struct Entry {
    footer: Footer,
    bytes: usize,
    used: u64,
}

/// What is read before the rows of a part are. Cheap to clone.
#[derive(Clone)]
pub struct Footer {
    pub metadata: ArrowReaderMetadata,
    pub sums: Arc<BlockSums>,
    /// Where the part's roll-up lies; `None`: it has none.
    pub rollup: Option<Arc<Rollup>>,
    /// Where the filter of its texts lies; `None`: it has none.
    pub grams: Option<trigram::Directory>,
    /// The attributes that have columns of their own.
    pub attr_columns: Arc<AttrColumns>,
}

/// A part's roll-up: where it lies, and its keys once somebody has asked.
#[derive(Debug)]
pub struct Rollup {
    pub directory: Directory,
    pub keys: OnceLock<Keys>,
}

impl Default for Footers {
    fn default() -> Self {
        Footers::new(FOOTER_BYTES_MAX)
    }
}

impl Footers {
    pub fn new(bytes_max: usize) -> Footers {
        Footers { bytes_max, kept: Mutex::default() }
    }

    pub fn get(&self, id: u64) -> Option<Footer> {
        let kept = &mut *self.kept.lock();
        kept.clock += 1;
        let entry = kept.footers.get_mut(&id)?;
        entry.used = kept.clock;
        Some(entry.footer.clone())
    }

    /// Keeps a footer, and lets go of others when there are too many. The newest always stays.
    pub fn keep(&self, id: u64, footer: &Footer) {
        let kept = &mut *self.kept.lock();
        kept.clock += 1;
        // Keys are decoded later, to about four times their bytes.
        let keys = footer.rollup.as_ref().map_or(0, |rollup| rollup.directory.keys.length as usize * 4);
        let bytes = footer.metadata.metadata().memory_size() + keys;
        let entry = Entry { footer: footer.clone(), bytes, used: kept.clock };
        kept.bytes += bytes;
        kept.forget_one(id);
        kept.footers.insert(id, entry);
        while kept.bytes > self.bytes_max && kept.footers.len() > 1 {
            let oldest = kept.footers.iter().min_by_key(|(_, entry)| entry.used).map(|(id, _)| *id);
            kept.forget_one(oldest.expect("there is more than one footer"));
        }
    }

    pub fn forget(&self, id: u64) {
        self.kept.lock().forget_one(id);
    }
}

impl Kept {
    fn forget_one(&mut self, id: u64) {
        if let Some(entry) = self.footers.remove(&id) {
            self.bytes -= entry.bytes;
        }
    }
}
