//! Compares `expected.json` with the API's answers; one line per difference.
//!
//! Entries are matched to rows by name (or a tolerated one), service and root flag; each row belongs to one entry, and
//! a row without an entry is a difference. Entries without a name match the remaining rows: junk names.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::observed::Observed;
use super::scenario::Scenario;

pub fn differences(scenario: &Scenario, observed: &Observed, times: usize) -> Vec<String> {
    let expected = &scenario.expected;
    let mut lines = Vec::new();
    entities(expected, "endpoints", "endpoint", &observed.endpoints, &mut lines);
    entities(expected, "tasks", "taskName", &observed.tasks, &mut lines);
    ai_traces(expected, &observed.ai_traces, &mut lines);
    issues(expected, observed, &mut lines);
    spans(expected, observed, times, &mut lines);
    logs(expected, observed, &mut lines);
    metrics(expected, observed, &mut lines);
    lines
}

fn list<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> + use<'v> {
    value[key].as_array().into_iter().flatten()
}

fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("no number: {value}"))
}

fn same<T: PartialEq + std::fmt::Debug>(lines: &mut Vec<String>, what: &str, actual: T, expected: T) {
    if actual != expected {
        lines.push(format!("{what}: {actual:?} instead of {expected:?}"));
    }
}

/// Whether the name is the entry's or one that it tolerates; every name matches an entry without one.
fn is_named(entry: &Value, name: &Value) -> bool {
    entry["name"].is_null() || entry["name"] == *name || list(entry, "alt_names").any(|alt| alt == name)
}

/// Whether the entry has its number of rows; an ambiguous entry may have none.
fn is_counted(entry: &Value, rows: usize) -> bool {
    rows as i64 == number(&entry["count"]) || (rows == 0 && entry["ambiguous"] == true)
}

/// Removes the rows of an entry from `left` and returns them.
fn take<'v>(left: &mut Vec<&'v Value>, is_of_entry: impl Fn(&Value) -> bool) -> Vec<&'v Value> {
    let (rows, rest) = left.drain(..).partition(|row| is_of_entry(row));
    *left = rest;
    rows
}

/// Checks that all spans of the entry exist, with their parents.
fn ids(entry: &Value, rows: &[&Value], what: &str, lines: &mut Vec<String>) {
    for wanted in list(entry, "ids") {
        let is_wanted = |row: &&Value| {
            row["traceId"] == wanted["trace_id"]
                && row["spanId"] == wanted["span_id"]
                && row["parentSpanId"] == wanted["parent_span_id"]
        };
        if !rows.is_empty() && !rows.iter().any(is_wanted) {
            lines.push(format!("{what}: no row for {wanted}"));
        }
    }
    for wanted in list(entry, "span_ids") {
        if !rows.iter().any(|row| row["spanId"] == *wanted) {
            lines.push(format!("{what}: no row for span {wanted}"));
        }
    }
}

fn entities(expected: &Value, key: &str, name_field: &str, rows: &[Value], lines: &mut Vec<String>) {
    let mut left: Vec<&Value> = rows.iter().collect();
    let mut entries: Vec<&Value> = list(expected, key).collect();
    // Junk names last; entries with span ids before entries without.
    entries.sort_by_key(|entry| (entry["name"].is_null(), entry["span_ids"].is_null()));
    for entry in entries {
        let what = format!("{key} {}", entry["name"]);
        let rows = take(&mut left, |row| {
            is_named(entry, &row[name_field])
                && row["serverName"] == entry["server_name"]
                && row["isRoot"] == entry["is_root"]
                && (entry["span_ids"].is_null() || list(entry, "span_ids").any(|id| *id == row["spanId"]))
        });
        if !is_counted(entry, rows.len()) {
            lines.push(format!("{what}: {} rows instead of {}", rows.len(), entry["count"]));
        }
        if rows.is_empty() {
            continue;
        }
        if entry["status"].is_object() {
            let mut statuses = BTreeMap::new();
            rows.iter().for_each(|row| *statuses.entry(row["statusCode"].to_string()).or_insert(0) += 1);
            let wanted = |field: &str| -> Option<BTreeMap<String, i64>> {
                let object = entry[field].as_object()?;
                Some(object.iter().map(|(status, count)| (status.clone(), number(count))).collect())
            };
            if wanted("status").as_ref() != Some(&statuses) && wanted("alt_status").as_ref() != Some(&statuses) {
                lines.push(format!("{what}: status {statuses:?} instead of {}", entry["status"]));
            }
        }
        for row in &rows {
            if let Some(streaming) = entry["streaming"].as_bool() {
                same(lines, &format!("{what} streaming"), &row["isStream"], &Value::Bool(streaming));
            }
            if entry["app_version"].is_string() {
                same(lines, &format!("{what} app version"), &row["appVersion"], &entry["app_version"]);
            }
        }
        ids(entry, &rows, &what, lines);
    }
    lines.extend(left.iter().map(|row| format!("{key}: not expected: {row}")));
}

fn ai_traces(expected: &Value, rows: &[Value], lines: &mut Vec<String>) {
    // Absent strings are "" in the API and null in the scenarios; absent numbers are null in both.
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let mut left: Vec<&Value> = rows.iter().collect();
    for entry in list(expected, "ai_traces") {
        let what = format!("AI trace {}", entry["name"]);
        let model_names: BTreeSet<Option<String>> =
            std::iter::once(&entry["model"]).chain(list(entry, "alt_models")).map(text).collect();
        let rows = take(&mut left, |row| {
            is_named(entry, &row["traceName"])
                && row["isRoot"] == entry["is_root"]
                && model_names.contains(&text(&row["model"]))
                && text(&row["provider"]) == text(&entry["provider"])
                && (entry["finish_reason"].is_null() || row["finishReason"] == entry["finish_reason"])
                && row["inputTokens"] == entry["input_tokens"]
                && row["outputTokens"] == entry["output_tokens"]
                && (entry.get("cached_tokens").is_none_or(|tokens| *tokens == row["cachedTokens"]))
                && (entry.get("reasoning_tokens").is_none_or(|tokens| *tokens == row["reasoningTokens"]))
        });
        if !is_counted(entry, rows.len()) {
            lines.push(format!("{what}: {} rows instead of {}", rows.len(), entry["count"]));
        }
        ids(entry, &rows, &what, lines);
    }
    lines.extend(left.iter().map(|row| format!("AI trace not expected: {row}")));
}

/// Compares occurrences by type, message and owner. A message with ` | ` lists alternatives, a missing one matches any.
fn issues(expected: &Value, observed: &Observed, lines: &mut Vec<String>) {
    let counted: u64 = observed.issues.iter().filter_map(|issue| issue["count"].as_u64()).sum();
    same(lines, "occurrences and counts", observed.occurrences.len() as u64, counted);
    let mut left: Vec<&Value> = observed.occurrences.iter().collect();
    for entry in list(expected, "issues") {
        let what = format!("issue {}: {}", entry["type"], entry["message"]);
        let messages: Option<Vec<&str>> = entry["message"].as_str().map(|text| text.split(" | ").collect());
        let owner = (entry["owner"]["kind"].as_str(), entry["owner"]["name"].as_str().unwrap_or(""));
        let rows = take(&mut left, |row| {
            row["exceptionType"].as_str() == Some(entry["type"].as_str().unwrap_or(""))
                && messages.as_ref().is_none_or(|all| row["message"].as_str().is_some_and(|text| all.contains(&text)))
                && (row["ownerType"].as_str(), row["ownerName"].as_str().unwrap_or("")) == owner
        });
        same(lines, &what, rows.len() as i64, number(&entry["count"]));
        let groups: BTreeSet<&str> = rows.iter().filter_map(|row| row["exceptionHash"].as_str()).collect();
        if groups.len() > 1 && entry["alt"].is_null() {
            lines.push(format!("{what}: {} Issues instead of one", groups.len()));
        }
        for row in rows {
            same(lines, &format!("{what} trace type"), row["traceType"].as_str(), owner.0.or(Some("")));
        }
    }
    lines.extend(left.iter().map(|row| format!("exception not expected: {row}")));
}

fn spans(expected: &Value, observed: &Observed, times: usize, lines: &mut Vec<String>) {
    let entry = &expected["spans"];
    let dropped = number(&entry["dropped_roots"]);
    let is_plain = |span: &&Value| ["isEndpoint", "isTask", "isAiTrace"].iter().all(|flag| span[*flag] == false);
    let plain = observed.spans.iter().filter(is_plain).count() as i64;
    same(lines, "plain spans", plain, number(&entry["plain"]));
    same(lines, "stored spans", observed.spans.len() as i64, number(&entry["received_unique"]) - dropped);

    let of_reason = |reason: &str| {
        let of_traces = list(&observed.drops, "data").filter(|drop| drop["signal"] == "traces");
        of_traces.filter(|drop| drop["reason"] == reason).map(|drop| number(&drop["count"])).sum::<i64>()
    };
    let unmatched = of_reason("unmatched_root");
    // A dropped root leaves no row by which a retry could be recognized.
    same(lines, "dropped roots", (1..=times as i64).any(|times| unmatched == dropped * times), true);
    let mut kept = list(&observed.drops, "kept").filter(|kept| kept["signal"] == "traces");
    let kept = kept.next().map_or(0, |kept| number(&kept["count"]));
    same(lines, "spans counted as kept", kept, observed.spans.len() as i64);
}

fn logs(expected: &Value, observed: &Observed, lines: &mut Vec<String>) {
    let entry = &expected["logs"];
    let count = |is: &dyn Fn(&str, &str) -> bool| {
        let is_so = |log: &&Value| is(log["traceId"].as_str().unwrap_or(""), log["spanId"].as_str().unwrap_or(""));
        observed.logs.iter().filter(is_so).count() as i64
    };
    same(lines, "logs", observed.logs.len() as i64, number(&entry["total"]));
    let stored: BTreeSet<(&str, &str)> =
        observed.spans.iter().filter_map(|span| Some((span["traceId"].as_str()?, span["spanId"].as_str()?))).collect();
    for (key, actual) in [
        ("with_trace", count(&|trace, span| !trace.is_empty() && !span.is_empty())),
        ("trace_only", count(&|trace, span| !trace.is_empty() && span.is_empty())),
        ("without_trace", count(&|trace, _| trace.is_empty())),
    ] {
        if let Some(wanted) = entry[key].as_i64() {
            same(lines, &format!("logs {key}"), actual, wanted);
        }
    }
    let lost = ["linked_to_dropped_root", "linked_to_unknown_trace"].iter().filter_map(|key| entry[*key].as_i64());
    let unstored = count(&|trace, span| !trace.is_empty() && !span.is_empty() && !stored.contains(&(trace, span)));
    same(lines, "logs of spans that are not stored", unstored, lost.sum());
    for (service, wanted) in entry["service"].as_object().into_iter().flatten() {
        let actual = observed.logs.iter().filter(|log| log["serviceName"] == *service).count() as i64;
        same(lines, &format!("logs of {service:?}"), actual, number(wanted));
    }
    for (key, rows, name_field) in
        [("linked_to_endpoint", &observed.endpoints, "endpoint"), ("linked_to_task", &observed.tasks, "taskName")]
    {
        for (name, wanted) in entry[key].as_object().into_iter().flatten() {
            let traces: BTreeSet<&str> =
                rows.iter().filter(|row| row[name_field] == *name).filter_map(|row| row["traceId"].as_str()).collect();
            let tabs = observed.linked_logs.iter().filter(|(trace, _)| traces.contains(trace.as_str()));
            same(lines, &format!("{key} {name}"), tabs.map(|(_, count)| *count as i64).sum(), number(wanted));
        }
    }
}

fn metrics(expected: &Value, observed: &Observed, lines: &mut Vec<String>) {
    let mut left: BTreeMap<&str, &Value> =
        observed.metrics.iter().filter_map(|metric| Some((metric["name"].as_str()?, metric))).collect();
    for entry in list(expected, "metrics") {
        let name = entry["name"].as_str().expect("a metric has a name");
        let Some(metric) = left.remove(name) else {
            lines.push(format!("metric {name} is missing"));
            continue;
        };
        let tags: BTreeSet<&str> =
            list(metric, "tagKeys").filter_map(Value::as_str).filter(|key| *key != "server_name").collect();
        same(lines, &format!("metric {name} tags"), tags, list(entry, "tags").filter_map(Value::as_str).collect());
        let points = entry["points"].as_i64().or(entry["values"].as_array().map(|values| values.len() as i64));
        same(lines, &format!("metric {name} points"), metric["pointCount"].as_i64(), points);
    }
    lines.extend(left.keys().map(|name| format!("metric not expected: {name}")));
    for entry in list(expected, "metrics").filter(|entry| entry["values"].is_array()) {
        let mut wanted: Vec<f64> = list(entry, "values").filter_map(Value::as_f64).collect();
        wanted.sort_by(f64::total_cmp);
        let seen = observed.values.iter().filter(|(name, _)| entry["name"] == *name);
        let seen: Vec<&Vec<f64>> = seen.flat_map(|(_, groupings)| groupings).collect();
        if !seen.contains(&&wanted) {
            lines.push(format!("metric {}: values {seen:?} instead of {wanted:?}", entry["name"]));
        }
    }
    // Names in `metrics_dropped` that exist are differences already: no entry expects them.
    for name in list(expected, "metrics_dropped").filter_map(Value::as_str) {
        if observed.metrics.iter().any(|metric| metric["name"] == name) {
            lines.push(format!("metric {name} must not exist"));
        }
    }
}
