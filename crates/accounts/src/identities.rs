//! People as other sign-ins know them: found by their identity there, or by an address that the provider has verified.
//! WIRE 5.5.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::audit::By;
use super::db::Write;
use super::member_rules::{Act, may_change_role};
use super::members::{revoke_invitations_of, role_of};
use super::organizations::{insert_membership, insert_organization};
use super::projects::insert_project;
use super::users::{NewUser, insert_user};
use super::{Control, ControlError, NewProject, Project, Role, User};

/// Who somebody is, as a provider says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderProfile {
    /// Never given to another person by the provider.
    pub subject: String,
    /// Lower case; only if the provider has verified it.
    pub email: Option<String>,
    /// It named one, verified or not.
    pub is_email_seen: bool,
    pub name: String,
    /// None: nothing is said, and what the person has stays.
    pub role: Option<Role>,
    /// It has asked the person for several factors.
    pub is_multi_factor: bool,
    /// When the person signed in there, in nanoseconds since the epoch; none: the provider does not say. It may be long
    /// before the sign-in here.
    pub signed_in_ns: Option<i64>,
    /// Where new people join, and where `role` counts.
    pub organization: Place,
}

/// The organization that a provider's word is about. Other organizations of the person are none of its business.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Place {
    /// The operator named no claim: the oldest.
    First,
    /// The claim means this id.
    Organization(i64),
    /// The claim is missing, or means none of ours.
    Nowhere,
}

/// What came of it.
#[derive(Debug, Clone)]
pub enum Entered {
    /// `needs_setup`: there is no organisation yet; the person makes the first.
    In { user: Arc<User>, needs_setup: bool },
    /// The address is that of an account which the provider is not linked to. Nothing was done.
    Unproved(Arc<User>),
    /// A new person without a verified address.
    NoEmail,
    /// Nobody invited them, and people are not let in without.
    InviteRequired,
}

impl Control {
    /// Finds or makes the person. `may_create`: people nobody invited are let in. `proved`: the account that the person
    /// has proved to be theirs; the provider is linked to it when it has the profile's address.
    pub async fn enter(
        &self,
        by: &By,
        provider: &str,
        profile: &ProviderProfile,
        may_create: bool,
        proved: Option<i64>,
    ) -> Result<Entered, ControlError> {
        let mut write = self.write().await?;
        let known: Option<i64> =
            sqlx::query_scalar("SELECT user_id FROM identities WHERE provider = $1 AND subject = $2")
                .bind(provider)
                .bind(&profile.subject)
                .fetch_optional(write.on())
                .await?;
        let user = match known {
            Some(user) => user,
            None => {
                let Some(email) = &profile.email else { return Ok(Entered::NoEmail) };
                let same: Option<i64> = sqlx::query_scalar("SELECT id FROM users WHERE email = $1")
                    .bind(email)
                    .fetch_optional(write.on())
                    .await?;
                let is_new = same.is_none();
                let user = match same {
                    Some(user) if proved == Some(user) => user,
                    // An address that the provider vouches for is no proof by itself.
                    Some(user) => {
                        return Ok(self.user(user).map_or(Entered::InviteRequired, Entered::Unproved));
                    }
                    None => match join(&mut write, by, email, profile, may_create).await? {
                        Some(user) => user,
                        None => return Ok(Entered::InviteRequired),
                    },
                };
                sqlx::query(
                    "INSERT INTO identities (provider, subject, user_id, email, created_ns) VALUES ($1, $2, $3, $4, $5)",
                )
                .bind(provider)
                .bind(&profile.subject)
                .bind(user)
                .bind(email)
                .bind(by.at_ns)
                .execute(write.on())
                .await?;
                sqlx::query("UPDATE users SET email_verified_ns = $2 WHERE id = $1 AND email_verified_ns IS NULL")
                    .bind(user)
                    .bind(by.at_ns)
                    .execute(write.on())
                    .await?;
                let by = By { user_id: Some(user), ..by.clone() };
                write
                    .audit(by.did("user.link").on("user", user).with(json!({ "provider": provider, "isNew": is_new })))
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
        .bind(by.at_ns)
        .bind(i64::from(profile.is_multi_factor))
        .execute(write.on())
        .await?;
        if (before != 0) != profile.is_multi_factor {
            write.changes_directory();
        }
        if let Some(role) = profile.role
            && let Some(organization) = find_organization(&mut write, profile.organization).await?
        {
            follow_role(&mut write, by, organization, user, role).await?;
        }
        let organizations: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM organizations").fetch_one(write.on()).await?;
        write.commit().await?;
        match self.user(user) {
            Some(user) => Ok(Entered::In { user, needs_setup: organizations == 0 }),
            // Disabled.
            None => Ok(Entered::InviteRequired),
        }
    }

    /// Whose identity it is.
    pub async fn user_of_identity(&self, provider: &str, subject: &str) -> Result<Option<Arc<User>>, ControlError> {
        let id: Option<i64> = sqlx::query_scalar("SELECT user_id FROM identities WHERE provider = $1 AND subject = $2")
            .bind(provider)
            .bind(subject)
            .fetch_optional(self.pool())
            .await?;
        Ok(id.and_then(|id| self.user(id)))
    }

    /// The first organisation and project, of a person who signed in elsewhere.
    pub async fn set_up(
        &self,
        by: &By,
        user: i64,
        name: &str,
        timezone: &str,
        project: &str,
        framework: &str,
    ) -> Result<Arc<Project>, ControlError> {
        let mut write = self.write().await?;
        let organizations: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM organizations").fetch_one(write.on()).await?;
        if organizations > 0 {
            return Err(ControlError::OrganizationExists);
        }
        let organization_id = insert_organization(&mut write, by, name, timezone, user).await?;
        let new = NewProject { organization_id, name: project.to_owned(), framework: framework.to_owned() };
        let number = insert_project(self, &mut write, by, &new).await?;
        write.commit().await?;
        self.project_by_number(number).ok_or(ControlError::UnknownProject)
    }
}

/// A new person: the first of all, an invited one, or one who may come without. None: must be invited.
async fn join(
    write: &mut Write<'_>,
    by: &By,
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
    .bind(by.at_ns)
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
    let user = insert_user(write, &new, by.at_ns).await?;
    let by = By { user_id: Some(user), name: email.to_owned(), ..by.clone() };
    write.audit(by.did("user.create").on("user", user).with(json!({ "email": email }))).await?;
    for (invitation, organization, role) in &invitations {
        let role = Role::parse(role).unwrap_or(Role::Readonly);
        insert_membership(write, *organization, user, role, by.at_ns).await?;
        sqlx::query("UPDATE invitations SET accepted_ns = $2 WHERE id = $1")
            .bind(*invitation)
            .bind(by.at_ns)
            .execute(write.on())
            .await?;
        let entry = by.did("invitation.accept").on("invitation", invitation).within(*organization);
        write.audit(entry.with(json!({ "role": role.as_str() }))).await?;
    }
    if let (true, Some(organization)) = (invitations.is_empty(), named) {
        let role = profile.role.unwrap_or(Role::Readonly);
        insert_membership(write, organization, user, role, by.at_ns).await?;
        let details = json!({ "role": role.as_str() });
        write.audit(by.did("member.add").on("user", user).within(organization).with(details)).await?;
    }
    Ok(Some(user))
}

/// The organization of a place, when there is one.
async fn find_organization(write: &mut Write<'_>, place: Place) -> Result<Option<i64>, ControlError> {
    let found = match place {
        Place::First => sqlx::query_scalar("SELECT id FROM organizations ORDER BY id LIMIT 1"),
        Place::Organization(id) => sqlx::query_scalar("SELECT id FROM organizations WHERE id = $1").bind(id),
        // What is not known is nobody's organization, least of all the first.
        Place::Nowhere => return Ok(None),
    };
    Ok(found.fetch_optional(write.on()).await?)
}

/// Gives a member the provider's role. The operator's map stands for the owner here: it makes admins, and changes neither
/// the owner's role nor anybody's in another organization.
async fn follow_role(
    write: &mut Write<'_>,
    by: &By,
    organization: i64,
    user: i64,
    role: Role,
) -> Result<(), ControlError> {
    let Some(before) = role_of(write, organization, user).await? else { return Ok(()) };
    let act = Act { actor: Role::Owner, target: before, is_self: false };
    if before == role || may_change_role(act, role).is_err() {
        return Ok(());
    }
    sqlx::query("UPDATE memberships SET role = $3 WHERE organization_id = $1 AND user_id = $2")
        .bind(organization)
        .bind(user)
        .bind(role.as_str())
        .execute(write.on())
        .await?;
    if before == Role::Admin {
        revoke_invitations_of(write, by, organization, user).await?;
    }
    let details = json!({ "role": [before.as_str(), role.as_str()], "by": "provider" });
    write.audit(by.did("member.change_role").on("user", user).within(organization).with(details)).await?;
    write.changes_directory();
    Ok(())
}
