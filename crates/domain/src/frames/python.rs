//! Tracebacks of Python, with causes and groups. Printed by CPython 3.10 to 3.13.

use super::model::{Builder, Frame, Lines, Relation, Role};
use super::text::{indentation, number, write_file};

/// Levels of groups that are followed.
const DEPTH_MAX: usize = 12;
/// Copies of a repeated frame that are kept.
const REPEATED: usize = 2;

/// State of one level of groups.
#[derive(Clone, Copy, Default)]
struct Level {
    /// The latest exception, and whether the next one was raised because of it.
    latest: Option<usize>,
    is_cause: bool,
}

pub(super) fn parse<'a>(lines: Lines<'a>, builder: &mut Builder<'a>) {
    let mut levels = [Level::default(); DEPTH_MAX];
    let (mut is_group, mut has_header) = (false, false);
    // Indentation of the header of the open traceback.
    let mut open: Option<usize> = None;
    let mut open_depth = 1;
    let mut start = 0;
    let mut is_latest_closed = true;
    for line in lines {
        let (depth, content) = content(line, is_group);
        let trimmed = content.trim_start();
        let indent = content.len() - trimmed.len();
        if trimmed.is_empty() {
            continue;
        }
        if is_group && content.starts_with('+') && content.contains("---") {
            // The next member.
            let bars = content.trim_matches(['+', '-', ' ']);
            if !bars.is_empty() {
                let level = (depth + usize::from(content.starts_with("+-+"))).min(DEPTH_MAX - 1);
                levels[level..].fill(Level::default());
            }
            continue;
        }
        let header = trimmed.strip_prefix("+ ").unwrap_or(trimmed);
        if header.starts_with("Exception Group Traceback (most") || header.starts_with("Traceback (most recent call") {
            is_group |= header.starts_with('E');
            has_header = true;
            open = Some(if header.len() == trimmed.len() { indent } else { 0 });
            open_depth = depth;
            start = builder.stack.frames.len();
            is_latest_closed = false;
            continue;
        }
        if let Some(frame) = trimmed.strip_prefix("File \"") {
            if open.is_none() && !has_header {
                open = Some(indent.saturating_sub(2));
                open_depth = depth;
                start = builder.stack.frames.len();
                is_latest_closed = false;
            }
            if open.is_some_and(|header| indent > header)
                && let Some(frame) = parse_frame(frame)
            {
                builder.stack.frames.push(frame);
            }
            continue;
        }
        if let Some(repeated) = trimmed.strip_prefix("[Previous line repeated ") {
            let times = (number(repeated) as usize).min(REPEATED);
            if let Some(latest) = builder.stack.frames.last().copied().filter(|_| builder.stack.frames.len() > start) {
                builder.stack.frames.extend(std::iter::repeat_n(latest, times));
            }
            continue;
        }
        if open == Some(indent) && depth == open_depth {
            let exception_type = trimmed.split_once(": ").map_or(trimmed, |(before, _)| before).trim_end_matches(':');
            close(builder, &mut levels, depth, exception_type, start);
            (open, is_latest_closed) = (None, true);
            continue;
        }
        if trimmed.starts_with("The above exception was the direct cause")
            || trimmed.starts_with("During handling of the above")
        {
            levels[depth].is_cause = true;
        }
    }
    if !is_latest_closed && builder.stack.frames.len() > start {
        close(builder, &mut levels, open_depth, "", start);
    }
    builder.stack.outermost = levels[1].latest.unwrap_or(0);
}

/// Level and content of a line: without the bars of groups.
fn content(line: &str, is_group: bool) -> (usize, &str) {
    if is_group {
        let spaces = indentation(line);
        let rest = &line[spaces..];
        let depth = (spaces / 2).clamp(1, DEPTH_MAX - 1);
        if let Some(rest) = rest.strip_prefix('|') {
            return (depth, rest.strip_prefix(' ').unwrap_or(rest));
        }
        if rest.starts_with('+') {
            return (depth, rest);
        }
    }
    (1, line)
}

/// Makes an exception of the frames from `start`, which are outermost first.
fn close<'a>(
    builder: &mut Builder<'a>,
    levels: &mut [Level; DEPTH_MAX],
    depth: usize,
    exception_type: &'a str,
    start: usize,
) {
    let group = levels[depth - 1].latest.filter(|_| depth > 1);
    let index = builder.stack.exceptions.len();
    let at = builder.exception(exception_type, Relation::Member, group.unwrap_or(index));
    if at != index {
        return;
    }
    builder.stack.frames[start..].reverse();
    builder.stack.exceptions[index].frames = (start, builder.stack.frames.len());
    let level = &mut levels[depth];
    if let Some(cause) = level.latest.filter(|_| level.is_cause) {
        builder.stack.exceptions[cause].parent = index;
        builder.stack.exceptions[cause].relation = Relation::Cause;
    }
    *level = Level { latest: Some(index), is_cause: false };
    levels[depth + 1..].fill(Level::default());
}

/// `PATH", line N, in NAME`. Comprehensions are frames of their own only before 3.12; a syntax error has no function.
fn parse_frame(text: &str) -> Option<Frame<'_>> {
    let (file, rest) = text.split_once("\", line ")?;
    let (line, function) = rest.split_once(", in ")?;
    let function = function.trim_end();
    if matches!(function, "<listcomp>" | "<dictcomp>" | "<setcomp>") {
        return None;
    }
    let role = if is_library(file) { Role::Library } else { Role::Application };
    Some(Frame { module: "", function, file, line: number(line), column: 0, role })
}

fn is_library(file: &str) -> bool {
    file.contains("site-packages") || file.contains("dist-packages") || file.starts_with("<frozen") || {
        let after = file.find("/lib/python").map(|at| &file[at + 11..]).or_else(|| file.find("\\Lib\\").map(|_| "3"));
        after.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    }
}

pub(super) fn write(frame: &Frame<'_>, divider: char, out: &mut String) -> bool {
    write_file(frame.file, out);
    out.push(divider);
    // Qualified names of 3.11: the last segment, so that versions agree.
    let name = frame.function.rsplit_once('.').map_or(frame.function, |(_, name)| name);
    out.push_str(name);
    !frame.function.is_empty()
}
