//! `tidewatch symbols inspect`.

use std::path::PathBuf;

use anyhow::bail;
use tidewatch_symbols::{Artifact, Script, Upload, convert_source_map, detect};
use uuid::Uuid;

use super::find::{Found, find};
use super::{Said, counted, megabytes, remark};
use tidewatch_ingest::symbols::keys::SymbolKey;

/// Looks into files; no server is asked.
#[derive(Debug, clap::Args)]
pub struct InspectArgs {
    /// Files, folders, dSYM bundles.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    said: Said,
}

/// The exit code is 0 if something was found, and all that was named can be used.
pub fn run(arguments: &InspectArgs, mut say: impl FnMut(&str)) -> anyhow::Result<()> {
    let findings = find(&arguments.paths, arguments.said.fields());
    for file in &findings.found {
        say(&format!("{}  {}  {}", file.name, kinds(file), megabytes(file.bytes)));
        for line in details(file)? {
            say(&format!("  {line}"));
        }
        for found in &file.keys {
            say(&format!("  kept as {}", shown(&found.key)));
        }
    }
    super::say_passed_over(&findings.passed_over);
    for refused in &findings.refused {
        remark(&format!("{}: {}", refused.name, refused.why));
    }
    match (findings.found.len(), findings.refused.len()) {
        (_, refused @ 1..) => bail!("{} cannot be used", counted(refused, "file")),
        (0, _) => bail!("nothing usable: {} passed over", counted(findings.passed_over.len(), "file")),
        _ => Ok(()),
    }
}

/// What people call the file.
pub fn kinds(file: &Found) -> String {
    let mut kinds: Vec<&str> = file.keys.iter().map(|found| found.key.kind()).collect();
    kinds.dedup();
    kinds.join(", ")
}

/// The project's id is the server's to say.
fn shown(key: &SymbolKey) -> String {
    key.path(Uuid::nil()).replacen(&Uuid::nil().to_string(), "<project>", 1)
}

fn details(file: &Found) -> anyhow::Result<Vec<String>> {
    let bytes = std::fs::read(&file.path)?;
    let id = |id: Option<tidewatch_symbols::DebugId>| id.map_or("none".to_owned(), |id| id.to_string());
    Ok(match detect(&bytes, Some(&file.name))? {
        Upload::Native { slices, is_macho } => {
            let format = if is_macho { "Mach-O" } else { "ELF" };
            let line = |slice: &tidewatch_symbols::Slice| {
                let debug = if slice.has_debug_info { "DWARF" } else { "no debug information" };
                let dart = if slice.is_dart { ", Dart" } else { "" };
                let size = megabytes(slice.range.len() as u64);
                format!("{format} {}: debug id {}, {debug}{dart}, {size}", slice.arch, id(slice.id))
            };
            slices.iter().map(line).collect()
        }
        Upload::Mapping { map_id } => vec![format!("R8 mapping: pg_map_id {}", id(map_id))],
        Upload::SourceMap { debug_id } => {
            let mut lines = vec![format!("debug id {}", id(debug_id))];
            lines.push(contents(&bytes));
            lines
        }
        Upload::Script { debug_id, inline_map } => {
            let mut lines = vec![format!("debug id {}", id(debug_id))];
            lines.extend(inline_map.map(|map| format!("its source map inside: {}", contents(&map))));
            lines
        }
    })
}

/// What a source map says, as look-ups will see it.
fn contents(map: &[u8]) -> String {
    let artifact = match convert_source_map(map, None, None) {
        Ok(artifact) => artifact,
        Err(error) => return format!("nothing can be looked up in it: {error}"),
    };
    let Some(script) = Artifact::open(&artifact).ok().and_then(Script::open) else { return String::new() };
    let sources = script.source_count();
    let with_text = (0..sources).filter(|source| script.source_text(*source).is_some()).count();
    let segments = script.segment_count();
    format!("{} ({with_text} with their text), {}", counted(sources as usize, "source"), counted(segments, "segment"))
}
