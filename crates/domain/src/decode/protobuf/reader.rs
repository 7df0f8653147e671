//! The protobuf wire format: keys, varints, fixed-width numbers, lengths, and skipping of unknown fields.
//!
//! A [`Reader`] reads one message. It holds the body from its first byte to the end of the message, so that positions in
//! faults are offsets in the body. It follows the protobuf encoding guide and refuses what the reference decoders
//! refuse: overlong varints, field number zero, unmatched end-of-group keys.
//!
//! Varints are read by hand, because errors name the byte offset. The `integer-encoding` crate takes the same time (4.2
//! instead of 4.0 ns); all other code uses it.

use crate::decode::fault::{Fault, fault};

/// Maximum nesting depth of unknown groups. Groups are always skipped.
const GROUP_DEPTH_MAX: u32 = 64;

const VARINT: u32 = 0;
const FIXED64: u32 = 1;
const LENGTH: u32 = 2;
const START_GROUP: u32 = 3;
const END_GROUP: u32 = 4;
const FIXED32: u32 = 5;

/// The key of a varint field.
pub(crate) const fn varint(number: u32) -> u32 {
    number << 3 | VARINT
}

/// The key of a fixed 64-bit field.
pub(crate) const fn fixed64(number: u32) -> u32 {
    number << 3 | FIXED64
}

/// The key of a fixed 32-bit field.
pub(crate) const fn fixed32(number: u32) -> u32 {
    number << 3 | FIXED32
}

/// The key of a string, bytes, message or packed field.
pub(crate) const fn length(number: u32) -> u32 {
    number << 3 | LENGTH
}

/// The field numbers that a message type defines, all below 32. Another wire type for one of them is an error.
#[derive(Clone, Copy)]
pub(crate) struct KnownFields(u32);

impl KnownFields {
    pub(crate) const fn new(numbers: &[u32]) -> KnownFields {
        let mut mask = 0;
        let mut i = 0;
        while i < numbers.len() {
            mask |= 1 << numbers[i];
            i += 1;
        }
        KnownFields(mask)
    }

    pub(crate) fn with(self, number: u32) -> KnownFields {
        KnownFields(self.0 | 1 << number)
    }

    fn contains(self, number: u32) -> bool {
        number < 32 && self.0 & (1 << number) != 0
    }
}

/// A cursor over one message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'a> {
    /// The body up to the end of this message.
    body: &'a [u8],
    /// The next byte to read.
    at: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(body: &'a [u8]) -> Self {
        Reader { body, at: 0 }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.at >= self.body.len()
    }

    /// Offset of the next byte in the body.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// The same message from an earlier position on.
    pub(crate) fn from(self, position: usize) -> Self {
        Reader { at: position, ..self }
    }

    /// The unread bytes of the message.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.body.get(self.at..).unwrap_or_default()
    }

    /// The last byte read. After the key of a field with a number below 16 this is the key, or 0 for an overlong key.
    /// 0 at the start of the body.
    pub(crate) fn last_byte(&self) -> u8 {
        self.body.get(self.at.wrapping_sub(1)).copied().unwrap_or_default()
    }

    /// Consumes `byte` if it is next.
    #[inline]
    pub(crate) fn take_byte(&mut self, byte: u8) -> bool {
        let found = self.body.get(self.at) == Some(&byte);
        self.at += usize::from(found);
        found
    }

    /// Advances until only `rest`, a suffix of the unread bytes, is left.
    #[inline]
    pub(crate) fn go_to(&mut self, rest: &[u8]) {
        self.at = self.body.len().saturating_sub(rest.len());
    }

    /// The next field's key: its number and wire type.
    #[inline]
    pub(crate) fn key(&mut self) -> Result<u32, Fault> {
        match self.body.get(self.at) {
            Some(&byte @ 8..0x80) => {
                self.at += 1;
                Ok(u32::from(byte))
            }
            Some(&low @ 0x80..) => match self.body.get(self.at + 1) {
                Some(&high @ 1..0x80) => {
                    self.at += 2;
                    Ok(u32::from(low & 0x7f) | u32::from(high) << 7)
                }
                _ => self.long_key(),
            },
            _ => self.long_key(),
        }
    }

    fn long_key(&mut self) -> Result<u32, Fault> {
        let start = self.at;
        let key = self.varint()?;
        if key < 8 || key > u64::from(u32::MAX) {
            return Err(fault!("protobuf field number out of range at byte {start}"));
        }
        Ok(key as u32)
    }

    #[inline]
    pub(crate) fn varint(&mut self) -> Result<u64, Fault> {
        match self.body.get(self.at) {
            Some(&byte) if byte < 0x80 => {
                self.at += 1;
                Ok(u64::from(byte))
            }
            Some(&low) => match self.body.get(self.at + 1) {
                Some(&high) if high < 0x80 => {
                    self.at += 2;
                    Ok(u64::from(low & 0x7f) | u64::from(high) << 7)
                }
                _ => self.long_varint(),
            },
            None => self.long_varint(),
        }
    }

    fn long_varint(&mut self) -> Result<u64, Fault> {
        let mut value = 0;
        for (i, &byte) in self.rest().iter().take(10).enumerate() {
            value |= u64::from(byte & 0x7f) << (7 * i);
            if byte < 0x80 {
                if i == 9 && byte > 1 {
                    break;
                }
                self.at += i + 1;
                return Ok(value);
            }
        }
        let problem = if self.rest().len() < 10 { "cut short" } else { "longer than 64 bits" };
        Err(fault!("protobuf varint at byte {} is {problem}", self.at))
    }

    #[inline]
    pub(crate) fn fixed64(&mut self) -> Result<u64, Fault> {
        match self.body.get(self.at..).and_then(<[u8]>::first_chunk::<8>) {
            Some(bytes) => {
                self.at += 8;
                Ok(u64::from_le_bytes(*bytes))
            }
            None => Err(fault!("protobuf fixed64 at byte {} is cut short", self.at)),
        }
    }

    #[inline]
    pub(crate) fn fixed32(&mut self) -> Result<u32, Fault> {
        match self.body.get(self.at..).and_then(<[u8]>::first_chunk::<4>) {
            Some(bytes) => {
                self.at += 4;
                Ok(u32::from_le_bytes(*bytes))
            }
            None => Err(fault!("protobuf fixed32 at byte {} is cut short", self.at)),
        }
    }

    pub(crate) fn double(&mut self) -> Result<f64, Fault> {
        self.fixed64().map(f64::from_bits)
    }

    /// A `uint32`. Keeps the low 32 bits of a longer varint, as all decoders do.
    #[inline]
    pub(crate) fn uint32(&mut self) -> Result<u32, Fault> {
        self.varint().map(|value| value as u32)
    }

    /// An enum or `int32`.
    pub(crate) fn int32(&mut self) -> Result<i32, Fault> {
        self.varint().map(|value| value as i32)
    }

    /// Length-delimited content.
    #[inline]
    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], Fault> {
        let message = self.message()?;
        Ok(message.rest())
    }

    /// A reader over a length-delimited message. This reader advances past it.
    #[inline]
    pub(crate) fn message(&mut self) -> Result<Reader<'a>, Fault> {
        let start = self.at;
        let length = self.varint()?;
        let left = self.body.len() - self.at;
        if length > left as u64 {
            return Err(fault!("protobuf length {length} at byte {start} is past the end ({left} bytes left)"));
        }
        let end = self.at + length as usize;
        let message = Reader { body: &self.body[..end], at: self.at };
        self.at = end;
        Ok(message)
    }

    /// A string. `field` names it in the fault for invalid UTF-8.
    #[inline]
    pub(crate) fn string(&mut self, field: &'static str) -> Result<&'a str, Fault> {
        let bytes = self.bytes()?;
        match simdutf8::basic::from_utf8(bytes) {
            Ok(text) => Ok(text),
            Err(_) => Err(fault!("{field} at byte {} is not valid UTF-8", self.at - bytes.len())),
        }
    }

    /// Skips an unknown field. Refuses a field whose number is in `known`: its wire type is wrong.
    #[cold]
    pub(crate) fn skip(&mut self, key: u32, known: KnownFields) -> Result<(), Fault> {
        if known.contains(key >> 3) {
            return Err(fault!("protobuf field {} before byte {} has wire type {}", key >> 3, self.at, key & 7));
        }
        self.skip_content(key, 0)
    }

    fn skip_content(&mut self, key: u32, depth: u32) -> Result<(), Fault> {
        match key & 7 {
            VARINT => self.varint().map(drop),
            FIXED64 => self.fixed64().map(drop),
            LENGTH => self.bytes().map(drop),
            FIXED32 => self.fixed32().map(drop),
            START_GROUP if depth < GROUP_DEPTH_MAX => loop {
                let inner = self.key()?;
                if inner & 7 == END_GROUP {
                    if inner >> 3 != key >> 3 {
                        return Err(fault!("protobuf group before byte {} ends another group", self.at));
                    }
                    return Ok(());
                }
                self.skip_content(inner, depth + 1)?;
            },
            START_GROUP => {
                Err(fault!("protobuf groups nested deeper than {GROUP_DEPTH_MAX} levels at byte {}", self.at))
            }
            wire_type => Err(fault!("protobuf wire type {wire_type} before byte {} is not allowed here", self.at)),
        }
    }
}
