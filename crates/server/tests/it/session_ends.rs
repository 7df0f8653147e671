//! Every way to end a person's sessions, tested with every grant that is or could become a session. One table: rows are
//! the ways, columns the grants.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::{Value, json};
use tidewatch_accounts::Actor;
use tidewatch_domain::units::HOUR_NS;

use crate::client::Answer;
use crate::harness::{Harness, text};
use crate::mailbox::{Mailbox, member, organization};

/// RFC 7636, appendix B.
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
const REDIRECT: &str = "http://127.0.0.1:3000/callback";

/// The ways to end a person's sessions.
#[derive(Debug, Clone, Copy)]
enum Way {
    AnotherPassword,
    Reset,
    SignOutEverywhere,
    Operator,
    /// `tidewatch admin reset-2fa`.
    SecondFactorReset,
    /// One session, by signing out.
    SignOut,
    /// One session, from another session.
    EndOne,
}

const WAYS: [Way; 7] = [
    Way::AnotherPassword,
    Way::Reset,
    Way::SignOutEverywhere,
    Way::Operator,
    Way::SecondFactorReset,
    Way::SignOut,
    Way::EndOne,
];

/// The grants that an intruder may hold when the sessions end.
struct Outstanding {
    login: String,
    /// The session cookie of a page.
    cookie: String,
    refresh: String,
    access: String,
    /// Approved, but not yet exchanged for tokens.
    device_code: String,
    /// The authorization code of an approved client, not yet exchanged.
    code: String,
    client: String,
    /// The setup token of a coding agent.
    setup: String,
    /// The token of a mailed, unused password reset link.
    reset: String,
}

/// The token of the next password reset mail; skips mails about new devices.
async fn reset_token(mailbox: &mut Mailbox) -> String {
    loop {
        let mail = mailbox.next().await;
        if mail.text().contains("/reset-password#") {
            return mail.token("reset-password");
        }
    }
}

async fn post(harness: &Harness, path: &str, body: &Value) -> Answer {
    harness.api_as("", "POST", path, body).await
}

impl Outstanding {
    async fn gather(harness: &Harness, mailbox: &mut Mailbox, (login, cookie): (&str, &str)) -> Outstanding {
        let device = async || {
            let begun = post(harness, "/api/auth/device/authorize", &json!({})).await.expect(200).json();
            let decision = json!({ "user_code": begun["user_code"] });
            harness.api_as(login, "POST", "/api/device/approve", &decision).await.expect(200);
            text(&begun["device_code"])
        };
        let fetched = post(harness, "/api/auth/token", &polled(&device().await)).await.expect(200).json();
        let registered = json!({ "client_name": "An editor", "redirect_uris": [REDIRECT] });
        let client = text(&post(harness, "/api/oauth/register", &registered).await.expect(201).json()["client_id"]);
        let consent = json!({
            "client_id": client, "redirect_uri": REDIRECT, "code_challenge": CHALLENGE, "code_challenge_method": "S256",
        });
        let led = harness.api_as(login, "POST", "/api/oauth/approve", &consent).await.expect(200).json();
        let led = url::Url::parse(&text(&led["redirectTo"])).expect("a URL");
        let code = led.query_pairs().find(|(name, _)| name == "code").expect("a code").1.into_owned();
        let bundle = harness.api_as(login, "GET", "/api/me/login-bundle", &Value::Null).await.expect(200).json();
        let about = json!({ "organizationId": bundle["organizations"][0]["id"] });
        let setup = harness.api_as(login, "POST", "/api/setup-tokens", &about).await.expect(201).json();
        post(harness, "/api/forgot-password", &json!({ "email": "owner@example.com" })).await.expect(200);
        Outstanding {
            login: login.to_owned(),
            cookie: cookie.to_owned(),
            refresh: text(&fetched["refresh_token"]),
            access: text(&fetched["access_token"]),
            device_code: device().await,
            code,
            client,
            setup: text(&setup["token"]),
            reset: reset_token(mailbox).await,
        }
    }

    /// Each grant, and whether it is still valid. Uses up single-use grants.
    async fn valid_grants(&self, harness: &Harness) -> Vec<(&'static str, bool)> {
        let bundle = "/api/me/login-bundle";
        let refresh = json!({ "grant_type": "refresh_token", "refresh_token": self.refresh });
        let exchange = json!({
            "grant_type": "authorization_code", "client_id": self.client, "code": self.code,
            "code_verifier": VERIFIER, "redirect_uri": REDIRECT,
        });
        let reset = format!("/api/password-reset/{}", self.reset);
        let opens = async |credential: &str, path: &str| {
            harness.api_as(credential, "GET", path, &Value::Null).await.status == 200
        };
        let becomes = async |body: &Value| post(harness, "/api/auth/token", body).await.status == 200;
        vec![
            ("login", opens(&self.login, bundle).await),
            ("page", page_reads(harness, &self.cookie, bundle).await),
            ("access token", opens(&self.access, bundle).await),
            ("refresh token", becomes(&refresh).await),
            ("approved device code", becomes(&polled(&self.device_code)).await),
            ("authorization code", becomes(&exchange).await),
            ("setup token", opens(&self.setup, "/api/setup/session").await),
            ("reset link", harness.api_as("", "GET", &reset, &Value::Null).await.json()["valid"] == true),
        ]
    }
}

/// Whether a page with this cookie may read the path.
async fn page_reads(harness: &Harness, cookie: &str, path: &str) -> bool {
    let headers = [("Cookie", cookie), ("Sec-Fetch-Site", "same-origin")];
    crate::client::send(harness.address(), "GET", path, &headers, b"").await.status == 200
}

fn polled(device_code: &str) -> Value {
    json!({ "grant_type": "device_code", "device_code": device_code })
}

impl Way {
    /// Whether this way ends the grant. The end of one session does not affect the person's other sign-ins.
    fn ends(self, grant: &str) -> bool {
        match self {
            Way::SignOut | Way::EndOne => ["login", "page"].contains(&grant),
            _ => true,
        }
    }

    /// Ends the sessions. `password` is the current one; returns the password afterwards.
    async fn end_sessions(
        self,
        harness: &Harness,
        mailbox: &mut Mailbox,
        clock: &AtomicI64,
        login: &str,
        password: &str,
    ) -> String {
        let next = format!("{password} and {self:?}");
        match self {
            Way::AnotherPassword => {
                let change = json!({ "currentPassword": password, "newPassword": next });
                harness.api_as(login, "PUT", "/api/me/password", &change).await.expect(200);
            }
            Way::Reset => {
                // An account gets one mail per hour; the gathered link is only used by `valid_grants`.
                clock.fetch_add(HOUR_NS, Ordering::Relaxed);
                post(harness, "/api/forgot-password", &json!({ "email": "owner@example.com" })).await.expect(200);
                let path = format!("/api/password-reset/{}", reset_token(mailbox).await);
                clock.fetch_sub(HOUR_NS, Ordering::Relaxed);
                post(harness, &path, &json!({ "password": next })).await.expect(200);
            }
            Way::SignOutEverywhere => {
                harness.api_as(login, "POST", "/api/me/sessions/revoke", &json!({})).await.expect(200);
                return password.to_owned();
            }
            Way::Operator => {
                let app = harness.app();
                let by = Actor { name: "tidewatch admin reset-password".into(), ..app.accounts.by_server() };
                let hash = tidewatch_accounts::secrets::password::hash(&next).expect("a hash");
                let owner = app
                    .accounts
                    .control
                    .sign_in
                    .stored_user("owner@example.com")
                    .await
                    .expect("a database")
                    .expect("the owner");
                app.accounts.control.sign_in.set_password(&by, owner.id, &hash).await.expect("a database");
            }
            Way::SecondFactorReset => {
                let app = harness.app();
                let by = Actor { name: "tidewatch admin reset-2fa".into(), ..app.accounts.by_server() };
                let owner = app
                    .accounts
                    .control
                    .sign_in
                    .stored_user("owner@example.com")
                    .await
                    .expect("a database")
                    .expect("the owner");
                app.accounts.control.sign_in.remove_second_factors(&by, owner.id).await.expect("a database");
                return password.to_owned();
            }
            Way::SignOut => {
                harness.api_as(login, "POST", "/api/me/logout", &Value::Null).await.expect(200);
                return password.to_owned();
            }
            Way::EndOne => {
                let again = json!({ "email": "owner@example.com", "password": password });
                let other = text(&post(harness, "/api/login", &again).await.expect(200).json()["token"]);
                let list = harness.api_as(login, "GET", "/api/me/sessions", &Value::Null).await.expect(200).json();
                let mut list = list.as_array().expect("a list").iter();
                let own = list.find(|one| one["current"] == true).expect("this session");
                let path = format!("/api/me/sessions/{}", own["id"]);
                harness.api_as(&other, "DELETE", &path, &Value::Null).await.expect(200);
                return password.to_owned();
            }
        }
        next
    }
}

const START: i64 = 1_800_000_000_000_000_000;

on_both! {
    // All grants of an intruder end with the owner's sessions, whichever way they end, for logins and pages' cookies.
    // All grants are valid before.
    async fn every_way_ends_every_grant(database) {
        let mut mailbox = Mailbox::open().await;
        let clock = Arc::new(AtomicI64::new(START));
        let address = mailbox.address;
        let (harness, _) =
            Harness::registered_at(&database, &clock, move |config| crate::mailbox::send_to(config, address)).await;
        let mut password = "correct horse".to_owned();
        let mut wrong = Vec::new();
        let sign_in = async |password: &str| {
            // Windows last a minute, the limit on mails an hour.
            clock.fetch_add(2 * HOUR_NS, Ordering::Relaxed);
            let login = json!({ "email": "owner@example.com", "password": password });
            let headers = [("Content-Type", "application/json"), ("Sec-Fetch-Site", "same-origin")];
            let body = login.to_string();
            let answer = crate::client::send(harness.address(), "POST", "/api/login", &headers, body.as_bytes()).await;
            let answer = answer.expect(200);
            let cookie = answer.header("Set-Cookie").expect("a cookie").split(';').next().expect("a pair").to_owned();
            (text(&answer.json()["token"]), cookie)
        };
        let (login, cookie) = sign_in(&password).await;
        let held = Outstanding::gather(&harness, &mut mailbox, (&login, &cookie)).await.valid_grants(&harness).await;
        assert!(held.iter().all(|(_, holds)| *holds), "without an end everything holds: {held:?}");
        for way in WAYS {
            let (login, cookie) = sign_in(&password).await;
            let outstanding = Outstanding::gather(&harness, &mut mailbox, (&login, &cookie)).await;
            password = way.end_sessions(&harness, &mut mailbox, &clock, &login, &password).await;
            let held = outstanding.valid_grants(&harness).await;
            let is_wrong = |(grant, holds): &(&str, bool)| *holds == way.ends(grant);
            wrong.extend(held.into_iter().filter(is_wrong).map(|(grant, holds)| format!("{grant} after {way:?}: {holds}")));
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}

on_both! {
    // The credentials of a removed member stay valid, but give no access to the organization.
    async fn a_removed_member_has_no_access_with_any_credential(database) {
        let mut mailbox = Mailbox::open().await;
        let (harness, project) = mailbox.harness(&database).await;
        let (login, id) = member(&harness, &mut mailbox, "ada", "user").await;
        let headers = [("Content-Type", "application/json"), ("Sec-Fetch-Site", "same-origin")];
        let body = json!({ "email": "ada@example.com", "password": "correct horse" }).to_string();
        let page = crate::client::send(harness.address(), "POST", "/api/login", &headers, body.as_bytes()).await;
        let page = page.expect(200).header("Set-Cookie").expect("a cookie").split(';').next().expect("a pair").to_owned();
        let begun = post(&harness, "/api/auth/device/authorize", &json!({})).await.expect(200).json();
        let decision = json!({ "user_code": begun["user_code"] });
        harness.api_as(&login, "POST", "/api/device/approve", &decision).await.expect(200);
        let client = post(&harness, "/api/auth/token", &polled(&text(&begun["device_code"]))).await.expect(200).json();
        let made = harness.api_as(&login, "POST", "/api/personal-access-tokens", &json!({ "name": "ci" })).await;
        let personal = text(&made.expect(201).json()["token"]);
        let path = format!("/api/dashboard/overview?projectId={}", project.id);
        let opens = async |access: &str| {
            let mut opens = vec![("page", page_reads(&harness, &page, &path).await)];
            for (kind, credential) in [("login", login.as_str()), ("client", access), ("personal token", &personal)] {
                opens.push((kind, harness.api_as(credential, "GET", &path, &Value::Null).await.status == 200));
            }
            opens
        };
        let before = opens(&text(&client["access_token"])).await;
        assert!(before.iter().all(|(_, opens)| *opens), "{before:?}");
        let path = format!("/api/organizations/{}/members/{id}", organization(&harness).await);
        harness.api("DELETE", &path, &Value::Null).await.expect(200);
        let refresh = json!({ "grant_type": "refresh_token", "refresh_token": client["refresh_token"] });
        let again = post(&harness, "/api/auth/token", &refresh).await.expect(200).json();
        let after = opens(&text(&again["access_token"])).await;
        assert!(after.iter().all(|(_, opens)| !*opens), "{after:?}");
    }
}
