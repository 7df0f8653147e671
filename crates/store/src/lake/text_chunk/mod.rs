//! One column chunk of texts (or other bytes) of which many are equal, in the making.
//!
//! Rows are numbers of values, each value is there once: encoding, statistics and comparing cost by value and run, not by
//! row, which is why the `parquet` crate's own writer of such columns is not used. The pages are what it would write:
//! a dictionary page and data pages of numbers; or plain pages, when a dictionary would be too large to be of use.
//!
//! - `hybrid`: numbers as Parquet packs them; `pages`: pages, their places and statistics.

mod hybrid;
mod pages;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, Int32Array, StringArray};
use arrow::datatypes::{ArrowNativeType, DataType, Int32Type};
use bytes::Bytes;
use hashbrown::HashTable;
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnDescPtr;
use xxhash_rust::xxh3::xxh3_64;

/// The number of a row without a value.
const NULL: u32 = u32::MAX;
/// A number of an array's own dictionary that has none here yet.
const UNKNOWN: u32 = u32::MAX - 1;

pub struct TextChunk {
    column: ColumnDescPtr,
    /// By row, the number of its value or [`NULL`].
    rows: Vec<u32>,
    values: ValueList,
    /// By place in the lists of arrays that come: the dictionary that came last, and the numbers of its values here.
    known: Vec<Option<Known>>,
}

type Known = (ArrayRef, Vec<u32>);

/// Values by number, and numbers by value.
#[derive(Default)]
struct ValueList {
    ends: Vec<usize>,
    bytes: Vec<u8>,
    numbers: HashTable<u32>,
}

/// Arrays of bytes, text or not.
#[derive(Clone, Copy)]
enum Texts<'a> {
    Text(&'a StringArray),
    Bytes(&'a BinaryArray),
}

impl<'a> Texts<'a> {
    fn of(array: &'a dyn Array) -> Option<Texts<'a>> {
        let text = array.as_string_opt::<i32>().map(Texts::Text);
        text.or_else(|| array.as_binary_opt::<i32>().map(Texts::Bytes))
    }

    fn get(self, row: usize) -> Option<&'a [u8]> {
        match self {
            Texts::Text(array) => array.is_valid(row).then(|| array.value(row).as_bytes()),
            Texts::Bytes(array) => array.is_valid(row).then(|| array.value(row)),
        }
    }
}

/// An array to write from.
enum Source<'a> {
    Texts(Texts<'a>),
    /// A dictionary: its values are looked up once.
    Numbers {
        keys: &'a Int32Array,
        texts: Texts<'a>,
        known: Known,
    },
}

impl<'a> Source<'a> {
    fn new(array: &'a ArrayRef, known: Option<Known>) -> Source<'a> {
        let open = |array: &'a ArrayRef| Texts::of(array.as_ref()).expect("the caller asked whether it can be written");
        let Some(dictionary) = array.as_dictionary_opt::<Int32Type>() else { return Source::Texts(open(array)) };
        let values = dictionary.values();
        let known = known.filter(|(known, _)| Arc::ptr_eq(known, values));
        let known = known.unwrap_or_else(|| (Arc::clone(values), vec![UNKNOWN; values.len()]));
        Source::Numbers { keys: dictionary.keys(), texts: open(values), known }
    }
}

impl TextChunk {
    /// Arrays of this type can be written.
    pub fn takes(kind: &DataType) -> bool {
        match kind {
            DataType::Utf8 | DataType::Binary => true,
            DataType::Dictionary(key, value) => **key == DataType::Int32 && TextChunk::takes(value),
            _ => false,
        }
    }

    pub fn new(column: ColumnDescPtr) -> TextChunk {
        TextChunk { column, rows: Vec::new(), values: ValueList::default(), known: Vec::new() }
    }

    /// Appends the rows of an array of a type that [`TextChunk::takes`].
    pub fn write(&mut self, array: &ArrayRef) {
        self.write_from(&[array], (0..array.len()).map(|row| (0, row)));
    }

    /// Appends the cells at these places (array, row) of arrays of types that [`TextChunk::takes`].
    pub fn write_from(&mut self, arrays: &[&ArrayRef], places: impl ExactSizeIterator<Item = (usize, usize)>) {
        self.known.resize_with(self.known.len().max(arrays.len()), || None);
        let known = self.known.iter_mut().map(Option::take);
        let mut sources: Vec<Source<'_>> =
            arrays.iter().zip(known).map(|(array, known)| Source::new(array, known)).collect();
        self.rows.reserve(places.len());
        let mut last: (&[u8], u32) = (&[], NULL);
        for (source, row) in places {
            let number = match &mut sources[source] {
                Source::Texts(texts) => match texts.get(row) {
                    None => NULL,
                    // Rows are sorted: many are as the row before.
                    Some(text) if last.1 != NULL && last.0 == text => last.1,
                    Some(text) => {
                        last = (text, self.values.number(text));
                        last.1
                    }
                },
                Source::Numbers { keys, .. } if keys.is_null(row) => NULL,
                Source::Numbers { keys, texts, known: (_, numbers) } => {
                    let key = keys.value(row).as_usize();
                    if numbers[key] == UNKNOWN {
                        numbers[key] = texts.get(key).map_or(NULL, |text| self.values.number(text));
                    }
                    numbers[key]
                }
            };
            self.rows.push(number);
        }
        for (known, source) in self.known.iter_mut().zip(sources) {
            *known = match source {
                Source::Numbers { known, .. } => Some(known),
                Source::Texts(_) => None,
            };
        }
    }

    /// About what the chunk takes in memory.
    pub fn bytes(&self) -> usize {
        self.rows.len() * 4 + self.values.bytes.len() + self.values.ends.len() * 16
    }

    /// The chunk's bytes, and what is to be said of them; offsets count from the first.
    pub fn finish(self, properties: &WriterProperties) -> Result<(Bytes, ColumnCloseResult)> {
        pages::write(&self, properties)
    }
}

impl ValueList {
    fn len(&self) -> usize {
        self.ends.len()
    }

    fn get(&self, number: u32) -> &[u8] {
        value(&self.ends, &self.bytes, number)
    }

    /// The number of a value, its own if it is new.
    fn number(&mut self, text: &[u8]) -> u32 {
        let ValueList { ends, bytes, numbers } = self;
        let same = |number: &u32| value(ends, bytes, *number) == text;
        let hash_of = |number: &u32| xxh3_64(value(ends, bytes, *number));
        match numbers.entry(xxh3_64(text), same, hash_of) {
            hashbrown::hash_table::Entry::Occupied(entry) => *entry.get(),
            hashbrown::hash_table::Entry::Vacant(entry) => {
                let number = ends.len() as u32;
                entry.insert(number);
                bytes.extend_from_slice(text);
                ends.push(bytes.len());
                number
            }
        }
    }
}

fn value<'b>(ends: &[usize], bytes: &'b [u8], number: u32) -> &'b [u8] {
    let number = number as usize;
    let start = number.checked_sub(1).map_or(0, |before| ends[before]);
    &bytes[start..ends[number]]
}
