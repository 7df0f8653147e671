//! Issues: the list, one Issue with its occurrences, one occurrence, archiving.
//!
//! An archived Issue is hidden from the list until it occurs again after the moment it was archived.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use tidewatch_domain::rules::issue_group::issue_title;
use tidewatch_store::plan::{Filter, Function, Key, Value};
use tidewatch_store::tables::Table;

use super::answer::Row;
use super::entities::whole;
use super::executor::Executor;
use super::language::{self, RowKind};
use super::occurrences::{self, OccurrenceRecord};
use super::page::{self, Paging};
use super::plans::{self, Window};
use super::time::{self, Buckets, HOUR, Range};
use super::trend::{self, TrendQuery};
use super::views::issue::*;
use super::views::page::{Page, TrendPoint};
use super::{filters, ids};
use crate::error::QueryError;
use tidewatch_accounts::{Actor, Project};

/// Maximum points of a trend: a week of hours.
const TREND_POINTS_MAX: i64 = 168;
/// Maximum occurrences that tags are counted over.
const TAGGED_MAX: usize = 1000;
const TAG_KEYS_MAX: usize = 50;
const TAG_VALUES_MAX: usize = 10;
/// Maximum Issues in one request to archive or unarchive.
const HASHES_MAX: usize = 1000;

/// The column with the hash of the Issue.
const GROUP: &str = "group";
/// Output columns of the plans.
const COUNT: &str = "count";
const FIRST_SEEN: &str = "first_seen";
const LAST_SEEN: &str = "last_seen";
const LATEST: &str = "latest";
const ROWS: &str = "rows";
/// The column with the number of exceptions that a row stands for.
const WEIGHT: &str = "weight";

/// The statistics of an Issue in a range.
#[derive(Debug, Clone, PartialEq)]
struct Group {
    hash: u64,
    /// Weighted.
    count: f64,
    first_seen: i64,
    last_seen: i64,
    /// Row id of the latest occurrence.
    latest: [u8; 16],
    /// Stored occurrences, unweighted.
    rows: u64,
    is_archived: bool,
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
            is_archived: false,
        }
    }
}

async fn groups(executor: &Executor, project: u32, range: Range, filter: Filter) -> Result<Vec<Group>, QueryError> {
    let aggregates = vec![
        Function::Weight.named(COUNT),
        Function::Min("time").named(FIRST_SEEN),
        Function::Max("time").named(LAST_SEEN),
        Function::Latest { column: "row_id" }.named(LATEST),
        Function::Count.named(ROWS),
    ];
    let keys = vec![Key::column(GROUP)];
    let answer = executor.run(plans::groups(Table::Exceptions, &[project], range, filter, keys, aggregates)).await?;
    Ok(answer.rows().map(Group::read).collect())
}

fn in_groups(hashes: impl IntoIterator<Item = u64>) -> Filter {
    Filter::In { column: GROUP, values: hashes.into_iter().map(Value::U64).collect() }
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
    let search = request.search.as_deref();
    let rows = of_type.and(language::filter(RowKind::Issue, request.query.as_deref())?);
    let mut found = listed(executor, project.number, range, (rows.clone(), search), request.include_archived).await?;
    sort(&mut found, order, page::is_descending(request.sort_direction));
    let total = found.len() as u64;
    let data = views(executor, project, range, rows, paging.cut(found)).await?;
    Ok(paging.page(data, total))
}

/// The latest Issues that are not archived.
pub async fn recent(
    executor: &Executor,
    project: &Arc<Project>,
    range: Range,
    count: usize,
) -> Result<Vec<IssueGroup>, QueryError> {
    let mut found = listed(executor, project.number, range, (Filter::True, None), false).await?;
    sort(&mut found, IssueOrder::LastSeen, true);
    found.truncate(count);
    views(executor, project, range, Filter::True, found).await
}

/// Sorts groups; equal ones are sorted by hash, so that pages do not overlap.
fn sort(found: &mut [Group], order: IssueOrder, is_descending: bool) {
    found.sort_by(|left, right| {
        let ascending = match order {
            IssueOrder::LastSeen => left.last_seen.cmp(&right.last_seen),
            IssueOrder::FirstSeen => left.first_seen.cmp(&right.first_seen),
            IssueOrder::Count => left.count.total_cmp(&right.count),
        };
        let wanted = if is_descending { ascending.reverse() } else { ascending };
        wanted.then(left.hash.cmp(&right.hash))
    });
}

async fn listed(
    executor: &Executor,
    project: u32,
    range: Range,
    (rows, search): (Filter, Option<&str>),
    include_archived: bool,
) -> Result<Vec<Group>, QueryError> {
    let mut filter = rows;
    if let Some(needle) = search.map(str::trim).filter(|needle| !needle.is_empty()) {
        // The search selects Issues. Their counts include occurrences that do not match it.
        let keys = vec![Key::column(GROUP)];
        let count = vec![Function::Count.named(ROWS)];
        let plan = plans::groups(Table::Exceptions, &[project], range, matching(needle), keys, count);
        filter = filter.and(in_groups(executor.run(plan).await?.rows().map(|row| row.u64(GROUP))));
    }
    let archived = archived(executor, project).await?;
    let mut found = groups(executor, project, range, filter).await?;
    for group in &mut found {
        group.is_archived = archived.contains(&group.hash);
    }
    found.retain(|group| include_archived || !group.is_archived);
    Ok(found)
}

fn matching(needle: &str) -> Filter {
    let columns = ["exception_type", "message", "stack_trace"];
    let mut any: Vec<Filter> = columns.iter().map(|column| filters::contains(column, Some(needle))).collect();
    if let Ok(hash) = ids::parse_hash(needle) {
        any.push(in_groups([hash]));
    }
    Filter::Any(any)
}

/// The hashes of Issues that were archived and have not occurred since.
async fn archived(executor: &Executor, project: u32) -> Result<std::collections::HashSet<u64>, QueryError> {
    let archived_at = executor.context.control.archived(project).await?;
    if archived_at.is_empty() {
        return Ok(Default::default());
    }
    let earliest = archived_at.values().copied().min().unwrap_or(i64::MIN);
    let since = Range { from: earliest, to: i64::MAX };
    let keys = vec![Key::column(GROUP)];
    let last = vec![Function::Max("time").named(LAST_SEEN)];
    let plan = plans::groups(Table::Exceptions, &[project], since, in_groups(archived_at.keys().copied()), keys, last);
    let last: HashMap<u64, i64> =
        executor.run(plan).await?.rows().map(|row| (row.u64(GROUP), row.int(LAST_SEEN))).collect();
    let is_still_archived = |(hash, at): &(u64, i64)| last.get(hash).is_none_or(|last| last <= at);
    Ok(archived_at.into_iter().filter(is_still_archived).map(|(hash, _)| hash).collect())
}

/// The views of groups, with their latest occurrence, its owner, and the trend of the occurrences that pass `rows`.
async fn views(
    executor: &Executor,
    project: &Arc<Project>,
    range: Range,
    rows: Filter,
    shown: Vec<Group>,
) -> Result<Vec<IssueGroup>, QueryError> {
    if shown.is_empty() {
        return Ok(Vec::new());
    }
    let filter = in_groups(shown.iter().map(|group| group.hash))
        .and(filters::ids("row_id", shown.iter().map(|group| group.latest)));
    let window = Window::first(shown.len());
    let latest = async {
        let answer = occurrences::select(executor, project, range, filter, plans::descending("time"), window).await?;
        occurrences::read(executor, project, &answer).await
    };
    let hashes = shown.iter().map(|group| group.hash).collect();
    let (latest, trends) = tokio::try_join!(latest, trends(executor, project.number, range, rows, hashes))?;
    let latest: HashMap<u64, OccurrenceRecord> =
        latest.into_iter().map(|occurrence| (occurrence.group, occurrence)).collect();
    Ok(shown.iter().map(|group| view(group, latest.get(&group.hash), trends.line(&group.hash))).collect())
}

async fn trends(
    executor: &Executor,
    project: u32,
    range: Range,
    rows: Filter,
    hashes: Vec<u64>,
) -> Result<trend::Trends<u64>, QueryError> {
    let filter = in_groups(hashes).and(rows);
    let query = TrendQuery { table: Table::Exceptions, project, filter, key: Key::column(GROUP) };
    trend::by_key(executor, query, range, Buckets::at_most(range, TREND_POINTS_MAX, HOUR), |row| row.u64(GROUP)).await
}

fn view(group: &Group, latest: Option<&OccurrenceRecord>, hourly_trend: Vec<TrendPoint>) -> IssueGroup {
    let text = |pick: fn(&Occurrence) -> &String| latest.map(|latest| pick(&latest.view).clone()).unwrap_or_default();
    let (exception_type, message, stack_trace) =
        (text(|view| &view.exception_type), text(|view| &view.message), text(|view| &view.stack_trace));
    IssueGroup {
        exception_hash: ids::format_hash(group.hash),
        title: issue_title(&exception_type, &message, &stack_trace),
        stack_trace,
        exception_type,
        message,
        count: whole(group.count),
        stored_count: group.rows,
        first_seen: time::to_rfc3339(group.first_seen),
        last_seen: time::to_rfc3339(group.last_seen),
        hourly_trend,
        is_message: latest.is_some_and(|latest| latest.view.is_message),
        archived: group.is_archived,
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
    let mut found = groups(executor, project.number, range, in_groups([hash])).await?;
    let mut group = found.pop().ok_or_else(|| QueryError::not_found("there is no such issue in this project"))?;
    group.is_archived = archived(executor, project.number).await?.contains(&hash);
    let rows = group.rows;
    // A request without a range gets the trend from the first to the last occurrence.
    let occurrence_range = Range { from: group.first_seen, to: group.last_seen.saturating_add(1) };
    let trend_range = if range == Range::ALL { occurrence_range } else { range };

    let select = |window| {
        occurrences::select(executor, project, occurrence_range, in_groups([hash]), plans::descending("time"), window)
    };
    let (mut views, page, (tags, tagged)) = tokio::try_join!(
        views(executor, project, trend_range, Filter::True, vec![group]),
        async { occurrences::read(executor, project, &select(paging.window()).await?).await },
        async {
            let tagged = select(Window::first(TAGGED_MAX)).await?;
            let weight = tagged.rows().map(|row| row.number(WEIGHT)).sum();
            Ok::<_, QueryError>((tags(&tagged), TaggedEvents { rows: tagged.len() as u64, count: whole(weight) }))
        },
    )?;
    let group = views.pop().ok_or_else(|| QueryError::not_found("there is no such issue in this project"))?;
    let related_entity = match page.first() {
        Some(latest) => occurrences::related(executor, project, latest).await?,
        None => None,
    };
    Ok(IssueDetail {
        group,
        occurrences: page.into_iter().map(|occurrence| occurrence.view).collect(),
        pagination: paging.info(rows),
        related_entity,
        tags,
        tagged_count: tagged.count,
        tagged_stored_count: tagged.rows,
    })
}

/// The occurrences that tags are counted over.
struct TaggedEvents {
    rows: u64,
    /// Weighted.
    count: u64,
}

/// The distribution of the values of service, version and attributes over occurrences.
fn tags(answer: &super::answer::Answer) -> Vec<TagDistribution> {
    let mut counts: BTreeMap<String, BTreeMap<String, f64>> = BTreeMap::new();
    for row in answer.rows() {
        let mut attributes = super::attributes::map(row.bytes("attributes")).0;
        attributes.extend(super::attributes::map(row.bytes("event_attributes")).0);
        attributes.retain(|key, _| !key.starts_with("exception."));
        for (key, column) in [("server_name", "server_name"), ("app_version", "app_version")] {
            attributes.insert(key.to_owned(), row.text(column).to_owned());
        }
        for (key, value) in attributes {
            if !value.is_empty() {
                *counts.entry(key).or_default().entry(value).or_default() += row.number(WEIGHT);
            }
        }
    }
    let mut tags: Vec<TagDistribution> = counts.into_iter().map(|(key, values)| distribution(key, values)).collect();
    tags.sort_by_key(|tag| match tag.key.as_str() {
        "server_name" => 0,
        "app_version" => 1,
        _ => 2,
    });
    tags.truncate(TAG_KEYS_MAX);
    tags
}

fn distribution(key: String, values: BTreeMap<String, f64>) -> TagDistribution {
    let (distinct, count) = (values.len() as u64, whole(values.values().sum()));
    let mut values: Vec<TagValue> =
        values.into_iter().map(|(value, count)| TagValue { value, count: whole(count) }).collect();
    values.sort_by(|left, right| right.count.cmp(&left.count).then_with(|| left.value.cmp(&right.value)));
    values.truncate(TAG_VALUES_MAX);
    TagDistribution { key, values, distinct, count }
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

/// Parses the hashes of a request to archive or unarchive.
fn hashes(request: &HashesRequest) -> Result<Vec<u64>, QueryError> {
    if request.hashes.len() > HASHES_MAX {
        return Err(QueryError::unprocessable(format!("at most {HASHES_MAX} hashes in one request")));
    }
    request.hashes.iter().map(|hash| ids::parse_hash(hash)).collect()
}

/// `POST /api/exception-stack-traces/archive`.
pub async fn archive(
    executor: &Executor,
    by: &Actor,
    project: &Project,
    request: HashesRequest,
) -> Result<Archived, QueryError> {
    let archived = executor.context.control.archive(by, project, &hashes(&request)?).await? as u64;
    Ok(Archived { archived })
}

/// `POST /api/exception-stack-traces/unarchive`.
pub async fn unarchive(
    executor: &Executor,
    by: &Actor,
    project: &Project,
    request: HashesRequest,
) -> Result<Unarchived, QueryError> {
    let unarchived = executor.context.control.unarchive(by, project, &hashes(&request)?).await? as u64;
    Ok(Unarchived { unarchived })
}
