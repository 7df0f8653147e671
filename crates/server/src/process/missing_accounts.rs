//! Detects a control database without an account next to telemetry of projects.
//!
//! Only an account creates projects, and only projects receive telemetry: such a database was lost, replaced, or its
//! log lost the last transactions. SQLite treats damage in the last transactions of its log like a power cut. A start
//! would continue without accounts and overwrite the rest.
//!
//! The look runs before anything is opened, and writes nothing.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use tidewatch_journal::disk::RealDisk;
use tidewatch_journal::sqlite_wal;
use tidewatch_lake::check as lake_check;

/// The finding that accounts are missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingAccounts {
    /// The control database.
    file: PathBuf,
}

impl fmt::Display for MissingAccounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} has no account, but there is telemetry of projects beside it", self.file.display())
    }
}

/// Checks a data directory. `None` also when the database's log is damaged, which opening the database reports.
/// Read-only. Blocks; not for async threads.
pub fn find(data: &Path) -> anyhow::Result<Option<MissingAccounts>> {
    let file = data.join("control.sqlite");
    let cannot_read = || format!("cannot read {}", file.display());
    if sqlite_wal::find_damage(&file).with_context(cannot_read)?.is_some()
        || tidewatch_accounts::has_had_accounts(&file).with_context(cannot_read)?
    {
        return Ok(None);
    }
    Ok(has_telemetry(data)?.then_some(MissingAccounts { file }))
}

/// Whether there is telemetry in parts or in the journal.
fn has_telemetry(data: &Path) -> anyhow::Result<bool> {
    if !data.join("catalog.sqlite").exists() {
        return Ok(false);
    }
    let copies = tempfile::TempDir::new().context("cannot make a temporary directory")?;
    let catalog = copy_database(data, "catalog.sqlite", copies.path())?;
    let (covered, highest_project) =
        lake_check::journal_start_and_highest_project(&catalog).context("cannot read catalog.sqlite")?;
    let journal = data.join("journal");
    if highest_project > 0 || !journal.exists() {
        return Ok(highest_project > 0);
    }
    let report = tidewatch_journal::inspect(&journal, &RealDisk, covered, &mut |_, _| Ok(()))?;
    Ok(report.records > 0)
}

/// Copies a database with its log, as a crash left them. Returns the path of the copy.
pub fn copy_database(data: &Path, name: &str, to: &Path) -> anyhow::Result<PathBuf> {
    for name in [name.to_owned(), format!("{name}-wal")] {
        match fs::copy(data.join(&name), to.join(&name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            copied => drop(copied.with_context(|| format!("cannot copy {}", data.join(&name).display()))?),
        }
    }
    Ok(to.join(name))
}
