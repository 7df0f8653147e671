//! Paths that the documents name exist.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tidewatch_tidy::{Reading, crates, root};

#[test]
fn paths_in_documents_exist() {
    let reading = Reading::of("", &["md"]).only("documents of others", |source| {
        let is_ours = ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"].contains(&source.path.as_str());
        // The specification is older than the code, and the decisions name paths of their day.
        is_ours || (source.path.starts_with("docs/") && !is_history(&source.path))
    });
    reading.report("paths in documents");
    let missing: Vec<String> = reading
        .sources
        .iter()
        .flat_map(|source| {
            missing(&source.path, &source.text).into_iter().map(|name| format!("{}: {name}", source.path))
        })
        .collect();
    assert!(missing.is_empty(), "no such file:\n{}", missing.join("\n"));
}

fn is_history(path: &str) -> bool {
    path.starts_with("docs/spec/") || path.contains("/decisions/")
}

/// The paths of a document that lead nowhere: links, and names in backticks that begin with a folder of the repository.
/// In ARCHITECTURE.md, `lake/scan` stands for `crates/lake/src/scan`, `tests/it` for any crate's, `http/gate` for the
/// server's, `{a,b}` for both.
fn missing(document: &str, text: &str) -> BTreeSet<String> {
    let in_ticks = text.split('`').skip(1).step_by(2).filter(|name| is_path(name)).flat_map(expanded);
    let is_map = document.ends_with("ARCHITECTURE.md");
    let named = in_ticks.filter(|name| if is_map { !exists_for_short(name) } else { !exists(name) });
    let folder = root().join(document).parent().map(Path::to_path_buf).unwrap_or_default();
    let links = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#', ' ']).next());
    let is_local = |link: &&str| {
        !link.is_empty() && !link.contains("://") && !link.starts_with(['/', '<']) && !link.starts_with("mailto:")
    };
    let links = links.filter(is_local).filter(|link| !folder.join(link).exists()).map(str::to_owned);
    named.chain(links).collect()
}

fn is_path(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_-./{},".contains(c);
    name.contains('/') && !name.starts_with('/') && name.chars().all(is_part)
}

/// Names that begin with a folder of the repository must exist. Others are no paths of the repository.
fn exists(name: &str) -> bool {
    const FOLDERS: &[&str] = &["crates", "docs", "web", "scripts", "fixtures", "fuzz", "deploy"];
    let first = name.split('/').next().unwrap_or_default();
    // Large fixtures are stored compressed.
    !FOLDERS.contains(&first) || root().join(name).exists() || root().join(format!("{name}.zst")).exists()
}

fn exists_for_short(name: &str) -> bool {
    let of_crate = name
        .split_once('/')
        .map(|(first, rest)| ["src/", ""].map(|folder| root().join(format!("crates/{first}/{folder}{rest}"))));
    let places = crates().into_iter().map(|name| root().join("crates").join(name));
    let places = places.chain([root(), root().join("crates/server/src")]).map(|place| place.join(name));
    let found = of_crate
        .into_iter()
        .flatten()
        .chain(places)
        .any(|path| path.exists() || PathBuf::from(format!("{}.rs", path.display())).exists());
    found || name.chars().any(|c| c.is_ascii_uppercase())
}

/// Expands `a/{b,c}/d` to `a/b/d` and `a/c/d`.
fn expanded(name: &str) -> Vec<String> {
    let Some((before, inner, after)) = name
        .split_once('{')
        .and_then(|(before, rest)| Some((before, rest.split_once('}')?)).map(|(b, (i, a))| (b, i, a)))
    else {
        return vec![name.to_owned()];
    };
    inner.split(',').flat_map(|choice| expanded(&format!("{before}{choice}{after}"))).collect()
}

#[test]
fn paths_that_lead_nowhere_are_found() {
    for (document, text, expected) in [
        ("CONTRIBUTING.md", "`crates/tidy/src/{lib,none}.rs`", Some("crates/tidy/src/none.rs")),
        ("CONTRIBUTING.md", "`application/json`, `crates/tidy`", None),
        ("docs/a.md", "[b](none.md#part)", Some("none.md")),
        ("docs/a.md", "[b](https://example.com) [c](#part) [d](../README.md)", None),
        ("ARCHITECTURE.md", "`tidy/lib`, `tidy/none`", Some("tidy/none")),
    ] {
        let found = missing(document, text);
        assert_eq!(found.first().map(String::as_str), expected, "{text}: {found:?}");
    }
}
