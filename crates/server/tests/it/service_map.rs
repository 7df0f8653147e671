//! `POST /api/services/map` and `/api/services/detail`: who calls whom, counted by the caller. docs/use/services.md.

use serde_json::{Value, json};

use crate::harness::{Harness, Project};
use crate::requests::{CLIENT, CONSUMER, Made, SERVER, export, made};

const PRODUCER: u8 = 4;

async fn send(harness: &Harness, project: &Project, service: &str, spans: &[Made]) {
    harness.post_json("traces", &project.token, &export(service, spans)).await.expect(200);
}

/// Ten calls of `web` to `cart` over one address, a root request of each; every second call fails.
fn callers() -> Vec<Made> {
    (1..=10)
        .flat_map(|n| {
            let call = made(n, n + 100, CLIENT, "GET", 1.0, 20.0)
                .parent(n)
                .with("http.request.method", "GET")
                .with("server.address", "cart.internal")
                .with_int("server.port", 8080);
            let root = made(n, n, SERVER, "GET /", 0.0, 30.0).with("http.route", "/");
            [root, if n % 2 == 0 { call.failed() } else { call }]
        })
        .collect()
}

/// The requests that `cart` serves of the first `count` calls; each queries a database and sends a message.
fn callees(count: u64) -> Vec<Made> {
    (1..=count)
        .flat_map(|n| {
            [
                made(n, n + 200, SERVER, "GET /cart", 1.0, 10.0).parent(n + 100).with("http.route", "/cart"),
                made(n, n + 300, CLIENT, "SELECT", 1.0, 4.0)
                    .parent(n + 200)
                    .with("db.system.name", "postgresql")
                    .with("db.namespace", "shop"),
                made(n, n + 400, PRODUCER, "send", 1.0, 1.0)
                    .parent(n + 200)
                    .with("messaging.system", "kafka")
                    .with("messaging.destination.name", "orders"),
            ]
        })
        .collect()
}

fn consumers() -> Vec<Made> {
    let consumer = |n| {
        made(n, n + 500, CONSUMER, "process", 2.0, 5.0)
            .parent(n + 400)
            .with("messaging.system", "kafka")
            .with("messaging.destination.name", "orders")
    };
    (1..=3).map(consumer).collect()
}

fn outside() -> Vec<Made> {
    let call = made(1, 600, CLIENT, "POST", 1.5, 7.0).parent(201).with("url.full", "https://api.stripe.com/v1/charges");
    vec![call]
}

async fn map(harness: &Harness, project: &Project, body: Value) -> Value {
    harness.query_json(project, "/api/services/map", body).await
}

/// `from > to calls/errors` of every edge.
fn edges(map: &Value) -> Vec<String> {
    let edge = |edge: &Value| {
        let text = |field: &str| edge[field].as_str().expect("an id").to_owned();
        format!("{} > {} {}/{}", text("from"), text("to"), edge["stats"]["calls"], edge["stats"]["errors"])
    };
    map["edges"].as_array().expect("a list").iter().map(edge).collect()
}

fn nodes(map: &Value) -> Vec<(&str, u64)> {
    let node = |node: &'_ Value| node["stats"]["calls"].as_u64().expect("a number");
    map["nodes"].as_array().expect("a list").iter().map(|one| (one["id"].as_str().expect("an id"), node(one))).collect()
}

const EDGES: [&str; 5] = [
    "service:web > service:cart 10/5",
    "service:cart > database:postgresql shop 3/0",
    "service:cart > messaging:kafka orders 3/0",
    "messaging:kafka orders > service:mail 3/0",
    "service:cart > host:api.stripe.com 1/0",
];

// Issue 35, part 5: an edge and its callee count the same failures. HTTP clients set the error status for 402 too.
#[tokio::test]
async fn a_refused_call_is_no_failure_of_the_callee() {
    let (harness, project) = Harness::with_project().await;
    let statuses = ["200", "402", "503"];
    let call = |(n, status): (u64, &str)| {
        let code = |span: Made| span.with_int("http.response.status_code", status.parse().expect("a number"));
        let call = made(n, n + 100, CLIENT, "POST", 1.0, 20.0).parent(n).with("server.address", "pay.internal");
        let served = code(made(n, n + 200, SERVER, "POST /pay", 1.0, 10.0).parent(n + 100).with("http.route", "/pay"));
        let call = code(call);
        let call = if status == "200" { call } else { call.failed() };
        (call, if status == "503" { served.failed() } else { served })
    };
    let (mut calls, served): (Vec<Made>, Vec<Made>) = (1..).zip(statuses).map(call).unzip();
    calls.extend((1..=3).map(|n| made(n, n, SERVER, "GET /", 0.0, 30.0).with("http.route", "/")));
    send(&harness, &project, "web", &calls).await;
    send(&harness, &project, "pay", &served).await;
    let found = map(&harness, &project, json!({})).await;
    assert_eq!(edges(&found), ["service:web > service:pay 3/1"]);
    let node = found["nodes"].as_array().expect("a list").iter().find(|node| node["id"] == "service:pay");
    assert_eq!(node.expect("the callee")["stats"]["errors"], 1);
}

// docs/use/services.md: the caller counts; pairs only say which service is behind the address.
#[tokio::test]
async fn calls_are_edges_whichever_side_arrives_first() {
    for callee_first in [false, true] {
        let (mut harness, project) = Harness::with_project().await;
        let empty = map(&harness, &project, json!({})).await;
        let nothing = json!({ "nodes": [], "edges": [], "nodesLeftOut": 0, "edgesLeftOut": 0, "truncated": false });
        assert_eq!(empty, nothing);

        // Three of the ten calls are seen from both sides.
        let mut requests = [("web", callers()), ("cart", callees(3))];
        if callee_first {
            requests.reverse();
        }
        for (service, spans) in &requests {
            send(&harness, &project, service, spans).await;
            // A retry counts nothing twice.
            send(&harness, &project, service, spans).await;
        }
        send(&harness, &project, "mail", &consumers()).await;
        send(&harness, &project, "cart", &outside()).await;

        let sorted = |map: &Value| {
            let mut edges = edges(map);
            edges.sort();
            edges
        };
        let mut expected = EDGES.map(str::to_owned).to_vec();
        expected.sort();
        let found = map(&harness, &project, json!({})).await;
        assert_eq!(sorted(&found), expected, "callee first: {callee_first}");
        assert_eq!(edges(&found)[0], EDGES[0], "the most frequent calls are first");
        let served = [("service:web", 10), ("service:cart", 3), ("service:mail", 3)];
        assert_eq!(nodes(&found)[..3], served);
        let call = &found["edges"][0]["stats"];
        assert_eq!((&call["p50Duration"], &call["p95Duration"]), (&json!(2e7), &json!(2e7)));
        assert!((call["perMinute"].as_f64().expect("a number") - 10.0 / 1440.0).abs() < 1e-9);

        // The same after a crash, and from parts.
        harness.crash().await;
        assert_eq!(map(&harness, &project, json!({})).await, found);
        harness.restart().await;
        assert_eq!(map(&harness, &project, json!({})).await, found);

        let of_mail = map(&harness, &project, json!({ "service": "mail" })).await;
        assert_eq!(sorted(&of_mail), [EDGES[3]]);
        assert_eq!(nodes(&of_mail), [("service:mail", 3), ("messaging:kafka orders", 3)]);
        let before = json!({ "toDate": "2026-06-01T11:00:00Z" });
        assert_eq!(map(&harness, &project, before).await, nothing);
    }
}

// Zipkin and B3: the SERVER span has the id of the CLIENT span that calls it, and its parent.
#[tokio::test]
async fn both_sides_of_a_call_may_share_a_span_id() {
    let served = |n: u64| made(n, n + 100, SERVER, "GET /cart", 1.0, 10.0).parent(n).with("http.route", "/cart");
    let callees: Vec<Made> = (1..=10).map(served).collect();
    for callee_first in [false, true] {
        let (mut harness, project) = Harness::with_project().await;
        let mut requests = [("web", callers()), ("cart", callees.clone())];
        if callee_first {
            requests.reverse();
        }
        for (service, spans) in &requests {
            send(&harness, &project, service, spans).await;
        }
        let found = map(&harness, &project, json!({})).await;
        assert_eq!(edges(&found), [EDGES[0]], "callee first: {callee_first}");
        assert_eq!(nodes(&found), [("service:cart", 10), ("service:web", 10)]);
        harness.crash().await;
        assert_eq!(map(&harness, &project, json!({})).await, found);
    }
}

#[tokio::test]
async fn a_service_has_its_series_versions_processes_callers_and_dependencies() {
    let (harness, project) = Harness::with_project().await;
    let resource = |instance: &str, version: &str| {
        let pair = |key: &str, value: &str| json!({ "key": key, "value": { "stringValue": value } });
        json!({ "attributes": [
            pair("service.name", "cart"), pair("service.version", version), pair("host.name", "node-1"),
            pair("service.instance.id", instance),
        ] })
    };
    let spans = callees(3);
    for (instance, version, spans) in [("cart-a", "1.0.0", &spans[..6]), ("cart-b", "1.1.0", &spans[6..])] {
        let mut body = export("cart", spans);
        body["resourceSpans"][0]["resource"] = resource(instance, version);
        harness.post_json("traces", &project.token, &body).await.expect(200);
    }
    send(&harness, &project, "web", &callers()).await;

    let range = json!({ "service": "cart", "fromDate": "2026-06-01T11:50:00Z", "toDate": "2026-06-01T12:10:00Z" });
    let cart = harness.query_json(&project, "/api/services/detail", range.clone()).await;
    assert_eq!(
        (&cart["name"], &cart["stats"]["calls"], &cart["stats"]["errors"]),
        (&json!("cart"), &json!(3), &json!(0))
    );
    assert_eq!(cart["series"].as_array().expect("a list").len(), 1);
    assert_eq!(cart["series"][0]["timestamp"], "2026-06-01T12:00:00Z");
    assert_eq!(cart["series"][0]["stats"]["perMinute"], 3.0);
    assert_eq!((&cart["series"][0]["stats"]["p50Duration"], &cart["intervalMinutes"]), (&json!(1e7), &json!(1)));
    let versions: Vec<&Value> =
        cart["versions"].as_array().expect("a list").iter().map(|one| &one["version"]).collect();
    assert_eq!(versions, ["1.1.0", "1.0.0"]);
    let instances: Vec<_> = cart["instances"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| (one["name"].as_str(), one["host"].as_str(), one["version"].as_str(), one["spans"].as_u64()))
        .collect();
    let node = Some("node-1");
    assert_eq!(
        instances,
        [(Some("cart-a"), node, Some("1.0.0"), Some(6)), (Some("cart-b"), node, Some("1.1.0"), Some(3))]
    );
    assert_eq!((&cart["instancesTruncated"], &cart["instanceMinutes"]), (&json!(false), &json!(30)));
    assert_eq!(
        edges(&cart["map"]),
        ["service:web > service:cart 10/5", EDGES[1], EDGES[2]],
        "its callers and what it depends on"
    );
    let versions = cart["map"]["nodes"][1]["versions"].clone();
    assert_eq!((&cart["map"]["nodes"][1]["id"], versions), (&json!("service:cart"), json!(2)));

    // A service that never sent anything has nothing.
    let other = harness.query_json(&project, "/api/services/detail", json!({ "service": "none" })).await;
    assert_eq!((&other["stats"]["calls"], &other["stats"]["p50Duration"]), (&json!(0), &json!(null)));
    assert_eq!((&other["series"], &other["instances"], &other["map"]["nodes"]), (&json!([]), &json!([]), &json!([])));
    // Another project sees nothing of it.
    let stranger = harness.project("other").await;
    assert_eq!(map(&harness, &stranger, json!({})).await["nodes"], json!([]));
    harness.query(&project, "/api/services/map", json!({ "fromDate": "yesterday" })).await.expect(400);
}
