//! A sorted file of keys received in some period. Look-ups are exact and mostly read no keys.
//!
//! Layout, little-endian:
//!
//! ```text
//! filter   bloom blocks, each with its checksum (`bloom.rs`)
//! fences   per block of 256 keys: its first key (16 bytes), the checksum of the block (8)
//! keys     16 bytes each, ascending
//! footer   magic, keys, blocks of the filter, capacity of fences, checksum of the fences, checksum of the footer (6 × u64)
//! ```
//!
//! All three sections grow at the same time while keys are added, so a file of any size is written with a few megabytes
//! of memory. With its [`Index`] (filter and fences) in memory a look-up rarely reads; without it, a look-up reads a
//! few small pieces.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tidewatch_journal::disk::{Disk, DiskFile, parent_of};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::bloom::{self, Block, Probe};
use crate::part::temporary::temporary;
use tidewatch_store::StoreError;

const KEY_BYTES: usize = 16;
const BLOCK_KEYS: u64 = 256;
const BLOCK_BYTES: usize = BLOCK_KEYS as usize * KEY_BYTES;
const FENCE_BYTES: usize = KEY_BYTES + 8;
const MAGIC: u64 = u64::from_le_bytes(*b"TWSEEN03");
const MAGIC_WITHOUT_SIDES: u64 = u64::from_le_bytes(*b"TWSEEN02");
const FOOTER_WORDS: usize = 6;
const FOOTER_BYTES: usize = FOOTER_WORDS * 8;
/// Number of interpolation steps of a look-up without an index before it switches to binary search.
const INTERPOLATIONS_MAX: usize = 8;

/// The version of the keys of a file, in the order of the releases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Generation {
    /// Keys of spans without the side ([`tidewatch_store::columns::keys_without_side`]); a request without times has
    /// one key for the whole window.
    WithoutSides,
    #[default]
    Current,
}

impl Generation {
    fn magic(self) -> u64 {
        match self {
            Generation::WithoutSides => MAGIC_WITHOUT_SIDES,
            Generation::Current => MAGIC,
        }
    }
}

/// The facts about a key file in the catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DedupFileFacts {
    pub id: u64,
    pub keys: u64,
    /// Times of receipt of its requests, nanoseconds, inclusive.
    pub received_min: i64,
    pub received_max: i64,
    pub level: u8,
}

pub struct DedupFile {
    pub facts: DedupFileFacts,
    path: PathBuf,
    file: Box<dyn DiskFile>,
    layout: Layout,
    fences_sum: u64,
    generation: Generation,
    /// Whether a merge failed to read the file.
    is_suspect: AtomicBool,
}

/// The sizes of the sections of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Layout {
    filter_blocks: u64,
    /// Capacity of fences: at least the number of blocks of keys.
    fences_max: u64,
}

impl Layout {
    fn new(keys_max: u64) -> Layout {
        Layout { filter_blocks: bloom::blocks(keys_max), fences_max: keys_max.div_ceil(BLOCK_KEYS) }
    }

    fn fences_at(&self) -> u64 {
        self.filter_blocks * bloom::BLOCK_BYTES as u64
    }

    fn keys_at(&self) -> u64 {
        self.fences_at() + self.fences_max * FENCE_BYTES as u64
    }

    /// Whether a file of this length and number of keys has this layout.
    fn fits(&self, keys: u64, length: u64) -> bool {
        let parts = [(self.filter_blocks, bloom::BLOCK_BYTES), (self.fences_max, FENCE_BYTES), (keys, KEY_BYTES)];
        let bytes = parts.iter().try_fold(FOOTER_BYTES as u64, |sum, (count, each)| {
            count.checked_mul(*each as u64).and_then(|bytes| bytes.checked_add(sum))
        });
        bytes == Some(length) && self.filter_blocks > 0 && keys.div_ceil(BLOCK_KEYS) <= self.fences_max
    }
}

/// The filter and the fences of a file: about 2.1 bytes per key.
pub struct Index {
    filter: Vec<u8>,
    fences: Vec<u8>,
}

impl Index {
    /// False when the key is not in the file.
    #[inline]
    pub fn may_contain(&self, probe: &Probe) -> bool {
        probe.may_be_in(&self.filter)
    }
}

impl DedupFile {
    /// `data/dedup/<id>.keys`
    pub fn path(folder: &Path, id: u64) -> PathBuf {
        folder.join(format!("{id:012}.keys"))
    }

    /// Opens a file; reads and verifies its footer.
    pub fn open(disk: &Arc<dyn Disk>, folder: &Path, facts: DedupFileFacts) -> Result<DedupFile, StoreError> {
        let path = DedupFile::path(folder, facts.id);
        let io = |e| StoreError::io("read", &path, e);
        let corrupt = |why: &str| StoreError::Corrupt { path: path.clone(), why: why.to_owned() };
        // Falls back to the temporary name, which the file has if the rename after its registration failed.
        let file = disk.open(&path).or_else(|error| disk.open(&temporary(&path)).map_err(|_| error)).map_err(io)?;
        let length = file.len().map_err(io)?;
        let Some(footer_at) = length.checked_sub(FOOTER_BYTES as u64) else {
            return Err(corrupt("it is shorter than a footer"));
        };
        let mut footer = [0; FOOTER_BYTES];
        file.read_exact_at(&mut footer, footer_at).map_err(io)?;
        let word = |number: usize| u64_at(&footer[number * 8..]);
        let layout = Layout { filter_blocks: word(2), fences_max: word(3) };
        let generations = [Generation::WithoutSides, Generation::Current];
        let generation = generations.into_iter().find(|generation| generation.magic() == word(0));
        let is_ours = word(5) == xxh3_64(&footer[..FOOTER_BYTES - 8]);
        let Some(generation) =
            generation.filter(|_| is_ours && word(1) == facts.keys && layout.fits(facts.keys, length))
        else {
            return Err(corrupt("the footer does not fit the file"));
        };
        let fences_sum = word(4);
        Ok(DedupFile { facts, path, file, layout, fences_sum, generation, is_suspect: AtomicBool::new(false) })
    }

    pub fn generation(&self) -> Generation {
        self.generation
    }

    /// Marks the file as unreadable: merges leave it out until it expires.
    pub fn suspect(&self) {
        self.is_suspect.store(true, Ordering::Relaxed);
    }

    pub fn is_suspect(&self) -> bool {
        self.is_suspect.load(Ordering::Relaxed)
    }

    /// The path of the file.
    pub fn path_of(&self) -> &Path {
        &self.path
    }

    pub fn bytes(&self) -> u64 {
        self.layout.keys_at() + self.facts.keys * KEY_BYTES as u64 + FOOTER_BYTES as u64
    }

    /// Size of [`DedupFile::index`] in memory, in bytes.
    pub fn index_bytes(&self) -> u64 {
        self.layout.fences_at() + self.blocks() * FENCE_BYTES as u64
    }

    /// Reads and verifies the index.
    pub fn index(&self) -> Result<Index, StoreError> {
        let mut filter = vec![0; self.layout.fences_at() as usize];
        self.read(&mut filter, 0)?;
        let mut fences = vec![0; self.blocks() as usize * FENCE_BYTES];
        self.read(&mut fences, self.layout.fences_at())?;
        if !bloom::is_intact(&filter) || xxh3_64(&fences) != self.fences_sum {
            return Err(self.corrupt("the checksum of its index does not match"));
        }
        Ok(Index { filter, fences })
    }

    /// Whether the key is in the file.
    pub fn contains(&self, index: &Index, probe: &Probe) -> Result<bool, StoreError> {
        if !index.may_contain(probe) {
            return Ok(false);
        }
        let key = probe.key;
        let fence = |block: u64| &index.fences[block as usize * FENCE_BYTES..];
        let (mut from, mut to) = (0, self.blocks());
        while from < to {
            let middle = from + (to - from) / 2;
            if key_at(fence(middle)) <= key {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        let Some(block) = from.checked_sub(1) else { return Ok(false) };
        let mut buffer = [0; BLOCK_BYTES];
        let keys = self.block(block, u64_at(&fence(block)[KEY_BYTES..]), &mut buffer)?;
        Ok(has(keys, key))
    }

    /// Like [`DedupFile::contains`]: reads one block of the filter, and if the key passes it, some blocks of keys.
    ///
    /// Keys are hashes, so a key's position can be interpolated from its value; each block read narrows the range.
    pub fn contains_unindexed(&self, probe: &Probe) -> Result<bool, StoreError> {
        let key = probe.key;
        let mut filter = [0; bloom::BLOCK_BYTES];
        let block = bloom::block_of(key, self.layout.filter_blocks);
        self.read(&mut filter, block * bloom::BLOCK_BYTES as u64)?;
        if Block::from_bytes(filter).is_none() {
            return Err(self.corrupt("the checksum of its filter does not match"));
        }
        if self.facts.keys == 0 || !probe.may_be_in_block(&filter) {
            return Ok(false);
        }
        // The range of blocks, inclusive, and of keys.
        let (mut first, mut last) = (0, self.blocks() - 1);
        let (mut low, mut high) = (0, u128::MAX);
        let mut buffer = [0; BLOCK_BYTES];
        for step in 0.. {
            let blocks = u128::from(last - first);
            let share = ((key - low) >> 64) * blocks / ((high - low) >> 64).max(1);
            let share = if step < INTERPOLATIONS_MAX { share.min(blocks) } else { blocks / 2 };
            let block = first + share as u64;
            let keys = self.block(block, self.block_sum(block)?, &mut buffer)?;
            let (least, greatest) = (key_at(keys), key_at(&keys[keys.len() - KEY_BYTES..]));
            if key < least && block > first {
                (last, high) = (block - 1, least);
            } else if key > greatest && block < last {
                (first, low) = (block + 1, greatest);
            } else {
                return Ok(has(keys, key));
            }
        }
        Ok(false)
    }

    /// Iterates over all keys, ascending, block by block.
    pub fn keys(&self) -> DedupFileKeys<'_> {
        DedupFileKeys { file: self, block: 0, buffer: [0; BLOCK_BYTES], at: 0, end: 0 }
    }

    fn blocks(&self) -> u64 {
        self.facts.keys.div_ceil(BLOCK_KEYS)
    }

    fn block_sum(&self, block: u64) -> Result<u64, StoreError> {
        let mut sum = [0; 8];
        let fence = self.layout.fences_at() + block * FENCE_BYTES as u64;
        self.read(&mut sum, fence + KEY_BYTES as u64)?;
        Ok(u64::from_le_bytes(sum))
    }

    /// Reads and verifies the keys of a block.
    fn block<'b>(&self, block: u64, sum: u64, buffer: &'b mut [u8; BLOCK_BYTES]) -> Result<&'b [u8], StoreError> {
        let keys = (self.facts.keys - block * BLOCK_KEYS).min(BLOCK_KEYS);
        let bytes = &mut buffer[..keys as usize * KEY_BYTES];
        self.read(bytes, self.layout.keys_at() + block * BLOCK_BYTES as u64)?;
        if xxh3_64(bytes) != sum {
            return Err(self.corrupt("the checksum of a block does not match"));
        }
        Ok(bytes)
    }

    fn read(&self, bytes: &mut [u8], offset: u64) -> Result<(), StoreError> {
        self.file.read_exact_at(bytes, offset).map_err(|e| StoreError::io("read", &self.path, e))
    }

    fn corrupt(&self, why: &str) -> StoreError {
        StoreError::Corrupt { path: self.path.clone(), why: why.to_owned() }
    }
}

/// The keys of a file in order.
pub struct DedupFileKeys<'a> {
    file: &'a DedupFile,
    /// The number of the next block to read.
    block: u64,
    buffer: [u8; BLOCK_BYTES],
    at: usize,
    end: usize,
}

impl DedupFileKeys<'_> {
    pub fn next_key(&mut self) -> Result<Option<u128>, StoreError> {
        if self.at == self.end {
            if self.block == self.file.blocks() {
                return Ok(None);
            }
            let sum = self.file.block_sum(self.block)?;
            self.end = self.file.block(self.block, sum, &mut self.buffer)?.len();
            self.at = 0;
            self.block += 1;
        }
        let key = key_at(&self.buffer[self.at..]);
        self.at += KEY_BYTES;
        Ok(Some(key))
    }
}

fn u64_at(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes are eight bytes"))
}

fn key_at(bytes: &[u8]) -> u128 {
    u128::from_le_bytes(bytes[..KEY_BYTES].try_into().expect("a key has 16 bytes"))
}

fn has(keys: &[u8], key: u128) -> bool {
    keys.chunks_exact(KEY_BYTES).any(|bytes| key_at(bytes) == key)
}

/// Writes and syncs a key file under its temporary name. On an error, no file remains. `next` returns the keys
/// ascending without duplicates; `keys_max` is at least their number. `facts.keys` is set to the number written.
pub fn write(
    disk: &Arc<dyn Disk>,
    folder: &Path,
    generation: Generation,
    facts: DedupFileFacts,
    keys_max: u64,
    mut next: impl FnMut() -> Result<Option<u128>, StoreError>,
) -> Result<DedupFile, StoreError> {
    let path = DedupFile::path(folder, facts.id);
    let temporary = temporary(&path);
    write_to(disk, (&temporary, path), generation, facts, keys_max, &mut next)
        .inspect_err(|_| drop(disk.remove(&temporary)))
}

fn write_to(
    disk: &Arc<dyn Disk>,
    (temporary, path): (&Path, PathBuf),
    generation: Generation,
    facts: DedupFileFacts,
    keys_max: u64,
    next: &mut impl FnMut() -> Result<Option<u128>, StoreError>,
) -> Result<DedupFile, StoreError> {
    let io = |what| move |e| StoreError::io(what, temporary, e);
    let file = disk.create(temporary).map_err(io("create"))?;
    let mut writer = Writer::new(&*file, Layout::new(keys_max));
    while let Some(key) = next()? {
        writer.add(key).map_err(io("write"))?;
    }
    let (keys, fences_sum) = writer.finish(generation).map_err(io("write"))?;
    file.sync_data().map_err(io("sync"))?;
    disk.sync_dir(parent_of(temporary)).map_err(io("sync"))?;
    let (facts, layout) = (DedupFileFacts { keys, ..facts }, Layout::new(keys_max));
    Ok(DedupFile { facts, path, file, layout, fences_sum, generation, is_suspect: AtomicBool::new(false) })
}

struct Writer<'f> {
    file: &'f dyn DiskFile,
    layout: Layout,
    keys_written: u64,
    filter: Stream,
    fences: Stream,
    keys: Stream,
    /// The open block of the filter, and its number.
    block: (Block, u64),
    block_sum: Xxh3,
    fences_sum: Xxh3,
}

impl<'f> Writer<'f> {
    fn new(file: &'f dyn DiskFile, layout: Layout) -> Writer<'f> {
        Writer {
            file,
            layout,
            keys_written: 0,
            filter: Stream::at(0),
            fences: Stream::at(layout.fences_at()),
            keys: Stream::at(layout.keys_at()),
            block: (Block::empty(), 0),
            block_sum: Xxh3::new(),
            fences_sum: Xxh3::new(),
        }
    }

    fn add(&mut self, key: u128) -> std::io::Result<()> {
        self.fill_filter(bloom::block_of(key, self.layout.filter_blocks))?;
        self.block.0.insert(key);
        if self.keys_written.is_multiple_of(BLOCK_KEYS) {
            self.end_fence()?;
            self.fence(&key.to_le_bytes())?;
        }
        self.keys_written += 1;
        self.block_sum.update(&key.to_le_bytes());
        self.keys.write(self.file, &key.to_le_bytes())
    }

    /// Writes the filter's blocks before block `upto`.
    fn fill_filter(&mut self, upto: u64) -> std::io::Result<()> {
        while self.block.1 < upto {
            let (block, number) = std::mem::replace(&mut self.block, (Block::empty(), 0));
            self.filter.write(self.file, &block.finish())?;
            self.block.1 = number + 1;
        }
        Ok(())
    }

    fn end_fence(&mut self) -> std::io::Result<()> {
        if self.keys_written == 0 {
            return Ok(());
        }
        let sum = self.block_sum.digest();
        self.block_sum.reset();
        self.fence(&sum.to_le_bytes())
    }

    fn fence(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.fences_sum.update(bytes);
        self.fences.write(self.file, bytes)
    }

    /// Returns the number of keys and the checksum of the fences.
    fn finish(mut self, generation: Generation) -> std::io::Result<(u64, u64)> {
        self.fill_filter(self.layout.filter_blocks)?;
        self.end_fence()?;
        let sum = self.fences_sum.digest();
        let words = [generation.magic(), self.keys_written, self.layout.filter_blocks, self.layout.fences_max, sum];
        let mut footer = words.map(u64::to_le_bytes).concat();
        footer.extend(xxh3_64(&footer).to_le_bytes());
        self.keys.write(self.file, &footer)?;
        for mut stream in [self.filter, self.fences, self.keys] {
            stream.flush(self.file)?;
        }
        Ok((self.keys_written, sum))
    }
}

/// Collects small sequential writes into large ones.
struct Stream {
    buffer: Vec<u8>,
    /// File offset of the buffer's first byte.
    offset: u64,
}

impl Stream {
    const BUFFER_BYTES: usize = 128 * 1024;

    fn at(offset: u64) -> Stream {
        Stream { buffer: Vec::new(), offset }
    }

    fn write(&mut self, file: &dyn DiskFile, bytes: &[u8]) -> std::io::Result<()> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() < Stream::BUFFER_BYTES { Ok(()) } else { self.flush(file) }
    }

    fn flush(&mut self, file: &dyn DiskFile) -> std::io::Result<()> {
        file.write_at(&self.buffer, self.offset)?;
        self.offset += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}
