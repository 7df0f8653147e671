//! Messages without their values: numbers, identifiers, addresses and times become placeholders, words and codes stay.
//!
//! One pass from left to right; the first rule that matches wins. Every look ahead is bounded.

mod values;

use crate::frames::text::{is_hash, is_hex, write_unhashed};
use values::{date, duration, email, ends, ipv4, ipv6, is_identifier, is_ulid, number, object, pod, uuid};

/// Characters of a message that count.
const CHARACTERS_MAX: usize = 1000;
/// Longest word, host or path that a rule looks at, bytes.
const TOKEN_BYTES_MAX: usize = 512;
/// Digits of a code; longer numbers are identifiers.
const CODE_DIGITS_MAX: usize = 5;

/// Words before a number that is a code.
const CODE_WORDS: &[&str] = &[
    "status",
    "code",
    "http",
    "https",
    "sqlstate",
    "errno",
    "signal",
    "exit",
    "error",
    "statuscode",
    "exitcode",
    "errorcode",
];

/// Appends the template of a message. Blanks collapse to one space.
pub fn write_template(message: &str, out: &mut String) {
    let end = message.char_indices().nth(CHARACTERS_MAX).map_or(message.len(), |(at, _)| at);
    let mut reader = Reader { text: message[..end].trim(), at: 0, word: "", out };
    while reader.at < reader.text.len() {
        reader.step();
    }
}

/// Whether a template has a letter outside of placeholders.
pub(super) fn has_words(template: &str) -> bool {
    let mut is_inside = false;
    template.chars().any(|letter| {
        is_inside = letter == '<' || is_inside && letter != '>';
        !is_inside && letter.is_alphabetic()
    })
}

struct Reader<'a, 'o> {
    text: &'a str,
    at: usize,
    /// The latest word, while only blanks and punctuation follow it.
    word: &'a str,
    out: &'o mut String,
}

impl<'a> Reader<'a, '_> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn step(&mut self) {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return };
        let before = self.text[..self.at].chars().next_back();
        let is_start = before.is_none_or(|before| !before.is_alphanumeric() && before != '_');
        if first.is_whitespace() {
            if !self.out.ends_with(' ') {
                self.out.push(' ');
            }
            self.at += first.len_utf8();
            return;
        }
        if is_start && let Some((length, placeholder)) = self.value(rest, before) {
            self.out.push_str(placeholder);
            self.at += length;
            self.word = "";
            return;
        }
        // A place at which no word starts.
        let glued = match first {
            '-' if !is_start => pod(rest).map(|length| (length, "-<pod>")),
            '@' => object(rest).map(|length| (length, "@<n>")),
            '[' => ipv6(rest).map(|length| (length, "<ip>")),
            _ => None,
        };
        if let Some((length, placeholder)) = glued {
            self.out.push_str(placeholder);
            self.at += length;
            return;
        }
        match first {
            '=' => self.assigned(rest),
            _ if is_start && (first.is_alphanumeric() || first == '_') => self.word(rest),
            _ => {
                // The version of HTTP stands between its name and the status.
                let is_version = first == '.' && self.word.eq_ignore_ascii_case("http");
                if matches!(first, '"' | '\'' | ',' | ';' | '.') && !is_version {
                    self.word = "";
                }
                self.out.push(first);
                self.at += first.len_utf8();
            }
        }
    }

    /// The value at a start: its length and its placeholder.
    fn value(&mut self, rest: &'a str, before: Option<char>) -> Option<(usize, &'static str)> {
        let bytes = rest.as_bytes();
        let first = bytes[0];
        let is_alphanumeric = first.is_ascii_alphanumeric();
        if !is_alphanumeric && !matches!(first, b'+' | b'-') {
            return None;
        }
        let run = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let word = &rest[..run];
        if is_alphanumeric {
            if run == 8
                && let Some(length) = uuid(bytes)
            {
                return Some((length, "<uuid>"));
            }
            if run == 26 && is_ulid(word) && ends(rest, run) {
                return Some((run, "<ulid>"));
            }
            if let Some(length) = self.url(rest) {
                return Some((length, ""));
            }
            if let Some(length) = email(rest) {
                return Some((length, "<email>"));
            }
            if let Some(length) = date(rest) {
                return Some((length, "<date>"));
            }
            if let Some(length) = ipv6(rest).or_else(|| ipv4(bytes)) {
                return Some((length, "<ip>"));
            }
            if first.is_ascii_digit()
                && let Some(length) = duration(rest)
            {
                return Some((length, "<duration>"));
            }
            if first.is_ascii_digit() && self.is_code(rest) {
                return None;
            }
            if let Some(hex) = word.strip_prefix("0x").filter(|hex| is_hex(hex, 1)) {
                return ends(rest, hex.len() + 2).then_some((run, "<hex>"));
            }
            if ends(rest, run) && is_identifier(word) {
                return Some((run, "<hex>"));
            }
        }
        // A sign belongs to a number only after a blank, a bracket or an operator.
        let is_signed = !is_alphanumeric
            && before.is_none_or(|before| before.is_whitespace() || matches!(before, '(' | '=' | '[' | ':' | ','));
        let from = usize::from(is_signed);
        if !is_alphanumeric && !is_signed {
            return None;
        }
        number(&rest[from..]).map(|length| (from + length, "<num>"))
    }

    /// Copies the words of a URL: scheme, host and path. Identifiers of the path, query and fragment go.
    fn url(&mut self, rest: &'a str) -> Option<usize> {
        let scheme = rest
            .bytes()
            .take(16)
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'.' | b'-'))
            .count();
        let after = rest[scheme..].strip_prefix("://")?;
        let most = after.len().min(2 * TOKEN_BYTES_MAX);
        let is_end = |byte: u8| {
            byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'<' | b'>' | b')' | b']' | b'}' | b',' | b'`')
        };
        let length = after.bytes().take(most).position(is_end).unwrap_or(most);
        let length = (0..=length).rev().find(|at| after.is_char_boundary(*at))?;
        let url = after[..length].trim_end_matches(['.', ':', ';', '!']);
        self.out.push_str(&rest[..scheme + 3]);
        let path = &url[..url.find(['?', '#']).unwrap_or(url.len())];
        let mut segments = path.split('/');
        let host = segments.next().unwrap_or("");
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        let name = host.split(':').next().unwrap_or(host);
        let is_address = name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') || name.starts_with('[');
        self.out.push_str(if is_address { "<ip>" } else { name });
        for segment in segments {
            self.out.push('/');
            let is_value = !segment.is_empty() && segment.bytes().all(|byte| byte.is_ascii_digit())
                || is_hex(segment, 16)
                || uuid(segment.as_bytes()) == Some(segment.len());
            if is_value {
                self.out.push_str("<x>");
            } else {
                write_unhashed(segment, self.out);
            }
        }
        Some(scheme + 3 + url.len())
    }

    /// Whether the number at the start of the text is a code by the word before it. Codes are copied by [`Self::word`].
    fn is_code(&self, rest: &str) -> bool {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        digits <= CODE_DIGITS_MAX && CODE_WORDS.iter().any(|word| self.word.eq_ignore_ascii_case(word))
    }

    /// Copies a word.
    fn word(&mut self, rest: &'a str) {
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let length = rest.find(|letter: char| !is_word(letter)).unwrap_or(rest.len());
        let word = &rest[..length];
        let after = &rest[length..];
        // `ORA-00001`: a prefix in capitals and a short number is a code.
        let digits = after.strip_prefix('-').map_or(0, |rest| rest.bytes().take_while(u8::is_ascii_digit).count());
        let is_code = (1..=CODE_DIGITS_MAX).contains(&digits)
            && (2..=12).contains(&word.len())
            && word.bytes().all(|byte| byte.is_ascii_uppercase())
            && ends(after, digits + 1);
        if is_code {
            self.out.push_str(&rest[..length + 1 + digits]);
            self.at += length + 1 + digits;
            self.word = "";
            return;
        }
        // `Cart-D4f9Kq2x.js`: a file with a hash.
        let name = rest
            .bytes()
            .take(TOKEN_BYTES_MAX)
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
            .count();
        let file = rest[..name].trim_end_matches(['.', '-']);
        if let Some((stem, extension)) = file.rsplit_once('.')
            && (1..=5).contains(&extension.len())
            && extension.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
            && extension.starts_with(|first: char| first.is_ascii_lowercase())
            && stem.rsplit_once(['-', '.']).is_some_and(|(_, tail)| is_hash(tail))
        {
            write_unhashed(file, self.out);
            self.at += file.len();
            self.word = "";
            return;
        }
        self.out.push_str(word);
        self.at += length;
        // A code may be followed by another: `HTTP/1.1 401`.
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
        if !(is_number && self.word.eq_ignore_ascii_case("http") && after.starts_with(['.', ' '])) {
            self.word = if is_number { "" } else { word };
        }
    }

    /// The value after `=` in quotes or parentheses.
    fn assigned(&mut self, rest: &'a str) {
        self.out.push('=');
        self.at += 1;
        let close = match rest[1..].bytes().next() {
            Some(b'(') => ')',
            Some(b'"') => '"',
            Some(b'\'') => '\'',
            _ => return,
        };
        let inside = &rest[2..];
        let most = inside.len().min(TOKEN_BYTES_MAX);
        let end = inside.bytes().take(most).position(|byte| byte == close as u8);
        if let Some(end) = end {
            self.out.push_str("<value>");
            self.at += end + 2;
        }
    }
}
