//! Known slow Endpoints of a project.

use std::collections::HashMap;

use serde_json::json;

use super::Projects;
use crate::{Actor, ControlError, Project};

/// An Endpoint that is known to be slow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlowEndpoint {
    /// Latency that the ranking tolerates in addition, milliseconds.
    pub offset_ms: i64,
    /// Reason for marking it as slow; may be empty.
    pub reason: String,
}

impl Projects {
    /// Returns the entry of an Endpoint; `None` if it is not marked as slow.
    pub async fn slow_endpoint(&self, project: u32, endpoint: &str) -> Result<Option<SlowEndpoint>, ControlError> {
        let found: Option<(i64, String)> =
            sqlx::query_as("SELECT offset_ms, reason FROM slow_endpoints WHERE project = $1 AND endpoint = $2")
                .bind(i64::from(project))
                .bind(endpoint)
                .fetch_optional(self.database.pool())
                .await?;
        Ok(found.map(|(offset_ms, reason)| SlowEndpoint { offset_ms, reason }))
    }

    /// Returns the slow Endpoints of a project by name.
    pub async fn slow_endpoints(&self, project: u32) -> Result<HashMap<String, SlowEndpoint>, ControlError> {
        let rows: Vec<(String, i64, String)> =
            sqlx::query_as("SELECT endpoint, offset_ms, reason FROM slow_endpoints WHERE project = $1")
                .bind(i64::from(project))
                .fetch_all(self.database.pool())
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
        let mut write = self.database.write().await?;
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
        write.audit(actor.did("endpoint.mark_slow").on_project(project).with(details)).await?;
        write.commit().await
    }
}
