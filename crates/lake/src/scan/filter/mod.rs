//! Evaluates tests on a batch, with one result bit per row.
//!
//! Logic is two-valued: a comparison with a null is false, and `Not` negates the result of its operand.

mod attribute;
pub(crate) mod compare;
mod ranges;

use arrow::array::RecordBatch;
use arrow::buffer::BooleanBuffer;

use crate::batch::cells::cells;
use crate::batch::datum::Datum;
use crate::scan::filter::compare::{compare_all, contains_all, each, is_one_of, matches_all, not_null};
use crate::scan::filter::ranges::Ranges;
use crate::scan::plan_check::Test;
use crate::schedule::yielding::yield_point;
use tidewatch_store::StoreError;

/// The rows of `batch` that pass. The batch has every column that the test reads.
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
            if let Some(ranges) = Ranges::of(tests) {
                let cells = cells(batch, ranges.column.name)?;
                if let Some(inside) = ranges.contain(&cells) {
                    return Ok(not_null(&cells, inside));
                }
            }
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
        Test::Matches { column, pattern, ignore_case } => {
            let cells = cells(batch, column.name)?;
            Ok(matches_all(&cells, pattern, *ignore_case))
        }
        // Batches of roll-up keys do not have every column, so the column is not read.
        Test::IsNull { column } if !column.nullable => Ok(BooleanBuffer::new_unset(rows)),
        Test::IsNull { column } => Ok(match cells(batch, column.name)?.validity() {
            Some(valid) => !valid.inner(),
            None => BooleanBuffer::new_unset(rows),
        }),
        Test::Attribute { places, key, condition } => attribute::compare(batch, places, key, condition),
        Test::AnyAttributeContains { places, needle } => attribute::any_contains(batch, places, needle),
        Test::HasBits { column, mask } => {
            let cells = cells(batch, column.name)?;
            Ok(not_null(&cells, each(&cells, |datum| matches!(datum, Datum::U64(bits) if bits & mask != 0))))
        }
    }
}

/// The rows that pass every test.
pub(crate) fn passes_all<'a>(
    tests: impl IntoIterator<Item = &'a Test>,
    batch: &RecordBatch,
) -> Result<BooleanBuffer, StoreError> {
    let mut all = BooleanBuffer::new_set(batch.num_rows());
    for test in tests {
        if all.count_set_bits() == 0 {
            break;
        }
        yield_point();
        all = &all & &passes(test, batch)?;
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::plan_check::check_filter;
    use arrow::array::{ArrayRef, StringArray};
    use std::sync::Arc;
    use tidewatch_store::plan::Filter;
    use tidewatch_store::tables::Table;

    #[track_caller]
    fn check_contains(rows: &[Option<&str>], needle: &str, ignore_case: bool, expected: &[usize]) {
        let array: ArrayRef = Arc::new(StringArray::from(rows.to_vec()));
        let batch = RecordBatch::try_from_iter_with_nullable([("body", array, true)]).unwrap();
        let filter = Filter::Contains { column: "body", needle: needle.to_owned(), ignore_case };
        let mask = passes(&check_filter(Table::Logs, &filter).unwrap(), &batch).unwrap();
        assert_eq!(mask.set_indices().collect::<Vec<_>>(), expected, "{needle:?} in {rows:?}");
        // Repeats the check on a slice of the batch.
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
