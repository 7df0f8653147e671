//! Removes rows of a project by the values of columns, for users who want their data deleted.
//!
//! Rows in memory are flushed first, so that they are in parts and the journal is not replayed for them. A part and its
//! replacement are swapped in one catalog transaction.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BooleanArray, RecordBatch, UInt32Array};
use arrow::compute::{and, filter_record_batch, not, or};
use arrow::datatypes::{DataType, UInt32Type};
use parquet::arrow::ProjectionMask;

use crate::attr_columns::AttrColumns;
use crate::maintenance;
use crate::merge;
use crate::part::{Part, PartFacts};
use crate::rewrite::{level, rows};
use crate::sort::BATCH_ROWS;
use crate::state::Shared;
use tidewatch_store::{Deletion, StoreError};

impl Shared {
    /// Removes the rows that `which` selects. Returns their number.
    pub fn delete_matching(&self, which: &Deletion<'_>) -> Result<u64, StoreError> {
        self.flush_all()?;
        let mut deleted = 0;
        loop {
            // A merge may have replaced parts meanwhile.
            let parts = self.state.lock().parts[which.table as usize].clone();
            let mut is_done = true;
            for part in parts.iter().filter(|part| may_match(part, which)) {
                let done = match has_match(part, which) {
                    Ok(true) => self.delete_from(part, which),
                    Ok(false) => Ok(Some(0)),
                    Err(error) => Err(error),
                };
                match done {
                    Ok(Some(rows)) => deleted += rows,
                    Ok(None) => is_done = false,
                    Err(error) => {
                        maintenance::suspect(std::slice::from_ref(part), &error);
                        return Err(error);
                    }
                }
            }
            if is_done {
                return Ok(deleted);
            }
        }
    }

    /// Rewrites the part without the selected rows. `None`: the part was replaced meanwhile.
    fn delete_from(&self, part: &Arc<Part>, which: &Deletion<'_>) -> Result<Option<u64>, StoreError> {
        // No merge may replace the part meanwhile: its rows would be stored twice.
        let _maintenance = self.maintenance.lock();
        let facts = &part.facts;
        if !self.state.lock().parts[facts.table as usize].iter().any(|now| now.facts.id == facts.id) {
            return Ok(None);
        }
        let columns = part.attr_columns()?;
        let keys = AttrColumns::merged(std::slice::from_ref(&columns)).map(|(keys, _)| keys).unwrap_or_default();
        let (level, rows_max) = (level(part), facts.rows as usize);
        let mut writer =
            self.layout.create_part(facts.table, facts.day, level, Some(facts.first_id), keys, rows_max)?;
        let mut kept = 0;
        for batch in rows(part, &columns)? {
            let batch = batch?;
            let remaining = not(&selected(&batch, which)?).map_err(StoreError::internal("choose rows"))?;
            let batch = filter_record_batch(&batch, &remaining).map_err(StoreError::internal("choose rows"))?;
            if batch.num_rows() > 0 {
                kept += batch.num_rows() as u64;
                writer.write(&batch)?;
            }
        }
        let mut written = Vec::new();
        if kept > 0 {
            let (received_min, received_max) = (facts.received_min, facts.received_max);
            written.push(PartFacts { received_min, received_max, ..writer.finish()? });
        }
        let is_replaced = self.replace_parts(facts.table, &[facts.id], written)?;
        Ok(is_replaced.then_some(facts.rows - kept))
    }
}

fn may_match(part: &Part, which: &Deletion<'_>) -> bool {
    (part.facts.project_min..=part.facts.project_max).contains(&which.project)
}

/// Whether any row of the part is selected. Reads only the columns that decide.
fn has_match(part: &Part, which: &Deletion<'_>) -> Result<bool, StoreError> {
    let names = which.any.iter().map(|(column, _)| *column).chain(["project"]);
    let mask = ProjectionMask::columns(part.metadata()?.parquet_schema(), names);
    for batch in merge::open(part, mask, BATCH_ROWS)? {
        if selected(&batch.map_err(|e| part.damaged(&e))?, which)?.true_count() > 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

fn selected(batch: &RecordBatch, which: &Deletion<'_>) -> Result<BooleanArray, StoreError> {
    let column = |name: &str| batch.column_by_name(name).expect("the columns are the table's");
    let projects: &UInt32Array = column("project").as_primitive::<UInt32Type>();
    let of_project: BooleanArray = projects.values().iter().map(|project| Some(*project == which.project)).collect();
    let none: BooleanArray = std::iter::repeat_n(Some(false), batch.num_rows()).collect();
    let any = which.any.iter().try_fold(none, |any, (name, values)| or(&any, &is_in(column(name), values)));
    and(&of_project, &any.map_err(StoreError::internal("choose rows"))?).map_err(StoreError::internal("choose rows"))
}

/// By row, whether the cell, an id or a string, is one of `values`.
fn is_in(cells: &ArrayRef, values: &BTreeSet<Vec<u8>>) -> BooleanArray {
    let has = |cell: Option<&[u8]>| Some(cell.is_some_and(|cell| values.contains(cell)));
    match cells.data_type() {
        DataType::FixedSizeBinary(_) => cells.as_fixed_size_binary().iter().map(has).collect(),
        _ => cells.as_string::<i32>().iter().map(|text| has(text.map(str::as_bytes))).collect(),
    }
}
