//! Reads `KeyValue` and `AnyValue`, the recursive part of OTLP, with a depth limit.
//!
//! Elements of arrays and maps are collected on two stacks and copied to the arena once, when complete. Protobuf allows a
//! message to occur in several pieces, so a value stays open until its owner has been read: a second array extends the
//! first, any other alternative replaces it.

use bumpalo::Bump;

use super::pairs::{Pairs, Stop};
use super::reader::{KnownFields, Reader, fixed64, length, varint};
use crate::decode::fault::{Fault, fault};
use crate::decode::values::{Stacks, check_depth};
use crate::model::{AnyValue, KeyValue, Layout, Slice};

const STRING: u32 = length(1);
const BOOL: u32 = varint(2);
const INT: u32 = varint(3);
const DOUBLE: u32 = fixed64(4);
const ARRAY: u32 = length(5);
const MAP: u32 = length(6);
const BYTES: u32 = length(7);
/// An index into a string table, which only profiles have. In other signals it reads as an empty value.
const STRING_INDEX: u32 = varint(8);
const ANY_VALUE: KnownFields = KnownFields::new(&[1, 2, 3, 4, 5, 6, 7, 8]);

const KEY: u32 = length(1);
const VALUE: u32 = length(2);
/// Only in profiles, too.
const KEY_INDEX: u32 = varint(3);
const KEY_VALUE: KnownFields = KnownFields::new(&[1, 2, 3]);

const ELEMENT: u32 = length(1);
const LIST: KnownFields = KnownFields::new(&[1]);

/// The reader of attributes and values.
pub(crate) struct Values<'a> {
    stacks: Stacks<'a>,
    pairs: Pairs<'a>,
    /// Encoded size of the last attribute list, its first key included; 0 when the stored form of an attribute differs.
    list_bytes: u32,
    /// Maximum number of attributes of the request.
    attributes_max: usize,
}

/// A value whose message may still continue.
#[derive(Clone, Copy)]
pub(crate) enum Open<'a> {
    Closed(AnyValue<'a>),
    /// Its elements are on the stack, from this index on.
    Array(usize),
    /// Its pairs are on the stack, from this index on.
    Map(usize),
}

impl Default for Open<'_> {
    fn default() -> Self {
        Open::Closed(AnyValue::Empty)
    }
}

impl<'a> Values<'a> {
    pub(crate) fn new(arena: &'a Bump) -> Self {
        Values { stacks: Stacks::new(arena), pairs: Pairs::default(), list_bytes: 0, attributes_max: usize::MAX }
    }

    /// Enables the fast path. Reuses the memory of `encoded`, which must be empty.
    pub(super) fn with_fast_path(arena: &'a Bump, encoded: Vec<&'a [u8]>, attributes_max: usize) -> Self {
        Values { stacks: Stacks::new(arena), pairs: Pairs::new(encoded, arena), list_bytes: 0, attributes_max }
    }

    /// The encoded form of each attribute of a flat list of this length.
    pub(super) fn into_encoded(self, length: usize) -> Vec<&'a [u8]> {
        self.pairs.into_encoded(length)
    }

    /// Appends the attribute of `owner` whose key has just been read and those that follow it, and extends `slice` by
    /// them. `false`, without appending, when other attributes were appended since the slice's last one.
    pub(crate) fn attributes(
        &mut self,
        owner: &mut Reader<'a>,
        flat: &mut Vec<KeyValue<'a>>,
        slice: &mut Slice,
    ) -> Result<bool, Fault> {
        let start = flat.len();
        let list_key = owner.last_byte();
        let from = owner.position() - 1;
        let mut is_plain = slice.is_empty();
        loop {
            match self.pairs.read(owner, list_key, flat) {
                Stop::End => break,
                Stop::Other => {
                    is_plain = false;
                    // Attributes on the fast path take several bytes in the body and are not limited.
                    if flat.len() >= self.attributes_max {
                        return Err(fault!("more than {} attributes in a request of this size", self.attributes_max));
                    }
                    let message = owner.message()?;
                    flat.push(self.pair(message, 1)?);
                    if list_key == 0 || !owner.take_byte(list_key) {
                        break;
                    }
                }
            }
        }
        self.list_bytes = if is_plain { (owner.position() - from) as u32 } else { 0 };
        if slice.is_empty() {
            slice.start = start as u32;
        } else if slice.end as usize != start {
            flat.truncate(start);
            self.pairs.truncate(start);
            return Ok(false);
        }
        slice.end = flat.len() as u32;
        Ok(true)
    }

    /// Forgets the attributes from this index on.
    pub(super) fn forget(&mut self, length: usize) {
        self.pairs.forget(length);
    }

    /// The layout of the list that was read last.
    #[inline]
    pub(super) fn layout(&mut self, flat: &[KeyValue<'a>], list: Slice) -> Layout {
        Layout { key_set: self.pairs.key_set(flat, list), encoded_bytes: self.list_bytes }
    }

    /// Reads the message of one attribute.
    pub(crate) fn attribute_message(&mut self, message: Reader<'a>) -> Result<KeyValue<'a>, Fault> {
        self.pair(message, 1)
    }

    /// A string that is likely to repeat. `None` for invalid UTF-8.
    #[inline]
    pub(super) fn name(&mut self, bytes: &'a [u8]) -> Option<&'a str> {
        self.pairs.name(bytes)
    }

    fn pair(&mut self, mut message: Reader<'a>, depth: u32) -> Result<KeyValue<'a>, Fault> {
        let mut key = "";
        let mut value = Open::default();
        while !message.is_done() {
            match message.key()? {
                KEY => key = message.string("attribute key")?,
                VALUE => {
                    let piece = message.message()?;
                    self.merge(&mut value, piece, depth)?;
                }
                KEY_INDEX => drop(message.int32()?),
                other => message.skip(other, KEY_VALUE)?,
            }
        }
        Ok(KeyValue { key, value: self.close(value) })
    }

    /// Merges one piece of an `AnyValue` message into `value`. The value of an attribute or log body is level 1.
    pub(crate) fn merge(&mut self, value: &mut Open<'a>, mut piece: Reader<'a>, depth: u32) -> Result<(), Fault> {
        check_depth(depth, piece.position())?;
        while !piece.is_done() {
            match piece.key()? {
                STRING => {
                    let text = piece.string("string value")?;
                    self.replace(value, AnyValue::Str(text));
                }
                INT => {
                    let number = piece.varint()? as i64;
                    self.replace(value, AnyValue::Int(number));
                }
                BOOL => {
                    let boolean = piece.varint()? != 0;
                    self.replace(value, AnyValue::Bool(boolean));
                }
                DOUBLE => {
                    let number = piece.double()?;
                    self.replace(value, AnyValue::Double(number));
                }
                BYTES => {
                    let bytes = piece.bytes()?;
                    self.replace(value, AnyValue::Bytes(bytes));
                }
                ARRAY => {
                    let list = piece.message()?;
                    self.array(value, list, depth)?;
                }
                MAP => {
                    let list = piece.message()?;
                    self.map(value, list, depth)?;
                }
                STRING_INDEX => {
                    piece.int32()?;
                    self.replace(value, AnyValue::Empty);
                }
                other => piece.skip(other, ANY_VALUE)?,
            }
        }
        Ok(())
    }

    fn array(&mut self, value: &mut Open<'a>, mut list: Reader<'a>, depth: u32) -> Result<(), Fault> {
        if !matches!(value, Open::Array(_)) {
            self.replace(value, AnyValue::Empty);
            *value = Open::Array(self.stacks.elements.len());
        }
        while !list.is_done() {
            match list.key()? {
                ELEMENT => {
                    let message = list.message()?;
                    let mut element = Open::default();
                    self.merge(&mut element, message, depth + 1)?;
                    let element = self.close(element);
                    self.stacks.elements.push(element);
                }
                other => list.skip(other, LIST)?,
            }
        }
        Ok(())
    }

    fn map(&mut self, value: &mut Open<'a>, mut list: Reader<'a>, depth: u32) -> Result<(), Fault> {
        if !matches!(value, Open::Map(_)) {
            self.replace(value, AnyValue::Empty);
            *value = Open::Map(self.stacks.pairs.len());
        }
        while !list.is_done() {
            match list.key()? {
                ELEMENT => {
                    let message = list.message()?;
                    let pair = self.pair(message, depth + 1)?;
                    self.stacks.pairs.push(pair);
                }
                other => list.skip(other, LIST)?,
            }
        }
        Ok(())
    }

    /// The last alternative wins: drops the elements of an open list.
    #[inline]
    fn replace(&mut self, value: &mut Open<'a>, by: AnyValue<'a>) {
        match *value {
            Open::Closed(_) => {}
            Open::Array(base) => self.stacks.elements.truncate(base),
            Open::Map(base) => self.stacks.pairs.truncate(base),
        }
        *value = Open::Closed(by);
    }

    /// Completes the value once its owner has been read.
    #[inline]
    pub(crate) fn close(&mut self, value: Open<'a>) -> AnyValue<'a> {
        match value {
            Open::Closed(value) => value,
            Open::Array(base) => self.stacks.take_array(base),
            Open::Map(base) => self.stacks.take_map(base),
        }
    }

    pub(crate) fn arena(&self) -> &'a Bump {
        self.stacks.arena
    }
}
