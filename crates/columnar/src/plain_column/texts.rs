//! Texts and other bytes of which few are equal, as they are.

use arrow::array::{Array, ArrayRef, AsArray, Int32Array};
use arrow::datatypes::{DataType, Int32Type};
use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::Result;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnDescPtr;

use crate::page::{ChunkMetadata, Compressor, PAGE_ROWS, Pages, Texts, rle_bit_packing};

/// Bytes after which a page ends.
const PAGE_BYTES: usize = 1024 * 1024;

pub struct TextChunk {
    /// Rows may have no value.
    is_nullable: bool,
    /// Of the page in the making: by row, whether it has a value; only where rows may have none.
    levels: Vec<u32>,
    /// Of the page in the making: each value behind its length.
    open: Vec<u8>,
    rows: usize,
    pages: Pages,
}

impl TextChunk {
    pub fn new(
        column: &ColumnDescPtr,
        kind: &DataType,
        properties: &WriterProperties,
        compressor: &Compressor,
    ) -> Option<TextChunk> {
        let path = column.path();
        let is_known = is_bytes(kind)
            && column.max_def_level() <= 1
            && column.max_rep_level() == 0
            && !properties.dictionary_enabled(path)
            && matches!(properties.encoding(path), None | Some(Encoding::PLAIN))
            && properties.statistics_enabled(path) == EnabledStatistics::None
            && properties.bloom_filter_properties(path).is_none();
        let pages = Pages::new(column, properties, compressor).filter(|_| is_known)?;
        let is_nullable = column.max_def_level() == 1;
        Some(TextChunk { is_nullable, levels: Vec::new(), open: Vec::new(), rows: 0, pages })
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

/// An array of texts, a dictionary's or not.
struct Source<'a> {
    keys: Option<&'a Int32Array>,
    texts: Texts<'a>,
}

impl<'a> Source<'a> {
    fn of(array: &'a ArrayRef) -> Source<'a> {
        let dictionary = array.as_dictionary_opt::<Int32Type>();
        let texts = dictionary.map_or(array, |dictionary| dictionary.values());
        Source { keys: dictionary.map(|dictionary| dictionary.keys()), texts: Texts::open(texts) }
    }

    #[inline]
    fn get(&self, row: usize) -> Option<&'a [u8]> {
        let Some(keys) = self.keys else { return self.texts.get(row) };
        keys.is_valid(row).then(|| keys.value(row) as usize).and_then(|key| self.texts.get(key))
    }
}
