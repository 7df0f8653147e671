//! Charts of the names that weigh most: five lines, and "Other".

use tidewatch_store::plan::{Aggregate, Filter, Key, KeySource};
use tidewatch_store::tables::Table;

use super::answer::Row;
use super::ask::{self, Ask, Window};
use super::filters;
use super::time::{self, Buckets, MINUTE, Range, effective_minutes};
use crate::error::QueryError;
use tidewatch_limits as limits;

/// Lines with a name of their own.
pub const LINES_MAX: usize = 5;
/// The line of all others.
pub const OTHER: &str = "Other";

/// Outputs of a chart's plans.
const NAME: &str = "name";
pub const VALUE: &str = "value";

/// What is drawn.
pub struct Chart {
    pub table: Table,
    pub project: u32,
    pub range: Range,
    /// As asked; see [`effective_minutes`].
    pub interval_minutes: Option<i64>,
    /// One name alone.
    pub only: Option<String>,
    /// Rows that count.
    pub filter: Filter,
    /// Names are chosen by this, greatest first; named [`VALUE`].
    pub weight: Aggregate,
    /// What a point shows; named [`VALUE`].
    pub value: Aggregate,
}

/// One value of one line.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    pub start: i64,
    pub name: String,
    pub value: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Lines {
    pub names: Vec<String>,
    /// By time, then as `names`. Buckets without a value are absent.
    pub points: Vec<Point>,
    pub interval_minutes: i64,
}

impl Lines {
    /// The names, the points as time, name and value, and the minutes of a bucket.
    pub fn parts(self) -> (Vec<String>, impl Iterator<Item = (String, String, f64)>, i64) {
        let point = |Point { start, name, value }| (time::show(start), name, value);
        (self.names, self.points.into_iter().map(point), self.interval_minutes)
    }
}

/// `number` reads [`VALUE`] of a bucket; `None` leaves the bucket out.
pub async fn lines(ask: &Ask, chart: Chart, number: impl Fn(Row<'_>) -> Option<f64>) -> Result<Lines, QueryError> {
    let interval_minutes = effective_minutes(chart.interval_minutes, chart.range, limits::METRICS_POINTS_MAX);
    let buckets = Buckets::over(chart.range, interval_minutes * MINUTE);
    let (mut names, has_others) = names(ask, &chart).await?;

    // One question for all lines: what has no line of its own is the group of no name.
    let (named, name) = match has_others {
        true => (Filter::True, KeySource::OneOf { column: "name", texts: names.clone() }.named(NAME)),
        false => (filters::texts("name", &names), Key::column(NAME)),
    };
    let filter = chart.filter.clone().and(named);
    let (keys, aggregates) = (vec![ask::bucket(&buckets), name], vec![chart.value.clone()]);
    let answer = ask.ask(ask::groups(chart.table, &[chart.project], chart.range, filter, keys, aggregates)).await?;
    let point = |row: Row<'_>| {
        let name = row.opt_text(NAME).unwrap_or(OTHER).to_owned();
        Some(Point { start: row.int(ask::BUCKET), name, value: number(row)? })
    };
    let mut points: Vec<Point> = answer.rows().filter_map(point).collect();
    if has_others {
        names.push(OTHER.to_owned());
    }
    let rank = |name: &str| names.iter().position(|known| known == name);
    points.sort_by_key(|point| (point.start, rank(&point.name)));
    Ok(Lines { names, points, interval_minutes })
}

/// The names with a line of their own, and whether there are more.
async fn names(ask: &Ask, chart: &Chart) -> Result<(Vec<String>, bool), QueryError> {
    if let Some(name) = &chart.only {
        return Ok((vec![name.clone()], false));
    }
    let answer = ask
        .ask(ask::ordered_groups(
            chart.table,
            &[chart.project],
            chart.range,
            chart.filter.clone(),
            vec![Key::column(NAME)],
            vec![chart.weight.clone()],
            vec![ask::greatest(VALUE)],
            Window::first(LINES_MAX + 1),
        ))
        .await?;
    let mut names: Vec<String> = answer.rows().map(|row| row.text(NAME).to_owned()).collect();
    let has_others = names.len() > LINES_MAX;
    names.truncate(LINES_MAX);
    Ok((names, has_others))
}
