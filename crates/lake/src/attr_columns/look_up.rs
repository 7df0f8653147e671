//! Maps an attribute's key to the number of its column, mostly with one comparison.

use super::AttrKey;

/// A hash table of sorted keys, hashed by their length and three of their bytes.
pub struct LookUp<'k> {
    keys: &'k [AttrKey],
    slots: [u8; SLOTS],
}

const SLOTS: usize = 512;
const NONE: u8 = u8::MAX;
/// Several keys share the slot: a binary search decides.
const SEVERAL: u8 = u8::MAX - 1;

impl<'k> LookUp<'k> {
    /// Makes the table. `keys`: those of one encoded column, sorted.
    pub fn new(keys: &'k [AttrKey]) -> LookUp<'k> {
        let mut slots = [NONE; SLOTS];
        for (index, key) in keys.iter().enumerate() {
            let slot = &mut slots[slot(key.key.as_bytes())];
            let is_free = *slot == NONE && index < usize::from(SEVERAL);
            *slot = if is_free { index as u8 } else { SEVERAL };
        }
        LookUp { keys, slots }
    }

    /// The index of a key; `None` when it has no column.
    pub fn find(&self, key: &[u8]) -> Option<usize> {
        match self.slots[slot(key)] {
            NONE => None,
            SEVERAL => self.keys.binary_search_by(|other| other.key.as_bytes().cmp(key)).ok(),
            index => (self.keys[usize::from(index)].key.as_bytes() == key).then_some(usize::from(index)),
        }
    }
}

fn slot(key: &[u8]) -> usize {
    let (Some(first), Some(last)) = (key.first(), key.last()) else { return 0 };
    let middle = key[key.len() / 2];
    let mix = key.len() * 37 + usize::from(*first) + usize::from(*last) * 7 + usize::from(middle) * 101;
    mix % SLOTS
}
