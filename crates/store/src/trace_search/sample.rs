//! An even sample of traces: those with the least hashes of their ids. The same traces are in every sample of the same
//! size, whatever the order in which they are offered.

use std::collections::{BinaryHeap, HashSet};

/// The traces with the least hashes, of all that were offered. Holds no more than its size.
#[derive(Debug)]
pub struct TraceSample {
    size: usize,
    kept: BinaryHeap<(u64, [u8; 16])>,
    ids: HashSet<[u8; 16]>,
    /// Whether a trace was left out.
    is_cut: bool,
}

impl TraceSample {
    /// An empty sample of at most `size` traces.
    pub fn of(size: usize) -> TraceSample {
        TraceSample { size, kept: BinaryHeap::new(), ids: HashSet::new(), is_cut: false }
    }

    /// Offers the trace of a span.
    pub fn offer(&mut self, trace: [u8; 16]) {
        if self.ids.contains(&trace) {
            return;
        }
        let one = (mixed(u128::from_le_bytes(trace)), trace);
        if self.kept.len() >= self.size {
            self.is_cut = true;
            if self.kept.peek().is_none_or(|last| *last <= one) {
                return;
            }
            if let Some((_, last)) = self.kept.pop() {
                self.ids.remove(&last);
            }
        }
        self.ids.insert(trace);
        self.kept.push(one);
    }

    /// The traces, the least hash first.
    pub fn traces(self) -> Vec<[u8; 16]> {
        self.kept.into_sorted_vec().into_iter().map(|(_, trace)| trace).collect()
    }

    /// The fraction of all traces that are kept, estimated from their hashes: 1 when none was left out.
    pub fn rate(&self) -> f64 {
        match self.kept.peek() {
            Some((last, _)) if self.is_cut => (*last as f64 / u64::MAX as f64).max(f64::MIN_POSITIVE),
            _ => 1.0,
        }
    }
}

/// The finalizer of SplitMix64 over both halves: ids that count up are spread too.
pub fn mixed(id: u128) -> u64 {
    let mix = |mut x: u64| {
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    };
    mix((id as u64).wrapping_add(0x9e37_79b9_7f4a_7c15) ^ mix((id >> 64) as u64))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn id(number: u64) -> [u8; 16] {
        u128::from(number).to_be_bytes()
    }

    fn sampled(numbers: impl IntoIterator<Item = u64>, size: usize) -> (Vec<[u8; 16]>, f64) {
        let mut sample = TraceSample::of(size);
        numbers.into_iter().for_each(|number| sample.offer(id(number)));
        let rate = sample.rate();
        (sample.traces(), rate)
    }

    #[test]
    fn a_sample_is_even_and_says_how_much_of_all_it_is() {
        let (traces, rate) = sampled(0..100_000, 1000);
        assert_eq!(traces.len(), 1000);
        assert!((rate * 100_000.0 / 1000.0 - 1.0).abs() < 0.15, "{rate}");
        // Ids count up with time: each tenth of them has about a tenth of the sample.
        for tenth in 0..10 {
            let within = |trace: &&[u8; 16]| u128::from_be_bytes(**trace) / 10_000 == tenth;
            let count = traces.iter().filter(within).count();
            assert!((60..=140).contains(&count), "{count} of the tenth {tenth}");
        }
        assert_eq!(sampled(0..10, 1000).1, 1.0);
    }

    proptest! {
        #[test]
        fn neither_order_nor_repeats_change_a_sample(
            numbers in prop::collection::vec(0u64..500, 0..300),
            size in 1usize..50,
        ) {
            let (traces, rate) = sampled(numbers.clone(), size);
            let again = numbers.iter().rev().chain(&numbers).copied();
            prop_assert_eq!(sampled(again, size), (traces.clone(), rate));
            let mut least: Vec<[u8; 16]> = numbers.into_iter().map(id).collect();
            least.sort_by_key(|trace| mixed(u128::from_le_bytes(*trace)));
            least.dedup();
            least.truncate(size);
            prop_assert_eq!(traces, least);
        }
    }
}
