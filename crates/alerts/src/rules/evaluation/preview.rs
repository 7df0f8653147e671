//! A rule over the last seven days: its values, and the moments at which it would have fired.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Number;
use tidewatch_domain::units::{DAY_NS, HOUR_NS, MINUTE_NS};
use tidewatch_limits as limits;
use tidewatch_query::error::QueryError;
use tidewatch_query::executor::Executor;
use tidewatch_query::time::{self, Range};
use tidewatch_query::time_windows::{self, Windows};
use tidewatch_query::views::page::ValuePoint;

use super::measure::Source;
use super::{Measured, SharedProject, absent};
use crate::channels::Severity;
use crate::rules::config::{RuleConfig, Trigger, matches};
use crate::rules::state::{Outcome, Seen, Terms, step};
use crate::rules::views::{RuleFiring, RulePreview, RuleSeverity};
use crate::rules::words::{line, with_unit};
use crate::rules::{RuleState, severity};

/// Time of a preview, nanoseconds.
const SPAN: i64 = 7 * DAY_NS;
/// Windows of a day are measured this often.
const DAILY_STEP: i64 = 6 * HOUR_NS;
/// Narrowest window of a preview.
const WINDOW_MIN: i64 = 5 * MINUTE_NS;

/// A moment, what happened, and how bad it is.
type Moment = (i64, String, Severity);

/// Draws a rule over the last seven days. Narrow windows are widened to five minutes.
pub async fn preview(
    executor: Executor,
    project: SharedProject,
    config: &RuleConfig,
    cooldown_minutes: i64,
) -> Result<RulePreview, QueryError> {
    let now = executor.context.clock.now_ns();
    let (points, moments) = match config.trigger() {
        Trigger::Poll => polled(executor, project, config, cooldown_minutes, now).await?,
        Trigger::Arrival => arrived(&executor, &project, config, cooldown_minutes, now).await?,
        Trigger::Monitor => (Vec::new(), Vec::new()),
    };
    let point =
        |(at, value): (i64, f64)| Some(ValuePoint { timestamp: time::to_rfc3339(at), value: Number::from_f64(value)? });
    let firing = |(at, subject, severity): &Moment| RuleFiring {
        timestamp: time::to_rfc3339(*at),
        subject: line(subject),
        severity: match severity {
            Severity::Info => RuleSeverity::Info,
            Severity::Warning => RuleSeverity::Warning,
            Severity::Critical => RuleSeverity::Critical,
        },
    };
    let shown = moments.len().saturating_sub(limits::RULE_PREVIEW_FIRINGS_MAX);
    Ok(RulePreview {
        series: points.into_iter().filter_map(point).collect(),
        threshold: config.threshold(),
        unit: config.unit().to_owned(),
        firings: moments[shown..].iter().map(firing).collect(),
        count: moments.len() as u64,
    })
}

async fn polled(
    executor: Executor,
    project: SharedProject,
    config: &RuleConfig,
    cooldown_minutes: i64,
    now: i64,
) -> Result<(Vec<(i64, f64)>, Vec<Moment>), QueryError> {
    let mut source = Source::new(executor, project);
    let to = now - now.rem_euclid(MINUTE_NS);
    // By the end of the window.
    let mut measured: BTreeMap<i64, Vec<Measured>> = BTreeMap::new();
    if let RuleConfig::Change(_) = config {
        let windows = Windows { from: to - MINUTE_NS, width: MINUTE_NS, count: 1 };
        measured.insert(to, source.measure(config, windows).await?);
    } else if let RuleConfig::Impact(..) = config {
        for step in 0..=SPAN / DAILY_STEP {
            let end = to - SPAN + step * DAILY_STEP;
            let windows = Windows { from: end - DAY_NS, width: DAY_NS, count: 1 };
            measured.insert(end, source.measure(config, windows).await?);
        }
    } else {
        let width = config.lookback_minutes().saturating_mul(MINUTE_NS).max(WINDOW_MIN);
        let count = (SPAN / width).clamp(1, limits::RULE_PREVIEW_POINTS_MAX);
        let windows = Windows { from: to - count * width, width, count };
        // In windows without data alerts end too.
        measured.extend((0..count).map(|window| (windows.end(window), Vec::new())));
        for measurement in source.measure(config, windows).await? {
            measured.entry(windows.end(measurement.window)).or_default().push(measurement);
        }
    }
    let terms = Terms {
        for_ns: config.for_minutes().saturating_mul(MINUTE_NS),
        cooldown_ns: cooldown_minutes.saturating_mul(MINUTE_NS),
        is_snoozed: false,
    };
    let mut states: HashMap<String, RuleState> = HashMap::new();
    let (mut points, mut moments, mut subjects) = (Vec::new(), Vec::<Moment>::new(), Vec::new());
    let is_impact = matches!(config, RuleConfig::Impact(..));
    let mut is_first = true;
    for (end, found) in measured {
        if let Some(value) = nearest(config, &found) {
            points.push((end, value));
        }
        let mut seen_subjects: HashSet<&str> = HashSet::new();
        for measurement in &found {
            seen_subjects.insert(&measurement.subject);
            let severity = severity::automatic(config, measurement.value.unwrap_or(0.0));
            let seen = match measurement.value {
                None => Seen::NoData,
                Some(_) if measurement.breaches => Seen::Breach(severity),
                Some(_) => Seen::Fine,
            };
            let (after, outcome) = step(states.get(&measurement.subject), seen, terms, end);
            set(&mut states, &measurement.subject, after);
            // What is above from the beginning makes no transition.
            if let Outcome::Fire(severity) = outcome
                && !(is_impact && is_first)
            {
                moments.push((end, measurement.title.clone(), severity));
                subjects.push(measurement.subject.clone());
            }
        }
        let others: Vec<String> =
            states.keys().filter(|subject| !seen_subjects.contains(subject.as_str())).cloned().collect();
        for subject in others {
            let after = step(states.get(&subject), absent::seen(config), terms, end).0;
            set(&mut states, &subject, after);
        }
        is_first = false;
    }
    if let RuleConfig::IssueSpike(_) = config {
        for (moment, hash) in moments.iter_mut().zip(&subjects).rev().take(TITLES_MAX) {
            moment.1 = source.titled(hash, &moment.1).await;
        }
    }
    Ok((points, moments))
}

fn set(states: &mut HashMap<String, RuleState>, subject: &str, after: Option<RuleState>) {
    match after {
        Some(after) => {
            states.insert(subject.to_owned(), after);
        }
        None => {
            states.remove(subject);
        }
    }
}

/// Of several subjects the value that is nearest to the threshold, or furthest beyond it.
fn nearest(config: &RuleConfig, found: &[Measured]) -> Option<f64> {
    let values = found.iter().filter_map(|measurement| measurement.value);
    if matches!(config, RuleConfig::ApdexDrop(_)) { values.reduce(f64::min) } else { values.reduce(f64::max) }
}

async fn arrived(
    executor: &Executor,
    project: &SharedProject,
    config: &RuleConfig,
    cooldown_minutes: i64,
    now: i64,
) -> Result<(Vec<(i64, f64)>, Vec<Moment>), QueryError> {
    let number = project.number;
    let range = Range { from: now.saturating_sub(SPAN), to: now };
    let cooldown_ns = cooldown_minutes.saturating_mul(MINUTE_NS);
    let mut moments: Vec<Moment> = Vec::new();
    // Values at moments, and how those of an hour are combined.
    let mut values: Vec<(i64, f64)> = Vec::new();
    let mut combine: fn(f64, f64) -> f64 = |one, other| one + other;
    match config {
        RuleConfig::NewError(rule) => {
            let found = time_windows::first_seen(executor, number, range).await?;
            // Titles are read one by one.
            let shown = found.len().saturating_sub(TITLES_MAX);
            for (index, (hash, at)) in found.iter().enumerate() {
                values.push((*at, 1.0));
                let title = if index >= shown {
                    time_windows::issue_title(executor, number, *hash).await?
                } else {
                    tidewatch_query::ids::format_hash(*hash)
                };
                if !rule.ignores(&title) {
                    moments.push((*at, format!("New Issue: {title}"), severity::automatic(config, 1.0)));
                }
            }
        }
        RuleConfig::ErrorRegression(_) => {
            for (hash, _, decided) in time_windows::regressed(executor, number, None).await? {
                let title = time_windows::issue_title(executor, number, hash).await?;
                let at = decided.max(range.from);
                values.push((at, 1.0));
                moments.push((at, format!("Issue is back: {title}"), severity::automatic(config, 1.0)));
            }
        }
        RuleConfig::AiTraceCost(rule) => {
            let least = Some(rule.threshold_cost);
            let rows =
                time_windows::ai_rows_since(executor, number, range, least, false, limits::RULE_ARRIVALS_MAX).await?;
            combine = f64::max;
            let mut fired: HashMap<String, i64> = HashMap::new();
            for row in rows.iter().filter(|row| matches(&rule.trace_name, &row.name)) {
                values.push((row.time, row.cost));
                if is_over(&mut fired, &row.name, row.time, cooldown_ns) {
                    let subject = format!("{}: a call cost {}", row.name, with_unit(row.cost, "USD"));
                    moments.push((row.time, subject, severity::automatic(config, row.cost)));
                }
            }
        }
        RuleConfig::AiFlaggedContent(rule) => {
            let rows =
                time_windows::ai_rows_since(executor, number, range, None, true, limits::RULE_ARRIVALS_MAX).await?;
            let mut fired: HashMap<String, i64> = HashMap::new();
            let has_term = |own: &[String], term: &String| own.iter().any(|own| own.eq_ignore_ascii_case(term));
            let of_rule = |own: &[String]| rule.terms.is_empty() || rule.terms.iter().any(|term| has_term(own, term));
            for row in rows.iter().filter(|row| row.is_flagged && of_rule(&row.terms)) {
                values.push((row.time, 1.0));
                if is_over(&mut fired, &row.conversation, row.time, cooldown_ns) {
                    let subject = format!("{}: flagged content", row.name);
                    moments.push((row.time, subject, severity::automatic(config, 1.0)));
                }
            }
        }
        RuleConfig::AiConversationCost(rule) => {
            combine = f64::max;
            for day in (0..SPAN / DAY_NS).rev() {
                let at = now.saturating_sub(day * DAY_NS);
                let costs = time_windows::conversation_costs(executor, number, at, None).await?;
                for (conversation, cost) in costs {
                    values.push((at, cost));
                    if cost >= rule.threshold_cost {
                        let subject = format!("Conversation {conversation} cost {}", with_unit(cost, "USD"));
                        moments.push((at, subject, severity::automatic(config, cost)));
                    }
                }
            }
        }
        _ => {}
    }
    moments.sort_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)));
    let mut hours: BTreeMap<i64, f64> = BTreeMap::new();
    for (at, value) in values {
        let hour = at - at.rem_euclid(HOUR_NS);
        hours.entry(hour).and_modify(|known| *known = combine(*known, value)).or_insert(value);
    }
    Ok((hours.into_iter().collect(), moments))
}

/// Titles of Issues that a preview reads.
const TITLES_MAX: usize = 50;

/// Whether the cooldown of a subject is over at `at`; then it fires.
fn is_over(fired: &mut HashMap<String, i64>, subject: &str, at: i64, cooldown_ns: i64) -> bool {
    let is_over = fired.get(subject).is_none_or(|last| at.saturating_sub(*last) >= cooldown_ns);
    if is_over {
        fired.insert(subject.to_owned(), at);
    }
    is_over
}
