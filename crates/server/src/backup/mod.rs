//! `tidewatch backup` and `tidewatch restore`: a consistent copy of a data directory, also while the server runs.
//!
//! - [`manifest`]: the files of a backup with sizes and checksums. [`source`]: a running server, or a
//!   directory that no process uses. [`write`]: makes the copy. [`socket`]: connects the command to the server.
//!   [`restore`]: copies a backup back. [`check`]: verifies a data directory or a backup.
//!
//! The order of steps makes the copy consistent: journal segments are pinned, then the catalog is copied, then the
//! parts that this copy lists, and the journal last. Everything acknowledged before the backup began is in its parts or
//! its journal. The copy is a data directory: `tidewatch check` reads it.
//!
//! A backup without a manifest is incomplete.

pub mod check;
pub mod manifest;
pub mod restore;
pub mod socket;
pub mod source;
pub mod write;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};

use crate::config::Config;
use manifest::Manifest;
use socket::{Answer, Request};
use source::Idle;
use tidewatch_limits::clock::Clock;

/// Arguments of `tidewatch backup`.
#[derive(Debug, Clone, clap::Args)]
pub struct BackupArgs {
    /// A directory that does not exist yet, or is empty.
    pub target: PathBuf,
    /// Copy the keys in `secrets/` too: anyone who reads the backup can then sign in as any user.
    #[arg(long)]
    pub with_secrets: bool,
    /// Settings, for the data directory and the control database.
    #[command(flatten)]
    pub config: Config,
}

/// Arguments of `tidewatch restore`.
#[derive(Debug, Clone, clap::Args)]
pub struct RestoreArgs {
    /// A directory that `tidewatch backup` wrote.
    pub from: PathBuf,
    /// Settings, for the data directory.
    #[command(flatten)]
    pub config: Config,
}

/// Lets the running server write the backup, or writes it when no process uses the data directory; then verifies it.
/// `config`: the effective settings. Blocks.
pub fn backup(arguments: &BackupArgs, config: &Config, print_line: fn(&str)) -> anyhow::Result<()> {
    let data = &config.data_dir;
    let target = std::path::absolute(&arguments.target).context("cannot tell the target's path")?;
    ensure!(data.join("catalog.sqlite").exists(), "there is no store in {}; is --data-dir right?", data.display());
    let request = Request { target: target.clone(), with_secrets: arguments.with_secrets };
    match socket::send_request(data, &request)? {
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
    print_line(&format!("{}: {}, verified", target.display(), manifest.summary()));
    if !manifest.with_secrets {
        print_line(
            "secrets/ is not in it: keep SECRETS_KEY or secrets/sealing.key elsewhere, a restored server needs it",
        );
    }
    if manifest.control_database != manifest::SQLITE {
        print_line("the control database is in PostgreSQL and not in it: make a copy with pg_dump at the same time");
    }
    Ok(())
}

/// Restores a backup into an empty data directory, and verifies it. `config`: the effective settings. Blocks.
pub fn restore(arguments: &RestoreArgs, config: &Config, print_line: fn(&str)) -> anyhow::Result<()> {
    let data = &config.data_dir;
    let manifest = restore::restore(&arguments.from, data)?;
    let checked = check::check_directory(data, false)?;
    ensure!(checked.findings.is_empty(), "the restored directory is not whole: {}", checked.findings.join("; "));
    print_line(&format!("{}: {}, verified", data.display(), manifest.summary()));
    if !manifest.with_secrets {
        print_line(
            "secrets/ is not in it: put secrets/ back, or give SECRETS_KEY and JWT_SECRET, before the server starts",
        );
    }
    if manifest.control_database != manifest::SQLITE {
        print_line("the control database was in PostgreSQL: restore it there, with pg_restore or psql");
    }
    Ok(())
}

/// Verifies size and checksum of every file, and checks the copy as a data directory.
fn verify(target: &Path) -> anyhow::Result<Manifest> {
    let manifest = Manifest::read(target)?;
    for entry in &manifest.files {
        entry.verify(target)?;
    }
    let checked = check::check_directory(target, false)?;
    ensure!(checked.findings.is_empty(), "the backup is not whole: {}", checked.findings.join("; "));
    Ok(manifest)
}
