//! OAuth 2.1 for clients that register themselves: PKCE, redirects, codes, and attacks on them. WIRE 5.4.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::{Value, json};
use tidewatch_accounts::Actor;
use tidewatch_domain::units::SECOND_NS;
use tidewatch_limits as limits;

use crate::client::Answer;
use crate::harness::{Harness, text};

const START: i64 = 1_800_000_000_000_000_000;
/// RFC 7636, appendix B.
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
const REDIRECT: &str = "http://127.0.0.1:3000/callback";

async fn post(harness: &Harness, path: &str, body: &Value) -> Answer {
    harness.api_as("", "POST", path, body).await
}

#[track_caller]
fn assert_error_code(answer: Answer, word: &str) {
    let answer = answer.expect(400);
    assert_eq!(answer.json(), json!({ "error": word }));
}

async fn register(harness: &Harness) -> String {
    let body = json!({ "client_name": "An editor", "redirect_uris": [REDIRECT], "token_endpoint_auth_method": "none" });
    let client = post(harness, "/api/oauth/register", &body).await.expect(201).json();
    assert_eq!(client["redirect_uris"], json!([REDIRECT]));
    assert_eq!(client["token_endpoint_auth_method"], "none");
    text(&client["client_id"])
}

fn consent(client: &str) -> Value {
    json!({
        "client_id": client, "redirect_uri": REDIRECT, "code_challenge": CHALLENGE, "code_challenge_method": "S256",
        "state": "a state&more",
    })
}

/// The parameter `name` in the query of the URL that the browser is redirected to.
fn redirect_parameter(answer: &Value, name: &str) -> Option<String> {
    let url = url::Url::parse(&text(&answer["redirectTo"])).expect("a URL");
    url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

async fn code(harness: &Harness, consent: &Value) -> String {
    let answer = harness.api("POST", "/api/oauth/approve", consent).await.expect(200).json();
    assert_eq!(redirect_parameter(&answer, "state").as_deref(), Some("a state&more"));
    assert!(redirect_parameter(&answer, "iss").is_some());
    redirect_parameter(&answer, "code").expect("a code")
}

fn exchange(client: &str, code: &str) -> Value {
    json!({
        "grant_type": "authorization_code", "client_id": client, "code": code, "code_verifier": VERIFIER,
        "redirect_uri": REDIRECT,
    })
}

fn with(mut body: Value, field: &str, value: Value) -> Value {
    body[field] = value;
    body
}

on_both! {
    async fn a_client_registers_and_exchanges_its_code_once(database) {
        let clock = Arc::new(AtomicI64::new(START));
        let (harness, _) = Harness::registered_at(&database, &clock, |_| {}).await;
        let document = harness.api_as("", "GET", "/.well-known/oauth-authorization-server", &Value::Null).await;
        let document = document.expect(200).json();
        assert_eq!(document["code_challenge_methods_supported"], json!(["S256"]));
        let issuer = text(&document["issuer"]);
        let resource = harness.api_as("", "GET", "/.well-known/oauth-protected-resource", &Value::Null).await;
        assert_eq!(resource.expect(200).json()["authorization_servers"], json!([issuer]));

        let client = register(&harness).await;
        let path = format!("/api/oauth/client?client_id={client}&redirect_uri=http%3A%2F%2F127.0.0.1%3A9%2Fcallback");
        let shown = harness.api("GET", &path, &Value::Null).await.expect(200).json();
        assert_eq!(shown["clientName"], "An editor");

        let denied = harness.api("POST", "/api/oauth/deny", &consent(&client)).await.expect(200).json();
        assert_eq!(redirect_parameter(&denied, "error").as_deref(), Some("access_denied"));

        let code_one = code(&harness, &consent(&client)).await;
        assert!(code_one.starts_with("twa_"));
        let tokens = post(&harness, "/api/auth/token", &exchange(&client, &code_one)).await.expect(200).json();
        let access = text(&tokens["access_token"]);
        harness.api_as(&access, "GET", "/api/projects", &Value::Null).await.expect(200);
        let refresh = json!({ "grant_type": "refresh_token", "refresh_token": tokens["refresh_token"] });
        assert_error_code(post(&harness, "/api/auth/token", &with(refresh.clone(), "client_id", json!("x"))).await, "invalid_grant");

        // Code replay revokes the tokens of the first exchange.
        assert_error_code(post(&harness, "/api/auth/token", &exchange(&client, &code_one)).await, "invalid_grant");
        harness.api_as(&access, "GET", "/api/projects", &Value::Null).await.expect(401);
        assert_error_code(post(&harness, "/api/auth/token", &refresh).await, "invalid_grant");

        let late = code(&harness, &consent(&client)).await;
        clock.store(START + 300 * SECOND_NS, Ordering::Relaxed);
        assert_error_code(post(&harness, "/api/auth/token", &exchange(&client, &late)).await, "invalid_grant");
    }
}

on_both! {
    // Anyone may register clients: a client is small, and deleted soon unless a person approves it.
    async fn unused_clients_are_limited_and_deleted(database) {
        let clock = Arc::new(AtomicI64::new(START));
        let (harness, _) = Harness::registered_at(&database, &clock, |_| {}).await;
        let long = format!("https://app.example/{}", "a".repeat(481));
        for uris in [json!([long]), json!(vec!["https://app.example/a"; 4])] {
            let body = json!({ "redirect_uris": uris });
            assert_error_code(post(&harness, "/api/oauth/register", &body).await, "invalid_redirect_uri");
        }
        let kept = register(&harness).await;
        let code = code(&harness, &consent(&kept)).await;
        post(&harness, "/api/auth/token", &exchange(&kept, &code)).await.expect(200);
        let first = register(&harness).await;
        let is_known = async |client: &str| {
            let path = format!("/api/oauth/client?client_id={client}&redirect_uri=http%3A%2F%2F127.0.0.1%3A9%2Fcallback");
            harness.api("GET", &path, &Value::Null).await.status == 200
        };
        let app = harness.app().clone();
        let uris = ["http://127.0.0.1:9/callback".to_owned()];
        let mut last = String::new();
        for at in 1..limits::UNUSED_CLIENTS_MAX {
            let by = Actor { at_ns: START + at, ..app.accounts.by_server() };
            last = app.accounts.control.credentials.register_client(&by, "many", &uris).await.expect("registered").id;
        }
        assert!(is_known(&first).await, "there is room for this many");
        let by = Actor { at_ns: START + limits::UNUSED_CLIENTS_MAX, ..app.accounts.by_server() };
        app.accounts.control.credentials.register_client(&by, "one too many", &uris).await.expect("registered");
        assert!(!is_known(&first).await, "the oldest gave way");
        assert!(is_known(&last).await);
        clock.store(START + 24 * 3600 * SECOND_NS + 2 * SECOND_NS, Ordering::Relaxed);
        register(&harness).await;
        assert!(!is_known(&last).await, "a day without consent");
        let path = format!("/api/oauth/client?client_id={kept}&redirect_uri=http%3A%2F%2F127.0.0.1%3A9%2Fcallback");
        harness.api("GET", &path, &Value::Null).await.expect(200);
    }
}

on_both! {
    async fn attacks_on_the_consent_and_the_exchange_are_refused(database) {
        let (harness, _) = Harness::registered(&database).await;
        let client = register(&harness).await;
        let good = consent(&client);
        for (field, value, status) in [
            // PKCE downgrade.
            ("code_challenge_method", json!("plain"), 400),
            ("code_challenge_method", Value::Null, 400),
            ("code_challenge", Value::Null, 400),
            ("code_challenge", json!(VERIFIER.repeat(2)), 400),
            // The redirect URI of another client.
            ("redirect_uri", json!("https://evil.example/callback"), 400),
            ("redirect_uri", json!("http://127.0.0.1:3000/callback/../evil"), 400),
            ("redirect_uri", json!("http://127.0.0.1:3000@evil.example/callback"), 400),
            ("client_id", json!("nobody"), 404),
            ("resource", json!("https://evil.example/mcp"), 400),
        ] {
            let answer = harness.api("POST", "/api/oauth/approve", &with(good.clone(), field, value.clone())).await;
            assert_eq!(answer.status, status, "{field}: {value}");
        }
        harness.api("POST", "/api/oauth/deny", &with(good.clone(), "redirect_uri", json!("https://evil.example"))).await.expect(400);

        let code_one = code(&harness, &good).await;
        let right = exchange(&client, &code_one);
        let another = register(&harness).await;
        for (field, value, word) in [
            ("code_verifier", json!(CHALLENGE), "invalid_grant"),
            ("code_verifier", json!("short"), "invalid_request"),
            ("code_verifier", Value::Null, "invalid_request"),
            ("client_id", json!(another), "invalid_grant"),
            ("redirect_uri", json!("http://127.0.0.1:9/callback"), "invalid_grant"),
            ("resource", json!("https://evil.example/mcp"), "invalid_target"),
        ] {
            let answer = post(&harness, "/api/auth/token", &with(right.clone(), field, value)).await;
            assert_error_code(answer, word);
        }
        post(&harness, "/api/auth/token", &right).await.expect(200);

        let body = |uris: Value| json!({ "client_name": "x", "redirect_uris": uris });
        for uris in [json!([]), json!(["http://evil.example/"]), json!(["javascript:alert(1)"]), json!([REDIRECT, "data:x"])] {
            assert_error_code(post(&harness, "/api/oauth/register", &body(uris)).await, "invalid_redirect_uri");
        }
        let secret = with(body(json!([REDIRECT])), "token_endpoint_auth_method", json!("client_secret_basic"));
        assert_error_code(post(&harness, "/api/oauth/register", &secret).await, "invalid_client_metadata");
    }
}
