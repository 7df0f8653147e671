//! Sort keys of rows in memory: a few numbers per row that compare like the sort columns.
//!
//! A string is replaced by its rank among the strings of all batches, and 5-minute buckets are counted from the
//! earliest, so that the key of every table fits [`WORDS`] words and sorting does not read the columns again.

use std::collections::HashMap;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{Int32Type, Int64Type, UInt32Type, UInt64Type};

use tidewatch_domain::units::MINUTE_NS;
use tidewatch_store::tables::{Kind, Table};

pub(super) const FIVE_MINUTES_NS: i64 = 5 * MINUTE_NS;

const WORDS: usize = 4;

/// Most significant word first.
pub type PackedKey = [u64; WORDS];

/// Sort keys of the rows of several batches, comparable only with each other.
pub struct Keys {
    /// By batch and row.
    pub of_rows: Vec<Vec<PackedKey>>,
    /// The number of words in use, from the first.
    pub words: usize,
}

/// One key per row of every batch.
pub fn keys(table: Table, batches: &[RecordBatch]) -> Keys {
    let mut packer = Packer { keys: batches.iter().map(|batch| vec![[0; WORDS]; batch.num_rows()]).collect(), bits: 0 };
    for key in table.sort_key() {
        match *key {
            "time/5m" => packer.buckets(batches),
            name => {
                let (index, column) = table.column(name).expect("sort keys are columns of the table");
                packer.column(column.kind, index, batches);
            }
        }
    }
    Keys { of_rows: packer.keys, words: packer.bits.div_ceil(64) }
}

struct Packer {
    keys: Vec<Vec<PackedKey>>,
    /// Bits in use, a multiple of 32.
    bits: usize,
}

impl Packer {
    fn column(&mut self, kind: Kind, index: usize, batches: &[RecordBatch]) {
        let arrays = batches.iter().map(|batch| batch.column(index));
        match kind {
            Kind::U32 => {
                let values = arrays.map(|array| array.as_primitive::<UInt32Type>().values().iter().copied());
                self.put_32(values);
            }
            Kind::U64 => {
                let values = arrays.map(|array| array.as_primitive::<UInt64Type>().values().iter().copied());
                self.put_64(values);
            }
            Kind::I64 => {
                let values = arrays.map(|array| array.as_primitive::<Int64Type>().values().iter());
                self.put_64(values.map(|values| values.map(|value| value.cast_unsigned() ^ 1 << 63)));
            }
            Kind::Id16 => {
                let half = |from: usize| {
                    arrays.clone().map(move |array| {
                        let ids = array.as_fixed_size_binary();
                        (0..ids.len()).map(move |row| {
                            let half = ids.value(row)[from..from + 8].try_into();
                            u64::from_be_bytes(half.expect("eight bytes are eight bytes"))
                        })
                    })
                };
                self.put_64(half(0));
                self.put_64(half(8));
            }
            Kind::Text => self.put_32(ranks(arrays)),
            other => unreachable!("no table is sorted by a column of kind {other:?}"),
        }
    }

    fn buckets(&mut self, batches: &[RecordBatch]) {
        let times = || batches.iter().map(|batch| batch.column_by_name("time").expect("every table has a time"));
        let bucket = |time: &i64| time.div_euclid(FIVE_MINUTES_NS);
        let values = |array| AsArray::as_primitive::<Int64Type>(array).values().iter();
        let earliest = times().flat_map(values).min().map_or(0, bucket);
        // All times of an i64 are less than 2^26 buckets apart.
        self.put_32(times().map(|array| values(array).map(|time| (bucket(time) - earliest) as u32)));
    }

    fn put_32(&mut self, values: impl Iterator<Item = impl Iterator<Item = u32>>) {
        let (word, shift) = (self.bits / 64, 32 - self.bits % 64);
        for (keys, values) in self.keys.iter_mut().zip(values) {
            keys.iter_mut().zip(values).for_each(|(key, value)| key[word] |= u64::from(value) << shift);
        }
        self.bits += 32;
    }

    fn put_64(&mut self, values: impl Iterator<Item = impl Iterator<Item = u64>>) {
        let word = self.bits / 64;
        let is_whole = self.bits.is_multiple_of(64);
        for (keys, values) in self.keys.iter_mut().zip(values) {
            for (key, value) in keys.iter_mut().zip(values) {
                if is_whole {
                    key[word] = value;
                } else {
                    key[word] |= value >> 32;
                    key[word + 1] = value << 32;
                }
            }
        }
        self.bits += 64;
    }
}

/// The rank of every string among all strings, by batch and row.
fn ranks<'a>(arrays: impl Iterator<Item = &'a ArrayRef>) -> impl Iterator<Item = impl Iterator<Item = u32>> {
    let mut numbers: HashMap<&str, u32, xxhash_rust::xxh3::Xxh3Builder> = HashMap::default();
    let mut number = |text: &'a str| {
        let next = numbers.len() as u32;
        *numbers.entry(text).or_insert(next)
    };
    let numbered = arrays.map(|array| match array.as_dictionary_opt::<Int32Type>() {
        Some(shared) => {
            let strings = shared.values().as_string::<i32>();
            let of_values: Vec<u32> = (0..strings.len()).map(|value| number(strings.value(value))).collect();
            shared.keys().values().iter().map(|key| of_values[*key as usize]).collect()
        }
        None => {
            let strings = array.as_string::<i32>();
            (0..strings.len()).map(|row| number(strings.value(row))).collect()
        }
    });
    let numbered: Vec<Vec<u32>> = numbered.collect();
    let mut strings: Vec<(&str, u32)> = numbers.into_iter().collect();
    strings.sort_unstable();
    let mut ranks = vec![0; strings.len()];
    strings.iter().enumerate().for_each(|(rank, (_, number))| ranks[*number as usize] = rank as u32);
    let ranks = std::sync::Arc::new(ranks);
    numbered.into_iter().map(move |numbers| {
        let ranks = std::sync::Arc::clone(&ranks);
        numbers.into_iter().map(move |number| ranks[number as usize])
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::SortKeys;
    use super::*;
    use arrow::array::{ArrayRef, new_null_array};
    use std::sync::Arc;
    use tidewatch_store::arrow_schema;

    const NAMES: [&str; 6] = ["", "a", "GET /a", "GET /ab", "ÿ", "\u{0}"];

    /// Rows of a table with sort columns derived from the numbers; other columns are null.
    fn batch(table: Table, rows: &[(u8, i64, u64)]) -> RecordBatch {
        let sort_columns: Vec<&str> = table.sort_key().iter().map(|key| key.split('/').next().unwrap_or(key)).collect();
        let fields: Vec<_> = arrow_schema(table)
            .fields()
            .iter()
            .map(|field| {
                if sort_columns.contains(&field.name().as_str()) {
                    field.clone()
                } else {
                    Arc::new(field.as_ref().clone().with_nullable(true))
                }
            })
            .collect();
        let arrays = table.columns().iter().zip(&fields).map(|(column, field)| -> ArrayRef {
            if !sort_columns.contains(&column.name) {
                return new_null_array(field.data_type(), rows.len());
            }
            match column.kind {
                Kind::U32 => {
                    Arc::new(arrow::array::UInt32Array::from_iter_values(rows.iter().map(|r| u32::from(r.0 % 3))))
                }
                Kind::U64 => Arc::new(arrow::array::UInt64Array::from_iter_values(rows.iter().map(|r| r.2))),
                Kind::I64 => Arc::new(arrow::array::Int64Array::from_iter_values(rows.iter().map(|r| r.1))),
                Kind::Text => Arc::new(arrow::array::StringArray::from_iter_values(
                    rows.iter().map(|r| NAMES[r.2 as usize % NAMES.len()]),
                )),
                Kind::Id16 => {
                    let ids = rows.iter().map(|r| {
                        let mut id = [r.0 % 2; 16];
                        id[8..].copy_from_slice(&r.2.to_be_bytes());
                        id
                    });
                    Arc::new(arrow::array::FixedSizeBinaryArray::try_from_iter(ids).expect("ids of 16 bytes"))
                }
                other => unreachable!("{other:?}"),
            }
        });
        RecordBatch::try_new(Arc::new(arrow::datatypes::Schema::new(fields.clone())), arrays.collect()).unwrap()
    }

    fn rows() -> impl Strategy<Value = Vec<(u8, i64, u64)>> {
        let time = prop_oneof![any::<i64>(), 0..3 * FIVE_MINUTES_NS, Just(i64::MIN), Just(i64::MAX)];
        prop::collection::vec((any::<u8>(), time, prop_oneof![any::<u64>(), 0..4_u64]), 1..20)
    }

    proptest! {
        /// Merging compares rows of different parts by [`SortKeys`], so both orders must be the same.
        #[test]
        fn packed_keys_compare_like_sort_columns(first in rows(), second in rows()) {
            for table in Table::ALL {
                let batches = [batch(table, &first), batch(table, &second)];
                let packed: Vec<PackedKey> = keys(table, &batches).of_rows.concat();
                let mut converter = SortKeys::new(table).unwrap();
                let bytes: Vec<Vec<u8>> = batches
                    .iter()
                    .flat_map(|batch| converter.of(batch).unwrap().iter().map(|row| row.data().to_vec()).collect::<Vec<_>>())
                    .collect();
                for a in 0..packed.len() {
                    for b in 0..packed.len() {
                        prop_assert_eq!(packed[a].cmp(&packed[b]), bytes[a].cmp(&bytes[b]), "{:?}: {} and {}", table, a, b);
                    }
                }
            }
        }
    }
}
