//! The sentences of notifications.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// The time of day of an RFC 3339 time in a zone, with the zone: `07:51 CEST`. Other text as it is.
pub(super) fn clock_in(at: &str, zone: &TimeZone) -> String {
    format_in(at, zone, "%H:%M %Z")
}

/// An RFC 3339 time in a zone, with the zone: `2026-06-01 07:51 CEST`. Other text as it is.
pub(super) fn time_in(at: &str, zone: &TimeZone) -> String {
    format_in(at, zone, "%Y-%m-%d %H:%M %Z")
}

fn format_in(at: &str, zone: &TimeZone, format: &str) -> String {
    let zoned = at.parse::<Timestamp>().map(|at| at.to_zoned(zone.clone()));
    zoned.map_or_else(|_| at.to_owned(), |zoned| zoned.strftime(format).to_string())
}

/// A number for people: at most two digits after the point, thousands with commas.
pub(super) fn number(value: f64) -> String {
    let rounded = if value.abs() >= 100.0 { value.round() } else { (value * 100.0).round() / 100.0 };
    let plain = format!("{rounded}");
    let (sign, digits) = plain.strip_prefix('-').map_or(("", plain.as_str()), |digits| ("-", digits));
    let (whole, rest) =
        digits.split_once('.').map_or((digits, String::new()), |(whole, rest)| (whole, format!(".{rest}")));
    let mut grouped = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{sign}{grouped}{rest}")
}

/// A duration of milliseconds.
pub(super) fn milliseconds(value: f64) -> String {
    if value >= 1000.0 { format!("{} s", number(value / 1000.0)) } else { format!("{} ms", number(value)) }
}

/// A value with its unit.
pub(super) fn with_unit(value: f64, unit: &str) -> String {
    match unit {
        "ms" => milliseconds(value),
        "USD" => format!("${}", number(value)),
        "" => number(value),
        unit => format!("{} {unit}", number(value)),
    }
}

/// Minutes in words.
pub(super) fn minutes(count: i64) -> String {
    match count {
        1 => "minute".to_owned(),
        1440 => "24 hours".to_owned(),
        count if count % 60 == 0 && count > 60 => format!("{} hours", count / 60),
        count => format!("{count} minutes"),
    }
}

/// A string in the path or the query of an address.
pub(super) fn escaped(part: &str) -> String {
    let mut escaped = String::new();
    for byte in part.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

/// One line of at most this many characters.
pub(super) fn line(subject: &str) -> String {
    const CHARACTERS_MAX: usize = 200;
    let one: String = subject.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if one.chars().count() <= CHARACTERS_MAX {
        return one;
    }
    let cut: String = one.chars().take(CHARACTERS_MAX - 1).collect();
    format!("{cut}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_short() {
        for (value, unit, expected) in [
            (12.345, "%", "12.35 %"),
            (0.5, "USD", "$0.5"),
            (1234567.0, "", "1,234,567"),
            (1500.0, "ms", "1.5 s"),
            (20.04, "ms", "20.04 ms"),
            (-1234.5, "", "-1,235"),
        ] {
            assert_eq!(with_unit(value, unit), expected);
        }
        let berlin = TimeZone::get("Europe/Berlin").expect("a zone");
        assert_eq!(clock_in("2026-06-01T05:51:00Z", &berlin), "07:51 CEST");
        assert_eq!(clock_in("2026-06-01T05:51:00Z", &TimeZone::UTC), "05:51 UTC");
        assert_eq!(time_in("2026-01-01T23:51:00Z", &berlin), "2026-01-02 00:51 CET");
        assert_eq!(time_in("no time", &berlin), "no time");
        assert_eq!(minutes(1), "minute");
        assert_eq!(minutes(120), "2 hours");
        assert_eq!(escaped("GET /a b"), "GET%20%2Fa%20b");
        assert_eq!(line(&"x".repeat(300)).chars().count(), 200);
    }
}
