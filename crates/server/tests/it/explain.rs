//! Explanations and heatmaps through the real server: planted causes are named.

use serde_json::{Value, json};

use crate::harness::{Harness, Project};
use crate::query_language::{SECOND, attributes};
use crate::requests::{CLIENT, FROM, NOON_NS, at, made, request};

/// One request of the shop, before it is sent.
struct Order {
    ms: f64,
    status: u16,
    tenant: &'static str,
    region: &'static str,
    version: &'static str,
    statement: &'static str,
}

/// A number that looks random, the same in every run.
fn dice(index: u64, sides: u64) -> u64 {
    let mut x = index.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (x ^ (x >> 29)) % sides
}

fn pick(index: u64, salt: u64, of: &[&'static str]) -> &'static str {
    of[dice(index.wrapping_mul(31).wrapping_add(salt), of.len() as u64) as usize]
}

/// Sends two hours of orders, one every two seconds; in the last half hour `planted` changes them.
async fn shop(planted: impl Fn(&mut Order, u64)) -> (Harness, Project) {
    let (harness, project) = Harness::with_project().await;
    let orders = 3600_u64;
    for batch in 0..12 {
        let mut resources = Vec::new();
        for index in (batch * orders / 12)..((batch + 1) * orders / 12) {
            let mut order = Order {
                ms: 100.0 + dice(index, 80) as f64,
                status: 200,
                tenant: pick(index, 1, &["acme", "globex", "initech", "umbrella"]),
                region: pick(index, 2, &["eu-1", "eu-2", "us-1"]),
                version: "1.41.0",
                statement: pick(index, 3, &["SELECT stock", "UPDATE stock", "INSERT order"]),
            };
            if index >= orders * 3 / 4 {
                planted(&mut order, index);
            }
            resources.push(order.sent(index));
        }
        let export = json!({ "resourceSpans": resources });
        harness.post_json("traces", &project.token, &export).await.expect(200);
    }
    (harness, project)
}

impl Order {
    /// The request's span and its query of the database, which takes most of the time.
    fn sent(&self, index: u64) -> Value {
        let start = NOON_NS + index * 2 * SECOND;
        let end = |ms: f64| (start + (ms * 1.0e6) as u64).to_string();
        let (trace, span) = (format!("{:032x}", index + 1), format!("{:016x}", index + 1));
        let status = self.status.to_string();
        let own = json!({ "traceId": trace, "spanId": span, "name": "POST", "kind": 2,
            "startTimeUnixNano": start.to_string(), "endTimeUnixNano": end(self.ms),
            "attributes": attributes(&[("http.request.method", "POST"), ("http.route", "/orders"),
                ("http.response.status_code", &status), ("tenant.id", self.tenant), ("request.id", &format!("r-{index}"))]) });
        let query = json!({ "traceId": trace, "spanId": format!("{:016x}", index + 1_000_000), "parentSpanId": span,
            "name": "query", "kind": 3, "startTimeUnixNano": start.to_string(), "endTimeUnixNano": end(self.ms * 0.9),
            "attributes": attributes(&[("db.system.name", "postgresql"), ("db.operation.name", "SELECT"),
                ("db.query.text", self.statement)]) });
        let resource = attributes(&[
            ("service.name", "checkout"),
            ("service.version", self.version),
            ("cloud.region", self.region),
        ]);
        json!({ "resource": { "attributes": resource }, "scopeSpans": [{ "scope": { "name": "http" }, "spans": [own, query] }] })
    }
}

/// Explains a selection of the last half hour, of two.
async fn explained(harness: &Harness, project: &Project, query: &str) -> Value {
    let body = json!({ "entity": "endpoint", "name": "POST /orders", "fromDate": "2026-06-01T12:00:00Z",
        "toDate": "2026-06-01T14:00:00Z", "budgetMs": 8000,
        "selection": { "query": query, "fromDate": "2026-06-01T13:30:00Z" } });
    harness.api("POST", &at("/api/explain", project), &body).await.expect(200).json()
}

fn first(answer: &Value) -> (&str, &str, &str) {
    let row = &answer["data"][0];
    let text = |field: &str| row[field].as_str().unwrap_or_default();
    (text("scope"), text("attribute"), text("value"))
}

// ANSWERS 1: the cause is the first row.
#[tokio::test]
async fn a_slow_tenant_is_named_and_its_time_is_in_the_database() {
    let (harness, project) = shop(|order, _| {
        if order.tenant == "acme" {
            order.ms += 500.0;
        }
    })
    .await;
    let answer = explained(&harness, &project, "duration>300ms").await;
    assert_eq!(first(&answer), ("record", "tenant.id", "acme"), "{answer}");
    let row = &answer["data"][0];
    assert_eq!((&row["relation"], &row["kind"]), (&json!("equals"), &json!("condition")));
    assert_eq!((&row["selectionShare"], &row["baselineShare"]), (&json!(1.0), &json!(0.0)));
    assert_eq!(row["query"], "record.tenant.id=\"acme\"");
    assert_eq!(answer["data"].as_array().map(Vec::len), Some(1), "one cause is one row");
    assert_eq!((&answer["sampled"], &answer["partial"]), (&json!(false), &json!(false)));
    let counts = ["selected", "baseline", "before"].map(|field| answer[field].as_u64().unwrap_or_default());
    assert_eq!((counts[0] + counts[1], counts[2]), (900, 2700));
    let time = &answer["ownTime"][0];
    assert_eq!((&time["operation"], &time["service"]), (&json!("SELECT postgresql"), &json!("checkout")));
    assert!(time["share"].as_f64().is_some_and(|share| share > 0.85), "{time}");
    // The row's condition is a query of the list, and finds the slow requests.
    let list = harness
        .query_json(&project, "/api/endpoints", json!({ "query": "record.tenant.id=\"acme\" duration>300ms" }))
        .await;
    assert_eq!(list["pagination"]["total"], answer["selected"]);
}

#[tokio::test]
async fn causes_in_the_resource_in_spans_below_and_in_a_rollout_are_named() {
    let (harness, project) = shop(|order, _| {
        if order.region == "eu-2" {
            order.status = 500;
        }
    })
    .await;
    let answer = explained(&harness, &project, "status:error").await;
    assert_eq!(first(&answer), ("resource", "cloud.region", "eu-2"), "{answer}");
    let failed = &answer["whatFailed"][0];
    assert_eq!((&failed["attribute"], &failed["value"]), (&json!("http.response.status_code"), &json!("500")));
    let left_out = json!({ "scope": "record", "attribute": "http.response.status_code", "reason": "selection" });
    assert!(answer["leftOut"].as_array().is_some_and(|all| all.contains(&left_out)), "{answer}");

    let (harness, project) = shop(|order, _| {
        if order.statement == "UPDATE stock" {
            order.ms += 1500.0;
        }
    })
    .await;
    let answer = explained(&harness, &project, "duration>300ms").await;
    assert_eq!(first(&answer), ("child", "db.query.text", "UPDATE stock"), "{answer}");
    assert_eq!(answer["data"][0]["service"], "checkout");
    // The condition on spans below is a query of the list too.
    let query = answer["data"][0]["query"].as_str().expect("a query");
    assert_eq!(query, "child.db.query.text=\"UPDATE stock\"");
    let body = json!({ "query": format!("{query} duration>300ms") });
    let list = harness.query_json(&project, "/api/endpoints", body).await;
    assert_eq!(list["pagination"]["total"], answer["selected"]);

    // Everything moved at once: the same minutes hold nothing to compare with.
    let (harness, project) = shop(|order, _| {
        order.version = "1.42.0";
        order.ms *= 6.0;
    })
    .await;
    let answer = explained(&harness, &project, "duration>300ms").await;
    assert_eq!(first(&answer), ("resource", "service.version", "1.42.0"), "{answer}");
    assert_eq!(answer["data"][0]["kind"], "began");
}

// ANSWERS 6 G: the deepest failed call tells operators what they ask first.
#[tokio::test]
async fn the_deepest_failed_call_is_listed() {
    let (harness, project) = Harness::with_project().await;
    let mut spans = Vec::new();
    for number in 0..60_u64 {
        let (id, second) = (10 * number + 1, number as f64 * 10.0);
        let is_failed = number % 2 == 0;
        spans.push(request(id, "/orders", if is_failed { 500 } else { 200 }, second, 100.0));
        let service = made(id, id + 1, 1, "charge", second, 90.0).parent(id);
        let call = made(id, id + 2, CLIENT, "POST", second, 80.0)
            .parent(id + 1)
            .with("http.request.method", "POST")
            .with("server.address", "tax.example");
        match is_failed {
            true => spans.extend([service.failed(), call.with("error.type", "timeout").failed()]),
            false => spans.extend([service, call]),
        }
    }
    harness.send(&project, &spans).await;
    let body = json!({ "entity": "endpoint", "name": "GET /orders", "budgetMs": 8000,
        "selection": { "query": "status:error" } });
    let answer = harness.query_json(&project, "/api/explain", body).await;
    let failed = answer["whatFailed"].as_array().expect("a list");
    let wanted = json!({ "attribute": "error.type", "value": "timeout", "count": 30, "operation": "POST tax.example",
        "service": "shop" });
    assert!(failed.contains(&wanted), "{failed:?}");
    let own = json!({ "attribute": "http.response.status_code", "value": "500", "count": 30 });
    assert!(failed.contains(&own), "{failed:?}");
}

#[tokio::test]
async fn nothing_planted_is_nothing_claimed() {
    let (harness, project) = shop(|_, _| {}).await;
    let answer = explained(&harness, &project, "duration>150ms").await;
    assert_eq!(answer["data"], json!([]), "{answer}");
    assert_eq!(answer["ownTime"], json!([]));
    // A time without a query is compared with an equal time before.
    let answer = explained(&harness, &project, "").await;
    assert_eq!(
        (&answer["mode"], &answer["selected"], &answer["baseline"]),
        (&json!("time_before"), &json!(900), &json!(900))
    );
}

// ANSWERS 3 and 4, property 9: the selection equals the sum of the box's cells.
#[tokio::test]
async fn the_cells_of_a_heatmap_add_up_to_the_selection() {
    let (harness, project) = shop(|order, index| {
        if index.is_multiple_of(3) {
            order.ms = 5000.0;
            order.version = "1.42.0";
        }
    })
    .await;
    let body = json!({ "entity": "endpoint", "name": "POST /orders", "fromDate": "2026-06-01T12:00:00Z",
        "toDate": "2026-06-01T14:00:00Z" });
    let map = harness.api("POST", &at("/api/heatmap", &project), &body).await.expect(200).json();
    assert_eq!((&map["columnMs"], &map["columns"], &map["total"]), (&json!(60_000), &json!(120), &json!(3600)));
    let rows = map["rows"].as_array().expect("rows");
    assert!(rows.len() <= 48, "{}", rows.len());
    assert_eq!(map["marks"][0]["version"], "1.42.0");
    assert_eq!(map["marks"][0]["at"], "2026-06-01T13:30:00Z");
    for row in 0..rows.len() {
        let cells = map["cells"].as_array().expect("cells").iter();
        let wanted: u64 = cells
            .filter(|cell| cell["row"] == row && cell["column"].as_u64() >= Some(90))
            .filter_map(|cell| cell["count"].as_u64())
            .sum();
        let query = format!("duration>={}ns duration<{}ns", rows[row]["fromNs"], rows[row]["toNs"]);
        if row % 6 == 0 || row + 1 == rows.len() {
            assert_eq!(explained(&harness, &project, &query).await["selected"], wanted, "{query}");
        }
    }
}

#[tokio::test]
async fn requests_of_an_issue_and_errors_of_callers() {
    let (harness, project) = Harness::with_project().await;
    let orders: Vec<_> = (1..=60)
        .map(|index: u64| {
            let made = request(index, "/cart", if index.is_multiple_of(3) { 500 } else { 200 }, index as f64, 20.0);
            let made = made.with("flag.new_price", if index.is_multiple_of(3) { "on" } else { "off" });
            if index.is_multiple_of(3) { made.exception("TotalMismatch", "12 != 13") } else { made }
        })
        .collect();
    harness.send(&project, &orders).await;
    let issues = harness.query_json(&project, "/api/exception-stack-traces", json!({})).await;
    let hash = issues["data"][0]["exceptionHash"].as_str().expect("a hash").to_owned();
    let answer = harness
        .query_json(&project, "/api/explain", json!({ "entity": "issue", "name": hash, "budgetMs": 8000 }))
        .await;
    assert_eq!((&answer["selected"], &answer["baseline"]), (&json!(20), &json!(40)), "{answer}");
    assert_eq!(first(&answer), ("record", "flag.new_price", "on"), "{answer}");
    // The query filters the requests, not the exceptions.
    let within = json!({ "entity": "issue", "name": hash, "query": "-flag.new_price:on", "budgetMs": 8000 });
    let answer = harness.query_json(&project, "/api/explain", within).await;
    assert_eq!((&answer["selected"], &answer["baseline"]), (&json!(0), &json!(40)), "{answer}");

    let wrong = |body: Value| harness.query(&project, "/api/explain", body);
    wrong(json!({ "entity": "endpoint", "selection": { "query": "duration>" } })).await.expect(400);
    wrong(json!({ "entity": "endpoint", "selection": { "query": "duration>1s", "toDate": FROM, "fromDate": "2026-06-02T00:00:00Z" } })).await.expect(422);
    wrong(json!({ "entity": "issue" })).await.expect(422);
    wrong(json!({ "entity": "cart" })).await.expect(400);
    harness.query(&project, "/api/heatmap", json!({ "entity": "log" })).await.expect(422);
    for entity in ["task", "ai_trace", "trace", "log"] {
        let answer = harness.query_json(&project, "/api/explain", json!({ "entity": entity })).await;
        assert!(answer["data"].is_array(), "{entity}: {answer}");
    }
}
