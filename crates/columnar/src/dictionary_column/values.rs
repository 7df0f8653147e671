//! The distinct values of a chunk: values by number and numbers by value.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use parquet::basic::Type;
use xxhash_rust::xxh3::xxh3_64;

/// Slots of the cache of recently used numeric values.
const RECENT: usize = 64;

/// The distinct values, in order of their first occurrence.
pub struct ValueList {
    /// Size of each value in bytes, for little-endian numbers; `None` for strings.
    width: Option<usize>,
    /// By number, the end of the string in `bytes`; empty for numbers.
    ends: Vec<u32>,
    bytes: Vec<u8>,
    numbers: HashTable<u32>,
    last: Option<u32>,
    /// Recently used numeric values with their dictionary numbers, by hash of their bits.
    recent: Vec<(u64, u32)>,
}

impl ValueList {
    /// Starts an empty list for columns of this physical type.
    pub fn new(kind: Type) -> ValueList {
        let width = match kind {
            Type::INT32 => Some(4),
            Type::INT64 | Type::DOUBLE => Some(8),
            _ => None,
        };
        let recent = if width.is_some() { vec![(0, super::numbers::NULL); RECENT] } else { Vec::new() };
        ValueList { width, ends: Vec::new(), bytes: Vec::new(), numbers: HashTable::new(), last: None, recent }
    }

    /// Removes all values without freeing their memory.
    pub fn clear(&mut self) {
        self.ends.clear();
        self.bytes.clear();
        self.numbers.clear();
        self.last = None;
        self.recent.fill((0, super::numbers::NULL));
    }

    pub fn len(&self) -> usize {
        self.width.map_or(self.ends.len(), |width| self.bytes.len() / width)
    }

    /// The value's bytes.
    #[inline]
    pub fn get(&self, number: u32) -> &[u8] {
        value(self.width, &self.ends, &self.bytes, number)
    }

    /// Size of all values in a plain page, in bytes.
    pub fn plain_bytes(&self) -> usize {
        self.bytes.len() + 4 * self.ends.len()
    }

    /// Size of a value in a plain page, in bytes.
    #[inline]
    pub fn plain_length(&self, number: u32) -> usize {
        self.width.unwrap_or_else(|| self.get(number).len() + 4)
    }

    pub fn write_plain(&self, number: u32, out: &mut Vec<u8>) {
        let value = self.get(number);
        if self.width.is_none() {
            out.extend_from_slice(&(value.len() as u32).to_le_bytes());
        }
        out.extend_from_slice(value);
    }

    pub fn memory_bytes(&self) -> usize {
        self.bytes.len() + self.len() * 16
    }

    /// The number of a string, a new one for a new string. In sorted rows, many strings equal the previous one.
    #[inline]
    pub fn number_of_string(&mut self, text: &[u8]) -> u32 {
        match self.last {
            Some(last) if self.get(last) == text => last,
            _ => {
                let number = self.number(text);
                self.last = Some(number);
                number
            }
        }
    }

    /// The number of a numeric value of these bits, a new one for a new value.
    #[inline]
    pub fn number_of_bits(&mut self, bits: u64) -> u32 {
        let place = (bits.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize % RECENT;
        match self.recent[place] {
            (known, number) if known == bits && number != super::numbers::NULL => number,
            _ => {
                let number = self.number(&bits.to_le_bytes()[..self.width.unwrap_or(size_of::<u64>())]);
                self.recent[place] = (bits, number);
                number
            }
        }
    }

    fn number(&mut self, text: &[u8]) -> u32 {
        let next = self.len() as u32;
        let ValueList { width, ends, bytes, numbers, .. } = self;
        let same = |number: &u32| value(*width, ends, bytes, *number) == text;
        let hash_of = |number: &u32| xxh3_64(value(*width, ends, bytes, *number));
        match numbers.entry(xxh3_64(text), same, hash_of) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                entry.insert(next);
                bytes.extend_from_slice(text);
                if width.is_none() {
                    // A row group ends long before it has 4 GiB.
                    ends.push(u32::try_from(bytes.len()).expect("the strings of a row group are less than 4 GiB"));
                }
                next
            }
        }
    }
}

#[inline]
fn value<'b>(width: Option<usize>, ends: &[u32], bytes: &'b [u8], number: u32) -> &'b [u8] {
    let number = number as usize;
    match width {
        Some(width) => &bytes[number * width..][..width],
        None => {
            let start = number.checked_sub(1).map_or(0, |before| ends[before]);
            &bytes[start as usize..ends[number] as usize]
        }
    }
}
