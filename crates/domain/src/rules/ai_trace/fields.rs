//! Reads the fields of a model call by the table of their spellings ([`super::spellings`]). DECISIONS 26, 32.
//!
//! Every field has a list of attribute names, and the first one with a usable value wins: text that is not blank, a count
//! that is not negative, a finite amount. Each field is looked up on its own, so a span may mix conventions.
//!
//! Some libraries write one document for all counts. [`DOCUMENTS`] are the attributes with such a document, a JSON object
//! or a list of key values, and [`IN_DOCUMENTS`] the paths below it. A path matches at the end of the path of a number.
//! Attributes of the span win over documents.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::Value;
use xxhash_rust::xxh3::Xxh3Builder;

use super::spellings::{COSTS, DOCUMENTS, FIELDS, Field, IN_COSTS, IN_DOCUMENTS, SPELLINGS};
use crate::model::{AnyValue, KeyValue, is_blank};

/// Documents of more bytes are not parsed.
const DOCUMENT_BYTES_MAX: usize = 64 * 1024;
/// Levels of a document below which no number is read.
const DEPTH_MAX: usize = 6;

/// A field and the rank of a spelling; lower ranks win.
type Ranked = (Field, u16);

/// By attribute name.
static BY_NAME: LazyLock<HashMap<&'static str, Ranked, Xxh3Builder>> = LazyLock::new(|| {
    let names = SPELLINGS
        .iter()
        .flat_map(|(field, names)| names.iter().enumerate().map(move |(rank, name)| (*name, (*field, rank as u16))));
    names.collect()
});

/// The values of a span, by field.
pub struct Fields<'a> {
    values: [Option<(u16, AnyValue<'a>)>; FIELDS],
}

impl<'a> Fields<'a> {
    /// Reads the fields of a span.
    pub fn read(attributes: &[KeyValue<'a>]) -> Self {
        let mut fields = Fields { values: [None; FIELDS] };
        let mut has_documents = false;
        for attribute in attributes {
            match BY_NAME.get(attribute.key) {
                Some(found) => fields.take(*found, attribute.value),
                None => has_documents |= DOCUMENTS.contains(&attribute.key),
            }
        }
        if has_documents {
            for name in DOCUMENTS {
                let documents = attributes.iter().filter(|attribute| attribute.key == *name);
                documents.for_each(|document| fields.take_document(name, document.value));
            }
        }
        fields
    }

    /// Sets a field, unless it is unusable or a preferred spelling is known. Of equal names the last one wins.
    fn take(&mut self, (field, rank): Ranked, value: AnyValue<'a>) {
        let place = &mut self.values[field as usize];
        if place.is_none_or(|(known, _)| rank <= known) && is_usable(field, value) {
            *place = Some((rank, value));
        }
    }

    /// Adds the numbers of a document to the fields that no attribute has.
    fn take_document(&mut self, name: &str, document: AnyValue<'a>) {
        let (paths, mut numbers) = (if name == COSTS { IN_COSTS } else { IN_DOCUMENTS }, Vec::new());
        match document {
            AnyValue::Str(text) if text.len() <= DOCUMENT_BYTES_MAX && text.trim_start().starts_with('{') => {
                // Some libraries write the dictionary as Python prints it.
                let quoted = || text.replace('\'', "\"").replace(": None", ": null");
                let parsed = serde_json::from_str::<Value>(text).or_else(|_| serde_json::from_str(&quoted()));
                if let Ok(value) = parsed {
                    // Providers are the first level of `ai.response.providerMetadata`: `openrouter.usage.cost`.
                    numbers_of(&value, String::new(), DEPTH_MAX, &mut numbers);
                }
            }
            AnyValue::Map(pairs) => {
                let number = |pair: &KeyValue<'a>| Some((pair.key.to_owned(), pair.value.as_double()?));
                numbers.extend(pairs.iter().filter_map(number));
            }
            _ => return,
        }
        for (field, paths) in paths {
            let found = paths.iter().find_map(|path| {
                let matches = numbers.iter().filter(|(of, _)| {
                    let before = of.strip_suffix(path);
                    before.is_some_and(|before| before.is_empty() || before.ends_with('.'))
                });
                // The shortest path is the least nested one.
                let found = matches.min_by_key(|(of, _)| of.len());
                found.map(|(_, number)| AnyValue::Double(*number)).filter(|value| is_usable(*field, *value))
            });
            if let Some(value) = found {
                self.values[*field as usize].get_or_insert((u16::MAX, value));
            }
        }
    }

    /// The value of a field.
    pub fn value(&self, field: Field) -> Option<AnyValue<'a>> {
        self.values[field as usize].map(|(_, value)| value)
    }

    /// The text of a field.
    pub fn text(&self, field: Field) -> Option<&'a str> {
        self.value(field)?.as_str()
    }

    /// The count of a field, at least 0.
    pub fn count(&self, field: Field) -> Option<i64> {
        self.value(field)?.as_int()
    }

    /// The amount of a field.
    pub fn amount(&self, field: Field) -> Option<f64> {
        self.value(field)?.as_double()
    }
}

fn is_usable(field: Field, value: AnyValue<'_>) -> bool {
    match field {
        Field::FinishReason => !matches!(value, AnyValue::Empty),
        Field::InputCost | Field::OutputCost | Field::TotalCost => value.as_double().is_some(),
        _ if (field as usize) < Field::Input as usize => value.as_str().is_some_and(|text| !is_blank(text)),
        _ => value.as_int().is_some_and(|count| count >= 0),
    }
}

/// The numbers of a document with their paths.
fn numbers_of(value: &Value, path: String, depth: usize, into: &mut Vec<(String, f64)>) {
    match value {
        Value::Object(object) if depth > 0 => {
            for (name, value) in object {
                let below = if path.is_empty() { name.clone() } else { [path.as_str(), ".", name].concat() };
                numbers_of(value, below, depth - 1, into);
            }
        }
        other => into.extend(other.as_f64().filter(|number| number.is_finite()).map(|number| (path, number))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_belongs_to_one_field() {
        let names: Vec<&str> = SPELLINGS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        assert_eq!(BY_NAME.len(), names.len(), "a name is listed twice");
        assert!(names.iter().all(|name| !name.starts_with("gen_ai.aggregated_usage") && !DOCUMENTS.contains(name)));
        let listed: Vec<Field> = SPELLINGS.iter().map(|(field, _)| *field).collect();
        assert_eq!(listed.len(), FIELDS);
        assert!(listed.iter().enumerate().all(|(index, field)| *field as usize == index), "in the order of the fields");
    }

    // DECISIONS 32: every spelling alone gives its field, and a preferred one wins in any order.
    #[test]
    fn spellings_table() {
        for (field, names) in SPELLINGS {
            let value = |number| match (*field as usize) < Field::Input as usize {
                true => AnyValue::Str(["a", "b"][number as usize]),
                false => AnyValue::Int(number),
            };
            for name in *names {
                let found = Fields::read(&[KeyValue { key: name, value: value(1) }]).value(*field);
                assert_eq!(found, Some(value(1)), "{name}");
            }
            for pair in names.windows(2) {
                let (first, second) =
                    (KeyValue { key: pair[0], value: value(0) }, KeyValue { key: pair[1], value: value(1) });
                for order in [[first, second], [second, first]] {
                    assert_eq!(Fields::read(&order).value(*field), Some(value(0)), "{pair:?}");
                }
            }
        }
    }

    #[test]
    fn an_unusable_value_leaves_the_field_to_the_next_spelling() {
        let pairs = |value| {
            [
                KeyValue { key: "gen_ai.usage.input_tokens", value },
                KeyValue { key: "gen_ai.usage.prompt_tokens", value: AnyValue::Int(7) },
            ]
        };
        for (value, expected) in
            [(AnyValue::Int(-1), 7), (AnyValue::Str("many"), 7), (AnyValue::Empty, 7), (AnyValue::Str(" 3 "), 3)]
        {
            assert_eq!(Fields::read(&pairs(value)).count(Field::Input), Some(expected), "{value:?}");
        }
    }

    #[test]
    fn documents_table() {
        for (key, document, field, expected) in [
            ("langfuse.observation.usage_details", r#"{"input":5}"#, Field::Input, Some(5.0)),
            (
                "langfuse.observation.usage_details",
                r#"{"prompt_tokens":9,"prompt_tokens_details":{"cached_tokens":4,"audio_tokens":1}}"#,
                Field::Cached,
                Some(4.0),
            ),
            ("langfuse.observation.cost_details", r#"{"total":0.5,"input":0.25}"#, Field::TotalCost, Some(0.5)),
            ("langfuse.observation.cost_details", r#"{"input":0.25}"#, Field::Input, None),
            ("ai.response.providerMetadata", r#"{"openrouter":{"usage":{"cost":0.1}}}"#, Field::TotalCost, Some(0.1)),
            (
                "ai.response.providerMetadata",
                r#"{"anthropic":{"cacheCreationInputTokens":12}}"#,
                Field::CacheWrite,
                Some(12.0),
            ),
            ("hidden_params", r#"{"response_cost":0.002}"#, Field::TotalCost, Some(0.002)),
            (
                "metadata.usage_object",
                "{'prompt_tokens': 9, 'cost': None, 'prompt_tokens_details': {'cached_tokens': 4}}",
                Field::Cached,
                Some(4.0),
            ),
            ("gen_ai.usage", "[1]", Field::Input, None),
            ("gen_ai.usage", "{", Field::Input, None),
            ("other", r#"{"input":5}"#, Field::Input, None),
        ] {
            let fields = Fields::read(&[KeyValue { key, value: AnyValue::Str(document) }]);
            assert_eq!(fields.amount(field), expected, "{key} {document}");
        }
    }
}
