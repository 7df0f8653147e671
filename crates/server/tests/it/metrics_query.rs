//! `/api/metrics/…` over the API. Spec: `/api/metrics/query`, rules 1 to 5; WIRE 3.1.

use serde_json::{Value, json};

use crate::harness::{Harness, Project};
use crate::requests::{NOON, NOON_NS, at, resource};

const ONE: &str = "2026-06-01T13:00:00Z";

fn point(second: u64, value: f64, queue: &str) -> Value {
    let mut point = json!({ "timeUnixNano": (NOON_NS + second * 1_000_000_000).to_string(), "asDouble": value });
    point["attributes"] = match queue {
        "" => json!([]),
        queue => json!([{ "key": "queue", "value": { "stringValue": queue } }]),
    };
    point
}

async fn send(harness: &Harness, project: &Project, metrics: Value) {
    let metrics =
        json!({ "resourceMetrics": [{ "resource": resource("shop"), "scopeMetrics": [{ "metrics": metrics }] }] });
    harness.post_json("metrics", &project.token, &metrics).await.expect(200);
}

async fn shop() -> (Harness, Project) {
    let (harness, project) = Harness::with_project().await;
    let gauge = [point(0, 1.0, "mail"), point(30, 3.0, "mail"), point(60, 8.0, "print"), point(61, 2.0, "")];
    let counter = [point(0, 10.0, ""), point(60, 40.0, ""), point(120, 100.0, ""), point(180, 5.0, "")];
    let histogram = json!({
        "timeUnixNano": NOON_NS.to_string(), "count": "4", "sum": 100.0, "attributes": [],
        "explicitBounds": [10.0, 20.0, 40.0], "bucketCounts": ["0", "2", "2", "0"],
    });
    let metrics = json!([
        { "name": "queue.length", "unit": "{job}", "gauge": { "dataPoints": gauge } },
        { "name": "jobs", "unit": "1", "sum": { "dataPoints": counter, "aggregationTemporality": 2, "isMonotonic": true } },
        { "name": "job.time", "unit": "ms", "histogram": { "dataPoints": [histogram], "aggregationTemporality": 1 } },
    ]);
    send(&harness, &project, metrics).await;
    (harness, project)
}

async fn query(harness: &Harness, project: &Project, query: Value) -> Value {
    let body = json!({ "queries": [query], "from": NOON, "to": ONE });
    harness.api("POST", &at("/api/metrics/query", project), &body).await.expect(200).json()
}

fn values(series: &Value) -> Vec<f64> {
    series.as_array().into_iter().flatten().filter_map(|point| point["value"].as_f64()).collect()
}

#[tokio::test]
async fn aggregations() {
    let (harness, project) = shop().await;
    for (aggregation, expected) in [
        ("avg", vec![2.0, 5.0]),
        ("sum", vec![4.0, 10.0]),
        ("count", vec![2.0, 2.0]),
        ("min", vec![1.0, 2.0]),
        ("max", vec![3.0, 8.0]),
        ("last", vec![3.0, 2.0]),
        ("p50", vec![2.0, 5.0]),
    ] {
        let request = json!({ "name": "queue.length", "aggregation": aggregation });
        let answer = query(&harness, &project, request).await;
        let result = &answer["results"][0];
        assert_eq!(values(&result["series"]["__all__"]), expected, "{aggregation}");
        assert_eq!(result["series"]["__all__"][1]["timestamp"], "2026-06-01T12:01:00Z");
        let unit = if aggregation == "count" { "count" } else { "{job}" };
        assert_eq!(result["unit"], unit, "{aggregation}");
        assert_eq!((&answer["intervalMinutes"], &result["intervalMinutes"]), (&json!(1), &json!(1)));
        assert_eq!(result["truncatedGroups"], Value::Null, "omitted when false");
    }
    let unknown = query(&harness, &project, json!({ "name": "nothing" })).await;
    assert_eq!(unknown["results"][0]["series"], json!({}));
}

// DECISIONS 16: stored as is. 2^53 + 1 is not a double; neighbours that round to the same double stay two values.
#[tokio::test]
async fn integers_beyond_doubles_keep_their_value() {
    let (harness, project) = Harness::with_project().await;
    let int = |second: u64, value: i64| {
        let time = (NOON_NS + second * 1_000_000_000).to_string();
        json!({ "timeUnixNano": time, "asInt": value.to_string() })
    };
    let (low, high) = ((1 << 53) + 1, i64::MAX - 1);
    let sum = |points: Vec<Value>| json!({ "dataPoints": points, "aggregationTemporality": 2, "isMonotonic": true });
    let metrics = json!([
        { "name": "bytes", "sum": sum(vec![int(0, low), int(1, high), int(60, -low), int(61, 5), int(120, 7)]) },
        // A double later than the integer.
        { "name": "mixed", "gauge": { "dataPoints": [int(0, high), point(30, 2.5, "")] } },
    ]);
    send(&harness, &project, metrics).await;
    let aggregate = async |name: &str, aggregation: &str| {
        let answer = query(&harness, &project, json!({ "name": name, "aggregation": aggregation })).await;
        let points = answer["results"][0]["series"]["__all__"].as_array().expect("points").clone();
        points.into_iter().map(|point| point["value"].to_string()).collect::<Vec<_>>()
    };
    let strings = |values: &[i64]| values.iter().map(i64::to_string).collect::<Vec<_>>();
    assert_eq!(aggregate("bytes", "min").await, [strings(&[low, -low]), vec!["7.0".to_owned()]].concat());
    assert_eq!(aggregate("bytes", "max").await[..2], [high.to_string(), "5.0".to_owned()]);
    assert_eq!(aggregate("bytes", "last").await[..2], [high.to_string(), "5.0".to_owned()]);
    assert_eq!(aggregate("mixed", "last").await, ["2.5"]);
    assert_eq!(aggregate("mixed", "max").await, strings(&[high]));
}

// WIRE 3.1 "rate": per second, without resets.
#[tokio::test]
async fn the_rate_of_a_counter_leaves_resets_out() {
    let (harness, project) = shop().await;
    let answer = query(&harness, &project, json!({ "name": "jobs", "aggregation": "rate" })).await;
    let series = &answer["results"][0]["series"]["__all__"];
    let of_minute = |minute: &str| {
        let mut points = series.as_array().unwrap().iter();
        points.find(|point| point["timestamp"] == minute).map(|point| point["value"].as_f64().unwrap())
    };
    assert_eq!(of_minute("2026-06-01T12:01:00Z"), Some(0.5));
    assert_eq!(of_minute("2026-06-01T12:02:00Z"), Some(1.0));
    assert!(of_minute("2026-06-01T12:03:00Z").is_none_or(|value| (0.0..=5.0 / 60.0).contains(&value)), "{series}");
}

// DECISIONS 16: the buckets of histograms are stored for percentiles.
#[tokio::test]
async fn percentiles_come_from_a_histograms_buckets() {
    let (harness, project) = shop().await;
    for name in ["job.time", "job.time.avg", "job.time.count"] {
        let answer = query(&harness, &project, json!({ "name": name, "aggregation": "p50" })).await;
        let p50 = values(&answer["results"][0]["series"]["__all__"]);
        assert_eq!(p50.len(), 1, "{name}");
        assert!((10.0..=20.0).contains(&p50[0]), "{name}: {p50:?}");
    }
    let average = query(&harness, &project, json!({ "name": "job.time.avg" })).await;
    assert_eq!(values(&average["results"][0]["series"]["__all__"]), [25.0]);
}

#[tokio::test]
async fn groups_and_filters() {
    let (harness, project) = shop().await;
    let grouped =
        query(&harness, &project, json!({ "name": "queue.length", "aggregation": "max", "groupBy": "queue" })).await;
    let series = &grouped["results"][0]["series"];
    assert_eq!(values(&series["mail"]), [3.0]);
    assert_eq!(values(&series["print"]), [8.0]);
    assert_eq!(values(&series[""]), [2.0], "points without the tag");
    let by_service = query(&harness, &project, json!({ "name": "queue.length", "groupBy": "server_name" })).await;
    assert_eq!(values(&by_service["results"][0]["series"]["shop"]).len(), 2);
    let filters = json!({ "queue": "mail", "server_name": "shop" });
    let filtered = query(&harness, &project, json!({ "name": "queue.length", "tagFilters": filters })).await;
    assert_eq!(values(&filtered["results"][0]["series"]["__all__"]), [2.0]);
}

// Spec: /api/metrics/query, rule 4.
#[tokio::test]
async fn at_most_200_groups() {
    let (harness, project) = Harness::with_project().await;
    for (name, count) in [("exactly", 200), ("more", 201)] {
        let points: Vec<Value> = (0..count).map(|n| point(n % 50, n as f64, &format!("q{n:03}"))).collect();
        send(&harness, &project, json!([{ "name": name, "gauge": { "dataPoints": points } }])).await;
        for aggregation in ["avg", "rate", "p99"] {
            let request = json!({ "name": name, "groupBy": "queue", "aggregation": aggregation });
            let answer = query(&harness, &project, request).await;
            let result = &answer["results"][0];
            let is_cut = count > 200;
            assert_eq!(result["truncatedGroups"], if is_cut { json!(true) } else { Value::Null }, "{name}");
            if aggregation != "rate" {
                let keys: Vec<&String> = result["series"].as_object().unwrap().keys().collect();
                assert_eq!((keys.len(), keys[199].as_str()), (200, "q199"), "the first in order");
            }
        }
    }
    // Points without the tag form one of the groups.
    send(&harness, &project, json!([{ "name": "more", "gauge": { "dataPoints": [point(9, 1.0, "")] } }])).await;
    let answer = query(&harness, &project, json!({ "name": "more", "groupBy": "queue" })).await;
    let series = answer["results"][0]["series"].as_object().unwrap();
    assert_eq!((series.len(), series.contains_key(""), series.contains_key("q199")), (200, true, false));
}

// Spec: /api/metrics/query, rules 1 to 3.
#[tokio::test]
async fn bounds_over_http() {
    let (harness, project) = Harness::with_project().await;
    let one = json!({ "name": "m" });
    let filters: serde_json::Map<String, Value> = (0..21).map(|n| (format!("k{n}"), json!("v"))).collect();
    for (body, status) in [
        (json!({ "queries": [one], "from": NOON, "to": NOON }), 200),
        (json!({ "queries": vec![one.clone(); 50], "from": NOON, "to": ONE }), 200),
        (json!({ "queries": vec![one.clone(); 51], "from": NOON, "to": ONE }), 422),
        (json!({ "queries": [{ "name": "m", "tagFilters": filters }], "from": NOON, "to": ONE }), 422),
        (json!({ "queries": [one], "from": ONE, "to": NOON }), 422),
        (json!({ "queries": [one], "from": "2020-01-01T00:00:00Z", "to": ONE }), 422),
        (json!({ "queries": [one], "from": NOON }), 400),
        (json!({ "queries": [{ "name": "m", "aggregation": "mode" }], "from": NOON, "to": ONE }), 400),
        (json!("no"), 400),
    ] {
        let answer = harness.api("POST", &at("/api/metrics/query", &project), &body).await;
        assert_eq!(answer.status, status, "{body}");
    }
    let wide = json!({ "queries": [one], "from": "2024-06-01T12:00:00Z", "to": NOON, "intervalMinutes": 1 });
    let answer = harness.api("POST", &at("/api/metrics/query", &project), &wide).await.expect(200).json();
    assert_eq!(answer["intervalMinutes"], 526, "730 days in 1999 buckets");
}

#[tokio::test]
async fn discovery() {
    let (harness, project) = shop().await;
    let range = format!("from={NOON}&to={ONE}");
    let found = harness.got(&project, &format!("/api/metrics/discover?{range}")).await;
    let all: Vec<(&Value, &Value, &Value, &Value)> = found["metrics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|metric| (&metric["name"], &metric["metricType"], &metric["tagKeys"], &metric["pointCount"]))
        .collect();
    let service = json!(["server_name"]);
    assert_eq!(
        all,
        [
            (&json!("job.time.avg"), &json!("histogram"), &service, &json!(1)),
            (&json!("job.time.count"), &json!("histogram"), &service, &json!(1)),
            (&json!("jobs"), &json!("counter"), &service, &json!(4)),
            (&json!("queue.length"), &json!("gauge"), &json!(["queue", "server_name"]), &json!(4)),
        ]
    );
    let tags = harness.got(&project, &format!("/api/metrics/discover/tags?name=queue.length&key=queue&{range}")).await;
    assert_eq!(tags, json!({ "values": ["mail", "print"] }));
    let instances = harness.got(&project, &format!("/api/metrics/discover/instances?{range}")).await;
    assert_eq!(instances, json!({ "instances": ["shop"] }));
    let path = at("/api/metrics/discover/tags?name=jobs", &project);
    harness.api("GET", &path, &Value::Null).await.expect(400);
}

// Spec: errors, row 504; limits, row "Metrics query": 30 s.
#[tokio::test]
async fn a_query_past_its_deadline_is_504() {
    let mut harness = Harness::start_with(|config| config.query_threads = 1).await;
    let project = harness.register().await;
    let query = json!({"queries": [{"name": "queue.length", "aggregation": "avg"}], "from": NOON, "to": ONE});
    harness.api("POST", &at("/api/metrics/query", &project), &query).await.expect(200);
    // Every other query waits for the only thread.
    let slot = harness.app().query.slots.enter(0).await.unwrap_or_else(|_| panic!("a free thread"));
    let started = tokio::time::Instant::now();
    let path = at("/api/metrics/query", &project);
    let request = harness.api("POST", &path, &query);
    // The threads of the accounts database run before this and do not follow a paused clock.
    let moved = async {
        while harness.app().query.waiting() == 0 {
            tokio::task::yield_now().await;
        }
        tokio::time::pause();
    };
    let (answer, ()) = tokio::join!(request, moved);
    let answer = answer.expect(504);
    assert_eq!(answer.json(), json!({"error": "the query took longer than its deadline"}));
    let seconds = started.elapsed().as_secs();
    assert!((30..=32).contains(&seconds), "after {seconds} s");
    drop(slot);
    tokio::time::resume();
    harness.api("POST", &at("/api/metrics/query", &project), &query).await.expect(200);
}

// Decision 0013: dropped and counted by default; with the setting, percentiles and quantiles; after a crash too.
#[tokio::test]
async fn exponential_histograms_and_summaries_are_stored_by_a_setting() {
    let (mut harness, project) = Harness::with_project().await;
    // Scale 0: buckets of powers of two. The second point has a coarser scale and more buckets.
    let exponential = |second: u64, scale: i32, offset: i32, counts: &[u64]| {
        let count: u64 = counts.iter().sum();
        json!({
            "timeUnixNano": (NOON_NS + second * 1_000_000_000).to_string(), "count": count, "sum": 100.0, "scale": scale,
            "positive": { "offset": offset, "bucketCounts": counts },
        })
    };
    let metrics = |second: u64| {
        let points = [exponential(second, 0, 2, &[1, 0, 0, 0]), exponential(second + 60, -1, 1, &[2, 4])];
        let summary = json!({
            "timeUnixNano": (NOON_NS + second * 1_000_000_000).to_string(), "count": "4", "sum": 10.0,
            "quantileValues": [{ "quantile": 0.5, "value": 2.0 }, { "quantile": 0.99, "value": 7.0 }],
        });
        json!([
            { "name": "rpc.time", "unit": "ms",
              "exponentialHistogram": { "dataPoints": points, "aggregationTemporality": 2 } },
            { "name": "gc.pause", "unit": "ms", "summary": { "dataPoints": [summary] } },
        ])
    };
    send(&harness, &project, metrics(0)).await;
    let drops = harness.query_json(&project, "/api/drops", json!({ "fromDate": null, "toDate": null })).await;
    let dropped = json!({ "signal": "metrics", "reason": "unsupported_metric_type", "count": 3 });
    assert!(drops["data"].as_array().expect("a list").contains(&dropped), "{drops}");

    let path = format!("/api/projects?projectId={}", project.id);
    let changed = harness.api("PUT", &path, &json!({ "allMetricKinds": true })).await.expect(200).json();
    assert_eq!(changed["settings"]["allMetricKinds"], true);
    send(&harness, &project, metrics(600)).await;
    for crashed in [false, true] {
        if crashed {
            harness.crash().await;
        }
        // Of six values one was there before: one of the two in (4, 16] is new, and all four in (16, 64].
        let p50 = query(&harness, &project, json!({ "name": "rpc.time", "aggregation": "p50" })).await;
        assert_eq!(values(&p50["results"][0]["series"]["__all__"]), [34.0], "{p50}");
        let counts = query(&harness, &project, json!({ "name": "rpc.time.count", "aggregation": "max" })).await;
        assert_eq!(values(&counts["results"][0]["series"]["__all__"]), [1.0, 6.0], "{counts}");
        for (name, expected) in
            [("gc.pause.p50", 2.0), ("gc.pause.p99", 7.0), ("gc.pause.avg", 2.5), ("gc.pause.count", 4.0)]
        {
            let answer = query(&harness, &project, json!({ "name": name, "aggregation": "last" })).await;
            assert_eq!(values(&answer["results"][0]["series"]["__all__"]), [expected], "{name}");
        }
    }
}

// WIRE 3.1: an inverted query has 1 minus each value.
#[tokio::test]
async fn an_inverted_query_has_one_minus_each_value() {
    let (harness, project) = shop().await;
    for (aggregation, expected) in [("avg", vec![-1.0, -4.0]), ("max", vec![-2.0, -7.0]), ("count", vec![-1.0, -1.0])] {
        let inverted = json!({ "name": "queue.length", "aggregation": aggregation, "inverted": true });
        let answer = query(&harness, &project, inverted).await;
        assert_eq!(values(&answer["results"][0]["series"]["__all__"]), expected, "{aggregation}");
    }
}
