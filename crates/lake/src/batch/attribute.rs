//! Reads attributes of rows from the columns that hold them.
//!
//! A batch with the table's columns has them encoded. A batch from a part may have a column per frequent attribute,
//! named `<encoded column>.<key>`, in addition to the encoded column, or instead of it when no row has the key there. A
//! value is in one of the two columns, see [`crate::attr_columns`].

use std::borrow::Cow;

use arrow::array::{Array, BooleanBufferBuilder, Int64Array, RecordBatch};
use arrow::buffer::BooleanBuffer;
use memchr::memmem::Finder;
use tidewatch_domain::rules::body_field::body_field;
use tidewatch_domain::wire;

use super::cells::{Cells, cells};
use super::places::Place;
use super::search::{bytes_of, rows_with};
use tidewatch_store::StoreError;

/// One attribute of every row of a batch.
pub(crate) struct AttributeReader<'a> {
    key: String,
    places: Vec<OpenPlace<'a>>,
}

/// A place in a batch. An attribute's own column comes before the encoded column.
enum OpenPlace<'a> {
    Own(Cells<'a>),
    Encoded(Cells<'a>),
    Text(Cells<'a>),
    Json(Cells<'a>),
}

impl OpenPlace<'_> {
    /// The rows that have the attribute here, and those whose value passes. Only the rows in `pending` matter.
    fn evaluate(
        &self,
        key: &str,
        pending: &BooleanBuffer,
        passes: &dyn Fn(&str) -> bool,
    ) -> (BooleanBuffer, BooleanBuffer) {
        let cells = match self {
            OpenPlace::Own(cells) | OpenPlace::Encoded(cells) | OpenPlace::Text(cells) | OpenPlace::Json(cells) => {
                cells
            }
        };
        let passes_of = |bytes: &[u8]| match self {
            OpenPlace::Own(_) => Some(passes(&String::from_utf8_lossy(bytes))),
            OpenPlace::Encoded(_) => wire::attribute_text(bytes, key).map(|text| passes(&text)),
            OpenPlace::Text(_) => (!bytes.is_empty()).then(|| passes(&String::from_utf8_lossy(bytes))),
            OpenPlace::Json(_) => field_of(bytes, key).map(|text| passes(&text)),
        };
        let rows = pending.len();
        let mut has = BooleanBufferBuilder::new(rows);
        let mut holds = BooleanBufferBuilder::new(rows);
        has.append_n(rows, false);
        holds.append_n(rows, false);
        let mut set = |row: usize, found: Option<bool>| {
            if let Some(found) = found {
                has.set_bit(row, true);
                holds.set_bit(row, found);
            }
        };
        match cells {
            Cells::Dictionary(keys, values) => {
                let found: Vec<Option<bool>> =
                    (0..values.len()).map(|value| passes_of(values.value(value).as_bytes())).collect();
                present(keys, pending).for_each(|row| set(row, found[keys.value(row) as usize]));
            }
            Cells::Shared(keys, values) => {
                let found: Vec<Option<bool>> = (0..values.len()).map(|value| passes_of(values.value(value))).collect();
                present(keys, pending).for_each(|row| set(row, found[keys.value(row) as usize]));
            }
            Cells::I64(array) => {
                present(array, pending).for_each(|row| set(row, Some(passes(&array.value(row).to_string()))));
            }
            Cells::Bytes(array) if matches!(self, OpenPlace::Encoded(_)) => {
                let offsets = array.value_offsets();
                let with_key = rows_with(offsets, bytes_of(offsets, array.value_data()), &Finder::new(key.as_bytes()));
                // Consecutive rows mostly share their resource and scope, so the last result is reused.
                let mut last: (&[u8], Option<bool>) = (&[], None);
                for row in present(array, &(pending & &with_key)) {
                    let bytes = array.value(row);
                    if last.0 != bytes {
                        last = (bytes, passes_of(bytes));
                    }
                    set(row, last.1);
                }
            }
            _ => {
                let valid = |row: &usize| !cells.is_null(*row);
                pending.set_indices().filter(valid).for_each(|row| set(row, passes_of(cells.bytes(row))));
            }
        }
        (has.finish(), holds.finish())
    }
}

/// The field of a JSON object.
fn field_of<'a>(body: &'a [u8], key: &str) -> Option<Cow<'a, str>> {
    body_field(std::str::from_utf8(body).ok()?, key)
}

/// The rows of `pending` that are not null.
fn present<'p>(array: &'p dyn Array, pending: &'p BooleanBuffer) -> impl Iterator<Item = usize> + 'p {
    pending.set_indices().filter(|row| array.is_valid(*row))
}

impl<'a> AttributeReader<'a> {
    pub fn new(batch: &'a RecordBatch, places: &[Place], key: &str) -> Result<AttributeReader<'a>, StoreError> {
        let mut open = Vec::new();
        for place in places {
            let name = place.column().name;
            match place {
                Place::Text(_) => open.push(OpenPlace::Text(cells(batch, name)?)),
                Place::Json(_) => open.push(OpenPlace::Json(cells(batch, name)?)),
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

    /// The attribute of a row, as text; `None` when it is absent from all places.
    pub fn text(&self, row: usize) -> Option<Cow<'a, str>> {
        self.places.iter().find_map(|place| match place {
            OpenPlace::Own(cells) => own_text(cells, row),
            OpenPlace::Encoded(cells) => wire::attribute_text(cells.bytes(row), &self.key),
            OpenPlace::Json(cells) => field_of(cells.bytes(row), &self.key),
            OpenPlace::Text(cells) => {
                let bytes = cells.bytes(row);
                (!bytes.is_empty()).then(|| String::from_utf8_lossy(bytes))
            }
        })
    }

    /// The rows that have the attribute and whose value, as text, passes. Places are evaluated one after the other, each
    /// for the rows without a value so far; a value that many rows share is evaluated once.
    pub fn passing(&self, rows: usize, passes: &dyn Fn(&str) -> bool) -> BooleanBuffer {
        let mut passing = BooleanBuffer::new_unset(rows);
        let mut pending = BooleanBuffer::new_set(rows);
        for place in &self.places {
            let (has, holds) = place.evaluate(&self.key, &pending, passes);
            passing = &passing | &(&pending & &holds);
            pending = &pending & &!&has;
            if pending.count_set_bits() == 0 {
                break;
            }
        }
        passing
    }

    /// The attribute's own integer column, if it is the only place.
    pub fn only_numbers(&self) -> Option<&'a Int64Array> {
        match self.places.as_slice() {
            [OpenPlace::Own(Cells::I64(array))] => Some(array),
            _ => None,
        }
    }

    /// The attribute's own text column, if it is the only place.
    pub fn only_strings(&self) -> Option<&Cells<'a>> {
        match self.places.as_slice() {
            [OpenPlace::Own(cells @ (Cells::Text(_) | Cells::Dictionary(..)))] => Some(cells),
            _ => None,
        }
    }
}

/// The value of a row in an attribute's own column, as text.
pub(crate) fn own_text<'a>(cells: &Cells<'a>, row: usize) -> Option<Cow<'a, str>> {
    if cells.is_null(row) {
        return None;
    }
    Some(match cells {
        Cells::I64(array) => Cow::Owned(array.value(row).to_string()),
        _ => String::from_utf8_lossy(cells.bytes(row)),
    })
}

/// The attribute columns split from an encoded column, with their keys.
pub(crate) fn own_columns<'a>(batch: &'a RecordBatch, encoded: &str) -> Result<Vec<(&'a str, Cells<'a>)>, StoreError> {
    let fields = batch.schema_ref().fields().iter().zip(batch.columns());
    let key = |name: &'a str| name.strip_prefix(encoded)?.strip_prefix('.');
    fields
        .filter_map(|(field, array)| Some((key(field.name())?, array)))
        .map(|(key, array)| Ok((key, Cells::of(array.as_ref())?)))
        .collect()
}

/// Reads the attribute keys of every record of a batch.
pub(crate) struct KeysReader<'a> {
    encoded: Cells<'a>,
    own: Vec<(&'a str, Cells<'a>)>,
}

impl<'a> KeysReader<'a> {
    pub fn new(batch: &'a RecordBatch) -> Result<KeysReader<'a>, StoreError> {
        Ok(KeysReader { encoded: cells(batch, "attributes")?, own: own_columns(batch, "attributes")? })
    }

    /// The distinct keys of a row, sorted, joined by `,`.
    pub fn joined(&self, row: usize) -> String {
        let mut keys: Vec<&str> = wire::attribute_keys(self.encoded.bytes(row)).collect();
        keys.extend(self.own.iter().filter(|(_, cells)| !cells.is_null(row)).map(|(key, _)| *key));
        keys.sort_unstable();
        keys.dedup();
        keys.join(",")
    }
}
