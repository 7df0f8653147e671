//! Encodes attributes as bytes, sorted by key: equal attributes have equal bytes, and `lake::attr_columns` can split
//! them into columns and join them again.

use std::cmp::Ordering;

use tidewatch_domain::model::{Body, KeyValue, Layout, Slice, share_keys};
use tidewatch_domain::wire;

/// Number of attributes up to which sorting does not allocate.
const FEW: usize = 32;

/// Appends the attributes sorted by key; attributes of one key keep their order.
pub(super) fn encode_sorted(attributes: &[KeyValue<'_>], out: &mut Vec<u8>) {
    if attributes.len() > FEW {
        return encode_many(attributes, out);
    }
    for index in &order_of(attributes)[..attributes.len()] {
        wire::encode_attribute(&attributes[*index as usize], out);
    }
}

/// Like [`encode_sorted`], faster for attributes of many records of one batch.
///
/// A record mostly has its keys in the order of the latest record with the same number of attributes: that order is
/// tried first.
pub(super) struct SortedEncoder<'b, 'a> {
    body: &'b Body<'a>,
    all: &'b [KeyValue<'a>],
    /// By number of attributes.
    orders: [Order; FEW + 1],
}

/// The sorted order of the latest attributes of one count.
#[derive(Clone, Copy, Default)]
struct Order {
    /// Index of each attribute, by key.
    places: [u8; FEW],
    /// The latest attributes with this order.
    of: Slice,
    /// The layout of those attributes.
    layout: Layout,
}

impl<'b, 'a> SortedEncoder<'b, 'a> {
    /// Creates an encoder of attributes that are slices of `all`, which was read from `body`.
    pub fn new(body: &'b Body<'a>, all: &'b [KeyValue<'a>]) -> SortedEncoder<'b, 'a> {
        SortedEncoder { body, all, orders: [Order::default(); FEW + 1] }
    }

    /// Appends the attributes in `slice` sorted by key; `layout` is their layout.
    pub fn encode(&mut self, slice: Slice, layout: Layout, out: &mut Vec<u8>) {
        let attributes = slice.of(self.all);
        let Some(order) = self.orders.get_mut(attributes.len()) else { return encode_many(attributes, out) };
        let is_it = layout.shares_keys(order.layout) || share_keys(attributes, order.of.of(self.all));
        if !is_it && !is_order_of(attributes, &order.places) {
            order.places = order_of(attributes);
        }
        (order.of, order.layout) = (slice, layout);
        let pairs = self.body.encoded(slice);
        let places = &order.places[..attributes.len()];
        if layout.encoded_bytes > 0 {
            return wire::copy_attributes(pairs, places, layout.encoded_bytes as usize, out);
        }
        for place in places {
            let place = usize::from(*place);
            wire::copy_attribute(&attributes[place], pairs.get(place).copied().unwrap_or_default(), out);
        }
    }
}

/// Whether the keys ascend strictly in this order, which then contains each attribute once.
fn is_order_of(attributes: &[KeyValue<'_>], order: &[u8; FEW]) -> bool {
    let mut last: Option<(u64, &str)> = None;
    order[..attributes.len()].iter().all(|index| {
        let key = attributes[*index as usize].key;
        let first = first_bytes(key);
        let ascends = last.is_none_or(|(last_first, last)| match last_first.cmp(&first) {
            Ordering::Less => true,
            Ordering::Equal => last < key,
            Ordering::Greater => false,
        });
        last = Some((first, key));
        ascends
    })
}

/// The indexes of the attributes, sorted by key.
fn order_of(attributes: &[KeyValue<'_>]) -> [u8; FEW] {
    // Insertion sort by the first bytes of the keys, which nearly always decide.
    let mut sorted = [(0_u64, 0_u8); FEW];
    for (index, attribute) in attributes.iter().enumerate() {
        let entry = (first_bytes(attribute.key), index as u8);
        let comes_before = |other: (u64, u8)| match entry.0 == other.0 {
            true => attribute.key < attributes[other.1 as usize].key,
            false => entry.0 < other.0,
        };
        let mut place = index;
        while place > 0 && comes_before(sorted[place - 1]) {
            sorted[place] = sorted[place - 1];
            place -= 1;
        }
        sorted[place] = entry;
    }
    sorted.map(|(_, index)| index)
}

fn encode_many(attributes: &[KeyValue<'_>], out: &mut Vec<u8>) {
    let mut order: Vec<&KeyValue<'_>> = attributes.iter().collect();
    order.sort_by_key(|attribute| attribute.key);
    order.into_iter().for_each(|attribute| wire::encode_attribute(attribute, out));
}

/// The first eight bytes of the key as a number that orders like them.
fn first_bytes(key: &str) -> u64 {
    match key.as_bytes().first_chunk() {
        Some(first) => u64::from_be_bytes(*first),
        None => {
            let mut first = [0; 8];
            first[..key.len()].copy_from_slice(key.as_bytes());
            u64::from_be_bytes(first)
        }
    }
}

/// Maximum bytes of all copies of one shared list in a request.
const SHARED_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Bytes that a shared list may always take, however many records share it.
const SHARED_BYTES_FREE: usize = 1024;
/// Maximum bytes of a shared list: a scan decodes thousands of rows at a time, each with its copy.
const SHARED_BYTES_EACH_MAX: usize = 32 * 1024;

/// Attributes that many records of a request share (those of a resource or scope), encoded once.
#[derive(Debug, Default)]
pub(super) struct SharedAttributes {
    pub bytes: Vec<u8>,
    /// Whether some attributes did not fit.
    pub is_trimmed: bool,
}

impl SharedAttributes {
    /// Encodes attributes that are written with each of `repeats` records.
    ///
    /// A hostile request can have one huge resource and a hundred thousand records; attributes that would make the
    /// copies exceed [`SHARED_BYTES_MAX`], or one copy [`SHARED_BYTES_EACH_MAX`], are left out, one by one. Records
    /// that lose attributes are counted and reported to the sender ([`Rows::trimmed`]).
    pub fn new(attributes: &[KeyValue<'_>], repeats: usize) -> SharedAttributes {
        SharedAttributes::encoded_by(attributes, repeats, |bytes| encode_sorted(attributes, bytes))
    }

    /// As [`SharedAttributes::new`], of attributes that are among those of the encoder.
    pub fn with(encoder: &mut SortedEncoder<'_, '_>, slice: Slice, repeats: usize) -> SharedAttributes {
        SharedAttributes::encoded_by(slice.of(encoder.all), repeats, |bytes| {
            encoder.encode(slice, Layout::default(), bytes)
        })
    }

    fn encoded_by(attributes: &[KeyValue<'_>], repeats: usize, encode: impl FnOnce(&mut Vec<u8>)) -> SharedAttributes {
        if repeats == 0 {
            return SharedAttributes::default();
        }
        let bytes_max = (SHARED_BYTES_MAX / repeats).clamp(SHARED_BYTES_FREE, SHARED_BYTES_EACH_MAX);
        let mut bytes = Vec::new();
        encode(&mut bytes);
        if bytes.len() <= bytes_max {
            return SharedAttributes { bytes, is_trimmed: false };
        }
        bytes.clear();
        let mut sorted = attributes.to_vec();
        sorted.sort_by_key(|attribute| attribute.key);
        for attribute in &sorted {
            let before = bytes.len();
            wire::encode_attribute(attribute, &mut bytes);
            if bytes.len() > bytes_max {
                bytes.truncate(before);
            }
        }
        SharedAttributes { bytes, is_trimmed: true }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// The records that lost attributes. `shared`: pairs of a record and whether its attributes are trimmed.
pub(super) fn trimmed(shared: impl Iterator<Item = (u32, bool)>) -> Vec<u32> {
    shared.filter(|(_, is_trimmed)| *is_trimmed).map(|(record, _)| record).collect()
}

#[cfg(test)]
mod tests {
    use bumpalo::Bump;
    use proptest::prelude::*;
    use tidewatch_domain::model::AnyValue;

    use super::*;

    proptest! {
        /// Whatever orders the encoder has cached, and wherever the keys are in memory.
        #[test]
        fn many_records_are_encoded_like_single_ones(
            records in prop::collection::vec(
                prop::collection::vec((0..6usize, 0..3i64, any::<bool>(), prop::bool::weighted(0.1)), 0..5),
                0..12,
            ),
        ) {
            const KEYS: [&str; 6] = ["", "a", "http.request", "http.request.method", "http.route", "z"];
            let arena = Bump::new();
            let (mut all, mut pairs, mut slices) = (Vec::new(), Vec::new(), Vec::new());
            let mut shapes: Vec<Vec<*const str>> = Vec::new();
            for record in &records {
                let start = all.len() as u32;
                for (key, value, is_as_stored, has_own_key) in record {
                    let key = if *has_own_key { arena.alloc_str(KEYS[*key]) } else { KEYS[*key] };
                    let attribute = KeyValue { key, value: AnyValue::Int(*value) };
                    let mut stored = Vec::new();
                    wire::encode_attribute(&attribute, &mut stored);
                    // Without the field key of the list.
                    pairs.push(if *is_as_stored { &*arena.alloc_slice_copy(&stored[1..]) } else { &[] });
                    all.push(attribute);
                }
                let shape = all[start as usize..].iter().map(|attribute| std::ptr::from_ref(attribute.key)).collect();
                let key_set = shapes.iter().position(|known| *known == shape).unwrap_or(shapes.len()) as u32 + 1;
                shapes.push(shape);
                let stored: &[&[u8]] = &pairs[start as usize..];
                let is_stored = stored.iter().all(|pair| !pair.is_empty());
                let encoded_bytes = if is_stored { stored.iter().map(|pair| 1 + pair.len() as u32).sum() } else { 0 };
                slices.push((Slice { start, end: all.len() as u32 }, Layout { key_set, encoded_bytes }));
            }
            for (body, is_known) in [(Body { encoded_attributes: pairs, records_max: 0 }, true), (Body::default(), false)] {
                let mut encoder = SortedEncoder::new(&body, &all);
                for (slice, layout) in &slices {
                    let (mut encoded, mut expected) = (vec![1], vec![1]);
                    let layout = if is_known { *layout } else { Layout::default() };
                    encoder.encode(*slice, layout, &mut encoded);
                    encode_sorted(slice.of(&all), &mut expected);
                    prop_assert_eq!(&encoded, &expected);
                }
            }
        }
    }
}
