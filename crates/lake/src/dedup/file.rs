//! One sorted file of keys: what was received in some span of time, asked exactly and mostly without reading keys.
//!
//! Layout, little-endian:
//!
//! ```text
//! filter   bloom blocks, each with its sum (`bloom.rs`)
//! fences   per block of 256 keys: its first key (16 bytes), the sum of the block (8)
//! keys     16 bytes each, ascending
//! footer   magic, keys, blocks of the filter, fences there is room for, sum of the fences, sum of the footer (6 × u64)
//! ```
//!
//! All three grow side by side while the keys come, so a file of any size is written in a few megabytes of memory. With
//! its [`Index`] (filter and fences) in memory a look-up rarely reads; without it, it reads a few small pieces.

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
/// A look-up without an index guesses so often before it halves.
const GUESSES_MAX: usize = 8;

/// What the keys of a file stand for. The order is that of the releases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Generation {
    /// Keys of spans leave out the side ([`tidewatch_store::columns::keys_without_side`]); a request without times has one key for
    /// the whole window.
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

/// What the catalog knows of a key file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeenFacts {
    pub id: u64,
    pub keys: u64,
    /// When the requests in it were received, nanoseconds, inclusive.
    pub received_min: i64,
    pub received_max: i64,
    pub level: u8,
}

pub struct SeenFile {
    pub facts: SeenFacts,
    path: PathBuf,
    file: Box<dyn DiskFile>,
    layout: Layout,
    fences_sum: u64,
    generation: Generation,
    /// A merge could not read it.
    is_suspect: AtomicBool,
}

/// Where what lies in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Layout {
    filter_blocks: u64,
    /// At least as many as there are blocks of keys.
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

    /// Does a file of this length and number of keys look like that?
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
    /// False when the key is surely not in the file.
    #[inline]
    pub fn may_contain(&self, probe: &Probe) -> bool {
        probe.may_be_in(&self.filter)
    }
}

impl SeenFile {
    /// `data/seen/<id>.keys`
    pub fn path(folder: &Path, id: u64) -> PathBuf {
        folder.join(format!("{id:012}.keys"))
    }

    /// Reads and checks the footer.
    pub fn open(disk: &Arc<dyn Disk>, folder: &Path, facts: SeenFacts) -> Result<SeenFile, StoreError> {
        let path = SeenFile::path(folder, facts.id);
        let io = |e| StoreError::io("read", &path, e);
        let corrupt = |why: &str| StoreError::Corrupt { path: path.clone(), why: why.to_owned() };
        // The second when it could not be given its name after it was registered.
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
        Ok(SeenFile { facts, path, file, layout, fences_sum, generation, is_suspect: AtomicBool::new(false) })
    }

    pub fn generation(&self) -> Generation {
        self.generation
    }

    /// It cannot be read: merges leave it out, until it expires.
    pub fn suspect(&self) {
        self.is_suspect.store(true, Ordering::Relaxed);
    }

    pub fn is_suspect(&self) -> bool {
        self.is_suspect.load(Ordering::Relaxed)
    }

    /// Its file.
    pub fn path_of(&self) -> &Path {
        &self.path
    }

    pub fn bytes(&self) -> u64 {
        self.layout.keys_at() + self.facts.keys * KEY_BYTES as u64 + FOOTER_BYTES as u64
    }

    /// What [`SeenFile::index`] takes in memory.
    pub fn index_bytes(&self) -> u64 {
        self.layout.fences_at() + self.blocks() * FENCE_BYTES as u64
    }

    /// Reads and checks the index.
    pub fn index(&self) -> Result<Index, StoreError> {
        let mut filter = vec![0; self.layout.fences_at() as usize];
        self.read(&mut filter, 0)?;
        let mut fences = vec![0; self.blocks() as usize * FENCE_BYTES];
        self.read(&mut fences, self.layout.fences_at())?;
        if !bloom::is_whole(&filter) || xxh3_64(&fences) != self.fences_sum {
            return Err(self.corrupt("the checksum of its index does not match"));
        }
        Ok(Index { filter, fences })
    }

    /// Was this key received?
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

    /// As [`SeenFile::contains`]: reads one block of the filter, and if that lets the key pass, some blocks of keys.
    ///
    /// Keys are hashes, so a key's place can be guessed from its value; each block read narrows the guess.
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
        // Between these blocks, inclusive, and between these keys.
        let (mut first, mut last) = (0, self.blocks() - 1);
        let (mut low, mut high) = (0, u128::MAX);
        let mut buffer = [0; BLOCK_BYTES];
        for guess in 0.. {
            let blocks = u128::from(last - first);
            let share = ((key - low) >> 64) * blocks / ((high - low) >> 64).max(1);
            let share = if guess < GUESSES_MAX { share.min(blocks) } else { blocks / 2 };
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

    /// All keys, ascending, a block at a time.
    pub fn keys(&self) -> SeenKeys<'_> {
        SeenKeys { file: self, block: 0, buffer: [0; BLOCK_BYTES], at: 0, end: 0 }
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

    /// The keys of a block, checked.
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
pub struct SeenKeys<'a> {
    file: &'a SeenFile,
    /// The block after the buffer.
    block: u64,
    buffer: [u8; BLOCK_BYTES],
    at: usize,
    end: usize,
}

impl SeenKeys<'_> {
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

/// Writes and syncs a key file, under its temporary name until it is registered. On an error nothing is left behind.
/// `next` gives the keys ascending without repetition; `keys_max` at least as many as
/// come. `facts.keys` is set to the number written.
pub fn write(
    disk: &Arc<dyn Disk>,
    folder: &Path,
    generation: Generation,
    facts: SeenFacts,
    keys_max: u64,
    mut next: impl FnMut() -> Result<Option<u128>, StoreError>,
) -> Result<SeenFile, StoreError> {
    let path = SeenFile::path(folder, facts.id);
    let temporary = temporary(&path);
    write_to(disk, (&temporary, path), generation, facts, keys_max, &mut next)
        .inspect_err(|_| drop(disk.remove(&temporary)))
}

fn write_to(
    disk: &Arc<dyn Disk>,
    (temporary, path): (&Path, PathBuf),
    generation: Generation,
    facts: SeenFacts,
    keys_max: u64,
    next: &mut impl FnMut() -> Result<Option<u128>, StoreError>,
) -> Result<SeenFile, StoreError> {
    let io = |what| move |e| StoreError::io(what, temporary, e);
    let file = disk.create(temporary).map_err(io("create"))?;
    let mut writer = Writer::new(&*file, Layout::new(keys_max));
    while let Some(key) = next()? {
        writer.add(key).map_err(io("write"))?;
    }
    let (keys, fences_sum) = writer.finish(generation).map_err(io("write"))?;
    file.sync_data().map_err(io("sync"))?;
    disk.sync_dir(parent_of(temporary)).map_err(io("sync"))?;
    let (facts, layout) = (SeenFacts { keys, ..facts }, Layout::new(keys_max));
    Ok(SeenFile { facts, path, file, layout, fences_sum, generation, is_suspect: AtomicBool::new(false) })
}

struct Writer<'f> {
    file: &'f dyn DiskFile,
    layout: Layout,
    keys_written: u64,
    filter: Stream,
    fences: Stream,
    keys: Stream,
    /// The filter's block that grows, and its number.
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

    /// Writes the filter's blocks before this one.
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

    /// The number of keys and the sum of the fences.
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

/// Small writes to growing offsets, collected into large ones.
struct Stream {
    buffer: Vec<u8>,
    /// Of the buffer's first byte.
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
