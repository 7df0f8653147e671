//! `tidewatch symbols upload`.

use std::collections::HashMap;
use std::path::PathBuf;

use anyhow::{Context, bail};

use super::batch;
use super::find::{Found, Refused, find};
use super::options::FileOptions;
use super::progress::Progress;
use super::send::{Answer, UploadTarget};
use super::skipped::remark_skipped;
use crate::cli::server_address::{base_url, environment};
use crate::cli::terminal::{counted, megabytes, remark};
use tidewatch_ingest::symbols::classify_upload;
use tidewatch_ingest::symbols::keys::SymbolKey;

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
    options: FileOptions,
    /// Waits for a server that cannot be reached, instead of giving up after three tries.
    #[arg(long)]
    wait: bool,
    /// Says what would be sent, and sends nothing.
    #[arg(long)]
    dry_run: bool,
}

/// Finds and sends the files, and prints the result with `print_line`. An error if no file was found, or if any was
/// refused.
pub fn run(arguments: &UploadArgs, mut print_line: impl FnMut(&str)) -> anyhow::Result<()> {
    let findings = find(&arguments.paths, arguments.options.fields());
    let mut refused = findings.refused;
    refused.iter().for_each(remark_refused);
    remark_skipped(&findings.skipped);
    remark_mapping_ids(&findings.found, &arguments.options);
    if findings.found.is_empty() {
        bail!("nothing to send: {} passed over, {} refused", counted(findings.skipped.len(), "file"), refused.len());
    }
    if arguments.dry_run {
        // The server returns the same warnings, and also compares with earlier uploads.
        remark_collisions(&findings.found);
    }
    let (files, total) = (findings.found.len(), findings.found.iter().map(|file| file.bytes).sum());
    let requests = batch::group(findings.found);
    let in_requests = counted(requests.len(), "request");
    if arguments.dry_run {
        for file in requests.iter().flatten() {
            print_line(&format!("{}  {}  {}", file.name, megabytes(file.bytes), super::inspect::kinds(file)));
        }
        print_line(&format!("{} ({}) would be sent in {in_requests}", counted(files, "file"), megabytes(total)));
    } else {
        let base = base_url(arguments.url.as_deref())?;
        let known = ["TRACEWAY_UPLOAD_TOKEN", "TRACEWAY_SOURCEMAP_TOKEN"];
        let token = arguments.token.clone().or_else(|| known.into_iter().find_map(environment));
        let token = token.context("give the project's upload token: --token or TIDEWATCH_UPLOAD_TOKEN")?;
        let target = UploadTarget {
            base: &base,
            token: token.trim(),
            fields: arguments.options.fields(),
            waits: arguments.wait,
        };
        let progress = Progress::new(total);
        let mut kept = 0;
        for request in requests {
            let before = refused.len();
            kept += send_files(&target, request, &progress, &mut refused)?;
            progress.clear();
            refused[before..].iter().for_each(remark_refused);
        }
        print_line(&format!(
            "{} of {} ({}) kept, sent in {in_requests}",
            kept,
            counted(files, "file"),
            megabytes(total)
        ));
    }
    if !refused.is_empty() {
        bail!("{} refused", counted(refused.len(), "file"));
    }
    Ok(())
}

/// Sends files and returns the number stored. When a request of several files is refused, each file is sent separately
/// to get its own error, because a server that stores all or none would refuse valid files among them.
fn send_files(
    target: &UploadTarget<'_>,
    files: Vec<Found>,
    progress: &Progress,
    refused: &mut Vec<Refused>,
) -> anyhow::Result<usize> {
    let before = progress.done();
    let why = match target.send(&files, progress)? {
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
        // The server's message names the file already.
        let why = why.strip_prefix(&format!("{}: ", file.name)).unwrap_or(&why).to_owned();
        refused.push(Refused { name: file.name.clone(), why });
        return Ok(0);
    }
    progress.rewind_to(before);
    let mut kept = 0;
    for file in files {
        kept += send_files(target, vec![file], progress, refused)?;
    }
    Ok(kept)
}

fn remark_refused(refused: &Refused) {
    remark(&format!("{}: {}", refused.name, refused.why));
}

/// Warns about source maps without debug ids that share a file name: only their folders distinguish them.
fn remark_collisions(found: &[Found]) {
    let mut names: HashMap<&SymbolKey, &Found> = HashMap::new();
    for file in found.iter().filter(|file| file.keys.len() == 1) {
        let key = &file.keys[0].key;
        if key.is_source_map()
            && let Some(other) = names.insert(key, file)
            && other.hash != file.hash
        {
            remark(&classify_upload::collision(&other.name, &file.name));
        }
    }
}

/// Prints the id of mappings that are stored under their own id: the app must report the same.
fn remark_mapping_ids(found: &[Found], options: &FileOptions) {
    for file in found.iter().filter(|_| options.proguard_uuid.is_none()) {
        if let Some(SymbolKey::Mapping(id)) = file.keys.first().map(|found| &found.key) {
            remark(&format!(
                "{}: kept under its own pg_map_id {id}; if the app reports a UUID of its own, give it as --proguard-uuid",
                file.name
            ));
        }
    }
}
