//! A bloom filter of cache-line blocks for keys that are hashes: about 16 bits per key and 0.3 % false positives (each
//! costs a read).
//!
//! A block is 60 bytes of filter and their checksum, so that a single block read from disk can be verified. Ascending
//! keys fill the blocks in order, so a filter of any size is written without holding it in memory.

use xxhash_rust::xxh3::xxh3_64;

pub const BLOCK_BYTES: usize = 64;
const FILTER_BYTES: usize = 60;
const FILTER_BITS: usize = FILTER_BYTES * 8;
const KEYS_PER_BLOCK: u64 = 30;
const BITS_PER_KEY: u32 = 6;

/// Number of blocks of a filter for `keys` keys.
pub fn blocks(keys: u64) -> u64 {
    keys.div_ceil(KEYS_PER_BLOCK).max(1)
}

/// The key's block: the high half, distributed evenly over the blocks, so that greater keys are never in earlier
/// blocks.
pub fn block_of(key: u128, blocks: u64) -> u64 {
    ((u128::from((key >> 64) as u64) * u128::from(blocks)) >> 64) as u64
}

/// One block of a filter.
#[derive(Debug, Clone, Copy)]
pub struct Block([u8; BLOCK_BYTES]);

impl Block {
    pub fn empty() -> Block {
        Block([0; BLOCK_BYTES])
    }

    /// `None` when the checksum does not match.
    pub fn from_bytes(bytes: [u8; BLOCK_BYTES]) -> Option<Block> {
        let block = Block(bytes);
        (block.0[FILTER_BYTES..] == block.sum()).then_some(block)
    }

    /// The block with its checksum.
    pub fn finish(mut self) -> [u8; BLOCK_BYTES] {
        let sum = self.sum();
        self.0[FILTER_BYTES..].copy_from_slice(&sum);
        self.0
    }

    fn sum(&self) -> [u8; BLOCK_BYTES - FILTER_BYTES] {
        (xxh3_64(&self.0[..FILTER_BYTES]) as u32).to_le_bytes()
    }

    pub fn insert(&mut self, key: u128) {
        bits(key).for_each(|bit| self.0[bit / 8] |= 1 << (bit % 8));
    }
}

/// A key and its bits in a block, computed once for many filters.
#[derive(Debug, Clone, Copy)]
pub struct Probe {
    pub key: u128,
    bits: [u16; BITS_PER_KEY as usize],
}

impl Probe {
    pub fn new(key: u128) -> Probe {
        let mut all = [0; BITS_PER_KEY as usize];
        all.iter_mut().zip(bits(key)).for_each(|(into, bit)| *into = bit as u16);
        Probe { key, bits: all }
    }

    /// Looks the key up in a whole filter whose blocks were verified.
    pub fn may_be_in(&self, filter: &[u8]) -> bool {
        let block = block_of(self.key, (filter.len() / BLOCK_BYTES) as u64) as usize;
        let block = filter[block * BLOCK_BYTES..].first_chunk().expect("a filter has whole blocks");
        self.may_be_in_block(block)
    }

    /// Adds the key to its block, without updating the checksum.
    pub fn insert(&self, block: &mut [u8; BLOCK_BYTES]) {
        self.bits.iter().for_each(|bit| block[usize::from(bit / 8) % BLOCK_BYTES] |= 1 << (bit % 8));
    }

    /// Looks the key up in its block.
    pub fn may_be_in_block(&self, block: &[u8; BLOCK_BYTES]) -> bool {
        // Without branches, so that the blocks of the next keys are fetched meanwhile.
        let is_set = |bit: &u16| block[usize::from(bit / 8) % BLOCK_BYTES] >> (bit % 8);
        self.bits.iter().map(is_set).fold(1, std::ops::BitAnd::bitand) == 1
    }
}

/// Whether the checksum of every block matches.
pub fn is_intact(filter: &[u8]) -> bool {
    let blocks = filter.chunks(BLOCK_BYTES);
    !filter.is_empty()
        && blocks.map(<[u8; BLOCK_BYTES]>::try_from).all(|b| b.is_ok_and(|b| Block::from_bytes(b).is_some()))
}

/// Bit positions within the block, each from 9 bits of the low half.
fn bits(key: u128) -> impl Iterator<Item = usize> {
    let low = key as u64;
    (0..BITS_PER_KEY).map(move |n| (((low >> (n * 9)) as usize & 511) * FILTER_BITS) >> 9)
}

#[cfg(test)]
mod tests {
    use xxhash_rust::xxh3::xxh3_128;

    use super::*;

    #[test]
    fn all_keys_are_found_with_few_false_positives() {
        let key = |n: u32| xxh3_128(&n.to_le_bytes());
        let blocks = blocks(10_000);
        let mut filter = vec![Block::empty(); blocks as usize];
        (0..10_000).for_each(|n| filter[block_of(key(n), blocks) as usize].insert(key(n)));
        let mut filter: Vec<u8> = filter.into_iter().flat_map(Block::finish).collect();
        assert!((0..10_000).all(|n| Probe::new(key(n)).may_be_in(&filter)));
        let wrong = (10_000..30_000).filter(|n| Probe::new(key(*n)).may_be_in(&filter)).count();
        assert!(wrong < 120, "{wrong} of 20000");
        assert!(is_intact(&filter) && !is_intact(&filter[..100]) && !is_intact(&[]));
        filter[1234] ^= 4;
        assert!(!is_intact(&filter));
    }
}
