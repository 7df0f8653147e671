//! Requests and runs by Endpoint or Task.

use std::collections::HashMap;

use tidewatch_domain::ranking::{Impact, apdex};
use tidewatch_store::plan::{Filter, Function, Key, Op};
use tidewatch_store::tables::Table;

use super::{Windows, grouped};
use crate::endpoints::Endpoint;
use crate::entities::{EntityKind, EntityStats};
use crate::error::QueryError;
use crate::executor::Executor;
use crate::filters;
use tidewatch_accounts::Project;

/// Measure of served requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ServedKind {
    /// Endpoints.
    Endpoints,
    /// Tasks.
    Tasks,
}

/// The requests of an Endpoint, or the runs of a Task, in a window. Counts are weighted.
#[derive(Debug, Clone, PartialEq)]
pub struct Served {
    /// Index of the window.
    pub window: i64,
    /// Name of the Endpoint or Task.
    pub name: String,
    /// All of them.
    pub total: f64,
    /// Those with HTTP status 500 and above.
    pub server_errors: f64,
    /// Those with an error.
    pub errors: f64,
    /// Requests that are no streams.
    pub timed: f64,
    /// Of these, satisfied ones.
    pub satisfied: f64,
    /// Of these, tolerated ones.
    pub tolerating: f64,
    /// P95 and P99 of durations, nanoseconds; `None` without durations.
    pub percentiles: Option<[f64; 2]>,
    /// The impact; of Tasks none.
    pub impact: Option<Impact>,
}

impl Served {
    /// Apdex, 0 to 1; `None` without requests that are no streams.
    pub fn apdex(&self) -> Option<f64> {
        apdex(self.satisfied, self.tolerating, self.timed)
    }
}

/// Output columns of the plan.
const TOTAL: &str = "windows_total";
const SERVER_ERRORS: &str = "windows_server_errors";
const ERRORS: &str = "windows_errors";
const TIMED: &str = "windows_timed";
const QUANTILES: &str = "windows_quantiles";

/// Measures every Endpoint or Task, or only `name`, in each window. Those with most records are first; beyond
/// `names_max` names they are left out.
pub async fn served(
    executor: &Executor,
    project: &Project,
    kind: ServedKind,
    windows: Windows,
    name: Option<&str>,
    names_max: usize,
) -> Result<Vec<Served>, QueryError> {
    let is_endpoints = kind == ServedKind::Endpoints;
    let table = if is_endpoints { Table::Endpoints } else { Table::Tasks };
    let timed = || if is_endpoints { Endpoint::timed() } else { Filter::True };
    let bands = Endpoint::ranking_context(executor, project).await?;
    let mut aggregates = vec![
        Function::Weight.named(TOTAL),
        Function::Weight.named(SERVER_ERRORS).only(filters::compare("status_code", Op::Ge, 500)),
        Function::Weight.named(ERRORS).only(filters::is("is_error")),
        Function::Weight.named(TIMED).only(timed()),
        Function::Quantiles { column: "duration", qs: vec![0.95, 0.99] }.named(QUANTILES).only(timed()),
    ];
    if is_endpoints {
        aggregates.extend(Endpoint::aggregates(&bands));
    }
    let filter = name.map_or(Filter::True, |name| filters::text("name", name));
    let plan = grouped(table, project.number, windows, filter, vec![Key::column("name")], aggregates);
    let answer = executor.run(plan).await?;
    let read = |row: crate::answer::Row<'_>| {
        let name = row.text("name").to_owned();
        let percentiles: Option<[f64; 2]> = row.numbers(QUANTILES).and_then(|list| list.try_into().ok());
        let (total, timed, errors) = (row.number(TOTAL), row.number(TIMED), row.number(ERRORS));
        let mut served = Served {
            window: windows.index(row),
            total,
            server_errors: row.number(SERVER_ERRORS),
            errors,
            timed,
            satisfied: 0.0,
            tolerating: 0.0,
            percentiles,
            impact: None,
            name,
        };
        if is_endpoints {
            let own = Endpoint::metrics(row);
            (served.satisfied, served.tolerating) = own.within_bands();
            let percentiles = percentiles.map(|[p95, p99]| [0.0, p95, p99]);
            let stats = EntityStats { total, timed, errors, percentiles, own, ..EntityStats::default() };
            served.impact = Some(Endpoint::rank(&served.name, &stats, &bands));
        }
        served
    };
    let mut found: Vec<Served> = answer.rows().map(read).collect();
    let mut totals: HashMap<String, f64> = HashMap::new();
    for one in &found {
        *totals.entry(one.name.clone()).or_default() += one.total;
    }
    let total = |one: &Served| totals.get(&one.name).copied().unwrap_or(0.0);
    found.sort_by(|one, other| {
        let by_total = total(other).total_cmp(&total(one));
        by_total.then_with(|| one.name.cmp(&other.name)).then(one.window.cmp(&other.window))
    });
    let mut names = 0;
    let mut last = String::new();
    found.retain(|one| {
        if names == 0 || one.name != last {
            names += 1;
            last.clone_from(&one.name);
        }
        names <= names_max
    });
    Ok(found)
}
