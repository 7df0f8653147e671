//! A bloom filter in cache-line blocks over keys that are hashes already: about 10 bits and 1.5 % false positives per key.

const BLOCK_BYTES: usize = 64;
const KEYS_PER_BLOCK: u64 = 51;
const BITS_PER_KEY: u32 = 6;

pub struct Bloom {
    bytes: Vec<u8>,
}

impl Bloom {
    pub fn new(keys_max: u64) -> Bloom {
        let blocks = keys_max.div_ceil(KEYS_PER_BLOCK).max(1);
        Bloom { bytes: vec![0; blocks as usize * BLOCK_BYTES] }
    }

    /// `None` when these bytes are no filter.
    pub fn from_bytes(bytes: &[u8]) -> Option<Bloom> {
        (!bytes.is_empty() && bytes.len().is_multiple_of(BLOCK_BYTES)).then(|| Bloom { bytes: bytes.to_vec() })
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn insert(&mut self, key: u128) {
        let start = self.block(key);
        for bit in bits(key) {
            self.bytes[start + bit / 8] |= 1 << (bit % 8);
        }
    }

    pub fn may_contain(&self, key: u128) -> bool {
        let start = self.block(key);
        bits(key).all(|bit| self.bytes[start + bit / 8] & (1 << (bit % 8)) != 0)
    }

    /// Offset of the key's block: the high half spread evenly over the blocks.
    fn block(&self, key: u128) -> usize {
        let blocks = (self.bytes.len() / BLOCK_BYTES) as u128;
        ((u128::from((key >> 64) as u64) * blocks) >> 64) as usize * BLOCK_BYTES
    }
}

/// Bits within the block, 9 of the low half each.
fn bits(key: u128) -> impl Iterator<Item = usize> {
    (0..BITS_PER_KEY).map(move |n| (key >> (n * 9)) as usize & 511)
}

#[cfg(test)]
mod tests {
    use xxhash_rust::xxh3::xxh3_128;

    use super::*;

    #[test]
    fn finds_all_keys_and_few_others() {
        let key = |n: u32| xxh3_128(&n.to_le_bytes());
        let mut bloom = Bloom::new(10_000);
        (0..10_000).for_each(|n| bloom.insert(key(n)));
        assert!((0..10_000).all(|n| bloom.may_contain(key(n))));
        let wrong = (10_000..30_000).filter(|n| bloom.may_contain(key(*n))).count();
        assert!(wrong < 600, "{wrong} of 20000");
        assert!(Bloom::from_bytes(bloom.bytes()).is_some_and(|read| read.may_contain(key(1))));
        assert!(Bloom::from_bytes(&[1; 63]).is_none());
    }
}
