//! A single value of a column, widened to one of four types.

use std::cmp::Ordering;

use tidewatch_store::StoreError;
use tidewatch_store::plan::{Op, Value};
use tidewatch_store::tables::{Column, Kind};

/// A value. Only values of columns of the same kind are comparable.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Datum {
    /// Bool (0, 1), U8, U32, U64.
    U64(u64),
    /// I16, I64.
    I64(i64),
    F64(f64),
    /// Text, Bytes, Id8, Id16; compared by bytes.
    Bytes(Vec<u8>),
}

/// Whether `cell op literal` holds.
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

impl Datum {
    /// Converts a literal of a plan to the kind of `column`; [`StoreError::BadPlan`] when it does not fit.
    pub fn literal(column: &Column, value: &Value) -> Result<Datum, StoreError> {
        let fits = match (column.kind, value) {
            (Kind::Bool, Value::Bool(value)) => Some(Datum::U64(u64::from(*value))),
            (Kind::U8 | Kind::U32 | Kind::U64, Value::U64(value)) => Some(Datum::U64(*value)),
            (Kind::I16 | Kind::I64, Value::I64(value)) => Some(Datum::I64(*value)),
            (Kind::F64, Value::F64(value)) => Some(Datum::F64(*value)),
            (Kind::Text, Value::Text(text)) => Some(Datum::Bytes(text.clone().into_bytes())),
            (Kind::Bytes, Value::Bytes(bytes)) => Some(Datum::Bytes(bytes.clone())),
            (Kind::Id8, Value::Bytes(bytes)) if bytes.len() == 8 => Some(Datum::Bytes(bytes.clone())),
            (Kind::Id16, Value::Bytes(bytes)) if bytes.len() == 16 => Some(Datum::Bytes(bytes.clone())),
            _ => None,
        };
        fits.ok_or_else(|| {
            StoreError::BadPlan(format!("column {} of kind {:?} cannot meet {value:?}", column.name, column.kind))
        })
    }

    /// The order of values of one kind; floats by total order.
    pub fn order(&self, other: &Datum) -> Ordering {
        match (self, other) {
            (Datum::U64(a), Datum::U64(b)) => a.cmp(b),
            (Datum::I64(a), Datum::I64(b)) => a.cmp(b),
            (Datum::F64(a), Datum::F64(b)) => a.total_cmp(b),
            (Datum::Bytes(a), Datum::Bytes(b)) => a.cmp(b),
            _ => Ordering::Equal,
        }
    }

    /// Appends bytes that compare like the datum. Text has a terminator, so that encodings can be concatenated.
    pub fn encode(&self, descending: bool, into: &mut Vec<u8>) {
        let start = into.len();
        match self {
            Datum::U64(value) => into.extend(value.to_be_bytes()),
            Datum::I64(value) => into.extend(sortable_i64(*value).to_be_bytes()),
            Datum::F64(value) => into.extend(sortable_f64(*value).to_be_bytes()),
            Datum::Bytes(bytes) => encode_bytes(bytes, into),
        }
        if descending {
            into[start..].iter_mut().for_each(|byte| *byte = !*byte);
        }
    }

    /// Heap bytes.
    pub fn heap(&self) -> usize {
        match self {
            Datum::Bytes(bytes) => bytes.len(),
            _ => 0,
        }
    }
}

pub(crate) fn sortable_i64(value: i64) -> u64 {
    value as u64 ^ (1 << 63)
}

pub(crate) fn unsortable_i64(bits: u64) -> i64 {
    (bits ^ (1 << 63)) as i64
}

/// The order of the bits equals [`f64::total_cmp`].
pub(crate) fn sortable_f64(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | (1 << 63) }
}

/// Encodes a zero byte as `00 FF` and the end as `00 00`, so that a prefix sorts first.
pub(crate) fn encode_bytes(bytes: &[u8], into: &mut Vec<u8>) {
    for &byte in bytes {
        into.push(byte);
        if byte == 0 {
            into.push(0xFF);
        }
    }
    into.extend([0, 0]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_datums_compare_like_datums() {
        let ascending = [
            vec![Datum::I64(i64::MIN), Datum::I64(-1), Datum::I64(0), Datum::I64(i64::MAX)],
            vec![Datum::U64(0), Datum::U64(1), Datum::U64(u64::MAX)],
            vec![Datum::F64(f64::MIN), Datum::F64(-1.0), Datum::F64(0.0), Datum::F64(1e-300), Datum::F64(f64::MAX)],
            ["", "\0", "\0\0", "\0a", "a", "a\0", "ab", "b", "é"].map(|t| Datum::Bytes(t.into())).to_vec(),
        ];
        for list in ascending {
            for pair in list.windows(2) {
                let encoded = |datum: &Datum, descending| {
                    let mut bytes = Vec::new();
                    datum.encode(descending, &mut bytes);
                    bytes
                };
                assert_eq!(pair[0].order(&pair[1]), Ordering::Less, "{pair:?}");
                assert!(encoded(&pair[0], false) < encoded(&pair[1], false), "{pair:?}");
                assert!(encoded(&pair[0], true) > encoded(&pair[1], true), "{pair:?} descending");
            }
        }
    }
}
