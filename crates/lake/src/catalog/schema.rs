//! The tables of `catalog.sqlite`, and the upgrade of earlier versions.

use rusqlite::Connection;

use super::meta::{Meta, Sum};
use super::rows;

pub const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS parts (
    id INTEGER PRIMARY KEY,
    first_id INTEGER NOT NULL,   -- age: lowest id of the flushed parts inside
    table_name TEXT NOT NULL,
    day INTEGER NOT NULL,        -- UTC, days since 1970-01-01
    rows INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    time_min INTEGER NOT NULL,   -- nanoseconds, inclusive
    time_max INTEGER NOT NULL,
    project_min INTEGER NOT NULL,
    project_max INTEGER NOT NULL,
    level INTEGER NOT NULL,      -- merges deep
    tail_sum INTEGER NOT NULL,   -- checksum of what follows the rows in the file
    received_min INTEGER NOT NULL, -- nanoseconds, inclusive; of everything when it is not known
    received_max INTEGER NOT NULL,
    ids TEXT                     -- where its index of ids lies, as in its file; null: it has none
) STRICT;
CREATE TABLE IF NOT EXISTS seen (
    id INTEGER PRIMARY KEY,
    keys INTEGER NOT NULL,
    received_min INTEGER NOT NULL,
    received_max INTEGER NOT NULL,
    level INTEGER NOT NULL
) STRICT;
-- Rows that were stored and are not in any part: see gaps.rs.
CREATE TABLE IF NOT EXISTS gaps (
    id INTEGER PRIMARY KEY,
    table_name TEXT NOT NULL,
    day INTEGER NOT NULL,        -- UTC, days since 1970-01-01
    rows INTEGER NOT NULL,
    time_min INTEGER NOT NULL,   -- nanoseconds, inclusive
    time_max INTEGER NOT NULL,
    project_min INTEGER NOT NULL,
    project_max INTEGER NOT NULL
) STRICT;
-- Deleted projects without rows in the store.
CREATE TABLE IF NOT EXISTS purged (project INTEGER PRIMARY KEY) STRICT;
-- Parts and key files that are no longer listed and whose files may still exist: these may be removed.
CREATE TABLE IF NOT EXISTS removed (id INTEGER PRIMARY KEY) STRICT;
";

/// Incremented when the meaning of the tables changes.
pub const VERSION: i64 = 4;

const FROM_1_TO_2: &str = "
ALTER TABLE parts ADD COLUMN received_min INTEGER NOT NULL DEFAULT -9223372036854775808;
ALTER TABLE parts ADD COLUMN received_max INTEGER NOT NULL DEFAULT 9223372036854775807;
";
const FROM_2_TO_3: &str = "ALTER TABLE parts ADD COLUMN ids TEXT;";

/// Upgrades a catalog of `version` (0: an empty database) to [`VERSION`] in one transaction. Leaves a later version
/// unchanged.
pub fn upgrade(connection: &mut Connection, version: i64) -> rusqlite::Result<()> {
    if version >= VERSION {
        return Ok(());
    }
    let transaction = connection.transaction()?;
    transaction.execute_batch(SCHEMA)?;
    if version == 1 {
        transaction.execute_batch(FROM_1_TO_2)?;
    }
    if version == 1 || version == 2 {
        transaction.execute_batch(FROM_2_TO_3)?;
    }
    // Versions before 4 had neither checksums nor a durable next id.
    let (parts, dedup) = (rows::parts(&transaction)?, rows::dedup_files(&transaction)?);
    let mut meta = Meta { covered: Meta::covered_before_4(&transaction)?, next_id: 1, ..Meta::default() };
    for facts in &parts {
        meta.parts.add(rows::part_entry(facts));
        meta.next_id = meta.next_id.max(facts.id + 1);
        meta.highest_project = meta.highest_project.max(u64::from(facts.project_max));
    }
    meta.dedup = dedup.iter().fold(Sum::default(), |mut sum, facts| {
        sum.add(rows::dedup_file_entry(facts));
        sum
    });
    meta.next_id = dedup.iter().fold(meta.next_id, |next, facts| next.max(facts.id + 1));
    meta.write(&transaction)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()
}
