//! Incidents and their reads.

use tidewatch_accounts::ControlError;
use tidewatch_limits as limits;

use super::incident::{GroupedAlert, Incident, IncidentUpdate};
use super::rows::{self, AlertColumns, COLUMNS, Columns, UpdateColumns};
use crate::incidents::Incidents;

/// A post-mortem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostMortem {
    /// Markdown.
    pub body: String,
    /// Whether the status pages of the incident show it.
    pub is_published: bool,
    /// E-mail address of the last author.
    pub author: String,
    /// Time of the latest change.
    pub updated_ns: i64,
}

/// Which incidents are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IncidentFilter {
    /// Only open ones, or only resolved ones.
    pub is_open: Option<bool>,
    /// Only those with a lower id: the next page.
    pub before: Option<i64>,
}

pub(super) const NO_INCIDENT: ControlError = ControlError::Missing("no such incident");

impl Incidents {
    /// Returns the incidents of an organization, latest first, at most [`limits::INCIDENTS_LISTED_MAX`].
    pub async fn incidents(&self, organization: i64, filter: IncidentFilter) -> Result<Vec<Incident>, ControlError> {
        let condition = match filter.is_open {
            None => "",
            Some(true) => " AND resolved_ns IS NULL",
            Some(false) => " AND resolved_ns IS NOT NULL",
        };
        let statement = format!(
            "SELECT {COLUMNS} FROM incidents WHERE organization_id = $1 AND id < $2{condition} ORDER BY id DESC LIMIT $3"
        );
        let rows: Vec<Columns> = sqlx::query_as(sqlx::AssertSqlSafe(statement))
            .bind(organization)
            .bind(filter.before.unwrap_or(i64::MAX))
            .bind(limits::INCIDENTS_LISTED_MAX)
            .fetch_all(self.database.pool())
            .await?;
        rows.into_iter().map(rows::incident).collect()
    }

    /// Returns an incident of an organization. [`ControlError::Missing`] if it has none of this id.
    pub async fn incident(&self, organization: i64, id: i64) -> Result<Incident, ControlError> {
        let statement = format!("SELECT {COLUMNS} FROM incidents WHERE organization_id = $1 AND id = $2");
        let row: Option<Columns> = sqlx::query_as(sqlx::AssertSqlSafe(statement))
            .bind(organization)
            .bind(id)
            .fetch_optional(self.database.pool())
            .await?;
        rows::incident(row.ok_or(NO_INCIDENT)?)
    }

    /// Returns the updates of an incident, earliest first.
    pub async fn incident_updates(&self, id: i64) -> Result<Vec<IncidentUpdate>, ControlError> {
        let rows: Vec<UpdateColumns> = sqlx::query_as(
            "SELECT status, message, author, created_ns FROM incident_updates WHERE incident_id = $1 ORDER BY id",
        )
        .bind(id)
        .fetch_all(self.database.pool())
        .await?;
        rows.into_iter().map(rows::update).collect()
    }

    /// Returns the alerts of an incident, earliest first.
    pub async fn incident_alerts(&self, id: i64) -> Result<Vec<GroupedAlert>, ControlError> {
        let rows: Vec<AlertColumns> = sqlx::query_as(
            "SELECT alert_key, rule_type, severity, subject, path, fired_ns, resolved_ns FROM incident_alerts \
             WHERE incident_id = $1 ORDER BY fired_ns, id",
        )
        .bind(id)
        .fetch_all(self.database.pool())
        .await?;
        rows.into_iter().map(rows::alert).collect()
    }

    /// Returns the ids of the status pages that show an incident, ascending.
    pub async fn incident_pages(&self, id: i64) -> Result<Vec<i64>, ControlError> {
        Ok(sqlx::query_scalar("SELECT page_id FROM incident_pages WHERE incident_id = $1 ORDER BY page_id")
            .bind(id)
            .fetch_all(self.database.pool())
            .await?)
    }

    /// Returns the post-mortem of an incident.
    pub async fn post_mortem(&self, id: i64) -> Result<Option<PostMortem>, ControlError> {
        let row: Option<(String, i64, String, i64)> =
            sqlx::query_as("SELECT body, published, author, updated_ns FROM post_mortems WHERE incident_id = $1")
                .bind(id)
                .fetch_optional(self.database.pool())
                .await?;
        let post_mortem = |(body, published, author, updated_ns)| PostMortem {
            body,
            is_published: published != 0,
            author,
            updated_ns,
        };
        Ok(row.map(post_mortem))
    }

    /// Returns the incidents of an organization that have a post-mortem, with it, latest first.
    pub async fn post_mortems(&self, organization: i64) -> Result<Vec<(Incident, PostMortem)>, ControlError> {
        let ids: Vec<i64> = sqlx::query_scalar(
            "SELECT i.id FROM incidents i JOIN post_mortems p ON p.incident_id = i.id WHERE i.organization_id = $1 \
             ORDER BY i.id DESC LIMIT $2",
        )
        .bind(organization)
        .bind(limits::INCIDENTS_LISTED_MAX)
        .fetch_all(self.database.pool())
        .await?;
        let mut found = Vec::new();
        for id in ids {
            if let (Ok(incident), Some(post_mortem)) =
                (self.incident(organization, id).await, self.post_mortem(id).await?)
            {
                found.push((incident, post_mortem));
            }
        }
        Ok(found)
    }
}
