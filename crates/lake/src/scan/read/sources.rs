//! The work items of one query: row groups of parts and slices of memory that may match.

use std::sync::Arc;
use std::time::Instant;

use arrow::array::{RecordBatch, UInt64Array};
use arrow::buffer::BooleanBuffer;
use arrow::compute::take_record_batch;

use super::part_reader::ReadOptions;
use crate::batch::projection::Projection;
use crate::part::footers::Rollup;
use crate::scan::filter::passes_all;
use crate::scan::from_rollups::RollupPlan;
use crate::scan::open_part::OpenPart;
use crate::scan::plan_check::CheckedPlan;
use crate::scan::pool::{check_deadline, for_each_parallel_io, threads};
use crate::scan::prune::{RowGroupSlice, pieces, row_group_slices};
use crate::scan::source::Source;
use tidewatch_columnar::materialize;
use tidewatch_store::StoreError;
use tidewatch_store::query_memory::Budget;
use tidewatch_store::rollup::levels::{Cover, Span, cover};

/// Rows of one work item of memory.
const SLICE_ROWS: usize = 8192;

/// Work items per thread, where there are enough rows. With one each, all threads would wait for the slowest.
const PIECES_PER_THREAD: usize = 4;

/// A work item, for one thread.
pub(crate) enum Work {
    Memory {
        source: usize,
        batch: RecordBatch,
        /// Number of the batch's first row in its source.
        first: usize,
    },
    Part {
        source: usize,
        slice: RowGroupSlice,
    },
    /// Cells of a part's roll-up.
    Cells {
        source: usize,
        rollup: Arc<Rollup>,
        cover: Cover,
    },
}

/// The sources of a query, with the footers of the parts that may match.
pub(crate) struct OpenSources<'a> {
    sources: &'a [Source],
    parts: Vec<Option<OpenPart>>,
}

impl<'a> OpenSources<'a> {
    /// Opens the parts that may match. [`StoreError::Deadline`] soon after `deadline`, however many parts there are.
    pub fn open(sources: &'a [Source], plan: &CheckedPlan, deadline: Instant) -> Result<OpenSources<'a>, StoreError> {
        let candidates: Vec<usize> = (0..sources.len())
            .filter(|&source| match &sources[source] {
                Source::Memory(_) => false,
                Source::Part(part) => !part.misses(&plan.projects, plan.from, plan.to),
            })
            .collect();
        let opened = for_each_parallel_io(&candidates, Vec::new, |opened, &source| {
            check_deadline(deadline)?;
            if let Source::Part(part) = &sources[source] {
                opened.push((source, OpenPart::open(part, plan)?));
            }
            Ok(())
        })?;
        let mut parts: Vec<Option<OpenPart>> = sources.iter().map(|_| None).collect();
        for (source, part) in opened.into_iter().flatten() {
            parts[source] = part;
        }
        Ok(OpenSources { sources, parts })
    }

    pub fn part(&self, source: usize) -> Option<&OpenPart> {
        self.parts[source].as_ref()
    }

    /// Rows in memory and in the parts that may match.
    pub fn rows(&self) -> u64 {
        let memory = self.sources.iter().map(|source| match source {
            Source::Memory(batch) => batch.num_rows() as u64,
            Source::Part(_) => 0,
        });
        let parts = self.parts.iter().flatten().map(|open| open.part.facts.rows);
        memory.sum::<u64>() + parts.sum::<u64>()
    }

    /// The work items of the plan; cells instead of rows where `rollup_plan` allows it.
    pub fn work(
        &self,
        plan: &CheckedPlan,
        rollup_plan: Option<&RollupPlan>,
        deadline: Instant,
    ) -> Result<Vec<Work>, StoreError> {
        let mut all = Vec::new();
        for (source, what) in self.sources.iter().enumerate() {
            if let Source::Memory(batch) = what {
                for first in (0..batch.num_rows()).step_by(SLICE_ROWS) {
                    let batch = batch.slice(first, SLICE_ROWS.min(batch.num_rows() - first));
                    all.push(Work::Memory { source, batch, first });
                }
            }
        }
        let open: Vec<usize> = (0..self.parts.len()).filter(|&source| self.parts[source].is_some()).collect();
        let found = for_each_parallel_io(&open, Vec::new, |found, &source| {
            check_deadline(deadline)?;
            if let Some(part) = self.part(source) {
                found.push((source, work_of(part, source, plan, rollup_plan)?));
            }
            Ok(())
        })?;
        let mut found: Vec<(usize, Vec<Work>)> = found.into_iter().flatten().collect();
        found.sort_by_key(|(source, _)| *source);
        all.extend(found.into_iter().flat_map(|(_, work)| work));
        Ok(all)
    }

    /// Divides the work into more items when there are few. Groups do not use it: each of their items reads all
    /// dictionaries of its row group.
    pub fn pieces(&self, work: Vec<Work>) -> Vec<Work> {
        let count = (threads() * PIECES_PER_THREAD).div_ceil(work.len().max(1));
        let pieces_of = |work: Work| match work {
            Work::Part { source, slice } => {
                let pieces = self.part(source).map(|part| pieces(part, slice, count)).unwrap_or_default();
                pieces.into_iter().map(|slice| Work::Part { source, slice }).collect()
            }
            Work::Memory { .. } | Work::Cells { .. } => vec![work],
        };
        work.into_iter().flat_map(pieces_of).collect()
    }

    /// Reads columns of some rows of a source. `rows` is ascending.
    pub fn fetch(
        &self,
        source: usize,
        rows: &[usize],
        columns: &[&'static str],
        (budget, deadline): (&Budget<'_>, Instant),
        mut each: impl FnMut(RecordBatch) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        match &self.sources[source] {
            Source::Memory(batch) => {
                let internal = StoreError::internal("take rows");
                let index = |name: &&str| batch.schema().index_of(name);
                let indices: Result<Vec<usize>, _> = columns.iter().map(index).collect();
                let narrow = indices.and_then(|indices| batch.project(&indices));
                let rows: UInt64Array = rows.iter().map(|row| *row as u64).collect();
                let taken = narrow.and_then(|narrow| take_record_batch(&narrow, &rows)).map_err(internal)?;
                each(materialize::plain(&taken))
            }
            Source::Part(_) => match self.part(source) {
                Some(part) => {
                    let projection = Projection::of_columns(columns.iter().copied());
                    part.fetch(
                        rows,
                        &ReadOptions { projection: &projection, row_numbers: false, budget, deadline },
                        each,
                    )
                }
                None => Ok(()),
            },
        }
    }
}

/// The work items of a part.
fn work_of(
    open: &OpenPart,
    source: usize,
    plan: &CheckedPlan,
    rollup_plan: Option<&RollupPlan>,
) -> Result<Vec<Work>, StoreError> {
    let rows = |plan: &CheckedPlan| -> Result<Vec<Work>, StoreError> {
        Ok(row_group_slices(open, plan)?.into_iter().map(|slice| Work::Part { source, slice }).collect())
    };
    let Some(rollup_plan) = rollup_plan else { return rows(plan) };
    let Some(rollup) = open.part.rollup()? else { return rows(plan) };
    let span = Span { from: plan.from, to: plan.to, bucket: rollup_plan.bucket };
    let facts = &open.part.facts;
    let cover = cover(&span, |level| rollup.directory.has(level), facts.time_min, facts.time_max);
    if cover.cells.is_empty() {
        return rows(plan);
    }
    let mut work = match cover.rest.is_empty() {
        true => Vec::new(),
        false => rows(&plan.within(&cover.rest))?,
    };
    work.push(Work::Cells { source, rollup, cover });
    Ok(work)
}

impl CheckedPlan {
    /// The rows that pass every test, for a batch with all columns of the table.
    pub fn passes(&self, batch: &RecordBatch) -> Result<BooleanBuffer, StoreError> {
        passes_all(self.tests.iter().map(AsRef::as_ref), batch)
    }
}
