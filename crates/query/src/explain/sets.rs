//! The selection, and the rows that it is compared with.

use std::collections::BTreeSet;
use std::time::Duration;

use tidewatch_domain::explain::Set;
use tidewatch_domain::query_language::parse;
use tidewatch_domain::units::{DAY_NS, MINUTE_NS};
use tidewatch_limits as limits;
use tidewatch_store::plan::{Filter, Value};
use tidewatch_store::tables::Table;

use super::defining::Defining;
use crate::error::QueryError;
use crate::executor::Executor;
use crate::language::{self, RowKind};
use crate::plans::{self, Window};
use crate::time::Range;
use crate::views::explain::{ExplainEntity, ExplainRequest};
use crate::{filters, ids, issues};

/// Length of the time of [`Set::RestJustBefore`].
const JUST_BEFORE: i64 = 5 * MINUTE_NS;
/// Names of Endpoints or Tasks that an Issue is compared within.
const ISSUE_NAMES_MAX: usize = 20;

/// The rows of a request: sets by time and filter.
pub struct Sets {
    /// The table of the rows.
    pub table: Table,
    /// Condition of every set.
    pub filter: Filter,
    /// Condition of the band.
    pub band: Filter,
    /// The selected time.
    pub on: Range,
    /// The time before it; `None` when it is empty.
    pub before: Option<Range>,
    /// A time is compared with an equal time before it.
    pub is_time: bool,
    /// The rows have one name.
    pub is_named: bool,
    /// Attributes that define the selection.
    pub defining: Defining,
    /// Time of the answer.
    pub budget: Duration,
}

impl Sets {
    /// Validates the request. Looks an Issue's requests up.
    pub async fn read(executor: &Executor, project: u32, request: &ExplainRequest) -> Result<Sets, QueryError> {
        let now = executor.context.clock.now_ns();
        let view = Range::of_list(request.from_date.as_deref(), request.to_date.as_deref(), now)?;
        let selection = &request.selection;
        let given = |text: &Option<String>, name, other| {
            crate::time::parse_optional(text.as_deref(), name).map(|time| time.unwrap_or(other))
        };
        let from = given(&selection.from_date, "selection.fromDate", view.from)?;
        let to = given(&selection.to_date, "selection.toDate", view.to)?;
        if to < from {
            return Err(QueryError::unprocessable("selection.toDate is before selection.fromDate"));
        }
        let on = Range { from, to: to.max(from.saturating_add(1)) };
        let query = selection.query.as_deref().unwrap_or("").trim();
        let kind = row_kind(request.entity);
        let is_issue = request.entity == ExplainEntity::Issue;
        // Of an Issue the requests are compared, not the exceptions.
        let within = if is_issue { Filter::True } else { language::filter(kind, request.query.as_deref())? };
        let budget = request.budget_ms.map_or(limits::EXPLAIN_BUDGET, Duration::from_millis);
        let before_from = view.from.max(on.from.saturating_sub(DAY_NS));
        let mut sets = Sets {
            table: kind.table(),
            filter: named(request)?.and(within),
            band: language::filter(kind, Some(query))?,
            on,
            before: (before_from < on.from).then_some(Range { from: before_from, to: on.from }),
            is_time: query.is_empty() && !is_issue,
            is_named: request.name.as_deref().is_some_and(|name| !name.is_empty()),
            defining: Defining::of(&parse(query, language::LIMITS)?),
            budget: budget.min(limits::EXPLAIN_BUDGET_MAX),
        };
        if sets.is_time {
            sets.before = Some(Range { from: on.from.saturating_sub(on.length()), to: on.from });
        }
        if is_issue {
            let hash = ids::parse_hash(request.name.as_deref().unwrap_or_default())?;
            sets.filter = issues::events_of(executor, project, hash).await?;
            sets.of_failing_requests(executor, project, view, request.query.as_deref()).await?;
        }
        Ok(sets)
    }

    /// All rows of a time, compared with none.
    pub fn all(table: Table, filter: Filter, on: Range, budget: Duration) -> Sets {
        let (band, before, defining) = (Filter::True, None, Defining::default());
        let budget = budget.min(limits::EXPLAIN_BUDGET_MAX);
        Sets { table, filter, band, on, before, is_time: true, is_named: true, defining, budget }
    }

    /// Whether rows have spans below them.
    pub fn has_spans(&self) -> bool {
        self.table != Table::Logs
    }

    /// The sets to read: time, condition, and the set of each of its rows by time.
    pub fn each(&self) -> Vec<(Range, Filter, Set)> {
        if self.is_time {
            let rest = self.before.map(|before| (before, self.filter.clone(), Set::Rest));
            return [(self.on, self.filter.clone(), Set::Selected)].into_iter().chain(rest).collect();
        }
        let inside = self.filter.clone().and(self.band.clone());
        let outside = self.filter.clone().and(filters::not(self.band.clone()));
        let mut sets = vec![(self.on, inside.clone(), Set::Selected), (self.on, outside.clone(), Set::Rest)];
        if let Some(before) = self.before {
            let near = before.from.max(before.to.saturating_sub(JUST_BEFORE));
            sets.push((before, inside, Set::SelectedBefore));
            sets.push((Range { from: near, to: before.to }, outside.clone(), Set::RestJustBefore));
            if before.from < near {
                sets.push((Range { from: before.from, to: near }, outside, Set::RestBefore));
            }
        }
        sets
    }

    /// Replaces the exceptions of an Issue by the requests, or runs of Tasks, in whose traces they are, and that pass
    /// the query.
    async fn of_failing_requests(
        &mut self,
        executor: &Executor,
        project: u32,
        view: Range,
        query: Option<&str>,
    ) -> Result<(), QueryError> {
        let filter = self.filter.clone().and(self.band.clone());
        let window = Window::first(limits::TRACE_MATCHES_MAX);
        let order = vec![plans::descending("time")];
        let columns = vec!["trace_id", "owner_kind", "owner_name"];
        let plan = plans::rows(Table::Exceptions, &[project], view, filter, columns, order, window);
        let found = executor.run(plan).await?;
        let traces: BTreeSet<[u8; 16]> =
            found.rows().map(|row| row.id16("trace_id")).filter(|id| *id != [0; 16]).collect();
        let owners = |kind: i64| -> BTreeSet<String> {
            found
                .rows()
                .filter(|row| row.int("owner_kind") == kind)
                .map(|row| row.text("owner_name").to_owned())
                .collect()
        };
        let owners = [(RowKind::Endpoint, owners(1)), (RowKind::Task, owners(2))];
        let is_owned = owners.iter().any(|(_, names)| !names.is_empty());
        let band = filters::ids("trace_id", traces);
        for (kind, owners) in owners {
            // Exceptions whose owners arrived in other requests: every request of their traces.
            let names = if is_owned { owners } else { names_in(executor, project, kind, view, &band).await? };
            let names: Vec<String> = names.into_iter().take(ISSUE_NAMES_MAX).collect();
            self.table = kind.table();
            self.filter = filters::strings("name", &names).and(language::filter(kind, query)?);
            self.is_named = names.len() == 1;
            if !names.is_empty() {
                break;
            }
        }
        self.band = band;
        Ok(())
    }
}

/// Names of the rows in a band.
async fn names_in(
    executor: &Executor,
    project: u32,
    kind: RowKind,
    view: Range,
    band: &Filter,
) -> Result<BTreeSet<String>, QueryError> {
    let window = Window::first(limits::EXPLAIN_SELECTED_MAX);
    let order = vec![plans::descending("time")];
    let plan = plans::rows(kind.table(), &[project], view, band.clone(), vec!["name"], order, window);
    let answer = executor.run(plan).await?;
    Ok(answer.rows().map(|row| row.text("name").to_owned()).collect())
}

/// The kind of the rows that have a duration, and the filter of those of a name that pass a query; of every name when it
/// is absent or empty. [`QueryError::Unprocessable`] (422) for logs and Issues.
pub fn timed_rows(
    entity: ExplainEntity,
    name: Option<&str>,
    query: Option<&str>,
) -> Result<(RowKind, Filter), QueryError> {
    let (kind, of_kind) = match entity {
        ExplainEntity::Trace => (RowKind::Span, Filter::eq("parent_span_id", Value::Bytes(vec![0; 8]))),
        ExplainEntity::Endpoint | ExplainEntity::Task | ExplainEntity::AiTrace => (row_kind(entity), Filter::True),
        ExplainEntity::Issue | ExplainEntity::Log => {
            return Err(QueryError::unprocessable(
                "entity is endpoint, task, ai_trace or trace: others have no duration",
            ));
        }
    };
    let named = name.filter(|name| !name.is_empty()).map_or(Filter::True, |name| filters::text("name", name));
    Ok((kind, named.and(of_kind).and(language::filter(kind, query)?)))
}

fn row_kind(entity: ExplainEntity) -> RowKind {
    match entity {
        ExplainEntity::Endpoint => RowKind::Endpoint,
        ExplainEntity::Task => RowKind::Task,
        ExplainEntity::AiTrace => RowKind::AiTrace,
        ExplainEntity::Trace => RowKind::Span,
        ExplainEntity::Issue => RowKind::Issue,
        ExplainEntity::Log => RowKind::Log,
    }
}

/// The rows of the request's name.
fn named(request: &ExplainRequest) -> Result<Filter, QueryError> {
    let name = request.name.as_deref().filter(|name| !name.is_empty());
    let root = Filter::eq("parent_span_id", Value::Bytes(vec![0; 8]));
    Ok(match (request.entity, name) {
        (ExplainEntity::Trace, None) => root,
        (ExplainEntity::Trace, Some(name)) => root.and(filters::text("name", name)),
        (ExplainEntity::Issue, None) => {
            return Err(QueryError::unprocessable("name is the hash of the issue"));
        }
        // With the events of Issues merged into it; see `Sets::read`.
        (ExplainEntity::Issue, Some(_)) => Filter::True,
        (ExplainEntity::Log, Some(service)) => filters::text("server_name", service),
        (_, Some(name)) => filters::text("name", name),
        (_, None) => Filter::True,
    })
}
