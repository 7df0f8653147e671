//! The vocabulary of code, comments and documents: the field's terms, and in the glossary what is coined here.

use std::fs;
use std::path::{Path, PathBuf};

/// Files that state the terms themselves, that are generated, that quote the specification, or that never change.
const EXEMPT: &[&str] = &[
    "crates/accounts/src/migrations",
    "crates/server/tests/it/words.rs",
    "docs/spec/specification.md",
    "web/src/api/schema.d.ts",
];

/// Private terms and what to write instead: in names, comments and documents. Case, plural `s` of the last word, camel
/// case and underscores do not matter: "give way" finds `give_way`, `GivesWay` is "gives way".
const BANNED: &[(&str, &str)] = &[
    ("any more", "no longer"),
    ("as ever", "nothing, or the guarantee"),
    ("at hand", "available, in memory"),
    ("behind one another", "consecutive"),
    ("by and by", "gradually"),
    ("come first", "latency_sensitive"),
    ("figure", "metrics, statistics, EntityStats"),
    ("from now on", "subsequent"),
    ("gets on", "makes progress"),
    ("get on", "make progress"),
    ("give way", "yield"),
    ("gives way", "yields"),
    ("giving way", "yielding"),
    ("gram", "trigram"),
    ("has it that", "requires, states"),
    ("hears of", "is notified of"),
    ("in the making", "under construction, being written"),
    ("intake", "DurableStore"),
    ("is to be had", "is available"),
    ("kept no longer", "past its retention"),
    ("knowledge", "Enrichment"),
    ("no longer kept", "past its retention"),
    ("on its own account", "separately"),
    ("one behind the other", "consecutive"),
    ("organisation", "organization"),
    ("ragged", "partial, unaligned"),
    ("reckon", "compute"),
    ("seat", "permit"),
    ("seen set", "dedup set"),
    ("so long as", "while"),
    ("so many", "the number: `count`, at least n"),
    ("so much", "the amount"),
    ("spare chunk", "buffer_pool"),
    ("stand back", "background"),
    ("stands back", "runs at background priority"),
    ("tell of", "report"),
    ("tells of", "reports"),
    ("text", "string, body, message"),
    ("thinned", "rows deleted"),
    ("told apart", "distinguished"),
    ("told of", "reported, described"),
    ("truth", "boolean, fact"),
    ("twin", "ExceptionKeys, duplicate"),
    ("upkeep", "maintenance"),
    ("waiting room", "queue"),
    ("what is told", "what is reported"),
    ("what lies", "the content"),
    ("whoever", "the caller, a client"),
];

/// Terms that are right in prose, but not as names of types, functions and variables.
const BANNED_NAMES: &[(&str, &str)] = &[
    ("ask", "query, request"),
    ("asked", "query, requested"),
    ("asking", "querying"),
    ("door", "request_context"),
    ("gone", "deleted, missing"),
    ("lasting", "in_flight"),
    ("shelf", "ArtifactSet"),
    ("thin", "delete_rows"),
    ("told", "reported"),
];

/// Phrases of which only the singular or only the plural is banned.
const SINGULAR_IS_FINE: &[&str] = &["text"];

/// Names on disk, on the wire and of other programs, which do not change.
const FIXED: &[&str] = &[
    "tidewatch.grams",
    "lake-upkeep",
    "UPDATE seen SET",
    "StatusCode::GONE",
    "--http2-prior-knowledge",
    "allInnerTexts",
    "data.texts",
    "texts: [",
    "\"texts\":[",
    "texts: objects",
];

struct Word {
    text: String,
    line: usize,
}

/// The words of a file in lower case: `give_way` and `giveWay` are two.
fn words(lines: impl Iterator<Item = (usize, String)>) -> Vec<Word> {
    let mut words = Vec::new();
    for (number, line) in lines {
        let mut word = String::new();
        let mut ends_lower = false;
        for c in line.chars().chain([' ']) {
            let ends = !c.is_alphabetic() || (c.is_uppercase() && ends_lower);
            if ends && !word.is_empty() {
                words.push(Word { text: std::mem::take(&mut word), line: number });
            }
            if c.is_alphabetic() {
                word.extend(c.to_lowercase());
            }
            ends_lower = c.is_lowercase();
        }
    }
    words
}

/// Whether the whole line is a comment.
fn is_comment(line: &str) -> bool {
    ["//", "*", "/*", "--", "#!"].iter().any(|mark| line.trim_start().starts_with(mark))
}

/// The line without string literals.
fn without_strings(line: &str, quotes: &[char]) -> String {
    quotes.iter().fold(line.to_owned(), |line, quote| line.split(*quote).step_by(2).collect::<Vec<_>>().join(" "))
}

/// The line of code without strings and comments.
fn code(line: &str, quotes: &[char]) -> String {
    if is_comment(line) {
        return String::new();
    }
    without_strings(line, quotes).split("//").next().unwrap_or_default().to_owned()
}

fn findings(path: &str, text: &str) -> Vec<String> {
    let is_document = path.ends_with(".md");
    // Strings in TypeScript are what users read, where ordinary words are right.
    let (is_script, quotes) = (path.ends_with(".ts"), if path.ends_with(".ts") { &['"', '`'][..] } else { &['"'] });
    let without_fixed = |line: &str| FIXED.iter().fold(line.to_owned(), |line, name| line.replace(name, ""));
    let numbered = || text.lines().enumerate().map(|(index, line)| (index + 1, without_fixed(line)));
    let all = numbered().map(|(number, line)| match is_script && !is_comment(&line) {
        true => (number, without_strings(&line, quotes)),
        false => (number, line),
    });
    let all = find(&words(all), BANNED);
    let names =
        numbered().map(|(number, line)| (number, if is_document { String::new() } else { code(&line, quotes) }));
    let names = find(&words(names), BANNED_NAMES);
    let found = all.into_iter().chain(names);
    found.map(|(line, term, instead)| format!("{path}:{line}: \"{term}\" ({instead})")).collect()
}

fn find<'a>(words: &[Word], banned: &[(&'a str, &'a str)]) -> Vec<(usize, &'a str, &'a str)> {
    let mut found = Vec::new();
    for &(term, instead) in banned {
        let parts: Vec<&str> = term.split(' ').collect();
        let is_end = |word: &str, part: &str| {
            let is_plural = word.strip_suffix('s') == Some(part);
            if SINGULAR_IS_FINE.contains(&term) { is_plural } else { word == part || is_plural }
        };
        for window in words.windows(parts.len()) {
            let (last, first) = window.split_last().expect("no term is empty");
            let begins = first.iter().zip(&parts).all(|(word, part)| word.text == *part);
            if begins && is_end(&last.text, parts[parts.len() - 1]) {
                found.push((window[0].line, term, instead));
            }
        }
    }
    found
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Source files and documents of the repository by their path in it.
fn files(folder: &Path, into: &mut Vec<String>) {
    const ENDS: &[&str] = &["rs", "md", "ts", "svelte", "sql", "sh", "py"];
    const SKIPPED: &[&str] = &["node_modules", "target", "dist", "build", "fixtures", "test-results"];
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("a readable folder").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            if !name.starts_with('.') && !SKIPPED.contains(&name.as_str()) {
                files(&path, into);
            }
        } else if path.extension().is_some_and(|end| ENDS.iter().any(|known| end == *known)) {
            let path = path.strip_prefix(root()).expect("below the root");
            into.push(path.to_string_lossy().into_owned());
        }
    }
}

#[test]
fn names_comments_and_documents_use_the_terms_of_the_field() {
    let mut paths = Vec::new();
    files(&root(), &mut paths);
    let is_below = |path: &str, place: &str| path == place || path.starts_with(&format!("{place}/"));
    paths.retain(|path| !EXEMPT.iter().any(|place| is_below(path, place)));
    paths.sort();
    assert!(paths.iter().any(|path| path == "crates/journal/src/lib.rs"), "{paths:?}");
    let read = |path: &String| fs::read_to_string(root().join(path)).expect("text");
    let found: Vec<String> = paths.iter().flat_map(|path| findings(path, &read(path))).collect();
    assert!(found.is_empty(), "{} private terms:\n{}", found.len(), found.join("\n"));
}

#[test]
fn terms_are_found_in_names_comments_and_across_lines() {
    for (source, term) in [
        ("fn give_way() {}", Some("give way")),
        ("struct EntityFigures;", Some("figure")),
        ("/// Rows, of which so\n/// many are equal.", Some("so many")),
        ("/// The texts of a column.", Some("text")),
        ("/// The text of a message.", None),
        ("let ask = 1;", Some("ask")),
        ("/// Clients ask for it.", None),
        ("let sql = \"ask\";", None),
        ("const KEY: &str = \"tidewatch.grams\";", None),
        ("/// A trigram and a programme.", None),
    ] {
        let found = findings("crates/x/src/lib.rs", source);
        let expected = term.map(|term| format!("\"{term}\""));
        assert_eq!(found.is_empty(), expected.is_none(), "{source}: {found:?}");
        assert!(expected.is_none_or(|term| found[0].contains(&term)), "{source}: {found:?}");
    }
}
