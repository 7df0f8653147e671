//! Logins as signed tokens. WIRE 5.1: JWT HS256 with the claims `userId`, `email` and `exp`; and `epoch`, so that all
//! of a user's sessions can be ended at once. Access tokens of clients (WIRE 5.4) have the claim `grant` and live for
//! minutes.

use std::time::Duration;

use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use serde::{Deserialize, Serialize};

use crate::User;
use tidewatch_domain::units::SECOND_NS;
use tidewatch_limits as limits;

/// The claims of a login.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    /// Id of the user.
    #[serde(rename = "userId")]
    pub user_id: i64,
    /// Address of the user.
    pub email: String,
    /// The user's session epoch at the time of issue.
    #[serde(default)]
    pub epoch: i64,
    /// Id of the session; `None` for access tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sid: Option<i64>,
    /// The sign-in of a client ([`crate::Grant::id`]); `None` for logins of users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<i64>,
    /// The resource of an access token (RFC 8707); `None`: the whole server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aud: Option<String>,
    /// Expiry, seconds since the epoch.
    pub exp: i64,
}

/// A login could not be signed. Always a defect of the program.
#[derive(Debug, thiserror::Error)]
#[error("cannot sign a login: {0}")]
pub struct LoginError(jsonwebtoken::errors::Error);

/// Issues and verifies logins.
pub struct Logins {
    encoding: EncodingKey,
    decoding: DecodingKey,
}

impl Logins {
    /// Signs and verifies with `key`.
    pub fn new(key: &[u8]) -> Logins {
        Logins { encoding: EncodingKey::from_secret(key), decoding: DecodingKey::from_secret(key) }
    }

    /// Issues a login of the session `sid`, valid for [`limits::LOGIN_LIFE`] from `now_ns` (nanoseconds since the
    /// epoch).
    pub fn issue(&self, user: &User, sid: i64, now_ns: i64) -> Result<String, LoginError> {
        self.sign(user, (Some(sid), None, None), now_ns, limits::LOGIN_LIFE)
    }

    /// Issues an access token of the client's sign-in `grant`, valid for [`limits::ACCESS_LIFE`] from `at_ns`, for
    /// `resource` (empty: the whole server). The same input returns the same token.
    pub fn issue_access(&self, user: &User, grant: i64, resource: &str, at_ns: i64) -> Result<String, LoginError> {
        let aud = (!resource.is_empty()).then(|| resource.to_owned());
        self.sign(user, (None, Some(grant), aud), at_ns, limits::ACCESS_LIFE)
    }

    fn sign(
        &self,
        user: &User,
        (sid, grant, aud): (Option<i64>, Option<i64>, Option<String>),
        at_ns: i64,
        life: Duration,
    ) -> Result<String, LoginError> {
        let exp = at_ns / SECOND_NS + life.as_secs() as i64;
        let claims =
            Claims { user_id: user.id, email: user.email.clone(), epoch: user.session_epoch, sid, grant, aud, exp };
        encode(&Header::new(Algorithm::HS256), &claims, &self.encoding).map_err(LoginError)
    }

    /// Returns the claims of a token that was signed with this key and has not expired at `now_ns`; `None` for all
    /// others.
    pub fn check(&self, token: &str, now_ns: i64) -> Option<Claims> {
        let mut validation = Validation::new(Algorithm::HS256);
        // Expiry is checked below, against `now_ns`.
        validation.validate_exp = false;
        // The audience is checked against the request's path (`resource.rs`).
        validation.validate_aud = false;
        let claims = decode::<Claims>(token, &self.decoding, &validation).ok()?.claims;
        (claims.exp > now_ns / SECOND_NS).then_some(claims)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_800_000_000 * SECOND_NS;

    fn user() -> User {
        let (email, name) = ("a@b.c".into(), "A".into());
        User {
            id: 7,
            email,
            name,
            created_ns: 0,
            session_epoch: 3,
            is_disabled: false,
            timezone: None,
            theme: None,
            is_email_verified: true,
            has_two_factor: false,
            has_no_password: false,
            is_provider_multi_factor: false,
        }
    }

    #[test]
    fn a_login_is_valid_for_seven_days() {
        let logins = Logins::new(&[1; 32]);
        let token = logins.issue(&user(), 1, NOW).unwrap();
        let week = 7 * 24 * 60 * 60 * SECOND_NS;
        for (when, expected) in [(NOW, true), (NOW + week - SECOND_NS, true), (NOW + week, false)] {
            assert_eq!(logins.check(&token, when).map(|claims| claims.user_id), expected.then_some(7), "{when}");
        }
    }

    #[test]
    fn only_signatures_by_the_own_key_are_valid() {
        let token = Logins::new(&[1; 32]).issue(&user(), 1, NOW).unwrap();
        assert_eq!(Logins::new(&[2; 32]).check(&token, NOW), None);
        // {"alg":"none"} with the same claims and no signature.
        let unsigned = format!("eyJhbGciOiJub25lIn0.{}.", token.split('.').nth(1).unwrap());
        for token in [unsigned.as_str(), "", "..", "not a token"] {
            assert_eq!(Logins::new(&[1; 32]).check(token, NOW), None, "{token}");
        }
    }
}
