//! `catalog.sqlite`: which parts and key files exist, and up to where the journal is covered by them.
//!
//! Every change is one transaction: parts appear together with the journal position they cover, a merge replaces its
//! inputs by its output. What is not listed here does not exist; a file nobody lists is an orphan.

use std::collections::BTreeSet;
use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _, Transaction, params};
use tidewatch_journal::Position;

use super::gaps::Gap;
use super::part::PartFacts;
use super::seen::file::SeenFacts;
use crate::StoreError;
use crate::tables::Table;

pub struct Catalog {
    connection: Connection,
}

/// What a flush adds, atomically.
pub struct FlushRecord<'a> {
    pub parts: &'a [PartFacts],
    pub seen: Option<&'a SeenFacts>,
    /// Rows that are in none of the parts.
    pub gaps: &'a [Gap],
    /// The journal is covered up to here.
    pub covered: Position,
}

const SCHEMA: &str = "
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
-- Deleted projects that have nothing here any more.
CREATE TABLE IF NOT EXISTS purged (project INTEGER PRIMARY KEY) STRICT;
";

/// Bumped when the meaning of the tables changes.
const VERSION: i64 = 3;
const FROM_1_TO_2: &str = "
ALTER TABLE parts ADD COLUMN received_min INTEGER NOT NULL DEFAULT -9223372036854775808;
ALTER TABLE parts ADD COLUMN received_max INTEGER NOT NULL DEFAULT 9223372036854775807;
PRAGMA user_version = 2;
";
const FROM_2_TO_3: &str = "
ALTER TABLE parts ADD COLUMN ids TEXT;
PRAGMA user_version = 3;
";

impl Catalog {
    /// Opens or creates the catalog. A catalog of another version is refused.
    pub fn open(path: &Path) -> Result<Catalog, StoreError> {
        let connection = Connection::open(path).map_err(StoreError::catalog("open the database"))?;
        let prepare = |connection: &Connection| {
            connection.pragma_update(None, "journal_mode", "WAL")?;
            connection.pragma_update(None, "synchronous", "FULL")?;
            connection.execute_batch(SCHEMA)?;
            let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
            match version {
                0 => connection.pragma_update(None, "user_version", VERSION)?,
                1 => connection.execute_batch(&format!("BEGIN; {FROM_1_TO_2} {FROM_2_TO_3} COMMIT;"))?,
                2 => connection.execute_batch(&format!("BEGIN; {FROM_2_TO_3} COMMIT;"))?,
                _ => {}
            }
            Ok(version)
        };
        match prepare(&connection).map_err(StoreError::catalog("prepare the tables"))? {
            0..=VERSION => Ok(Catalog { connection }),
            other => Err(StoreError::Corrupt {
                path: path.to_path_buf(),
                why: format!("catalog version {other} is not {VERSION}"),
            }),
        }
    }

    /// Up to where the journal is covered by parts.
    pub fn covered(&self) -> Result<Position, StoreError> {
        let value = meta(&self.connection, "covered").map_err(StoreError::catalog("read the position"))?;
        Ok(Position(value))
    }

    /// What was last noted under this name, see [`Catalog::note`].
    pub fn noted(&self, name: &str) -> Result<Option<i64>, StoreError> {
        let read = self.connection.query_row("SELECT value FROM meta WHERE key = ?1", [name], |row| row.get(0));
        read.optional().map_err(StoreError::catalog("read a note"))
    }

    /// Keeps a number under a name.
    pub fn note(&mut self, name: &str, value: i64) -> Result<(), StoreError> {
        self.transaction("write a note", |transaction| {
            transaction.execute("INSERT OR REPLACE INTO meta VALUES (?1, ?2)", params![name, value])?;
            Ok(true)
        })
        .map(drop)
    }

    /// Parts by id.
    pub fn parts(&self) -> Result<Vec<PartFacts>, StoreError> {
        let read = || -> rusqlite::Result<Vec<PartFacts>> {
            let mut statement = self.connection.prepare(
                "SELECT id, first_id, table_name, day, rows, bytes, time_min, time_max, project_min, project_max, level, tail_sum,
                        received_min, received_max, ids
                 FROM parts ORDER BY id",
            )?;
            statement.query_map([], part_row)?.collect()
        };
        read().map_err(StoreError::catalog("list the parts"))
    }

    /// Key files by id.
    pub fn seen(&self) -> Result<Vec<SeenFacts>, StoreError> {
        let read = || -> rusqlite::Result<Vec<SeenFacts>> {
            let mut statement =
                self.connection.prepare("SELECT id, keys, received_min, received_max, level FROM seen ORDER BY id")?;
            let row = |row: &rusqlite::Row<'_>| {
                Ok(SeenFacts {
                    id: row.get::<_, i64>(0)? as u64,
                    keys: row.get::<_, i64>(1)? as u64,
                    received_min: row.get(2)?,
                    received_max: row.get(3)?,
                    level: row.get(4)?,
                })
            };
            statement.query_map([], row)?.collect()
        };
        read().map_err(StoreError::catalog("list the key files"))
    }

    /// Parts, their keys and the position they cover: all or nothing.
    pub fn flushed(&mut self, record: &FlushRecord<'_>) -> Result<(), StoreError> {
        self.transaction("add flushed parts", |transaction| {
            record.parts.iter().try_for_each(|facts| insert_part(transaction, facts))?;
            record.seen.iter().try_for_each(|facts| insert_seen(transaction, facts))?;
            record.gaps.iter().try_for_each(|gap| insert_gap(transaction, gap))?;
            let position = record.covered.0 as i64;
            transaction.execute("INSERT OR REPLACE INTO meta VALUES ('covered', ?1)", [position])?;
            Ok(true)
        })
        .map(drop)
    }

    /// Replaces parts by `with`. False, and nothing done, when one of them is no longer there.
    pub fn replace_parts(&mut self, ids: &[u64], with: &[PartFacts]) -> Result<bool, StoreError> {
        self.transaction("replace merged parts", |transaction| {
            if delete(transaction, "DELETE FROM parts WHERE id = ?1", ids)? != ids.len() {
                return Ok(false);
            }
            with.iter().try_for_each(|facts| insert_part(transaction, facts))?;
            Ok(true)
        })
    }

    /// Takes a part out and notes what is missing without it. False, and nothing done, when it is not there.
    pub fn set_aside(&mut self, gap: &Gap) -> Result<bool, StoreError> {
        self.transaction("set a part aside", |transaction| {
            if delete(transaction, "DELETE FROM parts WHERE id = ?1", &[gap.id])? == 0 {
                return Ok(false);
            }
            insert_gap(transaction, gap)?;
            Ok(true)
        })
    }

    /// Gaps by id.
    pub fn gaps(&self) -> Result<Vec<Gap>, StoreError> {
        let read = || -> rusqlite::Result<Vec<Gap>> {
            let mut statement = self.connection.prepare(
                "SELECT id, table_name, day, rows, time_min, time_max, project_min, project_max FROM gaps ORDER BY id",
            )?;
            let row = |row: &rusqlite::Row<'_>| {
                Ok(Gap {
                    id: row.get::<_, i64>(0)? as u64,
                    table: table_named(&row.get::<_, String>(1)?)?,
                    day: row.get(2)?,
                    rows: row.get::<_, i64>(3)? as u64,
                    time_min: row.get(4)?,
                    time_max: row.get(5)?,
                    project_min: row.get(6)?,
                    project_max: row.get(7)?,
                })
            };
            statement.query_map([], row)?.collect()
        };
        read().map_err(StoreError::catalog("list the gaps"))
    }

    /// Forgets gaps whose rows would be kept no longer.
    pub fn forget_gaps(&mut self, ids: &[u64]) -> Result<(), StoreError> {
        self.transaction("forget old gaps", |transaction| {
            delete(transaction, "DELETE FROM gaps WHERE id = ?1", ids).map(|_| true)
        })
        .map(drop)
    }

    /// Replaces key files by `with`. False, and nothing done, when one of them is no longer there.
    pub fn replace_seen(&mut self, ids: &[u64], with: Option<&SeenFacts>) -> Result<bool, StoreError> {
        self.transaction("replace key files", |transaction| {
            if delete(transaction, "DELETE FROM seen WHERE id = ?1", ids)? != ids.len() {
                return Ok(false);
            }
            with.iter().try_for_each(|facts| insert_seen(transaction, facts))?;
            Ok(true)
        })
    }

    /// Deleted projects that have nothing here any more.
    pub fn purged(&self) -> Result<BTreeSet<u32>, StoreError> {
        let read = || -> rusqlite::Result<BTreeSet<u32>> {
            let mut statement = self.connection.prepare("SELECT project FROM purged")?;
            statement.query_map([], |row| row.get(0))?.collect()
        };
        read().map_err(StoreError::catalog("list purged projects"))
    }

    pub fn set_purged(&mut self, project: u32) -> Result<(), StoreError> {
        self.transaction("note a purged project", |transaction| {
            transaction.execute("INSERT OR IGNORE INTO purged VALUES (?1)", [project])?;
            Ok(true)
        })
        .map(drop)
    }

    /// Commits when `change` says true, else rolls back.
    fn transaction(
        &mut self,
        what: &'static str,
        change: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<bool>,
    ) -> Result<bool, StoreError> {
        let run = || {
            let transaction = self.connection.transaction()?;
            let done = change(&transaction)?;
            match done {
                true => transaction.commit()?,
                false => transaction.rollback()?,
            }
            Ok(done)
        };
        run().map_err(StoreError::catalog(what))
    }
}

fn meta(connection: &Connection, key: &str) -> rusqlite::Result<u64> {
    match connection.query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| row.get::<_, i64>(0)) {
        Ok(value) => Ok(value as u64),
        Err(rusqlite::Error::QueryReturnedNoRows) => Ok(0),
        Err(error) => Err(error),
    }
}

fn delete(transaction: &Transaction<'_>, sql: &str, ids: &[u64]) -> rusqlite::Result<usize> {
    let mut statement = transaction.prepare_cached(sql)?;
    ids.iter().try_fold(0, |deleted, id| Ok(deleted + statement.execute([*id as i64])?))
}

fn insert_part(transaction: &Transaction<'_>, facts: &PartFacts) -> rusqlite::Result<()> {
    let mut statement = transaction.prepare_cached(
        "INSERT INTO parts VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
    )?;
    statement.execute(params![
        facts.id as i64,
        facts.first_id as i64,
        facts.table.name(),
        facts.day,
        facts.rows as i64,
        facts.bytes as i64,
        facts.time_min,
        facts.time_max,
        facts.project_min,
        facts.project_max,
        facts.level,
        facts.tail_sum as i64,
        facts.received_min,
        facts.received_max,
        facts.ids.as_deref(),
    ])?;
    Ok(())
}

fn insert_seen(transaction: &Transaction<'_>, facts: &SeenFacts) -> rusqlite::Result<()> {
    let mut statement = transaction.prepare_cached("INSERT INTO seen VALUES (?1, ?2, ?3, ?4, ?5)")?;
    statement.execute(params![
        facts.id as i64,
        facts.keys as i64,
        facts.received_min,
        facts.received_max,
        facts.level
    ])?;
    Ok(())
}

fn insert_gap(transaction: &Transaction<'_>, gap: &Gap) -> rusqlite::Result<()> {
    let mut statement =
        transaction.prepare_cached("INSERT OR REPLACE INTO gaps VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?;
    statement.execute(params![
        gap.id as i64,
        gap.table.name(),
        gap.day,
        gap.rows as i64,
        gap.time_min,
        gap.time_max,
        gap.project_min,
        gap.project_max,
    ])?;
    Ok(())
}

fn table_named(name: &str) -> rusqlite::Result<Table> {
    let unknown = || rusqlite::Error::InvalidColumnName(format!("table {name}"));
    Table::ALL.into_iter().find(|table| table.name() == name).ok_or_else(unknown)
}

fn part_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<PartFacts> {
    let name: String = row.get(2)?;
    Ok(PartFacts {
        id: row.get::<_, i64>(0)? as u64,
        first_id: row.get::<_, i64>(1)? as u64,
        table: table_named(&name)?,
        day: row.get(3)?,
        rows: row.get::<_, i64>(4)? as u64,
        bytes: row.get::<_, i64>(5)? as u64,
        time_min: row.get(6)?,
        time_max: row.get(7)?,
        project_min: row.get(8)?,
        project_max: row.get(9)?,
        level: row.get(10)?,
        tail_sum: row.get::<_, i64>(11)? as u64,
        received_min: row.get(12)?,
        received_max: row.get(13)?,
        ids: row.get(14)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_catalog_of_version_2_is_taken_over() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("catalog.sqlite");
        let old = Connection::open(&path).unwrap();
        old.execute_batch(SCHEMA).unwrap();
        old.execute_batch("ALTER TABLE parts DROP COLUMN ids").unwrap();
        old.execute_batch("INSERT INTO parts VALUES (7, 7, 'spans', 20000, 1, 2, 3, 4, 5, 6, 0, 8, 9, 10)").unwrap();
        old.execute_batch("PRAGMA user_version = 2").unwrap();
        drop(old);
        let mut catalog = Catalog::open(&path).unwrap();
        let mut facts = catalog.parts().unwrap().remove(0);
        assert_eq!((facts.received_min, facts.received_max, &facts.ids), (9, 10, &None));
        facts.ids = Some("1 2 3".into());
        assert!(catalog.replace_parts(&[7], std::slice::from_ref(&facts)).unwrap());
        drop(catalog);
        assert_eq!(Catalog::open(&path).unwrap().parts().unwrap(), [facts]);
    }

    /// A catalog of version 1 says nothing of when rows were received: everything may be in its parts.
    #[test]
    fn a_catalog_of_version_1_is_taken_over() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("catalog.sqlite");
        let old = Connection::open(&path).unwrap();
        old.execute_batch(SCHEMA).unwrap();
        for column in ["received_min", "received_max", "ids"] {
            old.execute_batch(&format!("ALTER TABLE parts DROP COLUMN {column}")).unwrap();
        }
        old.execute_batch("INSERT INTO parts VALUES (7, 7, 'spans', 20000, 1, 2, 3, 4, 5, 6, 0, 8)").unwrap();
        old.execute_batch("PRAGMA user_version = 1").unwrap();
        drop(old);
        for _ in 0..2 {
            let parts = Catalog::open(&path).unwrap().parts().unwrap();
            assert_eq!((parts[0].id, parts[0].received_min, parts[0].received_max), (7, i64::MIN, i64::MAX));
            assert_eq!(parts[0].ids, None);
        }
        Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 4").unwrap();
        assert!(matches!(Catalog::open(&path), Err(StoreError::Corrupt { .. })));
    }
}
