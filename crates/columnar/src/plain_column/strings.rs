//! Plain strings and other bytes that rarely repeat.

use arrow::array::{Array, ArrayRef, AsArray, Int32Array};
use arrow::datatypes::{DataType, Int32Type};
use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::Result;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnDescPtr;

use crate::page::{ChunkMetadata, Compressor, PAGE_ROWS, Pages, Strings, rle_bit_packing};

/// A page ends once it has at least this many bytes.
const PAGE_BYTES: usize = 1024 * 1024;

pub struct StringColumnWriter {
    /// Rows may have no value.
    is_nullable: bool,
    /// Definition levels of the open page, by row; empty when the column is not nullable.
    levels: Vec<u32>,
    /// The values of the open page, each prefixed with its length.
    open: Vec<u8>,
    rows: usize,
    pages: Pages,
}

impl StringColumnWriter {
    pub fn new(
        column: &ColumnDescPtr,
        kind: &DataType,
        properties: &WriterProperties,
        compressor: &Compressor,
    ) -> Option<StringColumnWriter> {
        let path = column.path();
        let is_supported = is_bytes(kind)
            && column.max_def_level() <= 1
            && column.max_rep_level() == 0
            && !properties.dictionary_enabled(path)
            && matches!(properties.encoding(path), None | Some(Encoding::PLAIN))
            && properties.statistics_enabled(path) == EnabledStatistics::None
            && properties.bloom_filter_properties(path).is_none();
        let pages = Pages::new(column, properties, compressor).filter(|_| is_supported)?;
        let is_nullable = column.max_def_level() == 1;
        Some(StringColumnWriter { is_nullable, levels: Vec::new(), open: Vec::new(), rows: 0, pages })
    }

    pub fn write_from(&mut self, arrays: &[&ArrayRef], places: impl Iterator<Item = (usize, usize)>) -> Result<()> {
        let sources: Vec<Source<'_>> = arrays.iter().map(|array| Source::of(array)).collect();
        for (array, row) in places {
            let value = sources[array].get(row);
            if self.is_nullable {
                self.levels.push(u32::from(value.is_some()));
            }
            if let Some(value) = value {
                self.open.extend_from_slice(&(value.len() as u32).to_le_bytes());
                self.open.extend_from_slice(value);
            }
            self.rows += 1;
            if self.rows == PAGE_ROWS || self.open.len() >= PAGE_BYTES {
                self.close_page()?;
            }
        }
        Ok(())
    }

    fn close_page(&mut self) -> Result<()> {
        let rows = std::mem::take(&mut self.rows);
        if rows == 0 {
            return Ok(());
        }
        if self.is_nullable {
            let mut page = Vec::with_capacity(self.open.len() + rows);
            rle_bit_packing::encode_levels(&self.levels, &mut page);
            page.extend_from_slice(&self.open);
            self.levels.clear();
            self.pages.push(&page, rows, Encoding::PLAIN)?;
        } else {
            self.pages.push(&self.open, rows, Encoding::PLAIN)?;
        }
        self.open.clear();
        Ok(())
    }

    pub fn bytes(&self) -> usize {
        self.open.capacity() + self.levels.capacity() * 4 + self.pages.bytes()
    }

    pub fn finish(mut self) -> Result<(Bytes, ColumnCloseResult)> {
        self.close_page()?;
        self.pages.finish(ChunkMetadata::default())
    }
}

fn is_bytes(kind: &DataType) -> bool {
    match kind {
        DataType::Utf8 | DataType::Binary => true,
        DataType::Dictionary(key, value) => **key == DataType::Int32 && is_bytes(value),
        _ => false,
    }
}

/// A string or binary array, or a dictionary array of these.
struct Source<'a> {
    keys: Option<&'a Int32Array>,
    strings: Strings<'a>,
}

impl<'a> Source<'a> {
    fn of(array: &'a ArrayRef) -> Source<'a> {
        let dictionary = array.as_dictionary_opt::<Int32Type>();
        let strings = dictionary.map_or(array, |dictionary| dictionary.values());
        Source { keys: dictionary.map(|dictionary| dictionary.keys()), strings: Strings::open(strings) }
    }

    #[inline]
    fn get(&self, row: usize) -> Option<&'a [u8]> {
        let Some(keys) = self.keys else { return self.strings.get(row) };
        keys.is_valid(row).then(|| keys.value(row) as usize).and_then(|key| self.strings.get(key))
    }
}
