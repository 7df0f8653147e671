//! The state of a sign-in while the user is at the provider, in a sealed cookie. Nothing is stored for abandoned
//! sign-ins, every node can handle the callback, and the callback is valid only in the browser that started the
//! sign-in.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::ControlError;
use crate::secrets::seal::Sealer;
use crate::secrets::tokens::{hash, prefixed_token};
use tidewatch_domain::units::SECOND_NS;
use tidewatch_limits as limits;

/// Name of the cookie.
pub const COOKIE: &str = "tidewatch_sign_in";
const PURPOSE: &str = "sign-in under way";
const LIFE_SECONDS: i64 = limits::SSO_SIGN_IN_LIFE.as_secs() as i64;

/// A sign-in between its start and the callback of the provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingSignIn {
    /// Id of the provider.
    pub provider: String,
    /// OAuth `state`.
    pub state: String,
    /// OpenID Connect `nonce`.
    pub nonce: String,
    /// PKCE verifier.
    pub verifier: String,
    /// Path of this server to which the user is redirected afterwards.
    pub redirect: Option<String>,
    /// The user must sign in at the provider after the start, regardless of a session there.
    #[serde(default)]
    pub is_fresh: bool,
    /// The session of which this is a step-up; `None`: a sign-in.
    #[serde(default)]
    pub session: Option<i64>,
    /// End of validity, seconds since the epoch.
    pub expires: i64,
}

impl PendingSignIn {
    /// Starts a sign-in. A `redirect` that is no path of this server is ignored.
    pub fn begin(provider: &str, redirect: Option<&str>, now_ns: i64) -> Result<PendingSignIn, ControlError> {
        Ok(PendingSignIn {
            provider: provider.to_owned(),
            state: prefixed_token("")?,
            nonce: prefixed_token("")?,
            verifier: prefixed_token("")?,
            redirect: redirect.and_then(own_path),
            is_fresh: false,
            session: None,
            expires: now_ns / SECOND_NS + LIFE_SECONDS,
        })
    }

    /// Returns whether a sign-in at `at_ns`, by the provider's clock, happened after the start.
    pub fn is_after_start(&self, at_ns: i64) -> bool {
        let apart = limits::SSO_CLOCKS_APART.as_secs() as i64;
        at_ns / SECOND_NS >= self.expires - LIFE_SECONDS - apart
    }

    /// Returns the PKCE challenge, S256.
    pub fn challenge(&self) -> String {
        URL_SAFE_NO_PAD.encode(Sha256::digest(&self.verifier))
    }

    /// Returns the `Set-Cookie` header. `SameSite=Lax`: the browser sends the cookie when the provider redirects back,
    /// and not in embedded requests. `None` if sealing fails.
    pub fn cookie(&self, sealer: &Sealer, is_https: bool) -> Option<String> {
        let sealed = sealer.seal(PURPOSE, &serde_json::to_string(self).ok()?).ok()?;
        Some(cookie(&sealed, LIFE_SECONDS, is_https))
    }

    /// Reads the sign-in from the request's `cookies`. `None` if it is of another provider or state, or has expired at
    /// `now_ns`.
    pub fn read(cookies: &str, sealer: &Sealer, provider: &str, state: &str, now_ns: i64) -> Option<PendingSignIn> {
        let sealed = cookies.split(';').find_map(|pair| pair.trim().strip_prefix(COOKIE)?.strip_prefix('='))?;
        let pending: PendingSignIn = serde_json::from_str(&sealer.open(PURPOSE, sealed).ok()?).ok()?;
        // Compared as hashes, so that the duration reveals nothing.
        let is_right =
            pending.provider == provider && hash(&pending.state) == hash(state) && now_ns / SECOND_NS < pending.expires;
        is_right.then_some(pending)
    }
}

/// Returns the `Set-Cookie` header that deletes the cookie.
pub fn no_cookie(is_https: bool) -> String {
    cookie("", 0, is_https)
}

fn cookie(value: &str, seconds: i64, is_https: bool) -> String {
    let secure = if is_https { "; Secure" } else { "" };
    format!("{COOKIE}={value}; Path=/api/auth/callback; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}")
}

/// Returns the string if it is a path of this origin that no browser interprets as another origin.
pub fn own_path(text: &str) -> Option<String> {
    let rest = text.strip_prefix('/')?;
    let is_own = !rest.starts_with(['/', '\\'])
        && text.len() <= 2000
        && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    is_own.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    // Issue 5: open redirect in SSO.
    #[test]
    fn only_own_paths_are_redirect_targets() {
        for (text, expected) in [
            ("/", true),
            ("/issues?t=1#x", true),
            ("//evil.example", false),
            ("/\\evil.example", false),
            ("\\\\evil.example", false),
            ("https://evil.example", false),
            ("javascript:alert(1)", false),
            ("/\t/evil.example", false),
            ("/\n/evil.example", false),
            ("/a b", false),
            ("/ä", false),
            ("evil", false),
            ("", false),
        ] {
            assert_eq!(own_path(text).is_some(), expected, "{text:?}");
        }
    }

    #[test]
    fn a_pending_sign_in_is_valid_for_its_state_provider_and_time() {
        let sealer = Sealer::new(&[1; 32]);
        let now = 1_800_000_000_000_000_000;
        let pending = PendingSignIn::begin("oidc", Some("/issues"), now).unwrap();
        let set = pending.cookie(&sealer, true).unwrap();
        for part in ["HttpOnly", "SameSite=Lax", "Secure", "Path=/api/auth/callback", "Max-Age=600"] {
            assert!(set.contains(part), "{set}");
        }
        assert!(!pending.cookie(&sealer, false).unwrap().contains("Secure"));
        let pair = set.split(';').next().unwrap();
        let cookies = format!("other=1; {pair}");
        let read = |cookies: &str, provider: &str, state: &str, now| {
            PendingSignIn::read(cookies, &sealer, provider, state, now)
        };
        assert_eq!(read(&cookies, "oidc", &pending.state, now), Some(pending.clone()));
        for (cookies, provider, state, now) in [
            ("", "oidc", pending.state.as_str(), now),
            (cookies.as_str(), "google", pending.state.as_str(), now),
            (cookies.as_str(), "oidc", "another", now),
            (cookies.as_str(), "oidc", "", now),
            (cookies.as_str(), "oidc", pending.state.as_str(), now + 600_000_000_000),
        ] {
            assert_eq!(read(cookies, provider, state, now), None, "{provider} {state}");
        }
        assert_eq!(
            PendingSignIn::read(&cookies, &Sealer::new(&[2; 32]), "oidc", &pending.state, now),
            None,
            "another key"
        );
    }
}
