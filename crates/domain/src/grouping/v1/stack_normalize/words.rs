//! Normalizes the words of a line, in one pass.
//!
//! The cursor only moves right; a rule that removes text to the left truncates the output. Lookahead is bounded or
//! skipped afterwards, so the pass takes linear time.

use std::sync::LazyLock;

use memchr::memmem::Finder;

/// Maximum length of an e-mail's local part or a URL's scheme.
const LOOK_BACK_MAX: usize = 64;

/// Bytes at which a rule may start anywhere in the line: digits, `:`, `/`, `@`, and blanks other than space.
const MARKS: [bool; 256] = {
    let mut marks = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        marks[byte] = matches!(byte as u8, b'0'..=b'9' | b':' | b'/' | b'@' | b'\t' | b'\r');
        byte += 1;
    }
    marks
};

/// Appends the normalized line. Blanks collapse to one space.
pub(super) fn write(line: &str, out: &mut String) {
    let bytes = line.as_bytes();
    let floor = out.len();
    let looks_at_words = has_word_rule(bytes);
    // Bytes between `copied` and `at` are copied unchanged, in one piece.
    let (mut copied, mut at) = (0, 0);
    while at < bytes.len() {
        let byte = bytes[at];
        let before = at.checked_sub(1).map(|place| bytes[place]);
        let is_plain = match byte {
            b' ' => before != Some(b' ') && (copied < at || !out[floor..].ends_with(' ')),
            _ if MARKS[byte as usize] => false,
            _ => !looks_at_words || is_word(before) || !byte.is_ascii_alphabetic(),
        };
        if is_plain {
            at += 1;
            if !looks_at_words {
                at += count(&bytes[at..], |byte| !MARKS[byte as usize] && byte != b' ');
            }
            continue;
        }
        out.push_str(&line[copied..at]);
        copied = at;
        match step(line, at, floor, out) {
            Some(read) => {
                at += read;
                copied = at;
            }
            None => at += 1,
        }
    }
    out.push_str(&line[copied..]);
}

static GOROUTINE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("goroutine "));

/// Whether a rule that starts with a letter may match in the line: a UUID, `goroutine`, a drive.
fn has_word_rule(line: &[u8]) -> bool {
    let has_uuid = || memchr::memchr_iter(b'-', line).any(|at| line.get(at + 5) == Some(&b'-'));
    let has_drive = || {
        memchr::memchr_iter(b':', line)
            .any(|at| matches!(line.get(at + 1), Some(b'\\' | b'/')) && line.get(at + 2) != Some(&b'/'))
    };
    has_uuid() || has_drive() || GOROUTINE.find(line).is_some()
}

/// Applies the first matching rule at `at` and returns the number of bytes read, at least 1.
fn step(line: &str, at: usize, floor: usize, out: &mut String) -> Option<usize> {
    let bytes = line.as_bytes();
    let rest = &bytes[at..];
    let before = at.checked_sub(1).map(|place| bytes[place]);
    let read = match rest[0] {
        b' ' | b'\t' | b'\r' => {
            if !out[floor..].ends_with(' ') {
                out.push(' ');
            }
            Some(1)
        }
        b':' => origin(&line[at..], floor, out).or_else(|| line_and_column(&line[at..], floor, out)),
        b'/' if is_edge(before) => path(&line[at..], out),
        b'@' => version(rest).or_else(|| email(rest, floor, out)),
        b'0' if !is_word(before) && rest.get(1).is_some_and(|byte| *byte | 0x20 == b'x') => hexadecimal(rest, out),
        b'g' if !is_word(before) => goroutine(rest, out),
        _ => None,
    };
    let read = read
        .or_else(|| if is_word(before) { None } else { uuid(rest, out).or_else(|| windows_path(&line[at..], out)) });
    read.or_else(|| digits(&line[at..], before, out))
}

fn is_word(byte: Option<u8>) -> bool {
    byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80)
}

/// Whether an absolute path may start after this byte. Each of these bytes also ends a path, so no byte is read twice.
fn is_edge(byte: Option<u8>) -> bool {
    byte.is_none_or(|byte| matches!(byte, b' ' | b'\t' | b'(' | b'<' | b'"' | b'\'' | b'`' | b',' | b'|'))
}

fn count(bytes: &[u8], is: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|byte| !is(*byte)).unwrap_or(bytes.len())
}

fn count_digits(bytes: &[u8]) -> usize {
    count(bytes, |byte| byte.is_ascii_digit())
}

/// `https://cdn.example.com:8080/js/app.js:1:2`: removes scheme and host; the path rule applies to the rest.
fn origin(text: &str, floor: usize, out: &mut String) -> Option<usize> {
    let after = text.strip_prefix("://")?;
    let scheme = out.as_bytes()[floor..]
        .iter()
        .rev()
        .take(LOOK_BACK_MAX)
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(**byte, b'+' | b'-' | b'.'))
        .count();
    if scheme == 0 {
        return None;
    }
    out.truncate(out.len() - scheme);
    let host = count(after.as_bytes(), |byte| {
        !matches!(byte, b'/' | b' ' | b'\t' | b')' | b'"' | b'\'' | b'>' | b',' | b'?' | b'#')
    });
    // The folders of the path are removed too when a line number follows.
    let after_host = &after[host..];
    let path_read = if after_host.starts_with('/') { path(after_host, out).unwrap_or(0) } else { 0 };
    Some("://".len() + host + path_read)
}

/// Bytes that end a path.
const PATH_ENDS: [bool; 256] = {
    let mut ends = [false; 256];
    let mut place = 0;
    while place < PATH_END_BYTES.len() {
        ends[PATH_END_BYTES[place] as usize] = true;
        place += 1;
    }
    ends
};
const PATH_END_BYTES: &[u8] = b" \t:()\"'`,?#<>]}|";

fn ends_path(byte: u8) -> bool {
    PATH_ENDS[byte as usize]
}

/// `/srv/app/main.js:10` gives `main.js`, without consuming the line number. Applies only where a line number follows, in
/// any notation of the languages. Removes a query between name and number.
fn path(text: &str, out: &mut String) -> Option<usize> {
    let length = count(text.as_bytes(), |byte| !ends_path(byte));
    let query = match text.as_bytes().get(length) {
        Some(b'?') => count(&text.as_bytes()[length..], |byte| !ends_path(byte) || byte == b'?'),
        _ => 0,
    };
    write_file_name(text, length, query, b"/", out)
}

/// `C:\app\Main.cs:line 7` gives `Main.cs`.
fn windows_path(text: &str, out: &mut String) -> Option<usize> {
    let bytes = text.as_bytes();
    let is_drive = bytes[0].is_ascii_alphabetic()
        && bytes.get(1) == Some(&b':')
        && bytes.get(2).is_some_and(|byte| matches!(byte, b'\\' | b'/'))
        && !matches!(bytes.get(3), Some(b'/'));
    if !is_drive {
        return None;
    }
    let length = 3 + count(&bytes[3..], |byte| !ends_path(byte));
    write_file_name(text, length, 0, b"/\\", out)
}

fn write_file_name(text: &str, length: usize, skipped: usize, separators: &[u8], out: &mut String) -> Option<usize> {
    let after = &text.as_bytes()[length + skipped..];
    let has_line_number = match after.first() {
        Some(b':') => after.get(1).is_some_and(u8::is_ascii_digit) || after.starts_with(b":line "),
        Some(b'(') => after.get(1).is_some_and(u8::is_ascii_digit),
        Some(b'"') => after.starts_with(b"\", line "),
        _ => false,
    };
    if !has_line_number {
        return None;
    }
    let path = &text[..length];
    let start = path.bytes().rposition(|byte| separators.contains(&byte)).map_or(0, |separator| separator + 1);
    let name = Some(&path[start..]).filter(|name| !name.is_empty())?;
    // A file name may contain ids. It has no slash, so the recursion ends here.
    write(name, out);
    Some(length + skipped)
}

/// `:10:5` gives `:10`. Columns of line 1 stay, because minified bundles have only that line. The line number after a JVM
/// source file is removed too.
fn line_and_column(text: &str, floor: usize, out: &mut String) -> Option<usize> {
    let rest = text.as_bytes();
    let line_digits = count_digits(&rest[1..]);
    if line_digits == 0 {
        return None;
    }
    let line_end = 1 + line_digits;
    let is_jvm = [".java", ".kt", ".scala", ".groovy"].iter().any(|ending| out[floor..].ends_with(ending));
    if is_jvm && rest.get(line_end) == Some(&b')') {
        return Some(line_end);
    }
    let column_digits = match rest.get(line_end) {
        Some(b':') => count_digits(&rest[line_end + 1..]),
        _ => 0,
    };
    let line = &text[..line_end];
    out.push_str(line);
    let is_first_line = line[1..].trim_start_matches('0').len() <= 1 && line.ends_with(['0', '1']);
    match column_digits {
        0 => Some(line_end),
        digits => {
            let column_end = line_end + 1 + digits;
            if is_first_line {
                out.push_str(&text[line_end..column_end]);
            }
            Some(column_end)
        }
    }
}

/// Removes `@4.17.21` and `@v1.2.3`.
fn version(rest: &[u8]) -> Option<usize> {
    let start = 1 + usize::from(rest.get(1) == Some(&b'v'));
    let major = count_digits(&rest[start.min(rest.len())..]);
    let minor_at = start + major;
    let has_minor =
        major > 0 && rest.get(minor_at) == Some(&b'.') && rest.get(minor_at + 1).is_some_and(u8::is_ascii_digit);
    has_minor.then(|| {
        minor_at + count(&rest[minor_at..], |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'+'))
    })
}

/// `jane@example.com` gives `<email>`.
fn email(rest: &[u8], floor: usize, out: &mut String) -> Option<usize> {
    let domain = count(&rest[1..], |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'));
    let name = &rest[1..1 + domain];
    let dot = name.iter().rposition(|byte| *byte == b'.')?;
    let last_label = &name[dot + 1..];
    if dot == 0 || last_label.len() < 2 || !last_label.iter().all(u8::is_ascii_alphabetic) {
        return None;
    }
    let local = out.as_bytes()[floor..]
        .iter()
        .rev()
        .take(LOOK_BACK_MAX)
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(**byte, b'.' | b'_' | b'%' | b'+' | b'-'))
        .count();
    if local == 0 {
        return None;
    }
    out.truncate(out.len() - local);
    out.push_str("<email>");
    Some(1 + domain)
}

/// `0x7f3a` gives `<hex>`.
fn hexadecimal(rest: &[u8], out: &mut String) -> Option<usize> {
    let digits = count(&rest[2..], |byte| byte.is_ascii_hexdigit());
    (digits > 0).then(|| {
        out.push_str("<hex>");
        2 + digits
    })
}

/// `goroutine 42` gives `goroutine <n>`.
fn goroutine(rest: &[u8], out: &mut String) -> Option<usize> {
    let number = rest.strip_prefix(b"goroutine ")?;
    let digits = count_digits(number);
    (digits > 0).then(|| {
        out.push_str("goroutine <n>");
        rest.len() - number.len() + digits
    })
}

/// `550e8400-e29b-41d4-a716-446655440000` gives `<uuid>`.
fn uuid(rest: &[u8], out: &mut String) -> Option<usize> {
    const LENGTH: usize = 36;
    let text = rest.get(..LENGTH).filter(|text| text[8] == b'-')?;
    let is_uuid = text.iter().enumerate().all(|(place, byte)| match place {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    });
    (is_uuid && !is_word(rest.get(LENGTH).copied())).then(|| {
        out.push_str("<uuid>");
        LENGTH
    })
}

/// An IPv4 address gives `<ip>`, a number of five digits or more `<id>`. Shorter numbers stay. Reads all digits.
fn digits(text: &str, before: Option<u8>, out: &mut String) -> Option<usize> {
    const ID_DIGITS_MIN: usize = 5;
    let rest = text.as_bytes();
    if !rest[0].is_ascii_digit() {
        return None;
    }
    if !is_word(before)
        && before != Some(b'.')
        && let Some(length) = ipv4(rest)
    {
        out.push_str("<ip>");
        return Some(length);
    }
    let length = count_digits(rest);
    if length >= ID_DIGITS_MIN && before != Some(b':') {
        out.push_str("<id>");
    } else {
        out.push_str(&text[..length]);
    }
    Some(length)
}

/// The length of `127.0.0.1` or `127.0.0.1:80`.
fn ipv4(rest: &[u8]) -> Option<usize> {
    let mut at = 0;
    for part in 0..4 {
        if part > 0 {
            if rest.get(at) != Some(&b'.') {
                return None;
            }
            at += 1;
        }
        let digits = count_digits(rest.get(at..at + 4).unwrap_or(&rest[at.min(rest.len())..]));
        if !(1..=3).contains(&digits) {
            return None;
        }
        at += digits;
    }
    if is_word(rest.get(at).copied())
        || (rest.get(at) == Some(&b'.') && rest.get(at + 1).is_some_and(u8::is_ascii_digit))
    {
        return None;
    }
    let port = if rest.get(at) == Some(&b':') { count_digits(&rest[at + 1..]) } else { 0 };
    Some(if port > 0 { at + 1 + port } else { at })
}
