//! `tidewatch symbols upload`.

use std::collections::HashMap;
use std::path::PathBuf;

use anyhow::{Context, bail};

use super::batch;
use super::find::{Found, Refused, find};
use super::progress::Progress;
use super::send::{Answer, Door};
use super::{Said, base_url, counted, environment, megabytes, remark};
use crate::symbols::keys::SymbolKey;

/// Sends what is usable: files, folders (looked through), dSYM bundles.
#[derive(Debug, clap::Args)]
pub struct UploadArgs {
    /// Files, folders, dSYM bundles.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Base address of the server; also TRACEWAY_URL.
    #[arg(long, env = "TIDEWATCH_URL")]
    url: Option<String>,
    /// The project's upload token; also TRACEWAY_UPLOAD_TOKEN, TRACEWAY_SOURCEMAP_TOKEN.
    #[arg(long, env = "TIDEWATCH_UPLOAD_TOKEN", hide_env_values = true)]
    token: Option<String>,
    #[command(flatten)]
    said: Said,
    /// Says what would be sent, and sends nothing.
    #[arg(long)]
    dry_run: bool,
}

/// The exit code is 0 if something was found, and all of it is kept.
pub fn run(arguments: &UploadArgs, mut say: impl FnMut(&str)) -> anyhow::Result<()> {
    let findings = find(&arguments.paths, arguments.said.fields());
    let mut refused = findings.refused;
    refused.iter().for_each(tell);
    say_collisions(&findings.found);
    if findings.found.is_empty() {
        bail!("nothing to send: {} passed over, {} refused", counted(findings.passed_over, "file"), refused.len());
    }
    let (files, total) = (findings.found.len(), findings.found.iter().map(|file| file.bytes).sum());
    let requests = batch::group(findings.found);
    let in_requests = counted(requests.len(), "request");
    if arguments.dry_run {
        for file in requests.iter().flatten() {
            say(&format!("{}  {}  {}", file.name, megabytes(file.bytes), super::inspect::kinds(file)));
        }
        say(&format!("{} ({}) would be sent in {in_requests}", counted(files, "file"), megabytes(total)));
    } else {
        let base = base_url(arguments.url.as_deref())?;
        let known = ["TRACEWAY_UPLOAD_TOKEN", "TRACEWAY_SOURCEMAP_TOKEN"];
        let token = arguments.token.clone().or_else(|| known.into_iter().find_map(environment));
        let token = token.context("give the project's upload token: --token or TIDEWATCH_UPLOAD_TOKEN")?;
        let door = Door { base: &base, token: token.trim(), fields: arguments.said.fields() };
        let progress = Progress::new(total);
        let mut kept = 0;
        for request in requests {
            let before = refused.len();
            kept += keep(&door, request, &progress, &mut refused)?;
            progress.clear();
            refused[before..].iter().for_each(tell);
        }
        say(&format!("{} of {} ({}) kept, sent in {in_requests}", kept, counted(files, "file"), megabytes(total)));
    }
    if !refused.is_empty() {
        bail!("{} refused", counted(refused.len(), "file"));
    }
    Ok(())
}

/// How many are kept. If one of several is refused none is, so each is sent on its own then.
fn keep(door: &Door<'_>, files: Vec<Found>, progress: &Progress, refused: &mut Vec<Refused>) -> anyhow::Result<usize> {
    let before = progress.done();
    let Answer::Refused(why) = door.send(&files, progress)? else { return Ok(files.len()) };
    if let [file] = &files[..] {
        // The server's sentence names the file already.
        let why = why.strip_prefix(&format!("{}: ", file.name)).unwrap_or(&why).to_owned();
        refused.push(Refused { name: file.name.clone(), why });
        return Ok(0);
    }
    progress.back_to(before);
    let mut kept = 0;
    for file in files {
        kept += keep(door, vec![file], progress, refused)?;
    }
    Ok(kept)
}

fn tell(refused: &Refused) {
    remark(&format!("{}: {}", refused.name, refused.why));
}

/// Source maps without debug ids are known by their file name alone: of two that share it the later one wins.
fn say_collisions(found: &[Found]) {
    let mut names: HashMap<&SymbolKey, &str> = HashMap::new();
    for file in found.iter().filter(|file| file.keys.len() == 1) {
        let (key, _) = &file.keys[0];
        if let (SymbolKey::SourceMap(_), Some(other)) = (key, names.insert(key, &file.name)) {
            remark(&format!("{other} and {} have one name and no debug ids: only the later one is kept", file.name));
        }
    }
}
