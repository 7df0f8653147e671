//! Passkeys: whose they are, the challenges they answer, and signing in with one. What a proof is worth:
//! `secrets/webauthn.rs`.
//!
//! A challenge is a row, so that another node can take its answer; it goes with the first answer, right or wrong.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;

use super::audit::By;
use super::db::Write;
use super::passkey_proof::Proof;
use super::second_factor::{WAITING, drop_idle_recovery_codes, insert_recovery_codes};
use super::tokens::{fingerprint, hash};
use super::{Control, ControlError, User};
use crate::secrets::webauthn::{Asked, Creation, Credential, Made, Refused, RelyingParty};
use tidewatch_limits as limits;

/// One that its owner sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passkey {
    pub id: i64,
    pub name: String,
    /// base64url.
    pub credential_id: String,
    pub transports: Vec<String>,
    pub created_ns: i64,
    pub last_used_ns: Option<i64>,
}

/// What a challenge is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ceremony<'a> {
    /// Of this person.
    Add(i64),
    /// Of this person, when an e-mail address came along that has passkeys.
    SignIn(Option<i64>),
    /// Of this person, who waits with this token.
    SecondFactor(i64, &'a str),
}

/// A new one; and recovery codes for who had none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedPasskey {
    pub passkey: Passkey,
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

/// How authenticators know a person: nothing that says who it is. WebAuthn 14.6.1.
pub fn user_handle(user: &User) -> String {
    let id = format!("tidewatch user handle {} {}", user.id, user.created_ns);
    URL_SAFE_NO_PAD.encode(fingerprint(&id))
}

impl Control {
    /// Oldest first.
    pub async fn passkeys(&self, user: i64) -> Result<Vec<Passkey>, ControlError> {
        let rows: Vec<Columns> = sqlx::query_as(
            "SELECT id, name, credential_id, credential, created_ns, last_used_ns FROM passkeys \
             WHERE user_id = $1 ORDER BY id",
        )
        .bind(user)
        .fetch_all(self.pool())
        .await?;
        let passkey = |(id, name, credential_id, credential, created_ns, last_used_ns): Columns| {
            let transports = read_credential(&credential)?.transports;
            Ok(Passkey { id, name, credential_id, transports, created_ns, last_used_ns })
        };
        rows.into_iter().map(passkey).collect()
    }

    /// A challenge, base64url. Those that nobody answered in time go.
    pub async fn challenge_passkey(&self, ceremony: Ceremony<'_>, now_ns: i64) -> Result<String, ControlError> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        let challenge = URL_SAFE_NO_PAD.encode(bytes);
        let (user, bound) = match ceremony {
            Ceremony::Add(user) => (Some(user), String::new()),
            Ceremony::SignIn(user) => (user, String::new()),
            Ceremony::SecondFactor(user, token) => (Some(user), hash(token)),
        };
        let mut write = self.write().await?;
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

    /// None: it is no answer to a challenge of this person.
    pub async fn add_passkey(
        &self,
        by: &By,
        user: i64,
        name: &str,
        party: &RelyingParty,
        (challenge, creation): (&str, Creation<'_>),
        transports: Vec<String>,
    ) -> Result<Option<AddedPasskey>, ControlError> {
        let mut write = self.write().await?;
        let taken = take(&mut write, Ceremony::Add(user), challenge, by.at_ns).await?;
        let made = match taken {
            Some((Some(owner), _)) if owner == user => party.made(Asked { challenge, is_verified: false }, creation),
            _ => Err(Refused::Challenge),
        };
        let made = match made {
            Ok(Made { id, credential }) => (id, Credential { transports, ..credential }),
            Err(why) => {
                tracing::info!(user, "a passkey was not added: {why}");
                write.commit().await?;
                return Ok(None);
            }
        };
        let added = insert(&mut write, by, user, name, made).await?;
        write.changes_directory();
        write.commit().await?;
        Ok(Some(added))
    }

    /// False when the person has no such passkey.
    pub async fn rename_passkey(&self, by: &By, user: i64, id: i64, name: &str) -> Result<bool, ControlError> {
        let mut write = self.write().await?;
        let changed = sqlx::query("UPDATE passkeys SET name = $3 WHERE id = $1 AND user_id = $2")
            .bind(id)
            .bind(user)
            .bind(name)
            .execute(write.on())
            .await?;
        if changed.rows_affected() == 0 {
            return Ok(false);
        }
        write.audit(by.did("passkey.rename").on("passkey", id).with(json!({ "name": name }))).await?;
        write.commit().await?;
        Ok(true)
    }

    /// False when the person has no such passkey.
    pub async fn remove_passkey(&self, by: &By, user: i64, id: i64) -> Result<bool, ControlError> {
        let mut write = self.write().await?;
        let name: Option<String> =
            sqlx::query_scalar("DELETE FROM passkeys WHERE id = $1 AND user_id = $2 RETURNING name")
                .bind(id)
                .bind(user)
                .fetch_optional(write.on())
                .await?;
        let Some(name) = name else { return Ok(false) };
        drop_idle_recovery_codes(&mut write, user).await?;
        write.audit(by.did("passkey.remove").on("passkey", id).with(json!({ "name": name }))).await?;
        write.changes_directory();
        write.commit().await?;
        Ok(true)
    }

    /// Who a passkey alone lets in: possession, and the PIN, finger or face that its authenticator asked for.
    pub async fn enter_with_passkey(&self, by: &By, proof: &Proof<'_>) -> Result<Option<Arc<User>>, ControlError> {
        let mut write = self.write().await?;
        let taken = take(&mut write, Ceremony::SignIn(None), proof.challenge, by.at_ns).await?;
        let user = match taken {
            Some((asked, _)) => self.use_passkey(&mut write, by, proof, asked, true).await?,
            None => None,
        };
        write.commit().await?;
        Ok(user)
    }

    /// Who waits for a second factor with this token.
    pub async fn waiting_for_second_factor(&self, token: &str, now_ns: i64) -> Result<Option<i64>, ControlError> {
        let found = sqlx::query_scalar(
            "SELECT user_id FROM challenges \
             WHERE token_hash = $1 AND kind = $3 AND used_ns IS NULL AND expires_ns > $2",
        )
        .bind(hash(token))
        .bind(now_ns)
        .bind(WAITING);
        Ok(found.fetch_optional(self.pool()).await?)
    }

    /// A passkey in the second step of a login.
    pub(super) async fn use_second_passkey(
        &self,
        write: &mut Write<'_>,
        by: &By,
        user: &User,
        token: &str,
        proof: &Proof<'_>,
    ) -> Result<bool, ControlError> {
        let ceremony = Ceremony::SecondFactor(user.id, token);
        match take(write, ceremony, proof.challenge, by.at_ns).await? {
            Some((Some(asked), bound)) if asked == user.id && bound == hash(token) => {
                Ok(self.use_passkey(write, by, proof, Some(asked), false).await?.is_some())
            }
            _ => Ok(false),
        }
    }

    /// Of `asked`, or of whom its authenticator says.
    async fn use_passkey(
        &self,
        write: &mut Write<'_>,
        by: &By,
        proof: &Proof<'_>,
        asked: Option<i64>,
        is_verified: bool,
    ) -> Result<Option<Arc<User>>, ControlError> {
        let found: Option<(i64, i64, String)> =
            sqlx::query_as("SELECT id, user_id, credential FROM passkeys WHERE credential_id = $1")
                .bind(proof.credential_id)
                .fetch_optional(write.on())
                .await?;
        let Some((id, owner, credential)) = found else { return Ok(None) };
        let Some(user) = self.user(owner).filter(|user| asked.is_none_or(|asked| asked == user.id)) else {
            return Ok(None);
        };
        let is_theirs = match proof.user_handle {
            Some(handle) => handle == user_handle(&user),
            None => asked.is_some(),
        };
        if !is_theirs {
            return Ok(None);
        }
        let known = read_credential(&credential)?;
        let asked = Asked { challenge: proof.challenge, is_verified };
        match proof.party.proved(asked, &known, proof.assertion) {
            Ok(counter) => {
                sqlx::query("UPDATE passkeys SET credential = $2, last_used_ns = $3 WHERE id = $1")
                    .bind(id)
                    .bind(write_credential(&Credential { counter, ..known }))
                    .bind(by.at_ns)
                    .execute(write.on())
                    .await?;
                Ok(Some(user))
            }
            Err(why) => {
                tracing::warn!(user = owner, passkey = id, "a passkey was refused: {why}");
                if why == Refused::Counter {
                    let details = json!({ "reason": why.to_string(), "user": owner });
                    write.audit(by.did("passkey.refuse").on("passkey", id).with(details)).await?;
                }
                Ok(None)
            }
        }
    }
}

/// Takes a challenge away: for whom it was, and what it was bound to.
async fn take(
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
    by: &By,
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
    .bind(by.at_ns)
    .fetch_optional(write.on())
    .await?;
    let id = id.ok_or(ControlError::Conflict("this passkey is known already"))?;
    let recovery_codes = if codes == 0 { Some(insert_recovery_codes(write, user).await?) } else { None };
    write.audit(by.did("passkey.add").on("passkey", id).with(json!({ "name": name }))).await?;
    let (transports, name, created_ns) = (credential.transports, name.to_owned(), by.at_ns);
    let passkey = Passkey { id, name, credential_id, transports, created_ns, last_used_ns: None };
    Ok(AddedPasskey { passkey, recovery_codes })
}

fn read_credential(text: &str) -> Result<Credential, ControlError> {
    serde_json::from_str(text).map_err(|_| ControlError::Unreadable("a passkey"))
}

fn write_credential(credential: &Credential) -> String {
    json!({ "key": credential.key, "counter": credential.counter, "transports": credential.transports }).to_string()
}
