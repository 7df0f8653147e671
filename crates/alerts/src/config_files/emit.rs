//! YAML as files are written: keys in order, one value a line, the same bytes for the same value.

use serde_json::Value;

use super::reference;

/// A document.
pub fn document(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Object(entries) if !entries.is_empty() => map(entries, 0, &mut out),
        other => {
            out.push_str(&scalar(other));
            out.push('\n');
        }
    }
    out
}

fn map(entries: &serde_json::Map<String, Value>, indent: usize, out: &mut String) {
    let sorted: std::collections::BTreeMap<_, _> = entries.iter().collect();
    for (key, value) in sorted {
        spaces(indent, out);
        out.push_str(&string(key));
        out.push(':');
        after(value, indent + 2, out);
    }
}

fn list(items: &[Value], indent: usize, out: &mut String) {
    for item in items {
        match item {
            Value::Object(entries) if !entries.is_empty() => {
                let start = out.len() + indent;
                map(entries, indent + 2, out);
                out.replace_range(start..=start, "-");
            }
            other => {
                spaces(indent, out);
                out.push('-');
                after(other, indent + 2, out);
            }
        }
    }
}

/// A value behind a key or a dash.
fn after(value: &Value, indent: usize, out: &mut String) {
    match value {
        Value::Object(entries) if !entries.is_empty() => {
            out.push('\n');
            map(entries, indent, out);
        }
        Value::Array(items) if !items.is_empty() => {
            out.push('\n');
            list(items, indent, out);
        }
        Value::String(lines) if is_block(lines) => {
            out.push_str(if lines.ends_with('\n') { " |\n" } else { " |-\n" });
            for line in lines.lines() {
                if !line.is_empty() {
                    spaces(indent, out);
                    out.push_str(line);
                }
                out.push('\n');
            }
        }
        other => {
            out.push(' ');
            out.push_str(&scalar(other));
            out.push('\n');
        }
    }
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(value) => string(value),
        // Empty lists and maps too.
        other => other.to_string(),
    }
}

/// Plain where no reader takes it for something else, else quoted.
fn string(value: &str) -> String {
    if reference::variable(value).is_some() || is_plain(value) {
        return value.to_owned();
    }
    let mut quoted = String::from("\"");
    for c in value.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            c if is_printable(c) => quoted.push(c),
            c if u32::from(c) > 0xffff => quoted.push_str(&format!("\\U{:08x}", u32::from(c))),
            c => quoted.push_str(&format!("\\u{:04x}", u32::from(c))),
        }
    }
    quoted.push('"');
    quoted
}

fn is_plain(value: &str) -> bool {
    // Of YAML 1.1 too, which other readers of the files may use.
    const WORDS: &[&str] = &["null", "true", "false", "yes", "no", "on", "off", "y", "n"];
    let is_inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '@' | '+' | ' ');
    let is_address = value.starts_with("https://") || value.starts_with("http://");
    let is_inner_of_address = |c: char| is_inner(c) && c != ' ' || matches!(c, ':' | '?' | '=' | '&' | '%');
    value.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '/'))
        && !value.ends_with([' ', ':'])
        && value.chars().all(|c| if is_address { is_inner_of_address(c) } else { is_inner(c) })
        && !WORDS.iter().any(|word| word.eq_ignore_ascii_case(value))
}

/// Whether the lines can stand below each other as they are.
fn is_block(value: &str) -> bool {
    value.trim_end_matches('\n').contains('\n')
        && !value.ends_with("\n\n")
        && !value.starts_with([' ', '\n', '\t'])
        && value.chars().all(|c| c == '\n' || c == '\t' || is_printable(c))
        && value.lines().all(|line| line.trim_end() == line)
}

/// Whether files hold the character as it is: no control characters, and none that YAML takes for the end of a line.
fn is_printable(c: char) -> bool {
    !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

fn spaces(count: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', count));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::yaml::{Content, Node, parse};
    use super::*;

    fn value(node: Node) -> Value {
        match node.content {
            Content::Scalar(value) => value,
            Content::List(items) => items.into_iter().map(value).collect(),
            Content::Map(entries) => entries.into_iter().map(|(key, node)| (key.name, value(node))).collect(),
        }
    }

    #[test]
    fn documents_are_written_with_sorted_keys() {
        let written = document(&json!({ "rules": [{
            "name": "checkout errors",
            "enabled": true,
            "config": { "ignorePatterns": [], "endpoint": "GET /a/:b", "thresholdPercent": 2.5, "words": ["no", "5"] },
            "url": "https://a.example/x?y=1",
            "secret": "${env:HOOK}",
            "script": "a();\n\n  b();\n",
            "nothing": {},
        }] }));
        let expected = r#"rules:
  - config:
      endpoint: "GET /a/:b"
      ignorePatterns: []
      thresholdPercent: 2.5
      words:
        - "no"
        - "5"
    enabled: true
    name: checkout errors
    nothing: {}
    script: |
      a();

        b();
    secret: ${env:HOOK}
    url: https://a.example/x?y=1
"#;
        assert_eq!(written, expected);
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let string = prop_oneof![
            any::<String>().prop_map(Value::from),
            proptest::collection::vec(
                prop_oneof![
                    Just(" "),
                    Just("\n"),
                    Just("\t"),
                    Just("a"),
                    Just("b:"),
                    Just("# c"),
                    Just("-"),
                    Just("'"),
                    Just("\"")
                ],
                0..8
            )
            .prop_map(|parts| Value::from(parts.concat())),
        ];
        let leaf = prop_oneof![
            string,
            any::<i64>().prop_map(Value::from),
            (-1e9..1e9f64).prop_map(Value::from),
            any::<bool>().prop_map(Value::from),
            Just(Value::Null),
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::btree_map(any::<String>(), inner, 0..4)
                    .prop_map(|entries| entries.into_iter().collect::<Value>()),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(inner in any_value()) {
            let whole = json!({ "a": inner, "b": [inner] });
            let written = document(&whole);
            let read = parse(&written).map_err(|fault| TestCaseError::fail(format!("{}: {written}", fault.message)))?;
            prop_assert_eq!(value(read.expect("a value")), whole, "{}", written);
        }
    }
}
