//! Sorts rows of which many share all words of their key except the last: points of a series, log records of a service.
//! Rows are grouped by the shared words. Within a group they arrive nearly in the order of the last word, their time.

use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::packed::PackedKey;

/// The maximum number of words that rows of a group share.
const PREFIX_WORDS_MAX: usize = 2;
type Prefix = [u64; PREFIX_WORDS_MAX];

/// With fewer rows per group than this, sorting all rows is faster.
const GROUP_ROWS_MIN: usize = 8;
/// With fewer rows per value than this, grouping equal values does not pay.
const EQUAL_ROWS_MIN: usize = 4;
/// The average number of steps per row that an insertion sort of a group may take.
const STEPS_PER_ROW: usize = 8;

/// The indices of the keys in ascending order; equal keys keep their order. Only the first `words` words are compared.
/// `None` when few keys share their first words, or `words` is too large.
pub fn order<'k>(keys: impl ExactSizeIterator<Item = &'k PackedKey> + Clone, words: usize) -> Option<Vec<u32>> {
    let last = words.checked_sub(1).filter(|last| *last <= PREFIX_WORDS_MAX)?;
    let groups_max = keys.len() / GROUP_ROWS_MIN;
    let mut groups = Groups::new();
    let mut rows: Vec<u32> = Vec::with_capacity(keys.len());
    for key in keys.clone() {
        let mut prefix = [0; PREFIX_WORDS_MAX];
        prefix[..last].copy_from_slice(&key[..last]);
        rows.push(groups.number(prefix));
        if groups.prefixes.len() > groups_max {
            return None;
        }
    }

    let mut ranked: Vec<usize> = (0..groups.prefixes.len()).collect();
    ranked.sort_unstable_by_key(|group| groups.prefixes[*group]);
    let mut lengths = vec![0; groups.prefixes.len()];
    rows.iter().for_each(|group| lengths[*group as usize] += 1);
    // By group: the position of its next row.
    let mut next = vec![0; groups.prefixes.len()];
    let mut start = 0;
    for group in &ranked {
        next[*group] = start;
        start += lengths[*group];
    }
    let mut sorted = vec![(0_u64, 0_u32); rows.len()];
    for ((key, group), number) in keys.zip(&rows).zip(0..) {
        let place = &mut next[*group as usize];
        sorted[*place] = (key[last], number);
        *place += 1;
    }
    let mut rest = &mut sorted[..];
    for group in ranked {
        let (rows, after) = rest.split_at_mut(lengths[group]);
        insertion_sort(rows);
        rest = after;
    }
    Some(sorted.into_iter().map(|(_, number)| number).collect())
}

/// The row numbers, with equal values adjacent and in their original order. `None` when few values are equal.
pub fn group_equal(values: &[u64]) -> Option<Vec<u32>> {
    let mut groups = Groups::new();
    let mut rows: Vec<u32> = Vec::with_capacity(values.len());
    // By group: the number of its rows, then the position of its next row.
    let mut next: Vec<u32> = Vec::new();
    for value in values {
        let group = groups.number([*value, 0]);
        rows.push(group);
        if group as usize == next.len() {
            next.push(0);
        }
        next[group as usize] += 1;
    }
    if groups.prefixes.len() * EQUAL_ROWS_MIN > values.len() {
        return None;
    }
    let mut start = 0;
    for next in &mut next {
        start += std::mem::replace(next, start);
    }
    let mut order = vec![0; values.len()];
    for (group, row) in rows.iter().zip(0..) {
        let place = &mut next[*group as usize];
        order[*place as usize] = row;
        *place += 1;
    }
    Some(order)
}

/// Sorts rows that are nearly sorted. Falls back to another sort after too many steps.
fn insertion_sort(rows: &mut [(u64, u32)]) {
    let mut steps = rows.len() * STEPS_PER_ROW;
    for row in 1..rows.len() {
        let mut at = row;
        while at > 0 && rows[at - 1] > rows[at] {
            if steps == 0 {
                return rows.sort_unstable();
            }
            rows.swap(at - 1, at);
            at -= 1;
            steps -= 1;
        }
    }
}

/// Numbers groups in the order of their first row.
struct Groups {
    prefixes: Vec<Prefix>,
    numbers: HashTable<u32>,
    /// A random seed, so that senders cannot choose values with colliding hashes.
    seed: u64,
}

impl Groups {
    fn new() -> Groups {
        Groups { prefixes: Vec::new(), numbers: HashTable::new(), seed: RandomState::new().hash_one(0) }
    }

    #[inline]
    fn number(&mut self, prefix: Prefix) -> u32 {
        let Groups { prefixes, numbers, seed } = self;
        let same = |number: &u32| prefixes[*number as usize] == prefix;
        match numbers.entry(hash(prefix, *seed), same, |number| hash(prefixes[*number as usize], *seed)) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                let number = prefixes.len() as u32;
                entry.insert(number);
                prefixes.push(prefix);
                number
            }
        }
    }
}

#[inline]
fn hash(prefix: Prefix, seed: u64) -> u64 {
    prefix.iter().fold(seed, |state, word| {
        let product = u128::from(state ^ word) * 0x9e37_79b9_7f4a_7c15;
        product as u64 ^ (product >> 64) as u64
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn slow(keys: &[PackedKey]) -> Vec<u32> {
        let mut keyed: Vec<(PackedKey, u32)> = keys.iter().copied().zip(0..).collect();
        keyed.sort_unstable();
        keyed.into_iter().map(|(_, number)| number).collect()
    }

    proptest! {
        #[test]
        fn grouped_order_equals_the_order_of_whole_keys(
            rows in prop::collection::vec((0..3_u64, 0..4_u64, prop_oneof![0..5_u64, any::<u64>()]), 0..300),
            words in 1..=4_usize,
        ) {
            let key = |row: &(u64, u64, u64)| {
                let all = [row.0 << 60, row.1.rotate_right(1), row.2, row.2];
                let mut key = [0; 4];
                key[..words].copy_from_slice(&all[4 - words..]);
                key
            };
            let keys: Vec<PackedKey> = rows.iter().map(key).collect();
            if let Some(order) = order(keys.iter(), words) {
                prop_assert_eq!(order, slow(&keys));
            }
        }
    }

    #[test]
    fn equal_values_become_adjacent() {
        let values = [7, 1, 7, 9, 7, 1, 7, 1, 7, 1, 1, 9, 9];
        assert_eq!(group_equal(&values), Some(vec![0, 2, 4, 6, 8, 1, 5, 7, 9, 10, 3, 11, 12]));
        assert_eq!(group_equal(&values[..11]), None, "few are equal");
        assert_eq!(group_equal(&[]), Some(Vec::new()));
    }

    #[test]
    fn nearly_sorted_and_unsorted_rows_are_sorted() {
        let times: [fn(u64) -> u64; 4] = [|row| row, |row| row ^ 3, |row| 4096 - row, |row| row * 2_654_435_761 % 4093];
        for time in times {
            let keys: Vec<PackedKey> = (0..4096).map(|row| [row % 5, row % 3, time(row), 0]).collect();
            assert_eq!(order(keys.iter(), 3), Some(slow(&keys)));
        }
        let keys: Vec<PackedKey> = (0..4096).map(|row| [row, 0, 0, 0]).collect();
        assert_eq!(order(keys.iter(), 3), None, "every row is a group of its own");
        assert_eq!(order(keys.iter(), 4), None, "too many words");
    }
}
