//! A bloom filter in cache-line blocks over keys that are hashes: about 16 bits and 0.3 % false positives per key
//! (every false one is a read).
//!
//! A block is 60 bytes of filter and a sum of them, so that one block read from a disk can be trusted. Keys that come
//! ascending fill the blocks in order: a filter of any size is written without holding it.

use xxhash_rust::xxh3::xxh3_64;

pub const BLOCK_BYTES: usize = 64;
const FILTER_BYTES: usize = 60;
const FILTER_BITS: usize = FILTER_BYTES * 8;
const KEYS_PER_BLOCK: u64 = 30;
const BITS_PER_KEY: u32 = 6;

/// How many blocks a filter of so many keys has.
pub fn blocks(keys: u64) -> u64 {
    keys.div_ceil(KEYS_PER_BLOCK).max(1)
}

/// The key's block: the high half spread evenly over the blocks, so that greater keys never lie in earlier ones.
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

    /// `None` when the sum does not fit.
    pub fn from_bytes(bytes: [u8; BLOCK_BYTES]) -> Option<Block> {
        let block = Block(bytes);
        (block.0[FILTER_BYTES..] == block.sum()).then_some(block)
    }

    /// With its sum.
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

/// A key, and its bits in the block of any filter: worked out once for many filters.
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

    /// Asks a whole filter whose blocks were checked.
    pub fn may_be_in(&self, filter: &[u8]) -> bool {
        let block = block_of(self.key, (filter.len() / BLOCK_BYTES) as u64) as usize;
        let block = filter[block * BLOCK_BYTES..].first_chunk().expect("a filter has whole blocks");
        self.may_be_in_block(block)
    }

    /// Into the key's block, without its sum.
    pub fn insert(&self, block: &mut [u8; BLOCK_BYTES]) {
        self.bits.iter().for_each(|bit| block[usize::from(bit / 8) % BLOCK_BYTES] |= 1 << (bit % 8));
    }

    /// Asks the key's block.
    pub fn may_be_in_block(&self, block: &[u8; BLOCK_BYTES]) -> bool {
        // Without branches: the next keys' blocks are fetched meanwhile.
        let is_set = |bit: &u16| block[usize::from(bit / 8) % BLOCK_BYTES] >> (bit % 8);
        self.bits.iter().map(is_set).fold(1, std::ops::BitAnd::bitand) == 1
    }
}

/// Is every block's sum right?
pub fn is_whole(filter: &[u8]) -> bool {
    let blocks = filter.chunks(BLOCK_BYTES);
    !filter.is_empty()
        && blocks.map(<[u8; BLOCK_BYTES]>::try_from).all(|b| b.is_ok_and(|b| Block::from_bytes(b).is_some()))
}

/// Bits within the block, each of 9 bits of the low half.
fn bits(key: u128) -> impl Iterator<Item = usize> {
    let low = key as u64;
    (0..BITS_PER_KEY).map(move |n| (((low >> (n * 9)) as usize & 511) * FILTER_BITS) >> 9)
}

#[cfg(test)]
mod tests {
    use xxhash_rust::xxh3::xxh3_128;

    use super::*;

    #[test]
    fn finds_all_keys_and_few_others() {
        let key = |n: u32| xxh3_128(&n.to_le_bytes());
        let blocks = blocks(10_000);
        let mut filter = vec![Block::empty(); blocks as usize];
        (0..10_000).for_each(|n| filter[block_of(key(n), blocks) as usize].insert(key(n)));
        let mut filter: Vec<u8> = filter.into_iter().flat_map(Block::finish).collect();
        assert!((0..10_000).all(|n| Probe::new(key(n)).may_be_in(&filter)));
        let wrong = (10_000..30_000).filter(|n| Probe::new(key(*n)).may_be_in(&filter)).count();
        assert!(wrong < 120, "{wrong} of 20000");
        assert!(is_whole(&filter) && !is_whole(&filter[..100]) && !is_whole(&[]));
        filter[1234] ^= 4;
        assert!(!is_whole(&filter));
    }
}
