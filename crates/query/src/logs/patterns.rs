//! The patterns of log records.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use tidewatch_accounts::Project;
use tidewatch_domain::patterns::{Limits, Patterns};
use tidewatch_domain::units::MINUTE_NS;
use tidewatch_limits as limits;
use tidewatch_store::tables::Table;

use super::{Conditions, conditions};
use crate::answer::Row;
use crate::error::QueryError;
use crate::executor::Executor;
use crate::language::sample::Sample;
use crate::plans::{self, Window};
use crate::time::{self, Buckets};
use crate::views::log::{LogListRequest, LogPattern, LogPatterns};
use crate::views::page::TrendPoint;

const COLUMNS: [&str; 5] = ["time", "severity", "severity_text", "server_name", "body"];
/// Services that are listed with a pattern.
const SERVICES_MAX: usize = 5;

/// Facts about the records of a pattern.
#[derive(Debug, Default)]
struct Found {
    count: u64,
    first: i64,
    last: i64,
    /// By severity text: number of records, and a severity number.
    severities: BTreeMap<String, (u64, u8)>,
    services: BTreeSet<String>,
    example: String,
    /// By start of the bucket.
    trend: BTreeMap<i64, u64>,
}

/// The patterns so far.
struct Reading {
    patterns: Patterns,
    /// By index of the pattern.
    found: Vec<Found>,
    read: u64,
    buckets: Buckets,
    until: Instant,
}

impl Reading {
    fn add(&mut self, row: Row<'_>) {
        self.read += 1;
        let body = row.text("body");
        let Some(index) = self.patterns.add(body) else { return };
        if index == self.found.len() {
            self.found.push(Found { first: i64::MAX, last: i64::MIN, example: cut(body), ..Found::default() });
        }
        let found = &mut self.found[index];
        let time = row.int("time");
        found.count += 1;
        found.first = found.first.min(time);
        found.last = found.last.max(time);
        let severity = row.text("severity_text");
        if !found.severities.contains_key(severity) && found.severities.len() < limits::FACET_VALUES_MAX {
            found.severities.insert(severity.to_owned(), (0, row.int("severity") as u8));
        }
        if let Some((count, _)) = found.severities.get_mut(severity) {
            *count += 1;
        }
        let service = row.text("server_name");
        if found.services.len() < SERVICES_MAX && !found.services.contains(service) {
            found.services.insert(service.to_owned());
        }
        let Buckets { origin, width, .. } = self.buckets;
        *found.trend.entry(origin + time.saturating_sub(origin).div_euclid(width) * width).or_default() += 1;
    }

    fn goes_on(&self) -> bool {
        self.read < limits::PATTERN_RECORDS_MAX && Instant::now() < self.until
    }
}

/// `POST /api/logs/patterns`.
pub async fn patterns(
    executor: &Executor,
    project: &Project,
    request: LogListRequest,
) -> Result<LogPatterns, QueryError> {
    let Conditions { range, service, others } = conditions(executor, &[project.number], &request).await?;
    let sample = Sample::draw(executor, Table::Logs, project.number, range, &service.and(others)).await?;
    let all = Window::first(usize::MAX);
    let (filter, columns) = (sample.filter.clone(), COLUMNS.to_vec());
    let plan = plans::rows(Table::Logs, &[project.number], range, filter, columns, vec![], all);
    let bounds = Limits { patterns: limits::PATTERNS_MAX, branches: limits::PATTERN_BRANCHES_MAX };
    let reading = Reading {
        patterns: Patterns::new(bounds),
        found: Vec::new(),
        read: 0,
        buckets: Buckets::at_most(range, limits::PATTERN_TREND_POINTS_MAX, MINUTE_NS),
        until: Instant::now() + limits::PATTERN_BUDGET,
    };
    let add = |reading: &mut Reading, answer: &crate::answer::Answer| {
        answer.rows().for_each(|row| reading.add(row));
        reading.goes_on()
    };
    let Reading { patterns, found, read, .. } = executor.read(plan, reading, add).await?;
    // Records that were stored meanwhile may be read too.
    let records = sample.scaled(sample.rows).max(read);
    let scaled = |count: u64| match read {
        0 => 0,
        _ => (u128::from(count) * u128::from(records) / u128::from(read)) as u64,
    };
    let mut indexes: Vec<usize> = (0..found.len()).collect();
    indexes.sort_by_key(|index| (std::cmp::Reverse(found[*index].count), *index));
    let listed = indexes.len().min(limits::PATTERNS_LISTED_MAX);
    let of_listed: u64 = indexes[..listed].iter().map(|index| found[*index].count).sum();
    let view = |index: &usize| {
        let (template, found) = (&patterns.templates()[*index], &found[*index]);
        let most = found.severities.iter().max_by_key(|(_, (count, _))| *count);
        LogPattern {
            pattern: template.to_string(),
            query: template.query().to_string(),
            count: scaled(found.count),
            share: found.count as f64 / read.max(1) as f64,
            first_seen: time::to_rfc3339(found.first),
            last_seen: time::to_rfc3339(found.last),
            severities: found.severities.iter().map(|(text, (count, _))| (text.clone(), scaled(*count))).collect(),
            severity_text: most.map(|(text, _)| text.clone()).unwrap_or_default(),
            severity_number: most.map_or(0, |(_, (_, number))| *number),
            services: found.services.iter().cloned().collect(),
            example: found.example.clone(),
            trend: found
                .trend
                .iter()
                .map(|(start, count)| TrendPoint { timestamp: time::to_rfc3339(*start), count: scaled(*count) })
                .collect(),
        }
    };
    Ok(LogPatterns {
        data: indexes[..listed].iter().map(view).collect(),
        records,
        read,
        estimated: records > read,
        others: scaled(read - of_listed),
        more: (indexes.len() - listed) as u64,
    })
}

/// The beginning of a body.
fn cut(body: &str) -> String {
    let bytes_max = body.len().min(limits::PATTERN_EXAMPLE_BYTES_MAX);
    let end = (0..=bytes_max).rev().find(|at| body.is_char_boundary(*at));
    body[..end.unwrap_or(0)].to_owned()
}
