//! Surrounding log records, and exports of filtered logs, over HTTP.

use serde_json::{Value, json};

use tidewatch_domain::units;

use crate::harness::{Harness, Project, text};
use crate::requests::{NOON_NS, column};

fn record(time_ns: u64, body: &str) -> Value {
    json!({ "timeUnixNano": (NOON_NS + time_ns).to_string(), "severityNumber": 9, "body": { "stringValue": body } })
}

fn of(service: &str, instance: &str, records: &[Value]) -> Value {
    let mut attributes = vec![json!({ "key": "service.name", "value": { "stringValue": service } })];
    if !instance.is_empty() {
        attributes.push(json!({ "key": "service.instance.id", "value": { "stringValue": instance } }));
    }
    json!({ "resource": { "attributes": attributes }, "scopeLogs": [{ "logRecords": records }] })
}

async fn send(harness: &Harness, project: &Project, resources: &[Value]) {
    harness.post_json("logs", &project.token, &json!({ "resourceLogs": resources })).await.expect(200);
}

async fn named(harness: &Harness, project: &Project, body: &str) -> Value {
    let list = harness.query_json(project, "/api/logs", json!({ "query": format!("body=\"{body}\"") })).await;
    list["data"][0].clone()
}

async fn around(harness: &Harness, project: &Project, record: &Value, more: Value) -> Value {
    let mut body =
        json!({ "id": record["id"], "timestamp": record["timestamp"], "serviceName": record["serviceName"] });
    body.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    harness.query_json(project, "/api/logs/around", body).await
}

fn bodies(answer: &Value, side: &str) -> Vec<String> {
    column(&json!({ "data": answer[side] }), "body").into_iter().map(text).collect()
}

const HOUR: u64 = units::HOUR_NS as u64;

#[tokio::test]
async fn the_records_around_one_are_of_its_service_and_instance() {
    let (harness, project) = Harness::with_project().await;
    let of_a: Vec<Value> = (0..9).map(|n| record(n * 1000, &format!("a{n}"))).collect();
    let of_b: Vec<Value> = (0..9).map(|n| record(n * 1000 + 1, &format!("b{n}"))).collect();
    let far = [record(30 * HOUR, "a far"), record(HOUR, "a next")];
    let all = [of("shop", "a", &of_a), of("shop", "b", &of_b), of("mail", "", &of_b), of("shop", "a", &far)];
    send(&harness, &project, &all).await;

    let fourth = named(&harness, &project, "a4").await;
    let answer = around(&harness, &project, &fourth, json!({ "count": 2 })).await;
    assert_eq!(answer["record"], fourth);
    assert_eq!(answer["instance"], "a");
    assert_eq!((bodies(&answer, "before"), bodies(&answer, "after")), (strings(["a2", "a3"]), strings(["a5", "a6"])));
    assert_eq!((&answer["moreBefore"], &answer["moreAfter"]), (&json!(true), &json!(true)));

    let service = around(&harness, &project, &fourth, json!({ "count": 2, "sameInstance": false })).await;
    assert_eq!((bodies(&service, "before"), bodies(&service, "after")), (strings(["a3", "b3"]), strings(["b4", "a5"])));
    assert_eq!(service["instance"], Value::Null);

    // Records hours and days later are found too, and the ends are said.
    let eighth = named(&harness, &project, "a8").await;
    let answer = around(&harness, &project, &eighth, json!({})).await;
    assert_eq!(bodies(&answer, "after"), ["a next", "a far"]);
    assert_eq!(bodies(&answer, "before").len(), 8);
    assert_eq!((&answer["moreBefore"], &answer["moreAfter"]), (&json!(false), &json!(false)));
}

fn strings<const N: usize>(of: [&str; N]) -> Vec<String> {
    of.map(str::to_owned).to_vec()
}

/// Records of one nanosecond have a fixed order, also equal ones: walking on from each finds every record once.
#[tokio::test]
async fn records_of_equal_time_are_walked_in_one_order() {
    let (harness, project) = Harness::with_project().await;
    let mut records: Vec<Value> = (0..12).map(|n| record(5, &format!("same {n}"))).collect();
    records.extend((0..3).map(|_| record(5, "equal")));
    records.push(record(1, "first"));
    records.push(record(9, "last"));
    send(&harness, &project, &[of("shop", "", &records)]).await;
    let mut at = named(&harness, &project, "first").await;
    let mut walked = vec![text(&at["body"])];
    loop {
        let answer = around(&harness, &project, &at, json!({ "count": 2 })).await;
        let Some(next) = answer["after"].get(0) else { break };
        let back = around(&harness, &project, next, json!({ "count": 1 })).await;
        assert_eq!(back["before"][0], at, "the record before the next one");
        at = next.clone();
        walked.push(text(&at["body"]));
        assert!(walked.len() <= 17, "{walked:?}");
    }
    assert_eq!(walked.len(), 17, "{walked:?}");
    assert_eq!(walked.iter().filter(|body| *body == "equal").count(), 3);
    assert_eq!(walked.last().map(String::as_str), Some("last"));
}

#[tokio::test]
async fn invalid_requests_for_surrounding_records_are_refused() {
    let (harness, project) = Harness::with_project().await;
    send(&harness, &project, &[of("shop", "", &[record(1, "one")])]).await;
    let one = named(&harness, &project, "one").await;
    for (change, status) in [
        (json!({}), 200),
        (json!({ "id": "00000000-0000-0000-0000-000000000000" }), 404),
        (json!({ "serviceName": "mail" }), 404),
        (json!({ "timestamp": "yesterday" }), 400),
        (json!({ "count": 0 }), 422),
        (json!({ "count": 101 }), 422),
    ] {
        let mut body = json!({ "id": one["id"], "timestamp": one["timestamp"], "serviceName": "shop" });
        body.as_object_mut().expect("an object").extend(change.as_object().expect("an object").clone());
        assert_eq!(harness.query(&project, "/api/logs/around", body).await.status, status, "{change}");
    }
}

#[tokio::test]
async fn an_export_of_logs_holds_what_the_filter_holds() {
    let (harness, project) = Harness::with_project().await;
    let other = harness.project("other").await;
    let records: Vec<Value> = (0..300).map(|n| record(n, &format!("line, \"{n}\""))).collect();
    send(&harness, &project, &[of("shop", "a", &records), of("mail", "", &[record(1, "line of mail")])]).await;
    send(&harness, &other, &[of("shop", "a", &[record(1, "line of another project")])]).await;
    let path = |format: &str| format!("/api/logs/export?projectId={}&format={format}", project.id);
    let of_day = |query: &str| {
        json!({ "fromDate": "2026-06-01T00:00:00Z", "toDate": "2026-06-02T00:00:00Z", "query": query,
            "pagination": { "page": 1, "pageSize": 10 } })
    };
    let filter = of_day("service:shop line");
    let answer = harness.api("POST", &path("ndjson"), &filter).await.expect(200);
    assert_eq!(answer.header("content-type"), Some("application/x-ndjson"));
    assert_eq!(answer.header("content-disposition"), Some("attachment; filename=\"logs.ndjson\""));
    let exported = String::from_utf8(answer.body).expect("UTF-8");
    let mut bodies: Vec<String> = exported
        .lines()
        .map(|line| text(&serde_json::from_str::<Value>(line).expect("a JSON object")["body"]))
        .collect();
    bodies.sort();
    let mut expected: Vec<String> = (0..300).map(|n| format!("line, \"{n}\"")).collect();
    expected.sort();
    assert_eq!(bodies, expected);

    let answer = harness.api("POST", &path("csv"), &of_day("body:*mail")).await.expect(200);
    assert_eq!(answer.header("content-type"), Some("text/csv; charset=utf-8"));
    let exported = String::from_utf8(answer.body).expect("UTF-8");
    let lines: Vec<&str> = exported.lines().collect();
    assert_eq!(lines.len(), 2, "{exported}");
    assert!(lines[0].contains("body") && lines[1].contains("line of mail"), "{exported}");

    harness.api("POST", &path("xml"), &filter).await.expect(400);
    harness.api("POST", &path("parquet"), &filter).await.expect(400);
    harness.api("POST", &path("csv"), &json!({ "query": "level:none" })).await.expect(400);
    let long = json!({ "fromDate": "2026-01-01T00:00:00Z", "toDate": "2026-06-08T00:00:00Z", "search": "x" });
    harness.api("POST", &path("csv"), &long).await.expect(422);
}
