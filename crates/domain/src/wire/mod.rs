//! The stored encoding of attributes, events and links, and the text form of values.
//!
//! Attributes are stored as a serialized OTLP `KeyValueList`, events and links as the fields `events` (11) and `links`
//! (13) of an OTLP `Span`. OTLP tools can therefore read the columns.
//!
//! - [`encode_attribute`], [`encode_attributes`], [`encode_events`], [`encode_links`] append to a buffer;
//!   [`copy_attribute`] copies the encoded form from a body.
//! - [`attribute_text`] and [`for_each_attribute_text`] read stored bytes without copying strings.
//! - [`decode_attributes`], [`decode_events`], [`decode_links`] decode stored bytes.
//! - [`value_text`] and [`value_json`] give the text form of a value, the same in all parts of the product.
//!
//! Readers trust stored bytes: damage ends the list and is not reported.
//!
//! Invariant: decoding an encoded value gives an equal value.

mod encode;
mod records;
mod text;

use std::borrow::Cow;

use bumpalo::Bump;

use crate::decode::protobuf::reader::{KnownFields, Reader, length};
use crate::decode::protobuf::value::{Open, Values};
use crate::model::KeyValue;

pub use encode::{copy_attribute, copy_attributes, encode_attribute, encode_attributes, encode_events, encode_links};
pub(crate) use encode::{put_pair, put_value, put_varint};
pub use records::{StoredEvent, StoredLink, decode_events, decode_links};
pub use text::{value_json, value_text};

/// `KeyValueList.values`.
const PAIR: u32 = length(1);
/// `KeyValue.key`.
const KEY: u32 = length(1);
/// `KeyValue.value`.
const VALUE: u32 = length(2);

/// Decodes stored attributes, in order. Damage ends the list.
pub fn decode_attributes<'a>(bytes: &'a [u8], arena: &'a Bump) -> &'a [KeyValue<'a>] {
    let mut values = Values::new(arena);
    let mut list = bumpalo::collections::Vec::new_in(arena);
    list.extend(pairs(bytes).map_while(|pair| values.attribute_message(pair).ok()));
    list.into_bump_slice()
}

/// The text form of the attribute `key`. The last of duplicate keys wins. Strings are borrowed from `bytes`.
pub fn attribute_text<'a>(bytes: &'a [u8], key: &str) -> Option<Cow<'a, str>> {
    let mut found = None;
    for (name, value) in raw_pairs(bytes) {
        if name == key.as_bytes() {
            found = Some(value);
        }
    }
    found.and_then(raw_text)
}

/// Calls `visit` with the key and text form of each stored attribute, in order, duplicate keys included.
pub fn for_each_attribute_text<'a>(bytes: &'a [u8], mut visit: impl FnMut(&'a str, Cow<'a, str>)) {
    for (name, value) in raw_pairs(bytes) {
        let (Ok(name), Some(text)) = (simdutf8::basic::from_utf8(name), raw_text(value)) else { return };
        visit(name, text);
    }
}

/// The keys of the stored attributes, in order, duplicates included.
pub fn attribute_keys(bytes: &[u8]) -> impl Iterator<Item = &str> {
    raw_pairs(bytes).map_while(|(name, _)| simdutf8::basic::from_utf8(name).ok())
}

/// The messages of a stored `KeyValueList`.
fn pairs<'a>(bytes: &'a [u8]) -> impl Iterator<Item = Reader<'a>> {
    messages(bytes, PAIR)
}

/// The length-delimited fields with this key. Other fields are skipped, damage ends the list.
fn messages<'a>(bytes: &'a [u8], wanted: u32) -> impl Iterator<Item = Reader<'a>> {
    let mut reader = Reader::new(bytes);
    std::iter::from_fn(move || {
        while !reader.is_done() {
            let key = reader.key().ok()?;
            if key == wanted {
                return reader.message().ok();
            }
            reader.skip(key, KnownFields::new(&[])).ok()?;
        }
        None
    })
}

/// Key and serialized `AnyValue` of each attribute.
fn raw_pairs<'a>(bytes: &'a [u8]) -> impl Iterator<Item = (&'a [u8], Reader<'a>)> {
    pairs(bytes).map_while(|mut pair| {
        let (mut name, mut value) = (&[][..], Reader::new(&[]));
        while !pair.is_done() {
            match pair.key().ok()? {
                KEY => name = pair.bytes().ok()?,
                VALUE => value = pair.message().ok()?,
                other => pair.skip(other, KnownFields::new(&[])).ok()?,
            }
        }
        Some((name, value))
    })
}

/// The text form of a serialized `AnyValue`.
fn raw_text(value: Reader<'_>) -> Option<Cow<'_, str>> {
    const STRING: u32 = length(1);
    let mut string = value;
    if !value.is_done()
        && string.key().ok()? == STRING
        && let Ok(text) = string.string("string value")
        && string.is_done()
    {
        return Some(Cow::Borrowed(text));
    }
    let arena = Bump::new();
    let mut values = Values::new(&arena);
    let mut open = Open::default();
    values.merge(&mut open, value, 1).ok()?;
    Some(Cow::Owned(value_text(values.close(open)).into_owned()))
}
