//! Redaction of the server's own spans, log lines and errors.
//!
//! - [`path`]: the path of a request in a span: the route's template with the values of [`SHOWN_PARAMETERS`] only.
//! - [`text`]: any other text. Credentials are recognized by their shape. Applied to every log line ([`Redacted`]).
//! - [`is_hidden`]: characters that names and log lines must not contain.
//!
//! A path parameter that is not listed shows its name (`tests/process/secrets.rs` requests every route).

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io;
use std::ops::Range;

use tracing_subscriber::fmt::MakeWriter;

/// Path parameters whose values are identifiers and not secrets. Other parameters are shown by name.
const SHOWN_PARAMETERS: [&str; 7] = ["hash", "id", "invitationId", "provider", "spanId", "traceId", "userId"];

/// Replacement of a credential.
const REDACTED: &str = "[redacted]";

/// Minimum number of characters of a credential after its prefix: `twi_`, `twr_`, ... have 64.
const TOKEN_CHARS_MIN: usize = 16;
/// Length of project and upload tokens: hexadecimal digits without a prefix.
const PROJECT_TOKEN_CHARS: usize = 32;

/// Returns a request's path as the server's own spans show it. `route` is its documented template, if it has one.
///
/// A path without a route may contain anything, so strings that look like project tokens are replaced there too.
pub fn path(route: Option<&str>, path: &str) -> String {
    let Some(route) = route else {
        let segments: Vec<Cow<'_, str>> = path
            .split('/')
            .map(|segment| if has_project_token(segment) { REDACTED.into() } else { text(segment) })
            .collect();
        return segments.join("/");
    };
    let mut values = path.split('/');
    let segments: Vec<Cow<'_, str>> = route
        .split('/')
        .map(|known| {
            let value = values.next().unwrap_or_default();
            let name = known.strip_prefix('{').and_then(|name| name.strip_suffix('}'));
            match name {
                Some(name) if SHOWN_PARAMETERS.contains(&name) => text(value),
                _ => known.into(),
            }
        })
        .collect();
    segments.join("/")
}

/// Replaces every credential of a known shape: prefixed tokens (`twi_...`), JSON Web Tokens, the credentials after
/// `Bearer` and `Basic`, and passwords in URLs (`https://user:password@host`).
pub fn text(text: &str) -> Cow<'_, str> {
    let mut out: Option<String> = None;
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = next_secret(text, at) {
        let out = out.get_or_insert_default();
        out.push_str(&text[copied..found.start]);
        out.push_str(REDACTED);
        copied = found.end;
        at = found.end;
    }
    match out {
        Some(mut out) => {
            out.push_str(&text[copied..]);
            out.into()
        }
        None => text.into(),
    }
}

/// Returns whether `c` is a control character, a line or paragraph separator, or changes the direction of text. With
/// these a name could display as another, or forge a line of a log or a header of a mail. All names in requests are
/// checked.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Removes hidden characters and truncates to `chars_max` characters.
pub fn plain(text: &str, chars_max: usize) -> String {
    text.chars().filter(|c| !is_hidden(*c)).take(chars_max).collect()
}

/// A log writer that removes credentials and escapes hidden characters.
///
/// `tracing-subscriber` writes each event with one call, so no credential is split over two writes.
#[derive(Debug, Clone, Copy)]
pub struct Redacted<W>(pub W);

impl<'a, W: MakeWriter<'a>> MakeWriter<'a> for Redacted<W> {
    type Writer = RedactedWriter<W::Writer>;

    fn make_writer(&'a self) -> Self::Writer {
        RedactedWriter(self.0.make_writer())
    }

    fn make_writer_for(&'a self, meta: &tracing::Metadata<'_>) -> Self::Writer {
        RedactedWriter(self.0.make_writer_for(meta))
    }
}

/// The writer of one event, created by [`Redacted`].
#[derive(Debug)]
pub struct RedactedWriter<W>(W);

impl<W: io::Write> io::Write for RedactedWriter<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.write_all(log_line(&String::from_utf8_lossy(line)).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Colors (`ESC`), tabs and line ends are written by the formatter, which escapes them in values.
fn log_line(line: &str) -> Cow<'_, str> {
    let is_foreign = |c: char| is_hidden(c) && !matches!(c, '\n' | '\t' | '\u{1b}');
    let line = text(line);
    if !line.contains(is_foreign) {
        return line;
    }
    let mut out = String::with_capacity(line.len());
    for c in line.chars() {
        match is_foreign(c) {
            true => drop(write!(out, "{}", c.escape_unicode())),
            false => out.push(c),
        }
    }
    out.into()
}

/// Finds the first credential that begins at `from` or later.
fn next_secret(text: &str, from: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    (from..bytes.len()).find_map(|at| {
        let starts_word = at == 0 || !bytes[at - 1].is_ascii_alphanumeric();
        match bytes[at] {
            b't' | b'e' | b'B' | b'b' if !starts_word => None,
            b't' => prefixed_token(bytes, at),
            b'e' => web_token(bytes, at),
            b'B' | b'b' => authorization(bytes, at),
            b':' => url_password(bytes, at),
            _ => None,
        }
    })
}

/// `twi_` and 16 or more letters and digits.
fn prefixed_token(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let rest = &bytes[at..];
    let has_prefix = rest.len() > 4 && rest.starts_with(b"tw") && rest[2].is_ascii_lowercase() && rest[3] == b'_';
    let end = at + 4 + run(rest.get(4..)?, |byte| byte.is_ascii_alphanumeric());
    (has_prefix && end - at - 4 >= TOKEN_CHARS_MIN).then_some(at..end)
}

/// `eyJ...`: base64url of `{"`, and the parts separated by dots.
fn web_token(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let length = run(&bytes[at..], is_part);
    let word = &bytes[at..at + length];
    (word.starts_with(b"eyJ") && word.contains(&b'.')).then_some(at..at + length)
}

/// The credential of `Bearer ...` or `Basic ...`, without the scheme.
fn authorization(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let scheme = ["bearer ", "basic "].into_iter().find(|scheme| {
        bytes.get(at..at + scheme.len()).is_some_and(|word| word.eq_ignore_ascii_case(scheme.as_bytes()))
    })?;
    let start = at + scheme.len();
    let length = run(&bytes[start..], |byte| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte));
    (length >= TOKEN_CHARS_MIN).then_some(start..start + length)
}

/// `user:password` of `://user:password@host`.
fn url_password(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let start = at + 3;
    if !bytes[at..].starts_with(b"://") {
        return None;
    }
    let length = run(&bytes[start..], |byte| byte.is_ascii_graphic() && !b"/@?#".contains(&byte));
    let userinfo = &bytes[start..start + length];
    (bytes.get(start + length) == Some(&b'@') && userinfo.contains(&b':')).then_some(start..start + length)
}

fn run(bytes: &[u8], belongs: impl Fn(u8) -> bool) -> usize {
    bytes.iter().take_while(|byte| belongs(**byte)).count()
}

fn has_project_token(segment: &str) -> bool {
    let words = segment.split(|c: char| !c.is_ascii_alphanumeric());
    words.into_iter().any(|word| word.len() >= PROJECT_TOKEN_CHARS && word.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TOKEN: &str = "twr_91c5d6a291c5d6a291c5d6a291c5d6a291c5d6a291c5d6a291c5d6a291c5d6a2";
    const PROJECT: &str = "0af7651916cd43dd8448eb211c80319c";

    #[test]
    fn a_span_shows_identifiers_and_no_secret() {
        for (route, request, expected) in [
            (Some("/api/login"), "/api/login", "/api/login"),
            (Some("/api/password-reset/{token}"), "/api/password-reset/short", "/api/password-reset/{token}"),
            (Some("/api/invitations/{token}/accept"), "/api/invitations/x/accept", "/api/invitations/{token}/accept"),
            (Some("/api/heartbeats/{key}"), "/api/heartbeats/x", "/api/heartbeats/{key}"),
            (Some("/api/organizations/{id}/sso"), "/api/organizations/7/sso", "/api/organizations/7/sso"),
            (Some("/api/traces/{traceId}"), &format!("/api/traces/{PROJECT}"), &format!("/api/traces/{PROJECT}")),
            (Some("/api/traces/{traceId}"), &format!("/api/traces/{TOKEN}"), "/api/traces/[redacted]"),
            (None, "/issues/7", "/issues/7"),
            (None, &format!("/api/otel/v1/{PROJECT}/traces"), "/api/otel/v1/[redacted]/traces"),
            (None, &format!("/password-reset/{TOKEN}/"), "/password-reset/[redacted]/"),
        ] {
            assert_eq!(path(route, request), expected, "{request}");
        }
    }

    #[test]
    fn credentials_are_recognized_by_their_shape() {
        for (given, expected) in [
            ("two_factor.enable of two_factor_required", "two_factor.enable of two_factor_required"),
            (TOKEN, "[redacted]"),
            (&format!("a {TOKEN}, b"), "a [redacted], b"),
            ("eyJhbGciOiJIUzI1NiJ9.eyJ1c2VySWQiOjF9.c2ln!", "[redacted]!"),
            ("authorization: Bearer 0af7651916cd43dd8448eb211c80319c", "authorization: Bearer [redacted]"),
            ("bearer of bad news", "bearer of bad news"),
            ("postgres://tide:s3cret@db/tide", "postgres://[redacted]@db/tide"),
            ("https://example.com:8443/a@b", "https://example.com:8443/a@b"),
            ("eye", "eye"),
            ("ä://é", "ä://é"),
        ] {
            assert_eq!(text(given), expected, "{given}");
        }
        assert_eq!(log_line("a\u{202e}b\r\n"), "a\\u{202e}b\\u{d}\n");
    }

    #[test]
    fn hidden_characters_are_found_and_removed() {
        for c in ['\0', '\u{1b}', '\u{7f}', '\u{85}', '\u{200f}', '\u{2028}', '\u{202e}', '\u{2066}', '\u{feff}'] {
            assert!(is_hidden(c), "{c:?}");
        }
        // Joiners shape letters and emoji.
        for c in ['a', ' ', 'ä', '漢', '\u{200d}', '\u{200c}', '🏳'] {
            assert!(!is_hidden(c), "{c:?}");
        }
        assert_eq!(plain("a\u{202e}\r\nb\u{2028}cd", 3), "abc");
    }

    proptest! {
        #[test]
        fn nothing_panics_and_no_token_remains(before in ".{0,20}", after in "[^A-Za-z0-9].{0,20}", outside in ".{0,60}") {
            // After a letter or digit it would be part of another word.
            let known = format!("{before} {TOKEN}{after}");
            prop_assert!(!text(&known).contains("twr_91c5"), "{}", text(&known));
            prop_assert!(!path(None, &known).contains("twr_91c5"), "{}", path(None, &known));
            let once = text(&outside).into_owned();
            prop_assert_eq!(text(&once).into_owned(), once);
            path(Some("/a/{id}/{token}"), &outside);
        }
    }
}
