//! Pages of Endpoints, Tasks and AI Traces besides statistics: where the time goes, log records and
//! issues.

use serde_json::{Value, json};

use crate::harness::{Harness, Project};
use crate::requests::{CLIENT, Made, NOON_NS, column, export, made, request, resource};

/// Requests of 100 ms: every second one queries a database for 60 ms, and all reserve stock for 20 ms.
async fn carts() -> (Harness, Project) {
    let (harness, project) = Harness::with_project().await;
    let (mut shop, mut stock): (Vec<Made>, Vec<Made>) = (Vec::new(), Vec::new());
    for index in 1..=40_u64 {
        let second = index as f64;
        shop.push(request(index, "/cart", 200, second, 100.0));
        if index.is_multiple_of(2) {
            let query = made(index, 1000 + index, CLIENT, "query", second + 0.01, 60.0).parent(index);
            shop.push(query.with("db.system.name", "postgresql").with("db.operation.name", "SELECT"));
        }
        stock.push(made(index, 2000 + index, 1, "reserve", second + 0.075, 20.0).parent(index));
    }
    shop.push(request(77, "/other", 200, 50.0, 500.0));
    harness.send(&project, &shop).await;
    harness.post_json("traces", &project.token, &export("stock", &stock)).await.expect(200);
    (harness, project)
}

fn near(value: &Value, wanted: f64) -> bool {
    value.as_f64().is_some_and(|value| (value - wanted).abs() < 1e-6)
}

// The own times of operations add up to the duration of a request.
#[tokio::test]
async fn the_time_of_an_endpoint_is_divided_among_operations_and_services() {
    let (harness, project) = carts().await;
    let body = json!({ "entity": "endpoint", "name": "GET /cart", "budgetMs": 8000 });
    let answer = harness.query_json(&project, "/api/breakdown", body).await;
    let operations: Vec<(&str, &str, u64)> = answer["data"]
        .as_array()
        .expect("operations")
        .iter()
        .map(|one| {
            let text = |field: &str| one[field].as_str().unwrap_or_default();
            (text("operation"), text("service"), one["rows"].as_u64().unwrap_or_default())
        })
        .collect();
    let wanted = [("GET", "shop", 40), ("SELECT postgresql", "shop", 20), ("reserve", "stock", 40)];
    assert_eq!(operations, wanted, "{answer}");
    for (place, (mean, share)) in [(50.0, 0.5), (30.0, 0.3), (20.0, 0.2)].into_iter().enumerate() {
        let one = &answer["data"][place];
        assert!(near(&one["meanMs"], mean) && near(&one["share"], share), "{one}");
    }
    assert_eq!(answer["services"][0]["service"], "shop");
    assert!(near(&answer["services"][0]["share"], 0.8) && near(&answer["services"][1]["meanMs"], 20.0), "{answer}");
    assert!(near(&answer["meanMs"], 100.0) && near(&answer["restMs"], 0.0), "{answer}");
    assert_eq!((&answer["rows"], &answer["measured"], &answer["partial"]), (&json!(40), &json!(40), &json!(false)));

    // The query of an operation finds the traces in which it ran below such a request.
    let query = answer["data"][1]["query"].as_str().expect("a query");
    let found = harness.query_json(&project, "/api/traces/search", json!({ "query": query })).await;
    assert_eq!(found["data"].as_array().map(Vec::len), Some(20), "{query}: {found}");

    let within =
        json!({ "entity": "endpoint", "name": "GET /cart", "query": "trace:00000000000000000000000000000001" });
    let answer = harness.query_json(&project, "/api/breakdown", within).await;
    assert_eq!((&answer["rows"], &answer["data"][0]["meanMs"]), (&json!(1), &json!(80.0)), "{answer}");
    let none = harness.query_json(&project, "/api/breakdown", json!({ "entity": "task", "name": "nightly" })).await;
    assert_eq!((&none["rows"], &none["data"], &none["services"]), (&json!(0), &json!([]), &json!([])));
    harness.query(&project, "/api/breakdown", json!({ "entity": "log" })).await.expect(422);
    harness.query(&project, "/api/breakdown", json!({ "entity": "endpoint", "query": "duration>" })).await.expect(400);
}

#[tokio::test]
async fn the_latest_log_records_of_an_endpoint_are_those_of_its_traces() {
    let (harness, project) = carts().await;
    let record = |second: u64, trace: u64, body: &str| {
        let trace = if trace == 0 { String::new() } else { format!("{trace:032x}") };
        json!({ "timeUnixNano": (NOON_NS + second * 1_000_000_000).to_string(), "traceId": trace,
            "body": { "stringValue": body } })
    };
    let records =
        [record(3, 3, "three"), record(9, 9, "nine"), record(50, 77, "of another"), record(60, 0, "of no trace")];
    let logs = json!({ "resourceLogs": [{ "resource": resource("shop"), "scopeLogs": [{ "logRecords": records }] }] });
    harness.post_json("logs", &project.token, &logs).await.expect(200);
    let of = |more: Value| {
        let mut body = json!({ "entity": "endpoint", "name": "GET /cart" });
        body.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
        body
    };
    let answer = harness.query_json(&project, "/api/logs/of-entity", of(json!({}))).await;
    assert_eq!(column(&answer, "body"), [&json!("nine"), &json!("three")], "{answer}");
    assert_eq!((&answer["total"], &answer["rows"], &answer["searched"]), (&json!(2), &json!(40), &json!(40)));
    let answer = harness.query_json(&project, "/api/logs/of-entity", of(json!({ "limit": 1 }))).await;
    assert_eq!((column(&answer, "body"), &answer["total"]), (vec![&json!("nine")], &json!(2)));
    let third = json!({ "query": "trace:00000000000000000000000000000003" });
    let answer = harness.query_json(&project, "/api/logs/of-entity", of(third)).await;
    assert_eq!((column(&answer, "body"), &answer["rows"]), (vec![&json!("three")], &json!(1)));
    for wrong in [json!({ "limit": 0 }), json!({ "limit": 101 }), json!({ "entity": "issue" })] {
        harness.query(&project, "/api/logs/of-entity", of(wrong)).await.expect(422);
    }
}

// DECISIONS 8. The page queries the issues of a name with `owner`.
#[tokio::test]
async fn the_issues_of_an_endpoint_include_those_that_arrived_before_its_span() {
    let (mut harness, project) = Harness::with_project().await;
    let failing = |trace: u64| {
        made(trace, 1000 + trace, 1, "charge", trace as f64, 5.0).parent(trace).exception("PayError", "declined")
    };
    let other = request(9, "/other", 500, 9.0, 5.0).exception("OtherError", "no");
    let lost = made(8, 1008, 1, "charge", 8.0, 5.0).parent(7777).exception("LostError", "no parent");
    harness.send(&project, &[failing(1), failing(2), other, lost]).await;
    let list = async |harness: &Harness, query: &str| {
        let body = json!({ "query": query, "orderBy": "count" });
        let list = harness.query_json(&project, "/api/exception-stack-traces", body).await;
        let rows = list["data"].as_array().expect("issues").iter();
        let mut rows: Vec<String> =
            rows.map(|row| format!("{} {}", row["exceptionType"].as_str().expect("a type"), row["count"])).collect();
        rows.sort();
        rows
    };
    assert!(list(&harness, r#"owner:"GET /pay""#).await.is_empty());
    assert_eq!(list(&harness, "has:owner").await, ["OtherError 1"]);

    // One span of a request in a part, the other one in memory.
    harness.send(&project, &[request(1, "/pay", 500, 1.0, 9.0)]).await;
    assert_eq!(list(&harness, r#"owner:"GET /pay""#).await, ["PayError 1"]);
    harness.restart().await;
    harness.send(&project, &[request(2, "/pay", 500, 2.0, 9.0)]).await;
    for (query, expected) in [
        (r#"owner:"GET /pay""#, &["PayError 2"][..]),
        (r#"owner:"GET /other""#, &["OtherError 1"]),
        (r#"-owner:"GET /pay""#, &["LostError 1", "OtherError 1"]),
        ("owner:GET*", &["OtherError 1", "PayError 2"]),
        ("has:owner", &["OtherError 1", "PayError 2"]),
        ("-has:owner", &["LostError 1"]),
        (r#"owner:"GET /pay" type:OtherError"#, &[]),
        (r#"(owner:"GET /pay" OR type:LostError)"#, &["LostError 1", "PayError 2"]),
    ] {
        assert_eq!(list(&harness, query).await, expected, "{query}");
    }
    // In a range without the exceptions, none is found.
    let body = json!({ "query": "has:owner", "toDate": "2026-06-01T11:00:00Z" });
    let none = harness.query_json(&project, "/api/exception-stack-traces", body).await;
    assert_eq!(none["data"], json!([]));
}
