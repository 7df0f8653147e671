//! Connections to SQLite or PostgreSQL, and the lock of the single writer.
//!
//! Both engines run the same statements (`docs/decisions/0006-control-database.md`). There is one writer at a time in
//! the whole installation, so transactions are serial and a test of a rule on one engine holds on the other.

use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::any::AnyPoolOptions;
use sqlx::{Any, AnyPool, Connection, Executor, Transaction};
use tidewatch_journal::sqlite_wal;

use crate::ControlError;
use tidewatch_limits as limits;

/// A database engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// A file, for one node.
    Sqlite,
    /// A server, for one or more nodes.
    Postgres,
}

/// The address of the control database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// Its engine.
    pub engine: Engine,
    /// May contain a password: never logged.
    url: String,
    /// The file; SQLite only.
    file: Option<PathBuf>,
}

/// Takes PostgreSQL's advisory lock of the writer; the same on every node.
const WRITER: &str = "SELECT pg_advisory_xact_lock(7308901741)";

impl Location {
    /// An SQLite file, created when missing.
    pub fn file(path: &Path) -> Location {
        let file = Some(path.to_owned());
        // Characters with a meaning in URLs are escaped.
        let path: String = path
            .to_string_lossy()
            .chars()
            .map(|c| match c {
                '%' | '?' | '#' => format!("%{:02X}", u32::from(c)),
                other => other.to_string(),
            })
            .collect();
        Location { engine: Engine::Sqlite, url: format!("sqlite://{path}?mode=rwc"), file }
    }

    /// A PostgreSQL database: `postgres://user:password@host/database`, with options such as `?sslmode=verify-full`.
    /// `None` for other URLs.
    pub fn postgres(url: &str) -> Option<Location> {
        let known = url.starts_with("postgres://") || url.starts_with("postgresql://");
        known.then(|| Location { engine: Engine::Postgres, url: url.to_owned(), file: None })
    }
}

/// A pool of connections.
#[derive(Debug, Clone)]
pub struct Connections {
    /// Its engine.
    pub engine: Engine,
    /// Connections, for single reads.
    pub pool: AnyPool,
}

impl Connections {
    /// Opens the database. [`ControlError::Damaged`] if the write-ahead log of an SQLite file is damaged.
    pub async fn connect(location: &Location) -> Result<Connections, ControlError> {
        sqlx::any::install_default_drivers();
        // The first connection would overwrite the records after the damage.
        let damage = location.file.as_deref().map(sqlite_wal::find_damage).transpose().map_err(sqlx::Error::Io)?;
        if let Some(damage) = damage.flatten() {
            return Err(ControlError::Damaged(damage));
        }
        let engine = location.engine;
        let pool = AnyPoolOptions::new()
            .max_connections(limits::CONTROL_CONNECTIONS)
            .acquire_timeout(limits::CONTROL_WAIT_MAX)
            // Connections to a local file need no limits.
            .idle_timeout((engine == Engine::Postgres).then_some(limits::CONTROL_IDLE_MAX))
            .max_lifetime((engine == Engine::Postgres).then_some(limits::CONTROL_LIFE_MAX))
            // SQLite ends a transaction by itself when the disk is full. sqlx's own rollback fails then, and the
            // connection would count as inside a transaction for good: it is closed, and another one takes its place.
            .before_acquire(|connection, _| Box::pin(async move { Ok(!connection.is_in_transaction()) }))
            .after_connect(move |connection, _| {
                Box::pin(async move {
                    if engine == Engine::Sqlite {
                        connection
                            .execute(
                                "PRAGMA busy_timeout = 10000; PRAGMA journal_mode = WAL; \
                                 PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;",
                            )
                            .await?;
                    }
                    Ok(())
                })
            })
            .connect(&location.url)
            .await?;
        Ok(Connections { engine, pool })
    }

    /// Begins a transaction as the only writer of the installation.
    pub async fn begin(&self) -> Result<Transaction<'static, Any>, ControlError> {
        match self.engine {
            Engine::Sqlite => Ok(self.pool.begin_with("BEGIN IMMEDIATE").await?),
            Engine::Postgres => {
                let mut transaction = self.pool.begin().await?;
                transaction.execute(WRITER).await?;
                Ok(transaction)
            }
        }
    }

    /// Closes the connections; waits at most five seconds.
    pub async fn close(&self) {
        // Connections that hang are abandoned.
        let _ = tokio::time::timeout(Duration::from_secs(5), self.pool.close()).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Outage;

    /// Guarantee: a write that fails on a full disk does not make a connection unusable.
    #[tokio::test]
    async fn connections_remain_usable_after_a_full_disk() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let database =
            Connections::connect(&Location::file(&folder.path().join("a.sqlite"))).await.expect("a database");
        let mut write = database.begin().await.expect("a transaction");
        write.execute("CREATE TABLE a (x BLOB)").await.expect("a table");
        write.commit().await.expect("it is written");
        for _ in 0..2 * limits::CONTROL_CONNECTIONS {
            let mut write = database.begin().await.expect("a transaction");
            write.execute("PRAGMA max_page_count = 3").await.expect("a limit of this connection");
            let full = write.execute("INSERT INTO a VALUES (zeroblob(1000000))").await.expect_err("it is full");
            assert_eq!(ControlError::from(full).outage(), Some(Outage::NoSpace));
            drop(write);
        }
        for _ in 0..2 * limits::CONTROL_CONNECTIONS {
            let mut write = database.begin().await.expect("a transaction after a full disk");
            write.execute("PRAGMA max_page_count = 100000").await.expect("no limit");
            write.execute("INSERT INTO a VALUES (1)").await.expect("a row");
            write.commit().await.expect("it is written");
        }
    }
}
