//! `tidewatch backup` and `tidewatch restore`: a copy of a data directory that is consistent while the server serves.
//!
//! - `manifest`: what a backup holds, with sizes and checksums. `source`: a serving process, or a directory that nobody
//!   uses. `write`: the copy. `socket`: how the command reaches the server. `restore`: the way back.
//!
//! Order makes the copy consistent: journal segments are held, then the catalog is copied, then the parts that this copy
//! lists, and the journal last. Everything that was acknowledged before the backup began is in its parts or its journal.
//! The copy is a data directory: `tidewatch check` reads it.

pub mod restore;
pub mod socket;
pub mod source;
pub mod write;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};

use crate::backup_manifest::{self, Manifest};
use crate::check;
use crate::config::Config;
use socket::{Answer, Request};
use source::Idle;
use tidewatch_limits::clock::Clock;

#[derive(Debug, Clone, clap::Args)]
pub struct BackupArgs {
    /// A directory that does not exist yet, or is empty.
    pub target: PathBuf,
    /// Copy the keys in `secrets/` too: whoever reads the backup can then sign in as anybody.
    #[arg(long)]
    pub with_secrets: bool,
    #[command(flatten)]
    pub config: Config,
}

#[derive(Debug, Clone, clap::Args)]
pub struct RestoreArgs {
    /// A directory that `tidewatch backup` wrote.
    pub from: PathBuf,
    #[command(flatten)]
    pub config: Config,
}

/// Has the serving process write the backup, or writes it when no process uses the data directory; then verifies it.
/// Blocks. `config`: with the file's settings.
pub fn backup(arguments: &BackupArgs, config: &Config, say: fn(&str)) -> anyhow::Result<()> {
    let data = &config.data_dir;
    let target = std::path::absolute(&arguments.target).context("cannot tell the target's path")?;
    ensure!(data.join("catalog.sqlite").exists(), "there is no store in {}; is --data-dir right?", data.display());
    let request = Request { target: target.clone(), with_secrets: arguments.with_secrets };
    match socket::ask(data, &request)? {
        Some(Answer::Done { .. }) => {}
        Some(Answer::Failed { error }) => bail!("the server cannot write the backup: {error}"),
        None => {
            let _lock = check::lock(data)?.with_context(|| {
                format!(
                    "a process uses {} and does not listen on {} there; restart it, or stop it and try again",
                    data.display(),
                    socket::NAME
                )
            })?;
            let source = Idle::new(config)?;
            write::write(&source, data, &target, arguments.with_secrets, Clock::system().now_ns())?;
        }
    }
    let manifest = verify(&target)?;
    say(&format!("{}: {}, verified", target.display(), manifest.summary()));
    if !manifest.with_secrets {
        say("secrets/ is not in it: keep SECRETS_KEY or secrets/sealing.key elsewhere, a restored server needs it");
    }
    if manifest.control_database != backup_manifest::SQLITE {
        say("the control database is in PostgreSQL and not in it: make a copy with pg_dump at the same time");
    }
    Ok(())
}

/// Writes a backup into an empty data directory, and verifies it. Blocks. `config`: with the file's settings.
pub fn restore(arguments: &RestoreArgs, config: &Config, say: fn(&str)) -> anyhow::Result<()> {
    let data = &config.data_dir;
    let manifest = restore::restore(&arguments.from, data)?;
    let checked = check::check_directory(data, false)?;
    ensure!(checked.findings.is_empty(), "the restored directory is not whole: {}", checked.findings.join("; "));
    say(&format!("{}: {}, verified", data.display(), manifest.summary()));
    if !manifest.with_secrets {
        say("secrets/ is not in it: put secrets/ back, or give SECRETS_KEY and JWT_SECRET, before the server starts");
    }
    if manifest.control_database != backup_manifest::SQLITE {
        say("the control database was in PostgreSQL: restore it there, with pg_restore or psql");
    }
    Ok(())
}

/// Every file has its size and checksum, and the whole is a store without findings.
fn verify(target: &Path) -> anyhow::Result<Manifest> {
    let manifest = Manifest::read(target)?;
    for entry in &manifest.files {
        entry.verify(target)?;
    }
    let checked = check::check_directory(target, false)?;
    ensure!(checked.findings.is_empty(), "the backup is not whole: {}", checked.findings.join("; "));
    Ok(manifest)
}
