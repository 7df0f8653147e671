//! `tidewatch symbols upload`.

use std::collections::HashMap;
use std::path::PathBuf;

use anyhow::{Context, bail};

use super::batch;
use super::find::{Found, Refused, find};
use super::progress::Progress;
use super::send::{Answer, Door};
use super::{Said, base_url, counted, environment, megabytes, remark};
use tidewatch_ingest::symbols::keys::SymbolKey;
use tidewatch_ingest::symbols::sort;

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
    /// Waits for a server that cannot be reached, instead of giving up after three tries.
    #[arg(long)]
    wait: bool,
    /// Says what would be sent, and sends nothing.
    #[arg(long)]
    dry_run: bool,
}

/// The exit code is 0 if something was found, and all of it is kept.
pub fn run(arguments: &UploadArgs, mut say: impl FnMut(&str)) -> anyhow::Result<()> {
    let findings = find(&arguments.paths, arguments.said.fields());
    let mut refused = findings.refused;
    refused.iter().for_each(tell);
    super::say_passed_over(&findings.passed_over);
    say_mapping_ids(&findings.found, &arguments.said);
    if findings.found.is_empty() {
        bail!(
            "nothing to send: {} passed over, {} refused",
            counted(findings.passed_over.len(), "file"),
            refused.len()
        );
    }
    if arguments.dry_run {
        // A server says the same, of what it has already too.
        say_collisions(&findings.found);
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
        let door = Door { base: &base, token: token.trim(), fields: arguments.said.fields(), waits: arguments.wait };
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

/// How many are kept. Where none of several is, each is sent on its own, so that each gets its sentence; a server that
/// keeps all or none would refuse good ones among them.
fn keep(door: &Door<'_>, files: Vec<Found>, progress: &Progress, refused: &mut Vec<Refused>) -> anyhow::Result<usize> {
    let before = progress.done();
    let why = match door.send(&files, progress)? {
        Answer::Kept { rejected, warnings } => {
            progress.clear();
            warnings.iter().for_each(|warning| remark(warning));
            let kept = files.len().saturating_sub(rejected.len());
            refused.extend(rejected);
            return Ok(kept);
        }
        Answer::Refused(why) => why,
    };
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

/// Source maps without debug ids that share a file name are told apart by their folders alone.
fn say_collisions(found: &[Found]) {
    let mut names: HashMap<&SymbolKey, &Found> = HashMap::new();
    for file in found.iter().filter(|file| file.keys.len() == 1) {
        let key = &file.keys[0].key;
        if key.is_source_map()
            && let Some(other) = names.insert(key, file)
            && other.hash != file.hash
        {
            remark(&sort::collision(&other.name, &file.name));
        }
    }
}

/// Under which id a mapping is kept that was given none: the app has to report the same.
fn say_mapping_ids(found: &[Found], said: &Said) {
    for file in found.iter().filter(|_| said.proguard_uuid.is_none()) {
        if let Some(SymbolKey::Mapping(id)) = file.keys.first().map(|found| &found.key) {
            remark(&format!(
                "{}: kept under its own pg_map_id {id}; if the app reports a UUID of its own, give it as --proguard-uuid",
                file.name
            ));
        }
    }
}
