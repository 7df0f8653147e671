//! The fields that existing clients read, for every route of WIRE.md that this server has. One row per route.
//!
//! A row names a place in the answer (a JSON pointer) and its required fields. The server may add fields: clients
//! ignore unknown ones.

use serde_json::{Value, json};

use crate::client::Answer;
use crate::harness::{Harness, Project, text};
use crate::requests::{CONSUMER, FROM, NOON_NS, TO, made, request, resource};

#[track_caller]
fn has(answer: &Answer, what: &str, pointer: &str, fields: &[&str]) {
    let body = answer.json();
    let found = body.pointer(pointer).unwrap_or_else(|| panic!("{what}: nothing at {pointer:?} of {body}"));
    let missing: Vec<_> = fields.iter().filter(|field| found.get(field).is_none()).collect();
    assert!(missing.is_empty(), "{what}: {missing:?} are missing from {found}");
}

/// Sends an Endpoint with an Issue, a Task, a model call, a log record and a metric.
async fn shop() -> (Harness, Project) {
    let (harness, project) = Harness::with_project().await;
    let spans = [
        request(1, "/pay", 500, 0.0, 5.0).exception("PayError", "declined"),
        made(2, 2, CONSUMER, "mail.send", 1.0, 10.0),
        made(1, 3, 3, "chat", 0.001, 2.0).parent(1).with("gen_ai.request.model", "m").with("gen_ai.system", "s"),
    ];
    harness.send(&project, &spans).await;
    let log = json!({ "resourceLogs": [{ "resource": resource("shop"), "scopeLogs": [{ "logRecords": [{
        "timeUnixNano": NOON_NS.to_string(), "severityNumber": 9, "body": { "stringValue": "paid" },
    }] }] }] });
    harness.post_json("logs", &project.token, &log).await.expect(200);
    let point = json!({ "timeUnixNano": NOON_NS.to_string(), "asDouble": 1.5,
        "attributes": [{ "key": "queue", "value": { "stringValue": "mail" } }] });
    let gauge = json!({ "name": "queue.length", "unit": "1", "gauge": { "dataPoints": [point] } });
    let metrics =
        json!({ "resourceMetrics": [{ "resource": resource("shop"), "scopeMetrics": [{ "metrics": [gauge] }] }] });
    harness.post_json("metrics", &project.token, &metrics).await.expect(200);
    (harness, project)
}

/// The rows of lists. WIRE 3.2, 8.
#[tokio::test]
async fn lists() {
    let (harness, project) = shop().await;
    let groups = ["count", "p50Duration", "p95Duration", "p99Duration", "avgDuration", "lastSeen"];
    let entity = [
        "id",
        "projectId",
        "recordedAt",
        "duration",
        "serverName",
        "appVersion",
        "attributes",
        "traceId",
        "spanId",
        "isRoot",
    ];
    let with = |more: &[&'static str], to: &[&'static str]| [more, to].concat();
    let ai: &[&str] = &[
        "statusCode",
        "model",
        "responseModel",
        "provider",
        "operation",
        "inputTokens",
        "outputTokens",
        "totalTokens",
        "cachedTokens",
        "reasoningTokens",
        "inputCost",
        "outputCost",
        "totalCost",
        "traceName",
        "userId",
        "finishReason",
        "storageKey",
        "conversationId",
        "toolCallCount",
        "toolNames",
        "flagged",
        "flaggedTerms",
    ];
    for (path, fields) in [
        ("/api/endpoints/grouped", with(&["endpoint", "impact", "impactReason", "hasRoot", "hasNonRoot"], &groups)),
        ("/api/endpoints", with(&["endpoint", "statusCode"], &entity)),
        ("/api/tasks", with(&[], &entity)),
        ("/api/tasks/grouped", with(&["hasRoot", "hasNonRoot"], &groups)),
        ("/api/ai-traces", with(ai, &entity)),
        ("/api/ai-traces/grouped", with(&["traceName"], &["count"])),
        (
            "/api/exception-stack-traces",
            vec!["exceptionHash", "stackTrace", "count", "firstSeen", "lastSeen", "hourlyTrend"],
        ),
        ("/api/logs", vec!["timestamp", "severityText", "severityNumber", "serviceName", "body", "traceId", "spanId"]),
        ("/api/spans", vec!["traceId", "spanId", "parentSpanId", "name", "duration", "attributes"]),
    ] {
        let answer = harness.query(&project, path, json!({})).await.expect(200);
        has(&answer, path, "/data/0", &fields);
        has(&answer, path, "/pagination", &["page", "pageSize", "total", "totalPages"]);
    }
    let spans = harness.query(&project, "/api/spans", json!({})).await.expect(200);
    has(&spans, "/api/spans", "", &["data", "pagination", "services"]);
    let issues = harness.query(&project, "/api/exception-stack-traces", json!({})).await.expect(200);
    has(&issues, "the trend", "/data/0/hourlyTrend/0", &["timestamp", "count"]);
}

/// The details of one row each. WIRE 8.8.
#[tokio::test]
async fn details() {
    let (harness, project) = shop().await;
    let first =
        async |path: &str, field: &str| text(&harness.query_json(&project, path, json!({})).await["data"][0][field]);
    let about = json!({ "recordedAt": "2026-06-01T12:00:00Z" });
    let endpoint = format!("/api/endpoints/{}", first("/api/endpoints", "id").await);
    let task = format!("/api/tasks/{}", first("/api/tasks", "id").await);
    let call = format!("/api/ai-traces/{}", first("/api/ai-traces", "id").await);
    let hash = first("/api/exception-stack-traces", "exceptionHash").await;
    assert_eq!(hash.len(), 16);
    let trace = format!("/api/distributed-traces/{:032x}", 1);
    let issue = format!("/api/exception-stack-traces/{hash}");
    for (path, pointer, fields) in [
        (&endpoint, "", &["endpoint", "spans", "hasSpans", "messages", "exception"][..]),
        (&task, "", &["task", "spans", "hasSpans", "messages"]),
        (&call, "/aiTrace", &["model", "traceName", "storageKey"]),
        (&issue, "", &["group", "occurrences", "pagination", "relatedEntity"]),
        (&trace, "", &["traceId", "nodes", "spanGraphStatus"]),
        (&trace, "/nodes/0", &["projectId", "projectName", "traceType", "spans", "spanId", "parentEntitySpanId"]),
    ] {
        let body = if path == &issue { json!({}) } else { about.clone() };
        has(&harness.query(&project, path, body).await.expect(200), path, pointer, fields);
    }
    for (path, field) in [("archive", "archived"), ("unarchive", "unarchived")] {
        let path = format!("/api/exception-stack-traces/{path}?projectId={}", project.id);
        let answer = harness.api("POST", &path, &json!({ "hashes": [hash] })).await.expect(200);
        assert_eq!(answer.json()[field], 1, "{path}");
    }
    let overview = format!("/api/dashboard/overview?from={FROM}&to={TO}&projectId={}", project.id);
    let answer = harness.api("GET", &overview, &Value::Null).await.expect(200);
    has(&answer, "the overview", "", &["recentIssues", "worstEndpoints", "hasData"]);
}

/// WIRE 3.1.
#[tokio::test]
async fn metrics() {
    let (harness, project) = shop().await;
    let query = json!({ "queries": [{ "name": "queue.length" }], "from": FROM, "to": TO });
    let path = format!("/api/metrics/query?projectId={}", project.id);
    let answer = harness.api("POST", &path, &query).await.expect(200);
    has(&answer, "a query", "", &["results", "intervalMinutes"]);
    has(&answer, "a query", "/results/0", &["name", "unit", "series", "intervalMinutes"]);
    has(&answer, "a query", "/results/0/series/__all__/0", &["timestamp", "value"]);
    for (path, query, pointer, fields) in [
        ("/api/metrics/discover", "", "/metrics/0", &["name", "tagKeys", "metricType", "unit"][..]),
        ("/api/metrics/discover/tags", "&name=queue.length&key=queue", "", &["values"]),
        ("/api/metrics/discover/instances", "", "", &["instances"]),
    ] {
        let whole = format!("{path}?from={FROM}&to={TO}{query}&projectId={}", project.id);
        has(&harness.api("GET", &whole, &Value::Null).await.expect(200), path, pointer, fields);
    }
}

/// WIRE 5.1, 5.2, 5.6, 4.1.
#[tokio::test]
async fn accounts_and_projects() {
    let harness = Harness::start().await;
    let person = json!({
        "email": "owner@example.com", "name": "Owner", "password": "correct horse",
        "organizationName": "Example", "timezone": "UTC", "projectName": "first", "framework": "gin",
    });
    let none = Value::Null;
    has(&harness.api_as("", "GET", "/api/has-organizations", &none).await.expect(200), "", "", &["hasOrganizations"]);
    let made = harness.api_as("", "POST", "/api/register", &person).await.expect(201);
    let login = harness.api_as("", "POST", "/api/login", &person).await.expect(200);
    let token = text(&login.json()["token"]);
    let bundle = harness.api_as(&token, "GET", "/api/me/login-bundle", &none).await.expect(200);
    has(&made, "register", "", &["token", "user", "project", "projects", "organizations"]);
    has(&login, "login", "", &["token", "user", "projects", "organizations"]);
    has(&bundle, "bundle", "", &["user", "projects", "organizations"]);
    let project =
        ["id", "name", "token", "framework", "organizationId", "createdAt", "sourceMapToken", "backendUrl", "role"];
    for answer in [&made, &login, &bundle] {
        has(answer, "a person", "/user", &["id", "email", "name", "createdAt"]);
        has(answer, "an organization", "/organizations/0", &["id", "name", "role", "timezone"]);
        has(answer, "a project", "/projects/0", &project);
    }
    has(&harness.api_as(&token, "GET", "/api/projects", &none).await.expect(200), "projects", "/0", &project);

    let id = text(&made.json()["project"]["id"]);
    let path = format!("/api/projects/source-map-token?projectId={id}");
    let rotated = harness.api_as(&token, "POST", &path, &json!({})).await.expect(200).json();
    let upload = text(&rotated["sourceMapToken"]);
    assert_eq!((upload.len(), &rotated["token"]), (32, &json!(upload)), "both names, for old and new clients");

    let unknown = json!({ "email": "nobody@example.com" });
    has(&harness.api_as("", "POST", "/api/forgot-password", &unknown).await.expect(200), "forgot", "", &["message"]);
    let seen = harness.api_as("", "GET", "/api/password-reset/twr_none", &none).await.expect(200);
    has(&seen, "a reset", "", &["valid"]);
    let logout = harness.api_as("", "POST", "/api/auth/logout", &json!({ "refresh_token": "none" })).await.expect(200);
    assert_eq!(logout.json(), json!({ "status": "ok" }));
}

/// WIRE 5.4.
#[tokio::test]
async fn device_login_and_tokens() {
    let (harness, _) = Harness::with_project().await;
    let begun = harness.api_as("", "POST", "/api/auth/device/authorize", &json!({})).await.expect(200);
    let fields =
        ["device_code", "user_code", "verification_uri", "verification_uri_complete", "expires_in", "interval"];
    has(&begun, "authorize", "", &fields);
    let begun = begun.json();
    let code = text(&begun["user_code"]);
    let shown = harness.api("GET", &format!("/api/device?user_code={code}"), &Value::Null).await.expect(200);
    has(&shown, "a device", "", &["user_code", "status", "clientName", "requestedAt", "expiresAt"]);
    let poll = json!({ "grant_type": "device_code", "device_code": begun["device_code"] });
    let pending = harness.api_as("", "POST", "/api/auth/token", &poll).await.expect(400);
    assert_eq!(pending.json(), json!({ "error": "authorization_pending" }));
    let approved = harness.api("POST", "/api/device/approve", &json!({ "user_code": code })).await.expect(200);
    has(&approved, "approve", "", &["status"]);
    let unsupported = harness.api_as("", "POST", "/api/auth/token", &json!({ "grant_type": "password" })).await;
    assert_eq!(unsupported.expect(400).json(), json!({ "error": "unsupported_grant_type" }));

    let new_token = json!({ "name": "ci", "expiresInDays": 7 });
    let made = harness.api("POST", "/api/personal-access-tokens", &new_token).await.expect(201);
    has(&made, "a personal token", "", &["id", "name", "prefix", "token", "createdAt", "expiresAt"]);
    for path in ["/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource"] {
        harness.api_as("", "GET", path, &Value::Null).await.expect(200);
    }
}
