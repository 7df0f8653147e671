//! Changes of incidents by people: opening them, updates, status pages, post-mortems.

use serde_json::json;
use tidewatch_accounts::{Actor, ControlError, Write};
use tidewatch_limits as limits;

use super::announce::{Announcer, announce};
use super::{Incident, IncidentStatus, IncidentUpdate, NO_INCIDENT};
use crate::channels::Severity;
use crate::incidents::Incidents;

/// An incident that a person opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewIncident {
    /// Number of the project; `None`: of the organization.
    pub project: Option<u32>,
    /// One line.
    pub title: String,
    /// Severity of the incident.
    pub severity: Severity,
    /// The first status.
    pub status: IncidentStatus,
    /// The first update.
    pub message: String,
    /// The status pages that show it.
    pub pages: Vec<i64>,
}

/// The change of an incident; `None` keeps the value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IncidentChange {
    /// The new title.
    pub title: Option<String>,
    /// The new severity.
    pub severity: Option<Severity>,
    /// The status pages that show it.
    pub pages: Option<Vec<i64>>,
}

const NO_PAGE: ControlError = ControlError::Missing("no such status page");
const ENDED: ControlError = ControlError::Conflict("the incident is resolved already");

impl Incidents {
    /// Opens an incident. Returns its row id. [`ControlError::TooMany`] beyond [`limits::INCIDENTS_OPEN_MAX`];
    /// [`ControlError::Missing`] for a status page of another organization.
    pub async fn open_incident(
        &self,
        actor: &Actor,
        announcer: &Announcer,
        organization: i64,
        new: &NewIncident,
    ) -> Result<i64, ControlError> {
        let mut write = self.database.write().await?;
        let open: i64 =
            sqlx::query_scalar("SELECT COUNT(*) FROM incidents WHERE organization_id = $1 AND resolved_ns IS NULL")
                .bind(organization)
                .fetch_one(write.on())
                .await?;
        if open >= limits::INCIDENTS_OPEN_MAX as i64 {
            return Err(ControlError::TooMany("open incidents"));
        }
        let id: i64 = sqlx::query_scalar(
            "INSERT INTO incidents (organization_id, project, title, severity, status, automatic, started_ns, \
             last_alert_ns, updated_ns) VALUES ($1, $2, $3, $4, $5, 0, $6, $6, $6) RETURNING id",
        )
        .bind(organization)
        .bind(new.project.map(i64::from))
        .bind(&new.title)
        .bind(new.severity.name())
        .bind(new.status.name())
        .bind(actor.at_ns)
        .fetch_one(write.on())
        .await?;
        set_pages(&mut write, organization, id, &new.pages).await?;
        add_update(&mut write, announcer, id, &update_by(actor, new.status, &new.message)).await?;
        let details = json!({ "title": new.title, "severity": new.severity.name() });
        write.audit(actor.did("incident.open").on("incident", id).within(organization).with(details)).await?;
        write.commit().await?;
        Ok(id)
    }

    /// Changes title, severity and status pages of an incident.
    pub async fn change_incident(
        &self,
        actor: &Actor,
        organization: i64,
        id: i64,
        change: &IncidentChange,
    ) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        status_of(&mut write, organization, id).await?;
        sqlx::query(
            "UPDATE incidents SET title = COALESCE($2, title), severity = COALESCE($3, severity), updated_ns = $4 \
             WHERE id = $1",
        )
        .bind(id)
        .bind(change.title.as_deref())
        .bind(change.severity.map(Severity::name))
        .bind(actor.at_ns)
        .execute(write.on())
        .await?;
        if let Some(pages) = &change.pages {
            set_pages(&mut write, organization, id, pages).await?;
        }
        let details = json!({ "title": change.title, "pages": change.pages });
        write.audit(actor.did("incident.change").on("incident", id).within(organization).with(details)).await?;
        write.commit().await
    }

    /// Adds an update, which sets the status. [`ControlError::Conflict`] if the incident is resolved and the update
    /// resolves it; [`ControlError::TooMany`] beyond [`limits::INCIDENT_UPDATES_MAX`].
    pub async fn update_incident(
        &self,
        actor: &Actor,
        announcer: &Announcer,
        organization: i64,
        id: i64,
        status: IncidentStatus,
        message: &str,
    ) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        let known = status_of(&mut write, organization, id).await?;
        if !known.may_become(status) {
            return Err(ENDED);
        }
        if known == IncidentStatus::Resolved {
            // A person has opened it again, so a person ends it.
            sqlx::query("UPDATE incidents SET automatic = 0 WHERE id = $1").bind(id).execute(write.on()).await?;
        }
        let count: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM incident_updates WHERE incident_id = $1")
            .bind(id)
            .fetch_one(write.on())
            .await?;
        // The last one is left for the resolution.
        let most = limits::INCIDENT_UPDATES_MAX - i64::from(status != IncidentStatus::Resolved);
        if count >= most {
            return Err(ControlError::TooMany("updates of this incident"));
        }
        add_update(&mut write, announcer, id, &update_by(actor, status, message)).await?;
        let details = json!({ "status": status.name() });
        write.audit(actor.did("incident.update").on("incident", id).within(organization).with(details)).await?;
        write.commit().await
    }

    /// Stores the post-mortem of an incident.
    pub async fn write_post_mortem(
        &self,
        actor: &Actor,
        incident: &Incident,
        body: &str,
        is_published: bool,
    ) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        status_of(&mut write, incident.organization, incident.id).await?;
        sqlx::query(
            "INSERT INTO post_mortems (incident_id, body, published, author, updated_ns) VALUES ($1, $2, $3, $4, $5) \
             ON CONFLICT (incident_id) DO UPDATE SET body = excluded.body, published = excluded.published, \
             author = excluded.author, updated_ns = excluded.updated_ns",
        )
        .bind(incident.id)
        .bind(body)
        .bind(i64::from(is_published))
        .bind(&actor.name)
        .bind(actor.at_ns)
        .execute(write.on())
        .await?;
        let entry = actor.did("post_mortem.write").on("incident", incident.id).within(incident.organization);
        write.audit(entry.with(json!({ "published": is_published }))).await?;
        write.commit().await
    }

    /// Deletes the post-mortem of an incident. [`ControlError::Missing`] if it has none.
    pub async fn delete_post_mortem(&self, actor: &Actor, incident: &Incident) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        let deleted = sqlx::query("DELETE FROM post_mortems WHERE incident_id = $1")
            .bind(incident.id)
            .execute(write.on())
            .await?
            .rows_affected();
        if deleted == 0 {
            return Err(ControlError::Missing("the incident has no post-mortem"));
        }
        write.audit(actor.did("post_mortem.delete").on("incident", incident.id).within(incident.organization)).await?;
        write.commit().await
    }
}

fn update_by(actor: &Actor, status: IncidentStatus, message: &str) -> IncidentUpdate {
    IncidentUpdate { status, message: message.to_owned(), author: actor.name.clone(), at_ns: actor.at_ns }
}

async fn status_of(write: &mut Write<'_>, organization: i64, id: i64) -> Result<IncidentStatus, ControlError> {
    let status: Option<String> =
        sqlx::query_scalar("SELECT status FROM incidents WHERE organization_id = $1 AND id = $2")
            .bind(organization)
            .bind(id)
            .fetch_optional(write.on())
            .await?;
    IncidentStatus::of_name(&status.ok_or(NO_INCIDENT)?).ok_or(ControlError::Unreadable("an incident"))
}

/// Stores an update with its status, and announces it to the subscribers of the incident's status pages.
pub(super) async fn add_update(
    write: &mut Write<'_>,
    announcer: &Announcer,
    incident: i64,
    update: &IncidentUpdate,
) -> Result<(), ControlError> {
    sqlx::query(
        "INSERT INTO incident_updates (incident_id, status, message, author, created_ns) VALUES ($1, $2, $3, $4, $5)",
    )
    .bind(incident)
    .bind(update.status.name())
    .bind(&update.message)
    .bind(&update.author)
    .bind(update.at_ns)
    .execute(write.on())
    .await?;
    let resolved_ns = (update.status == IncidentStatus::Resolved).then_some(update.at_ns);
    sqlx::query("UPDATE incidents SET status = $2, resolved_ns = $3, updated_ns = $4 WHERE id = $1")
        .bind(incident)
        .bind(update.status.name())
        .bind(resolved_ns)
        .bind(update.at_ns)
        .execute(write.on())
        .await?;
    announce(write, announcer, incident, update).await
}

async fn set_pages(write: &mut Write<'_>, organization: i64, id: i64, pages: &[i64]) -> Result<(), ControlError> {
    sqlx::query("DELETE FROM incident_pages WHERE incident_id = $1").bind(id).execute(write.on()).await?;
    for page in pages {
        let added = sqlx::query(
            "INSERT INTO incident_pages (incident_id, page_id) \
             SELECT CAST($1 AS BIGINT), id FROM status_pages WHERE id = $2 AND organization_id = $3 \
             ON CONFLICT (page_id, incident_id) DO NOTHING",
        )
        .bind(id)
        .bind(*page)
        .bind(organization)
        .execute(write.on())
        .await?
        .rows_affected();
        if added == 0 {
            return Err(NO_PAGE);
        }
    }
    Ok(())
}
