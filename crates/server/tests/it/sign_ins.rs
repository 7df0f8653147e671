//! Sign-ins and what else happens to an account: recorded, shown to its owner and to admins, told by mail; guesses slow down.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::{Value, json};

use crate::client::{self, Answer};
use crate::harness::{Harness, text};
use crate::mailbox::{Mailbox, member, organization};

const START: i64 = 1_800_000_000_000_000_000;
const SECOND: i64 = 1_000_000_000;

/// From this address, as this program.
async fn login(harness: &Harness, email: &str, password: &str, from: &str, program: &str) -> Answer {
    let headers = [("Content-Type", "application/json"), ("X-Forwarded-For", from), ("User-Agent", program)];
    let body = json!({ "email": email, "password": password }).to_string();
    client::send(harness.address(), "POST", "/api/login", &headers, body.as_bytes()).await
}

/// From a page, in a browser that holds this cookie. Gives the cookie that the browser holds afterwards.
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

/// `name=value` of the browser's cookie.
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

/// Actions and addresses of a list, oldest first, of the kinds that are asked for.
fn told(page: &Value, kinds: &[&str]) -> Vec<(String, String)> {
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
    async fn people_and_their_admins_see_what_happened_to_an_account(database) {
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
        assert_eq!(told(&own, &kinds), expected);
        assert_eq!(own["data"][1]["userAgent"], "script/1");
        // An admin sees it too; other members, and admins of other organizations, do not.
        let all = harness.api("GET", &format!("{at}?accounts=true"), &Value::Null).await.expect(200).json();
        assert_eq!(told(&all, &kinds), expected);
        let path = format!("{at}?accounts=true&action=sign_in&userId={ada_id}");
        let some = harness.api("GET", &path, &Value::Null).await.expect(200).json();
        assert_eq!(told(&some, &kinds), expected[..4]);
        let without = harness.api("GET", &at, &Value::Null).await.expect(200).json();
        assert!(told(&without, &kinds).is_empty(), "{without}");
        harness.api_as(&ada, "GET", &format!("{at}?accounts=true"), &Value::Null).await.expect(403);
        let other = harness.api_as(&ada, "POST", "/api/organizations", &json!({ "name": "Own" })).await.expect(201).json();
        let path = format!("/api/organizations/{}/audit?accounts=true", other["id"]);
        let hers = harness.api_as(&ada, "GET", &path, &Value::Null).await.expect(200).json();
        let owners = hers["data"].as_array().expect("lines").iter().filter(|line| line["actor"]["email"] == "owner@example.com");
        assert_eq!(owners.count(), 0, "the owner is no member there: {hers}");
        let owners = harness.api("GET", "/api/me/security-log", &Value::Null).await.expect(200).json();
        assert!(!owners.to_string().contains("ada@example.com"), "{owners}");
        // Page by page.
        let first = harness.api_as(&ada, "GET", "/api/me/security-log?limit=2", &Value::Null).await.expect(200).json();
        let next = format!("/api/me/security-log?limit=2&before={}", first["next"]);
        let second = harness.api_as(&ada, "GET", &next, &Value::Null).await.expect(200).json();
        assert_eq!([&first["data"][0], &first["data"][1], &second["data"][0]], [0, 1, 2].map(|line| &own["data"][line]));
        harness.api_as(&ada, "GET", "/api/me/security-log?limit=0", &Value::Null).await.expect(422);
    }
}

on_both! {
    // 150 addresses guess at one account: each stays within its own window.
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
        // An account that does not exist slows down alike.
        for guess in 0..21 {
            let from = format!("2001:db8:{:x}::2", 0x100 + guess);
            let expected = if guess < 20 { 401 } else { 429 };
            login(&harness, "nobody@example.com", "guess", &from, "script/1").await.expect(expected);
        }
        // An address that has signed in before is no device: whoever shares it waits like others.
        login(&harness, email, "correct horse", home, "browser/1").await.expect(429);
        page_login(&harness, email, home, Some("tidewatch_device=twb_1")).await.expect(429);
        // The browser that was there before does not wait, wherever it is. The log has the first refusals of the row.
        let known = device(&page_login(&harness, email, "2001:db8:7777::1", Some(&known)).await.expect(200));
        let log = harness.api("GET", "/api/me/security-log", &Value::Null).await.expect(200).json();
        let refused = log["data"].as_array().expect("lines").iter().rev().filter(|line| line["action"] == "sign_in.refuse");
        let failures: Vec<i64> = refused.map(|line| line["detail"]["failures"].as_i64().expect("a count")).collect();
        assert_eq!(failures, [1, 2, 4, 8, 16]);
        // Nor does it have a try more than others: it waits for itself.
        let guess = async |cookie: &str, number: u32| {
            let from = format!("2001:db8:{:x}::4", 0x100 + number);
            let headers = [("Content-Type", "application/json"), ("X-Forwarded-For", from.as_str()), ("Cookie", cookie)];
            let body = json!({ "email": email, "password": "guess" }).to_string();
            client::send(harness.address(), "POST", "/api/login", &headers, body.as_bytes()).await.status
        };
        for number in 0..21 {
            assert_eq!(guess(&known, number).await, if number < 20 { 401 } else { 429 }, "{number}");
        }
        // A second later one more is taken.
        for guess in 0..20 {
            let from = format!("2001:db8:{:x}::3", 0x100 + guess);
            login(&harness, email, "guess", &from, "script/1").await.expect(401);
        }
        clock.store(START + SECOND, Ordering::Relaxed);
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
    // A queue without end would make everybody wait behind anonymous work.
    async fn sign_ins_that_cannot_be_worked_on_are_told_so(database) {
        let (harness, _) = Harness::registered(&database).await;
        let known = page_login(&harness, "owner@example.com", "203.0.113.7", None).await.expect(200);
        let app = harness.app().clone();
        // The work under way and the queue behind it.
        let full = app.hashes_waiting.try_acquire_many(u32::try_from(tidewatch_limits::PASSWORD_HASHES_WAITING_MAX).unwrap());
        let full = full.expect("nobody else signs in");
        let busy = login(&harness, "somebody@example.com", "guess", "198.51.100.9", "script/1").await.expect(503);
        assert!(busy.header("Retry-After").is_some());
        page_login(&harness, "owner@example.com", "203.0.113.7", Some(&device(&known))).await.expect(200);
        drop(full);
        login(&harness, "somebody@example.com", "guess", "198.51.100.9", "script/1").await.expect(401);
    }
}

on_both! {
    // A browser is known by its cookie: another browser at the same address, of the same name, is another device.
    async fn a_browser_is_known_by_its_cookie(database) {
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
        // Two people at one browser are both known, and each alone.
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
