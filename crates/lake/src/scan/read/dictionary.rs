//! Uses the dictionary of a column chunk without reading rows.
//!
//! If every page of a chunk is dictionary-encoded, the dictionary is the list of the chunk's distinct values: each
//! value occurs in some row. A test that no value passes rules out the whole row group ([`narrow`]). The distinct
//! values of a column are the union of its dictionaries ([`values`]).

use std::borrow::Cow;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, RecordBatch, StringArray};
use arrow::buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::DataType;
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageReader};
use parquet::errors::ParquetError;
use parquet::file::serialized_reader::SerializedPageReader;
use tidewatch_domain::rules::body_field::body_field;
use tidewatch_domain::wire;

use crate::batch::cells::Cells;
use crate::batch::places::Place;
use crate::scan::filter::passes;
use crate::scan::open_part::OpenPart;
use crate::scan::plan_check::Test;
use tidewatch_store::StoreError;
use tidewatch_store::tables::{Column, Kind};

/// The distinct values of a text or bytes column in a row group, without null. `None` when the column is not, or not
/// entirely, dictionary-encoded.
pub(crate) fn values(open: &OpenPart, row_group: usize, column: &str) -> Result<Option<ArrayRef>, StoreError> {
    let Some(leaf) = open.leaf(column) else { return Ok(None) };
    let group = open.metadata().row_group(row_group);
    let chunk = group.column(leaf);
    let is_dictionary = chunk.dictionary_page_offset().is_some()
        && chunk.page_encoding_stats_mask().is_some_and(|pages| pages.is_only(Encoding::RLE_DICTIONARY));
    let kind = open.kind(leaf);
    if !is_dictionary || !matches!(kind, DataType::Utf8 | DataType::Binary) {
        return Ok(None);
    }
    let read = || -> Result<Option<Page>, ParquetError> {
        // Given the page locations, the reader reads the dictionary's bytes only.
        let pages = open.metadata().page_index_for_row_group(row_group).page_locations(leaf).cloned();
        let file = Arc::new(open.file.clone());
        SerializedPageReader::new(file, chunk, group.num_rows() as usize, pages)?.get_next_page()
    };
    let page = read().map_err(|error| crate::error::parquet(open.part.path(), error))?;
    let Some(Page::DictionaryPage { buf, num_values, .. }) = page else { return Ok(None) };
    let array = plain(&buf, num_values as usize).and_then(|(ends, bytes)| -> Option<ArrayRef> {
        let offsets = OffsetBuffer::new(ScalarBuffer::from(ends));
        Some(match kind {
            DataType::Utf8 => Arc::new(StringArray::try_new(offsets, Buffer::from(bytes), None).ok()?),
            _ => Arc::new(BinaryArray::try_new(offsets, Buffer::from(bytes), None).ok()?),
        })
    });
    array.map(Some).ok_or_else(|| open.part.corrupt("a dictionary cannot be read"))
}

/// Decodes byte arrays in Parquet's plain encoding: each is preceded by its length.
fn plain(mut bytes: &[u8], count: usize) -> Option<(Vec<i32>, Vec<u8>)> {
    let mut ends = Vec::with_capacity(count.min(bytes.len() / 4) + 1);
    let mut values = Vec::with_capacity(bytes.len());
    ends.push(0);
    for _ in 0..count {
        let (length, rest) = bytes.split_first_chunk::<4>()?;
        let (value, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        values.extend_from_slice(value);
        ends.push(i32::try_from(values.len()).ok()?);
        bytes = rest;
    }
    Some((ends, values))
}

/// The test without the places that the dictionaries of a row group rule out; `None` when no row can pass it.
pub(crate) fn narrow(open: &OpenPart, row_group: usize, test: &Arc<Test>) -> Result<Option<Arc<Test>>, StoreError> {
    match test.as_ref() {
        Test::Compare { column, .. }
        | Test::In { column, .. }
        | Test::Contains { column, .. }
        | Test::Matches { column, .. }
            if column.kind == Kind::Text =>
        {
            let Some(values) = values(open, row_group, column.name)? else { return Ok(Some(Arc::clone(test))) };
            Ok(any_passes(test, column, values)?.then(|| Arc::clone(test)))
        }
        Test::Attribute { places, key, condition } => {
            let mut left = Vec::new();
            let mut can_pass = false;
            for place in places {
                let found = search_place(open, row_group, *place, key, |text| condition.holds(text))?;
                can_pass |= found.passing;
                if found.any {
                    left.push(*place);
                }
            }
            if !can_pass {
                return Ok(None);
            }
            if left.len() == places.len() {
                return Ok(Some(Arc::clone(test)));
            }
            let (key, condition) = (key.clone(), condition.clone());
            Ok(Some(Arc::new(Test::Attribute { places: left, key, condition })))
        }
        _ => Ok(Some(Arc::clone(test))),
    }
}

/// Whether any of the values passes. A null passes no such test.
fn any_passes(test: &Test, column: &Column, values: ArrayRef) -> Result<bool, StoreError> {
    let batch = RecordBatch::try_from_iter_with_nullable([(column.name, values, false)])
        .map_err(StoreError::internal("read a dictionary"))?;
    Ok(passes(test, &batch)?.count_set_bits() > 0)
}

/// Facts of the dictionaries about an attribute at one place in a row group.
#[derive(Debug, Clone, Copy)]
struct Found {
    /// Some row may have the attribute here.
    any: bool,
    /// Some row's value may pass.
    passing: bool,
}

impl Found {
    const MAYBE: Found = Found { any: true, passing: true };

    fn of<'a>(strings: impl Iterator<Item = Cow<'a, str>>, passes: impl Fn(&str) -> bool) -> Found {
        strings.fold(Found { any: false, passing: false }, |found, text| Found {
            any: true,
            passing: found.passing || passes(&text),
        })
    }

    fn or(self, other: Found) -> Found {
        Found { any: self.any || other.any, passing: self.passing || other.passing }
    }
}

/// Searches one place of an attribute: its own column, and the encoded column unless that is known not to have the
/// attribute.
fn search_place(
    open: &OpenPart,
    row_group: usize,
    place: Place,
    key: &str,
    passes: impl Fn(&str) -> bool,
) -> Result<Found, StoreError> {
    let name = place.column().name;
    let strings = |values: &ArrayRef| -> Result<Found, StoreError> {
        let cells = Cells::of(values.as_ref())?;
        let text = |row| match place {
            Place::Text(_) => Some(String::from_utf8_lossy(cells.bytes(row))).filter(|text| !text.is_empty()),
            Place::Encoded(_) => wire::attribute_text(cells.bytes(row), key),
            Place::Json(_) => body_field(std::str::from_utf8(cells.bytes(row)).ok()?, key),
        };
        Ok(Found::of((0..values.len()).filter_map(text), &passes))
    };
    let own = match place {
        Place::Encoded(_) => open.extras.find(name, key),
        Place::Text(_) | Place::Json(_) => None,
    };
    let Some(own) = own else {
        return values(open, row_group, name)?.map_or(Ok(Found::MAYBE), |values| strings(&values));
    };
    let values_of_own = values(open, row_group, &own.name)?;
    let Some(strings_of_own) = values_of_own.as_ref().and_then(|values| values.as_string_opt::<i32>()) else {
        return Ok(Found::MAYBE);
    };
    let found = Found::of(strings_of_own.iter().flatten().map(Cow::Borrowed), &passes);
    if own.complete || found.passing {
        return Ok(if own.complete { found } else { Found::MAYBE });
    }
    match values(open, row_group, name)? {
        Some(values) => Ok(found.or(strings(&values)?)),
        None => Ok(Found::MAYBE),
    }
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn plain_values_are_decoded() {
        let bytes = b"\x02\0\0\0ab\0\0\0\0\x01\0\0\0c";
        assert_eq!(plain(bytes, 3), Some((vec![0, 2, 2, 3], b"abc".to_vec())));
        assert_eq!(plain(bytes, 2), Some((vec![0, 2, 2], b"ab".to_vec())));
        assert_eq!(plain(b"", 0), Some((vec![0], vec![])));
        for (bytes, count) in [(&bytes[..bytes.len() - 1], 3), (bytes, 4), (b"\xff\xff\xff\xff", 1), (b"\0", 1)] {
            assert_eq!(plain(bytes, count), None, "{bytes:?}, {count} values");
        }
    }
}
