//! Groups stored exceptions again with the newest version of the grouping rule. Issues: stored rows move silently.
//!
//! Each row has the version that grouped it, so the work goes on where it ended after a stop or a crash. Part by part,
//! Issues follow first (`query`, `issues::moves`); then the rows of the part change in one transaction. A part that
//! changed nothing of it is repeated with the same result.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, RecordBatch, UInt8Array, UInt64Array};
use arrow::compute::filter_record_batch;
use tidewatch_accounts::{Actor, Project};
use tidewatch_domain::rules::group_versions::{FIRST_VERSION, GroupVersions};
use tidewatch_domain::rules::grouping_rules::{FINGERPRINT_VERSION, NO_RULES};
use tidewatch_journal::heartbeat::Heartbeat;
use tidewatch_limits as limits;
use tidewatch_query::answer::Answer;
use tidewatch_query::context::QueryContext;
use tidewatch_query::error::QueryError;
use tidewatch_query::executor::Executor;
use tidewatch_query::filters;
use tidewatch_query::issues::moves;
use tidewatch_query::plans::{self, Window};
use tidewatch_query::row_groups::group_of_row;
use tidewatch_query::time::Range;
use tidewatch_runtime::background::{Background, HeartbeatGuard};
use tidewatch_store::plan::{Filter, Value};
use tidewatch_store::tables::Table;
use tidewatch_store::{Changed, Rewrite, StoreError};
use tokio::runtime::Handle;
use tokio::sync::{Notify, watch};

/// Groups rows of older versions again, the oldest project first, then those of projects whose rules are applied to
/// them, until `stopped`. `requested` wakes it. Retries after errors.
pub async fn run(
    query: Arc<QueryContext>,
    requested: Arc<Notify>,
    background: Arc<Background>,
    mut stopped: watch::Receiver<bool>,
) {
    let running = HeartbeatGuard(Heartbeat::new("regroup"));
    background.add(&running.0);
    loop {
        let (context, stop, beating) = (query.clone(), stopped.clone(), running.0.clone());
        let on = Handle::current();
        let work = move || {
            let stop = || {
                beating.beat();
                *stop.borrow()
            };
            all(&context, &on, &stop)
        };
        let done = tokio::task::spawn_blocking(work).await;
        running.0.idle();
        let must_repeat = !matches!(done, Ok(Ok(())));
        match done {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::error!(%error, "stored exceptions were not grouped again: {error}"),
            Err(error) => tracing::error!(%error, "grouping stored exceptions again failed: {error}"),
        }
        tokio::select! {
            () = requested.notified() => {}
            () = tokio::time::sleep(limits::REGROUP_RETRY), if must_repeat => {}
            _ = stopped.wait_for(|stop| *stop) => return,
        }
    }
}

/// Blocks.
fn all(query: &Arc<QueryContext>, on: &Handle, stop: &dyn Fn() -> bool) -> Result<(), QueryError> {
    let mut projects = query.projects.all_projects();
    projects.sort_by_key(|project| project.number);
    let has_versions = query.grouping.older().next().is_some();
    for project in projects.iter().filter(|_| has_versions) {
        if stop() {
            return Ok(());
        }
        if on.block_on(has_older(query, project))? {
            regroup(query, on, project, Which::Older, stop)?;
        }
    }
    for (number, requested_ns) in on.block_on(query.projects.regroupings())? {
        if let Some(project) = query.projects.project_by_number(number) {
            regroup(query, on, &project, Which::All, stop)?;
            if stop() {
                return Ok(());
            }
            lead_on(query, &project)?;
        }
        on.block_on(query.projects.regrouped(number, requested_ns))?;
    }
    Ok(())
}

/// Rows to group again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    /// Rows of older versions, by the newest one.
    Older,
    /// All rows, by the rules of the project.
    All,
}

fn actor(query: &QueryContext) -> Actor {
    let (name, address, user_agent) = (String::new(), String::new(), String::new());
    Actor { user_id: None, name, address, user_agent, at_ns: query.clock.now_ns() }
}

/// Whether a project has rows that an older version grouped.
async fn has_older(query: &Arc<QueryContext>, project: &Project) -> Result<bool, QueryError> {
    let of = |version: u8| Filter::eq("group_version", Value::U64(u64::from(version)));
    let newest = query.grouping.newest().version;
    let older = filters::not(of(newest)).and(filters::not(of(FINGERPRINT_VERSION)));
    let window = Window::first(1);
    let columns = vec!["time"];
    let plan = plans::rows(Table::Exceptions, &[project.number], Range::ALL, older, columns, vec![], window);
    Ok(!executor(query).run(plan).await?.is_empty())
}

fn executor(query: &Arc<QueryContext>) -> Executor {
    Executor::within(query.clone(), limits::REGROUP_DEADLINE)
}

/// Groups the rows of a project again. Blocks.
fn regroup(
    query: &Arc<QueryContext>,
    on: &Handle,
    project: &Project,
    which: Which,
    stop: &dyn Fn() -> bool,
) -> Result<(), StoreError> {
    let by = actor(query);
    let mut followed: HashSet<(u64, u64)> = HashSet::new();
    let mut changed = 0;
    let rewrite = Rewrite { table: Table::Exceptions, project: project.number, since_ns: i64::MIN };
    query.store.rewrite(rewrite, stop, &mut |batch| {
        let groups = groups(batch, project, query.grouping, which);
        if groups.iter().all(Option::is_none) {
            return Ok(None);
        }
        let is_new = |one: &Regrouped| !followed.contains(&(one.before, one.after));
        let moved: HashSet<(u64, u64)> =
            groups.iter().flatten().filter(|one| is_new(one)).map(|one| (one.before, one.after)).collect();
        if !moved.is_empty() {
            let pairs: Vec<(u64, u64)> = moved.iter().copied().filter(|(before, after)| before != after).collect();
            match which {
                Which::Older => {
                    on.block_on(moves::follow(&executor(query), &by, project, &pairs)).map_err(cannot_follow)?
                }
                Which::All => follow_rows(query, project, &pairs.into_iter().collect())?,
            }
            if followed.len() + moved.len() > limits::KNOWN_ISSUES_MAX {
                followed.clear();
            }
            followed.extend(moved);
        }
        changed += groups.iter().flatten().count();
        with_groups(batch, &groups).map(Some)
    })?;
    let number = project.number;
    tracing::info!(project = number, changed, "grouped {changed} stored exceptions again");
    Ok(())
}

/// Lets Issues follow rows that change their hashes for another reason than a version of the rule. Blocks.
pub fn follow_rows(
    query: &Arc<QueryContext>,
    project: &Project,
    moved: &HashSet<(u64, u64)>,
) -> Result<(), StoreError> {
    if moved.is_empty() {
        return Ok(());
    }
    let pairs: Vec<(u64, u64)> = moved.iter().copied().collect();
    let follow = async {
        query.projects.record_moves(project.number, &pairs).await?;
        moves::inherit(&executor(query), project, &pairs).await
    };
    Handle::current().block_on(follow).map_err(cannot_follow)
}

/// Points hashes at the Issues that have their rows now, once all rows have changed. Blocks.
pub fn lead_on(query: &Arc<QueryContext>, project: &Project) -> Result<(), StoreError> {
    let (executor, by) = (executor(query), actor(query));
    Handle::current().block_on(moves::lead_on(&executor, &by, project)).map_err(cannot_follow)
}

fn cannot_follow(error: QueryError) -> StoreError {
    StoreError::Internal { what: "let Issues follow their rows", why: error.to_string() }
}

/// A row that is grouped again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Regrouped {
    before: u64,
    after: u64,
    version: u8,
}

/// By row, its new group; `None` for rows of other projects and rows that stay.
fn groups(batch: &RecordBatch, project: &Project, versions: GroupVersions, which: Which) -> Vec<Option<Regrouped>> {
    let answer = Answer::new(batch.clone());
    let newest = versions.newest().version;
    answer
        .rows()
        .map(|row| {
            if row.int("project") != i64::from(project.number) {
                return None;
            }
            let version = row.opt_int("group_version").and_then(|one| one.try_into().ok()).unwrap_or(FIRST_VERSION);
            let before = row.u64("group");
            let stays = version == newest || version == FINGERPRINT_VERSION;
            let is_message = row.flag("is_message");
            let rules = match which {
                Which::Older if stays => return None,
                Which::Older => &NO_RULES,
                Which::All if is_message => return None,
                Which::All => &*project.grouping_rules,
            };
            // Captured messages are grouped by their text in every version.
            let (after, rule) = if is_message { (before, None) } else { group_of_row(rules, versions, row) };
            let is_fingerprint = rule.is_some() || (after == before && version == FINGERPRINT_VERSION);
            let one = Regrouped { before, after, version: if is_fingerprint { FINGERPRINT_VERSION } else { newest } };
            (one.after != before || one.version != version).then_some(one)
        })
        .collect()
}

/// The rows with other groups.
fn with_groups(batch: &RecordBatch, groups: &[Option<Regrouped>]) -> Result<Changed, StoreError> {
    let rows = BooleanArray::from(groups.iter().map(Option::is_some).collect::<Vec<bool>>());
    let chosen = filter_record_batch(batch, &rows).map_err(StoreError::internal("change groups"))?;
    let mut columns: Vec<ArrayRef> = chosen.columns().to_vec();
    let place = |name| Table::Exceptions.column(name).expect("a column of exceptions").0;
    let found = || groups.iter().flatten();
    let versions = found().map(|one| Some(one.version).filter(|version| *version != FIRST_VERSION));
    columns[place("group")] = Arc::new(UInt64Array::from_iter_values(found().map(|one| one.after)));
    columns[place("group_version")] = Arc::new(versions.collect::<UInt8Array>());
    let to = RecordBatch::try_new(batch.schema(), columns).map_err(StoreError::internal("change groups"))?;
    Ok(Changed { rows, to })
}
