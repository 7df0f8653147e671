//! Project rules that a compiler does not check. ARCHITECTURE, "Invariants".

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every Rust file under a folder of the repository: path and content.
fn sources(folder: &str) -> Vec<(String, String)> {
    fn find(folder: &Path, found: &mut Vec<(String, String)>) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("a readable folder").path();
            if path.is_dir() {
                find(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push((path.display().to_string(), fs::read_to_string(&path).expect("text")));
            }
        }
    }
    let mut found = Vec::new();
    find(&root().join(folder), &mut found);
    assert!(!found.is_empty(), "{folder} holds no sources");
    found
}

/// The crates under `[dependencies]` of a manifest.
fn dependencies(manifest: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join(manifest)).expect("a manifest");
    let section = text.split("[dependencies]").nth(1).unwrap_or_default();
    section
        .lines()
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split(['=', '.', ' ']).next())
        .filter(|name| !name.is_empty() && !name.starts_with('#'))
        .map(str::to_owned)
        .collect()
}

/// Lines of code with their indexes: comments may contain banned words.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"))
}

#[track_caller]
fn assert_absent(folder: &str, banned: &[&str], except: impl Fn(&str) -> bool) {
    for (path, text) in sources(folder) {
        for (number, line) in code(&text) {
            for word in banned {
                assert!(except(&path) || !line.contains(word), "{path}:{}: {word} has no place here", number + 1);
            }
        }
    }
}

#[test]
fn the_rules_do_no_io() {
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
    for name in dependencies("crates/domain/Cargo.toml") {
        assert!(PURE.contains(&name.as_str()), "domain depends on {name}");
    }
    for folder in ["crates/domain/src", "crates/symbols/src"] {
        assert_absent(
            folder,
            &["std::fs", "std::net", "SystemTime", "std::env", "tokio", "Instant::now", "Timestamp::now", "Zoned::now"],
            |_| false,
        );
    }
}

#[test]
fn arrows_between_crates_point_one_way() {
    for (name, allowed) in ARROWS {
        let allowed: Vec<String> = allowed.iter().map(|name| format!("tidewatch-{name}")).collect();
        let manifest = format!("crates/{name}/Cargo.toml");
        for name in dependencies(&manifest).into_iter().filter(|name| name.starts_with("tidewatch-")) {
            assert!(allowed.contains(&name), "{manifest} depends on {name}");
        }
    }
    let listed: BTreeSet<String> = ARROWS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(listed, crates().into_iter().collect());
}

/// Each crate with the workspace crates that it may depend on.
const ARROWS: &[(&str, &[&str])] = &[
    ("domain", &[]),
    ("symbols", &[]),
    ("journal", &[]),
    ("columnar", &[]),
    ("blobs", &["limits"]),
    ("store", &["domain"]),
    ("lake", &["columnar", "domain", "journal", "store"]),
    ("limits", &[]),
    ("runtime", &["journal", "limits"]),
    ("accounts", &["domain", "journal", "limits", "runtime"]),
    ("ingest", &["accounts", "blobs", "domain", "journal", "lake", "limits", "runtime", "store", "symbols"]),
    ("query", &["accounts", "domain", "limits", "store"]),
    ("alerts", &["accounts", "domain", "limits", "query", "runtime"]),
    ("bench", &["accounts", "domain", "ingest", "journal", "lake", "limits", "query", "runtime", "store"]),
    (
        "server",
        &[
            "accounts", "alerts", "bench", "blobs", "domain", "ingest", "journal", "lake", "limits", "query",
            "runtime", "store", "symbols",
        ],
    ),
];

/// The names of the folders in `crates/`.
fn crates() -> Vec<String> {
    let folders = std::fs::read_dir(root().join("crates")).expect("the crates");
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.expect("a readable folder").file_name();
    folders.map(|entry| name(entry).into_string().expect("a name in UTF-8")).collect()
}

/// `accounts` uses SQL for its database, `lake` for its catalog, and rooms with tables in the control database in files
/// of `tables`.
#[test]
fn sql_stays_where_its_library_is_named() {
    // The demo sends SQL statements as attributes and executes none.
    let is_demo = |path: &str| path.contains("/src/demo/");
    for name in crates().iter().filter(|name| !["accounts", "lake"].contains(&name.as_str())) {
        let is_test = |path: &str| name == "journal" && path.ends_with("/sqlite_wal.rs");
        let is_tables = |path: &str| path.ends_with("/tables.rs") || path.contains("/tables/");
        let banned = ["rusqlite", "sqlx::", "SELECT ", "INSERT INTO", "DELETE FROM"];
        assert_absent(&format!("crates/{name}/src"), &banned, |path| is_demo(path) || is_test(path) || is_tables(path));
    }
    assert_absent("crates/accounts/src", &["arrow::", "axum::"], |_| false);
    for name in ["query", "accounts", "store", "lake", "columnar"] {
        assert_absent(&format!("crates/{name}/src"), &["axum", "hyper::"], |_| false);
    }
}

#[test]
fn gates_hold_no_numbers() {
    for (path, text) in sources("crates/server/src/http/gate") {
        // Tests may contain numbers, in the file and in `tests.rs`.
        if path.ends_with("/tests.rs") {
            continue;
        }
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (number, line) in code(text) {
            let line = line.split("//").next().unwrap_or_default();
            for word in line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.') {
                let digits = word.replace('_', "");
                let is_limit = digits.parse::<f64>().is_ok_and(|value| value > 1.0 && value != 1e9);
                assert!(!is_limit, "{path}:{}: {word} belongs into limits.rs", number + 1);
            }
        }
    }
}

#[test]
fn only_one_file_picks_status_codes() {
    let banned =
        ["StatusCode::BAD_REQUEST", "StatusCode::UNAUTHORIZED", "StatusCode::INTERNAL", "StatusCode::UNPROCESSABLE"];
    assert_absent("crates/server/src", &banned, |path| path.ends_with("/src/error.rs"));
    for name in crates().iter().filter(|name| *name != "server") {
        assert_absent(
            &format!("crates/{name}/src"),
            &["StatusCode::BAD", "StatusCode::NOT", "http::StatusCode"],
            |_| false,
        );
    }
}

#[test]
fn the_clock_is_read_in_one_file() {
    let knows_time = |path: &str| path.ends_with("/clock.rs") || path.contains("/demo/");
    for name in crates() {
        assert_absent(&format!("crates/{name}/src"), &["SystemTime", "Timestamp::now"], knows_time);
    }
}

/// Arrow's `cast` supports every pair of types: one use makes the binary megabytes larger.
#[test]
fn nothing_casts_arrays_of_any_type() {
    let files = sources("crates").into_iter().filter(|(path, _)| path.contains("/src/") && !path.contains("/tests"));
    for (path, text) in files {
        let code_only = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (number, line) in code(code_only) {
            let names_cast = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == "cast");
            assert!(!(names_cast && line.contains("arrow::compute")), "{path}:{}: build the type", number + 1);
        }
    }
}

/// Every limit is used outside the printed table and tests.
#[test]
fn every_limit_is_enforced() {
    // The list of body classes, which is printed and tested, and a unit.
    const LISTS: &[&str] = &["CLASSES", "MIB"];
    let files = sources("crates");
    let is_list = |path: &str| {
        path.contains("/limits/src/") && !path.contains("/limits/src/admission/") && !path.ends_with("/clock.rs")
    };
    let limits: String = files.iter().filter(|(path, _)| is_list(path)).map(|(_, text)| text.as_str()).collect();
    assert!(limits.contains("pub const OTLP: RouteLimits"), "no limits");
    let enforcing: Vec<&str> = files
        .iter()
        .filter(|(other, _)| other.contains("/src/") && !other.contains("/tests") && !is_list(other))
        .filter(|(_, text)| !text.contains("pub fn table() -> Vec<[String; 3]>"))
        .map(|(_, text)| text.split("#[cfg(test)]").next().unwrap_or_default())
        .collect();
    let is_part_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words: BTreeSet<&str> = enforcing.iter().flat_map(|text| text.split(|c| !is_part_of_name(c))).collect();
    let constants = limits
        .lines()
        .filter_map(|line| line.strip_prefix("pub const ")?.split(':').next())
        .filter(|name| !LISTS.contains(name) && !words.contains(name));
    let windows = limits
        .lines()
        .filter_map(|line| line.trim().split_once(": ").filter(|(_, rest)| rest.contains(" a minute, ")))
        .filter(|(name, _)| name.chars().all(is_part_of_name))
        .filter(|(name, _)| !enforcing.iter().any(|text| text.contains(&format!("PerIp<{name}>"))))
        .map(|(name, _)| name);
    let unused: Vec<&str> = constants.chain(windows).collect();
    assert!(unused.is_empty(), "nothing but tests and tables uses {unused:?}");
}

/// Tests send records of fixed days, which would expire under any retention.
#[test]
fn servers_of_tests_keep_everything() {
    for (path, text) in sources("crates/server/tests") {
        let starts = text.contains("Config::new(") || text.contains("\"serve\"");
        let says_how_long = ["retention_days = 0", "TIDEWATCH_RETENTION_DAYS", "--retention-days"];
        let needs_no_data = ["/tidy.rs", "/configuration.rs", "/refused.rs", "/outside_bytes.rs"];
        if starts && !needs_no_data.iter().any(|file| path.ends_with(file)) {
            assert!(says_how_long.iter().any(|words| text.contains(words)), "{path}: servers of tests keep everything");
        }
    }
}

/// Every path in ARCHITECTURE.md exists. `lake/scan` stands for `crates/lake/src/scan`, `tests/it` for any crate's,
/// `http/gate` for the server's, `{a,b}` for both.
#[test]
fn paths_in_the_architecture_exist() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("text");
    let mut places = vec![root(), root().join("crates/server/src")];
    places.extend(crates().iter().map(|name| root().join("crates").join(name)));
    let exists = |name: &str| {
        let of_crate = name
            .split_once('/')
            .map(|(first, rest)| ["src/", ""].map(|folder| root().join(format!("crates/{first}/{folder}{rest}"))));
        let found = of_crate.into_iter().flatten().chain(places.iter().map(|place| place.join(name)));
        found.into_iter().any(|path| path.exists() || path.with_added_extension("rs").exists())
    };
    let is_path = |name: &&str| {
        name.contains('/')
            && !name.starts_with('/')
            && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-./{},".contains(c))
    };
    let named = text.split('`').skip(1).step_by(2).filter(is_path).flat_map(expanded);
    let missing: BTreeSet<String> = named.filter(|name| !exists(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
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

/// Files with more than [`LINES_MAX`] lines: flat lists, which are read by eye.
const FLAT_LISTS: &[&str] = &["crates/symbols/src/demangle/swift_size.rs"];
const LINES_MAX: usize = 500;

#[test]
fn no_file_is_too_long_to_read_at_once() {
    let long = sources("crates").into_iter().filter(|(_, text)| text.lines().count() > LINES_MAX);
    let long: BTreeSet<String> = long.filter_map(|(path, _)| Some(path.rsplit_once("../../")?.1.to_owned())).collect();
    let known = FLAT_LISTS.iter().map(|path| (*path).to_owned()).collect();
    assert_eq!(long, known);
}
