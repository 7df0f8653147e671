//! Stack traces of Dart and Flutter, and of the package `stack_trace`. From the documentation of the runtime, not from
//! a run.

use super::model::{Builder, Frame, Lines, Role};
use super::text::{leading_digits, place, write_file};

pub(super) fn parse<'a>(lines: Lines<'a>, builder: &mut Builder<'a>) {
    for line in lines {
        if let Some(frame) = parse_frame(line.trim()) {
            builder.frame(frame);
        }
    }
}

fn parse_frame(trimmed: &str) -> Option<Frame<'_>> {
    let (function, file, line, column) = match trimmed.strip_prefix('#').and_then(leading_digits) {
        Some((_, rest)) => {
            let rest = rest.trim();
            if let Some(unresolved) = rest.strip_prefix("abs ") {
                // The address in the build is all there is before the symbols arrive.
                let address =
                    unresolved.split_once(" virt ").map_or("", |(_, rest)| rest.split(' ').next().unwrap_or(""));
                ("", address, 0, 0)
            } else {
                let (function, location) = rest.strip_suffix(')')?.rsplit_once(" (")?;
                let (file, line, column) = place(location);
                (function, file, line, column)
            }
        }
        None => {
            let (file, rest) = trimmed.split_once(".dart ")?;
            let (numbers, function) = rest.trim_start().split_once(' ')?;
            let (line, column) = numbers.split_once(':').unwrap_or((numbers, ""));
            let file = &trimmed[..file.len() + 5];
            (function.trim(), file, super::text::number(line), super::text::number(column))
        }
    };
    let role = if is_library(file) { Role::Library } else { Role::Application };
    Some(Frame { module: "", function, file, line, column, role })
}

fn is_library(file: &str) -> bool {
    file.starts_with("dart:")
        || file.starts_with("package:flutter/")
        || file.starts_with("package:flutter_test/")
        || file.starts_with("org-dartlang-sdk:")
        || file.contains(".pub-cache")
}

pub(super) fn write(frame: &Frame<'_>, divider: char, out: &mut String) -> bool {
    write_file(frame.file, out);
    let mut function = frame.function;
    loop {
        let shorter = function.strip_suffix(".<anonymous closure>").or_else(|| function.strip_suffix(".<fn>"));
        let Some(shorter) = shorter else { break };
        function = shorter;
    }
    if function.is_empty() {
        return false;
    }
    out.push(divider);
    out.push_str(function.strip_prefix("new ").unwrap_or(function));
    true
}
