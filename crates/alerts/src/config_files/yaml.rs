//! YAML with the line of every value. Tags, anchors, aliases, duplicate keys and further documents are refused: a file
//! is read as it looks.

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Number, Value};

/// The deepest nesting of lists and maps.
const DEPTH_MAX: usize = 32;

/// A value and where it begins.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Counted from 1.
    pub line: usize,
    /// The value.
    pub content: Content,
}

/// Content of a value.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// A string, a number, a boolean or null.
    Scalar(Value),
    /// A sequence.
    List(Vec<Node>),
    /// A mapping, in the order of the file.
    Map(Vec<(Key, Node)>),
}

/// The key of a mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// Counted from 1.
    pub line: usize,
    /// The key.
    pub name: String,
}

/// Fault of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Counted from 1.
    pub line: usize,
    /// One sentence.
    pub message: String,
}

impl Fault {
    /// A fault at a line.
    pub fn at(line: usize, message: impl Into<String>) -> Fault {
        Fault { line, message: message.into() }
    }
}

/// A list or a map whose end was not read yet.
enum Open {
    List(Vec<Node>),
    Map(Vec<(Key, Node)>, Option<Key>),
}

/// Parses a document. `None`: there is no document, or nothing in it.
pub fn parse(source: &str) -> Result<Option<Node>, Fault> {
    let mut open: Vec<(usize, Open)> = Vec::new();
    let mut root = None;
    for event in Parser::new_from_str(source) {
        let (event, span) = event.map_err(|error| Fault::at(error.marker().line(), error.info()))?;
        let line = span.start.line();
        let done = match event {
            Event::SequenceStart(anchor, tag) => {
                check_plain(line, anchor, tag.is_some())?;
                open.push((line, Open::List(Vec::new())));
                None
            }
            Event::MappingStart(anchor, tag) => {
                check_plain(line, anchor, tag.is_some())?;
                open.push((line, Open::Map(Vec::new(), None)));
                None
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let (line, closed) = open.pop().expect("the parser balances starts and ends");
                let content = match closed {
                    Open::List(items) => Content::List(items),
                    Open::Map(entries, _) => Content::Map(entries),
                };
                Some(Node { line, content })
            }
            Event::Scalar(value, style, anchor, tag) => {
                check_plain(line, anchor, tag.is_some())?;
                let is_key = matches!(open.last(), Some((_, Open::Map(_, None))));
                let value = match style {
                    ScalarStyle::Plain if !is_key => plain(&value).map_err(|message| Fault::at(line, message))?,
                    _ => Value::String(value.into_owned()),
                };
                Some(Node { line, content: Content::Scalar(value) })
            }
            Event::Alias(_) => return Err(Fault::at(line, "aliases are not supported")),
            Event::DocumentStart(_) if root.is_some() => {
                return Err(Fault::at(line, "a file has one document"));
            }
            _ => None,
        };
        if open.len() > DEPTH_MAX {
            return Err(Fault::at(line, format!("more than {DEPTH_MAX} levels")));
        }
        if let Some(node) = done {
            place(node, &mut open, &mut root)?;
        }
    }
    Ok(root.filter(|node| node.content != Content::Scalar(Value::Null)))
}

/// Puts a value into the innermost open list or map.
fn place(node: Node, open: &mut [(usize, Open)], root: &mut Option<Node>) -> Result<(), Fault> {
    match open.last_mut() {
        None => *root = Some(node),
        Some((_, Open::List(items))) => items.push(node),
        Some((_, Open::Map(entries, key @ None))) => {
            let Content::Scalar(Value::String(name)) = node.content else {
                return Err(Fault::at(node.line, "a key is a string"));
            };
            if let Some((first, _)) = entries.iter().find(|(key, _)| key.name == name) {
                return Err(Fault::at(node.line, format!("{name} is given twice, first in line {}", first.line)));
            }
            *key = Some(Key { line: node.line, name });
        }
        Some((_, Open::Map(entries, key))) => {
            let key = key.take().expect("the arm above takes maps without a key");
            entries.push((key, node));
        }
    }
    Ok(())
}

fn check_plain(line: usize, anchor: usize, has_tag: bool) -> Result<(), Fault> {
    match (anchor, has_tag) {
        (0, false) => Ok(()),
        (0, true) => Err(Fault::at(line, "tags are not supported")),
        _ => Err(Fault::at(line, "anchors are not supported")),
    }
}

/// A plain scalar by the core schema of YAML 1.2.
fn plain(value: &str) -> Result<Value, String> {
    let digits = value.strip_prefix(['-', '+']).unwrap_or(value);
    let is_number = digits.starts_with(|first: char| first.is_ascii_digit())
        || digits.strip_prefix('.').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
    match value {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Value::Null),
        "true" | "True" | "TRUE" => return Ok(true.into()),
        "false" | "False" | "FALSE" => return Ok(false.into()),
        _ if matches!(digits.to_ascii_lowercase().as_str(), ".inf" | ".nan") => {
            return Err(format!("{value} is no number that can be sent"));
        }
        _ if !is_number => return Ok(value.into()),
        _ => {}
    }
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let number = value.strip_prefix('+').unwrap_or(value);
        if let Ok(number) = number.parse::<i64>() {
            return Ok(number.into());
        }
        return Err(format!("{value} is too large for a number: quote it"));
    }
    if digits.starts_with("0x") || digits.starts_with("0o") {
        return Err(format!("{value}: write the number in decimal, or quote it"));
    }
    // Not a number but a date, an address or a version: what `f64` does not parse is a string.
    let is_float = digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'-' | b'+'));
    let number = value.parse::<f64>().ok().filter(|_| is_float).and_then(Number::from_f64);
    Ok(number.map_or_else(|| value.into(), Value::Number))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn value(node: &Node) -> Value {
        match &node.content {
            Content::Scalar(value) => value.clone(),
            Content::List(items) => items.iter().map(value).collect(),
            Content::Map(entries) => entries.iter().map(|(key, node)| (key.name.clone(), value(node))).collect(),
        }
    }

    #[test]
    fn scalars_follow_the_core_schema() {
        for (source, expected) in [
            ("5", json!(5)),
            ("-5", json!(-5)),
            ("+5", json!(5)),
            ("0.5", json!(0.5)),
            ("1e3", json!(1000.0)),
            (".5", json!(0.5)),
            ("true", json!(true)),
            ("no", json!("no")),
            ("~", json!(null)),
            ("null", json!(null)),
            ("'5'", json!("5")),
            ("\"a\\nb\"", json!("a\nb")),
            ("2026-01-31", json!("2026-01-31")),
            ("10.0.0.1", json!("10.0.0.1")),
            ("09:30", json!("09:30")),
            ("${env:HOOK}", json!("${env:HOOK}")),
            ("a: b", json!("a: b")),
        ] {
            let source = if source.starts_with('a') { "- 'a: b'".to_owned() } else { format!("- {source}") };
            let parsed = parse(&source).expect("YAML").expect("a value");
            assert_eq!(value(&parsed), json!([expected]), "{source}");
        }
    }

    #[test]
    fn values_have_their_lines() {
        let parsed = parse("# rules\nrules:\n  - name: a\n    config:\n      x: 1\n").expect("YAML").expect("a value");
        assert_eq!(value(&parsed), json!({ "rules": [{ "name": "a", "config": { "x": 1 } }] }));
        let Content::Map(entries) = &parsed.content else { panic!("a map") };
        let Content::List(items) = &entries[0].1.content else { panic!("a list") };
        let Content::Map(entries) = &items[0].content else { panic!("a map") };
        let lines: Vec<_> = entries.iter().map(|(key, node)| (key.name.as_str(), key.line, node.line)).collect();
        assert_eq!((items[0].line, lines), (3, vec![("name", 3, 3), ("config", 4, 5)]));
        assert_eq!(parse(""), Ok(None));
        assert_eq!(parse("# nothing\n"), Ok(None));
    }

    #[test]
    fn what_is_not_read_as_it_looks_is_refused() {
        let deep = "[".repeat(40);
        for (source, line) in [
            ("a: 1\nb: 2\na: 3", 3),
            ("a: &x 1\nb: *x", 1),
            ("a:\n  - *x", 2),
            ("a: !!str 5", 1),
            ("a: 1\n---\nb: 2", 2),
            ("a:\n - b\n  c: [", 3),
            ("? [a]\n: b", 1),
            ("a: 0x1f", 1),
            ("a: .inf", 1),
            ("a: 99999999999999999999", 1),
            (&deep, 1),
        ] {
            let fault = parse(source).expect_err(source);
            assert_eq!(fault.line, line, "{source}: {}", fault.message);
        }
    }
}
