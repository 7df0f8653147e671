//! Removes rows of a project by the values of columns, for users who want their data deleted.
//!
//! Rows in memory are flushed first, so that they are in parts and the journal is not replayed for them. All parts and
//! their replacements, of every table, are swapped in one catalog transaction: a crash leaves all rows or none.

use std::collections::BTreeSet;
use std::slice;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BooleanArray, RecordBatch, UInt32Array};
use arrow::compute::{and, filter_record_batch, not, or};
use arrow::datatypes::{DataType, UInt32Type};
use parquet::arrow::ProjectionMask;

use crate::attr_columns::AttrColumns;
use crate::lifecycle::maintenance;
use crate::lifecycle::rewrite::{level, rows};
use crate::lifecycle::state::Shared;
use crate::merge;
use crate::part::{Part, PartFacts};
use crate::sort::BATCH_ROWS;
use tidewatch_store::{Deletion, StoreError};

impl Shared {
    /// Removes the rows that any of `which` selects, all or none of them. Returns their number.
    pub fn delete_matching(&self, which: &[Deletion<'_>]) -> Result<u64, StoreError> {
        self.flush_all()?;
        loop {
            // No merge may replace a part meanwhile: its rows would be stored twice.
            let _maintenance = self.maintenance.lock();
            let (mut ids, mut written, mut deleted) = (Vec::new(), Vec::new(), 0);
            let each = which.iter().try_for_each(|which| {
                let parts = self.state.lock().parts[which.table as usize].clone();
                for part in parts.iter().filter(|part| may_match(part, which)) {
                    let rows = self.without(part, which, &mut written).inspect_err(|error| {
                        maintenance::suspect(slice::from_ref(part), error);
                    })?;
                    if let Some(rows) = rows {
                        ids.push(part.facts.id);
                        deleted += rows;
                    }
                }
                Ok(())
            });
            if let Err(error) = each {
                self.layout.discard(&written);
                return Err(error);
            }
            // Retention may have removed a part meanwhile.
            if ids.is_empty() || self.replace_parts(&ids, written)? {
                return Ok(deleted);
            }
        }
    }

    /// Writes the part without the selected rows, unless none is left. Returns the number of selected rows; `None`, with
    /// nothing written, when there is none.
    fn without(
        &self,
        part: &Arc<Part>,
        which: &Deletion<'_>,
        written: &mut Vec<PartFacts>,
    ) -> Result<Option<u64>, StoreError> {
        if !has_match(part, which)? {
            return Ok(None);
        }
        let facts = &part.facts;
        let columns = part.attr_columns()?;
        let keys = AttrColumns::merged(slice::from_ref(&columns)).map(|(keys, _)| keys).unwrap_or_default();
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
        if kept > 0 {
            let (received_min, received_max) = (facts.received_min, facts.received_max);
            written.push(PartFacts { received_min, received_max, ..writer.finish()? });
        }
        Ok(Some(facts.rows - kept))
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
