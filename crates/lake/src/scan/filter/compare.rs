//! Comparisons of a whole column with a literal, with one result bit per row.

use arrow::array::{Array, StringArray};
use arrow::buffer::BooleanBuffer;

use crate::batch::cells::Cells;
use crate::batch::datum::{Datum, holds};
use crate::batch::search::{bytes_of, rows_with};
use crate::scan::plan_check::Needle;
use tidewatch_domain::query_language::Pattern;
use tidewatch_store::plan::Op;

/// Compares every cell with `value`; false for a null.
pub(crate) fn compare_all(cells: &Cells<'_>, op: Op, value: &Datum) -> BooleanBuffer {
    not_null(cells, compare(cells, op, value))
}

/// Matches every string with the pattern, which is lower-cased (ASCII) if case is ignored; false for a null.
pub(crate) fn matches_all(cells: &Cells<'_>, pattern: &Pattern, ignore_case: bool) -> BooleanBuffer {
    let matches = |cell: &[u8]| {
        let text = String::from_utf8_lossy(cell);
        if ignore_case { pattern.matches(&text.to_ascii_lowercase()) } else { pattern.matches(&text) }
    };
    not_null(cells, bytes(cells, matches))
}

/// Searches every string for the needle; false for a null.
pub(crate) fn contains_all(cells: &Cells<'_>, needle: &Needle) -> BooleanBuffer {
    not_null(cells, contains(cells, needle))
}

pub(super) fn not_null(cells: &Cells<'_>, mask: BooleanBuffer) -> BooleanBuffer {
    match cells.validity() {
        Some(valid) => &mask & valid.inner(),
        None => mask,
    }
}

fn compare(cells: &Cells<'_>, op: Op, value: &Datum) -> BooleanBuffer {
    match (cells, value) {
        (Cells::U8(array), Datum::U64(value)) => numbers(array.values(), op, *value, u64::from),
        (Cells::U32(array), Datum::U64(value)) => numbers(array.values(), op, *value, u64::from),
        (Cells::U64(array), Datum::U64(value)) => numbers(array.values(), op, *value, |v| v),
        (Cells::I16(array), Datum::I64(value)) => numbers(array.values(), op, *value, i64::from),
        (Cells::I64(array), Datum::I64(value)) => numbers(array.values(), op, *value, |v| v),
        (Cells::F64(array), Datum::F64(value)) => numbers(array.values(), op, *value, |v| v),
        (Cells::Bool(array), Datum::U64(value)) => {
            // A bool column has two values, so there are at most four results.
            match (holds(op, &0, value), holds(op, &1, value)) {
                (false, true) => array.values().clone(),
                (true, false) => !array.values(),
                (true, true) => BooleanBuffer::new_set(array.len()),
                (false, false) => BooleanBuffer::new_unset(array.len()),
            }
        }
        (_, Datum::Bytes(value)) => bytes(cells, |cell| holds(op, cell, value.as_slice())),
        (_, value) => each(cells, |datum| datum_holds(op, &datum, value)),
    }
}

fn datum_holds(op: Op, cell: &Datum, literal: &Datum) -> bool {
    match (cell, literal) {
        (Datum::U64(cell), Datum::U64(literal)) => holds(op, cell, literal),
        (Datum::I64(cell), Datum::I64(literal)) => holds(op, cell, literal),
        (Datum::F64(cell), Datum::F64(literal)) => holds(op, cell, literal),
        (Datum::Bytes(cell), Datum::Bytes(literal)) => holds(op, cell.as_slice(), literal.as_slice()),
        _ => false,
    }
}

/// Has one loop per operator, so that the compiler can vectorize each.
fn numbers<T: Copy, W: PartialOrd + Copy>(values: &[T], op: Op, literal: W, widen: impl Fn(T) -> W) -> BooleanBuffer {
    let rows = values.len();
    match op {
        Op::Eq => BooleanBuffer::collect_bool(rows, |row| widen(values[row]) == literal),
        Op::Ne => BooleanBuffer::collect_bool(rows, |row| widen(values[row]) != literal),
        Op::Lt => BooleanBuffer::collect_bool(rows, |row| widen(values[row]) < literal),
        Op::Le => BooleanBuffer::collect_bool(rows, |row| widen(values[row]) <= literal),
        Op::Gt => BooleanBuffer::collect_bool(rows, |row| widen(values[row]) > literal),
        Op::Ge => BooleanBuffer::collect_bool(rows, |row| widen(values[row]) >= literal),
    }
}

/// Tests text, bytes or ids. Every distinct value of a dictionary is tested once.
fn bytes(cells: &Cells<'_>, test: impl Fn(&[u8]) -> bool) -> BooleanBuffer {
    match cells {
        Cells::Text(array) => BooleanBuffer::collect_bool(array.len(), |row| test(array.value(row).as_bytes())),
        Cells::Bytes(array) => BooleanBuffer::collect_bool(array.len(), |row| test(array.value(row))),
        Cells::Shared(keys, _) => BooleanBuffer::collect_bool(keys.len(), |row| test(cells.bytes(row))),
        Cells::Id(array) => BooleanBuffer::collect_bool(array.len(), |row| test(array.value(row))),
        Cells::Dictionary(_, values) => {
            let mask = BooleanBuffer::collect_bool(values.len(), |row| test(values.value(row).as_bytes()));
            by_dictionary(cells, &mask)
        }
        _ => BooleanBuffer::new_unset(cells.len()),
    }
}

/// The rows whose dictionary entry is set in `mask`.
fn by_dictionary(cells: &Cells<'_>, mask: &BooleanBuffer) -> BooleanBuffer {
    let Cells::Dictionary(keys, _) = cells else { return BooleanBuffer::new_unset(cells.len()) };
    if mask.count_set_bits() == 0 {
        return BooleanBuffer::new_unset(keys.len());
    }
    let keys = keys.values();
    BooleanBuffer::collect_bool(keys.len(), |row| {
        let key = keys[row] as usize;
        key < mask.len() && mask.value(key)
    })
}

pub(super) fn each(cells: &Cells<'_>, test: impl Fn(Datum) -> bool) -> BooleanBuffer {
    BooleanBuffer::collect_bool(cells.len(), |row| cells.datum(row).is_some_and(&test))
}

pub(super) fn is_one_of(cells: &Cells<'_>, values: &[Datum]) -> BooleanBuffer {
    match values {
        [] => BooleanBuffer::new_unset(cells.len()),
        [value] => compare(cells, Op::Eq, value),
        [Datum::Bytes(_), ..] => {
            let prefixes = PrefixBitmap::of(values);
            bytes(cells, |cell| {
                let place = |value: &Datum| match value {
                    Datum::Bytes(bytes) => bytes.as_slice().cmp(cell),
                    _ => std::cmp::Ordering::Less,
                };
                prefixes.may_hold(cell) && values.binary_search_by(place).is_ok()
            })
        }
        [Datum::F64(_), ..] => each(cells, |cell| values.iter().any(|value| datum_holds(Op::Eq, &cell, value))),
        _ => each(cells, |cell| values.binary_search_by(|value| value.order(&cell)).is_ok()),
    }
}

/// A bitmap of the first two bytes of the values. It rules out most other ids without a search.
struct PrefixBitmap(Box<[u64; 1024]>);

impl PrefixBitmap {
    fn of(values: &[Datum]) -> PrefixBitmap {
        let mut bits = Box::new([0; 1024]);
        for value in values {
            if let Datum::Bytes(bytes) = value {
                let prefix = PrefixBitmap::prefix(bytes);
                bits[usize::from(prefix >> 6)] |= 1 << (prefix & 63);
            }
        }
        PrefixBitmap(bits)
    }

    fn prefix(bytes: &[u8]) -> u16 {
        match bytes {
            [first, second, ..] => u16::from_be_bytes([*first, *second]),
            [first] => u16::from_be_bytes([*first, 0]),
            [] => 0,
        }
    }

    fn may_hold(&self, bytes: &[u8]) -> bool {
        let prefix = PrefixBitmap::prefix(bytes);
        self.0[usize::from(prefix >> 6)] >> (prefix & 63) & 1 == 1
    }
}

fn contains(cells: &Cells<'_>, needle: &Needle) -> BooleanBuffer {
    match cells {
        Cells::Text(array) => text_contains(array, needle),
        Cells::Dictionary(_, values) => by_dictionary(cells, &text_contains(values, needle)),
        _ => BooleanBuffer::new_unset(cells.len()),
    }
}

fn text_contains(array: &StringArray, needle: &Needle) -> BooleanBuffer {
    let (offsets, bytes) = (array.value_offsets(), array.value_data());
    if !needle.ignore_case {
        return rows_with(offsets, bytes_of(offsets, bytes), &needle.finder);
    }
    rows_with(offsets, &bytes_of(offsets, bytes).to_ascii_lowercase(), &needle.finder)
}
