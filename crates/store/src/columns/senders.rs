//! The processes that sent the records of a request. Records are counted by sender and minute with the request, so that
//! a query of senders reads no telemetry rows.
//!
//! The number of senders of one minute is bounded.

use std::ops::Range;

use tidewatch_domain::model::Attributes;

/// Separates the fields of a sender in the column `reason` of [`crate::tables::Table::IngestCounts`].
const SEPARATOR: char = '\u{1f}';

/// Characters kept of each field.
const FIELD_CHARS_MAX: usize = 200;

/// The resource attributes that identify a process; a field is empty when the resource has no such attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sender<'a> {
    /// The value of the column `server_name`.
    pub service: &'a str,
    /// `telemetry.sdk.language`.
    pub language: &'a str,
    /// `telemetry.sdk.name`.
    pub sdk: &'a str,
    /// `telemetry.sdk.version`.
    pub sdk_version: &'a str,
    /// `service.version`.
    pub version: &'a str,
    /// `deployment.environment.name`, else `deployment.environment`. Rows of older releases have none.
    pub environment: &'a str,
}

/// The environment of a resource: `deployment.environment.name`, else `deployment.environment`; empty when it has
/// neither.
pub(super) fn environment_of<'a>(resource: Attributes<'_, 'a>) -> &'a str {
    let text = |key| resource.text(key).unwrap_or("");
    match text("deployment.environment.name") {
        "" => text("deployment.environment"),
        name => name,
    }
}

impl<'a> Sender<'a> {
    /// Parses a `reason` that [`Sender::write`] wrote. Never fails: missing fields are empty.
    pub fn parse(text: &'a str) -> Sender<'a> {
        let mut fields = text.split(SEPARATOR);
        let mut next = || fields.next().unwrap_or("");
        let (service, language, sdk, sdk_version) = (next(), next(), next(), next());
        Sender { service, language, sdk, sdk_version, version: next(), environment: next() }
    }

    fn of(service: &'a str, resource: Attributes<'_, 'a>) -> Sender<'a> {
        let text = |key| resource.text(key).unwrap_or("");
        Sender {
            service,
            language: text("telemetry.sdk.language"),
            sdk: text("telemetry.sdk.name"),
            sdk_version: text("telemetry.sdk.version"),
            version: text("service.version"),
            environment: environment_of(resource),
        }
    }

    fn write(&self, out: &mut String) {
        let Sender { service, language, sdk, sdk_version, version, environment } = *self;
        let fields = [service, language, sdk, sdk_version, version, environment];
        for (place, field) in fields.into_iter().enumerate() {
            if place > 0 {
                out.push(SEPARATOR);
            }
            // Nearly every field is short and clean.
            if field.len() <= FIELD_CHARS_MAX && !field.as_bytes().contains(&(SEPARATOR as u8)) {
                out.push_str(field);
            } else {
                out.extend(field.chars().filter(|c| *c != SEPARATOR).take(FIELD_CHARS_MAX));
            }
        }
    }
}

/// The stored records of a request by sender.
#[derive(Debug, Clone, Default)]
pub struct Senders {
    /// The `reason` of every run, concatenated.
    strings: String,
    runs: Vec<SenderRun>,
}

/// Consecutive stored records of one sender.
#[derive(Debug, Clone)]
struct SenderRun {
    resource: u32,
    /// From the first record to the last; may include records that are not stored.
    records: Range<u32>,
    stored: u32,
    /// The earliest time of its records, nanoseconds since the epoch.
    first_ns: i64,
    /// The run's range of `strings`.
    text: Range<usize>,
}

impl Senders {
    /// Groups records by sender. `stored`: the records that are stored, ascending, each with its resource, the name of
    /// its service and its time in nanoseconds since the epoch; consecutive equal records count once. `attributes`
    /// returns those of a resource.
    pub fn new<'a, 'b>(
        stored: impl Iterator<Item = (u32, u32, &'a str, i64)>,
        attributes: impl Fn(u32) -> Attributes<'b, 'a>,
    ) -> Senders
    where
        'a: 'b,
    {
        let mut senders = Senders::default();
        for (record, resource, service, time_ns) in stored {
            match senders.runs.last_mut() {
                Some(run) if run.resource == resource => {
                    run.stored += u32::from(record >= run.records.end);
                    run.records.end = record + 1;
                    // Not `min`: the unoptimized build that counts instructions does not inline it.
                    if time_ns < run.first_ns {
                        run.first_ns = time_ns;
                    }
                }
                _ => {
                    let start = senders.strings.len();
                    Sender::of(service, attributes(resource)).write(&mut senders.strings);
                    let text = start..senders.strings.len();
                    let records = record..record + 1;
                    senders.runs.push(SenderRun { resource, records, stored: 1, first_ns: time_ns, text });
                }
            }
        }
        senders
    }

    /// Adds the senders of other records of the same request; `base`: the number of records before them.
    pub fn append(&mut self, other: Senders, base: u32) {
        let offset = self.strings.len();
        self.strings.push_str(&other.strings);
        self.runs.extend(other.runs.into_iter().map(|run| SenderRun {
            records: run.records.start + base..run.records.end + base,
            text: run.text.start + offset..run.text.end + offset,
            ..run
        }));
    }

    /// Senders with a version, each with the earliest time of its records in nanoseconds since the epoch. A sender can
    /// occur more than once.
    pub fn versions(&self) -> impl Iterator<Item = (Sender<'_>, i64)> {
        let parsed = self.runs.iter().map(|run| (Sender::parse(&self.strings[run.text.clone()]), run.first_ns));
        parsed.filter(|(sender, _)| !sender.version.is_empty())
    }

    /// Senders, each encoded for [`Sender::parse`], with the number of their stored records. A sender can occur more
    /// than once. `is_stored`: whether a record is stored; `None`: every record that has rows is.
    pub fn counts(&self, is_stored: Option<impl Fn(usize) -> bool>) -> impl Iterator<Item = (&str, u64)> {
        self.runs.iter().map(move |run| {
            let count = match &is_stored {
                None => u64::from(run.stored),
                Some(is_stored) => run.records.clone().filter(|record| is_stored(*record as usize)).count() as u64,
            };
            (&self.strings[run.text.clone()], count)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidewatch_domain::model::{AnyValue, KeyValue};

    fn attribute(key: &'static str, value: &'static str) -> KeyValue<'static> {
        KeyValue { key, value: AnyValue::Str(value) }
    }

    #[test]
    fn a_written_sender_is_parsed_back() {
        let resource = [
            attribute("telemetry.sdk.language", "go"),
            attribute("telemetry.sdk.name", "opentelemetry"),
            attribute("telemetry.sdk.version", "1.3\u{1f}7.0"),
            attribute("service.version", " "),
            attribute("deployment.environment", "old"),
            attribute("deployment.environment.name", "production"),
        ];
        let mut text = String::new();
        Sender::of("cart", Attributes(&resource)).write(&mut text);
        let expected = Sender {
            service: "cart",
            language: "go",
            sdk: "opentelemetry",
            sdk_version: "1.37.0",
            version: "",
            environment: "production",
        };
        assert_eq!(Sender::parse(&text), expected);
        assert_eq!(Sender::parse(""), Sender::default());
        assert_eq!(Sender::parse("(other)").service, "(other)");
        let long = "ü".repeat(FIELD_CHARS_MAX + 1);
        text.clear();
        Sender { service: &long, ..Sender::default() }.write(&mut text);
        assert_eq!(Sender::parse(&text).service.chars().count(), FIELD_CHARS_MAX);
    }

    #[test]
    fn records_are_counted_by_sender() {
        let resources = [[attribute("service.version", "1")], [attribute("service.version", "2")]];
        // Record 1 is not stored; the values of point 4 are adjacent.
        let stored = [(0, 0, "a", 9), (2, 0, "a", 7), (3, 1, "b", 5), (4, 1, "b", 6), (4, 1, "b", 6), (5, 0, "a", 3)];
        let senders = Senders::new(stored.into_iter(), |resource| Attributes(&resources[resource as usize]));
        let versions: Vec<(&str, i64)> = senders.versions().map(|(sender, first)| (sender.version, first)).collect();
        assert_eq!(versions, [("1", 7), ("2", 5), ("1", 3)]);
        let counts = |is_stored: Option<&dyn Fn(usize) -> bool>| -> Vec<(String, u64)> {
            let counted = senders.counts(is_stored);
            counted.map(|(text, count)| (Sender::parse(text).service.to_owned(), count)).collect()
        };
        let named = |list: [(&str, u64); 3]| list.map(|(name, count)| (name.to_owned(), count)).to_vec();
        assert_eq!(counts(None), named([("a", 2), ("b", 2), ("a", 1)]));
        assert_eq!(counts(Some(&|record| record != 1 && record > 2)), named([("a", 0), ("b", 2), ("a", 1)]));
    }
}
