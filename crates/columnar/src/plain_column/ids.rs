//! Identifiers: bytes of one length, every row has one.

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
use crate::row_ranges::{Run, places};

/// They are compared as numbers of this many bytes.
const LONGEST: usize = 16;

pub struct IdChunk {
    length: usize,
    /// Of the page in the making.
    open: Vec<u8>,
    bounds: Bounds<u128>,
    /// The filter, and how often it may be wrong.
    bloom: Option<(Sbbf, f64)>,
    pages: Pages,
}

impl IdChunk {
    pub fn new(
        column: &ColumnDescPtr,
        kind: &DataType,
        properties: &WriterProperties,
        compressor: &Compressor,
    ) -> Result<Option<IdChunk>> {
        let (&DataType::FixedSizeBinary(length), path) = (kind, column.path()) else { return Ok(None) };
        let length = usize::try_from(length).unwrap_or(0);
        let is_known = (1..=LONGEST).contains(&length)
            && column.max_def_level() == 0
            && !properties.dictionary_enabled(path)
            && matches!(properties.encoding(path), None | Some(Encoding::PLAIN));
        let Some(pages) = Pages::new(column, properties, compressor).filter(|_| is_known) else { return Ok(None) };
        let bloom = match properties.bloom_filter_properties(path) {
            Some(wanted) => Some((Sbbf::new_with_ndv_fpp(wanted.ndv(), wanted.fpp())?, wanted.fpp())),
            None => None,
        };
        let bounds = Bounds::new(properties.statistics_enabled(path), Type::FIXED_LEN_BYTE_ARRAY);
        Ok(Some(IdChunk { length, open: Vec::new(), bounds, bloom, pages }))
    }

    pub fn write_runs(&mut self, arrays: &[&ArrayRef], runs: &[Run]) -> Result<()> {
        self.write_from(arrays, places(runs))
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
        let bounds = if self.bounds.are_wanted() { least_and_greatest(&self.open, self.length) } else { None };
        let length = self.length;
        self.bounds.page(bounds, (0, rows), None, |id| id.to_be_bytes()[LONGEST - length..].to_vec());
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
        let told = self.bounds.finish()?;
        let id =
            |id: u128| FixedLenByteArray::from(ByteArray::from(id.to_be_bytes()[LONGEST - self.length..].to_vec()));
        let statistics = told.statistics.map(|told| {
            let (low, high) = told.bounds.map(|(low, high)| (id(low), id(high))).unzip();
            Statistics::FixedLenByteArray(ValueStatistics::new(low, high, None, Some(told.nulls), false))
        });
        let bloom = self.bloom.map(|(mut bloom, wrong)| {
            bloom.fold_to_target_fpp(wrong);
            bloom
        });
        self.pages.finish(ChunkMetadata { statistics, index: told.index, bloom })
    }
}

fn least_and_greatest(ids: &[u8], length: usize) -> Option<(u128, u128)> {
    let mut ids = ids.chunks_exact(length).map(|id| {
        let mut whole = [0; LONGEST];
        whole[LONGEST - length..].copy_from_slice(id);
        u128::from_be_bytes(whole)
    });
    let first = ids.next()?;
    Some(ids.fold((first, first), |(low, high), id| (low.min(id), high.max(id))))
}
