//! Every address of the expected results by LLVM's symbolizer, looked up in the converted artifact.

use std::path::Path;

use serde::Deserialize;
use tidewatch_symbols::{Artifact, Frame, Native, Slice, Upload, convert_native, detect};

use crate::fixtures;

/// Function, file, line, column.
type ExpectedFrame = (usize, usize, u32, u32);

#[derive(Deserialize)]
struct Answers {
    file: String,
    uuid: Option<String>,
    /// Linkage name and LLVM's demangled name.
    functions: Vec<(String, String)>,
    files: Vec<String>,
    no_match_offsets: Vec<String>,
    answers: Vec<(String, Vec<ExpectedFrame>)>,
}

/// Normalizes `a/b/../c` and `a/./c` to `a/c`.
pub fn cleaned(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." if parts.last().is_some_and(|p| !p.is_empty()) => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Whether a name equals LLVM's, or the result of our demangler where the two demanglers differ.
pub fn same_name(ours: &str, linkage: &str, llvm: &str) -> bool {
    ours == llvm || ours == tidewatch_symbols::demangle(linkage)
}

fn same_frame(frame: &Frame<'_>, expected: &ExpectedFrame, answers: &Answers) -> bool {
    let (linkage, llvm) = &answers.functions[expected.0];
    same_name(frame.function(), linkage, llvm)
        && cleaned(frame.file()) == cleaned(&answers.files[expected.1])
        && (frame.line, frame.column) == (expected.2, expected.3)
}

/// Whether a frame may stay raw: one without a file (found in the symbol table only) or without a function
/// (`docs/decisions/0005`, 2).
fn is_bare(chain: &[ExpectedFrame], answers: &Answers) -> bool {
    chain.iter().any(|f| answers.files[f.1].is_empty() || answers.functions[f.0].0.is_empty())
}

fn check_image(image: &Path, answers: &Answers) -> (usize, usize) {
    let bytes = fixtures::read(image).expect("an answers file stands beside its image");
    let Ok(Upload::Native { slices, .. }) = detect(&bytes, None) else { panic!("{}", image.display()) };
    let [slice]: [Slice; 1] = slices.try_into().expect("answers are about thin images");
    assert_eq!(slice.id.map(|id| id.to_string()), answers.uuid, "{}", image.display());
    let artifact = convert_native(&bytes, &slice).unwrap_or_else(|e| panic!("{}: {e}", image.display()));
    let native = Native::open(Artifact::open(&artifact).unwrap().verify().unwrap()).unwrap();
    let mut wrong = Vec::new();
    for (offset, chain) in &answers.answers {
        let frames: Vec<Frame<'_>> = native.frames(u64::from_str_radix(offset, 16).unwrap()).collect();
        let same = frames.len() == chain.len() && frames.iter().zip(chain).all(|(f, e)| same_frame(f, e, answers));
        let tolerated = frames.is_empty() && is_bare(chain, answers);
        if !same && !tolerated {
            wrong.push((offset, frames, chain));
        }
    }
    for (offset, frames, chain) in wrong.iter().take(8) {
        eprintln!("{} +0x{offset}", image.display());
        frames.iter().for_each(|f| eprintln!("  got      {} ({}:{}:{})", f.function(), f.file(), f.line, f.column));
        for f in *chain {
            eprintln!("  expected {:?} ({}:{}:{})", answers.functions[f.0], answers.files[f.1], f.2, f.3);
        }
    }
    for offset in &answers.no_match_offsets[1..] {
        let offset = u64::from_str_radix(offset.trim_start_matches("0x"), 16).unwrap_or(u64::MAX);
        assert_eq!(native.frames(offset).count(), 0, "{} +{offset:#x}", image.display());
    }
    eprintln!(
        "{}: {} wrong of {}; artifact {} of {} bytes",
        image.file_name().unwrap().display(),
        wrong.len(),
        answers.answers.len(),
        artifact.len(),
        bytes.len()
    );
    (wrong.len(), answers.answers.len())
}

#[test]
fn every_native_answer_holds() {
    let (mut wrong, mut all) = (0, 0);
    for folder in ["macho", "rust", "dart", "public/symbolic-macos"] {
        for root in fixtures::roots() {
            for path in fixtures::files(&root.join(folder)) {
                let name = path.file_name().unwrap().to_str().unwrap();
                let Some(image) = name.strip_suffix(".answers.json") else { continue };
                let answers: Answers = fixtures::json(&path).unwrap();
                let candidates = [image.to_owned(), format!("{image}.dwarf"), format!("{}.dwarf", answers.file)];
                let image = candidates.iter().map(|n| path.with_file_name(n)).find(|p| fixtures::read(p).is_some());
                let (w, n) = check_image(&image.expect("the image of the answers"), &answers);
                wrong += w;
                all += n;
            }
        }
    }
    assert!(all > 10_000);
    assert_eq!(wrong, 0, "of {all} answers");
}
