//! Patterns of logs, and fields of JSON bodies, over HTTP. Rules: `domain/patterns`, `domain/rules/body_field.rs`.

use serde_json::{Value, json};
use tidewatch_domain::units;
use tidewatch_limits as limits;

use crate::harness::{Harness, Project, text};
use crate::requests::{NOON_NS, column, resource};

const SECOND: u64 = units::SECOND_NS as u64;

async fn send(harness: &Harness, project: &Project, service: &str, bodies: &[(u64, u64, String)]) {
    let record = |(second, severity, body): &(u64, u64, String)| {
        json!({ "timeUnixNano": (NOON_NS + second * SECOND).to_string(), "severityNumber": severity,
            "body": { "stringValue": body } })
    };
    let records: Vec<Value> = bodies.iter().map(record).collect();
    let export =
        json!({ "resourceLogs": [{ "resource": resource(service), "scopeLogs": [{ "logRecords": records }] }] });
    harness.post_json("logs", &project.token, &export).await.expect(200);
}

#[tokio::test]
async fn patterns_count_the_records_that_their_query_finds() {
    let (harness, project) = Harness::with_project().await;
    let mut lines: Vec<(u64, u64, String)> =
        (0..60).map(|n| (n, 17, format!("payment {n} of user u{n} failed after {n}.5 ms"))).collect();
    lines.extend((0..30).map(|n| (n, 9, format!("Connection from 10.0.0.{n} closed"))));
    lines.extend((0..10).map(|n| (n, 9, "cache \"warm\" (all of it)".to_owned() + &"!".repeat(usize::from(n == 0)))));
    send(&harness, &project, "shop", &lines).await;
    send(&harness, &project, "mail", &[(5, 13, "Connection from 10.0.0.99 closed".to_owned())]).await;

    let answer = harness.query_json(&project, "/api/logs/patterns", json!({})).await;
    assert_eq!((&answer["records"], &answer["read"], &answer["estimated"]), (&json!(101), &json!(101), &json!(false)));
    assert_eq!((&answer["others"], &answer["more"]), (&json!(0), &json!(0)));
    let first = &answer["data"][0];
    assert_eq!(first["pattern"], "payment <num> of user u<num> failed after <num> ms");
    assert_eq!(
        (&first["count"], &first["severityText"], &first["severityNumber"]),
        (&json!(60), &json!("ERROR"), &json!(17))
    );
    assert_eq!(
        (&first["firstSeen"], &first["lastSeen"]),
        (&json!("2026-06-01T12:00:00Z"), &json!("2026-06-01T12:00:59Z"))
    );
    assert_eq!(first["example"], "payment 0 of user u0 failed after 0.5 ms");
    let second = &answer["data"][1];
    assert_eq!(second["pattern"], "Connection from <ip> closed");
    assert_eq!(second["severities"], json!({ "INFO": 30, "WARN": 1 }));
    assert_eq!(second["services"], json!(["mail", "shop"]));
    assert_eq!(second["share"].as_f64().map(|share| (share * 101.0).round()), Some(31.0));

    // Each pattern's query finds its records, alone and with the filters of the page.
    let mut sum = 0;
    for pattern in answer["data"].as_array().expect("patterns") {
        let list = harness.query_json(&project, "/api/logs", json!({ "query": pattern["query"] })).await;
        assert_eq!(list["pagination"]["total"], pattern["count"], "{pattern}");
        let trend: u64 = pattern["trend"].as_array().expect("points").iter().filter_map(|p| p["count"].as_u64()).sum();
        assert_eq!(json!(trend), pattern["count"]);
        sum += pattern["count"].as_u64().expect("a count");
    }
    assert_eq!(sum, 101);
    let filtered = harness.query_json(&project, "/api/logs/patterns", json!({ "query": "service:mail" })).await;
    assert_eq!(column(&filtered, "pattern"), ["Connection from <ip> closed"]);
    let none = harness.query_json(&project, "/api/logs/patterns", json!({ "query": "absent" })).await;
    assert_eq!((&none["data"], &none["records"]), (&json!([]), &json!(0)));
}

/// Records beyond the listed patterns are counted.
#[tokio::test]
async fn the_number_of_patterns_is_bounded() {
    let (harness, project) = Harness::with_project().await;
    let word = |n: u64| -> String { (0..4).map(|i| char::from(b'a' + (n / 26_u64.pow(i) % 26) as u8)).collect() };
    let count = limits::PATTERNS_MAX as u64 + 200;
    // Lengths differ, so that each is a pattern of its own.
    let lines: Vec<_> = (0..count).map(|n| (n % 60, 9, vec![word(n); 1 + (n % 40) as usize].join(" "))).collect();
    send(&harness, &project, "shop", &lines).await;
    let answer = harness.query_json(&project, "/api/logs/patterns", json!({})).await;
    let listed = answer["data"].as_array().expect("patterns");
    assert!(listed.len() <= limits::PATTERNS_LISTED_MAX);
    let sum: u64 = listed.iter().filter_map(|pattern| pattern["count"].as_u64()).sum();
    assert_eq!(sum + answer["others"].as_u64().expect("a count"), count);
}

/// A field of a JSON body is like an attribute: in queries, facets and completions; from memory and from parts.
#[tokio::test]
async fn fields_of_json_bodies_are_queried() {
    let (mut harness, project) = Harness::with_project().await;
    let bodies = [
        r#"{"msg":"order placed","user":{"id":42,"plan":"pro"},"items":[{"sku":"a"}]}"#,
        r#"{"msg":"order shipped","user":{"id":7,"plan":"free"}}"#,
        r#"{"msg":"order placed","user":{"id":142}}"#,
        "user.id 42",
        r#"{"user":{"id":42}} and more"#,
    ];
    let lines: Vec<_> = bodies.iter().enumerate().map(|(n, body)| (n as u64, 9, (*body).to_owned())).collect();
    send(&harness, &project, "shop", &lines).await;
    // A body that is an OTLP map is stored as JSON.
    let map = json!({ "kvlistValue": { "values": [{ "key": "user", "value": { "kvlistValue": { "values": [
        { "key": "id", "value": { "intValue": "99" } }] } } }] } });
    // An attribute with the name of a field of the body.
    let named = json!([{ "key": "body.user.id", "value": { "stringValue": "attribute" } }]);
    let records = [
        json!({ "timeUnixNano": (NOON_NS + 10 * SECOND).to_string(), "body": map }),
        json!({ "timeUnixNano": (NOON_NS + 11 * SECOND).to_string(), "body": { "stringValue": "plain" }, "attributes": named }),
    ];
    let export =
        json!({ "resourceLogs": [{ "resource": resource("shop"), "scopeLogs": [{ "logRecords": records }] }] });
    harness.post_json("logs", &project.token, &export).await.expect(200);
    for _ in 0..2 {
        for (query, expected) in [
            ("body.user.id:42", vec![0]),
            ("body.user.id>=42", vec![0, 2, 10]),
            ("body.user.id<50 body.msg:*shipped", vec![1]),
            ("has:body.user.plan", vec![0, 1]),
            ("body.user.plan:(pro OR free)", vec![0, 1]),
            ("body.items.0.sku=a", vec![0]),
            ("-has:body.user.id", vec![3, 4]),
            ("body.user.id:attribute", vec![11]),
            ("body.user.id!=42 has:body.user.id", vec![1, 2, 10, 11]),
        ] {
            let body = json!({ "query": query, "sortDirection": "asc" });
            let list = harness.query_json(&project, "/api/logs", body).await;
            let found: Vec<u64> = column(&list, "timestamp")
                .into_iter()
                .map(|time| text(time)["2026-06-01T12:00:".len()..].trim_end_matches('Z').parse().expect("a second"))
                .collect();
            assert_eq!(found, expected, "{query}");
        }
        let body = json!({ "rows": "log", "fields": ["body.user.plan", "body.user.id"] });
        let facets = harness.query_json(&project, "/api/query/facets", body).await;
        let values = |at: usize| -> Vec<String> {
            let values = facets["data"][at]["values"].as_array().expect("values");
            values.iter().map(|value| text(&value["value"])).collect()
        };
        assert_eq!(values(0), ["free", "pro"]);
        assert_eq!(values(1), ["142", "42", "7", "99", "attribute"]);
        let body = json!({ "rows": "log", "prefix": "body.u" });
        let names = harness.query_json(&project, "/api/query/complete", body).await;
        assert_eq!(column(&names, "text"), ["body.user.id", "body.user.plan"]);
        // A second round reads parts.
        harness.restart().await;
    }
    // Every body is read: over days only with another condition.
    let long =
        json!({ "fromDate": "2026-05-01T00:00:00Z", "toDate": "2026-06-08T00:00:00Z", "query": "body.user.id:42" });
    assert_eq!(harness.query(&project, "/api/logs", long.clone()).await.status, 422);
    let mut selective = long;
    selective["query"] = json!("body.user.id:42 service:shop");
    assert_eq!(harness.query(&project, "/api/logs", selective).await.status, 200);
}
