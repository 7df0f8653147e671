//! Changes of the listed files: files are written under temporary names, registered in one catalog transaction, and
//! then get their final names and become visible.
//!
//! When the transaction fails, the new files are discarded. When its outcome is unknown, both the old and the new files
//! stay until the catalog can be read: [`Shared::resolve_in_doubt`].
//!
//! Invariant: a file has its final name only while the catalog lists it.

use std::sync::Arc;

use crate::dedup::file::{DedupFile, DedupFileFacts};
use crate::lifecycle::state::{InDoubt, Shared};
use crate::part::{Part, PartFacts};
use tidewatch_store::StoreError;

impl Shared {
    /// Replaces parts of any tables by written ones, in one transaction of the catalog and one change of the visible
    /// state. False, with the written parts discarded, when one of the replaced parts is no longer listed.
    pub fn replace_parts(&self, ids: &[u64], written: Vec<PartFacts>) -> Result<bool, StoreError> {
        if let Err(error) = self.resolve_in_doubt() {
            self.layout.discard(&written);
            return Err(error);
        }
        let unlinked = self.layout.removal.take_removed();
        let done = self.catalog.lock().replace_parts(ids, &written, &unlinked.ids());
        if !matches!(done, Ok(true)) {
            self.layout.removal.put_back(unlinked);
        }
        match done {
            Ok(true) => self.swap_parts(ids, written),
            Ok(false) => self.layout.discard(&written),
            Err(failed) if failed.is_unknown => {
                let in_doubt = InDoubt::Parts { ids: ids.to_vec(), written };
                self.in_doubt.lock().push(in_doubt);
                return Err(failed.error);
            }
            Err(failed) => {
                self.layout.discard(&written);
                return Err(failed.error);
            }
        }
        Ok(done.is_ok_and(|done| done))
    }

    /// Like [`Shared::replace_parts`], for key files.
    pub fn replace_keys(&self, ids: &[u64], with: Option<DedupFile>) -> Result<bool, StoreError> {
        let discard = |with: &Option<DedupFile>| with.iter().for_each(|file| self.layout.discard_keys(&file.facts));
        if let Err(error) = self.resolve_in_doubt() {
            discard(&with);
            return Err(error);
        }
        let facts: Option<DedupFileFacts> = with.as_ref().map(|file| file.facts);
        let done = self.catalog.lock().replace_dedup_files(ids, facts.as_ref());
        match done {
            Ok(true) => {
                self.swap_keys(ids, with);
                Ok(true)
            }
            Ok(false) => {
                discard(&with);
                Ok(false)
            }
            Err(failed) if failed.is_unknown => {
                self.in_doubt.lock().push(InDoubt::Keys { ids: ids.to_vec(), with });
                Err(failed.error)
            }
            Err(failed) => {
                discard(&with);
                Err(failed.error)
            }
        }
    }

    /// Reads from the catalog whether in-doubt replacements were committed, and completes or discards them. Fails while
    /// the catalog cannot be read; then no further replacement is allowed.
    pub fn resolve_in_doubt(&self) -> Result<(), StoreError> {
        let mut in_doubt = self.in_doubt.lock();
        while let Some(next) = in_doubt.last() {
            let (ids, written) = match next {
                InDoubt::Parts { ids, written } => (ids, written.first().map(|facts| facts.id)),
                InDoubt::Keys { ids, with } => (ids, with.as_ref().map(|file| file.facts.id)),
            };
            let mut catalog = self.catalog.lock();
            // A committed replacement lists the written file, or no longer lists the replaced one.
            let has_happened = match (written, ids.first()) {
                (Some(written), _) => catalog.is_listed(written)?,
                (None, Some(replaced)) => !catalog.is_listed(*replaced)?,
                (None, None) => true,
            };
            drop(catalog);
            match in_doubt.pop().expect("the list is not empty") {
                InDoubt::Parts { ids, written } if has_happened => self.swap_parts(&ids, written),
                InDoubt::Parts { written, .. } => self.layout.discard(&written),
                InDoubt::Keys { ids, with } if has_happened => self.swap_keys(&ids, with),
                InDoubt::Keys { with, .. } => with.iter().for_each(|file| self.layout.discard_keys(&file.facts)),
            }
        }
        Ok(())
    }

    /// Renames registered parts to their final names and makes them visible. The replaced files are unlinked after
    /// their last reader.
    fn swap_parts(&self, ids: &[u64], written: Vec<PartFacts>) {
        let _publishing = self.publishing();
        self.layout.publish(&written);
        let with: Vec<Arc<Part>> = written.into_iter().map(|facts| self.part(facts)).collect();
        let mut replaced = Vec::new();
        let mut state = self.state.lock();
        for parts in &mut state.parts {
            replaced.extend(parts.extract_if(.., |part| ids.contains(&part.facts.id)));
        }
        for part in with {
            let parts = &mut state.parts[part.facts.table as usize];
            let at = parts.partition_point(|other| other.facts.first_id <= part.facts.first_id);
            parts.insert(at, part);
        }
        drop(state);
        replaced.iter().for_each(|part| part.unlink_on_drop());
    }

    fn swap_keys(&self, ids: &[u64], with: Option<DedupFile>) {
        let _publishing = self.publishing();
        with.iter().for_each(|file| self.layout.publish_keys(&file.facts));
        self.dedup.lock().replace(ids, with);
        for id in ids {
            // Running look-ups keep the file open.
            self.layout.removal.remove(*id, DedupFile::path(&self.layout.dedup_folder(), *id));
        }
    }
}
