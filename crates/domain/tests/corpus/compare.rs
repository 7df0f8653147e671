//! Compares `expected.json` with the stored rows; one line per difference.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tidewatch_domain::model::{SpanId, TraceId};
use tidewatch_domain::project::EntityKind;

use crate::scenario::Scenario;
use crate::stored::{AiTrace, Entity, Stored};

pub fn differences(scenario: &Scenario, stored: &Stored) -> Vec<String> {
    let expected = &scenario.expected;
    let mut lines = Vec::new();
    entities(expected, "endpoints", EntityKind::Endpoint, stored, &mut lines);
    entities(expected, "tasks", EntityKind::Task, stored, &mut lines);
    ai_traces(expected, stored, &mut lines);
    issues(expected, stored, &mut lines);
    spans(expected, stored, &mut lines);
    logs(expected, stored, &mut lines);
    metrics(expected, stored, &mut lines);
    lines
}

fn list<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> + use<'v> {
    value[key].as_array().into_iter().flatten()
}

fn number(value: &Value) -> i64 {
    value.as_i64().expect("a number in expected.json")
}

fn same<T: PartialEq + std::fmt::Debug>(lines: &mut Vec<String>, what: &str, actual: T, expected: T) {
    if actual != expected {
        lines.push(format!("{what}: {actual:?} instead of {expected:?}"));
    }
}

/// Compares entities. Entries match by name, server and is_root; an entry without a name matches the remaining rows (junk
/// names).
fn entities(expected: &Value, key: &str, kind: EntityKind, stored: &Stored, lines: &mut Vec<String>) {
    let mut left: Vec<&Entity> = stored.entities.values().filter(|entity| entity.kind == kind).collect();
    let mut entries: Vec<&Value> = list(expected, key).collect();
    entries.sort_by_key(|entry| entry["name"].is_null());
    for entry in entries {
        let is_of_entry = |entity: &&Entity| {
            entry["name"].as_str().is_none_or(|name| name == entity.name)
                && entry["server_name"] == entity.server_name.as_str()
                && entry["is_root"] == entity.is_root
        };
        let (rows, rest): (Vec<&Entity>, Vec<&Entity>) = left.into_iter().partition(is_of_entry);
        left = rest;
        let what = format!("{key} {}", entry["name"]);
        same(lines, &what, rows.len() as i64, number(&entry["count"]));
        if let Some(statuses) = entry["status"].as_object() {
            let mut actual = BTreeMap::new();
            rows.iter().for_each(|row| *actual.entry(row.status.to_string()).or_insert(0) += 1);
            let wanted = statuses.iter().map(|(status, count)| (status.clone(), number(count))).collect();
            same(lines, &format!("{what} status"), actual, wanted);
        }
        for row in rows {
            if let Some(streaming) = entry["streaming"].as_bool() {
                same(lines, &format!("{what} streaming"), row.is_stream, streaming);
            }
            if let Some(version) = entry["app_version"].as_str() {
                same(lines, &format!("{what} app version"), row.app_version.as_str(), version);
            }
        }
    }
    lines.extend(left.iter().map(|row| format!("{key} not expected: {row:?}")));
}

fn ai_traces(expected: &Value, stored: &Stored, lines: &mut Vec<String>) {
    let mut left: Vec<&AiTrace> = stored.ai_traces.values().collect();
    for entry in list(expected, "ai_traces") {
        let text = |value: &Option<String>| value.as_deref().map_or(Value::Null, Value::from);
        let is_of_entry = |row: &&AiTrace| {
            let tokens = ["input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens"];
            entry["name"] == row.name.as_str()
                && entry["is_root"] == row.is_root
                && entry["model"] == text(&row.model)
                && entry["provider"] == text(&row.provider)
                && entry.get("finish_reason").is_none_or(|reason| *reason == text(&row.finish_reason))
                && tokens
                    .iter()
                    .zip(row.tokens)
                    .all(|(key, count)| entry.get(key).is_none_or(|value| value.as_i64() == count))
        };
        let (rows, rest): (Vec<&AiTrace>, Vec<&AiTrace>) = left.into_iter().partition(is_of_entry);
        left = rest;
        same(lines, &format!("AI traces {}", entry["name"]), rows.len() as i64, number(&entry["count"]));
    }
    lines.extend(left.iter().map(|row| format!("AI trace not expected: {row:?}")));
}

/// Compares occurrences by type, message and owner. ` | ` separates alternative messages; an absent message matches any.
fn issues(expected: &Value, stored: &Stored, lines: &mut Vec<String>) {
    let mut left: Vec<_> = stored.exceptions.values().map(|row| (row, stored.owner(row))).collect();
    for entry in list(expected, "issues") {
        let messages: Option<Vec<&str>> = entry["message"].as_str().map(|text| text.split(" | ").collect());
        let owner = entry["owner"]["name"].as_str();
        let (rows, rest): (Vec<_>, Vec<_>) = left.into_iter().partition(|(row, actual_owner)| {
            entry["type"].as_str().unwrap_or("") == row.exception_type
                && messages.as_ref().is_none_or(|messages| messages.contains(&row.message.as_str()))
                && actual_owner.as_deref() == owner
        });
        left = rest;
        let what = format!("issue {}: {}", entry["type"], entry["message"]);
        same(lines, &what, rows.len() as i64, number(&entry["count"]));
        let groups: BTreeSet<u64> = rows.iter().map(|(row, _)| row.group).collect();
        if groups.len() > 1 && entry["alt"].is_null() {
            lines.push(format!("{what}: {} groups instead of 1", groups.len()));
        }
    }
    lines.extend(left.iter().map(|row| format!("exception not expected: {row:?}")));
}

fn spans(expected: &Value, stored: &Stored, lines: &mut Vec<String>) {
    let entry = &expected["spans"];
    let plain = stored.spans.values().filter(|span| span.is_plain).count();
    same(lines, "plain spans", plain as i64, number(&entry["plain"]));
    same(lines, "dropped roots", stored.dropped_roots.len() as i64, number(&entry["dropped_roots"]));
    same(lines, "spans", (stored.spans.len() + stored.dropped_roots.len()) as i64, number(&entry["received_unique"]));
}

fn logs(expected: &Value, stored: &Stored, lines: &mut Vec<String>) {
    let entry = &expected["logs"];
    let count = |is: &dyn Fn(TraceId, SpanId) -> bool| {
        stored.logs.iter().filter(|log| is(log.trace_id, log.span_id)).count() as i64
    };
    same(lines, "logs", stored.logs.len() as i64, number(&entry["total"]));
    for (key, actual) in [
        ("with_trace", count(&|trace, span| !trace.is_none() && !span.is_none())),
        ("trace_only", count(&|trace, span| !trace.is_none() && span.is_none())),
        ("without_trace", count(&|trace, _| trace.is_none())),
        ("linked_to_dropped_root", count(&|trace, span| stored.dropped_roots.contains(&(trace, span)))),
    ] {
        if let Some(wanted) = entry[key].as_i64() {
            same(lines, &format!("logs {key}"), actual, wanted);
        }
    }
    for (service, wanted) in entry["service"].as_object().into_iter().flatten() {
        let actual = stored.logs.iter().filter(|log| log.server_name == *service).count() as i64;
        same(lines, &format!("logs of {service}"), actual, number(wanted));
    }
    for (key, kind) in [("linked_to_endpoint", EntityKind::Endpoint), ("linked_to_task", EntityKind::Task)] {
        for (name, wanted) in entry[key].as_object().into_iter().flatten() {
            let traces: BTreeSet<TraceId> = stored
                .entities
                .values()
                .filter(|entity| entity.kind == kind && entity.name == *name)
                .map(|entity| entity.trace_id)
                .collect();
            let actual = count(&|trace, span| !span.is_none() && traces.contains(&trace));
            same(lines, &format!("{key} {name}"), actual, number(wanted));
        }
    }
}

fn metrics(expected: &Value, stored: &Stored, lines: &mut Vec<String>) {
    let mut names: BTreeSet<&str> = stored.values.iter().map(|value| value.name.as_str()).collect();
    for entry in list(expected, "metrics") {
        let name = entry["name"].as_str().expect("a metric has a name");
        names.remove(name);
        let rows: Vec<_> = stored.values.iter().filter(|value| value.name == name).collect();
        let tags: BTreeSet<&str> = rows.iter().flat_map(|row| &row.tags).map(String::as_str).collect();
        same(lines, &format!("metric {name} tags"), tags, list(entry, "tags").filter_map(Value::as_str).collect());
        if let Some(points) = entry["points"].as_i64() {
            same(lines, &format!("metric {name} points"), rows.len() as i64, points);
        }
        if entry["values"].is_array() {
            let wanted: Vec<f64> = list(entry, "values").filter_map(Value::as_f64).collect();
            same(lines, &format!("metric {name}"), rows.iter().map(|row| row.value).collect(), wanted);
        }
    }
    lines.extend(names.iter().map(|name| format!("metric not expected: {name}")));
    for name in list(expected, "metrics_dropped").filter_map(Value::as_str) {
        if stored.values.iter().any(|value| value.name == name) {
            lines.push(format!("metric {name} must not exist"));
        }
    }
}
