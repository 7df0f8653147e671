//! What differs between the kinds of entities.

use std::future::Future;

use serde::de::DeserializeOwned;
use tidewatch_store::plan::{Aggregate, Filter, Function};
use tidewatch_store::tables::Table;
use uuid::Uuid;

use super::{EntityStats, Found, Opened, SortValue};
use crate::answer::Row;
use crate::ask::Ask;
use crate::chart::{Lines, VALUE};
use crate::error::QueryError;
use crate::time::Range;
use crate::views::endpoint::ChartMetric;
use crate::views::page::{ListRequest, PageInfo, TrendPoint};
use tidewatch_accounts::Project;

/// A kind of entity: its table, its orders, what is computed of it besides [`EntityStats`], and how the API shows it.
pub trait EntityKind: Sized + 'static {
    const TABLE: Table;
    /// For sentences: "an endpoint".
    const NOUN: &'static str;

    /// Orders of single rows.
    type RowOrder: DeserializeOwned + Default + Send + Sync;
    /// Orders of groups.
    type GroupOrder: DeserializeOwned + Default + Copy + Send + Sync;

    /// What the metrics depend on: accepted slow offsets, bands.
    type Context: Send + Sync;
    /// Metrics that the other kinds do not have.
    type Metrics: Default + Send;
    /// What the groups of one name are judged by.
    type Judgement: Send;
    /// What is asked besides for the names on a page of groups.
    type GroupExtra: Send;
    /// What is asked besides for the page of one name.
    type NameExtra: Send;
    /// What is asked besides for the page of one row.
    type RowExtra: Send;

    type Row: Send;
    type Group;
    type NamePage;
    type ChartRequest;
    type ChartMetric;
    type Chart;
    type Detail;

    /// The column of an order.
    fn column(order: Self::RowOrder) -> &'static str;

    /// A row as the API shows it; every column of the table has been asked for.
    fn row(row: Row<'_>, project: Uuid) -> Self::Row;

    /// The rows that match the search of a list.
    fn search(text: Option<&str>) -> Filter;

    /// The rows whose duration counts.
    fn timed() -> Filter;

    /// The context of a ranking.
    fn ranking(ask: &Ask, project: &Project) -> impl Future<Output = Result<Self::Context, QueryError>> + Send;

    /// The context of the page of one name.
    fn of_name() -> Self::Context;

    /// The aggregates that [`EntityKind::metrics`] reads.
    fn aggregates(context: &Self::Context) -> Vec<Aggregate>;

    fn metrics(row: Row<'_>) -> Self::Metrics;

    fn judge(name: &str, stats: &EntityStats<Self::Metrics>, context: &Self::Context) -> Self::Judgement;

    /// What a group is sorted by.
    fn sort_value(order: Self::GroupOrder, found: &Found<Self>) -> SortValue;

    fn group_extra(
        ask: &Ask,
        project: u32,
        range: Range,
        filter: Filter,
    ) -> impl Future<Output = Result<Self::GroupExtra, QueryError>> + Send;

    fn group_view(found: Found<Self>, extra: &Self::GroupExtra, trend: Vec<TrendPoint>) -> Self::Group;

    fn name_extra(
        ask: &Ask,
        project: u32,
        range: Range,
        filter: Filter,
    ) -> impl Future<Output = Result<Self::NameExtra, QueryError>> + Send;

    fn name_view(
        data: Vec<Self::Row>,
        pagination: PageInfo,
        stats: &EntityStats<Self::Metrics>,
        extra: Self::NameExtra,
    ) -> Self::NamePage;

    fn chart_body(request: Self::ChartRequest) -> ChartBody<Self::ChartMetric>;

    fn chart_values(metric: Self::ChartMetric) -> ChartValues;

    fn chart_view(lines: Lines) -> Self::Chart;

    /// `row`: the entity's own, with every column.
    fn row_extra(
        ask: &Ask,
        project: u32,
        row: Row<'_>,
        window: Range,
    ) -> impl Future<Output = Result<Self::RowExtra, QueryError>> + Send;

    fn detail_view(opened: Opened<Self>) -> Self::Detail;
}

/// The body of a list: what every list has, and the rows that the rest of the body asks for.
pub trait ListBody<O> {
    fn split(self) -> (ListRequest<O>, Filter);
}

impl<O> ListBody<O> for ListRequest<O> {
    fn split(self) -> (ListRequest<O>, Filter) {
        (self, Filter::True)
    }
}

/// The body of a chart.
pub struct ChartBody<M> {
    pub from_date: Option<String>,
    pub to_date: Option<String>,
    pub interval_minutes: Option<i64>,
    /// One name alone.
    pub only: Option<String>,
    pub metric: M,
    /// Rows that count.
    pub filter: Filter,
}

/// What a chart asks; both are named [`VALUE`].
pub struct ChartValues {
    /// Names are chosen by this, greatest first.
    pub weight: Aggregate,
    /// What a point shows: a number, or a list of one quantile.
    pub value: Aggregate,
    /// `value` is in nanoseconds, and shown in milliseconds.
    pub is_duration: bool,
}

impl ChartValues {
    /// The charts of Endpoints and Tasks; durations are those of the `timed` rows.
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
