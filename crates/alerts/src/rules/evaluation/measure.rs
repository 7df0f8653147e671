//! The values of polled rules in windows of time.

mod objectives;
mod served;
mod source;

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use tidewatch_domain::units::{HOUR_NS, MINUTE_NS};
use tidewatch_query::error::QueryError;
use tidewatch_query::time_windows::{self, SearchMeasure, Windows};
use tidewatch_query::views::changes::{ChangeCard, ChangeKind, SentencePart};
use tidewatch_query::{ids, metrics};

use super::Measured;
use crate::rules::config::{
    ChangeFound, DataType, IssueSpike, QueryMeasure, QueryThreshold, RuleConfig, SubjectKind, matches,
};
use crate::rules::words::{clock_in, escaped, minutes, number, time_in, with_unit};

pub(super) use source::Source;

impl Source {
    /// Measures a rule in each window. Subjects without a value have none, or are absent.
    pub async fn measure(&mut self, config: &RuleConfig, windows: Windows) -> Result<Vec<Measured>, QueryError> {
        Ok(match config {
            RuleConfig::ErrorRate(_)
            | RuleConfig::EndpointErrorRate(_)
            | RuleConfig::EndpointP95(_)
            | RuleConfig::EndpointP99(_)
            | RuleConfig::ApdexDrop(_)
            | RuleConfig::ThroughputDrop(_)
            | RuleConfig::Impact(..)
            | RuleConfig::TaskDuration(_)
            | RuleConfig::TaskFailureRate(_) => served::measure(self, config, windows).await?,
            RuleConfig::SloBurn(slo) => objectives::measure(self, slo, windows).await?,
            RuleConfig::ErrorCount(rule) => {
                let counts = time_windows::exceptions(&self.executor, self.project.number, windows).await?;
                let of = |count: f64| {
                    let title = format!("{} exceptions in the last {}", number(count), minutes(rule.lookback_minutes));
                    (count >= rule.threshold_count, title, "/issues".to_owned())
                };
                self.of_project(config, every_window(counts, windows), of)
            }
            RuleConfig::Metric(rule) => {
                let found = metrics::in_windows(&self.executor, self.project.number, rule.query(), windows).await?;
                let page = format!("/metrics?metric={}", escaped(&rule.metric_name));
                let of =
                    |value| (rule.operator.holds(value, rule.threshold_value), rule.metric_name.clone(), page.clone());
                self.of_value(config, at_windows(found, windows), of)
            }
            RuleConfig::Query(rule) => self.query(config, rule, windows).await?,
            RuleConfig::NoData(rule) => self.silence(rule.data_type, rule.silence_minutes, windows).await?,
            RuleConfig::Drops(rule) => {
                let counts = time_windows::dropped(&self.executor, self.project.number, windows).await?;
                let of = |count: f64| {
                    let lost = format!("{} requests or records were refused or dropped", number(count));
                    (count >= rule.threshold_count, lost, "/connect".to_owned())
                };
                self.of_project(config, every_window(counts, windows), of)
            }
            RuleConfig::IssueSpike(rule) => self.spikes(rule, windows).await?,
            RuleConfig::Change(rule) => self.changed(rule).await?,
            RuleConfig::NewError(_)
            | RuleConfig::ErrorRegression(_)
            | RuleConfig::AiTraceCost(_)
            | RuleConfig::AiConversationCost(_)
            | RuleConfig::AiFlaggedContent(_)
            | RuleConfig::CheckDown(_) => Vec::new(),
        })
    }

    /// A title that names the Issue `hash`, with the title of the Issue instead of the hash.
    pub async fn titled(&self, hash: &str, title: &str) -> String {
        let of_issue = match ids::parse_hash(hash) {
            Ok(hash) => time_windows::issue_title(&self.executor, self.project.number, hash).await,
            Err(error) => Err(error),
        };
        match of_issue {
            Ok(of_issue) => title.replacen(&format!("Issue {hash}"), &of_issue, 1),
            Err(error) => {
                tracing::warn!(%error, "an Issue is named by its hash: {error}");
                title.to_owned()
            }
        }
    }

    /// One subject, the project. `of`: whether a value breaches, the title and the page.
    fn of_project(
        &self,
        config: &RuleConfig,
        values: Vec<(i64, Option<f64>)>,
        of: impl Fn(f64) -> (bool, String, String),
    ) -> Vec<Measured> {
        let threshold = config.threshold().map_or(String::new(), |value| with_unit(value, config.unit()));
        let measured = |(window, value): (i64, Option<f64>)| {
            let (breaches, title, page) = of(value.unwrap_or(0.0));
            Measured {
                window,
                subject: String::new(),
                value,
                breaches: value.is_some() && breaches,
                body: format!(
                    "Measured over {} in the project {}. The threshold is {threshold}.",
                    minutes(config.lookback_minutes()),
                    self.project.name
                ),
                title,
                page,
            }
        };
        values.into_iter().map(measured).collect()
    }

    /// Like [`Source::of_project`]; the title has the value and the threshold.
    fn of_value(
        &self,
        config: &RuleConfig,
        values: Vec<(i64, Option<f64>)>,
        of: impl Fn(f64) -> (bool, String, String),
    ) -> Vec<Measured> {
        let unit = config.unit();
        let with_value = |value: f64| {
            let (breaches, name, page) = of(value);
            let threshold = config.threshold().unwrap_or(0.0);
            let title = format!("{name} is {}, threshold {}", with_unit(value, unit), with_unit(threshold, unit));
            (breaches, title, page)
        };
        self.of_project(config, values, with_value)
    }

    async fn query(
        &self,
        config: &RuleConfig,
        rule: &QueryThreshold,
        windows: Windows,
    ) -> Result<Vec<Measured>, QueryError> {
        let Some(kind) = rule.rows else {
            let found = metrics::in_windows(&self.executor, self.project.number, rule.metric_query(), windows).await?;
            let page = format!("/metrics?metric={}", escaped(&rule.metric_name));
            let of = |value| (rule.operator.holds(value, rule.threshold_value), rule.metric_name.clone(), page.clone());
            return Ok(self.of_value(config, at_windows(found, windows), of));
        };
        let (measure, name) = match rule.measure {
            QueryMeasure::Count => (SearchMeasure::Count, "number"),
            QueryMeasure::ErrorRate => (SearchMeasure::ErrorRate, "failed share"),
            QueryMeasure::P50 => (SearchMeasure::Duration(0.50), "P50"),
            QueryMeasure::P95 => (SearchMeasure::Duration(0.95), "P95"),
            QueryMeasure::P99 => (SearchMeasure::Duration(0.99), "P99"),
        };
        let found =
            time_windows::measured(&self.executor, self.project.number, kind, &rule.query, measure, windows).await?;
        let values = match rule.measure {
            // No rows are 0 rows.
            QueryMeasure::Count => every_window(found, windows),
            _ => found.into_iter().map(|(window, value)| (window, Some(value))).collect(),
        };
        let page = match kind.noun() {
            "log records" => "/logs",
            "exceptions" => "/issues",
            "endpoints" => "/endpoints",
            "tasks" => "/tasks",
            "AI traces" => "/ai",
            "sessions" => "/sessions",
            _ => "/traces",
        };
        let page = format!("{page}?q={}", escaped(&rule.query));
        let what = if rule.query.trim().is_empty() { "any".to_owned() } else { rule.query.clone() };
        let title = format!("{name} of {} ({what})", kind.noun());
        let of = |value| (rule.operator.holds(value, rule.threshold_value), title.clone(), page.clone());
        Ok(self.of_value(config, values, of))
    }

    async fn silence(
        &self,
        data: DataType,
        silence_minutes: i64,
        windows: Windows,
    ) -> Result<Vec<Measured>, QueryError> {
        let (kind, name) = match data {
            DataType::Any => ("any", "data"),
            DataType::Endpoints => ("endpoints", "requests"),
            DataType::Exceptions => ("exceptions", "exceptions"),
            DataType::Metrics => ("metrics", "metrics"),
            DataType::Tasks => ("tasks", "task runs"),
        };
        let quiet = silence_minutes.saturating_mul(MINUTE_NS);
        let mut values: Vec<(i64, Option<f64>)> = Vec::new();
        if windows.count == 1 {
            let now = self.executor.context.clock.now_ns();
            let last = time_windows::last_record(&self.executor, self.project.number, kind, now, quiet).await?;
            values.push((0, last.map(|last| (now.saturating_sub(last) as f64 / MINUTE_NS as f64).max(0.0))));
        } else {
            let counts = time_windows::records(&self.executor, self.project.number, kind, windows).await?;
            let mut since: Option<i64> = None;
            for (window, count) in every_window(counts, windows) {
                if count.is_some_and(|count| count > 0.0) {
                    since = Some(window);
                }
                let minutes = |since| ((window - since) * windows.width) as f64 / MINUTE_NS as f64;
                values.push((window, since.map(minutes)));
            }
        }
        let of = |(window, value): (i64, Option<f64>)| Measured {
            window,
            subject: String::new(),
            breaches: value.is_some_and(|value| value >= silence_minutes as f64),
            title: format!("No {name} from {} for {} minutes", self.project.name, number(value.unwrap_or(0.0).floor())),
            body: format!("The project has sent {name} before. The threshold is {silence_minutes} minutes."),
            page: "/connect".to_owned(),
            value,
        };
        Ok(values.into_iter().map(of).collect())
    }

    async fn spikes(&self, rule: &IssueSpike, windows: Windows) -> Result<Vec<Measured>, QueryError> {
        let project = self.project.number;
        let only = (rule.exception_hash != "*").then(|| ids::parse_hash(&rule.exception_hash)).transpose()?;
        let baseline = rule.baseline_hours.saturating_mul(HOUR_NS);
        let before = (baseline / windows.width).max(1);
        // Counts before each window, by Issue.
        let (counts, usual): (_, BTreeMap<(u64, i64), f64>) = if windows.count == 1 {
            let counts = time_windows::issue_counts(&self.executor, project, windows, only).await?;
            let width = before.saturating_mul(windows.width);
            let earlier = Windows { from: windows.from.saturating_sub(width), width, count: 1 };
            let usual = time_windows::issue_counts(&self.executor, project, earlier, only).await?;
            (counts, usual.into_iter().map(|issue| ((issue.hash, 0), issue.count)).collect())
        } else {
            let all = time_windows::issue_counts(&self.executor, project, windows.and_before(before), only).await?;
            let mut by_issue: BTreeMap<u64, BTreeMap<i64, f64>> = BTreeMap::new();
            for issue in &all {
                *by_issue.entry(issue.hash).or_default().entry(issue.window - before).or_default() += issue.count;
            }
            let counts: Vec<_> = all
                .into_iter()
                .filter(|issue| issue.window >= before)
                .map(|issue| time_windows::IssueCount { window: issue.window - before, ..issue })
                .collect();
            let sum = |issue: &time_windows::IssueCount| {
                let of_issue = by_issue.get(&issue.hash);
                of_issue.map_or(0.0, |all| all.range(issue.window - before..issue.window).map(|(_, count)| count).sum())
            };
            let usual = counts.iter().map(|issue| ((issue.hash, issue.window), sum(issue))).collect();
            (counts, usual)
        };
        let measured = |issue: time_windows::IssueCount| {
            let usual = usual.get(&(issue.hash, issue.window)).copied().unwrap_or(0.0) / before as f64;
            // An Issue that was silent counts as one that occurred once in the time before.
            let factor = issue.count / usual.max(1.0 / before as f64);
            let hash = ids::format_hash(issue.hash);
            let span = minutes(rule.lookback_minutes);
            Measured {
                window: issue.window,
                value: Some(factor),
                breaches: factor >= rule.factor && issue.count >= rule.min_count,
                title: format!("Issue {hash} occurs {} times as often as usual", number(factor)),
                body: format!(
                    "{} occurrences in {span}; {} is usual. The threshold is {} times.",
                    number(issue.count),
                    number(usual),
                    number(rule.factor)
                ),
                page: format!("/issues/{hash}"),
                subject: hash,
            }
        };
        Ok(counts.into_iter().map(measured).collect())
    }

    async fn changed(&mut self, rule: &ChangeFound) -> Result<Vec<Measured>, QueryError> {
        let cards = self.changes().await?;
        let zone = self.zone();
        let of_rule = |card: &&ChangeCard| {
            let kind = subject_kind(card.kind);
            (rule.kinds.is_empty() || rule.kinds.contains(&kind)) && matches(&rule.name, &card.name)
        };
        let measured = |card: &ChangeCard| Measured {
            window: 0,
            subject: format!("{}:{}", kind_name(card.kind), card.exception_hash.as_deref().unwrap_or(&card.name)),
            value: Some(card.score),
            breaches: card.recovered.is_none(),
            title: sentence(card, &zone),
            body: format!("It got worse at {}.", time_in(&card.since, &zone)),
            page: page_of(card),
        };
        Ok(cards.iter().filter(of_rule).map(measured).collect())
    }
}

/// The sentence of a change, with its times in a zone.
fn sentence(card: &ChangeCard, zone: &TimeZone) -> String {
    let part = |part: &SentencePart| part.at.as_deref().map_or_else(|| part.text.clone(), |at| clock_in(at, zone));
    card.sentence_parts.iter().map(part).collect()
}

/// A value per window; 0 where there is none.
fn every_window(found: Vec<(i64, f64)>, windows: Windows) -> Vec<(i64, Option<f64>)> {
    let mut sums: BTreeMap<i64, f64> = (0..windows.count).map(|window| (window, 0.0)).collect();
    for (window, value) in found {
        *sums.entry(window).or_default() += value;
    }
    sums.into_iter().map(|(window, sum)| (window, Some(sum))).collect()
}

/// Values by the start of their window.
fn at_windows(found: Vec<(i64, f64)>, windows: Windows) -> Vec<(i64, Option<f64>)> {
    found.into_iter().map(|(start, value)| ((start - windows.from) / windows.width, Some(value))).collect()
}

fn subject_kind(kind: ChangeKind) -> SubjectKind {
    match kind {
        ChangeKind::Endpoint => SubjectKind::Endpoint,
        ChangeKind::Task => SubjectKind::Task,
        ChangeKind::AiTrace => SubjectKind::AiTrace,
        ChangeKind::Issue => SubjectKind::Issue,
        ChangeKind::Service => SubjectKind::Service,
    }
}

fn kind_name(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Endpoint => "endpoint",
        ChangeKind::Task => "task",
        ChangeKind::AiTrace => "ai",
        ChangeKind::Issue => "issue",
        ChangeKind::Service => "service",
    }
}

fn page_of(card: &ChangeCard) -> String {
    let name = escaped(&card.name);
    match card.kind {
        ChangeKind::Endpoint => format!("/endpoints/{name}"),
        ChangeKind::Task => format!("/tasks/{name}"),
        ChangeKind::AiTrace => format!("/ai/{name}"),
        ChangeKind::Service => format!("/services/{name}"),
        ChangeKind::Issue => format!("/issues/{}", card.exception_hash.as_deref().unwrap_or_default()),
    }
}
