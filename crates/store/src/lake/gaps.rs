//! Rows that were stored and are no longer to be had: parts that an operator set aside, rows that could not be written.
//!
//! The catalog lists them until their day is kept no longer. A question whose rows may lie in one of them is answered from
//! the rest, and [`Lake::is_incomplete`](super::Lake::is_incomplete) says so: an answer is never short in silence.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::catalog::{Catalog, Opened};
use super::flush::part_path;
use super::lost::Lost;
use super::options::LakeOptions;
use super::part::PartFacts;
use crate::StoreError;
use crate::plan::Plan;
use crate::tables::Table;

/// What is missing. Bounds are inclusive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// That of the part, or one of its own.
    pub id: u64,
    pub table: Table,
    /// UTC day, days since 1970-01-01.
    pub day: i32,
    pub rows: u64,
    /// Of the rows, nanoseconds.
    pub time_min: i64,
    pub time_max: i64,
    pub project_min: u32,
    pub project_max: u32,
}

impl Gap {
    /// Of a part that is no longer listed.
    pub fn of(facts: &PartFacts) -> Gap {
        let PartFacts { id, table, day, rows, time_min, time_max, project_min, project_max, .. } = *facts;
        Gap { id, table, day, rows, time_min, time_max, project_min, project_max }
    }

    /// Whether rows of it may belong to the answer of a plan.
    pub fn touches(&self, plan: &Plan) -> bool {
        let in_time = self.time_min < plan.to && self.time_max >= plan.from;
        let of_projects = plan.projects.iter().any(|project| (self.project_min..=self.project_max).contains(project));
        self.table == plan.table && in_time && of_projects
    }
}

/// Takes the part at `path` out of the catalog, notes the gap in the same transaction, and moves the file to `lost/`;
/// where it lies now, `None` when the file was missing. No other process may have the lake open.
///
/// `path` is the part's file, in the data directory of `options`.
pub fn set_part_aside(options: &LakeOptions, path: &Path, today: i32) -> Result<Option<PathBuf>, StoreError> {
    let disk = Arc::clone(&options.disk);
    let lock_path = options.dir.join("lake.lock");
    let _lock = disk.lock(&lock_path).map_err(|e| StoreError::io("lock", &lock_path, e))?;
    let Opened { mut catalog, parts, .. } = Catalog::open(&options.catalog, false)?;
    let facts = parts.into_iter().find(|facts| part_path(&options.dir, facts) == path);
    let unknown = || StoreError::io("find in the catalog", path, io::ErrorKind::NotFound.into());
    let facts = facts.ok_or_else(unknown)?;
    catalog.set_aside(&Gap::of(&facts))?;
    if !disk.exists(path) {
        return Ok(None);
    }
    Lost::open(disk, &options.dir)?.set_aside(path, today).map(Some)
}
