//! Groups by one text column without aggregates: the distinct values of the column. If all rows of a row group pass,
//! its dictionary is its answer. A row group whose dictionary holds no new value is not read.

use std::collections::HashSet;
use std::ops::Range;

use arrow::array::{ArrayRef, RecordBatch};
use parking_lot::Mutex;

use crate::batch::cells::Cells;
use crate::batch::datum::Datum;
use crate::batch::keys::Groups;
use crate::scan::open_part::OpenPart;
use crate::scan::prune::RowGroupSlice;
use crate::scan::read::dictionary;
use crate::scan::read::sources::Work;
use tidewatch_store::StoreError;
use tidewatch_store::tables::{Column, Kind};

/// The distinct values that all threads of a query have found.
pub(crate) struct Distinct {
    column: &'static Column,
    known: Mutex<HashSet<Vec<u8>>>,
}

/// The result of looking into a row group's dictionary.
pub(crate) enum DictionaryLookup {
    /// All rows pass; these are their distinct values.
    All(RecordBatch),
    /// Its rows have no new value.
    Known,
    /// The dictionary is incomplete or has new values: the rows must be read.
    Unknown,
}

/// Sorts row groups of which only some rows may pass to the end: by then most values are known.
pub(crate) fn whole_first(work: &mut [Work]) {
    work.sort_by_key(|work| matches!(work, Work::Part { slice, .. } if !slice.is_whole()));
}

impl Distinct {
    /// `None` when dictionaries do not suffice: no dictionary holds a null.
    pub fn of(column: &'static Column) -> Option<Distinct> {
        (column.kind == Kind::Text && !column.nullable).then(|| Distinct { column, known: Mutex::default() })
    }

    pub fn look_up(&self, part: &OpenPart, slice: &RowGroupSlice) -> Result<DictionaryLookup, StoreError> {
        let Some(values) = dictionary::values(part, slice.row_group, self.column.name)? else {
            return Ok(DictionaryLookup::Unknown);
        };
        if slice.is_whole() {
            let batch = RecordBatch::try_from_iter_with_nullable([(self.column.name, values, false)]);
            return batch.map(DictionaryLookup::All).map_err(StoreError::internal("read a dictionary"));
        }
        Ok(if self.contains_all(&values)? { DictionaryLookup::Known } else { DictionaryLookup::Unknown })
    }

    fn contains_all(&self, values: &ArrayRef) -> Result<bool, StoreError> {
        let cells = Cells::of(values.as_ref())?;
        let known = self.known.lock();
        Ok((0..cells.len()).all(|row| known.contains(cells.bytes(row))))
    }

    /// Records the groups `new` that a thread found.
    pub fn add(&self, groups: &Groups, new: Range<usize>) {
        if new.is_empty() {
            return;
        }
        let mut known = self.known.lock();
        for group in new {
            if let Some(Datum::Bytes(bytes)) = groups.value(group, 0) {
                known.insert(bytes.clone());
            }
        }
    }
}
