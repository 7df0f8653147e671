//! Schedules and their overrides.

use serde_json::json;
use tidewatch_accounts::{Actor, ControlError, Write};
use tidewatch_limits as limits;

use super::teams::{check_members, check_name, team_of};
use crate::oncall::OnCall;
use crate::oncall::schedule::{Override, Schedule};
use crate::tables::{RowValues, is_targeted};

/// A schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OncallSchedule {
    /// Row id.
    pub id: i64,
    /// Its team.
    pub team: i64,
    /// Its name, unique in the organization.
    pub name: String,
    /// Its purpose; may be empty.
    pub description: String,
    /// IANA name.
    pub timezone: String,
    /// Layers, JSON.
    pub definition: String,
    /// In the order of creation.
    pub overrides: Vec<OncallOverride>,
    /// Nanoseconds since the epoch.
    pub created_ns: i64,
    /// Nanoseconds since the epoch.
    pub updated_ns: i64,
}

impl OncallSchedule {
    /// The schedule for evaluation; `None`: this release cannot read it.
    pub fn schedule(&self) -> Option<Schedule> {
        let definition = serde_json::from_str(&self.definition).ok()?;
        let overrides = self.overrides.iter();
        let overrides = overrides.map(|one| Override { user: one.user, start_ns: one.start_ns, end_ns: one.end_ns });
        Schedule::new(&self.timezone, &definition, overrides.collect()).ok()
    }
}

/// Somebody who is on call instead of those of the layers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OncallOverride {
    /// Row id.
    pub id: i64,
    /// The schedule.
    pub schedule: i64,
    /// The person who is on call.
    pub user: i64,
    /// Nanoseconds since the epoch.
    pub start_ns: i64,
    /// Nanoseconds since the epoch.
    pub end_ns: i64,
    /// User who created it; `None`: a deleted user.
    pub created_by: Option<i64>,
    /// Nanoseconds since the epoch.
    pub created_ns: i64,
}

/// The parts of a schedule that a user chooses. The caller has checked them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSchedule {
    /// Its team.
    pub team: i64,
    /// Its name.
    pub name: String,
    /// Its purpose.
    pub description: String,
    /// IANA name.
    pub timezone: String,
    /// Layers, JSON.
    pub definition: String,
    /// The people of the layers.
    pub users: Vec<i64>,
}

/// An override to be created. The caller has checked its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewOverride {
    /// The person who is on call.
    pub user: i64,
    /// Nanoseconds since the epoch.
    pub start_ns: i64,
    /// Nanoseconds since the epoch.
    pub end_ns: i64,
}

const NO_SCHEDULE: ControlError = ControlError::Missing("no such schedule");

type Columns = (i64, i64, String, String, String, String, i64, i64);
type OverrideColumns = (i64, i64, i64, i64, i64, Option<i64>, i64);

const SCHEDULES: &str = "SELECT id, team_id, name, description, timezone, definition, created_ns, updated_ns \
     FROM oncall_schedules WHERE organization_id = $1 ORDER BY name, id";
/// Without those of people who left the organization.
const OVERRIDES: &str = "SELECT o.id, o.schedule_id, o.user_id, o.start_ns, o.end_ns, o.created_by, o.created_ns \
     FROM oncall_overrides o JOIN oncall_schedules s ON s.id = o.schedule_id \
     JOIN memberships m ON m.organization_id = s.organization_id AND m.user_id = o.user_id \
     WHERE s.organization_id = $1 AND o.end_ns > $2 ORDER BY o.id";

impl OnCall {
    /// Returns the schedules of an organization by name, with the overrides that end after `since_ns`.
    pub async fn oncall_schedules(
        &self,
        organization: i64,
        since_ns: i64,
    ) -> Result<Vec<OncallSchedule>, ControlError> {
        let rows = sqlx::query_as(SCHEDULES).bind(organization).fetch_all(self.database.pool()).await?;
        let overrides =
            sqlx::query_as(OVERRIDES).bind(organization).bind(since_ns).fetch_all(self.database.pool()).await?;
        Ok(joined(rows, overrides))
    }

    /// Returns one schedule of an organization. [`ControlError::Missing`] if there is none.
    pub async fn oncall_schedule(
        &self,
        organization: i64,
        id: i64,
        since_ns: i64,
    ) -> Result<OncallSchedule, ControlError> {
        let all = self.oncall_schedules(organization, since_ns).await?;
        all.into_iter().find(|schedule| schedule.id == id).ok_or(NO_SCHEDULE)
    }

    /// Stores a new schedule, or changes one. Returns its id.
    pub async fn save_oncall_schedule(
        &self,
        actor: &Actor,
        organization: i64,
        id: Option<i64>,
        schedule: &NewSchedule,
    ) -> Result<i64, ControlError> {
        let NewSchedule { team, name, description, timezone, definition, users } = schedule;
        let mut write = self.database.write().await?;
        const NAMED: &str = "SELECT id FROM oncall_schedules WHERE organization_id = $1 AND name = $2";
        if let Some(id) = id {
            schedule_of(&mut write, organization, id).await?;
        }
        check_name(&mut write, NAMED, organization, id, name).await?;
        if team_of(&mut write, organization, *team).await.is_err() {
            return Err(ControlError::Unacceptable("the team is not of this organization"));
        }
        check_members(&mut write, organization, users).await?;
        let row = RowValues::of("oncall_schedules")
            .set("team_id", *team)
            .set("name", name)
            .set("description", description)
            .set("timezone", timezone)
            .set("definition", definition)
            .set("updated_ns", actor.at_ns);
        let id = match id {
            Some(id) => {
                row.update(&mut write, &[("id", id)]).await?;
                id
            }
            None => {
                let count: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM oncall_schedules WHERE organization_id = $1")
                    .bind(organization)
                    .fetch_one(write.on())
                    .await?;
                if count >= limits::ONCALL_SCHEDULES_MAX {
                    return Err(ControlError::TooMany("schedules"));
                }
                row.set("organization_id", organization).set("created_ns", actor.at_ns).insert(&mut write).await?
            }
        };
        let details = json!({ "name": name });
        write.audit(actor.did("oncall_schedule.save").on("schedule", id).within(organization).with(details)).await?;
        write.commit().await?;
        Ok(id)
    }

    /// Deletes a schedule with its overrides. Fails while a policy reaches it.
    pub async fn delete_oncall_schedule(&self, actor: &Actor, organization: i64, id: i64) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        schedule_of(&mut write, organization, id).await?;
        if is_targeted(&mut write, organization, "schedule", id).await? {
            return Err(ControlError::Unacceptable(
                "an escalation policy reaches this schedule; remove that step first",
            ));
        }
        sqlx::query("DELETE FROM oncall_schedules WHERE id = $1").bind(id).execute(write.on()).await?;
        write.audit(actor.did("oncall_schedule.delete").on("schedule", id).within(organization)).await?;
        write.commit().await
    }

    /// Creates an override. Returns its id. Ended ones of the schedule are deleted after a while.
    pub async fn add_oncall_override(
        &self,
        actor: &Actor,
        organization: i64,
        schedule: i64,
        new: NewOverride,
    ) -> Result<i64, ControlError> {
        let mut write = self.database.write().await?;
        schedule_of(&mut write, organization, schedule).await?;
        check_members(&mut write, organization, &[new.user]).await?;
        let oldest_ns = actor.at_ns.saturating_sub(2 * limits::ONCALL_TIMELINE_MAX.as_nanos() as i64);
        sqlx::query("DELETE FROM oncall_overrides WHERE schedule_id = $1 AND end_ns < $2")
            .bind(schedule)
            .bind(oldest_ns)
            .execute(write.on())
            .await?;
        let count: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM oncall_overrides WHERE schedule_id = $1")
            .bind(schedule)
            .fetch_one(write.on())
            .await?;
        if count >= limits::ONCALL_OVERRIDES_MAX {
            return Err(ControlError::TooMany("overrides of this schedule"));
        }
        let id: i64 = sqlx::query_scalar(
            "INSERT INTO oncall_overrides (schedule_id, user_id, start_ns, end_ns, created_by, created_ns) \
             VALUES ($1, $2, $3, $4, $5, $6) RETURNING id",
        )
        .bind(schedule)
        .bind(new.user)
        .bind(new.start_ns)
        .bind(new.end_ns)
        .bind(actor.user_id)
        .bind(actor.at_ns)
        .fetch_one(write.on())
        .await?;
        let details = json!({ "override": id, "user": new.user });
        write
            .audit(actor.did("oncall_override.create").on("schedule", schedule).within(organization).with(details))
            .await?;
        write.commit().await?;
        Ok(id)
    }

    /// Deletes an override: its creator, the person on call, or an admin.
    pub async fn delete_oncall_override(
        &self,
        actor: &Actor,
        organization: i64,
        schedule: i64,
        id: i64,
        is_admin: bool,
    ) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        schedule_of(&mut write, organization, schedule).await?;
        let found: Option<(i64, Option<i64>)> =
            sqlx::query_as("SELECT user_id, created_by FROM oncall_overrides WHERE id = $1 AND schedule_id = $2")
                .bind(id)
                .bind(schedule)
                .fetch_optional(write.on())
                .await?;
        let (user, created_by) = found.ok_or(ControlError::Missing("no such override"))?;
        if !is_admin && actor.user_id != Some(user) && (created_by.is_none() || actor.user_id != created_by) {
            return Err(ControlError::Forbidden(
                "an override is deleted by its creator, by who is on call, or by an admin",
            ));
        }
        sqlx::query("DELETE FROM oncall_overrides WHERE id = $1").bind(id).execute(write.on()).await?;
        let details = json!({ "override": id, "user": user });
        write
            .audit(actor.did("oncall_override.delete").on("schedule", schedule).within(organization).with(details))
            .await?;
        write.commit().await
    }
}

/// The schedules of an organization with the overrides at an instant, within a transaction.
pub(super) async fn schedules_at(
    write: &mut Write<'_>,
    organization: i64,
    now_ns: i64,
) -> Result<Vec<OncallSchedule>, ControlError> {
    let rows = sqlx::query_as(SCHEDULES).bind(organization).fetch_all(write.on()).await?;
    let overrides = sqlx::query_as(OVERRIDES).bind(organization).bind(now_ns).fetch_all(write.on()).await?;
    Ok(joined(rows, overrides))
}

/// Fails unless the organization has the schedule.
async fn schedule_of(write: &mut Write<'_>, organization: i64, id: i64) -> Result<(), ControlError> {
    let found: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM oncall_schedules WHERE id = $1 AND organization_id = $2")
        .bind(id)
        .bind(organization)
        .fetch_one(write.on())
        .await?;
    if found == 1 { Ok(()) } else { Err(NO_SCHEDULE) }
}

fn joined(rows: Vec<Columns>, overrides: Vec<OverrideColumns>) -> Vec<OncallSchedule> {
    let schedule = |(id, team, name, description, timezone, definition, created_ns, updated_ns): Columns| {
        let own = overrides.iter().filter(|one| one.1 == id);
        let own = own.map(|&(id, schedule, user, start_ns, end_ns, created_by, created_ns)| OncallOverride {
            id,
            schedule,
            user,
            start_ns,
            end_ns,
            created_by,
            created_ns,
        });
        let overrides = own.collect();
        OncallSchedule { id, team, name, description, timezone, definition, overrides, created_ns, updated_ns }
    };
    rows.into_iter().map(schedule).collect()
}
