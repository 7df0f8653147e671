//! Random requests, leaning towards what has edges: empty, huge, nested, repeated, not finite.

use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, ArrayValue, KeyValue, KeyValueList};
use proptest::collection::vec;
use proptest::prelude::*;

/// Keys from a small set, so that they repeat; any text now and then.
pub fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(vec!["http.route", "k", "exception.type", ""]).prop_map(str::to_owned),
        1 => text(),
    ]
}

/// Text with quotes, escapes, controls and characters of every length.
pub fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        2 => "[a-z/ .]{0,12}",
        1 => vec(prop_oneof![prop::sample::select(vec!['"', '\\', '\n', '\0', 'ü', '€', '😀', '/']), any::<char>()], 0..6)
            .prop_map(String::from_iter),
        1 => "[a-zü]{120,200}",
    ]
}

pub fn double() -> impl Strategy<Value = f64> {
    prop_oneof![
        prop::sample::select(vec![0.0, -0.0, 1.0, 0.1, 1e300, 5e-324, f64::INFINITY, f64::NEG_INFINITY, f64::NAN]),
        prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL,
    ]
}

pub fn int() -> impl Strategy<Value = i64> {
    prop_oneof![prop::sample::select(vec![0, 1, -1, i64::MIN, i64::MAX, 127, 128, 1 << 53]), any::<i64>()]
}

fn scalar() -> impl Strategy<Value = Option<Value>> {
    prop_oneof![
        1 => Just(None),
        4 => text().prop_map(|text| Some(Value::StringValue(text))),
        1 => any::<bool>().prop_map(|truth| Some(Value::BoolValue(truth))),
        2 => int().prop_map(|number| Some(Value::IntValue(number))),
        1 => double().prop_map(|number| Some(Value::DoubleValue(number))),
        1 => vec(any::<u8>(), 0..7).prop_map(|bytes| Some(Value::BytesValue(bytes))),
    ]
}

pub fn any_value() -> impl Strategy<Value = AnyValue> {
    scalar().prop_map(|value| AnyValue { value }).prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4)
                .prop_map(|values| AnyValue { value: Some(Value::ArrayValue(ArrayValue { values })) }),
            vec((key(), prop::option::weighted(0.9, inner)), 0..4).prop_map(|pairs| {
                let values = pairs.into_iter().map(|(key, value)| pair(key, value)).collect();
                AnyValue { value: Some(Value::KvlistValue(KeyValueList { values })) }
            }),
        ]
    })
}

fn pair(key: String, value: Option<AnyValue>) -> KeyValue {
    KeyValue { key, value, key_strindex: 0 }
}

pub fn attributes() -> impl Strategy<Value = Vec<KeyValue>> {
    vec((key(), prop::option::weighted(0.9, any_value())).prop_map(|(key, value)| pair(key, value)), 0..5)
}
