//! Changes of what exists: files are written under temporary names, registered in one catalog transaction, and only then
//! get their names and become visible.
//!
//! When the transaction fails, what it was to register is discarded: it has not happened. When nobody can tell, both sides
//! stay until the catalog can be asked: [`Shared::settle`].

use std::sync::Arc;

use super::dedup::file::{SeenFacts, SeenFile};
use super::part::{Part, PartFacts};
use super::state::{Shared, Unsettled};
use tidewatch_store::StoreError;
use tidewatch_store::tables::Table;

impl Shared {
    /// Replaces parts by written ones, in the catalog and in what is visible. False, and the written ones discarded, when
    /// one of the replaced is no longer there.
    pub fn replace_parts(&self, table: Table, ids: &[u64], written: Vec<PartFacts>) -> Result<bool, StoreError> {
        if let Err(error) = self.settle() {
            self.layout.discard(&written);
            return Err(error);
        }
        let gone = self.layout.removal.take_gone();
        let done = self.catalog.lock().replace_parts(ids, &written, &gone.ids());
        if !matches!(done, Ok(true)) {
            self.layout.removal.put_back(gone);
        }
        match done {
            Ok(true) => self.swap_parts(table, ids, written),
            Ok(false) => self.layout.discard(&written),
            Err(failed) if failed.is_unknown => {
                let unsettled = Unsettled::Parts { table, ids: ids.to_vec(), written };
                self.unsettled.lock().push(unsettled);
                return Err(failed.error);
            }
            Err(failed) => {
                self.layout.discard(&written);
                return Err(failed.error);
            }
        }
        Ok(done.is_ok_and(|done| done))
    }

    /// As [`Shared::replace_parts`], of key files.
    pub fn replace_keys(&self, ids: &[u64], with: Option<SeenFile>) -> Result<bool, StoreError> {
        let discard = |with: &Option<SeenFile>| with.iter().for_each(|file| self.layout.discard_keys(&file.facts));
        if let Err(error) = self.settle() {
            discard(&with);
            return Err(error);
        }
        let facts: Option<SeenFacts> = with.as_ref().map(|file| file.facts);
        let done = self.catalog.lock().replace_seen(ids, facts.as_ref());
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
                self.unsettled.lock().push(Unsettled::Keys { ids: ids.to_vec(), with });
                Err(failed.error)
            }
            Err(failed) => {
                discard(&with);
                Err(failed.error)
            }
        }
    }

    /// Asks the catalog what became of replacements that were left in doubt, and acts on it. An error: it cannot be asked
    /// yet, and nothing more may be replaced.
    pub fn settle(&self) -> Result<(), StoreError> {
        let mut unsettled = self.unsettled.lock();
        while let Some(next) = unsettled.last() {
            let (ids, written) = match next {
                Unsettled::Parts { ids, written, .. } => (ids, written.first().map(|facts| facts.id)),
                Unsettled::Keys { ids, with } => (ids, with.as_ref().map(|file| file.facts.id)),
            };
            let mut catalog = self.catalog.lock();
            // What was written is listed, or what was replaced is not.
            let has_happened = match (written, ids.first()) {
                (Some(written), _) => catalog.lists(written)?,
                (None, Some(replaced)) => !catalog.lists(*replaced)?,
                (None, None) => true,
            };
            drop(catalog);
            match unsettled.pop().expect("it was just looked at") {
                Unsettled::Parts { table, ids, written } if has_happened => self.swap_parts(table, &ids, written),
                Unsettled::Parts { written, .. } => self.layout.discard(&written),
                Unsettled::Keys { ids, with } if has_happened => self.swap_keys(&ids, with),
                Unsettled::Keys { with, .. } => with.iter().for_each(|file| self.layout.discard_keys(&file.facts)),
            }
        }
        Ok(())
    }

    /// Gives registered parts their names and shows them; the replaced files go when their last reader does.
    fn swap_parts(&self, table: Table, ids: &[u64], written: Vec<PartFacts>) {
        let _publishing = self.publishing();
        self.layout.publish(&written);
        let with: Vec<Arc<Part>> = written.into_iter().map(|facts| self.part(facts)).collect();
        let mut state = self.state.lock();
        let parts = &mut state.parts[table as usize];
        let (gone, mut left): (Vec<_>, Vec<_>) = parts.drain(..).partition(|part| ids.contains(&part.facts.id));
        left.extend(with);
        left.sort_by_key(|part| part.facts.first_id);
        *parts = left;
        drop(state);
        gone.iter().for_each(|part| part.doom());
    }

    fn swap_keys(&self, ids: &[u64], with: Option<SeenFile>) {
        let _publishing = self.publishing();
        with.iter().for_each(|file| self.layout.publish_keys(&file.facts));
        self.seen.lock().replace(ids, with);
        for id in ids {
            // Those who still look something up keep the file open.
            self.layout.removal.remove(*id, SeenFile::path(&self.layout.seen_folder(), *id));
        }
    }
}
