//! Spans and distributed traces over the API. Spec: span, rules 1 to 5; WIRE 8.8.

use serde_json::{Value, json};

use crate::harness::{Harness, Project};
use crate::requests::{CLIENT, CONSUMER, NOON, SERVER, at, column, export, made, request};

fn trace(number: u64) -> String {
    format!("{number:032x}")
}

/// One trace over two services and two projects: front, back.
pub async fn chain() -> (Harness, Project, Project) {
    let (harness, front) = Harness::with_project().await;
    let back = harness.project("back").await;
    let web = [
        request(1, "/cart", 200, 0.0, 100.0),
        made(1, 2, CLIENT, "POST", 0.01, 80.0).parent(1).with("tenant", "acme"),
        made(7, 7, SERVER, "GET", 5.0, 1.0).with("http.request.method", "GET").with("http.route", "/alone").failed(),
    ];
    harness.post_json("traces", &front.token, &export("web", &web)).await.expect(200);
    let api = [
        made(1, 3, SERVER, "POST", 0.02, 60.0).parent(2).with("http.request.method", "POST").with("http.route", "/pay"),
        made(1, 4, 1, "charge", 0.03, 20.0).parent(3).exception("PayError", "declined"),
        made(1, 5, CONSUMER, "mail.send", 0.05, 10.0).parent(4),
        made(1, 6, 1, "render", 0.051, 5.0).parent(5),
    ];
    harness.post_json("traces", &back.token, &export("api", &api)).await.expect(200);
    (harness, front, back)
}

#[tokio::test]
async fn spans_are_listed_and_filtered() {
    let (harness, front, _) = chain().await;
    let list = harness.query_json(&front, "/api/spans", json!({})).await;
    assert_eq!((&list["pagination"]["total"], &list["services"]), (&json!(3), &json!(["web"])));
    let ids = |list: &Value| -> Vec<u64> {
        let hex = column(list, "spanId");
        hex.iter().map(|id| u64::from_str_radix(id.as_str().unwrap(), 16).unwrap()).collect()
    };
    assert_eq!(ids(&list), [7, 2, 1], "latest first");
    let root = &list["data"][2];
    assert_eq!(
        (&root["isEndpoint"], &root["entityName"], &root["httpStatus"]),
        (&json!(true), &json!("GET /cart"), &json!(200))
    );
    for (body, expected) in [
        (json!({ "orderBy": "duration", "sortDirection": "asc" }), vec![7, 2, 1]),
        (json!({ "serviceName": "api" }), vec![]),
        (json!({ "name": "pos" }), vec![2]),
        (json!({ "traceId": trace(1) }), vec![2, 1]),
        (json!({ "kind": 2 }), vec![7, 1]),
        (json!({ "status": 2 }), vec![7]),
        (json!({ "minDurationMs": 80, "maxDurationMs": 99.5 }), vec![2]),
        (json!({ "rootsOnly": true }), vec![7, 1]),
        (json!({ "attributeFilters": [{ "key": "tenant", "value": "acme" }] }), vec![2]),
        (json!({ "attributeFilters": [{ "key": "service.name", "value": "web" }], "kind": 3 }), vec![2]),
        (json!({ "pagination": { "page": 2, "pageSize": 2 } }), vec![1]),
    ] {
        assert_eq!(ids(&harness.query_json(&front, "/api/spans", body.clone()).await), expected, "{body}");
    }
    for (body, status) in [(json!({ "kind": 6 }), 422), (json!({ "traceId": "7" }), 400)] {
        assert_eq!(harness.query(&front, "/api/spans", body.clone()).await.status, status, "{body}");
    }
}

// A list of roots is a list of traces: one span of the trace must match service and attributes.
#[tokio::test]
async fn traces_are_found_by_any_of_their_spans() {
    let (harness, project) = Harness::with_project().await;
    let web = [request(20, "/orders", 200, 0.0, 100.0), request(21, "/other", 200, 5.0, 1.0)];
    harness.post_json("traces", &project.token, &export("web", &web)).await.expect(200);
    // The second span starts after the end of a range that ends with its root.
    let billing = [
        made(20, 30, CLIENT, "charge", 0.01, 80.0).parent(20).with("region", "eu"),
        made(21, 31, CLIENT, "refund", 30.0, 1.0).parent(21).with("tier", "gold"),
        made(20, 32, 1, "log", 0.02, 1.0).parent(30).with("tier", "gold"),
    ];
    harness.post_json("traces", &project.token, &export("billing", &billing)).await.expect(200);
    for (body, expected) in [
        (json!({ "serviceName": "billing" }), vec!["/other", "/orders"]),
        (json!({ "attributeFilters": [{ "key": "region", "value": "eu" }] }), vec!["/orders"]),
        (
            json!({ "serviceName": "billing", "attributeFilters": [{ "key": "region", "value": "eu" }] }),
            vec!["/orders"],
        ),
        (json!({ "serviceName": "web", "attributeFilters": [{ "key": "region", "value": "eu" }] }), vec![]),
        // One span must match all conditions.
        (
            json!({ "attributeFilters": [{ "key": "region", "value": "eu" }, { "key": "tier", "value": "gold" }] }),
            vec![],
        ),
        (json!({ "attributeFilters": [{ "key": "http.route", "value": "/other" }] }), vec!["/other"]),
        (
            json!({ "attributeFilters": [{ "key": "tier", "value": "gold" }], "toDate": "2026-06-01T12:00:10Z" }),
            vec!["/other", "/orders"],
        ),
        // All other conditions apply to the root.
        (json!({ "serviceName": "billing", "minDurationMs": 50 }), vec!["/orders"]),
        (json!({ "serviceName": "billing", "kind": CLIENT }), vec![]),
    ] {
        let mut whole = json!({ "rootsOnly": true });
        whole.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
        let list = harness.query_json(&project, "/api/spans", whole).await;
        let routes: Vec<&Value> = column(&list, "attributes").iter().map(|one| &one["http.route"]).collect();
        assert_eq!(routes, expected, "{body}");
        assert_eq!(list["isPartial"], false);
        assert_eq!(list["pagination"]["total"], expected.len());
    }
    let all = json!({ "serviceName": "billing" });
    assert_eq!(harness.query_json(&project, "/api/spans", all).await["pagination"]["total"], 3, "of all spans, these");
}

// A search that reaches the limit on matches is marked partial; roots that match themselves are all listed.
#[tokio::test]
async fn a_search_beyond_its_match_limit_is_marked_partial() {
    let (harness, project) = Harness::with_project().await;
    let limit = tidewatch_limits::TRACE_MATCHES_MAX as u64;
    let spans = [
        request(1 << 40, "/early", 200, 0.0, 1.0),
        made(1 << 40, 1 << 42, CLIENT, "call", 0.1, 1.0).parent(1 << 40).with("job", "bulk"),
        request(1 << 41, "/own", 200, 0.0, 1.0).with("job", "bulk"),
    ];
    harness.send(&project, &spans).await;
    for part in 0..3 {
        let of_part = (0..limit / 3 + 1).map(|n| of_job("bulk", part * limit + n)).collect();
        let body = crate::otlp::traces(of_part);
        harness.post_otlp("traces", &project.token, &[crate::otlp::PROTOBUF], &body).await.expect(200);
    }
    let body = json!({ "rootsOnly": true, "attributeFilters": [{ "key": "job", "value": "bulk" }] });
    let list = harness.query_json(&project, "/api/spans", body).await;
    let routes: Vec<&Value> = column(&list, "attributes").iter().map(|one| &one["http.route"]).collect();
    assert_eq!((&list["isPartial"], routes), (&json!(true), vec![&json!("/own")]));
}

/// A span that starts ten seconds after noon, below a parent that is not stored.
fn of_job(job: &str, number: u64) -> opentelemetry_proto::tonic::trace::v1::Span {
    use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value};
    let mut span = crate::otlp::span(number);
    span.start_time_unix_nano += 10_000_000_000;
    span.end_time_unix_nano += 10_000_000_000;
    let value = Some(AnyValue { value: Some(any_value::Value::StringValue(job.to_owned())) });
    span.attributes.push(KeyValue { key: "job".to_owned(), value, ..KeyValue::default() });
    span
}

/// A list covers the project's retention and the current day.
#[tokio::test]
async fn spans_are_listed_over_the_whole_retention() {
    let (harness, front, _) = chain().await;
    let keep = async |days: u32| {
        let change = json!({ "retentionDays": days });
        harness.api("PUT", &at("/api/projects", &front), &change).await.expect(200);
    };
    for (days, to, status) in [
        (7, "2026-07-03T00:00:00Z", 200),
        (7, "2026-07-03T00:00:01Z", 422),
        (90, "2026-08-31T00:00:00Z", 200),
        (90, "2026-08-31T00:00:01Z", 422),
        (365, "2027-06-02T00:00:00Z", 200),
    ] {
        keep(days).await;
        assert_eq!(harness.query(&front, "/api/spans", json!({ "toDate": to })).await.status, status, "{days} {to}");
    }
}

#[tokio::test]
async fn one_span_has_all_its_details() {
    let (harness, front, back) = chain().await;
    let path = format!("/api/spans/{}/{:016x}", trace(1), 2);
    let span = harness.got(&front, &format!("{path}?at={NOON}")).await;
    assert_eq!((&span["name"], &span["attributes"]["tenant"]), (&json!("POST"), &json!("acme")));
    assert_eq!(span["resourceAttributes"], json!({ "service.name": "web" }));
    assert_eq!(harness.got(&front, &path).await, span, "in all time too");
    harness.api("GET", &at(&path, &back), &Value::Null).await.expect(404);
    harness.api("GET", &at(&format!("{path}?at=then"), &front), &Value::Null).await.expect(400);
}

// Spec: span, rule 5: rows with the same trace id form one trace across services and projects.
#[tokio::test]
async fn a_distributed_trace_covers_the_projects_the_caller_may_read() {
    let (harness, front, back) = chain().await;
    let path = format!("/api/distributed-traces/{}", trace(1));
    for body in [json!({ "recordedAt": NOON }), json!({})] {
        let found = harness.query_json(&front, &path, body).await;
        assert_eq!(found["traceId"], json!(trace(1)));
        let depths: Vec<&Value> = found["spans"].as_array().unwrap().iter().map(|span| &span["depth"]).collect();
        assert_eq!(depths, [0, 1, 2, 3, 4, 5], "one tree across both projects");
        assert_eq!(found["spanGraphStatus"]["state"], "complete");
        let nodes = found["nodes"].as_array().unwrap();
        let parents: Vec<(&Value, &Value, &Value)> =
            nodes.iter().map(|node| (&node["traceType"], &node["projectId"], &node["parentEntitySpanId"])).collect();
        let (first, third) = (format!("{:016x}", 1), format!("{:016x}", 3));
        assert_eq!(
            parents,
            [
                (&json!("endpoint"), &json!(front.id), &json!("")),
                (&json!("endpoint"), &json!(back.id), &json!(first)),
                (&json!("task"), &json!(back.id), &json!(third)),
            ]
        );
        assert_eq!(nodes[1]["endpoint"]["endpoint"], "POST /pay");
        let names: Vec<&Value> = nodes[1]["spans"].as_array().unwrap().iter().map(|span| &span["name"]).collect();
        assert_eq!(names, ["POST", "charge"], "what belongs to no nearer entity");
        assert!(nodes[1]["exception"]["stackTrace"].as_str().unwrap().contains("declined"));
        assert_eq!((&nodes[0]["exception"], &nodes[2]["exception"]), (&Value::Null, &Value::Null));
        assert_eq!(found["exceptions"][0]["ownerName"], "POST /pay");
        let projects = json!([{ "id": front.id, "name": "first" }, { "id": back.id, "name": "back" }]);
        assert_eq!(found["projects"], projects);
    }
    let dashed = "00000000-0000-0000-0000-000000000001";
    harness.query(&front, &format!("/api/distributed-traces/{dashed}"), json!({})).await.expect(200);
    harness.query(&front, &path, json!({ "recordedAt": "noonish" })).await.expect(400);
    harness.query(&front, "/api/distributed-traces/1", json!({})).await.expect(400);
    harness.query(&front, &format!("/api/distributed-traces/{}", trace(99)), json!({})).await.expect(404);
    harness.query(&front, &path, json!({ "recordedAt": "2026-06-03T12:00:01Z" })).await.expect(404);
}

// Spec: span, rule 4: graph limits; the status names the reason.
#[tokio::test]
async fn a_graph_shows_at_most_its_span_limit_and_always_the_opened_span() {
    let (harness, project) = Harness::with_project().await;
    let limit = tidewatch_limits::GRAPH_SPANS_MAX as u64;
    for part in 0..2 {
        let of_part = (0..limit / 2 + 1).map(|n| crate::otlp::span(part * limit + n)).collect();
        let body = crate::otlp::traces(of_part);
        harness.post_otlp("traces", &project.token, &[crate::otlp::PROTOBUF], &body).await.expect(200);
    }
    let last = request(1 << 40, "/late", 200, 60.0, 1.0).of_trace(&"ab".repeat(16));
    harness.send(&project, &[last]).await;
    let list = harness.query_json(&project, "/api/endpoints", json!({})).await;
    let path = format!("/api/endpoints/{}", list["data"][0]["id"].as_str().unwrap());
    let detail = harness.query_json(&project, &path, json!({ "recordedAt": NOON })).await;
    let status = &detail["spanGraphStatus"];
    assert_eq!(
        (&status["state"], &status["shown"], &status["total"]),
        (&json!("partial"), &json!(limit), &json!(limit + 3))
    );
    assert!(status["reasons"].as_array().unwrap().contains(&json!("span_limit")), "{status}");
    assert!(detail["spans"].as_array().unwrap().iter().any(|span| span["entityName"] == "GET /late"));
}
