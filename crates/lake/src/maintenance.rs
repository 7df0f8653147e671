//! Merging, retention, and the end of old keys: each one replacement (`settle`).

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use super::dedup::file::{self as seen_file, Generation, SeenFacts, SeenFile, SeenKeys};
use super::merge;
use super::part::Part;
use super::state::Shared;
use crate::merge::policy;
use tidewatch_store::StoreError;
use tidewatch_store::days::day_of;
use tidewatch_store::{Work, Worked};

const HOUR_NS: i64 = 3600 * 1_000_000_000;
/// Key files of so many hours that are over become one.
const KEY_HOURS: i64 = 6;

impl Shared {
    /// Does one merge, of parts or of key files; false when there is nothing to merge or `stop` said so. `now_ns` is
    /// `i64::MIN` when the time is not known: then no day is over.
    pub fn merge_once(&self, now_ns: i64, stop: &mut dyn FnMut() -> bool) -> Result<bool, StoreError> {
        self.try_merge(now_ns, stop).map_err(|failed| failed.error)
    }

    /// As [`Shared::merge_once`], errors logged. Whether another merge may be tried at once: also when this one failed on
    /// parts or key files that are left out from now on.
    pub fn merge_next(&self, now_ns: i64, stop: &mut dyn FnMut() -> bool) -> bool {
        self.try_merge(now_ns, stop).unwrap_or_else(|MergeFailed { error, others_may_do }| {
            tracing::error!(%error, "cannot merge parts; they stay as they are: {error}");
            others_may_do
        })
    }

    fn try_merge(&self, now_ns: i64, stop: &mut dyn FnMut() -> bool) -> Result<bool, MergeFailed> {
        let _upkeep = self.upkeep.lock();
        let parts: Vec<Arc<Part>> = self.state.lock().parts.iter().flatten().cloned().collect();
        let Some(inputs) = policy::pick(&parts, self.options.merge, day_of(now_ns)) else {
            return self.merge_keys(now_ns);
        };
        drop(parts);
        let start = Instant::now();
        let attempt = catch_unwind(AssertUnwindSafe(|| self.merge_parts(&inputs, stop)));
        let merged = attempt.unwrap_or_else(|panic| Err(StoreError::panicked("merge parts", &*panic)));
        let rows = merged.as_ref().map_or(0, |rows| rows.unwrap_or(0));
        self.worked(Worked { work: Work::Merge, took: start.elapsed(), rows, has_failed: merged.is_err() });
        match merged {
            Ok(rows) => Ok(rows.is_some()),
            Err(error) => Err(MergeFailed { others_may_do: suspect(&inputs, &error), error }),
        }
    }

    /// The rows of the one that replaces them; `None` when `stop` said so or one of them is gone.
    fn merge_parts(&self, inputs: &[Arc<Part>], stop: &mut dyn FnMut() -> bool) -> Result<Option<u64>, StoreError> {
        let Some(facts) = merge::merge(&self.layout, inputs, stop)? else { return Ok(None) };
        let ids: Vec<u64> = inputs.iter().map(|part| part.facts.id).collect();
        let (table, rows) = (facts.table, facts.rows);
        Ok(self.replace_parts(table, &ids, vec![facts])?.then_some(rows))
    }

    /// Removes what is due by the trusted time: rows and keys that are kept no longer, and what exceeds the disk's budget.
    /// Nothing before the replay is over. Errors are logged; the next call tries again.
    pub fn remove_due(&self, stop: &mut dyn FnMut() -> bool) {
        let Some(now_ns) = self.trusted_now() else { return };
        if let Err(error) = self.retain(now_ns, stop) {
            tracing::error!(%error, "cannot drop what is too old");
        }
        if let Err(error) = self.keep_within_budget(now_ns) {
            tracing::error!(%error, "cannot drop the oldest days");
        }
        if let Err(error) = self.note_time(now_ns) {
            tracing::error!(%error, "cannot note the time in the catalog");
        }
    }

    /// Removes rows and keys that are kept no longer; bytes given back to the disk.
    pub fn retain(&self, now_ns: i64, stop: &mut dyn FnMut() -> bool) -> Result<u64, StoreError> {
        let removed = self.remove_expired(day_of(now_ns), stop);
        self.drop_old_keys(now_ns)?;
        self.lost.remove_old(day_of(now_ns))?;
        Ok(removed?.bytes)
    }

    fn drop_old_keys(&self, now_ns: i64) -> Result<(), StoreError> {
        let ids = self.seen.lock().expired(now_ns);
        if !ids.is_empty() {
            self.replace_keys(&ids, None)?;
        }
        Ok(())
    }

    /// Merges key files, so that a look-up asks few.
    fn merge_keys(&self, now_ns: i64) -> Result<bool, MergeFailed> {
        let files: Vec<Arc<SeenFile>> = self.seen.lock().files().filter(|file| !file.is_suspect()).cloned().collect();
        let Some(inputs) = pick_keys(&files, self.options.merge.fan_in, now_ns) else { return Ok(false) };
        self.merge_key_files(&inputs).map_err(|error| {
            let path_of = |file: &SeenFile| SeenFile::path(&self.layout.seen_folder(), file.facts.id);
            let failed = inputs.iter().find(|file| error.faulty_file() == Some(&path_of(file)));
            failed.into_iter().for_each(|file| file.suspect());
            MergeFailed { others_may_do: failed.is_some(), error }
        })
    }

    fn merge_key_files(&self, inputs: &[Arc<SeenFile>]) -> Result<bool, StoreError> {
        let facts = SeenFacts {
            id: self.layout.next_id(),
            keys: 0,
            received_min: inputs.iter().map(|file| file.facts.received_min).min().unwrap_or(0),
            received_max: inputs.iter().map(|file| file.facts.received_max).max().unwrap_or(0),
            level: inputs.iter().map(|file| file.facts.level).max().unwrap_or(0).saturating_add(1),
        };
        let keys_max = inputs.iter().map(|file| file.facts.keys).sum();
        let mut union = Union::new(inputs)?;
        let generation = inputs.iter().map(|file| file.generation()).min().unwrap_or_default();
        let (disk, folder) = (&self.layout.disk, self.layout.seen_folder());
        let file = seen_file::write(disk, &folder, generation, facts, keys_max, || union.next())?;
        let ids: Vec<u64> = inputs.iter().map(|file| file.facts.id).collect();
        // False: some of them have just expired.
        self.replace_keys(&ids, Some(file))
    }
}

/// A merge that failed.
struct MergeFailed {
    error: StoreError,
    /// What it failed on is left out from now on: a merge of others may do.
    others_may_do: bool,
}

/// Marks the parts that an error comes from: the one it names, or all of them when rows that were read cannot be merged.
/// False when it comes from none of them.
pub(super) fn suspect(parts: &[Arc<Part>], error: &StoreError) -> bool {
    let is_meant = |part: &&Arc<Part>| match error {
        StoreError::Internal { .. } => true,
        _ => error.faulty_file() == Some(part.path()),
    };
    let meant: Vec<_> = parts.iter().filter(is_meant).collect();
    meant.iter().for_each(|part| part.suspect(error));
    !meant.is_empty()
}

/// Files of the newest hour, when there are `fan_in` of one level; else of a quarter of a day that is over, or of an hour
/// that is over, when there are two. Files of different generations stay apart: the older expire without the newer.
fn pick_keys(files: &[Arc<SeenFile>], fan_in: usize, now_ns: i64) -> Option<Vec<Arc<SeenFile>>> {
    let hour_of = |file: &Arc<SeenFile>| file.facts.received_max.div_euclid(HOUR_NS);
    // A clock that was ahead for a while left hours that are still to come: they end nothing.
    let passed = files.iter().map(hour_of).filter(|hour| *hour <= now_ns.div_euclid(HOUR_NS)).max();
    let newest = passed.or_else(|| files.iter().map(hour_of).max())?;
    let mut groups: BTreeMap<(i64, u8, Generation), Vec<&Arc<SeenFile>>> = BTreeMap::new();
    for file in files {
        let hour = hour_of(file);
        let quarter = hour.div_euclid(KEY_HOURS);
        let (start, level) = match hour {
            _ if quarter < newest.div_euclid(KEY_HOURS) => (quarter * KEY_HOURS, 0),
            _ if hour < newest => (hour, 0),
            _ => (hour, file.facts.level),
        };
        groups.entry((start, level, file.generation())).or_default().push(file);
    }
    let is_worth =
        |(group, files): &((i64, u8, Generation), Vec<_>)| files.len() >= if group.0 < newest { 2 } else { fan_in };
    let (_, files) = groups.into_iter().find(is_worth)?;
    Some(files.into_iter().take(fan_in).map(Arc::clone).collect())
}

/// The keys of several files, ascending, each once.
struct Union<'a> {
    inputs: Vec<(SeenKeys<'a>, Option<u128>)>,
}

impl<'a> Union<'a> {
    fn new(files: &'a [Arc<SeenFile>]) -> Result<Union<'a>, StoreError> {
        let start = |file: &'a Arc<SeenFile>| {
            let mut keys = file.keys();
            let first = keys.next_key()?;
            Ok((keys, first))
        };
        Ok(Union { inputs: files.iter().map(start).collect::<Result<_, StoreError>>()? })
    }

    fn next(&mut self) -> Result<Option<u128>, StoreError> {
        let Some(least) = self.inputs.iter().filter_map(|(_, key)| *key).min() else { return Ok(None) };
        for (keys, head) in self.inputs.iter_mut().filter(|(_, head)| *head == Some(least)) {
            *head = keys.next_key()?;
        }
        Ok(Some(least))
    }
}
