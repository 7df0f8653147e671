//! The shape `Rows`: the first rows in an order, wide columns read for those alone.
//!
//! First pass: the columns of the order, of every row that passes; each thread keeps its best. Row groups that promise
//! the best rows go first, and what the kept rows already beat is not opened. Second pass: the answer's columns of the
//! winners.

mod order;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering as AtomicOrdering};
use std::time::Instant;

use arrow::array::{RecordBatch, RecordBatchOptions, UInt32Array, new_empty_array};
use arrow::compute::{concat_batches, take_record_batch};
use arrow::datatypes::{Field, Schema, SchemaRef};
use parking_lot::Mutex;

use super::pool::{check_deadline, share};
use super::prune::chunk_bounds;
use crate::batch::cells::{Cells, cells};
use crate::batch::datum::Datum;
use crate::batch::projection::Projection;
use crate::scan::plan_check::{Question, Test};
pub(crate) use crate::scan::prune::stats::{Verdict, judge};
use crate::scan::read::part_reader::{ROW_NUMBER, Want};
use crate::scan::read::sources::{Opened, Work};
use crate::scan::rows::order::{By, Encoder, total_order};
use tidewatch_store::StoreError;
use tidewatch_store::plan::{Op, Order};
use tidewatch_store::query_memory::{Budget, Share};
use tidewatch_store::tables::Table;

/// What is asked.
pub(crate) struct Rows<'a> {
    pub columns: &'a [&'static str],
    pub order: &'a [Order],
    pub limit: usize,
    pub offset: usize,
}

/// A row worth keeping. Compares by order, then by place, so that equal rows come out alike every time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    key: Vec<u8>,
    source: u32,
    row: u32,
}

impl Candidate {
    fn bytes(&self) -> usize {
        self.key.len() + size_of::<Candidate>()
    }
}

/// The schema of the answer: the asked columns as the table has them.
pub(crate) fn answer_schema(table: Table, columns: &[&'static str]) -> SchemaRef {
    let field = |name: &&'static str| {
        let (_, column) = table.column(name).expect("the plan was checked");
        Field::new(column.name, column.kind.data_type(), column.nullable)
    };
    Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()))
}

/// `counted` becomes the number of rows that pass; then none is left out for being beaten.
pub(crate) fn run(
    question: &Question,
    rows: &Rows<'_>,
    opened: &Opened<'_>,
    counted: Option<&AtomicU64>,
    budget: &Budget<'_>,
    deadline: Instant,
) -> Result<RecordBatch, StoreError> {
    let schema = answer_schema(question.table, rows.columns);
    let kept = rows.limit.saturating_add(rows.offset);
    if rows.limit == 0 {
        return Ok(RecordBatch::new_empty(schema));
    }
    let order = total_order(question.table, rows.order)?;
    let mut work = opened.pieces(opened.work(question, None, deadline)?);
    best_first(&mut work, opened, order.first());
    let race = Race { question, order: &order, kept, bar: Mutex::new(None), counted, budget, deadline };
    let bests = share(&work, || Best::new(kept, budget.share()), |best, work| race.look_at(best, opened, work))?;
    let mut share_of_winners = budget.share();
    share_of_winners.holds(bests.iter().map(|best| best.bytes).sum())?;
    let mut winners: Vec<Candidate> = bests.into_iter().flat_map(|best| best.heap).collect();
    winners.sort_unstable();
    winners.truncate(kept);
    winners.drain(..rows.offset.min(winners.len()));
    fetch(&winners, rows.columns, schema, opened, budget, deadline)
}

/// Sorts the work so that what promises the best rows comes first.
fn best_first(work: &mut [Work], opened: &Opened<'_>, by: Option<&By>) {
    let Some(by) = by else { return };
    work.sort_by_cached_key(|work| {
        let bounds = match work {
            Work::Part { source, stretch } => {
                opened.part(*source).and_then(|part| chunk_bounds(part, stretch.row_group, by.column))
            }
            // Cheap to read and mostly recent.
            Work::Memory { .. } | Work::Cells { .. } => None,
        };
        let mut promise = Vec::new();
        if let Some(bounds) = bounds {
            promise.push(1);
            let best = if by.descending { bounds.max } else { bounds.min };
            best.encode(by.descending, &mut promise);
        }
        promise
    });
}

/// The best rows of one thread, worst on top.
struct Best<'a> {
    kept: usize,
    heap: BinaryHeap<Candidate>,
    bytes: usize,
    share: Share<'a>,
    key: Vec<u8>,
}

impl<'a> Best<'a> {
    fn new(kept: usize, share: Share<'a>) -> Best<'a> {
        Best { kept, heap: BinaryHeap::new(), bytes: 0, share, key: Vec::new() }
    }

    /// False when a row whose key begins as `key` does is not among the best.
    fn may_keep(&self) -> bool {
        let worst = self.heap.peek().filter(|_| self.heap.len() >= self.kept);
        worst.is_none_or(|worst| self.key.as_slice() <= &worst.key[..self.key.len().min(worst.key.len())])
    }

    fn offer(&mut self, source: u32, row: u32) {
        if self.heap.len() < self.kept {
            return self.keep(source, row);
        }
        let Some(worst) = self.heap.peek() else { return };
        let place = (self.key.as_slice(), source, row);
        if place < (worst.key.as_slice(), worst.source, worst.row) {
            self.bytes -= self.heap.pop().map_or(0, |worst| worst.bytes());
            self.keep(source, row);
        }
    }

    fn keep(&mut self, source: u32, row: u32) {
        let candidate = Candidate { key: self.key.clone(), source, row };
        self.bytes += candidate.bytes();
        self.heap.push(candidate);
    }
}

struct Race<'a> {
    question: &'a Question,
    order: &'a [By],
    kept: usize,
    /// Enough rows are known whose first order column is at least this good.
    bar: Mutex<Option<Datum>>,
    /// Rows that passed, when somebody wants to know.
    counted: Option<&'a AtomicU64>,
    budget: &'a Budget<'a>,
    deadline: Instant,
}

impl Race<'_> {
    fn look_at(&self, best: &mut Best<'_>, opened: &Opened<'_>, work: &Work) -> Result<(), StoreError> {
        match work {
            Work::Memory { source, batch, first } => {
                check_deadline(self.deadline)?;
                let mask = self.question.passes(batch)?;
                self.take(best, *source, batch, mask.set_indices().map(|row| (row, (first + row) as u32)))
            }
            Work::Part { source, stretch } => {
                let Some(part) = opened.part(*source) else { return Ok(()) };
                let clears = self.clears_bar();
                let beaten =
                    |test: &Test| judge(test, &|column| chunk_bounds(part, stretch.row_group, column)) == Verdict::None;
                if clears.as_deref().is_some_and(beaten) {
                    return Ok(());
                }
                let needs = Projection::of_columns(self.order.iter().map(|by| by.column.name));
                let want = Want { needs: &needs, row_numbers: true, budget: self.budget, deadline: self.deadline };
                part.read(stretch, clears.as_ref(), &want, |batch| {
                    let Cells::I64(numbers) = cells(&batch, ROW_NUMBER)? else { return Ok(()) };
                    let numbers = numbers.values().iter().enumerate();
                    self.take(best, *source, &batch, numbers.map(|(row, number)| (row, *number as u32)))
                })
            }
            // Rows are never asked of cells.
            Work::Cells { .. } => Ok(()),
        }
    }

    /// Offers rows of a batch: (row in the batch, row in the source).
    fn take(
        &self,
        best: &mut Best<'_>,
        source: usize,
        batch: &RecordBatch,
        rows: impl Iterator<Item = (usize, u32)>,
    ) -> Result<(), StoreError> {
        let encoder = Encoder::new(batch, self.order)?;
        let mut passed = 0;
        for (row, number) in rows {
            passed += 1;
            encoder.encode_first(row, &mut best.key);
            // Most rows lose by the first column already.
            if best.may_keep() {
                encoder.encode_rest(row, &mut best.key);
                best.offer(source as u32, number);
            }
        }
        if let Some(counted) = self.counted {
            counted.fetch_add(passed, AtomicOrdering::Relaxed);
        }
        if best.heap.len() >= self.kept
            && let (Some(worst), Some(by)) = (best.heap.peek(), self.order.first())
            && let Some(value) = by.first_number(&worst.key)
        {
            let mut bar = self.bar.lock();
            let better =
                |bar: &Datum| value.order(bar) == if by.descending { Ordering::Greater } else { Ordering::Less };
            if bar.as_ref().is_none_or(better) {
                *bar = Some(value);
            }
        }
        best.share.holds(best.bytes)
    }

    /// What a row must have to be among the first at all, by what is known so far.
    fn clears_bar(&self) -> Option<Arc<Test>> {
        let by = self.order.first().filter(|_| self.counted.is_none())?;
        let value = self.bar.lock().clone()?;
        let op = if by.descending { Op::Ge } else { Op::Le };
        // A null comes first in ascending order, and would fail the comparison.
        let decides = by.descending || !by.column.nullable;
        decides.then(|| Arc::new(Test::Compare { column: by.column, op, value }))
    }
}

/// Winners of one source: (row in the source, place in the answer), by row.
type Lot = (usize, Vec<(usize, usize)>);

/// The answer's columns of the winners, in their order.
fn fetch(
    winners: &[Candidate],
    columns: &[&'static str],
    schema: SchemaRef,
    opened: &Opened<'_>,
    budget: &Budget<'_>,
    deadline: Instant,
) -> Result<RecordBatch, StoreError> {
    let internal = StoreError::internal("put rows together");
    if columns.is_empty() || winners.is_empty() {
        let options = RecordBatchOptions::new().with_row_count(Some(winners.len()));
        let none = schema.fields().iter().map(|field| new_empty_array(field.data_type())).collect();
        return RecordBatch::try_new_with_options(schema, none, &options).map_err(internal);
    }
    let mut lots: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
    for (place, winner) in winners.iter().enumerate() {
        lots.entry(winner.source as usize).or_default().push((winner.row as usize, place));
    }
    let mut lots: Vec<Lot> = lots.into_iter().collect();
    lots.iter_mut().for_each(|(_, rows)| rows.sort_unstable());
    let make = || (Vec::new(), 0, budget.share());
    let read = share(&lots, make, |(pieces, bytes, share), (source, rows)| {
        let numbers: Vec<usize> = rows.iter().map(|(row, _)| *row).collect();
        let mut places = rows.iter().map(|(_, place)| *place);
        opened.fetch(*source, &numbers, columns, (budget, deadline), |batch| {
            *bytes += batch.get_array_memory_size();
            share.holds(*bytes)?;
            let here: Vec<usize> = places.by_ref().take(batch.num_rows()).collect();
            pieces.push((here, in_order(&batch, &schema)?));
            Ok(())
        })
    })?;
    let pieces: Vec<(Vec<usize>, RecordBatch)> = read.into_iter().flat_map(|(pieces, ..)| pieces).collect();
    let batches = pieces.iter().map(|(_, batch)| batch);
    let all = concat_batches(&schema, batches).map_err(StoreError::internal("put rows together"))?;
    let mut indices = vec![0_u32; winners.len()];
    for (index, place) in pieces.iter().flat_map(|(places, _)| places).enumerate() {
        indices[*place] = index as u32;
    }
    take_record_batch(&all, &UInt32Array::from(indices)).map_err(internal)
}

/// The columns of a part come in its own order.
pub(super) fn in_order(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, StoreError> {
    let column = |field: &Arc<Field>| match batch.column_by_name(field.name()) {
        Some(array) => Ok(Arc::clone(array)),
        None => Err(StoreError::Internal { what: "read rows", why: format!("column {} is missing", field.name()) }),
    };
    let columns = schema.fields().iter().map(column).collect::<Result<_, _>>()?;
    RecordBatch::try_new(Arc::clone(schema), columns).map_err(StoreError::internal("read rows"))
}
