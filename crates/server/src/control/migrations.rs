//! Schema versions, in order; `user_version` says how many have run.

use rusqlite::Connection;

use super::ControlError;

const MIGRATIONS: &[&str] = &[include_str!("migrations/0001_accounts.sql")];

/// Runs what has not run yet, each migration in its own transaction. A newer database than this program is refused.
pub fn run(database: &mut Connection) -> Result<(), ControlError> {
    let done: i64 = database.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let newest = MIGRATIONS.len() as i64;
    if done > newest {
        return Err(ControlError::TooNew(done, newest));
    }
    for version in done..newest {
        let transaction = database.transaction()?;
        transaction.execute_batch(MIGRATIONS[version as usize])?;
        transaction.pragma_update(None, "user_version", version + 1)?;
        transaction.commit()?;
    }
    Ok(())
}
