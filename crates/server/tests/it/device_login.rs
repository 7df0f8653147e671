//! Device login and the token endpoint, as RFC 8628 and RFC 6749 specify them. WIRE 5.4.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::{Value, json};

use tidewatch_domain::units::SECOND_NS;

use crate::client::{self, Answer};
use crate::harness::{Harness, text};

const START: i64 = 1_800_000_000_000_000_000;

async fn post(harness: &Harness, path: &str, body: &Value) -> Answer {
    harness.api_as("", "POST", path, body).await
}

async fn poll(harness: &Harness, device_code: &str) -> Answer {
    let grant = "urn:ietf:params:oauth:grant-type:device_code";
    post(harness, "/api/auth/device/token", &json!({ "grant_type": grant, "device_code": device_code })).await
}

#[track_caller]
fn assert_error_code(answer: Answer, word: &str) {
    let answer = answer.expect(400);
    assert_eq!(answer.json(), json!({ "error": word }));
}

on_both! {
    async fn a_device_signs_in(database) {
        let clock = Arc::new(AtomicI64::new(START));
        let at = |seconds: i64| clock.store(START + seconds * SECOND_NS, Ordering::Relaxed);
        let (harness, _) = Harness::registered_at(&database, &clock, |_| {}).await;
        assert_error_code(post(&harness, "/api/auth/device/authorize", &json!({ "client_id": "evil" })).await, "invalid_client");
        let form = [("Content-Type", "application/x-www-form-urlencoded")];
        let path = "/api/auth/device/authorize";
        let begun = client::send(harness.address(), "POST", path, &form, b"client_id=traceway-cli").await.expect(200).json();
        assert_eq!((&begun["expires_in"], &begun["interval"]), (&json!(600), &json!(5)));
        let user_code = text(&begun["user_code"]);
        let page = text(&begun["verification_uri"]);
        assert!(page.ends_with("/device"));
        assert_eq!(begun["verification_uri_complete"], format!("{page}?user_code={user_code}"));
        let code = text(&begun["device_code"]);

        // Each wait is the current interval; polling faster adds five seconds to it.
        for (second, word) in [
            (0, "authorization_pending"),
            (5, "authorization_pending"),
            (9, "slow_down"),
            (18, "slow_down"),
            (33, "authorization_pending"),
        ] {
            at(second);
            assert_error_code(poll(&harness, &code).await, word);
        }
        let shown = harness.api("GET", &format!("/api/device?user_code={}", user_code.to_lowercase()), &Value::Null).await;
        let shown = shown.expect(200).json();
        assert_eq!((&shown["status"], &shown["clientName"]), (&json!("pending"), &json!("Traceway CLI")));
        harness.api("GET", "/api/device?user_code=BCDF-BCDF", &Value::Null).await.expect(404);
        let decision = json!({ "user_code": user_code });
        harness.api("POST", "/api/device/approve", &decision).await.expect(200);
        harness.api("POST", "/api/device/deny", &decision).await.expect(409);
        let other = json!({ "grant_type": "device_code", "device_code": code, "client_id": "traceway-mcp" });
        assert_error_code(post(&harness, "/api/auth/token", &other).await, "invalid_grant");

        let answer = poll(&harness, &code).await.expect(200);
        assert_eq!((answer.header("Cache-Control"), answer.header("Pragma")), (Some("no-store"), Some("no-cache")));
        let tokens = answer.json();
        assert_eq!((&tokens["token_type"], &tokens["expires_in"]), (&json!("Bearer"), &json!(900)));
        assert_eq!(tokens["email"], "owner@example.com");
        assert_error_code(poll(&harness, &code).await, "invalid_grant");

        let access = text(&tokens["access_token"]);
        harness.api_as(&access, "GET", "/api/me/login-bundle", &Value::Null).await.expect(200);
        harness.api_as(&access, "POST", "/api/personal-access-tokens", &json!({ "name": "x" })).await.expect(403);
        let grants = harness.api("GET", "/api/me/grants", &Value::Null).await.expect(200).json();
        assert_eq!(grants[0]["clientId"], "traceway-cli");
        at(33 + 900);
        harness.api_as(&access, "GET", "/api/me/login-bundle", &Value::Null).await.expect(401);
    }
}

on_both! {
    async fn a_device_is_denied_or_its_code_expires(database) {
        let clock = Arc::new(AtomicI64::new(START));
        let (harness, _) = Harness::registered_at(&database, &clock, |_| {}).await;
        let begin = async || post(&harness, "/api/auth/device/authorize", &json!({})).await.expect(200).json();
        let (denied, late) = (begin().await, begin().await);
        harness.api("POST", "/api/device/deny", &json!({ "user_code": denied["user_code"] })).await.expect(200);
        assert_error_code(poll(&harness, &text(&denied["device_code"])).await, "access_denied");
        clock.store(START + 600 * SECOND_NS, Ordering::Relaxed);
        assert_error_code(poll(&harness, &text(&late["device_code"])).await, "expired_token");
        let path = format!("/api/device?user_code={}", text(&late["user_code"]));
        harness.api("GET", &path, &Value::Null).await.expect(410);
        harness.api("POST", "/api/me/step-up", &json!({ "password": "correct horse" })).await.expect(200);
        harness.api("POST", "/api/device/approve", &json!({ "user_code": late["user_code"] })).await.expect(410);
        for (body, word) in [
            (json!({}), "invalid_request"),
            (json!({ "grant_type": "password" }), "unsupported_grant_type"),
            (json!({ "grant_type": "device_code" }), "invalid_request"),
            (json!({ "grant_type": "device_code", "device_code": "twd_guess" }), "invalid_grant"),
            (json!({ "grant_type": "refresh_token", "refresh_token": "twr_guess" }), "invalid_grant"),
            (json!({ "grant_type": ["device_code"] }), "invalid_request"),
            (json!([]), "invalid_request"),
        ] {
            assert_error_code(post(&harness, "/api/auth/token", &body).await, word);
        }
        let form = [("Content-Type", "application/x-www-form-urlencoded")];
        let twice = b"grant_type=device_code&grant_type=refresh_token&refresh_token=a";
        assert_error_code(client::send(harness.address(), "POST", "/api/auth/token", &form, twice).await, "invalid_request");
    }
}

/// The access and refresh token of a device that the owner approved.
async fn signed_in(harness: &Harness) -> (String, String) {
    let begun = post(harness, "/api/auth/device/authorize", &json!({})).await.expect(200).json();
    harness.api("POST", "/api/me/step-up", &json!({ "password": "correct horse" })).await.expect(200);
    harness.api("POST", "/api/device/approve", &json!({ "user_code": begun["user_code"] })).await.expect(200);
    let tokens = poll(harness, &text(&begun["device_code"])).await.expect(200).json();
    (text(&tokens["access_token"]), text(&tokens["refresh_token"]))
}

async fn refresh(harness: &Harness, token: &str) -> Answer {
    post(harness, "/api/auth/token", &json!({ "grant_type": "refresh_token", "refresh_token": token })).await
}

on_both! {
    // WIRE 5.4: tokens rotate, a replay within 30 s returns the same set, a later one revokes the family.
    async fn refresh_tokens_rotate_and_a_replay_ends_the_family(database) {
        let clock = Arc::new(AtomicI64::new(START));
        let at = |seconds: i64| clock.store(START + seconds * SECOND_NS, Ordering::Relaxed);
        let (harness, _) = Harness::registered_at(&database, &clock, |_| {}).await;
        let (_, first) = signed_in(&harness).await;
        at(1000);
        let second = refresh(&harness, &first).await.expect(200).json();
        at(1030);
        let again = refresh(&harness, &first).await.expect(200).json();
        for field in ["access_token", "refresh_token"] {
            assert_eq!(again[field], second[field], "{field}");
        }
        assert_eq!(again["expires_in"], 870);
        let access = text(&second["access_token"]);
        harness.api_as(&access, "GET", "/api/projects", &Value::Null).await.expect(200);
        at(1031);
        assert_error_code(refresh(&harness, &first).await, "invalid_grant");
        assert_error_code(refresh(&harness, &text(&second["refresh_token"])).await, "invalid_grant");
        harness.api_as(&access, "GET", "/api/projects", &Value::Null).await.expect(401);
        let grants = harness.api("GET", "/api/me/grants", &Value::Null).await.expect(200).json();
        assert_eq!(grants, json!([]));

        let (_, old) = signed_in(&harness).await;
        at(1031 + 90 * 24 * 60 * 60);
        assert_error_code(refresh(&harness, &old).await, "invalid_grant");
    }
}

on_both! {
    async fn sign_ins_end_by_logout_by_the_owner_and_with_the_password(database) {
        let (mut harness, _) = Harness::registered(&database).await;
        let (access, token) = signed_in(&harness).await;
        for body in [json!({ "refresh_token": token }), json!({ "refresh_token": token }), json!({}), json!("?")] {
            let said = post(&harness, "/api/auth/logout", &body).await.expect(200).json();
            assert_eq!(said, json!({ "status": "ok" }));
        }
        assert_error_code(refresh(&harness, &token).await, "invalid_grant");
        harness.api_as(&access, "GET", "/api/projects", &Value::Null).await.expect(401);

        let (access, token) = signed_in(&harness).await;
        let grants = harness.api("GET", "/api/me/grants", &Value::Null).await.expect(200).json();
        let path = format!("/api/me/grants/{}", grants[0]["id"]);
        harness.api("DELETE", &path, &Value::Null).await.expect(200);
        harness.api("DELETE", &path, &Value::Null).await.expect(404);
        assert_error_code(refresh(&harness, &token).await, "invalid_grant");
        harness.api_as(&access, "GET", "/api/projects", &Value::Null).await.expect(401);

        let (access, token) = signed_in(&harness).await;
        let begun = post(&harness, "/api/auth/device/authorize", &json!({})).await.expect(200).json();
        harness.api("POST", "/api/device/approve", &json!({ "user_code": begun["user_code"] })).await.expect(200);
        let change = json!({ "currentPassword": "correct horse", "newPassword": "battery staple" });
        harness.login = text(&harness.api("PUT", "/api/me/password", &change).await.expect(200).json()["token"]);
        assert_error_code(poll(&harness, &text(&begun["device_code"])).await, "access_denied");
        assert_error_code(refresh(&harness, &token).await, "invalid_grant");
        harness.api_as(&access, "GET", "/api/projects", &Value::Null).await.expect(401);
    }
}

on_both! {
    // Issue 5: 20 concurrent token refreshes create no duplicate and lose no update.
    async fn twenty_concurrent_refreshes_return_one_successor(database) {
        let (harness, _) = Harness::registered(&database).await;
        let (_, token) = signed_in(&harness).await;
        let app = harness.app();
        let by = app.accounts.by_server();
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..20 {
            let (app, by, token) = (app.clone(), by.clone(), token.clone());
            tasks.spawn(async move { app.accounts.control.credentials.refresh_grant(&by, &token, None, None).await.unwrap().refresh_token });
        }
        let given: std::collections::BTreeSet<String> = tasks.join_all().await.into_iter().collect();
        assert_eq!(given.len(), 1, "one successor for all");
        let successor = given.first().unwrap();
        refresh(&harness, successor).await.expect(200);
    }
}
