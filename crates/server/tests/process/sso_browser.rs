//! A real OpenID Connect provider, and a browser that only follows redirects and stores cookies.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::OnceLock;

use serde_json::{Value, json};
use url::Url;

use super::sdk::{installed, run};
use super::server::Server;

pub struct Provider {
    process: Child,
    pub issuer: String,
    /// Kept open, because the provider continues to write.
    _output: BufReader<ChildStdout>,
}

/// The folder of the installed provider. Several tests use it; one installs it.
fn provider_app() -> PathBuf {
    static INSTALLED: OnceLock<PathBuf> = OnceLock::new();
    let install = || {
        let app = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/process/oidc-provider");
        installed("oidc-provider", &app, |target| {
            run(Command::new("npm").args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"]).current_dir(target));
        })
    };
    INSTALLED.get_or_init(install).clone()
}

impl Provider {
    /// `callback` is the only allowed redirect URI.
    pub fn start(callback: &str, person: &Value) -> Provider {
        let mut process = Command::new("node")
            .arg("app.mjs")
            .current_dir(provider_app())
            .env("CALLBACK", callback)
            .env("PERSON", person.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("node starts");
        let mut output = BufReader::new(process.stdout.take().expect("piped"));
        let mut line = String::new();
        output.read_line(&mut line).expect("its issuer");
        Provider { process, issuer: line.trim().to_owned(), _output: output }
    }

    pub fn configure(&self, path: &str, body: &Value) {
        let answer = super::server::agent().post(format!("{}{path}", self.issuer)).send(body.to_string());
        assert_eq!(answer.expect("the provider answers").status(), 200);
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

/// Follows redirects and stores cookies.
#[derive(Default)]
pub struct Browser {
    pub cookies: BTreeMap<String, String>,
}

impl Browser {
    /// Requests one URL; returns the redirect and the `Set-Cookie` headers.
    pub fn step(&mut self, url: &Url) -> (Option<Url>, Vec<String>) {
        let agent: ureq::Agent =
            ureq::Agent::config_builder().http_status_as_error(false).max_redirects(0).build().into();
        let cookies: Vec<String> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let answer = agent.get(url.as_str()).header("Cookie", cookies.join("; ")).call().expect("an answer");
        let set: Vec<String> = answer
            .headers()
            .get_all("Set-Cookie")
            .iter()
            .map(|value| value.to_str().expect("text").to_owned())
            .collect();
        for cookie in &set {
            let (name, value) = cookie.split(';').next().and_then(|pair| pair.split_once('=')).expect("a cookie");
            if value.is_empty() {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        let to = answer.headers().get("Location").and_then(|to| to.to_str().ok());
        (to.map(|to| url.join(to).expect("an address")), set)
    }

    /// Follows redirects up to the first URL for which `ends` is true, without requesting it.
    pub fn go(&mut self, from: &str, ends: impl Fn(&Url) -> bool) -> Url {
        let mut url = Url::parse(from).expect("an address");
        for _ in 0..12 {
            let (next, _) = self.step(&url);
            url = next.unwrap_or_else(|| panic!("{url} leads nowhere"));
            if ends(&url) {
                return url;
            }
        }
        panic!("too many redirects, the last to {url}");
    }

    pub fn sign_in(&mut self, server: &Server) -> Url {
        self.sign_in_with("oidc", server)
    }

    /// Ends the provider's session, so that another person can sign in there.
    pub fn leave_provider(&mut self) {
        self.cookies.retain(|name, _| name.starts_with("tidewatch_"));
    }

    /// Requests a new sign-in from the provider, as the dialog of step-up does.
    pub fn step_up(&mut self, server: &Server) -> Url {
        let from = format!("{}/api/auth/start/oidc?fresh=true&redirect=%2Faccount", server.base);
        self.go(&from, |url| is_back(url) || url.path() == "/account")
    }

    pub fn sign_in_with(&mut self, provider: &str, server: &Server) -> Url {
        let from = format!("{}/api/auth/start/{provider}?redirect=%2Fissues", server.base);
        self.go(&from, is_back)
    }

    /// Like `sign_in_with`, with one parameter of the redirect to the provider replaced.
    pub fn sign_in_tampered(&mut self, provider: &str, server: &Server, name: &str, value: &str) -> Url {
        let start = Url::parse(&format!("{}/api/auth/start/{provider}", server.base)).expect("an address");
        let mut to = self.step(&start).0.expect("the provider's address");
        let pairs: Vec<(String, String)> = to.query_pairs().into_owned().collect();
        assert!(pairs.iter().any(|(known, _)| known == name), "{to} has {name}");
        let exchanged =
            pairs.into_iter().map(|(known, old)| (known.clone(), if known == name { value.to_owned() } else { old }));
        to.query_pairs_mut().clear().extend_pairs(exchanged);
        self.go(to.as_str(), is_back)
    }
}

/// Whether the URL is a page of the server at the end of a sign-in.
pub fn is_back(url: &Url) -> bool {
    ["/auth/callback", "/login"].contains(&url.path())
}

pub fn fragment(url: &Url, name: &str) -> Option<String> {
    let fragment = url.fragment()?;
    url::form_urlencoded::parse(fragment.as_bytes()).find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

pub fn error(url: &Url) -> Option<String> {
    url.query_pairs().find(|(key, _)| key == "error").map(|(_, value)| value.into_owned())
}

/// Links the provider to the person's account, proved by the account's password, and returns the login.
pub fn linked(server: &Server, landed: &Url) -> String {
    let methods = fragment(landed, "methods").unwrap_or_else(|| panic!("no proof is asked for: {landed}"));
    assert!(methods.split(',').any(|one| one == "password"), "{landed}");
    let proof = json!({ "mfaToken": fragment(landed, "mfaToken"), "password": "correct horse" });
    let (status, bundle) = server.call("POST", "/api/login/mfa", None, &proof);
    assert_eq!(status, 200, "{bundle}");
    bundle["token"].as_str().expect("a login").to_owned()
}

pub fn person(sub: &str, email: &str, is_verified: bool, groups: &[&str]) -> Value {
    json!({ "sub": sub, "email": email, "email_verified": is_verified, "name": "A Person", "groups": groups })
}
