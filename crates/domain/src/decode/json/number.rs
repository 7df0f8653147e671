//! Reads JSON numbers exactly. An integer may be a number or a string, and may have a fraction or exponent that cancels.

use super::reader::Reader;
use crate::decode::fault::{Fault, fault};

impl<'a> Reader<'a> {
    /// An `int64`.
    pub(super) fn int64(&mut self, what: &str) -> Result<i64, Fault> {
        self.integer(what)
    }

    /// An `int32`.
    pub(super) fn int32(&mut self, what: &str) -> Result<i32, Fault> {
        self.integer(what)
    }

    /// A `uint64` or `fixed64`.
    pub(super) fn uint64(&mut self, what: &str) -> Result<u64, Fault> {
        self.integer(what)
    }

    /// A `uint32` or `fixed32`.
    pub(super) fn uint32(&mut self, what: &str) -> Result<u32, Fault> {
        self.integer(what)
    }

    fn integer<T: TryFrom<i128>>(&mut self, what: &str) -> Result<T, Fault> {
        let start = self.at;
        let text = self.number_or_string(what)?;
        match whole(text).and_then(|number| T::try_from(number).ok()) {
            Some(number) => Ok(number),
            None => Err(fault!("JSON: {what} at byte {start} is not a whole number in range")),
        }
    }

    /// A `double`: a number, or a string with a number, `NaN`, `Infinity` or `-Infinity`.
    pub(super) fn double(&mut self, what: &str) -> Result<f64, Fault> {
        let start = self.at;
        let text = self.number_or_string(what)?;
        match text {
            "NaN" => return Ok(f64::NAN),
            "Infinity" => return Ok(f64::INFINITY),
            "-Infinity" => return Ok(f64::NEG_INFINITY),
            _ => {}
        }
        match text.parse() {
            Ok(number) if number_length(text.as_bytes()) == Some(text.len()) && f64::is_finite(number) => Ok(number),
            _ => Err(fault!("JSON: {what} at byte {start} is not a number in range")),
        }
    }

    fn number_or_string(&mut self, what: &str) -> Result<&'a str, Fault> {
        match self.peek() {
            Some(b'"') => self.string(what),
            _ => self.number_text(what),
        }
    }

    /// A number, unparsed.
    pub(super) fn number_text(&mut self, what: &str) -> Result<&'a str, Fault> {
        self.peek();
        let rest = &self.text[self.at..];
        match number_length(rest.as_bytes()) {
            Some(length) => {
                self.at += length;
                Ok(&rest[..length])
            }
            None => Err(self.wrong_type(what, "a number")),
        }
    }
}

/// Length of the JSON number at the start of `bytes`.
fn number_length(bytes: &[u8]) -> Option<usize> {
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let sign = usize::from(bytes.first() == Some(&b'-'));
    let whole = digits(sign);
    if whole == 0 || (whole > 1 && bytes[sign] == b'0') {
        return None;
    }
    let mut at = sign + whole;
    if bytes.get(at) == Some(&b'.') {
        let fraction = digits(at + 1);
        if fraction == 0 {
            return None;
        }
        at += 1 + fraction;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let exponent = digits(at + 1 + sign);
        if exponent == 0 {
            return None;
        }
        at += 1 + sign + exponent;
    }
    Some(at)
}

/// The exact value of a JSON number that is an integer of at most 38 digits; `None` for any other text.
pub(super) fn whole(text: &str) -> Option<i128> {
    // The fast path for digits that fit into 64 bits.
    if text.len() <= 19 && !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(text.bytes().fold(0u64, |number, digit| number * 10 + u64::from(digit - b'0')).into());
    }
    plain(text).or_else(|| scientific(text))
}

/// An optional sign and digits. Leading zeros are accepted (in strings).
fn plain(text: &str) -> Option<i128> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// A number with a fraction or an exponent.
fn scientific(text: &str) -> Option<i128> {
    if number_length(text.as_bytes()) != Some(text.len()) {
        return None;
    }
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (before, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let mut number: i128 = before.parse().ok()?;
    let negative = before.starts_with('-');
    for digit in fraction.bytes() {
        let digit = i128::from(digit - b'0');
        number = number.checked_mul(10)?.checked_add(if negative { -digit } else { digit })?;
    }
    let exponent = exponent.parse::<i64>().ok()?.checked_sub(fraction.len() as i64)?;
    if number == 0 {
        return Some(0);
    }
    if exponent >= 0 {
        let power = 10i128.checked_pow(u32::try_from(exponent).ok()?)?;
        return number.checked_mul(power);
    }
    let power = 10i128.checked_pow(u32::try_from(-exponent).ok()?)?;
    (number % power == 0).then(|| number / power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers() {
        for (text, expected) in [
            ("0", Some(0)),
            ("-0", Some(0)),
            ("200", Some(200)),
            ("007", Some(7)),
            ("9999999999999999999", Some(9_999_999_999_999_999_999)),
            ("9223372036854775807", Some(i128::from(i64::MAX))),
            ("-9223372036854775808", Some(i128::from(i64::MIN))),
            ("18446744073709551615", Some(i128::from(u64::MAX))),
            ("1.7e18", Some(1_700_000_000_000_000_000)),
            ("1.79521920020000000012E+18", None),
            ("1.795219200200000001e18", Some(1_795_219_200_200_000_001)),
            ("1795219200.2e9", Some(1_795_219_200_200_000_000)),
            ("200.0", Some(200)),
            ("2000e-1", Some(200)),
            ("-2.5e1", Some(-25)),
            ("-0.5e1", Some(-5)),
            ("0e99999", Some(0)),
            ("0.5", None),
            ("5e-1", None),
            ("1e99999", None),
            ("1e99999999999999999999", None),
            ("", None),
            ("-", None),
            ("+1", None),
            ("1_000", None),
            ("0x10", None),
            (" 1", None),
            ("1 ", None),
            ("NaN", None),
            ("1e", None),
            (".5e1", None),
            ("٣", None),
        ] {
            assert_eq!(whole(text), expected, "{text}");
        }
    }

    #[test]
    fn number_lengths() {
        for (text, length) in [
            ("0", Some(1)),
            ("-12.5e+3,", Some(8)),
            ("10}", Some(2)),
            ("01", None),
            ("1.", None),
            ("1.e3", None),
            ("1e", None),
            ("-", None),
            ("", None),
            ("NaN", None),
        ] {
            assert_eq!(number_length(text.as_bytes()), length, "{text}");
        }
    }
}
