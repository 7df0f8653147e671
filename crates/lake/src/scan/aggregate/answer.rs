//! Builds the answer's columns from collected groups: order, offset, limit.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Float64Builder, ListBuilder, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{DataType, Field, Schema};

use super::collected::Collected;
use super::grouping::{Grouping, Output};
use crate::batch::datum::Datum;
use crate::batch::keys::{Groups, column_of};
use crate::scan::aggregators::finish::Cell;
use crate::scan::plan_check::OutputOrder;
use tidewatch_store::StoreError;

/// The groups as a batch, in the requested order, then by all keys ascending. Applies offset, then limit.
pub(super) fn batch(
    grouping: &Grouping,
    mut all: Collected<'_>,
    (offset, limit): (usize, usize),
) -> Result<RecordBatch, StoreError> {
    let count = all.groups.len();
    let mut held = all.holds_answer(grouping, count)?;
    let mut columns: Vec<Vec<Cell>> = Vec::new();
    for (measure, finish, _) in &grouping.aggregates {
        let state = &mut all.states[*measure];
        state.grow(count);
        columns.push(state.finish(finish, count));
    }
    let groups = &all.groups;
    let end = offset.saturating_add(limit);
    let mut order: Vec<usize>;
    if grouping.order.is_empty() && end >= count {
        order = groups.ascending();
    } else {
        let compare = |a: &usize, b: &usize| compare_groups(grouping, groups, &columns, *a, *b);
        order = (0..count).collect();
        if end < order.len() && end > 0 {
            order.select_nth_unstable_by(end - 1, compare);
        }
        order.truncate(end);
        order.sort_unstable_by(compare);
    }
    order.drain(..offset.min(order.len()));

    let mut fields = Vec::new();
    let mut arrays: Vec<ArrayRef> = Vec::new();
    for (index, key) in grouping.keys.iter().enumerate() {
        let (kind, nullable) = key.kind();
        fields.push(Field::new(grouping.names[index], kind.data_type(), nullable));
        let array = column_of(kind, order.iter().map(|group| groups.value(*group, index)))?;
        held += array.get_array_memory_size();
        all.share.holds(held)?;
        arrays.push(array);
    }
    let names = &grouping.names[grouping.keys.len()..];
    for (((_, _, output), cells), name) in grouping.aggregates.iter().zip(&columns).zip(names) {
        let cells = order.iter().map(|group| &cells[*group]);
        let (array, nullable): (ArrayRef, bool) = match output {
            Output::Kind(kind, nullable) => {
                let datums = cells.map(|cell| match cell {
                    Cell::One(datum) => Some(datum),
                    _ => None,
                });
                (column_of(*kind, datums)?, *nullable)
            }
            Output::List => (lists(cells), true),
        };
        held += array.get_array_memory_size();
        all.share.holds(held)?;
        fields.push(Field::new(*name, array.data_type().clone(), nullable));
        arrays.push(array);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(order.len()));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)
        .map_err(StoreError::internal("build the answer"))
}

fn lists<'a>(cells: impl Iterator<Item = &'a Cell>) -> ArrayRef {
    let item = Field::new("item", DataType::Float64, false);
    let mut builder = ListBuilder::new(Float64Builder::new()).with_field(item);
    for cell in cells {
        match cell {
            Cell::Many(values) => {
                builder.values().append_slice(values);
                builder.append(true);
            }
            _ => builder.append(false),
        }
    }
    Arc::new(builder.finish())
}

/// Compares by the requested order, then by all keys ascending. A null sorts before every value.
fn compare_groups(grouping: &Grouping, groups: &Groups, columns: &[Vec<Cell>], a: usize, b: usize) -> Ordering {
    let by_key = |key| compare_datums(groups.value(a, key), groups.value(b, key));
    for OutputOrder { output, descending } in &grouping.order {
        let order = match output.checked_sub(grouping.keys.len()) {
            None => by_key(*output),
            Some(aggregate) => compare_cells(&columns[aggregate][a], &columns[aggregate][b]),
        };
        let order = if *descending { order.reverse() } else { order };
        if order.is_ne() {
            return order;
        }
    }
    (0..grouping.keys.len()).map(by_key).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

fn compare_datums(a: Option<&Datum>, b: Option<&Datum>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => a.order(b),
        (a, b) => a.is_some().cmp(&b.is_some()),
    }
}

fn compare_cells(a: &Cell, b: &Cell) -> Ordering {
    match (a, b) {
        (Cell::One(a), Cell::One(b)) => a.order(b),
        (Cell::Many(a), Cell::Many(b)) => {
            let first = a.iter().zip(b).map(|(a, b)| a.total_cmp(b)).find(|order| order.is_ne());
            first.unwrap_or_else(|| a.len().cmp(&b.len()))
        }
        (a, b) => (*a != Cell::Null).cmp(&(*b != Cell::Null)),
    }
}
