//! `tidewatch config export|plan|apply`: alerting, monitors, on-call and saved views as YAML files, through the HTTP API.
//!
//! - [`remote`]: the server. [`folder`]: the files. What they say is in `alerts/config_files`.
//!
//! The command is a client of the HTTP API and reads no data directory.

mod folder;
mod remote;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};

use crate::cli::server_address::{base_url, environment, is_project_token};
use remote::Remote;
use tidewatch_alerts::config_files::{self, Files, KINDS, Kind, Options, Plan, World};

/// The server and the project.
#[derive(Debug, Clone, clap::Args)]
pub struct Server {
    /// Base address of the server; also TRACEWAY_URL.
    #[arg(long, env = "TIDEWATCH_URL")]
    url: Option<String>,
    /// A personal access token, with the scope read for `export` and `plan`, write for `apply`, admin for what belongs to
    /// the organization; also TIDEWATCH_TOKEN.
    #[arg(long, env = "TIDEWATCH_ACCESS_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// Id or name of the project. The token's only one when not given.
    #[arg(long, env = "TIDEWATCH_PROJECT")]
    project: Option<String>,
}

/// Arguments of `tidewatch config export`.
#[derive(Debug, Clone, clap::Args)]
pub struct ExportArgs {
    /// The folder of the files; created if it does not exist.
    folder: PathBuf,
    /// channels, rules, monitors, status-pages, teams, schedules, escalation-policies or saved-views; again for more.
    /// All when not given.
    #[arg(long)]
    kind: Vec<String>,
    /// Writes the ids too: an object stays the same when its name changes. The files are for this project only.
    #[arg(long)]
    ids: bool,
    #[command(flatten)]
    server: Server,
}

/// Arguments of `tidewatch config plan` and `tidewatch config apply`.
#[derive(Debug, Clone, clap::Args)]
pub struct ApplyArgs {
    /// The folder of the files.
    folder: PathBuf,
    /// Deletes objects that no file describes, of the kinds that the files have.
    #[arg(long)]
    prune: bool,
    /// Sends all secrets again: whether one has changed cannot be seen.
    #[arg(long)]
    secrets: bool,
    #[command(flatten)]
    server: Server,
}

/// Writes a file for each kind. `print_line` gets the names of the files.
pub fn export(arguments: &ExportArgs, mut print_line: impl FnMut(&str)) -> anyhow::Result<()> {
    let kinds = kinds_of(&arguments.kind)?;
    let remote = connect(&arguments.server)?;
    let known = known_files(&arguments.folder, &kinds, &remote)?;
    let world = World::fetch(&remote, &kinds)?;
    let exported = config_files::export(&world, &kinds, arguments.ids.then_some(remote.project()), &known)?;
    for file in &exported.files {
        let is_new = folder::write(&arguments.folder, file)?;
        print_line(&format!("{}{}", file.name, if is_new { "" } else { ", unchanged" }));
    }
    exported.remarks.iter().for_each(|line| remark(line));
    if !exported.variables.is_empty() {
        let names: Vec<_> = exported.variables.iter().map(String::as_str).collect();
        remark(&format!("secrets are not exported; the files refer to the variables {}", names.join(", ")));
    }
    Ok(())
}

/// Prints what `apply` would do. Returns whether that is anything.
pub fn plan(arguments: &ApplyArgs, mut print_line: impl FnMut(&str)) -> anyhow::Result<bool> {
    let remote = connect(&arguments.server)?;
    let plan = planned(arguments, &remote, &files(arguments, &remote)?)?;
    plan.lines().iter().for_each(|line| print_line(line));
    Ok(!plan.is_empty())
}

/// Changes the server, and prints what was done. An error if the server then differs from the files.
pub fn apply(arguments: &ApplyArgs, mut print_line: impl FnMut(&str)) -> anyhow::Result<()> {
    let remote = connect(&arguments.server)?;
    let files = files(arguments, &remote)?;
    let plan = planned(arguments, &remote, &files)?;
    plan.lines().iter().for_each(|line| print_line(line));
    if plan.is_empty() {
        return Ok(());
    }
    config_files::apply(&remote, &plan, &environment, &mut print_line)?;
    let once_more = ApplyArgs { secrets: false, ..arguments.clone() };
    let left = planned(&once_more, &remote, &files).context("everything was sent, but")?;
    let lines = left.lines();
    ensure!(left.is_empty(), "the server stores some of it otherwise than the files have it:\n{}", lines.join("\n"));
    Ok(())
}

fn connect(server: &Server) -> anyhow::Result<Remote> {
    let base = base_url(server.url.as_deref())?;
    let token = server.token.clone().or_else(|| environment("TIDEWATCH_TOKEN"));
    let token = token.context("give a personal access token: --token or TIDEWATCH_ACCESS_TOKEN")?;
    let token = token.trim();
    ensure!(!is_project_token(token), "this is a token of a project: give a personal access token");
    Remote::connect(base, token, server.project.as_deref())
}

fn files(arguments: &ApplyArgs, remote: &Remote) -> anyhow::Result<Files> {
    let sources = folder::read(&arguments.folder)?;
    ensure!(!sources.is_empty(), "{} has no file whose name ends in .yaml or .yml", arguments.folder.display());
    Ok(config_files::read(&sources, remote.project())?)
}

fn planned(arguments: &ApplyArgs, remote: &Remote, files: &Files) -> anyhow::Result<Plan> {
    let world = World::fetch(remote, &files.kinds)?;
    let options = Options { prunes: arguments.prune, with_secrets: arguments.secrets };
    Ok(config_files::plan(&world, files, options, &environment)?)
}

fn kinds_of(names: &[String]) -> anyhow::Result<Vec<&'static Kind>> {
    for name in names {
        let known = || KINDS.iter().map(|kind| kind.listing.name).collect::<Vec<_>>().join(", ");
        ensure!(config_files::kind(name).is_some(), "there is no kind {name}; it is one of {}", known());
    }
    let is_wanted = |kind: &&Kind| names.is_empty() || names.iter().any(|name| name == kind.listing.name);
    Ok(KINDS.iter().filter(is_wanted).collect())
}

/// The files that an export replaces. An error if a kind is in another file: it would be described twice.
fn known_files(path: &Path, kinds: &[&'static Kind], remote: &Remote) -> anyhow::Result<Files> {
    if !path.exists() {
        return Ok(Files::default());
    }
    let is_replaced = |name: &str| kinds.iter().any(|kind| kind.file_name() == name);
    let (replaced, others): (Vec<_>, Vec<_>) = folder::read(path)?.into_iter().partition(|one| is_replaced(&one.name));
    for other in &others {
        let files = config_files::read(std::slice::from_ref(other), remote.project())?;
        if let Some(kind) = files.kinds.iter().find(|kind| kinds.iter().any(|one| one.listing == kind.listing)) {
            bail!("{} has {} already: move them to {}", other.name, kind.listing.name, kind.file_name());
        }
    }
    Ok(config_files::read(&replaced, remote.project())?)
}

/// Prints a line to standard error.
fn remark(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
