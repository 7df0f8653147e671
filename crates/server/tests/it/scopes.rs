//! Scopes of tokens, the default scope of clients, expiry, and the resource of an access token. The scope that each
//! route requires is in `authorization/table.rs`.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::{Value, json};

use tidewatch_domain::units::DAY_NS;

use crate::client::Answer;
use crate::harness::{Harness, Project, text};

const START: i64 = 1_800_000_000_000_000_000;
/// RFC 7636, appendix B.
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
const REDIRECT: &str = "http://127.0.0.1:3000/callback";
const TOKENS: &str = "/api/personal-access-tokens";

async fn post(harness: &Harness, path: &str, body: &Value) -> Answer {
    harness.api_as("", "POST", path, body).await
}

/// Whether the credential may read, write, and read admins' data.
async fn may(harness: &Harness, project: &Project, credential: &str) -> [bool; 3] {
    let about = format!("projectId={}", project.id);
    let bundle = harness.api("GET", "/api/me/login-bundle", &Value::Null).await.expect(200).json();
    let audit = format!("/api/organizations/{}/audit", bundle["organizations"][0]["id"]);
    let mut may = [false; 3];
    for (at, (method, path)) in
        [("GET", format!("/api/symbols?{about}")), ("PUT", format!("/api/projects?{about}")), ("GET", audit)]
            .into_iter()
            .enumerate()
    {
        let body = if method == "PUT" { json!({}) } else { Value::Null };
        may[at] = harness.api_as(credential, method, &path, &body).await.status == 200;
    }
    may
}

const READS: [bool; 3] = [true, false, false];
const WRITES: [bool; 3] = [true, true, false];
const ADMINISTERS: [bool; 3] = [true, true, true];

on_both! {
    async fn a_personal_token_is_limited_to_its_scopes(database) {
        let (harness, project) = Harness::registered(&database).await;
        for (scopes, words, expected) in [
            (Value::Null, json!(["read", "write"]), WRITES),
            (json!(["read"]), json!(["read"]), READS),
            (json!(["write"]), json!(["read", "write"]), WRITES),
            (json!(["read", "write"]), json!(["read", "write"]), WRITES),
            (json!(["admin"]), json!(["read", "write", "admin"]), ADMINISTERS),
        ] {
            let body = json!({ "name": "ci", "scopes": scopes });
            let made = harness.api("POST", TOKENS, &body).await.expect(201).json();
            assert_eq!(made["scopes"], words, "{scopes}");
            assert_eq!(may(&harness, &project, &text(&made["token"])).await, expected, "{scopes}");
            let listed = harness.api("GET", TOKENS, &Value::Null).await.expect(200).json();
            assert_eq!((&listed[0]["scopes"], &listed[0]["projectIds"]), (&words, &Value::Null));
        }
        for scopes in [json!([]), json!(["everything"]), json!(["read", "Write"]), json!("read")] {
            harness.api("POST", TOKENS, &json!({ "name": "ci", "scopes": scopes })).await.expect(400);
        }
    }

    async fn a_token_of_one_project_sees_no_other(database) {
        let (harness, project) = Harness::registered(&database).await;
        let second = harness.project("second").await;
        let body = json!({ "name": "ci", "scopes": ["admin"], "projectIds": [second.id] });
        let made = harness.api("POST", TOKENS, &body).await.expect(201).json();
        let token = text(&made["token"]);
        assert_eq!(made["projectIds"], json!([second.id]));
        assert_eq!(may(&harness, &second, &token).await, WRITES);
        assert_eq!(may(&harness, &project, &token).await, [false; 3]);
        for path in ["/api/projects", "/api/me/login-bundle"] {
            let seen = harness.api_as(&token, "GET", path, &Value::Null).await.expect(200).json();
            let projects = seen.get("projects").unwrap_or(&seen).as_array().expect("a list").clone();
            assert_eq!(projects.iter().map(|one| text(&one["id"])).collect::<Vec<_>>(), std::slice::from_ref(&second.id), "{path}");
        }
        for (method, path, body) in [
            ("POST", "/api/projects", json!({ "name": "third" })),
            ("PUT", "/api/me", json!({})),
            ("POST", "/api/organizations", json!({ "name": "Another" })),
        ] {
            harness.api_as(&token, method, path, &body).await.expect(403);
        }
        for (ids, status) in [
            (json!([]), 422),
            (json!(["x"]), 400),
            (json!(["00000000-0000-4000-8000-000000000000"]), 403),
            (json!(vec![second.id.clone(); 101]), 422),
        ] {
            harness.api("POST", TOKENS, &json!({ "name": "ci", "projectIds": ids })).await.expect(status);
        }
    }

    // A trace is shown across projects, limited to those of the token.
    async fn a_trace_across_projects_is_limited_to_those_of_the_token(database) {
        let (harness, project) = Harness::registered(&database).await;
        let second = harness.project("second").await;
        let trace = "0123456789abcdef0123456789abcdef";
        let now = harness.app().process.clock.now_ns();
        for (at, one) in [&project, &second].into_iter().enumerate() {
            let span = json!({
                "traceId": trace, "spanId": format!("000000000000000{}", at + 1), "name": format!("GET /{at}"), "kind": 2,
                "startTimeUnixNano": now.to_string(), "endTimeUnixNano": (now + 1_000_000).to_string(),
                "attributes": [{ "key": "http.request.method", "value": { "stringValue": "GET" } },
                    { "key": "http.route", "value": { "stringValue": format!("/{at}") } }],
            });
            let body = json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": [span] }] }] });
            harness.post_json("traces", &one.token, &body).await.expect(200);
        }
        let body = json!({ "name": "ci", "scopes": ["read"], "projectIds": [second.id] });
        let token = text(&harness.api("POST", TOKENS, &body).await.expect(201).json()["token"]);
        let path = format!("/api/distributed-traces/{trace}?projectId={}", second.id);
        let seen = async |credential: &str| {
            let seen = harness.api_as(credential, "POST", &path, &json!({})).await.expect(200).json();
            let nodes = seen["nodes"].as_array().expect("nodes").clone();
            let mut projects: Vec<String> = nodes.iter().map(|node| text(&node["projectId"])).collect();
            projects.sort();
            projects
        };
        let mut both = vec![project.id.clone(), second.id.clone()];
        both.sort();
        assert_eq!(seen(&harness.login).await, both);
        assert_eq!(seen(&token).await, std::slice::from_ref(&second.id));
    }

    // L10: a token without a given lifetime expires after 90 days.
    async fn a_token_expires(database) {
        let clock = Arc::new(AtomicI64::new(START));
        let (harness, _) = Harness::registered_at(&database, &clock, |_| {}).await;
        let made = harness.api("POST", TOKENS, &json!({ "name": "ci" })).await.expect(201).json();
        let token = text(&made["token"]);
        let until: jiff::Timestamp = text(&made["expiresAt"]).parse().expect("a time");
        assert_eq!(until.as_nanosecond(), i128::from(START + 90 * DAY_NS));
        for (at, status) in [(START + 90 * DAY_NS - 1, 200), (START + 90 * DAY_NS, 401)] {
            clock.store(at, Ordering::Relaxed);
            harness.api_as(&token, "GET", "/api/projects", &Value::Null).await.expect(status);
        }
    }

    async fn a_device_is_limited_to_its_approved_scope(database) {
        let (harness, project) = Harness::registered(&database).await;
        let second = harness.project("second").await;
        let one = json!([second.id]);
        for (requested, decided, expected, elsewhere) in [
            (json!({}), json!({}), WRITES, WRITES),
            (json!({ "scope": "read" }), json!({}), READS, READS),
            (json!({ "scope": "read" }), json!({ "scope": "read write" }), READS, READS),
            (json!({ "scope": "admin" }), json!({ "scope": "read" }), READS, READS),
            (json!({ "scope": "admin" }), json!({}), ADMINISTERS, ADMINISTERS),
            (json!({}), json!({ "project_ids": one }), WRITES, [false; 3]),
        ] {
            let begun = post(&harness, "/api/auth/device/authorize", &requested).await.expect(200).json();
            let mut decision = decided.clone();
            decision["user_code"] = begun["user_code"].clone();
            harness.api("POST", "/api/device/approve", &decision).await.expect(200);
            let poll = json!({ "grant_type": "device_code", "device_code": begun["device_code"] });
            let tokens = post(&harness, "/api/auth/token", &poll).await.expect(200).json();
            let words = ["read", "write", "admin"].into_iter().zip(expected).filter(|(_, may)| *may);
            let words: Vec<&str> = words.map(|(word, _)| word).collect();
            assert_eq!(tokens["scope"], words.join(" "), "{requested} {decided}");
            assert_eq!(may(&harness, &second, &text(&tokens["access_token"])).await, expected, "{requested} {decided}");
            assert_eq!(may(&harness, &project, &text(&tokens["access_token"])).await, elsewhere, "{requested} {decided}");
            // A refreshed token has the same scope.
            let refresh = json!({ "grant_type": "refresh_token", "refresh_token": tokens["refresh_token"] });
            let again = post(&harness, "/api/auth/token", &refresh).await.expect(200).json();
            assert_eq!(again["scope"], tokens["scope"]);
            assert_eq!(may(&harness, &project, &text(&again["access_token"])).await, elsewhere, "{requested} {decided}");
            let grants = harness.api("GET", "/api/me/grants", &Value::Null).await.expect(200).json();
            assert_eq!((&grants[0]["scopes"], &grants[0]["projectIds"]), (&json!(words), &decided["project_ids"]));
        }
    }

    // OAuth scopes, and RFC 8707: a token for one resource of the server is not valid for another.
    async fn a_client_gets_its_scope_and_its_resource(database) {
        let (harness, project) = Harness::registered(&database).await;
        let registered = json!({ "client_name": "An editor", "redirect_uris": [REDIRECT] });
        let client = text(&post(&harness, "/api/oauth/register", &registered).await.expect(201).json()["client_id"]);
        let metadata = read(&harness, "/.well-known/oauth-authorization-server").await;
        assert_eq!(metadata["scopes_supported"], json!(["read", "write", "admin"]));
        let base = text(&metadata["issuer"]);
        let mut last = Value::Null;
        for (scope, resource, words, expected) in [
            (Value::Null, Value::Null, "read write", WRITES),
            (json!("openid"), Value::Null, "read write", WRITES),
            (json!("read"), json!(base), "read", READS),
            (json!("read write admin"), json!(format!("{base}/")), "read write admin", ADMINISTERS),
            (json!("read"), json!(format!("{base}/api")), "read", READS),
            (json!("read write admin"), json!(format!("{base}/mcp")), "read write admin", [false; 3]),
        ] {
            let consent = json!({
                "client_id": client, "redirect_uri": REDIRECT, "code_challenge": CHALLENGE,
                "code_challenge_method": "S256", "scope": scope, "resource": resource,
            });
            let led = harness.api("POST", "/api/oauth/approve", &consent).await.expect(200).json();
            let led = url::Url::parse(&text(&led["redirectTo"])).expect("a URL");
            let code = led.query_pairs().find(|(name, _)| name == "code").expect("a code").1.into_owned();
            let exchange = json!({
                "grant_type": "authorization_code", "client_id": client, "code": code, "code_verifier": VERIFIER,
                "redirect_uri": REDIRECT,
            });
            let tokens = post(&harness, "/api/auth/token", &exchange).await.expect(200).json();
            assert_eq!(tokens["scope"], words, "{scope} {resource}");
            assert_eq!(may(&harness, &project, &text(&tokens["access_token"])).await, expected, "{scope} {resource}");
            let refresh = json!({ "grant_type": "refresh_token", "refresh_token": tokens["refresh_token"] });
            last = post(&harness, "/api/auth/token", &refresh).await.expect(200).json();
            assert_eq!(may(&harness, &project, &text(&last["access_token"])).await, expected, "{scope} {resource}");
        }
        // A refresh cannot change the resource of the MCP token.
        for resource in [format!("{base}/api"), "https://evil.example/".to_owned()] {
            let refresh = json!({
                "grant_type": "refresh_token", "refresh_token": last["refresh_token"], "resource": resource,
            });
            let answer = post(&harness, "/api/auth/token", &refresh).await.expect(400).json();
            assert_eq!(answer, json!({ "error": "invalid_target" }), "{resource}");
        }
    }

    // L10: signing out everywhere can revoke tokens too, which otherwise outlive sessions.
    async fn tokens_are_revoked_with_the_sessions_on_request(database) {
        let (mut harness, _) = Harness::registered(&database).await;
        let token = async |harness: &Harness| {
            text(&harness.api("POST", TOKENS, &json!({ "name": "ci" })).await.expect(201).json()["token"])
        };
        for (body, status) in [(json!({}), 200), (json!({ "endPersonalAccessTokens": true, "endPasskeys": true }), 401)] {
            let made = token(&harness).await;
            let again = harness.api("POST", "/api/me/sessions/revoke", &body).await.expect(200).json();
            harness.login = text(&again["token"]);
            harness.api_as(&made, "GET", "/api/projects", &Value::Null).await.expect(status);
        }
    }
}

async fn read(harness: &Harness, path: &str) -> Value {
    harness.api_as("", "GET", path, &Value::Null).await.expect(200).json()
}
