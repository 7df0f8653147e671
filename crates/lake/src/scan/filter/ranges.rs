//! Many ranges of one column, such as slices of a time range: one search per row instead of two comparisons per range.

use arrow::buffer::BooleanBuffer;

use crate::batch::cells::Cells;
use crate::batch::datum::Datum;
use crate::scan::plan_check::Test;
use tidewatch_store::plan::Op;
use tidewatch_store::tables::Column;

/// Fewer ranges are compared one by one, because vectorized comparisons cost less than a search.
const RANGES_MIN: usize = 4;

/// Disjoint ranges of a signed column, ascending; both ends are inside.
#[derive(Debug, PartialEq)]
pub(super) struct Ranges {
    pub column: &'static Column,
    ends: Vec<(i64, i64)>,
}

impl Ranges {
    /// The ranges of a disjunction whose operands are a lower and an upper bound of one column each.
    pub fn of(tests: &[Test]) -> Option<Ranges> {
        if tests.len() < RANGES_MIN {
            return None;
        }
        let mut column = None;
        let mut found = Vec::with_capacity(tests.len());
        for test in tests {
            let Test::All(bounds) = test else { return None };
            let [one, other] = bounds.as_slice() else { return None };
            let (mut from, mut to) = (None, None);
            for bound in [one, other] {
                let Test::Compare { column: of, op, value: Datum::I64(value) } = bound else { return None };
                if column.is_some_and(|known| known != *of) {
                    return None;
                }
                column = Some(*of);
                // No value is beyond the ends of the type.
                match op {
                    Op::Ge => from = Some(Some(*value)),
                    Op::Gt => from = Some(value.checked_add(1)),
                    Op::Le => to = Some(Some(*value)),
                    Op::Lt => to = Some(value.checked_sub(1)),
                    Op::Eq | Op::Ne => return None,
                }
            }
            if let (Some(from), Some(to)) = (from?, to?)
                && from <= to
            {
                found.push((from, to));
            }
        }
        found.sort_unstable();
        let mut ends: Vec<(i64, i64)> = Vec::with_capacity(found.len());
        for (from, to) in found {
            match ends.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(to),
                _ => ends.push((from, to)),
            }
        }
        Some(Ranges { column: column?, ends })
    }

    /// The cells inside a range; `None` for cells of another type. A null has an arbitrary bit.
    pub fn contain(&self, cells: &Cells<'_>) -> Option<BooleanBuffer> {
        let Cells::I64(array) = cells else { return None };
        let values = array.values();
        Some(BooleanBuffer::collect_bool(values.len(), |row| {
            let value = values[row];
            let after = self.ends.partition_point(|(from, _)| *from <= value);
            after > 0 && value <= self.ends[after - 1].1
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::filter::passes;
    use crate::scan::plan_check::check_filter;
    use arrow::array::{ArrayRef, Int64Array, RecordBatch};
    use std::sync::Arc;
    use tidewatch_store::plan::{Filter, Value};
    use tidewatch_store::tables::Table;

    fn bound(op: Op, value: i64) -> Filter {
        Filter::Compare { column: "time", op, value: Value::I64(value) }
    }

    fn range(from: (Op, i64), to: (Op, i64)) -> Filter {
        bound(from.0, from.1).and(bound(to.0, to.1))
    }

    #[track_caller]
    fn check(ranges: Vec<Filter>, expected: &[usize]) {
        let values = [Some(i64::MIN), Some(-5), Some(0), Some(9), Some(10), None, Some(20), Some(i64::MAX)];
        let array: ArrayRef = Arc::new(Int64Array::from(values.to_vec()));
        let batch = RecordBatch::try_from_iter_with_nullable([("time", array, true)]).unwrap();
        let test = check_filter(Table::Spans, &Filter::Any(ranges.clone())).unwrap();
        let Test::Any(tests) = &test else { panic!("a disjunction") };
        assert!(Ranges::of(tests).is_some(), "{ranges:?}");
        let found: Vec<usize> = passes(&test, &batch).unwrap().set_indices().collect();
        assert_eq!(found, expected, "{ranges:?}");
        // The same rows as one comparison after the other.
        let one_by_one = ranges.iter().flat_map(|range| {
            let test = check_filter(Table::Spans, range).unwrap();
            passes(&test, &batch).unwrap().set_indices().collect::<Vec<_>>()
        });
        let mut one_by_one: Vec<usize> = one_by_one.collect();
        one_by_one.sort_unstable();
        one_by_one.dedup();
        assert_eq!(one_by_one, expected, "{ranges:?}");
    }

    #[test]
    fn a_row_passes_when_one_range_has_its_value() {
        use Op::{Ge, Gt, Le, Lt};
        let none = || range((Ge, 100), (Lt, 100));
        check(vec![none(), none(), none(), none()], &[]);
        check(vec![range((Ge, 0), (Lt, 10)), none(), none(), none()], &[2, 3]);
        check(vec![range((Gt, 0), (Le, 10)), none(), none(), none()], &[3, 4]);
        let overlapping = [range((Ge, 9), (Le, 30)), range((Ge, -9), (Lt, 10)), range((Ge, -6), (Lt, 0)), none()];
        check(overlapping.to_vec(), &[1, 2, 3, 4, 6]);
        let ends = [range((Ge, i64::MIN), (Lt, -5)), range((Gt, 20), (Le, i64::MAX)), range((Gt, i64::MAX), (Lt, 0))];
        check([ends.to_vec(), vec![range((Ge, 0), (Lt, i64::MIN))]].concat(), &[0, 7]);
    }

    #[test]
    fn other_disjunctions_are_no_ranges() {
        let slices = |other: Filter| {
            let mut all: Vec<Filter> = (0..4).map(|n| range((Op::Ge, 10 * n), (Op::Lt, 10 * n + 5))).collect();
            all.push(other);
            check_filter(Table::Spans, &Filter::Any(all)).unwrap()
        };
        let duration = Filter::Compare { column: "duration", op: Op::Lt, value: Value::I64(1) };
        for other in [
            bound(Op::Ge, 0),
            range((Op::Ge, 0), (Op::Gt, 1)),
            range((Op::Eq, 0), (Op::Lt, 1)),
            bound(Op::Ge, 0).and(duration),
        ] {
            let Test::Any(tests) = slices(other.clone()) else { panic!("a disjunction") };
            assert_eq!(Ranges::of(&tests), None, "{other:?}");
        }
    }
}
