//! Passkeys of users, their challenges, and sign-in with a passkey. Responses are verified in `secrets/webauthn`.
//!
//! A challenge is a row, so that another node can verify its response. It is deleted by the first response, valid or
//! not.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;

use super::SignIn;
use super::passkey_verification::Verification;
use super::second_factor::{WAITING, drop_idle_recovery_codes, insert_recovery_codes};
use crate::secrets::tokens::{fingerprint, hash};
use crate::secrets::webauthn::{Creation, Credential, Expected, Refused, Registration, RelyingParty};
use crate::{Actor, ControlError, User, Write};
use tidewatch_limits as limits;

/// A passkey as its owner sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passkey {
    /// Row id.
    pub id: i64,
    /// Name chosen by the owner.
    pub name: String,
    /// Id of the credential, base64url.
    pub credential_id: String,
    /// Transports that the browser reported.
    pub transports: Vec<String>,
    /// Nanoseconds since the epoch.
    pub created_ns: i64,
    /// Nanoseconds since the epoch.
    pub last_used_ns: Option<i64>,
}

/// The purpose of a challenge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ceremony<'a> {
    /// Adding a passkey of this user.
    Add(i64),
    /// Signing in with a passkey only; with the user if the request named one who has passkeys.
    SignIn(Option<i64>),
    /// The second factor of this user, whose sign-in waits with this token.
    SecondFactor(i64, &'a str),
}

/// A new passkey, and recovery codes if the user had none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedPasskey {
    /// The new passkey.
    pub passkey: Passkey,
    /// New recovery codes; `None` if the user has unused ones.
    pub recovery_codes: Option<Vec<String>>,
}

type Columns = (i64, String, String, String, i64, Option<i64>);

impl Ceremony<'_> {
    fn kind(self) -> &'static str {
        match self {
            Ceremony::Add(_) => "passkey: add",
            Ceremony::SignIn(_) => "passkey: sign in",
            Ceremony::SecondFactor(..) => "passkey: second factor",
        }
    }
}

/// Returns the user handle that authenticators store, base64url. It contains no personal information. WebAuthn 14.6.1.
pub fn user_handle(user: &User) -> String {
    let id = format!("tidewatch user handle {} {}", user.id, user.created_ns);
    URL_SAFE_NO_PAD.encode(fingerprint(&id))
}

impl SignIn {
    /// Returns the user's passkeys, oldest first.
    pub async fn passkeys(&self, user: i64) -> Result<Vec<Passkey>, ControlError> {
        let rows: Vec<Columns> = sqlx::query_as(
            "SELECT id, name, credential_id, credential, created_ns, last_used_ns FROM passkeys \
             WHERE user_id = $1 ORDER BY id",
        )
        .bind(user)
        .fetch_all(self.database.pool())
        .await?;
        let passkey = |(id, name, credential_id, credential, created_ns, last_used_ns): Columns| {
            let transports = read_credential(&credential)?.transports;
            Ok(Passkey { id, name, credential_id, transports, created_ns, last_used_ns })
        };
        rows.into_iter().map(passkey).collect()
    }

    /// Creates a challenge, base64url, valid for [`limits::PASSKEY_CEREMONY_MAX`]. Deletes expired ones.
    pub async fn challenge_passkey(&self, ceremony: Ceremony<'_>, now_ns: i64) -> Result<String, ControlError> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        let challenge = URL_SAFE_NO_PAD.encode(bytes);
        let (user, bound) = match ceremony {
            Ceremony::Add(user) => (Some(user), String::new()),
            Ceremony::SignIn(user) => (user, String::new()),
            Ceremony::SecondFactor(user, token) => (Some(user), hash(token)),
        };
        let mut write = self.database.write().await?;
        sqlx::query("DELETE FROM challenges WHERE kind = $1 AND expires_ns <= $2")
            .bind(ceremony.kind())
            .bind(now_ns)
            .execute(write.on())
            .await?;
        sqlx::query(
            "INSERT INTO challenges (token_hash, kind, user_id, state_sealed, created_ns, expires_ns) \
             VALUES ($1, $2, $3, $4, $5, $6)",
        )
        .bind(hash(&challenge))
        .bind(ceremony.kind())
        .bind(user)
        .bind(bound)
        .bind(now_ns)
        .bind(now_ns.saturating_add(limits::PASSKEY_CEREMONY_MAX.as_nanos() as i64))
        .execute(write.on())
        .await?;
        write.commit().await?;
        Ok(challenge)
    }

    /// Verifies a registration and stores the passkey. `None` if it is not a valid response to a challenge of this
    /// user. [`ControlError::TooMany`] beyond [`limits::PASSKEYS_MAX`], [`ControlError::Conflict`] if the credential is
    /// stored already.
    pub async fn add_passkey(
        &self,
        actor: &Actor,
        user: i64,
        name: &str,
        party: &RelyingParty,
        (challenge, creation): (&str, Creation<'_>),
        transports: Vec<String>,
    ) -> Result<Option<AddedPasskey>, ControlError> {
        let mut write = self.database.write().await?;
        let taken = take_challenge(&mut write, Ceremony::Add(user), challenge, actor.at_ns).await?;
        let registered = match taken {
            Some((Some(owner), _)) if owner == user => {
                party.verify_registration(Expected { challenge, requires_verification: false }, creation)
            }
            _ => Err(Refused::Challenge),
        };
        let registered = match registered {
            Ok(Registration { id, credential }) => (id, Credential { transports, ..credential }),
            Err(why) => {
                tracing::info!(user, "a passkey was not added: {why}");
                write.commit().await?;
                return Ok(None);
            }
        };
        let added = insert(&mut write, actor, user, name, registered).await?;
        write.changes_directory();
        write.commit().await?;
        Ok(Some(added))
    }

    /// Renames a passkey. Returns false when the user has no such passkey.
    pub async fn rename_passkey(&self, actor: &Actor, user: i64, id: i64, name: &str) -> Result<bool, ControlError> {
        let mut write = self.database.write().await?;
        let changed = sqlx::query("UPDATE passkeys SET name = $3 WHERE id = $1 AND user_id = $2")
            .bind(id)
            .bind(user)
            .bind(name)
            .execute(write.on())
            .await?;
        if changed.rows_affected() == 0 {
            return Ok(false);
        }
        write.audit(actor.did("passkey.rename").on("passkey", id).with(json!({ "name": name }))).await?;
        write.commit().await?;
        Ok(true)
    }

    /// Deletes a passkey. Returns false when the user has no such passkey.
    pub async fn remove_passkey(&self, actor: &Actor, user: i64, id: i64) -> Result<bool, ControlError> {
        let mut write = self.database.write().await?;
        let name: Option<String> =
            sqlx::query_scalar("DELETE FROM passkeys WHERE id = $1 AND user_id = $2 RETURNING name")
                .bind(id)
                .bind(user)
                .fetch_optional(write.on())
                .await?;
        let Some(name) = name else { return Ok(false) };
        drop_idle_recovery_codes(&mut write, user).await?;
        write.audit(actor.did("passkey.remove").on("passkey", id).with(json!({ "name": name }))).await?;
        write.changes_directory();
        write.commit().await?;
        Ok(true)
    }

    /// Verifies a sign-in with a passkey only, which proves possession and user verification (PIN or biometrics).
    /// Returns the user; `None` if the response is not valid.
    pub async fn sign_in_with_passkey(
        &self,
        actor: &Actor,
        response: &Verification<'_>,
    ) -> Result<Option<Arc<User>>, ControlError> {
        let mut write = self.database.write().await?;
        let taken = take_challenge(&mut write, Ceremony::SignIn(None), response.challenge, actor.at_ns).await?;
        let user = match taken {
            Some((owner, _)) => self.use_passkey(&mut write, actor, response, owner, true).await?,
            None => None,
        };
        write.commit().await?;
        Ok(user)
    }

    /// Returns the user whose sign-in waits for a second factor with this token; `None` if the token is unknown, used
    /// or expired.
    pub async fn waiting_for_second_factor(&self, token: &str, now_ns: i64) -> Result<Option<i64>, ControlError> {
        let found = sqlx::query_scalar(
            "SELECT user_id FROM challenges \
             WHERE token_hash = $1 AND kind = $3 AND used_ns IS NULL AND expires_ns > $2",
        )
        .bind(hash(token))
        .bind(now_ns)
        .bind(WAITING);
        Ok(found.fetch_optional(self.database.pool()).await?)
    }

    /// Verifies a passkey as second factor. Returns false if the response is not valid.
    pub(super) async fn use_second_passkey(
        &self,
        write: &mut Write<'_>,
        actor: &Actor,
        user: &User,
        token: &str,
        response: &Verification<'_>,
    ) -> Result<bool, ControlError> {
        let ceremony = Ceremony::SecondFactor(user.id, token);
        match take_challenge(write, ceremony, response.challenge, actor.at_ns).await? {
            Some((Some(owner), bound)) if owner == user.id && bound == hash(token) => {
                Ok(self.use_passkey(write, actor, response, Some(owner), false).await?.is_some())
            }
            _ => Ok(false),
        }
    }

    /// Verifies an assertion by a passkey of `expected_user`, or of the user whom the user handle names if that is
    /// `None`.
    async fn use_passkey(
        &self,
        write: &mut Write<'_>,
        actor: &Actor,
        response: &Verification<'_>,
        expected_user: Option<i64>,
        requires_verification: bool,
    ) -> Result<Option<Arc<User>>, ControlError> {
        let found: Option<(i64, i64, String)> =
            sqlx::query_as("SELECT id, user_id, credential FROM passkeys WHERE credential_id = $1")
                .bind(response.credential_id)
                .fetch_optional(write.on())
                .await?;
        let Some((id, owner, credential)) = found else { return Ok(None) };
        let Some(user) =
            self.database.user(owner).filter(|user| expected_user.is_none_or(|expected| expected == user.id))
        else {
            return Ok(None);
        };
        let is_owner = match response.user_handle {
            Some(handle) => handle == user_handle(&user),
            None => expected_user.is_some(),
        };
        if !is_owner {
            return Ok(None);
        }
        let known = read_credential(&credential)?;
        let expected = Expected { challenge: response.challenge, requires_verification };
        match response.party.verify_assertion(expected, &known, response.assertion) {
            Ok(counter) => {
                sqlx::query("UPDATE passkeys SET credential = $2, last_used_ns = $3 WHERE id = $1")
                    .bind(id)
                    .bind(write_credential(&Credential { counter, ..known }))
                    .bind(actor.at_ns)
                    .execute(write.on())
                    .await?;
                Ok(Some(user))
            }
            Err(why) => {
                tracing::warn!(user = owner, passkey = id, "a passkey was refused: {why}");
                if why == Refused::Counter {
                    let details = json!({ "reason": why.to_string(), "user": owner });
                    write.audit(actor.did("passkey.refuse").on("passkey", id).with(details)).await?;
                }
                Ok(None)
            }
        }
    }
}

/// Deletes a challenge. Returns its user and the token hash that it is bound to.
async fn take_challenge(
    write: &mut Write<'_>,
    ceremony: Ceremony<'_>,
    challenge: &str,
    now_ns: i64,
) -> Result<Option<(Option<i64>, String)>, ControlError> {
    let taken = sqlx::query_as(
        "DELETE FROM challenges WHERE token_hash = $1 AND kind = $2 AND expires_ns > $3 \
         RETURNING user_id, state_sealed",
    )
    .bind(hash(challenge))
    .bind(ceremony.kind())
    .bind(now_ns);
    Ok(taken.fetch_optional(write.on()).await?)
}

async fn insert(
    write: &mut Write<'_>,
    actor: &Actor,
    user: i64,
    name: &str,
    (credential_id, credential): (String, Credential),
) -> Result<AddedPasskey, ControlError> {
    let (known, codes): (i64, i64) = sqlx::query_as(
        "SELECT (SELECT COUNT(*) FROM passkeys WHERE user_id = $1), \
         (SELECT COUNT(*) FROM recovery_codes WHERE user_id = $1 AND used_ns IS NULL)",
    )
    .bind(user)
    .fetch_one(write.on())
    .await?;
    if known >= limits::PASSKEYS_MAX {
        return Err(ControlError::TooMany("passkeys"));
    }
    let id: Option<i64> = sqlx::query_scalar(
        "INSERT INTO passkeys (user_id, credential_id, credential, name, created_ns) VALUES ($1, $2, $3, $4, $5) \
         ON CONFLICT (credential_id) DO NOTHING RETURNING id",
    )
    .bind(user)
    .bind(&credential_id)
    .bind(write_credential(&credential))
    .bind(name)
    .bind(actor.at_ns)
    .fetch_optional(write.on())
    .await?;
    let id = id.ok_or(ControlError::Conflict("this passkey is known already"))?;
    let recovery_codes = if codes == 0 { Some(insert_recovery_codes(write, user).await?) } else { None };
    write.audit(actor.did("passkey.add").on("passkey", id).with(json!({ "name": name }))).await?;
    let (transports, name, created_ns) = (credential.transports, name.to_owned(), actor.at_ns);
    let passkey = Passkey { id, name, credential_id, transports, created_ns, last_used_ns: None };
    Ok(AddedPasskey { passkey, recovery_codes })
}

fn read_credential(text: &str) -> Result<Credential, ControlError> {
    serde_json::from_str(text).map_err(|_| ControlError::Unreadable("a passkey"))
}

fn write_credential(credential: &Credential) -> String {
    json!({ "key": credential.key, "counter": credential.counter, "transports": credential.transports }).to_string()
}
