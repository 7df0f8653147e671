//! The fast way through attributes. Only speed depends on this file: whatever it does not recognise is left to be read
//! field by field.
//!
//! Attributes come again: most of a span's are, byte by byte, those of a span before. Such a one is looked for by its
//! length and last bytes, and is what the earlier one was. Most others have a key that came before. So little text is left
//! to be checked, and attributes of one key mostly have the same memory for it.
//!
//! An attribute that stands in the body as it is to be stored is remembered like that, for whoever writes it.

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

/// Reads attributes.
#[derive(Default)]
pub(super) struct Pairs<'a> {
    /// By attribute, its length and message in the body; empty when it is to be stored otherwise.
    list: Vec<&'a [u8]>,
    /// None where nothing comes again.
    latest: Option<&'a mut Latest<'a>>,
}

/// Where attributes are looked for that come again, by hashes; the latest has the place.
struct Latest<'a> {
    by_bytes: [u32; 512],
    by_key: [u32; 256],
    names: [&'a str; 128],
    /// By number of attributes, the latest list: where it starts, and the number of its keys.
    lists: [(u32, u32); FEW + 1],
    /// Numbers of keys that were given.
    keys: u32,
}

/// Attributes of a list whose keys get a number.
const FEW: usize = 32;

/// Why [`Pairs::read`] goes no further.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// The list goes no further.
    End,
    /// The next is no plain attribute; its length was not read.
    Other,
}

impl<'a> Pairs<'a> {
    /// Remembers in `list`, which is empty.
    pub(super) fn new(list: Vec<&'a [u8]>, arena: &'a Bump) -> Self {
        let latest =
            Latest { by_bytes: [0; 512], by_key: [0; 256], names: [""; 128], lists: [(0, 0); FEW + 1], keys: 0 };
        Pairs { list, latest: Some(arena.alloc(latest)) }
    }

    /// Truncates the attributes to a length.
    pub(super) fn truncate(&mut self, length: usize) {
        self.list.truncate(length);
    }

    /// Truncates the attributes to a length, and forgets the numbers of lists that were among those removed.
    pub(super) fn forget(&mut self, length: usize) {
        self.truncate(length);
        let lists = self.latest.iter_mut().flat_map(|latest| &mut latest.lists);
        lists.filter(|(start, _)| *start as usize >= length).for_each(|(_, keys)| *keys = 0);
    }

    /// The text of these bytes, of the same memory as the one before that is equal.
    #[inline]
    pub(super) fn name(&mut self, bytes: &'a [u8]) -> Option<&'a str> {
        let Some(latest) = &mut self.latest else { return simdutf8::basic::from_utf8(bytes).ok() };
        let known = &mut latest.names[hash_of::<128>(bytes)];
        if !same(known.as_bytes(), bytes) {
            *known = simdutf8::basic::from_utf8(bytes).ok()?;
        }
        Some(known)
    }

    /// The number of the keys that the list has, told from the latest with as many; 0 when they get none.
    #[inline]
    pub(super) fn keys(&mut self, flat: &[KeyValue<'a>], list: Slice) -> u32 {
        let Some(latest) = &mut self.latest else { return 0 };
        let attributes = list.of(flat);
        let Some((start, keys)) = latest.lists.get_mut(attributes.len()) else { return 0 };
        let before = flat.get(*start as usize..).and_then(|flat| flat.get(..attributes.len()));
        if *keys == 0 || !before.is_some_and(|before| share_keys(before, attributes)) {
            latest.keys += 1;
            *keys = latest.keys;
        }
        *start = list.start;
        *keys
    }

    /// By attribute of a list of this length.
    pub(super) fn into_list(mut self, length: usize) -> Vec<&'a [u8]> {
        self.list.resize(length, &[]);
        self.list
    }

    /// Reads the attribute whose length `owner` is about to read, and those behind it that have the key `list_key`, unless
    /// that is zero, and appends them to `flat`, which is the same each time but for what others append.
    #[inline]
    pub(super) fn read(&mut self, owner: &mut Reader<'a>, list_key: u8, flat: &mut Vec<KeyValue<'a>>) -> Stop {
        let Some(latest) = &mut self.latest else { return Stop::Other };
        if self.list.len() != flat.len() {
            self.list.resize(flat.len(), &[]);
        }
        let mut rest = owner.rest();
        let stop = loop {
            let Some((pair, behind)) = framed(rest) else { break Stop::Other };
            let place = &mut latest.by_bytes[hash_of::<512>(pair)];
            match (self.list.get(*place as usize), flat.get(*place as usize)) {
                // The earlier bytes are the ones that the nearest cache has when they are copied.
                (Some(known), Some(attribute)) if same(known, pair) => {
                    let known = *known;
                    flat.push(*attribute);
                    self.list.push(known);
                }
                _ => {
                    *place = flat.len() as u32;
                    if !read_new(pair, &mut latest.by_key, flat) {
                        break Stop::Other;
                    }
                    self.list.push(pair);
                }
            }
            match behind {
                [key, after @ ..] if *key == list_key && list_key != 0 => rest = after,
                _ => {
                    rest = behind;
                    break Stop::End;
                }
            }
        };
        owner.go_to(rest);
        stop
    }
}

/// Appends the attribute when it is spelled as it is to be stored. Inlined with what it calls: else key and value would
/// be handed on through memory, and waited for.
#[inline(always)]
fn read_new<'a>(pair: &'a [u8], latest: &mut [u32; 256], flat: &mut Vec<KeyValue<'a>>) -> bool {
    let Some((key, value)) = plain_attribute(pair) else { return false };
    let place = &mut latest[hash_of::<256>(key)];
    let key = match flat.get(*place as usize) {
        Some(attribute) if same(attribute.key.as_bytes(), key) => attribute.key,
        _ => match simdutf8::basic::from_utf8(key) {
            Ok(key) => key,
            Err(_) => return false,
        },
    };
    *place = flat.len() as u32;
    flat.push(KeyValue { key, value });
    true
}

/// Key and value.
#[inline(always)]
fn plain_attribute(pair: &[u8]) -> Option<(&[u8], AnyValue<'_>)> {
    let [FIELD_1, length @ 1..0x80, ref fields @ ..] = *whole_message(pair)? else { return None };
    let (key, fields) = fields.split_at_checked(length.into())?;
    let [FIELD_2, value @ ..] = fields else { return None };
    Some((key, plain_value(whole_message(value)?)?))
}

/// An `AnyValue` that is no list, when it is spelled as it is to be stored.
#[inline(always)]
fn plain_value(value: &[u8]) -> Option<AnyValue<'_>> {
    match *value {
        [FIELD_1, ref text @ ..] => simdutf8::basic::from_utf8(whole_message(text)?).ok().map(AnyValue::Str),
        [INT, ref number @ ..] => integer(number).map(AnyValue::Int),
        [BOOL, truth @ 0..=1] => Some(AnyValue::Bool(truth == 1)),
        [DOUBLE, ref number @ ..] => Some(AnyValue::Double(f64::from_le_bytes(number.try_into().ok()?))),
        _ => None,
    }
}

/// A varint of at most nine bytes.
fn integer(bytes: &[u8]) -> Option<i64> {
    let (&last, others) = bytes.split_last()?;
    let is_short = others.len() < 9 && last < 0x80 && (last > 0 || others.is_empty());
    let is_one = is_short && others.iter().all(|byte| *byte >= 0x80);
    is_one.then(|| bytes.iter().rev().fold(0, |value, byte| value << 7 | i64::from(byte & 0x7f)))
}

/// A length of one byte or two, spelled as short as can be, with its message, and what comes behind.
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

/// The message that these bytes are, behind its length, which is spelled as in [`framed`].
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

/// Below `N`, a power of two; of the length and the last bytes.
#[inline]
fn hash_of<const N: usize>(bytes: &[u8]) -> usize {
    let end = bytes.last_chunk().map_or(0, |end| u64::from_le_bytes(*end));
    let hash = (end ^ bytes.len() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (hash >> 32) as usize >> (32 - N.ilog2()) & (N - 1)
}

/// Quicker than a call for few bytes: starts and ends of fixed sizes, which may overlap.
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
            // Mostly another: the ends tell.
            65.. => ends::<16>(one, other) && one == other,
            _ => one == other,
        }
}
