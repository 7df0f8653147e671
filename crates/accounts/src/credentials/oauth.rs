//! OAuth clients: dynamic registration, and authorization codes that are exchanged once. OAuth 2.1, RFC 7591, RFC 7636;
//! WIRE 5.4.

use serde_json::json;
use sqlx::Row;

use super::Credentials;
use super::grants::{Approval, Issued, end_family, insert_family};
use super::scope::Scope;
use crate::secrets::tokens::{hash, prefixed_token, random_uuid};
use crate::{Actor, ControlError};
use tidewatch_domain::units::DAY_NS;
use tidewatch_limits as limits;

/// A registered client. Clients are public: they have no secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OauthClient {
    /// Client id: a random UUID.
    pub id: String,
    /// Name that the client registered with.
    pub name: String,
    /// Redirect URIs that the client registered.
    pub redirect_uris: Vec<String>,
    /// Nanoseconds since the epoch.
    pub created_ns: i64,
}

/// The consent of a user, for which a code is issued.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCode<'a> {
    /// Id of the user.
    pub user: i64,
    /// The user's session epoch at the consent: the code is void in a later one.
    pub session_epoch: i64,
    /// Id of the client.
    pub client_id: &'a str,
    /// Redirect URI of the request.
    pub redirect_uri: &'a str,
    /// PKCE challenge, S256.
    pub code_challenge: &'a str,
    /// Requested resource (RFC 8707); empty: none.
    pub resource: &'a str,
    /// Approved scope.
    pub scope: &'a Scope,
}

/// The request of a client to exchange a code for tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange<'a> {
    /// The code.
    pub code: &'a str,
    /// Id of the client.
    pub client_id: &'a str,
    /// Must equal the redirect URI of the code.
    pub redirect_uri: &'a str,
    /// The S256 challenge computed from the PKCE verifier.
    pub code_challenge: &'a str,
    /// Must equal the resource of the code, if present.
    pub resource: Option<&'a str>,
}

/// The result of an exchange.
#[derive(Debug, Clone)]
pub enum Exchanged {
    /// The tokens.
    Issued(Issued),
    /// The code is unknown, used, expired, or of another client, redirect URI or challenge.
    Invalid,
    /// The resource is not the approved one.
    InvalidTarget,
}

impl Credentials {
    /// Registers a client. The caller has checked `redirect_uris`. Clients without a sign-in are deleted after
    /// [`limits::UNUSED_CLIENT_LIFE`], and the oldest of them beyond [`limits::UNUSED_CLIENTS_MAX`]. There is no audit
    /// entry, because anybody may register clients; a user's consent has one.
    pub async fn register_client(
        &self,
        actor: &Actor,
        name: &str,
        redirect_uris: &[String],
    ) -> Result<OauthClient, ControlError> {
        let id = random_uuid()?.to_string();
        let mut write = self.database.write().await?;
        sqlx::query(
            "DELETE FROM oauth_clients WHERE id NOT IN (SELECT client_id FROM refresh_families) AND (created_ns < $1 \
             OR created_ns < COALESCE((SELECT o.created_ns FROM oauth_clients o \
             WHERE o.id NOT IN (SELECT client_id FROM refresh_families) \
             ORDER BY o.created_ns DESC LIMIT 1 OFFSET $2), 0))",
        )
        .bind(actor.at_ns.saturating_sub(limits::UNUSED_CLIENT_LIFE.as_nanos() as i64))
        // With the new client the maximum is reached.
        .bind(limits::UNUSED_CLIENTS_MAX - 2)
        .execute(write.on())
        .await?;
        sqlx::query(
            "INSERT INTO oauth_clients (id, name, redirect_uris, address, created_ns) VALUES ($1, $2, $3, $4, $5)",
        )
        .bind(&id)
        .bind(name)
        .bind(json!(redirect_uris).to_string())
        .bind(&actor.address)
        .bind(actor.at_ns)
        .execute(write.on())
        .await?;
        write.commit().await?;
        let (name, redirect_uris) = (name.to_owned(), redirect_uris.to_vec());
        Ok(OauthClient { id, name, redirect_uris, created_ns: actor.at_ns })
    }

    /// Returns a registered client.
    pub async fn oauth_client(&self, id: &str) -> Result<Option<OauthClient>, ControlError> {
        let found: Option<(String, String, String, i64)> =
            sqlx::query_as("SELECT id, name, redirect_uris, created_ns FROM oauth_clients WHERE id = $1")
                .bind(id)
                .fetch_optional(self.database.pool())
                .await?;
        Ok(found.map(|(id, name, redirect_uris, created_ns)| {
            let redirect_uris = serde_json::from_str(&redirect_uris).unwrap_or_default();
            OauthClient { id, name, redirect_uris, created_ns }
        }))
    }

    /// Issues a code for a consent, valid for [`limits::OAUTH_CODE_LIFE`].
    pub async fn issue_code(&self, actor: &Actor, new: &NewCode<'_>) -> Result<String, ControlError> {
        let code = prefixed_token("twa_")?;
        let mut write = self.database.write().await?;
        // Used codes are kept for a day after their expiry, so that a second use is detected.
        sqlx::query("DELETE FROM oauth_codes WHERE expires_ns < $1")
            .bind(actor.at_ns.saturating_sub(DAY_NS))
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
        .bind(actor.at_ns)
        .bind(actor.at_ns.saturating_add(limits::OAUTH_CODE_LIFE.as_nanos() as i64))
        .bind(new.session_epoch)
        .bind(new.scope.level.as_str())
        .bind(new.scope.stored_projects())
        .execute(write.on())
        .await?;
        let details = json!({ "scope": new.scope.level.as_str(), "projects": new.scope.projects });
        write.audit(actor.did("client.approve").on("client", new.client_id).with(details)).await?;
        write.commit().await?;
        Ok(code)
    }

    /// Exchanges a code for tokens, once. A second use revokes the tokens of the first one, because one of the two was
    /// not the client.
    pub async fn exchange_code(&self, actor: &Actor, request: &Exchange<'_>) -> Result<Exchanged, ControlError> {
        let mut write = self.database.write().await?;
        let found = sqlx::query(
            "SELECT client_id, user_id, session_epoch, redirect_uri, code_challenge, resource, expires_ns, used_ns, \
             family_id, scope, projects FROM oauth_codes WHERE code_hash = $1",
        )
        .bind(hash(request.code))
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
                && end_family(&mut write, family, actor.at_ns).await? > 0
            {
                write
                    .audit(actor.did("grant.code_reuse").on("grant", family).with(json!({ "client": client })))
                    .await?;
                write.commit().await?;
                tracing::warn!(user, family, "an authorization code came a second time; its sign-in was ended");
            }
            return Ok(Exchanged::Invalid);
        }
        let is_right = expires_ns > actor.at_ns
            && client == request.client_id
            && redirect_uri == request.redirect_uri
            && hash(&challenge) == hash(request.code_challenge);
        if !is_right {
            return Ok(Exchanged::Invalid);
        }
        if request.resource.is_some_and(|requested| requested != resource) {
            return Ok(Exchanged::InvalidTarget);
        }
        let approval = Approval { user, session_epoch, client: &client, resource: &resource, scope: &scope };
        let (family, refresh_token) = insert_family(&mut write, &approval, actor.at_ns).await?;
        sqlx::query("UPDATE oauth_codes SET used_ns = $2, family_id = $3 WHERE code_hash = $1")
            .bind(hash(request.code))
            .bind(actor.at_ns)
            .bind(family)
            .execute(write.on())
            .await?;
        let actor = Actor { user_id: Some(user), ..actor.clone() };
        write.audit(actor.did("grant.create").on("grant", family).with(json!({ "client": client }))).await?;
        write.commit().await?;
        let user = self.database.user(user).ok_or(ControlError::InvalidGrant)?;
        Ok(Exchanged::Issued(Issued { user, family, refresh_token, scope, resource, at_ns: actor.at_ns }))
    }
}
