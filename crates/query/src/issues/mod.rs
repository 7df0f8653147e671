//! Issues: the list, one Issue with its occurrences, one occurrence.
//!
//! - [`family`]: the hashes of an Issue, also those of earlier versions of the grouping rule.
//!   [`moves`]: Issues that a version of the rule joins.
//! - [`standing`]: states. [`triage`]: changes of states, assignees and merges.
//! - [`grouping`]: by what an Issue is grouped.
//! - [`owned`]: conditions on owners. [`similar`]: similar Issues. [`source`]: the commit of an occurrence.
//! - [`extent`]: users and versions. [`tags`]: distributions of attributes. [`activity`]: changes and comments.
//!
//! Without states in the request, a list has the open and regressed Issues.
//!
//! A decision of a user is stored by hash and time. A state is computed on read, from the decision and the occurrences
//! since.

pub mod activity;
mod columns;
mod extent;
mod family;
mod grouping;
pub mod moves;
pub mod onsets;
mod owned;
pub mod similar;
mod source;
mod standing;
mod tags;
pub mod triage;

use std::collections::HashMap;
use std::sync::Arc;

use tidewatch_domain::rules::issue_group::issue_title;
use tidewatch_domain::rules::issue_state::State;
use tidewatch_domain::units::HOUR_NS;
use tidewatch_store::plan::{Filter, Function, Key, Value};
use tidewatch_store::tables::Table;

use self::columns::{COUNT, FIRST_SEEN, GROUP, LAST_SEEN, LATEST, ROWS};
use self::extent::{History, Users};
pub use self::family::Families;
pub use self::standing::Standing;
use super::answer::Row;
use super::entities::whole;
use super::executor::Executor;
use super::occurrences::{self, OccurrenceRecord};
use super::page::{self, Paging};
use super::plans::{self, Window};
use super::time::{self, Buckets, Range};
use super::trend::{self, TrendQuery};
use super::views::issue::*;
use super::views::page::{Page, TrendPoint};
use super::{filters, ids};
use crate::error::QueryError;
use tidewatch_accounts::Project;

/// Maximum points of a trend: a week of hours.
const TREND_POINTS_MAX: i64 = 168;
/// The statistics of an Issue in a range.
#[derive(Debug, Clone, PartialEq)]
struct Group {
    /// Not merged.
    hash: u64,
    /// Weighted.
    count: f64,
    first_seen: i64,
    last_seen: i64,
    /// Row id of the latest occurrence.
    latest: [u8; 16],
    /// Stored occurrences, unweighted.
    rows: u64,
    /// `None`: open, without a decision.
    standing: Option<Standing>,
    assignee: Option<i64>,
}

impl Group {
    fn read(row: Row<'_>) -> Group {
        Group {
            hash: row.u64(GROUP),
            count: row.number(COUNT),
            first_seen: row.int(FIRST_SEEN),
            last_seen: row.int(LAST_SEEN),
            latest: row.id16(LATEST),
            rows: row.count(ROWS),
            standing: None,
            assignee: None,
        }
    }

    /// Adds the occurrences of another hash.
    fn add(&mut self, other: &Group) {
        if (other.last_seen, other.latest) > (self.last_seen, self.latest) {
            (self.last_seen, self.latest) = (other.last_seen, other.latest);
        }
        self.first_seen = self.first_seen.min(other.first_seen);
        self.count += other.count;
        self.rows += other.rows;
    }

    fn state(&self) -> State {
        self.standing.map_or(State::Open, |standing| standing.state)
    }
}

/// The Issues of the occurrences that pass `filter`, merged ones as one.
async fn groups(
    executor: &Executor,
    project: u32,
    families: &Families,
    range: Range,
    filter: Filter,
) -> Result<Vec<Group>, QueryError> {
    let aggregates = vec![
        Function::Weight.named(COUNT),
        Function::Min("time").named(FIRST_SEEN),
        Function::Max("time").named(LAST_SEEN),
        Function::Latest { column: "row_id" }.named(LATEST),
        Function::Count.named(ROWS),
    ];
    let keys = vec![Key::column(GROUP)];
    let answer = executor.run(plans::groups(Table::Exceptions, &[project], range, filter, keys, aggregates)).await?;
    let mut found: HashMap<u64, Group> = HashMap::new();
    for group in answer.rows().map(Group::read) {
        let hash = families.primary(group.hash);
        match found.get_mut(&hash) {
            Some(whole) => whole.add(&group),
            None => drop(found.insert(hash, Group { hash, ..group })),
        }
    }
    Ok(found.into_values().collect())
}

fn in_groups(hashes: impl IntoIterator<Item = u64>) -> Filter {
    Filter::In { column: GROUP, values: hashes.into_iter().map(Value::U64).collect() }
}

/// Which Issues a list has.
struct Wanted {
    /// Condition of the occurrences that are counted.
    rows: Filter,
    search: Option<String>,
    /// `None`: every state.
    states: Option<Vec<State>>,
    /// `Some(None)`: Issues without an assignee.
    assignee: Option<Option<i64>>,
}

impl Wanted {
    fn open() -> Wanted {
        Wanted { rows: Filter::True, search: None, states: Some(vec![State::Open, State::Regressed]), assignee: None }
    }

    fn includes(&self, group: &Group) -> bool {
        self.states.as_ref().is_none_or(|states| states.contains(&group.state()))
            && self.assignee.is_none_or(|assignee| group.assignee == assignee)
    }
}

/// The condition of the events of an Issue, those of Issues merged into it included.
pub async fn events_of(executor: &Executor, project: u32, hash: u64) -> Result<Filter, QueryError> {
    let families = Families::load(executor, project).await?;
    Ok(families.filter([families.primary(hash)]))
}

/// `POST /api/exception-stack-traces`.
pub async fn list(
    executor: &Executor,
    project: &Arc<Project>,
    request: IssueListRequest,
) -> Result<Page<IssueGroup>, QueryError> {
    let now = executor.context.clock.now_ns();
    let range = Range::of_list(request.from_date.as_deref(), request.to_date.as_deref(), now)?;
    let paging = Paging::read(request.pagination)?;
    let order = page::order(&request.order_by)?;
    let of_type = match request.search_type.as_deref().unwrap_or("") {
        "" | "all" => Filter::True,
        "issues" => filters::not(filters::is("is_message")),
        "messages" => filters::is("is_message"),
        other => {
            return Err(QueryError::malformed(format!("searchType is all, issues or messages, not {other}")));
        }
    };
    let states = match request.states {
        Some(states) => Some(states.into_iter().map(State::from).collect()),
        None if request.include_archived => None,
        None => Wanted::open().states,
    };
    let wanted = Wanted {
        rows: of_type.and(owned::filter(executor, project, range, request.query.as_deref()).await?),
        search: request.search,
        states,
        assignee: request.assignee_id.map(|id| Some(id).filter(|id| *id > 0)),
    };
    let families = Families::load(executor, project.number).await?;
    let found = listed(executor, project.number, &families, range, &wanted).await?;
    let is_descending = page::is_descending(request.sort_direction);
    let keys = sort_keys(executor, project.number, &families, range, &wanted.rows, &found, order).await?;
    let found = sorted(found, keys, is_descending);
    let total = found.len() as u64;
    let data = views(executor, project, &families, range, wanted.rows, paging.cut(found)).await?;
    Ok(paging.page(data, total))
}

/// The latest Issues that are open.
pub async fn recent(
    executor: &Executor,
    project: &Arc<Project>,
    range: Range,
    count: usize,
) -> Result<Vec<IssueGroup>, QueryError> {
    let families = Families::load(executor, project.number).await?;
    let found = listed(executor, project.number, &families, range, &Wanted::open()).await?;
    let keys = found.iter().map(|group| group.last_seen as f64).collect();
    let mut found = sorted(found, keys, true);
    found.truncate(count);
    views(executor, project, &families, range, Filter::True, found).await
}

/// The states of those of the hashes that a user has decided about; the others are open. A merged hash has the state of
/// its Issue.
pub async fn standings(
    executor: &Executor,
    project: u32,
    hashes: &[u64],
) -> Result<HashMap<u64, Standing>, QueryError> {
    let families = Families::load(executor, project).await?;
    let found = standing::of(executor, project, &families, &families.primaries(hashes)).await?;
    Ok(hashes.iter().filter_map(|hash| Some((*hash, *found.get(&families.primary(*hash))?))).collect())
}

/// The value of each group that the list is sorted by.
async fn sort_keys(
    executor: &Executor,
    project: u32,
    families: &Families,
    range: Range,
    rows: &Filter,
    found: &[Group],
    order: IssueOrder,
) -> Result<Vec<f64>, QueryError> {
    let by = |value: &dyn Fn(&Group) -> f64| found.iter().map(value).collect();
    let hashes = || found.iter().map(|group| group.hash);
    Ok(match order {
        IssueOrder::LastSeen => by(&|group| group.last_seen as f64),
        IssueOrder::FirstSeen => by(&|group| group.first_seen as f64),
        IssueOrder::Count => by(&|group| group.count),
        IssueOrder::Users => {
            let filter = families.filter(hashes()).and(rows.clone());
            let users = extent::users(executor, project, range, filter, families).await?;
            let too_many = || QueryError::unprocessable("there are too many users to sort by; narrow the range");
            let count = |group: &Group| Some(users.of(group.hash)? as f64);
            found.iter().map(|group| count(group).ok_or_else(too_many)).collect::<Result<_, _>>()?
        }
        IssueOrder::Newness => {
            let first = extent::first_occurrences(executor, project, families, hashes()).await?;
            by(&|group| first.get(&group.hash).copied().unwrap_or(group.first_seen) as f64)
        }
    })
}

/// Sorts groups by their keys; equal ones are sorted by hash, so that pages do not overlap.
fn sorted(found: Vec<Group>, keys: Vec<f64>, is_descending: bool) -> Vec<Group> {
    let mut keyed: Vec<(f64, Group)> = keys.into_iter().zip(found).collect();
    keyed.sort_by(|(left_key, left), (right_key, right)| {
        let ascending = left_key.total_cmp(right_key);
        let wanted = if is_descending { ascending.reverse() } else { ascending };
        wanted.then(left.hash.cmp(&right.hash))
    });
    keyed.into_iter().map(|(_, group)| group).collect()
}

async fn listed(
    executor: &Executor,
    project: u32,
    families: &Families,
    range: Range,
    wanted: &Wanted,
) -> Result<Vec<Group>, QueryError> {
    let mut filter = wanted.rows.clone();
    if let Some(needle) = wanted.search.as_deref().map(str::trim).filter(|needle| !needle.is_empty()) {
        // The search selects Issues. Their counts include occurrences that do not match it.
        let keys = vec![Key::column(GROUP)];
        let count = vec![Function::Count.named(ROWS)];
        let plan = plans::groups(Table::Exceptions, &[project], range, matching(needle), keys, count);
        let hashes: Vec<u64> = executor.run(plan).await?.rows().map(|row| row.u64(GROUP)).collect();
        filter = filter.and(families.filter(families.primaries(&hashes)));
    }
    let mut found = groups(executor, project, families, range, filter).await?;
    add_decisions(executor, project, families, &mut found).await?;
    found.retain(|group| wanted.includes(group));
    Ok(found)
}

/// Adds the states and assignees of groups.
async fn add_decisions(
    executor: &Executor,
    project: u32,
    families: &Families,
    found: &mut [Group],
) -> Result<(), QueryError> {
    let hashes: Vec<u64> = found.iter().map(|group| group.hash).collect();
    let (standings, assignees) = tokio::try_join!(standing::of(executor, project, families, &hashes), async {
        Ok(executor.context.projects.issue_assignees(project).await?)
    })?;
    for group in found {
        group.standing = standings.get(&group.hash).copied();
        group.assignee = assignees.get(&group.hash).copied();
    }
    Ok(())
}

fn matching(needle: &str) -> Filter {
    let columns = ["exception_type", "message", "stack_trace"];
    let mut any: Vec<Filter> = columns.iter().map(|column| filters::contains(column, Some(needle))).collect();
    if let Ok(hash) = ids::parse_hash(needle) {
        any.push(in_groups([hash]));
    }
    Filter::Any(any)
}

/// The views of groups, with their latest occurrence, its owner, and the trend and users of the occurrences that pass
/// `rows`.
async fn views(
    executor: &Executor,
    project: &Arc<Project>,
    families: &Families,
    range: Range,
    rows: Filter,
    shown: Vec<Group>,
) -> Result<Vec<IssueGroup>, QueryError> {
    if shown.is_empty() {
        return Ok(Vec::new());
    }
    let hashes = || shown.iter().map(|group| group.hash);
    let filter = families.filter(hashes()).and(filters::ids("row_id", shown.iter().map(|group| group.latest)));
    let window = Window::first(shown.len());
    let latest = async {
        let answer = occurrences::select(executor, project, range, filter, plans::descending("time"), window).await?;
        occurrences::read(executor, project, &answer).await
    };
    let counted = families.filter(hashes()).and(rows);
    let (latest, trends, users, histories) = tokio::try_join!(
        latest,
        trends(executor, project.number, families, range, counted.clone()),
        extent::users(executor, project.number, range, counted, families),
        extent::histories(executor, project.number, families, hashes()),
    )?;
    let latest: HashMap<u64, OccurrenceRecord> =
        latest.into_iter().map(|occurrence| (families.primary(occurrence.group), occurrence)).collect();
    let shown = shown.iter().map(|group| {
        let reach = Reach { users: &users, history: histories.get(&group.hash) };
        let assignee = group.assignee.and_then(|user| triage::person(executor, user));
        let group_view = view(group, latest.get(&group.hash), trends.line(&group.hash), reach);
        let merged_hashes = families.merged_into(group.hash).map(ids::format_hash).collect();
        IssueGroup { assignee, merged_hashes, ..group_view }
    });
    Ok(shown.collect())
}

/// The users and the history of an Issue.
struct Reach<'a> {
    users: &'a Users,
    history: Option<&'a History>,
}

async fn trends(
    executor: &Executor,
    project: u32,
    families: &Families,
    range: Range,
    filter: Filter,
) -> Result<trend::Trends<u64>, QueryError> {
    let query = TrendQuery { table: Table::Exceptions, project, filter, key: Key::column(GROUP) };
    let primary = |row: Row<'_>| families.primary(row.u64(GROUP));
    trend::by_key(executor, query, range, Buckets::at_most(range, TREND_POINTS_MAX, HOUR_NS), primary).await
}

fn view(
    group: &Group,
    latest: Option<&OccurrenceRecord>,
    hourly_trend: Vec<TrendPoint>,
    reach: Reach<'_>,
) -> IssueGroup {
    let text = |pick: fn(&Occurrence) -> &String| latest.map(|latest| pick(&latest.view).clone()).unwrap_or_default();
    let (exception_type, message, stack_trace) =
        (text(|view| &view.exception_type), text(|view| &view.message), text(|view| &view.stack_trace));
    let history = reach.history.cloned().unwrap_or_default();
    IssueGroup {
        exception_hash: ids::format_hash(group.hash),
        title: issue_title(&exception_type, &message, &stack_trace),
        stack_trace,
        exception_type,
        message,
        count: whole(group.count),
        stored_count: group.rows,
        users: reach.users.of(group.hash),
        first_seen: time::to_rfc3339(group.first_seen),
        last_seen: time::to_rfc3339(group.last_seen),
        first_occurrence: time::to_rfc3339(reach.history.map_or(group.first_seen, |history| history.first_ns)),
        first_version: history.first_version,
        last_version: history.last_version,
        hourly_trend,
        is_message: latest.is_some_and(|latest| latest.view.is_message),
        archived: group.state() == State::Archived,
        state: group.state().into(),
        decision: group.standing.map(|standing| triage::decision(standing.decision)),
        assignee: None,
        merged_hashes: Vec::new(),
        owner_type: latest.and_then(|latest| latest.view.owner_type),
        owner_name: text(|view| &view.owner_name),
    }
}

/// `POST /api/exception-stack-traces/{hash}`.
pub async fn detail(
    executor: &Executor,
    project: &Arc<Project>,
    hash: u64,
    request: IssueDetailRequest,
) -> Result<IssueDetail, QueryError> {
    let now = executor.context.clock.now_ns();
    let paging = Paging::read(request.pagination)?;
    let range = match (&request.from_date, &request.to_date) {
        (None, None) => Range::ALL,
        (from, to) => Range::of_list(from.as_deref(), to.as_deref(), now)?,
    };
    let families = Families::load(executor, project.number).await?;
    let hash = families.primary(hash);
    let of_issue = families.filter([hash]);
    let mut found = groups(executor, project.number, &families, range, of_issue.clone()).await?;
    add_decisions(executor, project.number, &families, &mut found).await?;
    let group = found.pop().ok_or_else(|| {
        QueryError::not_found(match executor.filter().is_empty() {
            true => "there is no such issue in this project",
            false => "this issue has no occurrences in the selected services and environments",
        })
    })?;
    let rows = group.rows;
    // A request without a range gets the trend from the first to the last occurrence.
    let occurrence_range = Range { from: group.first_seen, to: group.last_seen.saturating_add(1) };
    let trend_range = if range == Range::ALL { occurrence_range } else { range };
    let standings = group.standing.map(|standing| (hash, standing)).into_iter().collect();
    let order = plans::descending("time");
    let select = occurrences::select(executor, project, occurrence_range, of_issue.clone(), order, paging.window());
    let (mut views, page, tags, regressions) = tokio::try_join!(
        views(executor, project, &families, trend_range, Filter::True, vec![group]),
        async { occurrences::read(executor, project, &select.await?).await },
        async {
            match request.without_tags {
                true => Ok(tags::Tags::default()),
                false => tags::count(executor, project, occurrence_range, of_issue.clone()).await,
            }
        },
        standing::regressions(executor, project.number, &families, &standings),
    )?;
    let group = views.pop().ok_or_else(|| QueryError::not_found("there is no such issue in this project"))?;
    let related_entity = match page.first() {
        Some(latest) => occurrences::related(executor, project, latest).await?,
        None => None,
    };
    let commit = match page.first() {
        Some(latest) => source::commit(executor, project, latest).await?,
        None => String::new(),
    };
    let grouping = page.first().map(|latest| grouping::of(executor.context.grouping, &families, hash, latest));
    Ok(IssueDetail {
        group,
        grouping,
        commit,
        occurrences: page.into_iter().map(|occurrence| occurrence.view).collect(),
        pagination: paging.info(rows),
        related_entity,
        regression: regressions.get(&hash).map(triage::regression),
        tagged_count: tags.count(),
        tagged_stored_count: tags.rows,
        tags: tags.distributions(),
    })
}

/// `POST /api/exception-stack-traces/by-id/{id}`.
pub async fn occurrence(
    executor: &Executor,
    project: &Arc<Project>,
    id: [u8; 16],
    recorded_at: Option<i64>,
) -> Result<OccurrenceDetail, QueryError> {
    let answer = super::entities::find(executor, Table::Exceptions, project.number, id, recorded_at).await?;
    let records = occurrences::read(executor, project, &answer).await?;
    let record =
        records.into_iter().next().ok_or_else(|| QueryError::not_found("there is no such row in this project"))?;
    let related_entity = occurrences::related(executor, project, &record).await?;
    Ok(OccurrenceDetail { exception: record.view, related_entity })
}
