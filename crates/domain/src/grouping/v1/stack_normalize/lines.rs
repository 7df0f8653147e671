//! Normalizes a stack trace line by line, in one pass.

use super::words;

/// The result of one pass. Lines are trimmed, empty ones are removed.
pub(super) fn pass(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut lines = Lines(text.trim());
    let mut next = lines.next();
    let mut is_first = true;
    while let Some(raw) = next {
        next = lines.next();
        if !is_first {
            out.push('\n');
        }
        let start = out.len();
        write_line(raw, next, is_first, &mut out);
        trim_from(&mut out, start);
        if out.len() == start && !is_first {
            out.pop();
        }
        is_first &= out.is_empty();
    }
    out
}

/// The non-blank lines, split as [`str::lines`] does.
struct Lines<'a>(&'a str);

impl<'a> Iterator for Lines<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        while !self.0.is_empty() {
            let (line, rest) = match memchr::memchr(b'\n', self.0.as_bytes()) {
                Some(end) => {
                    let line = &self.0[..end];
                    (line.strip_suffix('\r').unwrap_or(line), &self.0[end + 1..])
                }
                None => (self.0, ""),
            };
            self.0 = rest;
            if !trim(line).is_empty() {
                return Some(line);
            }
        }
        None
    }
}

/// [`str::trim`] with a fast path for ASCII.
fn trim(text: &str) -> &str {
    let text = text.trim_ascii();
    match (text.as_bytes().first(), text.as_bytes().last()) {
        (Some(b'!'..0x7f), Some(b'!'..0x7f)) => text,
        _ => text.trim(),
    }
}

fn write_line(raw: &str, next: Option<&str>, is_first: bool, out: &mut String) {
    let line = trim(raw);
    // A trace of one line consists of the message only, which stays.
    let has_frames = !is_first || next.is_some();
    if let Some((prefix, exception_type)) = header_type(line).filter(|_| has_frames) {
        out.push_str(prefix);
        words::write(exception_type, out);
    } else if let Some(rest) = omitted_frames(line) {
        out.push_str("... ");
        out.push_str(rest);
    } else if next.is_some_and(is_script_location) && is_script_function(raw, is_first) {
        out.push_str("<fn>");
    } else {
        words::write(line, out);
    }
}

/// The type in a header: `app.Error` of `app.Error: message`, also after `Caused by: `, `Suppressed: ` and `Next `.
/// `None` for other lines.
fn header_type(line: &str) -> Option<(&str, &str)> {
    let prefix =
        ["Caused by: ", "Suppressed: ", "Next "].into_iter().find(|prefix| line.starts_with(prefix)).unwrap_or("");
    let rest = &line[prefix.len()..];
    let name = rest.strip_prefix('*').unwrap_or(rest);
    let bytes = name.as_bytes();
    let mut end = 0;
    while end < bytes.len() {
        match bytes[end] {
            b':' if bytes.get(end + 1) == Some(&b':') => end += 2,
            b'_' | b'.' | b'\\' | b'$' => end += 1,
            byte if byte.is_ascii_alphanumeric() => end += 1,
            _ => break,
        }
    }
    let is_followed = bytes.get(end) == Some(&b':') && bytes.get(end + 1).is_none_or(u8::is_ascii_whitespace);
    let is_header = is_followed && name[..end].bytes().any(|byte| byte.is_ascii_alphabetic());
    is_header.then(|| (prefix, &rest[..rest.len() - name.len() + end]))
}

/// The `more` of `... 12 more`.
fn omitted_frames(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("... ")?.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
    (rest == "more").then_some(rest)
}

/// Whether the line is the location of a JavaScript or Flutter frame: four spaces, then `file:line` or
/// `file:line:column`.
fn is_script_location(raw: &str) -> bool {
    // The first and the last byte exclude most lines.
    let Some(place) = raw.strip_prefix("    ").map(str::trim_end).filter(|p| p.ends_with(|c: char| c.is_ascii_digit()))
    else {
        return false;
    };
    if place.starts_with(char::is_whitespace) || place.bytes().any(|byte| byte == b' ' || byte == b'\t') {
        return false;
    }
    let mut parts = place.rsplit(':');
    let is_number =
        |part: Option<&str>| part.is_some_and(|text| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()));
    is_number(parts.next()) && parts.next().is_some_and(|file| !file.is_empty())
}

/// Whether the line above such a location is an unindented function name. The first line is a header unless it is a call.
fn is_script_function(raw: &str, is_first: bool) -> bool {
    !raw.starts_with(char::is_whitespace) && (!is_first || raw.trim_end().ends_with("()"))
}

fn trim_from(out: &mut String, start: usize) {
    let trimmed = trim(&out[start..]);
    let (length, blanks) = (trimmed.len(), trimmed.as_ptr().addr() - out[start..].as_ptr().addr());
    out.truncate(start + blanks + length);
    if blanks > 0 {
        out.replace_range(start..start + blanks, "");
    }
}
