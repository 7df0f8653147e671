//! Sessions: the cookie of a page, its rotation, the list of sessions, and step-up.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::{Value, json};

use tidewatch_domain::units::MINUTE_NS;

use crate::client::{self, Answer};
use crate::harness::{Harness, text};

const START: i64 = 1_800_000_000_000_000_000;
const OWN: (&str, &str) = ("Sec-Fetch-Site", "same-origin");
const TOKENS: &str = "/api/personal-access-tokens";

async fn send(harness: &Harness, method: &str, path: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
    let mut all = vec![("Content-Type", "application/json")];
    all.extend_from_slice(headers);
    let body = if body.is_null() { String::new() } else { body.to_string() };
    client::send(harness.address(), method, path, &all, body.as_bytes()).await
}

/// Signs the owner in with these headers.
async fn sign_in(harness: &Harness, headers: &[(&str, &str)]) -> Answer {
    let login = json!({ "email": "owner@example.com", "password": "correct horse" });
    send(harness, "POST", "/api/login", headers, &login).await.expect(200)
}

/// `name=value` of the cookie that an answer sets.
fn cookie(answer: &Answer) -> Option<String> {
    answer.header("Set-Cookie").map(|set| set.split(';').next().expect("a pair").to_owned())
}

/// Requests the account of a page with this cookie.
async fn look(harness: &Harness, cookie: &str) -> Answer {
    send(harness, "GET", "/api/me/login-bundle", &[("Cookie", cookie), OWN], &Value::Null).await
}

on_both! {
    async fn a_page_is_signed_in_by_a_cookie_and_a_program_is_not(database) {
        let (harness, _) = Harness::registered(&database).await;
        let answer = sign_in(&harness, &[OWN]).await;
        let set = answer.header("Set-Cookie").expect("a cookie").to_owned();
        for part in ["tidewatch_session=twc_", "HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=604800"] {
            assert!(set.contains(part), "{set}");
        }
        assert!(!set.contains("Secure"), "a cookie that plain HTTP does not carry would sign nobody in: {set}");
        // The login response has the token for programs, which get no cookie.
        let login = text(&answer.json()["token"]);
        harness.api_as(&login, "GET", "/api/projects", &Value::Null).await.expect(200);
        for headers in [&[][..], &[("Sec-Fetch-Site", "cross-site")], &[("Origin", "https://evil.example")]] {
            assert_eq!(cookie(&sign_in(&harness, headers).await), None, "{headers:?}");
        }
        let cookie = cookie(&answer).expect("a cookie");
        // The client of these tests says `Host: test`.
        let own_origin = "http://test";
        for (headers, read, write) in [
            (&[OWN][..], 200, 200),
            (&[("Origin", own_origin)], 200, 200),
            // Without headers of a browser nothing is changed.
            (&[], 200, 403),
            (&[("Sec-Fetch-Site", "none")], 200, 403),
            (&[("Sec-Fetch-Site", "same-site")], 401, 403),
            (&[("Sec-Fetch-Site", "cross-site")], 401, 403),
            (&[("Origin", "https://evil.example")], 401, 403),
            (&[("Origin", "null")], 401, 403),
        ] {
            let mut headers = headers.to_vec();
            headers.push(("Cookie", &cookie));
            let answer = send(&harness, "GET", "/api/me/login-bundle", &headers, &Value::Null).await;
            assert_eq!(answer.status, read, "{headers:?}");
            let answer = send(&harness, "PUT", "/api/me", &headers, &json!({ "name": "Ada" })).await;
            assert_eq!(answer.status, write, "{headers:?}");
        }
        // A token is not a cookie value, and a cookie value is not a token.
        let value = cookie.split_once('=').expect("a value").1;
        harness.api_as(value, "GET", "/api/projects", &Value::Null).await.expect(401);
        look(&harness, &format!("tidewatch_session={login}")).await.expect(401);
        look(&harness, "tidewatch_session=twc_").await.expect(401);
    }

    // Behind TLS the cookie has the `__Host-` prefix; a cookie without it is ignored.
    async fn behind_tls_the_cookie_is_bound_to_the_host(database) {
        let change = |config: &mut tidewatch_server::config::Config| {
            config.base_url = Some("https://tide.example.com".to_owned());
        };
        let mut harness = Harness::on_with(&database, change).await;
        harness.register().await;
        let answer = sign_in(&harness, &[OWN]).await;
        let set = answer.header("Set-Cookie").expect("a cookie").to_owned();
        assert!(set.starts_with("__Host-tidewatch_session=") && set.contains("Secure"), "{set}");
        let cookie = cookie(&answer).expect("a cookie");
        look(&harness, &cookie).await.expect(200);
        look(&harness, cookie.trim_start_matches("__Host-")).await.expect(401);
        let foreign = [("Cookie", cookie.as_str()), ("Origin", "http://tide.example.com")];
        send(&harness, "PUT", "/api/me", &foreign, &json!({})).await.expect(403);
        let own = [("Cookie", cookie.as_str()), ("Origin", "https://tide.example.com")];
        send(&harness, "PUT", "/api/me", &own, &json!({})).await.expect(200);
    }

    // The value rotates with use. Requests overlap and responses get lost: the previous value is accepted until shortly
    // after the new one was first used. A later use means that one of the two holders has stolen it.
    async fn the_cookie_rotates_and_a_replay_ends_the_session(database) {
        let clock = Arc::new(AtomicI64::new(START));
        let at = |minutes: i64| clock.store(START + minutes * MINUTE_NS, Ordering::Relaxed);
        let (harness, _) = Harness::registered_at(&database, &clock, |_| {}).await;
        let first = cookie(&sign_in(&harness, &[OWN]).await).expect("a cookie");
        at(14);
        assert_eq!(cookie(&look(&harness, &first).await.expect(200)), None);
        at(15);
        let second = cookie(&look(&harness, &first).await.expect(200)).expect("another value");
        assert_ne!(first, second);
        // That response was lost, and so are these.
        at(40);
        for _ in 0..3 {
            assert_eq!(cookie(&look(&harness, &first).await.expect(200)).as_ref(), Some(&second), "the same again");
        }
        let third = cookie(&look(&harness, &second).await.expect(200));
        assert!(third.as_ref().is_some_and(|third| *third != second), "its time had come too");
        let third = third.expect("a value");
        at(41);
        assert_eq!(cookie(&look(&harness, &third).await.expect(200)), None);
        // A concurrent request with the previous value.
        at(42);
        assert_eq!(cookie(&look(&harness, &second).await.expect(200)), Some(third.clone()));
        look(&harness, &first).await.expect(401);
        look(&harness, &third).await.expect(200);
        at(43);
        look(&harness, &second).await.expect(401);
        look(&harness, &third).await.expect(401);
    }

    async fn sessions_are_listed_and_ended_one_by_one(database) {
        let clock = Arc::new(AtomicI64::new(START));
        let (mut harness, _) = Harness::registered_at(&database, &clock, |_| {}).await;
        let phone = [OWN, ("User-Agent", "A phone"), ("X-Forwarded-For", "203.0.113.9")];
        let answer = sign_in(&harness, &phone).await;
        let (login, page) = (text(&answer.json()["token"]), cookie(&answer).expect("a cookie"));
        clock.fetch_add(2 * MINUTE_NS, Ordering::Relaxed);
        look(&harness, &page).await.expect(200);
        let list = harness.api("GET", "/api/me/sessions", &Value::Null).await.expect(200).json();
        let list = list.as_array().expect("a list").clone();
        assert_eq!(list.len(), 2, "{list:?}");
        let find = |current: bool| list.iter().find(|one| one["current"] == current).expect("a session").clone();
        let other = find(false);
        assert_eq!((&other["userAgent"], &other["address"]), (&json!("A phone"), &json!("127.0.0.1")), "{other}");
        let time = |field: &str| text(&other[field]).parse::<jiff::Timestamp>().expect("a time").as_nanosecond();
        assert_eq!(time("createdAt"), i128::from(START));
        assert_eq!(time("lastSeenAt"), i128::from(START + 2 * MINUTE_NS));
        // Sessions of other people cannot be ended.
        let stranger = crate::account::person(&harness, "stranger@example.com").await;
        let theirs = harness.login_of(&stranger).await;
        let one = format!("/api/me/sessions/{}", other["id"]);
        harness.api_as(&theirs, "DELETE", &one, &Value::Null).await.expect(404);
        harness.api("DELETE", &one, &Value::Null).await.expect(200);
        harness.api("DELETE", &one, &Value::Null).await.expect(404);
        look(&harness, &page).await.expect(401);
        harness.api_as(&login, "GET", "/api/projects", &Value::Null).await.expect(401);
        harness.api("GET", "/api/projects", &Value::Null).await.expect(200);
        // Signing out ends the session for token and cookie, and deletes the cookie.
        let answer = sign_in(&harness, &[OWN]).await;
        let (login, page) = (text(&answer.json()["token"]), cookie(&answer).expect("a cookie"));
        let out = send(&harness, "POST", "/api/me/logout", &[("Cookie", &page), OWN], &Value::Null).await.expect(200);
        assert!(out.header("Set-Cookie").is_some_and(|set| set.contains("tidewatch_session=; ") && set.contains("Max-Age=0")));
        look(&harness, &page).await.expect(401);
        harness.api_as(&login, "GET", "/api/projects", &Value::Null).await.expect(401);
        // A page that signs out everywhere else stays signed in with a new cookie.
        let page = cookie(&sign_in(&harness, &[OWN]).await).expect("a cookie");
        let revoke = send(&harness, "POST", "/api/me/sessions/revoke", &[("Cookie", &page), OWN], &json!({})).await;
        let next = cookie(&revoke.expect(200)).expect("another cookie");
        look(&harness, &page).await.expect(401);
        look(&harness, &next).await.expect(200);
        harness.api("GET", "/api/projects", &Value::Null).await.expect(401);
        harness.login = String::new();
    }

    // Changes of credentials and roles, and deletions, require a proof within the last five minutes.
    async fn step_up(database) {
        let clock = Arc::new(AtomicI64::new(START));
        let (harness, _) = Harness::registered_at(&database, &clock, |_| {}).await;
        let other = text(&sign_in(&harness, &[]).await.json()["token"]);
        let make = async |login: &str| harness.api_as(login, "POST", TOKENS, &json!({ "name": "ci" })).await;
        clock.fetch_add(5 * MINUTE_NS - 1, Ordering::Relaxed);
        make(&harness.login).await.expect(201);
        clock.fetch_add(1, Ordering::Relaxed);
        let refused = make(&harness.login).await.expect(403).json();
        assert_eq!(refused["code"], "step_up_required", "{refused}");
        // Routes without step-up still work.
        harness.api("GET", TOKENS, &Value::Null).await.expect(200);
        let ways = harness.api("POST", "/api/me/step-up/start", &Value::Null).await.expect(200).json();
        assert_eq!(ways, json!({ "methods": ["password"], "mfaToken": null, "providers": [] }));
        for (body, status) in [
            (json!({}), 400),
            (json!({ "password": "wrong horse" }), 403),
            (json!({ "mfaToken": "twm_x", "code": "000000" }), 403),
            (json!({ "password": "correct horse", "mfaToken": "twm_x" }), 400),
        ] {
            harness.api("POST", "/api/me/step-up", &body).await.expect(status);
            make(&harness.login).await.expect(403);
        }
        let proof = json!({ "password": "correct horse" });
        harness.api("POST", "/api/me/step-up", &proof).await.expect(200);
        let made = make(&harness.login).await.expect(201).json();
        // The proof is valid in this session only; a token cannot prove anything.
        make(&other).await.expect(403);
        harness.api_as(&text(&made["token"]), "POST", "/api/me/step-up", &proof).await.expect(403);
        clock.fetch_add(5 * MINUTE_NS, Ordering::Relaxed);
        make(&harness.login).await.expect(403);
        // A session that replaces another has the same proof.
        let renewed = harness.api("POST", "/api/me/sessions/revoke", &json!({})).await.expect(200).json();
        make(&text(&renewed["token"])).await.expect(403);
    }

    // A stolen session cannot guess the password, from any number of addresses, and does not block sign-ins.
    async fn guesses_at_step_up_slow_down(database) {
        let clock = Arc::new(AtomicI64::new(START));
        let (harness, _) = Harness::registered_at(&database, &clock, |_| {}).await;
        let authorization = format!("Bearer {}", harness.login);
        let prove = async |number: u32, password: &str| {
            let from = std::net::Ipv4Addr::from(0x0a00_0000 + number).to_string();
            let headers = [("Authorization", authorization.as_str()), ("X-Forwarded-For", from.as_str())];
            send(&harness, "POST", "/api/me/step-up", &headers, &json!({ "password": password })).await
        };
        for number in 0..20 {
            prove(number, "wrong horse").await.expect(403);
        }
        prove(20, "wrong horse").await.expect(429);
        sign_in(&harness, &[OWN]).await;
        assert_eq!(prove(21, "correct horse").await.expect(429).header("Retry-After"), Some("1"));
        clock.fetch_add(1_000_000_000, Ordering::Relaxed);
        prove(22, "correct horse").await.expect(200);
    }
}
