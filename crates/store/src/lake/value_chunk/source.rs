//! The arrays that a chunk is made of: texts, dictionaries of texts, and numbers.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, Int32Array, StringArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{
    ArrowNativeType, DataType, Float64Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt32Type, UInt64Type,
};

use super::{NULL, UNKNOWN, ValueList};

/// A dictionary's values, and their numbers in the chunk.
pub type Known = (ArrayRef, Vec<u32>);

/// Can arrays of this type be written?
pub fn takes(kind: &DataType) -> bool {
    match kind {
        DataType::Utf8 | DataType::Binary => true,
        DataType::UInt8 | DataType::Int16 | DataType::UInt32 => true,
        DataType::UInt64 | DataType::Int64 | DataType::Float64 => true,
        DataType::Dictionary(key, value) => **key == DataType::Int32 && is_text(value),
        _ => false,
    }
}

fn is_text(kind: &DataType) -> bool {
    matches!(kind, DataType::Utf8 | DataType::Binary)
}

/// Arrays of bytes, text or not.
#[derive(Clone, Copy)]
pub enum Texts<'a> {
    Text(&'a StringArray),
    Bytes(&'a BinaryArray),
}

impl<'a> Texts<'a> {
    fn of(array: &'a dyn Array) -> Option<Texts<'a>> {
        let text = array.as_string_opt::<i32>().map(Texts::Text);
        text.or_else(|| array.as_binary_opt::<i32>().map(Texts::Bytes))
    }

    #[inline]
    fn get(self, row: usize) -> Option<&'a [u8]> {
        match self {
            Texts::Text(array) => array.is_valid(row).then(|| array.value(row).as_bytes()),
            Texts::Bytes(array) => array.is_valid(row).then(|| array.value(row)),
        }
    }
}

/// Arrays of numbers, each as Parquet has it.
#[derive(Clone, Copy)]
pub enum Numbers<'a> {
    U8(&'a [u8]),
    I16(&'a [i16]),
    U32(&'a [u32]),
    U64(&'a [u64]),
    I64(&'a [i64]),
    F64(&'a [f64]),
}

impl<'a> Numbers<'a> {
    fn of(array: &'a dyn Array) -> Option<Numbers<'a>> {
        Some(match array.data_type() {
            DataType::UInt8 => Numbers::U8(array.as_primitive::<UInt8Type>().values()),
            DataType::Int16 => Numbers::I16(array.as_primitive::<Int16Type>().values()),
            DataType::UInt32 => Numbers::U32(array.as_primitive::<UInt32Type>().values()),
            DataType::UInt64 => Numbers::U64(array.as_primitive::<UInt64Type>().values()),
            DataType::Int64 => Numbers::I64(array.as_primitive::<Int64Type>().values()),
            DataType::Float64 => Numbers::F64(array.as_primitive::<Float64Type>().values()),
            _ => return None,
        })
    }

    /// The bits of a number, four or eight bytes of which are stored.
    #[inline]
    fn bits(self, row: usize) -> u64 {
        match self {
            Numbers::U8(values) => u64::from(values[row]),
            Numbers::I16(values) => u64::from(i32::from(values[row]).cast_unsigned()),
            Numbers::U32(values) => u64::from(values[row]),
            Numbers::U64(values) => values[row],
            Numbers::I64(values) => values[row].cast_unsigned(),
            Numbers::F64(values) => values[row].to_bits(),
        }
    }
}

/// An array to write from.
pub enum Source<'a> {
    Texts(Texts<'a>),
    /// A dictionary: its values are looked up once.
    Dictionary {
        keys: &'a Int32Array,
        texts: Texts<'a>,
        known: Known,
    },
    Numbers {
        numbers: Numbers<'a>,
        nulls: Option<&'a NullBuffer>,
    },
}

/// A [`Source::Dictionary`], open.
struct Dictionary<'a, 's> {
    keys: &'a [i32],
    nulls: Option<&'a NullBuffer>,
    texts: Texts<'a>,
    /// By key.
    numbers: &'s mut [u32],
}

impl<'a> Source<'a> {
    /// Of an array that [`takes`] says can be written.
    pub fn new(array: &'a ArrayRef, known: Option<Known>) -> Source<'a> {
        if let Some(numbers) = Numbers::of(array.as_ref()) {
            return Source::Numbers { numbers, nulls: array.nulls() };
        }
        let open = |array: &'a ArrayRef| Texts::of(array.as_ref()).expect("the caller asked whether it can be written");
        let Some(dictionary) = array.as_dictionary_opt::<Int32Type>() else { return Source::Texts(open(array)) };
        let values = dictionary.values();
        let known = known.filter(|(known, _)| Arc::ptr_eq(known, values));
        let known = known.unwrap_or_else(|| (Arc::clone(values), vec![UNKNOWN; values.len()]));
        Source::Dictionary { keys: dictionary.keys(), texts: open(values), known }
    }

    /// The number of a row's value.
    #[inline]
    pub fn number(&mut self, row: usize, values: &mut ValueList) -> u32 {
        match self {
            Source::Texts(texts) => texts.get(row).map_or(NULL, |text| values.number_of_text(text)),
            Source::Dictionary { keys, .. } if keys.is_null(row) => NULL,
            Source::Dictionary { keys, texts, known: (_, numbers) } => {
                let key = keys.value(row).as_usize();
                if numbers[key] == UNKNOWN {
                    numbers[key] = texts.get(key).map_or(NULL, |text| values.number_of_text(text));
                }
                numbers[key]
            }
            Source::Numbers { nulls, .. } if nulls.is_some_and(|nulls| nulls.is_null(row)) => NULL,
            Source::Numbers { numbers, .. } => values.number_of_bits(numbers.bits(row)),
        }
    }

    /// The numbers of all rows' values, appended.
    pub fn append(&mut self, length: usize, values: &mut ValueList, rows: &mut Vec<u32>) {
        rows.reserve(length);
        match self {
            Source::Numbers { numbers, nulls: None } => match *numbers {
                Numbers::U8(all) => extend(rows, all, |number| u64::from(*number), values),
                Numbers::I16(all) => {
                    extend(rows, all, |number| u64::from(i32::from(*number).cast_unsigned()), values);
                }
                Numbers::U32(all) => extend(rows, all, |number| u64::from(*number), values),
                Numbers::U64(all) => extend(rows, all, |number| *number, values),
                Numbers::I64(all) => extend(rows, all, |number| number.cast_unsigned(), values),
                Numbers::F64(all) => extend(rows, all, |number| number.to_bits(), values),
            },
            Source::Dictionary { keys, texts, known: (_, numbers) } => {
                let mut look_up = |key: &i32| {
                    let number = &mut numbers[key.as_usize()];
                    if *number == UNKNOWN {
                        *number = texts.get(key.as_usize()).map_or(NULL, |text| values.number_of_text(text));
                    }
                    *number
                };
                match keys.nulls() {
                    None => rows.extend(keys.values().iter().map(look_up)),
                    Some(nulls) => {
                        let keys = keys.values().iter().zip(nulls.iter());
                        rows.extend(keys.map(|(key, is_there)| if is_there { look_up(key) } else { NULL }));
                    }
                }
            }
            source => rows.extend((0..length).map(|row| source.number(row, values))),
        }
    }

    fn dictionary(&mut self) -> Option<Dictionary<'a, '_>> {
        match self {
            Source::Dictionary { keys, texts, known: (_, numbers) } => {
                let keys: &'a Int32Array = keys;
                Some(Dictionary { keys: keys.values(), nulls: keys.nulls(), texts: *texts, numbers })
            }
            _ => None,
        }
    }

    pub fn into_known(self) -> Option<Known> {
        match self {
            Source::Dictionary { known, .. } => Some(known),
            _ => None,
        }
    }
}

/// The numbers of the values at these places (source, row), appended.
pub fn append_from(
    sources: &mut [Source<'_>],
    places: impl ExactSizeIterator<Item = (usize, usize)>,
    values: &mut ValueList,
    rows: &mut Vec<u32>,
) {
    rows.reserve(places.len());
    // Mostly all sources are dictionaries. They take turns row by row, so one way serves all.
    if !sources.iter().all(|source| matches!(source, Source::Dictionary { .. })) {
        return rows.extend(places.map(|(source, row)| sources[source].number(row, values)));
    }
    let mut all: Vec<_> = sources.iter_mut().filter_map(Source::dictionary).collect();
    rows.extend(places.map(|(source, row)| {
        let Dictionary { keys, nulls, texts, numbers } = &mut all[source];
        if nulls.is_some_and(|nulls| nulls.is_null(row)) {
            return NULL;
        }
        let key = keys[row].as_usize();
        let number = &mut numbers[key];
        if *number == UNKNOWN {
            *number = texts.get(key).map_or(NULL, |text| values.number_of_text(text));
        }
        *number
    }));
}

/// Numbers none of which is null. Rows are sorted: many are as the row before.
#[inline]
fn extend<T: Copy + PartialEq>(rows: &mut Vec<u32>, all: &[T], bits: impl Fn(&T) -> u64, values: &mut ValueList) {
    let mut last: Option<(T, u32)> = None;
    rows.extend(all.iter().map(|value| match last {
        Some((known, number)) if known == *value => number,
        _ => {
            let number = values.number_of_bits(bits(value));
            last = Some((*value, number));
            number
        }
    }));
}
