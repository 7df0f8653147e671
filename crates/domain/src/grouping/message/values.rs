//! Forms of values: each function returns the length of the value at the start of a text.

use crate::frames::text::is_hex;

/// Whether a value of this length is not glued to a letter, a digit or an underscore.
pub(super) fn ends(rest: &str, length: usize) -> bool {
    rest[length..].chars().next().is_none_or(|next| !next.is_alphanumeric() && next != '_')
}

pub(super) fn uuid(bytes: &[u8]) -> Option<usize> {
    let uuid = bytes.get(..36)?;
    let is_uuid = uuid.iter().enumerate().all(|(at, byte)| match at {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    });
    let is_end = bytes.get(36).is_none_or(|next| !next.is_ascii_alphanumeric());
    (is_uuid && is_end).then_some(36)
}

/// 26 letters and digits of Crockford's alphabet, with a digit.
pub(super) fn is_ulid(word: &str) -> bool {
    let is_letter =
        |byte: u8| byte.is_ascii_digit() || byte.is_ascii_uppercase() && !matches!(byte, b'I' | b'L' | b'O' | b'U');
    word.bytes().all(is_letter) && word.bytes().any(|byte| byte.is_ascii_digit())
}

/// 8 to 128 hexadecimal digits in one case, with a digit and a letter.
pub(super) fn is_identifier(word: &str) -> bool {
    (8..=128).contains(&word.len())
        && is_hex(word, 8)
        && word.bytes().any(|byte| byte.is_ascii_digit())
        && word.bytes().any(|byte| byte.is_ascii_alphabetic())
        && !(word.bytes().any(|byte| byte.is_ascii_lowercase()) && word.bytes().any(|byte| byte.is_ascii_uppercase()))
}

pub(super) fn email(rest: &str) -> Option<usize> {
    let is_local = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'%' | b'+' | b'-');
    let local = rest.bytes().take(64).take_while(is_local).count();
    let after = rest[local..].strip_prefix('@')?;
    let is_host = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
    let host = after.bytes().take(255).take_while(is_host).count();
    let host = after[..host].trim_end_matches(['.', '-']);
    let (_, top) = host.rsplit_once('.')?;
    (top.len() >= 2 && top.bytes().all(|byte| byte.is_ascii_alphabetic())).then_some(local + 1 + host.len())
}

/// The length of a pattern: `0` is a digit, other bytes are themselves.
fn like(bytes: &[u8], pattern: &str) -> bool {
    bytes.len() >= pattern.len()
        && pattern
            .bytes()
            .zip(bytes)
            .all(|(expected, byte)| if expected == b'0' { byte.is_ascii_digit() } else { expected == *byte })
}

/// A time of a day: `HH:MM[:SS[.fraction]]` and its zone.
fn time(bytes: &[u8], needs_seconds: bool) -> Option<usize> {
    let mut at = if like(bytes, "00:00:00") {
        8
    } else if !needs_seconds && like(bytes, "00:00") {
        5
    } else {
        return None;
    };
    if matches!(bytes.get(at), Some(b'.' | b',')) {
        let digits = bytes[at + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        at += if digits > 0 { digits + 1 } else { 0 };
    }
    let zone = &bytes[at..];
    at += match zone.first() {
        Some(b'Z') => 1,
        Some(b'+' | b'-') if like(&zone[1..], "00:00") => 6,
        Some(b'+' | b'-') if like(&zone[1..], "0000") => 5,
        _ => 0,
    };
    Some(at)
}

pub(super) fn date(rest: &str) -> Option<usize> {
    let bytes = rest.as_bytes();
    if like(bytes, "0000-00-00") || like(bytes, "0000/00/00") {
        let mut at = 10;
        if matches!(bytes.get(10), Some(b'T' | b' ')) {
            at += time(&bytes[11..], false).map_or(0, |length| length + 1);
        }
        return ends(rest, at).then_some(at);
    }
    if let Some(length) = time(bytes, true) {
        return Some(length);
    }
    // `Sat, 28 Nov 2026 10:00:00 GMT`, `Sat Nov 28 10:00:00 2026`.
    const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let day = rest.get(..3).filter(|day| DAYS.contains(day))?;
    let mut at = day.len();
    let mut has_month = false;
    for _ in 0..6 {
        let blanks = bytes[at..].iter().take_while(|byte| matches!(byte, b',' | b' ')).count();
        let next = at + blanks;
        let word = bytes[next..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let text = rest.get(next..next + word).unwrap_or("");
        let length = match text {
            "GMT" | "UTC" => word,
            _ if MONTHS.contains(&text) => {
                has_month = true;
                word
            }
            _ => match time(&bytes[next..], true) {
                Some(length) => length,
                None if word > 0 && word <= 4 && text.bytes().all(|byte| byte.is_ascii_digit()) => word,
                None => break,
            },
        };
        at = next + length;
    }
    (has_month && rest.is_char_boundary(at)).then_some(at)
}

/// `N.N.N.N[:PORT]`.
pub(super) fn ipv4(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    for part in 0..4 {
        let digits = bytes[at..].iter().take(4).take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 || digits > 3 {
            return None;
        }
        at += digits;
        if part < 3 {
            if bytes.get(at) != Some(&b'.') {
                return None;
            }
            at += 1;
        }
    }
    if bytes.get(at).is_some_and(|next| next.is_ascii_alphanumeric()) || like(&bytes[at..], ".0") {
        return None;
    }
    Some(at + port(&bytes[at..]))
}

fn port(bytes: &[u8]) -> usize {
    let digits = bytes.get(1..).map_or(0, |rest| rest.iter().take(6).take_while(|byte| byte.is_ascii_digit()).count());
    if bytes.first() == Some(&b':') && (1..=5).contains(&digits) { digits + 1 } else { 0 }
}

/// `2001:db8::17` or `[2001:db8::17]:443`: at least two colons, a digit, and nothing but hexadecimal digits.
pub(super) fn ipv6(rest: &str) -> Option<usize> {
    let inside = rest.strip_prefix('[').unwrap_or(rest);
    let is_bracketed = inside.len() < rest.len();
    let length =
        inside.bytes().take(48).take_while(|byte| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.')).count();
    let address = inside[..length].trim_end_matches('.');
    let address = if is_bracketed { address } else { address.trim_end_matches(':') };
    let groups = address.split(':');
    let is_address = address.bytes().filter(|byte| *byte == b':').count() >= 2
        && groups.clone().all(|group| group.len() <= 4 || group.contains('.'))
        && address.bytes().any(|byte| byte.is_ascii_digit());
    if !is_address {
        return None;
    }
    let after = &inside[address.len()..];
    if is_bracketed {
        let after = after.strip_prefix(']')?;
        return Some(address.len() + 2 + port(after.as_bytes()));
    }
    after.chars().next().is_none_or(|next| !next.is_alphanumeric()).then_some(address.len())
}

/// `1.52s`, `2m3.5s`, `350ms`.
pub(super) fn duration(rest: &str) -> Option<usize> {
    const UNITS: [&str; 9] = ["ns", "us", "µs", "ms", "min", "s", "m", "h", "d"];
    let mut at = 0;
    for _ in 0..6 {
        let tail = &rest[at..];
        let digits = tail.bytes().take(20).take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
        if digits == 0 {
            break;
        }
        let blank = usize::from(tail[digits..].starts_with(' ') && at == 0);
        let unit = &tail[digits + blank..];
        let found = UNITS.iter().find(|one| unit.starts_with(**one))?;
        // `17 s` is a duration, `17 months` is a number.
        if blank > 0 && !ends(unit, found.len()) {
            return None;
        }
        at += digits + blank + found.len();
        if ends(rest, at) {
            return Some(at);
        }
    }
    None
}

/// A number with decimals, separators and exponent, also a version. Not glued to a letter.
pub(super) fn number(rest: &str) -> Option<usize> {
    let bytes = rest.as_bytes();
    if !bytes.first().is_some_and(u8::is_ascii_digit) {
        return None;
    }
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let is_inside = byte.is_ascii_digit()
            || matches!(byte, b'.' | b',' | b'_') && bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
        if !is_inside {
            break;
        }
        at += 1;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let digits = bytes
            .get(at + 1 + sign..)
            .map_or(0, |rest| rest.iter().take(4).take_while(|byte| byte.is_ascii_digit()).count());
        if digits > 0 && ends(rest, at + 1 + sign + digits) {
            return Some(at + 1 + sign + digits);
        }
    }
    ends(rest, at).then_some(at)
}

/// `-7d9f8b6c5d-x2x4z` of a pod of Kubernetes.
pub(super) fn pod(rest: &str) -> Option<usize> {
    let bytes = rest.as_bytes();
    let is_letter = |byte: &&u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let set = bytes[1..].iter().take(11).take_while(is_letter).count();
    if !(8..=10).contains(&set) || bytes.get(1 + set) != Some(&b'-') || !bytes[1..=set].iter().any(u8::is_ascii_digit) {
        return None;
    }
    let own = bytes[2 + set..].iter().take(6).take_while(is_letter).count();
    (own == 5 && ends(rest, 7 + set)).then_some(7 + set)
}

/// `@1a2b3c` of a printed object.
pub(super) fn object(rest: &str) -> Option<usize> {
    let digits = rest[1..].bytes().take(17).take_while(u8::is_ascii_hexdigit).count();
    ((5..=16).contains(&digits) && rest[1..=digits].bytes().any(|byte| byte.is_ascii_digit()) && ends(rest, digits + 1))
        .then_some(digits + 1)
}
