//! The text form of a value, the same in all parts of the product.
//!
//! | value | as text | as JSON |
//! |---|---|---|
//! | string | as it is | quoted |
//! | integer, bool | `-3`, `true` | the same |
//! | double | shortest that reads back: `0.1`, `2`, `1e300` | the same |
//! | not finite | `NaN`, `Infinity`, `-Infinity` | the same, quoted |
//! | bytes | base64 | quoted |
//! | empty | nothing | `null` |
//! | array, map | JSON | JSON, duplicate keys included |

use std::borrow::Cow;
use std::fmt::Write;

use crate::base64;
use crate::model::AnyValue;

/// The text form of a value. Strings are borrowed.
pub fn value_text(value: AnyValue<'_>) -> Cow<'_, str> {
    match value {
        AnyValue::Empty => Cow::Borrowed(""),
        AnyValue::Str(text) => Cow::Borrowed(text),
        AnyValue::Bool(true) => Cow::Borrowed("true"),
        AnyValue::Bool(false) => Cow::Borrowed("false"),
        AnyValue::Double(number) => match not_finite(number) {
            Some(name) => Cow::Borrowed(name),
            None => Cow::Owned(value_json(value)),
        },
        AnyValue::Bytes(bytes) => {
            let mut out = String::new();
            base64::encode(bytes, &mut out);
            Cow::Owned(out)
        }
        AnyValue::Int(_) | AnyValue::Array(_) | AnyValue::Map(_) => Cow::Owned(value_json(value)),
    }
}

/// The value as JSON, without spaces.
pub fn value_json(value: AnyValue<'_>) -> String {
    let mut out = String::new();
    write_json(value, &mut out);
    out
}

fn write_json(value: AnyValue<'_>, out: &mut String) {
    match value {
        AnyValue::Empty => out.push_str("null"),
        AnyValue::Str(text) => write_string(text, out),
        AnyValue::Bool(value) => out.push_str(if value { "true" } else { "false" }),
        AnyValue::Int(number) => write!(out, "{number}").expect("a String takes everything"),
        AnyValue::Double(number) => write_double(number, out),
        AnyValue::Bytes(bytes) => {
            out.push('"');
            base64::encode(bytes, out);
            out.push('"');
        }
        AnyValue::Array(elements) => {
            out.push('[');
            for (i, &element) in elements.iter().enumerate() {
                separate(i, out);
                write_json(element, out);
            }
            out.push(']');
        }
        AnyValue::Map(pairs) => {
            out.push('{');
            for (i, pair) in pairs.iter().enumerate() {
                separate(i, out);
                write_string(pair.key, out);
                out.push(':');
                write_json(pair.value, out);
            }
            out.push('}');
        }
    }
}

fn separate(position: usize, out: &mut String) {
    if position > 0 {
        out.push(',');
    }
}

fn write_double(number: f64, out: &mut String) {
    if let Some(name) = not_finite(number) {
        return write_string(name, out);
    }
    // `Debug` gives the shortest form that parses to the same number, with an exponent for very large and small ones.
    write!(out, "{number:?}").expect("a String takes everything");
    if out.ends_with(".0") {
        out.truncate(out.len() - 2);
    }
}

fn not_finite(number: f64) -> Option<&'static str> {
    match number {
        _ if number.is_nan() => Some("NaN"),
        f64::INFINITY => Some("Infinity"),
        f64::NEG_INFINITY => Some("-Infinity"),
        _ => None,
    }
}

fn write_string(text: &str, out: &mut String) {
    out.push('"');
    let mut plain_from = 0;
    for (i, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.push_str(&text[plain_from..i]);
        plain_from = i + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            control => write!(out, "\\u{control:04x}").expect("a String takes everything"),
        }
    }
    out.push_str(&text[plain_from..]);
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::KeyValue;

    #[track_caller]
    fn check(value: AnyValue<'_>, text: &str, json: &str) {
        assert_eq!(value_text(value), text);
        assert_eq!(value_json(value), json);
    }

    #[test]
    fn text_forms() {
        check(AnyValue::Empty, "", "null");
        check(AnyValue::Str("a \"b\""), "a \"b\"", r#""a \"b\"""#);
        check(AnyValue::Str("ü\n\u{1}\\"), "ü\n\u{1}\\", r#""ü\n\u0001\\""#);
        check(AnyValue::Bool(true), "true", "true");
        check(AnyValue::Bool(false), "false", "false");
        check(AnyValue::Int(i64::MIN), "-9223372036854775808", "-9223372036854775808");
        check(AnyValue::Double(0.1), "0.1", "0.1");
        check(AnyValue::Double(2.0), "2", "2");
        check(AnyValue::Double(-0.0), "-0", "-0");
        check(AnyValue::Double(1e300), "1e300", "1e300");
        check(AnyValue::Double(5e-324), "5e-324", "5e-324");
        check(AnyValue::Double(f64::NAN), "NaN", "\"NaN\"");
        check(AnyValue::Double(f64::INFINITY), "Infinity", "\"Infinity\"");
        check(AnyValue::Double(f64::NEG_INFINITY), "-Infinity", "\"-Infinity\"");
        check(AnyValue::Bytes(&[0, 1, 2]), "AAEC", "\"AAEC\"");
        let list = [AnyValue::Int(1), AnyValue::Double(f64::NAN), AnyValue::Empty, AnyValue::Bytes(b"f")];
        check(AnyValue::Array(&list), r#"[1,"NaN",null,"Zg=="]"#, r#"[1,"NaN",null,"Zg=="]"#);
        let map = [KeyValue { key: "k\"", value: AnyValue::Array(&list) }, KeyValue::default()];
        check(
            AnyValue::Map(&map),
            r#"{"k\"":[1,"NaN",null,"Zg=="],"":null}"#,
            r#"{"k\"":[1,"NaN",null,"Zg=="],"":null}"#,
        );
        check(AnyValue::Map(&[]), "{}", "{}");
    }
}
