//! Numbers with units.

use crate::units::{DAY_NS, HOUR_NS, MINUTE_NS, SECOND_NS};

/// A number of a query, with its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantity {
    /// The number as written, finite.
    pub number: f64,
    /// The unit.
    pub unit: Unit,
}

/// The unit of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// No unit is written.
    None,
    /// A time; the factor gives nanoseconds.
    Time(u64),
    /// A size; the factor gives bytes.
    Size(u64),
}

/// Units by their names.
const UNITS: &[(&str, Unit)] = &[
    ("ns", Unit::Time(1)),
    ("us", Unit::Time(1_000)),
    ("µs", Unit::Time(1_000)),
    ("μs", Unit::Time(1_000)),
    ("ms", Unit::Time(1_000_000)),
    ("s", Unit::Time(SECOND_NS as u64)),
    ("m", Unit::Time(MINUTE_NS as u64)),
    ("min", Unit::Time(MINUTE_NS as u64)),
    ("h", Unit::Time(HOUR_NS as u64)),
    ("d", Unit::Time(DAY_NS as u64)),
    ("B", Unit::Size(1)),
    ("kB", Unit::Size(1_000)),
    ("KB", Unit::Size(1_000)),
    ("MB", Unit::Size(1_000_000)),
    ("GB", Unit::Size(1_000_000_000)),
    ("KiB", Unit::Size(1 << 10)),
    ("MiB", Unit::Size(1 << 20)),
    ("GiB", Unit::Size(1 << 30)),
];

impl Quantity {
    /// Parses `200`, `-1.5`, `2e3`, `200ms` or `1.5MiB`.
    pub fn parse(text: &str) -> Option<Quantity> {
        let (number, unit) = UNITS
            .iter()
            .filter(|(name, _)| text.len() > name.len() && text.ends_with(name))
            // The longest name: `ms` and not `s`.
            .max_by_key(|(name, _)| name.len())
            .map_or((text, Unit::None), |(name, unit)| (&text[..text.len() - name.len()], *unit));
        // `inf` and `nan` are words.
        if !number.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+' | b'e' | b'E')) {
            return None;
        }
        let number: f64 = number.parse().ok()?;
        number.is_finite().then_some(Quantity { number, unit })
    }

    /// The number without a unit.
    pub fn plain(self) -> Option<f64> {
        (self.unit == Unit::None).then_some(self.number)
    }

    /// Nanoseconds; a number without a unit is in milliseconds.
    pub fn nanoseconds(self) -> Option<f64> {
        match self.unit {
            Unit::None => Some(self.number * 1.0e6),
            Unit::Time(factor) => Some(self.number * factor as f64),
            Unit::Size(_) => None,
        }
    }

    /// Bytes; a number without a unit is in bytes.
    pub fn bytes(self) -> Option<f64> {
        match self.unit {
            Unit::None => Some(self.number),
            Unit::Size(factor) => Some(self.number * factor as f64),
            Unit::Time(_) => None,
        }
    }
}
