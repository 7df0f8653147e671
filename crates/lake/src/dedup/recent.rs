//! A filter of the keys that came lately, whatever memtable or file they are in: a new key, as nearly all are, costs one
//! look instead of one per file.
//!
//! It is a row of filters, each with room for a number of keys and followed by a larger one when that is reached. The
//! oldest goes when they take too much; keys that came before the oldest one began are to be looked for elsewhere.

use std::collections::VecDeque;

use super::bloom::{self, BLOCK_BYTES, Probe};

/// Keys of the first filter at least, and of the largest ones.
const KEYS_MIN: u64 = 128 * 1024;
const KEYS_MAX: u64 = 4 * 1024 * 1024;
/// Bytes of the bound for each key of the first filter, which takes two of them: every filter is asked for every key, so
/// few are better.
const FIRST_BYTES: u64 = 32;

pub struct Recent {
    filters: VecDeque<Filter>,
    /// Of the oldest filter, counted since the start.
    oldest: u64,
    bytes_max: usize,
}

struct Filter {
    blocks: Vec<[u8; BLOCK_BYTES]>,
    keys: u64,
    keys_max: u64,
}

impl Filter {
    fn new(keys_max: u64) -> Filter {
        Filter { blocks: vec![[0; BLOCK_BYTES]; bloom::blocks(keys_max) as usize], keys: 0, keys_max }
    }

    fn bytes(&self) -> usize {
        self.blocks.len() * BLOCK_BYTES
    }

    fn block(&self, probe: &Probe) -> usize {
        bloom::block_of(probe.key, self.blocks.len() as u64) as usize
    }
}

impl Recent {
    /// All filters but the one that keys go to take at most so many bytes.
    pub fn within(bytes_max: usize) -> Recent {
        Recent { filters: VecDeque::new(), oldest: 0, bytes_max }
    }

    /// The number of the filter that the next key goes to. Filters are counted.
    pub fn current(&self) -> u64 {
        (self.oldest + self.filters.len() as u64).saturating_sub(1)
    }

    /// The number of the oldest filter.
    pub fn oldest(&self) -> u64 {
        self.oldest
    }

    /// Every key since the filter of this number began is in some filter still.
    pub fn reaches(&self, filter: u64) -> bool {
        filter >= self.oldest
    }

    pub fn insert(&mut self, probe: &Probe) {
        if self.filters.back().is_none_or(|filter| filter.keys >= filter.keys_max) {
            self.grow();
        }
        if let Some(filter) = self.filters.back_mut() {
            let block = filter.block(probe);
            probe.insert(&mut filter.blocks[block]);
            filter.keys += 1;
        }
    }

    fn grow(&mut self) {
        let first = (self.bytes_max as u64 / FIRST_BYTES).clamp(KEYS_MIN, KEYS_MAX);
        let keys_max = self.filters.back().map_or(first, |filter| (filter.keys_max * 2).min(KEYS_MAX));
        while self.filters.len() > 1 && self.bytes() > self.bytes_max {
            self.filters.pop_front();
            self.oldest += 1;
        }
        self.filters.push_back(Filter::new(keys_max));
    }

    /// Sets the flags of the keys that may have come since the oldest filter began.
    pub fn mark(&self, probes: &[Probe], maybe: &mut [bool]) {
        // Filter by filter: the look-ups of many keys wait for memory together.
        for filter in &self.filters {
            for (probe, maybe) in probes.iter().zip(maybe.iter_mut()) {
                *maybe |= probe.may_be_in_block(&filter.blocks[filter.block(probe)]);
            }
        }
    }

    pub fn bytes(&self) -> usize {
        self.filters.iter().map(Filter::bytes).sum()
    }

    /// Without the filter that keys go to.
    pub fn full_bytes(&self) -> usize {
        self.filters.iter().rev().skip(1).map(Filter::bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use xxhash_rust::xxh3::xxh3_128;

    use super::*;

    fn probe(n: u64) -> Probe {
        Probe::new(xxh3_128(&n.to_le_bytes()))
    }

    fn marked(recent: &Recent, keys: std::ops::Range<u64>) -> usize {
        let probes: Vec<Probe> = keys.map(probe).collect();
        let mut maybe = vec![false; probes.len()];
        recent.mark(&probes, &mut maybe);
        maybe.into_iter().filter(|maybe| *maybe).count()
    }

    #[test]
    fn keys_are_found_until_their_filter_goes_and_few_others_are() {
        // Room for the first filter, of 128 thousand keys, and not for the second beside it.
        let mut recent = Recent::within(400 * 1024);
        assert_eq!((recent.current(), marked(&recent, 0..10)), (0, 0));
        (0..KEYS_MIN + 1000).for_each(|n| recent.insert(&probe(n)));
        assert_eq!(recent.current(), 1);
        assert!(recent.reaches(0));
        assert_eq!(marked(&recent, 0..KEYS_MIN + 1000), KEYS_MIN as usize + 1000);
        assert!(marked(&recent, 1_000_000..1_010_000) < 100);

        (KEYS_MIN + 1000..3 * KEYS_MIN + 10).for_each(|n| recent.insert(&probe(n)));
        assert_eq!(recent.current(), 2);
        assert!(!recent.reaches(0) && recent.reaches(1));
        assert!(marked(&recent, 0..10_000) < 100);
        assert_eq!(marked(&recent, KEYS_MIN..3 * KEYS_MIN + 10), 2 * KEYS_MIN as usize + 10);
    }
}
