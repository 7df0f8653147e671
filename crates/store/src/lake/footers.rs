//! Footers and page indexes of parts, kept while they fit: thousands of parts must not fill the memory.

use std::collections::HashMap;

use parking_lot::Mutex;
use parquet::arrow::arrow_reader::ArrowReaderMetadata;

/// Decoded footers of one lake, in memory.
const FOOTER_BYTES_MAX: usize = 128 * 1024 * 1024;

/// Footers by part id; the least recently used go first.
pub struct Footers {
    bytes_max: usize,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    footers: HashMap<u64, Footer>,
    bytes: usize,
    /// Grows with every use.
    clock: u64,
}

struct Footer {
    metadata: ArrowReaderMetadata,
    bytes: usize,
    used: u64,
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

    pub fn get(&self, id: u64) -> Option<ArrowReaderMetadata> {
        let kept = &mut *self.kept.lock();
        kept.clock += 1;
        let footer = kept.footers.get_mut(&id)?;
        footer.used = kept.clock;
        Some(footer.metadata.clone())
    }

    /// Keeps a footer, and lets go of others when there are too many. The newest always stays.
    pub fn keep(&self, id: u64, metadata: &ArrowReaderMetadata) {
        let kept = &mut *self.kept.lock();
        kept.clock += 1;
        let bytes = metadata.metadata().memory_size();
        let footer = Footer { metadata: metadata.clone(), bytes, used: kept.clock };
        kept.bytes += bytes;
        kept.forget_one(id);
        kept.footers.insert(id, footer);
        while kept.bytes > self.bytes_max && kept.footers.len() > 1 {
            let oldest = kept.footers.iter().min_by_key(|(_, footer)| footer.used).map(|(id, _)| *id);
            kept.forget_one(oldest.expect("there is more than one footer"));
        }
    }

    pub fn forget(&self, id: u64) {
        self.kept.lock().forget_one(id);
    }
}

impl Kept {
    fn forget_one(&mut self, id: u64) {
        if let Some(footer) = self.footers.remove(&id) {
            self.bytes -= footer.bytes;
        }
    }
}
