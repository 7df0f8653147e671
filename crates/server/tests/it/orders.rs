//! Every list that takes `orderBy`: the OpenAPI document names its orders, each of them is accepted, and any other name
//! is refused with a message that names all of them.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tidewatch_server::http::routes;

use crate::harness::{Harness, Project};
use crate::requests::{CLIENT, CONSUMER, at, column, made, request};

/// The lists, with a name in the query where one is required. The pages offer only orders of these lists: they take the
/// names from the types generated from the document.
const LISTS: [(&str, &str, &str); 22] = [
    ("post", "/api/endpoints", ""),
    ("post", "/api/endpoints/grouped", ""),
    ("post", "/api/endpoints/endpoint", "endpoint=GET%20/a"),
    ("post", "/api/traces/search", ""),
    ("post", "/api/tasks", ""),
    ("post", "/api/tasks/grouped", ""),
    ("post", "/api/tasks/task", "task=mail.send"),
    ("post", "/api/ai-traces", ""),
    ("post", "/api/ai-traces/grouped", ""),
    ("post", "/api/ai-traces/trace", "trace=chat"),
    ("post", "/api/ai-conversations/grouped", ""),
    ("post", "/api/ai-users/grouped", ""),
    ("post", "/api/exception-stack-traces", ""),
    ("post", "/api/logs", ""),
    ("post", "/api/logs/export", ""),
    ("post", "/api/logs/histogram", ""),
    ("post", "/api/logs/patterns", ""),
    ("post", "/api/profiles/grouped", ""),
    ("post", "/api/profiles/top", ""),
    ("post", "/api/sessions", ""),
    ("post", "/api/spans", ""),
    ("get", "/api/symbols", ""),
];

async fn shop() -> (Harness, Project) {
    let (harness, project) = Harness::with_project().await;
    let spans = [
        request(1, "/a", 200, 1.0, 100.0),
        request(2, "/b", 500, 2.0, 50.0).failed().exception("Error", "no"),
        made(3, 3, CONSUMER, "mail.send", 3.0, 30.0),
        made(4, 4, CONSUMER, "mail.read", 4.0, 60.0).failed(),
        made(5, 5, CLIENT, "chat", 5.0, 10.0).with("gen_ai.request.model", "m").with("gen_ai.operation.name", "chat"),
    ];
    harness.send(&project, &spans).await;
    (harness, project)
}

/// The orders of every operation that has `orderBy`, by method and path.
fn documented() -> BTreeMap<(String, String), Vec<String>> {
    let document = serde_json::to_value(routes::generate_document()).expect("a document is JSON");
    let mut found = BTreeMap::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("operations") {
            let body = &operation["requestBody"]["content"]["application/json"]["schema"];
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            let parameter = parameters.filter(|one| one["name"] == "orderBy").map(|one| &one["schema"]).next();
            if let Some(schema) = property(&document, body, "orderBy").or(parameter) {
                let mut names = Vec::new();
                enumerated(&document, schema, &mut names);
                found.insert((method.clone(), path.clone()), names);
            }
        }
    }
    found
}

fn resolved<'d>(document: &'d Value, schema: &'d Value) -> &'d Value {
    let Some(reference) = schema["$ref"].as_str() else { return schema };
    document.pointer(reference.trim_start_matches('#')).expect("every reference leads somewhere")
}

fn property<'d>(document: &'d Value, schema: &'d Value, name: &str) -> Option<&'d Value> {
    let schema = resolved(document, schema);
    let parts = schema["allOf"].as_array().into_iter().flatten();
    schema["properties"].get(name).or_else(|| parts.filter_map(|part| property(document, part, name)).next())
}

/// The values of an enum that may be null.
fn enumerated(document: &Value, schema: &Value, into: &mut Vec<String>) {
    let schema = resolved(document, schema);
    let values = schema["enum"].as_array().into_iter().flatten();
    into.extend(values.filter_map(Value::as_str).map(str::to_owned));
    for part in schema["oneOf"].as_array().into_iter().flatten() {
        enumerated(document, part, into);
    }
}

#[tokio::test]
async fn every_documented_order_of_every_list_is_accepted_and_no_other() {
    let (harness, project) = shop().await;
    let documented = documented();
    let listed: Vec<_> = LISTS.iter().map(|(method, path, _)| ((*method).to_owned(), (*path).to_owned())).collect();
    assert_eq!(documented.len(), listed.len(), "{:?}", documented.keys());
    for ((method, path, query), list) in LISTS.iter().zip(&listed) {
        let orders = documented.get(list).unwrap_or_else(|| panic!("{list:?} has no orderBy"));
        assert!(!orders.is_empty(), "{list:?} names no orders");
        let list_by = async |order: &str, direction: &str| {
            let path = if query.is_empty() { (*path).to_owned() } else { format!("{path}?{query}") };
            match *method {
                "get" => {
                    let path = format!("{}&orderBy={order}&sortDirection={direction}", at(&path, &project));
                    harness.api("GET", &path, &Value::Null).await
                }
                _ => {
                    // Functions are those of one type of a service, the most expensive first.
                    let profile_type = "go:profile_cpu:nanoseconds";
                    let body = match path == "/api/profiles/top" {
                        true => json!({ "orderBy": order, "serviceName": "shop", "type": profile_type }),
                        false => json!({ "orderBy": order, "sortDirection": direction }),
                    };
                    harness.query(&project, &path, body).await
                }
            }
        };
        for order in orders {
            for direction in ["asc", "desc"] {
                let answer = list_by(order, direction).await;
                assert_eq!(answer.status, 200, "{path} by {order} {direction}: {}", answer.json());
            }
        }
        assert_eq!(list_by("", "desc").await.status, 200, "{path} in no order");
        // They have the body of the list, but ignore the order.
        if ["/api/logs/export", "/api/logs/histogram", "/api/logs/patterns"].contains(path) {
            continue;
        }
        let refused = list_by("colour", "desc").await;
        assert_eq!(refused.status, 400, "{path}");
        assert_eq!(refused.json()["error"], format!("orderBy is one of {}", orders.join(", ")), "{path}");
    }
}

#[tokio::test]
async fn groups_are_sorted_by_every_order() {
    let (harness, project) = shop().await;
    // The first of two groups in ascending order.
    for (path, field, first) in [
        (
            "/api/endpoints/grouped",
            "endpoint",
            [
                ("impact", "GET /a"),
                ("p50_duration", "GET /b"),
                ("p95_duration", "GET /b"),
                ("p99_duration", "GET /b"),
                ("avg_duration", "GET /b"),
                ("last_seen", "GET /a"),
                ("endpoint", "GET /a"),
                ("error_rate", "GET /a"),
                ("server_error_rate", "GET /a"),
            ]
            .as_slice(),
        ),
        (
            "/api/tasks/grouped",
            "taskName",
            [
                ("p50_duration", "mail.send"),
                ("p95_duration", "mail.send"),
                ("p99_duration", "mail.send"),
                ("avg_duration", "mail.send"),
                ("last_seen", "mail.send"),
                ("task", "mail.read"),
                ("task_name", "mail.read"),
                ("error_rate", "mail.send"),
            ]
            .as_slice(),
        ),
    ] {
        for (order, name) in first {
            let ascending =
                harness.query_json(&project, path, json!({ "orderBy": order, "sortDirection": "asc" })).await;
            let descending = harness.query_json(&project, path, json!({ "orderBy": order })).await;
            assert_eq!(column(&ascending, field)[0], name, "{path} by {order}");
            assert_eq!(column(&descending, field)[1], name, "{path} by {order}, descending");
        }
    }
}
