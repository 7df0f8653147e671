//! `tidewatch symbols resolve`.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};
use tidewatch_symbols::{ArtifactRequest, DebugId, Hints, Trace, limits};

use super::find::{Found, FoundKey, find};
use super::options::debug_id;
use super::send::CALL_MAX;
use super::send::error_message;
use crate::cli::server_address::{base_url, is_project_token};
use crate::cli::terminal::{counted, remark};
use tidewatch_ingest::symbols::build::Original;
use tidewatch_ingest::symbols::classify_upload::Fields;
use tidewatch_ingest::symbols::gather::{Gathered, Source};
use tidewatch_ingest::symbols::index::Index;
use tidewatch_ingest::symbols::info::Info;
use tidewatch_ingest::symbols::keys::SymbolKey;
use tidewatch_ingest::symbols::release::Release;
use tidewatch_runtime::outbound;

/// Prints the trace, resolved as far as the files permit.
#[derive(Debug, clap::Args)]
pub struct ResolveArgs {
    /// Symbol files, folders, dSYM bundles; none with --url.
    #[arg(required_unless_present = "url", conflicts_with = "url")]
    paths: Vec<PathBuf>,
    /// The trace; standard input without it.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// As telemetry.sdk.language; without it the form of the frames decides.
    #[arg(long)]
    language: Option<String>,
    /// Of the build, where the trace does not say it: Android's mapping, old Dart, a web app of one script.
    #[arg(long, value_name = "HEX")]
    debug_id: Option<String>,
    /// A server that has the files.
    #[arg(long, requires = "project", requires = "token")]
    url: Option<String>,
    /// Id of the project at that server.
    #[arg(long)]
    project: Option<uuid::Uuid>,
    /// A member's session or access token (no upload token).
    #[arg(long, env = "TIDEWATCH_ACCESS_TOKEN", hide_env_values = true)]
    token: Option<String>,
}

/// Resolves the trace and prints it with `print_line`. An error if the trace has raw frames and none of them could be
/// resolved.
pub fn run(arguments: &ResolveArgs, mut print_line: impl FnMut(&str)) -> anyhow::Result<()> {
    let text = read(arguments)?;
    let answer = match (&arguments.url, arguments.project, &arguments.token) {
        (Some(url), Some(project), Some(token)) => {
            resolve_remotely(arguments, &base_url(Some(url))?, project, token, &text)?
        }
        _ => resolve_locally(arguments, &text)?,
    };
    print_line(answer.text.trim_end_matches('\n'));
    for missing in &answer.missing {
        remark(&format!("missing: {missing}"));
    }
    if answer.frames == 0 {
        remark("no raw frames in it: it is symbolic already, or of no known form");
    }
    ensure!(
        answer.frames == 0 || answer.resolved > 0,
        "none of {} could be resolved",
        counted(answer.frames, "raw frame")
    );
    Ok(())
}

struct Answer {
    text: String,
    frames: usize,
    resolved: usize,
    missing: Vec<String>,
}

fn read(arguments: &ResolveArgs) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    let most = limits::TRACE_BYTES_MAX as u64 + 1;
    match &arguments.trace {
        Some(path) => {
            let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
            file.take(most).read_to_end(&mut bytes)?
        }
        None => io::stdin().lock().take(most).read_to_end(&mut bytes)?,
    };
    ensure!(bytes.len() <= limits::TRACE_BYTES_MAX, "the trace is over {} MiB", limits::TRACE_BYTES_MAX >> 20);
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn resolve_remotely(
    arguments: &ResolveArgs,
    base: &str,
    project: uuid::Uuid,
    token: &str,
    text: &str,
) -> anyhow::Result<Answer> {
    ensure!(
        !is_project_token(token.trim()),
        "this is a token of a project (for uploads or telemetry): resolving needs an access token of a member"
    );
    let request = json!({"stackTrace": text, "language": arguments.language, "debugId": arguments.debug_id});
    let mut response = outbound::agent(CALL_MAX)
        .post(format!("{base}/api/symbols/resolve?projectId={project}"))
        .header("Authorization", format!("Bearer {token}"))
        .send_json(&request)
        .with_context(|| format!("cannot reach {base}"))?;
    let body = response.body_mut().read_to_string()?;
    if response.status() == 401 {
        bail!("{base} does not know the access token (an upload token opens only uploads): {}", error_message(&body));
    }
    if response.status() != 200 {
        bail!("the server answered {}: {}", response.status().as_u16(), error_message(&body));
    }
    let answer: Value = serde_json::from_str(&body)?;
    let word = |missing: &Value, name: &str| missing[name].as_str().unwrap_or_default().to_owned();
    let missing = answer["missing"].as_array().into_iter().flatten();
    Ok(Answer {
        text: answer["stackTrace"].as_str().unwrap_or(text).to_owned(),
        frames: answer["frames"].as_u64().unwrap_or(0) as usize,
        resolved: answer["resolved"].as_u64().unwrap_or(0) as usize,
        missing: missing
            .map(|missing| {
                let words = ["kind", "debugId", "name"].map(|name| word(missing, name));
                words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
            })
            .collect(),
    })
}

/// Resolves the trace like the server, with local files only.
fn resolve_locally(arguments: &ResolveArgs, text: &str) -> anyhow::Result<Answer> {
    let debug_id = arguments.debug_id.as_deref().map(debug_id).transpose()?;
    let hints = Hints { language: arguments.language.as_deref(), debug_id, ..Hints::default() };
    let Some(trace) = Trace::read(text, &hints) else {
        return Ok(Answer { text: text.to_owned(), frames: 0, resolved: 0, missing: Vec::new() });
    };
    // A mapping without an id of its own is used for the trace.
    let wanted = trace
        .requests()
        .into_iter()
        .find_map(|request| if let ArtifactRequest::Mapping { id } = request { Some(id) } else { None });
    let wanted = wanted.map(|id| id.to_string());
    let fields = Fields { proguard_uuid: wanted.as_deref(), ..Fields::default() };
    let findings = find(&arguments.paths, fields);
    for refused in &findings.refused {
        remark(&format!("{}: {}", refused.name, refused.why));
    }
    let gathered = Gathered::of(&trace, &mut Files::of(&findings.found, fields));
    let resolved = trace.resolve(&gathered.artifacts());
    let missing = gathered.missing.iter().map(describe).collect();
    Ok(Answer { text: resolved.text, frames: resolved.frames, resolved: resolved.resolved, missing })
}

/// Local files, by the keys that a project without other uploads would store them under.
struct Files<'f> {
    fields: Fields<'f>,
    placed: HashMap<SymbolKey, (&'f Found, &'f FoundKey)>,
    index: Index,
}

impl<'f> Files<'f> {
    fn of(found: &'f [Found], fields: Fields<'f>) -> Files<'f> {
        let mut files = Files { fields, placed: HashMap::new(), index: Index::default() };
        for file in found {
            for key in &file.keys {
                files.place(file, key);
            }
        }
        files
    }

    /// Adds a file. A file with debug information takes precedence over one without.
    fn place(&mut self, file: &'f Found, found: &'f FoundKey) {
        let taken = self.placed.get(&found.key).map(|(_, known)| (known.arch, known.has_debug_info));
        let key = match (&found.key, &found.path, found.arch, taken) {
            (SymbolKey::SourceMap(_), Some(path), ..) => SymbolKey::SourceMapAt(path.clone()),
            (SymbolKey::Script(_), Some(path), ..) => SymbolKey::ScriptAt(path.clone()),
            (SymbolKey::MachO(id), _, Some(arch), Some((other, _))) if other != Some(arch) => {
                SymbolKey::MachOSlice(*id, arch)
            }
            (_, _, _, Some((_, true))) if !found.has_debug_info => return,
            (key, ..) => key.clone(),
        };
        let info = Info {
            hash: file.hash.clone(),
            bytes: file.bytes,
            path: found.path.as_ref().map(|path| path.as_str().to_owned()),
            debug_id: found.debug_id.map(|id| id.to_string()),
            ..Info::default()
        };
        self.index.insert(key.clone(), &info);
        self.placed.insert(key, (file, found));
    }

    fn content(&self, key: &SymbolKey) -> Option<anyhow::Result<Vec<u8>>> {
        let (file, found) = self.placed.get(key)?;
        Some(file.content(&found.key, self.fields))
    }
}

impl Source for Files<'_> {
    fn artifact(&mut self, key: &SymbolKey) -> Option<Arc<[u8]>> {
        let (file, found) = self.placed.get(key)?;
        let script = self.index.sibling(key).and_then(|script| self.content(&script)?.ok());
        let made = self.content(key)?.and_then(|content| {
            let original = Original { key, content: &content, arch: found.arch, script: script.as_deref() };
            Ok(original.convert(&|| false)?)
        });
        match made {
            Ok(artifact) => Some(Arc::from(artifact)),
            Err(error) => {
                remark(&format!("{}: {error}", file.name));
                None
            }
        }
    }

    fn mapping(&mut self, id: DebugId) -> Option<SymbolKey> {
        self.index.mapping(id, &Release::default()).cloned()
    }

    fn dart_images(&mut self, id: Option<DebugId>) -> Vec<SymbolKey> {
        self.index.dart_images(id, &Release::default())
    }

    fn map_of_script(&mut self, path: &str, id: Option<DebugId>) -> Option<SymbolKey> {
        self.index.map_of_script(path, id, &Release::default()).cloned()
    }
}

fn describe(request: &ArtifactRequest) -> String {
    match request {
        ArtifactRequest::Native { id, arch } => format!("debug file {id} ({arch})"),
        ArtifactRequest::OnlyDart { arch } => format!("exactly one Dart file ({arch})"),
        ArtifactRequest::Mapping { id } => format!("mapping {id} (or another one, with --debug-id)"),
        ArtifactRequest::Script { debug_id: Some(id), path } => format!("source map {id} of {path}"),
        ArtifactRequest::Script { debug_id: None, path } => format!("source map {path}.map"),
    }
}
