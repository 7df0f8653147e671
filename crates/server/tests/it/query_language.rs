//! The query language in lists: what it finds, and its errors. docs/use/query-language.md.

use serde_json::{Value, json};

use tidewatch_domain::units;

use crate::harness::{Harness, Project};
use crate::requests::{NOON_NS, column, made, request};

pub const SECOND: u64 = units::SECOND_NS as u64;

/// An OTLP attribute: text, or a number.
fn attribute(key: &str, value: &str) -> Value {
    match value.parse::<i64>() {
        Ok(number) => json!({ "key": key, "value": { "intValue": number.to_string() } }),
        Err(_) => json!({ "key": key, "value": { "stringValue": value } }),
    }
}

pub fn attributes(pairs: &[(&str, &str)]) -> Value {
    pairs.iter().map(|(key, value)| attribute(key, value)).collect()
}

async fn shop_logs() -> (Harness, Project) {
    let (harness, project) = Harness::with_project().await;
    let record = |second: u64, severity: u64, body: &str, pairs: &[(&str, &str)]| {
        json!({ "timeUnixNano": (NOON_NS + second * SECOND).to_string(), "severityNumber": severity,
            "body": { "stringValue": body }, "attributes": attributes(pairs),
            "traceId": format!("{:032x}", second), "spanId": format!("{:016x}", second) })
    };
    let records = json!([
        record(1, 17, "card declined: limit reached", &[("tenant", "acme"), ("retries", "3")]),
        record(2, 9, "order placed", &[("tenant", "globex"), ("url.path", "/orders")]),
        record(3, 13, "Card expires soon", &[("tenant", "acme"), ("http.target", "/cards")]),
        record(4, 0, "health", &[("url.path", "/health"), ("retries", "12"), ("env", "of the record")]),
    ]);
    let resource = attributes(&[("service.name", "checkout"), ("deployment.environment", "prod"), ("tenant", "host")]);
    let export = json!({ "resourceLogs": [{ "resource": { "attributes": resource }, "scopeLogs": [{
        "scope": { "name": "app.orders", "attributes": attributes(&[("lib.lang", "rust")]) }, "logRecords": records,
    }] }] });
    harness.post_json("logs", &project.token, &export).await.expect(200);
    (harness, project)
}

#[tokio::test]
async fn a_query_finds_log_records_by_any_field() {
    let (harness, project) = shop_logs().await;
    let (declined, placed, expires, health) =
        ("card declined: limit reached", "order placed", "Card expires soon", "health");
    for (query, expected) in [
        ("", vec![health, expires, placed, declined]),
        ("card", vec![expires, declined]),
        ("\"card declined\"", vec![declined]),
        ("card*reached", vec![declined]),
        ("level>=warn", vec![expires, declined]),
        ("-level>=warn", vec![health, placed]),
        ("has:level", vec![expires, placed, declined]),
        ("service:checkout tenant:acme level>=error", vec![declined]),
        ("tenant:acme OR path:/orders", vec![expires, placed, declined]),
        // The record's attribute hides the resource's of the same key.
        ("tenant:host", vec![health]),
        ("resource.tenant:host", vec![health, expires, placed, declined]),
        ("record.tenant:*", vec![expires, placed, declined]),
        ("scope.lib.lang:rust scope.name:app.* level:info", vec![placed]),
        ("env:prod retries>2", vec![health, declined]),
        ("record.env:*", vec![health]),
        // Either of two keys of the conventions.
        ("path:/c*", vec![expires]),
        ("has:path -path:/health", vec![expires, placed]),
        ("retries>=3 retries<10", vec![declined]),
        ("tenant:(acme OR globex) -card", vec![placed]),
        ("trace:00000000000000000000000000000002", vec![placed]),
        ("trace:000000000000000000000000000000*", vec![health, expires, placed, declined]),
        ("time>=2026-06-01T12:00:03Z", vec![health, expires]),
    ] {
        let list = harness.query_json(&project, "/api/logs", json!({ "query": query })).await;
        assert_eq!(column(&list, "body"), expected, "{query}");
        let histogram = harness.query_json(&project, "/api/logs/histogram", json!({ "query": query })).await;
        let counts = histogram["buckets"].as_array().expect("a list").iter().flat_map(|bucket| {
            bucket["counts"].as_object().expect("an object").values().filter_map(Value::as_u64).collect::<Vec<_>>()
        });
        assert_eq!(counts.sum::<u64>(), expected.len() as u64, "the histogram of {query}");
    }
}

#[tokio::test]
async fn a_wrong_query_is_400_with_its_position() {
    let (harness, project) = Harness::with_project().await;
    let paths = ["/api/logs", "/api/logs/histogram", "/api/spans", "/api/endpoints", "/api/endpoints/grouped"];
    let others = ["/api/tasks", "/api/ai-traces/grouped", "/api/exception-stack-traces", "/api/sessions"];
    for path in paths.into_iter().chain(others).chain(["/api/endpoints/chart", "/api/ai-traces/chart"]) {
        let answer = harness.query(&project, path, json!({ "query": "a (b" })).await.expect(400).json();
        assert_eq!(answer["position"], 2, "{path}: {answer}");
        assert_eq!(answer["error"], "the query is wrong at position 2: `)` is missing for this", "{path}");
        harness.query(&project, path, json!({ "query": "tenant:acme -missing.key:*" })).await.expect(200);
    }
    for (path, query, position, message) in [
        ("/api/logs", "card level:nonsense", 11, "`level` takes trace, debug"),
        ("/api/logs", "trace:xyz", 6, "`trace` takes 32 hexadecimal digits"),
        ("/api/logs", "tenant>acme", 7, "`tenant` takes a number without a unit"),
        ("/api/logs", "body>3", 5, "`body` takes a text, which has no order"),
        ("/api/logs", "child.db:x", 0, "`child.` is of"),
        ("/api/spans", "duration>1kB", 9, "`duration` takes a duration such as 200ms"),
        ("/api/spans", "error:yes", 6, "`error` takes true or false"),
        ("/api/spans", "scope.lang:x", 0, "spans have no scope attributes"),
        ("/api/endpoints", "status:>=ok", 9, "`status` takes `error`, `ok` or an HTTP status"),
        ("/api/endpoints", "time>yesterday", 5, "`time` takes a time such as"),
        ("/api/exception-stack-traces", "hash:12", 5, "`hash` takes 16 hexadecimal digits"),
    ] {
        let answer = harness.query(&project, path, json!({ "query": query })).await.expect(400).json();
        assert_eq!(answer["position"], position, "{query}: {answer}");
        assert!(answer["error"].as_str().is_some_and(|error| error.contains(message)), "{query}: {answer}");
    }
    let long = "a".repeat(4097);
    harness.query(&project, "/api/logs", json!({ "query": long })).await.expect(400);
    // WIRE 8.4: a search of bodies alone is bounded, in a query too.
    let wide = |query: &str| json!({ "query": query, "fromDate": "2026-05-01T00:00:00Z" });
    harness.query(&project, "/api/logs", wide("card")).await.expect(422);
    harness.query(&project, "/api/logs", wide("card service:checkout")).await.expect(200);
}

#[tokio::test]
async fn a_query_finds_requests_their_traces_and_their_issues() {
    let (harness, project) = Harness::with_project().await;
    let child = |trace: u64, ms: f64| made(trace, 100 + trace, 3, "SELECT stock", 1.0, ms).parent(trace);
    harness
        .send(
            &project,
            &[
                request(1, "/cart/{id}", 200, 1.0, 250.0).with("user.id", "u-1"),
                child(1, 200.0).with("db.system.name", "postgresql"),
                request(2, "/cart/{id}", 500, 2.0, 20.0).with("user.id", "u-2").exception("TotalMismatch", "12 != 13"),
                request(3, "/health", 200, 3.0, 1.0),
                child(3, 0.5).with("db.system.name", "redis"),
            ],
        )
        .await;
    for (query, expected) in [
        ("duration>200ms", vec!["GET /cart/{id}"]),
        ("status:error", vec!["GET /cart/{id}"]),
        ("status:200", vec!["GET /health", "GET /cart/{id}"]),
        ("status>=500 method:GET", vec!["GET /cart/{id}"]),
        ("-route:/health user:u-*", vec!["GET /cart/{id}", "GET /cart/{id}"]),
        ("name:*health service:shop root:true", vec!["GET /health"]),
        ("size>1", vec![]),
    ] {
        let list = harness.query_json(&project, "/api/endpoints", json!({ "query": query })).await;
        assert_eq!(column(&list, "endpoint"), expected, "{query}");
    }
    let grouped = json!({ "query": "duration>10ms" });
    let groups = harness.query_json(&project, "/api/endpoints/grouped", grouped.clone()).await;
    assert_eq!(column(&groups, "endpoint"), ["GET /cart/{id}"]);
    assert_eq!(groups["data"][0]["count"], 2);
    let chart = harness.query_json(&project, "/api/endpoints/chart", grouped).await;
    assert_eq!(chart["endpoints"], json!(["GET /cart/{id}"]));

    // A trace is found by any of its spans.
    for (query, expected) in [
        ("db.system.name:postgresql", vec![1]),
        ("SELECT", vec![3, 1]),
        ("kind:client duration>100ms", vec![1]),
        ("error:true", vec![2]),
        ("http.status:200", vec![3, 1]),
    ] {
        let list = harness.query_json(&project, "/api/spans", json!({ "query": query, "rootsOnly": true })).await;
        let expected: Vec<String> = expected.into_iter().map(|trace| format!("{trace:032x}")).collect();
        let listed: Vec<&str> = column(&list, "traceId").into_iter().filter_map(Value::as_str).collect();
        assert_eq!(listed, expected, "{query}");
    }

    for (query, count) in [("type:TotalMismatch user.id:u-2", 1), ("\"12 !=\" service:shop", 1), ("user.id:u-1", 0)] {
        let list = harness.query_json(&project, "/api/exception-stack-traces", json!({ "query": query })).await;
        assert_eq!(list["pagination"]["total"], count, "{query}");
    }
}

/// The strings of a completion's answer that have a count, with it.
fn counted(answer: &Value) -> Vec<(&str, u64)> {
    let all = answer["data"].as_array().expect("a list").iter();
    all.filter_map(|one| Some((one["text"].as_str()?, one["count"].as_u64()?))).collect()
}

#[tokio::test]
async fn names_and_values_are_completed_from_what_is_stored() {
    let (harness, project) = shop_logs().await;
    let complete = |body: Value| harness.query_json(&project, "/api/query/complete", body);
    let names = complete(json!({ "rows": "log", "prefix": "te" })).await;
    // The record has the key three times, the resource four times.
    assert_eq!(counted(&names), [("tenant", 7)], "{names}");
    assert_eq!(names["estimated"], false);
    let fields = complete(json!({ "rows": "log", "prefix": "LEV" })).await;
    assert_eq!(fields["data"], json!([{ "text": "level", "count": null, "doc": "severity" }]));

    for (field, prefix, expected) in [
        ("tenant", "", vec![("acme", 2), ("globex", 1), ("host", 1)]),
        ("record.tenant", "", vec![("acme", 2), ("globex", 1)]),
        ("tenant", "O", vec![("globex", 1), ("host", 1)]),
        // The beginning comes before the rest of a string.
        ("tenant", "h", vec![("host", 1)]),
        ("service", "check", vec![("checkout", 4)]),
        ("level", "", vec![("error", 1), ("info", 1), ("warn", 1)]),
        ("path", "", vec![("/cards", 1), ("/health", 1), ("/orders", 1)]),
        ("env", "", vec![("prod", 4)]),
        ("scope.name", "", vec![("app.orders", 4)]),
        ("scope.lib.lang", "", vec![("rust", 4)]),
        ("missing", "", vec![]),
        ("duration", "", vec![]),
    ] {
        let values = complete(json!({ "rows": "log", "field": field, "prefix": prefix })).await;
        assert_eq!(counted(&values), expected, "{field} {prefix}");
    }
    // Only rows of the query count.
    let body = json!({ "rows": "log", "field": "tenant", "query": "level>=warn" });
    assert_eq!(counted(&complete(body).await), [("acme", 2)]);
    for (body, status) in [
        (json!({ "rows": "log", "query": "(" }), 400),
        (json!({ "rows": "span", "field": "scope.lang" }), 400),
        (json!({ "rows": "nothing" }), 400),
        (json!({}), 400),
    ] {
        harness.query(&project, "/api/query/complete", body).await.expect(status);
    }
}

#[tokio::test]
async fn facets_count_the_rows_of_the_query() {
    let (harness, project) = shop_logs().await;
    let facets = |body: Value| harness.query_json(&project, "/api/query/facets", body);
    let usual = facets(json!({ "rows": "log", "query": "-level:error" })).await;
    assert_eq!((&usual["rows"], &usual["estimated"]), (&json!(3), &json!(false)));
    let values = |facet: &str| {
        let all = usual["data"].as_array().expect("a list");
        let found = all.iter().find(|one| one["field"] == facet).unwrap_or_else(|| panic!("{facet} in {usual}"));
        found["values"].clone()
    };
    assert_eq!(values("service"), json!([{ "value": "checkout", "count": 3 }]));
    assert_eq!(values("level"), json!([{ "value": "info", "count": 1 }, { "value": "warn", "count": 1 }]));
    // An attribute of several values is a facet without being named.
    assert_eq!(
        values("tenant"),
        json!([{ "value": "acme", "count": 1 }, { "value": "globex", "count": 1 }, { "value": "host", "count": 1 }])
    );
    let chosen = facets(json!({ "rows": "log", "fields": ["path", "retries"] })).await;
    assert_eq!(chosen["data"][0]["field"], "path");
    assert_eq!(chosen["data"][1]["values"], json!([{ "value": "12", "count": 1 }, { "value": "3", "count": 1 }]));
    assert_eq!(chosen["data"][1]["more"], false);
    let too_many = json!({ "rows": "log", "fields": vec!["a"; 17] });
    harness.query(&project, "/api/query/facets", too_many).await.expect(422);

    // Facets of requests: numbers and booleans too.
    harness
        .send(
            &project,
            &[request(1, "/a", 200, 1.0, 1.0), request(2, "/a", 503, 2.0, 1.0), request(3, "/b", 503, 3.0, 1.0)],
        )
        .await;
    let body = json!({ "rows": "endpoint", "fields": ["status", "error", "route"] });
    let of_requests = facets(body).await;
    assert_eq!(
        of_requests["data"],
        json!([
            { "field": "status", "values": [{ "value": "503", "count": 2 }, { "value": "200", "count": 1 }], "more": false },
            { "field": "error", "values": [{ "value": "true", "count": 2 }, { "value": "false", "count": 1 }], "more": false },
            { "field": "route", "values": [{ "value": "/a", "count": 2 }, { "value": "/b", "count": 1 }], "more": false },
        ])
    );
}
