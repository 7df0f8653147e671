//! Copies of the control database for backups, and SQLite's own check of one.

use std::path::Path;

use sqlx::Row;

use super::db::{Database, Engine, Location};
use super::{Control, ControlError};

impl Control {
    /// Writes a copy as of this moment to a new file. False, and nothing written, when the database is PostgreSQL.
    pub async fn copy_to(&self, to: &Path) -> Result<bool, ControlError> {
        copy(&self.database, to).await
    }
}

/// The same of a database that need not be open.
pub async fn copy_database(location: &Location, to: &Path) -> Result<bool, ControlError> {
    if location.engine == Engine::Postgres {
        return Ok(false);
    }
    let database = Database::connect(location).await?;
    let copied = copy(&database, to).await;
    database.close().await;
    copied
}

async fn copy(database: &Database, to: &Path) -> Result<bool, ControlError> {
    if database.engine == Engine::Postgres {
        return Ok(false);
    }
    sqlx::query("VACUUM INTO $1").bind(to.to_string_lossy().into_owned()).execute(&database.pool).await?;
    Ok(true)
}

/// What SQLite finds wrong with a file; empty: nothing. The file is written to. Blocks; not for async threads.
pub fn integrity(file: &Path) -> anyhow::Result<Vec<String>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let database = Database::connect(&Location::file(file)).await?;
        let rows = sqlx::query("PRAGMA integrity_check").fetch_all(&database.pool).await;
        database.close().await;
        let lines: Vec<String> = rows?.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
        Ok(lines.into_iter().filter(|line| line != "ok").collect())
    })
}
