//! Converts rows of the catalog's tables to facts and back, and computes their checksum entries.

use std::collections::BTreeSet;

use rusqlite::{Connection, Row, Transaction, params};
use xxhash_rust::xxh3::Xxh3;

use super::meta::Entry;
use crate::dedup::file::DedupFileFacts;
use crate::part::PartFacts;
use tidewatch_store::Gap;
use tidewatch_store::tables::Table;

/// The listed parts, sorted by id.
pub fn parts(connection: &Connection) -> rusqlite::Result<Vec<PartFacts>> {
    let mut statement = connection.prepare(
        "SELECT id, first_id, table_name, day, rows, bytes, time_min, time_max, project_min, project_max, level, tail_sum,
                received_min, received_max, ids
         FROM parts ORDER BY id",
    )?;
    statement.query_map([], part)?.collect()
}

/// The listed key files, sorted by id.
pub fn dedup_files(connection: &Connection) -> rusqlite::Result<Vec<DedupFileFacts>> {
    let mut statement =
        connection.prepare("SELECT id, keys, received_min, received_max, level FROM seen ORDER BY id")?;
    let facts = |row: &Row<'_>| {
        Ok(DedupFileFacts {
            id: row.get::<_, i64>(0)? as u64,
            keys: row.get::<_, i64>(1)? as u64,
            received_min: row.get(2)?,
            received_max: row.get(3)?,
            level: row.get(4)?,
        })
    };
    statement.query_map([], facts)?.collect()
}

pub fn removed(connection: &Connection) -> rusqlite::Result<BTreeSet<u64>> {
    let mut statement = connection.prepare("SELECT id FROM removed")?;
    statement.query_map([], |row| row.get::<_, i64>(0).map(|id| id as u64))?.collect()
}

pub fn insert_part(transaction: &Transaction<'_>, facts: &PartFacts) -> rusqlite::Result<()> {
    let mut statement = transaction.prepare_cached(
        "INSERT INTO parts (id, first_id, table_name, day, rows, bytes, time_min, time_max, project_min, project_max,
                            level, tail_sum, received_min, received_max, ids)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
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

pub fn insert_dedup_file(transaction: &Transaction<'_>, facts: &DedupFileFacts) -> rusqlite::Result<()> {
    let mut statement = transaction
        .prepare_cached("INSERT INTO seen (id, keys, received_min, received_max, level) VALUES (?1, ?2, ?3, ?4, ?5)")?;
    statement.execute(params![
        facts.id as i64,
        facts.keys as i64,
        facts.received_min,
        facts.received_max,
        facts.level
    ])?;
    Ok(())
}

/// The gaps, sorted by id.
pub fn gaps(connection: &Connection) -> rusqlite::Result<Vec<Gap>> {
    let mut statement = connection.prepare(
        "SELECT id, table_name, day, rows, time_min, time_max, project_min, project_max FROM gaps ORDER BY id",
    )?;
    let gap = |row: &Row<'_>| {
        Ok(Gap {
            id: row.get::<_, i64>(0)? as u64,
            table: table(&row.get::<_, String>(1)?)?,
            day: row.get(2)?,
            rows: row.get::<_, i64>(3)? as u64,
            time_min: row.get(4)?,
            time_max: row.get(5)?,
            project_min: row.get(6)?,
            project_max: row.get(7)?,
        })
    };
    statement.query_map([], gap)?.collect()
}

pub fn insert_gap(transaction: &Transaction<'_>, gap: &Gap) -> rusqlite::Result<()> {
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

/// Runs the statement once per id. Returns the number of rows it changed.
pub fn execute_for_each(transaction: &Transaction<'_>, sql: &str, ids: &[u64]) -> rusqlite::Result<usize> {
    let mut statement = transaction.prepare_cached(sql)?;
    ids.iter().try_fold(0, |changed, id| Ok(changed + statement.execute([*id as i64])?))
}

pub fn part_entry(facts: &PartFacts) -> Entry {
    let PartFacts { id, first_id, table, day, rows, bytes, time_min, time_max, .. } = facts;
    let PartFacts { project_min, project_max, level, tail_sum, received_min, received_max, ids, .. } = facts;
    let mut hasher = Xxh3::new();
    for value in [*id, *first_id, *rows, *bytes, *tail_sum, u64::from(*level)] {
        hasher.update(&value.to_le_bytes());
    }
    for value in [i64::from(*day), *time_min, *time_max, *received_min, *received_max] {
        hasher.update(&value.to_le_bytes());
    }
    for value in [*project_min, *project_max] {
        hasher.update(&value.to_le_bytes());
    }
    hasher.update(table.name().as_bytes());
    hasher.update(&[0, u8::from(ids.is_some())]);
    hasher.update(ids.as_deref().unwrap_or_default().as_bytes());
    Entry { rows: *rows, hash: hasher.digest() }
}

pub fn dedup_file_entry(facts: &DedupFileFacts) -> Entry {
    let DedupFileFacts { id, keys, received_min, received_max, level } = facts;
    let mut hasher = Xxh3::new();
    for value in [*id, *keys, u64::from(*level)] {
        hasher.update(&value.to_le_bytes());
    }
    for value in [*received_min, *received_max] {
        hasher.update(&value.to_le_bytes());
    }
    Entry { rows: *keys, hash: hasher.digest() }
}

fn table(name: &str) -> rusqlite::Result<Table> {
    let unknown = || rusqlite::Error::InvalidColumnName(format!("table {name}"));
    Table::ALL.into_iter().find(|table| table.name() == name).ok_or_else(unknown)
}

fn part(row: &Row<'_>) -> rusqlite::Result<PartFacts> {
    Ok(PartFacts {
        id: row.get::<_, i64>(0)? as u64,
        first_id: row.get::<_, i64>(1)? as u64,
        table: table(&row.get::<_, String>(2)?)?,
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
