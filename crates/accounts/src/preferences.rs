//! Triage decisions of users: archived Issues and known slow Endpoints of a project.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::audit::{Actor, Entry};
use super::{Control, ControlError, Project};

/// An Endpoint that is known to be slow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlowEndpoint {
    /// Latency that the ranking tolerates in addition, milliseconds.
    pub offset_ms: i64,
    /// Why it is slow; may be empty.
    pub reason: String,
}

impl Control {
    /// Archives Issues by their hashes; archiving again updates the time. Returns the number of hashes.
    pub async fn archive(&self, actor: &Actor, project: &Project, hashes: &[u64]) -> Result<usize, ControlError> {
        let (number, now_ns) = (i64::from(project.number), actor.at_ns);
        let mut write = self.write().await?;
        for hash in hashes {
            sqlx::query(
                "INSERT INTO archived_exceptions (project, hash, archived_ns) VALUES ($1, $2, $3) \
                 ON CONFLICT (project, hash) DO UPDATE SET archived_ns = excluded.archived_ns",
            )
            .bind(number)
            .bind(format!("{hash:016x}"))
            .bind(now_ns)
            .execute(write.on())
            .await?;
        }
        write.audit(about(actor.did("issue.archive"), project).with(named(hashes))).await?;
        write.commit().await?;
        Ok(hashes.len())
    }

    /// Removes Issues from the archive. Returns the number of those that were archived.
    pub async fn unarchive(&self, actor: &Actor, project: &Project, hashes: &[u64]) -> Result<usize, ControlError> {
        let mut write = self.write().await?;
        let mut count = 0;
        for hash in hashes {
            let deleted = sqlx::query("DELETE FROM archived_exceptions WHERE project = $1 AND hash = $2")
                .bind(i64::from(project.number))
                .bind(format!("{hash:016x}"))
                .execute(write.on())
                .await?;
            count += deleted.rows_affected() as usize;
        }
        write.audit(about(actor.did("issue.unarchive"), project).with(named(hashes))).await?;
        write.commit().await?;
        Ok(count)
    }

    /// Returns the archived Issues of a project: hash -> time of archiving, nanoseconds since the epoch.
    pub async fn archived(&self, project: u32) -> Result<HashMap<u64, i64>, ControlError> {
        let rows: Vec<(String, i64)> =
            sqlx::query_as("SELECT hash, archived_ns FROM archived_exceptions WHERE project = $1")
                .bind(i64::from(project))
                .fetch_all(self.pool())
                .await?;
        let known = |(hash, at_ns): (String, i64)| Some((u64::from_str_radix(&hash, 16).ok()?, at_ns));
        Ok(rows.into_iter().filter_map(known).collect())
    }

    /// Returns the entry of an Endpoint; `None` if it is not marked as slow.
    pub async fn slow_endpoint(&self, project: u32, endpoint: &str) -> Result<Option<SlowEndpoint>, ControlError> {
        let found: Option<(i64, String)> =
            sqlx::query_as("SELECT offset_ms, reason FROM slow_endpoints WHERE project = $1 AND endpoint = $2")
                .bind(i64::from(project))
                .bind(endpoint)
                .fetch_optional(self.pool())
                .await?;
        Ok(found.map(|(offset_ms, reason)| SlowEndpoint { offset_ms, reason }))
    }

    /// Returns the slow Endpoints of a project by name.
    pub async fn slow_endpoints(&self, project: u32) -> Result<HashMap<String, SlowEndpoint>, ControlError> {
        let rows: Vec<(String, i64, String)> =
            sqlx::query_as("SELECT endpoint, offset_ms, reason FROM slow_endpoints WHERE project = $1")
                .bind(i64::from(project))
                .fetch_all(self.pool())
                .await?;
        Ok(rows.into_iter().map(|(name, offset_ms, reason)| (name, SlowEndpoint { offset_ms, reason })).collect())
    }

    /// Marks an Endpoint as slow. An offset of 0 without a reason removes the mark.
    pub async fn set_slow_endpoint(
        &self,
        actor: &Actor,
        project: &Project,
        endpoint: &str,
        slow: &SlowEndpoint,
    ) -> Result<(), ControlError> {
        let mut write = self.write().await?;
        if slow.offset_ms == 0 && slow.reason.is_empty() {
            sqlx::query("DELETE FROM slow_endpoints WHERE project = $1 AND endpoint = $2")
                .bind(i64::from(project.number))
                .bind(endpoint)
                .execute(write.on())
                .await?;
        } else {
            sqlx::query(
                "INSERT INTO slow_endpoints (project, endpoint, offset_ms, reason) VALUES ($1, $2, $3, $4) \
                 ON CONFLICT (project, endpoint) DO UPDATE SET offset_ms = excluded.offset_ms, reason = excluded.reason",
            )
            .bind(i64::from(project.number))
            .bind(endpoint)
            .bind(slow.offset_ms)
            .bind(&slow.reason)
            .execute(write.on())
            .await?;
        }
        let details = json!({ "endpoint": endpoint, "offsetMs": slow.offset_ms, "reason": slow.reason });
        write.audit(about(actor.did("endpoint.mark_slow"), project).with(details)).await?;
        write.commit().await
    }
}

fn about<'a>(entry: Entry<'a>, project: &Project) -> Entry<'a> {
    entry.on("project", project.id).within(project.organization_id)
}

/// The number of hashes and the first 20.
fn named(hashes: &[u64]) -> Value {
    const NAMED_MAX: usize = 20;
    let named: Vec<String> = hashes.iter().take(NAMED_MAX).map(|hash| format!("{hash:016x}")).collect();
    json!({ "count": hashes.len(), "hashes": named })
}
