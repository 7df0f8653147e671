//! UTF-8 is checked a run of attributes at a time: one call for hundreds of bytes instead of two per attribute.
//!
//! A run is a series of attributes with string values in which every length is below 128, as most are. Its keys and
//! lengths are then ASCII, so the run as a whole is valid UTF-8 exactly when each string in it is, and the strings
//! are slices of one checked text. Everything else is checked string by string. Only speed depends on this file.

use super::reader::Reader;
use crate::model::{AnyValue, KeyValue};

/// The last run that was looked at.
#[derive(Default)]
pub(super) struct Run<'a> {
    /// Empty when the run was not valid.
    text: &'a str,
    /// Position of `text` in the body.
    start: usize,
    /// Position behind the run.
    end: usize,
}

/// Key of a one-byte length-delimited field.
const FIELD_1: u8 = 1 << 3 | 2;
const FIELD_2: u8 = 2 << 3 | 2;

impl<'a> Run<'a> {
    /// Looks ahead from the first attribute of a list, unless this was done already. `owner` is about to read the
    /// length of an attribute.
    #[inline]
    pub(super) fn look_ahead(&mut self, owner: &Reader<'a>) {
        if owner.position() >= self.end {
            self.find(owner);
        }
    }

    fn find(&mut self, owner: &Reader<'a>) {
        let start = owner.position();
        let rest = owner.rest();
        let list_key = owner.last_byte();
        let mut length = 0;
        let mut at = 0;
        while let Some(size) = string_attribute(&rest[at..]) {
            length = at + size;
            if rest.get(length) != Some(&list_key) {
                break;
            }
            at = length + 1;
        }
        let text = simdutf8::basic::from_utf8(&rest[..length]).unwrap_or_default();
        // At least one byte on, so that an attribute is looked at once.
        *self = Run { text, start, end: start + length.max(1) };
    }

    /// The attribute, when it is a plain one inside the run.
    #[inline]
    pub(super) fn attribute(&self, message: &Reader<'a>) -> Option<KeyValue<'a>> {
        let from = message.position().wrapping_sub(self.start);
        let text = self.text.get(from..from.wrapping_add(message.rest().len()))?;
        let bytes = text.as_bytes();
        let &[FIELD_1, key_length, ..] = bytes else { return None };
        let key_end = 2 + usize::from(key_length);
        let value_start = key_end + 4;
        let &[FIELD_2, value_length, FIELD_1, text_length] = bytes.get(key_end..value_start)? else { return None };
        if usize::from(value_length) != usize::from(text_length) + 2
            || value_start + usize::from(text_length) != bytes.len()
        {
            return None;
        }
        Some(KeyValue { key: text.get(2..key_end)?, value: AnyValue::Str(text.get(value_start..)?) })
    }
}

/// Size of the attribute whose length byte comes first, when it may belong to a run.
#[inline]
fn string_attribute(bytes: &[u8]) -> Option<usize> {
    let &[length, FIELD_1, key_length, ..] = bytes else { return None };
    let key_end = 3 + usize::from(key_length);
    let &[FIELD_2, value_length, FIELD_1, text_length] = bytes.get(key_end..key_end + 4)? else { return None };
    let size = 1 + usize::from(length);
    ((length | key_length | value_length | text_length) < 0x80 && size <= bytes.len()).then_some(size)
}
