//! Backtraces of native code: glibc, sanitizers, gdb, Android tombstones, crash reports of Apple, and the frames of the
//! native SDKs, raw or resolved. Printed by glibc 2.36 and AddressSanitizer; the rest from documentation.

use super::model::{Builder, Frame, Lines, Relation, Role};
use super::text::{is_hex, leading_digits, place, write_file};

pub(super) fn parse<'a>(lines: Lines<'a>, builder: &mut Builder<'a>) {
    let mut is_of_sanitizer = false;
    for line in lines {
        let trimmed = line.trim();
        if trimmed.contains("ERROR: AddressSanitizer: ") || trimmed.contains("ERROR: ThreadSanitizer: ") {
            is_of_sanitizer = true;
        }
        // Second and third stacks of a sanitizer, other threads of a report.
        let is_other = is_of_sanitizer && trimmed.is_empty()
            || trimmed.starts_with("freed by thread")
            || trimmed.starts_with("previously allocated by");
        if is_other && !builder.latest_is_empty() {
            break;
        }
        if let Some(frame) = parse_frame(trimmed) {
            if builder.stack.exceptions.is_empty() {
                builder.exception("", Relation::Outermost, 0);
            }
            builder.frame(frame);
        }
    }
}

fn parse_frame(trimmed: &str) -> Option<Frame<'_>> {
    if let Some(rest) = trimmed.strip_prefix('#') {
        let (_, rest) = leading_digits(rest)?;
        return numbered(rest.trim_start());
    }
    if let Some((_, rest)) = leading_digits(trimmed) {
        return apple(rest.trim_start());
    }
    // `MODULE(SYMBOL+0xOFF)[0xADDR]`.
    let (before, _) = trimmed.strip_suffix(']')?.rsplit_once('[')?;
    let before = before.trim_end().strip_suffix(')')?;
    let (module, symbol) = before.rsplit_once('(')?;
    let symbol = symbol.rsplit_once("+0x").map_or(symbol, |(symbol, _)| symbol);
    Some(frame(module, symbol, "", 0, 0))
}

/// The part after `#N `.
fn numbered(rest: &str) -> Option<Frame<'_>> {
    // Android: `pc OFF  /path/lib.so (sym+OFF) (BuildId: HEX)`.
    if let Some(rest) = rest.strip_prefix("pc ") {
        let (_, rest) = rest.trim_start().split_once(' ')?;
        let rest = rest.trim_start();
        let (path, symbol) = rest.split_once(" (").unwrap_or((rest, ""));
        let symbol = symbol.split_once(')').map_or(symbol, |(symbol, _)| symbol);
        let symbol = if symbol.starts_with("BuildId") { "" } else { symbol };
        return Some(frame(path, symbol.rsplit_once('+').map_or(symbol, |(symbol, _)| symbol), "", 0, 0));
    }
    // The native SDKs, unresolved: `UUID 0xOFF IMAGE`.
    let (first, after) = rest.split_once(' ')?;
    if is_hex(first, 32) {
        let image = after.split_once(' ').map_or("", |(_, image)| image);
        return Some(frame(image, "", "", 0, 0));
    }
    // Sanitizers: `0xADDR in FN FILE:N[:N]` or `0xADDR in FN (MODULE+0xOFF)`; gdb: `[0xADDR in ]fn (args) at FILE:N`.
    let rest = match rest.strip_prefix("0x") {
        Some(address) => address.split_once(" in ").map_or("", |(_, rest)| rest),
        None => rest,
    };
    if let Some((function, location)) = rest.rsplit_once(" at ") {
        let (file, line, column) = place(location);
        let function = function.split_once(" (").map_or(function, |(function, _)| function);
        return Some(frame("", function, file, line, column));
    }
    if let Some((function, module)) = rest.rsplit_once(" (").filter(|(_, module)| module.contains("+0x")) {
        let module = module.rsplit_once("+0x").map_or(module, |(module, _)| module);
        return Some(frame(module, function, "", 0, 0));
    }
    if let Some((function, location)) = rest.strip_suffix(')').and_then(|rest| rest.rsplit_once(" (")) {
        let (file, line, column) = place(location);
        if line > 0 {
            return Some(frame("", function, file, line, column));
        }
    }
    let (function, location) = rest.rsplit_once(' ').unwrap_or((rest, ""));
    let (file, line, column) = place(location);
    match line > 0 {
        true => Some(frame("", function, file, line, column)),
        false if rest.is_empty() => None,
        false => Some(frame("", rest, "", 0, 0)),
    }
}

/// `IMAGE   0xADDR symbol + OFFSET`, also `symbol (in IMAGE) (File.swift:N)`.
fn apple(rest: &str) -> Option<Frame<'_>> {
    let at = rest.find(" 0x")?;
    let image = rest[..at].trim_end();
    let (_, symbol) = rest[at + 1..].split_once(' ')?;
    let symbol = symbol.rsplit_once(" + ").map_or(symbol, |(symbol, _)| symbol);
    let symbol = symbol.split_once(" (in ").map_or(symbol, |(symbol, _)| symbol);
    let symbol = if symbol.starts_with("0x") || symbol == image { "" } else { symbol };
    Some(frame(image, symbol, "", 0, 0))
}

fn frame<'a>(module: &'a str, function: &'a str, file: &'a str, line: u32, column: u32) -> Frame<'a> {
    Frame { module, function, file, line, column, role: role(module, function, file) }
}

const STARTS: &[&str] = &[
    "_start",
    "__libc_start_main",
    "__libc_start_call_main",
    "__libc_start_main_impl",
    "start_thread",
    "clone",
    "clone3",
    "__clone",
    "raise",
    "gsignal",
    "abort",
    "__assert_fail",
    "__cxa_throw",
    "std::terminate",
    "_ZSt9terminatev",
    "__pthread_kill_implementation",
    "pthread_kill",
    "__restore_rt",
    "<signal handler called>",
    "__cxa_rethrow",
    "_Unwind_Resume",
    "thread_start",
    "_pthread_start",
    "objc_exception_throw",
    "__exceptionPreprocess",
];

fn role(module: &str, function: &str, file: &str) -> Role {
    if STARTS.contains(&function) {
        return Role::Plumbing;
    }
    let is_system = |path: &str| {
        path.starts_with("/lib/")
            || path.starts_with("/lib64/")
            || path.starts_with("/usr/lib")
            || path.starts_with("/usr/include/")
            || path.starts_with("../sysdeps/")
            || path.starts_with("../csu/")
            || path.starts_with("/system/")
            || path.starts_with("/apex/")
            || path.contains("/libstdc++")
            || path.contains("/libsanitizer/")
            || path.contains("/compiler-rt/")
    };
    let name = module.rsplit('/').next().unwrap_or(module);
    let is_apple = [
        "libswift",
        "libobjc",
        "libsystem",
        "libdispatch",
        "CoreFoundation",
        "UIKit",
        "SwiftUI",
        "Foundation",
        "dyld",
        "GraphicsServices",
        "QuartzCore",
    ]
    .iter()
    .any(|image| name.starts_with(image));
    let is_library = is_system(module)
        || is_system(file)
        || is_apple
        || function.starts_with("std::")
        || function.starts_with("__asan")
        || function.starts_with("__interceptor")
        || function.starts_with("_ZNSt");
    if is_library { Role::Library } else { Role::Application }
}

/// The function without arguments, template arguments and what compilers add. Without a function the module counts.
pub(super) fn write(frame: &Frame<'_>, divider: char, out: &mut String) -> bool {
    if frame.function.is_empty() {
        write_file(if frame.module.is_empty() { frame.file } else { frame.module }, out);
        return false;
    }
    let is_plain = |letter: char| letter.is_alphanumeric() || letter == '_';
    if frame.function.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !frame.file.is_empty()
        && !frame.function.starts_with("_Z")
    {
        // A plain name may be static: its file tells it from others.
        write_file(frame.file, out);
    }
    out.push(divider);
    if let Some(mangled) = frame.function.strip_prefix("_Z") {
        write_demangled(mangled, out);
        return true;
    }
    let mut name = frame.function;
    for prefix in ["@objc ", "partial apply for ", "specialized ", "thunk for "] {
        name = name.strip_prefix(prefix).unwrap_or(name);
    }
    if let Some((_, of)) = name.strip_prefix("closure #").and_then(|rest| rest.split_once(" in ")) {
        out.push_str("closure ");
        name = of;
    }
    let (mut depth, mut parentheses) = (0usize, 0usize);
    let mut before = ' ';
    for (at, letter) in name.char_indices() {
        match letter {
            // A nested function may follow the arguments.
            '(' | '[' => parentheses += 1,
            ')' | ']' => parentheses = parentheses.saturating_sub(1),
            '<' if !name[..at].ends_with("operator") => depth += 1,
            '>' if depth > 0 && before != '-' => depth -= 1,
            '.' if depth == 0 && parentheses == 0 && is_suffix(&name[at..]) => break,
            _ if depth > 0 || parentheses > 0 => {}
            ' ' => {}
            '$' | '#' => {}
            _ if is_plain(letter)
                || matches!(letter, ':' | '~' | '-' | '+' | '=' | '.' | '*' | '/' | '%' | '&' | '|' | '^' | '!') =>
            {
                out.push(letter)
            }
            _ => {}
        }
        before = letter;
    }
    true
}

/// `.cold`, `.part.0`, `.isra.0`, `.constprop.0`, `.llvm.123`.
fn is_suffix(text: &str) -> bool {
    [".cold", ".part.", ".isra.", ".constprop.", ".llvm.", ".lto_priv"].iter().any(|suffix| text.starts_with(suffix))
}

/// The names of a mangled symbol, without template arguments and arguments.
fn write_demangled(mangled: &str, out: &mut String) {
    let start = out.len();
    let mut rest = mangled.trim_start_matches('L');
    if let Some(nested) = rest.strip_prefix('N') {
        rest = nested.trim_start_matches(['K', 'V', 'r', 'L']);
    }
    loop {
        if let Some(std) = rest.strip_prefix("St") {
            out.push_str("std");
            rest = std;
            continue;
        }
        if let Some((digits, after)) = leading_digits(rest) {
            let length = super::text::number(digits) as usize;
            let Some(name) = after.get(..length) else { break };
            rest = &after[length..];
            let is_hash = length == 17 && name.starts_with('h') && is_hex(&name[1..], 16);
            if !is_hash {
                if out.len() > start {
                    out.push_str("::");
                }
                out.push_str(if name.starts_with("_GLOBAL__N") { "(anonymous)" } else { name });
            }
            continue;
        }
        if let Some(arguments) = rest.strip_prefix('I') {
            rest = after_arguments(arguments);
            continue;
        }
        let special = ["C1", "C2", "D0", "D1", "D2"].into_iter().find(|special| rest.starts_with(special));
        if let Some(special) = special {
            out.push_str(if special.starts_with('C') { "::ctor" } else { "::dtor" });
        }
        break;
    }
    if out.len() == start {
        out.push_str(mangled);
    }
}

/// The text after the `E` that ends template arguments.
fn after_arguments(text: &str) -> &str {
    let mut depth = 1usize;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if let Some((digits, after)) = leading_digits(rest) {
            rest = after.get(super::text::number(digits) as usize..).unwrap_or("");
            continue;
        }
        match first {
            'I' | 'N' | 'F' | 'J' | 'L' | 'X' => depth += 1,
            'E' => {
                depth -= 1;
                if depth == 0 {
                    return &rest[1..];
                }
            }
            _ => {}
        }
        rest = &rest[first.len_utf8()..];
    }
    ""
}
