//! Changes and deletions of monitors by users.

use tidewatch_accounts::{Actor, ControlError, Project};

use super::monitors::{NO_MONITOR, NewMonitor, SEALED_AS, audit, chosen};
use super::results::{read, settle};
use crate::monitors::Monitors;
use crate::monitors::standing::{MonitorStanding, MonitorState};

impl Monitors {
    /// Changes what a user chooses. The schedule begins again, and consecutive failures are counted from 0. The state
    /// stays, except that of a paused monitor, which is unknown: if it was down, its alert ends.
    pub async fn change_monitor(
        &self,
        actor: &Actor,
        project: &Project,
        id: i64,
        new: &NewMonitor,
    ) -> Result<(), ControlError> {
        let sealed = self.database.sealer().seal(SEALED_AS, &new.config.to_string())?;
        let mut write = self.database.write().await?;
        let before = read(&mut write, id).await?.filter(|row| row.project == i64::from(project.number));
        let before = before.ok_or(NO_MONITOR)?;
        if !new.is_enabled && before.enabled != 0 {
            let paused = MonitorStanding { state: MonitorState::Unknown, failures: 0, since_ns: actor.at_ns };
            settle(&mut write, &before, paused, "paused", "").await?;
        }
        let row = chosen(new, sealed, actor.at_ns).set("failures", 0i64).set("slot_ns", None::<i64>);
        row.update(&mut write, &[("id", id)]).await?;
        if new.is_enabled && before.enabled == 0 && new.period_seconds > 0 {
            // Nothing was reported while it was paused, which is not late.
            sqlx::query("UPDATE monitors SET ping_ns = NULL WHERE id = $1").bind(id).execute(write.on()).await?;
        }
        audit(&mut write, actor, "monitor.change", project, id, &new.name).await?;
        write.commit().await
    }

    /// Deletes a monitor with its results. If it was down, its alert ends.
    pub async fn delete_monitor(&self, actor: &Actor, project: &Project, id: i64) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        let row = read(&mut write, id).await?.filter(|row| row.project == i64::from(project.number));
        let row = row.ok_or(NO_MONITOR)?;
        let deleted = MonitorStanding { state: MonitorState::Unknown, failures: 0, since_ns: actor.at_ns };
        settle(&mut write, &row, deleted, "deleted", "").await?;
        sqlx::query("DELETE FROM monitors WHERE id = $1").bind(id).execute(write.on()).await?;
        audit(&mut write, actor, "monitor.delete", project, id, &row.name).await?;
        write.commit().await
    }
}
