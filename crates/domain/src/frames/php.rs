//! Exceptions of PHP as text. The innermost one is printed first. Printed by PHP 8.2.

use super::model::{Builder, Frame, Lines, Relation, Role};
use super::text::{leading_digits, number, trailing_number, write_file};

pub(super) fn parse<'a>(lines: Lines<'a>, builder: &mut Builder<'a>) {
    // The latest header, the place where it ends, and whether `Stack trace:` was seen.
    let mut header = "";
    let mut place: (&str, u32) = ("", 0);
    let has_marker = lines.text.contains("Stack trace:");
    let mut is_open = !has_marker;
    let mut is_new = true;
    let mut is_parsed_header = false;
    for line in lines {
        let trimmed = line.trim();
        if let Some(next) = trimmed.strip_prefix("Next ").filter(|_| !builder.latest_is_empty()) {
            (header, place, is_open, is_new, is_parsed_header) = (next, place_of(next), !has_marker, true, true);
            continue;
        }
        if trimmed == "Stack trace:" {
            // The message may have lines that look like frames.
            (is_open, is_new) = (true, true);
            continue;
        }
        let Some(frame) = trimmed.strip_prefix('#').and_then(leading_digits).filter(|_| is_open) else {
            if !is_open || builder.stack.exceptions.is_empty() {
                let found = place_of(trimmed);
                place = if found.1 > 0 { found } else { place };
                if !is_parsed_header && (header.is_empty() || trimmed.contains(" in ")) && !trimmed.starts_with('#') {
                    header = trimmed;
                }
            }
            continue;
        };
        if is_new {
            let index = builder.exception(type_of(header), Relation::Outermost, 0);
            if index > 0 {
                builder.stack.exceptions[index - 1].relation = Relation::Cause;
                builder.stack.exceptions[index - 1].parent = index;
            }
            is_new = false;
        }
        let (callee, call_site) = parse_call(frame.1.trim_start());
        let Some((module, function)) = callee else { continue };
        let role = role(module, place.0);
        builder.frame(Frame { module, function, file: place.0, line: place.1, column: 0, role });
        place = call_site;
        if function == "{main}" {
            is_open = !has_marker;
        }
    }
    builder.stack.outermost = builder.stack.exceptions.len().saturating_sub(1);
}

/// ` in FILE:N` at the end of a header.
fn place_of(header: &str) -> (&str, u32) {
    let Some((rest, line)) = trailing_number(header) else { return ("", 0) };
    rest.rfind(" in ")
        .map_or_else(|| rest.strip_prefix("in ").map_or(("", 0), |file| (file, line)), |at| (&rest[at + 4..], line))
}

fn type_of(header: &str) -> &str {
    let header = header.rsplit_once("Uncaught ").map_or(header, |(_, header)| header);
    let end = header.find([':', ' ']).unwrap_or(header.len());
    &header[..end]
}

/// Class and function of a call with its place: `FILE(N): Class->method(ARGS)`, `[internal function]: f()`, `{main}`.
fn parse_call(text: &str) -> (Option<(&str, &str)>, (&str, u32)) {
    if text.starts_with("{main}") {
        return (Some(("", "{main}")), ("", 0));
    }
    let (call, place) = if let Some(call) = text.strip_prefix("[internal function]: ") {
        (call, ("[internal function]", 0))
    } else {
        let Some(at) = text.find("): ") else { return (None, ("", 0)) };
        let Some(open) = text[..at].rfind('(') else { return (None, ("", 0)) };
        (&text[at + 3..], (&text[..open], number(&text[open + 1..at])))
    };
    // A closure of 8.4 has the function in its braces: `{closure:A::b():12}`.
    let from = call
        .find("{closure")
        .and_then(|at| call[at..].find('}').map(|end| at + end))
        .filter(|_| call.find('(').is_none_or(|open| call.find("{closure").is_some_and(|closure| closure < open)));
    let from = from.unwrap_or(0);
    let end = call[from..].find('(').map_or(call.len(), |at| from + at);
    (Some(split(&call[..end])), place)
}

/// Class and method; of a closure the class that it is in.
fn split(name: &str) -> (&str, &str) {
    if let Some(closure) = name.find("{closure:") {
        let inside = name[closure + 9..].split_once("()").map_or("", |(inside, _)| inside);
        let class = inside.split_once("::").map_or(inside, |(class, _)| class);
        return (class, "{closure}");
    }
    let (class, function) = name.split_once("->").or_else(|| name.split_once("::")).unwrap_or(("", name));
    let class = class.find("@anonymous").map_or(class, |at| &class[..at + 10]);
    if function.ends_with("{closure}") {
        return (class, "{closure}");
    }
    (class, function)
}

fn role(module: &str, file: &str) -> Role {
    let is_library = file.contains("/vendor/")
        || file == "[internal function]"
        || file.starts_with("phar://")
        || module.starts_with("OpenTelemetry\\");
    if is_library { Role::Library } else { Role::Application }
}

pub(super) fn write(frame: &Frame<'_>, divider: char, out: &mut String) -> bool {
    let is_template = frame.file.contains("/cache/twig/") || frame.file.contains("/framework/views/");
    if let Some(template) = frame.module.find("__TwigTemplate_") {
        out.push_str(&frame.module[..template + 14]);
    } else if !frame.module.is_empty() {
        out.push_str(frame.module);
    } else if is_template {
        out.push_str("template");
    } else {
        // `{main}` is in the file of the last call.
        write_file(frame.file.split("(").next().unwrap_or(""), out);
    }
    out.push(divider);
    out.push_str(frame.function);
    true
}
