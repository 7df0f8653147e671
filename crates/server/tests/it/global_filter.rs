//! `?service=` and `?environment=` of dashboard reads: every list and chart has the selected records only.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tidewatch_limits as limits;
use tidewatch_server::http::routes;

use crate::harness::{Harness, Project};
use crate::requests::{CLIENT, CONSUMER, FROM, NOON_NS, TO, at, column, export, made, request, takes};

/// Service, environment, and the attribute that names it: by the stable and by the earlier convention.
const SENDERS: [(&str, &str, &str); 5] = [
    ("shop", "production", "deployment.environment.name"),
    ("shop", "staging", "deployment.environment"),
    ("cart", "production", "deployment.environment.name"),
    ("cart", "staging", "deployment.environment.name"),
    ("cart", "none", ""),
];

/// The operations whose answers have names or strings that the sender made, each with a request.
const NAMED: [(&str, &str); 23] = [
    ("listEndpoints", "{}"),
    ("groupEndpoints", "{}"),
    ("chartEndpoints", r#"{"metricType":"count"}"#),
    ("listTasks", "{}"),
    ("groupTasks", "{}"),
    ("chartTasks", r#"{"metricType":"count"}"#),
    ("listAiTraces", "{}"),
    ("groupAiTraces", "{}"),
    ("chartAiTraces", r#"{"metricType":"count"}"#),
    ("groupAiConversations", "{}"),
    ("groupAiUsers", "{}"),
    ("listIssues", "{}"),
    ("listLogs", "{}"),
    ("exportFilteredLogs", "{}"),
    ("listLogPatterns", "{}"),
    ("listSpans", "{}"),
    ("searchTraces", "{}"),
    ("completeQuery", r#"{"rows":"endpoint","field":"route"}"#),
    ("countFacets", r#"{"rows":"span","fields":["name"]}"#),
    ("discoverMetrics", ""),
    ("getOverview", ""),
    ("exportTable", ""),
    ("queryMetrics", r#"{"queries":[{"name":"depth","aggregation":"avg","groupBy":"made"}]}"#),
];

/// Reads of one object, of settings and of counts of what was received; and changes. They have no such parameters.
const UNFILTERED: &[&str] = &[
    "getAiConversation",
    "getAiPrices",
    "getStoredConversation",
    "listChannels",
    "listChannelTypes",
    "listGroupingRules",
    "listRemovedSymbols",
    "listSavedViews",
    "listNotificationRules",
    "listNotificationRuleTypes",
    "createNotificationRule",
    "changeNotificationRule",
    "deleteNotificationRule",
    "toggleNotificationRule",
    "snoozeNotificationRule",
    "previewNotificationRule",
    "listNotifications",
    "countOpenAlerts",
    "listEscalationPoliciesOfProject",
    "listPages",
    "getPage",
    "listMonitors",
    "listMonitorTypes",
    "getMonitor",
    "listMonitorResults",
    "getMonitorSeries",
    "getMonitorsOverview",
    "countDownMonitors",
    "getAiTrace",
    "getVersion",
    "reportDeploy",
    "getDistributedTrace",
    "getDrops",
    "getSlowOffset",
    "setSlowOffset",
    "getEndpointRequest",
    "getOccurrence",
    "getOccurrenceRecording",
    "listIssueActivity",
    "listSimilarIssues",
    "getFirstVersion",
    "getDataSince",
    "getServices",
    "getRecordedSession",
    "getSessionRecording",
    "getSpan",
    "getTaskRun",
    "getTraceColumns",
    "listSymbols",
    "listMissingSymbols",
    "resolveStackTrace",
    "sourcesOfStackTrace",
];

/// The other operations that take the parameters: those of counts, of one name, of streams, and of profiles.
const ONE_BY_ONE: [&str; 28] = [
    "getServiceMap",
    "getService",
    "getBreakdown",
    "getEntityLogs",
    "explain",
    "getEndpoint",
    "getTask",
    "getAiTraceGroup",
    "getIssue",
    "compareNames",
    "listDeploys",
    "histogramLogs",
    "logsAround",
    "tailLogs",
    "getHeatmap",
    "discoverInstances",
    "discoverTagValues",
    "getAnswers",
    "listChanges",
    "listRecordedSessions",
    "profileDimensions",
    "profileFlameGraph",
    "groupedProfiles",
    "profileLabels",
    "profileLinks",
    "downloadProfile",
    "profileSeries",
    "profileBreakdown",
];

fn marker(service: &str, environment: &str) -> String {
    format!("{service}-{environment}")
}

fn attribute(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

/// Sends every signal of every sender. What a sender sends has its [`marker`].
async fn senders() -> (Harness, Project) {
    let (harness, project) = Harness::with_project().await;
    for (number, (service, environment, key)) in (1_u64..).zip(SENDERS) {
        let marker = marker(service, environment);
        let mut resource =
            json!({ "attributes": [attribute("service.name", service), attribute("service.version", "1")] });
        if !key.is_empty() {
            resource["attributes"].as_array_mut().expect("a list").push(attribute(key, environment));
        }
        let ids = number * 10;
        let spans = [
            request(ids, &format!("/{marker}"), 500, number as f64, 50.0)
                .with("made", &marker)
                .exception(&format!("Error-{marker}"), "no"),
            made(ids + 1, ids + 1, CONSUMER, &format!("task {marker}"), number as f64, 20.0).with("made", &marker),
            made(ids + 2, ids + 2, CLIENT, &format!("chat {marker}"), number as f64, 20.0)
                .with("gen_ai.request.model", "m")
                .with("gen_ai.operation.name", "chat")
                .with("gen_ai.conversation.id", &marker)
                .with("gen_ai.usage.total_cost", "0.5")
                .with("user.id", &marker),
        ];
        let mut spans = export(service, &spans);
        spans["resourceSpans"][0]["resource"] = resource.clone();
        harness.post_json("traces", &project.token, &spans).await.expect(200);
        let time = NOON_NS.to_string();
        let record = json!({ "timeUnixNano": time, "severityNumber": 17, "body": { "stringValue": format!("{marker} happened") } });
        let logs = json!({ "resourceLogs": [{ "resource": resource, "scopeLogs": [{ "logRecords": [record] }] }] });
        harness.post_json("logs", &project.token, &logs).await.expect(200);
        let point = json!({ "timeUnixNano": time, "asDouble": 1.0, "attributes": [attribute("made", &marker)] });
        let gauge = |name: &str| json!({ "name": name, "gauge": { "dataPoints": [point] } });
        let metrics = [gauge("depth"), gauge(&format!("depth.{marker}"))];
        let metrics =
            json!({ "resourceMetrics": [{ "resource": resource, "scopeMetrics": [{ "metrics": metrics }] }] });
        harness.post_json("metrics", &project.token, &metrics).await.expect(200);
    }
    (harness, project)
}

/// The operations with a project: id, method, path, and whether they have both parameters.
fn operations() -> Vec<(String, String, String, bool)> {
    let document = serde_json::to_value(routes::generate_document()).expect("a document is JSON");
    let mut found = Vec::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("operations") {
            let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
            let has = |name: &str| parameters.iter().any(|one| one["name"] == name && one["in"] == "query");
            if has("projectId") {
                let id = operation["operationId"].as_str().expect("an id").to_owned();
                found.push((id, method.to_uppercase(), path.clone(), has("service") && has("environment")));
            }
        }
    }
    found
}

#[test]
fn every_read_of_records_takes_the_filter() {
    let is_read = |id: &str| {
        [
            "get",
            "list",
            "chart",
            "group",
            "count",
            "complete",
            "search",
            "discover",
            "query",
            "export",
            "profile",
            "compare",
            "explain",
            "histogram",
        ]
        .iter()
        .any(|start| id.starts_with(start))
    };
    let named: BTreeSet<&str> = NAMED.iter().map(|(id, _)| *id).collect();
    for (id, _, path, is_filtered) in operations() {
        let is_tested = named.contains(id.as_str()) || ONE_BY_ONE.contains(&id.as_str()) || id.starts_with("profile");
        assert_eq!(is_filtered, is_tested, "{id} {path}");
        assert!(!is_read(&id) || is_filtered || UNFILTERED.contains(&id.as_str()), "{id} {path} has no filter");
    }
}

/// The text of the answer to an operation of [`NAMED`].
async fn answer(harness: &Harness, project: &Project, id: &str, body: &str, filter: &str) -> String {
    let (_, method, path, _) = operations().into_iter().find(|one| one.0 == id).expect("an operation");
    let range = match id {
        "exportTable" => format!("&table=endpoints&format=ndjson&from={FROM}&to={TO}"),
        "discoverMetrics" | "getOverview" => format!("&from={FROM}&to={TO}"),
        _ => String::new(),
    };
    let path = at(&format!("{path}?{filter}{range}"), project);
    let mut whole: Value = serde_json::from_str(if body.is_empty() { "null" } else { body }).expect("JSON");
    if let Some(whole) = whole.as_object_mut() {
        for (key, value) in [("fromDate", FROM), ("toDate", TO), ("from", FROM), ("to", TO)] {
            if takes(&path, key) {
                whole.insert(key.to_owned(), value.into());
            }
        }
    }
    let answer = harness.api(&method, &path, &whole).await.expect(200);
    String::from_utf8(answer.body).expect("a text")
}

#[tokio::test]
async fn records_of_other_services_and_environments_never_appear() {
    let (harness, project) = senders().await;
    let all: Vec<(String, &str, &str)> = SENDERS
        .iter()
        .map(|(service, environment, _)| (marker(service, environment), *service, *environment))
        .collect();
    for (id, body) in NAMED {
        let filters = [
            ("", &["shop", "cart"][..], &["production", "staging", "none"][..]),
            ("service=shop", &["shop"], &["production", "staging", "none"]),
            ("service=shop&environment=production", &["shop"], &["production"]),
            ("environment=staging", &["shop", "cart"], &["staging"]),
            (
                "service=cart&service=shop&environment=staging&environment=production",
                &["shop", "cart"],
                &["staging", "production"],
            ),
            ("service=cart&environment=", &["cart"], &["none"]),
            ("service=other", &[], &[]),
            ("environment=other", &[], &[]),
        ];
        for (filter, services, environments) in filters {
            let text = answer(&harness, &project, id, body, filter).await;
            for (marker, service, environment) in &all {
                let is_selected = services.contains(service) && environments.contains(environment);
                assert_eq!(text.contains(marker.as_str()), is_selected, "{id}?{filter}: {marker} in {text}");
            }
        }
    }
}

// One page of a name, counts without names, and what is beside the rows.
#[tokio::test]
async fn counts_are_those_of_the_selection() {
    let (harness, project) = senders().await;
    let selected = "service=shop&environment=production";
    let name = "GET%20%2Fshop-production";
    for (path, body, pointer, all, selected_count, other) in [
        (format!("/api/endpoints/endpoint?endpoint={name}"), json!({}), "/pagination/total", 1, 1, 0),
        ("/api/logs/histogram".to_owned(), json!({}), "/buckets/0/counts/ERROR", 5, 1, 1),
        (
            "/api/explain".to_owned(),
            json!({ "entity": "endpoint", "selection": { "query": "duration>1ms" }, "budgetMs": 8000 }),
            "/selected",
            5,
            1,
            1,
        ),
        ("/api/heatmap".to_owned(), json!({ "entity": "endpoint" }), "/total", 5, 1, 1),
        ("/api/spans".to_owned(), json!({}), "/pagination/total", 15, 3, 3),
        ("/api/breakdown".to_owned(), json!({ "entity": "endpoint", "budgetMs": 8000 }), "/rows", 5, 1, 1),
    ] {
        for (filter, expected) in [("", all), (selected, selected_count), ("service=cart&environment=staging", other)] {
            let mark = if path.contains('?') { '&' } else { '?' };
            let found = harness.query_json(&project, &format!("{path}{mark}{filter}"), body.clone()).await;
            let count = found.pointer(pointer).unwrap_or_else(|| panic!("{path}: {found}"));
            assert_eq!(*count, json!(expected), "{path} {filter}: {found}");
        }
    }
    let compared = json!({ "kind": "endpoint", "names": ["GET /shop-production", "GET /cart-staging"] });
    let found = harness.query_json(&project, &format!("/api/compare?{selected}"), compared).await;
    assert_eq!(column(&found, "name"), ["GET /shop-production"]);
    let deploys = harness.query_json(&project, "/api/deploys/list?environment=staging", json!({})).await;
    assert_eq!(deploys["data"].as_array().map(Vec::len), Some(2), "{deploys}");
    // A map has the selected services with their neighbours, and calls of the selected environments.
    let names = async |filter: &str| {
        let map = harness.query_json(&project, &format!("/api/services/map?{filter}"), json!({})).await;
        let nodes = map["nodes"].as_array().expect("nodes").iter().filter(|node| node["kind"] == "service");
        let mut names: Vec<String> = nodes.map(|node| node["name"].as_str().expect("a name").to_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(names("service=shop").await, ["shop"]);
    let all = names("").await;
    assert!(all.contains(&"cart".to_owned()) && all.contains(&"shop".to_owned()), "{all:?}");
    assert!(names("environment=production").await.contains(&"shop".to_owned()));
    assert!(names("environment=nowhere").await.is_empty());
    // An Issue has its whole history, and the occurrences of the selection.
    let issues = harness.query_json(&project, &format!("/api/exception-stack-traces?{selected}"), json!({})).await;
    let hash = issues["data"][0]["exceptionHash"].as_str().expect("a hash").to_owned();
    let issue = format!("/api/exception-stack-traces/{hash}");
    let found = harness.query_json(&project, &format!("{issue}?{selected}"), json!({})).await;
    assert_eq!((&found["group"]["count"], &found["group"]["firstVersion"]), (&json!(1), &json!("1")), "{found}");
    let other = harness.query(&project, &format!("{issue}?service=cart"), json!({})).await.expect(404).json();
    assert_eq!(other["error"], "this issue has no occurrences in the selected services and environments");
}

#[tokio::test]
async fn the_environments_of_a_project_are_listed() {
    let (harness, project) = senders().await;
    let services = harness.got(&project, &format!("/api/services?from={FROM}")).await;
    assert_eq!(services["environments"], json!(["production", "staging"]), "{services}");
}

// docs/operate/limits.md: at most 50 services and 50 environments.
#[tokio::test]
async fn the_number_of_values_is_limited() {
    let (harness, project) = Harness::with_project().await;
    let most = limits::GLOBAL_FILTER_VALUES_MAX;
    for (count, status) in [(most, 200), (most + 1, 422)] {
        for name in ["service", "environment"] {
            let values = vec![format!("{name}=x"); count].join("&");
            let path = at(&format!("/api/endpoints?{values}"), &project);
            assert_eq!(harness.api("POST", &path, &json!({})).await.status, status, "{count} of {name}");
        }
    }
}
