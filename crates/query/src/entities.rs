//! What Endpoints and Tasks have in common: the same columns, the same look-ups, the same figures.

use tidewatch_domain::ranking::ApdexBands;
use tidewatch_store::plan::{Aggregate, Filter, Function, Key, Op, Plan};
use tidewatch_store::tables::Table;

use super::answer::{Answer, Row};
use super::ask::{self, Ask, Window};
use super::filters;
use super::time::{Buckets, MINUTE, Range};
use super::trend;
use crate::error::QueryError;

pub const PERCENTILES: [f64; 3] = [0.50, 0.95, 0.99];

/// Rows that are no streams: what latency is about. Spec: entity rows, "Other".
pub fn timed() -> Filter {
    filters::is_not("is_stream")
}

/// HTTP status below 500.
fn served() -> Filter {
    filters::compare("status_code", Op::Lt, 500)
}

/// HTTP status 500 and above.
pub fn failed() -> Filter {
    filters::compare("status_code", Op::Ge, 500)
}

/// HTTP status 400 to 499.
pub fn client_error() -> Filter {
    filters::compare("status_code", Op::Ge, 400).and(served())
}

/// How slow is slow, which may differ by name.
#[derive(Debug, Clone, Default)]
pub struct Bands {
    /// The bands of every name that `exceptions` does not list.
    common: Option<ApdexBands>,
    exceptions: Vec<(String, ApdexBands)>,
}

impl Bands {
    pub fn same(bands: ApdexBands) -> Bands {
        Bands { common: Some(bands), exceptions: Vec::new() }
    }

    /// The ranking's bands, later by each name's accepted slow offset. WIRE 8.1.
    pub fn with_offsets<'a>(offsets: impl IntoIterator<Item = (&'a str, i64)>) -> Bands {
        let exceptions = offsets.into_iter().map(|(name, ns)| (name.to_owned(), ApdexBands::impact(ns))).collect();
        Bands { common: Some(ApdexBands::impact(0)), exceptions }
    }

    /// Duration up to the band's end that `edge` picks.
    fn within(&self, edge: impl Fn(&ApdexBands) -> i64) -> Filter {
        let up_to = |bands: &ApdexBands| filters::compare("duration", Op::Le, edge(bands));
        let Some(common) = &self.common else { return Filter::True };
        if self.exceptions.is_empty() {
            return up_to(common);
        }
        let names: Vec<String> = self.exceptions.iter().map(|(name, _)| name.clone()).collect();
        let mut any = vec![filters::not(filters::texts("name", &names)).and(up_to(common))];
        any.extend(self.exceptions.iter().map(|(name, bands)| filters::text("name", name).and(up_to(bands))));
        Filter::Any(any)
    }
}

/// Outputs of [`aggregates`].
const TOTAL: &str = "total";
const QUANTILES: &str = "quantiles";
const DURATION_SUM: &str = "duration_sum";
const TIMED: &str = "timed";
const SATISFIED: &str = "satisfied";
const TOLERATING: &str = "tolerating";
const ERRORS: &str = "errors";
const BAD: &str = "bad";
const CLIENT_ERRORS: &str = "client_errors";
const SERVER_ERRORS: &str = "server_errors";
const LAST_SEEN: &str = "last_seen";
const ROOTS: &str = "roots";
const NON_ROOTS: &str = "non_roots";
const ROWS: &str = "rows";

/// The aggregates that [`Figures::read`] reads.
pub fn aggregates(bands: &Bands) -> Vec<Aggregate> {
    let satisfied = bands.within(|bands| bands.satisfied_ns);
    let tolerated = bands.within(|bands| bands.tolerated_ns);
    let slow = timed().and(filters::not(tolerated.clone()));
    let tolerating = filters::all([timed(), served(), filters::not(satisfied.clone()), tolerated]);
    vec![
        Function::Weight.named(TOTAL),
        Function::Quantiles { column: "duration", qs: PERCENTILES.to_vec() }.named(QUANTILES).only(timed()),
        Function::Sum("duration").named(DURATION_SUM).only(timed()),
        Function::Weight.named(TIMED).only(timed()),
        Function::Weight.named(SATISFIED).only(filters::all([timed(), served(), satisfied])),
        Function::Weight.named(TOLERATING).only(tolerating),
        Function::Weight.named(ERRORS).only(filters::is("is_error")),
        Function::Weight.named(BAD).only(Filter::Any(vec![failed(), slow])),
        Function::Weight.named(CLIENT_ERRORS).only(client_error()),
        Function::Max("time").named(LAST_SEEN),
        Function::Count.named(ROOTS).only(filters::is("is_root")),
        Function::Count.named(NON_ROOTS).only(filters::is_not("is_root")),
        Function::Count.named(ROWS),
        Function::Weight.named(SERVER_ERRORS).only(filters::is("is_error").and(filters::not(client_error()))),
    ]
}

/// What is known about the rows of one name (or of all). Counts are weighted.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Figures {
    pub total: f64,
    /// Nanoseconds: P50, P95, P99 of the rows that are no streams; `None` without any.
    pub percentiles: Option<[f64; 3]>,
    pub duration_sum: f64,
    pub timed: f64,
    pub satisfied: f64,
    pub tolerating: f64,
    pub errors: f64,
    /// Of these, without HTTP status 400 to 499.
    pub server_errors: f64,
    pub bad: f64,
    pub client_errors: f64,
    pub last_seen: i64,
    pub has_root: bool,
    pub has_non_root: bool,
    /// Stored rows, unweighted.
    pub rows: u64,
}

impl Figures {
    pub fn read(row: Row<'_>) -> Figures {
        Figures {
            total: row.number(TOTAL),
            percentiles: row.numbers(QUANTILES).and_then(|list| list.try_into().ok()),
            duration_sum: row.number(DURATION_SUM),
            timed: row.number(TIMED),
            satisfied: row.number(SATISFIED),
            tolerating: row.number(TOLERATING),
            errors: row.number(ERRORS),
            bad: row.number(BAD),
            client_errors: row.number(CLIENT_ERRORS),
            last_seen: row.int(LAST_SEEN),
            has_root: row.int(ROOTS) > 0,
            has_non_root: row.int(NON_ROOTS) > 0,
            rows: row.count(ROWS),
            server_errors: row.number(SERVER_ERRORS),
        }
    }

    /// Nanoseconds; 0 without any row that is no stream.
    pub fn percentile(&self, index: usize) -> f64 {
        self.percentiles.map_or(0.0, |percentiles| percentiles[index])
    }

    /// Nanoseconds; 0 without any row that is no stream.
    pub fn average(&self) -> f64 {
        if self.timed > 0.0 { self.duration_sum / self.timed } else { 0.0 }
    }

    /// Of all rows; 0 without any.
    pub fn share(&self, count: f64) -> f64 {
        if self.total > 0.0 { count / self.total } else { 0.0 }
    }

    pub fn error_rate(&self) -> f64 {
        self.share(self.errors)
    }

    pub fn server_error_rate(&self) -> f64 {
        self.share(self.server_errors)
    }
}

/// The figures of every name.
pub async fn by_name(
    ask: &Ask,
    table: Table,
    project: u32,
    range: Range,
    filter: Filter,
    bands: &Bands,
) -> Result<Vec<(String, Figures)>, QueryError> {
    let plan = ask::groups(table, &[project], range, filter, vec![Key::column("name")], aggregates(bands));
    let answer = ask.ask(plan).await?;
    Ok(answer.rows().map(|row| (row.text("name").to_owned(), Figures::read(row))).collect())
}

/// The figures of all rows that pass.
pub async fn figures(
    ask: &Ask,
    table: Table,
    project: u32,
    range: Range,
    filter: Filter,
    bands: &Bands,
) -> Result<Figures, QueryError> {
    let plan = ask::groups(table, &[project], range, filter, vec![], aggregates(bands));
    Ok(ask.ask(plan).await?.first().map(Figures::read).unwrap_or_default())
}

/// Minutes from the first to the last row that the project has in the range, whatever its name; at least one.
///
/// The first is known to the minute. Roll-ups answer both plans.
pub async fn minutes_with_data(ask: &Ask, table: Table, project: u32, range: Range) -> Result<f64, QueryError> {
    let coarse = Buckets::at_most(range, trend::BUCKETS_MAX, MINUTE);
    let Some((first, last)) = extent(ask, table, project, range, coarse).await? else { return Ok(1.0) };
    let within = Range { from: first.max(range.from), to: first.saturating_add(coarse.width).min(range.to) };
    let fine = extent(ask, table, project, within, Buckets::over(within, MINUTE)).await?;
    let first = fine.map_or(first, |(first, _)| first).max(range.from);
    Ok((last.saturating_sub(first) as f64 / MINUTE as f64).max(1.0))
}

/// Start of the first bucket with a row, and the time of the last row.
async fn extent(
    ask: &Ask,
    table: Table,
    project: u32,
    range: Range,
    buckets: Buckets,
) -> Result<Option<(i64, i64)>, QueryError> {
    let (keys, aggregates) = (vec![ask::bucket(&buckets)], vec![Function::Max("time").named(LAST_SEEN)]);
    let plan = ask::groups(table, &[project], range, Filter::True, keys, aggregates);
    let answer = ask.ask(plan).await?;
    let found = answer.rows().map(|row| (row.int(ask::BUCKET), row.int(LAST_SEEN)));
    Ok(found.reduce(|(first, last), (start, latest)| (first.min(start), last.max(latest))))
}

/// Whether a row of this name was ever stored.
pub async fn is_known(ask: &Ask, table: Table, project: u32, name: &str) -> Result<bool, QueryError> {
    let (filter, window) = (filters::text("name", name), Window::first(1));
    let plan = ask::rows(table, &[project], Range::ALL, filter, vec!["time"], vec![], window);
    Ok(!ask.ask(plan).await?.is_empty())
}

/// The row with this id: near `recorded_at` first, then in all time.
pub async fn find(
    ask: &Ask,
    table: Table,
    project: u32,
    id: [u8; 16],
    recorded_at: Option<i64>,
) -> Result<Answer, QueryError> {
    for range in recorded_at.map(Range::around).into_iter().chain([Range::ALL]) {
        let found = ask.ask(by_id(table, project, id, range)).await?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Err(QueryError::not_found("there is no such row in this project"))
}

fn by_id(table: Table, project: u32, id: [u8; 16], range: Range) -> Plan {
    let columns = ask::all_columns(table);
    ask::rows(table, &[project], range, filters::row_id(id), columns, vec![], Window::first(1))
}

/// Nanoseconds as whole milliseconds and parts of them.
pub fn milliseconds(ns: f64) -> f64 {
    ns / 1.0e6
}

/// Weighted records as whole ones.
pub fn whole(count: f64) -> u64 {
    count.round().max(0.0) as u64
}
