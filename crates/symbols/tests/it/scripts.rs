//! Every position of the expected JavaScript results, and every stack that a real engine printed.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use tidewatch_symbols::{Artifact, ArtifactSet, Hints, Script, Trace, Upload, convert_source_map, detect};

use crate::fixtures;

#[derive(Deserialize)]
struct Answers {
    bundle: String,
    sources: Vec<Option<String>>,
    raw_sources: Vec<Option<String>>,
    names: Vec<String>,
    #[serde(rename = "debugId")]
    debug_id: Option<String>,
    /// Line (one-based), column (zero-based), source, original line, column, name; -1 for absent.
    positions: Vec<(u32, u32, i64, u32, i64, i64)>,
    /// The alternatives where two segments share a position.
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

/// Converts the map of a flavor (in a separate file or inline) with its bundle.
fn convert(folder: &Path, answers: &Answers, with_script: bool) -> Vec<u8> {
    let bundle = fixtures::read(&folder.join(&answers.bundle));
    let script = bundle.as_deref();
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
    // The expected results may have other absolute paths than the map.
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
        let mut artifacts = ArtifactSet::new();
        artifacts.add_script_file(&answers.bundle, Artifact::open(&artifact).unwrap());
        for case in &traces {
            // The map belongs to the bytecode; the expected positions belong to another trace.
            if case.engine == "hermes-source-run" {
                continue;
            }
            let hints = Hints { language: Some("javascript"), ..Hints::default() };
            let expected_frames = case.frames.iter().filter(|f| f.orig.is_some()).count();
            let Some(trace) = Trace::read(&case.stack, &hints) else {
                assert_eq!(expected_frames, 0, "{}", case.stack);
                continue;
            };
            let resolved = trace.resolve(&artifacts);
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
                            // See `same_source`.
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

/// File, line, column (zero-based), source, line, column (zero-based), function.
type RamPosition = (String, u32, u32, Option<String>, u32, u32, Option<String>);

/// Converts the map of Metro's RAM bundle with the bundle.
fn ram_artifact() -> Vec<u8> {
    let folder = fixtures::roots()[0].join("js/metro-ram");
    let map = fixtures::read(&folder.join("main.jsbundle.map")).expect("a fixture");
    let bundle = fixtures::read(&folder.join("main.jsbundle")).expect("a fixture");
    assert!(matches!(detect(&bundle, None), Ok(Upload::Script { debug_id: None, inline_map: None })));
    assert!(matches!(detect(&map, None), Ok(Upload::SourceMap { debug_id: None })));
    convert_source_map(&map, Some(&bundle), None).expect("a good map")
}

/// Resolves one frame of a module with the map of the bundle.
fn in_module(artifact: &[u8], file: &str, line: u32, column: u32) -> String {
    let mut artifacts = ArtifactSet::new();
    artifacts.add_script_file("main.jsbundle", Artifact::open(artifact).unwrap());
    let stack = format!("E: x\n    at m ({file}:{line}:{})", column + 1);
    let trace = Trace::read(&stack, &Hints { language: Some("javascript"), ..Hints::default() }).expect("a trace");
    trace.resolve(&artifacts).text.lines().nth(1).expect("a frame").trim().to_owned()
}

#[test]
fn every_position_of_a_ram_bundle_and_of_its_segments_is_answered() {
    let positions: Vec<RamPosition> =
        fixtures::json(&fixtures::roots()[0].join("js/metro-ram/positions.json")).expect("a fixture");
    let artifact = ram_artifact();
    let mut found = 0;
    for (file, line, column, source, source_line, source_column, function) in &positions {
        let resolved = in_module(&artifact, file, *line, *column);
        let Some(source) = source else {
            assert_eq!(resolved, format!("at m ({file}:{line}:{})", column + 1), "before the first segment");
            continue;
        };
        let function = function.as_deref().expect("Metro names every place");
        assert_eq!(
            resolved,
            format!("at {function} ({source}:{source_line}:{})", source_column + 1),
            "{file}:{line}:{column}"
        );
        found += 1;
    }
    assert!(found > 100, "{found}");
    assert!(positions.iter().any(|position| position.0.starts_with("seg-1_")));
    assert_eq!(in_module(&artifact, "seg-2_0.js", 1, 80), "at m (seg-2_0.js:1:81)", "no such segment");
    assert_eq!(in_module(&artifact, "seg-1_9.js", 1, 80), "at m (seg-1_9.js:1:81)", "no such module");
}

/// Functions that the map does not name are found in the code of the binary bundle.
#[test]
fn functions_are_named_by_the_code_in_a_ram_bundle() {
    const MAP: &[u8] = br#"{"version":3,"sources":["pay.ts"],"names":["refuse"],"mappings":";;AAAA,SAAAA,IACE",
        "x_facebook_offsets":[null,2]}"#;
    let (startup, code) = ("var modules;\0", "function a(){throw Error()}\0");
    let numbers = [0xFB0B_D1E5, 2, startup.len(), 0, 0, startup.len(), code.len()];
    let numbers: Vec<u8> = numbers.iter().flat_map(|number| (*number as u32).to_le_bytes()).collect();
    let bundle = [&numbers, startup.as_bytes(), code.as_bytes()].concat();
    let resolved = |bundle| in_module(&convert_source_map(MAP, bundle, None).expect("a good map"), "1.js", 1, 13);
    assert_eq!(resolved(None), "at m (pay.ts:2:3)");
    assert_eq!(resolved(Some(&bundle[..])), "at refuse (pay.ts:2:3)");
}
