//! Copies of the control database for backups, and queries on a database file that is not in use.

use std::path::Path;

use sqlx::sqlite::{SqliteConnectOptions, SqliteRow};
use sqlx::{Connection, Row, SqliteConnection};
use uuid::Uuid;

use super::connections::{Connections, Engine, Location};
use super::seam::Database;
use crate::ControlError;

impl Database {
    /// Writes a consistent copy to a new file. Returns false, and writes nothing, when the database is PostgreSQL.
    pub async fn copy_to(&self, to: &Path) -> Result<bool, ControlError> {
        copy(self.connections(), to).await
    }
}

/// Like [`Database::copy_to`], for a database that is not open.
pub async fn copy_database(location: &Location, to: &Path) -> Result<bool, ControlError> {
    if location.engine == Engine::Postgres {
        return Ok(false);
    }
    let database = Connections::connect(location).await?;
    let copied = copy(&database, to).await;
    database.close().await;
    copied
}

async fn copy(database: &Connections, to: &Path) -> Result<bool, ControlError> {
    if database.engine == Engine::Postgres {
        return Ok(false);
    }
    sqlx::query("VACUUM INTO $1").bind(to.to_string_lossy().into_owned()).execute(&database.pool).await?;
    Ok(true)
}

/// Runs SQLite's integrity check on a file. Returns its findings; empty if there are none. May write to the file.
/// Blocks; not for async threads.
pub fn integrity(file: &Path) -> anyhow::Result<Vec<String>> {
    blocking(async {
        let database = Connections::connect(&Location::file(file)).await?;
        let rows = sqlx::query("PRAGMA integrity_check").fetch_all(&database.pool).await;
        database.close().await;
        let lines: Vec<String> = rows?.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
        Ok(lines.into_iter().filter(|line| line != "ok").collect())
    })
}

/// Returns whether an SQLite file has, or ever had, an account; false without a file. Writes nothing. Blocks; not for
/// async threads.
pub fn has_had_accounts(file: &Path) -> anyhow::Result<bool> {
    if !file.exists() {
        return Ok(false);
    }
    blocking(async {
        // A read-only connection does not checkpoint the WAL when it closes.
        let options = SqliteConnectOptions::new().filename(file).read_only(true);
        let mut connection = SqliteConnection::connect_with(&options).await?;
        let mut found = false;
        for (table, any_row) in
            [("users", "SELECT EXISTS (SELECT 1 FROM users)"), ("audit_log", "SELECT EXISTS (SELECT 1 FROM audit_log)")]
        {
            let any_table = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = $1)";
            found |= sqlx::query_scalar(any_table).bind(table).fetch_one(&mut connection).await?
                && sqlx::query_scalar(any_row).fetch_one(&mut connection).await?;
        }
        connection.close().await?;
        Ok(found)
    })
}

/// Returns number and id of each project in a copy of the database, ascending by number. May write to the file. Blocks;
/// not for async threads.
pub fn projects_in(copy: &Path) -> anyhow::Result<Vec<(u32, Uuid)>> {
    blocking(async {
        let options = SqliteConnectOptions::new().filename(copy);
        let mut connection = SqliteConnection::connect_with(&options).await?;
        let rows = sqlx::query("SELECT number, id FROM projects ORDER BY number").fetch_all(&mut connection).await;
        connection.close().await?;
        let project = |row: &SqliteRow| -> anyhow::Result<(u32, Uuid)> {
            let (number, id) = (row.try_get::<i64, _>(0)?, row.try_get::<String, _>(1)?);
            Ok((u32::try_from(number)?, Uuid::try_parse(&id)?))
        };
        rows?.iter().map(project).collect()
    })
}

fn blocking<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work)
}
