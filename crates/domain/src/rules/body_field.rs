//! Fields of a log body that is a JSON object.
//!
//! A path is keys joined by dots: `user.id` is the field `id` of the object `user`, or the field `user.id`; the longer
//! key takes precedence. A number is an index of an array: `items.0.sku`.

use std::borrow::Cow;
use std::fmt;

use serde::Deserializer as _;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Levels of objects and arrays that a path leads through.
const DEPTH_MAX: usize = 32;
/// Levels of objects whose fields are listed.
const LISTED_DEPTH_MAX: usize = 4;

/// The value at a path in the JSON object of a body: the content of a string, and the JSON of any other value as it was
/// sent. `None` for null, an absent field, and a body that is no JSON object.
pub fn body_field<'b>(body: &'b str, path: &str) -> Option<Cow<'b, str>> {
    if path.is_empty() || !is_object(body) {
        return None;
    }
    find(body, path, DEPTH_MAX).and_then(value_text)
}

/// The paths of the fields of a JSON object that are strings, numbers or booleans, in the order of the object; at most
/// `count`. Empty for a body that is no JSON object.
pub fn body_paths(body: &str, count: usize) -> Vec<String> {
    let mut paths = Vec::new();
    if is_object(body) {
        list(body, None, LISTED_DEPTH_MAX, count, &mut paths);
    }
    paths
}

fn is_object(body: &str) -> bool {
    body.trim_start().starts_with('{')
}

fn value_text(json: &str) -> Option<Cow<'_, str>> {
    match json.as_bytes().first()? {
        b'n' => None,
        b'"' => match serde_json::from_str::<&str>(json) {
            Ok(plain) => Some(Cow::Borrowed(plain)),
            Err(_) => serde_json::from_str::<String>(json).ok().map(Cow::Owned),
        },
        _ => Some(Cow::Borrowed(json)),
    }
}

/// The JSON at a path.
fn find<'j>(json: &'j str, path: &str, depth: usize) -> Option<&'j str> {
    if depth == 0 {
        return None;
    }
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let found = match json.trim_start().as_bytes().first()? {
        b'{' => deserializer.deserialize_map(Fields { path }).ok()?,
        b'[' => deserializer.deserialize_seq(Elements { path }).ok()?,
        _ => return None,
    };
    deserializer.end().ok()?;
    // The longest key first: `{"a.b": 1, "a": {"b": 2}}` has `a.b` 1.
    let mut found: Vec<(usize, &'j str)> = found;
    found.sort_by_key(|(length, _)| std::cmp::Reverse(*length));
    found.into_iter().find_map(|(length, value)| match path.get(length + 1..) {
        Some(rest) if length < path.len() => find(value, rest, depth - 1),
        _ => Some(value),
    })
}

/// Reads the fields of an object whose key is the path or begins it: length of the key, and value.
struct Fields<'p> {
    path: &'p str,
}

impl<'j> Visitor<'j> for Fields<'_> {
    type Value = Vec<(usize, &'j str)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'j>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found: Self::Value = Vec::new();
        while let Some(length) = map.next_key_seed(Key { path: self.path })? {
            match length {
                Some(length) if found.iter().all(|(known, _)| *known != length) => {
                    found.push((length, map.next_value::<&'j RawValue>()?.get()));
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(found)
    }
}

/// The length of a key that is the path or begins it.
struct Key<'p> {
    path: &'p str,
}

impl<'j> DeserializeSeed<'j> for Key<'_> {
    type Value = Option<usize>;

    fn deserialize<D: serde::Deserializer<'j>>(self, deserializer: D) -> Result<Option<usize>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Option<usize>, E> {
        let rest = self.path.strip_prefix(key);
        Ok(rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.')).then_some(key.len()))
    }
}

/// Reads the element of an array whose index begins the path.
struct Elements<'p> {
    path: &'p str,
}

impl<'j> Visitor<'j> for Elements<'_> {
    type Value = Vec<(usize, &'j str)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'j>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
        let key = self.path.split('.').next().unwrap_or_default();
        let wanted = key.parse::<usize>().ok();
        let mut found = Vec::new();
        let mut index = 0;
        while let Some(element) = elements.next_element::<&'j RawValue>()? {
            if Some(index) == wanted {
                found.push((key.len(), element.get()));
            }
            index += 1;
        }
        Ok(found)
    }
}

fn list(json: &str, prefix: Option<&str>, depth: usize, count: usize, paths: &mut Vec<String>) {
    let Ok(fields) = serde_json::from_str::<Listed<'_>>(json) else { return };
    for (key, value) in fields.0 {
        if paths.len() >= count {
            return;
        }
        let path = prefix.map_or_else(|| key.clone(), |prefix| format!("{prefix}.{key}"));
        match value.get().as_bytes().first() {
            Some(b'{') if depth > 1 => list(value.get(), Some(&path), depth - 1, count, paths),
            Some(b'{' | b'[' | b'n') | None => {}
            Some(_) if path.is_empty() => {}
            Some(_) => paths.push(path),
        }
    }
}

/// The fields of an object, in order.
struct Listed<'j>(Vec<(String, &'j RawValue)>);

impl<'j> serde::Deserialize<'j> for Listed<'j> {
    fn deserialize<D: serde::Deserializer<'j>>(deserializer: D) -> Result<Listed<'j>, D::Error> {
        struct All;
        impl<'j> Visitor<'j> for All {
            type Value = Listed<'j>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'j>>(self, mut map: A) -> Result<Listed<'j>, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Listed(fields))
            }
        }
        deserializer.deserialize_map(All)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn fields_of_bodies() {
        let body = r#" {"user":{"id":42,"name":"Zoë \"Z\""},"ok":true,"none":null,"big":18446744073709551616,"e":1e3,
            "items":[{"sku":"a"},{"sku":"b"}],"a.b":1,"a":{"b":2,"c":3},"":{"x":5},"empty":""}"#;
        for (path, expected) in [
            ("user.id", Some("42")),
            ("user.name", Some("Zoë \"Z\"")),
            ("user", Some(r#"{"id":42,"name":"Zoë \"Z\""}"#)),
            ("ok", Some("true")),
            ("none", None),
            ("big", Some("18446744073709551616")),
            ("e", Some("1e3")),
            ("items.1.sku", Some("b")),
            ("items.2.sku", None),
            ("items.x", None),
            ("a.b", Some("1")),
            ("a.c", Some("3")),
            ("empty", Some("")),
            ("user.id.x", None),
            ("absent", None),
            ("use", None),
            ("", None),
        ] {
            assert_eq!(body_field(body, path).as_deref(), expected, "{path}");
        }
        for body in ["", "text", "[1]", "{", r#"{"a":1} tail"#, r#"{"a":1"#, "{a:1}"] {
            assert_eq!(body_field(body, "a"), None, "{body}");
            assert_eq!(body_paths(body, 9), Vec::<String>::new(), "{body}");
        }
        let paths = body_paths(body, 9);
        assert_eq!(paths, ["user.id", "user.name", "ok", "big", "e", "a.b", "a.b", "a.c", ".x"]);
        assert_eq!(body_paths(body, 2), ["user.id", "user.name"]);
    }

    proptest! {
        /// Every listed path has a value, and no body panics.
        #[test]
        fn listed_paths_have_values(body in "\\{[\\[\\]{}\",:.a-c0-9 ]{0,60}\\}|\\PC{0,40}", path in "[a-c.0-9]{0,8}") {
            let _ = body_field(&body, &path);
            for path in body_paths(&body, 20) {
                prop_assert!(path.starts_with('.') || path.contains("..") || body_field(&body, &path).is_some(), "{path}");
            }
        }

        /// A value is found by its path.
        #[test]
        fn a_value_is_found_by_its_path(
            keys in prop::collection::vec("[a-zü ]{1,4}", 1..6), value in "\\PC{0,10}", number in any::<i64>(),
        ) {
            let mut json = serde_json::json!({ "s": value, "n": number });
            for key in keys.iter().rev() {
                json = serde_json::json!({ "other": [1, { "s": 0 }], (key.clone()): json });
            }
            let (body, path) = (json.to_string(), keys.join("."));
            let (string, integer) = (format!("{path}.s"), format!("{path}.n"));
            let found = body_field(&body, &string);
            prop_assert_eq!(found.as_deref(), Some(value.as_str()));
            let number = number.to_string();
            let found = body_field(&body, &integer);
            prop_assert_eq!(found.as_deref(), Some(number.as_str()));
        }
    }
}
