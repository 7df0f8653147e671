//! Temporary failures of the control database: a full disk, an unreachable database server, a lock of another program.

use crate::ControlError;

/// Causes of a temporary outage of the control database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outage {
    /// The disk is full.
    NoSpace,
    /// The database does not respond, or is locked.
    Unreachable,
}

/// Primary result codes of SQLite.
const SQLITE_BUSY: u32 = 5;
const SQLITE_LOCKED: u32 = 6;
const SQLITE_FULL: u32 = 13;

impl ControlError {
    /// Classifies the error as a temporary failure; `None` for errors that a retry would not fix.
    pub fn outage(&self) -> Option<Outage> {
        let ControlError::Database(error) = self else { return None };
        match error {
            sqlx::Error::Database(error) => of_code(&error.code()?),
            sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed | sqlx::Error::Io(_) => Some(Outage::Unreachable),
            _ => None,
        }
    }
}

/// `code`: SQLite's extended result code in decimal digits, or the five characters of an SQLSTATE.
fn of_code(code: &str) -> Option<Outage> {
    if code.len() == 5 {
        return match code {
            "53100" => Some(Outage::NoSpace),
            // Connection failures, insufficient resources, a server that stops or starts, a standby.
            _ if code.starts_with("08") || code.starts_with("53") || code.starts_with("57P") => {
                Some(Outage::Unreachable)
            }
            "25006" => Some(Outage::Unreachable),
            _ => None,
        };
    }
    match code.parse::<u32>().ok()? & 0xff {
        SQLITE_FULL => Some(Outage::NoSpace),
        SQLITE_BUSY | SQLITE_LOCKED => Some(Outage::Unreachable),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use sqlx::any::AnyPoolOptions;
    use sqlx::{AnyPool, Executor};

    use super::*;

    async fn open(path: &std::path::Path) -> AnyPool {
        sqlx::any::install_default_drivers();
        let url = format!("sqlite://{}?mode=rwc", path.display());
        AnyPoolOptions::new().max_connections(1).connect(&url).await.expect("a database")
    }

    async fn failure(pool: &AnyPool, statement: &'static str) -> ControlError {
        pool.execute(statement).await.expect_err("it fails").into()
    }

    #[tokio::test]
    async fn temporary_failures_of_sqlite_are_recognized() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("a.sqlite");
        let pool = open(&path).await;
        pool.execute("CREATE TABLE a (x BLOB UNIQUE); PRAGMA max_page_count = 8; PRAGMA busy_timeout = 0")
            .await
            .expect("a table");
        let full = failure(&pool, "INSERT INTO a VALUES (zeroblob(1000000))").await;
        assert_eq!(full.outage(), Some(Outage::NoSpace), "{full}");
        let other = open(&path).await;
        other.execute("BEGIN IMMEDIATE").await.expect("a lock");
        let busy = failure(&pool, "INSERT INTO a VALUES (1)").await;
        assert_eq!(busy.outage(), Some(Outage::Unreachable), "{busy}");
        other.execute("ROLLBACK").await.expect("the lock ends");
        pool.execute("INSERT INTO a VALUES (1)").await.expect("a row");
        let twice = failure(&pool, "INSERT INTO a VALUES (1)").await;
        assert_eq!(twice.outage(), None, "{twice}");
    }

    #[test]
    fn temporary_failures_of_postgresql_are_recognized() {
        let unreachable = ["08006", "53300", "57P01", "57P03", "25006"];
        assert!(unreachable.iter().all(|code| of_code(code) == Some(Outage::Unreachable)));
        assert_eq!(of_code("53100"), Some(Outage::NoSpace));
        assert!(["23505", "42P01", "40001", "57014"].iter().all(|code| of_code(code).is_none()));
    }
}
