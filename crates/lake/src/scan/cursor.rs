//! Reading every row that passes a plan, piece by piece, from one snapshot of the sources.
//!
//! A cursor holds its sources, so that their rows stay readable while flushes, merges and retention replace them: every
//! row of the snapshot is read exactly once. Between two pieces the cursor holds no decoded rows. Rows in memory come
//! first and are released as they are read; a part that was replaced meanwhile stays on the disk until it is read.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use arrow::array::{BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;
use arrow::datatypes::SchemaRef;
use parquet::arrow::arrow_reader::RowSelection;

use super::open_part::{BATCH_ROWS, OpenPart};
use super::plan_check::Question;
use super::pool::check_deadline;
use super::prune::{Stretch, stretches};
use super::read::part_reader::Want;
use super::rows::{answer_schema, in_order};
use crate::batch::projection::Projection;
use crate::part::Part;
use crate::source::Source;
use tidewatch_columnar::materialize;
use tidewatch_store::plan::{Plan, Shape};
use tidewatch_store::query_memory::{Budget, RequestMemory};
use tidewatch_store::{Cursor, StoreError};

/// Decoded bytes of a piece: the number of rows of the next piece follows them.
const PIECE_BYTES: usize = 16 << 20;
const PIECE_ROWS_FIRST: usize = 1024;
const PIECE_ROWS_MAX: usize = 8 * BATCH_ROWS;

/// The rows of one plan that are still to be read.
pub struct RowCursor {
    question: Question,
    needs: Projection,
    schema: SchemaRef,
    memory: VecDeque<RecordBatch>,
    /// The first row of the first of `memory` that was not read.
    memory_row: usize,
    parts: VecDeque<Arc<Part>>,
    /// The part that is being read.
    open: Option<Reading>,
    piece_rows: usize,
}

/// A part, the row groups that are left, and the first row of the first of them that was not read.
struct Reading {
    part: OpenPart,
    groups: VecDeque<Stretch>,
    row: usize,
}

/// What was decoded, and how many rows it was found among.
struct Piece {
    batches: Vec<RecordBatch>,
    rows: usize,
}

impl Cursor for RowCursor {
    fn read(
        &mut self,
        memory: &RequestMemory,
        deadline: Instant,
        each: &mut dyn FnMut(&RecordBatch) -> Result<(), StoreError>,
    ) -> Result<bool, StoreError> {
        check_deadline(deadline)?;
        let budget = Budget::new(memory, deadline);
        if self.question.is_void() || !self.has_next()? {
            return Ok(false);
        }
        let mut share = budget.share();
        let (piece, bytes) = loop {
            let mut bytes = 0;
            let mut hold = |batch: &RecordBatch| {
                bytes += batch.get_array_memory_size();
                share.holds(bytes)
            };
            let piece = match self.open.as_ref() {
                Some(reading) => self.piece_of(reading, &budget, deadline, &mut hold),
                None => self.piece_of_memory(&mut hold),
            };
            match piece {
                // Fewer rows need less.
                Err(StoreError::Budget(_)) if self.piece_rows > 1 => {
                    self.piece_rows = (self.piece_rows / 8).max(1);
                    share.holds(0)?;
                }
                piece => break (piece.inspect_err(|error| self.suspect(error))?, bytes),
            }
        };
        piece.batches.iter().try_for_each(each)?;
        self.advance(piece.rows);
        if bytes > PIECE_BYTES {
            self.piece_rows = (self.piece_rows / 2).max(1);
        } else if bytes < PIECE_BYTES / 2 {
            self.piece_rows = (self.piece_rows * 2).min(PIECE_ROWS_MAX);
        }
        Ok(true)
    }
}

impl RowCursor {
    /// `plan` is one of rows, without an order, a limit or an offset; else [`StoreError::BadPlan`].
    pub fn new(plan: &Plan, sources: Vec<Source>) -> Result<RowCursor, StoreError> {
        let question = Question::check(plan)?;
        let columns = match &plan.shape {
            Shape::Rows { columns, order, limit: usize::MAX, offset: 0 } if order.is_empty() => columns,
            _ => return Err(StoreError::BadPlan("a cursor reads rows in no order, all of them".to_owned())),
        };
        let (mut memory, mut parts) = (VecDeque::new(), VecDeque::new());
        for source in sources {
            match source {
                Source::Memory(batch) => memory.push_back(batch),
                Source::Part(part) if part.misses(&question.projects, question.from, question.to) => {}
                Source::Part(part) => parts.push_back(part),
            }
        }
        Ok(RowCursor {
            needs: Projection::of_columns(columns.iter().copied()),
            schema: answer_schema(plan.table, columns),
            question,
            memory,
            memory_row: 0,
            parts,
            open: None,
            piece_rows: PIECE_ROWS_FIRST,
        })
    }

    /// Of the batches that are read: the columns of the plan, with the table's types.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Opens parts until one has rows that may pass.
    fn has_next(&mut self) -> Result<bool, StoreError> {
        while self.memory.front().is_some_and(|batch| batch.num_rows() == 0) {
            self.memory.pop_front();
        }
        if !self.memory.is_empty() || self.open.is_some() {
            return Ok(true);
        }
        while let Some(part) = self.parts.front() {
            let opened = OpenPart::open(part, &self.question);
            let opened = opened.and_then(|part| match part {
                Some(part) => stretches(&part, &self.question).map(|groups| Some((part, groups))),
                None => Ok(None),
            });
            let opened = opened.inspect_err(|error| self.suspect(error))?;
            if let Some((part, groups)) = opened.filter(|(_, groups)| !groups.is_empty()) {
                self.open = Some(Reading { part, groups: groups.into(), row: 0 });
                return Ok(true);
            }
            self.parts.pop_front();
        }
        Ok(false)
    }

    fn piece_of_memory(
        &self,
        hold: &mut dyn FnMut(&RecordBatch) -> Result<(), StoreError>,
    ) -> Result<Piece, StoreError> {
        let batch = self.memory.front().expect("there is a piece to read");
        let rows = self.piece_rows.min(batch.num_rows() - self.memory_row);
        let batch = batch.slice(self.memory_row, rows);
        let passes = BooleanArray::new(self.question.passes(&batch)?, None);
        let batch = filter_record_batch(&batch, &passes).map_err(StoreError::internal("choose rows"))?;
        let batch = in_order(&materialize::plain(&batch), &self.schema)?;
        hold(&batch)?;
        Ok(Piece { batches: vec![batch], rows })
    }

    fn piece_of(
        &self,
        reading: &Reading,
        budget: &Budget<'_>,
        deadline: Instant,
        hold: &mut dyn FnMut(&RecordBatch) -> Result<(), StoreError>,
    ) -> Result<Piece, StoreError> {
        let Reading { part, groups, row } = reading;
        let group = groups.front().expect("there is a piece to read");
        let count = part.metadata().row_group(group.row_group).num_rows() as usize;
        let rows = self.piece_rows.min(count - row);
        let here = RowSelection::from_consecutive_ranges(std::iter::once(*row..row + rows), count);
        let here = group.rows.as_ref().map_or(here.clone(), |rows| rows.intersection(&here));
        let mut batches = Vec::new();
        if here.selects_any() {
            let stretch = Stretch { rows: Some(here), ..group.clone() };
            let want = Want { needs: &self.needs, row_numbers: false, budget, deadline };
            part.read(&stretch, None, &want, |batch| {
                let batch = in_order(&materialize::plain(&batch), &self.schema)?;
                hold(&batch)?;
                batches.push(batch);
                Ok(())
            })?;
        }
        Ok(Piece { batches, rows })
    }

    /// The next piece begins `rows` rows later.
    fn advance(&mut self, rows: usize) {
        let Some(reading) = &mut self.open else {
            self.memory_row += rows;
            if self.memory.front().is_some_and(|batch| self.memory_row >= batch.num_rows()) {
                self.memory.pop_front();
                self.memory_row = 0;
            }
            return;
        };
        reading.row += rows;
        let group = reading.groups.front().expect("a piece of it was read");
        if reading.row >= reading.part.metadata().row_group(group.row_group).num_rows() as usize {
            reading.groups.pop_front();
            reading.row = 0;
        }
        if reading.groups.is_empty() {
            self.open = None;
            self.parts.pop_front();
        }
    }

    /// Marks the part that could not be read.
    fn suspect(&self, error: &StoreError) {
        if let Some(part) = self.parts.front()
            && error.faulty_file() == Some(part.path())
        {
            part.suspect(error);
        }
    }
}
