//! `POST /api/overview/answers`: what is always bad, what is new, and what AI costs.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use tidewatch_domain::units::{DAY_NS, HOUR_NS, MINUTE_NS};
use tidewatch_store::plan::{Filter, Function, Key};
use tidewatch_store::tables::Table;

use crate::context::QueryContext;
use crate::error::QueryError;
use crate::executor::Executor;
use crate::issues::Families;
use crate::plans::{self, Window};
use crate::time::{self, Buckets, Range};
use crate::views::answers::*;
use crate::{ai_metrics, deploys, endpoints, filters, ids};
use tidewatch_accounts::Project;
use tidewatch_limits as limits;

/// Rows of [`Answers::always_bad`].
const ALWAYS_BAD: usize = 20;
/// Rows of [`AiSpend::names`].
const SPENDING: usize = 5;
/// Calls of each period that a relative change needs.
const COMPARED: f64 = 20.0;
/// Nothing of this time after the first telemetry is new, nanoseconds.
const BEGINNING: i64 = 5 * MINUTE_NS;
/// Shorter times of costs are not compared, nanoseconds.
const COMPARED_TIME: i64 = HOUR_NS;
/// Buckets in which the first telemetry is looked for.
const BUCKETS: i64 = 1500;

/// Output columns.
const COUNT: &str = "count";
const FIRST: &str = "first";
const COST: &str = "cost";

/// `POST /api/overview/answers`.
pub async fn read(executor: &Executor, project: &Project, request: AnswersRequest) -> Result<Answers, QueryError> {
    let now = executor.context.clock.now_ns();
    let range = Range::of_list(request.from_date.as_deref(), request.to_date.as_deref(), now)?;
    let data_since = data_since(executor, project.number, range).await?;
    let known_from = data_since.map_or(range.from, |since| since.saturating_add(BEGINNING).max(range.from));
    let from = data_since.unwrap_or(range.from);
    let with_data = Range { from, to: range.to.min(now).max(from.saturating_add(1)) };
    let (mut always_bad, new, ai_spend) = tokio::try_join!(
        endpoints::always_bad(executor, project, with_data),
        new_things(executor, project, range, known_from),
        ai_spend(executor, project.number, range),
    )?;
    always_bad.truncate(ALWAYS_BAD);
    Ok(Answers { always_bad, new, ai_spend, data_since: data_since.map(time::to_rfc3339) })
}

/// `GET /api/overview/data-since`.
pub async fn beginning(executor: &Executor, project: &Project) -> Result<DataSince, QueryError> {
    let now = executor.context.clock.now_ns();
    let data_since = data_since(executor, project.number, Range { from: now.saturating_sub(DAY_NS), to: now }).await?;
    Ok(DataSince { data_since: data_since.map(time::to_rfc3339) })
}

const PROMOTED: [Table; 4] = [Table::Endpoints, Table::Tasks, Table::AiTraces, Table::Exceptions];

/// The start of the first bucket with rows, when none are before the range.
async fn data_since(executor: &Executor, project: u32, range: Range) -> Result<Option<i64>, QueryError> {
    let before = Range { from: Range::ALL.from, to: range.from };
    for table in [Table::Spans, Table::Logs, Table::MetricPoints, Table::Exceptions] {
        // By time, so that the bounds of one row group rule out all others.
        let order = vec![plans::ascending("time")];
        let plan = plans::rows(table, &[project], before, Filter::True, vec!["time"], order, Window::first(1));
        if !executor.run(plan).await?.is_empty() {
            return Ok(None);
        }
    }
    let buckets = Buckets::at_most(range, BUCKETS, MINUTE_NS);
    let mut first = None;
    for table in [Table::Endpoints, Table::Tasks, Table::AiTraces, Table::Exceptions, Table::Logs] {
        let (keys, counts) = (vec![plans::bucket(&buckets)], vec![Function::Count.named(COUNT)]);
        let answer = executor.run(plans::groups(table, &[project], range, Filter::True, keys, counts)).await?;
        first = first.into_iter().chain(answer.rows().map(|row| row.int(plans::BUCKET))).min();
    }
    Ok(first.map(|first: i64| first.max(range.from)))
}

/// Names first seen in the range after `known_from`.
async fn new_things(
    executor: &Executor,
    project: &Project,
    range: Range,
    known_from: i64,
) -> Result<Vec<NewThing>, QueryError> {
    let mut new = new_versions(&executor.context, project.number, range, known_from).await?;
    for table in PROMOTED {
        new.extend(new_names(executor, project.number, table, range, known_from).await?);
    }
    new.sort_by(|one, other| {
        let by_time = one.kind.cmp(&other.kind).then_with(|| other.since.cmp(&one.since));
        by_time.then_with(|| one.name.cmp(&other.name))
    });
    new.truncate(limits::NEW_LISTED_MAX);
    Ok(new)
}

/// Versions that went live, and services whose first version did.
async fn new_versions(
    context: &QueryContext,
    project: u32,
    range: Range,
    known_from: i64,
) -> Result<Vec<NewThing>, QueryError> {
    let all = deploys::all(context, project).await?;
    let mut services = HashSet::new();
    let mut new = Vec::new();
    for one in all {
        let is_first = services.insert(one.deploy.service.clone());
        let at = one.deploy.deployed_ns;
        if at < known_from || at >= range.to || (one.previous.is_none() && !is_first) {
            continue;
        }
        let (kind, name) = match is_first {
            true => (NewKind::Service, one.deploy.service.clone()),
            false => (NewKind::Version, format!("{} {}", one.deploy.service, one.deploy.version)),
        };
        new.push(NewThing {
            kind,
            name,
            exception_hash: None,
            service: one.deploy.service,
            version: Some(one.deploy.version),
            since: time::to_rfc3339(at),
            count: 0,
        });
    }
    Ok(new)
}

/// The names, or Issues, of the range that have no row before it.
async fn new_names(
    executor: &Executor,
    project: u32,
    table: Table,
    range: Range,
    known_from: i64,
) -> Result<Vec<NewThing>, QueryError> {
    let is_issue = table == Table::Exceptions;
    let key = if is_issue { "group" } else { "name" };
    let counted = |range, filter| {
        let counts = vec![Function::Weight.named(COUNT)];
        plans::groups(table, &[project], range, filter, vec![Key::column(key)], counts)
    };
    // Merged Issues are one.
    let families = if is_issue { Families::load(executor, project).await? } else { Families::default() };
    let name_of = |row: crate::answer::Row<'_>| match is_issue {
        true => Name::Issue(families.primary(row.u64("group"))),
        false => Name::Text(row.text("name").to_owned()),
    };
    let answer = executor.run(counted(range, Filter::True)).await?;
    let mut found: BTreeMap<Name, f64> = BTreeMap::new();
    for row in answer.rows() {
        *found.entry(name_of(row)).or_default() += row.number(COUNT);
    }
    let before = Range { from: Range::ALL.from, to: range.from };
    for row in executor.run(counted(before, Filter::True)).await?.rows() {
        found.remove(&name_of(row));
    }
    if found.is_empty() {
        return Ok(Vec::new());
    }
    // The most frequent ones: their rows are read.
    let mut most: Vec<(Name, f64)> = found.into_iter().collect();
    most.sort_by(|one, other| other.1.total_cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    most.truncate(limits::NEW_LISTED_MAX);
    let filter = Filter::Any(most.iter().map(|(name, _)| name.filter(&families)).collect());
    let mut aggregates = vec![Function::Min("time").named(FIRST)];
    aggregates.extend(["server_name", "app_version"].map(|column| Function::Earliest { column }.named(column)));
    if is_issue {
        aggregates.push(Function::Latest { column: "exception_type" }.named("exception_type"));
    }
    let answer =
        executor.run(plans::groups(table, &[project], range, filter, vec![Key::column(key)], aggregates)).await?;
    let thing = |row: crate::answer::Row<'_>| {
        let name = name_of(row);
        let count = most.iter().find(|(known, _)| *known == name)?.1;
        let first = row.int(FIRST);
        if first < known_from {
            return None;
        }
        let kind = match table {
            Table::Endpoints => NewKind::Endpoint,
            Table::Tasks => NewKind::Task,
            Table::AiTraces => NewKind::AiTrace,
            _ => NewKind::Issue,
        };
        let (title, exception_hash) = match name {
            Name::Text(name) => (name, None),
            Name::Issue(hash) => {
                let title = Some(row.text("exception_type")).filter(|title| !title.is_empty()).unwrap_or("exception");
                (title.to_owned(), Some(ids::format_hash(hash)))
            }
        };
        Some(NewThing {
            kind,
            name: title,
            exception_hash,
            service: row.text("server_name").to_owned(),
            version: Some(row.text("app_version").to_owned()).filter(|version| !version.is_empty()),
            since: time::to_rfc3339(first),
            count: count.round() as u64,
        })
    };
    // Of a merged Issue, the earliest part.
    let mut rows: Vec<_> = answer.rows().collect();
    rows.sort_by_key(|row| row.int(FIRST));
    let mut seen = BTreeSet::new();
    Ok(rows.into_iter().filter(|row| seen.insert(name_of(*row))).filter_map(thing).collect())
}

/// A name, or the hash of an Issue.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Name {
    Text(String),
    Issue(u64),
}

impl Name {
    fn filter(&self, families: &Families) -> Filter {
        match self {
            Name::Text(name) => filters::text("name", name),
            Name::Issue(hash) => families.filter([*hash]),
        }
    }
}

/// The end of the range, and the equally long time, one range earlier, that has telemetry: with telemetry since
/// `began` in the time before the range, only a part of it is compared. `None` when that part is short.
fn compared_times(range: Range, began: Option<i64>) -> Option<(Range, Range)> {
    let length = range.length();
    let from = began.unwrap_or(range.from.saturating_sub(length)).max(range.from.saturating_sub(length));
    let before = Range { from, to: range.from };
    let is_long = before.from < before.to && before.length() >= COMPARED_TIME.min(length);
    is_long.then(|| (Range { from: from.saturating_add(length), to: range.to }, before))
}

/// Costs by name, of the range, and what they are compared with.
async fn ai_spend(executor: &Executor, project: u32, range: Range) -> Result<Option<AiSpend>, QueryError> {
    let since = Range { from: range.from.saturating_sub(range.length()), to: range.to };
    let (now, began) = tokio::try_join!(costs(executor, project, range), data_since(executor, project, since))?;
    let compared = compared_times(range, began);
    let (part, previous) = match compared {
        Some((part, before)) if part != range => {
            let (part, before) = tokio::try_join!(costs(executor, project, part), costs(executor, project, before))?;
            (Some(part), before)
        }
        Some((_, before)) => (None, costs(executor, project, before).await?),
        None => (None, Costs::new()),
    };
    let sum = |of: &Costs| of.values().fold((0.0, 0.0), |(cost, calls), one| (cost + one.0, calls + one.1));
    if sum(&now).1 <= 0.0 {
        return Ok(None);
    }
    let part = part.as_ref().unwrap_or(&now);
    let total = spend(String::new(), sum(&now), sum(part), sum(&previous));
    let of_name = |(name, cost): (&String, &(f64, f64))| {
        let of = |costs: &Costs| costs.get(name).copied().unwrap_or_default();
        spend(name.clone(), *cost, of(part), of(&previous))
    };
    let mut names: Vec<AiSpendOf> = now.iter().map(of_name).collect();
    names.sort_by(|one, other| other.cost.total_cmp(&one.cost).then_with(|| one.name.cmp(&other.name)));
    names.truncate(SPENDING);
    let compared_from = compared.map(|(part, _)| time::to_rfc3339(part.from));
    Ok(Some(AiSpend { total, names, compared_from }))
}

/// Cost and priced calls by name.
type Costs = BTreeMap<String, (f64, f64)>;

/// `part` is of the time that is compared with that of `previous`.
fn spend(name: String, whole: (f64, f64), part: (f64, f64), previous: (f64, f64)) -> AiSpendOf {
    let is_comparable = part.1 >= COMPARED && previous.1 >= COMPARED && previous.0 > 0.0;
    AiSpendOf {
        name,
        cost: whole.0,
        compared_cost: part.0,
        previous_cost: previous.0,
        calls: whole.1.round() as u64,
        compared_calls: part.1.round() as u64,
        previous_calls: previous.1.round() as u64,
        change: is_comparable.then(|| part.0 / previous.0 - 1.0),
    }
}

async fn costs(executor: &Executor, project: u32, range: Range) -> Result<Costs, QueryError> {
    let priced = ai_metrics::counted_with("total_cost");
    let sums = vec![Function::Sum("total_cost").named(COST), Function::Weight.named(COUNT)];
    let filter = ai_metrics::model_calls().and(priced);
    let plan = plans::groups(Table::AiTraces, &[project], range, filter, vec![Key::column("name")], sums);
    let answer = executor.run(plan).await?;
    Ok(answer.rows().map(|row| (row.text("name").to_owned(), (row.number(COST), row.number(COUNT)))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    // Issue 21: never a percentage on fewer than 20 samples.
    #[test]
    fn a_relative_change_needs_twenty_calls_on_both_sides() {
        for (calls, previous, expected) in
            [(20.0, 20.0, Some(1.0)), (19.0, 20.0, None), (20.0, 19.0, None), (20.0, 0.0, None)]
        {
            let found = spend(String::new(), (9.0, 90.0), (4.0, calls), (2.0, previous));
            assert_eq!(found.change, expected, "{calls} {previous}");
        }
    }

    // Issue 35: costs compare equal covered times.
    #[test]
    fn compared_times_are_equally_long_and_covered() {
        let hours = |from: i64, to: i64| Range { from: from * HOUR_NS, to: to * HOUR_NS };
        for (began, expected) in [
            (None, Some((hours(100, 124), hours(76, 100)))),
            (Some(76), Some((hours(100, 124), hours(76, 100)))),
            (Some(94), Some((hours(118, 124), hours(94, 100)))),
            (Some(99), Some((hours(123, 124), hours(99, 100)))),
            (Some(100), None),
            (Some(110), None),
        ] {
            assert_eq!(compared_times(hours(100, 124), began.map(|hour| hour * HOUR_NS)), expected, "{began:?}");
        }
        let minutes = |from: i64, to: i64| Range { from: from * MINUTE_NS, to: to * MINUTE_NS };
        assert_eq!(
            compared_times(minutes(100, 115), None),
            Some((minutes(100, 115), minutes(85, 100))),
            "a short range"
        );
    }
}
