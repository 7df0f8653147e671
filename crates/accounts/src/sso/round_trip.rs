//! What a browser carries while its person is at the provider: one sealed cookie. Nothing is stored for those who never
//! come back, any node can take the callback, and the answer counts only in the browser that asked.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::ControlError;
use crate::secrets::seal::Sealer;
use crate::tokens::{hash, prefixed_token};
use tidewatch_limits as limits;

pub const COOKIE: &str = "tidewatch_sign_in";
const PURPOSE: &str = "sign-in under way";
const LIFE_SECONDS: i64 = limits::SSO_SIGN_IN_LIFE.as_secs() as i64;

/// One sign-in under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundTrip {
    pub provider: String,
    pub state: String,
    pub nonce: String,
    /// PKCE.
    pub verifier: String,
    /// Where the person goes afterwards; a path of ours.
    pub redirect: Option<String>,
    /// The person must sign in there after the trip began, whatever session the provider keeps.
    #[serde(default)]
    pub is_fresh: bool,
    /// The session that the trip is a step-up of; none: a sign-in.
    #[serde(default)]
    pub session: Option<i64>,
    /// Seconds since the epoch.
    pub expires: i64,
}

impl RoundTrip {
    pub fn begin(provider: &str, redirect: Option<&str>, now_ns: i64) -> Result<RoundTrip, ControlError> {
        Ok(RoundTrip {
            provider: provider.to_owned(),
            state: prefixed_token("")?,
            nonce: prefixed_token("")?,
            verifier: prefixed_token("")?,
            redirect: redirect.and_then(own_path),
            is_fresh: false,
            session: None,
            expires: now_ns / 1_000_000_000 + LIFE_SECONDS,
        })
    }

    /// Whether a sign-in at `at_ns`, by the provider's clock, was made for this trip.
    pub fn is_after_start(&self, at_ns: i64) -> bool {
        let apart = limits::SSO_CLOCKS_APART.as_secs() as i64;
        at_ns / 1_000_000_000 >= self.expires - LIFE_SECONDS - apart
    }

    /// S256.
    pub fn challenge(&self) -> String {
        URL_SAFE_NO_PAD.encode(Sha256::digest(&self.verifier))
    }

    /// `Set-Cookie`. Lax: it comes along when the provider sends the browser back, and with nothing that others embed.
    pub fn cookie(&self, sealer: &Sealer, is_https: bool) -> Option<String> {
        let sealed = sealer.seal(PURPOSE, &serde_json::to_string(self).ok()?).ok()?;
        Some(cookie(&sealed, LIFE_SECONDS, is_https))
    }

    /// The one that this state and provider belong to.
    pub fn read(cookies: &str, sealer: &Sealer, provider: &str, state: &str, now_ns: i64) -> Option<RoundTrip> {
        let sealed = cookies.split(';').find_map(|pair| pair.trim().strip_prefix(COOKIE)?.strip_prefix('='))?;
        let trip: RoundTrip = serde_json::from_str(&sealer.open(PURPOSE, sealed).ok()?).ok()?;
        // Compared as hashes, so that the time says nothing.
        let is_right =
            trip.provider == provider && hash(&trip.state) == hash(state) && now_ns / 1_000_000_000 < trip.expires;
        is_right.then_some(trip)
    }
}

/// `Set-Cookie` that takes it away.
pub fn no_cookie(is_https: bool) -> String {
    cookie("", 0, is_https)
}

fn cookie(value: &str, seconds: i64, is_https: bool) -> String {
    let secure = if is_https { "; Secure" } else { "" };
    format!("{COOKIE}={value}; Path=/api/auth/callback; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}")
}

/// A path of this origin, and nothing that a browser would take for another.
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
    fn only_paths_of_ours() {
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
    fn a_round_trip_counts_once_for_its_state_provider_and_time() {
        let sealer = Sealer::new(&[1; 32]);
        let now = 1_800_000_000_000_000_000;
        let trip = RoundTrip::begin("oidc", Some("/issues"), now).unwrap();
        let set = trip.cookie(&sealer, true).unwrap();
        for part in ["HttpOnly", "SameSite=Lax", "Secure", "Path=/api/auth/callback", "Max-Age=600"] {
            assert!(set.contains(part), "{set}");
        }
        assert!(!trip.cookie(&sealer, false).unwrap().contains("Secure"));
        let pair = set.split(';').next().unwrap();
        let cookies = format!("other=1; {pair}");
        let read =
            |cookies: &str, provider: &str, state: &str, now| RoundTrip::read(cookies, &sealer, provider, state, now);
        assert_eq!(read(&cookies, "oidc", &trip.state, now), Some(trip.clone()));
        for (cookies, provider, state, now) in [
            ("", "oidc", trip.state.as_str(), now),
            (cookies.as_str(), "google", trip.state.as_str(), now),
            (cookies.as_str(), "oidc", "another", now),
            (cookies.as_str(), "oidc", "", now),
            (cookies.as_str(), "oidc", trip.state.as_str(), now + 600_000_000_000),
        ] {
            assert_eq!(read(cookies, provider, state, now), None, "{provider} {state}");
        }
        assert_eq!(RoundTrip::read(&cookies, &Sealer::new(&[2; 32]), "oidc", &trip.state, now), None, "another key");
    }
}
