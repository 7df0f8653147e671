//! Reads attributes of rows from the columns that hold them.
//!
//! A batch with the table's columns has them encoded. A batch from a part may have a column per frequent attribute,
//! named `<encoded column>.<key>`, in addition to the encoded column, or instead of it when no row has the key there. A
//! value is in one of the two columns, see [`crate::attr_columns`].

use std::borrow::Cow;

use arrow::array::{Int64Array, RecordBatch};
use arrow::buffer::BooleanBuffer;
use memchr::memmem::Finder;
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

    /// The attribute of a row, as text; `None` when it is absent from all places.
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

    /// A superset of the rows that have the attribute, found by a search for the key's bytes in all rows at once.
    pub fn may_have(&self, rows: usize) -> BooleanBuffer {
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
                        rows_with(offsets, bytes_of(offsets, array.value_data()), &key)
                    }
                    OpenPlace::Encoded(_) | OpenPlace::Text(_) => BooleanBuffer::new_set(rows),
                };
        }
        any
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
