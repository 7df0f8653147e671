//! Subjects that got worse, and the minutes of their changes in answers.

use tidewatch_domain::changes::Change;
use tidewatch_domain::units::MINUTE_NS;

use super::read::Subject;
use super::versions::Origin;
use crate::time;
use crate::views::changes::SentencePart;

/// An Issue that is new within this many minutes of a change belongs to it.
pub(super) const NEAR_MINUTES: u64 = 10;

/// A subject that got worse.
pub(super) struct Found<'a> {
    pub(super) subject: &'a Subject,
    /// The most harmful first; never empty.
    pub(super) changes: Vec<Change>,
    /// Since when it fails, also if that is over.
    pub(super) failing_since: Option<i64>,
    pub(super) origin: Origin,
}

/// A minute since the epoch in RFC 3339.
pub(super) fn minute(minute: i64) -> String {
    time::to_rfc3339(minute.saturating_mul(MINUTE_NS))
}

/// The time of day of a minute since the epoch, in UTC.
fn time_of_day(minute: i64) -> String {
    let of_day = minute.rem_euclid(24 * 60);
    format!("{:02}:{:02} UTC", of_day / 60, of_day % 60)
}

/// Enclose the minutes of a sentence while it is written. A name of telemetry with a number between them would be shown
/// as a time.
const MARKS: [char; 2] = ['\u{1}', '\u{2}'];

/// Writes a sentence. `write` gets the formatter of its times, minutes since the epoch.
pub(super) fn sentence_of(write: impl FnOnce(fn(i64) -> String) -> String) -> Vec<SentencePart> {
    let [begin, end] = MARKS;
    let text = write(|minute| format!("{begin}{minute}{end}", begin = MARKS[0], end = MARKS[1]));
    let mut parts = Vec::new();
    for (place, piece) in text.split(begin).enumerate() {
        let timed = piece.split_once(end).filter(|_| place > 0);
        let rest = match timed.and_then(|(at, rest)| Some((at.parse::<i64>().ok()?, rest))) {
            Some((at, rest)) => {
                parts.push(SentencePart { text: time_of_day(at), at: Some(minute(at)) });
                rest
            }
            None => piece,
        };
        if !rest.is_empty() {
            parts.push(SentencePart { text: rest.to_owned(), at: None });
        }
    }
    parts
}

/// The text of a sentence, with its times in UTC.
pub(super) fn text_of(parts: &[SentencePart]) -> String {
    parts.iter().map(|part| part.text.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_times_of_a_sentence_are_parts_of_their_own() {
        let parts = sentence_of(|clock| format!("GET /a is slower since {}. Recovered at {}.", clock(0), clock(61)));
        assert_eq!(text_of(&parts), "GET /a is slower since 00:00 UTC. Recovered at 01:01 UTC.");
        let times: Vec<Option<&str>> = parts.iter().map(|part| part.at.as_deref()).collect();
        assert_eq!(times, [None, Some("1970-01-01T00:00:00Z"), None, Some("1970-01-01T01:01:00Z"), None]);
        assert_eq!(text_of(&sentence_of(|_| "no times".to_owned())), "no times");
        assert_eq!(text_of(&sentence_of(|clock| format!("a\u{1}b since {}", clock(1)))), "ab since 00:01 UTC");
    }
}
