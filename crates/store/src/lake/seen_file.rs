//! One sorted file of keys: what was received in some span of time, asked exactly and mostly without reading.
//!
//! Layout, little-endian: `keys × 16` bytes, ascending; the bloom filter; a footer of [`FOOTER_BYTES`]. In memory stay
//! the bloom filter (about one byte per key) and every 256th key; a look-up that the filter lets pass reads one block of
//! 4 KiB.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tidewatch_journal::disk::{Disk, DiskFile, parent_of};
use xxhash_rust::xxh3::Xxh3;

use super::bloom::Bloom;
use crate::StoreError;

const KEY_BYTES: usize = 16;
const BLOCK_KEYS: usize = 256;
const MAGIC: u64 = u64::from_le_bytes(*b"TWSEEN01");
/// Magic, keys, bytes of the bloom filter, checksum of everything before the footer.
const FOOTER_BYTES: usize = 32;

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
    /// First key of every block.
    fences: Vec<u128>,
    bloom: Bloom,
}

impl SeenFile {
    /// `data/seen/<id>.keys`
    pub fn path(folder: &Path, id: u64) -> PathBuf {
        folder.join(format!("{id:012}.keys"))
    }

    /// Reads the whole file once and checks it.
    pub fn open(disk: &Arc<dyn Disk>, folder: &Path, facts: SeenFacts) -> Result<SeenFile, StoreError> {
        let path = SeenFile::path(folder, facts.id);
        let io = |e| StoreError::io("read", &path, e);
        let corrupt = |why: String| StoreError::Corrupt { path: path.clone(), why };
        let file = disk.open(&path).map_err(io)?;
        let length = file.len().map_err(io)?;
        let Some(footer_at) = length.checked_sub(FOOTER_BYTES as u64) else {
            return Err(corrupt(format!("{length} bytes are too few")));
        };
        let mut footer = [0; FOOTER_BYTES];
        file.read_exact_at(&mut footer, footer_at).map_err(io)?;
        let word =
            |at: usize| u64::from_le_bytes(footer[at * 8..at * 8 + 8].try_into().expect("eight bytes are eight bytes"));
        let (keys, bloom_bytes) = (word(1), word(2));
        if word(0) != MAGIC
            || keys != facts.keys
            || keys.checked_mul(16).and_then(|n| n.checked_add(bloom_bytes)) != Some(footer_at)
        {
            return Err(corrupt("the footer does not fit the file".to_owned()));
        }

        let mut hasher = Xxh3::new();
        let mut fences = Vec::with_capacity((keys as usize).div_ceil(BLOCK_KEYS));
        let mut buffer = vec![0; 256 * BLOCK_KEYS * KEY_BYTES];
        let mut at = 0;
        while at < keys * 16 {
            let chunk = &mut buffer[..((keys * 16 - at) as usize).min(256 * BLOCK_KEYS * KEY_BYTES)];
            file.read_exact_at(chunk, at).map_err(io)?;
            hasher.update(chunk);
            fences.extend(chunk.chunks(BLOCK_KEYS * KEY_BYTES).map(key_at));
            at += chunk.len() as u64;
        }
        let mut bloom = vec![0; bloom_bytes as usize];
        file.read_exact_at(&mut bloom, at).map_err(io)?;
        hasher.update(&bloom);
        if hasher.digest() != word(3) {
            return Err(corrupt("the checksum does not match".to_owned()));
        }
        let bloom =
            Bloom::from_bytes(&bloom).ok_or_else(|| corrupt("the bloom filter has no whole blocks".to_owned()))?;
        Ok(SeenFile { facts, path, file, fences, bloom })
    }

    /// Was this key received?
    pub fn contains(&self, key: u128) -> Result<bool, StoreError> {
        if !self.bloom.may_contain(key) {
            return Ok(false);
        }
        let Some(block) = self.fences.partition_point(|first| *first <= key).checked_sub(1) else {
            return Ok(false);
        };
        let keys = (self.facts.keys as usize - block * BLOCK_KEYS).min(BLOCK_KEYS);
        let mut buffer = [0; BLOCK_KEYS * KEY_BYTES];
        let bytes = &mut buffer[..keys * KEY_BYTES];
        let offset = (block * BLOCK_KEYS * KEY_BYTES) as u64;
        self.file.read_exact_at(bytes, offset).map_err(|e| StoreError::io("read", &self.path, e))?;
        Ok(bytes.chunks_exact(KEY_BYTES).any(|bytes| key_at(bytes) == key))
    }

    /// All keys, ascending, a block at a time.
    pub fn keys(&self) -> SeenKeys<'_> {
        SeenKeys { file: self, next: 0, buffer: Vec::new(), at: 0 }
    }

    pub fn bytes(&self) -> u64 {
        self.facts.keys * KEY_BYTES as u64 + self.bloom.bytes().len() as u64 + FOOTER_BYTES as u64
    }
}

/// The keys of a file in order.
pub struct SeenKeys<'a> {
    file: &'a SeenFile,
    /// Number of the first key after the buffer.
    next: u64,
    buffer: Vec<u8>,
    at: usize,
}

impl SeenKeys<'_> {
    pub fn next_key(&mut self) -> Result<Option<u128>, StoreError> {
        if self.at == self.buffer.len() {
            let keys = (self.file.facts.keys - self.next).min(16 * BLOCK_KEYS as u64);
            if keys == 0 {
                return Ok(None);
            }
            self.buffer.resize(keys as usize * KEY_BYTES, 0);
            let read = self.file.file.read_exact_at(&mut self.buffer, self.next * KEY_BYTES as u64);
            read.map_err(|e| StoreError::io("read", &self.file.path, e))?;
            self.next += keys;
            self.at = 0;
        }
        let key = key_at(&self.buffer[self.at..]);
        self.at += KEY_BYTES;
        Ok(Some(key))
    }
}

fn key_at(bytes: &[u8]) -> u128 {
    u128::from_le_bytes(bytes[..KEY_BYTES].try_into().expect("a key has 16 bytes"))
}

/// Writes and syncs a key file. `next` gives the keys ascending without repetition; `keys_max` at least as many as
/// come. `facts.keys` is set to the number written.
pub fn write(
    disk: &Arc<dyn Disk>,
    folder: &Path,
    facts: SeenFacts,
    keys_max: u64,
    mut next: impl FnMut() -> Result<Option<u128>, StoreError>,
) -> Result<SeenFile, StoreError> {
    let path = SeenFile::path(folder, facts.id);
    let temporary = path.with_extension("keys.tmp");
    let io = |what| {
        let path = temporary.clone();
        move |e| StoreError::io(what, &path, e)
    };
    let file = disk.create(&temporary).map_err(io("create"))?;

    let mut bloom = Bloom::new(keys_max);
    let mut fences = Vec::with_capacity((keys_max as usize).div_ceil(BLOCK_KEYS));
    let mut hasher = Xxh3::new();
    let (mut buffer, mut offset, mut keys) = (Vec::with_capacity(1 << 20), 0, 0);
    while let Some(key) = next()? {
        if keys % BLOCK_KEYS as u64 == 0 {
            fences.push(key);
        }
        keys += 1;
        bloom.insert(key);
        buffer.extend_from_slice(&key.to_le_bytes());
        if buffer.len() >= 1 << 20 {
            hasher.update(&buffer);
            file.write_at(&buffer, offset).map_err(io("write"))?;
            offset += buffer.len() as u64;
            buffer.clear();
        }
    }
    buffer.extend_from_slice(bloom.bytes());
    hasher.update(&buffer);
    let footer = [MAGIC, keys, bloom.bytes().len() as u64, hasher.digest()];
    buffer.extend(footer.iter().flat_map(|word| word.to_le_bytes()));
    file.write_at(&buffer, offset).map_err(io("write"))?;

    file.sync_data().map_err(io("sync"))?;
    disk.rename(&temporary, &path).map_err(io("rename"))?;
    disk.sync_dir(parent_of(&path)).map_err(io("sync"))?;
    Ok(SeenFile { facts: SeenFacts { keys, ..facts }, path, file, fences, bloom })
}
