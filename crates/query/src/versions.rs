//! Changes by a version: `POST /api/deploys/version`. The first version of a name: `POST /api/first-version`.
//!
//! Only certain differences are reported.

use std::collections::HashMap;

use tidewatch_domain::changes::{Differs, Sample, differences};
use tidewatch_domain::units::{DAY_NS, HOUR_NS};
use tidewatch_store::plan::{Aggregate, Filter, Function, Key};
use tidewatch_store::tables::Table;

use crate::answer::Row;
use crate::error::QueryError;
use crate::executor::Executor;
use crate::issues::Families;
use crate::time::{self, Buckets, Range};
use crate::views::answers::{NewKind, NewThing};
use crate::views::compare::ComparedKind;
use crate::views::version::*;
use crate::{deploys, filters, ids, plans};
use tidewatch_accounts::Project;
use tidewatch_limits as limits;

/// Time before and after a deploy whose rows are read, nanoseconds.
const AROUND: i64 = 6 * HOUR_NS;
/// Occurrences that an Issue must have been expected to have.
const EXPECTED: f64 = 5.0;
/// Nothing of this time after the first row of a project is new, nanoseconds.
const BEGINNING: i64 = HOUR_NS;

/// Output columns.
const OLD: &str = "old";
const OLD_FAILED: &str = "old_failed";
const OLD_TIMED: &str = "old_timed";
const OLD_DURATIONS: &str = "old_durations";
const NEW: &str = "new";
const NEW_FAILED: &str = "new_failed";
const NEW_TIMED: &str = "new_timed";
const NEW_DURATIONS: &str = "new_durations";
const FIRST: &str = "first";
const COUNT: &str = "count";

const TABLES: [(Table, ComparedKind); 3] = [
    (Table::Endpoints, ComparedKind::Endpoint),
    (Table::Tasks, ComparedKind::Task),
    (Table::AiTraces, ComparedKind::AiTrace),
];

/// The rows that are compared.
struct Sides {
    range: Range,
    service: Filter,
    new: Filter,
    old: Filter,
}

/// `POST /api/deploys/version`. A version that never went live is [`QueryError::NotFound`].
pub async fn page(executor: &Executor, project: &Project, request: VersionRequest) -> Result<VersionPage, QueryError> {
    let VersionRequest { service, version } = request;
    let all = deploys::all(&executor.context, project.number).await?;
    let of = |one: &deploys::WentLive| one.deploy.service == service && one.deploy.version == version;
    let deploy = all.into_iter().find(of);
    let deploy = deploy.ok_or_else(|| QueryError::not_found("no such version of this service is known"))?;
    let at = deploy.first_ns.unwrap_or(deploy.deployed_ns());
    let to = at.saturating_add(AROUND).min(executor.context.clock.now_ns()).max(at.saturating_add(1));
    let range = Range { from: at.saturating_sub(AROUND), to };
    let is_it = filters::text("app_version", &version);
    let sides =
        Sides { range, service: filters::text("server_name", &service), old: filters::not(is_it.clone()), new: is_it };
    let mut page = VersionPage {
        deploy: deploys::view(deploy),
        from: time::to_rfc3339(range.from),
        to: time::to_rfc3339(range.to),
        calls: 0,
        other_calls: 0,
        worse: Vec::new(),
        better: Vec::new(),
        new: Vec::new(),
        fixed: Vec::new(),
    };
    for (table, kind) in TABLES {
        compare(executor, project.number, table, kind, &sides, &mut page).await?;
    }
    issues(executor, project.number, &sides, &mut page).await?;
    for list in [&mut page.worse, &mut page.better] {
        list.sort_by(|one, other| other.after_count.cmp(&one.after_count).then_with(|| one.name.cmp(&other.name)));
        list.truncate(limits::NEW_LISTED_MAX);
    }
    page.new.sort_by(|one, other| {
        one.kind.cmp(&other.kind).then(other.count.cmp(&one.count)).then_with(|| one.name.cmp(&other.name))
    });
    page.new.truncate(limits::NEW_LISTED_MAX);
    Ok(page)
}

fn aggregates(table: Table, sides: &Sides) -> Vec<Aggregate> {
    let timed = if table == Table::Endpoints { filters::is_not("is_stream") } else { Filter::True };
    let quantiles = || Function::Quantiles { column: "duration", qs: vec![0.16, 0.50, 0.84, 0.95] };
    let of = |side: &Filter, names: [&'static str; 4]| {
        let timed = side.clone().and(timed.clone());
        [
            Function::Count.named(names[0]).only(side.clone()),
            Function::Count.named(names[1]).only(side.clone().and(filters::is("is_error"))),
            Function::Count.named(names[2]).only(timed.clone()),
            quantiles().named(names[3]).only(timed),
        ]
    };
    let mut all = of(&sides.old, [OLD, OLD_FAILED, OLD_TIMED, OLD_DURATIONS]).to_vec();
    all.extend(of(&sides.new, [NEW, NEW_FAILED, NEW_TIMED, NEW_DURATIONS]));
    all.push(Function::Min("time").named(FIRST));
    all
}

fn sample(row: Row<'_>, names: [&str; 4]) -> Sample {
    let durations = row.numbers(names[3]).and_then(|list| list.try_into().ok()).unwrap_or_default();
    Sample { calls: row.number(names[0]), failed: row.number(names[1]), timed: row.number(names[2]), durations }
}

/// Compares the names of a table, and finds those that only the version has.
async fn compare(
    executor: &Executor,
    project: u32,
    table: Table,
    kind: ComparedKind,
    sides: &Sides,
    page: &mut VersionPage,
) -> Result<(), QueryError> {
    let keys = vec![Key::column("name")];
    let plan = plans::groups(table, &[project], sides.range, sides.service.clone(), keys, aggregates(table, sides));
    let answer = executor.run(plan).await?;
    let mut only_new: HashMap<String, (u64, i64)> = HashMap::new();
    for row in answer.rows() {
        let old = sample(row, [OLD, OLD_FAILED, OLD_TIMED, OLD_DURATIONS]);
        let new = sample(row, [NEW, NEW_FAILED, NEW_TIMED, NEW_DURATIONS]);
        page.calls += new.calls as u64;
        page.other_calls += old.calls as u64;
        let name = row.text("name").to_owned();
        if old.calls <= 0.0 && new.calls > 0.0 {
            only_new.insert(name.clone(), (new.calls as u64, row.int(FIRST)));
        }
        for (differs, is_worse) in differences(&old, &new) {
            let share = |of: &Sample| of.failed / of.calls.max(1.0);
            let (metric, before, after) = match differs {
                Differs::Failed => (DifferenceMetric::ErrorRate, share(&old), share(&new)),
                Differs::P50 => (DifferenceMetric::P50, old.durations[1], new.durations[1]),
                Differs::P95 => (DifferenceMetric::P95, old.durations[3], new.durations[3]),
            };
            let (before_count, after_count) = (old.calls as u64, new.calls as u64);
            let found = Difference { kind, name: name.clone(), metric, before, after, before_count, after_count };
            if is_worse { page.worse.push(found) } else { page.better.push(found) }
        }
    }
    if only_new.is_empty() {
        return Ok(());
    }
    let mut names: Vec<String> = only_new.keys().cloned().collect();
    names.sort();
    let before = Range { from: Range::ALL.from, to: sides.range.from };
    let counts = vec![Function::Count.named(COUNT)];
    let filter = filters::strings("name", &names);
    for row in
        executor.run(plans::groups(table, &[project], before, filter, vec![Key::column("name")], counts)).await?.rows()
    {
        only_new.remove(row.text("name"));
    }
    let new_kind = match kind {
        ComparedKind::Endpoint => NewKind::Endpoint,
        ComparedKind::Task => NewKind::Task,
        ComparedKind::AiTrace => NewKind::AiTrace,
    };
    page.new.extend(only_new.into_iter().map(|(name, (count, first))| NewThing {
        kind: new_kind,
        name,
        exception_hash: None,
        service: page.deploy.service.clone(),
        version: Some(page.deploy.version.clone()),
        since: time::to_rfc3339(first),
        count,
    }));
    Ok(())
}

/// The occurrences of an Issue, merged hashes included.
struct Occurred {
    old: f64,
    new: f64,
    first: i64,
    title: String,
}

/// Finds Issues that only the version has, and those that it no longer has.
async fn issues(executor: &Executor, project: u32, sides: &Sides, page: &mut VersionPage) -> Result<(), QueryError> {
    let families = Families::load(executor, project).await?;
    let keys = || vec![Key::column("group")];
    let aggregates = vec![
        Function::Count.named(OLD).only(sides.old.clone()),
        Function::Count.named(NEW).only(sides.new.clone()),
        Function::Min("time").named(FIRST),
        Function::Latest { column: "exception_type" }.named("exception_type"),
    ];
    let plan = plans::groups(Table::Exceptions, &[project], sides.range, sides.service.clone(), keys(), aggregates);
    let mut all: HashMap<u64, Occurred> = HashMap::new();
    for row in executor.run(plan).await?.rows() {
        let hash = row.u64("group");
        let primary = families.primary(hash);
        let known =
            all.entry(primary).or_insert(Occurred { old: 0.0, new: 0.0, first: i64::MAX, title: String::new() });
        known.old += row.number(OLD);
        known.new += row.number(NEW);
        known.first = known.first.min(row.int(FIRST));
        if hash == primary || known.title.is_empty() {
            known.title = row.text("exception_type").to_owned();
        }
    }
    for of in all.values_mut().filter(|of| of.title.is_empty()) {
        of.title = "exception".to_owned();
    }
    // Calls of the version for each call of others.
    let ratio = page.calls as f64 / (page.other_calls as f64).max(1.0);
    let is_fixed = |of: &Occurred| of.old > 0.0 && of.new <= 0.0 && of.old * ratio >= EXPECTED;
    page.fixed = all
        .iter()
        .filter(|(_, of)| is_fixed(of))
        .map(|(hash, of)| FixedIssue {
            name: of.title.clone(),
            exception_hash: ids::format_hash(*hash),
            count: of.old as u64,
        })
        .collect();
    page.fixed.sort_by(|one, other| {
        other
            .count
            .cmp(&one.count)
            .then_with(|| (&one.name, &one.exception_hash).cmp(&(&other.name, &other.exception_hash)))
    });
    page.fixed.truncate(limits::NEW_LISTED_MAX);
    all.retain(|_, of| of.old <= 0.0 && of.new > 0.0);
    if all.is_empty() {
        return Ok(());
    }
    let mut only_new: Vec<u64> = all.keys().copied().collect();
    only_new.sort_unstable();
    let before = Range { from: Range::ALL.from, to: sides.range.from };
    let counts = vec![Function::Count.named(COUNT)];
    let plan = plans::groups(Table::Exceptions, &[project], before, families.filter(only_new), keys(), counts);
    for row in executor.run(plan).await?.rows() {
        all.remove(&families.primary(row.u64("group")));
    }
    page.new.extend(all.into_iter().map(|(hash, of)| NewThing {
        kind: NewKind::Issue,
        name: of.title,
        exception_hash: Some(ids::format_hash(hash)),
        service: page.deploy.service.clone(),
        version: Some(page.deploy.version.clone()),
        since: time::to_rfc3339(of.first),
        count: of.new as u64,
    }));
    Ok(())
}

/// `POST /api/first-version`.
pub async fn first(
    executor: &Executor,
    project: &Project,
    request: FirstVersionRequest,
) -> Result<FirstSeen, QueryError> {
    let table = TABLES.iter().find(|(_, kind)| *kind == request.kind).map_or(Table::Endpoints, |(table, _)| *table);
    let of_name = filters::text("name", &request.name);
    let unknown = FirstSeen { version: None, service: String::new(), since: None };
    let Some(day) = first_day(executor, project.number, table, of_name.clone()).await? else { return Ok(unknown) };
    let mut aggregates = vec![Function::Min("time").named(FIRST)];
    aggregates.extend(["server_name", "app_version"].map(|column| Function::Earliest { column }.named(column)));
    let answer = executor.run(plans::groups(table, &[project.number], day, of_name, vec![], aggregates)).await?;
    let Some(row) = answer.first() else { return Ok(unknown) };
    let first = row.int(FIRST);
    // Everything is first seen when data begins.
    let early = Range { from: Range::ALL.from, to: first.saturating_sub(BEGINNING) };
    let mut has_earlier = false;
    for (table, _) in TABLES {
        let plan =
            plans::rows(table, &[project.number], early, Filter::True, vec!["time"], vec![], plans::Window::first(1));
        has_earlier = has_earlier || !executor.run(plan).await?.is_empty();
    }
    Ok(FirstSeen {
        version: Some(row.text("app_version").to_owned()).filter(|version| has_earlier && !version.is_empty()),
        service: row.text("server_name").to_owned(),
        since: Some(time::to_rfc3339(first)),
    })
}

/// The first day with rows, from roll-ups.
async fn first_day(
    executor: &Executor,
    project: u32,
    table: Table,
    filter: Filter,
) -> Result<Option<Range>, QueryError> {
    let days = Buckets { origin: 0, width: DAY_NS, count: 1 };
    let counts = vec![Function::Count.named(COUNT)];
    let plan = plans::groups(table, &[project], Range::ALL, filter, vec![plans::bucket(&days)], counts);
    let answer = executor.run(plan).await?;
    let first = answer.rows().map(|row| row.int(plans::BUCKET)).min();
    Ok(first.map(|from| Range { from, to: from.saturating_add(DAY_NS) }))
}
