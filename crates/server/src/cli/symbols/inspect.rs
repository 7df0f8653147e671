//! `tidewatch symbols inspect`.

use std::path::PathBuf;

use anyhow::bail;
use tidewatch_symbols::{Artifact, Script, Upload, convert_source_map, detect};
use uuid::Uuid;

use super::find::{Found, find};
use super::options::FileOptions;
use super::skipped::remark_skipped;
use crate::cli::terminal::{counted, megabytes, remark};
use tidewatch_ingest::symbols::keys::SymbolKey;

/// Inspects files without a server.
#[derive(Debug, clap::Args)]
pub struct InspectArgs {
    /// Files, folders, dSYM bundles.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    options: FileOptions,
}

/// Prints the metadata of each file with `print_line`. An error if no usable file was found, or if a named file cannot
/// be used.
pub fn run(arguments: &InspectArgs, mut print_line: impl FnMut(&str)) -> anyhow::Result<()> {
    let findings = find(&arguments.paths, arguments.options.fields());
    for file in &findings.found {
        print_line(&format!("{}  {}  {}", file.name, kinds(file), megabytes(file.bytes)));
        for line in details(file)? {
            print_line(&format!("  {line}"));
        }
        for found in &file.keys {
            print_line(&format!("  kept as {}", shown(&found.key)));
        }
    }
    remark_skipped(&findings.skipped);
    for refused in &findings.refused {
        remark(&format!("{}: {}", refused.name, refused.why));
    }
    match (findings.found.len(), findings.refused.len()) {
        (_, refused @ 1..) => bail!("{} cannot be used", counted(refused, "file")),
        (0, _) => bail!("nothing usable: {} passed over", counted(findings.skipped.len(), "file")),
        _ => Ok(()),
    }
}

/// Names of the kinds of the file, for display.
pub fn kinds(file: &Found) -> String {
    let mut kinds: Vec<&str> = file.keys.iter().map(|found| found.key.kind()).collect();
    kinds.dedup();
    kinds.join(", ")
}

/// The path of a key with a placeholder for the project's id, which only the server knows.
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

/// The numbers of sources and segments in a source map's artifact.
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
