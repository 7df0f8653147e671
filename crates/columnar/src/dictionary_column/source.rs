//! The input arrays of a chunk: strings, numbers, and dictionaries of both.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int32Array};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{
    ArrowNativeType, DataType, Float64Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt32Type, UInt64Type,
};

use super::numbers::{NULL, UNKNOWN};
use super::values::ValueList;
use crate::page::Strings;

/// The values of a dictionary and their numbers in the chunk.
pub type CachedIndices = (ArrayRef, Vec<u32>);

/// Whether arrays of this type can be written.
pub fn supports(kind: &DataType) -> bool {
    match kind {
        DataType::Utf8 | DataType::Binary => true,
        DataType::UInt8 | DataType::Int16 | DataType::UInt32 => true,
        DataType::UInt64 | DataType::Int64 | DataType::Float64 => true,
        DataType::Dictionary(key, value) => **key == DataType::Int32 && is_dictionary_value(value),
        _ => false,
    }
}

/// Whether dictionaries may have values of this type.
fn is_dictionary_value(kind: &DataType) -> bool {
    matches!(kind, DataType::Utf8 | DataType::Binary | DataType::Int64)
}

/// Arrays of numbers, by the physical representation in Parquet.
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

    /// The bits of a number, of which the low four or all eight bytes are stored.
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

/// The values of a dictionary.
#[derive(Clone, Copy)]
pub enum DictionaryValues<'a> {
    Strings(Strings<'a>),
    Numbers(Numbers<'a>, Option<&'a NullBuffer>),
}

impl<'a> DictionaryValues<'a> {
    fn of(array: &'a ArrayRef) -> DictionaryValues<'a> {
        match Numbers::of(array.as_ref()) {
            Some(numbers) => DictionaryValues::Numbers(numbers, array.nulls()),
            None => DictionaryValues::Strings(Strings::open(array)),
        }
    }

    /// The number of the value of a key.
    fn number(self, key: usize, values: &mut ValueList) -> u32 {
        match self {
            DictionaryValues::Strings(strings) => strings.get(key).map_or(NULL, |text| values.number_of_string(text)),
            DictionaryValues::Numbers(_, nulls) if nulls.is_some_and(|nulls| nulls.is_null(key)) => NULL,
            DictionaryValues::Numbers(numbers, _) => values.number_of_bits(numbers.bits(key)),
        }
    }
}

/// An input array.
pub enum Source<'a> {
    Strings(Strings<'a>),
    /// A dictionary array. Each value is looked up once.
    Dictionary {
        keys: &'a Int32Array,
        listed: DictionaryValues<'a>,
        cached: CachedIndices,
    },
    Numbers {
        numbers: Numbers<'a>,
        nulls: Option<&'a NullBuffer>,
    },
}

/// The borrowed fields of a [`Source::Dictionary`].
struct Dictionary<'a, 's> {
    keys: &'a [i32],
    nulls: Option<&'a NullBuffer>,
    listed: DictionaryValues<'a>,
    /// Numbers of the values, by key.
    numbers: &'s mut [u32],
}

impl<'a> Source<'a> {
    /// Opens an array of a type that [`supports`] allows.
    pub fn new(array: &'a ArrayRef, cached: Option<CachedIndices>) -> Source<'a> {
        if let Some(numbers) = Numbers::of(array.as_ref()) {
            return Source::Numbers { numbers, nulls: array.nulls() };
        }
        let Some(dictionary) = array.as_dictionary_opt::<Int32Type>() else {
            return Source::Strings(Strings::open(array));
        };
        let values = dictionary.values();
        let cached = cached.filter(|(cached, _)| Arc::ptr_eq(cached, values));
        let cached = cached.unwrap_or_else(|| (Arc::clone(values), vec![UNKNOWN; values.len()]));
        Source::Dictionary { keys: dictionary.keys(), listed: DictionaryValues::of(values), cached }
    }

    /// The number of a row's value.
    #[inline]
    pub fn number(&mut self, row: usize, values: &mut ValueList) -> u32 {
        match self {
            Source::Strings(strings) => strings.get(row).map_or(NULL, |text| values.number_of_string(text)),
            Source::Dictionary { keys, .. } if keys.is_null(row) => NULL,
            Source::Dictionary { keys, listed, cached: (_, numbers) } => {
                let key = keys.value(row).as_usize();
                if numbers[key] == UNKNOWN {
                    numbers[key] = listed.number(key, values);
                }
                numbers[key]
            }
            Source::Numbers { nulls, .. } if nulls.is_some_and(|nulls| nulls.is_null(row)) => NULL,
            Source::Numbers { numbers, .. } => values.number_of_bits(numbers.bits(row)),
        }
    }

    /// Whether these rows have the same value, or are all null. May be false for equal rows.
    pub fn are_constant(&self, rows: Range<usize>) -> bool {
        match self {
            Source::Strings(strings) => strings.are_empty(rows),
            Source::Dictionary { keys, .. } => are_constant(keys.values(), keys.nulls(), rows, |key| key),
            Source::Numbers { numbers, nulls } => match numbers {
                Numbers::U8(all) => are_constant(all, *nulls, rows, |number| number),
                Numbers::I16(all) => are_constant(all, *nulls, rows, |number| number),
                Numbers::U32(all) => are_constant(all, *nulls, rows, |number| number),
                Numbers::U64(all) => are_constant(all, *nulls, rows, |number| number),
                Numbers::I64(all) => are_constant(all, *nulls, rows, |number| number),
                Numbers::F64(all) => are_constant(all, *nulls, rows, f64::to_bits),
            },
        }
    }

    /// Appends the numbers of these rows' values.
    pub fn append(&mut self, of: Range<usize>, values: &mut ValueList, rows: &mut Vec<u32>) {
        rows.reserve(of.len());
        match self {
            Source::Numbers { numbers, nulls: None } => match *numbers {
                Numbers::U8(all) => extend(rows, &all[of], |number| u64::from(*number), values),
                Numbers::I16(all) => {
                    extend(rows, &all[of], |number| u64::from(i32::from(*number).cast_unsigned()), values);
                }
                Numbers::U32(all) => extend(rows, &all[of], |number| u64::from(*number), values),
                Numbers::U64(all) => extend(rows, &all[of], |number| *number, values),
                Numbers::I64(all) => extend(rows, &all[of], |number| number.cast_unsigned(), values),
                Numbers::F64(all) => extend(rows, &all[of], |number| number.to_bits(), values),
            },
            Source::Dictionary { keys, listed, cached: (_, numbers) } => {
                let mut look_up = |key: &i32| {
                    let number = &mut numbers[key.as_usize()];
                    if *number == UNKNOWN {
                        *number = listed.number(key.as_usize(), values);
                    }
                    *number
                };
                match keys.nulls() {
                    None => rows.extend(keys.values()[of].iter().map(look_up)),
                    Some(nulls) => {
                        let keys = of.clone().zip(&keys.values()[of]);
                        rows.extend(keys.map(|(row, key)| if nulls.is_valid(row) { look_up(key) } else { NULL }));
                    }
                }
            }
            source => rows.extend(of.map(|row| source.number(row, values))),
        }
    }

    fn dictionary(&mut self) -> Option<Dictionary<'a, '_>> {
        match self {
            Source::Dictionary { keys, listed, cached: (_, numbers) } => {
                let keys: &'a Int32Array = keys;
                Some(Dictionary { keys: keys.values(), nulls: keys.nulls(), listed: *listed, numbers })
            }
            _ => None,
        }
    }

    pub fn into_cached(self) -> Option<CachedIndices> {
        match self {
            Source::Dictionary { cached, .. } => Some(cached),
            _ => None,
        }
    }
}

/// Whether these rows are all null, or have the same bits.
fn are_constant<T: Copy, B: PartialEq>(
    all: &[T],
    nulls: Option<&NullBuffer>,
    rows: Range<usize>,
    bits: impl Fn(T) -> B,
) -> bool {
    let present = nulls.map_or(rows.len(), |nulls| nulls.inner().slice(rows.start, rows.len()).count_set_bits());
    if present < rows.len() {
        return present == 0;
    }
    let rows = &all[rows];
    let Some(first) = rows.first().map(|first| bits(*first)) else { return true };
    // Compares 32 values at a time.
    let mut several = rows.chunks(32);
    several.all(|rows| rows.iter().fold(true, |constant, value| constant & (bits(*value) == first)))
}

/// Appends the numbers of the values at these places (source, row).
pub fn append_from(
    sources: &mut [Source<'_>],
    places: impl ExactSizeIterator<Item = (usize, usize)>,
    values: &mut ValueList,
    rows: &mut Vec<u32>,
) {
    rows.reserve(places.len());
    // Usually all sources are dictionaries. They alternate row by row, so one loop serves them all.
    if !sources.iter().all(|source| matches!(source, Source::Dictionary { .. })) {
        return rows.extend(places.map(|(source, row)| sources[source].number(row, values)));
    }
    let mut all: Vec<_> = sources.iter_mut().filter_map(Source::dictionary).collect();
    rows.extend(places.map(|(source, row)| {
        let Dictionary { keys, nulls, listed, numbers } = &mut all[source];
        if nulls.is_some_and(|nulls| nulls.is_null(row)) {
            return NULL;
        }
        let key = keys[row].as_usize();
        let number = &mut numbers[key];
        if *number == UNKNOWN {
            *number = listed.number(key, values);
        }
        *number
    }));
}

/// Appends the numbers of values that are not null. In sorted rows, many values equal the previous one.
#[inline]
fn extend<T: Copy>(rows: &mut Vec<u32>, all: &[T], bits: impl Fn(&T) -> u64, values: &mut ValueList) {
    let mut last: Option<(u64, u32)> = None;
    rows.extend(all.iter().map(|value| {
        let bits = bits(value);
        match last {
            Some((cached, number)) if cached == bits => number,
            _ => {
                let number = values.number_of_bits(bits);
                last = Some((bits, number));
                number
            }
        }
    }));
}
