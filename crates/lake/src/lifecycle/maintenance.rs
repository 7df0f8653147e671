//! Merging, retention, and the expiry of keys. Each change is one replacement (`replacement`).

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use crate::dedup::file::{self as dedup_file, DedupFile, DedupFileFacts, DedupFileKeys, Generation};
use crate::lifecycle::state::Shared;
use crate::merge;
use crate::merge::policy;
use crate::part::Part;
use tidewatch_domain::units::HOUR_NS;
use tidewatch_store::StoreError;
use tidewatch_store::days::day_of;
use tidewatch_store::{CompletedWork, Work};

/// Key files of each completed period of this many hours are merged into one.
const KEY_HOURS: i64 = 6;

impl Shared {
    /// Does one merge, of parts or of key files. False when no merge is due or `stop` returned true. `now_ns` is
    /// `i64::MIN` when the time is unknown: then no day has ended.
    pub fn merge_once(&self, now_ns: i64, stop: &mut dyn FnMut() -> bool) -> Result<bool, StoreError> {
        self.try_merge(now_ns, stop).map_err(|failed| failed.error)
    }

    /// Like [`Shared::merge_once`], but logs errors. Returns whether another merge may be tried at once, which is also
    /// the case when this one failed on parts or key files that later merges leave out.
    pub fn merge_next(&self, now_ns: i64, stop: &mut dyn FnMut() -> bool) -> bool {
        self.try_merge(now_ns, stop).unwrap_or_else(|MergeFailed { error, others_may_succeed }| {
            tracing::error!(%error, "cannot merge parts; they stay as they are: {error}");
            others_may_succeed
        })
    }

    fn try_merge(&self, now_ns: i64, stop: &mut dyn FnMut() -> bool) -> Result<bool, MergeFailed> {
        let _maintenance = self.maintenance.lock();
        let parts: Vec<Arc<Part>> = self.state.lock().parts.iter().flatten().cloned().collect();
        let Some(inputs) = policy::pick(&parts, self.options.merge, day_of(now_ns)) else {
            return self.merge_keys(now_ns);
        };
        drop(parts);
        let start = Instant::now();
        let attempt = catch_unwind(AssertUnwindSafe(|| self.merge_parts(&inputs, stop)));
        let merged = attempt.unwrap_or_else(|panic| Err(StoreError::panicked("merge parts", &*panic)));
        let rows = merged.as_ref().map_or(0, |rows| rows.unwrap_or(0));
        self.work_completed(CompletedWork {
            work: Work::Merge,
            took: start.elapsed(),
            rows,
            has_failed: merged.is_err(),
        });
        match merged {
            Ok(rows) => Ok(rows.is_some()),
            Err(error) => Err(MergeFailed { others_may_succeed: suspect(&inputs, &error), error }),
        }
    }

    /// Returns the number of rows of the merged part; `None` when `stop` returned true or an input no longer exists.
    fn merge_parts(&self, inputs: &[Arc<Part>], stop: &mut dyn FnMut() -> bool) -> Result<Option<u64>, StoreError> {
        let Some(facts) = merge::merge(&self.layout, inputs, stop)? else { return Ok(None) };
        let ids: Vec<u64> = inputs.iter().map(|part| part.facts.id).collect();
        let rows = facts.rows;
        Ok(self.replace_parts(&ids, vec![facts])?.then_some(rows))
    }

    /// Removes rows and keys past their retention by the trusted time, and the oldest days when the disk budget is
    /// exceeded. Does nothing before the replay has ended. Errors are logged; the next call tries again.
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

    /// Removes rows and keys past their retention. Returns the bytes freed.
    pub fn retain(&self, now_ns: i64, stop: &mut dyn FnMut() -> bool) -> Result<u64, StoreError> {
        let removed = self.remove_expired(day_of(now_ns), stop);
        self.drop_expired_keys(now_ns)?;
        self.lost.remove_old(day_of(now_ns))?;
        Ok(removed?.bytes)
    }

    fn drop_expired_keys(&self, now_ns: i64) -> Result<(), StoreError> {
        let ids = self.dedup.lock().expired(now_ns);
        if !ids.is_empty() {
            self.replace_keys(&ids, None)?;
        }
        Ok(())
    }

    /// Merges key files, so that a look-up reads few files.
    fn merge_keys(&self, now_ns: i64) -> Result<bool, MergeFailed> {
        let files: Vec<Arc<DedupFile>> = self.dedup.lock().files().filter(|file| !file.is_suspect()).cloned().collect();
        let Some(inputs) = pick_keys(&files, self.options.merge.fan_in, now_ns) else { return Ok(false) };
        self.merge_key_files(&inputs).map_err(|error| {
            let path_of = |file: &DedupFile| DedupFile::path(&self.layout.dedup_folder(), file.facts.id);
            let failed = inputs.iter().find(|file| error.faulty_file() == Some(&path_of(file)));
            failed.into_iter().for_each(|file| file.suspect());
            MergeFailed { others_may_succeed: failed.is_some(), error }
        })
    }

    fn merge_key_files(&self, inputs: &[Arc<DedupFile>]) -> Result<bool, StoreError> {
        let facts = DedupFileFacts {
            id: self.layout.next_id(),
            keys: 0,
            received_min: inputs.iter().map(|file| file.facts.received_min).min().unwrap_or(0),
            received_max: inputs.iter().map(|file| file.facts.received_max).max().unwrap_or(0),
            level: inputs.iter().map(|file| file.facts.level).max().unwrap_or(0).saturating_add(1),
        };
        let keys_max = inputs.iter().map(|file| file.facts.keys).sum();
        let mut merged_keys = MergedKeys::new(inputs)?;
        let generation = inputs.iter().map(|file| file.generation()).min().unwrap_or_default();
        let (disk, folder) = (&self.layout.disk, self.layout.dedup_folder());
        let file = dedup_file::write(disk, &folder, generation, facts, keys_max, || merged_keys.next())?;
        let ids: Vec<u64> = inputs.iter().map(|file| file.facts.id).collect();
        // False when some of them have just expired.
        self.replace_keys(&ids, Some(file))
    }
}

/// A failed merge.
struct MergeFailed {
    error: StoreError,
    /// The cause is left out of later merges, so another merge may succeed.
    others_may_succeed: bool,
}

/// Marks the parts that caused an error: the part that the error names, or all of them when rows that were read cannot
/// be merged. False when no part caused it.
pub(crate) fn suspect(parts: &[Arc<Part>], error: &StoreError) -> bool {
    let is_cause = |part: &&Arc<Part>| match error {
        StoreError::Internal { .. } => true,
        _ => error.faulty_file() == Some(part.path()),
    };
    let causes: Vec<_> = parts.iter().filter(is_cause).collect();
    causes.iter().for_each(|part| part.suspect(error));
    !causes.is_empty()
}

/// Chooses key files to merge: files of the newest hour, when `fan_in` of them have the same level, otherwise at least
/// two of an earlier quarter of a day or of an earlier hour. Files of different generations are not merged with each
/// other, because the older expire without the newer.
fn pick_keys(files: &[Arc<DedupFile>], fan_in: usize, now_ns: i64) -> Option<Vec<Arc<DedupFile>>> {
    let hour_of = |file: &Arc<DedupFile>| file.facts.received_max.div_euclid(HOUR_NS);
    // Files of a clock that was ahead for a while have hours in the future. These end no hour.
    let passed = files.iter().map(hour_of).filter(|hour| *hour <= now_ns.div_euclid(HOUR_NS)).max();
    let newest = passed.or_else(|| files.iter().map(hour_of).max())?;
    let mut groups: BTreeMap<(i64, u8, Generation), Vec<&Arc<DedupFile>>> = BTreeMap::new();
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
    let is_due =
        |(group, files): &((i64, u8, Generation), Vec<_>)| files.len() >= if group.0 < newest { 2 } else { fan_in };
    let (_, files) = groups.into_iter().find(is_due)?;
    Some(files.into_iter().take(fan_in).map(Arc::clone).collect())
}

/// The keys of several files, ascending and without duplicates.
struct MergedKeys<'a> {
    inputs: Vec<(DedupFileKeys<'a>, Option<u128>)>,
}

impl<'a> MergedKeys<'a> {
    fn new(files: &'a [Arc<DedupFile>]) -> Result<MergedKeys<'a>, StoreError> {
        let start = |file: &'a Arc<DedupFile>| {
            let mut keys = file.keys();
            let first = keys.next_key()?;
            Ok((keys, first))
        };
        Ok(MergedKeys { inputs: files.iter().map(start).collect::<Result<_, StoreError>>()? })
    }

    fn next(&mut self) -> Result<Option<u128>, StoreError> {
        let Some(least) = self.inputs.iter().filter_map(|(_, key)| *key).min() else { return Ok(None) };
        for (keys, head) in self.inputs.iter_mut().filter(|(_, head)| *head == Some(least)) {
            *head = keys.next_key()?;
        }
        Ok(Some(least))
    }
}
