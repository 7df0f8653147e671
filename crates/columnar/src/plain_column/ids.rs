//! Identifiers: byte strings of a fixed length, never null.

use arrow::array::{ArrayRef, AsArray, FixedSizeBinaryArray};
use arrow::datatypes::DataType;
use bytes::Bytes;
use parquet::basic::{Encoding, Type};
use parquet::bloom_filter::Sbbf;
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::{ByteArray, FixedLenByteArray};
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::file::statistics::{Statistics, ValueStatistics};
use parquet::schema::types::ColumnDescPtr;

use super::bounds::Bounds;
use crate::page::{ChunkMetadata, Compressor, PAGE_ROWS, Pages};
use crate::row_ranges::{RowRange, places};

/// Maximum length. Identifiers are compared as big-endian numbers of this many bytes.
const ID_BYTES_MAX: usize = 16;

pub struct IdColumnWriter {
    length: usize,
    /// The values of the open page.
    open: Vec<u8>,
    bounds: Bounds<u128>,
    /// The filter and its target false-positive probability.
    bloom: Option<(Sbbf, f64)>,
    pages: Pages,
}

impl IdColumnWriter {
    pub fn new(
        column: &ColumnDescPtr,
        kind: &DataType,
        properties: &WriterProperties,
        compressor: &Compressor,
    ) -> Result<Option<IdColumnWriter>> {
        let (&DataType::FixedSizeBinary(length), path) = (kind, column.path()) else { return Ok(None) };
        let length = usize::try_from(length).unwrap_or(0);
        let is_supported = (1..=ID_BYTES_MAX).contains(&length)
            && column.max_def_level() == 0
            && !properties.dictionary_enabled(path)
            && matches!(properties.encoding(path), None | Some(Encoding::PLAIN));
        let Some(pages) = Pages::new(column, properties, compressor).filter(|_| is_supported) else { return Ok(None) };
        let bloom = match properties.bloom_filter_properties(path) {
            Some(wanted) => Some((Sbbf::new_with_ndv_fpp(wanted.ndv(), wanted.fpp())?, wanted.fpp())),
            None => None,
        };
        let bounds = Bounds::new(properties.statistics_enabled(path), Type::FIXED_LEN_BYTE_ARRAY);
        Ok(Some(IdColumnWriter { length, open: Vec::new(), bounds, bloom, pages }))
    }

    pub fn write_ranges(&mut self, arrays: &[&ArrayRef], ranges: &[RowRange]) -> Result<()> {
        self.write_from(arrays, places(ranges))
    }

    pub fn write_from(&mut self, arrays: &[&ArrayRef], places: impl Iterator<Item = (usize, usize)>) -> Result<()> {
        let arrays: Vec<&FixedSizeBinaryArray> = arrays.iter().map(|array| array.as_fixed_size_binary()).collect();
        let page_bytes = PAGE_ROWS * self.length;
        for (array, row) in places {
            self.open.extend_from_slice(arrays[array].value(row));
            if self.open.len() == page_bytes {
                self.close_page()?;
            }
        }
        Ok(())
    }

    fn close_page(&mut self) -> Result<()> {
        if self.open.is_empty() {
            return Ok(());
        }
        let rows = self.open.len() / self.length;
        let bounds = if self.bounds.are_enabled() { least_and_greatest(&self.open, self.length) } else { None };
        let length = self.length;
        self.bounds.page(bounds, (0, rows), None, |id| id.to_be_bytes()[ID_BYTES_MAX - length..].to_vec());
        if let Some((bloom, _)) = &mut self.bloom {
            self.open.chunks_exact(self.length).for_each(|id| bloom.insert(id));
        }
        self.pages.push(&self.open, rows, Encoding::PLAIN)?;
        self.open.clear();
        Ok(())
    }

    pub fn bytes(&self) -> usize {
        self.open.capacity() + self.pages.bytes()
    }

    pub fn finish(mut self) -> Result<(Bytes, ColumnCloseResult)> {
        self.close_page()?;
        let written = self.bounds.finish()?;
        let id = |id: u128| {
            FixedLenByteArray::from(ByteArray::from(id.to_be_bytes()[ID_BYTES_MAX - self.length..].to_vec()))
        };
        let statistics = written.statistics.map(|written| {
            let (low, high) = written.bounds.map(|(low, high)| (id(low), id(high))).unzip();
            Statistics::FixedLenByteArray(ValueStatistics::new(low, high, None, Some(written.nulls), false))
        });
        let bloom = self.bloom.map(|(mut bloom, wrong)| {
            bloom.fold_to_target_fpp(wrong);
            bloom
        });
        self.pages.finish(ChunkMetadata { statistics, index: written.index, bloom })
    }
}

fn least_and_greatest(ids: &[u8], length: usize) -> Option<(u128, u128)> {
    let mut ids = ids.chunks_exact(length).map(|id| {
        let mut whole = [0; ID_BYTES_MAX];
        whole[ID_BYTES_MAX - length..].copy_from_slice(id);
        u128::from_be_bytes(whole)
    });
    let first = ids.next()?;
    Some(ids.fold((first, first), |(low, high), id| (low.min(id), high.max(id))))
}
