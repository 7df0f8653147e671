//! Charts of the names with the greatest weight: five lines, and "Other".

use tidewatch_domain::units::MINUTE_NS;
use tidewatch_store::plan::{Aggregate, Filter, KeySource};
use tidewatch_store::tables::Table;

use super::answer::Row;
use super::executor::Executor;
use super::filters;
use super::grouping::{self, NAME};
use super::plans::{self, Window};
use super::time::{self, Buckets, Range, effective_minutes};
use crate::error::QueryError;
use tidewatch_limits as limits;

/// Maximum number of names that have their own line.
pub const LINES_MAX: usize = 5;
/// The line of all other names.
pub const OTHER: &str = "Other";

/// The output column of [`Chart::weight`] and [`Chart::value`].
pub const VALUE: &str = "value";

/// The definition of a chart.
pub struct Chart {
    /// The table whose rows are aggregated.
    pub table: Table,
    /// Number of the project.
    pub project: u32,
    /// The time range of the rows.
    pub range: Range,
    /// Requested minutes per bucket; see [`effective_minutes`].
    pub interval_minutes: Option<i64>,
    /// Key that forms the lines.
    pub grouping: KeySource,
    /// Draws only this name.
    pub only: Option<String>,
    /// Condition on the rows.
    pub filter: Filter,
    /// Names with the greatest weight have their own line. Its output is [`VALUE`].
    pub weight: Aggregate,
    /// The value of a point. Its output is [`VALUE`].
    pub value: Aggregate,
}

/// One point of one line.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Start of the bucket, nanoseconds since the epoch.
    pub start: i64,
    /// Name of the line, or [`OTHER`].
    pub name: String,
    /// Value in the unit of the chart.
    pub value: f64,
}

/// The lines of a chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Lines {
    /// Names by weight, greatest first, then [`OTHER`] when there are more names.
    pub names: Vec<String>,
    /// Sorted by time, then in the order of `names`. Buckets without a value are absent.
    pub points: Vec<Point>,
    /// Effective minutes per bucket.
    pub interval_minutes: i64,
}

impl Lines {
    /// The names, the points that `point` makes of an RFC 3339 time, a name and a value, and the minutes per bucket.
    pub fn parts<P>(self, point: impl Fn(String, String, f64) -> P) -> (Vec<String>, Vec<P>, i64) {
        let point = |Point { start, name, value }| point(time::to_rfc3339(start), name, value);
        (self.names, self.points.into_iter().map(point).collect(), self.interval_minutes)
    }
}

/// Queries the lines of a chart. `number` reads [`VALUE`] of a bucket; `None` leaves the bucket out.
pub async fn lines(
    executor: &Executor,
    chart: Chart,
    number: impl Fn(Row<'_>) -> Option<f64>,
) -> Result<Lines, QueryError> {
    let interval_minutes = effective_minutes(chart.interval_minutes, chart.range, limits::METRICS_POINTS_MAX);
    let buckets = Buckets::over(chart.range, interval_minutes * MINUTE_NS);
    let (mut names, has_others) = names(executor, &chart).await?;

    let run = |filter: Filter, keys| {
        let aggregates = vec![chart.value.clone()];
        let filter = chart.filter.clone().and(filter);
        executor.run(plans::groups(chart.table, &[chart.project], chart.range, filter, keys, aggregates))
    };
    let point = |row: Row<'_>, name: &str| {
        Some(Point { start: row.int(plans::BUCKET), name: name.to_owned(), value: number(row)? })
    };
    let bucket = || plans::bucket(&buckets);
    let mut points: Vec<Point> = match &chart.grouping {
        // One plan for all lines: names without their own line form the group with a null name.
        KeySource::Column("name") if has_others => {
            let name = KeySource::OneOf { column: "name", strings: names.clone() }.named(NAME);
            let answer = run(Filter::True, vec![bucket(), name]).await?;
            answer.rows().filter_map(|row| point(row, row.opt_text(NAME).unwrap_or(OTHER))).collect()
        }
        // The values of other groupings may be absent: a second plan has the rows without their own line.
        grouping => {
            let named = grouping::of_names(chart.table, grouping, &names);
            let answer = run(named.clone(), vec![bucket(), grouping::key(grouping)]).await?;
            let mut points: Vec<Point> =
                answer.rows().filter_map(|row| point(row, &grouping::name_of(row, chart.table, grouping))).collect();
            if has_others {
                let others = run(filters::not(named), vec![bucket()]).await?;
                points.extend(others.rows().filter_map(|row| point(row, OTHER)));
            }
            points
        }
    };
    if has_others {
        names.push(OTHER.to_owned());
    }
    let rank = |name: &str| names.iter().position(|known| known == name);
    points.sort_by_key(|point| (point.start, rank(&point.name)));
    Ok(Lines { names, points, interval_minutes })
}

/// The names that have their own line, and whether there are more names.
async fn names(executor: &Executor, chart: &Chart) -> Result<(Vec<String>, bool), QueryError> {
    if let Some(name) = &chart.only {
        return Ok((vec![name.clone()], false));
    }
    let answer = executor
        .run(plans::ordered_groups(
            chart.table,
            &[chart.project],
            chart.range,
            chart.filter.clone(),
            vec![grouping::key(&chart.grouping)],
            vec![chart.weight.clone()],
            vec![plans::greatest(VALUE)],
            Window::first(LINES_MAX + 1),
        ))
        .await?;
    let mut names: Vec<String> =
        answer.rows().map(|row| grouping::name_of(row, chart.table, &chart.grouping)).collect();
    let has_others = names.len() > LINES_MAX;
    names.truncate(LINES_MAX);
    Ok((names, has_others))
}
