//! The fields that read routes take: a request with another one is refused.
//!
//! A misspelt filter must not select everything. The fields are those of the OpenAPI document, so each documented field
//! is accepted, and each accepted field is documented. Routes that change something, and routes of exporters, ignore
//! unknown fields: earlier and later clients send them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use axum::extract::MatchedPath;
use axum::http::Method;
use axum::http::request::Parts;
use serde_json::Value;
use tidewatch_accounts::ScopeLevel;
use tidewatch_limits as limits;
use tidewatch_runtime::redact::plain;

use crate::error::ApiError;
use crate::http::openapi;

/// The parameter that clients send with every request of an account. WIRE 3.2.
const PROJECT: &str = "projectId";

/// The fields of the operation that a request calls. An extension of requests of read routes, for `gate::body`.
#[derive(Debug, Clone)]
pub struct KnownFields(Arc<Operation>);

/// The fields of one operation.
#[derive(Debug, Default)]
struct Operation {
    query: BTreeSet<String>,
    body: Shape,
}

/// The fields of a value.
#[derive(Debug, Clone, Default, PartialEq)]
enum Shape {
    /// Anything, also fields that are not described.
    #[default]
    Any,
    /// An object with these fields only.
    Object(BTreeMap<String, Shape>),
    /// A list, or a map with any keys, of such values.
    Each(Box<Shape>),
    /// A value of one of these kinds.
    OneOf(Vec<Shape>),
}

/// All operations of the document, by method and path.
static OPERATIONS: LazyLock<BTreeMap<(String, String), Arc<Operation>>> = LazyLock::new(|| {
    let document: Value = serde_json::from_str(&openapi::document()).unwrap_or_default();
    operations(&document)
});

/// Whether a route only reads: its method is GET, or tokens with the scope `read` may call it.
fn is_read(method: &Method, scope: Option<ScopeLevel>) -> bool {
    method == Method::GET || scope == Some(ScopeLevel::Read)
}

/// Checks the query of a request of a read route, and prepares the check of its body. `scope`: the scope that the route
/// needs. Fails with 400.
pub fn check_query(parts: &mut Parts, scope: Option<ScopeLevel>) -> Result<(), ApiError> {
    if !is_read(&parts.method, scope) {
        return Ok(());
    }
    let Some(path) = parts.extensions.get::<MatchedPath>() else { return Ok(()) };
    let Some(operation) = OPERATIONS.get(&(parts.method.to_string(), path.as_str().to_owned())) else { return Ok(()) };
    let query = parts.uri.query().unwrap_or_default();
    for (name, _) in url::form_urlencoded::parse(query.as_bytes()) {
        if name != PROJECT && !operation.query.contains(name.as_ref()) {
            return Err(unknown("parameter", &name, "query"));
        }
    }
    parts.extensions.insert(KnownFields(operation.clone()));
    Ok(())
}

fn unknown(kind: &str, name: &str, part: &str) -> ApiError {
    let name = plain(name, limits::UNKNOWN_FIELD_CHARS_MAX);
    ApiError::malformed(format!("unknown {kind} \"{name}\" in the {part} of the request"))
}

impl KnownFields {
    /// Fails with 400 if the body has an unknown field; the message names it.
    pub fn check_body(&self, body: &[u8]) -> Result<(), ApiError> {
        if self.0.body == Shape::Any {
            return Ok(());
        }
        // A body that is no JSON is refused where it is read.
        let Ok(value) = serde_json::from_slice::<Value>(body) else { return Ok(()) };
        match self.0.body.unknown(&value) {
            Some(name) => Err(unknown("field", &name, "body")),
            None => Ok(()),
        }
    }
}

impl Shape {
    /// The path of the first field of `value` that is not described, such as `pagination.size`.
    fn unknown(&self, value: &Value) -> Option<String> {
        let below = |name: &str, inner: String| format!("{name}.{inner}");
        match (self, value) {
            (Shape::Object(fields), Value::Object(found)) => found.iter().find_map(|(name, value)| {
                let Some(field) = fields.get(name) else { return Some(name.clone()) };
                field.unknown(value).map(|inner| below(name, inner))
            }),
            (Shape::Each(each), Value::Array(found)) => found.iter().find_map(|value| each.unknown(value)),
            (Shape::Each(each), Value::Object(found)) => {
                found.iter().find_map(|(name, value)| each.unknown(value).map(|inner| below(name, inner)))
            }
            (Shape::OneOf(kinds), _) => {
                let mut unknown = kinds.iter().filter(|kind| kind.is_of(value)).map(|kind| kind.unknown(value));
                let first = unknown.next()?;
                if unknown.any(|other| other.is_none()) { None } else { first }
            }
            _ => None,
        }
    }

    /// Whether a value is of this kind, apart from its fields.
    fn is_of(&self, value: &Value) -> bool {
        match self {
            Shape::Object(_) => value.is_object(),
            Shape::Each(_) => value.is_array() || value.is_object(),
            Shape::Any => !value.is_object(),
            Shape::OneOf(kinds) => kinds.iter().any(|kind| kind.is_of(value)),
        }
    }
}

/// The operations that need an account: others are called by programs of others, with parameters of theirs.
fn operations(document: &Value) -> BTreeMap<(String, String), Arc<Operation>> {
    let mut found = BTreeMap::new();
    for (path, item) in document["paths"].as_object().into_iter().flatten() {
        for (method, described) in item.as_object().into_iter().flatten().filter(|(_, one)| one["security"].is_null()) {
            let parameters = described["parameters"].as_array().into_iter().flatten();
            let in_query = parameters.filter(|parameter| parameter["in"] == "query");
            let query = in_query.filter_map(|parameter| Some(parameter["name"].as_str()?.to_owned())).collect();
            let schema = &described["requestBody"]["content"]["application/json"]["schema"];
            let body = shape(document, schema, &[]);
            found.insert((method.to_uppercase(), path.clone()), Arc::new(Operation { query, body }));
        }
    }
    found
}

/// The fields that a schema describes. `within`: the references that lead to it; a schema within itself is `Any`.
fn shape(document: &Value, schema: &Value, within: &[&str]) -> Shape {
    let of = |schema: &Value| shape(document, schema, within);
    if let Some(reference) = schema["$ref"].as_str() {
        if within.contains(&reference) {
            return Shape::Any;
        }
        let schema = document.pointer(reference.trim_start_matches('#')).unwrap_or(&Value::Null);
        return shape(document, schema, &[within, &[reference]].concat());
    }
    if let Some(parts) = schema["allOf"].as_array() {
        let mut all = BTreeMap::new();
        for part in parts {
            match of(part) {
                Shape::Object(fields) => all.extend(fields),
                _ => return Shape::Any,
            }
        }
        return Shape::Object(all);
    }
    if let Some(kinds) = ["oneOf", "anyOf"].iter().find_map(|name| schema[*name].as_array()) {
        return Shape::OneOf(kinds.iter().map(of).collect());
    }
    if let Some(properties) = schema["properties"].as_object() {
        return Shape::Object(properties.iter().map(|(name, schema)| (name.clone(), of(schema))).collect());
    }
    for each in ["items", "additionalProperties"] {
        if schema[each].is_object() {
            return Shape::Each(Box::new(of(&schema[each])));
        }
    }
    Shape::Any
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unknown_fields_are_named_by_their_path() {
        let document = json!({"components": {"schemas": {
            "Page": {"properties": {"page": {"type": "integer"}}},
            "List": {"properties": {
                "search": {"type": ["string", "null"]},
                "pagination": {"oneOf": [{"$ref": "#/components/schemas/Page"}, {"type": "null"}]},
                "filters": {"type": "array", "items": {"properties": {"key": {"type": "string"}}}},
                "tags": {"type": "object", "additionalProperties": {"type": "string"}},
                "config": {"type": "object"},
            }},
            "Calls": {"allOf": [{"$ref": "#/components/schemas/List"}, {"properties": {"calls": {"type": "string"}}}]},
        }}});
        let calls = shape(&document, &json!({"$ref": "#/components/schemas/Calls"}), &[]);
        for (body, expected) in [
            (json!({}), None),
            (json!({"search": "x", "calls": "all", "pagination": {"page": 1}}), None),
            (json!({"search": null, "pagination": null}), None),
            (json!({"filters": [{"key": "a"}], "tags": {"any": "x"}, "config": {"any": {"thing": 1}}}), None),
            (json!([{"misspelt": 1}]), None),
            (json!({"misspelt": null}), Some("misspelt")),
            (json!({"search": "x", "call": "all"}), Some("call")),
            (json!({"pagination": {"size": 1}}), Some("pagination.size")),
            (json!({"filters": [{"key": "a"}, {"name": "a"}]}), Some("filters.name")),
        ] {
            assert_eq!(calls.unknown(&body).as_deref(), expected, "{body}");
        }
    }

    #[test]
    fn every_operation_has_its_fields() {
        let found = operations(&serde_json::from_str(&openapi::document()).expect("the document is JSON"));
        let logs = &found[&("POST".to_owned(), "/api/logs".to_owned())];
        assert!(logs.query.contains("environment"));
        let Shape::Object(fields) = &logs.body else { panic!("{:?}", logs.body) };
        assert!(fields.contains_key("serviceName") && !fields.contains_key("service"));
    }
}
