//! Every position of the JavaScript answers and every stack that a real engine printed.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use tidewatch_symbols::{Artifact, Hints, Script, Shelf, Trace, Upload, convert_source_map, detect};

use crate::fixtures;

#[derive(Deserialize)]
struct Answers {
    bundle: String,
    sources: Vec<Option<String>>,
    raw_sources: Vec<Option<String>>,
    names: Vec<String>,
    #[serde(rename = "debugId")]
    debug_id: Option<String>,
    /// Line (one-based), column (zero-based), source, original line, column, name; -1 is none.
    positions: Vec<(u32, u32, i64, u32, i64, i64)>,
    /// Where two segments share a position, the other one.
    #[serde(default)]
    alternatives: Vec<(u32, u32, i64, u32, i64, i64)>,
}

#[derive(Deserialize)]
struct Traces {
    traces: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    engine: String,
    stack: String,
    frames: Vec<Frame>,
}

#[derive(Deserialize)]
struct Frame {
    raw: String,
    orig: Option<Original>,
}

#[derive(Deserialize)]
struct Original {
    source: String,
    line: u32,
    column: u32,
}

fn flavours() -> impl Iterator<Item = PathBuf> {
    let folders = fixtures::roots().iter().flat_map(|root| std::fs::read_dir(root.join("js")).into_iter().flatten());
    folders.flatten().map(|entry| entry.path()).filter(|path| fixtures::read(&path.join("answers.json")).is_some())
}

/// The map of a flavour, beside the bundle or inside it, and the bundle.
fn convert(folder: &Path, answers: &Answers, with_script: bool) -> Vec<u8> {
    let bundle = fixtures::read(&folder.join(&answers.bundle));
    let script = bundle.as_ref().and_then(|b| std::str::from_utf8(b).ok());
    let map = fixtures::read(&folder.join(format!("{}.map", answers.bundle))).unwrap_or_else(|| {
        match detect(bundle.as_ref().unwrap(), Some("app.js")).unwrap() {
            Upload::Script { inline_map, .. } => inline_map.expect("a map inside"),
            other => panic!("{other:?}"),
        }
    });
    match detect(&map, None).unwrap() {
        Upload::SourceMap { debug_id } => {
            assert_eq!(debug_id.map(|id| id.to_string()), answers.debug_id.as_ref().map(|id| id.replace('-', "")));
        }
        other => panic!("{other:?}"),
    }
    convert_source_map(&map, script.filter(|_| with_script), None).unwrap()
}

fn same_source(ours: &str, answers: &Answers, index: i64) -> bool {
    // Absolute paths of the machine that made a map may have been replaced in its answers.
    let same = |theirs: &str| {
        theirs == ours || theirs.starts_with('/') && theirs.rsplit('/').next() == ours.rsplit('/').next()
    };
    let is = |list: &[Option<String>]| list[index as usize].as_deref().is_some_and(same);
    is(&answers.sources) || is(&answers.raw_sources)
}

#[test]
fn every_position_of_every_map_is_answered() {
    let mut all = 0;
    for folder in flavours() {
        let answers: Answers = fixtures::json(&folder.join("answers.json")).unwrap();
        let artifact = convert(&folder, &answers, true);
        let script = Script::open(Artifact::open(&artifact).unwrap().verify().unwrap()).unwrap();
        for position in &answers.positions {
            let place = script.place(position.0, position.1);
            let is = |e: &(u32, u32, i64, u32, i64, i64)| match &place {
                None => e.2 < 0,
                Some(p) => {
                    e.2 >= 0
                        && same_source(p.source(), &answers, e.2)
                        && (p.line, i64::from(p.column)) == (e.3, e.4)
                        && p.name() == usize::try_from(e.5).ok().map(|n| answers.names[n].as_str())
                }
            };
            let alternative = answers.alternatives.iter().find(|a| (a.0, a.1) == (position.0, position.1));
            assert!(is(position) || alternative.is_some_and(is), "{}: {position:?}: {place:?}", folder.display());
        }
        all += answers.positions.len();
    }
    assert!(all > 20_000);
}

#[test]
fn every_stack_of_every_engine_is_resolved() {
    let mut all = 0;
    for folder in flavours() {
        let answers: Answers = fixtures::json(&folder.join("answers.json")).unwrap();
        let Some(Traces { traces }) = fixtures::json(&folder.join("traces.json")) else { continue };
        let artifact = convert(&folder, &answers, true);
        let mut shelf = Shelf::new();
        shelf.add_script_file(&answers.bundle, Artifact::open(&artifact).unwrap());
        for case in &traces {
            // Its map is that of the bytecode; the positions are the truth for another trace.
            if case.engine == "hermes-source-run" {
                continue;
            }
            let hints = Hints { language: Some("javascript"), ..Hints::default() };
            let expected_frames = case.frames.iter().filter(|f| f.orig.is_some()).count();
            let Some(trace) = Trace::read(&case.stack, &hints) else {
                assert_eq!(expected_frames, 0, "{}", case.stack);
                continue;
            };
            let resolved = trace.resolve(&shelf);
            assert_eq!(resolved.resolved, expected_frames, "{}:\n{}\n{}", folder.display(), case.stack, resolved.text);
            assert_eq!(resolved.text.lines().count(), case.stack.lines().count());
            for (frame, line) in case.frames.iter().zip(resolved.text.lines()) {
                match &frame.orig {
                    None => assert_eq!(line, frame.raw),
                    Some(o) => {
                        let index = answers.sources.iter().position(|s| s.as_ref() == Some(&o.source)).unwrap();
                        let names = [&answers.sources[index], &answers.raw_sources[index]];
                        let ends = |source: &Option<String>| {
                            let source = source.as_deref().unwrap_or_default();
                            // As above: absolute paths may have been replaced.
                            let known = if source.starts_with('/') { source.rsplit('/').next() } else { Some(source) };
                            let at = format!("{}:{}:{}", known.unwrap_or_default(), o.line, o.column);
                            line.trim_end_matches(')').ends_with(&at)
                        };
                        let shared =
                            answers.alternatives.iter().any(|a| line.contains(&format!(":{}:{}", a.3, a.4 + 1)));
                        assert!(
                            names.into_iter().any(ends) || shared,
                            "{}: {} became {line}",
                            folder.display(),
                            frame.raw
                        );
                    }
                }
                all += 1;
            }
        }
    }
    assert!(all > 1_000);
}
