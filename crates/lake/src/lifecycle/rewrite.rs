//! Rewrites parts with some columns changed.
//!
//! Column values may be computed again (stack traces, once their symbols are there). The set of rows, their times and
//! their identities never change. Unchanged rows are copied in order, changed rows are sorted into parts of their own,
//! and a part and its replacements are swapped in one catalog transaction, like those of a merge. Memory is bounded: of
//! a part only changed rows are in memory, up to a limit.

use std::sync::Arc;
use std::time::Instant;

use arrow::array::RecordBatch;
use arrow::compute::{filter_record_batch, not};
use parquet::arrow::ProjectionMask;

use crate::attr_columns::AttrColumns;
use crate::lifecycle::maintenance;
use crate::lifecycle::state::Shared;
use crate::merge;
use crate::part::added_columns;
use crate::part::{Part, PartFacts};
use crate::sort::{self, BATCH_ROWS};
use tidewatch_store::tables::Table;
use tidewatch_store::{Change, Changed, Rewrite, StoreError};

/// Maximum size of changed rows in memory before they are written.
const HELD_BYTES_MAX: usize = 32 * 1024 * 1024;

impl Shared {
    /// Flushes rows in memory, rewrites the parts that `which` selects, and returns the number of parts rewritten.
    /// `stop` is called after every few thousand rows; parts that are complete then stay rewritten.
    pub fn rewrite(
        &self,
        which: Rewrite,
        stop: &dyn Fn() -> bool,
        change: &mut Change<'_>,
    ) -> Result<usize, StoreError> {
        self.flush_all()?;
        let parts = self.state.lock().parts[which.table as usize].clone();
        let mut rewritten = 0;
        let now = Instant::now();
        for part in parts.iter().filter(|part| is_selected(part, which) && !part.is_left_out(now)) {
            // No merge may replace the part meanwhile: its rows would be stored twice.
            let _maintenance = self.maintenance.lock();
            let still_listed =
                self.state.lock().parts[which.table as usize].iter().any(|now| now.facts.id == part.facts.id);
            if stop() {
                break;
            }
            if still_listed {
                let done = self.rewrite_part(part, stop, change);
                if let Err(error) = &done {
                    maintenance::suspect(std::slice::from_ref(part), error);
                }
                rewritten += usize::from(done?);
            }
        }
        Ok(rewritten)
    }

    /// Returns whether any row changed.
    fn rewrite_part(
        &self,
        part: &Arc<Part>,
        stop: &dyn Fn() -> bool,
        change: &mut Change<'_>,
    ) -> Result<bool, StoreError> {
        let mut written = Vec::new();
        let done = self.rewrite_rows(part, stop, change, &mut written);
        if !matches!(done, Ok(true)) {
            self.layout.discard(&written);
            return done;
        }
        for facts in &mut written {
            (facts.received_min, facts.received_max) = (part.facts.received_min, part.facts.received_max);
        }
        // False when retention has removed the part meanwhile.
        self.replace_parts(&[part.facts.id], written)
    }

    /// Writes all rows of the part to new parts; false when no row changes, or `stop` returned true.
    fn rewrite_rows(
        &self,
        part: &Part,
        stop: &dyn Fn() -> bool,
        change: &mut Change<'_>,
        written: &mut Vec<PartFacts>,
    ) -> Result<bool, StoreError> {
        let columns = part.attr_columns()?;
        let (mut masks, mut held, mut held_bytes) = (Vec::new(), Vec::new(), 0);
        for batch in rows(part, &columns)? {
            if stop() {
                return Ok(false);
            }
            let found = change(&batch?)?;
            masks.push(found.map(|Changed { rows, to }| {
                held_bytes += to.get_array_memory_size();
                held.push(to);
                rows
            }));
            if held_bytes >= HELD_BYTES_MAX {
                self.write_changed(part, &held, written)?;
                held.clear();
                held_bytes = 0;
            }
        }
        if masks.iter().all(Option::is_none) {
            return Ok(false);
        }
        self.write_changed(part, &held, written)?;
        // Reads the same batches again without the changed rows, which leaves them in order.
        let keys = AttrColumns::merged(std::slice::from_ref(&columns)).map(|(keys, _)| keys).unwrap_or_default();
        let PartFacts { table, day, first_id, .. } = part.facts;
        let mut writer =
            self.layout.create_part(table, day, level(part), Some(first_id), keys, part.facts.rows as usize)?;
        let mut kept = 0;
        for (batch, mask) in rows(part, &columns)?.zip(masks) {
            if stop() {
                return Ok(false);
            }
            let batch = match mask {
                Some(changed) => {
                    let remaining = not(&changed).map_err(StoreError::internal("choose rows"))?;
                    filter_record_batch(&batch?, &remaining).map_err(StoreError::internal("choose rows"))?
                }
                None => batch?,
            };
            kept += batch.num_rows();
            writer.write(&batch)?;
        }
        if kept > 0 {
            written.push(writer.finish()?);
        }
        Ok(true)
    }

    /// Sorts rows that have changed into a part of their own.
    fn write_changed(
        &self,
        part: &Part,
        batches: &[RecordBatch],
        written: &mut Vec<PartFacts>,
    ) -> Result<(), StoreError> {
        let PartFacts { table, day, first_id, .. } = part.facts;
        let mut places: Vec<(usize, usize)> = batches
            .iter()
            .enumerate()
            .flat_map(|(number, batch)| (0..batch.num_rows()).map(move |row| (number, row)))
            .collect();
        if places.is_empty() {
            return Ok(());
        }
        sort::sort_places(table, batches, &mut [&mut places]);
        let mut writer = self.layout.create_part(table, day, level(part), Some(first_id), Vec::new(), places.len())?;
        sort::gather(batches, &places, |batch| writer.write(batch))?;
        written.push(writer.finish()?);
        Ok(())
    }
}

/// The level of a rewritten part: at least 1, because parts of level 0 are written from the memory layout of rows.
pub(crate) fn level(part: &Part) -> u8 {
    part.facts.level.max(1)
}

/// All rows of a part, with every column of its table.
pub(crate) fn rows<'p>(
    part: &'p Part,
    columns: &'p AttrColumns,
) -> Result<impl Iterator<Item = Result<RecordBatch, StoreError>> + 'p, StoreError> {
    // A row with a recording may be as large as thousands of others.
    let batch_rows = if part.facts.table == Table::SessionSegments { merge::batch_rows(part)? } else { BATCH_ROWS };
    let batches = merge::open(part, ProjectionMask::all(), batch_rows)?;
    Ok(batches.map(move |batch| {
        let batch = columns.fold(&batch.map_err(|e| part.damaged(&e))?)?;
        added_columns::with_all_columns(part.facts.table, batch)
    }))
}

fn is_selected(part: &Part, which: Rewrite) -> bool {
    let facts = &part.facts;
    (facts.project_min..=facts.project_max).contains(&which.project) && facts.time_max >= which.since_ns
}
