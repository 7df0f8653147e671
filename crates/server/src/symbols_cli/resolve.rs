//! `tidewatch symbols resolve`.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};
use tidewatch_symbols::{Arch, Artifact, DebugId, Hints, Need, Shelf, Trace, limits};

use super::find::{Found, find};
use super::send::sentence;
use super::{CALL_MAX, base_url, counted, debug_id, remark};
use crate::outbound;
use crate::symbols::build::convert;
use crate::symbols::keys::{FileName, SymbolKey};
use crate::symbols::sort::Fields;

/// Prints the trace again, resolved as far as the files go.
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

/// The exit code is 0 if a frame was resolved, or the trace needs nothing.
pub fn run(arguments: &ResolveArgs, mut say: impl FnMut(&str)) -> anyhow::Result<()> {
    let text = read(arguments)?;
    let answer = match (&arguments.url, arguments.project, &arguments.token) {
        (Some(url), Some(project), Some(token)) => ask(arguments, &base_url(Some(url))?, project, token, &text)?,
        _ => at_hand(arguments, &text)?,
    };
    say(answer.text.trim_end_matches('\n'));
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

fn ask(arguments: &ResolveArgs, base: &str, project: uuid::Uuid, token: &str, text: &str) -> anyhow::Result<Answer> {
    let question = json!({"stackTrace": text, "language": arguments.language, "debugId": arguments.debug_id});
    let mut response = outbound::agent(CALL_MAX)
        .post(format!("{base}/api/symbols/resolve?projectId={project}"))
        .header("Authorization", format!("Bearer {token}"))
        .send_json(&question)
        .with_context(|| format!("cannot ask {base}"))?;
    let body = response.body_mut().read_to_string()?;
    if response.status() != 200 {
        bail!("the server answered {}: {}", response.status().as_u16(), sentence(&body));
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

/// As the server would do it with these files alone.
fn at_hand(arguments: &ResolveArgs, text: &str) -> anyhow::Result<Answer> {
    let debug_id = arguments.debug_id.as_deref().map(debug_id).transpose()?;
    let hints = Hints { language: arguments.language.as_deref(), debug_id, ..Hints::default() };
    let Some(trace) = Trace::read(text, &hints) else {
        return Ok(Answer { text: text.to_owned(), frames: 0, resolved: 0, missing: Vec::new() });
    };
    // A mapping without an id of its own serves the trace that it is given for.
    let wanted =
        trace.needs().into_iter().find_map(|need| if let Need::Mapping { id } = need { Some(id) } else { None });
    let wanted = wanted.map(|id| id.to_string());
    let fields = Fields { proguard_uuid: wanted.as_deref(), ..Fields::default() };
    let findings = find(&arguments.paths, fields);
    for refused in &findings.refused {
        remark(&format!("{}: {}", refused.name, refused.why));
    }
    let mut files = Files { found: &findings.found, fields, made: Vec::new(), missing: Vec::new() };
    trace.needs().iter().for_each(|need| files.make(need));
    let after = trace.needs_after(&files.shelf());
    after.iter().for_each(|need| files.make(need));
    let resolved = trace.resolve(&files.shelf());
    Ok(Answer { text: resolved.text, frames: resolved.frames, resolved: resolved.resolved, missing: files.missing })
}

/// Files at hand, and the artifacts made of those that the trace needs.
struct Files<'f> {
    found: &'f [Found],
    fields: Fields<'f>,
    made: Vec<(SymbolKey, Place, Vec<u8>)>,
    missing: Vec<String>,
}

enum Place {
    Native(DebugId),
    OnlyDart,
    Mapping(DebugId),
    Script(DebugId),
    ScriptFile(String),
}

impl Files<'_> {
    fn make(&mut self, need: &Need) {
        let before = self.made.len();
        match need {
            Need::Native { id, arch } => {
                for key in [SymbolKey::MachO(*id), SymbolKey::Elf(*id), SymbolKey::Dart(*id, *arch)] {
                    self.add(key, Place::Native(*id));
                }
            }
            Need::Mapping { id } => self.add(SymbolKey::Mapping(*id), Place::Mapping(*id)),
            Need::Script { debug_id, file } => {
                if let Some(id) = debug_id {
                    self.add(SymbolKey::SourceMapById(*id), Place::Script(*id));
                }
                if let Some(name) = FileName::of(file) {
                    self.add(SymbolKey::SourceMap(name.with(".map")), Place::ScriptFile(file.clone()));
                }
            }
            Need::OnlyDart { arch } => {
                let keys = self.found.iter().flat_map(|file| &file.keys).map(|(key, _)| key);
                let mut fitting = keys.filter(|key| match key {
                    SymbolKey::Dart(_, known) => *arch == Arch::Unknown || known == arch,
                    _ => false,
                });
                if let (Some(key), None) = (fitting.next(), fitting.next()) {
                    self.add(key.clone(), Place::OnlyDart);
                }
            }
        }
        if self.made.len() == before {
            self.missing.push(in_words(need));
        }
    }

    /// The file with debug information goes before one without.
    fn add(&mut self, key: SymbolKey, place: Place) {
        let with = |wanted: &SymbolKey, debug: bool| {
            self.found.iter().find(|file| file.keys.iter().any(|(key, has)| key == wanted && (*has || !debug)))
        };
        let Some(file) = with(&key, true).or_else(|| with(&key, false)) else { return };
        let script = key.script_of_map().and_then(|script| with(&script, false)?.content(&script, self.fields).ok());
        let made =
            file.content(&key, self.fields).and_then(|original| Ok(convert(&key, &original, script.as_deref())?));
        match made {
            Ok(artifact) => self.made.push((key, place, artifact)),
            Err(error) => remark(&format!("{}: {error}", file.name)),
        }
    }

    fn shelf(&self) -> Shelf<'_> {
        let mut shelf = Shelf::new();
        for (_, place, bytes) in &self.made {
            let Ok(artifact) = Artifact::open(bytes) else { continue };
            match place {
                Place::Native(id) => shelf.add_native(*id, artifact),
                Place::OnlyDart => shelf.add_only_dart(artifact),
                Place::Mapping(id) => shelf.add_mapping(*id, artifact),
                Place::Script(id) => shelf.add_script(*id, artifact),
                Place::ScriptFile(file) => shelf.add_script_file(file, artifact),
            }
        }
        shelf
    }
}

fn in_words(need: &Need) -> String {
    match need {
        Need::Native { id, arch } => format!("debug file {id} ({arch})"),
        Need::OnlyDart { arch } => format!("exactly one Dart file ({arch})"),
        Need::Mapping { id } => format!("mapping {id} (or another one, with --debug-id)"),
        Need::Script { debug_id: Some(id), file } => format!("source map {id} of {file}"),
        Need::Script { debug_id: None, file } => format!("source map {file}.map"),
    }
}
