//! Unusual protobuf and its result: ids, field order, repeated messages, packing, damage. Bytes are built by hand.

use bumpalo::Bump;
use tidewatch_domain::decode::{self, Encoding, VALUE_DEPTH_MAX};
use tidewatch_domain::model::{AnyValue, InvalidId, PointData, TraceBatch};
use tidewatch_domain::wire::value_json;

/// A length-delimited field.
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![number << 3 | 2];
    let mut length = content.len();
    while length >= 0x80 {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
    [&out[..], content].concat()
}

/// A request with one resource block of one scope block with these records.
fn request(records: &[Vec<u8>]) -> Vec<u8> {
    let records: Vec<u8> = records.iter().flat_map(|record| field(2, record)).collect();
    field(1, &field(2, &records))
}

/// The message of a string attribute.
fn attribute(key: &str, value: &str) -> Vec<u8> {
    [field(1, key.as_bytes()), field(2, &field(1, value.as_bytes()))].concat()
}

fn ids() -> Vec<u8> {
    [field(1, &[1; 16]), field(2, &[2; 8])].concat()
}

#[track_caller]
fn traces<'a>(body: &'a [u8], arena: &'a Bump) -> TraceBatch<'a> {
    decode::traces(Encoding::Protobuf, body, arena).expect("a valid body")
}

#[track_caller]
fn refusal(body: &[u8]) -> String {
    decode::traces(Encoding::Protobuf, body, &Bump::new()).expect_err("a broken body").message
}

// OTLP row "Empty envelopes".
#[test]
fn empty_requests() {
    for body in [&[][..], &[0x0a, 0], &[0x0a, 2, 0x12, 0], &[0x0a, 4, 0x12, 2, 0x0a, 0]] {
        assert!(traces(body, &Bump::new()).spans.is_empty());
        assert!(decode::logs(Encoding::Protobuf, body, &Bump::new()).expect("valid").records.is_empty());
        assert!(decode::metrics(Encoding::Protobuf, body, &Bump::new()).expect("valid").metrics.is_empty());
    }
}

// DECISIONS 5; OTLP row "Protobuf": an invalid id rejects its span and not the batch.
#[test]
fn a_bad_id_rejects_one_span() {
    let body = request(&[
        ids(),
        [field(1, &[1; 15]), field(2, &[2; 8])].concat(),
        [field(1, &[0; 16]), field(2, &[2; 8])].concat(),
        [field(1, &[1; 16]), field(2, &[0; 8])].concat(),
        [ids(), field(4, &[3; 7])].concat(),
        [ids(), field(4, &[0; 8])].concat(),
        // The last occurrence wins, even if it is empty.
        [ids(), field(1, &[])].concat(),
    ]);
    let arena = Bump::new();
    let batch = traces(&body, &arena);
    let expected = [
        InvalidId::TraceId,
        InvalidId::ZeroTraceId,
        InvalidId::ZeroSpanId,
        InvalidId::ParentSpanId,
        InvalidId::TraceId,
    ];
    assert_eq!(batch.refused, expected);
    assert_eq!(batch.spans.len(), 2);
    assert!(batch.spans[1].parent_span_id.is_none());
}

#[test]
fn attributes_between_events_belong_to_the_span() {
    let event =
        |name: &str, key: &str| field(11, &[field(2, name.as_bytes()), field(3, &attribute(key, "e"))].concat());
    let span = [
        field(9, &attribute("a", "1")),
        event("first", "x"),
        field(9, &attribute("b", "2")),
        event("second", "y"),
        ids(),
        field(9, &attribute("c", "3")),
    ]
    .concat();
    let (body, arena) = (request(&[span]), Bump::new());
    let batch = traces(&body, &arena);
    let keys = |slice| batch.attributes(slice).0.iter().map(|pair| pair.key).collect::<Vec<_>>();
    assert_eq!(keys(batch.spans[0].attributes), ["a", "b", "c"]);
    let events: Vec<_> =
        batch.spans[0].events.of(&batch.events).iter().map(|event| (event.name, keys(event.attributes))).collect();
    assert_eq!(events, [("first", vec!["x"]), ("second", vec!["y"])]);
}

#[test]
fn a_resource_in_pieces_is_merged() {
    let scope = |name: &str| field(2, &[field(1, &field(1, name.as_bytes())), field(2, &ids())].concat());
    let block = [
        field(1, &[field(1, &attribute("a", "1")), vec![0x10, 5]].concat()),
        scope("s"),
        field(1, &[field(1, &attribute("b", "2")), vec![0x10, 7]].concat()),
        field(3, b"url"),
    ]
    .concat();
    let (body, arena) = (field(1, &block), Bump::new());
    let batch = traces(&body, &arena);
    assert_eq!(batch.resources.len(), 1);
    assert_eq!((batch.resources[0].dropped_attributes, batch.resources[0].schema_url), (7, "url"));
    let attributes = batch.resource_attributes(&batch.spans[0]);
    assert_eq!((attributes.text("a"), attributes.text("b"), attributes.0.len()), (Some("1"), Some("2"), 2));
    assert_eq!((batch.spans[0].scope, batch.scopes[0].name), (0, "s"));
}

#[test]
fn values_in_pieces() {
    let string = field(1, b"s");
    let array = |element: &[u8]| field(5, &field(1, element));
    for (value, expected) in [
        // Another alternative replaces the value, a second list extends the first.
        ([string.clone(), vec![0x18, 5]].concat(), "5"),
        ([array(&[0x18, 1]), array(&[0x18, 2])].concat(), "[1,2]"),
        ([array(&[0x18, 1]), string.clone(), array(&[0x18, 2])].concat(), "[2]"),
        ([string, array(&array(&[0x18, 1]))].concat(), "[[1]]"),
        (field(6, &field(1, &attribute("k", "v"))), r#"{"k":"v"}"#),
        (vec![0x40, 3], "null"),
        (vec![], "null"),
    ] {
        let whole = [field(1, b"key"), field(2, &value)].concat();
        let body = request(&[[ids(), field(9, &whole)].concat()]);
        let arena = Bump::new();
        let batch = traces(&body, &arena);
        assert_eq!(batch.attributes.len(), 1);
        assert_eq!((batch.attributes[0].key, value_json(batch.attributes[0].value).as_str()), ("key", expected));
    }
    let pieces = [field(2, &array(&[0x18, 1])), field(1, b"k"), field(2, &array(&[0x18, 2]))].concat();
    let (body, arena) = (request(&[[ids(), field(9, &pieces)].concat()]), Bump::new());
    assert_eq!(value_json(traces(&body, &arena).attributes[0].value), "[1,2]");
}

#[test]
fn nesting_is_bounded() {
    let nested = |levels: u32| {
        let value = (1..levels).fold(vec![0x18, 1], |inner, _| field(5, &field(1, &inner)));
        request(&[[ids(), field(9, &field(2, &value))].concat()])
    };
    let (body, arena) = (nested(VALUE_DEPTH_MAX), Bump::new());
    assert!(matches!(traces(&body, &arena).attributes[0].value, AnyValue::Array([_])));
    assert!(refusal(&nested(VALUE_DEPTH_MAX + 1)).ends_with("is nested deeper than 32 levels"));
    assert!(refusal(&nested(2000)).ends_with("is nested deeper than 32 levels"));
}

#[test]
fn histogram_numbers_packed_and_not() {
    let eight = |number: f64| number.to_le_bytes();
    let packed = [field(6, &[1u64.to_le_bytes(), 2u64.to_le_bytes()].concat()), field(7, &eight(0.5))].concat();
    let single =
        [&[6 << 3 | 1][..], &1u64.to_le_bytes(), &[6 << 3 | 1], &2u64.to_le_bytes(), &[7 << 3 | 1], &eight(0.5)]
            .concat();
    for point in [packed, single] {
        let metric = field(9, &field(1, &point));
        let (body, arena) = (request(&[metric]), Bump::new());
        let batch = decode::metrics(Encoding::Protobuf, &body, &arena).expect("valid");
        let PointData::Histogram(data) = batch.points[0].data else { panic!("a histogram") };
        assert_eq!((data.bounds, data.buckets), (&[0.5][..], &[1, 2][..]));
        assert_eq!((data.sum, data.count), (None, 0));
    }
}

#[test]
fn damage_is_named_with_its_position() {
    let span = |content: &[u8]| request(&[[ids(), content.to_vec()].concat()]);
    // The request, resource, scope and span heads take 8 bytes, the ids 28.
    for (body, message) in [
        (vec![0x0a], "protobuf varint at byte 1 is cut short"),
        (vec![0x0a, 5, 1], "protobuf length 5 at byte 1 is past the end (1 bytes left)"),
        (vec![0x08, 1], "protobuf field 1 before byte 1 has wire type 0"),
        (vec![0x02, 1], "protobuf field number out of range at byte 0"),
        (vec![0x0f, 1], "protobuf field 1 before byte 1 has wire type 7"),
        (vec![0x17, 1], "protobuf wire type 7 before byte 1 is not allowed here"),
        (vec![0x14], "protobuf wire type 4 before byte 1 is not allowed here"),
        ([&[0x0a][..], &[0xff; 11]].concat(), "protobuf varint at byte 1 is longer than 64 bits"),
        (span(&field(5, b"a\xff")), "span name at byte 36 is not valid UTF-8"),
        (span(&field(9, &attribute("k", "v"))[..8]), "protobuf length 8 at byte 35 is past the end (6 bytes left)"),
        (
            span(&field(9, &[&field(1, b"\xc3")[..], &field(2, &[])].concat())),
            "attribute key at byte 38 is not valid UTF-8",
        ),
        (span(&[0x39, 1, 2]), "protobuf fixed64 at byte 35 is cut short"),
        (span(&[0x85, 1, 1]), "protobuf fixed32 at byte 36 is cut short"),
    ] {
        assert_eq!(refusal(&body), message);
    }
}

#[test]
fn broken_utf8_is_refused_in_any_string_of_an_attribute_run() {
    let long = "x".repeat(200);
    for broken in 0..6 {
        let mut span = ids();
        for (i, value) in ["a", "some text with 100 % ASCII", "ü", &long, "b", ""].into_iter().enumerate() {
            let mut message = attribute("key", value);
            if i == broken {
                let end = message.len() - 1;
                message[end] = if value.is_empty() { 0x80 } else { 0xff };
            }
            span.extend(field(9, &message));
        }
        let refused = refusal(&request(&[span]));
        assert!(refused.contains("string value") || refused.contains("protobuf"), "{refused}");
    }
    // A character cut by the end of its string is invalid, even if the next string begins with its remaining bytes.
    let halves = [field(1, b"k"), field(2, &field(1, b"\xc3"))].concat();
    assert!(
        refusal(&request(&[[ids(), field(9, &halves), field(9, &attribute("a", "b"))].concat()])).contains("UTF-8")
    );
}

#[test]
fn unknown_fields_and_groups_are_skipped() {
    let unknown =
        [&[0xa2, 1, 1, 0xff][..], &[0xa8, 1, 7], &[0xb3, 1, 0x0b, 0x08, 5, 0x0c, 0xb4, 1], &[0xbd, 1, 1, 2, 3, 4]]
            .concat();
    let span = [unknown.clone(), ids(), unknown.clone(), field(5, b"name")].concat();
    let body = [unknown, request(&[span])].concat();
    let arena = Bump::new();
    let batch = traces(&body, &arena);
    assert_eq!((batch.spans.len(), batch.spans[0].name, batch.spans[0].invalid), (1, "name", None));
    // A group ends with its own number, and nesting is limited.
    assert!(refusal(&[0xb3, 1, 0xbc, 1]).contains("ends another group"));
    assert!(refusal(&[0xb3, 1].repeat(200)).contains("groups nested deeper than 64"));
}

#[test]
fn overlong_keys_of_attributes() {
    let attribute = |value: &str| field(9, &attribute("k", value))[1..].to_vec();
    let span = |next: &[u8]| request(&[[&ids()[..], &[0xca, 0x00], &attribute("a"), next, &attribute("b")].concat()]);
    for key in [&[0x4a][..], &[0xca, 0x00], &[0xca, 0x80, 0x00]] {
        let (body, arena) = (span(key), Bump::new());
        let values: Vec<_> = traces(&body, &arena).attributes.iter().map(|pair| pair.value).collect();
        assert_eq!(values, [AnyValue::Str("a"), AnyValue::Str("b")]);
    }
    assert!(refusal(&span(&[0x00])).contains("field number out of range"));
}

#[test]
fn too_many_records_for_the_size_of_the_body_are_refused() {
    // Each takes two bytes in the body and more than a hundred in memory.
    let spans = |count: usize| field(1, &field(2, &[0x12, 0].repeat(count)));
    assert_eq!(refusal(&spans(decode::RECORDS_MAX)), "more than 131072 spans in a request of this size");
    let (body, arena) = (spans(4096), Bump::new());
    let batch = traces(&body, &arena);
    assert_eq!(
        (batch.refused.len(), batch.spans.capacity() < 16),
        (4096, true),
        "nothing is kept of a span without ids"
    );
}
