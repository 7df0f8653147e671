//! Stacks of JavaScript: V8, SpiderMonkey, JavaScriptCore, Hermes, and two lines a frame. Printed by Node 20, gjs and
//! WebKitGTK.

use super::model::{Builder, Frame, Lines, Relation, Role};
use super::text::{indentation, number, place, write_file, write_without_digits};

pub(super) fn parse<'a>(lines: Lines<'a>, builder: &mut Builder<'a>) {
    let mut before = "";
    // Parent of the members of a group, its indentation, and whether the next header is a member.
    let mut group: Option<(usize, usize)> = None;
    for line in lines {
        let trimmed = line.trim();
        let indent = indentation(line);
        if trimmed.is_empty() {
            continue;
        }
        if let Some(frame) = parse_frame(line, trimmed, before) {
            if builder.stack.exceptions.is_empty() {
                builder.exception("", Relation::Outermost, 0);
            }
            if !is_constructor_of_error(&frame, builder) {
                builder.frame(frame);
            }
        } else if let Some(more) = trimmed.strip_prefix("... ") {
            if let (Some(latest), true) = (builder.stack.exceptions.last_mut(), more.contains("matching cause stack")) {
                latest.shared = number(more) as usize;
            }
        } else if let Some(cause) = trimmed.strip_prefix("[cause]: ").or_else(|| trimmed.strip_prefix("Caused by: ")) {
            let parent = builder.stack.exceptions.len().saturating_sub(1);
            if !builder.stack.exceptions.is_empty() {
                builder.exception(type_of(cause), Relation::Cause, parent);
            }
        } else if trimmed.starts_with("[errors]: [") {
            group = builder.stack.exceptions.len().checked_sub(1).map(|parent| (parent, indent));
        } else if let Some((parent, of_group)) = group {
            if trimmed.starts_with(']') && indent <= of_group {
                group = None;
            } else if indent == of_group + 2 && !trimmed.starts_with(['}', ']', '[']) {
                builder.exception(type_of(trimmed), Relation::Member, parent);
            }
        }
        before = trimmed;
    }
    // Lines that match those of the cause are printed once, in the cause.
}

/// `TYPE: message`, also `TYPE [CODE]: message`.
fn type_of(header: &str) -> &str {
    let end = header.find([':', ' ']).unwrap_or(header.len());
    &header[..end]
}

/// In SpiderMonkey the constructor of an error is its first frame.
fn is_constructor_of_error(frame: &Frame<'_>, builder: &Builder<'_>) -> bool {
    let [exception] = builder.stack.exceptions.as_slice() else { return false };
    exception.frames.0 == exception.frames.1
        && !frame.function.is_empty()
        && last_segment(builder.event.exception_type) == frame.function.trim_start_matches("new ")
}

fn last_segment(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(_, last)| last)
}

fn parse_frame<'a>(line: &'a str, trimmed: &'a str, before: &'a str) -> Option<Frame<'a>> {
    if let Some(rest) = trimmed.strip_prefix("at ") {
        return at(rest.trim_end_matches('{').trim_end());
    }
    if let Some((function, location)) = sign(trimmed) {
        return frame(function, location);
    }
    // `fn()` and a line with the place.
    let function = before.strip_suffix("()")?;
    let (_, line_number, column) = place(trimmed);
    (line.starts_with("    ") && line_number > 0 && column > 0).then(|| frame(function, trimmed))?
}

/// `fn@LOC` of SpiderMonkey and JavaScriptCore. A path may have `@` itself.
fn sign(trimmed: &str) -> Option<(&str, &str)> {
    if !trimmed.ends_with(|last: char| last.is_ascii_digit()) && !trimmed.ends_with("[native code]") {
        return None;
    }
    let (function, location) = trimmed.split_once('@')?;
    if function.contains(['/', ':']) && !function.ends_with('<') && !function.contains("/<") {
        return None;
    }
    let is_place = location == "[native code]" || place(location).1 > 0;
    is_place.then_some((function, location))
}

/// `[async ][new ]NAME[ [as ALIAS]] (LOC)` or `[async ]LOC`.
fn at(rest: &str) -> Option<Frame<'_>> {
    let rest = rest.strip_prefix("async ").unwrap_or(rest);
    let Some(inside) = rest.strip_suffix(')') else {
        let (_, line, _) = place(rest);
        return (line > 0 || rest.starts_with("<anonymous>") || rest == "native").then(|| frame("", rest))?;
    };
    if let Some(open) = inside.rfind(" (eval at ") {
        return frame("eval", &inside[open + 1..]);
    }
    let open = inside.find(" (")?;
    let (function, location) = (&inside[..open], &inside[open + 2..]);
    if location.starts_with("index ") {
        return None;
    }
    let function = function.split_once(" [as ").map_or(function, |(name, _)| name);
    frame(function, location.strip_prefix("address at ").unwrap_or(location))
}

fn frame<'a>(function: &'a str, location: &'a str) -> Option<Frame<'a>> {
    let (file, line, column) = match location.find(" line ") {
        // `FILE line 21 > eval:1:5`.
        Some(at) if location.contains(" > ") => (&location[..at], 0, 0),
        _ if location.starts_with("eval at ") => ("eval", 0, 0),
        _ => place(location),
    };
    let function = function.trim();
    let role = if is_library(file) { Role::Library } else { Role::Application };
    Some(Frame { module: "", function, file, line, column, role })
}

/// Parts of paths of libraries.
const LIBRARIES: &[&str] = &[
    "node_modules",
    "webpack/bootstrap",
    "webpack/runtime",
    "/@vite",
    "next/dist",
    "@babel/",
    "core-js",
    "regenerator-runtime",
    "/tslib",
    "zone.js",
    "react-dom",
    "unpkg.com",
    "cdnjs.",
    "jsdelivr.net",
    "esm.run",
    "-extension://",
];

fn is_library(file: &str) -> bool {
    if matches!(file, "native" | "[native code]" | "<anonymous>" | "" | "unknown") {
        return true;
    }
    file.starts_with("node:")
        || file.starts_with("internal/")
        || file.starts_with("resource://")
        || file.starts_with("chrome://")
        || LIBRARIES.iter().any(|part| file.contains(part))
}

/// The function without receiver, prefixes and marks of closures; empty for top-level and anonymous code.
fn function_of(name: &str) -> &str {
    let mut name = name;
    if let Some((_, rest)) = name.rsplit_once('*') {
        name = rest;
    }
    for prefix in ["async ", "new ", "get ", "set "] {
        name = name.strip_prefix(prefix).unwrap_or(name);
    }
    if matches!(
        name,
        "global code" | "module code" | "eval code" | "anonymous" | "eval" | "<anonymous>" | "<global>" | "?"
    ) {
        return "";
    }
    if name.ends_with("<anonymous>") {
        return "";
    }
    // `outer/inner<` of SpiderMonkey.
    let name = name.trim_end_matches('<').trim_end_matches('/');
    let name = name.split("/<").next().unwrap_or(name);
    let name = name.rsplit_once('/').map_or(name, |(_, last)| last);
    last_segment(name)
}

pub(super) fn write(frame: &Frame<'_>, divider: char, out: &mut String) -> bool {
    if frame.file.starts_with("VM") && frame.file[2..].bytes().all(|byte| byte.is_ascii_digit()) {
        write_without_digits(frame.file, out);
    } else if frame.file.starts_with("blob:") {
        out.push_str("blob");
    } else {
        write_file(frame.file, out);
    }
    let function = function_of(frame.function);
    // Each build gives other names to the functions of a bundle.
    if !function.is_empty() && !is_minified(frame) {
        out.push(divider);
        out.push_str(function);
    }
    !frame.function.is_empty()
}

/// Whether the names are those of a bundle without source map: first line, a far column and at most two letters.
pub(crate) fn is_minified(frame: &Frame<'_>) -> bool {
    frame.line == 1 && frame.column > 300 && function_of(frame.function).len() <= 2
}
