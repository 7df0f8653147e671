//! Changes of the states, assignees and merges of Issues.

use std::collections::HashMap;

use tidewatch_accounts::{Actor, IssueDecision, Project};
use tidewatch_domain::rules::issue_state::Decision;

use super::family::Families;
use super::standing::{self, Regression};
use crate::error::QueryError;
use crate::executor::Executor;
use crate::views::triage::*;
use crate::{ids, time};

/// Maximum Issues in one request.
const HASHES_MAX: usize = 1000;

/// Parses the hashes of a request.
fn hashes(hashes: &[String]) -> Result<Vec<u64>, QueryError> {
    if hashes.len() > HASHES_MAX {
        return Err(QueryError::unprocessable(format!("at most {HASHES_MAX} hashes in one request")));
    }
    hashes.iter().map(|hash| ids::parse_hash(hash)).collect()
}

/// The Issues of the hashes of a request, each once.
async fn primaries(executor: &Executor, project: u32, named: &[String]) -> Result<(Families, Vec<u64>), QueryError> {
    let hashes = hashes(named)?;
    let families = Families::load(executor, project).await?;
    let primaries = families.primaries(&hashes);
    Ok((families, primaries))
}

/// `POST /api/exception-stack-traces/state`.
pub async fn set_state(
    executor: &Executor,
    by: &Actor,
    project: &Project,
    request: IssueStateRequest,
) -> Result<IssuesChanged, QueryError> {
    let decision = requested(&request, by.at_ns)?;
    let (families, primaries) = primaries(executor, project.number, &request.hashes).await?;
    decide(executor, by, project, &families, &primaries, decision).await?;
    Ok(IssuesChanged { changed: primaries.len() as u64 })
}

/// The decision of a request; `None` opens the Issues.
fn requested(request: &IssueStateRequest, now_ns: i64) -> Result<Option<Decision>, QueryError> {
    let until_ns = time::parse_optional(request.until_time.as_deref(), "untilTime")?;
    let until_count = request.until_count;
    if request.state != IssueState::Muted && (until_ns.is_some() || until_count.is_some()) {
        return Err(QueryError::unprocessable("only a mute has untilTime or untilCount"));
    }
    Ok(Some(match request.state {
        IssueState::Open => return Ok(None),
        IssueState::Regressed => return Err(QueryError::unprocessable("only the server sets the state regressed")),
        IssueState::Resolved => Decision::Resolved,
        IssueState::ResolvedInNextVersion => Decision::ResolvedInNextVersion,
        IssueState::Archived => Decision::Archived,
        IssueState::Muted => {
            if until_ns.is_none() && until_count.is_none() {
                return Err(QueryError::unprocessable("a mute needs untilTime or untilCount"));
            }
            if until_ns.is_some_and(|until| until <= now_ns) {
                return Err(QueryError::unprocessable("untilTime is in the past"));
            }
            if until_count.is_some_and(|count| count == 0 || i64::try_from(count).is_err()) {
                return Err(QueryError::unprocessable("untilCount is at least 1"));
            }
            Decision::Muted { until_ns, until_count }
        }
    }))
}

/// Stores a decision, and the regressions that it answers.
async fn decide(
    executor: &Executor,
    by: &Actor,
    project: &Project,
    families: &Families,
    primaries: &[u64],
    decision: Option<Decision>,
) -> Result<(), QueryError> {
    let standings = standing::of(executor, project.number, families, primaries).await?;
    let regressions = standing::regressions(executor, project.number, families, &standings).await?;
    let regressed: HashMap<u64, i64> = regressions.into_iter().map(|(hash, one)| (hash, one.at_ns)).collect();
    Ok(executor.context.projects.decide_issues(by, project, primaries, decision, &regressed).await?)
}

/// `POST /api/exception-stack-traces/archive`.
pub async fn archive(
    executor: &Executor,
    by: &Actor,
    project: &Project,
    request: HashesRequest,
) -> Result<Archived, QueryError> {
    let (families, primaries) = primaries(executor, project.number, &request.hashes).await?;
    decide(executor, by, project, &families, &primaries, Some(Decision::Archived)).await?;
    Ok(Archived { archived: request.hashes.len() as u64 })
}

/// `POST /api/exception-stack-traces/unarchive`.
pub async fn unarchive(
    executor: &Executor,
    by: &Actor,
    project: &Project,
    request: HashesRequest,
) -> Result<Unarchived, QueryError> {
    let (_, primaries) = primaries(executor, project.number, &request.hashes).await?;
    let unarchived = executor.context.projects.unarchive(by, project, &primaries).await? as u64;
    Ok(Unarchived { unarchived })
}

/// `POST /api/exception-stack-traces/assign`.
pub async fn assign(
    executor: &Executor,
    by: &Actor,
    project: &Project,
    request: IssueAssignRequest,
) -> Result<IssuesChanged, QueryError> {
    let (_, primaries) = primaries(executor, project.number, &request.hashes).await?;
    executor.context.projects.assign_issues(by, project, &primaries, request.user_id).await?;
    Ok(IssuesChanged { changed: primaries.len() as u64 })
}

/// `POST /api/exception-stack-traces/merge`.
pub async fn merge(
    executor: &Executor,
    by: &Actor,
    project: &Project,
    request: IssueMergeRequest,
) -> Result<IssuesMerged, QueryError> {
    let into = ids::parse_hash(&request.into)?;
    let hashes = hashes(&request.hashes)?;
    let primary = executor.context.projects.merge_issues(by, project, &hashes, into).await?;
    Ok(IssuesMerged { exception_hash: ids::format_hash(primary) })
}

/// `POST /api/exception-stack-traces/unmerge`.
pub async fn unmerge(
    executor: &Executor,
    by: &Actor,
    project: &Project,
    request: HashesRequest,
) -> Result<IssuesChanged, QueryError> {
    let changed = executor.context.projects.unmerge_issues(by, project, &hashes(&request.hashes)?).await? as u64;
    Ok(IssuesChanged { changed })
}

/// The view of a decision.
pub(super) fn decision(decision: IssueDecision) -> IssueDecisionView {
    let (state, until_ns, until_count) = match decision.decision {
        Decision::Resolved => (IssueState::Resolved, None, None),
        Decision::ResolvedInNextVersion => (IssueState::ResolvedInNextVersion, None, None),
        Decision::Muted { until_ns, until_count } => (IssueState::Muted, until_ns, until_count),
        Decision::Archived => (IssueState::Archived, None, None),
    };
    let decided_at = time::to_rfc3339(decision.decided_ns);
    IssueDecisionView { state, decided_at, until_time: until_ns.map(time::to_rfc3339), until_count }
}

/// The view of a regression.
pub(super) fn regression(regression: &Regression) -> IssueRegression {
    let Regression { at_ns, service, version } = regression.clone();
    IssueRegression { at: time::to_rfc3339(at_ns), service, version }
}

/// The view of a user; `None` for a deleted one.
pub(super) fn person(executor: &Executor, user_id: i64) -> Option<IssuePerson> {
    let user = executor.context.people.user(user_id)?;
    Some(IssuePerson { user_id, name: user.name.clone(), email: user.email.clone() })
}
