//! Bounds of a column chunk or page from a part's footer, and their evaluation by tests.

use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::file::statistics::Statistics;

use crate::batch::datum::{Datum, holds};
use crate::scan::plan_check::Test;
use tidewatch_store::plan::Op;
use tidewatch_store::tables::{Column, Kind};

/// Bounds of a range of rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Bounds {
    /// Every row is null.
    Nulls,
    /// Bounds of the values. Bounds of text may be wider than the text, because writers truncate them.
    Values {
        min: Datum,
        max: Datum,
        /// Some row may be null.
        nulls: bool,
    },
}

/// Which rows of a range pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    All,
    Some,
    None,
}

impl Verdict {
    fn not(self) -> Verdict {
        match self {
            Verdict::All => Verdict::None,
            Verdict::Some => Verdict::Some,
            Verdict::None => Verdict::All,
        }
    }

    /// `all`: every row certainly passes; `none`: no row can pass.
    fn of(all: bool, none: bool) -> Verdict {
        match (all, none) {
            (true, _) => Verdict::All,
            (_, true) => Verdict::None,
            _ => Verdict::Some,
        }
    }
}

/// Evaluates a test on bounds. `bounds` returns `None` for columns with unknown bounds.
pub(crate) fn judge(test: &Test, bounds: &dyn Fn(&'static Column) -> Option<Bounds>) -> Verdict {
    match test {
        Test::True => Verdict::All,
        Test::All(tests) => {
            let mut all = Verdict::All;
            for test in tests {
                match judge(test, bounds) {
                    Verdict::None => return Verdict::None,
                    Verdict::Some => all = Verdict::Some,
                    Verdict::All => {}
                }
            }
            all
        }
        Test::Any(tests) => {
            let mut any = Verdict::None;
            for test in tests {
                match judge(test, bounds) {
                    Verdict::All => return Verdict::All,
                    Verdict::Some => any = Verdict::Some,
                    Verdict::None => {}
                }
            }
            any
        }
        Test::Not(test) => judge(test, bounds).not(),
        Test::Compare { column, op, value } => {
            bounds(column).map_or(Verdict::Some, |bounds| compare(&bounds, *op, value))
        }
        Test::In { values, .. } if values.is_empty() => Verdict::None,
        Test::In { column, values } => match bounds(column) {
            Some(bounds) => {
                let verdicts = values.iter().map(|value| compare(&bounds, Op::Eq, value));
                let all = verdicts.clone().any(|verdict| verdict == Verdict::All);
                Verdict::of(all, verdicts.into_iter().all(|verdict| verdict == Verdict::None))
            }
            None => Verdict::Some,
        },
        Test::IsNull { column } if !column.nullable => Verdict::None,
        Test::IsNull { column } => match bounds(column) {
            Some(Bounds::Nulls) => Verdict::All,
            Some(Bounds::Values { nulls: false, .. }) => Verdict::None,
            _ => Verdict::Some,
        },
        Test::HasBits { column, mask } => match bounds(column) {
            Some(Bounds::Nulls) => Verdict::None,
            Some(Bounds::Values { min: Datum::U64(min), max: Datum::U64(max), nulls }) if min == max => {
                let has = min & mask != 0;
                Verdict::of(has && !nulls, !has)
            }
            _ => Verdict::Some,
        },
        Test::Contains { .. } | Test::Matches { .. } | Test::Attribute { .. } | Test::AnyAttributeContains { .. } => {
            Verdict::Some
        }
    }
}

fn compare(bounds: &Bounds, op: Op, value: &Datum) -> Verdict {
    let Bounds::Values { min, max, nulls } = bounds else { return Verdict::None };
    let verdict = match (min, max, value) {
        (Datum::U64(min), Datum::U64(max), Datum::U64(value)) => within(min, max, op, value),
        (Datum::I64(min), Datum::I64(max), Datum::I64(value)) => within(min, max, op, value),
        (Datum::Bytes(min), Datum::Bytes(max), Datum::Bytes(value)) => {
            within(min.as_slice(), max.as_slice(), op, value.as_slice())
        }
        // Bounds do not cover NaN, which differs from every value.
        (Datum::F64(_), Datum::F64(_), Datum::F64(_)) if op == Op::Ne => Verdict::Some,
        (Datum::F64(min), Datum::F64(max), Datum::F64(value)) => match within(min, max, op, value) {
            Verdict::None => Verdict::None,
            _ => Verdict::Some,
        },
        _ => Verdict::Some,
    };
    if *nulls && verdict == Verdict::All { Verdict::Some } else { verdict }
}

fn within<T: PartialOrd + ?Sized>(min: &T, max: &T, op: Op, value: &T) -> Verdict {
    let constant = min == max;
    match op {
        Op::Eq => Verdict::of(constant && min == value, value < min || value > max),
        Op::Ne => within(min, max, Op::Eq, value).not(),
        Op::Lt | Op::Le => Verdict::of(holds(op, max, value), !holds(op, min, value)),
        Op::Gt | Op::Ge => Verdict::of(holds(op, min, value), !holds(op, max, value)),
    }
}

/// Bounds of a column chunk with `rows` rows; `None` when unknown.
pub(crate) fn of_chunk(kind: Kind, rows: u64, statistics: Option<&Statistics>) -> Option<Bounds> {
    let statistics = statistics?;
    let null_count = statistics.null_count_opt();
    if null_count == Some(rows) {
        return Some(Bounds::Nulls);
    }
    let (min, max) = (statistics.min_bytes_opt()?, statistics.max_bytes_opt()?);
    Some(Bounds::Values { min: datum(kind, min)?, max: datum(kind, max)?, nulls: null_count != Some(0) })
}

fn datum(kind: Kind, bytes: &[u8]) -> Option<Datum> {
    Some(match kind {
        Kind::Bool => Datum::U64(u64::from(*bytes.first()?)),
        Kind::U8 | Kind::U32 => Datum::U64(u64::from(u32::from_le_bytes(bytes.try_into().ok()?))),
        Kind::U64 => Datum::U64(u64::from_le_bytes(bytes.try_into().ok()?)),
        Kind::I16 => Datum::I64(i64::from(i32::from_le_bytes(bytes.try_into().ok()?))),
        Kind::I64 => Datum::I64(i64::from_le_bytes(bytes.try_into().ok()?)),
        Kind::F64 => Datum::F64(f64::from_le_bytes(bytes.try_into().ok()?)),
        Kind::Text | Kind::Bytes | Kind::Id8 | Kind::Id16 => Datum::Bytes(bytes.to_vec()),
    })
}

/// Bounds of one data page; `None` when unknown.
pub(crate) fn of_page(kind: Kind, index: &ColumnIndexMetaData, page: usize) -> Option<Bounds> {
    if index.is_null_page(page) {
        return Some(Bounds::Nulls);
    }
    let bounds =
        |min: Datum, max: Datum, null_count: Option<i64>| Bounds::Values { min, max, nulls: null_count != Some(0) };
    match index {
        ColumnIndexMetaData::BOOLEAN(index) => {
            let datum = |value: &bool| Datum::U64(u64::from(*value));
            Some(bounds(datum(index.min_value(page)?), datum(index.max_value(page)?), index.null_count(page)))
        }
        ColumnIndexMetaData::INT32(index) => {
            let datum = |value: &i32| datum(kind, &value.to_le_bytes());
            Some(bounds(datum(index.min_value(page)?)?, datum(index.max_value(page)?)?, index.null_count(page)))
        }
        ColumnIndexMetaData::INT64(index) => {
            let datum = |value: &i64| datum(kind, &value.to_le_bytes());
            Some(bounds(datum(index.min_value(page)?)?, datum(index.max_value(page)?)?, index.null_count(page)))
        }
        ColumnIndexMetaData::DOUBLE(index) => {
            let datum = |value: &f64| Datum::F64(*value);
            Some(bounds(datum(index.min_value(page)?), datum(index.max_value(page)?), index.null_count(page)))
        }
        ColumnIndexMetaData::BYTE_ARRAY(index) | ColumnIndexMetaData::FIXED_LEN_BYTE_ARRAY(index) => {
            let datum = |value: &[u8]| Datum::Bytes(value.to_vec());
            Some(bounds(datum(index.min_value(page)?), datum(index.max_value(page)?), index.null_count(page)))
        }
        ColumnIndexMetaData::INT96(_) | ColumnIndexMetaData::FLOAT(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::plan_check::check_filter;
    use tidewatch_store::plan::{Filter, Value};
    use tidewatch_store::tables::Table;

    #[track_caller]
    fn check(min: i64, max: i64, op: Op, value: i64, expected: Verdict) {
        let filter = Filter::Compare { column: "duration", op, value: Value::I64(value) };
        let test = check_filter(Table::Spans, &filter).unwrap();
        let bounds = |nulls| move |_| Some(Bounds::Values { min: Datum::I64(min), max: Datum::I64(max), nulls });
        assert_eq!(judge(&test, &bounds(false)), expected, "{min}..={max} {op:?} {value}");
        let with_nulls = if expected == Verdict::All { Verdict::Some } else { expected };
        assert_eq!(judge(&test, &bounds(true)), with_nulls, "{min}..={max} {op:?} {value} with nulls");
    }

    #[test]
    fn a_range_of_nulls_passes_only_tests_for_null() {
        let linked = "linked_trace_id";
        let id = || Value::Bytes(vec![1; 16]);
        let one_of = Filter::In { column: linked, values: vec![id()] };
        let is_null = Filter::IsNull { column: linked };
        for (filter, expected) in [
            (Filter::eq(linked, id()), Verdict::None),
            (Filter::Compare { column: linked, op: Op::Ne, value: id() }, Verdict::None),
            (one_of.clone(), Verdict::None),
            (Filter::Not(Box::new(one_of)), Verdict::All),
            (is_null.clone(), Verdict::All),
            (Filter::Not(Box::new(is_null)), Verdict::None),
        ] {
            let test = check_filter(Table::Endpoints, &filter).unwrap();
            assert_eq!(judge(&test, &|_| Some(Bounds::Nulls)), expected, "{filter:?}");
        }
    }

    #[test]
    fn comparisons_are_evaluated_on_bounds() {
        check(1, 5, Op::Eq, 0, Verdict::None);
        check(1, 5, Op::Eq, 1, Verdict::Some);
        check(1, 1, Op::Eq, 1, Verdict::All);
        check(1, 5, Op::Ne, 6, Verdict::All);
        check(1, 5, Op::Ne, 3, Verdict::Some);
        check(1, 1, Op::Ne, 1, Verdict::None);
        check(1, 5, Op::Lt, 6, Verdict::All);
        check(1, 5, Op::Lt, 5, Verdict::Some);
        check(1, 5, Op::Lt, 1, Verdict::None);
        check(1, 5, Op::Le, 5, Verdict::All);
        check(1, 5, Op::Le, 0, Verdict::None);
        check(1, 5, Op::Gt, 0, Verdict::All);
        check(1, 5, Op::Gt, 5, Verdict::None);
        check(1, 5, Op::Ge, 1, Verdict::All);
        check(1, 5, Op::Ge, 5, Verdict::Some);
        check(1, 5, Op::Ge, 6, Verdict::None);
    }
}
