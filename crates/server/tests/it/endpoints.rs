//! Endpoints and Tasks over the API: lists, ranking, statistics, charts, and one request with its trace.

use serde_json::{Value, json};

use crate::harness::{Harness, Project, text};
use crate::requests::{CLIENT, CONSUMER, NOON, SERVER, at, column, made, request};

/// Sends four fast requests, two slow ones, one failed, one stream, one UNMATCHED, and a task run.
async fn shop() -> (Harness, Project) {
    let (harness, project) = Harness::with_project().await;
    let mut spans: Vec<_> = (1..=4).map(|n| request(n, "/fast", 200, n as f64, 100.0 * n as f64)).collect();
    spans.extend((5..=6).map(|n| request(n, "/slow/:id", 200, n as f64, 9000.0)));
    spans.push(request(7, "/fast", 500, 7.0, 50.0).failed());
    let stream = request(8, "/events", 200, 8.0, 60_000.0);
    spans.push(stream.with("http.response.header.content-type", "text/event-stream"));
    spans.push(request(9, "/*", 404, 9.0, 1.0));
    spans.push(made(10, 10, CONSUMER, "mail.send", 10.0, 30.0));
    harness.send(&project, &spans).await;
    (harness, project)
}

#[tokio::test]
async fn single_requests_are_listed_sorted_filtered_and_paged() {
    let (harness, project) = shop().await;
    let all = harness.query_json(&project, "/api/endpoints", json!({})).await;
    assert_eq!(all["pagination"], json!({ "page": 1, "pageSize": 20, "total": 9, "totalPages": 1 }));
    assert_eq!(all["data"][0]["endpoint"], "UNMATCHED", "latest first");
    let row = &all["data"][8];
    assert_eq!(row["endpoint"], "GET /fast");
    assert_eq!(row["recordedAt"], "2026-06-01T12:00:01Z");
    assert_eq!(row["duration"], 100_000_000);
    assert_eq!(row["serverName"], "shop");
    assert_eq!(row["attributes"]["http.route"], "/fast");
    assert_eq!((&row["isRoot"], &row["isStream"], &row["parentSpanId"]), (&json!(true), &json!(false), &json!("")));

    let body = json!({ "orderBy": "duration", "sortDirection": "asc", "search": "FAST", "pagination": { "page": 2, "pageSize": 2 } });
    let fast = harness.query_json(&project, "/api/endpoints", body).await;
    assert_eq!(column(&fast, "duration"), [&json!(200_000_000), &json!(300_000_000)]);
    assert_eq!(fast["pagination"]["total"], 5);
    let none = harness.query_json(&project, "/api/endpoints", json!({ "rootFilter": "non_root" })).await;
    assert_eq!((none["data"].clone(), none["pagination"]["total"].clone()), (json!([]), json!(0)));
}

// Spec: entity rows, "Default ranking"; WIRE 8.1.
#[tokio::test]
async fn the_ranking_puts_the_worst_first_and_excludes_streams_from_latency() {
    let (harness, project) = shop().await;
    let ranking = harness.query_json(&project, "/api/endpoints/grouped", json!({})).await;
    let rows = ranking["data"].as_array().unwrap();
    let named = |name: &str| rows.iter().find(|row| row["endpoint"] == name).unwrap();
    assert_eq!(rows[0]["endpoint"], "GET /slow/:id");
    let slow = named("GET /slow/:id");
    assert_eq!((&slow["impactLevel"], &slow["count"]), (&json!("critical"), &json!(2)));
    assert_eq!(slow["impactReason"], "Apdex is 0.00");

    let fast = named("GET /fast");
    // 50, 100, 200, 300, 400 ms; index q * (n - 1).
    assert_eq!((&fast["p50Duration"], &fast["p95Duration"]), (&json!(200_000_000), &json!(380_000_000)));
    assert_eq!((&fast["errorCount"], &fast["avgDuration"]), (&json!(1), &json!(210_000_000)));
    assert_eq!(fast["apdex"], json!(0.8));
    let trend = fast["trend"].as_array().unwrap();
    assert_eq!(trend.len(), 24, "hours of the day");
    assert_eq!(trend.iter().map(|point| point["count"].as_u64().unwrap()).sum::<u64>(), 5);

    let stream = named("GET /events");
    assert_eq!(
        (&stream["p99Duration"], &stream["apdex"], &stream["streamCount"]),
        (&json!(0), &Value::Null, &json!(1))
    );
    assert_eq!(stream["impactLevel"], "good");
    assert_eq!((&named("UNMATCHED")["clientErrorCount"], &named("UNMATCHED")["impact"]), (&json!(1), &json!(0.0)));

    let body = json!({ "orderBy": "endpoint", "sortDirection": "asc", "pagination": { "pageSize": 2 } });
    let by_name = harness.query_json(&project, "/api/endpoints/grouped", body).await;
    assert_eq!(column(&by_name, "endpoint"), ["GET /events", "GET /fast"]);
    assert_eq!(by_name["pagination"]["total"], 4);
}

#[tokio::test]
async fn a_slow_offset_is_subtracted_from_durations() {
    let (harness, project) = shop().await;
    let path = "/api/endpoints/slow?endpoint=GET%20%2Fslow%2F%3Aid";
    assert_eq!(harness.got(&project, path).await, json!({ "offsetMs": 0, "reason": "" }));
    let slow = json!({ "endpoint": "GET /slow/:id", "offsetMs": 10_000, "reason": "a report" });
    harness.query_json(&project, "/api/endpoints/slow", slow).await;
    assert_eq!(harness.got(&project, path).await, json!({ "offsetMs": 10_000, "reason": "a report" }));
    let ranking = harness.query_json(&project, "/api/endpoints/grouped", json!({ "search": "slow" })).await;
    let row = &ranking["data"][0];
    assert_eq!((&row["impactLevel"], &row["apdex"]), (&json!("good"), &json!(1.0)));
    let wrong = json!({ "endpoint": "GET /slow/:id", "offsetMs": -1 });
    harness.query(&project, "/api/endpoints/slow", wrong).await.expect(422);
}

// Apdex at 500 and 2000 ms on this page. WIRE 8.1.
#[tokio::test]
async fn one_endpoint_has_its_statistics() {
    let (harness, project) = shop().await;
    let page = harness.query_json(&project, "/api/endpoints/endpoint?endpoint=GET%20%2Ffast", json!({})).await;
    let stats = &page["stats"];
    assert_eq!(
        (&stats["count"], &stats["medianDuration"], &stats["avgDuration"]),
        (&json!(5), &json!(200.0), &json!(210.0))
    );
    assert_eq!(
        (&stats["apdex"], &stats["errorRate"], &stats["clientErrorRate"]),
        (&json!(0.8), &json!(0.2), &json!(0.0))
    );
    // All requests of the project are within one minute.
    assert_eq!(stats["throughput"], json!(5.0));
    assert_eq!(page["statusCounts"], json!({ "200": 4, "500": 1 }));
    assert_eq!(page["pagination"]["total"], 5);
    let quiet = json!({ "fromDate": "2026-05-01T00:00:00Z", "toDate": "2026-05-02T00:00:00Z" });
    let quiet = harness.query_json(&project, "/api/endpoints/endpoint?endpoint=GET%20%2Ffast", quiet).await;
    assert_eq!(
        (&quiet["data"], &quiet["stats"]["apdex"], &quiet["stats"]["count"]),
        (&json!([]), &Value::Null, &json!(0))
    );
    harness.query(&project, "/api/endpoints/endpoint", json!({})).await.expect(400);
}

// A name that was never recorded is not found in any range; a name without calls in the range is found.
#[tokio::test]
async fn a_name_that_was_never_recorded_is_not_found() {
    let (harness, project) = shop().await;
    for path in
        ["/api/endpoints/endpoint?endpoint=none", "/api/tasks/task?task=none", "/api/ai-traces/trace?trace=none"]
    {
        let answer = harness.query(&project, path, json!({})).await.expect(404);
        assert!(text(&answer.json()["error"]).contains("never recorded"), "{path}");
    }
    let other_day = json!({ "fromDate": "2026-05-01T00:00:00Z", "toDate": "2026-05-02T00:00:00Z" });
    harness.query(&project, "/api/tasks/task?task=mail.send", other_day).await.expect(200);
    let nothing_matches = json!({ "search": "no attribute has this" });
    harness.query(&project, "/api/endpoints/endpoint?endpoint=GET%20%2Ffast", nothing_matches).await.expect(200);
}

// The range is a day, with requests during ten minutes of it.
#[tokio::test]
async fn throughput_is_over_the_minutes_with_data() {
    let (harness, project) = Harness::with_project().await;
    let mut spans: Vec<_> = (0..=10).map(|n| request(n + 1, "/often", 200, 60.0 * n as f64, 5.0)).collect();
    spans.extend((0..2).map(|n| request(n + 20, "/rare", 200, 90.0 + n as f64, 5.0)));
    spans.extend((0..4).map(|n| made(n + 30, n + 30, CONSUMER, "mail.send", 60.0 * n as f64, 5.0)));
    harness.send(&project, &spans).await;
    for (path, expected) in [
        ("/api/endpoints/endpoint?endpoint=GET%20%2Foften", 11.0 / 10.0),
        ("/api/endpoints/endpoint?endpoint=GET%20%2Frare", 2.0 / 10.0),
        ("/api/tasks/task?task=mail.send", 4.0 / 3.0),
    ] {
        let page = harness.query_json(&project, path, json!({})).await;
        assert_eq!(page["stats"]["throughput"], json!(expected), "{path}");
    }
    let part = json!({ "fromDate": "2026-06-01T12:05:00Z", "toDate": "2026-06-01T12:08:30Z" });
    let page = harness.query_json(&project, "/api/endpoints/endpoint?endpoint=GET%20%2Foften", part).await;
    assert_eq!(page["stats"]["throughput"], json!(4.0 / 3.0), "four requests from 12:05 to 12:08");
}

// A status of 400 to 499 is a client error, also when the span's status is Error.
#[tokio::test]
async fn status_4xx_counts_as_a_client_error() {
    let (harness, project) = Harness::with_project().await;
    let spans = [
        request(1, "/pay", 200, 0.0, 5.0),
        request(2, "/pay", 402, 1.0, 5.0).failed(),
        request(3, "/pay", 402, 2.0, 5.0).failed(),
        request(4, "/pay", 500, 3.0, 5.0).failed(),
        request(5, "/slow", 200, 4.0, 9000.0),
        request(6, "/unanswered", 200, 5.0, 5.0).failed(),
    ];
    harness.send(&project, &spans).await;
    let page = harness.query_json(&project, "/api/endpoints/endpoint?endpoint=GET%20%2Fpay", json!({})).await;
    let stats = &page["stats"];
    assert_eq!(
        (&stats["serverErrorRate"], &stats["clientErrorRate"], &stats["errorRate"]),
        (&json!(0.25), &json!(0.5), &json!(0.75))
    );
    let body = json!({ "orderBy": "server_error_rate" });
    let ranking = harness.query_json(&project, "/api/endpoints/grouped", body).await;
    assert_eq!(column(&ranking, "endpoint"), ["GET /unanswered", "GET /pay", "GET /slow"]);
    assert_eq!(column(&ranking, "serverErrorCount"), [&json!(1), &json!(1), &json!(0)]);
    assert_eq!(ranking["data"][1]["errorCount"], 3);
}

#[tokio::test]
async fn the_chart_has_five_lines_and_other_and_gaps_are_gaps() {
    let (harness, project) = Harness::with_project().await;
    let spans: Vec<_> = (1..=7).map(|n| request(n, &format!("/r{n}"), 200, 60.0, 100.0 * n as f64)).collect();
    harness.send(&project, &spans).await;
    let body = json!({ "fromDate": NOON, "toDate": "2026-06-01T13:00:00Z", "metricType": "total_time" });
    let chart = harness.query_json(&project, "/api/endpoints/chart", body).await;
    assert_eq!(chart["intervalMinutes"], 1);
    assert_eq!(chart["endpoints"], json!(["GET /r7", "GET /r6", "GET /r5", "GET /r4", "GET /r3", "Other"]));
    let series = chart["series"].as_array().unwrap();
    assert_eq!(series.len(), 6, "one bucket with traffic, {series:?}");
    assert_eq!(series[0], json!({ "timestamp": "2026-06-01T12:01:00Z", "endpoint": "GET /r7", "value": 700.0 }));
    assert_eq!(series[5], json!({ "timestamp": "2026-06-01T12:01:00Z", "endpoint": "Other", "value": 300.0 }));
    let body = json!({ "metricType": "count", "endpoint": "GET /r1" });
    let one = harness.query_json(&project, "/api/endpoints/chart", body).await;
    assert_eq!((&one["endpoints"], &one["series"][0]["value"]), (&json!(["GET /r1"]), &json!(1.0)));
}

#[tokio::test]
async fn the_chart_of_an_endpoint_is_split_by_status_and_service() {
    let (harness, project) = Harness::with_project().await;
    let spans: Vec<_> = (1..=8)
        .map(|n| request(n, if n == 8 { "/b" } else { "/a" }, if n <= 2 { 500 } else { 200 }, 60.0, 100.0))
        .collect();
    harness.send(&project, &spans).await;
    let chart = async |group_by: &str, endpoint: Value| {
        let body = json!({ "metricType": "count", "endpoint": endpoint, "groupBy": group_by });
        harness.query_json(&project, "/api/endpoints/chart", body).await
    };
    let by_status = chart("status", json!("GET /a")).await;
    let counts: Vec<_> = by_status["series"].as_array().unwrap().iter().map(|point| &point["value"]).collect();
    assert_eq!((&by_status["endpoints"], counts), (&json!(["200", "500"]), vec![&json!(5.0), &json!(2.0)]));
    // An empty name selects every Endpoint, as without one.
    assert_eq!(chart("status", json!("")).await["series"][0]["value"], json!(6.0));
    let by_service = chart("service", json!("GET /a")).await;
    assert_eq!(by_service["endpoints"].as_array().unwrap().len(), 1, "{by_service}");
    assert_eq!(by_service["series"][0]["value"], json!(7.0));
    let by_version = chart("version", json!("GET /a")).await;
    assert_eq!(by_version["series"][0]["value"], json!(7.0), "{by_version}");
    let body = json!({ "groupBy": "host" });
    harness.query(&project, "/api/endpoints/chart", body).await.expect(400);
}

#[tokio::test]
async fn one_request_comes_with_its_trace_and_exceptions() {
    let (harness, project) = Harness::with_project().await;
    let spans = [
        request(1, "/pay", 500, 0.0, 500.0).failed(),
        made(1, 3, CLIENT, "SELECT", 0.2, 10.0).parent(1).with("db.query.text", "select 1"),
        made(1, 2, 1, "charge", 0.1, 300.0).parent(1).exception("PayError", "declined"),
        made(1, 4, 1, "lost", 0.3, 1.0).parent(99),
    ];
    harness.send(&project, &spans).await;
    let list = harness.query_json(&project, "/api/endpoints", json!({ "search": "/pay" })).await;
    let id = text(&list["data"][0]["id"]);
    let path = format!("/api/endpoints/{id}");
    for body in [json!({ "recordedAt": NOON }), json!({}), json!({ "recordedAt": "2026-01-01T00:00:00Z" })] {
        let detail = harness.query_json(&project, &path, body).await;
        assert_eq!(detail["endpoint"]["id"], json!(id));
        let shown: Vec<(&str, u64)> = detail["spans"]
            .as_array()
            .unwrap()
            .iter()
            .map(|span| (span["name"].as_str().unwrap(), span["depth"].as_u64().unwrap()))
            .collect();
        assert_eq!(shown, [("GET", 0), ("charge", 1), ("SELECT", 1), ("lost", 0)], "parents before children, by time");
        assert_eq!(detail["spans"][0]["entityName"], "GET /pay");
        assert_eq!(detail["spans"][0]["entityId"], json!(id));
        assert_eq!(detail["spans"][2]["dbStatement"], "select 1");
        assert_eq!(detail["spans"][3]["hasMissingParent"], true);
        let status = json!({ "state": "partial", "reasons": ["missing_parents"], "total": 4, "shown": 4 });
        assert_eq!(detail["spanGraphStatus"], status);
        assert_eq!(detail["hasSpans"], true);
        assert_eq!(detail["exceptions"][0]["message"], "declined");
        assert_eq!(detail["exception"]["exceptionHash"], detail["exceptions"][0]["exceptionHash"]);
    }
    let unknown = "/api/endpoints/00000000-0000-5000-8000-000000000000";
    harness.query(&project, unknown, json!({})).await.expect(404);
    harness.query(&project, "/api/endpoints/7", json!({})).await.expect(400);
}

// Spec: span, rule 3: 24 hours before and after.
#[tokio::test]
async fn spans_further_away_are_counted_as_outside_the_window() {
    let (harness, project) = Harness::with_project().await;
    let day = 24.0 * 3600.0;
    let spans = [
        request(1, "/long", 200, 0.0, 10.0),
        made(1, 2, 1, "at the edge", day, 1.0).parent(1),
        made(1, 3, 1, "too late", day + 1.0, 1.0).parent(1),
    ];
    harness.send(&project, &spans).await;
    let list = harness.query_json(&project, "/api/endpoints", json!({})).await;
    let path = format!("/api/endpoints/{}", text(&list["data"][0]["id"]));
    let detail = harness.query_json(&project, &path, json!({ "recordedAt": NOON })).await;
    assert_eq!(detail["spans"].as_array().unwrap().len(), 2);
    let status = json!({ "state": "partial", "reasons": ["window"], "total": 2, "shown": 2 });
    assert_eq!(detail["spanGraphStatus"], status);
}

#[tokio::test]
async fn tasks_are_ranked_by_count_times_spread() {
    let (harness, project) = Harness::with_project().await;
    let mut spans: Vec<_> = (1..=3).map(|n| made(n, n, CONSUMER, "even", n as f64, 100.0)).collect();
    spans.extend((4..=5).map(|n| made(n, n, CONSUMER, "uneven", n as f64, 100.0 * (n - 3) as f64)));
    spans.push(made(9, 8, SERVER, "GET", 0.0, 5.0).with("http.request.method", "GET").with("http.route", "/a"));
    spans.push(made(9, 9, CONSUMER, "even", 0.1, 100.0).parent(8).failed());
    harness.send(&project, &spans).await;
    let ranking = harness.query_json(&project, "/api/tasks/grouped", json!({})).await;
    assert_eq!(column(&ranking, "taskName"), ["uneven", "even"]);
    assert_eq!(ranking["data"][0]["impact"], json!(2.0 * 45e6), "2 x (195 ms - 150 ms)");
    let even = &ranking["data"][1];
    assert_eq!((&even["count"], &even["errorCount"], &even["impact"]), (&json!(4), &json!(1), &json!(0.0)));
    assert_eq!((&even["hasRoot"], &even["hasNonRoot"]), (&json!(true), &json!(true)));

    // The order has the name of the field.
    let body = json!({ "orderBy": "task_name", "sortDirection": "asc" });
    assert_eq!(column(&harness.query_json(&project, "/api/tasks/grouped", body).await, "taskName"), ["even", "uneven"]);

    let page = harness.query_json(&project, "/api/tasks/task?task=even", json!({ "rootFilter": "non_root" })).await;
    assert_eq!((&page["pagination"]["total"], &page["stats"]["errorRate"]), (&json!(1), &json!(1.0)));
    let row = &page["data"][0];
    let path = format!("/api/tasks/{}", text(&row["id"]));
    let detail = harness.query_json(&project, &path, json!({ "recordedAt": row["recordedAt"] })).await;
    assert_eq!(detail["task"]["taskName"], "even");
    assert_eq!(detail["spans"][1]["isTask"], true);
    let chart = harness.query_json(&project, "/api/tasks/chart", json!({ "metricType": "p50" })).await;
    assert_eq!(chart["tasks"], json!(["even", "uneven"]));
}

#[tokio::test]
async fn bad_requests_get_an_error_message() {
    let (harness, project) = Harness::with_project().await;
    for (body, status) in [
        (json!({ "toDate": "2026-05-01T00:00:00Z" }), 422),
        (json!({ "fromDate": "noon" }), 400),
        (json!({ "orderBy": "colour" }), 400),
        (json!({ "rootFilter": "half" }), 400),
        (json!({ "pagination": { "page": 0 } }), 422),
        (json!({ "pagination": { "pageSize": 101 } }), 422),
        (json!({ "pagination": 7 }), 400),
    ] {
        let answer = harness.query(&project, "/api/endpoints", body.clone()).await;
        assert_eq!(answer.status, status, "{body}");
        assert!(answer.json()["error"].is_string());
    }
    harness.api("POST", "/api/endpoints", &json!({})).await.expect(400);
    let stranger = Project { id: "a1a2a3a4-b1b2-c1c2-d1d2-d3d4d5d6d7d8".to_owned(), token: String::new() };
    harness.api("POST", &at("/api/endpoints", &stranger), &json!({})).await.expect(403);
}

// DECISIONS 13: counts of sampled data are weighted.
#[tokio::test]
async fn counts_of_sampled_data_are_weighted() {
    let (harness, project) = Harness::with_project().await;
    let half = json!({ "sampleRate": 0.5 });
    harness.api("PUT", &at("/api/projects", &project), &half).await.expect(200);
    // Trace ids whose hashes cover the whole range.
    let spans: Vec<_> = (1..=200)
        .map(|n| request(u64::wrapping_mul(n, 0x9e37_79b9_7f4a_7c15) >> 1 | 1, "/a", 200, 1.0, 10.0))
        .collect();
    harness.send(&project, &spans).await;
    let kept = harness.query_json(&project, "/api/endpoints", json!({})).await["pagination"]["total"].as_u64().unwrap();
    assert!((1..200).contains(&kept), "{kept} of 200");
    let ranking = harness.query_json(&project, "/api/endpoints/grouped", json!({})).await;
    assert_eq!(ranking["data"][0]["count"], json!(2 * kept));
    let page = harness.query_json(&project, "/api/endpoints/endpoint?endpoint=GET%20%2Fa", json!({})).await;
    assert_eq!((&page["stats"]["count"], &page["statusCounts"]["200"]), (&json!(2 * kept), &json!(2 * kept)));
    assert_eq!(page["pagination"]["total"], json!(kept));
    let chart = harness.query_json(&project, "/api/endpoints/chart", json!({ "metricType": "count" })).await;
    assert_eq!(chart["series"][0]["value"], json!(2.0 * kept as f64));
}
