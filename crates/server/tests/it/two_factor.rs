//! Logins in two steps: authenticator codes, recovery codes, and guesses.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::{Value, json};
use tidewatch_domain::units::SECOND_NS;
use tidewatch_limits as limits;
use totp_rs::{Builder, Secret};

use crate::client::Answer;
use crate::harness::{Harness, text};

const START: i64 = 1_800_000_000_000_000_000;
const LOGIN: &str = r#"{"email":"owner@example.com","password":"correct horse"}"#;

/// The code of a secret at this time.
fn code(secret: &str, now_ns: i64) -> String {
    let secret = Secret::try_from_base32(secret).expect("base32");
    let totp = Builder::new().with_secret(secret).with_account_name("a").build().expect("codes");
    totp.generate(u64::try_from(now_ns / SECOND_NS).expect("a time")).to_string()
}

/// Posts without a login from its own address, so that no per-IP window fills.
async fn anonymous(harness: &Harness, from: u8, path: &str, body: &Value) -> Answer {
    let address = format!("203.0.113.{from}");
    let headers = [("X-Forwarded-For", address.as_str()), ("Content-Type", "application/json")];
    crate::client::send(harness.address(), "POST", path, &headers, body.to_string().as_bytes()).await
}

async fn waiting(harness: &Harness, from: u8) -> String {
    let login: Value = serde_json::from_str(LOGIN).expect("JSON");
    let answer = anonymous(harness, from, "/api/login", &login).await.expect(200).json();
    assert_eq!((&answer["mfaRequired"], &answer["methods"]), (&json!(true), &json!(["totp", "recovery"])), "{answer}");
    assert!(answer.get("token").is_none());
    text(&answer["mfaToken"])
}

/// Enables two-factor login and returns its secret and recovery codes.
async fn turned_on(harness: &Harness) -> (String, Vec<String>) {
    let path = "/api/me/two-factor/totp";
    harness.api("POST", path, &json!({ "password": "wrong horse" })).await.expect(403);
    let setup = harness.api("POST", path, &json!({ "password": "correct horse" })).await.expect(200).json();
    let secret = text(&setup["secret"]);
    assert!(
        text(&setup["uri"]).starts_with("otpauth://totp/Tidewatch:owner") && text(&setup["qrSvg"]).contains("<svg")
    );
    // It is not enabled until a code was confirmed.
    let login: Value = serde_json::from_str(LOGIN).expect("JSON");
    assert!(harness.api_as("", "POST", "/api/login", &login).await.expect(200).json()["token"].is_string());
    harness.api("POST", &format!("{path}/confirm"), &json!({ "code": "000000" })).await.expect(400);
    let now = harness.app().process.clock.now_ns();
    let confirm = json!({ "code": code(&secret, now) });
    let codes = harness.api("POST", &format!("{path}/confirm"), &confirm).await.expect(200).json();
    harness.api("POST", path, &json!({ "password": "correct horse" })).await.expect(409);
    let codes: Vec<String> = codes["recoveryCodes"].as_array().expect("codes").iter().map(text).collect();
    assert_eq!(codes.len(), 10);
    (secret, codes)
}

on_both! {
    async fn a_login_in_two_steps(database) {
        let clock = Arc::new(AtomicI64::new(START));
        let (harness, _) = Harness::registered_at(&database, &clock, |_| {}).await;
        let (secret, recovery) = turned_on(&harness).await;
        let show = async |token: &str, field: &str, code: &str| {
            anonymous(&harness, 2, "/api/login/mfa", &json!({ "mfaToken": token, field: code })).await
        };
        let token = waiting(&harness, 1).await;
        // The code that confirmed the setup is used up.
        show(&token, "code", &code(&secret, START)).await.expect(401);
        let next = code(&secret, START + 30 * SECOND_NS);
        clock.store(START + 30 * SECOND_NS, Ordering::Relaxed);
        let bundle = show(&token, "code", &next).await.expect(200).json();
        harness.api_as(&text(&bundle["token"]), "GET", "/api/projects", &Value::Null).await.expect(200);
        show(&token, "code", &code(&secret, START + 60 * SECOND_NS)).await.expect(401);
        // A replay within the code's window.
        let token = waiting(&harness, 1).await;
        show(&token, "code", &next).await.expect(401);
        // The token of a waiting login gives no access, and a recovery code is valid once.
        harness.api_as(&token, "GET", "/api/projects", &Value::Null).await.expect(401);
        show(&token, "recoveryCode", &recovery[0].to_uppercase()).await.expect(200);
        let token = waiting(&harness, 1).await;
        show(&token, "recoveryCode", &recovery[0]).await.expect(401);
        let has = harness.api("GET", "/api/me/two-factor", &Value::Null).await.expect(200).json();
        assert_eq!((&has["totp"], &has["recoveryCodesLeft"]), (&json!(true), &json!(9)));
        // The waiting login has expired.
        clock.store(START + 331 * SECOND_NS, Ordering::Relaxed);
        show(&token, "recoveryCode", &recovery[1]).await.expect(401);
        let new = harness.api("POST", "/api/me/two-factor/recovery-codes", &json!({ "password": "correct horse" })).await;
        assert_eq!(new.expect(200).json()["recoveryCodes"].as_array().map(Vec::len), Some(10));
        let token = waiting(&harness, 3).await;
        show(&token, "recoveryCode", &recovery[1]).await.expect(401);
        harness.api("DELETE", "/api/me/two-factor/totp", &json!({ "password": "correct horse" })).await.expect(200);
        let login: Value = serde_json::from_str(LOGIN).expect("JSON");
        assert!(anonymous(&harness, 3, "/api/login", &login).await.expect(200).json()["token"].is_string());
    }
}

on_both! {
    // Guesses are counted by account, across addresses and waiting logins.
    async fn guesses_are_counted_by_account(database) {
        let clock = Arc::new(AtomicI64::new(START));
        let (harness, _) = Harness::registered_at(&database, &clock, |_| {}).await;
        let (secret, _) = turned_on(&harness).await;
        clock.store(START + 60 * SECOND_NS, Ordering::Relaxed);
        let most = u8::try_from(limits::SECOND_FACTOR_TRIES_MAX).unwrap();
        for guess in 0..most {
            let token = waiting(&harness, 10 + guess).await;
            let body = json!({ "mfaToken": token, "code": "000000" });
            anonymous(&harness, 30 + guess, "/api/login/mfa", &body).await.expect(401);
        }
        let token = waiting(&harness, 60).await;
        let right = json!({ "mfaToken": token, "code": code(&secret, START + 60 * SECOND_NS) });
        anonymous(&harness, 61, "/api/login/mfa", &right).await.expect(429);
        let later = START + 60 * SECOND_NS + limits::SECOND_FACTOR_WINDOW.as_nanos() as i64;
        clock.store(later, Ordering::Relaxed);
        let token = waiting(&harness, 62).await;
        let right = json!({ "mfaToken": token, "code": code(&secret, later) });
        anonymous(&harness, 63, "/api/login/mfa", &right).await.expect(200);
    }
}

on_both! {
    // A code is a proof for step-up; wrong and used codes are not.
    async fn a_code_is_a_proof_for_step_up(database) {
        let clock = Arc::new(AtomicI64::new(START));
        let (harness, _) = Harness::registered_at(&database, &clock, |_| {}).await;
        let (secret, _) = turned_on(&harness).await;
        clock.fetch_add(300 * SECOND_NS, Ordering::Relaxed);
        let make = async || harness.api("POST", "/api/personal-access-tokens", &json!({ "name": "ci" })).await;
        make().await.expect(403);
        let right = code(&secret, START + 300 * SECOND_NS);
        for (code, status) in [("000000", 403), (right.as_str(), 200), (right.as_str(), 403)] {
            let ways = harness.api("POST", "/api/me/step-up/start", &Value::Null).await.expect(200).json();
            assert_eq!(ways["methods"], json!(["password", "totp"]));
            let proof = json!({ "mfaToken": ways["mfaToken"], "code": code });
            harness.api("POST", "/api/me/step-up", &proof).await.expect(status);
        }
        make().await.expect(201);
    }
}
