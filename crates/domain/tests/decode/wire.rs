//! The stored encoding: round trips, and compatibility with the generated protobuf types.

use std::borrow::Cow;

use bumpalo::Bump;
use opentelemetry_proto::tonic::common::v1::KeyValueList;
use opentelemetry_proto::tonic::trace::v1 as proto;
use proptest::prelude::*;
use prost::Message;
use tidewatch_domain::model::{AnyValue, Event, KeyValue, Link, Slice, Span, SpanId, TraceBatch, TraceId};
use tidewatch_domain::wire::{
    attribute_keys, attribute_text, decode_attributes, decode_events, decode_links, encode_attributes, encode_events,
    encode_links, for_each_attribute_text, value_text,
};

use crate::oracle::{assert_same, convert};
use crate::strategies;

proptest! {
    #[test]
    fn attributes_round_trip(list in strategies::attributes()) {
        let arena = Bump::new();
        let attributes = convert::attributes(&list, &arena);
        let mut bytes = Vec::new();
        encode_attributes(attributes, &mut bytes);

        assert_same(&decode_attributes(&bytes, &arena), &attributes);
        // The generated types decode the same attributes.
        let oracle = KeyValueList::decode(&bytes[..]).expect("valid protobuf");
        assert_same(&convert::attributes(&oracle.values, &arena), &attributes);
        // Attributes encoded by the generated types decode to the same, too.
        let theirs = KeyValueList { values: list }.encode_to_vec();
        assert_same(&decode_attributes(&theirs, &arena), &attributes);
    }

    #[test]
    fn text_forms_equal_those_of_decoded_values(list in strategies::attributes()) {
        let arena = Bump::new();
        let attributes = convert::attributes(&list, &arena);
        let mut bytes = Vec::new();
        encode_attributes(attributes, &mut bytes);

        let expected: Vec<_> = attributes.iter().map(|pair| (pair.key, value_text(pair.value))).collect();
        let mut visited = Vec::new();
        for_each_attribute_text(&bytes, |key, text| visited.push((key, text)));
        assert_eq!(visited, expected);
        assert!(attribute_keys(&bytes).eq(attributes.iter().map(|pair| pair.key)));
        for pair in attributes {
            let last = attributes.iter().rev().find(|other| other.key == pair.key).expect("itself at least");
            assert_eq!(attribute_text(&bytes, pair.key), Some(value_text(last.value)));
        }
        assert_eq!(attribute_text(&bytes, "no such key"), None);
    }

    #[test]
    fn damaged_bytes_end_the_list(list in strategies::attributes(), cut in any::<prop::sample::Index>(), bit in 0..8u32) {
        let arena = Bump::new();
        let mut bytes = Vec::new();
        encode_attributes(convert::attributes(&list, &arena), &mut bytes);
        prop_assume!(!bytes.is_empty());
        let position = cut.index(bytes.len());
        let whole = list.len();
        assert!(decode_attributes(&bytes[..position], &arena).len() < whole);
        let flipped = arena.alloc_slice_copy(&bytes);
        flipped[position] ^= 1u8 << bit;
        decode_attributes(flipped, &arena);
        decode_events(flipped, &arena);
        decode_links(flipped, &arena);
        attribute_text(flipped, "k");
        for_each_attribute_text(flipped, |_, _| {});
        assert!(attribute_keys(flipped).count() <= flipped.len());
    }
}

#[test]
fn strings_are_borrowed() {
    let mut bytes = Vec::new();
    encode_attributes(&[KeyValue { key: "k", value: AnyValue::Str("v") }], &mut bytes);
    assert!(matches!(attribute_text(&bytes, "k"), Some(Cow::Borrowed("v"))));
}

/// A span with two events and two links between those of other spans.
fn batch_with_events_and_links() -> TraceBatch<'static> {
    let attributes = vec![
        KeyValue { key: "other", value: AnyValue::Int(0) },
        KeyValue { key: "exception.type", value: AnyValue::Str("E") },
        KeyValue { key: "n", value: AnyValue::Int(-1) },
    ];
    let events = vec![
        Event { name: "not ours", ..Event::default() },
        Event { time_ns: 7, name: "exception", attributes: Slice { start: 1, end: 3 }, dropped_attributes: 300 },
        Event::default(),
    ];
    let links = vec![
        Link {
            trace_id: TraceId([1; 16]),
            span_id: SpanId([2; 8]),
            trace_state: "k=v",
            attributes: Slice { start: 2, end: 3 },
            dropped_attributes: 1,
            flags: 0x301,
        },
        Link::default(),
        Link { trace_state: "not ours", ..Link::default() },
    ];
    let span = Span { events: Slice { start: 1, end: 3 }, links: Slice { start: 0, end: 2 }, ..Span::default() };
    TraceBatch { spans: vec![span], attributes, events, links, ..TraceBatch::default() }
}

#[test]
fn events_and_links_round_trip() {
    let batch = batch_with_events_and_links();
    let span = &batch.spans[0];
    let arena = Bump::new();
    let (mut event_bytes, mut link_bytes) = (Vec::new(), Vec::new());
    encode_events(&batch, span, &mut event_bytes);
    encode_links(&batch, span, &mut link_bytes);

    let events = decode_events(&event_bytes, &arena);
    assert_eq!(events.len(), 2);
    assert_eq!((events[0].time_ns, events[0].name, events[0].dropped_attributes), (7, "exception", 300));
    assert_eq!(events[0].attributes, &batch.attributes[1..3]);
    assert_eq!(events[1], Default::default());

    let links = decode_links(&link_bytes, &arena);
    assert_eq!(links.len(), 2);
    assert_eq!((links[0].trace_id, links[0].span_id), (TraceId([1; 16]), SpanId([2; 8])));
    assert_eq!((links[0].trace_state, links[0].dropped_attributes, links[0].flags), ("k=v", 1, 0x301));
    assert_eq!(links[0].attributes, &batch.attributes[2..3]);
    assert_eq!(links[1], Default::default());

    // Both columns concatenated are an OTLP Span.
    event_bytes.extend_from_slice(&link_bytes);
    let oracle = proto::Span::decode(&event_bytes[..]).expect("valid protobuf");
    assert_eq!((oracle.events.len(), oracle.links.len()), (2, 2));
    assert_eq!(oracle.events[0].attributes.len(), 2);
    assert_eq!(oracle.links[0].flags, 0x301);
    assert_eq!(oracle.encode_to_vec().len(), event_bytes.len());
}
