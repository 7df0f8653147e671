//! Maintenance windows of status pages.

use serde_json::json;
use tidewatch_accounts::{Actor, ControlError};
use tidewatch_limits as limits;

use super::check_owner;
use super::database::StatusPages;
use crate::tables::RowValues;

/// Planned work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MaintenanceWindow {
    /// Row id; 0: not stored yet.
    pub id: i64,
    /// One line.
    pub title: String,
    /// Description of the work; plain, may have line breaks.
    pub description: String,
    /// Nanoseconds since the epoch.
    pub starts_ns: i64,
    /// After `starts_ns`.
    pub ends_ns: i64,
}

impl StatusPages {
    /// Returns the maintenance windows of a status page, latest first.
    pub async fn maintenance_windows(&self, page: i64) -> Result<Vec<MaintenanceWindow>, ControlError> {
        let rows: Vec<(i64, String, String, i64, i64)> = sqlx::query_as(
            "SELECT id, title, description, starts_ns, ends_ns FROM maintenance_windows WHERE page_id = $1 \
             ORDER BY starts_ns DESC, id DESC LIMIT $2",
        )
        .bind(page)
        .bind(limits::STATUS_MAINTENANCE_MAX)
        .fetch_all(self.database.pool())
        .await?;
        let window = |(id, title, description, starts_ns, ends_ns)| MaintenanceWindow {
            id,
            title,
            description,
            starts_ns,
            ends_ns,
        };
        Ok(rows.into_iter().map(window).collect())
    }

    /// Stores a maintenance window, or replaces the one of its id. Returns its row id. The earliest ended ones are
    /// deleted beyond [`limits::STATUS_MAINTENANCE_MAX`]; [`ControlError::TooMany`] if none has ended.
    pub async fn put_maintenance_window(
        &self,
        actor: &Actor,
        organization: i64,
        page: i64,
        window: &MaintenanceWindow,
    ) -> Result<i64, ControlError> {
        let MaintenanceWindow { id, title, description, starts_ns, ends_ns } = window;
        let mut write = self.database.write().await?;
        check_owner(&mut write, organization, page).await?;
        let row = RowValues::of("maintenance_windows")
            .set("title", title)
            .set("description", description)
            .set("starts_ns", *starts_ns)
            .set("ends_ns", *ends_ns);
        let id: i64 = if *id == 0 {
            sqlx::query(
                "DELETE FROM maintenance_windows WHERE page_id = $1 AND ends_ns < $2 AND id NOT IN \
                 (SELECT id FROM maintenance_windows WHERE page_id = $1 ORDER BY ends_ns DESC, id DESC LIMIT $3)",
            )
            .bind(page)
            .bind(actor.at_ns)
            .bind(limits::STATUS_MAINTENANCE_MAX - 1)
            .execute(write.on())
            .await?;
            let count: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM maintenance_windows WHERE page_id = $1")
                .bind(page)
                .fetch_one(write.on())
                .await?;
            if count >= limits::STATUS_MAINTENANCE_MAX {
                return Err(ControlError::TooMany("maintenance windows"));
            }
            row.set("page_id", page).insert(&mut write).await?
        } else {
            if row.update(&mut write, &[("id", *id), ("page_id", page)]).await? == 0 {
                return Err(NO_WINDOW);
            }
            *id
        };
        let entry = actor.did("maintenance.plan").on("status_page", page).within(organization);
        write.audit(entry.with(json!({ "window": id, "title": title }))).await?;
        write.commit().await?;
        Ok(id)
    }

    /// Deletes a maintenance window. [`ControlError::Missing`] if the page has none of this id.
    pub async fn delete_maintenance_window(
        &self,
        actor: &Actor,
        organization: i64,
        page: i64,
        id: i64,
    ) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        check_owner(&mut write, organization, page).await?;
        let deleted = sqlx::query("DELETE FROM maintenance_windows WHERE id = $1 AND page_id = $2")
            .bind(id)
            .bind(page)
            .execute(write.on())
            .await?
            .rows_affected();
        if deleted == 0 {
            return Err(NO_WINDOW);
        }
        let entry = actor.did("maintenance.delete").on("status_page", page).within(organization);
        write.audit(entry.with(json!({ "window": id }))).await?;
        write.commit().await
    }
}

const NO_WINDOW: ControlError = ControlError::Missing("no such maintenance window");
