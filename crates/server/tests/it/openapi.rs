//! The OpenAPI document: `docs/openapi.json` equals the server's document, which is complete.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;
use tidewatch_server::http::routes;

fn document() -> Value {
    serde_json::to_value(routes::generate_document()).expect("a document is JSON")
}

/// If `UPDATE_SNAPSHOTS` is set, rewrites the snapshot and fails, so that the change is reviewed.
#[test]
fn the_snapshot_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
    let text = routes::generate_document().to_pretty_json().expect("a document is JSON");
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    if stored.trim_end() == text.trim_end() {
        return;
    }
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, text + "\n").expect("docs/openapi.json can be written");
        panic!("docs/openapi.json was written anew: look at the change, and run again");
    }
    panic!("docs/openapi.json is not what the server says: run the tests with UPDATE_SNAPSHOTS=1");
}

#[test]
fn every_operation_has_a_name_a_tag_a_summary_and_error_responses() {
    let document = document();
    assert!(document["openapi"].as_str().is_some_and(|version| version.starts_with("3.1")));
    let mut names = BTreeSet::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("operations") {
            let place = format!("{method} {path}");
            let name = operation["operationId"].as_str().unwrap_or_default();
            assert!(!name.is_empty() && names.insert(name.to_owned()), "{place}: operationId {name:?}");
            assert!(operation["tags"].as_array().is_some_and(|tags| !tags.is_empty()), "{place}: no tag");
            assert!(operation["summary"].is_string(), "{place}: no summary");
            let statuses: Vec<&String> = operation["responses"].as_object().expect("responses").keys().collect();
            let is_open = ["/health", "/api/has-organizations", "/api/auth/providers"].contains(&path.as_str())
                || path.starts_with("/.well-known/");
            let has_failures = statuses.iter().any(|status| status.starts_with('4') || *status == "default");
            assert!(is_open || has_failures, "{place}: {statuses:?}");
        }
    }
    assert!(names.len() >= 40, "{} operations", names.len());
}

#[test]
fn every_reference_resolves_and_times_are_integers() {
    let document = document();
    let schemas = document["components"]["schemas"].as_object().expect("schemas");
    let text = document.to_string();
    for part in text.split("#/components/schemas/").skip(1) {
        let name = part.split('"').next().unwrap_or_default();
        assert!(schemas.contains_key(name), "{name} is referred to and not there");
    }
    for schema in ["EndpointRow", "TaskRow", "AiTraceRow", "SpanView"] {
        let duration = &schemas[schema]["properties"]["duration"];
        assert_eq!((&duration["type"], &duration["format"]), (&"integer".into(), &"int64".into()), "{schema}");
    }
}
