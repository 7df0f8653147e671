//! `POST /api/overview/changes`: what got worse, since when and with which version.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::harness::{Harness, Project};
use crate::requests::{Made, SERVER, export, made, request};

/// Minutes of history before the release at 13:20 on the second day.
const RELEASE: u64 = 25 * 60 + 20;
pub const END: u64 = 26 * 60;
/// OTLP kind of spans inside a service.
const INTERNAL: u8 = 1;

/// Sends requests of one minute each: two quiet Endpoints, and one that is slow and fails since the release.
pub async fn send(harness: &Harness, project: &Project) {
    let mut random = fastrand::Rng::with_seed(21);
    let mut spans: Vec<(bool, Made)> = Vec::new();
    for minute in 0..END {
        for call in 0..4 {
            let id = 3 * (minute * 4 + call) + 1;
            let second = (minute * 60 + call * 15) as f64 + random.f64();
            let usual = |random: &mut fastrand::Rng| 80.0 + 40.0 * random.f64();
            let is_new = minute >= RELEASE;
            let orders = match is_new {
                true if call == 0 => request(id, "/orders", 500, second, 800.0).exception("TotalMismatch", "declined"),
                true => request(id, "/orders", 200, second, 8.0 * usual(&mut random)),
                false => request(id, "/orders", 200, second, usual(&mut random)),
            };
            spans.push((is_new, orders));
            spans.push((is_new, request(id + 1, "/carts", 200, second, usual(&mut random))));
            if call == 0 {
                spans.push((is_new, request(id + 2, "/reports", 200, second, 3.0 * usual(&mut random))));
            }
        }
    }
    for (is_new, version) in [(false, "1.41.0"), (true, "1.42.0")] {
        let of_version: Vec<Made> =
            spans.iter().filter(|(new, _)| *new == is_new).map(|(_, made)| made.clone()).collect();
        for some in of_version.chunks(1000) {
            let mut body = export("checkout", some);
            let attributes = body["resourceSpans"][0]["resource"]["attributes"].as_array_mut().expect("a list");
            attributes.push(json!({ "key": "service.version", "value": { "stringValue": version } }));
            harness.post_json("traces", &project.token, &body).await.expect(200);
        }
    }
}

async fn changes(harness: &Harness, project: &Project, to: &str) -> Value {
    let body = json!({ "fromDate": "2026-06-01T14:00:00Z", "toDate": to });
    harness.query_json(project, "/api/overview/changes", body).await
}

// The Overview names the subject, since when and the version; subjects that did not change are not named.
#[tokio::test]
async fn a_release_that_slows_and_breaks_an_endpoint_is_named() {
    let (harness, project) = Harness::with_project().await;
    send(&harness, &project).await;

    let quiet = changes(&harness, &project, "2026-06-02T13:15:00Z").await;
    assert_eq!((&quiet["data"], &quiet["checked"]), (&json!([]), &json!(3)));

    let found = changes(&harness, &project, "2026-06-02T14:00:00Z").await;
    let cards = found["data"].as_array().expect("a list");
    assert_eq!(cards.len(), 1, "{found}");
    let card = &cards[0];
    assert_eq!((&card["kind"], &card["name"]), (&json!("endpoint"), &json!("GET /orders")));
    assert_eq!((&card["service"], &card["version"]), (&json!("checkout"), &json!("1.42.0")));
    assert_eq!(card["versionRelation"], "began_with");
    assert_eq!(card["newIssues"], json!(["TotalMismatch"]));
    assert_eq!(card["recovered"], Value::Null);
    let since = card["since"].as_str().expect("a time");
    assert!(("2026-06-02T13:15:00Z"..="2026-06-02T13:25:00Z").contains(&since), "{since}");
    let sentence = card["sentence"].as_str().expect("a sentence");
    for part in ["GET /orders is ", "times slower (P50 ", "fails in ", " since ", "13:2", "version 1.42.0 of checkout"]
    {
        assert!(sentence.contains(part), "{sentence}");
    }
    let metrics: Vec<&Value> = card["effects"].as_array().expect("a list").iter().map(|of| &of["metric"]).collect();
    assert!(metrics.contains(&&json!("p50")) && metrics.contains(&&json!("error_rate")), "{metrics:?}");
    assert!(card["score"].as_f64().expect("a number") > 60.0, "{card}");

    // The same rows give the same answer.
    assert_eq!(changes(&harness, &project, "2026-06-02T14:00:00Z").await, found);
}

#[tokio::test]
async fn nothing_changed_in_an_empty_project() {
    let (harness, project) = Harness::with_project().await;
    let found = harness.query_json(&project, "/api/overview/changes", json!({})).await;
    assert_eq!(found, json!({ "data": [], "checked": 0, "quiet": 0 }));
    let body = json!({ "fromDate": "2026-06-02T00:00:00Z", "toDate": "2026-06-01T00:00:00Z" });
    harness.query(&project, "/api/overview/changes", body).await.expect(422);
}

/// Sends spans of 26 hours, an hour in one export: `of_call` has those of a call (0 to 3) of a minute, by service.
async fn send_spans(harness: &Harness, project: &Project, of_call: impl Fn(u64, u64) -> Vec<(&'static str, Made)>) {
    for from in (0..END).step_by(60) {
        let calls = (from..(from + 60).min(END)).flat_map(|minute| (0..4).map(move |call| (minute, call)));
        let spans: Vec<(&str, Made)> = calls.flat_map(|(minute, call)| of_call(minute, call)).collect();
        let services: BTreeSet<&str> = spans.iter().map(|(service, _)| *service).collect();
        for service in services {
            let own = spans.iter().filter(|(of, _)| *of == service).map(|(_, span)| span.clone());
            let body = export(service, &own.collect::<Vec<Made>>());
            harness.post_json("traces", &project.token, &body).await.expect(200);
        }
    }
}

/// A number below 1 that looks random, the same in every run.
fn part(of: u64) -> f64 {
    fastrand::Rng::with_seed(of).f64()
}

fn second_of(minute: u64, call: u64) -> f64 {
    (minute * 60 + call * 15) as f64
}

// ANSWERS 6 C and D: refusals are a signal; one operation that slows two Endpoints is one card that names it.
#[tokio::test]
async fn refusals_and_one_slow_operation_of_two_endpoints_are_named() {
    let (harness, project) = Harness::with_project().await;
    send_spans(&harness, &project, |minute, call| {
        let (is_new, second) = (minute >= RELEASE, second_of(minute, call));
        let number = 10 * (minute * 4 + call) + 1;
        let loans = |id: u64, route: &str| {
            let wait = 5.0 + part(id) + if is_new { 600.0 } else { 0.0 };
            let own = 40.0 + 20.0 * part(id + 1);
            let connection = made(id, id + 1, INTERNAL, "getConnection", second, wait).parent(id);
            [("circulation", request(id, route, 200, second, wait + own)), ("circulation", connection)]
        };
        let is_refused = part(number) < if is_new { 0.5 } else { 0.01 };
        let status = if is_refused { 429 } else { 200 };
        let tokens = request(number + 4, "/tokens", status, second, 20.0 + 10.0 * part(number + 7));
        loans(number, "/loans").into_iter().chain(loans(number + 2, "/books")).chain([("auth", tokens)]).collect()
    })
    .await;
    let found = changes(&harness, &project, "2026-06-02T14:00:00Z").await;
    let cards = found["data"].as_array().expect("a list");
    let sentences: Vec<&str> = cards.iter().map(|card| card["sentence"].as_str().expect("a sentence")).collect();
    assert_eq!(cards.len(), 2, "{sentences:?}");
    let refusing = cards.iter().find(|card| card["name"] == "GET /tokens").expect("named");
    assert_eq!(refusing["effects"][0]["metric"], "refused_share");
    let sentence = refusing["sentence"].as_str().expect("a sentence");
    assert!(sentence.contains("GET /tokens refuses ") && sentence.contains(" of calls (429), before "), "{sentence}");
    let slow = cards.iter().find(|card| card["name"] != "GET /tokens").expect("named");
    let (name, other) =
        if slow["name"] == "GET /loans" { ("GET /loans", "GET /books") } else { ("GET /books", "GET /loans") };
    assert_eq!((&slow["name"], &slow["suffering"]), (&json!(name), &json!([other])));
    let sentence = slow["sentence"].as_str().expect("a sentence");
    assert!(sentence.contains(" getConnection of circulation takes ") && sentence.contains("600 ms"), "{sentence}");
}

// ANSWERS 6 B: who calls more is the cause.
#[tokio::test]
async fn a_caller_that_multiplies_its_calls_is_the_cause() {
    let (harness, project) = Harness::with_project().await;
    send_spans(&harness, &project, |minute, call| {
        let (is_new, second) = (minute >= RELEASE, second_of(minute, call));
        let number = 10 * (minute * 4 + call) + 1;
        let (calls, usual) = if is_new { (4, 150.0) } else { (1, 50.0) };
        let (mut after_ms, mut spans) = (5.0, Vec::new());
        for place in 1..=calls {
            let took = usual + 10.0 * part(number + place);
            let below = made(number, number + place, SERVER, "GET", second + after_ms / 1000.0, took).parent(number);
            let below = below.with("http.request.method", "GET").with("http.route", "/x");
            spans.push(("prices", below.with_int("http.response.status_code", 200)));
            after_ms += took + 1.0;
        }
        spans.push(("shop", request(number, "/page", 200, second, after_ms + 10.0 * part(number))));
        spans
    })
    .await;
    let found = changes(&harness, &project, "2026-06-02T14:00:00Z").await;
    let cards = found["data"].as_array().expect("a list");
    assert_eq!(cards.len(), 1, "{found}");
    assert_eq!((&cards[0]["name"], &cards[0]["suffering"]), (&json!("GET /page"), &json!(["GET /x"])));
    let sentence = cards[0]["sentence"].as_str().expect("a sentence");
    assert!(sentence.contains("It calls GET /x 4 times a request, before once."), "{sentence}");
}
