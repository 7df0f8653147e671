//! An encoder of the protobuf wire format.

use crate::model::{AnyValue, KeyValue};
use crate::wire::{put_pair, put_value, put_varint};

const VARINT: u32 = 0;
const FIXED64: u32 = 1;
const LENGTH: u32 = 2;
const FIXED32: u32 = 5;

/// Appends the fields of one message to a buffer.
pub struct Message<'o>(pub &'o mut Vec<u8>);

impl Message<'_> {
    /// An integer or enum field. Zero, the default of proto3, is left out.
    pub fn uint(&mut self, field: u32, value: u64) {
        if value != 0 {
            self.key(field, VARINT);
            put_varint(value, self.0);
        }
    }

    /// A `fixed64` field, zero included.
    pub fn fixed64(&mut self, field: u32, value: u64) {
        self.key(field, FIXED64);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    /// A `fixed32` field, zero included.
    pub fn fixed32(&mut self, field: u32, value: u32) {
        self.key(field, FIXED32);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    /// A `double` field, zero included.
    pub fn double(&mut self, field: u32, value: f64) {
        self.fixed64(field, value.to_bits());
    }

    /// A `bytes` field, or a message that is already encoded.
    pub fn bytes(&mut self, field: u32, value: &[u8]) {
        self.key(field, LENGTH);
        put_varint(value.len() as u64, self.0);
        self.0.extend_from_slice(value);
    }

    /// A `string` field.
    pub fn text(&mut self, field: u32, value: &str) {
        self.bytes(field, value.as_bytes());
    }

    /// A `KeyValue` as an element of the field `field`, which is below 16.
    pub fn attribute(&mut self, field: u8, key: &str, value: AnyValue<'_>) {
        put_pair(field, &KeyValue { key, value }, self.0);
    }

    /// The fields of an `AnyValue`.
    pub(super) fn value(&mut self, value: AnyValue<'_>) {
        put_value(value, self.0);
    }

    /// A packed list of `fixed64` or `double` values, as their bits.
    pub fn packed_fixed64(&mut self, field: u32, values: impl ExactSizeIterator<Item = u64>) {
        self.key(field, LENGTH);
        put_varint(8 * values.len() as u64, self.0);
        values.for_each(|value| self.0.extend_from_slice(&value.to_le_bytes()));
    }

    /// A nested message. Its bytes are moved when the length takes more than one byte.
    pub fn message(&mut self, field: u32, fill: impl FnOnce(&mut Message<'_>)) {
        self.key(field, LENGTH);
        let at = self.0.len();
        self.0.push(0);
        fill(&mut Message(self.0));
        let length = self.0.len() - at - 1;
        if length < 0x80 {
            self.0[at] = length as u8;
        } else {
            let mut prefix = Vec::with_capacity(5);
            put_varint(length as u64, &mut prefix);
            self.0.splice(at..=at, prefix);
        }
    }

    fn key(&mut self, field: u32, wire_type: u32) {
        put_varint(u64::from(field << 3 | wire_type), self.0);
    }
}
