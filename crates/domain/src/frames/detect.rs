//! Finds the grammar of a trace by cheap tests of its lines.

use super::model::{Language, Lines};
use super::text::{leading_digits, place};

/// Votes that end the search.
const ENOUGH: u8 = 4;
/// Lines that are looked at.
const LINES_MAX: usize = 400;

/// The grammar with most frames among the first lines. `hint` decides between equals.
pub(super) fn language(lines: Lines<'_>, hint: &str) -> Option<Language> {
    let mut votes = [0u8; Language::Native as usize + 1];
    let mut before = "";
    for line in lines.take(LINES_MAX) {
        if let Some(language) = of_line(line, before) {
            let vote = &mut votes[language as usize];
            *vote += 1;
            if *vote >= ENOUGH {
                return Some(language);
            }
        }
        before = line;
    }
    let most = votes.iter().copied().max().filter(|most| *most > 0)?;
    let hinted = of_hint(hint).filter(|hinted| votes[*hinted as usize] == most);
    hinted.or_else(|| ALL.into_iter().find(|language| votes[*language as usize] == most))
}

const ALL: [Language; 11] = [
    Language::Python,
    Language::Jvm,
    Language::JavaScript,
    Language::Go,
    Language::Rust,
    Language::DotNet,
    Language::Ruby,
    Language::Php,
    Language::Elixir,
    Language::Dart,
    Language::Native,
];

fn of_hint(hint: &str) -> Option<Language> {
    Some(match hint {
        "python" => Language::Python,
        "java" | "kotlin" | "scala" | "android" => Language::Jvm,
        "nodejs" | "webjs" | "javascript" => Language::JavaScript,
        "go" => Language::Go,
        "rust" => Language::Rust,
        "dotnet" => Language::DotNet,
        "ruby" => Language::Ruby,
        "php" => Language::Php,
        "erlang" | "elixir" => Language::Elixir,
        "dart" | "flutter" => Language::Dart,
        "cpp" | "c" | "swift" | "ios" => Language::Native,
        _ => return None,
    })
}

/// The grammar that takes the line for a frame or for one of its markers. `before` is the line before.
fn of_line(line: &str, before: &str) -> Option<Language> {
    let trimmed = line.trim_start();
    let first = *trimmed.as_bytes().first()?;
    match first {
        b'a' if trimmed.starts_with("at ") => of_at(line, &trimmed[3..], before),
        b'F' if trimmed.starts_with("File \"") => Some(Language::Python),
        b'|' if trimmed.trim_start_matches(['|', ' ']).starts_with("File \"") => Some(Language::Python),
        b'#' => of_number(trimmed),
        b'*' if trimmed.starts_with("** (") => Some(Language::Elixir),
        b'g' if trimmed.starts_with("goroutine ") && trimmed.contains(" [") => Some(Language::Go),
        b'(' | b':' if line.len() > trimmed.len() && is_elixir(trimmed) => Some(Language::Elixir),
        b'0'..=b'9' => of_digit(trimmed),
        b'f' if trimmed.starts_with("from ") && trimmed.contains(":in ") => Some(Language::Ruby),
        _ => of_word(line, trimmed, before),
    }
}

/// `at ...`: JVM, JavaScript, .NET or Rust.
fn of_at(line: &str, rest: &str, before: &str) -> Option<Language> {
    let Some(open) = rest.find('(') else {
        let (file, number, column) = place(rest.trim_end_matches([' ', '{']));
        let is_rust = file.ends_with(".rs") || leading_digits(before.trim_start()).is_some();
        return (number > 0 && column > 0 || rest.starts_with("async ") || is_rust && number > 0)
            .then_some(if is_rust { Language::Rust } else { Language::JavaScript });
    };
    let inner = &rest[open + 1..];
    let close = inner.find(')')?;
    let (inside, after) = (&inner[..close], &inner[close + 1..]);
    if matches!(inside, "Native Method" | "Unknown Source" | "<generated>") {
        return Some(Language::Jvm);
    }
    let (file, number, column) = place(inside);
    if column > 0
        || matches!(inside, "native" | "<anonymous>")
        || inside.contains("://")
        || inside.starts_with("address at ")
        || inside.starts_with("index ")
    {
        return Some(Language::JavaScript);
    }
    // Also `SourceFile:2` of R8.
    let is_file = !file.contains([' ', ',', '[', '/', '\\']) && rest[..open].contains('.');
    if is_file && (number > 0 || is_source(file)) {
        return Some(Language::Jvm);
    }
    if number > 0 {
        // A place with folders, without column.
        return Some(Language::JavaScript);
    }
    let is_dotnet = rest[..open].contains('.')
        && (after.contains(" in ") || line.starts_with("   ") || line.starts_with("  ") || inside.is_empty());
    if is_dotnet {
        return Some(Language::DotNet);
    }
    None
}

fn is_source(file: &str) -> bool {
    [".java", ".kt", ".scala", ".groovy", ".clj", ".php"].iter().any(|extension| file.ends_with(extension))
}

/// `#N ...`: PHP, Dart or native.
fn of_number(trimmed: &str) -> Option<Language> {
    let (_, rest) = leading_digits(&trimmed[1..])?;
    let rest = rest.trim_start();
    if rest.starts_with('{') || rest.starts_with("[internal function]") || rest.contains("): ") {
        return Some(Language::Php);
    }
    if rest.contains("(package:") || rest.contains("(dart:") || rest.contains(".dart:") || rest.starts_with("abs ") {
        return Some(Language::Dart);
    }
    if rest.starts_with("0x")
        || rest.starts_with("pc ")
        || rest.contains(") at ")
        || rest.contains(" 0x")
        || rest.ends_with(')')
        || rest.contains(" in ")
    {
        return Some(Language::Native);
    }
    None
}

fn is_elixir(trimmed: &str) -> bool {
    match trimmed.strip_prefix('(') {
        Some(rest) => rest.split_once(") ").is_some_and(|(application, _)| {
            application.split_once(' ').is_some_and(|(_, version)| version.starts_with(|c: char| c.is_ascii_digit()))
        }),
        None => trimmed.starts_with(':') && trimmed.contains('.') && (trimmed.contains('(') || trimmed.contains('/')),
    }
}

/// `N: path`: Rust. `N   IMAGE   0xADDR symbol`: Apple.
fn of_digit(trimmed: &str) -> Option<Language> {
    let (_, rest) = leading_digits(trimmed)?;
    if let Some(rest) = rest.strip_prefix(": ") {
        let path = rest.trim_start();
        return (path.contains("::") || path.starts_with("0x") || !path.contains([' ', ':'])).then_some(Language::Rust);
    }
    (rest.starts_with("  ") && rest.contains(" 0x")).then_some(Language::Native)
}

/// Lines that begin with a name or a path.
fn of_word(line: &str, trimmed: &str, before: &str) -> Option<Language> {
    let bytes = trimmed.as_bytes();
    let last = *trimmed.trim_end().as_bytes().last()?;
    // `MODULE(SYMBOL+0xOFF)[0xADDR]`.
    if last == b']' {
        if trimmed.contains(")[0x") || trimmed.contains(") [0x") {
            return Some(Language::Native);
        }
        if trimmed.ends_with("@[native code]") {
            return Some(Language::JavaScript);
        }
    }
    if line.starts_with('\t') {
        // The place of a frame of Go; the line before has the function.
        let (at, offset) = trimmed.split_once(" +0x").unwrap_or((trimmed, ""));
        let (file, number, column) = place(at);
        let is_place =
            number > 0 && column == 0 && (file.ends_with(".go") || !offset.is_empty() || file.ends_with(".s"));
        return (is_place && !before.starts_with('\t')).then_some(Language::Go);
    }
    if trimmed.contains(":in `") || trimmed.contains(":in '") {
        return Some(Language::Ruby);
    }
    if last.is_ascii_digit() {
        let (file, number, column) = place(trimmed.trim_end());
        if number > 0 && file.contains('@') && !file.contains(' ') || number > 0 && file.contains(" > eval") {
            return Some(Language::JavaScript);
        }
        if line.starts_with("    ") && number > 0 && column > 0 && before.ends_with("()") {
            return Some(Language::JavaScript);
        }
        // `srv/run.exs:5: (file)` ends with a parenthesis, `lib/x.ex:17: Y.z/1` with the arity.
        if line.starts_with("  ")
            && (trimmed.contains(".ex:") || trimmed.contains(".erl:") || trimmed.contains(".exs:"))
        {
            return Some(Language::Elixir);
        }
    }
    if bytes[0] == b't' && trimmed.starts_with("thread '") && trimmed.contains(" panicked at ") {
        return Some(Language::Rust);
    }
    // `package:app/x.dart 5:3  Class.method`.
    (trimmed.starts_with("package:") && trimmed.contains(".dart ")).then_some(Language::Dart)
}
