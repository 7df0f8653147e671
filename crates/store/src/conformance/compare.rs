//! The equality of an engine's answer and the model's.

use crate::plan::{Plan, Shape};
use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Float64Type, Int16Type, Int64Type, UInt8Type, UInt32Type, UInt64Type};

use super::model::{Answer, Answered, compare_keys};
use super::rows::Cell;

/// Panics with both answers when the engine's differs from the model's. `held`: how the rows are stored, for the
/// message.
#[track_caller]
pub fn assert_same(plan: &Plan, expected: &Answer, batch: &RecordBatch, held: &str) {
    assert_within(plan, expected, batch, held, EXACT);
}

/// Like [`assert_same`], but quantiles may have the relative error of a sketch: 1 %.
#[track_caller]
pub fn assert_same_but_quantiles(plan: &Plan, expected: &Answer, batch: &RecordBatch, held: &str) {
    assert_within(plan, expected, batch, held, 0.01);
}

/// Maximum relative error of computed doubles.
const EXACT: f64 = 1e-9;

#[track_caller]
fn assert_within(plan: &Plan, expected: &Answer, batch: &RecordBatch, held: &str, error: f64) {
    let is_close = |got: &Answered, wanted: &Answered| is_close(got, wanted, error);
    let (limit, offset) = match plan.shape {
        Shape::Rows { limit, offset, .. } | Shape::Groups { limit, offset, .. } => (limit, offset),
    };
    let named = batch.schema_ref().fields().iter().map(|field| field.name().as_str());
    assert!(named.eq(names(plan)), "held as {held}\nplan {plan:#?}\nnames {:?}", batch.schema_ref());
    let from = offset.min(expected.rows.len());
    let to = offset.saturating_add(limit).min(expected.rows.len());
    let wanted = &expected.rows[from..to];
    let got = read(batch);
    let differ = || format!("held as {held}\nplan {plan:#?}\nexpected {wanted:#?}\ngot {got:#?}");
    assert_eq!(got.len(), wanted.len(), "{}", differ());
    if expected.order.is_empty() || is_total(expected) {
        let same = got.iter().zip(wanted).all(|(got, wanted)| got.iter().zip(wanted).all(|(g, w)| is_close(g, w)));
        assert!(same, "{}", differ());
        return;
    }
    // Rows with equal order are interchangeable: match every row of the answer with an unmatched row of the model with
    // the same order.
    let mut left: Vec<Option<&Vec<Answered>>> = expected.rows.iter().map(Some).collect();
    for (place, row) in got.iter().enumerate() {
        let order = &expected.order[from + place];
        let equals = |index: &usize| compare_keys(&expected.order[*index], order).is_eq();
        let found = (0..left.len())
            .filter(equals)
            .find(|index| left[*index].is_some_and(|candidate| candidate.iter().zip(row).all(|(w, g)| is_close(g, w))));
        assert!(found.is_some(), "row {place} is none of the model's\n{}", differ());
        left[found.expect("just checked")] = None;
    }
}

/// The names of the answer's columns.
fn names(plan: &Plan) -> Vec<&'static str> {
    match &plan.shape {
        Shape::Rows { columns, .. } => columns.clone(),
        Shape::Groups { keys, aggregates, .. } => {
            keys.iter().map(|key| key.name).chain(aggregates.iter().map(|aggregate| aggregate.name)).collect()
        }
    }
}

fn is_total(expected: &Answer) -> bool {
    expected.order.windows(2).all(|pair| compare_keys(&pair[0], &pair[1]).is_lt())
}

fn is_close(got: &Answered, wanted: &Answered, error: f64) -> bool {
    match (got, wanted) {
        (Answered::Cell(Cell::F64(got)), Answered::Cell(Cell::F64(wanted))) => close(*got, *wanted, EXACT),
        (Answered::Cell(got), Answered::Cell(wanted)) => got == wanted,
        (Answered::List(got), Answered::List(wanted)) => {
            got.len() == wanted.len() && got.iter().zip(wanted).all(|(got, wanted)| close(*got, *wanted, error))
        }
        (Answered::List(got), Answered::Buckets(bars, qs)) => {
            got.len() == qs.len() && got.iter().zip(qs).all(|(got, q)| is_quantile(*got, *q, bars))
        }
        _ => false,
    }
}

fn close(a: f64, b: f64, error: f64) -> bool {
    a == b || (a - b).abs() <= error * a.abs().max(b.abs()).max(1e-3)
}

/// Whether `value` is the smallest below which a share `q` of the observations is.
fn is_quantile(value: f64, q: f64, bars: &[(f64, f64, f64)]) -> bool {
    let count: f64 = bars.iter().map(|bar| bar.2).sum();
    let below = |x: f64| -> f64 {
        let part = |(from, to, count): &(f64, f64, f64)| match () {
            () if x >= *to => *count,
            () if x <= *from => 0.0,
            () => count * (x - from) / (to - from),
        };
        bars.iter().map(part).sum()
    };
    let (slack, aside) = (1e-6 * count, 1e-9 * value.abs().max(1.0));
    below(value + aside) >= q * count - slack && below(value - aside) <= q * count + slack
}

/// Panics unless these batches have the rows of the model's answer, each as often, in any order.
#[track_caller]
pub fn assert_same_rows(plan: &Plan, expected: &Answer, batches: &[RecordBatch], held: &str) {
    let sorted = |rows: &mut dyn Iterator<Item = Vec<Answered>>| {
        let mut rows: Vec<String> = rows.map(|row| format!("{row:?}")).collect();
        rows.sort_unstable();
        rows
    };
    let wanted = sorted(&mut expected.rows.iter().cloned());
    let got = sorted(&mut batches.iter().flat_map(read));
    assert_eq!(got, wanted, "held as {held}\nplan {plan:#?}");
}

fn read(batch: &RecordBatch) -> Vec<Vec<Answered>> {
    (0..batch.num_rows()).map(|row| batch.columns().iter().map(|array| read_cell(array, row)).collect()).collect()
}

fn read_cell(array: &dyn Array, row: usize) -> Answered {
    if array.is_null(row) {
        return Answered::Cell(Cell::Null);
    }
    Answered::Cell(match array.data_type() {
        DataType::Boolean => Cell::Bool(array.as_boolean().value(row)),
        DataType::UInt8 => Cell::U64(u64::from(array.as_primitive::<UInt8Type>().value(row))),
        DataType::UInt32 => Cell::U64(u64::from(array.as_primitive::<UInt32Type>().value(row))),
        DataType::UInt64 => Cell::U64(array.as_primitive::<UInt64Type>().value(row)),
        DataType::Int16 => Cell::I64(i64::from(array.as_primitive::<Int16Type>().value(row))),
        DataType::Int64 => Cell::I64(array.as_primitive::<Int64Type>().value(row)),
        DataType::Float64 => Cell::F64(array.as_primitive::<Float64Type>().value(row)),
        DataType::Utf8 => Cell::Text(array.as_string::<i32>().value(row).to_owned()),
        DataType::Binary => Cell::Bytes(array.as_binary::<i32>().value(row).to_vec()),
        DataType::FixedSizeBinary(_) => Cell::Bytes(array.as_fixed_size_binary().value(row).to_vec()),
        DataType::List(_) => {
            let list = array.as_list::<i32>().value(row);
            return Answered::List(list.as_primitive::<Float64Type>().values().to_vec());
        }
        other => panic!("no answer has a column of type {other}"),
    })
}
