//! A change as a sentence: the subject, both numbers, since when, the version.

use super::detect::{Change, Kind};
use super::version::Relation;

/// Facts of a subject for its sentence.
#[derive(Debug, Clone, Copy)]
pub struct Card<'a> {
    /// Name of the subject.
    pub name: &'a str,
    /// Its changes, the most harmful first.
    pub changes: &'a [Change],
    /// The service of the subject; empty when unknown.
    pub service: &'a str,
    /// The version that carries the change, or began with it.
    pub version: Option<(&'a str, Relation)>,
    /// Titles of Issues that are new on the subject.
    pub issues: &'a [String],
    /// Subjects that call this one and are worse because of it.
    pub sufferers: &'a [String],
    /// The HTTP status of most refused requests.
    pub refused_with: Option<i64>,
    /// A subject that it calls more often since the change.
    pub calls_more: Option<&'a CallsMore>,
    /// The operation that slows it and the sufferers.
    pub slower_operation: Option<&'a SlowerOperation>,
}

/// An operation that adds time to requests of several subjects.
#[derive(Debug, Clone, PartialEq)]
pub struct SlowerOperation {
    /// Name of the operation.
    pub name: String,
    /// Service that runs or calls it; empty when unknown.
    pub service: String,
    /// Added time of a request, nanoseconds.
    pub added_ns: f64,
}

impl SlowerOperation {
    /// Whether both are the same operation of the same service.
    pub fn is_same(&self, other: &SlowerOperation) -> bool {
        (&self.name, &self.service) == (&other.name, &other.service)
    }
}

/// Calls of one subject to another, for each of its own requests.
#[derive(Debug, Clone, PartialEq)]
pub struct CallsMore {
    /// Name of the called subject.
    pub callee: String,
    /// Calls before the change.
    pub before: f64,
    /// Calls since then.
    pub after: f64,
}

/// The sentence of a card. `clock` formats a minute since the epoch as a time of day.
pub fn sentence(card: &Card<'_>, clock: impl Fn(i64) -> String) -> String {
    let Some(first) = card.changes.first() else { return String::new() };
    let effects: Vec<String> = card.changes.iter().map(|change| effect(change, card.refused_with)).collect();
    let since = card.changes.iter().map(|change| change.since).min().unwrap_or(first.since);
    let about = if card.changes.iter().all(|change| change.is_exact) { "" } else { "about " };
    let mut text = format!("{} {} since {about}{}", card.name, effects.join(" and "), clock(since));
    match card.version {
        Some((version, Relation::Carries)) => text += &format!("; version {version}{} carries it", of(card.service)),
        Some((version, Relation::BeganWith)) => {
            text += &format!("; it began when version {version}{} went live", of(card.service));
        }
        Some((_, Relation::Refuted)) | None => {}
    }
    text.push('.');
    if let Some(slower) = card.slower_operation {
        text += &format!(" {}{} takes {} more a request.", slower.name, of(&slower.service), duration(slower.added_ns));
    }
    if let Some(more) = card.calls_more {
        text += &format!(" It calls {} {} a request, before {}.", more.callee, times(more.after), times(more.before));
    }
    if let Some(failing) = card.changes.iter().find(|change| change.kind == Kind::Failing) {
        text += &more_failures(failing);
    }
    match card.issues {
        [] => {}
        [issue] => text += &format!(" New issue: {issue}."),
        issues => text += &format!(" New issues: {}.", issues.join(", ")),
    }
    match card.sufferers {
        [] => {}
        [caller] => text += &format!(" {caller} suffers."),
        callers => text += &format!(" {} suffer.", callers.join(", ")),
    }
    if let Some(end) = card.changes.iter().map(|change| change.recovered).collect::<Option<Vec<i64>>>() {
        let end = end.into_iter().max().unwrap_or(since);
        text += &format!(" Recovered at {} after {} min.", clock(end), end - since);
    }
    text
}

/// Shorter changes are told in counts: a rate would be extrapolated.
const RATED_MINUTES: i64 = 5;

/// Failed calls beyond the usual ones, an hour, or of a short change in all.
fn more_failures(failing: &Change) -> String {
    let is_rated = failing.minutes >= RATED_MINUTES;
    let hours = if is_rated { 1.0 } else { failing.minutes as f64 / 60.0 };
    let more = ((failing.after - failing.before).max(0.0) * failing.calls_an_hour * hours).round();
    if more < 1.0 {
        return String::new();
    }
    let calls = if more == 1.0 { "call" } else { "calls" };
    format!(" {more} more failed {calls}{}.", if is_rated { " an hour" } else { "" })
}

fn of(service: &str) -> String {
    if service.is_empty() { String::new() } else { format!(" of {service}") }
}

/// "once", "4 times", "never".
fn times(calls: f64) -> String {
    match number(calls).as_str() {
        "0" => "never".to_owned(),
        "1" => "once".to_owned(),
        count => format!("{count} times"),
    }
}

fn effect(change: &Change, refused_with: Option<i64>) -> String {
    let (before, after) = (change.before, change.after);
    match change.kind {
        Kind::Slower => slower("P50", before, after),
        Kind::SlowerTail => slower("P90", before, after),
        Kind::SlowShare => {
            let longer = duration(change.slow_ns);
            format!("is slow in {} of calls (longer than {longer}), before {},", percent(after), percent(before))
        }
        Kind::Dearer => {
            let ratio = after / before.max(f64::MIN_POSITIVE);
            let much = if ratio >= 1.95 { format!("{} times", number(ratio)) } else { percent(ratio - 1.0) };
            format!("costs {much} more per call ({} -> {})", dollars(before), dollars(after))
        }
        Kind::Failing => format!("fails in {} of calls, before {},", percent(after), percent(before)),
        Kind::Refusing => {
            let code = refused_with.map_or(String::new(), |code| format!(" ({code})"));
            format!("refuses {} of calls{code}, before {},", percent(after), percent(before))
        }
        Kind::Fewer if after <= 0.0 => format!("gets no calls (usually {} a minute)", number(before)),
        Kind::Fewer => {
            let share = percent(after / before.max(f64::MIN_POSITIVE));
            format!("gets {share} of its usual calls ({} a minute, usually {})", number(after), number(before))
        }
    }
}

fn slower(quantile: &str, before: f64, after: f64) -> String {
    let ratio = after / before.max(1.0);
    let much = if ratio >= 1.95 { format!("{} times", number(ratio)) } else { percent(ratio - 1.0) };
    format!("is {much} slower ({quantile} {} -> {})", duration(before), duration(after))
}

fn duration(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns >= 60e9 => (ns / 60e9, "min"),
        ns if ns >= 999.5e6 => (ns / 1e9, "s"),
        ns => (ns / 1e6, "ms"),
    };
    let text = if value < 10.0 && unit != "ms" { format!("{value:.2}") } else { number(value) };
    format!("{text} {unit}")
}

/// Two significant digits below ten cents.
fn dollars(dollars: f64) -> String {
    if dollars >= 0.1 {
        return format!("${dollars:.2}");
    }
    let digits = (1.0 - dollars.max(1e-9).log10().floor()).clamp(2.0, 9.0) as usize;
    format!("${dollars:.digits$}")
}

fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 0.1 { "below 0.1 %".to_owned() } else { format!("{} %", number(percent)) }
}

/// One decimal below ten, unless it is 0.
fn number(value: f64) -> String {
    if value >= 9.95 {
        return format!("{value:.0}");
    }
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}
