//! `POST /api/overview/answers`: what is always bad, what is new, what AI costs; and causes among callers.

use serde_json::{Value, json};

use crate::harness::{Harness, Project};
use crate::requests::{CLIENT, Made, NOON_NS, column, export, made, request};

const HOUR: f64 = 3600.0;

async fn send(harness: &Harness, project: &Project, service: &str, version: &str, spans: &[Made]) {
    for some in spans.chunks(1000) {
        let mut body = export(service, some);
        let attributes = body["resourceSpans"][0]["resource"]["attributes"].as_array_mut().expect("a list");
        attributes.push(json!({ "key": "service.version", "value": { "stringValue": version } }));
        harness.post_json("traces", &project.token, &body).await.expect(200);
    }
}

async fn answers(harness: &Harness, project: &Project, from: &str, to: &str) -> Value {
    let body = json!({ "fromDate": from, "toDate": to });
    harness.query_json(project, "/api/overview/answers", body).await
}

fn call(id: u64, second: f64, cost: f64) -> Made {
    made(id, id, CLIENT, "chat", second, 300.0)
        .with("gen_ai.operation.name", "chat")
        .with("gen_ai.request.model", "m-1")
        .with("gen_ai.usage.total_cost", &cost.to_string())
}

// Issue 21, item 6: the Overview's answers besides what changed.
#[tokio::test]
async fn bad_endpoints_new_things_and_costs_are_answered() {
    let (harness, project) = Harness::with_project().await;
    let mut spans = Vec::new();
    for hour in 0..4 {
        for call_of_hour in 0..30 {
            let id = 10 * (hour * 30 + call_of_hour) + 1;
            let second = hour as f64 * HOUR + call_of_hour as f64 * 60.0;
            let status = if call_of_hour == 0 { 500 } else { 200 };
            spans.push(request(id, "/orders", status, second, 80.0));
            spans.push(request(id + 1, "/reports", 200, second, 2000.0));
            spans.push(request(id + 2, "/carts", 200, second, 20.0));
            spans.push(call(id + 3, second, if hour < 2 { 0.01 } else { 0.02 }));
        }
    }
    send(&harness, &project, "shop", "1", &spans).await;
    let fresh = request(9_000_001, "/refunds", 500, 3.5 * HOUR, 10.0).exception("RefundError", "no");
    send(&harness, &project, "shop", "2", &[fresh]).await;

    let found = answers(&harness, &project, "2026-06-01T14:00:00Z", "2026-06-01T16:00:00Z").await;
    let bad = found["alwaysBad"].as_array().expect("a list");
    // `GET /refunds` fails less than once an hour.
    assert_eq!(column(&json!({ "data": bad }), "name"), ["GET /reports", "GET /orders"], "{found}");
    let expected = json!({
        "name": "GET /reports", "badAnHour": 30.0, "count": 60, "storedCount": 60, "badCount": 60, "slowCount": 0,
    });
    assert_eq!(bad[0], expected);
    // A rate is not extrapolated from less than five minutes.
    for (to, rate) in [("2026-06-01T15:04:59Z", Value::Null), ("2026-06-01T15:05:00Z", json!(60.0))] {
        let short = answers(&harness, &project, "2026-06-01T15:00:00Z", to).await;
        let bad = short["alwaysBad"].clone();
        assert_eq!(column(&json!({ "data": bad }), "name"), ["GET /reports", "GET /orders"], "{short}");
        assert_eq!((&bad[0]["badAnHour"], &bad[0]["badCount"]), (&rate, &json!(5)), "{to}");
    }
    let kinds = column(&json!({ "data": found["new"] }), "kind").into_iter().cloned().collect::<Vec<Value>>();
    assert_eq!(json!(kinds), json!(["issue", "version", "endpoint"]), "{found}");
    let endpoint = &found["new"][2];
    assert_eq!((&endpoint["name"], &endpoint["version"]), (&json!("GET /refunds"), &json!("2")));
    assert_eq!((&endpoint["since"], &endpoint["count"]), (&json!("2026-06-01T15:30:00Z"), &json!(1)));
    assert_eq!(found["dataSince"], Value::Null, "there was telemetry before");
    let total = &found["aiSpend"]["total"];
    assert_eq!((&total["calls"], &total["previousCalls"]), (&json!(60), &json!(60)));
    assert!((total["change"].as_f64().expect("a number") - 1.0).abs() < 1e-6, "{total}");

    // Telemetry began in the time before: the hour of both times that has telemetry is compared.
    let part = answers(&harness, &project, "2026-06-01T13:00:00Z", "2026-06-01T16:00:00Z").await["aiSpend"].clone();
    assert_eq!(part["comparedFrom"], "2026-06-01T15:00:00Z");
    let of = &part["total"];
    let calls = ["calls", "comparedCalls", "previousCalls"].map(|field| of[field].clone());
    assert_eq!(calls, [json!(90), json!(30), json!(30)], "{part}");
    assert!((of["change"].as_f64().expect("a number") - 1.0).abs() < 1e-6, "{part}");

    // Of a young project nothing is new in its first five minutes, and the range begins with its data.
    let all = answers(&harness, &project, "2026-06-01T00:00:00Z", "2026-06-02T00:00:00Z").await;
    assert_eq!(all["dataSince"], "2026-06-01T12:00:00Z");
    assert_eq!(all["new"].as_array().expect("a list").len(), 3, "{all}");
    assert_eq!(all["aiSpend"]["total"]["change"], Value::Null, "nothing before to compare with");
    assert_eq!(all["aiSpend"]["comparedFrom"], Value::Null);
    let beginning = harness.got(&project, "/api/overview/data-since").await;
    assert_eq!(beginning, json!({ "dataSince": null }), "the data is older than a day");
}

// Issue 35, part 5: "What is new" works from the first day.
#[tokio::test]
async fn names_after_the_first_five_minutes_are_new() {
    let (harness, project) = Harness::with_project().await;
    let at = |id, path, minutes: f64| request(id, path, 200, minutes * 60.0, 10.0);
    let spans = [at(1, "/orders", 0.0), at(2, "/carts", 4.0), at(3, "/refunds", 6.0)];
    send(&harness, &project, "shop", "1", &spans).await;
    let found = answers(&harness, &project, "2026-06-01T00:00:00Z", "2026-06-01T13:00:00Z").await;
    let names = json!({ "data": found["new"] });
    assert_eq!(column(&names, "name"), ["GET /refunds"], "{found}");
}

#[tokio::test]
async fn merged_issues_are_one_among_the_new() {
    let (harness, project) = Harness::with_project().await;
    let failed = |id, hour: f64, kind: &str| request(id, "/a", 500, hour * HOUR, 10.0).exception(kind, "no");
    let spans = [failed(1, 0.0, "Old"), failed(2, 2.5, "A"), failed(3, 3.0, "B"), failed(4, 3.5, "C")];
    send(&harness, &project, "shop", "1", &spans).await;
    let range = json!({ "fromDate": "2026-06-01T12:00:00Z", "toDate": "2026-06-01T16:00:00Z" });
    let list = harness.query_json(&project, "/api/exception-stack-traces", range).await;
    let hash = |kind: &str| {
        let rows = list["data"].as_array().expect("a list");
        rows.iter().find(|row| row["exceptionType"] == kind).expect("listed")["exceptionHash"].clone()
    };
    let new = async || answers(&harness, &project, "2026-06-01T14:00:00Z", "2026-06-01T16:00:00Z").await["new"].clone();
    assert_eq!(new().await.as_array().map(Vec::len), Some(3));
    for (hashes, into) in [([hash("C"), hash("Old")], hash("Old")), ([hash("A"), hash("B")], hash("B"))] {
        let body = json!({ "hashes": hashes, "into": into });
        harness.query_json(&project, "/api/exception-stack-traces/merge", body).await;
    }
    let found = new().await;
    assert_eq!(found.as_array().map(Vec::len), Some(1), "{found}");
    assert_eq!((&found[0]["exceptionHash"], &found[0]["count"]), (&hash("B"), &json!(2)));
    assert_eq!(found[0]["since"], "2026-06-01T14:30:00Z");
}

#[tokio::test]
async fn an_empty_project_has_no_answers() {
    let (harness, project) = Harness::with_project().await;
    let found = answers(&harness, &project, "2026-06-01T00:00:00Z", "2026-06-02T00:00:00Z").await;
    assert_eq!(found, json!({ "alwaysBad": [], "new": [], "aiSpend": null, "dataSince": null }));
    assert_eq!(harness.got(&project, "/api/overview/data-since").await, json!({ "dataSince": null }));
}

// Issue 21, ANSWERS 2.6: of a caller and its callee that got slower together, the callee has the card.
#[tokio::test]
async fn a_caller_suffers_and_its_callee_is_named() {
    let (harness, project) = Harness::with_project().await;
    let mut random = fastrand::Rng::with_seed(7);
    let (mut front, mut back) = (Vec::new(), Vec::new());
    for minute in 0..26_u64 * 60 {
        for one in 0..4 {
            let id = 4 * (minute * 4 + one) + 1;
            let second = (minute * 60 + one * 15) as f64 + random.f64();
            let slow = if minute >= 25 * 60 + 20 { 900.0 } else { 0.0 };
            let inner = 60.0 + 30.0 * random.f64() + slow;
            front.push(request(id, "/checkout", 200, second, inner + 40.0 + 10.0 * random.f64()));
            let payment = request(id + 1, "/charges", 200, second + 0.02, inner);
            back.push(payment.of_trace(&format!("{id:032x}")).parent(id));
        }
    }
    send(&harness, &project, "checkout", "1", &front).await;
    send(&harness, &project, "payments", "1", &back).await;
    let body = json!({ "fromDate": "2026-06-01T14:00:00Z", "toDate": "2026-06-02T14:00:00Z" });
    let found = harness.query_json(&project, "/api/overview/changes", body).await;
    assert_eq!(column(&found, "name"), ["GET /charges"], "{found}");
    assert_eq!(found["data"][0]["suffering"], json!(["GET /checkout"]));
    let sentence = found["data"][0]["sentence"].as_str().expect("a sentence");
    assert!(sentence.contains(" GET /checkout suffers."), "{sentence}");
}

// Issue 21: the default range is since data began when that is less than a day.
#[tokio::test]
async fn the_beginning_of_a_young_project_is_known() {
    let (harness, project) = Harness::with_project().await;
    let minutes_ago = harness.app().process.clock.now_ns() / 60_000_000_000 - 10;
    let second = (minutes_ago * 60) as f64 - NOON_NS as f64 / 1e9 + 5.0;
    send(&harness, &project, "shop", "1", &[request(1, "/orders", 200, second, 80.0)]).await;
    let found = harness.got(&project, "/api/overview/data-since").await;
    let expected = jiff::Timestamp::from_second(minutes_ago * 60).expect("a time").to_string();
    assert_eq!(found, json!({ "dataSince": expected }));
}
