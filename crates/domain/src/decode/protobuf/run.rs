//! The fast way through attributes. Only speed depends on this file: whatever it does not recognise is left to be read
//! field by field.
//!
//! UTF-8 is checked a run of attributes at a time: one call for hundreds of bytes instead of two per attribute. A run
//! is a series of attributes with string values in which every length is below 128, and the key of the attribute
//! behind them. Its field keys and lengths are then ASCII, so the run as a whole is valid UTF-8 exactly when each
//! string in it is, and the strings are slices of one checked text.

use super::reader::Reader;
use crate::model::{AnyValue, KeyValue};

/// `KeyValue.key`, `AnyValue.string_value`.
const FIELD_1: u8 = 1 << 3 | 2;
/// `KeyValue.value`.
const FIELD_2: u8 = 2 << 3 | 2;
const BOOL: u8 = 2 << 3;
const INT: u8 = 3 << 3;
const DOUBLE: u8 = 4 << 3 | 1;

/// Reads runs.
#[derive(Default)]
pub(super) struct Runs {
    /// Up to here in the body the last run was not valid UTF-8. It is not checked again from its second attribute on:
    /// the work stays proportional to the body.
    slow_until: usize,
}

impl Runs {
    /// Reads the run that begins with the attribute whose length `owner` is about to read, and the attribute behind it
    /// when that is a plain number, bool or longer string. `owner` is then behind the last one that was read.
    ///
    /// `false` when nothing was read.
    pub(super) fn read<'a>(&mut self, owner: &mut Reader<'a>, flat: &mut Vec<KeyValue<'a>>) -> bool {
        if owner.position() < self.slow_until {
            return false;
        }
        let (rest, list_key) = (owner.rest(), owner.last_byte());
        let (mut count, mut at, mut end) = (0, 0, 0);
        while let Some(size) = string_attribute(&rest[at..]) {
            count += 1;
            end = at + size;
            if rest.get(end) != Some(&list_key) {
                break;
            }
            at = end + 1;
        }
        let before_another = at >= end;
        let checked = if before_another { at + head(&rest[at..]) } else { end };
        let Ok(text) = simdutf8::basic::from_utf8(&rest[..checked]) else {
            self.slow_until = owner.position() + checked;
            return false;
        };
        flat.reserve(count + 1);
        let mut start = 0;
        for _ in 0..count {
            let (attribute, end) = slice_attribute(text, start);
            flat.push(attribute);
            // Behind the key of the next one.
            start = end + 1;
        }
        if before_another && let Some((attribute, size)) = other_attribute(&rest[at..], text.get(at + 3..)) {
            flat.push(attribute);
            end = at + size;
        }
        owner.advance(end);
        end > 0
    }
}

/// Size of the attribute whose length byte comes first, when it may belong to a run.
#[inline]
fn string_attribute(bytes: &[u8]) -> Option<usize> {
    let &[length, FIELD_1, key_length, ..] = bytes else { return None };
    let key_end = 3 + usize::from(key_length);
    let &[FIELD_2, value_length, FIELD_1, text_length] = bytes.get(key_end..key_end + 4)? else { return None };
    let size = key_end + 4 + usize::from(text_length);
    let short = (length | key_length | value_length | text_length) < 0x80;
    let fits = value_length == text_length.wrapping_add(2) && usize::from(length) + 1 == size && size <= bytes.len();
    (short && fits).then_some(size)
}

/// The attribute at `start`, which [`string_attribute`] has seen, and where it ends. A slice of checked text that begins
/// behind an ASCII byte and ends before one is text.
#[inline]
fn slice_attribute(text: &str, start: usize) -> (KeyValue<'_>, usize) {
    let bytes = text.as_bytes();
    let key_end = start + 3 + usize::from(bytes[start + 2]);
    let end = start + 1 + usize::from(bytes[start]);
    let key = text.get(start + 3..key_end).unwrap_or_default();
    let value = text.get(key_end + 4..end).unwrap_or_default();
    (KeyValue { key, value: AnyValue::Str(value) }, end)
}

/// Size of the length and key of the attribute whose length byte comes first; 0 when it is of another shape.
#[inline]
fn head(bytes: &[u8]) -> usize {
    match *bytes {
        [0..0x80, FIELD_1, key_length @ 0..0x80, ref rest @ ..] if usize::from(key_length) <= rest.len() => {
            3 + usize::from(key_length)
        }
        _ => 0,
    }
}

/// A plain attribute that is no short string, and its size. `key` is given when [`head`] has seen it.
fn other_attribute<'a>(bytes: &'a [u8], key: Option<&'a str>) -> Option<(KeyValue<'a>, usize)> {
    let Some(key) = key else { return long_string(bytes) };
    let size = 1 + usize::from(*bytes.first()?);
    let value = match *bytes.get(3 + key.len()..size)? {
        [FIELD_2, 2, INT, number @ 0..0x80] => AnyValue::Int(number.into()),
        [FIELD_2, 3, INT, low @ 0x80..=0xff, high @ 0..0x80] => AnyValue::Int(two_bytes(low, high)? as i64),
        [FIELD_2, 2, BOOL, truth @ 0..0x80] => AnyValue::Bool(truth != 0),
        [FIELD_2, 9, DOUBLE, ref number @ ..] => AnyValue::Double(f64::from_le_bytes(number.try_into().ok()?)),
        _ => return None,
    };
    Some((KeyValue { key, value }, size))
}

/// An attribute with a string value whose lengths take two bytes each, and its size.
fn long_string(bytes: &[u8]) -> Option<(KeyValue<'_>, usize)> {
    let &[low, high, FIELD_1, key_length @ 0..0x80, ref rest @ ..] = bytes else { return None };
    let length = two_bytes(low, high)?;
    let (key, value) = rest.get(..length.checked_sub(2)?)?.split_at_checked(key_length.into())?;
    let &[FIELD_2, value_low, value_high, FIELD_1, text_low, text_high, ref text @ ..] = value else { return None };
    if two_bytes(value_low, value_high)? != text.len() + 3 || two_bytes(text_low, text_high)? != text.len() {
        return None;
    }
    let key = simdutf8::basic::from_utf8(key).ok()?;
    let value = AnyValue::Str(simdutf8::basic::from_utf8(text).ok()?);
    Some((KeyValue { key, value }, 2 + length))
}

/// A varint of exactly two bytes.
fn two_bytes(low: u8, high: u8) -> Option<usize> {
    (low >= 0x80 && high < 0x80).then_some(usize::from(low & 0x7f) | usize::from(high) << 7)
}
