//! Security events of an account: recorded, shown to its owner and to admins, reported by mail; guesses slow down.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::{Value, json};

use tidewatch_domain::units::SECOND_NS;

use crate::client::{self, Answer};
use crate::harness::{Harness, text};
use crate::mailbox::{Mailbox, member, organization};

const START: i64 = 1_800_000_000_000_000_000;

/// Logs in from this address with this `User-Agent`.
async fn login(harness: &Harness, email: &str, password: &str, from: &str, program: &str) -> Answer {
    let headers = [("Content-Type", "application/json"), ("X-Forwarded-For", from), ("User-Agent", program)];
    let body = json!({ "email": email, "password": password }).to_string();
    client::send(harness.address(), "POST", "/api/login", &headers, body.as_bytes()).await
}

/// Logs in from a page, in a browser with this device cookie.
async fn page_login(harness: &Harness, email: &str, from: &str, device: Option<&str>) -> Answer {
    let mut headers = vec![
        ("Content-Type", "application/json"),
        ("X-Forwarded-For", from),
        ("User-Agent", "browser/1"),
        ("Sec-Fetch-Site", "same-origin"),
    ];
    headers.extend(device.map(|cookie| ("Cookie", cookie)));
    let body = json!({ "email": email, "password": "correct horse" }).to_string();
    client::send(harness.address(), "POST", "/api/login", &headers, body.as_bytes()).await
}

/// `name=value` of the device cookie that the answer sets.
fn device(answer: &Answer) -> String {
    let set = answer.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie"));
    let is_device = |value: &&str| value.trim_start_matches("__Host-").starts_with("tidewatch_device=");
    let mut set = set.map(|(_, value)| value.as_str()).filter(is_device);
    let cookie = set.next().expect("a cookie of the browser");
    for part in ["=twb_", "HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=15552000"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert_eq!(set.next(), None);
    cookie.split(';').next().expect("a pair").to_owned()
}

/// Actions and addresses of a list, oldest first, of the given kinds.
fn events(page: &Value, kinds: &[&str]) -> Vec<(String, String)> {
    let lines = page["data"].as_array().expect("lines").iter().rev();
    lines
        .map(|line| (text(&line["action"]), text(&line["ip"])))
        .filter(|(action, _)| kinds.iter().any(|kind| action.starts_with(kind)))
        .collect()
}

fn pairs(lines: &[(&str, &str)]) -> Vec<(String, String)> {
    lines.iter().map(|(action, from)| ((*action).to_owned(), (*from).to_owned())).collect()
}

on_both! {
    async fn account_events_are_shown_to_the_person_and_to_admins(database) {
        let mut mailbox = Mailbox::open().await;
        let (harness, _) = mailbox.harness(&database).await;
        let (ada, ada_id) = member(&harness, &mut mailbox, "ada", "user").await;
        let at = format!("/api/organizations/{}/audit", organization(&harness).await);
        let (home, evil) = ("203.0.113.7", "198.51.100.9");

        login(&harness, "ada@example.com", "correct horse", home, "browser/1").await.expect(200);
        login(&harness, "ada@example.com", "guess", evil, "script/1").await.expect(401);
        login(&harness, "ada@example.com", "correct horse", home, "browser/1").await.expect(200);
        assert!(mailbox.is_empty(), "nothing new");
        login(&harness, "Ada@example.com", "correct horse", evil, "script/1").await.expect(200);
        let mail = mailbox.next().await;
        assert_eq!(mail.to, ["ada@example.com"]);
        let words = mail.text();
        assert!(words.contains("a device that was not used before") && words.contains(evil), "{words}");
        assert!(words.contains("by script/1"), "{words}");

        let new = json!({ "name": "ci", "password": "correct horse" });
        harness.api_as(&ada, "POST", "/api/personal-access-tokens", &new).await.expect(201);
        let words = mailbox.next().await.text();
        assert!(words.contains("A personal access token of your account was made"), "{words}");

        let kinds = ["sign_in", "token"];
        let expected = pairs(&[
            ("sign_in.success", home),
            ("sign_in.refuse", evil),
            ("sign_in.success", home),
            ("sign_in.new_device", evil),
            ("token.create", "127.0.0.1"),
        ]);
        let own = harness.api_as(&ada, "GET", "/api/me/security-log", &Value::Null).await.expect(200).json();
        assert_eq!(events(&own, &kinds), expected);
        assert_eq!(own["data"][1]["userAgent"], "script/1");
        // An admin sees it too; other members, and admins of other organizations, do not.
        let all = harness.api("GET", &format!("{at}?accounts=true"), &Value::Null).await.expect(200).json();
        assert_eq!(events(&all, &kinds), expected);
        let path = format!("{at}?accounts=true&action=sign_in&userId={ada_id}");
        let some = harness.api("GET", &path, &Value::Null).await.expect(200).json();
        assert_eq!(events(&some, &kinds), expected[..4]);
        let without = harness.api("GET", &at, &Value::Null).await.expect(200).json();
        assert!(events(&without, &kinds).is_empty(), "{without}");
        harness.api_as(&ada, "GET", &format!("{at}?accounts=true"), &Value::Null).await.expect(403);
        let other = harness.api_as(&ada, "POST", "/api/organizations", &json!({ "name": "Own" })).await.expect(201).json();
        let path = format!("/api/organizations/{}/audit?accounts=true", other["id"]);
        let hers = harness.api_as(&ada, "GET", &path, &Value::Null).await.expect(200).json();
        let owners = hers["data"].as_array().expect("lines").iter().filter(|line| line["actor"]["email"] == "owner@example.com");
        assert_eq!(owners.count(), 0, "the owner is no member there: {hers}");
        let owners = harness.api("GET", "/api/me/security-log", &Value::Null).await.expect(200).json();
        assert!(!owners.to_string().contains("ada@example.com"), "{owners}");
        // The same list in pages.
        let first = harness.api_as(&ada, "GET", "/api/me/security-log?limit=2", &Value::Null).await.expect(200).json();
        let next = format!("/api/me/security-log?limit=2&before={}", first["next"]);
        let second = harness.api_as(&ada, "GET", &next, &Value::Null).await.expect(200).json();
        assert_eq!([&first["data"][0], &first["data"][1], &second["data"][0]], [0, 1, 2].map(|line| &own["data"][line]));
        harness.api_as(&ada, "GET", "/api/me/security-log?limit=0", &Value::Null).await.expect(422);
    }
}

on_both! {
    // 150 addresses guess the password of one account, each within its own window.
    async fn guesses_at_one_account_slow_down_and_lock_nobody_out(database) {
        let clock = Arc::new(AtomicI64::new(START));
        let (harness, _) = Harness::registered_at(&database, &clock, |_| {}).await;
        let email = "owner@example.com";
        let home = "2001:db8:1::7";
        login(&harness, email, "correct horse", home, "browser/1").await.expect(200);
        let known = device(&page_login(&harness, email, home, None).await.expect(200));
        let mut statuses = Vec::new();
        for guess in 0..150 {
            let from = format!("2001:db8:{:x}::1", 0x100 + guess);
            statuses.push(login(&harness, email, "guess", &from, "script/1").await.status);
        }
        assert_eq!(statuses.iter().filter(|status| **status == 401).count(), 20, "{statuses:?}");
        assert_eq!(statuses.iter().filter(|status| **status == 429).count(), 130, "{statuses:?}");
        let waits = login(&harness, email, "correct horse", "2001:db8:9999::1", "script/1").await.expect(429);
        assert_eq!(waits.header("Retry-After"), Some("1"), "from elsewhere even the right one waits");
        // Guesses for an account that does not exist slow down too.
        for guess in 0..21 {
            let from = format!("2001:db8:{:x}::2", 0x100 + guess);
            let expected = if guess < 20 { 401 } else { 429 };
            login(&harness, "nobody@example.com", "guess", &from, "script/1").await.expect(expected);
        }
        // A known address is not a known device: other clients at the address wait too.
        login(&harness, email, "correct horse", home, "browser/1").await.expect(429);
        page_login(&harness, email, home, Some("tidewatch_device=twb_1")).await.expect(429);
        // A known browser does not wait, at any address. The log has refusals at 1, 2, 4, 8 and 16 failures.
        let known = device(&page_login(&harness, email, "2001:db8:7777::1", Some(&known)).await.expect(200));
        let log = harness.api("GET", "/api/me/security-log", &Value::Null).await.expect(200).json();
        let refused = log["data"].as_array().expect("lines").iter().rev().filter(|line| line["action"] == "sign_in.refuse");
        let failures: Vec<i64> = refused.map(|line| line["detail"]["failures"].as_i64().expect("a count")).collect();
        assert_eq!(failures, [1, 2, 4, 8, 16]);
        // A known browser has the same number of attempts, counted separately.
        let guess = async |cookie: &str, number: u32| {
            let from = format!("2001:db8:{:x}::4", 0x100 + number);
            let headers = [("Content-Type", "application/json"), ("X-Forwarded-For", from.as_str()), ("Cookie", cookie)];
            let body = json!({ "email": email, "password": "guess" }).to_string();
            client::send(harness.address(), "POST", "/api/login", &headers, body.as_bytes()).await.status
        };
        for number in 0..21 {
            assert_eq!(guess(&known, number).await, if number < 20 { 401 } else { 429 }, "{number}");
        }
        // One more attempt is accepted a second later.
        for guess in 0..20 {
            let from = format!("2001:db8:{:x}::3", 0x100 + guess);
            login(&harness, email, "guess", &from, "script/1").await.expect(401);
        }
        clock.store(START + SECOND_NS, Ordering::Relaxed);
        login(&harness, email, "correct horse", "2001:db8:9999::1", "script/1").await.expect(200);
    }
}

on_both! {
    // A /48 has 65 536 subnets of a window each.
    async fn guesses_of_one_network_are_counted_together(database) {
        let clock = Arc::new(AtomicI64::new(START));
        let (harness, _) = Harness::registered_at(&database, &clock, |_| {}).await;
        let mut statuses = Vec::new();
        for guess in 0..40 {
            let (from, email) = (format!("2001:db8:7:{guess:x}::1"), format!("{guess}@example.com"));
            statuses.push(login(&harness, &email, "guess", &from, "script/1").await.status);
        }
        assert_eq!(statuses.iter().filter(|status| **status == 401).count(), 30, "{statuses:?}");
        login(&harness, "owner@example.com", "correct horse", "2001:db8:8::1", "browser/1").await.expect(200);
    }
}

on_both! {
    // An unbounded queue would make everyone wait for anonymous requests.
    async fn sign_ins_beyond_the_queue_are_503(database) {
        let (harness, _) = Harness::registered(&database).await;
        let known = page_login(&harness, "owner@example.com", "203.0.113.7", None).await.expect(200);
        let app = harness.app().clone();
        // Fills the running work and the queue.
        let full = app.accounts.hashes_waiting.try_acquire_many(u32::try_from(tidewatch_limits::PASSWORD_HASHES_WAITING_MAX).unwrap());
        let full = full.expect("nobody else signs in");
        let busy = login(&harness, "somebody@example.com", "guess", "198.51.100.9", "script/1").await.expect(503);
        assert!(busy.header("Retry-After").is_some());
        page_login(&harness, "owner@example.com", "203.0.113.7", Some(&device(&known))).await.expect(200);
        drop(full);
        login(&harness, "somebody@example.com", "guess", "198.51.100.9", "script/1").await.expect(401);
    }
}

on_both! {
    // A browser is recognized by its cookie: another browser with the same address and name is another device.
    async fn a_browser_is_recognized_by_its_cookie(database) {
        let mut mailbox = Mailbox::open().await;
        let (harness, _) = mailbox.harness(&database).await;
        member(&harness, &mut mailbox, "ada", "user").await;
        let (ada, owner, home) = ("ada@example.com", "owner@example.com", "203.0.113.7");
        let first = device(&page_login(&harness, ada, home, None).await.expect(200));
        let second = device(&page_login(&harness, ada, "198.51.100.9", Some(&first)).await.expect(200));
        assert_ne!(first, second, "its value is another after every sign-in");
        assert!(mailbox.is_empty(), "the same browser, from another address");
        let words = async |mailbox: &mut Mailbox| mailbox.next().await.text();
        page_login(&harness, ada, home, None).await.expect(200);
        assert!(words(&mut mailbox).await.contains("a device that was not used before"));
        page_login(&harness, ada, home, Some(&first)).await.expect(200);
        assert!(words(&mut mailbox).await.contains("a device that was not used before"), "a value of before");
        // Two people can use one browser; each is recognized separately.
        page_login(&harness, owner, home, None).await.expect(200);
        let shared = device(&page_login(&harness, owner, home, Some(&second)).await.expect(200));
        assert!(words(&mut mailbox).await.contains("a device that was not used before"), "ada's is not the owner's");
        let shared = device(&page_login(&harness, ada, home, Some(&shared)).await.expect(200));
        let shared = device(&page_login(&harness, owner, home, Some(&shared)).await.expect(200));
        assert!(mailbox.is_empty(), "both know it");
        // Signing out everywhere forgets the account's browsers.
        let answer = page_login(&harness, ada, home, Some(&shared)).await.expect(200);
        let (login, shared) = (text(&answer.json()["token"]), device(&answer));
        harness.api_as(&login, "POST", "/api/me/sessions/revoke", &json!({})).await.expect(200);
        page_login(&harness, ada, home, Some(&shared)).await.expect(200);
        assert!(words(&mut mailbox).await.contains("a device that was not used before"));
    }
}
