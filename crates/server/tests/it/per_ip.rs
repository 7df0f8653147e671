//! Requests of one client address, over real sockets. Spec: "Per-IP fixed-window limits"; authentication, rules 3 to 5.

use serde_json::json;
use tidewatch_server::limits::Window;

use crate::client::{self, Answer};
use crate::harness::Harness;

/// From behind a proxy on this machine, for this client.
async fn from(harness: &Harness, path: &str, client: &str, body: &str) -> Answer {
    let headers = [("X-Forwarded-For", client), ("Content-Type", "application/json")];
    client::send(harness.address(), "POST", path, &headers, body.as_bytes()).await
}

#[track_caller]
fn assert_told_to_wait(answer: &Answer, what: &str) {
    assert_eq!(answer.status, 429, "{what}");
    let seconds: u64 = answer.header("Retry-After").and_then(|text| text.parse().ok()).expect("Retry-After");
    assert!((1..=60).contains(&seconds), "{what}: {seconds}");
    let message = format!("too many requests; try again in {seconds} seconds");
    assert_eq!(answer.json(), json!({ "error": message }), "{what}");
}

// A window ends in the middle of the test at most once: two addresses, and one of them counts within one window.
#[tokio::test]
async fn every_window_at_its_limit_and_one_over() {
    let harness = Harness::start().await;
    for (number, window) in Window::ALL.iter().enumerate() {
        let path = format!("/test/window/{number}");
        let mut over = None;
        for client in ["203.0.113.1", "203.0.113.2"] {
            let minute = harness.app().clock.now_ns() / 60_000_000_000;
            let mut statuses = Vec::new();
            for _ in 0..window.requests_max() {
                statuses.push(from(&harness, &path, client, "").await.status);
            }
            assert!(statuses.iter().all(|status| *status == 200), "{window:?}: {statuses:?}");
            let answer = from(&harness, &path, client, "").await;
            if harness.app().clock.now_ns() / 60_000_000_000 == minute {
                over = Some(answer);
            }
        }
        assert_told_to_wait(&over.expect("one of two within a minute"), &format!("{window:?}"));
        assert_eq!(from(&harness, &path, "203.0.113.3", "").await.status, 200, "{window:?}: another address");
    }
}

#[tokio::test]
async fn login_and_registration_have_windows_of_their_own() {
    let mut harness = Harness::start().await;
    harness.register().await;
    for (path, body, allowed) in
        [("/api/login", "{\"email\":\"a@b\",\"password\":\"c\"}", 401), ("/api/register", "{}", 400)]
    {
        let mut statuses = Vec::new();
        // Twice the limit and one more: over it even if a window ends in between.
        for _ in 0..21 {
            statuses.push(from(&harness, path, "198.51.100.7", body).await.status);
        }
        assert!(statuses[..10].iter().all(|status| *status == allowed), "{path}: {statuses:?}");
        assert!(statuses.contains(&429), "{path}: {statuses:?}");
        assert_eq!(from(&harness, path, "198.51.100.8", body).await.status, allowed, "{path}: another address");
    }
}

// Spec: errors, first row: RFC 8628.
#[tokio::test]
async fn a_device_code_poll_over_the_limit_hears_slow_down() {
    let harness = Harness::start().await;
    let device = json!({"grant_type": "urn:ietf:params:oauth:grant-type:device_code"}).to_string();
    let refresh = json!({"grant_type": "refresh_token"}).to_string();
    let mut refused = Vec::new();
    for _ in 0..125 {
        let answer = from(&harness, "/test/token", "198.51.100.7", &device).await;
        if answer.status != 200 {
            refused.push(answer);
        }
    }
    let poll = refused.last().expect("over the limit");
    assert_eq!((poll.status, poll.json()), (400, json!({"error": "slow_down"})));
    let mut statuses = Vec::new();
    for _ in 0..125 {
        statuses.push(from(&harness, "/test/token", "198.51.100.9", &refresh).await.status);
    }
    assert!(statuses.contains(&429) && !statuses.contains(&400), "{statuses:?}");
}

// The function's own table is in `gate/client_ip/tests.rs`; this is the way there.
#[tokio::test]
async fn whose_request_it_is() {
    let mut with_header =
        Harness::start_with(|config| config.trusted_proxy_header = Some("CF-Connecting-IP".into())).await;
    let mut untrusted = Harness::start_with(|config| config.trusted_proxies = Some("10.0.0.0/8".into())).await;
    let mut default = Harness::start().await;
    for (harness, headers, expected) in [
        (&default, &[][..], "127.0.0.1"),
        (&default, &[("X-Forwarded-For", "1.1.1.1, 2.2.2.2")], "2.2.2.2"),
        (&default, &[("X-Real-IP", "1.1.1.1")], "1.1.1.1"),
        (&untrusted, &[("X-Forwarded-For", "1.1.1.1")], "127.0.0.1"),
        (&with_header, &[("X-Forwarded-For", "1.1.1.1"), ("CF-Connecting-IP", "3.3.3.3")], "3.3.3.3"),
    ] {
        let answer = client::send(harness.address(), "GET", "/test/address", headers, b"").await.expect(200);
        assert_eq!(String::from_utf8_lossy(&answer.body), expected, "{headers:?}");
    }
    for harness in [&mut default, &mut untrusted, &mut with_header] {
        harness.stop().await;
    }
}
