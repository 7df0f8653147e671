//! Generated types to the model, copying everything into an arena.

use bumpalo::Bump;
use opentelemetry_proto::tonic::common::v1 as proto;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use tidewatch_domain::model::{AnyValue, KeyValue};

pub fn any_value<'a>(value: Option<&proto::AnyValue>, arena: &'a Bump) -> AnyValue<'a> {
    match value.and_then(|value| value.value.as_ref()) {
        None | Some(Value::StringValueStrindex(_)) => AnyValue::Empty,
        Some(Value::StringValue(text)) => AnyValue::Str(arena.alloc_str(text)),
        Some(Value::BoolValue(truth)) => AnyValue::Bool(*truth),
        Some(Value::IntValue(number)) => AnyValue::Int(*number),
        Some(Value::DoubleValue(number)) => AnyValue::Double(*number),
        Some(Value::BytesValue(bytes)) => AnyValue::Bytes(arena.alloc_slice_copy(bytes)),
        Some(Value::ArrayValue(list)) => {
            let elements: Vec<_> = list.values.iter().map(|value| any_value(Some(value), arena)).collect();
            AnyValue::Array(arena.alloc_slice_copy(&elements))
        }
        Some(Value::KvlistValue(list)) => AnyValue::Map(attributes(&list.values, arena)),
    }
}

pub fn attributes<'a>(attributes: &[proto::KeyValue], arena: &'a Bump) -> &'a [KeyValue<'a>] {
    let pairs: Vec<_> = attributes
        .iter()
        .map(|pair| KeyValue { key: arena.alloc_str(&pair.key), value: any_value(pair.value.as_ref(), arena) })
        .collect();
    arena.alloc_slice_copy(&pairs)
}
