//! Single sign-on besides OpenID Connect with discovery: Google, GitHub, and three URLs without discovery. WIRE 5.5.
//! For each: people are linked by verified addresses only, and tampered parameters are refused.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use url::Url;

use super::ports::free_address;
use super::server::Server;
use super::sso_browser::{Browser, Provider, error, fragment, linked, person};

/// Starts a server with an owner and settings that depend on its base URL.
fn registered(settings: impl FnOnce(&str) -> Vec<(&'static str, String)>) -> (tempfile::TempDir, Server) {
    let listen = free_address();
    let base = format!("http://{listen}");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut all = settings(&base);
    all.push(("APP_BASE_URL", base));
    let all: Vec<(&'static str, &str)> = all.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let mut server = Server::start_at(&listen, &folder.path().join("data"), &all);
    server.register();
    (folder, server)
}

/// The e-mail address of the account that a sign-in led to.
fn account(server: &Server, landed: &Url) -> String {
    let token = fragment(landed, "token").unwrap_or_else(|| panic!("no login: {landed}"));
    let (status, bundle) = server.call("GET", "/api/me/login-bundle", Some(&token), &Value::Null);
    assert_eq!(status, 200, "{bundle}");
    bundle["user"]["email"].as_str().expect("an address").to_owned()
}

/// Checks which persons a provider with OpenID Connect claims can sign in.
fn only_verified_addresses_are_linked(id: &str, server: &Server, provider: &Provider) {
    let attempt = |person: &Value| {
        provider.configure("/person", person);
        Browser::default().sign_in_with(id, server)
    };
    for (claims, expected) in [
        (person("8", "owner@example.com", false, &[]), "oauth_email_unverified"),
        (json!({ "sub": "8", "email": "owner@example.com", "name": "no word of it" }), "oauth_email_unverified"),
        (json!({ "sub": "7", "name": "no address" }), "oauth_no_email"),
        (person("9", "stranger@example.com", true, &[]), "invite_required"),
    ] {
        assert_eq!(error(&attempt(&claims)).as_deref(), Some(expected), "{claims}");
    }
    linked(server, &attempt(&person("6", "Owner@Example.com", true, &[])));
    // Afterwards the person is recognized by identity, with any address.
    assert_eq!(account(server, &attempt(&person("6", "new@example.com", false, &[]))), "owner@example.com");
}

fn refused(id: &str, server: &Server, name: &str) -> Option<String> {
    let value = "bmV2ZXItaXNzdWVkLWJ5LXRoaXMtc2VydmVyLWF0LWFs";
    let landed = Browser::default().sign_in_tampered(id, server, name, value);
    assert!(fragment(&landed, "token").is_none(), "{name}: {landed}");
    error(&landed)
}

#[test]
fn google() {
    let owner = person("6", "owner@example.com", true, &[]);
    let mut provider = None;
    let (_folder, server) = registered(|base| {
        let google = provider.insert(Provider::start(&format!("{base}/api/auth/callback/google"), &owner));
        vec![
            ("GOOGLE_CLIENT_ID", "tidewatch".to_owned()),
            ("GOOGLE_CLIENT_SECRET", "a secret & more".to_owned()),
            ("GOOGLE_ISSUER_URL", google.issuer.clone()),
        ]
    });
    let (_, answer) = server.call("GET", "/api/auth/providers", None, &Value::Null);
    assert_eq!(answer["providers"], json!([{ "id": "google", "name": "Google" }]));
    only_verified_addresses_are_linked("google", &server, provider.as_ref().expect("it was started"));
    for (name, expected) in [("state", "oauth_state"), ("nonce", "oauth_failed"), ("code_challenge", "oauth_failed")] {
        assert_eq!(refused("google", &server, name).as_deref(), Some(expected), "{name}");
    }
}

#[test]
fn three_addresses_without_discovery() {
    let owner = person("6", "owner@example.com", true, &[]);
    let mut provider = None;
    let (_folder, mut server) = registered(|base| {
        let started = provider.insert(Provider::start(&format!("{base}/api/auth/callback/oidc"), &owner));
        vec![
            ("OIDC_CLIENT_ID", "tidewatch".to_owned()),
            ("OIDC_CLIENT_SECRET", "a secret & more".to_owned()),
            ("OIDC_AUTH_URL", format!("{}/auth", started.issuer)),
            ("OIDC_TOKEN_URL", format!("{}/token", started.issuer)),
            ("OIDC_USERINFO_URL", format!("{}/me", started.issuer)),
        ]
    });
    let provider = provider.expect("it was started");
    only_verified_addresses_are_linked("oidc", &server, &provider);
    // There is no ID token with a nonce: state and code challenge bind the sign-in to the browser.
    for (name, expected) in [("state", "oauth_state"), ("code_challenge", "oauth_failed")] {
        assert_eq!(refused("oidc", &server, name).as_deref(), Some(expected), "{name}");
    }
    // Paths that do not exist at the provider.
    for (name, path) in [("OIDC_USERINFO_URL", "/nothing"), ("OIDC_TOKEN_URL", "/nothing")] {
        server.kill();
        server.set(name, &format!("{}{path}", provider.issuer));
        server.restart();
        let landed = Browser::default().sign_in_with("oidc", &server);
        assert_eq!(error(&landed).as_deref(), Some("oauth_failed"), "{name}: {landed}");
    }
}

#[test]
fn a_provider_that_is_not_there() {
    let free = free_address();
    let (_folder, server) = registered(|_| {
        vec![
            ("OIDC_CLIENT_ID", "tidewatch".to_owned()),
            ("OIDC_CLIENT_SECRET", "secret".to_owned()),
            ("OIDC_ISSUER_URL", format!("http://{free}")),
        ]
    });
    let landed = Browser::default().sign_in_with("oidc", &server);
    assert_eq!(error(&landed).as_deref(), Some("oauth_failed"));
}

/// A GitHub server of the test: the shapes of GitHub's answers, one person, single-use codes.
#[derive(Clone)]
struct GitHub {
    base: String,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    user: Value,
    /// None if the app has no permission to read them.
    emails: Option<Value>,
    /// The person presses "Cancel".
    cancels: bool,
    /// The token is sent as a form, as without `Accept`.
    answers_with_form: bool,
    /// The code is refused with status 200, which GitHub uses for errors.
    refuses_codes: bool,
    /// Code challenge and callback by code.
    codes: HashMap<String, (String, String)>,
}

const GITHUB_SECRET: &str = "a GitHub secret & more";

impl GitHub {
    fn start() -> GitHub {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let base = format!("http://{}", listener.local_addr().expect("an address"));
        let github = GitHub { base, state: Arc::default() };
        let serving = github.clone();
        // Ends with the test binary.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let _ = serving.serve(stream);
            }
        });
        github
    }

    /// Sets the person who signs in next. `emails`: address, primary, verified.
    fn is(&self, id: i64, name: Option<&str>, emails: &[(&str, bool, bool)]) {
        let emails = emails.iter().map(|(email, primary, verified)| {
            json!({ "email": email, "primary": primary, "verified": verified, "visibility": primary.then_some("private") })
        });
        let mut state = self.state.lock().expect("no panic");
        state.emails = Some(emails.collect());
        state.user = json!({
            "login": "octocat", "id": id, "node_id": "MDQ6VXNlcjE=", "type": "User", "site_admin": false, "name": name,
            // The address of the profile is not verified.
            "email": "owner@example.com", "company": null, "two_factor_authentication": true,
        });
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().expect("no panic"));
    }

    fn serve(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let mut reader = BufReader::new(stream.try_clone()?);
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? <= 2 {
                break;
            }
            head.push(line.trim_end().to_owned());
        }
        let header = |wanted: &str| {
            head.iter().skip(1).find_map(|line| {
                line.split_once(": ")
                    .filter(|(name, _)| name.eq_ignore_ascii_case(wanted))
                    .map(|(_, value)| value.to_owned())
            })
        };
        let mut body = vec![0; header("Content-Length").and_then(|length| length.parse().ok()).unwrap_or(0)];
        reader.read_exact(&mut body)?;
        let target = head.first().and_then(|line| line.split(' ').nth(1)).unwrap_or("/");
        let url = Url::parse(&self.base).and_then(|base| base.join(target)).expect("an address");
        let (status, more, text) = self.answer(&url, &body, &header);
        let length = text.len();
        write!(stream, "HTTP/1.1 {status} X\r\n{more}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{text}")
    }

    /// Status, headers, body.
    fn answer(&self, url: &Url, body: &[u8], header: &dyn Fn(&str) -> Option<String>) -> (u16, String, String) {
        let mut state = self.state.lock().expect("no panic");
        let parameter: HashMap<String, String> = url.query_pairs().into_owned().collect();
        let parameter = |name: &str| parameter.get(name).cloned().unwrap_or_default();
        let as_json = "Content-Type: application/json; charset=utf-8".to_owned();
        match url.path() {
            "/login/oauth/authorize" => {
                assert_eq!(
                    (parameter("client_id"), parameter("scope")),
                    ("octo".to_owned(), "read:user user:email".to_owned())
                );
                let mut back = Url::parse(&parameter("redirect_uri")).expect("an address");
                if state.cancels {
                    back.query_pairs_mut().append_pair("error", "access_denied");
                    back.query_pairs_mut()
                        .append_pair("error_description", "The user has denied your application access.");
                } else {
                    let code = format!("{:020x}", 7 + state.codes.len());
                    back.query_pairs_mut().append_pair("code", &code);
                    assert_eq!(parameter("code_challenge_method"), "S256");
                    state.codes.insert(code, (parameter("code_challenge"), parameter("redirect_uri")));
                }
                back.query_pairs_mut().append_pair("state", &parameter("state"));
                (302, format!("Location: {back}"), String::new())
            }
            "/login/oauth/access_token" => {
                let form: HashMap<String, String> = url::form_urlencoded::parse(body).into_owned().collect();
                let form = |name: &str| form.get(name).cloned().unwrap_or_default();
                let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(form("code_verifier")));
                let known = state.codes.remove(&form("code"));
                let answer = if (form("client_id"), form("client_secret"))
                    != ("octo".to_owned(), GITHUB_SECRET.to_owned())
                {
                    json!({ "error": "incorrect_client_credentials", "error_description": "The client_id and/or client_secret passed are incorrect." })
                } else if state.refuses_codes || known != Some((challenge, form("redirect_uri"))) {
                    json!({ "error": "bad_verification_code", "error_description": "The code passed is incorrect or expired.",
                        "error_uri": "https://docs.github.com/apps/oauth" })
                } else {
                    json!({ "access_token": "gho_16C7e42F292c6912E7710c838347Ae178B4a", "token_type": "bearer", "scope": "read:user,user:email" })
                };
                if state.answers_with_form {
                    let pairs = answer
                        .as_object()
                        .expect("an object")
                        .iter()
                        .map(|(name, value)| (name, value.as_str().expect("text")));
                    let text = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
                    return (200, "Content-Type: application/x-www-form-urlencoded; charset=utf-8".to_owned(), text);
                }
                assert_eq!(header("Accept").as_deref(), Some("application/json"), "else GitHub answers with a form");
                (200, as_json, answer.to_string())
            }
            _ if header("User-Agent").is_none() => {
                (403, as_json, json!({ "message": "Request forbidden by administrative rules." }).to_string())
            }
            _ if header("Authorization").is_none_or(|answer| !answer.starts_with("Bearer gho_")) => {
                (401, as_json, json!({ "message": "Bad credentials", "status": "401" }).to_string())
            }
            "/api/v3/user" => (200, as_json, state.user.to_string()),
            "/api/v3/user/emails" => match &state.emails {
                Some(emails) => (200, as_json, emails.to_string()),
                None => (404, as_json, json!({ "message": "Not Found", "status": "404" }).to_string()),
            },
            path => panic!("GitHub is not asked for {path}"),
        }
    }
}

#[test]
fn github() {
    let github = GitHub::start();
    let (_folder, server) = registered(|_| {
        vec![
            ("GITHUB_CLIENT_ID", "octo".to_owned()),
            ("GITHUB_CLIENT_SECRET", GITHUB_SECRET.to_owned()),
            // URLs as of a GitHub Enterprise server.
            ("GITHUB_URL", format!("{}/", github.base)),
            ("GITHUB_API_URL", format!("{}/api/v3", github.base)),
        ]
    });
    let sign_in = || Browser::default().sign_in_with("github", &server);
    // Only the primary address counts, and only if GitHub has verified it.
    for (emails, expected) in [
        (&[("owner@example.com", true, false)][..], "oauth_email_unverified"),
        (&[("me@elsewhere.example", true, false), ("owner@example.com", false, true)], "oauth_email_unverified"),
        (&[("owner@example.com", false, true)], "oauth_no_email"),
        (&[], "oauth_no_email"),
        (&[("stranger@example.com", true, true)], "invite_required"),
    ] {
        github.is(1, None, emails);
        assert_eq!(error(&sign_in()).as_deref(), Some(expected), "{emails:?}");
    }
    github.is(583_231, Some("The Octocat"), &[("a@b.example", false, false), ("Owner@Example.com", true, true)]);
    let landed = sign_in();
    linked(&server, &landed);
    assert_eq!(fragment(&landed, "redirect").as_deref(), Some("/issues"));
    // Afterwards the person is recognized by the number.
    github.is(583_231, Some("The Octocat"), &[("new@example.com", true, false)]);
    assert_eq!(account(&server, &sign_in()), "owner@example.com");
    github.change(|state| state.answers_with_form = true);
    assert_eq!(account(&server, &sign_in()), "owner@example.com");

    for (name, expected) in [("state", "oauth_state"), ("code_challenge", "oauth_failed")] {
        assert_eq!(refused("github", &server, name).as_deref(), Some(expected), "{name}");
    }
    // Errors with status 200, in both formats; unreadable addresses; a person who cancels.
    github.change(|state| state.refuses_codes = true);
    assert_eq!(error(&sign_in()).as_deref(), Some("oauth_failed"));
    github.change(|state| state.answers_with_form = false);
    assert_eq!(error(&sign_in()).as_deref(), Some("oauth_failed"));
    github.change(|state| (state.refuses_codes, state.emails) = (false, None));
    assert_eq!(error(&sign_in()).as_deref(), Some("oauth_failed"));
    github.change(|state| state.cancels = true);
    assert_eq!(error(&sign_in()).as_deref(), Some("oauth_denied"));
}
