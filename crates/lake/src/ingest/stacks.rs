//! The stacks of profiles that are stored already: each is stored about once per project and day.
//!
//! A stack that is not known here is stored again, and merges remove the copy. The set is empty at the start and after
//! stacks were removed, so that a known stack is always in memory or in a part.

use std::collections::HashSet;

use tidewatch_store::columns::Rows;
use tidewatch_store::days::day_of;
use tidewatch_store::tables::Table;
use xxhash_rust::xxh3::Xxh3Builder;

/// Maximum number of known stacks. Beyond it all are forgotten.
const KNOWN_MAX: usize = 1 << 20;

/// Stacks by project, day and hash.
#[derive(Default)]
pub struct KnownStacks(HashSet<(u32, i32, u64), Xxh3Builder>);

impl KnownStacks {
    /// Removes the rows of stacks that are stored, and adds the others. `is_duplicate`: whether a record has no rows.
    pub fn drop_known(&mut self, rows: &mut Rows, is_duplicate: impl Fn(usize) -> bool) {
        let project = rows.project;
        for table in rows.tables.iter_mut().filter(|table| table.buffer.table() == Table::ProfileStacks) {
            let (Some(times), Some(stacks)) = (table.buffer.i64("time"), table.buffer.u64("stack")) else { continue };
            if self.0.len() + stacks.len() > KNOWN_MAX {
                self.0.clear();
            }
            let all = times.iter().zip(stacks).zip(&table.records);
            let keep: Vec<bool> = all
                .map(|((time, stack), record)| {
                    !is_duplicate(*record as usize) && self.0.insert((project, day_of(*time), *stack))
                })
                .collect();
            table.keep(&keep);
        }
    }

    /// Forgets all stacks, after some were removed from the store.
    pub fn forget(&mut self) {
        self.0.clear();
    }
}
