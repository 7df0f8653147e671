//! Invitations: made, listed, revoked, looked at, accepted. WIRE 5.2.
//!
//! The token is in the mail alone; here is its hash. One that is used, revoked or too old is gone for good.

use std::time::Duration;

use serde_json::json;

use super::audit::By;
use super::db::Write;
use super::member_rules::may_give;
use super::members::role_of;
use super::organizations::insert_membership;
use super::outbox::{Mail, insert_mail};
use super::users::{NewUser, insert_user};
use super::{Control, ControlError, Role, tokens};
use tidewatch_limits as limits;

/// Somebody to be invited.
#[derive(Debug, Clone)]
pub struct NewInvitation {
    pub organization_id: i64,
    /// Lower case.
    pub email: String,
    /// Not the owner's.
    pub role: Role,
}

/// One that is open or has run out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invitation {
    pub id: i64,
    pub email: String,
    pub role: Role,
    pub inviter_name: String,
    /// Nanoseconds since the epoch, both.
    pub created_ns: i64,
    pub expires_ns: i64,
}

/// What the holder of a token may know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invited {
    pub id: i64,
    pub organization_id: i64,
    pub organization_name: String,
    pub inviter_name: String,
    pub email: String,
    pub role: Role,
    /// The address has an account.
    pub exists_as_user: bool,
}

/// Each invitation is a mail to an address of the inviter's choice. Revoked ones count: their mails were sent.
async fn check_frequency(write: &mut Write<'_>, by: &By, new: &NewInvitation) -> Result<(), ControlError> {
    let window_ns = limits::INVITATIONS_WINDOW.as_nanos() as i64;
    let since = by.at_ns.saturating_sub(window_ns);
    let of_person: (i64, i64) = sqlx::query_as(
        "SELECT COUNT(*), COALESCE(MIN(created_ns), 0) FROM invitations WHERE created_ns > $1 AND invited_by = $2",
    )
    .bind(since)
    .bind(by.user_id)
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
            let left_ns = first_ns.saturating_add(window_ns).saturating_sub(by.at_ns).max(0);
            return Err(ControlError::TooOften(message, Duration::from_nanos(left_ns as u64).as_secs() + 1));
        }
    }
    Ok(())
}

impl Control {
    /// Invites somebody and puts the mail into the outbox, both or neither. `mail` gets the token.
    pub async fn invite(
        &self,
        by: &By,
        new: &NewInvitation,
        mail: impl FnOnce(&str) -> Mail,
    ) -> Result<(), ControlError> {
        let token = tokens::prefixed_token("twi_")?;
        let organization = new.organization_id;
        let mut write = self.write().await?;
        let inviter = match by.user_id {
            Some(id) => role_of(&mut write, organization, id).await?,
            None => Some(Role::Owner),
        };
        let inviter = inviter.ok_or(ControlError::Forbidden("you are not a member of this organization"))?;
        may_give(inviter, new.role)?;
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
        .bind(by.at_ns)
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
        check_frequency(&mut write, by, new).await?;
        let id: i64 = sqlx::query_scalar(
            "INSERT INTO invitations (organization_id, email, role, token_hash, invited_by, created_ns, expires_ns) \
             VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id",
        )
        .bind(organization)
        .bind(&new.email)
        .bind(new.role.as_str())
        .bind(tokens::hash(&token))
        .bind(by.user_id)
        .bind(by.at_ns)
        .bind(by.at_ns.saturating_add(limits::INVITATION_LIFE.as_nanos() as i64))
        .fetch_one(write.on())
        .await?;
        insert_mail(self, &mut write, &mail(&token), by.at_ns).await?;
        let details = json!({ "email": new.email, "role": new.role.as_str() });
        write.audit(by.did("invitation.create").on("invitation", id).within(organization).with(details)).await?;
        write.commit().await
    }

    /// Open ones and those that have run out, newest first.
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
        .fetch_all(self.pool())
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

    pub async fn revoke_invitation(&self, by: &By, organization: i64, id: i64) -> Result<(), ControlError> {
        let mut write = self.write().await?;
        let revoked = sqlx::query(
            "UPDATE invitations SET revoked_ns = $3 WHERE organization_id = $1 AND id = $2 \
             AND accepted_ns IS NULL AND revoked_ns IS NULL",
        )
        .bind(organization)
        .bind(id)
        .bind(by.at_ns)
        .execute(write.on())
        .await?;
        if revoked.rows_affected() == 0 {
            return Err(ControlError::Missing("no such invitation"));
        }
        write.audit(by.did("invitation.revoke").on("invitation", id).within(organization)).await?;
        write.commit().await
    }

    /// What a token invites to at `now_ns`.
    pub async fn invited(&self, token: &str, now_ns: i64) -> Result<Invited, ControlError> {
        let mut connection = self.pool().acquire().await?;
        find(&mut connection, token, now_ns).await
    }

    /// Makes an account and its membership. The link was in its mailbox, so the address is verified. Returns its id.
    pub async fn accept_as_new(
        &self,
        by: &By,
        token: &str,
        name: &str,
        password_hash: &str,
    ) -> Result<i64, ControlError> {
        let mut write = self.write().await?;
        let invited = find(write.on(), token, by.at_ns).await?;
        let new = NewUser {
            email: invited.email.clone(),
            name: name.to_owned(),
            password_hash: Some(password_hash.to_owned()),
            is_email_verified: true,
        };
        let user = insert_user(&mut write, &new, by.at_ns).await?;
        let by = By { user_id: Some(user), name: new.email, ..by.clone() };
        join(&mut write, &by, &invited, user).await?;
        write.commit().await?;
        Ok(user)
    }

    /// Makes the account a member, if the invitation is for its address.
    pub async fn accept_as_user(&self, by: &By, token: &str, user: i64, email: &str) -> Result<(), ControlError> {
        let mut write = self.write().await?;
        let invited = find(write.on(), token, by.at_ns).await?;
        if invited.email != email {
            return Err(ControlError::Forbidden("this invitation is for another email address"));
        }
        join(&mut write, by, &invited, user).await?;
        sqlx::query("UPDATE users SET email_verified_ns = COALESCE(email_verified_ns, $2) WHERE id = $1")
            .bind(user)
            .bind(by.at_ns)
            .execute(write.on())
            .await?;
        write.commit().await
    }
}

async fn find(on: &mut sqlx::AnyConnection, token: &str, now_ns: i64) -> Result<Invited, ControlError> {
    type Columns = (i64, i64, String, String, String, String, i64, i64, i64);
    let found: Option<Columns> = sqlx::query_as(
        "SELECT invitations.id, invitations.organization_id, organizations.name, COALESCE(inviter.name, ''), \
         invitations.email, invitations.role, invitations.expires_ns, \
         CASE WHEN accepted_ns IS NULL AND revoked_ns IS NULL THEN 1 ELSE 0 END, \
         CASE WHEN invitee.id IS NULL THEN 0 ELSE 1 END \
         FROM invitations JOIN organizations ON organizations.id = invitations.organization_id \
         LEFT JOIN users inviter ON inviter.id = invitations.invited_by \
         LEFT JOIN users invitee ON invitee.email = invitations.email WHERE invitations.token_hash = $1",
    )
    .bind(tokens::hash(token))
    .fetch_optional(on)
    .await?;
    let found = found.ok_or(ControlError::Missing("no such invitation"))?;
    let (id, organization_id, organization_name, inviter_name, email, role, expires_ns, is_open, exists) = found;
    if is_open == 0 {
        return Err(ControlError::Gone("the invitation has been used or revoked"));
    }
    if expires_ns <= now_ns {
        return Err(ControlError::Gone("the invitation has expired"));
    }
    let role = Role::parse(&role).ok_or(ControlError::Unreadable("an invitation's role"))?;
    let exists_as_user = exists != 0;
    Ok(Invited { id, organization_id, organization_name, inviter_name, email, role, exists_as_user })
}

async fn join(write: &mut Write<'_>, by: &By, invited: &Invited, user: i64) -> Result<(), ControlError> {
    insert_membership(write, invited.organization_id, user, invited.role, by.at_ns).await?;
    sqlx::query("UPDATE invitations SET accepted_ns = $2 WHERE id = $1")
        .bind(invited.id)
        .bind(by.at_ns)
        .execute(write.on())
        .await?;
    let details = json!({ "invitation": invited.id, "role": invited.role.as_str() });
    write.audit(by.did("member.join").on("user", user).within(invited.organization_id).with(details)).await
}
