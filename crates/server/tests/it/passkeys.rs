//! Passkeys: added, used instead of a password and after it, and everything that is no proof. Each on both databases.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};

use serde_json::{Value, json};
use tidewatch_accounts::{By, NewUser};

use crate::authenticator::{Authenticator, USER_PRESENT};
use crate::client::Answer;
use crate::engines::On;
use crate::harness::{Harness, text};

const START: i64 = 1_800_000_000_000_000_000;
const SECOND: i64 = 1_000_000_000;
const BASE: &str = "https://tidewatch.example";
const DOMAIN: &str = "tidewatch.example";
const LOGIN: &str = "/api/login/passkey";
const OWN: &str = "/api/me/passkeys";

async fn harness(database: &On) -> (Harness, Arc<AtomicI64>) {
    let clock = Arc::new(AtomicI64::new(START));
    let (harness, _) = Harness::registered_at(database, &clock, |config| config.base_url = Some(BASE.into())).await;
    (harness, clock)
}

/// From an address of its own, so that no per-IP window fills.
async fn post(harness: &Harness, credential: &str, path: &str, body: &Value) -> Answer {
    static CALLER: AtomicU32 = AtomicU32::new(0x0a00_0000);
    let address = std::net::Ipv4Addr::from(CALLER.fetch_add(1, Ordering::Relaxed)).to_string();
    let authorization = format!("Bearer {credential}");
    let mut headers = vec![("X-Forwarded-For", address.as_str()), ("Content-Type", "application/json")];
    if !credential.is_empty() {
        headers.push(("Authorization", &authorization));
    }
    crate::client::send(harness.address(), "POST", path, &headers, body.to_string().as_bytes()).await
}

async fn anonymous(harness: &Harness, path: &str, body: &Value) -> Answer {
    post(harness, "", path, body).await
}

async fn add(harness: &Harness, credential: &str, authenticator: &mut Authenticator) -> Value {
    let asked = post(harness, credential, &format!("{OWN}/start"), &json!({ "password": "correct horse" })).await;
    let asked = asked.expect(200).json();
    assert_eq!((&asked["options"]["rp"]["id"], &asked["options"]["attestation"]), (&json!(DOMAIN), &json!("none")));
    let made = authenticator.create(&asked["options"]);
    let body = json!({ "challengeId": asked["challengeId"], "name": "Laptop", "credential": made });
    post(harness, credential, &format!("{OWN}/finish"), &body).await.expect(201).json()
}

/// The whole way in by passkey alone.
async fn enter(harness: &Harness, start: &Value, authenticator: &mut Authenticator) -> Answer {
    let asked = anonymous(harness, &format!("{LOGIN}/start"), start).await.expect(200).json();
    let proof = authenticator.get(&asked["options"]);
    let body = json!({ "challengeId": asked["challengeId"], "credential": proof });
    anonymous(harness, &format!("{LOGIN}/finish"), &body).await
}

/// The login of somebody else, who signs in elsewhere and has no password that is asked for.
async fn another(harness: &Harness) -> String {
    let app = harness.app();
    let by = By { name: "a test".into(), ..app.by_server() };
    let email = "other@example.com".into();
    let new = NewUser { email, name: "Other".into(), password_hash: None, is_email_verified: true };
    let user = app.control.create_user(&by, &new).await.expect("a user");
    harness.login_of(&user).await
}

fn new() -> Authenticator {
    Authenticator::at(BASE, DOMAIN)
}

on_both! {
    async fn added_named_used_and_removed(database) {
        let (harness, _) = harness(&database).await;
        let ways = harness.api_as("", "GET", "/api/auth/providers", &Value::Null).await.expect(200).json();
        assert_eq!(ways["passkeys"], json!(true));
        let wrong = json!({ "password": "wrong horse" });
        harness.api("POST", &format!("{OWN}/start"), &wrong).await.expect(403);
        harness.api("POST", &format!("{OWN}/start"), &json!({})).await.expect(400);

        let mut laptop = new();
        let added = add(&harness, &harness.login, &mut laptop).await;
        assert_eq!((&added["name"], added["recoveryCodes"].as_array().map(Vec::len)), (&json!("Laptop"), Some(10)));
        let mut phone = new();
        assert_eq!(add(&harness, &harness.login, &mut phone).await["recoveryCodes"], Value::Null, "there are some already");
        let path = format!("{OWN}/{}", added["id"]);
        harness.api("PUT", &path, &json!({ "name": " Work laptop " })).await.expect(200);
        harness.api("PUT", &path, &json!({ "name": "" })).await.expect(400);
        let has = harness.api("GET", "/api/me/two-factor", &Value::Null).await.expect(200).json();
        assert_eq!((&has["totp"], &has["recoveryCodesLeft"]), (&json!(false), &json!(10)));
        assert_eq!((&has["passkeys"][0]["name"], &has["passkeys"][0]["lastUsedAt"]), (&json!("Work laptop"), &Value::Null));
        let me = harness.api("GET", "/api/me/login-bundle", &Value::Null).await.expect(200).json();
        assert_eq!(me["user"]["twoFactor"], json!(true));

        // Without an e-mail address, and with one.
        let bundle = enter(&harness, &json!({}), &mut laptop).await.expect(200).json();
        harness.api_as(&text(&bundle["token"]), "GET", "/api/projects", &Value::Null).await.expect(200);
        laptop.user_handle = None;
        enter(&harness, &json!({ "email": " Owner@Example.com " }), &mut laptop).await.expect(200);
        let has = harness.api("GET", "/api/me/two-factor", &Value::Null).await.expect(200).json();
        assert!(has["passkeys"][0]["lastUsedAt"].is_string() && has["passkeys"][1]["lastUsedAt"].is_null(), "{has}");

        harness.api("DELETE", &path, &wrong).await.expect(403);
        let password = json!({ "password": "correct horse" });
        harness.api("DELETE", &path, &password).await.expect(200);
        harness.api("DELETE", &path, &password).await.expect(404);
        harness.api("DELETE", &format!("{OWN}/x"), &password).await.expect(404);
        enter(&harness, &json!({}), &mut laptop).await.expect(401);
        enter(&harness, &json!({ "email": "owner@example.com" }), &mut laptop).await.expect(401);
        enter(&harness, &json!({}), &mut phone).await.expect(200);
    }

    // L10: whoever signs out everywhere can end passkeys too.
    async fn passkeys_end_with_the_sessions_when_asked(database) {
        let (mut harness, _) = harness(&database).await;
        let mut laptop = new();
        add(&harness, &harness.login, &mut laptop).await;
        for (body, status) in [(json!({}), 200), (json!({ "endPasskeys": true }), 401)] {
            let again = harness.api("POST", "/api/me/sessions/revoke", &body).await.expect(200).json();
            harness.login = text(&again["token"]);
            enter(&harness, &json!({}), &mut laptop).await.expect(status);
        }
        let has = harness.api("GET", "/api/me/two-factor", &Value::Null).await.expect(200).json();
        assert_eq!(has["passkeys"], json!([]));
    }

    async fn after_a_password_it_is_the_second_step(database) {
        let (harness, _) = harness(&database).await;
        let mut key = new();
        // A key that knows no PIN: enough after a password, not instead of one.
        key.flags = USER_PRESENT;
        let added = add(&harness, &harness.login, &mut key).await;
        enter(&harness, &json!({}), &mut key).await.expect(401);
        let settings = json!({ "name": "Example", "timezone": "UTC", "requireTwoFactor": true });
        harness.api("PUT", "/api/organizations/1/settings", &settings).await.expect(200);
        harness.api("GET", "/api/projects", &Value::Null).await.expect(200);

        let password = json!({ "email": "owner@example.com", "password": "correct horse" });
        let start = format!("{LOGIN}/start").replace("login", "login/mfa");
        let step = async |key: &mut Authenticator| {
            let waiting = anonymous(&harness, "/api/login", &password).await.expect(200).json();
            assert_eq!((&waiting["methods"], &waiting["token"]), (&json!(["passkey", "recovery"]), &Value::Null));
            let asked = anonymous(&harness, &start, &json!({ "mfaToken": waiting["mfaToken"] })).await.expect(200).json();
            assert_eq!(asked["options"]["allowCredentials"][0]["transports"], json!(["internal"]));
            json!({ "mfaToken": waiting["mfaToken"], "challengeId": asked["challengeId"], "passkey": key.get(&asked["options"]) })
        };
        let first = step(&mut key).await;
        let second = step(&mut key).await;
        // A challenge belongs to its waiting login.
        let mixed = json!({ "mfaToken": second["mfaToken"], "challengeId": first["challengeId"], "passkey": first["passkey"] });
        anonymous(&harness, "/api/login/mfa", &mixed).await.expect(401);
        let bundle = anonymous(&harness, "/api/login/mfa", &second).await.expect(200).json();
        harness.api_as(&text(&bundle["token"]), "GET", "/api/projects", &Value::Null).await.expect(200);
        anonymous(&harness, "/api/login/mfa", &second).await.expect(401);
        anonymous(&harness, &start, &json!({ "mfaToken": "nobody's" })).await.expect(401);
        // Whose answer to a second step opens nothing as a login of its own.
        let third = step(&mut key).await;
        let body = json!({ "challengeId": third["challengeId"], "credential": third["passkey"] });
        anonymous(&harness, &format!("{LOGIN}/finish"), &body).await.expect(401);

        let recovery = json!({ "mfaToken": third["mfaToken"], "recoveryCode": added["recoveryCodes"][0] });
        anonymous(&harness, "/api/login/mfa", &recovery).await.expect(200);
        let path = format!("{OWN}/{}", added["id"]);
        harness.api("DELETE", &path, &json!({ "password": "correct horse" })).await.expect(200);
        let has = harness.api("GET", "/api/me/two-factor", &Value::Null).await.expect(200).json();
        assert_eq!(has["recoveryCodesLeft"], json!(0), "of no use without a second factor");
        // The organisation asks for one.
        for (path, body) in [
            ("/api/projects", json!({ "name": "one" })),
            ("/api/projects/batch", json!({ "projects": [{ "name": "one" }] })),
            ("/api/setup-tokens", json!({})),
        ] {
            harness.api("POST", path, &body).await.expect(403);
        }
        assert!(anonymous(&harness, "/api/login", &password).await.expect(200).json()["token"].is_string());
    }

    // WebAuthn, 7.2: one lie each.
    async fn what_is_no_proof(database) {
        let (harness, clock) = harness(&database).await;
        let mut key = new();
        add(&harness, &harness.login, &mut key).await;
        enter(&harness, &json!({}), &mut key).await.expect(200);
        type Lie = fn(&mut Authenticator);
        let lies: [(&str, Lie); 11] = [
            ("another origin", |key| key.origin = "https://evil.example".into()),
            ("another port", |key| key.origin = format!("{BASE}:8443")),
            ("without TLS", |key| key.origin = "http://tidewatch.example".into()),
            ("in somebody's frame", |key| key.is_framed = true),
            ("another relying party", |key| key.relying_party = "example".into()),
            ("nobody there", |key| key.flags &= !USER_PRESENT),
            ("nobody verified", |key| key.flags = USER_PRESENT),
            ("a counter that stands", |key| key.counter -= 1),
            ("a counter at naught", |key| key.counter = u32::MAX),
            ("no user", |key| key.user_handle = None),
            ("another user", |key| key.user_handle = Some("AAAA".into())),
        ];
        for (what, lie) in lies {
            let (origin, party, handle) = (key.origin.clone(), key.relying_party.clone(), key.user_handle.clone());
            let (flags, counter) = (key.flags, key.counter);
            lie(&mut key);
            let answer = enter(&harness, &json!({}), &mut key).await;
            assert_eq!(answer.status, 401, "{what}: {}", String::from_utf8_lossy(&answer.body));
            (key.origin, key.relying_party, key.user_handle, key.is_framed) = (origin, party, handle, false);
            (key.flags, key.counter) = (flags, counter);
        }
        enter(&harness, &json!({}), &mut key).await.expect(200);

        let start = format!("{LOGIN}/start");
        let finish = format!("{LOGIN}/finish");
        let ask = async || anonymous(&harness, &start, &json!({})).await.expect(200).json();
        let answer = |asked: &Value, proof: Value| json!({ "challengeId": asked["challengeId"], "credential": proof });
        // A replay.
        let asked = ask().await;
        let right = answer(&asked, key.get(&asked["options"]));
        anonymous(&harness, &finish, &right).await.expect(200);
        anonymous(&harness, &finish, &right).await.expect(401);
        // A changed byte; and a wrong answer uses the challenge up.
        for field in ["signature", "authenticatorData", "clientDataJSON"] {
            let asked = ask().await;
            let right = key.get(&asked["options"]);
            let mut wrong = right.clone();
            let mut bytes = text(&wrong["response"][field]).into_bytes();
            let at = bytes.len() - 4;
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            wrong["response"][field] = String::from_utf8(bytes).expect("ASCII").into();
            anonymous(&harness, &finish, &answer(&asked, wrong)).await.expect(401);
            anonymous(&harness, &finish, &answer(&asked, right)).await.expect(401);
        }
        // Signed for one challenge, shown with another.
        let (one, two) = (ask().await, ask().await);
        anonymous(&harness, &finish, &answer(&two, key.get(&one["options"]))).await.expect(401);
        // A challenge that nobody gave.
        let mut own = ask().await;
        own["challengeId"] = json!("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
        own["options"]["challenge"] = own["challengeId"].clone();
        anonymous(&harness, &finish, &answer(&own, key.get(&own["options"]))).await.expect(401);
        // Too late.
        let asked = ask().await;
        clock.fetch_add(300 * SECOND, Ordering::Relaxed);
        anonymous(&harness, &finish, &answer(&asked, key.get(&asked["options"]))).await.expect(401);
        enter(&harness, &json!({}), &mut key).await.expect(200);
        // Nothing at all.
        anonymous(&harness, &finish, &json!({})).await.expect(400);
    }

    async fn nobody_enters_as_another(database) {
        let (harness, _) = harness(&database).await;
        let mut owners = new();
        add(&harness, &harness.login, &mut owners).await;
        let login = another(&harness).await;
        let mut theirs = new();
        add(&harness, &login, &mut theirs).await;
        let bundle = enter(&harness, &json!({}), &mut theirs).await.expect(200).json();
        assert_eq!(bundle["user"]["email"], json!("other@example.com"));
        // With the owner's address, and with the owner's handle.
        enter(&harness, &json!({ "email": "owner@example.com" }), &mut theirs).await.expect(401);
        theirs.user_handle = owners.user_handle.clone();
        enter(&harness, &json!({}), &mut theirs).await.expect(401);
        // With the owner's id and one's own key.
        theirs.id = owners.id.clone();
        enter(&harness, &json!({}), &mut theirs).await.expect(401);
        // A passkey of the owner is not added again, by nobody; and not with the owner's challenge.
        let start = async |credential: &str| {
            let asked = post(&harness, credential, &format!("{OWN}/start"), &json!({ "password": "correct horse" })).await;
            asked.expect(200).json()
        };
        let finish = async |credential: &str, challenge: &Value, made: Value| {
            let body = json!({ "challengeId": challenge, "name": "x", "credential": made });
            post(&harness, credential, &format!("{OWN}/finish"), &body).await
        };
        let asked = start(&login).await;
        let again = owners.create(&asked["options"]);
        finish(&login, &asked["challengeId"], again).await.expect(409);
        let asked = start(&harness.login).await;
        let made = new().create(&asked["options"]);
        finish(&login, &asked["challengeId"], made.clone()).await.expect(400);
        finish(&harness.login, &asked["challengeId"], made).await.expect(400);
        // Made elsewhere, for elsewhere, or signed where it should have been made.
        for (origin, party) in [("https://evil.example", DOMAIN), (BASE, "evil.example")] {
            let asked = start(&login).await;
            let made = Authenticator::at(origin, party).create(&asked["options"]);
            finish(&login, &asked["challengeId"], made).await.expect(400);
        }
        // Removed with a password of one's own, not somebody else's.
        let has = harness.api("GET", "/api/me/two-factor", &Value::Null).await.expect(200).json();
        let path = format!("{OWN}/{}", has["passkeys"][0]["id"]);
        harness.api_as(&login, "DELETE", &path, &json!({ "password": "correct horse" })).await.expect(404);
        harness.api_as(&login, "PUT", &path, &json!({ "name": "mine" })).await.expect(404);
    }

    // Who has no account, or no passkeys, is answered as who has: with an id that stays the same.
    async fn the_answer_does_not_tell_who_has_an_account(database) {
        let (harness, _) = harness(&database).await;
        let ids = async |email: &str| {
            let asked = anonymous(&harness, &format!("{LOGIN}/start"), &json!({ "email": email })).await.expect(200).json();
            asked["options"]["allowCredentials"].clone()
        };
        let nobody = ids("nobody@example.com").await;
        assert_eq!(nobody, ids("Nobody@example.com").await, "always the same");
        assert!(nobody.as_array().is_some_and(|ids| (1..=3).contains(&ids.len())), "{nobody}");
        assert_ne!(nobody, ids("somebody@example.com").await);
        let before = ids("owner@example.com").await;
        assert!(before.as_array().is_some_and(|ids| (1..=3).contains(&ids.len())), "{before}");
        let mut key = new();
        add(&harness, &harness.login, &mut key).await;
        let after = ids("owner@example.com").await;
        assert_eq!((&after[0]["id"], after[0].as_object().map(|one| one.len())), (&json!(key.id()), before[0].as_object().map(|one| one.len())));
    }

    // Where browsers allow none, and where another provider alone decides who comes in.
    async fn a_server_without_passkeys(database) {
        for (base, without_passwords) in [("https://192.0.2.1", false), ("http://tidewatch.example", false), (BASE, true)] {
            let harness = Harness::on_with(&database, move |config| {
                config.base_url = Some(base.into());
                config.sso.disable_password_login = without_passwords;
            })
            .await;
            let ways = harness.api_as("", "GET", "/api/auth/providers", &Value::Null).await.expect(200).json();
            assert_eq!(ways["passkeys"], json!(false), "{base}");
            harness.api_as("", "POST", &format!("{LOGIN}/start"), &json!({})).await.expect(404);
        }
    }
}

on_both! {
    // A passkey proves who one is, too: one's own, for this proof alone, and once.
    async fn a_passkey_is_a_proof_for_step_up(database) {
        let (harness, clock) = harness(&database).await;
        let mut key = new();
        key.flags = USER_PRESENT;
        add(&harness, &harness.login, &mut key).await;
        let other = another(&harness).await;
        let mut foreign = new();
        let asked = post(&harness, &other, &format!("{OWN}/start"), &json!({})).await.expect(200).json();
        let made = foreign.create(&asked["options"]);
        let body = json!({ "challengeId": asked["challengeId"], "name": "Hers", "credential": made });
        post(&harness, &other, &format!("{OWN}/finish"), &body).await.expect(201);
        clock.fetch_add(300 * SECOND, Ordering::Relaxed);
        let make = async || post(&harness, &harness.login, "/api/personal-access-tokens", &json!({ "name": "ci" })).await;
        assert_eq!(make().await.expect(403).json()["code"], "step_up_required");
        let begin = async |login: &str| {
            let ways = post(&harness, login, "/api/me/step-up/start", &Value::Null).await.expect(200).json();
            let start = json!({ "mfaToken": ways["mfaToken"] });
            let asked = anonymous(&harness, "/api/login/mfa/passkey/start", &start).await.expect(200).json();
            (ways, asked)
        };
        let prove = async |ways: &Value, asked: &Value, key: &mut Authenticator| {
            let proof = json!({
                "mfaToken": ways["mfaToken"], "challengeId": asked["challengeId"], "passkey": key.get(&asked["options"]),
            });
            post(&harness, &harness.login, "/api/me/step-up", &proof).await
        };
        // Another person's passkey, answering her own challenge and the owner's.
        let (hers, asked) = begin(&other).await;
        assert_eq!(hers["methods"], json!(["passkey"]), "{hers}");
        prove(&hers, &asked, &mut foreign).await.expect(403);
        let (ways, mut asked) = begin(&harness.login).await;
        assert_eq!(ways["methods"], json!(["password", "passkey"]), "{ways}");
        asked["options"]["allowCredentials"] = json!([]);
        prove(&ways, &asked, &mut foreign).await.expect(403);
        make().await.expect(403);
        let (ways, asked) = begin(&harness.login).await;
        prove(&ways, &asked, &mut key).await.expect(200);
        make().await.expect(201);
        clock.fetch_add(300 * SECOND, Ordering::Relaxed);
        prove(&ways, &asked, &mut key).await.expect(403);
        make().await.expect(403);
    }
}
