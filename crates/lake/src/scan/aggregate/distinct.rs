//! Groups that are nothing but the distinct texts of one column: a row group all of whose rows count has them in its
//! dictionary, and one whose dictionary holds nothing new need not be read at all.

use std::collections::HashSet;
use std::ops::Range;

use arrow::array::{ArrayRef, RecordBatch};
use parking_lot::Mutex;

use crate::batch::cells::Cells;
use crate::batch::datum::Datum;
use crate::batch::keys::Groups;
use crate::scan::open_part::OpenPart;
use crate::scan::prune::Stretch;
use crate::scan::read::dictionary;
use crate::scan::read::sources::Work;
use tidewatch_store::StoreError;
use tidewatch_store::tables::{Column, Kind};

/// What all threads of a question have found.
pub(crate) struct Distinct {
    column: &'static Column,
    known: Mutex<HashSet<Vec<u8>>>,
}

/// What a row group's dictionary says.
pub(crate) enum Listed {
    /// These are the texts of its rows, and all rows count.
    All(RecordBatch),
    /// Its rows have no text that is not known.
    Known,
    /// Its rows have to be read.
    Unknown,
}

/// Row groups of which some rows count come last: by then most texts are known.
pub(crate) fn whole_first(work: &mut [Work]) {
    work.sort_by_key(|work| matches!(work, Work::Part { stretch, .. } if !stretch.is_whole()));
}

impl Distinct {
    /// `None` when dictionaries do not tell: a null is in none.
    pub fn of(column: &'static Column) -> Option<Distinct> {
        (column.kind == Kind::Text && !column.nullable).then(|| Distinct { column, known: Mutex::default() })
    }

    pub fn look_up(&self, part: &OpenPart, stretch: &Stretch) -> Result<Listed, StoreError> {
        let Some(values) = dictionary::values(part, stretch.row_group, self.column.name)? else {
            return Ok(Listed::Unknown);
        };
        if stretch.is_whole() {
            let batch = RecordBatch::try_from_iter_with_nullable([(self.column.name, values, false)]);
            return batch.map(Listed::All).map_err(StoreError::internal("read a dictionary"));
        }
        Ok(if self.knows(&values)? { Listed::Known } else { Listed::Unknown })
    }

    fn knows(&self, values: &ArrayRef) -> Result<bool, StoreError> {
        let cells = Cells::of(values.as_ref())?;
        let known = self.known.lock();
        Ok((0..cells.len()).all(|row| known.contains(cells.bytes(row))))
    }

    /// A thread has met these groups.
    pub fn learn(&self, groups: &Groups, new: Range<usize>) {
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
