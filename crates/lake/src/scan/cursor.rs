//! Reads every row that passes a plan, piece by piece, from one snapshot of the sources.
//!
//! A cursor holds its sources, so that their rows stay readable while flushes, merges and retention replace them: every
//! row of the snapshot is read exactly once. Between two pieces the cursor holds no decoded rows. Rows in memory are
//! read first and released as they are read. A part that is replaced meanwhile stays on disk until it is read.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use arrow::array::{BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;
use arrow::datatypes::SchemaRef;
use parquet::arrow::arrow_reader::RowSelection;

use super::open_part::{BATCH_ROWS, OpenPart};
use super::plan_check::CheckedPlan;
use super::pool::check_deadline;
use super::prune::{RowGroupSlice, row_group_slices};
use super::read::part_reader::ReadOptions;
use super::rows::{answer_schema, in_order};
use crate::batch::projection::Projection;
use crate::part::Part;
use crate::scan::source::Source;
use tidewatch_columnar::materialize;
use tidewatch_store::plan::{Plan, Shape};
use tidewatch_store::query_memory::{Budget, RequestMemory};
use tidewatch_store::{Cursor, StoreError};

/// Target for the decoded bytes of a piece: the number of rows per piece adapts to it.
const PIECE_BYTES: usize = 16 << 20;
const PIECE_ROWS_FIRST: usize = 1024;
const PIECE_ROWS_MAX: usize = 8 * BATCH_ROWS;

/// The rows of one plan that are still to be read.
pub struct RowCursor {
    plan: CheckedPlan,
    projection: Projection,
    schema: SchemaRef,
    memory: VecDeque<RecordBatch>,
    /// The first unread row of the first batch in `memory`.
    memory_row: usize,
    parts: VecDeque<Arc<Part>>,
    /// The part being read.
    open: Option<Reading>,
    piece_rows: usize,
}

/// A part being read, its remaining row groups, and the first unread row of the first of them.
struct Reading {
    part: OpenPart,
    groups: VecDeque<RowGroupSlice>,
    row: usize,
}

/// Decoded rows that pass, and the number of rows that were read to find them.
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
        if self.plan.matches_nothing() || !self.has_next()? {
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
                // A smaller piece needs less memory.
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
    /// Makes a cursor over `sources`. `plan` has the shape `Rows` without an order, a limit or an offset; any other is
    /// [`StoreError::BadPlan`].
    pub fn new(plan: &Plan, sources: Vec<Source>) -> Result<RowCursor, StoreError> {
        let checked = CheckedPlan::check(plan)?;
        let columns = match &plan.shape {
            Shape::Rows { columns, order, limit: usize::MAX, offset: 0 } if order.is_empty() => columns,
            _ => return Err(StoreError::BadPlan("a cursor reads rows in no order, all of them".to_owned())),
        };
        let (mut memory, mut parts) = (VecDeque::new(), VecDeque::new());
        for source in sources {
            match source {
                Source::Memory(batch) => memory.push_back(batch),
                Source::Part(part) if part.misses(&checked.projects, checked.from, checked.to) => {}
                Source::Part(part) => parts.push_back(part),
            }
        }
        Ok(RowCursor {
            projection: Projection::of_columns(columns.iter().copied()),
            schema: answer_schema(plan.table, columns),
            plan: checked,
            memory,
            memory_row: 0,
            parts,
            open: None,
            piece_rows: PIECE_ROWS_FIRST,
        })
    }

    /// The schema of the batches: the columns of the plan, with the table's types.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Opens parts until one has rows that may pass. False when nothing is left to read.
    fn has_next(&mut self) -> Result<bool, StoreError> {
        while self.memory.front().is_some_and(|batch| batch.num_rows() == 0) {
            self.memory.pop_front();
        }
        if !self.memory.is_empty() || self.open.is_some() {
            return Ok(true);
        }
        while let Some(part) = self.parts.front() {
            let opened = OpenPart::open(part, &self.plan);
            let opened = opened.and_then(|part| match part {
                Some(part) => row_group_slices(&part, &self.plan).map(|groups| Some((part, groups))),
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
        let passes = BooleanArray::new(self.plan.passes(&batch)?, None);
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
            let slice = RowGroupSlice { rows: Some(here), ..group.clone() };
            let options = ReadOptions { projection: &self.projection, row_numbers: false, budget, deadline };
            part.read(&slice, None, &options, |batch| {
                let batch = in_order(&materialize::plain(&batch), &self.schema)?;
                hold(&batch)?;
                batches.push(batch);
                Ok(())
            })?;
        }
        Ok(Piece { batches, rows })
    }

    /// Moves past the next `rows` rows.
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

    /// Marks the current part as suspect when the error names its file.
    fn suspect(&self, error: &StoreError) {
        if let Some(part) = self.parts.front()
            && error.faulty_file() == Some(part.path())
        {
            part.suspect(error);
        }
    }
}
