//! Issues that a version of the grouping rule makes one, when stored rows are grouped again.
//!
//! The Issue in the most open state stays, with its decision, and the others point at it: links, comments and activity
//! lead on, and counts and times are those of all rows. Nothing is written twice, so a move that was interrupted is
//! repeated.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use tidewatch_accounts::{Actor, HashCause, IssueJoin, Project};
use tidewatch_domain::rules::issue_state::State;
use tidewatch_limits as limits;
use tidewatch_store::plan::{Function, Key};
use tidewatch_store::tables::Table;

use super::columns::{GROUP, ROWS};
use super::family::Families;
use super::in_groups;
use super::standing::{self, Standing};
use crate::error::QueryError;
use crate::executor::Executor;
use crate::plans;
use crate::time::Range;

/// Lets Issues follow rows that change their hashes. `moved`: hashes before and after, each pair once.
///
/// Called before the rows are changed, so that no reader sees a changed row in a new Issue.
pub async fn follow(
    executor: &Executor,
    by: &Actor,
    project: &Project,
    moved: &[(u64, u64)],
) -> Result<(), QueryError> {
    let mut by_new: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    for (before, after) in moved.iter().filter(|(before, after)| before != after) {
        by_new.entry(*after).or_default().insert(*before);
    }
    let news: Vec<(u64, BTreeSet<u64>)> = by_new.into_iter().collect();
    for some in news.chunks(limits::NEW_HASHES_COMPARED) {
        join(executor, by, project, some).await?;
    }
    Ok(())
}

async fn join(
    executor: &Executor,
    by: &Actor,
    project: &Project,
    moved: &[(u64, BTreeSet<u64>)],
) -> Result<(), QueryError> {
    let (executor, number) = (&executor.unfiltered(), project.number);
    let version = executor.context.grouping.newest().version;
    for (after, before) in moved {
        // Read again for each: the hash before may have been joined for another one.
        let families = Families::stored(executor, number).await?;
        // A user said that it is an Issue of its own.
        if families.pointer(*after).is_some_and(|one| one.cause == HashCause::Own) {
            continue;
        }
        let projects = &executor.context.projects;
        let mut roots: BTreeSet<u64> = before.iter().map(|hash| families.primary(*hash)).collect();
        let is_pointed = families.pointer(*after).is_some();
        // Rows that arrived under the new hash meanwhile are of the same Issues, unless a user decided about them.
        let is_issue = is_pointed || !projects.triaged_issues(number, &[*after]).await?.is_empty();
        if is_issue {
            roots.insert(families.primary(*after));
        }
        let preferred = is_pointed.then(|| families.primary(*after));
        if roots.is_empty() || (is_pointed && roots.len() == 1) {
            continue;
        }
        // Points at the hash itself instead of the Issue that it was merged into, so that an unmerge gives it back.
        if let (false, 1, Some(hash)) = (is_issue, roots.len(), before.first()) {
            if !projects.point_hashes(number, &[(*after, *hash)], version).await? {
                tracing::warn!(project = number, "a project has {} hashes of rules", limits::ISSUE_HASHES_MAX);
            }
            continue;
        }
        let mut joined = decided(executor, number, &families, roots, (preferred, *after)).await?;
        if joined.into != *after && !joined.joined.contains(after) {
            joined.hashes.push(*after);
        }
        if !projects.join_issues(by, project, &[joined], version).await? {
            tracing::warn!(project = number, "a project has {} hashes of rules", limits::ISSUE_HASHES_MAX);
        }
    }
    Ok(())
}

/// Gives hashes without rows the decisions of the Issues that the rows had, when rules of a user group rows again. `moved`: see
/// [`follow`]. Called before the rows are changed.
pub async fn inherit(executor: &Executor, project: &Project, moved: &[(u64, u64)]) -> Result<(), QueryError> {
    let mut by_new: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    for (before, after) in moved.iter().filter(|(before, after)| before != after) {
        by_new.entry(*after).or_default().insert(*before);
    }
    let (executor, number) = (&executor.unfiltered(), project.number);
    let families = Families::stored(executor, number).await?;
    let mut pairs = Vec::new();
    for (after, before) in by_new {
        if is_known(executor, number, after).await? {
            continue;
        }
        let roots = before.iter().map(|hash| families.primary(*hash)).collect();
        pairs.push((after, decided(executor, number, &families, roots, (None, after)).await?.into));
    }
    Ok(executor.context.projects.inherit_issues(number, &pairs).await?)
}

/// Points hashes whose rows have all moved at the Issue that has most of them now: the end of grouping stored rows
/// again by the rules of a project.
pub async fn lead_on(executor: &Executor, by: &Actor, project: &Project) -> Result<(), QueryError> {
    let (executor, number) = (&executor.unfiltered(), project.number);
    let projects = &executor.context.projects;
    let mut after: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    for (hash, moved) in projects.moves(number).await? {
        after.entry(hash).or_default().insert(moved);
    }
    let hashes: BTreeSet<u64> = after.iter().flat_map(|(hash, after)| after.iter().chain([hash])).copied().collect();
    let hashes: Vec<u64> = hashes.into_iter().collect();
    let mut rows: HashMap<u64, u64> = HashMap::new();
    for some in hashes.chunks(limits::NEW_HASHES_COMPARED) {
        let count = vec![Function::Count.named(ROWS)];
        let keys = vec![Key::column(GROUP)];
        let filter = in_groups(some.iter().copied());
        let plan = plans::groups(Table::Exceptions, &[number], Range::ALL, filter, keys, count);
        rows.extend(executor.run(plan).await?.rows().map(|row| (row.u64(GROUP), row.count(ROWS))));
    }
    let mut by_new: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for (hash, after) in after.iter().filter(|(hash, _)| !rows.contains_key(hash)) {
        let most = after.iter().filter(|one| rows.contains_key(one)).max_by_key(|one| (rows[one], Reverse(**one)));
        if let Some(most) = most {
            by_new.entry(*most).or_default().push(*hash);
        }
    }
    let pairs: Vec<(u64, Vec<u64>)> = by_new.into_iter().collect();
    let version = executor.context.grouping.newest().version;
    Ok(projects.lead_on(by, project, &pairs, version).await?)
}

/// Whether a hash has stored rows or was triaged.
async fn is_known(executor: &Executor, project: u32, hash: u64) -> Result<bool, QueryError> {
    if !executor.context.projects.triaged_issues(project, &[hash]).await?.is_empty() {
        return Ok(true);
    }
    let count = vec![Function::Count.named(ROWS)];
    let keys = vec![Key::column(GROUP)];
    let plan = plans::groups(Table::Exceptions, &[project], Range::ALL, in_groups([hash]), keys, count);
    Ok(!executor.run(plan).await?.is_empty())
}

/// Which of the Issues stays, and what it takes from the others.
async fn decided(
    executor: &Executor,
    project: u32,
    families: &Families,
    roots: BTreeSet<u64>,
    after: (Option<u64>, u64),
) -> Result<IssueJoin, QueryError> {
    let all: Vec<u64> = roots.into_iter().collect();
    let projects = &executor.context.projects;
    let standings = standing::of(executor, project, families, &all).await?;
    let mut acted: HashMap<u64, i64> = HashMap::new();
    for some in all.chunks(limits::KNOWN_ISSUES_PER_STATEMENT) {
        acted.extend(projects.last_acted(project, some).await?);
    }
    let assignees = projects.issue_assignees(project).await?;
    Ok(chosen(&all, after, &standings, &acted, &assignees))
}

/// Openness of a state, the most open last.
fn openness(standing: Option<&Standing>) -> u8 {
    match standing.map_or(State::Open, |standing| standing.state) {
        State::Open => 5,
        State::Regressed => 4,
        State::Muted => 3,
        State::ResolvedInNextVersion => 2,
        State::Resolved => 1,
        State::Archived => 0,
    }
}

/// `all`: at least one hash. Among equally open ones: the Issue that the new hash points at, then one that had its address
/// before, then the one that a user acted on last. `after`: that Issue, and the new hash.
fn chosen(
    all: &[u64],
    (preferred, after): (Option<u64>, u64),
    standings: &HashMap<u64, Standing>,
    acted: &HashMap<u64, i64>,
    assignees: &HashMap<u64, i64>,
) -> IssueJoin {
    let acted_at = |hash: u64| acted.get(&hash).copied().unwrap_or(i64::MIN);
    let rank = |hash: u64| {
        (openness(standings.get(&hash)), Some(hash) == preferred, hash != after, acted_at(hash), Reverse(hash))
    };
    let into = all.iter().copied().max_by_key(|hash| rank(*hash)).unwrap_or(after);
    // Occurrences before another one was resolved must not make the Issue regress. One that has regressed or is open
    // again keeps the time of its decision: what occurred since is the reason for its state.
    let holds = standings.get(&into).is_some_and(|one| !matches!(one.state, State::Open | State::Regressed));
    let decided_ns = all.iter().filter_map(|hash| Some(standings.get(hash)?.decision.decided_ns)).max();
    let assigned = all.iter().copied().filter(|hash| assignees.contains_key(hash)).max_by_key(|hash| acted_at(*hash));
    let assignee = assigned.filter(|hash| *hash != into).and_then(|hash| assignees.get(&hash).copied());
    let joined: HashSet<u64> = all.iter().copied().filter(|hash| *hash != into).collect();
    let mut joined: Vec<u64> = joined.into_iter().collect();
    joined.sort_unstable();
    IssueJoin { into, joined, hashes: Vec::new(), decided_ns: decided_ns.filter(|_| holds), assignee }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidewatch_accounts::IssueDecision;
    use tidewatch_domain::rules::issue_state::Decision;

    fn standing(state: State, decided_ns: i64) -> Standing {
        let decision = match state {
            State::Archived => Decision::Archived,
            State::Muted => Decision::Muted { until_ns: None, until_count: Some(9) },
            State::ResolvedInNextVersion => Decision::ResolvedInNextVersion,
            _ => Decision::Resolved,
        };
        Standing { state, decision: IssueDecision { decision, decided_ns } }
    }

    #[track_caller]
    fn check(states: &[State], into: u64, decided_ns: Option<i64>) {
        let all: Vec<u64> = (1..=states.len() as u64).collect();
        let open = |(_, state): &(&u64, &State)| **state != State::Open;
        let standings: HashMap<u64, Standing> = all
            .iter()
            .zip(states)
            .filter(open)
            .map(|(hash, state)| (*hash, standing(*state, 10 * *hash as i64)))
            .collect();
        let found = chosen(&all, (Some(1), 0), &standings, &HashMap::new(), &HashMap::new());
        assert_eq!((found.into, found.decided_ns), (into, decided_ns), "{states:?}");
        assert_eq!(found.joined.len(), all.len() - 1);
    }

    // Issues: of several Issues that become one, the most open state wins, and no occurrence before the latest decision
    // makes it regress.
    #[test]
    fn the_most_open_state_wins() {
        use State::*;
        check(&[Archived, Resolved, Muted, Regressed, Open], 5, None);
        check(&[Archived, Resolved, Muted, Regressed], 4, None);
        check(&[Archived, Resolved, Muted], 3, Some(30));
        check(&[Archived, Resolved], 2, Some(20));
        check(&[Resolved, Archived], 1, Some(20));
        check(&[Resolved, Resolved, Resolved], 1, Some(30));
        check(&[Open, Open], 1, None);
    }

    // Issues: an Issue keeps its address; rows that arrived under the new hash meanwhile join it.
    #[test]
    fn the_address_stays() {
        let chosen = |after| chosen(&[1, 9], after, &HashMap::new(), &HashMap::new(), &HashMap::new()).into;
        assert_eq!([chosen((None, 1)), chosen((Some(9), 1)), chosen((None, 9))], [9, 9, 1]);
    }

    // Issues: the assignee of the Issue that was acted on last.
    #[test]
    fn the_assignee_follows() {
        let found = |acted: &[(u64, i64)]| {
            let acted = acted.iter().copied().collect();
            chosen(&[1, 2, 3], (Some(1), 0), &HashMap::new(), &acted, &[(2, 20), (3, 30)].into())
        };
        assert_eq!(found(&[(2, 5), (3, 4)]).assignee, Some(20));
        assert_eq!(found(&[(2, 5), (3, 6)]).assignee, Some(30));
        assert_eq!(found(&[(2, 5), (3, 6)]).into, 1);
    }
}
