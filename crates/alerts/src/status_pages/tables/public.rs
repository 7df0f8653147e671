//! Reads for visitors of status pages.

use tidewatch_accounts::ControlError;
use tidewatch_limits as limits;

use super::database::StatusPages;
use crate::incidents::{Incident, IncidentUpdate, Incidents};

/// At which address a status page is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageAddress {
    /// Row id.
    pub id: i64,
    /// The last part of its path.
    pub slug: String,
    /// The host at whose root it is shown.
    pub custom_domain: Option<String>,
}

/// An incident on a status page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicIncident {
    /// The incident.
    pub incident: Incident,
    /// Its updates, earliest first.
    pub updates: Vec<IncidentUpdate>,
    /// Its published post-mortem, Markdown.
    pub post_mortem: Option<String>,
}

/// A time in which a monitor was down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outage {
    /// Row id of the monitor.
    pub check_id: i64,
    /// Nanoseconds since the epoch.
    pub started_ns: i64,
    /// `None`: it is down.
    pub resolved_ns: Option<i64>,
}

/// The beginning of the alert keys of monitors; the row id follows.
const MONITOR_KEY: &str = "monitor:";

impl StatusPages {
    /// Returns the addresses of all public status pages.
    pub async fn status_page_addresses(&self) -> Result<Vec<PageAddress>, ControlError> {
        let rows: Vec<(i64, String, Option<String>)> =
            sqlx::query_as("SELECT id, slug, custom_domain FROM status_pages WHERE public = 1 ORDER BY id")
                .fetch_all(self.database.pool())
                .await?;
        Ok(rows.into_iter().map(|(id, slug, custom_domain)| PageAddress { id, slug, custom_domain }).collect())
    }

    /// Returns the incidents that a status page shows and that were open at or after `from_ns`, latest first, at most
    /// [`limits::STATUS_INCIDENTS_MAX`].
    pub async fn public_incidents(
        &self,
        organization: i64,
        page: i64,
        from_ns: i64,
    ) -> Result<Vec<PublicIncident>, ControlError> {
        let ids: Vec<i64> = sqlx::query_scalar(
            "SELECT i.id FROM incidents i JOIN incident_pages s ON s.incident_id = i.id WHERE s.page_id = $1 \
             AND (i.resolved_ns IS NULL OR i.resolved_ns >= $2) ORDER BY i.started_ns DESC, i.id DESC LIMIT $3",
        )
        .bind(page)
        .bind(from_ns)
        .bind(limits::STATUS_INCIDENTS_MAX)
        .fetch_all(self.database.pool())
        .await?;
        let incidents_of = Incidents::new(&self.database);
        let mut incidents = Vec::with_capacity(ids.len());
        for id in ids {
            // An incident that was deleted meanwhile is left out.
            let incident = match incidents_of.incident(organization, id).await {
                Ok(incident) => incident,
                Err(ControlError::Missing(_)) => continue,
                Err(error) => return Err(error),
            };
            let post_mortem = incidents_of.post_mortem(id).await?.filter(|one| one.is_published).map(|one| one.body);
            incidents.push(PublicIncident { incident, updates: incidents_of.incident_updates(id).await?, post_mortem });
        }
        Ok(incidents)
    }

    /// Returns the outages of the monitors of an organization that were not over at `from_ns`, latest first, at most
    /// [`limits::STATUS_OUTAGES_MAX`].
    pub async fn outages(&self, organization: i64, from_ns: i64) -> Result<Vec<Outage>, ControlError> {
        let rows: Vec<(String, i64, Option<i64>)> = sqlx::query_as(
            "SELECT a.alert_key, a.fired_ns, a.resolved_ns FROM incident_alerts a JOIN incidents i ON i.id = a.incident_id \
             WHERE i.organization_id = $1 AND a.alert_key LIKE $2 AND (a.resolved_ns IS NULL OR a.resolved_ns >= $3) \
             ORDER BY a.fired_ns DESC, a.id DESC LIMIT $4",
        )
        .bind(organization)
        .bind(format!("{MONITOR_KEY}%"))
        .bind(from_ns)
        .bind(limits::STATUS_OUTAGES_MAX)
        .fetch_all(self.database.pool())
        .await?;
        let outage = |(key, started_ns, resolved_ns): (String, i64, Option<i64>)| {
            let check_id = key.strip_prefix(MONITOR_KEY)?.parse().ok()?;
            Some(Outage { check_id, started_ns, resolved_ns })
        };
        Ok(rows.into_iter().filter_map(outage).collect())
    }
}
