//! The fast path for attributes. It affects only speed: attributes that it does not recognize are read field by field.
//!
//! Attributes repeat: most of a span's attributes equal those of an earlier span, byte by byte. Such an attribute is
//! found in a cache by its length and last bytes, and the earlier result is reused. Most other attributes have a key that
//! occurred before. Little UTF-8 is left to be validated, and equal keys mostly share one address.
//!
//! If the encoded form of an attribute equals its stored form, the encoded bytes are kept for the writer.

use bumpalo::Bump;

use super::reader::Reader;
use crate::model::{AnyValue, KeyValue, Slice, share_keys};

/// `KeyValue.key`, `AnyValue.string_value`.
const FIELD_1: u8 = 1 << 3 | 2;
/// `KeyValue.value`.
const FIELD_2: u8 = 2 << 3 | 2;
const BOOL: u8 = 2 << 3;
const INT: u8 = 3 << 3;
const DOUBLE: u8 = 4 << 3 | 1;

/// The fast-path reader of attributes.
#[derive(Default)]
pub(super) struct Pairs<'a> {
    /// The encoded form of each attribute, length prefix included; empty if its stored form differs.
    encoded: Vec<&'a [u8]>,
    /// `None` disables the fast path.
    cache: Option<&'a mut Cache<'a>>,
}

/// A direct-mapped cache of recent attributes, keys and names. Entries are indexes into the flat attribute list.
struct Cache<'a> {
    by_bytes: [u32; 512],
    by_key: [u32; 256],
    names: [&'a str; 128],
    /// The latest list of each length: its start and its key set number.
    lists: [(u32, u32); KEY_SET_MAX + 1],
    /// Number of key sets so far.
    key_sets: u32,
}

/// Longest attribute list that gets a key set number.
const KEY_SET_MAX: usize = 32;

/// Reasons for which [`Pairs::read`] stopped.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// The list has ended.
    End,
    /// The next attribute is not on the fast path. Its length has not been read.
    Other,
}

impl<'a> Pairs<'a> {
    /// Reuses the memory of `encoded`, which must be empty.
    pub(super) fn new(encoded: Vec<&'a [u8]>, arena: &'a Bump) -> Self {
        let lists = [(0, 0); KEY_SET_MAX + 1];
        let cache = Cache { by_bytes: [0; 512], by_key: [0; 256], names: [""; 128], lists, key_sets: 0 };
        Pairs { encoded, cache: Some(arena.alloc(cache)) }
    }

    /// Truncates the encoded attributes.
    pub(super) fn truncate(&mut self, length: usize) {
        self.encoded.truncate(length);
    }

    /// Truncates the encoded attributes and forgets the key sets of removed lists.
    pub(super) fn forget(&mut self, length: usize) {
        self.truncate(length);
        let lists = self.cache.iter_mut().flat_map(|cache| &mut cache.lists);
        lists.filter(|(start, _)| *start as usize >= length).for_each(|(_, key_set)| *key_set = 0);
    }

    /// The string of these bytes. Equal recent strings share one address. `None` for invalid UTF-8.
    #[inline]
    pub(super) fn name(&mut self, bytes: &'a [u8]) -> Option<&'a str> {
        let Some(cache) = &mut self.cache else { return simdutf8::basic::from_utf8(bytes).ok() };
        let known = &mut cache.names[hash_of::<128>(bytes)];
        if !same(known.as_bytes(), bytes) {
            *known = simdutf8::basic::from_utf8(bytes).ok()?;
        }
        Some(known)
    }

    /// The key set number of `list`: equal for consecutive lists of one length with equal keys; 0 for none.
    #[inline]
    pub(super) fn key_set(&mut self, flat: &[KeyValue<'a>], list: Slice) -> u32 {
        let Some(cache) = &mut self.cache else { return 0 };
        let attributes = list.of(flat);
        let Some((start, key_set)) = cache.lists.get_mut(attributes.len()) else { return 0 };
        let before = flat.get(*start as usize..).and_then(|flat| flat.get(..attributes.len()));
        if *key_set == 0 || !before.is_some_and(|before| share_keys(before, attributes)) {
            cache.key_sets += 1;
            *key_set = cache.key_sets;
        }
        *start = list.start;
        *key_set
    }

    /// The encoded form of each attribute of a flat list of this length.
    pub(super) fn into_encoded(mut self, length: usize) -> Vec<&'a [u8]> {
        self.encoded.resize(length, &[]);
        self.encoded
    }

    /// Appends to `flat` the attribute whose length prefix is next in `owner`, and the following ones with the key
    /// `list_key` (0 for only one). `flat` must be the same list in every call; others may append to it.
    #[inline]
    pub(super) fn read(&mut self, owner: &mut Reader<'a>, list_key: u8, flat: &mut Vec<KeyValue<'a>>) -> Stop {
        let Some(cache) = &mut self.cache else { return Stop::Other };
        if self.encoded.len() != flat.len() {
            self.encoded.resize(flat.len(), &[]);
        }
        let mut rest = owner.rest();
        let stop = loop {
            let Some((pair, after)) = framed(rest) else { break Stop::Other };
            let entry = &mut cache.by_bytes[hash_of::<512>(pair)];
            match (self.encoded.get(*entry as usize), flat.get(*entry as usize)) {
                // The earlier bytes are likely to be in the L1 cache when they are copied.
                (Some(known), Some(attribute)) if same(known, pair) => {
                    let known = *known;
                    flat.push(*attribute);
                    self.encoded.push(known);
                }
                _ => {
                    *entry = flat.len() as u32;
                    if !read_new(pair, &mut cache.by_key, flat) {
                        break Stop::Other;
                    }
                    self.encoded.push(pair);
                }
            }
            match after {
                [key, next @ ..] if *key == list_key && list_key != 0 => rest = next,
                _ => {
                    rest = after;
                    break Stop::End;
                }
            }
        };
        owner.go_to(rest);
        stop
    }
}

/// Appends the attribute if its encoded form equals its stored form. Inlined with its callees, to keep key and value in
/// registers.
#[inline(always)]
fn read_new<'a>(pair: &'a [u8], by_key: &mut [u32; 256], flat: &mut Vec<KeyValue<'a>>) -> bool {
    let Some((key, value)) = plain_attribute(pair) else { return false };
    let entry = &mut by_key[hash_of::<256>(key)];
    let key = match flat.get(*entry as usize) {
        Some(attribute) if same(attribute.key.as_bytes(), key) => attribute.key,
        _ => match simdutf8::basic::from_utf8(key) {
            Ok(key) => key,
            Err(_) => return false,
        },
    };
    *entry = flat.len() as u32;
    flat.push(KeyValue { key, value });
    true
}

/// The key bytes and the value of an attribute in its stored form.
#[inline(always)]
fn plain_attribute(pair: &[u8]) -> Option<(&[u8], AnyValue<'_>)> {
    let [FIELD_1, length @ 1..0x80, ref fields @ ..] = *whole_message(pair)? else { return None };
    let (key, fields) = fields.split_at_checked(length.into())?;
    let [FIELD_2, value @ ..] = fields else { return None };
    Some((key, plain_value(whole_message(value)?)?))
}

/// A scalar `AnyValue` in its stored form.
#[inline(always)]
fn plain_value(value: &[u8]) -> Option<AnyValue<'_>> {
    match *value {
        [FIELD_1, ref text @ ..] => simdutf8::basic::from_utf8(whole_message(text)?).ok().map(AnyValue::Str),
        [INT, ref number @ ..] => integer(number).map(AnyValue::Int),
        [BOOL, value @ 0..=1] => Some(AnyValue::Bool(value == 1)),
        [DOUBLE, ref number @ ..] => Some(AnyValue::Double(f64::from_le_bytes(number.try_into().ok()?))),
        _ => None,
    }
}

/// A minimal varint of at most nine bytes.
fn integer(bytes: &[u8]) -> Option<i64> {
    let (&last, others) = bytes.split_last()?;
    let is_short = others.len() < 9 && last < 0x80 && (last > 0 || others.is_empty());
    let is_one = is_short && others.iter().all(|byte| *byte >= 0x80);
    is_one.then(|| bytes.iter().rev().fold(0, |value, byte| value << 7 | i64::from(byte & 0x7f)))
}

/// Splits after a message with a minimal length prefix of one or two bytes. The prefix stays with the message.
#[inline]
fn framed(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    match *bytes {
        [length @ 0..0x80, ..] => bytes.split_at_checked(1 + usize::from(length)),
        [low @ 0x80..=0xff, high @ 1..0x80, ..] => {
            bytes.split_at_checked(2 + (usize::from(low & 0x7f) | usize::from(high) << 7))
        }
        _ => None,
    }
}

/// The message after a length prefix as in [`framed`], if it fills `bytes`.
#[inline(always)]
fn whole_message(bytes: &[u8]) -> Option<&[u8]> {
    let (length, message) = match *bytes {
        [length @ 0..0x80, ref message @ ..] => (usize::from(length), message),
        [low @ 0x80..=0xff, high @ 1..0x80, ref message @ ..] => {
            (usize::from(low & 0x7f) | usize::from(high) << 7, message)
        }
        _ => return None,
    };
    (message.len() == length).then_some(message)
}

/// A hash of the length and the last eight bytes, below `N`, a power of two.
#[inline]
fn hash_of<const N: usize>(bytes: &[u8]) -> usize {
    let end = bytes.last_chunk().map_or(0, |end| u64::from_le_bytes(*end));
    let hash = (end ^ bytes.len() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (hash >> 32) as usize >> (32 - N.ilog2()) & (N - 1)
}

/// Equality. Short slices compare two fixed-size ends, which may overlap, instead of calling `memcmp`.
#[inline]
fn same(one: &[u8], other: &[u8]) -> bool {
    fn ends<const N: usize>(one: &[u8], other: &[u8]) -> bool {
        one.first_chunk::<N>() == other.first_chunk::<N>() && one.last_chunk::<N>() == other.last_chunk::<N>()
    }
    one.len() == other.len()
        && match one.len() {
            16..=32 => ends::<16>(one, other),
            33..=64 => ends::<32>(one, other),
            8..=15 => ends::<8>(one, other),
            // Long slices mostly differ, which their ends show.
            65.. => ends::<16>(one, other) && one == other,
            _ => one == other,
        }
}
