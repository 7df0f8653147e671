//! Attributes of a row, out of the columns that hold them encoded.

use std::borrow::Cow;

use arrow::array::RecordBatch;
use arrow::buffer::BooleanBuffer;
use tidewatch_domain::wire;

use super::cells::{Cells, cells};
use super::filter::holds;
use super::question::{Needle, Place};
use crate::StoreError;
use crate::plan::Op;

/// The attribute `key` of every row of a batch.
pub(crate) struct AttributeReader<'a> {
    key: String,
    places: Vec<(Place, Cells<'a>)>,
}

impl<'a> AttributeReader<'a> {
    pub fn new(batch: &'a RecordBatch, places: &[Place], key: &str) -> Result<AttributeReader<'a>, StoreError> {
        let open = |place: &Place| cells(batch, place.column().name).map(|cells| (*place, cells));
        let places = places.iter().map(open).collect::<Result<_, _>>()?;
        Ok(AttributeReader { key: key.to_owned(), places })
    }

    /// As text; `None` when absent everywhere.
    pub fn text(&self, row: usize) -> Option<Cow<'a, str>> {
        self.places.iter().find_map(|(place, cells)| {
            let bytes = cells.bytes(row);
            match place {
                Place::Encoded(_) => wire::attribute_text(bytes, &self.key),
                Place::Text(_) => (!bytes.is_empty()).then(|| String::from_utf8_lossy(bytes)),
            }
        })
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
    let passes = |row| reader.text(row).is_some_and(|text| holds(op, text.as_ref(), value));
    Ok(BooleanBuffer::collect_bool(batch.num_rows(), passes))
}

/// Rows of which some attribute value, as text, contains the needle.
pub(crate) fn any_contains(
    batch: &RecordBatch,
    places: &[Place],
    needle: &Needle,
) -> Result<BooleanBuffer, StoreError> {
    let mut any = BooleanBuffer::new_unset(batch.num_rows());
    let mut lowered = Vec::new();
    for place in places {
        let cells = cells(batch, place.column().name)?;
        let found = BooleanBuffer::collect_bool(batch.num_rows(), |row| {
            let mut found = false;
            wire::for_each_attribute_text(cells.bytes(row), |_, text| {
                lowered.clear();
                lowered.extend_from_slice(text.as_bytes());
                lowered.make_ascii_lowercase();
                found = found || needle.finder.find(&lowered).is_some();
            });
            found
        });
        any = &any | &found;
    }
    Ok(any)
}

/// The attribute keys of a record, sorted, each once, joined by `,`.
pub(crate) fn joined_keys(encoded: &[u8]) -> String {
    let mut keys: Vec<&str> = wire::attribute_keys(encoded).collect();
    keys.sort_unstable();
    keys.dedup();
    keys.join(",")
}
