//! A filter of recently received keys in all memtables and files: a new key, as nearly all are, costs one look-up
//! instead of one per file.
//!
//! It is a list of filters. When a filter has reached its number of keys, a larger one follows. The oldest filters are
//! dropped when all take too much memory; older keys must be looked up elsewhere.

use std::collections::VecDeque;

use super::bloom::{self, BLOCK_BYTES, Probe};

/// Minimum number of keys of the first filter, and maximum of each filter.
const KEYS_MIN: u64 = 128 * 1024;
const KEYS_MAX: u64 = 4 * 1024 * 1024;
/// Bytes of the memory limit per key of the first filter, which takes two bytes per key. Every filter is read for every
/// key, so few filters are better.
const FIRST_BYTES: u64 = 32;

pub struct RecentFilter {
    filters: VecDeque<Filter>,
    /// Number of the oldest filter, counted from the start.
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

impl RecentFilter {
    /// Limits all filters except the current one to `bytes_max` bytes.
    pub fn within(bytes_max: usize) -> RecentFilter {
        RecentFilter { filters: VecDeque::new(), oldest: 0, bytes_max }
    }

    /// The number of the filter that receives the next key, counted from the start.
    pub fn current(&self) -> u64 {
        (self.oldest + self.filters.len() as u64).saturating_sub(1)
    }

    /// The number of the oldest filter.
    pub fn oldest(&self) -> u64 {
        self.oldest
    }

    /// Whether every key since the start of this filter is still in some filter.
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

    /// Sets the flags of the keys that may have been received since the oldest filter began.
    pub fn mark(&self, probes: &[Probe], maybe: &mut [bool]) {
        // Filter by filter, so that the memory accesses of many keys overlap.
        for filter in &self.filters {
            for (probe, maybe) in probes.iter().zip(maybe.iter_mut()) {
                *maybe |= probe.may_be_in_block(&filter.blocks[filter.block(probe)]);
            }
        }
    }

    pub fn bytes(&self) -> usize {
        self.filters.iter().map(Filter::bytes).sum()
    }

    /// Size of all filters except the current one, in bytes.
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

    fn marked(recent: &RecentFilter, keys: std::ops::Range<u64>) -> usize {
        let probes: Vec<Probe> = keys.map(probe).collect();
        let mut maybe = vec![false; probes.len()];
        recent.mark(&probes, &mut maybe);
        maybe.into_iter().filter(|maybe| *maybe).count()
    }

    #[test]
    fn keys_are_found_until_their_filter_is_dropped_with_few_false_positives() {
        // Memory for the first filter, of 128 thousand keys, but not for the second beside it.
        let mut recent = RecentFilter::within(400 * 1024);
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
