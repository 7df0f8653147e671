//! A part that a query reads.

use std::ops::Range;
use std::sync::Arc;

use arrow::datatypes::DataType;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, RowSelection};
use parquet::file::metadata::ParquetMetaData;

use crate::attr_columns::AttrColumns;
use crate::part::{Part, PartFile};

/// Rows per decoded batch.
pub(crate) const BATCH_ROWS: usize = 8192;

/// A part with its footer in memory.
pub(crate) struct OpenPart {
    pub part: Arc<Part>,
    pub file: PartFile,
    pub footer: ArrowReaderMetadata,
    pub extras: Arc<AttrColumns>,
    /// The blocks that may pass, by the trace id index: one entry per test of the plan that the index covers.
    pub trace_id_blocks: Vec<Blocks>,
}

impl OpenPart {
    pub fn metadata(&self) -> &Arc<ParquetMetaData> {
        self.footer.metadata()
    }

    /// The index of a column whose bounds in the file are those of the table's column. `None` when the part stores some
    /// attributes of the column separately.
    pub fn bounded_leaf(&self, name: &str) -> Option<usize> {
        self.leaf(name).filter(|_| self.extras.of_column(name).next().is_none())
    }

    /// Whether the file has no value of the table's column.
    pub fn lacks(&self, name: &str) -> bool {
        self.leaf(name).is_none() && self.extras.of_column(name).next().is_none()
    }

    /// The type of a column in the file.
    pub fn kind(&self, leaf: usize) -> &DataType {
        self.footer.schema().field(leaf).data_type()
    }

    /// The index of a column in the file.
    pub fn leaf(&self, name: &str) -> Option<usize> {
        self.footer.schema().index_of(name).ok()
    }
}

/// Which blocks of a part's rows may contain rows that pass.
pub(crate) struct Blocks {
    pub block_rows: usize,
    pub blocks: Vec<bool>,
}

impl Blocks {
    /// Selects the rows that may pass among the part's rows `rows`, relative to the first of them. `None` means all.
    pub fn rows(&self, rows: Range<usize>) -> Option<RowSelection> {
        let blocks = rows.start / self.block_rows..rows.end.div_ceil(self.block_rows);
        let may_pass = |block: &usize| self.blocks.get(*block).is_none_or(|may_pass| *may_pass);
        if blocks.clone().all(|block| may_pass(&block)) {
            return None;
        }
        let inside = |row: usize| row.clamp(rows.start, rows.end) - rows.start;
        let ranges =
            blocks.filter(may_pass).map(|block| inside(block * self.block_rows)..inside((block + 1) * self.block_rows));
        Some(RowSelection::from_consecutive_ranges(ranges, rows.len()))
    }
}
