//! Opening a database: connections, the newest schema, the sealing key, the directory.

use super::connections::{Connections, Location};
use super::migrations;
use super::seam::Database;
use crate::ControlError;
use crate::secrets::seal::Sealer;

impl Database {
    /// Opens or creates the database, migrates it to the newest schema version, and loads the directory.
    pub async fn open(location: &Location, sealer: Sealer) -> Result<Database, ControlError> {
        let connections = Connections::connect(location).await?;
        migrations::run(&connections, &sealer).await?;
        check_key(&connections, &sealer).await?;
        Database::load(connections, sealer).await
    }
}

/// Name and purpose of the sealed string that the key is checked with.
const SEALED_FACT: &str = "sealing key";

/// Checks that all nodes have the same key: the first node seals a known string, which the others open.
async fn check_key(database: &Connections, sealer: &Sealer) -> Result<(), ControlError> {
    let mut transaction = database.begin().await?;
    let known: Option<String> = sqlx::query_scalar("SELECT value FROM facts WHERE name = $1")
        .bind(SEALED_FACT)
        .fetch_optional(&mut *transaction)
        .await?;
    match known {
        Some(sealed) => drop(sealer.open(SEALED_FACT, &sealed).map_err(|_| ControlError::OtherKey)?),
        None => {
            sqlx::query("INSERT INTO facts (name, value) VALUES ($1, $2)")
                .bind(SEALED_FACT)
                .bind(sealer.seal(SEALED_FACT, "this key")?)
                .execute(&mut *transaction)
                .await?;
        }
    }
    transaction.commit().await?;
    Ok(())
}
