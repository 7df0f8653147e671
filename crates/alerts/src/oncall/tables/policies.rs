//! Escalation policies.

use serde_json::json;
use tidewatch_accounts::{Actor, ControlError, Database, Write};
use tidewatch_limits as limits;

use super::teams::{check_members, check_name};
use crate::channels::TARGET_SEALED_AS;
use crate::oncall::OnCall;
use crate::tables::{RowValues, targets};

/// A policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OncallPolicy {
    /// Row id.
    pub id: i64,
    /// Its name, unique in the organization.
    pub name: String,
    /// Steps, JSON.
    pub definition: String,
    /// Nanoseconds since the epoch.
    pub created_ns: i64,
    /// Nanoseconds since the epoch.
    pub updated_ns: i64,
}

/// The parts of a policy that a user chooses. The caller has checked its numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPolicy {
    /// Its name.
    pub name: String,
    /// Steps, JSON.
    pub definition: String,
}

const NO_POLICY: ControlError = ControlError::Missing("no such escalation policy");

impl OnCall {
    /// Returns the policies of an organization by name.
    pub async fn oncall_policies(&self, organization: i64) -> Result<Vec<OncallPolicy>, ControlError> {
        let rows: Vec<(i64, String, String, i64, i64)> = sqlx::query_as(
            "SELECT id, name, definition, created_ns, updated_ns FROM oncall_policies WHERE organization_id = $1 \
             ORDER BY name, id",
        )
        .bind(organization)
        .fetch_all(self.database.pool())
        .await?;
        let policy = |(id, name, definition, created_ns, updated_ns)| OncallPolicy {
            id,
            name,
            definition,
            created_ns,
            updated_ns,
        };
        Ok(rows.into_iter().map(policy).collect())
    }

    /// Stores a new policy, or changes one. Returns its id. Fails for targets outside the organization, and channels of
    /// type `escalation`.
    pub async fn save_oncall_policy(
        &self,
        actor: &Actor,
        organization: i64,
        id: Option<i64>,
        policy: &NewPolicy,
    ) -> Result<i64, ControlError> {
        let mut write = self.database.write().await?;
        const NAMED: &str = "SELECT id FROM oncall_policies WHERE organization_id = $1 AND name = $2";
        if let Some(id) = id {
            policy_of(&mut write, organization, id).await?;
        }
        check_name(&mut write, NAMED, organization, id, &policy.name).await?;
        check_targets(&mut write, organization, &policy.definition).await?;
        let row = RowValues::of("oncall_policies")
            .set("name", &policy.name)
            .set("definition", &policy.definition)
            .set("updated_ns", actor.at_ns);
        let id = match id {
            Some(id) => {
                row.update(&mut write, &[("id", id)]).await?;
                id
            }
            None => {
                let count: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM oncall_policies WHERE organization_id = $1")
                    .bind(organization)
                    .fetch_one(write.on())
                    .await?;
                if count >= limits::ONCALL_POLICIES_MAX {
                    return Err(ControlError::TooMany("escalation policies"));
                }
                row.set("organization_id", organization).set("created_ns", actor.at_ns).insert(&mut write).await?
            }
        };
        let details = json!({ "name": policy.name });
        write.audit(actor.did("oncall_policy.save").on("policy", id).within(organization).with(details)).await?;
        write.commit().await?;
        Ok(id)
    }

    /// Deletes a policy. Fails while a channel opens its pages.
    pub async fn delete_oncall_policy(&self, actor: &Actor, organization: i64, id: i64) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        policy_of(&mut write, organization, id).await?;
        let channels: Vec<String> = sqlx::query_scalar(
            "SELECT c.config_sealed FROM notification_channels c JOIN projects p ON p.number = c.project \
             WHERE p.organization_id = $1 AND c.channel_type = 'escalation'",
        )
        .bind(organization)
        .fetch_all(write.on())
        .await?;
        if channels.iter().any(|sealed| policy_of_channel(&self.database, sealed) == Some(id)) {
            return Err(ControlError::Unacceptable(
                "a notification channel opens pages of this policy; delete it first",
            ));
        }
        sqlx::query("DELETE FROM oncall_policies WHERE id = $1").bind(id).execute(write.on()).await?;
        write.audit(actor.did("oncall_policy.delete").on("policy", id).within(organization)).await?;
        write.commit().await
    }
}

/// The policy of a channel of type `escalation`.
pub(super) fn policy_of_channel(database: &Database, sealed: &str) -> Option<i64> {
    let config = database.sealer().open(TARGET_SEALED_AS, sealed).ok()?;
    let config: serde_json::Value = serde_json::from_str(&config).ok()?;
    let id = &config["policyId"];
    id.as_i64().or_else(|| id.as_str()?.parse().ok())
}

/// Name and definition of a policy of the organization.
pub(super) async fn policy_of(
    write: &mut Write<'_>,
    organization: i64,
    id: i64,
) -> Result<(String, String), ControlError> {
    let found: Option<(String, String)> =
        sqlx::query_as("SELECT name, definition FROM oncall_policies WHERE id = $1 AND organization_id = $2")
            .bind(id)
            .bind(organization)
            .fetch_optional(write.on())
            .await?;
    found.ok_or(NO_POLICY)
}

async fn check_targets(write: &mut Write<'_>, organization: i64, definition: &str) -> Result<(), ControlError> {
    check_members(write, organization, &targets(definition, "user")).await?;
    let known = [
        ("schedule", "SELECT id FROM oncall_schedules WHERE organization_id = $1"),
        ("team", "SELECT id FROM oncall_teams WHERE organization_id = $1"),
        (
            "channel",
            "SELECT c.id FROM notification_channels c JOIN projects p ON p.number = c.project \
             WHERE p.organization_id = $1 AND c.channel_type <> 'escalation'",
        ),
    ];
    for (kind, statement) in known {
        let ids: Vec<i64> = sqlx::query_scalar(statement).bind(organization).fetch_all(write.on()).await?;
        if !targets(definition, kind).iter().all(|id| ids.contains(id)) {
            return Err(ControlError::Unacceptable("a target of a step does not exist in this organization"));
        }
    }
    Ok(())
}
