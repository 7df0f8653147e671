use serde_json::{Map, json};

use super::*;

/// Sets the value at a key, whose parts are separated by points.
pub(crate) fn set(config: &mut Value, key: &str, value: Value) {
    let place = key.split('.').fold(config, |inner, part| {
        if inner.is_null() {
            *inner = Value::Object(Map::new());
        }
        &mut inner[part]
    });
    *place = value;
}

/// A configuration with the defaults, and the values that new forms suggest.
pub(crate) fn filled(fields: &[ConfigField]) -> Value {
    let mut config = json!({});
    for field in fields {
        if let Some(value) = field.suggested.clone().or_else(|| field.default.clone()) {
            set(&mut config, &field.key, value);
        }
    }
    config
}

/// A right configuration with one value just beyond each of the bounds of its fields, each with the key of the field.
pub(crate) fn beyond(fields: &[ConfigField], config: &Value) -> Vec<(Value, String)> {
    let mut wrong = Vec::new();
    for field in fields.iter().filter(|field| field.is_in(config)) {
        for value in beyond_of(field) {
            let mut config = config.clone();
            set(&mut config, &field.key, value);
            wrong.push((config, field.key.clone()));
        }
    }
    wrong
}

/// Values just beyond the bounds of a field.
fn beyond_of(field: &ConfigField) -> Vec<Value> {
    let is_list =
        matches!(field.kind, FieldKind::Strings | FieldKind::Integers | FieldKind::Choices | FieldKind::Monitors);
    let entry = |value: Value| if is_list { json!([value]) } else { value };
    let number = |bound: f64, step: f64| match field.kind {
        FieldKind::Number => json!(bound + step / 1000.0),
        _ => json!((bound + step) as i64),
    };
    let mut values = Vec::new();
    values.extend(field.minimum.map(|least| entry(number(least, -1.0))));
    values.extend(field.exclusive_minimum.map(|least| entry(number(least, 0.0))));
    values.extend(field.maximum.map(|most| entry(number(most, 1.0))));
    values.extend(field.max_length.map(|most| entry(json!("x".repeat(most + 1)))));
    if !field.options.is_empty() {
        values.push(entry(json!("no such option")));
    }
    if let Some(most) = field.max_items {
        values.push(match field.kind {
            FieldKind::Strings => json!(vec!["a@b.c"; most + 1]),
            FieldKind::Map | FieldKind::Variables => {
                (0..=most).map(|index| (format!("A{index}"), json!("v"))).collect::<Map<_, _>>().into()
            }
            _ => json!(vec![field.minimum.unwrap_or(1.0) as i64; most + 1]),
        });
    }
    if field.required {
        values.push(match field.kind {
            FieldKind::Strings => json!([]),
            FieldKind::Integer | FieldKind::Seconds | FieldKind::Policy | FieldKind::Number => Value::Null,
            _ => json!(""),
        });
    }
    values
}

fn number() -> ConfigField {
    ConfigField::new(FieldKind::Number, "Threshold").at("threshold")
}

#[test]
fn values_beyond_their_bounds_are_named_with_the_bounds() {
    let string = ConfigField::new(FieldKind::String, "Name").at("inner.name");
    let strings = ConfigField::new(FieldKind::Strings, "Terms").at("terms").max_items(2).max_length(3);
    let choice =
        ConfigField::choice("Kind", options(&[(json!("a"), "A"), (json!(2), "B"), (Value::Null, "C")])).at("kind");
    for (field, value, expected) in [
        (number(), json!(1), None),
        (number(), json!("1"), None),
        (number().at_least(1.0), json!(0.5), Some("threshold is at least 1")),
        (number().at_least(1.0).at_most(2.5), json!(2.6), Some("threshold is 1 to 2.5")),
        (number().above(0.0), json!(0), Some("threshold is above 0")),
        (number().above(0.0).at_most(100.0), json!(101), Some("threshold is above 0 and at most 100")),
        (number().at_most(2.0), json!(3), Some("threshold is at most 2")),
        (number().required(), Value::Null, Some("threshold is missing")),
        (string.clone(), json!(""), None),
        (string.clone().required(), json!(" "), Some("name is missing")),
        (string.clone().required().max_length(3), json!(""), Some("name has 1 to 3 characters")),
        (string.max_length(3), json!("äöüß"), Some("name has 1 to 3 characters")),
        (strings.clone(), json!(["a", "b"]), None),
        (strings.clone(), json!(["a", "b", "c"]), Some("terms has at most 2 entries")),
        (strings.clone(), json!([""]), Some("an entry of terms has 1 to 3 characters")),
        (strings.required(), json!([]), Some("terms has 1 to 2 entries")),
        (choice.clone(), json!(2), None),
        (choice.clone(), json!(""), None),
        (choice, json!("b"), Some("kind is a, 2 or null")),
    ] {
        assert_eq!(field.check(&value).err().as_deref(), expected, "{} {value}", field.key);
    }
}

#[test]
fn fields_of_other_choices_are_not_checked() {
    let fields = [
        ConfigField::new(FieldKind::String, "Kind").at("a.kind"),
        number().required().when("a.kind", &["x", "y"]),
        ConfigField::new(FieldKind::String, "Other").at("other").required().when("absent", &[Value::Null]),
    ];
    for (config, expected) in [
        (json!({ "a": { "kind": "z" }, "other": "o" }), Ok(())),
        (json!({ "a": { "kind": "x" }, "other": "o" }), Err("threshold is missing".to_owned())),
        (json!({ "a": { "kind": "y" }, "threshold": 1, "absent": 1 }), Ok(())),
        (json!({}), Err("other is missing".to_owned())),
    ] {
        assert_eq!(check(&fields, &config), expected, "{config}");
    }
}

#[test]
fn absent_properties_are_left_out_and_whole_bounds_have_no_fraction() {
    let field = number().above(0.0).at_most(99.5).required();
    let expected = json!({
        "key": "threshold", "label": "Threshold", "kind": "number", "required": true, "exclusiveMinimum": 0,
        "maximum": 99.5, "folded": false, "hidden": false,
    });
    assert_eq!(json(&field), expected);
    assert_eq!(ConfigField::new(FieldKind::Seconds, "").at_field("baseline_of_2").key, "baselineOf2");
}
