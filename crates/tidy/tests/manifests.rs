//! Dependencies between crates point one way, and ARCHITECTURE.md shows every one of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use tidewatch_tidy::{crates, root};
use toml::{Table, Value};

const PREFIX: &str = "tidewatch-";

/// Each crate with the workspace crates that it may depend on. A crate may be listed before its folder exists.
const ARROWS: &[(&str, &[&str])] = &[
    ("domain", &[]),
    ("symbols", &[]),
    ("journal", &[]),
    ("columnar", &[]),
    ("limits", &[]),
    ("blobs", &["limits"]),
    ("store", &["domain", "journal"]),
    ("lake", &["columnar", "domain", "journal", "store"]),
    ("runtime", &["journal", "limits"]),
    ("probes", &["limits", "runtime"]),
    ("accounts", &["domain", "journal", "limits", "runtime"]),
    ("ingest", &["accounts", "blobs", "domain", "journal", "limits", "runtime", "store", "symbols"]),
    ("query", &["accounts", "domain", "limits", "store"]),
    ("alerts", &["accounts", "domain", "limits", "probes", "query", "runtime"]),
    ("bench", &["accounts", "domain", "ingest", "journal", "limits", "query", "runtime", "store"]),
    (
        "server",
        &[
            "accounts", "alerts", "bench", "blobs", "domain", "ingest", "journal", "lake", "limits", "probes", "query",
            "runtime", "store", "symbols",
        ],
    ),
    ("tidy", &[]),
];

/// Crates of other people that the rules may use: none does I/O.
const PURE: &[&str] = &[
    "base64",
    "bumpalo",
    "jiff",
    "libm",
    "memchr",
    "simdutf8",
    "thiserror",
    "uuid",
    "xxhash-rust",
    "sha1",
    "sha2",
    "hashbrown",
    "serde",
    "serde_json",
];

/// The crates that a manifest depends on, also for one target or in its build script. Tests may depend on others.
fn dependencies(manifest: &Table) -> BTreeSet<String> {
    let targets = manifest.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values);
    let places = targets.filter_map(Value::as_table).chain([manifest]);
    places
        .flat_map(|place| ["dependencies", "build-dependencies"].map(|section| place.get(section)))
        .filter_map(|section| section?.as_table())
        .flatten()
        // `package` holds the name of a crate under another one.
        .map(|(name, value)| value.get("package").and_then(Value::as_str).unwrap_or(name).to_owned())
        .collect()
}

fn of_crate(name: &str) -> BTreeSet<String> {
    let path = root().join(format!("crates/{name}/Cargo.toml"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    dependencies(&text.parse().expect("a manifest"))
}

/// The crates of the workspace, each with those that it depends on.
fn workspace() -> BTreeMap<String, BTreeSet<String>> {
    let own = |name: &String| {
        of_crate(name).iter().filter_map(|name| Some(name.strip_prefix(PREFIX)?.to_owned())).collect::<BTreeSet<_>>()
    };
    crates().into_iter().map(|name| (own(&name), name)).map(|(own, name)| (name, own)).collect()
}

#[test]
fn dependencies_of_targets_and_build_scripts_are_read() {
    let manifest = r#"
        dependencies.tidewatch-a.workspace = true
        [target.'cfg(unix)'.dependencies]
        tidewatch-b = { workspace = true, features = ["x"] }
        [build-dependencies]
        c = { package = "tidewatch-c", version = "1" }
        [target.x86_64-unknown-linux-gnu.build-dependencies]
        tidewatch-d.workspace = true
        [dev-dependencies]
        tidewatch-e.workspace = true
    "#;
    let found = dependencies(&manifest.parse().expect("a manifest"));
    assert_eq!(
        found.iter().map(String::as_str).collect::<Vec<_>>(),
        ["a", "b", "c", "d"].map(|x| format!("{PREFIX}{x}"))
    );
}

#[test]
fn the_rules_depend_on_nothing_that_does_io() {
    for name in of_crate("domain") {
        assert!(PURE.contains(&name.as_str()), "domain depends on {name}");
    }
}

#[test]
fn arrows_between_crates_point_one_way() {
    for (name, own) in workspace() {
        let (_, allowed) = ARROWS.iter().find(|(listed, _)| *listed == name).unwrap_or_else(|| panic!("{name} is new"));
        for other in own {
            assert!(allowed.contains(&other.as_str()), "{name} depends on {other}");
        }
    }
}

const BEGIN: &str = "<!-- crates:begin -->\n";
const END: &str = "<!-- crates:end -->";

/// The picture of a workspace: a crate stands above those that it depends on, and beside others by name.
fn picture(crates: &BTreeMap<String, BTreeSet<String>>) -> String {
    let mut left: BTreeSet<&String> = crates.keys().collect();
    let mut lines = String::from("```\n");
    while !left.is_empty() {
        let is_free = |name: &&&String| !left.iter().any(|other| crates[*other].contains(**name));
        let next = *left.iter().find(is_free).expect("dependencies form no circle");
        left.remove(next);
        let own: Vec<&str> = crates[next].iter().map(String::as_str).collect();
        let line = if own.is_empty() { next.clone() } else { format!("{next} -> {}", own.join(", ")) };
        lines.push_str(&format!("{line}\n"));
    }
    lines + "```\n"
}

/// `UPDATE_SNAPSHOTS=1` writes the picture. The name says so to `make snapshots`.
#[test]
fn the_architecture_shows_every_arrow_snapshot() {
    let path = root().join("ARCHITECTURE.md");
    let text = fs::read_to_string(&path).expect("text");
    let (before, rest) = text.split_once(BEGIN).expect("the begin of the picture");
    let (shown, after) = rest.split_once(END).expect("the end of the picture");
    let expected = picture(&workspace());
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs::write(path, format!("{before}{BEGIN}{expected}{END}{after}")).expect("a writable file");
        return;
    }
    assert_eq!(shown, expected, "run `UPDATE_SNAPSHOTS=1 cargo test -p tidewatch-tidy snapshot`");
}

/// A name in backticks outside the picture, and their number in the first sentence.
#[test]
fn the_architecture_describes_every_crate() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("text");
    assert_eq!(undescribed(&text, &crates()), Vec::<String>::new());
}

const NUMBERS: &[&str] = &[
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
];

/// Crates without a mention, and a number of crates that is wrong.
fn undescribed(text: &str, crates: &[String]) -> Vec<String> {
    let (before, rest) = text.split_once(BEGIN).unwrap_or((text, ""));
    let prose = format!("{before}{}", rest.split_once(END).unwrap_or_default().1);
    let missing = crates.iter().filter(|name| !prose.contains(&format!("`{name}`")));
    let words = prose.split_whitespace().map(|word| word.trim_end_matches(|c: char| !c.is_alphabetic()).to_lowercase());
    let words: Vec<String> = words.collect();
    let numbers = words.windows(2).filter(|pair| pair[1] == "crates" && NUMBERS.contains(&pair[0].as_str()));
    let right = crates.len().checked_sub(10).and_then(|index| NUMBERS.get(index));
    let wrong = numbers.filter(|pair| right.is_none_or(|right| pair[0] != *right)).map(|pair| pair.join(" "));
    missing.cloned().chain(wrong).collect()
}

#[test]
fn crates_without_a_description_are_found() {
    let names: Vec<String> = (b'a'..b'k').map(|name| char::from(name).to_string()).collect();
    let all: String = names.iter().map(|name| format!("`{name}` ")).collect();
    assert_eq!(undescribed(&format!("Ten crates: {all}"), &names), Vec::<String>::new());
    assert_eq!(undescribed(&format!("Eleven crates: {all}"), &names), ["eleven crates"]);
    let only_in_picture = format!("{}{BEGIN}`a`{END}", all.replace("`a`", "a"));
    assert_eq!(undescribed(&only_in_picture, &names), ["a"]);
    let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    let crates = [("low", own(&[])), ("alone", own(&[])), ("top", own(&["low", "alone"]))];
    let crates = crates.into_iter().map(|(name, own)| (name.to_owned(), own)).collect();
    assert_eq!(picture(&crates), "```\ntop -> alone, low\nalone\nlow\n```\n");
}
