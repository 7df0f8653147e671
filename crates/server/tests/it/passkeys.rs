//! Passkeys: registration, sign-in instead of or after a password, forged proofs. Each test runs on both databases.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};

use serde_json::{Value, json};
use tidewatch_accounts::{Actor, NewUser};
use tidewatch_domain::units::SECOND_NS;

use crate::authenticator::{Authenticator, USER_PRESENT};
use crate::client::Answer;
use crate::engines::On;
use crate::harness::{Harness, text};

const START: i64 = 1_800_000_000_000_000_000;
const BASE: &str = "https://tidewatch.example";
const DOMAIN: &str = "tidewatch.example";
const LOGIN: &str = "/api/login/passkey";
const OWN: &str = "/api/me/passkeys";

async fn harness(database: &On) -> (Harness, Arc<AtomicI64>) {
    let clock = Arc::new(AtomicI64::new(START));
    let (harness, _) = Harness::registered_at(database, &clock, |config| config.base_url = Some(BASE.into())).await;
    (harness, clock)
}

/// Posts from a new client address each time, so that no per-IP window fills.
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
    let started = post(harness, credential, &format!("{OWN}/start"), &json!({ "password": "correct horse" })).await;
    let started = started.expect(200).json();
    assert_eq!((&started["options"]["rp"]["id"], &started["options"]["attestation"]), (&json!(DOMAIN), &json!("none")));
    let made = authenticator.create(&started["options"]);
    let body = json!({ "challengeId": started["challengeId"], "name": "Laptop", "credential": made });
    post(harness, credential, &format!("{OWN}/finish"), &body).await.expect(201).json()
}

/// Signs in with a passkey only.
async fn sign_in(harness: &Harness, start: &Value, authenticator: &mut Authenticator) -> Answer {
    let started = anonymous(harness, &format!("{LOGIN}/start"), start).await.expect(200).json();
    let proof = authenticator.get(&started["options"]);
    let body = json!({ "challengeId": started["challengeId"], "credential": proof });
    anonymous(harness, &format!("{LOGIN}/finish"), &body).await
}

/// Creates another user without a password, as after single sign-on, and returns their login.
async fn other_login(harness: &Harness) -> String {
    let app = harness.app();
    let by = Actor { name: "a test".into(), ..app.accounts.by_server() };
    let email = "other@example.com".into();
    let new = NewUser { email, name: "Other".into(), password_hash: None, is_email_verified: true };
    let user = app.accounts.control.people.create_user(&by, &new).await.expect("a user");
    harness.login_of(&user).await
}

fn new() -> Authenticator {
    Authenticator::at(BASE, DOMAIN)
}

on_both! {
    async fn passkeys_are_added_named_used_and_removed(database) {
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

        // Sign-in without an e-mail address, and with one.
        let bundle = sign_in(&harness, &json!({}), &mut laptop).await.expect(200).json();
        harness.api_as(&text(&bundle["token"]), "GET", "/api/projects", &Value::Null).await.expect(200);
        laptop.user_handle = None;
        sign_in(&harness, &json!({ "email": " Owner@Example.com " }), &mut laptop).await.expect(200);
        let has = harness.api("GET", "/api/me/two-factor", &Value::Null).await.expect(200).json();
        assert!(has["passkeys"][0]["lastUsedAt"].is_string() && has["passkeys"][1]["lastUsedAt"].is_null(), "{has}");

        harness.api("DELETE", &path, &wrong).await.expect(403);
        let password = json!({ "password": "correct horse" });
        harness.api("DELETE", &path, &password).await.expect(200);
        harness.api("DELETE", &path, &password).await.expect(404);
        harness.api("DELETE", &format!("{OWN}/x"), &password).await.expect(404);
        sign_in(&harness, &json!({}), &mut laptop).await.expect(401);
        sign_in(&harness, &json!({ "email": "owner@example.com" }), &mut laptop).await.expect(401);
        sign_in(&harness, &json!({}), &mut phone).await.expect(200);
    }

    // L10: signing out everywhere can delete passkeys too.
    async fn passkeys_are_deleted_with_the_sessions_on_request(database) {
        let (mut harness, _) = harness(&database).await;
        let mut laptop = new();
        add(&harness, &harness.login, &mut laptop).await;
        for (body, status) in [(json!({}), 200), (json!({ "endPasskeys": true }), 401)] {
            let again = harness.api("POST", "/api/me/sessions/revoke", &body).await.expect(200).json();
            harness.login = text(&again["token"]);
            sign_in(&harness, &json!({}), &mut laptop).await.expect(status);
        }
        let has = harness.api("GET", "/api/me/two-factor", &Value::Null).await.expect(200).json();
        assert_eq!(has["passkeys"], json!([]));
    }

    async fn a_passkey_is_the_second_step_after_a_password(database) {
        let (harness, _) = harness(&database).await;
        let mut key = new();
        // A key without user verification is sufficient after a password, but not instead of one.
        key.flags = USER_PRESENT;
        let added = add(&harness, &harness.login, &mut key).await;
        sign_in(&harness, &json!({}), &mut key).await.expect(401);
        let settings = json!({ "name": "Example", "timezone": "UTC", "requireTwoFactor": true });
        harness.api("PUT", "/api/organizations/1/settings", &settings).await.expect(200);
        harness.api("GET", "/api/projects", &Value::Null).await.expect(200);

        let password = json!({ "email": "owner@example.com", "password": "correct horse" });
        let start = format!("{LOGIN}/start").replace("login", "login/mfa");
        let step = async |key: &mut Authenticator| {
            let waiting = anonymous(&harness, "/api/login", &password).await.expect(200).json();
            assert_eq!((&waiting["methods"], &waiting["token"]), (&json!(["passkey", "recovery"]), &Value::Null));
            let started = anonymous(&harness, &start, &json!({ "mfaToken": waiting["mfaToken"] })).await.expect(200).json();
            assert_eq!(started["options"]["allowCredentials"][0]["transports"], json!(["internal"]));
            json!({ "mfaToken": waiting["mfaToken"], "challengeId": started["challengeId"], "passkey": key.get(&started["options"]) })
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
        // The proof of a second step is no sign-in by itself.
        let third = step(&mut key).await;
        let body = json!({ "challengeId": third["challengeId"], "credential": third["passkey"] });
        anonymous(&harness, &format!("{LOGIN}/finish"), &body).await.expect(401);

        let recovery = json!({ "mfaToken": third["mfaToken"], "recoveryCode": added["recoveryCodes"][0] });
        anonymous(&harness, "/api/login/mfa", &recovery).await.expect(200);
        let path = format!("{OWN}/{}", added["id"]);
        harness.api("DELETE", &path, &json!({ "password": "correct horse" })).await.expect(200);
        let has = harness.api("GET", "/api/me/two-factor", &Value::Null).await.expect(200).json();
        assert_eq!(has["recoveryCodesLeft"], json!(0), "of no use without a second factor");
        // The organization requires a second factor.
        for (path, body) in [
            ("/api/projects", json!({ "name": "one" })),
            ("/api/projects/batch", json!({ "projects": [{ "name": "one" }] })),
            ("/api/setup-tokens", json!({})),
        ] {
            harness.api("POST", path, &body).await.expect(403);
        }
        assert!(anonymous(&harness, "/api/login", &password).await.expect(200).json()["token"].is_string());
    }

    // WebAuthn, 7.2: one forgery per check.
    async fn forged_proofs_are_refused(database) {
        let (harness, clock) = harness(&database).await;
        let mut key = new();
        add(&harness, &harness.login, &mut key).await;
        sign_in(&harness, &json!({}), &mut key).await.expect(200);
        type Forge = fn(&mut Authenticator);
        let forgeries: [(&str, Forge); 11] = [
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
        for (what, forge) in forgeries {
            let (origin, party, handle) = (key.origin.clone(), key.relying_party.clone(), key.user_handle.clone());
            let (flags, counter) = (key.flags, key.counter);
            forge(&mut key);
            let answer = sign_in(&harness, &json!({}), &mut key).await;
            assert_eq!(answer.status, 401, "{what}: {}", String::from_utf8_lossy(&answer.body));
            (key.origin, key.relying_party, key.user_handle, key.is_framed) = (origin, party, handle, false);
            (key.flags, key.counter) = (flags, counter);
        }
        sign_in(&harness, &json!({}), &mut key).await.expect(200);

        let start = format!("{LOGIN}/start");
        let finish = format!("{LOGIN}/finish");
        let begin = async || anonymous(&harness, &start, &json!({})).await.expect(200).json();
        let answer = |started: &Value, proof: Value| json!({ "challengeId": started["challengeId"], "credential": proof });
        // A replay.
        let started = begin().await;
        let right = answer(&started, key.get(&started["options"]));
        anonymous(&harness, &finish, &right).await.expect(200);
        anonymous(&harness, &finish, &right).await.expect(401);
        // A changed byte; a wrong answer uses up the challenge.
        for field in ["signature", "authenticatorData", "clientDataJSON"] {
            let started = begin().await;
            let right = key.get(&started["options"]);
            let mut wrong = right.clone();
            let mut bytes = text(&wrong["response"][field]).into_bytes();
            let at = bytes.len() - 4;
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            wrong["response"][field] = String::from_utf8(bytes).expect("ASCII").into();
            anonymous(&harness, &finish, &answer(&started, wrong)).await.expect(401);
            anonymous(&harness, &finish, &answer(&started, right)).await.expect(401);
        }
        // Signed for one challenge, sent with another.
        let (one, two) = (begin().await, begin().await);
        anonymous(&harness, &finish, &answer(&two, key.get(&one["options"]))).await.expect(401);
        // A challenge that the server did not issue.
        let mut own = begin().await;
        own["challengeId"] = json!("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
        own["options"]["challenge"] = own["challengeId"].clone();
        anonymous(&harness, &finish, &answer(&own, key.get(&own["options"]))).await.expect(401);
        // An expired challenge.
        let started = begin().await;
        clock.fetch_add(300 * SECOND_NS, Ordering::Relaxed);
        anonymous(&harness, &finish, &answer(&started, key.get(&started["options"]))).await.expect(401);
        sign_in(&harness, &json!({}), &mut key).await.expect(200);
        // An empty body.
        anonymous(&harness, &finish, &json!({})).await.expect(400);
    }

    async fn a_passkey_signs_in_its_own_user_only(database) {
        let (harness, _) = harness(&database).await;
        let mut owners = new();
        add(&harness, &harness.login, &mut owners).await;
        let login = other_login(&harness).await;
        let mut theirs = new();
        add(&harness, &login, &mut theirs).await;
        let bundle = sign_in(&harness, &json!({}), &mut theirs).await.expect(200).json();
        assert_eq!(bundle["user"]["email"], json!("other@example.com"));
        // With the owner's address, and with the owner's handle.
        sign_in(&harness, &json!({ "email": "owner@example.com" }), &mut theirs).await.expect(401);
        theirs.user_handle = owners.user_handle.clone();
        sign_in(&harness, &json!({}), &mut theirs).await.expect(401);
        // With the owner's credential id and their own key.
        theirs.id = owners.id.clone();
        sign_in(&harness, &json!({}), &mut theirs).await.expect(401);
        // A passkey of the owner cannot be added again, and a challenge of the owner cannot be used by others.
        let start = async |credential: &str| {
            let started = post(&harness, credential, &format!("{OWN}/start"), &json!({ "password": "correct horse" })).await;
            started.expect(200).json()
        };
        let finish = async |credential: &str, challenge: &Value, made: Value| {
            let body = json!({ "challengeId": challenge, "name": "x", "credential": made });
            post(&harness, credential, &format!("{OWN}/finish"), &body).await
        };
        let started = start(&login).await;
        let again = owners.create(&started["options"]);
        finish(&login, &started["challengeId"], again).await.expect(409);
        let started = start(&harness.login).await;
        let made = new().create(&started["options"]);
        finish(&login, &started["challengeId"], made.clone()).await.expect(400);
        finish(&harness.login, &started["challengeId"], made).await.expect(400);
        // Created at another origin, or for another relying party.
        for (origin, party) in [("https://evil.example", DOMAIN), (BASE, "evil.example")] {
            let started = start(&login).await;
            let made = Authenticator::at(origin, party).create(&started["options"]);
            finish(&login, &started["challengeId"], made).await.expect(400);
        }
        // Passkeys of other users cannot be removed or renamed.
        let has = harness.api("GET", "/api/me/two-factor", &Value::Null).await.expect(200).json();
        let path = format!("{OWN}/{}", has["passkeys"][0]["id"]);
        harness.api_as(&login, "DELETE", &path, &json!({ "password": "correct horse" })).await.expect(404);
        harness.api_as(&login, "PUT", &path, &json!({ "name": "mine" })).await.expect(404);
    }

    // The answer for an address without an account or passkeys has the same form: ids that do not change.
    async fn the_answer_does_not_reveal_who_has_an_account(database) {
        let (harness, _) = harness(&database).await;
        let ids = async |email: &str| {
            let started = anonymous(&harness, &format!("{LOGIN}/start"), &json!({ "email": email })).await.expect(200).json();
            started["options"]["allowCredentials"].clone()
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

    // Where browsers do not allow passkeys, and where password login is disabled.
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
    // A passkey is a proof for step-up: only the person's own, only for this proof, and once.
    async fn a_passkey_is_a_proof_for_step_up(database) {
        let (harness, clock) = harness(&database).await;
        let mut key = new();
        key.flags = USER_PRESENT;
        add(&harness, &harness.login, &mut key).await;
        let other = other_login(&harness).await;
        let mut foreign = new();
        let started = post(&harness, &other, &format!("{OWN}/start"), &json!({})).await.expect(200).json();
        let made = foreign.create(&started["options"]);
        let body = json!({ "challengeId": started["challengeId"], "name": "Hers", "credential": made });
        post(&harness, &other, &format!("{OWN}/finish"), &body).await.expect(201);
        clock.fetch_add(300 * SECOND_NS, Ordering::Relaxed);
        let make = async || post(&harness, &harness.login, "/api/personal-access-tokens", &json!({ "name": "ci" })).await;
        assert_eq!(make().await.expect(403).json()["code"], "step_up_required");
        let begin = async |login: &str| {
            let ways = post(&harness, login, "/api/me/step-up/start", &Value::Null).await.expect(200).json();
            let start = json!({ "mfaToken": ways["mfaToken"] });
            let started = anonymous(&harness, "/api/login/mfa/passkey/start", &start).await.expect(200).json();
            (ways, started)
        };
        let prove = async |ways: &Value, started: &Value, key: &mut Authenticator| {
            let proof = json!({
                "mfaToken": ways["mfaToken"], "challengeId": started["challengeId"], "passkey": key.get(&started["options"]),
            });
            post(&harness, &harness.login, "/api/me/step-up", &proof).await
        };
        // Another person's passkey, for her own challenge and for the owner's.
        let (hers, started) = begin(&other).await;
        assert_eq!(hers["methods"], json!(["passkey"]), "{hers}");
        prove(&hers, &started, &mut foreign).await.expect(403);
        let (ways, mut started) = begin(&harness.login).await;
        assert_eq!(ways["methods"], json!(["password", "passkey"]), "{ways}");
        started["options"]["allowCredentials"] = json!([]);
        prove(&ways, &started, &mut foreign).await.expect(403);
        make().await.expect(403);
        let (ways, started) = begin(&harness.login).await;
        prove(&ways, &started, &mut key).await.expect(200);
        make().await.expect(201);
        clock.fetch_add(300 * SECOND_NS, Ordering::Relaxed);
        prove(&ways, &started, &mut key).await.expect(403);
        make().await.expect(403);
    }
}
