//! Logs over the API. Spec: logs mapping; WIRE 8.4.

use serde_json::{Value, json};

use crate::harness::{Harness, Project, text};
use crate::requests::{FROM, NOON_NS, column, request, resource};

fn record(second: u64, severity: u64, body: &str) -> Value {
    let time = (NOON_NS + second * 1_000_000_000).to_string();
    json!({ "timeUnixNano": time, "severityNumber": severity, "body": { "stringValue": body }, "attributes": [] })
}

fn of_span(mut record: Value, trace: u64, span: u64) -> Value {
    record["traceId"] = format!("{trace:032x}").into();
    if span != 0 {
        record["spanId"] = format!("{span:016x}").into();
    }
    record
}

async fn logs() -> (Harness, Project) {
    let (harness, project) = Harness::with_project().await;
    let mut tagged = record(4, 9, "order placed");
    tagged["attributes"] = json!([{ "key": "tenant", "value": { "stringValue": "acme" } }]);
    let shop = [
        of_span(record(1, 17, "payment Declined"), 1, 1),
        of_span(record(2, 9, "in the trace only"), 1, 0),
        of_span(record(3, 13, "another trace"), 2, 2),
        tagged,
    ];
    let lib = json!({ "name": "lib", "attributes": [{ "key": "lib.lang", "value": { "stringValue": "rust" } }] });
    let export = json!({ "resourceLogs": [
        { "resource": resource("shop"), "scopeLogs": [{ "scope": { "name": "app" }, "logRecords": shop }] },
        { "resource": resource("mail"), "scopeLogs": [{ "scope": lib, "logRecords": [record(5, 0, "no severity")] }] },
    ] });
    harness.post_json("logs", &project.token, &export).await.expect(200);
    (harness, project)
}

#[tokio::test]
async fn logs_are_listed_and_filtered() {
    let (harness, project) = logs().await;
    let list = harness.query_json(&project, "/api/logs", json!({})).await;
    assert_eq!(list["pagination"]["total"], 5);
    let first = &list["data"][4];
    assert_eq!((&first["body"], &first["severityText"]), (&json!("payment Declined"), &json!("ERROR")));
    assert_eq!((&first["serviceName"], &first["scopeName"]), (&json!("shop"), &json!("app")));
    assert_eq!(first["resourceAttributes"], json!({ "service.name": "shop" }));
    assert_eq!(first["timestamp"], "2026-06-01T12:00:01Z");
    let again = harness.query_json(&project, "/api/logs", json!({})).await;
    assert_eq!(column(&list, "id"), column(&again, "id"), "ids stay");

    let trace = format!("{:032x}", 1);
    for (body, expected) in [
        (json!({ "search": "declined" }), vec!["payment Declined"]),
        (json!({ "search": "ACME", "searchType": "attribute" }), vec!["order placed"]),
        // Attributes of the scope and of the resource match too.
        (json!({ "search": "RUST", "searchType": "attribute" }), vec!["no severity"]),
        (json!({ "search": "mai", "searchType": "attribute" }), vec!["no severity"]),
        (
            json!({ "search": "shop", "searchType": "attribute", "minSeverity": 13 }),
            vec!["another trace", "payment Declined"],
        ),
        (json!({ "search": "service.name", "searchType": "attribute" }), vec![]),
        (json!({ "minSeverity": 13 }), vec!["another trace", "payment Declined"]),
        (json!({ "serviceName": "mail" }), vec!["no severity"]),
        (json!({ "traceId": trace }), vec!["in the trace only", "payment Declined"]),
        // Spec: logs mapping: the Logs tab shows records that carry both ids.
        (json!({ "traceId": trace, "linkedOnly": true }), vec!["payment Declined"]),
        (json!({ "linkedOnly": true, "sortDirection": "asc" }), vec!["payment Declined", "another trace"]),
        (json!({ "spanId": format!("{:016x}", 2) }), vec!["another trace"]),
        (json!({ "minSeverity": 9, "excludeTraceId": trace }), vec!["order placed", "another trace"]),
        (json!({ "attributeFilters": [{ "scope": "log", "key": "tenant", "value": "acme" }] }), vec!["order placed"]),
        (json!({ "attributeFilters": [{ "key": "tenant", "value": "other" }] }), vec![]),
        // Without a scope, the attribute matches at every level.
        (json!({ "attributeFilters": [{ "key": "tenant", "value": "acme" }] }), vec!["order placed"]),
        (json!({ "attributeFilters": [{ "key": "service.name", "value": "mail" }] }), vec!["no severity"]),
        (json!({ "attributeFilters": [{ "scope": "any", "key": "lib.lang", "value": "rust" }] }), vec!["no severity"]),
        (json!({ "attributeFilters": [{ "scope": "log", "key": "service.name", "value": "mail" }] }), vec![]),
        (
            json!({ "attributeFilters": [{ "scope": "resource", "key": "service.name", "value": "mail" }] }),
            vec!["no severity"],
        ),
        (json!({ "pagination": { "page": 2, "pageSize": 2 } }), vec!["another trace", "in the trace only"]),
    ] {
        let list = harness.query_json(&project, "/api/logs", body.clone()).await;
        assert_eq!(column(&list, "body"), expected, "{body}");
    }
}

#[tokio::test]
async fn a_body_search_over_days_requires_another_filter() {
    let (harness, project) = logs().await;
    let long = "2026-06-08T00:00:00Z";
    for (body, status) in [
        (json!({ "toDate": long, "search": "x" }), 422),
        (json!({ "toDate": long, "search": "x", "serviceName": "shop" }), 200),
        (json!({ "toDate": long, "search": "x", "minSeverity": 9 }), 200),
        (json!({ "toDate": long, "search": "x", "searchType": "attribute" }), 200),
        (json!({ "toDate": long }), 200),
        (json!({ "minSeverity": 25 }), 422),
        (json!({ "traceId": "abc" }), 400),
        (json!({ "searchType": "all" }), 400),
        (json!({ "fromDate": long, "toDate": FROM }), 422),
    ] {
        let answer = harness.query(&project, "/api/logs", body.clone()).await;
        assert_eq!(answer.status, status, "{body}");
    }
}

#[tokio::test]
async fn the_histogram_counts_by_severity_and_service() {
    let (harness, project) = logs().await;
    let body = json!({ "fromDate": "2026-06-01T12:00:00Z", "toDate": "2026-06-01T12:30:00Z", "serviceName": "shop" });
    let histogram = harness.query_json(&project, "/api/logs/histogram", body).await;
    let counts = json!({ "ERROR": 1, "INFO": 2, "WARN": 1 });
    assert_eq!(histogram["buckets"], json!([{ "timestamp": "2026-06-01T12:00:00Z", "counts": counts }]));
    assert_eq!(histogram["intervalMinutes"], 1);
    let services = json!([{ "name": "shop", "count": 4 }, { "name": "mail", "count": 1 }]);
    assert_eq!(histogram["services"], services, "of all services, so that one can be picked");
}

/// The logs of a trace across several projects are those of all projects that the person may read.
#[tokio::test]
async fn logs_of_a_trace_come_from_every_project_the_caller_may_read() {
    let (harness, project) = logs().await;
    let other = harness.project("other").await;
    let log = json!({ "resourceLogs": [{ "resource": resource("billing"), "scopeLogs": [{ "logRecords": [{
        "timeUnixNano": (NOON_NS + 5_000_000_000).to_string(), "body": { "stringValue": "billed" },
        "traceId": format!("{:032x}", 1), "spanId": format!("{:016x}", 9),
    }] }] }] });
    harness.post_json("logs", &other.token, &log).await.expect(200);
    let body = json!({ "traceId": format!("{:032x}", 1), "linkedOnly": true, "sortDirection": "asc" });
    let alone = harness.query_json(&project, "/api/logs", body.clone()).await;
    assert_eq!(column(&alone, "body"), ["payment Declined"]);
    let all = json!({ "allProjects": true, "traceId": body["traceId"], "linkedOnly": true, "sortDirection": "asc" });
    let list = harness.query_json(&project, "/api/logs", all.clone()).await;
    assert_eq!(column(&list, "body"), ["payment Declined", "billed"]);
    let projects: Vec<&Value> = column(&list, "project").into_iter().map(|project| &project["id"]).collect();
    assert_eq!(projects, [&json!(project.id), &json!(other.id)]);

    // Logs of the same trace in another person's project are not shown.
    let stranger = harness.stranger().await;
    let path = "/api/projects";
    let theirs = harness.api_as(&stranger, "POST", path, &json!({ "name": "theirs" })).await.expect(201).json();
    let body = json!({ "fromDate": FROM, "traceId": body["traceId"], "allProjects": true });
    let path = format!("/api/logs?projectId={}", text(&theirs["id"]));
    let seen = harness.api_as(&stranger, "POST", &path, &body).await.expect(200).json();
    assert_eq!(column(&seen, "body"), [] as [&Value; 0]);
    harness.query(&project, "/api/logs", json!({ "allProjects": true })).await.expect(422);
}

// WIRE 8.4 and 1.10: a distributed trace is the trace with the id and those that requests link with it.
#[tokio::test]
async fn records_of_a_distributed_trace_are_those_of_all_its_traces() {
    let (harness, project) = logs().await;
    let page = format!("{:032x}", 1);
    let linked = request(2, "/cart", 200, 1.0, 5.0).with("traceway.distributed_trace_id", &page);
    let other = request(3, "/other", 200, 1.0, 5.0);
    harness.send(&project, &[linked, other]).await;
    let of = |body: Value| {
        let (harness, project) = (&harness, &project);
        async move { harness.query_json(project, "/api/logs", body).await }
    };
    let own = ["in the trace only", "payment Declined"];
    let all = ["another trace", "in the trace only", "payment Declined"];
    for (id, expected) in [(1, &all[..]), (2, &all), (3, &[])] {
        let id = format!("{id:032x}");
        let list = of(json!({ "distributedTraceId": id })).await;
        assert_eq!(column(&list, "body"), expected, "{id}");
    }
    let dashed = "00000000-0000-0000-0000-000000000001";
    let rest = of(json!({ "distributedTraceId": dashed, "excludeTraceId": format!("{:032x}", 2) })).await;
    assert_eq!(column(&rest, "body"), own);
    let body = json!({ "distributedTraceId": page });
    let counted = harness.query_json(&project, "/api/logs/histogram", body.clone()).await;
    assert_eq!(counted["services"], json!([{ "name": "shop", "count": 3 }]));
    let exported = harness.query(&project, "/api/logs/export", body).await.expect(200);
    assert_eq!(String::from_utf8_lossy(&exported.body).lines().count(), 3);
    harness.query(&project, "/api/logs", json!({ "distributedTraceId": "abc" })).await.expect(400);
    harness.query(&project, "/api/logs", json!({ "distributedTraceId": page, "allProjects": true })).await.expect(200);
}
