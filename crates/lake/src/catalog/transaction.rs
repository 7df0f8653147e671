//! Transactions of the catalog: commit, failure, and the outcome of a failed COMMIT.

use std::sync::atomic::Ordering;

use rusqlite::{Connection, Transaction, TransactionBehavior};
use tidewatch_store::StoreError;

use super::meta::Meta;
use super::rows;
use super::state::{Catalog, Listed, Step};
use crate::dedup::file::DedupFileFacts;
use crate::part::PartFacts;

/// A failed transaction.
#[derive(Debug)]
pub struct TransactionError {
    pub error: StoreError,
    /// COMMIT failed and the database could not be read again. Otherwise the transaction was not committed.
    pub is_unknown: bool,
}

impl From<TransactionError> for StoreError {
    fn from(failed: TransactionError) -> StoreError {
        failed.error
    }
}

impl Catalog {
    /// Commits when `change` returns true, otherwise rolls back. `frees`: the transaction removes more than it adds, so
    /// that it may use the reserve on a full disk.
    pub(super) fn transaction(
        &mut self,
        what: &'static str,
        frees: bool,
        change: impl Fn(&mut Change<'_>) -> rusqlite::Result<bool>,
    ) -> Result<bool, TransactionError> {
        let mut done = self.try_transaction(what, &change);
        let is_full =
            |failed: &TransactionError| !failed.is_unknown && matches!(failed.error, StoreError::NoSpace { .. });
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
    ) -> Result<bool, TransactionError> {
        self.reconnect().map_err(|error| TransactionError { error, is_unknown: false })?;
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
            return Err(TransactionError { error: self.failed(what, source), is_unknown: false });
        }
        // Only the file tells whether a failed COMMIT was committed.
        let expected = self.meta.commits + 1;
        drop(connection);
        match self.reconnect() {
            Ok(()) if self.meta.commits == expected => Ok(true),
            Ok(()) => Err(TransactionError { error: self.failed(what, source), is_unknown: false }),
            Err(_) => Err(TransactionError { error: self.failed(what, source), is_unknown: true }),
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
            self.listed.dedup.remove(&id);
        }
        self.listed.parts.extend(added.parts);
        self.listed.dedup.extend(added.dedup);
        Ok(true)
    }

    #[cfg(test)]
    pub(super) fn at(&self, step: Step) -> rusqlite::Result<()> {
        self.probe.as_ref().map_or(Ok(()), |probe| probe(step))
    }

    #[cfg(not(test))]
    pub(super) fn at(&self, _: Step) -> rusqlite::Result<()> {
        Ok(())
    }
}

/// A transaction and its changes of the checksums.
pub(super) struct Change<'c> {
    pub transaction: &'c Transaction<'c>,
    listed: &'c Listed,
    pub meta: Meta,
    added: Listed,
    removed: Vec<u64>,
}

impl Change<'_> {
    pub fn add_part(&mut self, facts: &PartFacts) -> rusqlite::Result<()> {
        rows::insert_part(self.transaction, facts)?;
        let entry = rows::part_entry(facts);
        self.meta.parts.add(entry);
        self.meta.highest_project = self.meta.highest_project.max(u64::from(facts.project_max));
        self.added.parts.insert(facts.id, entry);
        Ok(())
    }

    pub fn add_dedup_file(&mut self, facts: &DedupFileFacts) -> rusqlite::Result<()> {
        rows::insert_dedup_file(self.transaction, facts)?;
        let entry = rows::dedup_file_entry(facts);
        self.meta.dedup.add(entry);
        self.added.dedup.insert(facts.id, entry);
        Ok(())
    }

    /// False when one of them is not there.
    pub fn remove_parts(&mut self, ids: &[u64]) -> rusqlite::Result<bool> {
        for id in ids {
            let Some(entry) = self.listed.parts.get(id) else { return Ok(false) };
            self.meta.parts.remove(*entry);
        }
        self.remove("DELETE FROM parts WHERE id = ?1", ids)
    }

    /// False when one of them is not there.
    pub fn remove_dedup_files(&mut self, ids: &[u64]) -> rusqlite::Result<bool> {
        for id in ids {
            let Some(entry) = self.listed.dedup.get(id) else { return Ok(false) };
            self.meta.dedup.remove(*entry);
        }
        self.remove("DELETE FROM seen WHERE id = ?1", ids)
    }

    fn remove(&mut self, sql: &str, ids: &[u64]) -> rusqlite::Result<bool> {
        if rows::execute_for_each(self.transaction, sql, ids)? != ids.len() {
            return Ok(false);
        }
        rows::execute_for_each(self.transaction, "INSERT OR IGNORE INTO removed VALUES (?1)", ids)?;
        self.removed.extend_from_slice(ids);
        Ok(true)
    }

    pub fn forget_removed(&mut self, deleted: &[u64]) -> rusqlite::Result<()> {
        rows::execute_for_each(self.transaction, "DELETE FROM removed WHERE id = ?1", deleted).map(drop)
    }
}
