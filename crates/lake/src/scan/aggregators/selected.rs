//! The selected rows of a batch, and the series of metric points.

use arrow::array::RecordBatch;
use arrow::buffer::BooleanBuffer;
use tidewatch_store::StoreError;

use crate::batch::cells::{Cells, cells};

/// OTLP temporalities.
pub(super) const DELTA: u64 = 1;

pub(super) const CUMULATIVE: u64 = 2;

/// The selected rows of a batch and the group of every row.
pub(crate) struct Selected<'a> {
    /// By row.
    pub groups: &'a [u32],
    /// The selected rows; `None` means all.
    pub mask: Option<&'a BooleanBuffer>,
}

impl Selected<'_> {
    pub(super) fn each(&self, mut visit: impl FnMut(usize, u32)) {
        match self.mask {
            None => self.groups.iter().enumerate().for_each(|(row, group)| visit(row, *group)),
            Some(mask) => mask.set_indices().for_each(|row| visit(row, self.groups[row])),
        }
    }
}

/// Project number and `series` of a metric point: equal hashes in different projects are different series.
pub(super) type SeriesId = (u64, u64);

pub(super) fn series_ids(batch: &RecordBatch) -> Result<impl Fn(usize) -> SeriesId, StoreError> {
    let (projects, series) = (unsigned(batch, "project")?, unsigned(batch, "series")?);
    Ok(move |row| (projects(row), series(row)))
}

/// An unsigned column as a function of the row.
pub(super) fn unsigned<'a>(batch: &'a RecordBatch, name: &str) -> Result<Box<dyn Fn(usize) -> u64 + 'a>, StoreError> {
    Ok(match cells(batch, name)? {
        Cells::U8(array) => Box::new(|row| u64::from(array.value(row))),
        Cells::U32(array) => Box::new(|row| u64::from(array.value(row))),
        Cells::U64(array) => Box::new(|row| array.value(row)),
        _ => return Err(StoreError::Internal { what: "scan", why: format!("column {name} is no unsigned number") }),
    })
}
