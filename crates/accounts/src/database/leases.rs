//! Leases: which node does a piece of work that one node at a time may do.

use super::seam::{Database, Write};
use crate::ControlError;

impl Database {
    /// Takes the lease `name` until `until_ns`, or extends it. `false`: another holder has it at `now_ns`.
    pub async fn take_lease(&self, name: &str, holder: &str, now_ns: i64, until_ns: i64) -> Result<bool, ControlError> {
        let mut write = self.write().await?;
        let current: Option<(String, i64)> = sqlx::query_as("SELECT holder, until_ns FROM leases WHERE name = $1")
            .bind(name)
            .fetch_optional(write.on())
            .await?;
        if current.is_some_and(|(other, until_ns)| other != holder && until_ns > now_ns) {
            return Ok(false);
        }
        sqlx::query(
            "INSERT INTO leases (name, holder, until_ns) VALUES ($1, $2, $3) \
             ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until_ns = excluded.until_ns",
        )
        .bind(name)
        .bind(holder)
        .bind(until_ns)
        .execute(write.on())
        .await?;
        write.commit().await?;
        Ok(true)
    }

    /// Time until which a lease was taken last, nanoseconds since the epoch.
    pub async fn lease_until(&self, name: &str) -> Result<Option<i64>, ControlError> {
        let until = sqlx::query_scalar("SELECT until_ns FROM leases WHERE name = $1").bind(name);
        Ok(until.fetch_optional(self.pool()).await?)
    }

    /// Ends a lease early.
    pub async fn release_lease(&self, name: &str, holder: &str) -> Result<(), ControlError> {
        let mut write = self.write().await?;
        sqlx::query("DELETE FROM leases WHERE name = $1 AND holder = $2")
            .bind(name)
            .bind(holder)
            .execute(write.on())
            .await?;
        write.commit().await
    }
}

impl Write<'_> {
    /// Whether `holder` has the lease. A transaction that depends on the lease checks it first: another node cannot
    /// take it before the commit, because there is one writer at a time.
    pub async fn has_lease(&mut self, name: &str, holder: &str) -> Result<bool, ControlError> {
        let count: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM leases WHERE name = $1 AND holder = $2")
            .bind(name)
            .bind(holder)
            .fetch_one(self.on())
            .await?;
        Ok(count == 1)
    }
}
