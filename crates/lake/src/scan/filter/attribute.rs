//! Tests of attributes, with one result bit per row.

use arrow::array::{Array, Int64Array, RecordBatch};
use arrow::buffer::BooleanBuffer;
use tidewatch_domain::wire;

use super::compare;
use crate::batch::attribute::{AttributeReader, own_columns, own_text};
use crate::batch::cells::{Cells, cells};
use crate::batch::datum::Datum;
use crate::batch::places::Place;
use crate::scan::plan_check::{AttributeCondition, Needle};
use tidewatch_store::StoreError;
use tidewatch_store::plan::Op;

/// Rows whose number is (or, if not `wanted`, is not) formatted as `value`. `07` is the format of no number.
fn same_number(numbers: &Int64Array, value: &str, wanted: bool) -> BooleanBuffer {
    let number = value.parse::<i64>().ok().filter(|number| number.to_string() == value);
    let mask = match number {
        Some(number) => BooleanBuffer::collect_bool(numbers.len(), |row| (numbers.values()[row] == number) == wanted),
        None => BooleanBuffer::collect_bool(numbers.len(), |_| !wanted),
    };
    match numbers.nulls() {
        Some(valid) => &mask & valid.inner(),
        None => mask,
    }
}

/// Rows that have the attribute and whose value, as text, meets the condition.
pub(crate) fn compare(
    batch: &RecordBatch,
    places: &[Place],
    key: &str,
    condition: &AttributeCondition,
) -> Result<BooleanBuffer, StoreError> {
    let reader = AttributeReader::new(batch, places, key)?;
    if let AttributeCondition::Compare(op, value) = condition {
        if let Some(strings) = reader.only_strings() {
            return Ok(compare::compare_all(strings, *op, &Datum::Bytes(value.as_bytes().to_vec())));
        }
        if let Some(numbers) = reader.only_numbers()
            && matches!(op, Op::Eq | Op::Ne)
        {
            return Ok(same_number(numbers, value, *op == Op::Eq));
        }
    }
    Ok(reader.passing(batch.num_rows(), &|text| condition.holds(text)))
}

/// Rows with an attribute value that, as text, contains the needle.
pub(crate) fn any_contains(
    batch: &RecordBatch,
    places: &[Place],
    needle: &Needle,
) -> Result<BooleanBuffer, StoreError> {
    let rows = batch.num_rows();
    let mut any = BooleanBuffer::new_unset(rows);
    let mut lowered = Vec::new();
    let mut contains = |text: &str| {
        lowered.clear();
        lowered.extend_from_slice(text.as_bytes());
        lowered.make_ascii_lowercase();
        needle.finder.find(&lowered).is_some()
    };
    for place in places {
        let name = place.column().name;
        if let Place::Encoded(_) = place {
            for (_, own) in own_columns(batch, name)? {
                any = &any
                    | &match own {
                        Cells::I64(_) => BooleanBuffer::collect_bool(rows, |row| {
                            own_text(&own, row).is_some_and(|text| contains(&text))
                        }),
                        strings => compare::contains_all(&strings, needle),
                    };
            }
        }
        let cells = cells(batch, name)?;
        // Consecutive rows mostly share their resource and scope, so the last result is reused.
        let mut last: (&[u8], bool) = (&[], false);
        let found = BooleanBuffer::collect_bool(rows, |row| {
            let bytes = cells.bytes(row);
            if !std::ptr::eq(last.0, bytes) {
                let mut found = false;
                wire::for_each_attribute_text(bytes, |_, text| found = found || contains(&text));
                last = (bytes, found);
            }
            last.1
        });
        any = &any | &found;
    }
    Ok(any)
}
