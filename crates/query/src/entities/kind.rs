//! The differences between the kinds of entities.

use std::future::{Future, Ready, ready};

use serde::de::DeserializeOwned;
use tidewatch_store::plan::{Aggregate, Filter, Function, Key, KeySource};
use tidewatch_store::tables::Table;
use uuid::Uuid;

use super::entity_stats::EntityStats;
use crate::answer::Row;
use crate::chart::{Lines, VALUE};
use crate::error::QueryError;
use crate::executor::Executor;
use crate::filters;
use crate::language::RowKind;
use crate::time::Range;
use crate::views::endpoint::ChartMetric;
use crate::views::issue::{ExceptionBrief, Occurrence};
use crate::views::page::{ListRequest, PageInfo, TrendPoint};
use crate::views::span::{SpanGraphStatus, SpanView};
use tidewatch_accounts::Project;

/// The column with the name of the entity.
const NAME_COLUMN: &str = "name";

/// A kind of entity: its table, its orders, its metrics besides [`EntityStats`], and its API views.
pub trait EntityKind: Sized + 'static {
    /// The table of its rows.
    const TABLE: Table;
    /// The kind of its rows in queries.
    const ROWS: RowKind;
    /// Its name with an article in messages: "an endpoint".
    const NOUN: &'static str;

    /// Orders of lists of rows.
    type RowOrder: DeserializeOwned + Default + Send + Sync;
    /// Orders of groups.
    type GroupOrder: DeserializeOwned + Default + Copy + Send + Sync;

    /// Parameters of the metrics: accepted slow offsets, Apdex bands. The default is that of the page of one name.
    type Context: Default + Send + Sync;
    /// Metrics that the other kinds do not have.
    type Metrics: Default + Send;
    /// The value that groups are ranked by.
    type Rank: Send;
    /// Additional values for the names on a page of groups.
    type GroupExtra: Default + Send;
    /// Additional values for the page of one name.
    type NameExtra: Default + Send;
    /// Additional values for the page of one row.
    type RowExtra: Default + Send;

    /// The view of a row.
    type Row: Send;
    /// The view of a group.
    type Group;
    /// The page of one name.
    type NamePage;
    /// The body of a chart request.
    type ChartRequest;
    /// The metrics that a chart can show.
    type ChartMetric;
    /// The response of a chart request.
    type Chart;
    /// The page of one row.
    type Detail;

    /// The column that an order of rows sorts by.
    fn column(order: Self::RowOrder) -> &'static str;

    /// The view of a row with all columns of the table. `project`: its id.
    fn row(row: Row<'_>, project: Uuid) -> Self::Row;

    /// The filter of a list's search, which is in the name; every row passes when `text` is absent or blank.
    fn search(text: Option<&str>) -> Filter {
        filters::contains(NAME_COLUMN, text)
    }

    /// The filter on rows that latency statistics include. Streams have no latency. Spec: entity rows, "Other".
    fn timed() -> Filter {
        filters::is_not("is_stream")
    }

    /// The context of groups; the default when the kind has none of its own.
    fn ranking_context(
        executor: &Executor,
        project: &Project,
    ) -> impl Future<Output = Result<Self::Context, QueryError>> + Send {
        let _ = (executor, project);
        nothing()
    }

    /// The aggregates that [`EntityKind::metrics`] reads; none when the kind has no metrics of its own.
    fn aggregates(context: &Self::Context) -> Vec<Aggregate> {
        let _ = context;
        Vec::new()
    }

    /// Reads the outputs of [`EntityKind::aggregates`].
    fn metrics(row: Row<'_>) -> Self::Metrics {
        let _ = row;
        Self::Metrics::default()
    }

    /// Ranks the group `name`.
    fn rank(name: &str, stats: &EntityStats<Self::Metrics>, context: &Self::Context) -> Self::Rank;

    /// The value by which `order` sorts a group.
    fn sort_value(order: Self::GroupOrder, found: &RankedGroup<Self>) -> SortValue;

    /// Queries the additional values of the groups by `key` of the rows that pass `filter`.
    fn group_extra(
        executor: &Executor,
        project: u32,
        range: Range,
        filter: Filter,
        key: &Key,
    ) -> impl Future<Output = Result<Self::GroupExtra, QueryError>> + Send {
        let _ = (executor, project, range, filter, key);
        nothing()
    }

    /// The view of a group.
    fn group_view(found: RankedGroup<Self>, extra: &Self::GroupExtra, trend: Vec<TrendPoint>) -> Self::Group;

    /// Queries the additional values of the page of one name; `filter` selects its rows.
    fn name_extra(
        executor: &Executor,
        project: u32,
        range: Range,
        filter: Filter,
    ) -> impl Future<Output = Result<Self::NameExtra, QueryError>> + Send {
        let _ = (executor, project, range, filter);
        nothing()
    }

    /// The page of one name.
    fn name_view(
        data: Vec<Self::Row>,
        pagination: PageInfo,
        stats: &EntityStats<Self::Metrics>,
        extra: Self::NameExtra,
    ) -> Self::NamePage;

    /// Queries a chart whose lines are not groups of rows; `None`: the lines of `metric` are groups.
    fn own_chart(
        executor: &Executor,
        project: u32,
        range: Range,
        body: &ChartBody<Self::ChartMetric>,
    ) -> impl Future<Output = Result<Option<Lines>, QueryError>> + Send {
        let _ = (executor, project, range, body);
        nothing()
    }

    /// The parts of a chart request.
    fn chart_body(request: Self::ChartRequest) -> ChartBody<Self::ChartMetric>;

    /// The aggregates of a chart of `metric`.
    fn chart_values(metric: Self::ChartMetric) -> ChartValues;

    /// The response of a chart request.
    fn chart_view(lines: Lines) -> Self::Chart;

    /// Queries the additional values of the page of one row. `row` has all columns; `window` is the range around it.
    fn row_extra(
        executor: &Executor,
        project: u32,
        row: Row<'_>,
        window: Range,
    ) -> impl Future<Output = Result<Self::RowExtra, QueryError>> + Send {
        let _ = (executor, project, row, window);
        nothing()
    }

    /// The page of one row.
    fn detail_view(parts: DetailParts<Self>) -> Self::Detail;
}

/// The answer of a question that the kind does not ask.
fn nothing<T: Default>() -> Ready<Result<T, QueryError>> {
    ready(Ok(T::default()))
}

/// The body of a list request.
pub trait ListBody<O> {
    /// Splits the body into the fields that every list has, and a filter from the other fields.
    fn split(self) -> (ListRequest<O>, Filter);

    /// Key that forms the groups; the name of the entity unless the body says otherwise.
    fn grouping(&self) -> KeySource {
        KeySource::Column(NAME_COLUMN)
    }
}

impl<O> ListBody<O> for ListRequest<O> {
    fn split(self) -> (ListRequest<O>, Filter) {
        (self, Filter::True)
    }
}

/// The parts of a chart request.
pub struct ChartBody<M> {
    /// Start of the range, RFC 3339.
    pub from_date: Option<String>,
    /// End of the range, exclusive, RFC 3339.
    pub to_date: Option<String>,
    /// Requested minutes per bucket.
    pub interval_minutes: Option<i64>,
    /// Query in the query language.
    pub query: Option<String>,
    /// Draws only this name.
    pub only: Option<String>,
    /// Metric of the chart.
    pub metric: M,
    /// Condition on the rows.
    pub filter: Filter,
    /// Key that forms the lines.
    pub grouping: KeySource,
}

impl<M: Default> ChartBody<M> {
    /// The chart with a line for each value of `column`, of the rows of `name`; of every row when `name` is absent or
    /// empty. When the lines are names, `name` has the only line.
    pub fn by_column(column: &'static str, name: Option<String>) -> ChartBody<M> {
        let name = name.filter(|name| !name.is_empty());
        let (only, filter) = match name {
            Some(name) if column != NAME_COLUMN => (None, filters::text(NAME_COLUMN, &name)),
            name => (name, Filter::True),
        };
        let (from_date, to_date, interval_minutes, query, metric) = Default::default();
        ChartBody {
            from_date,
            to_date,
            interval_minutes,
            query,
            only,
            metric,
            filter,
            grouping: KeySource::Column(column),
        }
    }
}

/// The aggregates of a chart; the output of both is [`VALUE`].
pub struct ChartValues {
    /// Names with the greatest weight have their own line.
    pub weight: Aggregate,
    /// The value of a point: a number, or a list of one quantile.
    pub value: Aggregate,
    /// `value` is in nanoseconds and is returned in milliseconds.
    pub is_duration: bool,
}

impl ChartValues {
    /// The aggregates of Endpoints and Tasks; durations are those of rows that pass `timed`.
    pub fn of_durations(metric: ChartMetric, timed: Filter) -> ChartValues {
        let count = || Function::Weight.named(VALUE);
        let total_time = || Function::Sum("duration").named(VALUE).only(timed.clone());
        let quantile = |share| {
            let function = Function::Quantiles { column: "duration", qs: vec![share] };
            function.named(VALUE).only(timed.clone())
        };
        let (weight, value) = match metric {
            ChartMetric::TotalTime => (total_time(), total_time()),
            ChartMetric::P50 => (total_time(), quantile(0.50)),
            ChartMetric::P95 => (total_time(), quantile(0.95)),
            ChartMetric::P99 => (total_time(), quantile(0.99)),
            ChartMetric::Count => (count(), count()),
        };
        ChartValues { weight, value, is_duration: metric != ChartMetric::Count }
    }
}

/// A row with everything that its page shows.
pub struct DetailParts<K: EntityKind> {
    /// The view of the row.
    pub row: K::Row,
    /// The spans of its trace, in waterfall order.
    pub spans: Vec<SpanView>,
    /// Whether `spans` is complete.
    pub span_graph_status: SpanGraphStatus,
    /// The first exception that the row owns; `None` when it owns none.
    pub exception: Option<ExceptionBrief>,
    /// All exceptions of the trace, sorted by time.
    pub exceptions: Vec<Occurrence>,
    /// Values that only this kind has.
    pub extra: K::RowExtra,
}

/// The rows of one group in the range, aggregated and ranked.
pub struct RankedGroup<K: EntityKind> {
    /// Name of the group.
    pub name: String,
    /// Aggregates of its rows.
    pub stats: EntityStats<K::Metrics>,
    /// Value of the kind's ranking.
    pub rank: K::Rank,
}

/// The value that a group is sorted by.
pub enum SortValue {
    /// The name of the group.
    Name,
    /// A value that every group has.
    Number(f64),
    /// Groups without a value come last in either direction.
    AbsentLast(Option<f64>),
}
