//! The vocabulary of code, comments and documents: the field's terms, and in the glossary what is coined here.

use tidewatch_tidy::{Reading, Source};

/// Files that state the terms themselves, that are generated, that quote the specification, or that never change.
const EXEMPT: &[&str] = &[
    "crates/accounts/src/database/migrations",
    "crates/tidy/tests/words.rs",
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
    // Elements and styles hold prose of pages and names of the platform: only their comments are ours.
    if [".tsx", ".mjs", ".css"].iter().any(|end| path.ends_with(end)) {
        let found = find(&words(comments(text).into_iter()), BANNED).into_iter();
        return found.map(|(line, term, instead)| format!("{path}:{line}: \"{term}\" ({instead})")).collect();
    }
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

/// The comments of TypeScript or CSS, by line. A quote that its line does not close is an apostrophe.
fn comments(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut is_block = false;
    for (number, line) in (1..).zip(text.lines()) {
        let mut rest = line;
        let mut comment = String::new();
        while !rest.is_empty() {
            if is_block {
                let (inner, after) = rest.split_once("*/").unwrap_or((rest, ""));
                is_block = inner.len() == rest.len();
                comment.push_str(inner);
                rest = after;
                continue;
            }
            if rest.starts_with("//") {
                comment.push_str(rest);
                break;
            }
            if let Some(after) = rest.strip_prefix("/*") {
                (is_block, rest) = (true, after);
                continue;
            }
            let first = rest.chars().next().expect("a rest");
            let after = &rest[first.len_utf8()..];
            let string_end = ['"', '\'', '`'].contains(&first).then(|| after.find(first)).flatten();
            rest = string_end.map_or(after, |end| &after[end + 1..]);
        }
        if !comment.is_empty() {
            found.push((number, comment));
        }
    }
    found
}

fn find<'a>(words: &[Word], banned: &[(&'a str, &'a str)]) -> Vec<(usize, &'a str, &'a str)> {
    let mut found = Vec::new();
    for &(term, instead) in banned {
        let parts: Vec<&str> = term.split(' ').collect();
        let is_end = |word: &str, part: &str| {
            let is_plural = word.strip_suffix('s') == Some(part);
            if SINGULAR_IS_FINE.contains(&term) { is_plural } else { word == part || is_plural }
        };
        for window in words.windows(parts.len()).filter(|window| window[0].text.starts_with(parts[0])) {
            let (last, first) = window.split_last().expect("no term is empty");
            let begins = first.iter().zip(&parts).all(|(word, part)| word.text == *part);
            if begins && is_end(&last.text, parts[parts.len() - 1]) {
                found.push((window[0].line, term, instead));
            }
        }
    }
    found
}

/// Kinds of files with names, comments or prose of ours.
const KINDS: &[&str] = &["rs", "md", "ts", "tsx", "mjs", "css", "sql", "sh", "py"];

fn read() -> Reading {
    let is_below = |path: &str, place: &str| path == place || path.starts_with(&format!("{place}/"));
    let reading = Reading::of("", KINDS);
    reading.only("exempt", |source| !EXEMPT.iter().any(|place| is_below(&source.path, place)))
}

#[test]
fn names_comments_and_documents_use_the_terms_of_the_field() {
    let reading = read();
    reading.report("words");
    for path in ["crates/journal/src/lib.rs", "web/src/main.tsx"] {
        assert!(reading.sources.iter().any(|source| source.path == path), "{path} was not read");
    }
    let found = reading.sources.iter().flat_map(|source| findings(&source.path, &source.text));
    let found: Vec<String> = found.collect();
    assert!(found.is_empty(), "{} private terms:\n{}", found.len(), found.join("\n"));
}

/// Words with which no summary begins: a headless clause hides its noun.
const HEADLESS: &[&str] = &["What", "How", "Who", "Why", "That", "Whose", "Whom"];

/// The doc summaries of Rust (`///`, `//!`) and TypeScript (`/**`) that begin with one of [`HEADLESS`], with their lines.
fn headless(path: &str, text: &str) -> Vec<(usize, String)> {
    let is_rust = path.ends_with(".rs");
    let marks: &[&str] = if is_rust { &["///", "//!"] } else { &["/**"] };
    // In TypeScript, the summary may stand on the line after the mark.
    let mut is_inside = false;
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim_start();
        let doc = marks.iter().find_map(|mark| line.strip_prefix(mark)).filter(|doc| !doc.starts_with('/'));
        let is_first = doc.is_some() && !is_inside;
        is_inside = doc.is_some() && (is_rust || doc.is_some_and(|doc| doc.trim().is_empty()));
        let summary = match doc {
            Some(doc) if is_first => doc.trim(),
            _ => continue,
        };
        let word = summary.split(|c: char| !c.is_alphanumeric() && c != '\'').next().unwrap_or_default();
        if HEADLESS.contains(&word) {
            found.push((number, summary.to_owned()));
        }
    }
    found
}

#[test]
fn summaries_begin_with_their_noun() {
    let is_code = |source: &Source| [".rs", ".ts", ".tsx", ".mjs"].iter().any(|end| source.path.ends_with(end));
    let reading = Reading::of("", KINDS).only("documents, styles, scripts", is_code);
    let reading = reading.only("exempt", |source| !EXEMPT.contains(&source.path.as_str()));
    reading.report("summaries");
    let lines = |source: &Source| {
        let of_line = |(number, summary)| format!("{}:{number}: {summary}", source.path);
        headless(&source.path, &source.text).into_iter().map(of_line).collect::<Vec<_>>()
    };
    let found: Vec<String> = reading.sources.iter().flat_map(lines).collect();
    assert!(found.is_empty(), "{} summaries without a head:\n{}", found.len(), found.join("\n"));
}

#[test]
fn comments_of_pages_and_styles_are_read() {
    for (path, source, is_found) in [
        ("web/a.tsx", "const a = 1 // is told apart", true),
        ("web/a.tsx", "<p>Rows that are told apart, don't</p>", false),
        ("web/a.tsx", "{/* rows,\n told apart */}", true),
        ("web/a.mjs", "glob('**/*.ts', 'told apart')", false),
        ("web/a.css", "/* told apart */", true),
        ("web/a.css", ".told-apart {}", false),
    ] {
        assert_eq!(!findings(path, source).is_empty(), is_found, "{source}");
    }
}

#[test]
fn headless_summaries_are_found() {
    for (path, source, is_headless) in [
        ("a.rs", "/// What a field holds.", true),
        ("a.rs", "//! How it works.", true),
        ("a.rs", "/// Number of rows.\n/// What else.", false),
        ("a.rs", "/// Whatever is given.", false),
        ("a.rs", "// What follows is fast.", false),
        ("a.rs", "struct A {\n    /// Who asks.\n    a: u8,\n    /// That it is full.\n}", true),
        ("a.tsx", "/** What a row shows. */", true),
        ("a.tsx", "/** A row. */\n// What follows is slow.", false),
    ] {
        assert_eq!(!headless(path, source).is_empty(), is_headless, "{source}");
    }
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
