//! `full_message` and backtraces of Ruby. Printed by Ruby 3.1; names of 3.4 end in the same method.

use super::model::{Builder, Frame, Lines, Relation, Role};
use super::text::{leading_digits, trailing_number, write_file};

pub(super) fn parse<'a>(lines: Lines<'a>, builder: &mut Builder<'a>) {
    // `order: :bottom` prints the outermost frame first and numbers the frames.
    let is_reversed = lines.text.contains("Traceback (most recent call last):");
    for line in lines {
        let trimmed = line.trim();
        let rest = match leading_digits(trimmed) {
            Some((_, rest)) if is_reversed => rest.strip_prefix(": ").unwrap_or(trimmed),
            _ => trimmed,
        };
        let from = rest.strip_prefix("from ");
        let Some((frame, after)) = parse_frame(from.unwrap_or(rest)) else { continue };
        let message = after.strip_prefix(": ");
        if from.is_none()
            && let Some(message) = message
            && !builder.latest_is_empty()
            && !is_reversed
        {
            let parent = builder.stack.exceptions.len() - 1;
            builder.exception(type_of(message), Relation::Cause, parent);
        } else if builder.stack.exceptions.is_empty() {
            builder.exception(message.map_or("", type_of), Relation::Outermost, 0);
        }
        builder.frame(frame);
    }
    if is_reversed {
        builder.stack.frames.reverse();
    }
    drop_functions_in_c(&mut builder.stack);
}

/// A function of the interpreter has the place of its caller. Later versions print some of them otherwise.
fn drop_functions_in_c(stack: &mut super::model::Stack<'_>) {
    let mut kept = Vec::with_capacity(stack.frames.len());
    for exception in &mut stack.exceptions {
        let start = kept.len();
        let frames = &stack.frames[exception.frames.0..exception.frames.1];
        for (position, frame) in frames.iter().enumerate() {
            let is_in_c = frames.get(position + 1).is_some_and(|caller| {
                (caller.file, caller.line) == (frame.file, frame.line) && caller.function != frame.function
            });
            if !is_in_c || frame.function.starts_with("block ") {
                kept.push(*frame);
            }
        }
        exception.frames = (start, kept.len());
    }
    stack.frames = kept;
}

/// The type in parentheses at the end of the first line.
fn type_of(message: &str) -> &str {
    let Some(inside) = message.trim_end().strip_suffix(')') else { return "" };
    inside.rfind('(').map_or("", |at| &inside[at + 1..])
}

/// `FILE:N:in 'NAME'` and the text after it.
fn parse_frame(text: &str) -> Option<(Frame<'_>, &str)> {
    let at = text.find(":in `").or_else(|| text.find(":in '"))?;
    let (file, line) = trailing_number(&text[..at])?;
    let name = &text[at + 5..];
    let close = name.find('\'')?;
    let (function, after) = (&name[..close], &name[close + 1..]);
    let role = if is_library(file) { Role::Library } else { Role::Application };
    Some((Frame { module: "", function, file, line, column: 0, role }, after))
}

fn is_library(file: &str) -> bool {
    if file.contains("/gems/")
        || file.starts_with("<internal:")
        || file.contains("/bin/")
        || file.ends_with("config.ru")
    {
        return true;
    }
    // The standard library: `/ruby/3.1.0/`.
    file.split("/ruby/").skip(1).any(|rest| {
        let version = rest.split('/').next().unwrap_or("");
        version.contains('.') && version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
    })
}

pub(super) fn write(frame: &Frame<'_>, divider: char, out: &mut String) -> bool {
    if frame.file.starts_with("(eval") {
        out.push_str("(eval)");
    } else {
        write_file(frame.file, out);
    }
    out.push(divider);
    // `block (2 levels) in name`, `rescue in name`.
    let name = frame.function.rsplit_once(" in ").map_or(frame.function, |(_, name)| name);
    let name = name.rsplit(['#', '.']).next().unwrap_or(name);
    let name = name.rsplit_once("::").map_or(name, |(_, last)| last);
    // Compiled templates: `_app_views_x_erb___123_456`.
    let short = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '_');
    let is_template = name.starts_with('_') && name.len() > short.len() + 6;
    out.push_str(if is_template { short } else { name });
    !frame.function.is_empty()
}
