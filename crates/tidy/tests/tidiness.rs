//! Project rules that a compiler does not check. ARCHITECTURE, "Invariants".

use std::collections::BTreeSet;

use tidewatch_tidy::{Reading, Source, code, crates, root, without_tests};

/// The lines of code, without comments, that contain one of `words`.
fn uses(sources: &[Source], words: &[&str]) -> Vec<String> {
    let of_source = |source: &Source| {
        let lines = code(&source.text).flat_map(|(number, line)| {
            words.iter().filter(move |word| line.contains(**word)).map(move |word| (number, *word))
        });
        lines.map(|(number, word)| format!("{}:{number}: {word}", source.path)).collect::<Vec<_>>()
    };
    sources.iter().flat_map(of_source).collect()
}

/// Reports what was read, then fails if a source uses one of `words`.
#[track_caller]
fn refuse(check: &str, reading: &Reading, words: &[&str]) {
    reading.report(check);
    let found = uses(&reading.sources, words);
    assert!(found.is_empty(), "{check}:\n{}", found.join("\n"));
}

/// Sources of Rust below `folder` for which `holds` is true. The others count as unread, under `reason`.
fn rust(folder: &str, reason: &str, holds: impl Fn(&str) -> bool) -> Reading {
    Reading::of(folder, &["rs"]).only(reason, |source| holds(&source.path))
}

/// Whether a file belongs to the product: not to its tests and measurements.
fn is_product(path: &str) -> bool {
    path.contains("/src/") && !path.contains("/tests") && !path.starts_with("crates/tidy/")
}

fn is_below(path: &str, crates: &[&str]) -> bool {
    crates.iter().any(|name| path.starts_with(&format!("crates/{name}/")))
}

#[test]
fn uses_are_found_outside_comments() {
    let source = |text: &str| Source { path: "crates/x/src/lib.rs".to_owned(), text: text.to_owned() };
    assert_eq!(
        uses(&[source("fn a() {}\nlet b = std::fs::read();")], &["std::fs"]),
        ["crates/x/src/lib.rs:2: std::fs"]
    );
    assert!(uses(&[source("  /// Like std::fs.")], &["std::fs"]).is_empty());
}

#[test]
fn the_rules_do_no_io() {
    let words =
        ["std::fs", "std::net", "SystemTime", "std::env", "tokio", "Instant::now", "Timestamp::now", "Zoned::now"];
    let reading = rust("crates", "other crates", |path| is_below(path, &["domain/src", "symbols/src"]));
    refuse("the rules do no I/O", &reading, &words);
}

/// Libraries of databases.
const SQL_LIBRARIES: &[&str] = &["rusqlite", "sqlx::"];
/// Statements. Tests and the demo send them as attributes of spans, and execute none.
const SQL: &[&str] = &["rusqlite", "sqlx::", "SELECT ", "INSERT INTO", "DELETE FROM"];

/// Places of SQL: the control database, the tables of alerting, the catalog of the engine.
fn may_use_sql(path: &str) -> bool {
    is_below(path, &["accounts/src", "lake/src/catalog"])
        || (is_below(path, &["alerts"]) && (path.ends_with("/tables.rs") || path.contains("/tables/")))
}

#[test]
fn sql_stays_where_its_library_is_named() {
    let holds = |path: &str| is_product(path) && !may_use_sql(path) && !path.contains("/src/demo/");
    let mut reading = rust("crates", "places of SQL, tests, demo", holds);
    reading.sources.iter_mut().for_each(|source| source.text = without_tests(&source.text).to_owned());
    refuse("SQL has a place", &reading, SQL);
    assert!(may_use_sql("crates/alerts/src/rules/tables.rs") && !may_use_sql("crates/query/src/tables.rs"));
}

/// Tests that use SQL, each with the reason. The list may only shrink.
const TESTS_WITH_SQL: &[(&str, &str)] = &[
    ("crates/journal/src/sqlite_wal.rs", "has SQLite write the log that is read"),
    ("crates/lake/src/tests/catalog_faults.rs", "damages the catalog"),
    ("crates/lake/src/tests/power.rs", "makes statements of the catalog fail"),
    ("crates/lake/src/tests/support.rs", "makes statements of the catalog fail"),
    ("crates/server/tests/it/account_nodes.rs", "writes a database of the first version; reads what is sealed"),
    ("crates/server/tests/it/deploys.rs", "writes the state of before an update"),
    ("crates/server/tests/it/engines.rs", "creates databases of PostgreSQL"),
    ("crates/server/tests/it/on_call.rs", "reads the sealed targets of the outbox"),
];

#[test]
fn tests_use_no_sql() {
    let holds = |path: &str| !may_use_sql(path) && !is_below(path, &["tidy"]);
    let mut reading = rust("crates", "places of SQL, this crate", holds);
    reading.report("tests use no SQL");
    for source in reading.sources.iter_mut().filter(|source| is_product(&source.path)) {
        source.text = source.text[without_tests(&source.text).len()..].to_owned();
    }
    let found = uses(&reading.sources, SQL_LIBRARIES);
    let found: BTreeSet<&str> = found.iter().filter_map(|place| place.split(':').next()).collect();
    let listed = TESTS_WITH_SQL.iter().map(|(path, _)| *path).collect();
    assert_eq!(found, listed, "tests that use SQL, and those that are listed");
}

#[test]
fn layers_name_no_library_of_another() {
    let reading = rust("crates", "other crates", |path| is_below(path, &["accounts/src"]));
    refuse("accounts know no Arrow and no HTTP", &reading, &["arrow::", "axum::"]);
    let inner = ["query/src", "accounts/src", "store/src", "lake/src", "columnar/src"];
    refuse(
        "the inner crates know no HTTP",
        &rust("crates", "other crates", |path| is_below(path, &inner)),
        &["axum", "hyper::"],
    );
}

/// Numbers that are limits: greater than one, and no unit of time.
fn numbers(text: &str) -> Vec<(usize, &str)> {
    let is_limit = |word: &&str| word.replace('_', "").parse::<f64>().is_ok_and(|value| value > 1.0 && value != 1e9);
    code(without_tests(text))
        .flat_map(|(number, line)| {
            let line = line.split("//").next().unwrap_or_default();
            let words = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.');
            words.filter(is_limit).map(move |word| (number, word))
        })
        .collect()
}

#[test]
fn gates_hold_no_numbers() {
    let reading = rust("crates/server/src/http/gate", "tests", |path| !path.ends_with("/tests.rs"));
    reading.report("gates hold no numbers");
    for source in &reading.sources {
        assert_eq!(numbers(&source.text), [], "{}: the numbers belong into the crate of limits", source.path);
    }
    assert_eq!(numbers("let a = 1;\nlet b = 20_000; // 30\n#[cfg(test)]\nlet c = 4;"), [(2, "20_000")]);
}

#[test]
fn only_one_file_picks_status_codes() {
    let words = [
        "StatusCode::BAD_REQUEST",
        "StatusCode::UNAUTHORIZED",
        "StatusCode::FORBIDDEN",
        "StatusCode::NOT_FOUND",
        "StatusCode::CONFLICT",
        "StatusCode::PAYLOAD_TOO_LARGE",
        "StatusCode::UNPROCESSABLE",
        "StatusCode::TOO_MANY_REQUESTS",
        "StatusCode::INTERNAL",
        "StatusCode::SERVICE_UNAVAILABLE",
    ];
    let reading = rust("crates/server/src", "src/error.rs", |path| path != "crates/server/src/error.rs");
    refuse("one file picks status codes", &reading, &words);
    let others = rust("crates", "the server, tests", |path| is_product(path) && !is_below(path, &["server"]));
    refuse("other crates pick no status codes", &others, &["StatusCode::BAD", "StatusCode::NOT", "http::StatusCode"]);
}

#[test]
fn the_clock_is_read_in_one_file() {
    let knows_time = |path: &str| path.ends_with("/clock.rs") || path.contains("/demo/");
    let reading = rust("crates", "clocks, the demo, tests outside src", |path| {
        path.contains("/src/") && !knows_time(path) && !is_below(path, &["tidy"])
    });
    refuse("one file reads the clock", &reading, &["SystemTime", "Timestamp::now"]);
}

/// Elements of HTML, SVG and Atom that documents of the server have.
const ELEMENTS: &[&str] = &[
    "a",
    "article",
    "blockquote",
    "body",
    "br",
    "button",
    "code",
    "details",
    "div",
    "em",
    "feed",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "head",
    "header",
    "hr",
    "html",
    "img",
    "input",
    "label",
    "li",
    "link",
    "main",
    "meta",
    "ol",
    "p",
    "pre",
    "rect",
    "script",
    "section",
    "small",
    "span",
    "strong",
    "style",
    "summary",
    "svg",
    "table",
    "td",
    "text",
    "tr",
    "ul",
];

/// Files with markup in strings, each with the reason. The list may only shrink.
const MARKUP_IN_STRINGS: &[(&str, &str)] = &[
    ("crates/accounts/src/mail/transport/tls_tests.rs", "sends a mail of a test"),
    ("crates/alerts/src/channels/delivery/escape.rs", "escapes the markup of Slack, which is not HTML"),
    ("crates/alerts/src/status_pages/feed.rs", "begins the feed with the declaration of XML"),
    ("crates/server/src/http/ui.rs", "finds the script in a page of the UI"),
];

/// Tags and escapes in strings: `maud` writes both.
fn has_markup(line: &str) -> bool {
    let is_tag = |rest: &str| {
        let name = rest.strip_prefix('/').unwrap_or(rest);
        let end = name.find(|c: char| !c.is_ascii_alphanumeric());
        end.is_some_and(|end| {
            ELEMENTS.contains(&&name[..end]) && [">", " ", "/>"].iter().any(|x| name[end..].starts_with(x))
        })
    };
    ["&amp;", "&lt;", "PreEscaped("].iter().any(|word| line.contains(word)) || line.split('<').skip(1).any(is_tag)
}

#[test]
fn one_library_writes_markup() {
    let reading = rust("crates", "tests", is_product);
    reading.report("one library writes markup");
    let writes = |source: &&Source| code(without_tests(&source.text)).any(|(_, line)| has_markup(line));
    let found: BTreeSet<&str> = reading.sources.iter().filter(writes).map(|source| source.path.as_str()).collect();
    let listed = MARKUP_IN_STRINGS.iter().map(|(path, _)| *path).collect();
    assert_eq!(found, listed, "files with markup in strings, and those that are listed");
    for line in ["format!(\"<p>{name}</p>\")", "out.push_str(\"<img src=\")", "\"</svg>\"", "\"<br/>\"", "\"&amp;\""] {
        assert!(has_markup(line), "{line}");
    }
    for line in ["html! { p { (name) } }", "\"Bearer <token>\"", "if a < p && b {", "Vec<u8>"] {
        assert!(!has_markup(line), "{line}");
    }
}

/// Units of time as numbers of nanoseconds.
const UNITS: &[&str] = &["1_000_000_000", "60_000_000_000", "3_600_000_000_000", "86_400_000_000_000"];

/// Names of constants that are units, such as `DAY_NS` and `MS_PER_SECOND`.
fn is_unit(name: &str) -> bool {
    const SHORT: &[&str] = &["NS", "US", "MS", "NANOSECONDS", "MILLISECONDS"];
    const LONG: &[&str] = &["MICROSECOND", "MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK"];
    let parts: Vec<&str> = name.split('_').filter(|part| *part != "PER").collect();
    match parts[..] {
        [one] => one == "MS" || LONG.contains(&one),
        [first, second] => [first, second].iter().all(|part| SHORT.contains(part) || LONG.contains(part)),
        _ => false,
    }
}

/// Whether a line defines a unit of time: in a constant of its own, or as a number.
fn defines_a_unit(line: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let of_constant = line.split_once("const ").and_then(|(_, rest)| rest.split_once(':')).filter(|(name, rest)| {
        let value = rest.split('=').nth(1).unwrap_or_default().trim();
        is_unit(name) && !value.starts_with('-') && !rest.contains("Duration =") && !numbers(value).is_empty()
    });
    of_constant.is_some() || line.split(|c| !is_name(c)).any(|word| UNITS.contains(&word))
}

/// The part of a file before a module of tests within it.
fn without_inner_tests(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default()
}

/// Files that define a unit, each with the reason.
const UNITS_DEFINED: &[(&str, &str)] =
    &[("crates/domain/src/query_language/quantity.rs", "gigabytes"), ("crates/domain/src/units.rs", "the owner")];

#[test]
fn units_of_time_have_one_owner() {
    let reading = rust("crates", "tests", is_product);
    reading.report("units of time have one owner");
    let defines = |source: &&Source| code(without_inner_tests(&source.text)).any(|(_, line)| defines_a_unit(line));
    let found: BTreeSet<&str> = reading.sources.iter().filter(defines).map(|source| source.path.as_str()).collect();
    let listed = UNITS_DEFINED.iter().map(|(path, _)| *path).collect();
    assert_eq!(found, listed, "files that define a unit, and those that are listed");
    for line in [
        "const DAY_NS: i64 = 24 * HOUR_NS;",
        "pub const MS: f64 = 1e6;",
        "at_ns / 1_000_000_000",
        "const HOUR: u64 = 3600;",
    ] {
        assert!(defines_a_unit(line), "{line}");
    }
    for line in [
        "const DAY_NS: u64 = units::DAY_NS as u64;",
        "const DAYS: i64 = 7;",
        "const SECOND: i64 = -2;",
        "21_000_000_000",
    ] {
        assert!(!defines_a_unit(line), "{line}");
    }
}

#[test]
fn the_endpoint_of_unmatched_requests_has_one_name() {
    let word = ["\"UNMATCHED\""];
    let mut reading = rust("crates", "tests, its owner", |path| {
        is_product(path) && !path.contains("/conformance/") && path != "crates/domain/src/rules/endpoint_name.rs"
    });
    reading.sources.iter_mut().for_each(|source| source.text = without_inner_tests(&source.text).to_owned());
    refuse("one name of unmatched requests", &reading, &word);
    let web = Reading::of("web/src", &["ts", "tsx"])
        .only("tests, its owner", |source| !source.path.contains(".test.") && source.path != "web/src/model/words.ts");
    refuse("one name of unmatched requests in the web", &web, &word);
}

/// Whether a line uses Arrow's `cast`.
fn casts(line: &str) -> bool {
    let names = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == "cast");
    names && line.contains("arrow::compute")
}

/// Arrow's `cast` supports every pair of types: one use makes the binary megabytes larger.
#[test]
fn nothing_casts_arrays_of_any_type() {
    let reading = rust("crates", "tests", is_product);
    reading.report("nothing casts arrays");
    for source in &reading.sources {
        let found: Vec<_> = code(without_tests(&source.text)).filter(|(_, line)| casts(line)).collect();
        assert!(found.is_empty(), "{}: build the type: {found:?}", source.path);
    }
    assert!(casts("use arrow::compute::{cast, filter};") && !casts("use arrow::compute::broadcast;"));
}

/// Constants and windows of `limits` that no source of `enforcing` names.
fn unused(limits: &[&str], enforcing: &[&str]) -> Vec<String> {
    // The list of body classes, which is printed and tested, and a unit.
    const LISTS: &[&str] = &["CLASSES", "MIB"];
    let is_part_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words: BTreeSet<&str> = enforcing.iter().flat_map(|text| text.split(|c| !is_part_of_name(c))).collect();
    let lines = || limits.iter().flat_map(|text| text.lines());
    let constants = lines()
        .filter_map(|line| line.strip_prefix("pub const ")?.split(':').next())
        .filter(|name| !LISTS.contains(name) && !words.contains(name));
    let windows = lines()
        .filter_map(|line| line.trim().split_once(": ").filter(|(_, rest)| rest.contains(" a minute, ")))
        .filter(|(name, _)| name.chars().all(is_part_of_name))
        .filter(|(name, _)| !enforcing.iter().any(|text| text.contains(&format!("PerIp<{name}>"))))
        .map(|(name, _)| name);
    constants.chain(windows).map(str::to_owned).collect()
}

/// Every limit is used outside the printed table and tests.
#[test]
fn every_limit_is_enforced() {
    let reading = rust("crates", "tests", is_product);
    reading.report("every limit is enforced");
    // The files of limits: those of their crate but for the ones that enforce them.
    let is_list = |path: &str| {
        let inner = path.strip_prefix("crates/limits/src/");
        inner.is_some_and(|inner| !inner.starts_with("admission/") && inner != "clock.rs")
    };
    let (lists, others): (Vec<&Source>, Vec<&Source>) =
        reading.sources.iter().partition(|source| is_list(&source.path));
    let limits: Vec<&str> = lists.iter().map(|source| source.text.as_str()).collect();
    assert!(limits.iter().any(|text| text.contains("pub const OTLP: RouteLimits")), "no limits were read");
    let is_table = |text: &str| text.contains("pub fn table() -> Vec<[String; 3]>");
    let enforcing = others.iter().map(|source| without_tests(&source.text)).filter(|text| !is_table(text));
    let unused = unused(&limits, &enforcing.collect::<Vec<_>>());
    assert!(unused.is_empty(), "nothing but tests and tables uses {unused:?}");
}

#[test]
fn limits_that_nothing_enforces_are_found() {
    let limits = "pub const ROWS_MAX: usize = 1;\npub const UNUSED: usize = 2;\n    Login: 10 a minute, \"/login\";\n";
    assert_eq!(unused(&[limits], &["limits::ROWS_MAX", "PerIp<Register>"]), ["UNUSED", "Login"]);
    assert_eq!(unused(&[limits], &["ROWS_MAX + UNUSED", "PerIp<Login>"]), Vec::<String>::new());
}

/// Whether the text of a test starts a server that may drop old records.
fn forgets(text: &str) -> bool {
    let starts = text.contains("Config::new(") || text.contains("\"serve\"");
    let says_how_long = ["retention_days = 0", "TIDEWATCH_RETENTION_DAYS", "--retention-days"];
    starts && !says_how_long.iter().any(|words| text.contains(words))
}

/// Tests send records of fixed days, which would expire under any retention.
#[test]
fn servers_of_tests_keep_everything() {
    let needs_no_data = ["/configuration.rs", "/refused.rs", "/outside_bytes.rs"];
    let reading = rust("crates/server/tests", "tests without records", |path| {
        !needs_no_data.iter().any(|file| path.ends_with(file))
    });
    reading.report("servers of tests keep everything");
    let found: Vec<_> =
        reading.sources.iter().filter(|source| forgets(&source.text)).map(|source| &source.path).collect();
    assert!(found.is_empty(), "servers of tests keep everything: {found:?}");
    assert!(forgets("Config::new(folder)") && !forgets("let mut c = Config::new(folder); c.retention_days = 0;"));
}

/// Files with more than [`LINES_MAX`] lines: flat lists, which are read by eye.
const FLAT_LISTS: &[&str] = &["crates/symbols/src/demangle/swift_size.rs"];
const LINES_MAX: usize = 500;

#[test]
fn no_file_is_too_long_to_read_at_once() {
    let reading = Reading::of("crates", &["rs"]);
    reading.report("no file is too long");
    let long = reading.sources.iter().filter(|source| source.text.lines().count() > LINES_MAX);
    let long: BTreeSet<&str> = long.map(|source| source.path.as_str()).collect();
    assert_eq!(long, FLAT_LISTS.iter().copied().collect(), "files that are too long, and those that are listed");
}

/// Languages of blocks in doc comments that rustdoc does not compile.
const NOT_COMPILED: &[&str] = &["text", "toml", "json", "sh", "sql"];

/// Doc comments with a block that rustdoc would compile.
fn examples(source: &Source) -> Vec<String> {
    let mut is_inside = false;
    let mut found = Vec::new();
    for (index, line) in source.text.lines().enumerate() {
        let line = line.trim_start();
        let Some(comment) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) else { continue };
        let Some(language) = comment.trim().strip_prefix("```") else { continue };
        if !is_inside && !NOT_COMPILED.contains(&language) {
            found.push(format!("{}:{}: an example of {language:?}", source.path, index + 1));
        }
        is_inside = !is_inside;
    }
    found
}

#[test]
fn no_documentation_has_an_example_that_nothing_compiles() {
    let is_off = |name: &String| {
        let manifest = std::fs::read_to_string(root().join(format!("crates/{name}/Cargo.toml"))).expect("a manifest");
        manifest.contains("doctest = false")
    };
    let off: Vec<String> = crates().into_iter().filter(is_off).collect();
    let is_unchecked = |path: &str| is_product(path) && off.iter().any(|name| is_below(path, &[name.as_str()]));
    let reading = rust("crates", "tests, crates with documentation tests", is_unchecked);
    reading.report("examples in documentation");
    let found: Vec<String> = reading.sources.iter().flat_map(examples).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
    let with = |text: &str| Source { path: "a.rs".to_owned(), text: text.to_owned() };
    assert_eq!(examples(&with("/// ```\n/// let a = 1;\n/// ```\n")).len(), 1);
    assert_eq!(examples(&with("//! ```text\n//! a\n//! ```\n")).len(), 0);
}
