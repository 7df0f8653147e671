//! Logins as signed tokens. WIRE 5.1: JWT HS256, claims `userId`, `email`, `exp`; and `epoch`, so that all of a user's
//! sessions can be ended at once. Access tokens of clients (WIRE 5.4) are the same with `grant`, and live for minutes.

use std::time::Duration;

use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use serde::{Deserialize, Serialize};

use crate::User;
use tidewatch_limits as limits;

/// What a login says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    #[serde(rename = "userId")]
    pub user_id: i64,
    pub email: String,
    /// The user's session epoch when it was issued.
    #[serde(default)]
    pub epoch: i64,
    /// The session of a person's own login.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sid: Option<i64>,
    /// The sign-in of a client that it belongs to; none: a person's own login.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<i64>,
    /// The resource that an access token was asked for (RFC 8707); none: the whole server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aud: Option<String>,
    /// Seconds since the epoch.
    pub exp: i64,
}

/// A login could not be signed: a defect of ours.
#[derive(Debug, thiserror::Error)]
#[error("cannot sign a login: {0}")]
pub struct LoginError(jsonwebtoken::errors::Error);

/// Makes and checks logins.
pub struct Logins {
    encoding: EncodingKey,
    decoding: DecodingKey,
}

impl Logins {
    pub fn new(key: &[u8]) -> Logins {
        Logins { encoding: EncodingKey::from_secret(key), decoding: DecodingKey::from_secret(key) }
    }

    /// A login of the session `sid` for [`limits::LOGIN_LIFE`] from `now_ns` (nanoseconds since the epoch).
    pub fn issue(&self, user: &User, sid: i64, now_ns: i64) -> Result<String, LoginError> {
        self.sign(user, (Some(sid), None, None), now_ns, limits::LOGIN_LIFE)
    }

    /// An access token for [`limits::ACCESS_LIFE`] from `at_ns`, of the client's sign-in `grant`, for `resource` (empty:
    /// the whole server). The same input gives the same token.
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
        let exp = at_ns / NS_PER_SECOND + life.as_secs() as i64;
        let claims =
            Claims { user_id: user.id, email: user.email.clone(), epoch: user.session_epoch, sid, grant, aud, exp };
        encode(&Header::new(Algorithm::HS256), &claims, &self.encoding).map_err(LoginError)
    }

    /// The claims of a token we signed that has not expired at `now_ns`; never says why not.
    pub fn check(&self, token: &str, now_ns: i64) -> Option<Claims> {
        let mut validation = Validation::new(Algorithm::HS256);
        // Expiry is checked below, against the clock we were given.
        validation.validate_exp = false;
        // The audience is checked against the request's path (`resource.rs`).
        validation.validate_aud = false;
        let claims = decode::<Claims>(token, &self.decoding, &validation).ok()?.claims;
        (claims.exp > now_ns / NS_PER_SECOND).then_some(claims)
    }
}

const NS_PER_SECOND: i64 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_800_000_000 * NS_PER_SECOND;

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
            signs_in_elsewhere: false,
            is_vouched_for: false,
        }
    }

    #[test]
    fn a_login_lasts_seven_days() {
        let logins = Logins::new(&[1; 32]);
        let token = logins.issue(&user(), 1, NOW).unwrap();
        let week = 7 * 24 * 60 * 60 * NS_PER_SECOND;
        for (when, expected) in [(NOW, true), (NOW + week - NS_PER_SECOND, true), (NOW + week, false)] {
            assert_eq!(logins.check(&token, when).map(|claims| claims.user_id), expected.then_some(7), "{when}");
        }
    }

    #[test]
    fn only_our_own_signature_counts() {
        let token = Logins::new(&[1; 32]).issue(&user(), 1, NOW).unwrap();
        assert_eq!(Logins::new(&[2; 32]).check(&token, NOW), None);
        // {"alg":"none"} with the same claims and no signature.
        let unsigned = format!("eyJhbGciOiJub25lIn0.{}.", token.split('.').nth(1).unwrap());
        for token in [unsigned.as_str(), "", "..", "not a token"] {
            assert_eq!(Logins::new(&[1; 32]).check(token, NOW), None, "{token}");
        }
    }
}
