//! `catalog.sqlite`: which parts and key files exist, and up to where the journal is covered by them.
//!
//! Every change is one transaction: parts appear together with the journal position they cover, a merge replaces its
//! inputs by its output. What is not listed here does not exist.
//!
//! - `schema`: tables, versions. `rows`: rows to facts. `meta`: positions and checksums. `reserve`: room for removals on a
//!   full disk.
//! - Opening verifies the checksums and refuses a catalog that does not have them: files are removed by what it lists.
//! - The database is held in exclusive mode: no other program can keep a transaction waiting. A copy is made with
//!   [`Catalog::copy_to`].
//! - A transaction fails in one of two ways, see [`Failed`]: either it has not happened, or nobody can tell yet.

pub(crate) mod gaps;
mod meta;
mod reserve;
mod rows;
mod schema;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _, Transaction, TransactionBehavior, params};
use tidewatch_journal::Position;

use super::dedup::file::SeenFacts;
use super::part::PartFacts;
use meta::{Entry, Meta, Sum};
use reserve::Reserve;
use tidewatch_journal::sqlite_wal;
use tidewatch_store::Gap;
use tidewatch_store::StoreError;

/// Asked before each step of a transaction in tests; what it returns is what SQLite seems to say.
#[cfg(test)]
pub type Probe = Arc<dyn Fn(Step) -> rusqlite::Result<()> + Send + Sync>;

/// Where a transaction stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Before the database is opened, or opened again.
    Open,
    Begin,
    /// After the first statement.
    Statement,
    /// Before COMMIT: a failure has no effect.
    Commit,
    /// After COMMIT: a failure hides that it happened.
    Committed,
}

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

/// What the catalog lists, by id.
#[derive(Default)]
struct Listed {
    parts: HashMap<u64, Entry>,
    seen: HashMap<u64, Entry>,
}

/// A catalog and all that it lists.
pub struct Opened {
    pub catalog: Catalog,
    /// By id.
    pub parts: Vec<PartFacts>,
    /// By id.
    pub seen: Vec<SeenFacts>,
    /// Files with these ids are listed no longer and may be removed.
    pub removed: BTreeSet<u64>,
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

/// A transaction that did not come to its end.
#[derive(Debug)]
pub struct Failed {
    pub error: StoreError,
    /// COMMIT failed and the database could not be asked again. Otherwise the transaction has not happened.
    pub is_unknown: bool,
}

impl From<Failed> for StoreError {
    fn from(failed: Failed) -> StoreError {
        failed.error
    }
}

impl Catalog {
    /// Opens the catalog and verifies its checksums.
    ///
    /// Made when missing if `may_be_new`, otherwise refused; a catalog that is damaged or of a later version is refused.
    pub fn open(path: &Path, may_be_new: bool) -> Result<Opened, StoreError> {
        let mut opened = Catalog::new(path).open_first(may_be_new)?;
        opened.catalog.reserve = Reserve::beside(path);
        Ok(opened)
    }

    /// As [`Catalog::open`], with a probe.
    #[cfg(test)]
    pub fn open_probed(path: &Path, may_be_new: bool, probe: Option<Probe>) -> Result<Opened, StoreError> {
        let mut opened = Catalog { probe, ..Catalog::new(path) }.open_first(may_be_new)?;
        opened.catalog.reserve = Reserve::beside(path);
        Ok(opened)
    }

    /// Opens a copy that no store uses: without a reserve.
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
        let (parts, seen) = self.connect(may_be_new)?;
        let connection = self.connection.as_ref().expect("it was just opened");
        let removed = rows::removed(connection).map_err(|e| self.failed("list removed files", e))?;
        self.ids.store(self.meta.next_id.max(1), Ordering::Relaxed);
        Ok(Opened { catalog: self, parts, seen, removed })
    }

    /// The id that the next file gets. Every transaction makes it durable.
    pub fn ids(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.ids)
    }

    /// Up to where the journal is covered by parts.
    pub fn covered(&self) -> Position {
        Position(self.meta.covered)
    }

    /// The highest project number that a row in any part has ever had; 0: none.
    pub fn highest_project(&self) -> u32 {
        u32::try_from(self.meta.highest_project).unwrap_or(u32::MAX)
    }

    /// Whether a part or a key file is listed. Opens the database again when the last transaction left that in doubt.
    pub fn lists(&mut self, id: u64) -> Result<bool, StoreError> {
        self.reconnect()?;
        Ok(self.listed.parts.contains_key(&id) || self.listed.seen.contains_key(&id))
    }

    /// Parts, their keys and the position they cover: all or nothing. What is covered already is not added again, so a
    /// flush may be repeated after any failure.
    pub fn flushed(&mut self, record: &FlushRecord<'_>) -> Result<(), Failed> {
        self.reconnect().map_err(|error| Failed { error, is_unknown: true })?;
        let has_files = !record.parts.is_empty() || record.seen.is_some();
        let first = record.parts.first().map(|facts| facts.id).or(record.seen.map(|facts| facts.id));
        if has_files && first.is_some_and(|id| self.lists(id).unwrap_or(false)) {
            return Ok(());
        }
        self.transaction("add flushed parts", false, |change| {
            record.parts.iter().try_for_each(|facts| change.add_part(facts))?;
            record.seen.iter().try_for_each(|facts| change.add_seen(facts))?;
            record.gaps.iter().try_for_each(|gap| rows::insert_gap(change.transaction, gap))?;
            change.meta.covered = record.covered.0;
            Ok(true)
        })
        .map(drop)
    }

    /// Replaces parts by `with`. False, and nothing done, when one of them is no longer there. `gone`: files of earlier
    /// replacements that exist no more.
    pub fn replace_parts(&mut self, ids: &[u64], with: &[PartFacts], gone: &[u64]) -> Result<bool, Failed> {
        self.transaction("replace parts", true, |change| {
            if !change.remove_parts(ids)? {
                return Ok(false);
            }
            with.iter().try_for_each(|facts| change.add_part(facts))?;
            change.forget_removed(gone)?;
            Ok(true)
        })
    }

    /// Replaces key files by `with`. False, and nothing done, when one of them is no longer there.
    pub fn replace_seen(&mut self, ids: &[u64], with: Option<&SeenFacts>) -> Result<bool, Failed> {
        self.transaction("replace key files", true, |change| {
            if !change.remove_seen(ids)? {
                return Ok(false);
            }
            with.iter().try_for_each(|facts| change.add_seen(facts))?;
            Ok(true)
        })
    }

    /// Takes a part out and notes what is missing without it. False, and nothing done, when it is not there. Its file is
    /// not to be removed.
    pub fn set_aside(&mut self, gap: &Gap) -> Result<bool, Failed> {
        self.transaction("set a part aside", true, |change| {
            if !change.remove_parts(&[gap.id])? {
                return Ok(false);
            }
            change.forget_removed(&[gap.id])?;
            rows::insert_gap(change.transaction, gap)?;
            Ok(true)
        })
    }

    /// Gaps by id.
    pub fn gaps(&mut self) -> Result<Vec<Gap>, StoreError> {
        self.reconnect()?;
        let connection = self.connection.as_ref().expect("it is open");
        rows::gaps(connection).map_err(|e| self.failed("list the gaps", e))
    }

    /// Forgets gaps whose rows would be kept no longer.
    pub fn forget_gaps(&mut self, ids: &[u64]) -> Result<(), StoreError> {
        self.transaction("forget old gaps", true, |change| {
            rows::each(change.transaction, "DELETE FROM gaps WHERE id = ?1", ids).map(|_| true)
        })?;
        Ok(())
    }

    /// Makes the next id durable and forgets removed files that exist no more.
    pub fn tidied(&mut self, gone: &[u64]) -> Result<(), Failed> {
        if gone.is_empty() && self.ids.load(Ordering::Relaxed) <= self.meta.next_id {
            return Ok(());
        }
        self.transaction("forget removed files", true, |change| {
            change.forget_removed(gone)?;
            Ok(true)
        })
        .map(drop)
    }

    /// Deleted projects that have nothing here any more.
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

    /// What was last noted under this name, see [`Catalog::note`].
    pub fn noted(&mut self, name: &str) -> Result<Option<i64>, StoreError> {
        self.reconnect()?;
        let connection = self.connection.as_ref().expect("it is open");
        let read = connection.query_row("SELECT value FROM meta WHERE key = ?1", [name], |row| row.get(0));
        read.optional().map_err(|e| self.failed("read a note", e))
    }

    /// Keeps a number under a name.
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

    /// What SQLite itself finds wrong with the file; empty: nothing.
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

    /// Opens the database when it is not open: what is listed then is what is on the disk.
    fn reconnect(&mut self) -> Result<(), StoreError> {
        if self.connection.is_none() {
            self.connect(false)?;
        }
        Ok(())
    }

    fn connect(&mut self, may_be_new: bool) -> Result<(Vec<PartFacts>, Vec<SeenFacts>), StoreError> {
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
        let read = || Ok((Meta::read(&connection)?, rows::parts(&connection)?, rows::seen(&connection)?));
        let (meta, parts, seen) = read().map_err(|e| self.failed("list the parts", e))?;
        let meta = meta.ok_or_else(|| self.damaged("its positions do not have their checksum"))?;
        let listed = Listed {
            parts: parts.iter().map(|facts| (facts.id, rows::part_entry(facts))).collect(),
            seen: seen.iter().map(|facts| (facts.id, rows::seen_entry(facts))).collect(),
        };
        for (what, found, expected) in [
            ("parts", Sum::of(listed.parts.values().copied()), meta.parts),
            ("key files", Sum::of(listed.seen.values().copied()), meta.seen),
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
        Ok((parts, seen))
    }

    fn damaged(&self, why: &str) -> StoreError {
        let why = format!("{why}; nothing was changed; restore it from a backup (docs/operations.md, Damaged catalog)");
        StoreError::Corrupt { path: self.path.clone(), why }
    }

    fn missing(&self) -> StoreError {
        let path = self.path.display();
        StoreError::Refused(format!(
            "{path} is missing or empty, but there are parts that it should list: put the catalog that belongs to them \
             back (docs/operations.md, Damaged catalog), or move parts/ and seen/ away to start without them"
        ))
    }

    fn failed(&self, what: &'static str, source: rusqlite::Error) -> StoreError {
        match is_full(&source) {
            true => StoreError::NoSpace { what, path: self.path.clone() },
            false => StoreError::Catalog { what, source: source.into() },
        }
    }

    /// Commits when `change` says true, else rolls back. `frees`: it removes more than it adds, so that it may use the
    /// reserve of a full disk.
    fn transaction(
        &mut self,
        what: &'static str,
        frees: bool,
        change: impl Fn(&mut Change<'_>) -> rusqlite::Result<bool>,
    ) -> Result<bool, Failed> {
        let mut done = self.try_transaction(what, &change);
        let is_full = |failed: &Failed| !failed.is_unknown && matches!(failed.error, StoreError::NoSpace { .. });
        if frees && done.as_ref().is_err_and(is_full) && self.reserve.release() {
            done = self.try_transaction(what, &change);
        }
        if done.is_ok() {
            self.reserve.restore();
        }
        done
    }

    fn try_transaction(
        &mut self,
        what: &'static str,
        change: &impl Fn(&mut Change<'_>) -> rusqlite::Result<bool>,
    ) -> Result<bool, Failed> {
        self.reconnect().map_err(|error| Failed { error, is_unknown: false })?;
        let mut connection = self.connection.take().expect("it is open");
        let mut is_committing = false;
        let done = self.run(&mut connection, change, &mut is_committing);
        let source = match done {
            Ok(done) => {
                self.connection = Some(connection);
                return Ok(done);
            }
            Err(source) => source,
        };
        if !is_committing {
            // A connection that could not roll back is not used again.
            self.connection = Some(connection).filter(Connection::is_autocommit);
            return Err(Failed { error: self.failed(what, source), is_unknown: false });
        }
        // Whether a failed COMMIT has happened is known to the file alone.
        let expected = self.meta.commits + 1;
        drop(connection);
        match self.reconnect() {
            Ok(()) if self.meta.commits == expected => Ok(true),
            Ok(()) => Err(Failed { error: self.failed(what, source), is_unknown: false }),
            Err(_) => Err(Failed { error: self.failed(what, source), is_unknown: true }),
        }
    }

    fn run(
        &mut self,
        connection: &mut Connection,
        change: &impl Fn(&mut Change<'_>) -> rusqlite::Result<bool>,
        is_committing: &mut bool,
    ) -> rusqlite::Result<bool> {
        self.at(Step::Begin)?;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let (listed, meta) = (&self.listed, self.meta);
        let mut changing =
            Change { transaction: &transaction, listed, meta, added: Listed::default(), removed: Vec::new() };
        if !change(&mut changing)? {
            transaction.rollback()?;
            return Ok(false);
        }
        let Change { mut meta, added, removed, .. } = changing;
        self.at(Step::Statement)?;
        meta.commits += 1;
        meta.next_id = meta.next_id.max(self.ids.load(Ordering::Relaxed));
        meta.write(&transaction)?;
        *is_committing = true;
        self.at(Step::Commit)?;
        transaction.commit()?;
        self.at(Step::Committed)?;
        self.meta = meta;
        for id in removed {
            self.listed.parts.remove(&id);
            self.listed.seen.remove(&id);
        }
        self.listed.parts.extend(added.parts);
        self.listed.seen.extend(added.seen);
        Ok(true)
    }

    #[cfg(test)]
    fn at(&self, step: Step) -> rusqlite::Result<()> {
        self.probe.as_ref().map_or(Ok(()), |probe| probe(step))
    }

    #[cfg(not(test))]
    fn at(&self, _: Step) -> rusqlite::Result<()> {
        Ok(())
    }
}

/// A transaction, and what it does to the checksums.
struct Change<'c> {
    transaction: &'c Transaction<'c>,
    listed: &'c Listed,
    meta: Meta,
    added: Listed,
    removed: Vec<u64>,
}

impl Change<'_> {
    fn add_part(&mut self, facts: &PartFacts) -> rusqlite::Result<()> {
        rows::insert_part(self.transaction, facts)?;
        let entry = rows::part_entry(facts);
        self.meta.parts.add(entry);
        self.meta.highest_project = self.meta.highest_project.max(u64::from(facts.project_max));
        self.added.parts.insert(facts.id, entry);
        Ok(())
    }

    fn add_seen(&mut self, facts: &SeenFacts) -> rusqlite::Result<()> {
        rows::insert_seen(self.transaction, facts)?;
        let entry = rows::seen_entry(facts);
        self.meta.seen.add(entry);
        self.added.seen.insert(facts.id, entry);
        Ok(())
    }

    /// False when one of them is not there.
    fn remove_parts(&mut self, ids: &[u64]) -> rusqlite::Result<bool> {
        for id in ids {
            let Some(entry) = self.listed.parts.get(id) else { return Ok(false) };
            self.meta.parts.remove(*entry);
        }
        self.remove("DELETE FROM parts WHERE id = ?1", ids)
    }

    /// False when one of them is not there.
    fn remove_seen(&mut self, ids: &[u64]) -> rusqlite::Result<bool> {
        for id in ids {
            let Some(entry) = self.listed.seen.get(id) else { return Ok(false) };
            self.meta.seen.remove(*entry);
        }
        self.remove("DELETE FROM seen WHERE id = ?1", ids)
    }

    fn remove(&mut self, sql: &str, ids: &[u64]) -> rusqlite::Result<bool> {
        if rows::each(self.transaction, sql, ids)? != ids.len() {
            return Ok(false);
        }
        rows::each(self.transaction, "INSERT OR IGNORE INTO removed VALUES (?1)", ids)?;
        self.removed.extend_from_slice(ids);
        Ok(true)
    }

    fn forget_removed(&mut self, gone: &[u64]) -> rusqlite::Result<()> {
        rows::each(self.transaction, "DELETE FROM removed WHERE id = ?1", gone).map(drop)
    }
}

/// The database, ready for use, and the version it had.
fn open(path: &Path, may_be_new: bool) -> rusqlite::Result<(Connection, i64)> {
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    flags.set(OpenFlags::SQLITE_OPEN_CREATE, may_be_new);
    let mut connection = Connection::open_with_flags(path, flags)?;
    // Before the first access: then the log needs no shared memory file, and nobody else can open the database.
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if version == 0 && !may_be_new {
        return Ok((connection, version));
    }
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    schema::bring_up(&mut connection, version)?;
    Ok((connection, version))
}

fn is_full(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DiskFull)
}

fn is_missing(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::CannotOpen)
}
