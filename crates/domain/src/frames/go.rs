//! Goroutine dumps and stacks of Go, also those of `pkg/errors`. Printed by Go 1.26.

use super::model::{Builder, Frame, Lines, Relation, Role};
use super::text::{indentation, place};

pub(super) fn parse<'a>(lines: Lines<'a>, builder: &mut Builder<'a>) {
    builder.exception("", Relation::Outermost, 0);
    let mut function = "";
    let mut is_created = false;
    let mut goroutines = 0;
    for line in lines {
        if line.starts_with("goroutine ") && line.ends_with(':') {
            goroutines += 1;
            // The first one is the running one.
            if goroutines > 1 && !builder.latest_is_empty() {
                break;
            }
            continue;
        }
        if indentation(line) == 0 {
            if line.is_empty() && goroutines > 0 && !builder.latest_is_empty() {
                break;
            }
            is_created = line.starts_with("created by ");
            function = line;
            continue;
        }
        if is_created || function.is_empty() {
            continue;
        }
        let at = line.trim();
        let (file, number, _) = place(at.split_once(" +0x").map_or(at, |(place, _)| place));
        let name = without_arguments(function);
        function = "";
        if number == 0 || name.contains(' ') {
            continue;
        }
        if name == "panic" {
            // The frames above belong to the handler that recovered.
            builder.stack.frames.clear();
            builder.stack.exceptions[0].frames = (0, 0);
            continue;
        }
        let (module, name) = split(name);
        let role = role(module, name, file);
        builder.frame(Frame { module, function: name, file, line: number, column: 0, role });
    }
}

/// The name before the parentheses at the end of the line.
fn without_arguments(line: &str) -> &str {
    if !line.ends_with(')') {
        return line.trim_end_matches("...");
    }
    let mut depth = 0usize;
    for (at, byte) in line.bytes().enumerate().rev() {
        match byte {
            b')' => depth += 1,
            b'(' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return &line[..at];
                }
            }
            _ => {}
        }
    }
    line
}

/// Package and function: the first point after the last slash divides them. A type argument may have slashes.
fn split(name: &str) -> (&str, &str) {
    let end = name.find('[').unwrap_or(name.len());
    let slash = name[..end].rfind('/').map_or(0, |at| at + 1);
    match name[slash..].find('.') {
        Some(dot) => (&name[..slash + dot], &name[slash + dot + 1..]),
        None => ("", name),
    }
}

/// First segments of the packages of the standard library.
const STANDARD: &[&str] = &[
    "archive",
    "bufio",
    "bytes",
    "cmp",
    "compress",
    "container",
    "context",
    "crypto",
    "database",
    "debug",
    "embed",
    "encoding",
    "errors",
    "expvar",
    "flag",
    "fmt",
    "go",
    "hash",
    "html",
    "image",
    "internal",
    "io",
    "iter",
    "log",
    "maps",
    "math",
    "mime",
    "net",
    "os",
    "path",
    "plugin",
    "reflect",
    "regexp",
    "runtime",
    "slices",
    "sort",
    "strconv",
    "strings",
    "sync",
    "syscall",
    "testing",
    "text",
    "time",
    "unicode",
    "unique",
    "unsafe",
    "vendor",
];

fn role(module: &str, function: &str, file: &str) -> Role {
    let first = module.split('/').next().unwrap_or("");
    if first == "main" {
        return Role::Application;
    }
    let is_start = module == "runtime"
        && matches!(function, "main" | "goexit" | "gopanic" | "panicmem" | "sigpanic" | "goPanicIndex");
    if is_start || module == "runtime/debug" {
        return Role::Plumbing;
    }
    let is_dependency = file.contains("/pkg/mod/") || file.contains("/vendor/") || file.contains("@v");
    if STANDARD.contains(&first) || is_dependency { Role::Library } else { Role::Application }
}

pub(super) fn write(frame: &Frame<'_>, divider: char, out: &mut String) -> bool {
    let module = frame.module.rsplit_once("/vendor/").map_or(frame.module, |(_, module)| module);
    out.push_str(module);
    out.push(divider);
    let mut depth = 0usize;
    let mut segments = frame.function.split('.');
    let mut is_closure = false;
    let mut is_first = true;
    for segment in &mut segments {
        // Type arguments are left out; they may have points.
        let opens = segment.bytes().filter(|byte| *byte == b'[').count();
        let closes = segment.bytes().filter(|byte| *byte == b']').count();
        let was_inside = depth > 0;
        depth = (depth + opens).saturating_sub(closes);
        if was_inside {
            continue;
        }
        let name = segment.split('[').next().unwrap_or(segment);
        let name = name.strip_suffix("-fm").unwrap_or(name);
        let name = name.split_once("-range").map_or(name, |(name, _)| name);
        if is_generated(name) {
            is_closure = true;
            continue;
        }
        if !is_first {
            out.push('.');
        }
        is_first = false;
        out.push_str(name);
    }
    if is_closure {
        out.push_str(".func");
    }
    !frame.function.is_empty()
}

/// `func1`, `2`, `gowrap1`, `deferwrap2`.
fn is_generated(name: &str) -> bool {
    let letters = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    matches!(letters, "" | "func" | "gowrap" | "deferwrap")
}
