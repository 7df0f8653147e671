//! Checks a store on disk against its catalog: every checksum, and optionally every row and roll-up. Changes nothing.
//!
//! Reads a *copy* of the catalog, because opening a SQLite file writes to it. Takes no lock: no process may change the
//! store meanwhile.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::AsArray;
use arrow::datatypes::{Int64Type, UInt32Type};
use parquet::file::reader::ChunkReader;
use tidewatch_journal::Position;
use tidewatch_journal::disk::Disk;

use crate::catalog::{self, Catalog};
use crate::dedup::file::{DedupFile, DedupFileFacts};
use crate::lifecycle::open;
use crate::lifecycle::rewrite::rows;
use crate::part::temporary::temporary;
use crate::part::{Part, PartFacts};
use crate::rollup::verify;
use tidewatch_store::StoreError;

/// Bytes per read of a part.
const READ_BYTES: u64 = 1 << 20;

/// A defect found by a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The file with the defect.
    pub path: PathBuf,
    /// Description of the defect.
    pub what: String,
}

/// The result of a check.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checked {
    /// Number of listed parts.
    pub parts: u64,
    /// Number of rows of these parts, as listed.
    pub rows: u64,
    /// Size of these parts in bytes, as listed.
    pub bytes: u64,
    /// Number of listed key files.
    pub key_files: u64,
    /// The journal position up to which parts hold every row.
    pub covered: Position,
    /// The defects, in the order in which they were found; empty for an intact store.
    pub findings: Vec<Finding>,
}

/// A file that a catalog lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedFile {
    /// Path relative to the data directory.
    pub path: PathBuf,
    /// Its temporary name, which it has between COMMIT and rename.
    pub temporary: PathBuf,
}

/// The files that a copy of a catalog lists. Fails when the copy is damaged.
pub fn listed_files(catalog: &Path) -> Result<Vec<ListedFile>, StoreError> {
    let opened = Catalog::open_copy(catalog)?;
    let parts = opened.parts.iter().map(|facts| facts.path(Path::new("")));
    let keys = opened.dedup.iter().map(|facts| DedupFile::path(Path::new("seen"), facts.id));
    Ok(parts.chain(keys).map(|path| ListedFile { temporary: temporary(&path), path }).collect())
}

/// From a copy of a catalog: the journal position from which the journal is needed, and the highest project number that
/// any row in a part has ever had (0: none).
pub fn journal_start_and_highest_project(catalog: &Path) -> Result<(Position, u32), StoreError> {
    let catalog = Catalog::open_copy(catalog)?.catalog;
    Ok((catalog.covered(), catalog.highest_project()))
}

/// Copies a catalog that no process has open. Opening it upgrades it to the current version.
pub fn copy_idle_catalog(catalog: &Path, to: &Path) -> Result<(), StoreError> {
    Catalog::open(catalog, false)?.catalog.copy_to(to)
}

/// Checks the store in `dir`. `catalog` is a copy of its catalog and is written to. `with_rows` also checks rows and
/// roll-ups.
pub fn check(dir: &Path, catalog: &Path, disk: &Arc<dyn Disk>, with_rows: bool) -> Checked {
    let mut checked = Checked::default();
    let opened = match Catalog::open_copy(catalog) {
        Ok(opened) => opened,
        Err(error) => {
            checked.found(&dir.join("catalog.sqlite"), &error);
            return checked;
        }
    };
    let catalog::Opened { mut catalog, parts, dedup, removed } = opened;
    checked.covered = catalog.covered();
    match catalog.integrity() {
        Ok(lines) => lines.iter().for_each(|line| checked.found(&dir.join("catalog.sqlite"), line)),
        Err(error) => checked.found(&dir.join("catalog.sqlite"), &error),
    }
    let mut listed = HashMap::new();
    for facts in parts {
        let path = facts.path(dir);
        listed.insert(path.clone(), facts.id);
        checked.parts += 1;
        checked.rows += facts.rows;
        checked.bytes += facts.bytes;
        let part = Part::new(Arc::clone(disk), path.clone(), facts);
        if let Err(error) = check_part(&part, with_rows) {
            checked.found(&path, &error);
        }
    }
    for facts in dedup {
        let path = DedupFile::path(&dir.join("seen"), facts.id);
        listed.insert(path.clone(), facts.id);
        checked.key_files += 1;
        if let Err(error) = check_keys(disk, dir, facts) {
            checked.found(&path, &error);
        }
    }
    match open::files(&**disk, dir) {
        Ok(files) => files.into_iter().for_each(|(path, _)| checked.unlisted(&path, &listed, &removed)),
        Err(error) => checked.found(dir, &error),
    }
    checked
}

impl Checked {
    fn found(&mut self, path: &Path, what: &dyn std::fmt::Display) {
        self.findings.push(Finding { path: path.to_path_buf(), what: what.to_string() });
    }

    /// Files that a crash leaves behind are removed or renamed by the next start, and are no finding.
    fn unlisted(&mut self, path: &Path, listed: &HashMap<PathBuf, u64>, removed: &BTreeSet<u64>) {
        let is_temporary = path.extension().is_some_and(|extension| extension == "tmp");
        let is_removed = open::id_of(path).is_some_and(|id| removed.contains(&id));
        if !listed.contains_key(path) && !is_temporary && !is_removed {
            self.found(path, &"the catalog does not list it; the next start moves it to lost/");
        }
    }
}

fn check_part(part: &Part, with_rows: bool) -> Result<(), StoreError> {
    // Opening verifies the bytes after the blocks. A read that reaches beyond the blocks is not verified.
    let file = part.file()?;
    let checked = file.checked_bytes();
    for start in (0..checked).step_by(READ_BYTES as usize) {
        let length = READ_BYTES.min(checked - start) as usize;
        file.get_bytes(start, length).map_err(|e| crate::error::parquet(part.path(), e))?;
    }
    part.trigrams()?;
    part.blocks_of_ids(std::iter::once(&[0; 16][..]))?;
    if with_rows { check_rows(part) } else { Ok(()) }
}

/// Decodes every page and compares the rows with the catalog's facts and with their roll-up.
fn check_rows(part: &Part) -> Result<(), StoreError> {
    let PartFacts { table, time_min, time_max, project_min, project_max, .. } = part.facts;
    let stored = part.rollup()?;
    let mut recomputed = stored.as_ref().and_then(|_| verify::builder(table));
    let columns = part.attr_columns()?;
    let mut count = 0;
    let (mut times, mut projects) = ((i64::MAX, i64::MIN), (u32::MAX, 0));
    for batch in rows(part, &columns)? {
        let batch = batch?;
        count += batch.num_rows() as u64;
        let column = |name: &str| batch.column_by_name(name).expect("every table has a time and a project");
        for time in column("time").as_primitive::<Int64Type>().values() {
            times = (times.0.min(*time), times.1.max(*time));
        }
        for project in column("project").as_primitive::<UInt32Type>().values() {
            projects = (projects.0.min(*project), projects.1.max(*project));
        }
        if let Some(recomputed) = &mut recomputed {
            recomputed.add(&batch)?;
        }
    }
    if count != part.facts.rows {
        return Err(part.corrupt(&format!("it has {count} rows, and the catalog says {}", part.facts.rows)));
    }
    if (times, projects) != ((time_min, time_max), (project_min, project_max)) {
        return Err(part.corrupt("its times or projects are not those that the catalog says"));
    }
    let (Some(stored), Some(recomputed)) = (stored, recomputed) else { return Ok(()) };
    let mut read = |place| part.read(place).map(|bytes| bytes.to_vec());
    match verify::difference(table, &stored.directory, &mut read, recomputed)? {
        Some(why) => Err(part.corrupt(&why)),
        None => Ok(()),
    }
}

fn check_keys(disk: &Arc<dyn Disk>, dir: &Path, facts: DedupFileFacts) -> Result<(), StoreError> {
    let file = DedupFile::open(disk, &dir.join("seen"), facts)?;
    file.index()?;
    let (mut keys, mut count, mut last) = (file.keys(), 0, None);
    while let Some(key) = keys.next_key()? {
        count += 1;
        if last.replace(key).is_some_and(|last| last >= key) {
            return Err(StoreError::Corrupt {
                path: file.path_of().to_path_buf(),
                why: "its keys are not in order".into(),
            });
        }
    }
    match count == facts.keys {
        true => Ok(()),
        false => Err(StoreError::Corrupt { path: file.path_of().to_path_buf(), why: format!("it has {count} keys") }),
    }
}
