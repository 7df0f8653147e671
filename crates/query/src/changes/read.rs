//! Subjects, and what is read of them: groups by name and bucket.

use tidewatch_domain::changes::{Change, Kind, Suspicion};
use tidewatch_store::plan::{Aggregate, Filter, Function, Op};
use tidewatch_store::tables::Table;

use crate::answer::{Answer, Column};
use crate::error::QueryError;
use crate::executor::Executor;
use crate::plans;
use crate::views::changes::ChangeKind;
use crate::{ai_metrics, filters};

/// The tables of subjects.
pub(super) const TABLES: [Table; 3] = [Table::Endpoints, Table::Tasks, Table::AiTraces];
/// Output columns of the plans.
const CALLS_COLUMN: &str = "calls";
const FAILED: &str = "failed";
const REFUSED: &str = "refused";
const WEIGHT_COLUMN: &str = "weights";
const DURATIONS: &str = "durations";
const PRICED: &str = "priced";
const PRICED_WEIGHT: &str = "priced_weight";
const COST: &str = "cost";

/// A subject that may have changed.
#[derive(Debug, Clone, PartialEq)]
pub struct Subject {
    /// Its table.
    pub table: Table,
    /// Its name.
    pub name: String,
    /// Calls that a stored row stands for.
    pub(super) weight: f64,
    /// Strength with which its quarters suggest a change.
    pub(super) suspicion: Suspicion,
}

impl Subject {
    /// The kind of the subject in responses.
    pub fn kind(&self) -> ChangeKind {
        match self.table {
            Table::Tasks => ChangeKind::Task,
            Table::AiTraces => ChangeKind::AiTrace,
            _ => ChangeKind::Endpoint,
        }
    }

    /// Its rows.
    pub fn rows(&self) -> Filter {
        calls(self.table).and(filters::text("name", &self.name))
    }

    /// The change in calls instead of stored rows.
    pub fn scaled(&self, change: &Change) -> Change {
        let mut scaled = change.clone();
        (scaled.harm, scaled.calls_an_hour) = (change.harm * self.weight, change.calls_an_hour * self.weight);
        if change.kind == Kind::Fewer {
            (scaled.before, scaled.after) = (change.before * self.weight, change.after * self.weight);
        }
        scaled
    }
}

/// The rows of a table that are calls.
pub fn calls(table: Table) -> Filter {
    if table == Table::AiTraces { ai_metrics::model_calls() } else { Filter::True }
}

/// Durations of streams say how long clients stay.
fn timed(table: Table) -> Filter {
    if table == Table::AiTraces { Filter::True } else { filters::is_not("is_stream") }
}

/// Requests that were answered with a status of 400 to 499, and did not fail.
pub(super) fn refused() -> Filter {
    let status = filters::compare("status_code", Op::Ge, 400).and(filters::compare("status_code", Op::Lt, 500));
    status.and(filters::is_not("is_error"))
}

/// Aggregates that are read of each group: [`Columns`] and [`Details`]. `qs` are the quantiles of durations.
pub(super) fn aggregates(table: Table, qs: Vec<f64>) -> Vec<Aggregate> {
    let mut aggregates = vec![
        calls_alone(),
        Function::Count.named(FAILED).only(filters::is("is_error")),
        Function::Weight.named(WEIGHT_COLUMN),
        Function::Quantiles { column: "duration", qs }.named(DURATIONS).only(timed(table)),
    ];
    if table == Table::Endpoints {
        aggregates.push(Function::Count.named(REFUSED).only(refused()));
    }
    if table == Table::AiTraces {
        let priced = || ai_metrics::counted_with("total_cost");
        aggregates.extend([
            Function::Count.named(PRICED).only(priced()),
            Function::Weight.named(PRICED_WEIGHT).only(priced()),
            Function::Sum("total_cost").named(COST).only(priced()),
        ]);
    }
    aggregates
}

/// Aggregate that [`Columns`] alone need.
pub(super) fn calls_alone() -> Aggregate {
    Function::Count.named(CALLS_COLUMN)
}

/// The columns of every answer: groups by name and bucket.
#[derive(Clone, Copy)]
pub(super) struct Columns<'a> {
    pub rows: usize,
    pub name: Column<'a>,
    pub bucket: Column<'a>,
    pub calls: Column<'a>,
}

impl<'a> Columns<'a> {
    pub fn of(answer: &'a Answer) -> Columns<'a> {
        let column = |name| answer.column(name);
        Columns { rows: answer.len(), name: column("name"), bucket: column(plans::BUCKET), calls: column(CALLS_COLUMN) }
    }
}

/// The other columns, unless only calls were read.
#[derive(Clone, Copy)]
pub(super) struct Details<'a> {
    pub failed: Column<'a>,
    /// `None`: the table has no statuses.
    refused: Option<Column<'a>>,
    pub weight: Column<'a>,
    pub durations: Column<'a>,
    /// Stored calls with a cost, their weight, and the weighted sum of their costs; `None`: the table has none.
    costs: Option<[Column<'a>; 3]>,
}

impl<'a> Details<'a> {
    pub fn of(answer: &'a Answer, table: Table) -> Details<'a> {
        let column = |name| answer.column(name);
        Details {
            failed: column(FAILED),
            refused: (table == Table::Endpoints).then(|| column(REFUSED)),
            weight: column(WEIGHT_COLUMN),
            durations: column(DURATIONS),
            costs: (table == Table::AiTraces).then(|| [PRICED, PRICED_WEIGHT, COST].map(column)),
        }
    }

    /// Stored calls that were refused.
    pub fn refused(&self, row: usize) -> f64 {
        self.refused.map_or(0.0, |refused| refused.number(row))
    }

    /// Stored calls with a cost, and the sum of their costs, US dollars.
    pub fn costs(&self, row: usize) -> (f64, f64) {
        let Some(costs) = self.costs else { return (0.0, 0.0) };
        let [priced, weight, cost] = costs.map(|column| column.number(row));
        (priced, if weight > 0.0 { cost * priced / weight } else { 0.0 })
    }
}

/// Computes on two threads, in the order of `items`.
pub(super) async fn in_halves<I: Send + 'static, O: Send + 'static>(
    executor: &Executor,
    mut items: Vec<I>,
    compute: impl Fn(I) -> O + Clone + Send + 'static,
) -> Result<Vec<O>, QueryError> {
    let rest = items.split_off(items.len() / 2);
    let of = |items: Vec<I>| {
        let compute = compute.clone();
        executor.context.run_queued(move |_| items.into_iter().map(compute).collect::<Vec<O>>())
    };
    let (mut computed, others) = tokio::try_join!(of(items), of(rest))?;
    computed.extend(others);
    Ok(computed)
}
