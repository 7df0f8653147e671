//! Rows of lists as JSON: long strings are cut, because lists would otherwise have no bound. `truncatedFields` of a row
//! names the fields that were cut; the row's details have them whole.
//!
//! For `#[serde(serialize_with = "…")]` on lists of rows, and on single rows beside other content.

use serde::ser::Error;
use serde::{Serialize, Serializer};
use serde_json::Value;
use tidewatch_limits as limits;

/// The field of a row with the names of its cut fields; absent when none was cut.
pub const TRUNCATED_FIELDS: &str = "truncatedFields";

/// Serializes the rows of a list.
pub fn cut<T: Serialize, S: Serializer>(rows: &[T], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(rows.iter().map(Cut))
}

/// Serializes one row like those of a list.
pub fn cut_one<T: Serialize, S: Serializer>(row: &T, serializer: S) -> Result<S::Ok, S::Error> {
    Cut(row).serialize(serializer)
}

/// A row whose long strings are cut.
struct Cut<'a, T>(&'a T);

impl<T: Serialize> Serialize for Cut<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut row = serde_json::to_value(self.0).map_err(S::Error::custom)?;
        cut_row(&mut row);
        row.serialize(serializer)
    }
}

fn cut_row(row: &mut Value) {
    let cut_field = |value: &mut Value| {
        let mut left = limits::LIST_FIELD_BYTES_MAX;
        cut_value(value, &mut left)
    };
    let Value::Object(fields) = row else {
        cut_field(row);
        return;
    };
    let is_cut = |(name, value): (&String, &mut Value)| cut_field(value).then(|| Value::from(name.as_str()));
    let names: Vec<Value> = fields.iter_mut().filter_map(is_cut).collect();
    if !names.is_empty() {
        fields.insert(TRUNCATED_FIELDS.to_owned(), names.into());
    }
}

/// Cuts the strings within a field, which may have `left` bytes together. Entries of a map of strings beyond them are
/// removed. Returns whether something was cut.
fn cut_value(value: &mut Value, left: &mut usize) -> bool {
    match value {
        Value::String(text) => {
            let is_cut = cut_text(text, (*left).min(limits::LIST_TEXT_BYTES_MAX));
            *left = left.saturating_sub(text.len());
            is_cut
        }
        Value::Array(values) => {
            // All of them are cut.
            values.iter_mut().filter_map(|value| cut_value(value, left).then_some(())).count() > 0
        }
        Value::Object(fields) => {
            let is_map = fields.values().all(Value::is_string);
            let before = fields.len();
            let mut is_cut = false;
            fields.retain(|name, value| {
                let is_kept = !is_map || (name.len() <= limits::LIST_TEXT_BYTES_MAX && name.len() < *left);
                if is_kept {
                    *left = left.saturating_sub(name.len());
                    is_cut = cut_value(value, left) || is_cut;
                }
                is_kept
            });
            is_cut || fields.len() < before
        }
        _ => false,
    }
}

/// Cuts a text to at most `bytes_max` bytes, at the border of a character. Returns whether it was longer.
pub fn cut_text(text: &mut String, bytes_max: usize) -> bool {
    if text.len() <= bytes_max {
        return false;
    }
    let end = (0..=bytes_max).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    text.truncate(end);
    true
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[derive(Serialize)]
    struct List<T: Serialize> {
        #[serde(serialize_with = "cut")]
        data: Vec<T>,
    }

    fn listed(row: Value) -> Value {
        serde_json::to_value(List { data: vec![row] }).expect("a list is JSON")["data"][0].take()
    }

    #[test]
    fn long_fields_of_rows_are_cut_and_named() {
        let max = limits::LIST_TEXT_BYTES_MAX;
        let (short, long) = ("a".repeat(max), "a".repeat(max + 1));
        for (row, expected) in [
            (json!({ "id": "1", "body": short, "n": 1.5 }), json!({ "id": "1", "body": short, "n": 1.5 })),
            (json!({ "body": long }), json!({ "body": short, "truncatedFields": ["body"] })),
            (
                json!({ "attributes": { "a": "x", "b": long }, "list": [1, long], "none": null }),
                json!({ "attributes": { "a": "x", "b": short }, "list": [1, short], "none": null,
                        "truncatedFields": ["attributes", "list"] }),
            ),
            (json!(long), json!(short)),
            (json!(7), json!(7)),
        ] {
            assert_eq!(listed(row), expected);
        }
    }

    #[test]
    fn strings_are_cut_between_characters() {
        for text in ["aé", "é", "a😀b"] {
            for bytes_max in 0..text.len() {
                let mut cut = text.to_owned();
                assert!(cut_text(&mut cut, bytes_max) && cut.len() <= bytes_max && text.starts_with(&cut), "{text}");
            }
        }
    }

    #[test]
    fn a_map_of_many_strings_loses_those_beyond_the_limit_of_a_field() {
        let map: BTreeMap<String, String> = (0..1000).map(|n| (format!("key.{n:04}"), "v".repeat(1000))).collect();
        let row = listed(json!({ "id": "1", "attributes": map, "name": "n" }));
        assert_eq!(
            (&row["id"], &row["name"], &row["truncatedFields"]),
            (&json!("1"), &json!("n"), &json!(["attributes"]))
        );
        let kept = row["attributes"].as_object().expect("a map");
        assert!(!kept.is_empty() && row.to_string().len() < 2 * limits::LIST_FIELD_BYTES_MAX, "{} keys", kept.len());
    }

    proptest! {
        #[test]
        fn rows_are_bounded_and_short_rows_are_unchanged(
            strings in prop::collection::btree_map("[a-z]{1,8}", "[a-zé😀]{0,200}", 0..20),
            repeat in 1usize..200,
        ) {
            let long: BTreeMap<&String, String> = strings.iter().map(|(key, text)| (key, text.repeat(repeat))).collect();
            let row = json!({ "attributes": long, "deep": [{ "strings": long, "n": 1 }] });
            let cut = listed(row.clone());
            let total: usize = long.iter().map(|(key, text)| key.len() + text.len()).sum();
            let is_short = total + 100 < limits::LIST_FIELD_BYTES_MAX
                && long.values().all(|text| text.len() <= limits::LIST_TEXT_BYTES_MAX);
            if is_short {
                prop_assert_eq!(&cut, &row);
            }
            prop_assert!(cut.to_string().len() <= 2 * limits::LIST_FIELD_BYTES_MAX + 4096);
        }
    }
}
