//! Shifts as an iCalendar feed. RFC 5545.

use super::schedule::Shift;
use super::zone::timestamp;

/// A shift in the feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Id of the schedule.
    pub schedule: i64,
    /// Name of the schedule.
    pub name: String,
    /// The shift.
    pub shift: Shift,
}

/// The feed. `host` distinguishes the ids of events of different servers.
pub fn feed(host: &str, events: &[Event], now_ns: i64) -> String {
    let mut lines = vec![
        "BEGIN:VCALENDAR".to_owned(),
        "VERSION:2.0".to_owned(),
        "PRODID:-//Tidewatch//On-call//EN".to_owned(),
        "CALSCALE:GREGORIAN".to_owned(),
        "METHOD:PUBLISH".to_owned(),
        "X-WR-CALNAME:On-call".to_owned(),
        "REFRESH-INTERVAL;VALUE=DURATION:PT1H".to_owned(),
    ];
    for Event { schedule, name, shift } in events {
        let user = shift.user;
        lines.extend([
            "BEGIN:VEVENT".to_owned(),
            format!("UID:oncall-{schedule}-{user}-{}@{}", stamp(shift.start_ns), escaped(host)),
            format!("DTSTAMP:{}", stamp(now_ns)),
            format!("DTSTART:{}", stamp(shift.start_ns)),
            format!("DTEND:{}", stamp(shift.end_ns)),
            format!("SUMMARY:On call: {}{}", escaped(name), if shift.is_override { " (override)" } else { "" }),
            "TRANSP:TRANSPARENT".to_owned(),
            "END:VEVENT".to_owned(),
        ]);
    }
    lines.push("END:VCALENDAR".to_owned());
    lines.iter().map(|line| folded(line)).collect()
}

fn stamp(at_ns: i64) -> String {
    timestamp(at_ns).strftime("%Y%m%dT%H%M%SZ").to_string()
}

/// RFC 5545, 3.3.11.
fn escaped(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for c in value.chars() {
        match c {
            '\\' | ';' | ',' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

/// RFC 5545, 3.1: lines of at most 75 bytes, continued after a space.
fn folded(line: &str) -> String {
    let mut out = String::with_capacity(line.len() + 2);
    let mut length = 0;
    for c in line.chars() {
        if length + c.len_utf8() > 75 {
            out.push_str("\r\n ");
            length = 1;
        }
        out.push(c);
        length += c.len_utf8();
    }
    out.push_str("\r\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_add_lines_and_long_lines_are_folded() {
        let shift = Shift { user: 3, start_ns: 0, end_ns: 3_600_000_000_000, is_override: true };
        let name = format!("a, b; c\\d\nEND:VCALENDAR\r{}", "\u{e9}".repeat(60));
        let feed = feed("tide.example.com", &[Event { schedule: 7, name, shift }], 1_000_000_000);
        assert!(feed.lines().all(|line| line.len() <= 75), "{feed}");
        assert!(feed.split_inclusive('\n').all(|line| line.ends_with("\r\n")));
        let joined = feed.replace("\r\n ", "");
        let summary = joined.lines().find(|line| line.starts_with("SUMMARY")).expect("a summary");
        let expected = format!("SUMMARY:On call: a\\, b\\; c\\\\d\\nEND:VCALENDAR{} (override)", "\u{e9}".repeat(60));
        assert_eq!(summary, expected);
        assert!(joined.contains("UID:oncall-7-3-19700101T000000Z@tide.example.com\r\n"));
        assert!(joined.contains("DTSTART:19700101T000000Z\r\nDTEND:19700101T010000Z\r\n"));
        assert_eq!(joined.matches("END:VCALENDAR\r\n").count(), 1);
    }
}
