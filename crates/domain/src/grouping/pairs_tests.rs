//! Pairs of traces that real runtimes printed: one bug or two. `fixtures/grouping` has them with their programs.

use std::collections::BTreeMap;

use bumpalo::Bump;
use serde::Deserialize;

use super::{Occurrence, components, group, v1};
use crate::rules::exception::stack_trace;

#[derive(Deserialize)]
struct Corpus {
    pairs: Vec<Pair>,
    traces: BTreeMap<String, Trace>,
}

#[derive(Deserialize)]
struct Pair {
    a: String,
    b: String,
    same: bool,
    why: String,
}

#[derive(Deserialize)]
struct Trace {
    #[serde(rename = "type")]
    exception_type: String,
    message: String,
    stack: String,
}

macro_rules! corpora {
    ($($name:literal),*) => {
        [$(($name, include_str!(concat!("../../../../fixtures/grouping/", $name, ".json")))),*]
    };
}

fn corpora() -> Vec<(&'static str, Corpus)> {
    let all = corpora!(
        "dotnet",
        "elixir",
        "go",
        "java",
        "javascript",
        "javascriptcore",
        "kotlin",
        "messages",
        "native",
        "php",
        "python",
        "ruby",
        "rust",
        "scala",
        "spidermonkey",
        "second/elixir",
        "second/go",
        "second/java",
        "second/javascript",
        "second/php",
        "second/python",
        "second/ruby"
    );
    all.into_iter().map(|(name, json)| (name, serde_json::from_str(json).expect("a corpus"))).collect()
}

impl Trace {
    /// The occurrence as ingest makes it: with the header of the event above.
    fn with_text<T>(&self, with: impl FnOnce(&Occurrence<'_>) -> T) -> T {
        let arena = Bump::new();
        let (exception_type, message) = (self.exception_type.trim(), self.message.trim());
        let stack_trace = stack_trace(exception_type, message, self.stack.trim_end(), &arena);
        with(&Occurrence { exception_type, message, stack_trace, ..Occurrence::default() })
    }

    fn hash(&self) -> u64 {
        self.with_text(|of| group(of).hash)
    }
}

// DECISIONS 30: none of the pairs may be wrong. Docs: develop/grouping.md has the numbers.
#[test]
fn pairs_of_real_runtimes() {
    let (mut wrong, mut table) = (String::new(), String::new());
    for (name, corpus) in corpora() {
        let (mut split, mut merged, mut split_before, mut merged_before, mut same) = (0, 0, 0, 0, 0);
        for pair in &corpus.pairs {
            let (a, b) = (&corpus.traces[&pair.a], &corpus.traces[&pair.b]);
            let before =
                [a, b].map(|one| one.with_text(|of| v1::issue_group(of.exception_type, of.message, of.stack_trace)));
            same += usize::from(pair.same);
            split_before += usize::from(pair.same && before[0] != before[1]);
            merged_before += usize::from(!pair.same && before[0] == before[1]);
            if (a.hash() == b.hash()) == pair.same {
                continue;
            }
            split += usize::from(pair.same);
            merged += usize::from(!pair.same);
            wrong += &format!(
                "\n{name} {} {}: {} should be {}\n",
                pair.a,
                pair.b,
                pair.why,
                if pair.same { "one" } else { "two" }
            );
            for one in [a, b] {
                wrong += &format!("{}\n", one.with_text(shown));
            }
        }
        let two = corpus.pairs.len() - same;
        table += &format!(
            "{name}: split {split} of {same} (before {split_before}), merged {merged} of {two} (before {merged_before})\n"
        );
    }
    println!("{table}");
    assert!(wrong.is_empty(), "{wrong}\n{table}");
}

fn shown(of: &Occurrence<'_>) -> String {
    let components = components(of);
    let mut out = format!("  {:?} {:?}", components.basis, components.message);
    for exception in components.exceptions.iter().filter(|exception| exception.is_counted) {
        let frames: Vec<&str> =
            exception.frames.iter().filter(|frame| frame.left_out.is_none()).map(|frame| frame.text.as_str()).collect();
        out += &format!("\n  {} {:?}", exception.exception_type, frames);
    }
    out
}

/// The situation of a trace: the first part of its name.
fn situation(name: &str) -> &str {
    name.trim_end_matches(".txt").split('-').next().unwrap_or(name)
}

// Situations that share a group, and situations of several groups: printed for reading, not asserted.
#[test]
fn situations_and_groups() {
    for (name, corpus) in corpora().into_iter().filter(|(name, _)| *name != "messages") {
        let mut groups: BTreeMap<u64, BTreeMap<&str, &Trace>> = BTreeMap::new();
        let mut situations: BTreeMap<&str, BTreeMap<u64, (&str, &Trace)>> = BTreeMap::new();
        for (file, trace) in &corpus.traces {
            groups.entry(trace.hash()).or_default().insert(situation(file), trace);
            situations.entry(situation(file)).or_default().insert(trace.hash(), (file.as_str(), trace));
        }
        for situations in groups.values().filter(|situations| situations.len() > 1) {
            let names: Vec<_> = situations.keys().collect();
            println!(
                "MERGED {name} {names:?}{}",
                situations.values().next().map_or(String::new(), |one| one.with_text(shown))
            );
        }
        for groups in situations.values().filter(|groups| groups.len() > 1) {
            for (file, trace) in groups.values() {
                println!("SPLIT {name} {file}{}", trace.with_text(shown));
            }
        }
    }
}

// DECISIONS 30: lines, addresses, folders and hashes change with a build, types and functions with the bug.
#[test]
fn mutations_of_real_traces() {
    let mut wrong = String::new();
    for (name, corpus) in corpora().into_iter().filter(|(name, _)| *name != "messages") {
        for (file, trace) in &corpus.traces {
            if trace.stack.is_empty() {
                continue;
            }
            let own = trace.hash();
            let changed = |stack: String| Trace {
                stack,
                exception_type: trace.exception_type.clone(),
                message: trace.message.clone(),
            };
            let volatile = [
                ("line breaks of Windows", trace.stack.replace('\n', "\r\n")),
                (
                    "folder",
                    trace
                        .stack
                        .replace("/srv/shop/releases/1.4.0/", "/home/deploy/app/")
                        .replace("/srv/shop/releases/1.5.0/", "/home/deploy/app/"),
                ),
                ("colors", trace.stack.replace("    at ", "    \u{1b}[31mat\u{1b}[0m ")),
            ];
            for (what, stack) in volatile {
                let changed = changed(stack);
                if changed.message.contains('\n') && what.starts_with("line") {
                    continue;
                }
                if changed.hash() != own {
                    wrong +=
                        &format!("{name} {file} {what}\n{}\n{}\n", trace.with_text(shown), changed.with_text(shown));
                }
            }
            let essential = Trace {
                stack: trace.stack.clone(),
                exception_type: "OtherType".to_owned(),
                message: trace.message.clone(),
            };
            if essential.hash() == own {
                wrong += &format!("{name} {file} another type\n");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
