//! Rate limits per client address, over real sockets. Spec: "Per-IP fixed-window limits"; authentication, rules 3 to 5.

use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use serde_json::json;
use tidewatch_limits::Window;

use crate::client::{self, Answer};
use crate::engines::On;
use crate::harness::Harness;

/// Posts as a proxy on this machine, for this client address.
async fn from(harness: &Harness, path: &str, client: &str, body: &str) -> Answer {
    let headers = [("X-Forwarded-For", client), ("Content-Type", "application/json")];
    client::send(harness.address(), "POST", path, &headers, body.as_bytes()).await
}

#[track_caller]
fn assert_retry_after(answer: &Answer, what: &str) {
    assert_eq!(answer.status, 429, "{what}");
    let seconds: u64 = answer.header("Retry-After").and_then(|text| text.parse().ok()).expect("Retry-After");
    assert!((1..=60).contains(&seconds), "{what}: {seconds}");
    let message = format!("too many requests; try again in {seconds} seconds");
    assert_eq!(answer.json(), json!({ "error": message }), "{what}");
}

// At most one window ends during the test: of two addresses, at least one is counted within a single window.
#[tokio::test]
async fn every_window_at_its_limit_and_one_over() {
    let harness = Harness::start().await;
    for (number, window) in Window::ALL.iter().enumerate() {
        let path = format!("/test/window/{number}");
        let mut over = None;
        for client in ["203.0.113.1", "203.0.113.2"] {
            let minute = harness.app().process.clock.now_ns() / 60_000_000_000;
            let mut statuses = Vec::new();
            for _ in 0..window.requests_max() {
                statuses.push(from(&harness, &path, client, "").await.status);
            }
            assert!(statuses.iter().all(|status| *status == 200), "{window:?}: {statuses:?}");
            let answer = from(&harness, &path, client, "").await;
            if harness.app().process.clock.now_ns() / 60_000_000_000 == minute {
                over = Some(answer);
            }
        }
        assert_retry_after(&over.expect("one of two within a minute"), &format!("{window:?}"));
        assert_eq!(from(&harness, &path, "203.0.113.3", "").await.status, 200, "{window:?}: another address");
    }
}

/// A row of the specification's table: requests per minute of one client, over all its routes together.
struct Row {
    routes: &'static [(&'static str, &'static str)],
    body: &'static str,
    allowed: u16,
}

const LOGIN: &str = r#"{"email": "a@b.example", "password": "c"}"#;
const RESET: &str = r#"{"password": "another password"}"#;
const REFRESH: &str = r#"{"grant_type": "refresh_token", "refresh_token": "twr_none"}"#;
const PASSWORD: &str = r#"{"password": "another password", "name": "A"}"#;

/// Spec: "Per-IP fixed-window limits".
#[rustfmt::skip]
const SPECIFIED: &[Row] = &[
    Row { routes: &[("POST", "/api/login")], body: LOGIN, allowed: 10 },
    Row { routes: &[("POST", "/api/register")], body: "{}", allowed: 10 },
    Row { routes: &[("GET", "/api/auth/start/github")], body: "", allowed: 20 },
    Row { routes: &[("GET", "/api/auth/callback/github")], body: "", allowed: 20 },
    Row { routes: &[("POST", "/api/auth/token"), ("POST", "/api/auth/device/token")], body: REFRESH, allowed: 60 },
    Row { routes: &[("POST", "/api/auth/logout")], body: r#"{"token": "twr_none"}"#, allowed: 20 },
    Row { routes: &[("POST", "/api/forgot-password")], body: r#"{"email": "a@b.example"}"#, allowed: 5 },
    Row { routes: &[("GET", "/api/password-reset/twr_none")], body: "", allowed: 30 },
    Row { routes: &[("POST", "/api/password-reset/twr_none")], body: RESET, allowed: 10 },
    Row { routes: &[("GET", "/api/invitations/twi_none")], body: "", allowed: 30 },
    Row { routes: &[("POST", "/api/invitations/twi_none/accept")], body: PASSWORD, allowed: 10 },
    Row { routes: &[("GET", "/status/acme"), ("GET", "/api/status/acme"), ("GET", "/status/acme/feed.atom")], body: "", allowed: 30 },
];

/// Windows beyond the specification, each in addition to the login's ten.
#[rustfmt::skip]
const OWN: &[Row] = &[
    Row { routes: &[("POST", "/api/login/mfa")], body: r#"{"mfaToken": "x", "code": "000000"}"#, allowed: 10 },
    Row { routes: &[("POST", "/api/me/two-factor/totp"), ("POST", "/api/me/two-factor/recovery-codes")], body: "{}", allowed: 10 },
    Row { routes: &[("PUT", "/api/me/password")], body: "{}", allowed: 10 },
    Row { routes: &[("POST", "/api/login/passkey/start")], body: "{}", allowed: 20 },
    Row { routes: &[("POST", "/api/login/passkey/finish")], body: "{}", allowed: 10 },
    Row { routes: &[("POST", "/api/me/passkeys/start"), ("POST", "/api/me/passkeys/finish")], body: "{}", allowed: 20 },
    Row { routes: &[("POST", "/api/auth/finish-setup")], body: "{}", allowed: 10 },
    Row { routes: &[("GET", "/api/setup/session"), ("POST", "/api/setup/plan")], body: "{}", allowed: 60 },
    Row { routes: &[("GET", "/api/status/acme/logo")], body: "", allowed: 60 },
    Row { routes: &[("GET", "/api/status-domains/resolve")], body: "", allowed: 60 },
    Row { routes: &[("POST", "/status/acme/subscribe"), ("GET", "/status/acme/subscriptions/tws_none")], body: "{}", allowed: 10 },
];

async fn call(harness: &Harness, (method, path): (&str, &str), client: &str, body: &str) -> Answer {
    let headers = [("X-Forwarded-For", client), ("Content-Type", "application/json")];
    client::send(harness.address(), method, path, &headers, body.as_bytes()).await
}

/// Starts a server with a stopped clock, so that no window ends during the test.
async fn with_stopped_clock() -> Harness {
    let clock = Arc::new(AtomicI64::new(1_780_315_209_000_000_000));
    Harness::registered_at(&On::sqlite(), &clock, |_| {}).await.0
}

#[tokio::test]
async fn every_specified_window_on_its_real_routes() {
    let harness = with_stopped_clock().await;
    for rows in [SPECIFIED, OWN] {
        // One client for all rows: each row has its own count.
        for row in rows {
            for number in 0..row.allowed {
                let route = row.routes[usize::from(number) % row.routes.len()];
                let answer = call(&harness, route, "198.51.100.7", row.body).await;
                assert_ne!(answer.status, 429, "{route:?}: request {number} of {}", row.allowed);
            }
            for route in row.routes {
                assert_retry_after(&call(&harness, *route, "198.51.100.7", row.body).await, &format!("{route:?}"));
                let other = call(&harness, *route, "198.51.100.8", row.body).await;
                assert_ne!(other.status, 429, "{route:?}: another address");
            }
        }
    }
}

// Spec: errors, first row: RFC 8628.
#[tokio::test]
async fn a_device_code_poll_over_the_limit_gets_slow_down() {
    let harness = with_stopped_clock().await;
    let device = r#"{"grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": "none"}"#;
    for (route, client) in
        [(("POST", "/api/auth/device/token"), "198.51.100.7"), (("POST", "/api/auth/token"), "198.51.100.9")]
    {
        for _ in 0..60 {
            assert_ne!(call(&harness, route, client, device).await.json(), json!({"error": "slow_down"}), "{route:?}");
        }
        let poll = call(&harness, route, client, device).await;
        assert_eq!((poll.status, poll.json()), (400, json!({"error": "slow_down"})), "{route:?}");
    }
    // Every other grant gets the usual 429.
    let refresh = call(&harness, ("POST", "/api/auth/token"), "198.51.100.9", REFRESH).await;
    assert_retry_after(&refresh, "a refresh token");
}

// The cases of the function are in `gate/client_ip/tests.rs`; this test checks its configuration and use.
#[tokio::test]
async fn requests_are_counted_by_the_address_of_their_client() {
    let mut with_header =
        Harness::start_with(|config| config.trusted_proxy_header = Some("CF-Connecting-IP".into())).await;
    let mut untrusted = Harness::start_with(|config| config.trusted_proxies = Some("10.0.0.0/8".into())).await;
    let mut named = Harness::start_with(|config| {
        config.trusted_proxies = Some("10.0.0.0/8".into());
        config.trusted_proxy_header = Some("CF-Connecting-IP".into());
    })
    .await;
    let mut every = Harness::start_with(|config| config.trusted_proxies = Some("*".into())).await;
    let mut default = Harness::start().await;
    for (harness, headers, expected) in [
        (&default, &[][..], "127.0.0.1"),
        (&default, &[("X-Forwarded-For", "1.1.1.1, 2.2.2.2")], "2.2.2.2"),
        (&default, &[("X-Real-IP", "1.1.1.1")], "1.1.1.1"),
        (&untrusted, &[("X-Forwarded-For", "1.1.1.1")], "127.0.0.1"),
        (&with_header, &[("X-Forwarded-For", "1.1.1.1"), ("CF-Connecting-IP", "3.3.3.3")], "3.3.3.3"),
        (&named, &[("CF-Connecting-IP", "3.3.3.3")], "127.0.0.1"),
        (&every, &[("X-Forwarded-For", "1.1.1.1, 2.2.2.2")], "2.2.2.2"),
    ] {
        let answer = client::send(harness.address(), "GET", "/test/address", headers, b"").await.expect(200);
        assert_eq!(String::from_utf8_lossy(&answer.body), expected, "{headers:?}");
    }
    for harness in [&mut default, &mut untrusted, &mut with_header, &mut named, &mut every] {
        harness.stop().await;
    }
}
