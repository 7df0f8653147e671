//! The order of rows of which many share all of their key but its last word: points of a series, log records of a service.
//! Such rows are gathered group by group, and came nearly in the order of that word, which is their time.

use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::packed::PackedKey;

/// Words that rows of a group share, at most.
const LEAD: usize = 2;
type Lead = [u64; LEAD];

/// With fewer rows to a group than this, sorting all of them is quicker.
const GROUP_ROWS_LEAST: usize = 8;
/// With fewer equal values than this they are not worth copying to lie together.
const TOGETHER_ROWS_LEAST: usize = 4;
/// How far, on average, a row of a group may be from its place to be moved there step by step.
const STEPS: usize = 8;

/// The numbers of the keys in ascending order, equal ones as they come. Only the first `words` words are used. `None`
/// when few share their first words.
pub fn order<'k>(keys: impl ExactSizeIterator<Item = &'k PackedKey> + Clone, words: usize) -> Option<Vec<u32>> {
    let last = words.checked_sub(1).filter(|last| *last <= LEAD)?;
    let groups_max = keys.len() / GROUP_ROWS_LEAST;
    let mut groups = Groups::new();
    let mut rows: Vec<u32> = Vec::with_capacity(keys.len());
    for key in keys.clone() {
        let mut lead = [0; LEAD];
        lead[..last].copy_from_slice(&key[..last]);
        rows.push(groups.number(lead));
        if groups.leads.len() > groups_max {
            return None;
        }
    }

    let mut ranked: Vec<usize> = (0..groups.leads.len()).collect();
    ranked.sort_unstable_by_key(|group| groups.leads[*group]);
    let mut lengths = vec![0; groups.leads.len()];
    rows.iter().for_each(|group| lengths[*group as usize] += 1);
    // By group, where its next row comes to lie.
    let mut next = vec![0; groups.leads.len()];
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
        let (rows, behind) = rest.split_at_mut(lengths[group]);
        settle(rows);
        rest = behind;
    }
    Some(sorted.into_iter().map(|(_, number)| number).collect())
}

/// The rows' numbers, those of equal values behind one another as they come. `None` when few are equal.
pub fn together(values: &[u64]) -> Option<Vec<u32>> {
    let mut groups = Groups::new();
    let mut rows: Vec<u32> = Vec::with_capacity(values.len());
    // By group, how many rows it has; then where its next row comes to lie.
    let mut next: Vec<u32> = Vec::new();
    for value in values {
        let group = groups.number([*value, 0]);
        rows.push(group);
        if group as usize == next.len() {
            next.push(0);
        }
        next[group as usize] += 1;
    }
    if groups.leads.len() * TOGETHER_ROWS_LEAST > values.len() {
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

/// Sorts rows that are nearly sorted.
fn settle(rows: &mut [(u64, u32)]) {
    let mut steps = rows.len() * STEPS;
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

/// Numbers of groups, in the order in which they are met.
struct Groups {
    leads: Vec<Lead>,
    numbers: HashTable<u32>,
    /// Nobody shall choose names and attributes that meet.
    seed: u64,
}

impl Groups {
    fn new() -> Groups {
        Groups { leads: Vec::new(), numbers: HashTable::new(), seed: RandomState::new().hash_one(0) }
    }

    #[inline]
    fn number(&mut self, lead: Lead) -> u32 {
        let Groups { leads, numbers, seed } = self;
        let same = |number: &u32| leads[*number as usize] == lead;
        match numbers.entry(hash(lead, *seed), same, |number| hash(leads[*number as usize], *seed)) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                let number = leads.len() as u32;
                entry.insert(number);
                leads.push(lead);
                number
            }
        }
    }
}

#[inline]
fn hash(lead: Lead, seed: u64) -> u64 {
    lead.iter().fold(seed, |state, word| {
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
        fn groups_are_sorted_as_whole_keys_are(
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
    fn equal_values_come_to_lie_together() {
        let values = [7, 1, 7, 9, 7, 1, 7, 1, 7, 1, 1, 9, 9];
        assert_eq!(together(&values), Some(vec![0, 2, 4, 6, 8, 1, 5, 7, 9, 10, 3, 11, 12]));
        assert_eq!(together(&values[..11]), None, "few are equal");
        assert_eq!(together(&[]), Some(Vec::new()));
    }

    #[test]
    fn rows_that_are_nearly_sorted_and_rows_that_are_not() {
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
