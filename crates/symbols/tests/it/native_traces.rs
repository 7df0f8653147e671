//! Complete traces of the iOS SDK, of Dart and of Android's tombstones. Spec: symbolication, rules 1 to 7.

use serde::Deserialize;
use tidewatch_symbols::{ArtifactRequest, DebugId, Hints, Trace};

use crate::{
    fixtures,
    library::Library,
    native::{cleaned, same_name},
};

#[derive(Deserialize)]
struct Traces {
    traces: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    kind: String,
    build_id: Option<String>,
    trace: String,
    preamble: Option<String>,
    frames: Vec<ExpectedFrame>,
    expect_output: Option<String>,
}

#[derive(Deserialize)]
struct ExpectedFrame {
    raw: String,
    /// `None` if the raw line stays.
    expect: Option<Vec<Expected>>,
}

#[derive(Deserialize)]
struct Expected {
    function: String,
    demangled: Option<String>,
    file: String,
    line: u32,
    column: u32,
}

/// Whether a line is the expected frame, `#N function (file:line:column)`.
fn is_printed(line: &str, number: usize, expected: &Expected) -> bool {
    let parse = || {
        let rest = line.strip_prefix(&format!("#{number} "))?.strip_suffix(')')?;
        let (rest, column) = rest.rsplit_once(':')?;
        let (rest, at) = rest.rsplit_once(':')?;
        let split = rest.match_indices(" (").map(|(i, _)| (&rest[..i], &rest[i + 2..]));
        Some((split.collect::<Vec<_>>(), at.parse::<u32>().ok()?, column.parse::<u32>().ok()?))
    };
    let Some((splits, at, column)) = parse() else { return false };
    let llvm = expected.demangled.as_ref().unwrap_or(&expected.function);
    splits.iter().any(|(function, file)| {
        same_name(function, &expected.function, llvm) && cleaned(file) == cleaned(&expected.file)
    }) && (at, column) == (expected.line, expected.column)
}

fn check(case: &Case, library: &Library, language: Option<&str>) -> Result<(), String> {
    let hints = Hints { language, ..Hints::default() };
    let trace = Trace::read(&case.trace, &hints);
    if let Some(expected) = &case.expect_output {
        // Rule 1: a symbolic trace, or one without recognizable frames, is unchanged.
        return match trace {
            None if &case.trace == expected => Ok(()),
            _ => Err("not passed through".to_owned()),
        };
    }
    let Some(trace) = trace else {
        return if case.frames.iter().all(|f| f.expect.is_none()) { Ok(()) } else { Err("not recognised".to_owned()) };
    };
    let mut artifacts = library.artifacts(&trace.requests());
    if let [ArtifactRequest::OnlyDart { .. }] = trace.requests()[..] {
        // Dart images without a build id match only if the project has exactly one.
        let id = case.build_id.as_ref().and_then(|id| DebugId::parse(id)).expect("the answer names its image");
        artifacts.add_only_dart(library.artifact(id).expect("the image of the answer"));
    }
    let resolved = trace.resolve(&artifacts);
    let hits = case.frames.iter().filter(|f| f.expect.is_some()).count();
    if resolved.frames != case.frames.len() {
        return Err(format!("{} frames of {}", resolved.frames, case.frames.len()));
    }
    if resolved.resolved == 0 {
        return if hits == 0 && resolved.text == case.trace { Ok(()) } else { Err("nothing resolved".to_owned()) };
    }
    let text = resolved.text.replace("\r\n", "\n");
    let mut below = text.as_str();
    if let Some(preamble) = &case.preamble {
        // Rule 3: the preamble is unchanged.
        below = text.strip_prefix(preamble.replace("\r\n", "\n").as_str()).ok_or("the preamble differs")?;
    } else if let Some(at) = text.find("\n#0 ").into_iter().chain(text.find(&case.frames[0].raw)).min() {
        below = &text[at..];
    }
    let mut lines = below.lines().filter(|l| !l.is_empty());
    let mut number = 0;
    for frame in &case.frames {
        let empty = Vec::new();
        // Frames found in the symbol table only may stay raw.
        let bare =
            frame.expect.as_ref().is_some_and(|chain| chain.iter().any(|f| f.file.is_empty() || f.function.is_empty()));
        let chain = frame.expect.as_ref().filter(|_| !bare).unwrap_or(&empty);
        if chain.is_empty() {
            // Rule 7.
            let line = lines.next().unwrap_or_default();
            if line != frame.raw {
                return Err(format!("raw frame {:?} became {line:?}", frame.raw));
            }
            number += 1;
        }
        for expected in chain {
            let line = lines.next().unwrap_or_default();
            if !is_printed(line, number, expected) {
                return Err(format!(
                    "#{number} {} ({}:{}:{}) became {line:?}",
                    expected.function, expected.file, expected.line, expected.column
                ));
            }
            number += 1;
        }
    }
    Ok(())
}

fn check_all(file: &str, folders: &[&str], language: Option<&str>) {
    for root in fixtures::roots() {
        let Some(Traces { traces }) = fixtures::json(&root.join(file)) else { continue };
        let library = Library::of(root, folders);
        let mut wrong = 0;
        for (number, case) in traces.iter().enumerate() {
            if let Err(problem) = check(case, &library, language) {
                wrong += 1;
                eprintln!("{file} {number} ({}): {problem}", case.kind);
            }
        }
        assert_eq!(wrong, 0, "of {} traces of {file}", traces.len());
    }
}

#[test]
fn every_ios_trace_is_resolved_as_expected() {
    check_all("ios_traces.json", &["macho", "rust"], None);
    check_all("ios_traces.json", &["macho", "rust"], Some("swift"));
}

#[test]
fn every_dart_trace_is_resolved_as_expected() {
    check_all("dart/dart_traces.json", &["dart"], None);
}
