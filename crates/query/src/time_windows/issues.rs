//! Occurrences of Issues, new Issues, and Issues that occur again.

use std::collections::{HashMap, HashSet};

use tidewatch_domain::rules::issue_state::{Decision, State};
use tidewatch_store::plan::{Filter, Function, Key, Value};
use tidewatch_store::tables::Table;

use super::{Windows, grouped};
use crate::error::QueryError;
use crate::executor::Executor;
use crate::issues::{Families, standings};
use crate::plans::{self, Window};
use crate::time::Range;
use crate::{filters, ids};
use tidewatch_limits as limits;

/// The column with the hash of the Issue.
const GROUP: &str = "group";
/// Output columns of the plans.
const COUNT: &str = "windows_count";
const FIRST: &str = "windows_first";
const LAST: &str = "windows_last";

/// The occurrences of an Issue in a window.
#[derive(Debug, Clone, PartialEq)]
pub struct IssueCount {
    /// Index of the window.
    pub window: i64,
    /// Hash of the Issue, not merged.
    pub hash: u64,
    /// Weighted.
    pub count: f64,
}

/// Weighted exceptions of all Issues in each window. Captured messages are not counted.
pub async fn exceptions(executor: &Executor, project: u32, windows: Windows) -> Result<Vec<(i64, f64)>, QueryError> {
    let filter = filters::not(filters::is("is_message"));
    let plan = grouped(Table::Exceptions, project, windows, filter, vec![], vec![Function::Weight.named(COUNT)]);
    let answer = executor.run(plan).await?;
    Ok(answer.rows().map(|row| (windows.index(row), row.number(COUNT))).collect())
}

/// Occurrences of each Issue, or of one, in each window.
pub async fn issue_counts(
    executor: &Executor,
    project: u32,
    windows: Windows,
    only: Option<u64>,
) -> Result<Vec<IssueCount>, QueryError> {
    let families = Families::load(executor, project).await?;
    let filter = only.map_or(Filter::True, |hash| families.filter([families.primary(hash)]));
    let keys = vec![Key::column(GROUP)];
    let plan = grouped(Table::Exceptions, project, windows, filter, keys, vec![Function::Weight.named(COUNT)]);
    let answer = executor.run(plan).await?;
    let mut counts: HashMap<(i64, u64), f64> = HashMap::new();
    for row in answer.rows() {
        let key = (windows.index(row), families.primary(row.u64(GROUP)));
        *counts.entry(key).or_default() += row.number(COUNT);
    }
    let mut found: Vec<IssueCount> =
        counts.into_iter().map(|((window, hash), count)| IssueCount { window, hash, count }).collect();
    found.sort_by_key(|one| (one.hash, one.window));
    Ok(found)
}

/// The title of an Issue, from its latest occurrence; its hash when none is stored.
pub async fn issue_title(executor: &Executor, project: u32, hash: u64) -> Result<String, QueryError> {
    let families = Families::load(executor, project).await?;
    let filter = families.filter([families.primary(hash)]);
    let columns = vec!["exception_type", "message", "stack_trace", "time"];
    let order = vec![plans::descending("time")];
    let plan = plans::rows(Table::Exceptions, &[project], Range::ALL, filter, columns, order, Window::first(1));
    let answer = executor.run(plan).await?;
    let title = answer.first().map(|row| {
        let (kind, message) = (row.text("exception_type"), row.text("message"));
        tidewatch_domain::rules::issue_group::issue_title(kind, message, row.text("stack_trace"))
    });
    Ok(title.unwrap_or_else(|| ids::format_hash(hash)))
}

/// The hashes of the stored Issues, the latest, at most [`limits::KNOWN_ISSUES_MAX`].
pub async fn known_issues(executor: &Executor, project: u32) -> Result<Vec<u64>, QueryError> {
    let plan = plans::ordered_groups(
        Table::Exceptions,
        &[project],
        Range::ALL,
        Filter::True,
        vec![Key::column(GROUP)],
        vec![Function::Max("time").named(LAST)],
        vec![plans::greatest(LAST)],
        Window::first(limits::KNOWN_ISSUES_MAX),
    );
    Ok(executor.run(plan).await?.rows().map(|row| row.u64(GROUP)).collect())
}

/// The first occurrences of Issues that were first seen in a range: hash and time, ascending by time.
pub async fn first_seen(executor: &Executor, project: u32, range: Range) -> Result<Vec<(u64, i64)>, QueryError> {
    let families = Families::load(executor, project).await?;
    let keys = || vec![Key::column(GROUP)];
    let first = || vec![Function::Min("time").named(FIRST)];
    let recent = plans::groups(Table::Exceptions, &[project], range, Filter::True, keys(), first());
    let recent = executor.run(recent).await?;
    let hashes: HashSet<u64> = recent.rows().map(|row| families.primary(row.u64(GROUP))).collect();
    let members = hashes.iter().flat_map(|hash| families.hashes(*hash)).map(Value::U64).collect();
    let filter = Filter::In { column: GROUP, values: members };
    let all = plans::groups(Table::Exceptions, &[project], Range::ALL, filter, keys(), first());
    let mut found: HashMap<u64, i64> = HashMap::new();
    for row in executor.run(all).await?.rows() {
        let at = found.entry(families.primary(row.u64(GROUP))).or_insert(i64::MAX);
        *at = (*at).min(row.int(FIRST));
    }
    let mut found: Vec<(u64, i64)> = found.into_iter().filter(|(_, at)| *at >= range.from && *at < range.to).collect();
    found.sort_by_key(|(hash, at)| (*at, *hash));
    Ok(found)
}

/// Those of the Issues that a user has resolved or archived and that have occurred since: hash of the Issue, the
/// decision, and its time. `only`: hashes that may have occurred, merged or not; `None`: all.
pub async fn regressed(
    executor: &Executor,
    project: u32,
    only: Option<&[u64]>,
) -> Result<Vec<(u64, Decision, i64)>, QueryError> {
    let families = Families::load(executor, project).await?;
    let hashes: Vec<u64> = match only {
        Some(hashes) => families.primaries(hashes),
        None => executor.context.projects.issue_decisions(project).await?.into_keys().collect(),
    };
    if hashes.is_empty() {
        return Ok(Vec::new());
    }
    let found = standings(executor, project, &hashes).await?;
    let mut again: Vec<(u64, Decision, i64)> = found
        .into_iter()
        .filter(|(_, standing)| match standing.decision.decision {
            Decision::Resolved | Decision::ResolvedInNextVersion => standing.state == State::Regressed,
            Decision::Archived => standing.state == State::Open,
            Decision::Muted { .. } => false,
        })
        .map(|(hash, standing)| (hash, standing.decision.decision, standing.decision.decided_ns))
        .collect();
    again.sort_by_key(|(hash, _, at)| (*at, *hash));
    Ok(again)
}
