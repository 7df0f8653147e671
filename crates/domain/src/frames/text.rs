//! Parts of lines that several grammars share.

/// Splits `FILE:LINE` or `FILE:LINE:COLUMN`. Absent numbers are 0.
pub(crate) fn place(text: &str) -> (&str, u32, u32) {
    match trailing_number(text) {
        None => (text, 0, 0),
        Some((rest, last)) => match trailing_number(rest) {
            Some((file, line)) => (file, line, last),
            None => (rest, last, 0),
        },
    }
}

/// Splits `REST:NUMBER`.
pub(crate) fn trailing_number(text: &str) -> Option<(&str, u32)> {
    let (rest, digits) = text.rsplit_once(':')?;
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then(|| (rest, number(digits)))
}

/// The leading digits as a number, at most `u32::MAX`.
pub(crate) fn number(text: &str) -> u32 {
    let digits = text.bytes().take_while(u8::is_ascii_digit);
    digits.fold(0u32, |sum, digit| sum.saturating_mul(10).saturating_add(u32::from(digit - b'0')))
}

/// Splits leading digits off. `None` without one.
pub(crate) fn leading_digits(text: &str) -> Option<(&str, &str)> {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    (end > 0).then(|| text.split_at(end))
}

/// Number of leading spaces and tabs.
pub(crate) fn indentation(line: &str) -> usize {
    line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// Appends a number.
pub(crate) fn write_number(number: u32, out: &mut String) {
    use std::fmt::Write as _;
    let _ = write!(out, "{number}");
}

/// Appends the text without its digits.
pub(crate) fn write_without_digits(text: &str, out: &mut String) {
    out.extend(text.chars().filter(|letter| !letter.is_ascii_digit()));
}

/// Whether all bytes are hexadecimal digits, at least `least` of them.
pub(crate) fn is_hex(text: &str, least: usize) -> bool {
    text.len() >= least && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The name of a file and its folder, without query and fragment.
fn name_and_folder(path: &str) -> (&str, &str) {
    let end = path.find(['?', '#']).unwrap_or(path.len());
    let path = path[..end].trim_end_matches(['/', '\\']);
    let (folders, name) = path.rsplit_once(['/', '\\']).unwrap_or(("", path));
    (name, folders.rsplit(['/', '\\']).next().unwrap_or(""))
}

/// Names of files that say little without their folder.
const GENERIC: &[&str] = &[
    "index",
    "main",
    "mod",
    "__init__",
    "__main__",
    "page",
    "route",
    "layout",
    "handler",
    "server",
    "views",
    "models",
    "tasks",
    "admin",
    "serializers",
    "forms",
    "urls",
    "utils",
    "helpers",
];
/// Folders that say nothing.
const ROOTS: &[&str] = &[
    "",
    ".",
    "..",
    "src",
    "app",
    "dist",
    "build",
    "lib",
    "task",
    "code",
    "current",
    "release",
    "releases",
    "out",
    "bin",
    "public",
    "www",
    "html",
    "workspace",
    "js",
    "assets",
    "static",
];

/// Whether a folder is named by a release or a build.
fn is_release(folder: &str) -> bool {
    let digits = folder.bytes().filter(u8::is_ascii_digit).count();
    let version = folder.strip_prefix('v').unwrap_or(folder);
    version.bytes().next().is_some_and(|byte| byte.is_ascii_digit()) || (digits > 0 && is_hex(folder, 7)) || digits > 5
}

/// Appends the name of a file: without folders, host, query and hash of its content. A generic name takes its folder
/// along.
pub(crate) fn write_file(path: &str, out: &mut String) {
    let (name, folder) = name_and_folder(path);
    if name.starts_with('<') {
        // `<attrs generated init a.B>`, `<ipython-input-3-1a2b3c>`, `<generated 17>`.
        let parts = name.split(['-', ' ']).filter(|part| !part.bytes().any(|byte| byte.is_ascii_digit()));
        for (position, part) in parts.enumerate() {
            out.push_str(if position > 0 { "-" } else { "" });
            out.push_str(part.trim_end_matches('>'));
        }
        return;
    }
    let (stem, _) = name.split_once('.').unwrap_or((name, ""));
    if GENERIC.contains(&stem)
        && !name.ends_with("bundle")
        && !ROOTS.contains(&folder)
        && !is_release(folder)
        && !folder.contains(':')
    {
        out.push_str(folder);
        out.push('/');
    }
    write_unhashed(name, out);
}

/// Appends the name of a file without the hash of its content.
pub(crate) fn write_unhashed(name: &str, out: &mut String) {
    let (stem, extension) = match name.rfind('.') {
        Some(dot) if dot > 0 => name.split_at(dot),
        _ => (name, ""),
    };
    if is_whole_hash(stem) {
        out.push_str("<hash>");
    } else {
        out.push_str(without_hash(stem));
    }
    out.push_str(extension);
}

fn has_digit(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

/// The stem up to `-HASH` or `.HASH` at its end.
fn without_hash(stem: &str) -> &str {
    let mut end = stem.len();
    // A hash may have `-` itself.
    for _ in 0..3 {
        let Some(at) = stem[..end].rfind(['-', '.']) else { break };
        let tail = &stem[at + 1..];
        if tail.len() > 20 {
            break;
        }
        if at > 0 && is_hash(tail) {
            return &stem[..at];
        }
        end = at;
    }
    stem
}

/// Whether a name is nothing but a hash: hexadecimal, or long with several digits.
fn is_whole_hash(stem: &str) -> bool {
    let digits = stem.bytes().filter(u8::is_ascii_digit).count();
    let is_plain = stem.bytes().all(|byte| byte.is_ascii_alphanumeric());
    digits > 0 && (is_hex(stem, 8) || stem.len() >= 16 && digits > 2 && is_plain)
}

/// Whether a part of a file's name is a hash: 8 to 20 letters and digits with a digit, or 8 in mixed case. A word with a
/// number at its end is none, such as `customer2`.
pub(crate) fn is_hash(text: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if !(8..=20).contains(&text.len()) || !text.bytes().all(is_word) {
        return false;
    }
    let is_mixed = text.bytes().skip(1).any(|byte| byte.is_ascii_uppercase())
        && text.bytes().any(|byte| byte.is_ascii_lowercase());
    if text.contains(['-', '_']) {
        return text.len() == 8 && is_mixed;
    }
    let letters = text.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let is_numbered = !has_digit(letters) && letters.len() > 3 && text.len() - letters.len() < 3 && !is_mixed;
    (has_digit(text) && !is_numbered) || (text.len() == 8 && is_mixed)
}

/// The first bytes, at a character.
pub(crate) fn start_of(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    &text[..end]
}

/// The last bytes, at a character.
pub(crate) fn end_of(text: &str, most: usize) -> &str {
    let from = text.len().saturating_sub(most);
    let start = (from..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    &text[start..]
}
