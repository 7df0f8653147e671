//! Checks of the source tree, like rustc's `tidy`: arrows, vocabulary and project rules. The checks are in `tests/`.
//!
//! This library reads the files of the repository for them. Each check reports the files that it did not read, by kind:
//! a check that reads nothing finds nothing. The crate depends on no other crate of the workspace, so that
//! `cargo test -p tidewatch-tidy` compiles in seconds.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Folders whose files belong to other programs: versions, build output, installed packages.
const FOREIGN: &[&str] = &["target", "node_modules", "dist", "test-results"];

/// A file of the repository.
#[derive(Debug)]
pub struct Source {
    /// Path from the root of the repository, separated by `/`.
    pub path: String,
    /// The content.
    pub text: String,
}

impl Source {
    /// Lines with their numbers, from 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }
}

/// The files that one check reads, and the number of those that it passes over.
#[derive(Debug, Default)]
pub struct Reading {
    /// Files in the order of their paths.
    pub sources: Vec<Source>,
    unread: BTreeMap<String, usize>,
}

impl Reading {
    /// Reads the files below `folder` that end in one of `kinds`, such as `rs`.
    ///
    /// # Panics
    /// If no file matches, or a file is not UTF-8.
    #[must_use]
    pub fn of(folder: &str, kinds: &[&str]) -> Reading {
        let mut reading = Reading::default();
        reading.walk(&root().join(folder), kinds);
        assert!(!reading.sources.is_empty(), "{folder} holds no {kinds:?}");
        reading.sources.sort_by(|a, b| a.path.cmp(&b.path));
        reading
    }

    /// Keeps the sources that `keep` accepts. The others count as unread, under `reason`.
    #[must_use]
    pub fn only(mut self, reason: &str, keep: impl Fn(&Source) -> bool) -> Reading {
        let before = self.sources.len();
        self.sources.retain(keep);
        let passed = before - self.sources.len();
        if passed > 0 {
            *self.unread.entry(reason.to_owned()).or_default() += passed;
        }
        self
    }

    /// Prints the number of files that were read and of those that were not, even if the test passes.
    pub fn report(&self, check: &str) {
        let line = format!("{check}: {}\n", self.summary());
        // The stream itself: `eprintln` is captured while a test passes. A closed stream fails no check.
        drop(std::io::stderr().write_all(line.as_bytes()));
    }

    /// The line of [`Self::report`] without the name of the check.
    #[must_use]
    pub fn summary(&self) -> String {
        let kinds: Vec<_> = self.unread.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        let unread: usize = self.unread.values().sum();
        let kinds = if kinds.is_empty() { String::new() } else { format!(": {}", kinds.join(", ")) };
        format!("{} files read, {unread} not read{kinds}", self.sources.len())
    }

    fn walk(&mut self, folder: &Path, kinds: &[&str]) {
        for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.expect("a readable folder").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                if !name.starts_with('.') && !FOREIGN.contains(&name.as_str()) {
                    self.walk(&path, kinds);
                }
                continue;
            }
            let kind = path.extension().map_or("without ending".to_owned(), |kind| format!(".{}", kind.display()));
            if kinds.iter().any(|known| kind == format!(".{known}")) {
                let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                self.sources.push(Source { path: relative(&path), text });
            } else {
                *self.unread.entry(kind).or_default() += 1;
            }
        }
    }
}

/// The root of the repository.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The names of the folders in `crates/`, in order.
///
/// # Panics
/// If the folder is not readable.
#[must_use]
pub fn crates() -> Vec<String> {
    let folders = fs::read_dir(root().join("crates")).expect("the crates").map(|entry| entry.expect("an entry").path());
    let crates = folders.filter(|folder| folder.join("Cargo.toml").exists());
    let mut names: Vec<String> =
        crates.filter_map(|folder| Some(folder.file_name()?.to_string_lossy().into_owned())).collect();
    names.sort();
    names
}

/// Lines of Rust with their numbers, from 1, without lines that are comments.
pub fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines()).filter(|(_, line)| !line.trim_start().starts_with("//"))
}

/// The part of a Rust file before its first unit tests.
#[must_use]
pub fn without_tests(text: &str) -> &str {
    text.split("#[cfg(test)]").next().unwrap_or_default()
}

fn relative(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).to_string_lossy().replace('\\', "/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_not_read_are_counted_by_kind() {
        let reading = Reading::of("crates/tidy", &["rs"]);
        let others = reading.sources.len() - 1;
        let reading = reading.only("tests", |source| source.path == "crates/tidy/src/lib.rs");
        assert_eq!(reading.summary(), format!("1 files read, {} not read: 1 .toml, {others} tests", others + 1));
    }
}
