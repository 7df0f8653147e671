//! `POST /api/traces/{traceId}/columns`: a trace without attributes, in columns, and in windows when it is large.

use serde_json::{Value, json};

use crate::client;
use crate::harness::Harness;
use crate::requests::{CLIENT, NOON, SERVER, at, export, made, request};
use crate::traces::chain;

fn path(trace: &str) -> String {
    format!("/api/traces/{trace}/columns")
}

#[tokio::test]
async fn a_trace_is_one_tree_in_columns_across_projects() {
    let (harness, front, back) = chain().await;
    let trace = format!("{:032x}", 1);
    let found = harness.query_json(&front, &path(&trace), json!({ "recordedAt": NOON })).await;
    let spans = &found["spans"];
    let ids: Vec<String> = (1..=6).map(|id| format!("{id:016x}")).collect();
    assert_eq!(spans["ids"], json!(ids));
    assert_eq!(spans["parents"], json!([0, 1, 1, 1, 1, 1]));
    let names: Vec<&Value> = spans["names"]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| &found["names"][name.as_u64().unwrap() as usize])
        .collect();
    assert_eq!(names, ["GET", "POST", "POST", "charge", "mail.send", "render"]);
    assert_eq!((&found["services"], &spans["services"]), (&json!(["web", "api"]), &json!([0, 0, 1, 1, 1, 1])));
    assert_eq!(spans["starts"], json!([0, 10_000_000, 10_000_000, 10_000_000, 20_000_000, 1_000_000]));
    assert_eq!(spans["durations"], json!([100_000_000, 80_000_000, 60_000_000, 20_000_000, 10_000_000, 5_000_000]));
    // `mail.send` begins when its parent has ended: it has all of its time.
    assert_eq!(spans["own"], json!([20_000_000, 20_000_000, 40_000_000, 20_000_000, 5_000_000, 5_000_000]));
    assert_eq!((&found["duration"], &found["errors"]), (&json!(100_000_000), &json!(0)));
    assert_eq!(found["timeByService"][0]["service"], "api");
    assert_eq!(found["timeByService"][0]["own"], 70_000_000);
    assert_eq!(
        (&found["timeByOperation"][0]["operation"], &found["timeByOperation"][0]["own"]),
        (&json!("POST"), &json!(40_000_000))
    );
    assert_eq!(
        found["calls"],
        json!([{ "from": "web", "to": "api", "calls": 1, "errors": 0, "duration": 60_000_000 }])
    );
    let entities = found["entities"].as_array().unwrap();
    let named: Vec<(&Value, &Value)> = entities.iter().map(|one| (&one["place"], &one["name"])).collect();
    assert_eq!(named[..2], [(&json!(0), &json!("GET /cart")), (&json!(2), &json!("POST /pay"))]);
    assert_eq!(found["exceptions"][0]["ownerName"], "POST /pay");
    assert_eq!(found["projects"], json!([{ "id": front.id, "name": "first" }, { "id": back.id, "name": "back" }]));
    assert_eq!(found["spanGraphStatus"]["state"], "complete");
    assert!(found.get("attributes").is_none() && spans.get("attributes").is_none());
    harness.query(&front, &path("1"), json!({})).await.expect(400);
    harness.query(&front, &path(&trace), json!({ "recordedAt": "noonish" })).await.expect(400);
    harness.query(&front, &path(&format!("{:032x}", 99)), json!({})).await.expect(404);
    // In all time, too.
    let own = harness.query_json(&front, &path(&format!("{:032x}", 7)), json!({})).await;
    assert_eq!((&own["missingParents"], &own["errors"]), (&json!([]), &json!(1)));
}

#[tokio::test]
async fn a_span_without_its_parent_is_marked_and_begins_a_tree() {
    let (harness, project) = Harness::with_project().await;
    let spans = [request(1, "/a", 200, 0.0, 10.0), made(1, 2, CLIENT, "call", 0.001, 2.0).parent(77)];
    harness.post_json("traces", &project.token, &export("web", &spans)).await.expect(200);
    let found = harness.query_json(&project, &path(&format!("{:032x}", 1)), json!({})).await;
    assert_eq!((&found["missingParents"], &found["spans"]["parents"]), (&json!([1]), &json!([0, 0])));
    assert_eq!(found["spanGraphStatus"]["reasons"], json!(["missing_parents"]));
}

// The bar of the trace page: 10,000 spans in under 400 kB.
#[tokio::test]
async fn ten_thousand_spans_are_small_on_the_wire() {
    let (harness, project) = Harness::with_project().await;
    let mut random = fastrand::Rng::with_seed(7);
    let mut spans = vec![request(1, "/large", 200, 0.0, 60_000.0)];
    for _ in 1..10_000 {
        let second = random.f64() * 50.0;
        let name = format!("operation {}", random.u8(..40));
        let kind = if random.bool() { CLIENT } else { SERVER };
        let one = made(1, random.u64(2..), kind, &name, second, random.f64() * 900.0);
        spans.push(one.parent(1).with("db.query.text", "SELECT a FROM b WHERE c = 1"));
    }
    harness.post_json("traces", &project.token, &export("web", &spans)).await.expect(200);
    let address = at(&path(&format!("{:032x}", 1)), &project);
    let authorization = format!("Bearer {}", harness.login);
    for encoding in ["gzip", "br", "zstd"] {
        let headers = [
            ("Authorization", authorization.as_str()),
            ("Content-Type", "application/json"),
            ("Accept-Encoding", encoding),
        ];
        let answer = client::send(harness.address(), "POST", &address, &headers, b"{}").await.expect(200);
        assert_eq!(answer.header("Content-Encoding"), Some(encoding));
        assert!(answer.body.len() < 400_000, "{encoding}: {} bytes", answer.body.len());
    }
}

// A trace above 20,000 spans comes in windows; each has the ancestors of its first span.
#[tokio::test]
async fn a_large_trace_comes_in_windows() {
    let (harness, project) = Harness::with_project().await;
    let limit = tidewatch_limits::GRAPH_SPANS_MAX as u64;
    for part in 0..2 {
        let of_part = (0..limit / 2 + 1).map(|n| {
            let mut span = crate::otlp::span(part * limit + n);
            if part == 1 {
                span.parent_span_id = 1_u64.to_be_bytes().to_vec();
            }
            span
        });
        let body = crate::otlp::traces(of_part.collect());
        harness.post_otlp("traces", &project.token, &[crate::otlp::PROTOBUF], &body).await.expect(200);
    }
    let path = path(&"ab".repeat(16));
    let query = async |body: Value| harness.query_json(&project, &path, body).await;
    let first = query(json!({})).await;
    let status = &first["spanGraphStatus"];
    assert_eq!((&status["total"], &status["shown"]), (&json!(limit + 2), &json!(limit)));
    assert_eq!((&first["offset"], &first["ancestors"]), (&json!(0), &json!(0)));
    // The children of the first span stand right below it: the last window has none of them.
    let inside = query(json!({ "offset": 10 })).await;
    assert_eq!((&inside["offset"], &inside["ancestors"]), (&json!(10), &json!(1)));
    assert_eq!(inside["spans"]["parents"][1], 1, "the ancestor comes first");
    let last = query(json!({ "offset": limit })).await;
    assert_eq!(last["spans"]["ids"].as_array().map(Vec::len), Some(2));
    let wanted = last["spans"]["ids"][1].clone();
    assert_eq!(query(json!({ "span": wanted })).await["offset"], limit);
    assert_eq!(query(json!({ "span": "ffff" })).await["offset"], 0);
    assert_eq!(query(json!({ "offset": u64::MAX })).await["offset"], limit + 1);
    assert_eq!(last["timeByService"], first["timeByService"], "of the whole trace");
}
