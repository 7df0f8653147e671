//! The states of Issues: the decisions of users, and what occurred since. The rule is `domain::rules::issue_state`.

use std::collections::HashMap;

use tidewatch_accounts::IssueDecision;
use tidewatch_domain::rules::issue_state::{Decision, Since, State, issue_state};
use tidewatch_store::plan::{Filter, Function, Key, Op};
use tidewatch_store::tables::Table;

use super::columns::GROUP;
use super::family::Families;
use crate::error::QueryError;
use crate::executor::Executor;
use crate::time::Range;
use crate::{filters, plans};

/// Output columns of the plans.
const COUNT: &str = "count";
const FIRST: &str = "first";
const LAST: &str = "last";

/// The state of an Issue, and the decision that it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// The state now.
    pub state: State,
    /// The latest decision, also when it no longer holds.
    pub decision: IssueDecision,
}

/// The first occurrence that the resolution of an Issue does not cover.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Regression {
    /// Nanoseconds since the epoch.
    pub at_ns: i64,
    /// Its service; empty when absent.
    pub service: String,
    /// Its version; empty when unknown.
    pub version: String,
}

/// The occurrences of one Issue in one version of a service.
#[derive(Debug, Clone)]
struct OfVersion {
    service: String,
    version: String,
    first: i64,
    last: i64,
}

/// The first sights of versions by service and version, nanoseconds since the epoch.
type FirstSights = HashMap<(String, String), i64>;

/// The standings of those of the Issues that have a decision; the others are open. `primaries` are not merged.
pub async fn of(
    executor: &Executor,
    project: u32,
    families: &Families,
    primaries: &[u64],
) -> Result<HashMap<u64, Standing>, QueryError> {
    // The state of an Issue does not depend on what is selected.
    let executor = &executor.unfiltered();
    let all = executor.context.projects.issue_decisions(project).await?;
    let decided: HashMap<u64, IssueDecision> =
        primaries.iter().filter_map(|hash| Some((*hash, *all.get(hash)?))).collect();
    let chosen = |is: fn(&Decision) -> bool| -> Vec<(u64, i64)> {
        let chosen = decided.iter().filter(|(_, one)| is(&one.decision));
        chosen.map(|(hash, one)| (*hash, one.decided_ns)).collect()
    };
    let once = chosen(|decision| matches!(decision, Decision::Resolved | Decision::Archived));
    let counted = chosen(|decision| matches!(decision, Decision::Muted { until_count: Some(_), .. }));
    let next = chosen(|decision| *decision == Decision::ResolvedInNextVersion);
    let (last, counts, (by_version, sights)) = tokio::try_join!(
        latest(executor, project, families, &once),
        counts(executor, project, families, &counted),
        versions(executor, project, families, &next),
    )?;
    let now = executor.context.clock.now_ns();
    let standing = |(hash, decision): (u64, IssueDecision)| {
        let at = decision.decided_ns;
        let versions = by_version.get(&hash).map_or(&[][..], Vec::as_slice);
        let since = Since {
            occurred: last.get(&hash).is_some_and(|last| *last > at),
            count: counts.get(&hash).copied().unwrap_or(0.0),
            in_later_version: versions.iter().any(|one| one.last > at && is_later(one, at, &sights)),
        };
        (hash, Standing { state: issue_state(decision.decision, since, now), decision })
    };
    Ok(decided.into_iter().map(standing).collect())
}

/// Whether the version was first seen after `at`, or is unknown.
fn is_later(one: &OfVersion, at: i64, sights: &FirstSights) -> bool {
    let key = (one.service.clone(), one.version.clone());
    one.version.is_empty() || (one.first > at && sights.get(&key).is_none_or(|first| *first > at))
}

/// Times of the latest occurrences, by Issue.
async fn latest(
    executor: &Executor,
    project: u32,
    families: &Families,
    decided: &[(u64, i64)],
) -> Result<HashMap<u64, i64>, QueryError> {
    let Some(from) = decided.iter().map(|(_, at)| *at).min() else { return Ok(HashMap::new()) };
    let filter = families.filter(decided.iter().map(|(hash, _)| *hash));
    let range = Range { from, to: i64::MAX };
    let plan = plans::groups(
        Table::Exceptions,
        &[project],
        range,
        filter,
        vec![Key::column(GROUP)],
        vec![Function::Max("time").named(LAST)],
    );
    let mut latest: HashMap<u64, i64> = HashMap::new();
    for row in executor.run(plan).await?.rows() {
        let last = latest.entry(families.primary(row.u64(GROUP))).or_insert(i64::MIN);
        *last = (*last).max(row.int(LAST));
    }
    Ok(latest)
}

/// The occurrences after the decision about each Issue.
fn after(families: &Families, decided: &[(u64, i64)]) -> Filter {
    let mut at_once: HashMap<i64, Vec<u64>> = HashMap::new();
    for (hash, at) in decided {
        at_once.entry(*at).or_default().push(*hash);
    }
    let later = |(at, hashes): (i64, Vec<u64>)| filters::compare("time", Op::Gt, at).and(families.filter(hashes));
    let any = Filter::Any(at_once.into_iter().map(later).collect());
    // Blocks of other Issues are not read.
    families.filter(decided.iter().map(|(hash, _)| *hash)).and(any)
}

/// Weighted occurrences after the decisions, by Issue.
async fn counts(
    executor: &Executor,
    project: u32,
    families: &Families,
    decided: &[(u64, i64)],
) -> Result<HashMap<u64, f64>, QueryError> {
    let Some(from) = decided.iter().map(|(_, at)| *at).min() else { return Ok(HashMap::new()) };
    let plan = plans::groups(
        Table::Exceptions,
        &[project],
        Range { from, to: i64::MAX },
        after(families, decided),
        vec![Key::column(GROUP)],
        vec![Function::Weight.named(COUNT)],
    );
    let mut counts: HashMap<u64, f64> = HashMap::new();
    for row in executor.run(plan).await?.rows() {
        *counts.entry(families.primary(row.u64(GROUP))).or_default() += row.number(COUNT);
    }
    Ok(counts)
}

/// The occurrences by version of all time, by Issue, and the first sights of versions.
async fn versions(
    executor: &Executor,
    project: u32,
    families: &Families,
    decided: &[(u64, i64)],
) -> Result<(HashMap<u64, Vec<OfVersion>>, FirstSights), QueryError> {
    if decided.is_empty() {
        return Ok(Default::default());
    }
    let filter = families.filter(decided.iter().map(|(hash, _)| *hash));
    let (by_version, sights) = tokio::try_join!(by_version(executor, project, families, filter), async {
        Ok(executor.context.projects.first_versions(project).await?)
    })?;
    let mut first: FirstSights = HashMap::new();
    for sight in sights {
        let at = first.entry((sight.service, sight.version)).or_insert(i64::MAX);
        *at = (*at).min(sight.first_ns);
    }
    Ok((by_version, first))
}

async fn by_version(
    executor: &Executor,
    project: u32,
    families: &Families,
    filter: Filter,
) -> Result<HashMap<u64, Vec<OfVersion>>, QueryError> {
    let keys = ["group", "server_name", "app_version"].map(Key::column).to_vec();
    let times = vec![Function::Min("time").named(FIRST), Function::Max("time").named(LAST)];
    let plan = plans::groups(Table::Exceptions, &[project], Range::ALL, filter, keys, times);
    let mut found: HashMap<u64, Vec<OfVersion>> = HashMap::new();
    for row in executor.run(plan).await?.rows() {
        let (service, version) = (row.text("server_name"), row.text("app_version"));
        let (first, last) = (row.int(FIRST), row.int(LAST));
        let of_issue = found.entry(families.primary(row.u64(GROUP))).or_default();
        match of_issue.iter_mut().find(|one| (one.service.as_str(), one.version.as_str()) == (service, version)) {
            Some(one) => (one.first, one.last) = (one.first.min(first), one.last.max(last)),
            None => {
                let (service, version) = (service.to_owned(), version.to_owned());
                of_issue.push(OfVersion { service, version, first, last });
            }
        }
    }
    Ok(found)
}

/// The regressions of Issues whose state is [`State::Regressed`], by Issue.
pub async fn regressions(
    executor: &Executor,
    project: u32,
    families: &Families,
    standings: &HashMap<u64, Standing>,
) -> Result<HashMap<u64, Regression>, QueryError> {
    // The state of an Issue does not depend on what is selected.
    let executor = &executor.unfiltered();
    let regressed: HashMap<u64, IssueDecision> = standings
        .iter()
        .filter(|(_, standing)| standing.state == State::Regressed)
        .map(|(hash, standing)| (*hash, standing.decision))
        .collect();
    if regressed.is_empty() {
        return Ok(HashMap::new());
    }
    let decided: Vec<(u64, i64)> = regressed.iter().map(|(hash, one)| (*hash, one.decided_ns)).collect();
    let next: Vec<(u64, i64)> = decided.iter().copied().filter(|(hash, _)| is_next(&regressed, *hash)).collect();
    let (later, (all, sights)) = tokio::try_join!(
        by_version(executor, project, families, after(families, &decided)),
        versions(executor, project, families, &next),
    )?;
    let mut found = HashMap::new();
    for (hash, at) in decided {
        let of_all = all.get(&hash).map_or(&[][..], Vec::as_slice);
        let is_covered = |one: &OfVersion| {
            let same = |other: &&OfVersion| (&other.service, &other.version) == (&one.service, &one.version);
            is_next(&regressed, hash) && !of_all.iter().find(same).is_none_or(|all| is_later(all, at, &sights))
        };
        let uncovered = later.get(&hash).map_or(&[][..], Vec::as_slice).iter().filter(|one| !is_covered(one));
        let first = uncovered.min_by(|left, right| {
            (left.first, &left.service, &left.version).cmp(&(right.first, &right.service, &right.version))
        });
        if let Some(OfVersion { service, version, first, .. }) = first.cloned() {
            found.insert(hash, Regression { at_ns: first, service, version });
        }
    }
    Ok(found)
}

fn is_next(decisions: &HashMap<u64, IssueDecision>, hash: u64) -> bool {
    decisions.get(&hash).is_some_and(|one| one.decision == Decision::ResolvedInNextVersion)
}
