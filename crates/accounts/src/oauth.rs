//! Clients that sign people in through the browser: registered by themselves, given codes that they exchange once.
//! OAuth 2.1, RFC 7591, RFC 7636; WIRE 5.4.

use serde_json::json;
use sqlx::Row;

use super::audit::By;
use super::grants::{Approval, Issued, end_family, insert_family};
use super::tokens::{hash, prefixed_token, random_uuid};
use super::{Control, ControlError, Scope};
use tidewatch_limits as limits;

/// A registered client; public: it has no secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OauthClient {
    pub id: String,
    pub name: String,
    pub redirect_uris: Vec<String>,
    pub created_ns: i64,
}

/// What a person agreed to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCode<'a> {
    pub user: i64,
    /// The session epoch that the person approved in: the code ends with it.
    pub session_epoch: i64,
    pub client_id: &'a str,
    pub redirect_uri: &'a str,
    /// PKCE, S256.
    pub code_challenge: &'a str,
    /// Empty: none was named.
    pub resource: &'a str,
    pub scope: &'a Scope,
}

/// What a client shows for its tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange<'a> {
    pub code: &'a str,
    pub client_id: &'a str,
    pub redirect_uri: &'a str,
    /// The S256 challenge of the verifier shown.
    pub code_challenge: &'a str,
    pub resource: Option<&'a str>,
}

/// What became of it.
#[derive(Debug, Clone)]
pub enum Exchanged {
    Issued(Issued),
    Invalid,
    InvalidTarget,
}

impl Control {
    /// `redirect_uris` have been checked. Clients that nobody has signed in with are forgotten after
    /// [`limits::UNUSED_CLIENT_LIFE`], the oldest of them sooner beyond [`limits::UNUSED_CLIENTS_MAX`]. No line of the
    /// audit log: anybody registers clients, as many as they like; a person's consent has one.
    pub async fn register_client(
        &self,
        by: &By,
        name: &str,
        redirect_uris: &[String],
    ) -> Result<OauthClient, ControlError> {
        let id = random_uuid()?.to_string();
        let mut write = self.write().await?;
        sqlx::query(
            "DELETE FROM oauth_clients WHERE id NOT IN (SELECT client_id FROM refresh_families) AND (created_ns < $1 \
             OR created_ns < COALESCE((SELECT o.created_ns FROM oauth_clients o \
             WHERE o.id NOT IN (SELECT client_id FROM refresh_families) \
             ORDER BY o.created_ns DESC LIMIT 1 OFFSET $2), 0))",
        )
        .bind(by.at_ns.saturating_sub(limits::UNUSED_CLIENT_LIFE.as_nanos() as i64))
        // With the new one there are as many as may be.
        .bind(limits::UNUSED_CLIENTS_MAX - 2)
        .execute(write.on())
        .await?;
        sqlx::query(
            "INSERT INTO oauth_clients (id, name, redirect_uris, address, created_ns) VALUES ($1, $2, $3, $4, $5)",
        )
        .bind(&id)
        .bind(name)
        .bind(json!(redirect_uris).to_string())
        .bind(&by.address)
        .bind(by.at_ns)
        .execute(write.on())
        .await?;
        write.commit().await?;
        let (name, redirect_uris) = (name.to_owned(), redirect_uris.to_vec());
        Ok(OauthClient { id, name, redirect_uris, created_ns: by.at_ns })
    }

    pub async fn oauth_client(&self, id: &str) -> Result<Option<OauthClient>, ControlError> {
        let found: Option<(String, String, String, i64)> =
            sqlx::query_as("SELECT id, name, redirect_uris, created_ns FROM oauth_clients WHERE id = $1")
                .bind(id)
                .fetch_optional(self.pool())
                .await?;
        Ok(found.map(|(id, name, redirect_uris, created_ns)| {
            let redirect_uris = serde_json::from_str(&redirect_uris).unwrap_or_default();
            OauthClient { id, name, redirect_uris, created_ns }
        }))
    }

    /// A code for what a person agreed to, for [`limits::OAUTH_CODE_LIFE`].
    pub async fn issue_code(&self, by: &By, new: &NewCode<'_>) -> Result<String, ControlError> {
        let code = prefixed_token("twa_")?;
        let mut write = self.write().await?;
        // Used ones stay a day, so that a second use is noticed.
        sqlx::query("DELETE FROM oauth_codes WHERE expires_ns < $1")
            .bind(by.at_ns.saturating_sub(24 * 60 * 60 * 1_000_000_000))
            .execute(write.on())
            .await?;
        sqlx::query(
            "INSERT INTO oauth_codes (code_hash, client_id, user_id, redirect_uri, code_challenge, resource, \
             created_ns, expires_ns, session_epoch, scope, projects) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        )
        .bind(hash(&code))
        .bind(new.client_id)
        .bind(new.user)
        .bind(new.redirect_uri)
        .bind(new.code_challenge)
        .bind(new.resource)
        .bind(by.at_ns)
        .bind(by.at_ns.saturating_add(limits::OAUTH_CODE_LIFE.as_nanos() as i64))
        .bind(new.session_epoch)
        .bind(new.scope.level.as_str())
        .bind(new.scope.stored_projects())
        .execute(write.on())
        .await?;
        let details = json!({ "scope": new.scope.level.as_str(), "projects": new.scope.projects });
        write.audit(by.did("client.approve").on("client", new.client_id).with(details)).await?;
        write.commit().await?;
        Ok(code)
    }

    /// Tokens for a code, once. A second use ends what the first one got: one of the two was not the client.
    pub async fn exchange_code(&self, by: &By, shown: &Exchange<'_>) -> Result<Exchanged, ControlError> {
        let mut write = self.write().await?;
        let found = sqlx::query(
            "SELECT client_id, user_id, session_epoch, redirect_uri, code_challenge, resource, expires_ns, used_ns, \
             family_id, scope, projects FROM oauth_codes WHERE code_hash = $1",
        )
        .bind(hash(shown.code))
        .fetch_optional(write.on())
        .await?;
        let Some(row) = found else { return Ok(Exchanged::Invalid) };
        let text = |column: usize| row.try_get::<String, _>(column);
        let number = |column: usize| row.try_get::<Option<i64>, _>(column);
        let (client, redirect_uri, challenge, resource) = (text(0)?, text(3)?, text(4)?, text(5)?);
        let (user, session_epoch) = (row.try_get::<i64, _>(1)?, number(2)?);
        let (expires_ns, used_ns, family) = (row.try_get::<i64, _>(6)?, number(7)?, number(8)?);
        let scope = Scope::read(&text(9)?, row.try_get::<Option<String>, _>(10)?.as_deref());
        if used_ns.is_some() {
            if let Some(family) = family
                && end_family(&mut write, family, by.at_ns).await? > 0
            {
                write.audit(by.did("grant.code_reuse").on("grant", family).with(json!({ "client": client }))).await?;
                write.commit().await?;
                tracing::warn!(user, family, "an authorization code came a second time; its sign-in was ended");
            }
            return Ok(Exchanged::Invalid);
        }
        let is_right = expires_ns > by.at_ns
            && client == shown.client_id
            && redirect_uri == shown.redirect_uri
            && hash(&challenge) == hash(shown.code_challenge);
        if !is_right {
            return Ok(Exchanged::Invalid);
        }
        if shown.resource.is_some_and(|shown| shown != resource) {
            return Ok(Exchanged::InvalidTarget);
        }
        let approval = Approval { user, session_epoch, client: &client, resource: &resource, scope: &scope };
        let (family, refresh_token) = insert_family(&mut write, &approval, by.at_ns).await?;
        sqlx::query("UPDATE oauth_codes SET used_ns = $2, family_id = $3 WHERE code_hash = $1")
            .bind(hash(shown.code))
            .bind(by.at_ns)
            .bind(family)
            .execute(write.on())
            .await?;
        let by = By { user_id: Some(user), ..by.clone() };
        write.audit(by.did("grant.create").on("grant", family).with(json!({ "client": client }))).await?;
        write.commit().await?;
        let user = self.user(user).ok_or(ControlError::InvalidGrant)?;
        Ok(Exchanged::Issued(Issued { user, family, refresh_token, scope, resource, at_ns: by.at_ns }))
    }
}
