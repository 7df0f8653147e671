//! Sign-in with a provider: users are found by their identity there, or by an address that the provider has verified.
//! WIRE 5.5.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::SignIn;
use crate::people::{MemberAction, NewUser, insert_membership, insert_user, may_change_role, revoke_invitations_of};
use crate::{Actor, ControlError, Role, User, Write};

/// The profile of a user as a provider reports it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderProfile {
    /// Id of the user at the provider; never reused for another user.
    pub subject: String,
    /// Lower case; `None` unless the provider has verified the address.
    pub email: Option<String>,
    /// The provider reported an address, verified or not.
    pub is_email_seen: bool,
    /// Display name.
    pub name: String,
    /// Role from the role map; `None`: not reported, the user's role does not change.
    pub role: Option<Role>,
    /// The provider verified several factors.
    pub is_multi_factor: bool,
    /// Time of the sign-in at the provider, nanoseconds since the epoch; `None`: not reported. May be long before the
    /// sign-in here.
    pub signed_in_ns: Option<i64>,
    /// The organization that new users join, and to which `role` applies.
    pub organization: OrganizationClaim,
}

/// The organization to which a provider's claims apply. Other organizations of the user are not affected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum OrganizationClaim {
    /// The oldest one: the operator configured no claim.
    First,
    /// The one with this id, by the claim.
    Organization(i64),
    /// None: the claim is missing, or maps to no organization.
    Nowhere,
}

/// The result of a sign-in with a provider.
#[derive(Debug, Clone)]
pub enum ProviderSignIn {
    /// The user is signed in.
    In {
        /// The user of the identity.
        user: Arc<User>,
        /// No organization exists yet; the user creates the first.
        needs_setup: bool,
    },
    /// The address belongs to an account that is not linked to the provider. Nothing was changed.
    Unproved(Arc<User>),
    /// A new user without a verified address.
    NoEmail,
    /// A new user without an invitation, or a disabled user.
    InviteRequired,
}

impl SignIn {
    /// Finds or creates the user. `may_create`: users without an invitation are created. `proved`: the account whose
    /// ownership was proved; the provider is linked to it if it has the profile's address.
    pub async fn sign_in_with_provider(
        &self,
        actor: &Actor,
        provider: &str,
        profile: &ProviderProfile,
        may_create: bool,
        proved: Option<i64>,
    ) -> Result<ProviderSignIn, ControlError> {
        let mut write = self.database.write().await?;
        let known: Option<i64> =
            sqlx::query_scalar("SELECT user_id FROM identities WHERE provider = $1 AND subject = $2")
                .bind(provider)
                .bind(&profile.subject)
                .fetch_optional(write.on())
                .await?;
        let user = match known {
            Some(user) => user,
            None => {
                let Some(email) = &profile.email else { return Ok(ProviderSignIn::NoEmail) };
                let same: Option<i64> = sqlx::query_scalar("SELECT id FROM users WHERE email = $1")
                    .bind(email)
                    .fetch_optional(write.on())
                    .await?;
                let is_new = same.is_none();
                let user = match same {
                    Some(user) if proved == Some(user) => user,
                    // An address that the provider has verified is no proof of the account.
                    Some(user) => {
                        return Ok(self
                            .database
                            .user(user)
                            .map_or(ProviderSignIn::InviteRequired, ProviderSignIn::Unproved));
                    }
                    None => match join(&mut write, actor, email, profile, may_create).await? {
                        Some(user) => user,
                        None => return Ok(ProviderSignIn::InviteRequired),
                    },
                };
                sqlx::query(
                    "INSERT INTO identities (provider, subject, user_id, email, created_ns) VALUES ($1, $2, $3, $4, $5)",
                )
                .bind(provider)
                .bind(&profile.subject)
                .bind(user)
                .bind(email)
                .bind(actor.at_ns)
                .execute(write.on())
                .await?;
                sqlx::query("UPDATE users SET email_verified_ns = $2 WHERE id = $1 AND email_verified_ns IS NULL")
                    .bind(user)
                    .bind(actor.at_ns)
                    .execute(write.on())
                    .await?;
                let actor = Actor { user_id: Some(user), ..actor.clone() };
                write
                    .audit(
                        actor.did("user.link").on("user", user).with(json!({ "provider": provider, "isNew": is_new })),
                    )
                    .await?;
                write.changes_directory();
                user
            }
        };
        let before: i64 =
            sqlx::query_scalar("SELECT is_multi_factor FROM identities WHERE provider = $1 AND subject = $2")
                .bind(provider)
                .bind(&profile.subject)
                .fetch_one(write.on())
                .await?;
        sqlx::query(
            "UPDATE identities SET last_login_ns = $3, is_multi_factor = $4 WHERE provider = $1 AND subject = $2",
        )
        .bind(provider)
        .bind(&profile.subject)
        .bind(actor.at_ns)
        .bind(i64::from(profile.is_multi_factor))
        .execute(write.on())
        .await?;
        if (before != 0) != profile.is_multi_factor {
            write.changes_directory();
        }
        if let Some(role) = profile.role
            && let Some(organization) = find_organization(&mut write, profile.organization).await?
        {
            follow_role(&mut write, actor, organization, user, role).await?;
        }
        let organizations: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM organizations").fetch_one(write.on()).await?;
        write.commit().await?;
        match self.database.user(user) {
            Some(user) => Ok(ProviderSignIn::In { user, needs_setup: organizations == 0 }),
            // The user is disabled.
            None => Ok(ProviderSignIn::InviteRequired),
        }
    }

    /// Returns the user of an identity at a provider.
    pub async fn user_of_identity(&self, provider: &str, subject: &str) -> Result<Option<Arc<User>>, ControlError> {
        let id: Option<i64> = sqlx::query_scalar("SELECT user_id FROM identities WHERE provider = $1 AND subject = $2")
            .bind(provider)
            .bind(subject)
            .fetch_optional(self.database.pool())
            .await?;
        Ok(id.and_then(|id| self.database.user(id)))
    }
}

/// Creates a user: the first one, an invited one, or any if `may_create`. `None` if the user needs an invitation.
async fn join(
    write: &mut Write<'_>,
    actor: &Actor,
    email: &str,
    profile: &ProviderProfile,
    may_create: bool,
) -> Result<Option<i64>, ControlError> {
    let organizations: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM organizations").fetch_one(write.on()).await?;
    let is_first = organizations == 0;
    let invitations: Vec<(i64, i64, String)> = sqlx::query_as(
        "SELECT id, organization_id, role FROM invitations \
         WHERE email = $1 AND accepted_ns IS NULL AND revoked_ns IS NULL AND expires_ns > $2",
    )
    .bind(email)
    .bind(actor.at_ns)
    .fetch_all(write.on())
    .await?;
    if !is_first && invitations.is_empty() && !may_create {
        return Ok(None);
    }
    let named = find_organization(write, profile.organization).await?;
    if named.is_none() && invitations.is_empty() && !is_first {
        return Ok(None);
    }
    let new =
        NewUser { email: email.to_owned(), name: profile.name.clone(), password_hash: None, is_email_verified: true };
    let user = insert_user(write, &new, actor.at_ns).await?;
    let actor = Actor { user_id: Some(user), name: email.to_owned(), ..actor.clone() };
    write.audit(actor.did("user.create").on("user", user).with(json!({ "email": email }))).await?;
    for (invitation, organization, role) in &invitations {
        let role = Role::parse(role).unwrap_or(Role::Readonly);
        insert_membership(write, *organization, user, role, actor.at_ns).await?;
        sqlx::query("UPDATE invitations SET accepted_ns = $2 WHERE id = $1")
            .bind(*invitation)
            .bind(actor.at_ns)
            .execute(write.on())
            .await?;
        let entry = actor.did("invitation.accept").on("invitation", invitation).within(*organization);
        write.audit(entry.with(json!({ "role": role.as_str() }))).await?;
    }
    if let (true, Some(organization)) = (invitations.is_empty(), named) {
        let role = profile.role.unwrap_or(Role::Readonly);
        insert_membership(write, organization, user, role, actor.at_ns).await?;
        let details = json!({ "role": role.as_str() });
        write.audit(actor.did("member.add").on("user", user).within(organization).with(details)).await?;
    }
    Ok(Some(user))
}

/// The id of the organization that the claim means, if it exists.
async fn find_organization(write: &mut Write<'_>, claim: OrganizationClaim) -> Result<Option<i64>, ControlError> {
    let found = match claim {
        OrganizationClaim::First => sqlx::query_scalar("SELECT id FROM organizations ORDER BY id LIMIT 1"),
        OrganizationClaim::Organization(id) => {
            sqlx::query_scalar("SELECT id FROM organizations WHERE id = $1").bind(id)
        }
        // An unknown claim never means the first organization.
        OrganizationClaim::Nowhere => return Ok(None),
    };
    Ok(found.fetch_optional(write.on()).await?)
}

/// Sets a member's role to the provider's. The role map has the rights of the owner: it may make admins, but changes
/// neither the owner's role nor roles in other organizations.
async fn follow_role(
    write: &mut Write<'_>,
    actor: &Actor,
    organization: i64,
    user: i64,
    role: Role,
) -> Result<(), ControlError> {
    let Some(before) = write.role_of(organization, user).await? else { return Ok(()) };
    let action = MemberAction { actor: Role::Owner, target: before, is_self: false };
    if before == role || may_change_role(action, role).is_err() {
        return Ok(());
    }
    sqlx::query("UPDATE memberships SET role = $3 WHERE organization_id = $1 AND user_id = $2")
        .bind(organization)
        .bind(user)
        .bind(role.as_str())
        .execute(write.on())
        .await?;
    if before == Role::Admin {
        revoke_invitations_of(write, actor, organization, user).await?;
    }
    let details = json!({ "role": [before.as_str(), role.as_str()], "by": "provider" });
    write.audit(actor.did("member.change_role").on("user", user).within(organization).with(details)).await?;
    write.changes_directory();
    Ok(())
}
