//! `tidewatch check`: verifies files against their checksums, the catalog against the files, roll-ups against rows, and
//! symbol files against the hashes recorded at their upload.
//!
//! Read-only: databases are opened as copies in a temporary directory. The data directory, or a backup of it, must not
//! be in use; [`lock`] ensures that.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use tidewatch_journal::disk::{Disk, RealDisk};
use tidewatch_journal::sqlite_wal;
use tidewatch_journal::{Position, ReplayReport};
use tidewatch_lake::check as lake_check;

use crate::backup::manifest::{self, Manifest};
use crate::config::Config;
use crate::process::missing_accounts::{self, copy_database};
use tidewatch_ingest::symbols;
use tidewatch_ingest::{prices, record};

const LOCK: &str = "lake.lock";

/// The result of a check.
#[derive(Debug, Clone, Default)]
pub struct Checked {
    /// Number of parts.
    pub parts: u64,
    /// Number of rows in parts.
    pub rows: u64,
    /// Number of dedup key files.
    pub key_files: u64,
    /// Number of journal records.
    pub records: u64,
    /// Number of symbol files and source maps.
    pub symbol_files: u64,
    /// One sentence per finding.
    pub findings: Vec<String>,
}

/// Checks the data directory and prints every finding; an error if there is any. Blocks.
pub fn run(config: &Config, print_line: fn(&str)) -> anyhow::Result<()> {
    let data = &config.data_dir;
    ensure!(data.join("catalog.sqlite").exists(), "there is no store in {}; is --data-dir right?", data.display());
    let _lock = lock(data)?.with_context(|| {
        format!("a server uses {}: stop it, or check a backup of it (tidewatch backup)", data.display())
    })?;
    let mut checked = check_directory(data, true)?;
    if is_backup(data) {
        checked.findings.extend(Manifest::differences(data));
    }
    if config.has_local_control() {
        if !is_backup(data) {
            checked.findings.extend(missing_accounts::find(data)?.map(|missing| missing.to_string()));
        }
    } else {
        print_line("the control database is in PostgreSQL and was not checked");
    }
    checked.findings.iter().for_each(|finding| print_line(finding));
    let Checked { parts, rows, key_files, records, symbol_files, findings } = &checked;
    match findings.len() {
        0 => {
            let stored = format!("{parts} parts with {rows} rows, {key_files} key files, {records} records");
            print_line(&format!("{stored}, {symbol_files} symbol files: all is well"));
            Ok(())
        }
        1 => bail!("one finding in {}", data.display()),
        count => bail!("{count} findings in {}", data.display()),
    }
}

/// Whether it is a backup that no server was started on: its files are those in its manifest.
fn is_backup(data: &Path) -> bool {
    data.join(manifest::NAME).exists() && !data.join(LOCK).exists()
}

/// Locks the directory against servers until the value is dropped. `None`: a server uses it.
pub fn lock(data: &Path) -> anyhow::Result<Option<File>> {
    let path = data.join(LOCK);
    let file = match File::open(&path) {
        // A backup has no lock file, and no server uses it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => File::open(data),
        opened => opened,
    };
    let file = file.with_context(|| format!("cannot open {}", path.display()))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error).with_context(|| format!("cannot lock {}", path.display())),
    }
}

/// Checks a data directory. `in_full`: also every row, roll-ups against rows, and symbol files. Blocks.
pub fn check_directory(data: &Path, in_full: bool) -> anyhow::Result<Checked> {
    let copies = tempfile::TempDir::new().context("cannot make a temporary directory")?;
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let catalog = copy_database(data, "catalog.sqlite", copies.path())?;
    let lake = lake_check::check(data, &catalog, &disk, in_full);
    let mut checked = Checked { parts: lake.parts, rows: lake.rows, key_files: lake.key_files, ..Checked::default() };
    let sentence = |finding: &lake_check::Finding| {
        // Most errors name their file.
        let path = finding.path.display().to_string();
        if finding.what.contains(&path) { finding.what.clone() } else { format!("{path}: {}", finding.what) }
    };
    checked.findings.extend(lake.findings.iter().map(sentence));
    check_journal(data, &*disk, lake.covered, &mut checked);
    if data.join("control.sqlite").exists() {
        let control = copy_database(data, "control.sqlite", copies.path())?;
        let place = data.join("control.sqlite");
        checked
            .findings
            .extend(sqlite_wal::find_damage(&place).with_context(|| format!("cannot read {}", place.display()))?);
        match tidewatch_accounts::integrity(&control) {
            Ok(lines) => {
                checked.findings.extend(lines.iter().map(|line| format!("{}: {line}", place.display())));
            }
            Err(error) => checked.findings.push(format!("{}: {error:#}", place.display())),
        }
    }
    let prices =
        prices::damaged(data).with_context(|| format!("cannot list the price tables in {}", data.display()))?;
    let of_prices =
        |path: &PathBuf| format!("{}: it does not hold the prices that its name stands for", path.display());
    checked.findings.extend(prices.iter().map(of_prices));
    // Damaged symbol files do not prevent a backup, or a restore of telemetry.
    if in_full {
        checked.symbol_files = symbols::check::check(&data.join("blobs"), &mut checked.findings);
    }
    Ok(checked)
}

/// Checks the records that a start would replay, and earlier records that are still in the journal.
fn check_journal(data: &Path, disk: &dyn Disk, covered: Position, checked: &mut Checked) {
    let folder = data.join("journal");
    let first = match disk.list(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return,
        Err(error) => {
            checked.findings.push(format!("{}: {error}", folder.display()));
            return;
        }
        Ok(files) => files.iter().filter_map(|(path, _)| first_position(path)).min(),
    };
    let mut found = Vec::new();
    let mut records = 0;
    // First from the position in the catalog, then from the first file.
    for from in [Some(covered), first.filter(|first| *first < covered)].into_iter().flatten() {
        records = 0;
        let mut unreadable = Vec::new();
        let visited = tidewatch_journal::inspect(&folder, disk, from, &mut |position, payload| {
            records += 1;
            if let Err(error) = record::decode(payload) {
                unreadable.push(format!("{}: the record at {position} cannot be read: {error}", folder.display()));
            }
            Ok(())
        });
        match visited {
            Ok(ReplayReport { corrupt, .. }) => {
                found.extend(corrupt.iter().map(|range| {
                    let file = range.segment.as_ref().unwrap_or(&folder).display();
                    format!("{file}: {} to {}: {}", range.from, range.to, range.why)
                }));
                found.extend(unreadable);
            }
            Err(error) => found.push(format!("{}: {error}", folder.display())),
        }
    }
    match tidewatch_journal::header_damage(&folder, disk) {
        Ok(paths) => {
            found.extend(paths.iter().map(|path| format!("{}: one copy of the header is damaged", path.display())));
        }
        Err(error) => found.push(format!("{}: {error}", folder.display())),
    }
    found.sort();
    found.dedup();
    checked.records = records;
    checked.findings.extend(found);
}

/// First position of a segment, from its file name.
fn first_position(path: &Path) -> Option<Position> {
    let digits = path.file_name()?.to_str()?.strip_suffix(".segment")?;
    digits.parse().ok().map(Position)
}
