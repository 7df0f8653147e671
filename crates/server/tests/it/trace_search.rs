//! `POST /api/traces/search`: conditions on any span of a trace. docs/use/query-language.md, "Traces".

use serde_json::{Value, json};

use crate::harness::{Harness, Project};
use crate::requests::{CLIENT, CONSUMER, Made, SERVER, column, export, made};

const PATH: &str = "/api/traces/search";

/// A root SERVER span, named as the conventions say.
fn page(trace: u64, route: &str, second: f64, ms: f64) -> Made {
    made(trace, trace, SERVER, &format!("GET {route}"), second, ms)
        .with("http.request.method", "GET")
        .with("http.route", route)
        .with_int("http.response.status_code", 200)
}

/// Three traces: a cart that calls a failing payment, a quiet list, and a job that was enqueued elsewhere.
async fn shop() -> (Harness, Project) {
    let (harness, project) = Harness::with_project().await;
    let web = [
        page(1, "/cart", 0.0, 100.0),
        made(1, 11, CLIENT, "POST", 0.01, 80.0).parent(1).with("tenant", "acme"),
        page(2, "/list", 60.0, 10.0).with("tenant", "globex"),
    ];
    harness.post_json("traces", &project.token, &export("web", &web)).await.expect(200);
    let pay = [
        made(1, 12, SERVER, "POST /pay", 0.02, 60.0).parent(11).with("http.route", "/pay"),
        made(1, 13, CLIENT, "INSERT orders", 0.03, 20.0).parent(12).with("db.system.name", "mysql").failed(),
        made(3, 31, CONSUMER, "mail.send", 120.0, 5000.0).parent(99),
        made(3, 32, CLIENT, "SELECT users", 120.5, 1000.0).parent(31).with("db.system.name", "postgresql"),
    ];
    harness.post_json("traces", &project.token, &export("pay", &pay)).await.expect(200);
    (harness, project)
}

fn names(page: &Value) -> Vec<&str> {
    column(page, "name").into_iter().filter_map(Value::as_str).collect()
}

#[tokio::test]
async fn a_trace_matches_when_any_of_its_spans_does() {
    let (harness, project) = shop().await;
    let (cart, list, mail) = ("GET /cart", "GET /list", "mail.send");
    for (query, expected) in [
        ("", vec![mail, list, cart]),
        ("tenant:acme", vec![cart]),
        ("tenant:*", vec![list, cart]),
        ("service:pay", vec![mail, cart]),
        // Both of one span.
        ("service:web tenant:acme", vec![cart]),
        ("service:pay tenant:acme", vec![]),
        // Each of any span.
        ("{service:pay} {tenant:acme}", vec![cart]),
        ("{service:web} > {service:pay}", vec![cart]),
        ("{route:/cart} > {service:pay}", vec![]),
        ("{route:/cart} >> {service:pay}", vec![cart]),
        ("{} > {db.system.name:*}", vec![mail, cart]),
        ("{service:web} >> {service:pay} > {error:true}", vec![cart]),
        ("!{error:true}", vec![mail, list]),
        ("!{db.system.name:*}", vec![list]),
        ("{service:pay} !{db.system.name:mysql}", vec![mail]),
        ("{tenant:globex} OR {kind:consumer}", vec![mail, list]),
        ("-tenant:acme duration<70ms", vec![list, cart]),
        ("\"select users\"", vec![mail]),
    ] {
        let page = harness.query_json(&project, PATH, json!({ "query": query })).await;
        assert_eq!(names(&page), expected, "{query}");
        assert_eq!((&page["complete"], &page["pagination"]["total"]), (&json!(true), &json!(expected.len())));
        assert_eq!(column_of(&page["points"], "traceIds").len(), expected.len(), "every found trace is a point");
    }
}

fn column_of<'p>(points: &'p Value, name: &str) -> Vec<&'p Value> {
    points[name].as_array().expect("a list").iter().collect()
}

#[tokio::test]
async fn a_row_summarizes_its_trace() {
    let (harness, project) = shop().await;
    let page = harness.query_json(&project, PATH, json!({ "orderBy": "start_time", "sortDirection": "asc" })).await;
    let row = &page["data"][0];
    assert_eq!(row["traceId"], format!("{:032x}", 1));
    assert_eq!((&row["serviceName"], &row["httpStatus"]), (&json!("web"), &json!(200)));
    assert_eq!((&row["spans"], &row["errors"], &row["duration"]), (&json!(4), &json!(1), &json!(100_000_000)));
    assert_eq!(row["hasMissingParent"], false);
    // web: 100 - 80 of the root and 80 - 60 of its call; pay: 60 - 20, and 20 of the query.
    let services = row["services"].as_array().expect("a list");
    let parts: Vec<(&str, u64, i64)> = services
        .iter()
        .map(|one| {
            let share = (one["share"].as_f64().expect("a number") * 100.0).round() as i64;
            (one["service"].as_str().expect("a text"), one["spans"].as_u64().expect("a number"), share)
        })
        .collect();
    assert_eq!(parts, [("pay", 2, 60), ("web", 2, 40)]);
    assert!(row.get("attributes").is_none(), "a summary only");
    let mail = &page["data"][2];
    assert_eq!((&mail["name"], &mail["hasMissingParent"]), (&json!("mail.send"), &json!(true)));
    let points = &page["points"];
    assert_eq!(points["durations"], json!([5000.0, 10.0, 100.0]), "latest start first");
    assert_eq!(points["errors"], json!([false, false, true]));
}

#[tokio::test]
async fn traces_are_ordered_paged_and_selected_by_duration_and_start() {
    let (harness, project) = shop().await;
    let (cart, list, mail) = ("GET /cart", "GET /list", "mail.send");
    for (body, expected) in [
        (json!({ "orderBy": "duration" }), vec![mail, cart, list]),
        (json!({ "orderBy": "spans" }), vec![cart, mail, list]),
        (json!({ "orderBy": "errors", "sortDirection": "desc" }), vec![cart, mail, list]),
        (json!({ "orderBy": "duration", "sortDirection": "asc" }), vec![list, cart, mail]),
        (json!({ "pagination": { "page": 2, "pageSize": 2 } }), vec![cart]),
        (json!({ "minDurationMs": 50 }), vec![mail, cart]),
        (json!({ "minDurationMs": 50, "maxDurationMs": 100 }), vec![cart]),
        (json!({ "maxDurationMs": 50, "query": "!{error:true}" }), vec![list]),
        // Bounded by the start of the trace: later spans count, and a trace that began earlier is not in the range.
        (json!({ "toDate": "2026-06-01T12:00:00.015Z", "query": "service:pay" }), vec![cart]),
        (json!({ "fromDate": "2026-06-01T12:00:00.015Z", "query": "service:pay" }), vec![mail]),
    ] {
        assert_eq!(names(&harness.query_json(&project, PATH, body.clone()).await), expected, "{body}");
    }
    let settings = format!("/api/projects?projectId={}", project.id);
    harness.api("PUT", &settings, &json!({ "retentionDays": 7 })).await.expect(200);
    for (body, status) in [
        (json!({ "minDurationMs": -1 }), 422),
        (json!({ "minDurationMs": 2, "maxDurationMs": 1 }), 422),
        (json!({ "orderBy": "name" }), 400),
        (json!({ "fromDate": "2020-01-01T00:00:00Z" }), 422),
    ] {
        assert_eq!(harness.query(&project, PATH, body.clone()).await.status, status, "{body}");
    }
    for (query, position) in [("{a:b", 0), ("{a:b} >", 7), ("{duration>1kB}", 10), ("{a:b} > {scope.lang:x}", 9)] {
        let answer = harness.query(&project, PATH, json!({ "query": query })).await.expect(400).json();
        assert_eq!(answer["position"], position, "{query}: {answer}");
    }
}

// Beyond its bounds, a search says from when on it has found everything.
#[tokio::test]
async fn a_search_beyond_its_bounds_says_what_it_has_found() {
    let (harness, project) = Harness::with_project().await;
    let limit = tidewatch_limits::TRACE_MATCHES_MAX as u64;
    harness.send(&project, &[page(1 << 40, "/early", 0.0, 1.0)]).await;
    for part in 0..3 {
        let of_part = (0..limit / 3 + 1).map(|n| crate::otlp::span(part * limit + n)).collect();
        let body = crate::otlp::traces(of_part);
        harness.post_otlp("traces", &project.token, &[crate::otlp::PROTOBUF], &body).await.expect(200);
    }
    harness.send(&project, &[page(1 << 41, "/late", 30.0, 1.0)]).await;
    let page = harness.query_json(&project, PATH, json!({ "query": "duration>=0ms", "orderBy": "start_time" })).await;
    assert_eq!(page["complete"], false);
    assert_eq!(names(&page)[0], "GET /late");
    assert!(
        page["completeAfter"].as_str().is_some_and(|time| time < "2026-06-01T12:00:30"),
        "{}",
        page["completeAfter"]
    );
    let narrow = json!({ "query": "duration>=0ms route:/early" });
    let page = harness.query_json(&project, PATH, narrow).await;
    assert_eq!((&page["complete"], names(&page)), (&json!(true), vec!["GET /early"]));
}

// Issue 35, 5.3 and decision 0024: the points are of the whole range, the table is of the latest traces.
#[tokio::test]
async fn the_points_of_many_traces_are_an_even_sample_of_the_range() {
    const TRACES: u64 = 4000;
    const LENGTH: f64 = 10.0 * 3600.0;
    let (harness, project) = Harness::with_project().await;
    let second = |n: u64| LENGTH * n as f64 / TRACES as f64;
    let pages: Vec<Made> = (1..=TRACES).map(|n| page(n, "/cart", second(n), 10.0)).collect();
    harness.send(&project, &pages).await;
    let found = harness.query_json(&project, PATH, json!({})).await;
    assert_eq!(found["complete"], false);
    assert_eq!(found["data"][0]["traceId"], format!("{TRACES:032x}"), "the table has the latest first");
    let starts: Vec<i64> =
        found["points"]["starts"].as_array().expect("a list").iter().filter_map(Value::as_i64).collect();
    assert_eq!(starts.len(), tidewatch_limits::TRACE_SAMPLE_MAX);
    assert!(starts.is_sorted_by(|one, next| one >= next), "the latest first");
    let noon_ms = (crate::requests::NOON_NS / 1_000_000) as i64;
    for tenth in 0..10 {
        let within = |start: &&i64| ((**start - noon_ms) as f64 / 1000.0 / LENGTH * 10.0).ceil() as i64 - 1 == tenth;
        let count = starts.iter().filter(within).count();
        assert!((60..=140).contains(&count), "{count} points of the tenth {tenth}");
    }
    let rate = found["points"]["sampleRate"].as_f64().expect("a rate");
    assert!((rate * TRACES as f64 / starts.len() as f64 - 1.0).abs() < 0.15, "{rate}");
    let again = harness.query_json(&project, PATH, json!({ "orderBy": "duration" })).await;
    assert_eq!(again["points"], found["points"], "the same traces in every answer");
    let few = harness.query_json(&project, PATH, json!({ "fromDate": "2026-06-01T21:00:00Z" })).await;
    assert_eq!((&few["complete"], &few["points"]["sampleRate"]), (&json!(true), &json!(1.0)));
}
