//! Attributes of a row, out of the columns that hold them.
//!
//! A batch of the whole table has them encoded. A batch out of a part may have a column per frequent attribute, named
//! `<encoded column>.<key>`, beside (or, when no row has the key elsewhere, instead of) the encoded column: a value is in
//! one of the two, see [`crate::lake::attr_columns`].

use std::borrow::Cow;

use arrow::array::{Array, BooleanBufferBuilder, Int64Array, RecordBatch};
use arrow::buffer::BooleanBuffer;
use memchr::memmem::Finder;
use tidewatch_domain::wire;

use super::cells::{Cells, cells};
use super::datum::Datum;
use super::filter::{self, holds};
use super::question::{Needle, Place};
use crate::StoreError;
use crate::plan::Op;

/// One attribute of every row of a batch.
pub(crate) struct AttributeReader<'a> {
    key: String,
    places: Vec<OpenPlace<'a>>,
}

/// A place within a batch, the column of this attribute alone first.
enum OpenPlace<'a> {
    Own(Cells<'a>),
    Encoded(Cells<'a>),
    Text(Cells<'a>),
}

impl<'a> AttributeReader<'a> {
    pub fn new(batch: &'a RecordBatch, places: &[Place], key: &str) -> Result<AttributeReader<'a>, StoreError> {
        let mut open = Vec::new();
        for place in places {
            let name = place.column().name;
            match place {
                Place::Text(_) => open.push(OpenPlace::Text(cells(batch, name)?)),
                Place::Encoded(_) => {
                    let own = batch.column_by_name(&format!("{name}.{key}"));
                    if let Some(own) = own {
                        open.push(OpenPlace::Own(Cells::of(own.as_ref())?));
                    }
                    if own.is_none() || batch.column_by_name(name).is_some() {
                        open.push(OpenPlace::Encoded(cells(batch, name)?));
                    }
                }
            }
        }
        Ok(AttributeReader { key: key.to_owned(), places: open })
    }

    /// As text; `None` when absent everywhere.
    pub fn text(&self, row: usize) -> Option<Cow<'a, str>> {
        self.places.iter().find_map(|place| match place {
            OpenPlace::Own(cells) => own_text(cells, row),
            OpenPlace::Encoded(cells) => wire::attribute_text(cells.bytes(row), &self.key),
            OpenPlace::Text(cells) => {
                let bytes = cells.bytes(row);
                (!bytes.is_empty()).then(|| String::from_utf8_lossy(bytes))
            }
        })
    }

    /// Rows without which no row has the attribute: a search for the key's bytes over all rows at once.
    fn may_have(&self, rows: usize) -> BooleanBuffer {
        let key = Finder::new(self.key.as_bytes());
        let mut any = BooleanBuffer::new_unset(rows);
        for place in &self.places {
            any = &any
                | &match place {
                    OpenPlace::Own(cells) => {
                        cells.validity().map_or_else(|| BooleanBuffer::new_set(rows), |valid| valid.inner().clone())
                    }
                    OpenPlace::Encoded(Cells::Bytes(array)) => {
                        let offsets = array.value_offsets();
                        filter::rows_with(offsets, filter::bytes_of(offsets, array.value_data()), &key)
                    }
                    OpenPlace::Encoded(_) | OpenPlace::Text(_) => BooleanBuffer::new_set(rows),
                };
        }
        any
    }

    /// The column of integers that is this attribute and nothing else.
    fn only_numbers(&self) -> Option<&'a Int64Array> {
        match self.places.as_slice() {
            [OpenPlace::Own(Cells::I64(array))] => Some(array),
            _ => None,
        }
    }

    /// The text column that is this attribute and nothing else.
    pub fn only_texts(&self) -> Option<&Cells<'a>> {
        match self.places.as_slice() {
            [OpenPlace::Own(cells @ (Cells::Text(_) | Cells::Dictionary(..)))] => Some(cells),
            _ => None,
        }
    }
}

/// The value of an attribute's own column.
fn own_text<'a>(cells: &Cells<'a>, row: usize) -> Option<Cow<'a, str>> {
    if cells.is_null(row) {
        return None;
    }
    Some(match cells {
        Cells::I64(array) => Cow::Owned(array.value(row).to_string()),
        _ => String::from_utf8_lossy(cells.bytes(row)),
    })
}

/// Rows whose number is (or is not) written like `value`: `07` is the text of no number.
fn same_number(numbers: &Int64Array, value: &str, wanted: bool) -> BooleanBuffer {
    let number = value.parse::<i64>().ok().filter(|number| number.to_string() == value);
    let mask = match number {
        Some(number) => BooleanBuffer::collect_bool(numbers.len(), |row| (numbers.values()[row] == number) == wanted),
        None => BooleanBuffer::collect_bool(numbers.len(), |_| !wanted),
    };
    match numbers.nulls() {
        Some(valid) => &mask & valid.inner(),
        None => mask,
    }
}

/// Rows whose attribute is there and compares as asked, as text.
pub(crate) fn compare(
    batch: &RecordBatch,
    places: &[Place],
    key: &str,
    op: Op,
    value: &str,
) -> Result<BooleanBuffer, StoreError> {
    let reader = AttributeReader::new(batch, places, key)?;
    if let Some(texts) = reader.only_texts() {
        return Ok(filter::compare_all(texts, op, &Datum::Bytes(value.as_bytes().to_vec())));
    }
    if let Some(numbers) = reader.only_numbers()
        && matches!(op, Op::Eq | Op::Ne)
    {
        return Ok(same_number(numbers, value, op == Op::Eq));
    }
    let mut passing = BooleanBufferBuilder::new(batch.num_rows());
    passing.append_n(batch.num_rows(), false);
    for row in reader.may_have(batch.num_rows()).set_indices() {
        if reader.text(row).is_some_and(|text| holds(op, text.as_ref(), value)) {
            passing.set_bit(row, true);
        }
    }
    Ok(passing.finish())
}

/// Rows of which some attribute value, as text, contains the needle.
pub(crate) fn any_contains(
    batch: &RecordBatch,
    places: &[Place],
    needle: &Needle,
) -> Result<BooleanBuffer, StoreError> {
    let rows = batch.num_rows();
    let mut any = BooleanBuffer::new_unset(rows);
    let mut lowered = Vec::new();
    let mut contains = |text: &str| {
        lowered.clear();
        lowered.extend_from_slice(text.as_bytes());
        lowered.make_ascii_lowercase();
        needle.finder.find(&lowered).is_some()
    };
    for place in places {
        let name = place.column().name;
        if let Place::Encoded(_) = place {
            for (_, own) in own_columns(batch, name)? {
                any = &any
                    | &match own {
                        Cells::I64(_) => BooleanBuffer::collect_bool(rows, |row| {
                            own_text(&own, row).is_some_and(|text| contains(&text))
                        }),
                        texts => filter::contains_all(&texts, needle),
                    };
            }
        }
        let cells = cells(batch, name)?;
        // Rows behind one another share their resource and their scope.
        let mut last: (&[u8], bool) = (&[], false);
        let found = BooleanBuffer::collect_bool(rows, |row| {
            let bytes = cells.bytes(row);
            if !std::ptr::eq(last.0, bytes) {
                let mut found = false;
                wire::for_each_attribute_text(bytes, |_, text| found = found || contains(&text));
                last = (bytes, found);
            }
            last.1
        });
        any = &any | &found;
    }
    Ok(any)
}

/// Columns that left an encoded one, with their keys.
fn own_columns<'a>(batch: &'a RecordBatch, encoded: &str) -> Result<Vec<(&'a str, Cells<'a>)>, StoreError> {
    let fields = batch.schema_ref().fields().iter().zip(batch.columns());
    let key = |name: &'a str| name.strip_prefix(encoded)?.strip_prefix('.');
    fields
        .filter_map(|(field, array)| Some((key(field.name())?, array)))
        .map(|(key, array)| Ok((key, Cells::of(array.as_ref())?)))
        .collect()
}

/// The attribute keys of every record of a batch.
pub(crate) struct KeysReader<'a> {
    encoded: Cells<'a>,
    own: Vec<(&'a str, Cells<'a>)>,
}

impl<'a> KeysReader<'a> {
    pub fn new(batch: &'a RecordBatch) -> Result<KeysReader<'a>, StoreError> {
        Ok(KeysReader { encoded: cells(batch, "attributes")?, own: own_columns(batch, "attributes")? })
    }

    /// Sorted, each once, joined by `,`.
    pub fn joined(&self, row: usize) -> String {
        let mut keys: Vec<&str> = wire::attribute_keys(self.encoded.bytes(row)).collect();
        keys.extend(self.own.iter().filter(|(_, cells)| !cells.is_null(row)).map(|(key, _)| *key));
        keys.sort_unstable();
        keys.dedup();
        keys.join(",")
    }
}
