//! Which rows of a batch pass a test: one bit per row.
//!
//! Two-valued: a comparison with a null is false, and `Not` is plain negation of what stands below it.

use arrow::array::{Array, BooleanBufferBuilder, RecordBatch, StringArray};
use arrow::buffer::BooleanBuffer;

use memchr::memmem::Finder;

use super::attribute;
use super::cells::{Cells, cells};
use super::datum::Datum;
use super::question::{Needle, Test};
use crate::StoreError;
use crate::lake::give_way::give_way;
use crate::plan::Op;

/// Rows of `batch` that pass; the batch holds every column the test reads.
pub(crate) fn passes(test: &Test, batch: &RecordBatch) -> Result<BooleanBuffer, StoreError> {
    let rows = batch.num_rows();
    match test {
        Test::True => Ok(BooleanBuffer::new_set(rows)),
        Test::All(tests) => {
            let mut all = BooleanBuffer::new_set(rows);
            for test in tests {
                all = &all & &passes(test, batch)?;
            }
            Ok(all)
        }
        Test::Any(tests) => {
            let mut any = BooleanBuffer::new_unset(rows);
            for test in tests {
                any = &any | &passes(test, batch)?;
            }
            Ok(any)
        }
        Test::Not(test) => Ok(!&passes(test, batch)?),
        Test::Compare { column, op, value } => {
            let cells = cells(batch, column.name)?;
            Ok(compare_all(&cells, *op, value))
        }
        Test::In { column, values } => {
            let cells = cells(batch, column.name)?;
            Ok(not_null(&cells, is_one_of(&cells, values)))
        }
        Test::Contains { column, needle } => {
            let cells = cells(batch, column.name)?;
            Ok(contains_all(&cells, needle))
        }
        // Keys of roll-ups do not have every column.
        Test::IsNull { column } if !column.nullable => Ok(BooleanBuffer::new_unset(rows)),
        Test::IsNull { column } => Ok(match cells(batch, column.name)?.validity() {
            Some(valid) => !valid.inner(),
            None => BooleanBuffer::new_unset(rows),
        }),
        Test::Attribute { places, key, op, value } => attribute::compare(batch, places, key, *op, value),
        Test::AnyAttributeContains { places, needle } => attribute::any_contains(batch, places, needle),
        Test::HasBits { column, mask } => {
            let cells = cells(batch, column.name)?;
            Ok(not_null(&cells, each(&cells, |datum| matches!(datum, Datum::U64(bits) if bits & mask != 0))))
        }
    }
}

/// Rows that pass every test.
pub(crate) fn passes_all<'a>(
    tests: impl IntoIterator<Item = &'a Test>,
    batch: &RecordBatch,
) -> Result<BooleanBuffer, StoreError> {
    let mut all = BooleanBuffer::new_set(batch.num_rows());
    for test in tests {
        if all.count_set_bits() == 0 {
            break;
        }
        give_way();
        all = &all & &passes(test, batch)?;
    }
    Ok(all)
}

/// A comparison of every cell; false for a null.
pub(crate) fn compare_all(cells: &Cells<'_>, op: Op, value: &Datum) -> BooleanBuffer {
    not_null(cells, compare(cells, op, value))
}

/// A search in every text; false for a null.
pub(crate) fn contains_all(cells: &Cells<'_>, needle: &Needle) -> BooleanBuffer {
    not_null(cells, contains(cells, needle))
}

fn not_null(cells: &Cells<'_>, mask: BooleanBuffer) -> BooleanBuffer {
    match cells.validity() {
        Some(valid) => &mask & valid.inner(),
        None => mask,
    }
}

/// `ordering` of a cell to the literal, as `op` wants it.
pub(crate) fn holds<T: PartialOrd + ?Sized>(op: Op, cell: &T, literal: &T) -> bool {
    match op {
        Op::Eq => cell == literal,
        Op::Ne => cell != literal,
        Op::Lt => cell < literal,
        Op::Le => cell <= literal,
        Op::Gt => cell > literal,
        Op::Ge => cell >= literal,
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
            // Two values: at most four different answers.
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

/// One loop per operator, so that the compiler can vectorise each.
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

/// A test of text, bytes or ids; of a dictionary, every distinct text is tested once.
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

fn each(cells: &Cells<'_>, test: impl Fn(Datum) -> bool) -> BooleanBuffer {
    BooleanBuffer::collect_bool(cells.len(), |row| cells.datum(row).is_some_and(&test))
}

fn is_one_of(cells: &Cells<'_>, values: &[Datum]) -> BooleanBuffer {
    match values {
        [] => BooleanBuffer::new_unset(cells.len()),
        [value] => compare(cells, Op::Eq, value),
        [Datum::Bytes(_), ..] => {
            let heads = Heads::of(values);
            bytes(cells, |cell| {
                let place = |value: &Datum| match value {
                    Datum::Bytes(bytes) => bytes.as_slice().cmp(cell),
                    _ => std::cmp::Ordering::Less,
                };
                heads.may_hold(cell) && values.binary_search_by(place).is_ok()
            })
        }
        [Datum::F64(_), ..] => each(cells, |cell| values.iter().any(|value| datum_holds(Op::Eq, &cell, value))),
        _ => each(cells, |cell| values.binary_search_by(|value| value.order(&cell)).is_ok()),
    }
}

/// Which pairs of first bytes some values have, one bit for each: of ids hardly any other has one of them.
struct Heads(Box<[u64; 1024]>);

impl Heads {
    fn of(values: &[Datum]) -> Heads {
        let mut bits = Box::new([0; 1024]);
        for value in values {
            if let Datum::Bytes(bytes) = value {
                let head = Heads::head(bytes);
                bits[usize::from(head >> 6)] |= 1 << (head & 63);
            }
        }
        Heads(bits)
    }

    fn head(bytes: &[u8]) -> u16 {
        match bytes {
            [first, second, ..] => u16::from_be_bytes([*first, *second]),
            [first] => u16::from_be_bytes([*first, 0]),
            [] => 0,
        }
    }

    fn may_hold(&self, bytes: &[u8]) -> bool {
        let head = Heads::head(bytes);
        self.0[usize::from(head >> 6)] >> (head & 63) & 1 == 1
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

/// What lies between the first and the last of some offsets: slices of arrays share their bytes.
pub(crate) fn bytes_of<'a>(offsets: &[i32], bytes: &'a [u8]) -> &'a [u8] {
    match (offsets.first(), offsets.last()) {
        (Some(first), Some(last)) => &bytes[*first as usize..*last as usize],
        _ => &[],
    }
}

/// Rows that contain what is looked for: one search over their bytes, which lie one after the other; a hit across a
/// row's end is none.
pub(crate) fn rows_with(offsets: &[i32], haystack: &[u8], finder: &Finder<'_>) -> BooleanBuffer {
    let rows = offsets.len().saturating_sub(1);
    let length = finder.needle().len();
    if length == 0 || rows == 0 {
        return BooleanBuffer::new_set(rows);
    }
    let first = offsets[0] as usize;
    let mut mask = BooleanBufferBuilder::new(rows);
    mask.append_n(rows, false);
    let mut row = 0;
    let mut from = 0;
    while let Some(hit) = finder.find(&haystack[from..]) {
        let at = from + hit;
        // The row of the hit: the last whose start is at or before it.
        row += offsets[row + 1..].partition_point(|&end| end as usize - first <= at);
        let end = offsets[row + 1] as usize - first;
        if at + length <= end {
            mask.set_bit(row, true);
            from = end;
        } else {
            from = at + 1;
        }
    }
    mask.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lake::scan::question::check_filter;
    use crate::plan::Filter;
    use crate::tables::Table;
    use arrow::array::ArrayRef;
    use std::sync::Arc;

    #[track_caller]
    fn check_contains(rows: &[Option<&str>], needle: &str, ignore_case: bool, expected: &[usize]) {
        let array: ArrayRef = Arc::new(StringArray::from(rows.to_vec()));
        let batch = RecordBatch::try_from_iter_with_nullable([("body", array, true)]).unwrap();
        let filter = Filter::Contains { column: "body", needle: needle.to_owned(), ignore_case };
        let mask = passes(&check_filter(Table::Logs, &filter).unwrap(), &batch).unwrap();
        assert_eq!(mask.set_indices().collect::<Vec<_>>(), expected, "{needle:?} in {rows:?}");
        // The same through a slice of the batch.
        let sliced = passes(&check_filter(Table::Logs, &filter).unwrap(), &batch.slice(1, rows.len() - 1)).unwrap();
        let later: Vec<usize> = expected.iter().filter(|row| **row > 0).map(|row| row - 1).collect();
        assert_eq!(sliced.set_indices().collect::<Vec<_>>(), later, "sliced: {needle:?} in {rows:?}");
    }

    #[test]
    fn contains_finds_text_inside_rows_only() {
        check_contains(&[Some("abc"), Some("xabcx"), Some("ab"), Some("c")], "abc", false, &[0, 1]);
        check_contains(&[Some("a"), Some("aa"), None, Some("")], "a", false, &[0, 1]);
        check_contains(&[Some("ABC"), Some("aBc"), Some("")], "AbC", true, &[0, 1]);
        check_contains(&[Some("ABC"), Some("abc"), Some("")], "abc", false, &[1]);
        check_contains(&[Some("x"), None, Some("")], "", false, &[0, 2]);
        check_contains(&[Some("héllo"), Some("HÉLLO"), Some("h")], "é", true, &[0]);
        check_contains(&[Some("aaaa"), Some("a"), Some("aa")], "aa", false, &[0, 2]);
    }
}
