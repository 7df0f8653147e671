//! Sign-in with a real OpenID Connect provider: `oidc-provider` from npm on loopback, and a browser that only follows
//! redirects and stores cookies. WIRE 5.5.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use totp_rs::{Builder, Secret};
use url::Url;

use super::ports::free_address;
use super::server::Server;
use super::sso_browser::{Browser, Provider, error, fragment, is_back, linked, person};

/// Starts a provider and a server without any account.
fn both(person: &Value, settings: &[(&'static str, &str)]) -> (tempfile::TempDir, Server, Provider) {
    let listen = free_address();
    let base = format!("http://{listen}");
    let provider = Provider::start(&format!("{base}/api/auth/callback/oidc"), person);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut all = vec![
        ("APP_BASE_URL", base.as_str()),
        ("OIDC_CLIENT_ID", "tidewatch"),
        ("OIDC_CLIENT_SECRET", "a secret & more"),
        ("OIDC_ISSUER_URL", provider.issuer.as_str()),
        ("OIDC_EXTRA_SCOPES", "groups"),
        ("OIDC_DISPLAY_NAME", "Acme"),
    ];
    all.extend_from_slice(settings);
    let server = Server::start_at(&listen, &folder.path().join("data"), &all);
    (folder, server, provider)
}

#[test]
fn the_first_person_sets_up_and_keys_may_be_replaced() {
    let (_folder, server, provider) = both(&person("1", "First@Example.com", true, &[]), &[]);
    let (status, said) = server.call("GET", "/api/auth/providers", None, &Value::Null);
    // Passkeys are not available at an IP address.
    let providers = json!([{ "id": "oidc", "name": "Acme" }]);
    let expected = json!({ "password": true, "passkeys": false, "providers": providers, "registration": true });
    assert_eq!((status, said), (200, expected));
    let mut browser = Browser::default();
    let landed = browser.sign_in(&server);
    assert_eq!(fragment(&landed, "needsSetup").as_deref(), Some("true"), "{landed}");
    assert_eq!(fragment(&landed, "redirect").as_deref(), Some("/issues"));
    let token = fragment(&landed, "token").expect("a login");
    let setup = json!({ "organizationName": "Acme", "timezone": "UTC", "projectName": "first", "framework": "custom" });
    let (status, made) = server.call("POST", "/api/auth/finish-setup", Some(&token), &setup);
    assert_eq!((status, &made["organizations"][0]["role"]), (201, &json!("owner")), "{made}");
    assert_eq!(made["user"]["email"], "first@example.com");
    assert_eq!(server.call("POST", "/api/auth/finish-setup", Some(&token), &setup).0, 409);

    // The same person is recognized by identity, with another e-mail address and a rotated key.
    provider.configure("/rotate", &Value::Null);
    provider.configure("/person", &person("1", "other@example.com", false, &[]));
    let landed = Browser::default().sign_in(&server);
    assert_eq!(fragment(&landed, "needsSetup").as_deref(), Some("false"), "{landed}");
    let token = fragment(&landed, "token").expect("a login");
    let (_, bundle) = server.call("GET", "/api/me/login-bundle", Some(&token), &Value::Null);
    assert_eq!(bundle["user"]["email"], "first@example.com");
}

#[test]
fn only_proved_accounts_are_signed_in() {
    let (_folder, mut server, provider) = both(&person("9", "stranger@example.com", true, &[]), &[]);
    server.register();
    let attempt = |person: &Value| {
        provider.configure("/person", person);
        Browser::default().sign_in(&server)
    };
    assert_eq!(error(&attempt(&person("9", "stranger@example.com", true, &[]))).as_deref(), Some("invite_required"));
    // An unverified e-mail address of another person is refused.
    let unverified = attempt(&person("8", "owner@example.com", false, &[]));
    assert_eq!(error(&unverified).as_deref(), Some("oauth_email_unverified"));
    assert_eq!(error(&attempt(&json!({ "sub": "7", "name": "x" }))).as_deref(), Some("oauth_no_email"));
    // A verified address is not sufficient either, until the account is proved.
    let owner = person("6", "Owner@example.com", true, &[]);
    linked(&server, &attempt(&owner));
    let known = attempt(&owner);
    assert!(fragment(&known, "token").is_some(), "{known}");
}

#[test]
fn users_are_created_with_the_role_of_their_groups_and_passwords_can_be_off() {
    let (_folder, mut server, provider) = both(
        &person("1", "dev@example.com", true, &["staff", "sre"]),
        &[
            ("OIDC_AUTO_CREATE_USERS", "true"),
            ("OIDC_ROLE_CLAIM", "groups"),
            ("OIDC_ROLE_MAP", "sre=admin,developers=user,staff=readonly"),
        ],
    );
    server.register();
    let role = |person: &Value| {
        provider.configure("/person", person);
        let landed = Browser::default().sign_in(&server);
        let token = fragment(&landed, "token").unwrap_or_else(|| linked(&server, &landed));
        let (_, bundle) = server.call("GET", "/api/me/login-bundle", Some(&token), &Value::Null);
        bundle["organizations"][0]["role"].as_str().expect("a role").to_owned()
    };
    assert_eq!(role(&person("1", "dev@example.com", true, &["staff", "sre"])), "admin");
    assert_eq!(role(&person("1", "dev@example.com", true, &["developers"])), "user");
    assert_eq!(role(&person("2", "guest@example.com", true, &["others"])), "readonly");
    // The owner stays the owner with any claims.
    assert_eq!(role(&person("3", "owner@example.com", true, &["staff"])), "owner");

    server.kill();
    server.set("DISABLE_PASSWORD_LOGIN", "true");
    server.restart();
    let login = json!({ "email": "owner@example.com", "password": "correct horse" });
    assert_eq!(server.call("POST", "/api/login", None, &login).0, 403);
    let (_, said) = server.call("GET", "/api/auth/providers", None, &Value::Null);
    assert_eq!(said["password"], false);
}

/// Signs in as this person of the provider; returns the role in each organization by id, or the error.
fn roles(server: &Server, provider: &Provider, person: &Value) -> Result<BTreeMap<i64, String>, String> {
    provider.configure("/person", person);
    let landed = Browser::default().sign_in(server);
    let token = fragment(&landed, "token").ok_or_else(|| error(&landed).unwrap_or_default())?;
    let (_, bundle) = server.call("GET", "/api/me/login-bundle", Some(&token), &Value::Null);
    let organizations = bundle["organizations"].as_array().expect("organizations").iter();
    Ok(organizations
        .map(|one| (one["id"].as_i64().expect("an id"), one["role"].as_str().expect("a role").to_owned()))
        .collect())
}

#[test]
fn a_provider_gives_roles_in_one_organization_alone() {
    let (_folder, mut server, provider) = both(
        &person("1", "sre@example.com", true, &[]),
        &[("OIDC_ROLE_CLAIM", "groups"), ("OIDC_ROLE_MAP", "sre=admin,staff=readonly")],
    );
    let owner = server.register().jwt;
    let (status, victims) = server.call("POST", "/api/organizations", Some(&owner), &json!({ "name": "Victims Inc" }));
    assert_eq!(status, 201, "{victims}");
    let victims = victims["id"].as_i64().expect("an id");
    for (organization, role) in [(1, "user"), (victims, "readonly")] {
        let path = format!("/api/organizations/{organization}/invitations");
        let body = json!({ "email": "sre@example.com", "role": role });
        assert_eq!(server.call("POST", &path, Some(&owner), &body).0, 201);
    }
    let expect = |first: &str| Ok(BTreeMap::from([(1, first.to_owned()), (victims, "readonly".to_owned())]));
    let sre = person("1", "sre@example.com", true, &["sre"]);
    assert_eq!(roles(&server, &provider, &sre), expect("admin"));

    // An admin invites; the invitations are revoked when the admin loses the role.
    let landed = Browser::default().step_up(&server);
    let token = fragment(&landed, "token").expect("a login");
    let body = json!({ "email": "friend@example.com", "role": "user" });
    assert_eq!(server.call("POST", "/api/organizations/1/invitations", Some(&token), &body).0, 201);
    let (status, _) =
        server.call("GET", &format!("/api/organizations/{victims}/invitations"), Some(&token), &Value::Null);
    assert_eq!(status, 403, "they are no admin there");
    assert_eq!(roles(&server, &provider, &person("1", "sre@example.com", true, &["staff"])), expect("readonly"));
    let (_, open) = server.call("GET", "/api/organizations/1/invitations", Some(&owner), &Value::Null);
    assert_eq!(open, json!([]), "their invitations ended with their right to invite");
    // A member of only the other organization does not change.
    let path = format!("/api/organizations/{victims}/invitations");
    server.call("POST", &path, Some(&owner), &json!({ "email": "other@example.com", "role": "user" }));
    let other = person("2", "other@example.com", true, &["sre"]);
    for _ in 0..2 {
        assert_eq!(roles(&server, &provider, &other), Ok(BTreeMap::from([(victims, "user".to_owned())])));
    }
}

#[test]
fn the_organization_claim_holds_ids_and_not_names() {
    let (_folder, mut server, provider) = both(
        &person("1", "ada@example.com", true, &["sre"]),
        &[
            ("OIDC_AUTO_CREATE_USERS", "true"),
            ("OIDC_ROLE_CLAIM", "groups"),
            ("OIDC_ROLE_MAP", "sre=admin"),
            ("OIDC_ORG_CLAIM", "org"),
        ],
    );
    let owner = server.register().jwt;
    // Anyone may create an organization with this name.
    let (status, trap) = server.call("POST", "/api/organizations", Some(&owner), &json!({ "name": "Platform" }));
    assert_eq!(status, 201, "{trap}");
    let trap = trap["id"].as_i64().expect("an id");
    let hire = |sub: &str, org: Value| {
        let mut hire = person(sub, &format!("{sub}@example.com"), true, &["sre"]);
        hire["org"] = org;
        hire
    };
    let refused = Err("invite_required".to_owned());
    let admin_of = |organization: i64| Ok(BTreeMap::from([(organization, "admin".to_owned())]));
    assert_eq!(roles(&server, &provider, &hire("1", json!("Platform"))), refused);
    assert_eq!(roles(&server, &provider, &hire("2", json!("99"))), refused);
    assert_eq!(roles(&server, &provider, &hire("3", Value::Null)), refused);
    assert_eq!(roles(&server, &provider, &hire("4", json!("1"))), admin_of(1));
    assert_eq!(roles(&server, &provider, &hire("5", json!(trap))), admin_of(trap));
    server.kill();
    server.set("OIDC_ORG_MAP", "Platform=1");
    server.restart();
    assert_eq!(roles(&server, &provider, &hire("1", json!("Platform"))), admin_of(1));
    assert_eq!(roles(&server, &provider, &hire("6", json!(["others", "Platform"]))), admin_of(1));
}

#[test]
fn attacks_on_the_callback_are_refused() {
    let (_folder, mut server, _provider) = both(&person("1", "owner@example.com", true, &[]), &[]);
    server.register();
    linked(&server, &Browser::default().sign_in(&server));
    let is_ours = |url: &Url| url.path() == "/api/auth/callback/oidc";
    let start = format!("{}/api/auth/start/oidc?redirect=https%3A%2F%2Fevil.example", server.base);
    // A victim follows the attacker's callback in another browser, which does not have the cookie.
    let mut attacker = Browser::default();
    let callback = attacker.go(&start, is_ours);
    let (to, _) = Browser::default().step(&callback);
    assert_eq!(to.and_then(|to| error(&to)).as_deref(), Some("oauth_state"));
    // The cookie of one sign-in with the state of another.
    let mut victim = Browser::default();
    victim.go(&start, is_ours);
    let (to, _) = victim.step(&callback);
    assert_eq!(to.and_then(|to| error(&to)).as_deref(), Some("oauth_state"));
    // The right browser: the redirect to another host is ignored, and the cookie is deleted.
    let (to, set) = attacker.step(&callback);
    let to = to.expect("a redirect");
    assert!(fragment(&to, "token").is_some() && fragment(&to, "redirect").is_none(), "{to}");
    assert_eq!(to.host_str(), Some("127.0.0.1"));
    assert!(set.iter().any(|cookie| cookie.contains("Max-Age=0") && cookie.contains("HttpOnly")), "{set:?}");
    // A replay: without a cookie, and with a used code.
    let (to, _) = attacker.step(&callback);
    assert_eq!(to.and_then(|to| error(&to)).as_deref(), Some("oauth_state"));
    for (query, expected) in [
        ("error=access_denied", "oauth_denied"),
        ("error=server_error", "oauth_failed"),
        ("code=guess", "oauth_failed"),
    ] {
        let mut browser = Browser::default();
        let (to, _) = browser.step(&Url::parse(&start).expect("an address"));
        let state =
            to.and_then(|to| to.query_pairs().find(|(key, _)| key == "state").map(|(_, value)| value.into_owned()));
        let back = format!("{}/api/auth/callback/oidc?state={}&{query}", server.base, state.expect("a state"));
        let (to, _) = browser.step(&Url::parse(&back).expect("an address"));
        assert_eq!(to.and_then(|to| error(&to)).as_deref(), Some(expected), "{query}");
    }
}

/// Adds and confirms an authenticator for the account of this login. Returns the recovery codes.
fn authenticator(server: &Server, token: &str) -> Vec<String> {
    let password = json!({ "password": "correct horse" });
    let (status, begun) = server.call("POST", "/api/me/two-factor/totp", Some(token), &password);
    assert_eq!(status, 200, "{begun}");
    let secret = begun["secret"].as_str().expect("a secret").to_owned();
    let key = Secret::try_from_base32(&secret).expect("base32");
    let codes = Builder::new().with_secret(key).with_account_name("a").build().expect("codes");
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_secs();
    let code = json!({ "code": codes.generate(now).to_string() });
    let (status, confirmed) = server.call("POST", "/api/me/two-factor/totp/confirm", Some(token), &code);
    assert_eq!(status, 200, "{confirmed}");
    let codes = confirmed["recoveryCodes"].as_array().expect("recovery codes").iter();
    codes.map(|code| code.as_str().expect("a code").to_owned()).collect()
}

#[test]
fn a_provider_does_not_replace_the_second_step() {
    let owner = person("1", "owner@example.com", true, &[]);
    let (_folder, mut server, provider) = both(&owner, &[("OIDC_AUTO_CREATE_USERS", "true")]);
    let token = server.register().jwt;
    let recovery = authenticator(&server, &token);
    // Only its second factor proves the account.
    let landed = Browser::default().sign_in(&server);
    assert_eq!(fragment(&landed, "methods").as_deref(), Some("totp,recovery"), "{landed}");
    assert_eq!(fragment(&landed, "link").as_deref(), Some("Acme"));
    for (field, proof, expected) in [
        ("password", "correct horse", 401),
        ("recoveryCode", "guess", 401),
        ("recoveryCode", recovery[0].as_str(), 200),
    ] {
        let shown = json!({ "mfaToken": fragment(&landed, "mfaToken"), field: proof });
        assert_eq!(server.call("POST", "/api/login/mfa", None, &shown).0, expected, "{field}: {proof}");
    }
    // Two factors are not required yet.
    assert!(fragment(&Browser::default().sign_in(&server), "token").is_some());
    let two_factor = json!({ "requireTwoFactor": true });
    assert_eq!(server.call("PUT", "/api/organizations/1/settings", Some(&token), &two_factor).0, 200);

    let landed = Browser::default().sign_in(&server);
    assert!(fragment(&landed, "token").is_none(), "{landed}");
    assert_eq!(fragment(&landed, "methods").as_deref(), Some("totp,recovery"));
    assert_eq!(fragment(&landed, "redirect").as_deref(), Some("/issues"));
    let shown = json!({ "mfaToken": fragment(&landed, "mfaToken"), "recoveryCode": recovery[1] });
    let (status, bundle) = server.call("POST", "/api/login/mfa", None, &shown);
    assert_eq!((status, &bundle["user"]["email"]), (200, &json!("owner@example.com")), "{bundle}");

    // The provider's claim of several factors counts; a claim of a password does not.
    let said = |person: &Value, amr: Value| {
        let mut person = person.clone();
        person["amr"] = amr;
        provider.configure("/person", &person);
        Browser::default().sign_in(&server)
    };
    assert!(fragment(&said(&owner, json!(["pwd"])), "token").is_none());
    assert!(fragment(&said(&owner, json!(["pwd", "otp"])), "token").is_some());

    // A member without a second factor has no access until the provider claims several factors.
    let guest = person("2", "guest@example.com", true, &[]);
    for (amr, expected) in [(json!(["pwd"]), 403), (json!(["mfa"]), 200), (json!(["pwd"]), 403)] {
        let landed = said(&guest, amr.clone());
        let token = fragment(&landed, "token").unwrap_or_else(|| panic!("{landed}"));
        let (status, said) = server.call("GET", "/api/organizations/1/members", Some(&token), &Value::Null);
        assert_eq!(status, expected, "{amr}: {said}");
    }
}

#[test]
fn sso_accounts_get_no_password_reset_mail() {
    let mails = tempfile::tempdir().expect("a temporary folder");
    let folder = mails.path().to_str().expect("a path").to_owned();
    let (_folder, mut server, _provider) = both(
        &person("1", "guest@example.com", true, &[]),
        &[("OIDC_AUTO_CREATE_USERS", "true"), ("MAIL_DIR", &folder)],
    );
    server.register();
    assert!(fragment(&Browser::default().sign_in(&server), "token").is_some());
    for email in ["guest@example.com", "owner@example.com"] {
        assert_eq!(server.call("POST", "/api/forgot-password", None, &json!({ "email": email })).0, 200);
    }
    // The second request was processed after the first.
    let recipients = || -> Vec<String> {
        let mails = std::fs::read_dir(mails.path()).expect("the folder").flatten();
        let strings = mails.filter_map(|mail| std::fs::read_to_string(mail.path()).ok());
        strings.filter_map(|text| text.lines().find_map(|line| line.strip_prefix("To: ").map(str::to_owned))).collect()
    };
    let came = (0..3000).any(|_| {
        std::thread::park_timeout(std::time::Duration::from_millis(10));
        recipients().contains(&"owner@example.com".to_owned())
    });
    assert!(came, "a mail for the owner");
    assert_eq!(recipients(), ["owner@example.com"]);
}

/// The codes mailed so far, in any order.
fn mailed_codes(folder: &Path) -> Vec<String> {
    let mails = std::fs::read_dir(folder).expect("the folder").flatten();
    let strings = mails.filter_map(|mail| std::fs::read_to_string(mail.path()).ok());
    let code = |text: String| text.split_once("The code ").map(|(_, rest)| rest[..8].to_owned());
    strings.filter_map(code).collect()
}

#[test]
fn a_provider_is_linked_to_an_account_that_was_proved() {
    let mails = tempfile::tempdir().expect("a temporary folder");
    let folder = mails.path().to_str().expect("a path").to_owned();
    let owner = person("1", "owner@example.com", true, &[]);
    let (_folder, mut server, provider) = both(&owner, &[("MAIL_DIR", &folder)]);
    let session = server.register().jwt;
    let mut browser = Browser::default();
    let landed = browser.sign_in(&server);
    assert!(fragment(&landed, "token").is_none() && !browser.cookies.contains_key("tidewatch_session"), "{landed}");
    assert_eq!(fragment(&landed, "methods").as_deref(), Some("password,email"));
    assert_eq!(fragment(&landed, "redirect").as_deref(), Some("/issues"));
    let waiting = fragment(&landed, "mfaToken").expect("a token");
    let show = |field: &str, proof: &str| {
        server.call("POST", "/api/login/mfa", None, &json!({ "mfaToken": waiting, field: proof }))
    };
    assert_eq!(show("password", "wrong horse").0, 401);
    assert_eq!(show("mailCode", "00000000").0, 401, "none was sent");
    // The token does not prove a session either.
    let step_up = json!({ "mfaToken": waiting, "code": "000000" });
    assert_eq!(server.call("POST", "/api/me/step-up", Some(&session), &step_up).0, 403);
    let send = |token: &str| server.call("POST", "/api/login/mfa/mail", None, &json!({ "mfaToken": token })).0;
    assert_eq!((send("twm_nobody"), send(&waiting), send(&waiting)), (401, 200, 409));
    let came = (0..3000).find_map(|_| {
        std::thread::park_timeout(std::time::Duration::from_millis(10));
        mailed_codes(mails.path()).pop()
    });
    let code = came.expect("a mail with a code");
    // A code is valid only for the sign-in that it was sent for.
    let other = fragment(&Browser::default().sign_in(&server), "mfaToken").expect("a token");
    let mixed = json!({ "mfaToken": other, "mailCode": code });
    assert_eq!(server.call("POST", "/api/login/mfa", None, &mixed).0, 401);
    let (status, bundle) = show("mailCode", &code);
    assert_eq!((status, &bundle["user"]["email"]), (200, &json!("owner@example.com")), "{bundle}");
    assert_eq!(show("mailCode", &code).0, 401, "once");
    // A code by mail is no proof for step-up.
    let token = bundle["token"].as_str().expect("a login");
    let (status, refused) = server.call("POST", "/api/personal-access-tokens", Some(token), &json!({ "name": "ci" }));
    assert_eq!((status, &refused["code"]), (403, &json!("step_up_required")), "{refused}");
    // The link is permanent, with any address.
    provider.configure("/person", &person("1", "other@example.com", false, &[]));
    assert!(fragment(&Browser::default().sign_in(&server), "token").is_some());
    // Another person of the provider with the same address must prove the account too.
    provider.configure("/person", &person("2", "owner@example.com", true, &[]));
    assert!(fragment(&Browser::default().sign_in(&server), "link").is_some());
}

#[test]
fn a_step_up_is_a_new_sign_in_at_the_provider() {
    let now = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_secs();
    let guest = |sub: &str, seconds_ago: u64| {
        let mut guest = person(sub, &format!("{sub}@example.com"), true, &[]);
        guest["signed_in_at"] = json!(now() - seconds_ago);
        guest
    };
    let (_folder, mut server, provider) = both(&guest("ada", 3600), &[("OIDC_AUTO_CREATE_USERS", "true")]);
    server.register();
    let mut browser = Browser::default();
    let landed = browser.sign_in(&server);
    let token = fragment(&landed, "token").unwrap_or_else(|| panic!("{landed}"));
    let make = || server.call("POST", "/api/personal-access-tokens", Some(&token), &json!({ "name": "ci" })).0;
    // The provider's session may be old: a redirect from there proves nothing.
    assert_eq!(make(), 403);
    let (_, ways) = server.call("POST", "/api/me/step-up/start", Some(&token), &Value::Null);
    assert_eq!(ways, json!({ "methods": [], "mfaToken": null, "providers": ["oidc"] }));
    // The provider claims that the person signed in an hour ago, although a new sign-in was requested.
    let refused = browser.step_up(&server);
    assert_eq!(error(&refused).as_deref(), Some("oauth_not_fresh"), "{refused}");
    assert_eq!(make(), 403);
    // The provider returns no time, because the parameters were removed from the redirect.
    let start = Url::parse(&format!("{}/api/auth/start/oidc?fresh=true", server.base)).expect("an address");
    let mut to = browser.step(&start).0.expect("the provider's address");
    let kept: Vec<(String, String)> =
        to.query_pairs().into_owned().filter(|(name, _)| !["prompt", "max_age"].contains(&name.as_str())).collect();
    to.query_pairs_mut().clear().extend_pairs(kept);
    let silent = browser.go(to.as_str(), is_back);
    assert_eq!(error(&silent).as_deref(), Some("oauth_not_fresh"), "{silent}");
    assert_eq!(make(), 403);
    // Another person signs in at the provider.
    provider.configure("/person", &guest("eve", 0));
    // She has her own account.
    assert!(fragment(&Browser::default().sign_in(&server), "token").is_some());
    browser.leave_provider();
    let other = browser.step_up(&server);
    assert_eq!(error(&other).as_deref(), Some("oauth_other_person"), "{other}");
    assert_eq!(make(), 403);
    // The same person signs in again: the session continues, with a proof.
    provider.configure("/person", &guest("ada", 0));
    browser.leave_provider();
    let back = browser.step_up(&server);
    assert_eq!((back.path(), back.fragment()), ("/account", None), "{back}");
    assert_eq!(make(), 201);
    let (_, sessions) = server.call("GET", "/api/me/sessions", Some(&token), &Value::Null);
    assert_eq!(sessions.as_array().map(Vec::len), Some(1), "{sessions}");
    // Without a session it is a normal sign-in, which counts as a recent proof.
    let landed = Browser::default().step_up(&server);
    let token = fragment(&landed, "token").unwrap_or_else(|| panic!("{landed}"));
    let made = server.call("POST", "/api/personal-access-tokens", Some(&token), &json!({ "name": "ci" }));
    assert_eq!(made.0, 201, "{}", made.1);
}
