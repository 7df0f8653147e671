//! A control database without an account beside telemetry of projects.
//!
//! Only an account makes projects, and only projects receive telemetry: such a database was lost, replaced, or its log lost
//! the last transactions. SQLite takes damage in the last transactions of its log for a power cut. A start would go on with
//! no account and overwrite the rest.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use tidewatch_journal::disk::RealDisk;
use tidewatch_journal::sqlite_wal;
use tidewatch_lake::check as lake_check;

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

/// `None` also when the database's log is damaged, which opening the database reports. Writes nothing. Blocks; not for async
/// threads.
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

/// In parts, or in the journal.
fn has_telemetry(data: &Path) -> anyhow::Result<bool> {
    if !data.join("catalog.sqlite").exists() {
        return Ok(false);
    }
    let copies = tempfile::TempDir::new().context("cannot make a temporary directory")?;
    let catalog = copy_database(data, "catalog.sqlite", copies.path())?;
    let (covered, highest_project) = lake_check::reach(&catalog).context("cannot read catalog.sqlite")?;
    let journal = data.join("journal");
    if highest_project > 0 || !journal.exists() {
        return Ok(highest_project > 0);
    }
    let report = tidewatch_journal::inspect(&journal, &RealDisk, covered, &mut |_, _| Ok(()))?;
    Ok(report.records > 0)
}

/// Copies a database with its log, as a crash left them; the path of the copy.
pub fn copy_database(data: &Path, name: &str, to: &Path) -> anyhow::Result<PathBuf> {
    for name in [name.to_owned(), format!("{name}-wal")] {
        match fs::copy(data.join(&name), to.join(&name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            copied => drop(copied.with_context(|| format!("cannot copy {}", data.join(&name).display()))?),
        }
    }
    Ok(to.join(name))
}
