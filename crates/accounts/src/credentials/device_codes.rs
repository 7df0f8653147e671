//! Sign-in of a device without a browser: a code that it polls with, and a code that a user types. RFC 8628; WIRE 5.4.

use serde_json::json;

use super::Credentials;
use super::grants::{Approval, Issued, insert_family};
use super::scope::{Scope, ScopeLevel};
use crate::secrets::tokens::{hash, prefixed_token};
use crate::{Actor, ControlError, User};
use tidewatch_domain::units::SECOND_NS;
use tidewatch_limits as limits;

/// The codes of a device's request for authorization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceCode {
    /// Secret that the device polls with.
    pub device_code: String,
    /// Code that the user types: `XXXX-XXXX`.
    pub user_code: String,
}

/// A device's request as the user sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceRequest {
    /// Code that the user types: `XXXX-XXXX`.
    pub user_code: String,
    /// Client id that the device sent.
    pub client_id: String,
    /// `pending`, `approved`, `denied` or `used`.
    pub status: String,
    /// IP address of the device.
    pub address: String,
    /// The requested scope.
    pub level: ScopeLevel,
    /// Nanoseconds since the epoch.
    pub created_ns: i64,
    /// Nanoseconds since the epoch.
    pub expires_ns: i64,
}

/// The result of a poll. RFC 8628, 3.5.
#[derive(Debug, Clone)]
pub enum Poll {
    /// The user has not responded yet.
    Pending,
    /// The device polls faster than the interval, which is five seconds longer now.
    SlowDown,
    /// The user refused the request.
    Denied,
    /// The code has expired.
    Expired,
    /// The code is unknown, used, or another client's.
    Invalid,
    /// The user approved the request: the tokens. Returned once.
    Issued(Issued),
}

/// Client, status, user, session epoch, interval, last poll, expiry, scope and projects of a device code.
type Polled = (String, String, Option<i64>, Option<i64>, i64, Option<i64>, i64, String, Option<String>);

impl Credentials {
    /// Creates a device code that is valid for [`limits::DEVICE_CODE_LIFE`]. `client` is the client id, `level` the
    /// requested scope.
    pub async fn begin_device_login(
        &self,
        actor: &Actor,
        client: &str,
        level: ScopeLevel,
    ) -> Result<DeviceCode, ControlError> {
        let code = DeviceCode { device_code: prefixed_token("twd_")?, user_code: user_code()? };
        let mut write = self.database.write().await?;
        let day_ns = 24 * 60 * 60 * SECOND_NS;
        sqlx::query("DELETE FROM device_codes WHERE expires_ns <= $1")
            .bind(actor.at_ns.saturating_sub(day_ns))
            .execute(write.on())
            .await?;
        sqlx::query(
            "INSERT INTO device_codes (device_code_hash, user_code, client_id, status, interval_seconds, address, \
             created_ns, expires_ns, scope) VALUES ($1, $2, $3, 'pending', $4, $5, $6, $7, $8)",
        )
        .bind(hash(&code.device_code))
        .bind(&code.user_code)
        .bind(client)
        .bind(limits::DEVICE_INTERVAL.as_secs() as i64)
        .bind(&actor.address)
        .bind(actor.at_ns)
        .bind(actor.at_ns.saturating_add(limits::DEVICE_CODE_LIFE.as_nanos() as i64))
        .bind(level.as_str())
        .execute(write.on())
        .await?;
        write.commit().await?;
        Ok(code)
    }

    /// Finds a request by its user code, in any spelling.
    pub async fn device_request(&self, user_code: &str) -> Result<Option<DeviceRequest>, ControlError> {
        let found: Option<(String, String, String, String, String, i64, i64)> = sqlx::query_as(
            "SELECT user_code, client_id, status, address, scope, created_ns, expires_ns FROM device_codes \
             WHERE user_code = $1",
        )
        .bind(canonical(user_code))
        .fetch_optional(self.database.pool())
        .await?;
        Ok(found.map(|(user_code, client_id, status, address, level, created_ns, expires_ns)| DeviceRequest {
            user_code,
            client_id,
            status,
            address,
            level: Scope::read(&level, None).level,
            created_ns,
            expires_ns,
        }))
    }

    /// Records the response of `user`, which is valid for the session epoch of `user`. `approved` is the scope of the
    /// device; `None` denies the request. Returns false when the request is unknown, has expired or has a response
    /// already.
    pub async fn answer_device(
        &self,
        actor: &Actor,
        user: &User,
        user_code: &str,
        approved: Option<&Scope>,
    ) -> Result<bool, ControlError> {
        let mut write = self.database.write().await?;
        let answered: Option<String> = sqlx::query_scalar(
            "UPDATE device_codes SET status = $3, user_id = $2, session_epoch = $5, \
             scope = COALESCE($6, scope), projects = $7 WHERE user_code = $1 AND status = 'pending' AND expires_ns > $4 RETURNING client_id",
        )
        .bind(canonical(user_code))
        .bind(user.id)
        .bind(if approved.is_some() { "approved" } else { "denied" })
        .bind(actor.at_ns)
        .bind(user.session_epoch)
        .bind(approved.map(|scope| scope.level.as_str()))
        .bind(approved.and_then(Scope::stored_projects))
        .fetch_optional(write.on())
        .await?;
        let Some(client) = answered else { return Ok(false) };
        let action = if approved.is_some() { "device.approve" } else { "device.deny" };
        write.audit(actor.did(action).on("client", client)).await?;
        write.commit().await?;
        Ok(true)
    }

    /// Handles a poll by the device. `client`: if the request names one, it must be the code's.
    pub async fn poll_device(
        &self,
        actor: &Actor,
        device_code: &str,
        client: Option<&str>,
    ) -> Result<Poll, ControlError> {
        let mut write = self.database.write().await?;
        let found: Option<Polled> = sqlx::query_as(
            "SELECT client_id, status, user_id, session_epoch, interval_seconds, last_poll_ns, expires_ns, \
             scope, projects FROM device_codes WHERE device_code_hash = $1",
        )
        .bind(hash(device_code))
        .fetch_optional(write.on())
        .await?;
        let Some((known, status, user, session_epoch, interval, last_poll_ns, expires_ns, level, projects)) = found
        else {
            return Ok(Poll::Invalid);
        };
        if client.is_some_and(|client| client != known) || status == "used" {
            return Ok(Poll::Invalid);
        }
        if expires_ns <= actor.at_ns {
            return Ok(Poll::Expired);
        }
        match (status.as_str(), user) {
            ("denied", _) => Ok(Poll::Denied),
            ("approved", Some(user)) => {
                let scope = Scope::read(&level, projects.as_deref());
                let approval = Approval { user, session_epoch, client: &known, resource: "", scope: &scope };
                let (family, refresh_token) = insert_family(&mut write, &approval, actor.at_ns).await?;
                sqlx::query("UPDATE device_codes SET status = 'used' WHERE device_code_hash = $1")
                    .bind(hash(device_code))
                    .execute(write.on())
                    .await?;
                let actor = Actor { user_id: Some(user), ..actor.clone() };
                write.audit(actor.did("grant.create").on("grant", family).with(json!({ "client": known }))).await?;
                write.commit().await?;
                let user = self.database.user(user).ok_or(ControlError::InvalidGrant)?;
                let resource = String::new();
                Ok(Poll::Issued(Issued { user, family, refresh_token, scope, resource, at_ns: actor.at_ns }))
            }
            _ => {
                let since_ns = last_poll_ns.map_or(i64::MAX, |last| actor.at_ns.saturating_sub(last));
                let is_too_fast = since_ns < interval.saturating_mul(SECOND_NS);
                let interval = if is_too_fast { interval + SLOW_DOWN_SECONDS } else { interval };
                sqlx::query(
                    "UPDATE device_codes SET last_poll_ns = $2, interval_seconds = $3 WHERE device_code_hash = $1",
                )
                .bind(hash(device_code))
                .bind(actor.at_ns)
                .bind(interval)
                .execute(write.on())
                .await?;
                write.commit().await?;
                Ok(if is_too_fast { Poll::SlowDown } else { Poll::Pending })
            }
        }
    }
}

/// RFC 8628, 3.5.
const SLOW_DOWN_SECONDS: i64 = 5;
/// RFC 8628, 6.1: no vowels, so no words; 20 to the power of 8 codes.
const LETTERS: &[u8; 20] = b"BCDFGHJKLMNPQRSTVWXZ";

fn user_code() -> Result<String, ControlError> {
    let mut code = String::new();
    while code.len() < 9 {
        if code.len() == 4 {
            code.push('-');
        }
        let mut byte = [0];
        getrandom::fill(&mut byte)?;
        // Values of 240 and more would make some letters more frequent.
        if byte[0] < 240 {
            code.push(char::from(LETTERS[usize::from(byte[0]) % LETTERS.len()]));
        }
    }
    Ok(code)
}

/// The stored form of a user code: upper-case letters, with the dash after the fourth.
fn canonical(user_code: &str) -> String {
    let templates: String =
        user_code.chars().filter(char::is_ascii_alphabetic).take(9).map(|c| c.to_ascii_uppercase()).collect();
    match templates.split_at_checked(4) {
        Some((first, second)) => format!("{first}-{second}"),
        None => templates,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_found_in_any_spelling() {
        for (typed, expected) in [
            ("BCDF-GHJK", "BCDF-GHJK"),
            ("bcdfghjk", "BCDF-GHJK"),
            (" bcdf ghjk ", "BCDF-GHJK"),
            ("bcd", "BCD"),
            ("", ""),
            ("BCDF-GHJKLMNP", "BCDF-GHJKL"),
        ] {
            assert_eq!(canonical(typed), expected, "{typed}");
        }
    }

    #[test]
    fn codes_have_the_form_of_the_wire() {
        for _ in 0..50 {
            let code = user_code().unwrap();
            assert_eq!(canonical(&code), code);
            assert_eq!((code.len(), code.find('-')), (9, Some(4)));
            assert!(code.bytes().all(|byte| byte == b'-' || LETTERS.contains(&byte)), "{code}");
        }
    }
}
