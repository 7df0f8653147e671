//! Invitations: created, listed, revoked, looked up, accepted. WIRE 5.2.
//!
//! The database stores only the hash of a token. The mail contains the token, or the inviter is shown the link: then
//! accepting it does not verify the address. A used, revoked or expired invitation stays invalid.

use std::time::Duration;

use serde_json::json;

use super::People;
use super::member_rules::may_give;
use super::organizations::insert_membership;
use super::users::{NewUser, insert_user};
use crate::secrets::tokens;
use crate::{Actor, ControlError, Mail, Role, Write};
use tidewatch_limits as limits;

/// An invitation to be created.
#[derive(Debug, Clone)]
pub struct NewInvitation {
    /// The organization to join.
    pub organization_id: i64,
    /// Lower case.
    pub email: String,
    /// Any role but the owner's.
    pub role: Role,
    /// The inviter is shown the link.
    pub is_link_shown: bool,
}

/// A pending or expired invitation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invitation {
    /// Row id.
    pub id: i64,
    /// Address of the invited user.
    pub email: String,
    /// Role of the new member.
    pub role: Role,
    /// Name of the inviter; empty if unknown.
    pub inviter_name: String,
    /// Nanoseconds since the epoch.
    pub created_ns: i64,
    /// Nanoseconds since the epoch.
    pub expires_ns: i64,
}

/// An invitation as the holder of its token sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invited {
    /// Row id.
    pub id: i64,
    /// The organization to join.
    pub organization_id: i64,
    /// Its name.
    pub organization_name: String,
    /// Name of the inviter; empty if unknown.
    pub inviter_name: String,
    /// Address of the invited user.
    pub email: String,
    /// Role of the new member.
    pub role: Role,
    /// The address has an account already.
    pub exists_as_user: bool,
    /// The link was shown to the inviter.
    pub is_link_shown: bool,
}

/// Checks the limits on invitations, which send mails to addresses of the inviter's choice. Revoked ones count, because
/// their mails were sent.
async fn check_frequency(write: &mut Write<'_>, actor: &Actor, new: &NewInvitation) -> Result<(), ControlError> {
    let window_ns = limits::INVITATIONS_WINDOW.as_nanos() as i64;
    let since = actor.at_ns.saturating_sub(window_ns);
    let of_person: (i64, i64) = sqlx::query_as(
        "SELECT COUNT(*), COALESCE(MIN(created_ns), 0) FROM invitations WHERE created_ns > $1 AND invited_by = $2",
    )
    .bind(since)
    .bind(actor.user_id)
    .fetch_one(write.on())
    .await?;
    let of_organization: (i64, i64) = sqlx::query_as(
        "SELECT COUNT(*), COALESCE(MIN(created_ns), 0) FROM invitations WHERE created_ns > $1 AND organization_id = $2",
    )
    .bind(since)
    .bind(new.organization_id)
    .fetch_one(write.on())
    .await?;
    let to_address: (i64, i64) = sqlx::query_as(
        "SELECT COUNT(*), COALESCE(MIN(created_ns), 0) FROM invitations WHERE created_ns > $1 AND email = $2",
    )
    .bind(since)
    .bind(&new.email)
    .fetch_one(write.on())
    .await?;
    for ((count, first_ns), most, message) in [
        (of_person, limits::INVITATIONS_OF_PERSON_MAX, "you have invited too many people today"),
        (
            of_organization,
            limits::INVITATIONS_OF_ORGANIZATION_MAX,
            "the organization has invited too many people today",
        ),
        (to_address, limits::INVITATIONS_TO_ADDRESS_MAX, "this address was invited too often today"),
    ] {
        if count >= most {
            let left_ns = first_ns.saturating_add(window_ns).saturating_sub(actor.at_ns).max(0);
            return Err(ControlError::TooOften(message, Duration::from_nanos(left_ns as u64).as_secs() + 1));
        }
    }
    Ok(())
}

/// The actor may give the role in the organization. The server itself acts as the owner.
async fn check_inviter(
    write: &mut Write<'_>,
    actor: &Actor,
    organization: i64,
    role: Role,
) -> Result<(), ControlError> {
    let inviter = match actor.user_id {
        Some(user) => write.role_of(organization, user).await?,
        None => Some(Role::Owner),
    };
    may_give(inviter.ok_or(ControlError::Forbidden("you are not a member of this organization"))?, role)
}

impl People {
    /// Creates an invitation and, unless its link is shown, puts its mail into the outbox, in one transaction. `mail`
    /// renders the mail for a token. Returns the token. Errors: the inviter may not give the role, the address is a member or has a pending
    /// invitation, a limit is exceeded.
    pub async fn invite(
        &self,
        actor: &Actor,
        new: &NewInvitation,
        mail: impl FnOnce(&str) -> Mail,
    ) -> Result<String, ControlError> {
        let token = tokens::prefixed_token("twi_")?;
        let organization = new.organization_id;
        let mut write = self.database.write().await?;
        check_inviter(&mut write, actor, organization, new.role).await?;
        let member: i64 = sqlx::query_scalar(
            "SELECT COUNT(*) FROM memberships JOIN users ON users.id = memberships.user_id \
             WHERE memberships.organization_id = $1 AND users.email = $2",
        )
        .bind(organization)
        .bind(&new.email)
        .fetch_one(write.on())
        .await?;
        if member > 0 {
            return Err(ControlError::MemberAlready);
        }
        sqlx::query(
            "UPDATE invitations SET revoked_ns = $3 WHERE organization_id = $1 AND email = $2 AND expires_ns <= $3 \
             AND accepted_ns IS NULL AND revoked_ns IS NULL",
        )
        .bind(organization)
        .bind(&new.email)
        .bind(actor.at_ns)
        .execute(write.on())
        .await?;
        let open: i64 = sqlx::query_scalar(
            "SELECT COUNT(*) FROM invitations WHERE organization_id = $1 AND email = $2 \
             AND accepted_ns IS NULL AND revoked_ns IS NULL",
        )
        .bind(organization)
        .bind(&new.email)
        .fetch_one(write.on())
        .await?;
        if open > 0 {
            return Err(ControlError::Conflict("an invitation for this address is pending"));
        }
        check_frequency(&mut write, actor, new).await?;
        let id: i64 = sqlx::query_scalar(
            "INSERT INTO invitations (organization_id, email, role, token_hash, invited_by, created_ns, expires_ns, \
             link_shown) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id",
        )
        .bind(organization)
        .bind(&new.email)
        .bind(new.role.as_str())
        .bind(tokens::hash(&token))
        .bind(actor.user_id)
        .bind(actor.at_ns)
        .bind(actor.at_ns.saturating_add(limits::INVITATION_LIFE.as_nanos() as i64))
        .bind(i64::from(new.is_link_shown))
        .fetch_one(write.on())
        .await?;
        if !new.is_link_shown {
            write.insert_mail(&mail(&token), actor.at_ns).await?;
        }
        let details = json!({ "email": new.email, "role": new.role.as_str() });
        write.audit(actor.did("invitation.create").on("invitation", id).within(organization).with(details)).await?;
        write.commit().await?;
        Ok(token)
    }

    /// Replaces the token of a pending invitation, to show its link to the actor, and extends the invitation. Earlier
    /// links end. Returns the token. [`ControlError::Missing`] if there is no such invitation, or it has expired;
    /// [`ControlError::Forbidden`] if the actor may not give its role.
    pub async fn renew_invitation(&self, actor: &Actor, organization: i64, id: i64) -> Result<String, ControlError> {
        const NO_INVITATION: ControlError = ControlError::Missing("no such invitation");
        let token = tokens::prefixed_token("twi_")?;
        let mut write = self.database.write().await?;
        let role: Option<String> = sqlx::query_scalar(
            "SELECT role FROM invitations WHERE organization_id = $1 AND id = $2 AND expires_ns > $3 \
             AND accepted_ns IS NULL AND revoked_ns IS NULL",
        )
        .bind(organization)
        .bind(id)
        .bind(actor.at_ns)
        .fetch_optional(write.on())
        .await?;
        let role = role.as_deref().and_then(Role::parse).ok_or(NO_INVITATION)?;
        check_inviter(&mut write, actor, organization, role).await?;
        sqlx::query("UPDATE invitations SET token_hash = $2, expires_ns = $3, link_shown = 1 WHERE id = $1")
            .bind(id)
            .bind(tokens::hash(&token))
            .bind(actor.at_ns.saturating_add(limits::INVITATION_LIFE.as_nanos() as i64))
            .execute(write.on())
            .await?;
        write.audit(actor.did("invitation.show_link").on("invitation", id).within(organization)).await?;
        write.commit().await?;
        Ok(token)
    }

    /// Returns the pending and expired invitations, newest first.
    pub async fn invitations(&self, organization: i64) -> Result<Vec<Invitation>, ControlError> {
        type Columns = (i64, String, String, String, i64, i64);
        let rows: Vec<Columns> = sqlx::query_as(
            "SELECT invitations.id, invitations.email, invitations.role, COALESCE(users.name, ''), \
             invitations.created_ns, invitations.expires_ns \
             FROM invitations LEFT JOIN users ON users.id = invitations.invited_by \
             WHERE invitations.organization_id = $1 AND accepted_ns IS NULL AND revoked_ns IS NULL \
             ORDER BY invitations.id DESC",
        )
        .bind(organization)
        .fetch_all(self.database.pool())
        .await?;
        let read = |(id, email, role, inviter_name, created_ns, expires_ns): Columns| Invitation {
            id,
            email,
            role: Role::parse(&role).unwrap_or(Role::Readonly),
            inviter_name,
            created_ns,
            expires_ns,
        };
        Ok(rows.into_iter().map(read).collect())
    }

    /// Revokes a pending or expired invitation. [`ControlError::Missing`] if there is none.
    pub async fn revoke_invitation(&self, actor: &Actor, organization: i64, id: i64) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        let revoked = sqlx::query(
            "UPDATE invitations SET revoked_ns = $3 WHERE organization_id = $1 AND id = $2 \
             AND accepted_ns IS NULL AND revoked_ns IS NULL",
        )
        .bind(organization)
        .bind(id)
        .bind(actor.at_ns)
        .execute(write.on())
        .await?;
        if revoked.rows_affected() == 0 {
            return Err(ControlError::Missing("no such invitation"));
        }
        write.audit(actor.did("invitation.revoke").on("invitation", id).within(organization)).await?;
        write.commit().await
    }

    /// Returns the invitation of a token that is valid at `now_ns`. [`ControlError::Missing`] for an unknown token,
    /// [`ControlError::NoLongerValid`] for a used, revoked or expired one.
    pub async fn invited(&self, token: &str, now_ns: i64) -> Result<Invited, ControlError> {
        let mut connection = self.database.pool().acquire().await?;
        find(&mut connection, token, now_ns).await
    }

    /// Creates an account and its membership. Returns the user id. The address counts as verified if the link was sent
    /// to it only.
    pub async fn accept_as_new(
        &self,
        actor: &Actor,
        token: &str,
        name: &str,
        password_hash: &str,
    ) -> Result<i64, ControlError> {
        let mut write = self.database.write().await?;
        let invited = find(write.on(), token, actor.at_ns).await?;
        let new = NewUser {
            email: invited.email.clone(),
            name: name.to_owned(),
            password_hash: Some(password_hash.to_owned()),
            is_email_verified: !invited.is_link_shown,
        };
        let user = insert_user(&mut write, &new, actor.at_ns).await?;
        let actor = Actor { user_id: Some(user), name: new.email, ..actor.clone() };
        join(&mut write, &actor, &invited, user).await?;
        write.commit().await?;
        Ok(user)
    }

    /// Makes the account a member. [`ControlError::Forbidden`] if the invitation is for another address.
    pub async fn accept_as_user(&self, actor: &Actor, token: &str, user: i64, email: &str) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        let invited = find(write.on(), token, actor.at_ns).await?;
        if invited.email != email {
            return Err(ControlError::Forbidden("this invitation is for another email address"));
        }
        join(&mut write, actor, &invited, user).await?;
        if !invited.is_link_shown {
            sqlx::query("UPDATE users SET email_verified_ns = COALESCE(email_verified_ns, $2) WHERE id = $1")
                .bind(user)
                .bind(actor.at_ns)
                .execute(write.on())
                .await?;
        }
        write.commit().await
    }
}

async fn find(on: &mut sqlx::AnyConnection, token: &str, now_ns: i64) -> Result<Invited, ControlError> {
    type Columns = (i64, i64, String, String, String, String, i64, i64, i64, i64);
    let found: Option<Columns> = sqlx::query_as(
        "SELECT invitations.id, invitations.organization_id, organizations.name, COALESCE(inviter.name, ''), \
         invitations.email, invitations.role, invitations.expires_ns, \
         CASE WHEN accepted_ns IS NULL AND revoked_ns IS NULL THEN 1 ELSE 0 END, \
         CASE WHEN invitee.id IS NULL THEN 0 ELSE 1 END, link_shown \
         FROM invitations JOIN organizations ON organizations.id = invitations.organization_id \
         LEFT JOIN users inviter ON inviter.id = invitations.invited_by \
         LEFT JOIN users invitee ON invitee.email = invitations.email WHERE invitations.token_hash = $1",
    )
    .bind(tokens::hash(token))
    .fetch_optional(on)
    .await?;
    let found = found.ok_or(ControlError::Missing("no such invitation"))?;
    let (id, organization_id, organization_name, inviter_name, email, role, expires_ns, is_open, exists, shown) = found;
    if is_open == 0 {
        return Err(ControlError::NoLongerValid("the invitation has been used or revoked"));
    }
    if expires_ns <= now_ns {
        return Err(ControlError::NoLongerValid("the invitation has expired"));
    }
    let role = Role::parse(&role).ok_or(ControlError::Unreadable("an invitation's role"))?;
    let (exists_as_user, is_link_shown) = (exists != 0, shown != 0);
    Ok(Invited { id, organization_id, organization_name, inviter_name, email, role, exists_as_user, is_link_shown })
}

async fn join(write: &mut Write<'_>, actor: &Actor, invited: &Invited, user: i64) -> Result<(), ControlError> {
    insert_membership(write, invited.organization_id, user, invited.role, actor.at_ns).await?;
    sqlx::query("UPDATE invitations SET accepted_ns = $2 WHERE id = $1")
        .bind(invited.id)
        .bind(actor.at_ns)
        .execute(write.on())
        .await?;
    let details = json!({ "invitation": invited.id, "role": invited.role.as_str() });
    write.audit(actor.did("member.join").on("user", user).within(invited.organization_id).with(details)).await
}
