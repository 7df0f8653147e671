//! Spans that their senders sampled: every count, rate, percentile and sum is an estimate of what was sampled, and says
//! how many rows it is estimated from. docs/decisions/0012.

use serde_json::{Value, json};

use crate::harness::Harness;
use crate::requests::{CLIENT, CONSUMER, FROM, Made, TO, at, made, request};

/// One in ten, as the OpenTelemetry samplers write it.
const ONE_IN_TEN: &str = "vendor=1,ot=th:e6666666666666;rv:f0000000000000";

fn near(found: &Value, expected: f64) {
    let number = found.as_f64().unwrap_or(f64::NAN);
    assert!((number - expected).abs() < 1e-6 * expected.abs(), "{found} instead of {expected}");
}

fn counts(of: &Value) -> (u64, u64) {
    (of["count"].as_u64().expect("a count"), of["storedCount"].as_u64().expect("a number of rows"))
}

/// Two served requests and a failed one of `/a`, one in ten each; one of `/b` that was not sampled.
fn shop() -> Vec<Made> {
    vec![
        request(1, "/a", 200, 0.0, 10.0).state(ONE_IN_TEN),
        request(2, "/a", 200, 1.0, 10.0).state(ONE_IN_TEN),
        request(3, "/a", 500, 2.0, 90.0).state(ONE_IN_TEN).exception("PayError", "declined"),
        request(4, "/b", 200, 3.0, 10.0),
    ]
}

// Requirement: 1-in-10 data gives estimates everywhere.
#[tokio::test]
async fn endpoints_are_estimated() {
    let (harness, project) = Harness::with_project().await;
    harness.send(&project, &shop()).await;

    let ranking = harness.query_json(&project, "/api/endpoints/grouped", json!({ "orderBy": "count" })).await;
    let [sampled, whole] = [&ranking["data"][0], &ranking["data"][1]];
    assert_eq!((&sampled["endpoint"], counts(sampled)), (&json!("GET /a"), (30, 3)));
    assert_eq!((&sampled["errorCount"], &sampled["serverErrorCount"]), (&json!(10), &json!(10)));
    assert_eq!((&whole["endpoint"], counts(whole)), (&json!("GET /b"), (1, 1)));
    // 20 copies of 10 ms and 10 of 90 ms.
    assert_eq!((&sampled["p50Duration"], &sampled["p95Duration"]), (&json!(10_000_000), &json!(90_000_000)));
    let trend: u64 = sampled["trend"].as_array().unwrap().iter().map(|point| point["count"].as_u64().unwrap()).sum();
    assert_eq!(trend, 30);

    let page = harness.query_json(&project, "/api/endpoints/endpoint?endpoint=GET%20%2Fa", json!({})).await;
    assert_eq!((counts(&page["stats"]), &page["pagination"]["total"]), ((30, 3), &json!(3)));
    assert_eq!(page["statusCounts"], json!({ "200": 20, "500": 10 }));
    near(&page["stats"]["throughput"], 30.0);
    near(&page["stats"]["errorRate"], 1.0 / 3.0);
    near(&page["stats"]["avgDuration"], 110.0 / 3.0);

    let body = json!({ "metricType": "count", "endpoint": "GET /a" });
    let chart = harness.query_json(&project, "/api/endpoints/chart", body).await;
    near(&chart["series"][0]["value"], 30.0);
}

#[tokio::test]
async fn issues_take_the_weight_of_their_span() {
    let (harness, project) = Harness::with_project().await;
    harness.send(&project, &shop()).await;
    let list = harness.query_json(&project, "/api/exception-stack-traces", json!({})).await;
    let issue = &list["data"][0];
    assert_eq!((counts(issue), &list["pagination"]["total"]), ((10, 1), &json!(1)));
    let trend = issue["hourlyTrend"].as_array().unwrap();
    assert_eq!(trend.iter().map(|point| point["count"].as_u64().unwrap()).sum::<u64>(), 10);

    let path = format!("/api/exception-stack-traces/{}", issue["exceptionHash"].as_str().unwrap());
    let detail = harness.query_json(&project, &path, json!({})).await;
    assert_eq!((counts(&detail["group"]), &detail["pagination"]["total"]), ((10, 1), &json!(1)));
    assert_eq!((&detail["taggedCount"], &detail["taggedStoredCount"]), (&json!(10), &json!(1)));
    let service = detail["tags"].as_array().unwrap().iter().find(|tag| tag["key"] == "server_name").unwrap();
    assert_eq!((&service["count"], &service["values"][0]["count"]), (&json!(10), &json!(10)));
}

#[tokio::test]
async fn tasks_and_model_calls_are_estimated_from_attributes() {
    let (harness, project) = Harness::with_project().await;
    let call = |n: u64| {
        made(n, n, CLIENT, "chat", n as f64, 100.0)
            .with("gen_ai.operation.name", "chat")
            .with("gen_ai.request.model", "unheard-of")
            .with_int("gen_ai.usage.input_tokens", 100)
            .with_int("gen_ai.usage.output_tokens", 20)
            .with("gen_ai.usage.total_cost", "0.5")
    };
    let task = |n: u64| made(n, n, CONSUMER, "mail.send", n as f64, 30.0);
    let spans =
        [task(1).with_int("SampleRate", 4), task(2).failed(), call(3).with("sampling.probability", "0.1"), call(4)];
    harness.send(&project, &spans).await;

    let tasks = harness.query_json(&project, "/api/tasks/grouped", json!({})).await;
    assert_eq!((counts(&tasks["data"][0]), &tasks["data"][0]["errorCount"]), ((5, 2), &json!(1)));
    let page = harness.query_json(&project, "/api/tasks/task?task=mail.send", json!({})).await;
    assert_eq!(counts(&page["stats"]), (5, 2));
    near(&page["stats"]["errorRate"], 0.2);

    let calls = harness.query_json(&project, "/api/ai-traces/grouped", json!({})).await;
    assert_eq!((counts(&calls["data"][0]), &calls["data"][0]["totalTokens"]), ((11, 2), &json!(1320)));
    near(&calls["data"][0]["totalCost"], 5.5);
    near(&calls["data"][0]["avgInputTokens"], 100.0);
    let page = harness.query_json(&project, "/api/ai-traces/trace?trace=chat", json!({})).await;
    assert_eq!((counts(&page["stats"]), &page["stats"]["inputTokens"]), ((11, 2), &json!(1100)));
    near(&page["stats"]["totalCost"], 5.5);
    let chart = harness.query_json(&project, "/api/ai-traces/chart", json!({ "metricType": "cost" })).await;
    near(&chart["series"][0]["value"], 5.5);
}

#[tokio::test]
async fn the_overview_and_the_services_are_estimated() {
    let (harness, project) = Harness::with_project().await;
    harness.send(&project, &shop()).await;
    let overview = harness.got(&project, &format!("/api/dashboard/overview?from={FROM}&to={TO}")).await;
    let of = |counts: &Value| ["endpoints", "issues", "spans", "logs"].map(|key| counts[key].as_u64().unwrap());
    assert_eq!((of(&overview["counts"]), of(&overview["storedCounts"])), ([31, 10, 31, 0], [4, 1, 4, 0]));
    assert_eq!(counts(&overview["recentIssues"][0]), (10, 1));

    let range = "from=2026-06-01T12:00:00Z&to=2026-06-01T12:30:00Z";
    let services = harness.got(&project, &format!("/api/services?{range}")).await;
    assert_eq!(counts(&services["promoted"]["endpoints"]), (31, 4));
    assert_eq!(counts(&services["promoted"]["issues"]), (10, 1));
}

// DECISIONS 13: the project's own sampling applies to what arrives, so both weights multiply.
#[tokio::test]
async fn weights_multiply_with_those_of_the_project() {
    let (harness, project) = Harness::with_project().await;
    let half = json!({ "sampleRate": 0.5 });
    harness.api("PUT", &at("/api/projects", &project), &half).await.expect(200);
    let spans: Vec<_> = (1..=100)
        .map(|n| request(u64::wrapping_mul(n, 0x9e37_79b9_7f4a_7c15) >> 1 | 1, "/a", 200, 1.0, 10.0).state(ONE_IN_TEN))
        .collect();
    harness.send(&project, &spans).await;
    let ranking = harness.query_json(&project, "/api/endpoints/grouped", json!({})).await;
    let (count, stored) = counts(&ranking["data"][0]);
    assert!((1..100).contains(&stored), "{stored} of 100");
    assert_eq!(count, 20 * stored);
}
