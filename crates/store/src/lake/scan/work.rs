//! The work of one question: row groups of parts and slices of memory, none of which cannot answer.

use std::time::Instant;

use arrow::array::{RecordBatch, UInt64Array};
use arrow::buffer::BooleanBuffer;
use arrow::compute::take_record_batch;

use super::filter::passes_all;
use super::needs::Needs;
use super::part_reader::{OpenPart, Want};
use super::pool::share;
use super::prune::{Stretch, stretches};
use super::question::Question;
use crate::StoreError;
use crate::lake::source::Source;

/// Rows of memory looked at in one go.
const SLICE_ROWS: usize = 32_768;

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
}

/// The sources of a question; the footer of every part that may answer is at hand.
pub(crate) struct Opened<'a> {
    sources: &'a [Source],
    parts: Vec<Option<OpenPart>>,
}

impl<'a> Opened<'a> {
    pub fn open(sources: &'a [Source], question: &Question) -> Result<Opened<'a>, StoreError> {
        let candidates: Vec<usize> = (0..sources.len())
            .filter(|&source| match &sources[source] {
                Source::Memory(_) => false,
                Source::Part(part) => !part.misses(&question.projects, question.from, question.to),
            })
            .collect();
        let opened = share(&candidates, Vec::new, |opened, &source| {
            if let Source::Part(part) = &sources[source] {
                opened.push((source, OpenPart::open(part)?));
            }
            Ok(())
        })?;
        let mut parts: Vec<Option<OpenPart>> = sources.iter().map(|_| None).collect();
        for (source, part) in opened.into_iter().flatten() {
            parts[source] = Some(part);
        }
        Ok(Opened { sources, parts })
    }

    pub fn part(&self, source: usize) -> Option<&OpenPart> {
        self.parts[source].as_ref()
    }

    /// What has to be looked at.
    pub fn work(&self, question: &Question) -> Result<Vec<Work>, StoreError> {
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
        let found = share(&open, Vec::new, |found, &source| {
            if let Some(part) = self.part(source) {
                found.push((source, stretches(part, question)?));
            }
            Ok(())
        })?;
        let mut found: Vec<(usize, Vec<Stretch>)> = found.into_iter().flatten().collect();
        found.sort_by_key(|(source, _)| *source);
        for (source, stretches) in found {
            all.extend(stretches.into_iter().map(|stretch| Work::Part { source, stretch }));
        }
        Ok(all)
    }

    /// Columns of some rows of a source, rows ascending.
    pub fn fetch(
        &self,
        source: usize,
        rows: &[usize],
        columns: &[&'static str],
        deadline: Instant,
        mut each: impl FnMut(RecordBatch) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        match &self.sources[source] {
            Source::Memory(batch) => {
                let internal = StoreError::internal("take rows");
                let index = |name: &&str| batch.schema().index_of(name);
                let indices: Result<Vec<usize>, _> = columns.iter().map(index).collect();
                let narrow = indices.and_then(|indices| batch.project(&indices));
                let rows: UInt64Array = rows.iter().map(|row| *row as u64).collect();
                each(narrow.and_then(|narrow| take_record_batch(&narrow, &rows)).map_err(internal)?)
            }
            Source::Part(_) => match self.part(source) {
                Some(part) => {
                    let needs = Needs::of_columns(columns.iter().copied());
                    part.fetch(rows, &Want { needs: &needs, row_numbers: false, deadline }, each)
                }
                None => Ok(()),
            },
        }
    }
}

impl Question {
    /// Rows of a batch of the whole table that pass every test.
    pub fn passes(&self, batch: &RecordBatch) -> Result<BooleanBuffer, StoreError> {
        passes_all(self.tests.iter().map(AsRef::as_ref), batch)
    }
}
