//! Rows that come to mean something else: parts written again with some columns changed.
//!
//! What a row says may be worked out again (stack traces, once their symbols are there); which rows there are, when they
//! happened and what they are identified by never changes. Each part is swapped in one catalog transaction, as a merge's.

use std::sync::Arc;

use arrow::array::RecordBatch;

use super::part::Part;
use super::sort::BATCH_ROWS;
use super::state::Shared;
use super::{flush, merge};
use crate::StoreError;
use crate::tables::Table;

/// Which rows are looked at, and how many at most.
#[derive(Debug, Clone, Copy)]
pub struct Rewrite {
    pub table: Table,
    /// Its number; parts without its rows are left alone.
    pub project: u32,
    /// Parts that end earlier are left alone. Nanoseconds since the epoch.
    pub since_ns: i64,
    /// Parts with more rows are left alone: one is held in memory.
    pub part_rows_max: u64,
}

/// The batch with other values, or `None` when it stays. Rows come with every column of the table, those of other
/// projects among them.
pub type Change<'c> = dyn FnMut(&RecordBatch) -> Result<Option<RecordBatch>, StoreError> + 'c;

impl Shared {
    /// How many parts were written again. What is in memory is flushed first.
    pub fn rewrite(&self, which: Rewrite, change: &mut Change<'_>) -> Result<usize, StoreError> {
        self.flush_all()?;
        let parts = self.state.lock().parts[which.table as usize].clone();
        let mut rewritten = 0;
        for part in parts.iter().filter(|part| is_meant(part, which)) {
            // No merge may take the part meanwhile: its rows would come twice.
            let _upkeep = self.upkeep.lock();
            let is_there =
                self.state.lock().parts[which.table as usize].iter().any(|now| now.facts.id == part.facts.id);
            rewritten += usize::from(is_there && self.rewrite_part(part, change)?);
        }
        Ok(rewritten)
    }

    /// Whether anything changed.
    fn rewrite_part(&self, part: &Arc<Part>, change: &mut Change<'_>) -> Result<bool, StoreError> {
        let columns = part.attr_columns()?;
        let (mut batches, mut has_changed) = (Vec::new(), false);
        for batch in merge::open(part, parquet::arrow::ProjectionMask::all(), BATCH_ROWS)? {
            let batch = columns.fold(&batch.map_err(|e| part.damaged(&e))?)?;
            let changed = change(&batch)?;
            has_changed |= changed.is_some();
            batches.push(changed.unwrap_or(batch));
        }
        if !has_changed {
            return Ok(false);
        }
        let mut written = Vec::new();
        flush::write_table(&self.layout, part.facts.table, &batches, &mut written)?;
        for facts in &mut written {
            facts.first_id = part.facts.first_id;
            facts.level = part.facts.level;
            (facts.received_min, facts.received_max) = (part.facts.received_min, part.facts.received_max);
        }
        let ids = [part.facts.id];
        if !self.catalog.lock().replace_parts(&ids, &written)? {
            // Retention was faster.
            self.layout.discard(&written);
            return Ok(false);
        }
        self.swap(part.facts.table, &ids, written.into_iter().map(|facts| self.part(facts)));
        Ok(true)
    }
}

fn is_meant(part: &Part, which: Rewrite) -> bool {
    let facts = &part.facts;
    (facts.project_min..=facts.project_max).contains(&which.project)
        && facts.time_max >= which.since_ns
        && facts.rows <= which.part_rows_max
}
