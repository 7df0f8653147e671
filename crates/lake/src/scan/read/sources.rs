//! The work of one question: row groups of parts and slices of memory, none of which cannot answer.

use std::sync::Arc;
use std::time::Instant;

use arrow::array::{RecordBatch, UInt64Array};
use arrow::buffer::BooleanBuffer;
use arrow::compute::take_record_batch;

use super::part_reader::Want;
use crate::batch::projection::Projection;
use crate::part::footers::Rollup;
use crate::scan::filter::passes_all;
use crate::scan::from_rollups::Rolled;
use crate::scan::open_part::OpenPart;
use crate::scan::plan_check::Question;
use crate::scan::pool::{check_deadline, share_waits, threads};
use crate::scan::prune::{Stretch, pieces, stretches};
use crate::source::Source;
use tidewatch_columnar::materialize;
use tidewatch_store::StoreError;
use tidewatch_store::query_memory::Budget;
use tidewatch_store::rollup::levels::{Cover, Span, cover};

/// Rows of memory looked at in one go.
const SLICE_ROWS: usize = 8192;

/// Pieces of work for each thread, where there are rows enough: of one each, all would wait for the slowest.
const PIECES_PER_THREAD: usize = 4;

/// One piece, for one thread.
pub(crate) enum Work {
    Memory {
        source: usize,
        batch: RecordBatch,
        /// The batch's first row in its source.
        first: usize,
    },
    Part {
        source: usize,
        stretch: Stretch,
    },
    /// Cells of a part's roll-up.
    Cells {
        source: usize,
        rollup: Arc<Rollup>,
        cover: Cover,
    },
}

/// The sources of a question; the footer of every part that may answer is at hand, of the others there is none.
pub(crate) struct Opened<'a> {
    sources: &'a [Source],
    parts: Vec<Option<OpenPart>>,
}

impl<'a> Opened<'a> {
    /// [`StoreError::Deadline`] soon after `deadline`, however many parts there are.
    pub fn open(sources: &'a [Source], question: &Question, deadline: Instant) -> Result<Opened<'a>, StoreError> {
        let candidates: Vec<usize> = (0..sources.len())
            .filter(|&source| match &sources[source] {
                Source::Memory(_) => false,
                Source::Part(part) => !part.misses(&question.projects, question.from, question.to),
            })
            .collect();
        let opened = share_waits(&candidates, Vec::new, |opened, &source| {
            check_deadline(deadline)?;
            if let Source::Part(part) = &sources[source] {
                opened.push((source, OpenPart::open(part, question)?));
            }
            Ok(())
        })?;
        let mut parts: Vec<Option<OpenPart>> = sources.iter().map(|_| None).collect();
        for (source, part) in opened.into_iter().flatten() {
            parts[source] = part;
        }
        Ok(Opened { sources, parts })
    }

    pub fn part(&self, source: usize) -> Option<&OpenPart> {
        self.parts[source].as_ref()
    }

    /// Rows of everything that may have to be looked at.
    pub fn rows(&self) -> u64 {
        let memory = self.sources.iter().map(|source| match source {
            Source::Memory(batch) => batch.num_rows() as u64,
            Source::Part(_) => 0,
        });
        let parts = self.parts.iter().flatten().map(|open| open.part.facts.rows);
        memory.sum::<u64>() + parts.sum::<u64>()
    }

    /// What has to be looked at; cells instead of rows where `rolled` allows it.
    pub fn work(
        &self,
        question: &Question,
        rolled: Option<&Rolled>,
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
        let found = share_waits(&open, Vec::new, |found, &source| {
            check_deadline(deadline)?;
            if let Some(part) = self.part(source) {
                found.push((source, work_of(part, source, question, rolled)?));
            }
            Ok(())
        })?;
        let mut found: Vec<(usize, Vec<Work>)> = found.into_iter().flatten().collect();
        found.sort_by_key(|(source, _)| *source);
        all.extend(found.into_iter().flat_map(|(_, work)| work));
        Ok(all)
    }

    /// The same work in more pieces, when there are few. Not worth it where a piece reads all dictionaries of its row
    /// group, as groups do.
    pub fn pieces(&self, work: Vec<Work>) -> Vec<Work> {
        let count = (threads() * PIECES_PER_THREAD).div_ceil(work.len().max(1));
        let pieces_of = |work: Work| match work {
            Work::Part { source, stretch } => {
                let pieces = self.part(source).map(|part| pieces(part, stretch, count)).unwrap_or_default();
                pieces.into_iter().map(|stretch| Work::Part { source, stretch }).collect()
            }
            Work::Memory { .. } | Work::Cells { .. } => vec![work],
        };
        work.into_iter().flat_map(pieces_of).collect()
    }

    /// Columns of some rows of a source, rows ascending.
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
                    let needs = Projection::of_columns(columns.iter().copied());
                    part.fetch(rows, &Want { needs: &needs, row_numbers: false, budget, deadline }, each)
                }
                None => Ok(()),
            },
        }
    }
}

/// What of a part has to be looked at.
fn work_of(
    open: &OpenPart,
    source: usize,
    question: &Question,
    rolled: Option<&Rolled>,
) -> Result<Vec<Work>, StoreError> {
    let rows = |question: &Question| -> Result<Vec<Work>, StoreError> {
        Ok(stretches(open, question)?.into_iter().map(|stretch| Work::Part { source, stretch }).collect())
    };
    let Some(rolled) = rolled else { return rows(question) };
    let Some(rollup) = open.part.rollup()? else { return rows(question) };
    let span = Span { from: question.from, to: question.to, bucket: rolled.bucket };
    let facts = &open.part.facts;
    let cover = cover(&span, |level| rollup.directory.has(level), facts.time_min, facts.time_max);
    if cover.cells.is_empty() {
        return rows(question);
    }
    let mut work = match cover.rest.is_empty() {
        true => Vec::new(),
        false => rows(&question.within(&cover.rest))?,
    };
    work.push(Work::Cells { source, rollup, cover });
    Ok(work)
}

impl Question {
    /// Rows of a batch of the whole table that pass every test.
    pub fn passes(&self, batch: &RecordBatch) -> Result<BooleanBuffer, StoreError> {
        passes_all(self.tests.iter().map(AsRef::as_ref), batch)
    }
}
