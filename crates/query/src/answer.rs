//! Reads the result of a plan cell by cell: Arrow in, plain values out.
//!
//! Numbers that are not finite are read as null, so that none reaches JSON. A column that is not in the plan is a
//! defect: it is read as null, and fails an assertion in debug builds.

use std::borrow::Cow;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Float64Type, Int16Type, Int64Type, UInt8Type, UInt32Type, UInt64Type};
use tidewatch_domain::model::{SpanId, TraceId};

/// The result of one plan: rows or groups.
#[derive(Debug, Clone)]
pub struct Answer(RecordBatch);

/// One row of an [`Answer`]. Its methods read the column of the given name.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    batch: &'a RecordBatch,
    index: usize,
}

/// One column of an [`Answer`], for readers of many rows: its name is looked up once.
#[derive(Debug, Clone, Copy)]
pub struct Column<'a>(Option<&'a ArrayRef>);

impl Answer {
    /// Wraps the batch that the store returned.
    pub fn new(batch: RecordBatch) -> Answer {
        Answer(batch)
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.0.num_rows()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rows, in the plan's order.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        (0..self.len()).map(|index| Row { batch: &self.0, index })
    }

    /// The row with this index. Panics when it is read and there is no such row.
    pub fn row(&self, index: usize) -> Row<'_> {
        Row { batch: &self.0, index }
    }

    /// The column of this name.
    pub fn column(&self, name: &str) -> Column<'_> {
        Column::of(&self.0, name)
    }

    /// The first row; `None` when there is none.
    pub fn first(&self) -> Option<Row<'_>> {
        self.rows().next()
    }
}

impl<'a> Row<'a> {
    /// A string; empty when null.
    pub fn text(self, column: &str) -> &'a str {
        self.opt_text(column).unwrap_or("")
    }

    /// A string; `None` when null or not a string column.
    pub fn opt_text(self, column: &str) -> Option<&'a str> {
        self.column(column).opt_text(self.index)
    }

    /// Raw bytes of an id or of an encoded list; empty when null.
    pub fn bytes(self, column: &str) -> &'a [u8] {
        let Some(array) = self.present(column) else { return &[] };
        match array.data_type() {
            DataType::FixedSizeBinary(_) => array.as_fixed_size_binary().value(self.index),
            _ => array.as_binary_opt::<i32>().map_or(&[], |array| array.value(self.index)),
        }
    }

    /// A trace id; zeros when null.
    pub fn trace_id(self, column: &str) -> TraceId {
        TraceId(self.bytes(column).try_into().unwrap_or_default())
    }

    /// A span id; zeros when null.
    pub fn span_id(self, column: &str) -> SpanId {
        SpanId(self.bytes(column).try_into().unwrap_or_default())
    }

    /// The 16 bytes of a row id; zeros when null.
    pub fn id16(self, column: &str) -> [u8; 16] {
        self.bytes(column).try_into().unwrap_or_default()
    }

    /// An integer as [`Row::opt_int`] reads it; 0 when null.
    pub fn int(self, column: &str) -> i64 {
        self.opt_int(column).unwrap_or(0)
    }

    /// Any integer or boolean; doubles are rounded. `None` when null.
    pub fn opt_int(self, column: &str) -> Option<i64> {
        self.column(column).opt_int(self.index)
    }

    /// A 64-bit pattern, such as an Issue's hash; 0 when null.
    pub fn u64(self, column: &str) -> u64 {
        self.int(column) as u64
    }

    /// A number as [`Row::opt_number`] reads it; 0 when null or not finite.
    pub fn number(self, column: &str) -> f64 {
        self.opt_number(column).unwrap_or(0.0)
    }

    /// Any number; `None` when null or not finite.
    pub fn opt_number(self, column: &str) -> Option<f64> {
        self.column(column).opt_number(self.index)
    }

    /// A sum of weights as a number of records: rounded, never negative.
    pub fn count(self, column: &str) -> u64 {
        self.number(column).round().max(0.0) as u64
    }

    /// A boolean; false when null.
    pub fn flag(self, column: &str) -> bool {
        self.int(column) != 0
    }

    /// A list of quantiles, with 0 for values that are null or not finite; `None` when the list is null.
    pub fn numbers(self, column: &str) -> Option<Vec<f64>> {
        self.column(column).numbers(self.index).map(Cow::into_owned)
    }

    fn column(self, name: &str) -> Column<'a> {
        Column::of(self.batch, name)
    }

    /// The column, unless it is null in this row.
    fn present(self, column: &str) -> Option<&'a ArrayRef> {
        self.column(column).present(self.index)
    }
}

impl<'a> Column<'a> {
    fn of(batch: &'a RecordBatch, name: &str) -> Column<'a> {
        let found = batch.column_by_name(name);
        debug_assert!(found.is_some(), "the answer has no column {name}");
        Column(found)
    }

    /// A string; empty when null.
    pub fn text(self, row: usize) -> &'a str {
        self.opt_text(row).unwrap_or("")
    }

    /// An integer; 0 when null.
    pub fn int(self, row: usize) -> i64 {
        self.opt_int(row).unwrap_or(0)
    }

    /// A number; 0 when null or not finite.
    pub fn number(self, row: usize) -> f64 {
        self.opt_number(row).unwrap_or(0.0)
    }

    /// A list of quantiles, with 0 for values that are null or not finite; `None` when the list is null.
    pub fn numbers(self, row: usize) -> Option<Cow<'a, [f64]>> {
        let lists = self.present(row)?.as_list_opt::<i32>()?;
        let values = lists.values().as_primitive_opt::<Float64Type>()?;
        let (from, to) = (lists.value_offsets()[row] as usize, lists.value_offsets()[row + 1] as usize);
        let numbers = &values.values()[from..to];
        let is_known = |place: usize| values.is_valid(from + place) && numbers[place].is_finite();
        let or_zero = |place| if is_known(place) { numbers[place] } else { 0.0 };
        let are_known = (0..numbers.len()).all(is_known);
        Some(if are_known { numbers.into() } else { (0..numbers.len()).map(or_zero).collect() })
    }

    fn opt_text(self, row: usize) -> Option<&'a str> {
        Some(self.present(row)?.as_string_opt::<i32>()?.value(row))
    }

    fn opt_int(self, row: usize) -> Option<i64> {
        let array = self.present(row)?;
        match array.data_type() {
            DataType::Int64 => Some(array.as_primitive::<Int64Type>().value(row)),
            DataType::Int16 => Some(array.as_primitive::<Int16Type>().value(row).into()),
            DataType::UInt8 => Some(array.as_primitive::<UInt8Type>().value(row).into()),
            DataType::UInt32 => Some(array.as_primitive::<UInt32Type>().value(row).into()),
            DataType::UInt64 => Some(array.as_primitive::<UInt64Type>().value(row) as i64),
            DataType::Boolean => Some(array.as_boolean().value(row).into()),
            DataType::Float64 => self.opt_number(row).map(|number| number.round() as i64),
            _ => None,
        }
    }

    fn opt_number(self, row: usize) -> Option<f64> {
        let array = self.present(row)?;
        let number = match array.data_type() {
            DataType::Float64 => array.as_primitive::<Float64Type>().value(row),
            _ => self.opt_int(row)? as f64,
        };
        number.is_finite().then_some(number)
    }

    fn present(self, row: usize) -> Option<&'a ArrayRef> {
        self.0.filter(|array| array.is_valid(row))
    }
}
