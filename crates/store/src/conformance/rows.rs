//! A table as plain values.

use std::sync::Arc;

use crate::arrow_schema;
use crate::columns::TableBuffer;
use crate::plan::Value;
use crate::tables::{Column, Kind, Table};
use arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, FixedSizeBinaryArray, Float64Array, Int16Array, Int64Array, RecordBatch,
    StringArray, UInt8Array, UInt32Array, UInt64Array,
};
use tidewatch_domain::model::{AnyValue, KeyValue};
use tidewatch_domain::units::{DAY_NS, HOUR_NS, SECOND_NS};
use tidewatch_domain::wire::encode_attributes;

use super::dice::Dice;

/// One cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// A null of any kind.
    Null,
    /// A cell of [`Kind::Bool`].
    Bool(bool),
    /// A cell of [`Kind::U8`], [`Kind::U32`] or [`Kind::U64`].
    U64(u64),
    /// A cell of [`Kind::I16`] or [`Kind::I64`].
    I64(i64),
    /// A cell of [`Kind::F64`].
    F64(f64),
    /// A cell of [`Kind::Text`].
    Text(String),
    /// A cell of [`Kind::Bytes`], [`Kind::Id8`] or [`Kind::Id16`].
    Bytes(Vec<u8>),
}

/// Cells in the order of [`Table::columns`].
pub type Row = Vec<Cell>;

/// 2026-11-21 00:00 UTC, nanoseconds since the epoch.
pub const MIDNIGHT: i64 = 1_795_219_200_000_000_000;

/// Values of text columns and attributes.
pub const STRINGS: [&str; 8] = ["", "a", "GET /users", "GET /Users/{id}", "zürich", "ZÜRICH", "日本", "a,b"];
/// Keys of attributes.
pub const KEYS: [&str; 5] = ["queue", "http.route", "server_name", "größe", "n"];
/// Numbers of projects with rows.
pub const PROJECTS: [u32; 3] = [1, 2, 7];

/// A random time at or near an edge: a midnight or full hour, at most 90 seconds away.
pub fn time(dice: &mut Dice) -> i64 {
    let edge = *dice.pick(&[MIDNIGHT - DAY_NS, MIDNIGHT - HOUR_NS, MIDNIGHT, MIDNIGHT + HOUR_NS, MIDNIGHT + DAY_NS]);
    let aside = *dice.pick(&[-1, 0, 0, 1, SECOND_NS, 90 * SECOND_NS]);
    edge + aside
}

/// A random cell out of few values, so that rows have equal ones.
fn cell(table: Table, column: &Column, number: usize, dice: &mut Dice) -> Cell {
    if column.nullable && dice.once_in(3) {
        return Cell::Null;
    }
    match column.name {
        "project" => return Cell::U64(u64::from(*dice.pick(&PROJECTS))),
        // Points of one series have distinct times.
        "time" if table == Table::MetricPoints => return Cell::I64(time(dice) + number as i64),
        "time" | "observed_time" => return Cell::I64(time(dice)),
        "weight" => return Cell::F64(*dice.pick(&[1.0, 1.0, 1.0, 2.0, 5.0])),
        "temporality" | "metric_kind" => return Cell::U64(dice.below(4) as u64),
        "series" => return Cell::U64(dice.below(4) as u64),
        // Distinct, because it is the identity of a stack.
        "stack" if table == Table::ProfileStacks => return Cell::U64(number as u64 * 0x1234_5678_9ABC),
        "bounds" | "buckets" => return Cell::Bytes(histogram(column.name, dice)),
        // Distinct, because they are part of the identity of rows.
        "row_id" | "span_id" => {
            let mut id = vec![0; if column.kind == Kind::Id16 { 16 } else { 8 }];
            id[..8].copy_from_slice(&(number as u64 * 0x1234_5678_9ABC).to_be_bytes());
            return Cell::Bytes(id);
        }
        "attributes" | "resource" | "scope_attributes" => return Cell::Bytes(attributes(dice)),
        _ => {}
    }
    match column.kind {
        Kind::Bool => Cell::Bool(dice.once_in(2)),
        Kind::U8 => Cell::U64(*dice.pick(&[0, 1, 2, 3, 5, 255])),
        Kind::I16 => Cell::I64(*dice.pick(&[0, 200, 404, 500, 599, -1])),
        Kind::U32 => Cell::U64(*dice.pick(&[0, 1, 3, 256, u64::from(u32::MAX)])),
        Kind::U64 => Cell::U64(*dice.pick(&[0, 1, 9, u64::MAX, u64::MAX - 1])),
        Kind::I64 => Cell::I64(*dice.pick(&[0, 1, 5, 10_000, 2 * SECOND_NS, i64::from(i32::MAX), -3])),
        Kind::F64 => Cell::F64(*dice.pick(&[0.0, 0.5, 1.0, 2.5, -4.0, 1e15])),
        Kind::Text => Cell::Text((*dice.pick(&STRINGS)).to_owned()),
        Kind::Bytes => Cell::Bytes(dice.pick(&[vec![], vec![0], vec![0, 0], vec![255, 1]]).clone()),
        Kind::Id8 => Cell::Bytes(vec![dice.below(3) as u8; 8]),
        Kind::Id16 => Cell::Bytes(vec![dice.below(4) as u8; 16]),
    }
}

/// Bounds or buckets of a histogram; mostly their numbers match.
fn histogram(name: &str, dice: &mut Dice) -> Vec<u8> {
    if dice.once_in(8) {
        return Vec::new();
    }
    if name == "bounds" {
        let bounds: &[f64] = if dice.once_in(4) { &[5.0, 15.0, 40.0] } else { &[-1.0, 10.0, 20.0] };
        return bounds.iter().flat_map(|bound| bound.to_le_bytes()).collect();
    }
    let most = *dice.pick(&[1, 4, 20]);
    (0..4).flat_map(|_| (dice.below(most) as u64).to_le_bytes()).collect()
}

/// Random encoded attributes.
pub fn attributes(dice: &mut Dice) -> Vec<u8> {
    let items = [AnyValue::Int(1), AnyValue::Str("x")];
    let mut pairs = Vec::new();
    for _ in 0..dice.below(4) {
        let value = match dice.below(6) {
            0 => AnyValue::Int(dice.below(3) as i64 * 7),
            1 => AnyValue::Bool(true),
            2 => AnyValue::Double(1.5),
            3 => AnyValue::Array(&items),
            _ => AnyValue::Str(dice.pick::<&str>(&STRINGS)),
        };
        pairs.push(KeyValue { key: dice.pick::<&str>(&KEYS), value });
    }
    // Mostly sorted, as the store writes them.
    if !dice.once_in(4) {
        pairs.sort_by_key(|pair| pair.key);
    }
    let mut encoded = Vec::new();
    encode_attributes(&pairs, &mut encoded);
    encoded
}

/// `count` random rows of `table`.
pub fn random_rows(table: Table, count: usize, dice: &mut Dice) -> Vec<Row> {
    (0..count).map(|number| table.columns().iter().map(|column| cell(table, column, number, dice)).collect()).collect()
}

/// A row of zeros, empty strings and nulls, with the columns in `set`; `weight` is 1.
pub fn row(table: Table, set: &[(&str, Cell)]) -> Row {
    let mut row: Row = table
        .columns()
        .iter()
        .map(|column| match column.kind {
            _ if column.nullable => Cell::Null,
            Kind::Bool => Cell::Bool(false),
            Kind::U8 | Kind::U32 | Kind::U64 => Cell::U64(0),
            Kind::I16 | Kind::I64 => Cell::I64(0),
            Kind::F64 => Cell::F64(if column.name == "weight" { 1.0 } else { 0.0 }),
            Kind::Text => Cell::Text(String::new()),
            Kind::Bytes => Cell::Bytes(Vec::new()),
            Kind::Id8 => Cell::Bytes(vec![0; 8]),
            Kind::Id16 => Cell::Bytes(vec![0; 16]),
        })
        .collect();
    for (name, cell) in set {
        row[table.column(name).expect("the column exists").0] = cell.clone();
    }
    row
}

/// The literal equal to a cell; `None` for a null.
pub fn value_of(cell: &Cell) -> Option<Value> {
    Some(match cell.clone() {
        Cell::Null => return None,
        Cell::Bool(value) => Value::Bool(value),
        Cell::U64(value) => Value::U64(value),
        Cell::I64(value) => Value::I64(value),
        Cell::F64(value) => Value::F64(value),
        Cell::Text(value) => Value::Text(value),
        Cell::Bytes(value) => Value::Bytes(value),
    })
}

/// The rows as an Arrow batch of [`arrow_schema`].
pub fn batch(table: Table, rows: &[Row]) -> RecordBatch {
    let columns = table.columns().iter().enumerate();
    let arrays = columns.map(|(index, column)| array(column, rows.iter().map(|row| &row[index]))).collect();
    RecordBatch::try_new(arrow_schema(table), arrays).expect("rows fit their table")
}

/// The rows as a buffer, for a memtable.
pub fn buffer(table: Table, rows: &[Row]) -> TableBuffer {
    let mut buffer = TableBuffer::new(table);
    for row in rows {
        let mut writer = buffer.row();
        for (cell, column) in row.iter().zip(table.columns()) {
            match (cell, column.kind, column.nullable) {
                (Cell::Bool(value), _, true) => writer.optional_bool(Some(*value)),
                (Cell::Null, Kind::Bool, _) => writer.optional_bool(None),
                (Cell::Text(text), _, true) => writer.optional_text(Some(text)),
                (Cell::Null, Kind::Text, _) => writer.optional_text(None),
                (Cell::Bytes(bytes), _, true) => writer.optional_bytes(Some(bytes)),
                (Cell::Null, Kind::Bytes, _) => writer.optional_bytes(None),
                (Cell::I64(value), _, true) => writer.optional_i64(Some(*value)),
                (Cell::Null, Kind::I64, _) => writer.optional_i64(None),
                (Cell::U64(value), Kind::U8, true) => writer.optional_u8(Some(*value as u8)),
                (Cell::Null, Kind::U8, _) => writer.optional_u8(None),
                (Cell::U64(value), Kind::U32, true) => writer.optional_u32(Some(*value as u32)),
                (Cell::Null, Kind::U32, _) => writer.optional_u32(None),
                (Cell::F64(value), _, true) => writer.optional_f64(Some(*value)),
                (Cell::Null, _, _) => writer.optional_f64(None),
                (Cell::Bool(value), _, _) => writer.bool(*value),
                (Cell::U64(value), Kind::U8, _) => writer.u8(*value as u8),
                (Cell::U64(value), Kind::U32, _) => writer.u32(*value as u32),
                (Cell::U64(value), _, _) => writer.u64(*value),
                (Cell::I64(value), Kind::I16, _) => writer.i16(*value as i16),
                (Cell::I64(value), _, _) => writer.i64(*value),
                (Cell::F64(value), _, _) => writer.f64(*value),
                (Cell::Text(text), _, _) => writer.text(text),
                (Cell::Bytes(bytes), Kind::Bytes, _) => writer.bytes(bytes),
                (Cell::Bytes(id), _, _) => writer.id(id),
            };
        }
    }
    buffer
}

macro_rules! unwrap_cells {
    ($cells:expr, $cell:path, $array:ty, |$value:ident| $convert:expr) => {
        Arc::new(
            $cells
                .map(|cell| match cell {
                    Cell::Null => None,
                    $cell($value) => Some($convert),
                    other => panic!("{other:?} is of another kind"),
                })
                .collect::<$array>(),
        )
    };
}

fn array<'a>(column: &Column, cells: impl Iterator<Item = &'a Cell>) -> ArrayRef {
    match column.kind {
        Kind::Bool => unwrap_cells!(cells, Cell::Bool, BooleanArray, |value| *value),
        Kind::U8 => unwrap_cells!(cells, Cell::U64, UInt8Array, |value| *value as u8),
        Kind::U32 => unwrap_cells!(cells, Cell::U64, UInt32Array, |value| *value as u32),
        Kind::U64 => unwrap_cells!(cells, Cell::U64, UInt64Array, |value| *value),
        Kind::I16 => unwrap_cells!(cells, Cell::I64, Int16Array, |value| *value as i16),
        Kind::I64 => unwrap_cells!(cells, Cell::I64, Int64Array, |value| *value),
        Kind::F64 => unwrap_cells!(cells, Cell::F64, Float64Array, |value| *value),
        Kind::Text => unwrap_cells!(cells, Cell::Text, StringArray, |value| value.as_str()),
        Kind::Bytes => unwrap_cells!(cells, Cell::Bytes, BinaryArray, |value| value.as_slice()),
        Kind::Id8 | Kind::Id16 => {
            let size = if column.kind == Kind::Id8 { 8 } else { 16 };
            let ids = cells.map(|cell| match cell {
                Cell::Bytes(id) => Some(id.as_slice()),
                _ => None,
            });
            Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(ids, size).expect("ids of one size"))
        }
    }
}
