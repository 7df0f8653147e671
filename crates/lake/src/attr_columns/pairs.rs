//! Iterates over a serialized `KeyValueList` in the form that our encoder writes.

use integer_encoding::VarInt;

/// One `KeyValue`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair<'a> {
    /// The key, not checked to be UTF-8; empty when there is none.
    pub key: &'a [u8],
    /// The serialized `AnyValue`; empty when there is none.
    pub value: &'a [u8],
    /// The whole pair with the head of its field in the list.
    pub whole: &'a [u8],
}

/// A value that fits an extra column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Plain<'a> {
    Text(&'a str),
    Int(i64),
}

/// Like [`Plain`], with text that is not checked to be UTF-8.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Raw<'a> {
    Text(&'a [u8]),
    Int(i64),
}

const LIST_VALUES: u8 = 1 << 3 | 2;
const KEY: u8 = 1 << 3 | 2;
const VALUE: u8 = 2 << 3 | 2;
const STRING: u8 = 1 << 3 | 2;
const INT: u8 = 3 << 3;

/// Replaces `out` with the pairs in order. False when the bytes are not in the form that our encoder writes.
pub fn read<'a>(mut bytes: &'a [u8], out: &mut Vec<Pair<'a>>) -> bool {
    out.clear();
    while !bytes.is_empty() {
        let Some((pair, rest)) = pair(bytes) else { return false };
        out.push(pair);
        bytes = rest;
    }
    true
}

/// Splits off the bytes of the first pair, without parsing them.
#[inline]
pub fn whole(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (_, rest) = field(bytes, LIST_VALUES)?;
    bytes.split_at_checked(bytes.len() - rest.len())
}

/// Parses the first pair; also returns the bytes after it.
#[inline]
pub fn pair(bytes: &[u8]) -> Option<(Pair<'_>, &[u8])> {
    let (content, rest) = field(bytes, LIST_VALUES)?;
    let whole = &bytes[..bytes.len() - rest.len()];
    let (key, after_key) = field(content, KEY).unwrap_or((&[], content));
    let (value, end) = field(after_key, VALUE).unwrap_or((&[], after_key));
    end.is_empty().then_some((Pair { key, value, whole }, rest))
}

/// The content of a length-delimited field with this head, and the bytes after it.
#[inline]
fn field(bytes: &[u8], head: u8) -> Option<(&[u8], &[u8])> {
    let (first, rest) = bytes.split_first()?;
    if *first != head {
        return None;
    }
    let (length, rest) = match rest.split_first()? {
        (length, rest) if *length < 0x80 => (u64::from(*length), rest),
        _ => varint(rest)?,
    };
    rest.split_at_checked(usize::try_from(length).ok()?)
}

fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (number, length) = u64::decode_var(bytes)?;
    Some((number, &bytes[length..]))
}

impl<'a> Pair<'a> {
    /// The value, if it is text or an integer in the form that our encoder writes.
    pub fn plain(&self) -> Option<Plain<'a>> {
        Some(match self.raw()? {
            Raw::Text(text) => Plain::Text(str::from_utf8(text).ok()?),
            Raw::Int(number) => Plain::Int(number),
        })
    }

    /// Like [`Pair::plain`], with text that is not checked to be UTF-8.
    #[inline]
    pub fn raw(&self) -> Option<Raw<'a>> {
        let raw = self.parse()?;
        let value = match raw {
            Raw::Text(text) => framed(text.len()),
            Raw::Int(number) => 1 + varint_bytes(number as u64),
        };
        (self.whole.len() == framed(framed(self.key.len()) + framed(value))).then_some(raw)
    }

    #[inline]
    fn parse(&self) -> Option<Raw<'a>> {
        match *self.value.first()? {
            STRING => {
                let (text, rest) = field(self.value, STRING)?;
                rest.is_empty().then_some(Raw::Text(text))
            }
            INT => {
                let (number, rest) = varint(&self.value[1..])?;
                rest.is_empty().then_some(Raw::Int(number as i64))
            }
            _ => None,
        }
    }
}

/// Bytes of a length-delimited field with its head.
fn framed(length: usize) -> usize {
    1 + varint_bytes(length as u64) + length
}

fn varint_bytes(number: u64) -> usize {
    (70 - (number | 1).leading_zeros() as usize) / 7
}
