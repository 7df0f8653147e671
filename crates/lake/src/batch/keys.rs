//! Assigns rows to groups: every distinct value of a key has a code, and every distinct list of codes is a group.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BinaryArray, BooleanArray, FixedSizeBinaryArray, Float64Array, Int16Array, Int64Array,
    PrimitiveArray, RecordBatch, StringArray, UInt8Array, UInt32Array, UInt64Array,
};
use arrow::datatypes::ArrowPrimitiveType;
use hashbrown::{HashMap, HashTable};
use xxhash_rust::xxh3::xxh3_64;

use super::attribute::{AttributeReader, KeysReader};
use super::cells::{Cells, cells, times};
use super::datum::Datum;
use super::places::{Place, find, places};
use super::projection::Projection;
use tidewatch_store::StoreError;
use tidewatch_store::plan::KeySource;
use tidewatch_store::tables::{Column, Kind, Table};

/// A checked group key.
#[derive(Debug, Clone)]
pub(crate) enum Key {
    Column(&'static Column),
    OneOf { column: &'static Column, strings: Vec<String> },
    TimeBucket { origin: i64, width: i64 },
    Attribute { places: Vec<Place>, key: String },
    AttributeKeys,
}

/// The code of a null.
const NULL: u32 = u32::MAX;

impl Key {
    pub fn check(table: Table, source: &KeySource) -> Result<Key, StoreError> {
        Ok(match source {
            KeySource::Column(name) => Key::Column(find(table, name)?.1),
            KeySource::OneOf { column, strings } => {
                Key::OneOf { column: find(table, column)?.1, strings: strings.clone() }
            }
            KeySource::TimeBucket { origin, width } => Key::TimeBucket { origin: *origin, width: *width },
            KeySource::Attribute { scope, key } => {
                Key::Attribute { places: places(table, *scope, key)?, key: key.clone() }
            }
            KeySource::AttributeKeys => Key::AttributeKeys,
        })
    }

    /// The kind of the answer's column, and whether it is nullable.
    pub fn kind(&self) -> (Kind, bool) {
        match self {
            Key::Column(column) => (column.kind, column.nullable),
            Key::TimeBucket { .. } => (Kind::I64, false),
            Key::OneOf { .. } | Key::Attribute { .. } => (Kind::Text, true),
            Key::AttributeKeys => (Kind::Text, false),
        }
    }

    /// Adds the columns and attributes that the key reads.
    pub fn add_to(&self, projection: &mut Projection) {
        match self {
            Key::Column(column) | Key::OneOf { column, .. } => projection.column(column.name),
            Key::TimeBucket { .. } => projection.column("time"),
            Key::Attribute { places, key } => projection.attribute(places, key),
            Key::AttributeKeys => projection.pairs("attributes"),
        }
    }
}

/// The start of a time bucket: `origin + floor((time - origin) / width) * width`, clamped to i64.
pub(crate) fn bucket(time: i64, origin: i64, width: i64) -> i64 {
    if let Some(since) = time.checked_sub(origin) {
        // This overflows only when the start is before every time.
        if let Some(start) = (since.div_euclid(width)).checked_mul(width).and_then(|since| since.checked_add(origin)) {
            return start;
        }
    }
    let (wide_time, wide_origin, wide) = (i128::from(time), i128::from(origin), i128::from(width));
    let start = wide_origin + (wide_time - wide_origin).div_euclid(wide) * wide;
    start.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
}

/// The distinct values of one key.
#[derive(Debug)]
struct Distinct {
    key: Key,
    by_number: HashMap<u64, u32>,
    by_bytes: HashTable<u32>,
    values: Vec<Datum>,
    bytes: usize,
}

impl Distinct {
    fn new(key: Key) -> Distinct {
        Distinct { key, by_number: HashMap::new(), by_bytes: HashTable::new(), values: Vec::new(), bytes: 0 }
    }

    fn code(&mut self, datum: Datum) -> u32 {
        match datum {
            Datum::Bytes(bytes) => self.code_of_bytes(&bytes),
            Datum::U64(bits) => self.code_of_number(bits, || datum),
            Datum::I64(value) => self.code_of_number(value as u64, || datum),
            // 0.0 and -0.0 are the same value.
            Datum::F64(value) => self.code_of_number((value + 0.0).to_bits(), || Datum::F64(value + 0.0)),
        }
    }

    fn code_of_number(&mut self, bits: u64, datum: impl FnOnce() -> Datum) -> u32 {
        let next = self.values.len() as u32;
        let code = *self.by_number.entry(bits).or_insert(next);
        if code == next {
            self.keep(datum());
        }
        code
    }

    fn code_of_bytes(&mut self, bytes: &[u8]) -> u32 {
        let values = &self.values;
        let same = |code: &u32| matches!(&values[*code as usize], Datum::Bytes(value) if value == bytes);
        let hash = xxh3_64(bytes);
        if let Some(code) = self.by_bytes.find(hash, same) {
            return *code;
        }
        let rehash = |code: &u32| match &values[*code as usize] {
            Datum::Bytes(value) => xxh3_64(value),
            _ => 0,
        };
        let code = values.len() as u32;
        self.by_bytes.insert_unique(hash, code, rehash);
        self.keep(Datum::Bytes(bytes.to_vec()));
        code
    }

    fn keep(&mut self, datum: Datum) {
        // The value, its entry in a map, and spare capacity.
        self.bytes += datum.heap() + 2 * size_of::<Datum>();
        self.values.push(datum);
    }

    /// The code of every row of a batch.
    fn codes(&mut self, batch: &RecordBatch, codes: &mut Vec<u32>) -> Result<(), StoreError> {
        codes.clear();
        match self.key.clone() {
            Key::Column(column) => self.codes_of_cells(&cells(batch, column.name)?, codes),
            Key::OneOf { column, strings } => self.codes_of_some(&cells(batch, column.name)?, &strings, codes),
            Key::TimeBucket { origin, width } => {
                let mut last: Option<(i64, i64, u32)> = None;
                for &time in times(batch)?.values() {
                    let code = match last {
                        // Most rows are in the bucket of the previous row.
                        Some((start, end, code)) if (start..end).contains(&time) => code,
                        _ => {
                            let start = bucket(time, origin, width);
                            let code = self.code(Datum::I64(start));
                            last = Some((start, start.saturating_add(width), code));
                            code
                        }
                    };
                    codes.push(code);
                }
            }
            Key::Attribute { places, key } => {
                let reader = AttributeReader::new(batch, &places, &key)?;
                if let Some(strings) = reader.only_strings() {
                    self.codes_of_cells(strings, codes);
                    return Ok(());
                }
                codes.extend((0..batch.num_rows()).map(|row| match reader.text(row) {
                    Some(text) => self.code_of_bytes(text.as_bytes()),
                    None => NULL,
                }));
            }
            Key::AttributeKeys => {
                let reader = KeysReader::new(batch)?;
                codes.extend((0..batch.num_rows()).map(|row| self.code_of_bytes(reader.joined(row).as_bytes())));
            }
        }
        Ok(())
    }

    /// The codes of rows with one of these strings; other rows get the code of a null.
    fn codes_of_some(&mut self, cells: &Cells<'_>, strings: &[String], codes: &mut Vec<u32>) {
        let mut last: Option<(&[u8], u32)> = None;
        for row in 0..cells.len() {
            if cells.is_null(row) {
                codes.push(NULL);
                continue;
            }
            let bytes = cells.bytes(row);
            let code = match last {
                Some((known, code)) if known == bytes => code,
                _ if strings.iter().any(|text| text.as_bytes() == bytes) => self.code_of_bytes(bytes),
                _ => NULL,
            };
            last = Some((bytes, code));
            codes.push(code);
        }
    }

    fn codes_of_cells(&mut self, cells: &Cells<'_>, codes: &mut Vec<u32>) {
        match cells {
            Cells::Dictionary(keys, values) => {
                // Filled on first use: an entry may belong to no row.
                let mut of_entry: Vec<Option<u32>> = vec![None; values.len()];
                for row in 0..keys.len() {
                    codes.push(if cells.is_null(row) {
                        NULL
                    } else {
                        let entry = keys.value(row) as usize;
                        *of_entry[entry].get_or_insert_with(|| self.code_of_bytes(values.value(entry).as_bytes()))
                    });
                }
            }
            Cells::Text(_) | Cells::Bytes(_) | Cells::Shared(..) | Cells::Id(_) => {
                let mut last: (&[u8], u32) = (&[], NULL);
                for row in 0..cells.len() {
                    if cells.is_null(row) {
                        codes.push(NULL);
                        continue;
                    }
                    let bytes = cells.bytes(row);
                    if last.1 == NULL || bytes != last.0 {
                        last = (bytes, self.code_of_bytes(bytes));
                    }
                    codes.push(last.1);
                }
            }
            Cells::U8(array) => self.codes_of_numbers(array, u64::from, Datum::U64, codes),
            Cells::U32(array) => self.codes_of_numbers(array, u64::from, Datum::U64, codes),
            Cells::U64(array) => self.codes_of_numbers(array, |value| value, Datum::U64, codes),
            Cells::I16(array) => self.codes_of_numbers(array, |value| i64::from(value) as u64, signed, codes),
            Cells::I64(array) => self.codes_of_numbers(array, |value| value as u64, signed, codes),
            Cells::Bool(_) | Cells::F64(_) => {
                codes.extend((0..cells.len()).map(|row| cells.datum(row).map_or(NULL, |datum| self.code(datum))));
            }
        }
    }

    /// The codes of integers, which have the same code if `bits` gives the same 64 bits.
    fn codes_of_numbers<T: ArrowPrimitiveType>(
        &mut self,
        array: &PrimitiveArray<T>,
        bits: impl Fn(T::Native) -> u64,
        datum: impl Fn(u64) -> Datum,
        codes: &mut Vec<u32>,
    ) {
        let nulls = array.nulls();
        let mut last: Option<(u64, u32)> = None;
        for (row, value) in array.values().iter().enumerate() {
            if nulls.is_some_and(|valid| valid.is_null(row)) {
                codes.push(NULL);
                continue;
            }
            let bits = bits(*value);
            let code = match last {
                Some((known, code)) if known == bits => code,
                _ => self.code_of_number(bits, || datum(bits)),
            };
            last = Some((bits, code));
            codes.push(code);
        }
    }
}

/// The groups found so far.
#[derive(Debug)]
pub(crate) struct Groups {
    keys: Vec<Distinct>,
    /// The codes of all groups, concatenated.
    codes: Vec<u32>,
    table: HashTable<u32>,
    /// With a single key, the groups by code, as far as they were looked up; [`NULL`]: not yet.
    by_code: Vec<u32>,
    count: usize,
}

impl Groups {
    pub fn new(keys: &[Key]) -> Groups {
        Groups {
            keys: keys.iter().cloned().map(Distinct::new).collect(),
            codes: Vec::new(),
            table: HashTable::new(),
            by_code: Vec::new(),
            // Without keys there is one group, even without rows.
            count: usize::from(keys.is_empty()),
        }
    }

    pub fn len(&self) -> usize {
        self.count
    }

    /// Approximate heap bytes.
    pub fn bytes(&self) -> usize {
        self.keys.iter().map(|key| key.bytes).sum::<usize>()
            + (self.codes.len() + self.by_code.len()) * 4
            + self.table.capacity() * 5
    }

    /// Replaces `groups` with the group of every row of a batch.
    pub fn assign(&mut self, batch: &RecordBatch, groups: &mut Vec<u32>) -> Result<(), StoreError> {
        groups.clear();
        let rows = batch.num_rows();
        if self.keys.is_empty() {
            groups.resize(rows, 0);
            return Ok(());
        }
        let mut columns = vec![Vec::with_capacity(rows); self.keys.len()];
        for (key, codes) in self.keys.iter_mut().zip(&mut columns) {
            key.codes(batch, codes)?;
        }
        if let ([key], [codes]) = (&self.keys[..], &columns[..]) {
            self.by_code.resize(key.values.len(), NULL);
            for code in codes {
                let group = match self.by_code.get(*code as usize) {
                    Some(group) if *group != NULL => *group,
                    _ => self.group_of(&[*code]),
                };
                if let Some(known) = self.by_code.get_mut(*code as usize) {
                    *known = group;
                }
                groups.push(group);
            }
            return Ok(());
        }
        let mut list = vec![0; self.keys.len()];
        for row in 0..rows {
            let same = row > 0 && columns.iter().all(|codes| codes[row] == codes[row - 1]);
            let group = if same {
                groups[row - 1]
            } else {
                list.iter_mut().zip(&columns).for_each(|(code, codes)| *code = codes[row]);
                self.group_of(&list)
            };
            groups.push(group);
        }
        Ok(())
    }

    fn group_of(&mut self, list: &[u32]) -> u32 {
        let width = self.keys.len();
        let codes = &self.codes;
        let of = |group: &u32| &codes[*group as usize * width..][..width];
        let hash = hash_codes(list);
        if let Some(group) = self.table.find(hash, |group| of(group) == list) {
            return *group;
        }
        let group = self.count as u32;
        self.table.insert_unique(hash, group, |group| hash_codes(of(group)));
        self.codes.extend_from_slice(list);
        self.count += 1;
        group
    }

    /// Adds the groups of another thread. Returns for each of its groups the number in `self`.
    pub fn absorb(&mut self, other: &Groups) -> Vec<u32> {
        let width = self.keys.len();
        if width == 0 {
            return vec![0; other.count];
        }
        let translate = |(mine, theirs): (&mut Distinct, &Distinct)| -> Vec<u32> {
            theirs.values.iter().map(|value| mine.code(value.clone())).collect()
        };
        let codes: Vec<Vec<u32>> = self.keys.iter_mut().zip(&other.keys).map(translate).collect();
        let mut list = vec![0; width];
        let ours = |theirs: &[u32]| {
            for ((mine, code), codes) in list.iter_mut().zip(theirs).zip(&codes) {
                *mine = if *code == NULL { NULL } else { codes[*code as usize] };
            }
            self.group_of(&list)
        };
        other.codes.chunks_exact(width).map(ours).collect()
    }

    /// The value of a key in a group; `None` for a null.
    pub fn value(&self, group: usize, key: usize) -> Option<&Datum> {
        match self.codes[group * self.keys.len() + key] {
            NULL => None,
            code => Some(&self.keys[key].values[code as usize]),
        }
    }

    /// The groups by all keys ascending, nulls first.
    pub fn ascending(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.len()).collect();
        // The last key first: a pass keeps the order of groups whose values are equal.
        for key in (0..self.keys.len()).rev() {
            let ranks = self.keys[key].ranks();
            let rank = |group: usize| match self.codes[group * self.keys.len() + key] {
                NULL => 0,
                code => ranks[code as usize],
            };
            // Many groups have few distinct values: they are counted, not compared.
            let mut next = vec![0; ranks.len() + 2];
            order.iter().for_each(|group| next[rank(*group) + 1] += 1);
            (1..next.len()).for_each(|rank| next[rank] += next[rank - 1]);
            let mut sorted = vec![0; order.len()];
            for group in order {
                let place = &mut next[rank(group)];
                sorted[*place] = group;
                *place += 1;
            }
            order = sorted;
        }
        order
    }
}

impl Distinct {
    /// By code: its place among the values, ascending, from 1.
    fn ranks(&self) -> Vec<usize> {
        let mut ascending: Vec<usize> = (0..self.values.len()).collect();
        ascending.sort_unstable_by(|a, b| self.values[*a].order(&self.values[*b]));
        let mut ranks = vec![0; ascending.len()];
        ascending.into_iter().zip(1..).for_each(|(code, rank)| ranks[code] = rank);
        ranks
    }
}

fn signed(bits: u64) -> Datum {
    Datum::I64(bits as i64)
}

fn hash_codes(codes: &[u32]) -> u64 {
    const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
    codes.iter().fold(0, |hash: u64, code| (hash.rotate_left(23) ^ u64::from(*code)).wrapping_mul(SPREAD))
}

/// Builds a column of the answer.
pub(crate) fn column_of<'a>(
    kind: Kind,
    values: impl Iterator<Item = Option<&'a Datum>>,
) -> Result<ArrayRef, StoreError> {
    let number = |datum: Option<&Datum>| match datum {
        Some(Datum::U64(value)) => Some(*value),
        _ => None,
    };
    let signed = |datum: Option<&Datum>| match datum {
        Some(Datum::I64(value)) => Some(*value),
        _ => None,
    };
    let double = |datum: Option<&Datum>| match datum {
        Some(Datum::F64(value)) => Some(*value),
        _ => None,
    };
    fn bytes(datum: Option<&Datum>) -> Option<&[u8]> {
        match datum {
            Some(Datum::Bytes(bytes)) => Some(bytes),
            _ => None,
        }
    }
    Ok(match kind {
        Kind::Bool => Arc::new(values.map(|d| number(d).map(|n| n != 0)).collect::<BooleanArray>()),
        Kind::U8 => Arc::new(values.map(|d| number(d).map(|n| n as u8)).collect::<UInt8Array>()),
        Kind::U32 => Arc::new(values.map(|d| number(d).map(|n| n as u32)).collect::<UInt32Array>()),
        Kind::U64 => Arc::new(values.map(number).collect::<UInt64Array>()),
        Kind::I16 => Arc::new(values.map(|d| signed(d).map(|n| n as i16)).collect::<Int16Array>()),
        Kind::I64 => Arc::new(values.map(signed).collect::<Int64Array>()),
        Kind::F64 => Arc::new(values.map(double).collect::<Float64Array>()),
        Kind::Text => Arc::new(values.map(|d| bytes(d).map(String::from_utf8_lossy)).collect::<StringArray>()),
        Kind::Bytes => Arc::new(values.map(bytes).collect::<BinaryArray>()),
        Kind::Id8 => ids(8, values.map(bytes))?,
        Kind::Id16 => ids(16, values.map(bytes))?,
    })
}

fn ids<'a>(size: i32, values: impl Iterator<Item = Option<&'a [u8]>>) -> Result<ArrayRef, StoreError> {
    let ids = FixedSizeBinaryArray::try_from_sparse_iter_with_size(values, size);
    Ok(Arc::new(ids.map_err(StoreError::internal("build the answer"))?))
}

#[cfg(test)]
mod tests {
    use super::bucket;

    #[test]
    fn bucket_starts_are_rounded_down() {
        for (time, origin, width, expected) in [
            (0, 0, 10, 0),
            (9, 0, 10, 0),
            (10, 0, 10, 10),
            (-1, 0, 10, -10),
            (-10, 0, 10, -10),
            (4, 5, 10, -5),
            (5, 5, 10, 5),
            (i64::MAX, i64::MIN, i64::MAX, i64::MAX - 1),
            (i64::MIN, 0, 3, i64::MIN),
        ] {
            assert_eq!(bucket(time, origin, width), expected, "{time} from {origin} by {width}");
        }
    }
}
