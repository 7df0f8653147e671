//! `catalog.sqlite`: lists the parts and key files, and the journal position that they cover.
//!
//! Every change is one transaction: parts appear together with the journal position they cover, a merge replaces its
//! inputs by its output. Files that are not listed are not part of the store.
//!
//! - `schema`: tables, versions. `rows`: conversion of rows to facts. `meta`: positions and checksums. `transaction`: a
//!   commit and its failures. `reserve`: disk space for removals on a full disk.
//! - Opening verifies the checksums and refuses a catalog whose checksums do not match, because files are removed by
//!   its lists.
//! - The database is in exclusive locking mode: no other program can delay a transaction. [`Catalog::copy_to`] makes a
//!   copy.
//! - A transaction fails in one of two ways, see [`TransactionError`]: it was not committed, or its outcome is still
//!   unknown.

pub(crate) mod gaps;
mod meta;
mod reserve;
mod rows;
mod schema;
#[cfg(test)]
mod tests;
mod transaction;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _, params};
use tidewatch_journal::Position;

use super::dedup::file::DedupFileFacts;
use super::part::PartFacts;
use meta::{Meta, Sum};
use reserve::Reserve;
use tidewatch_journal::sqlite_wal;
use tidewatch_store::Gap;
use tidewatch_store::StoreError;
use transaction::Listed;
#[cfg(test)]
pub use transaction::Probe;
pub use transaction::{Step, TransactionError};

pub struct Catalog {
    path: PathBuf,
    /// `None` after a failure that leaves its state in doubt; it is opened again before the next use.
    connection: Option<Connection>,
    meta: Meta,
    listed: Listed,
    ids: Arc<AtomicU64>,
    reserve: Reserve,
    #[cfg(test)]
    probe: Option<Probe>,
}

/// An open catalog and its lists.
pub struct Opened {
    pub catalog: Catalog,
    /// Sorted by id.
    pub parts: Vec<PartFacts>,
    /// Sorted by id.
    pub dedup: Vec<DedupFileFacts>,
    /// Ids of files that are no longer listed and may be removed.
    pub removed: BTreeSet<u64>,
}

/// The changes of a flush, which are atomic.
pub struct FlushRecord<'a> {
    pub parts: &'a [PartFacts],
    pub dedup: Option<&'a DedupFileFacts>,
    /// Ranges with rows that are in none of the parts.
    pub gaps: &'a [Gap],
    /// The parts cover the journal up to here.
    pub covered: Position,
}

impl Catalog {
    /// Opens the catalog and verifies its checksums.
    ///
    /// A missing catalog is created if `may_be_new`, and refused otherwise. A catalog that is damaged or of a later
    /// version is refused.
    pub fn open(path: &Path, may_be_new: bool) -> Result<Opened, StoreError> {
        let mut opened = Catalog::new(path).open_first(may_be_new)?;
        opened.catalog.reserve = Reserve::for_catalog(path);
        Ok(opened)
    }

    /// Like [`Catalog::open`], with a probe.
    #[cfg(test)]
    pub fn open_probed(path: &Path, may_be_new: bool, probe: Option<Probe>) -> Result<Opened, StoreError> {
        let mut opened = Catalog { probe, ..Catalog::new(path) }.open_first(may_be_new)?;
        opened.catalog.reserve = Reserve::for_catalog(path);
        Ok(opened)
    }

    /// Opens a copy that no store uses, without a reserve.
    pub fn open_copy(path: &Path) -> Result<Opened, StoreError> {
        Catalog::new(path).open_first(false)
    }

    fn new(path: &Path) -> Catalog {
        Catalog {
            path: path.to_path_buf(),
            connection: None,
            meta: Meta::default(),
            listed: Listed::default(),
            ids: Arc::default(),
            reserve: Reserve::none(),
            #[cfg(test)]
            probe: None,
        }
    }

    fn open_first(mut self, may_be_new: bool) -> Result<Opened, StoreError> {
        let damage = sqlite_wal::find_damage(&self.path).map_err(|e| StoreError::io("read", &self.path, e))?;
        if let Some(damage) = damage {
            return Err(self.damaged(&damage));
        }
        let (parts, dedup) = self.connect(may_be_new)?;
        let connection = self.connection.as_ref().expect("it was just opened");
        let removed = rows::removed(connection).map_err(|e| self.failed("list removed files", e))?;
        self.ids.store(self.meta.next_id.max(1), Ordering::Relaxed);
        Ok(Opened { catalog: self, parts, dedup, removed })
    }

    /// The id of the next file. Every transaction makes it durable.
    pub fn ids(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.ids)
    }

    /// The journal position that the parts cover.
    pub fn covered(&self) -> Position {
        Position(self.meta.covered)
    }

    /// The highest project number that a row in any part has ever had; 0: none.
    pub fn highest_project(&self) -> u32 {
        u32::try_from(self.meta.highest_project).unwrap_or(u32::MAX)
    }

    /// Whether a part or a key file is listed. Opens the database again when the last transaction left its state in
    /// doubt.
    pub fn is_listed(&mut self, id: u64) -> Result<bool, StoreError> {
        self.reconnect()?;
        Ok(self.listed.parts.contains_key(&id) || self.listed.dedup.contains_key(&id))
    }

    /// Adds parts, their keys and the position they cover in one transaction. Files that are already listed are not
    /// added again, so a flush may be repeated after any failure.
    pub fn record_flush(&mut self, record: &FlushRecord<'_>) -> Result<(), TransactionError> {
        self.reconnect().map_err(|error| TransactionError { error, is_unknown: true })?;
        let has_files = !record.parts.is_empty() || record.dedup.is_some();
        let first = record.parts.first().map(|facts| facts.id).or(record.dedup.map(|facts| facts.id));
        if has_files && first.is_some_and(|id| self.is_listed(id).unwrap_or(false)) {
            return Ok(());
        }
        self.transaction("add flushed parts", false, |change| {
            record.parts.iter().try_for_each(|facts| change.add_part(facts))?;
            record.dedup.iter().try_for_each(|facts| change.add_dedup_file(facts))?;
            record.gaps.iter().try_for_each(|gap| rows::insert_gap(change.transaction, gap))?;
            change.meta.covered = record.covered.0;
            Ok(true)
        })
        .map(drop)
    }

    /// Replaces parts by `with`. False, without a change, when one of them is no longer listed. `deleted` are removed
    /// files that no longer exist.
    pub fn replace_parts(
        &mut self,
        ids: &[u64],
        with: &[PartFacts],
        deleted: &[u64],
    ) -> Result<bool, TransactionError> {
        self.transaction("replace parts", true, |change| {
            if !change.remove_parts(ids)? {
                return Ok(false);
            }
            with.iter().try_for_each(|facts| change.add_part(facts))?;
            change.forget_removed(deleted)?;
            Ok(true)
        })
    }

    /// Replaces key files by `with`. False, without a change, when one of them is no longer listed.
    pub fn replace_dedup_files(
        &mut self,
        ids: &[u64],
        with: Option<&DedupFileFacts>,
    ) -> Result<bool, TransactionError> {
        self.transaction("replace key files", true, |change| {
            if !change.remove_dedup_files(ids)? {
                return Ok(false);
            }
            with.iter().try_for_each(|facts| change.add_dedup_file(facts))?;
            Ok(true)
        })
    }

    /// Removes a part and records the gap. False, without a change, when it is not listed. Its file must not be
    /// removed.
    pub fn set_aside(&mut self, gap: &Gap) -> Result<bool, TransactionError> {
        self.transaction("set a part aside", true, |change| {
            if !change.remove_parts(&[gap.id])? {
                return Ok(false);
            }
            change.forget_removed(&[gap.id])?;
            rows::insert_gap(change.transaction, gap)?;
            Ok(true)
        })
    }

    /// The gaps, sorted by id.
    pub fn gaps(&mut self) -> Result<Vec<Gap>, StoreError> {
        self.reconnect()?;
        let connection = self.connection.as_ref().expect("it is open");
        rows::gaps(connection).map_err(|e| self.failed("list the gaps", e))
    }

    /// Removes gaps whose rows are past their retention.
    pub fn forget_gaps(&mut self, ids: &[u64]) -> Result<(), StoreError> {
        self.transaction("forget old gaps", true, |change| {
            rows::execute_for_each(change.transaction, "DELETE FROM gaps WHERE id = ?1", ids).map(|_| true)
        })?;
        Ok(())
    }

    /// Makes the next id durable and forgets removed files that no longer exist.
    pub fn forget_deleted(&mut self, deleted: &[u64]) -> Result<(), TransactionError> {
        if deleted.is_empty() && self.ids.load(Ordering::Relaxed) <= self.meta.next_id {
            return Ok(());
        }
        self.transaction("forget removed files", true, |change| {
            change.forget_removed(deleted)?;
            Ok(true)
        })
        .map(drop)
    }

    /// Deleted projects without rows in the store.
    pub fn purged(&mut self) -> Result<BTreeSet<u32>, StoreError> {
        self.reconnect()?;
        let connection = self.connection.as_ref().expect("it is open");
        let read = || -> rusqlite::Result<BTreeSet<u32>> {
            let mut statement = connection.prepare("SELECT project FROM purged")?;
            statement.query_map([], |row| row.get(0))?.collect()
        };
        read().map_err(|e| self.failed("list purged projects", e))
    }

    pub fn set_purged(&mut self, project: u32) -> Result<(), StoreError> {
        self.transaction("note a purged project", false, |change| {
            change.transaction.execute("INSERT OR IGNORE INTO purged VALUES (?1)", [project])?;
            Ok(true)
        })?;
        Ok(())
    }

    /// The number last stored under this name by [`Catalog::note`]; `None` when there is none.
    pub fn noted(&mut self, name: &str) -> Result<Option<i64>, StoreError> {
        self.reconnect()?;
        let connection = self.connection.as_ref().expect("it is open");
        let read = connection.query_row("SELECT value FROM meta WHERE key = ?1", [name], |row| row.get(0));
        read.optional().map_err(|e| self.failed("read a note", e))
    }

    /// Stores a number under a name.
    pub fn note(&mut self, name: &str, value: i64) -> Result<(), StoreError> {
        self.transaction("write a note", false, |change| {
            change.transaction.execute("INSERT OR REPLACE INTO meta VALUES (?1, ?2)", params![name, value])?;
            Ok(true)
        })?;
        Ok(())
    }

    /// Writes a copy of the committed catalog to a new file. Not synced.
    pub fn copy_to(&mut self, to: &Path) -> Result<(), StoreError> {
        self.reconnect()?;
        let connection = self.connection.as_ref().expect("it is open");
        connection
            .execute("VACUUM INTO ?1", [to.to_string_lossy()])
            .map(drop)
            .map_err(|e| self.failed("copy everything", e))
    }

    /// The errors of SQLite's integrity check; empty when there are none.
    pub fn integrity(&mut self) -> Result<Vec<String>, StoreError> {
        self.reconnect()?;
        let connection = self.connection.as_ref().expect("it is open");
        let read = || -> rusqlite::Result<Vec<String>> {
            let mut statement = connection.prepare("PRAGMA integrity_check")?;
            statement.query_map([], |row| row.get(0))?.collect()
        };
        let found = read().map_err(|e| self.failed("check the database", e))?;
        Ok(found.into_iter().filter(|line| line != "ok").collect())
    }

    /// Opens the database when it is not open, and reads its lists.
    fn reconnect(&mut self) -> Result<(), StoreError> {
        if self.connection.is_none() {
            self.connect(false)?;
        }
        Ok(())
    }

    fn connect(&mut self, may_be_new: bool) -> Result<(Vec<PartFacts>, Vec<DedupFileFacts>), StoreError> {
        let opened = self.at(Step::Open).and_then(|()| open(&self.path, may_be_new));
        let (connection, version) = match opened {
            Ok(opened) => opened,
            Err(error) if is_missing(&error) && !may_be_new => return Err(self.missing()),
            Err(error) => return Err(self.failed("open the database", error)),
        };
        if version == 0 && !may_be_new {
            return Err(self.missing());
        }
        if version > schema::VERSION {
            let why = format!("its version is {version}, and this program knows versions up to {}", schema::VERSION);
            return Err(StoreError::Corrupt { path: self.path.clone(), why });
        }
        let read = || Ok((Meta::read(&connection)?, rows::parts(&connection)?, rows::dedup_files(&connection)?));
        let (meta, parts, dedup) = read().map_err(|e| self.failed("list the parts", e))?;
        let meta = meta.ok_or_else(|| self.damaged("its positions do not have their checksum"))?;
        let listed = Listed {
            parts: parts.iter().map(|facts| (facts.id, rows::part_entry(facts))).collect(),
            dedup: dedup.iter().map(|facts| (facts.id, rows::dedup_file_entry(facts))).collect(),
        };
        for (what, found, expected) in [
            ("parts", Sum::of(listed.parts.values().copied()), meta.parts),
            ("key files", Sum::of(listed.dedup.values().copied()), meta.dedup),
        ] {
            if found != expected {
                let why = match found.count == expected.count {
                    true => format!("what it lists of its {} {what} does not have its checksum", found.count),
                    false => format!("it lists {} {what} of {}", found.count, expected.count),
                };
                return Err(self.damaged(&why));
            }
        }
        (self.connection, self.meta, self.listed) = (Some(connection), meta, listed);
        Ok((parts, dedup))
    }

    fn damaged(&self, why: &str) -> StoreError {
        let why = format!(
            "{why}; nothing was changed; restore it from a backup (docs/operate/operations.md, Damaged catalog)"
        );
        StoreError::Corrupt { path: self.path.clone(), why }
    }

    fn missing(&self) -> StoreError {
        let path = self.path.display();
        StoreError::Refused(format!(
            "{path} is missing or empty, but there are parts that it should list: put the catalog that belongs to them \
             back (docs/operate/operations.md, Damaged catalog), or move parts/ and seen/ away to start without them"
        ))
    }

    fn failed(&self, what: &'static str, source: rusqlite::Error) -> StoreError {
        match is_full(&source) {
            true => StoreError::NoSpace { what, path: self.path.clone() },
            false => StoreError::Catalog { what, source: source.into() },
        }
    }
}

/// Opens the database and returns it with the version that it had.
fn open(path: &Path, may_be_new: bool) -> rusqlite::Result<(Connection, i64)> {
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    flags.set(OpenFlags::SQLITE_OPEN_CREATE, may_be_new);
    let mut connection = Connection::open_with_flags(path, flags)?;
    // Set before the first access: the WAL then needs no shared memory file, and no other process can open the
    // database.
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if version == 0 && !may_be_new {
        return Ok((connection, version));
    }
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    schema::upgrade(&mut connection, version)?;
    Ok((connection, version))
}

fn is_full(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DiskFull)
}

fn is_missing(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::CannotOpen)
}
