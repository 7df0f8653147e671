//! The activity of an Issue: what users did with it, its regressions, and comments.

use tidewatch_accounts::{Actor, IssueActivity, IssueActivityKind, Project};
use tidewatch_limits as limits;

use super::family::Families;
use super::{standing, triage};
use crate::error::QueryError;
use crate::executor::Executor;
use crate::time;
use crate::views::triage::*;

/// `GET /api/exception-stack-traces/{hash}/activity`.
pub async fn list(executor: &Executor, project: &Project, hash: u64) -> Result<IssueActivityList, QueryError> {
    let families = Families::load(executor, project.number).await?;
    let hash = families.primary(hash);
    let primary = [hash];
    let ((stored, more), standings) = tokio::try_join!(
        async { Ok(executor.context.projects.issue_activity(project.number, hash).await?) },
        standing::of(executor, project.number, &families, &primary),
    )?;
    let regressions = standing::regressions(executor, project.number, &families, &standings).await?;
    let mut all: Vec<(i64, IssueActivityView)> =
        stored.into_iter().map(|entry| (entry.at_ns, view(executor, entry))).collect();
    all.extend(regressions.get(&hash).map(|one| (one.at_ns, regressed(one.at_ns))));
    all.sort_by_key(|(at_ns, _)| std::cmp::Reverse(*at_ns));
    Ok(IssueActivityList { data: all.into_iter().map(|(_, view)| view).collect(), more })
}

/// An entry of the server without a user.
fn regressed(at_ns: i64) -> IssueActivityView {
    IssueActivityView {
        id: 0,
        kind: IssueActivityType::Regressed,
        at: time::to_rfc3339(at_ns),
        by: None,
        state: None,
        until_time: None,
        until_count: None,
        assignee: None,
        exception_hash: String::new(),
        rule_version: None,
        joined_issues: None,
        comment: String::new(),
        edited_at: None,
    }
}

fn view(executor: &Executor, entry: IssueActivity) -> IssueActivityView {
    let kind = match entry.kind {
        IssueActivityKind::State => IssueActivityType::State,
        IssueActivityKind::Regressed => IssueActivityType::Regressed,
        IssueActivityKind::Assigned => IssueActivityType::Assigned,
        IssueActivityKind::Merged => IssueActivityType::Merged,
        IssueActivityKind::Unmerged => IssueActivityType::Unmerged,
        IssueActivityKind::Joined => IssueActivityType::Joined,
        IssueActivityKind::Comment => IssueActivityType::Comment,
    };
    // A deleted user keeps the address.
    let by = entry.user_id.map(|user_id| {
        let deleted = || IssuePerson { user_id, name: entry.actor.clone(), email: entry.actor.clone() };
        triage::person(executor, user_id).unwrap_or_else(deleted)
    });
    let details = &entry.details;
    let string = |name: &str| details[name].as_str().unwrap_or_default().to_owned();
    IssueActivityView {
        id: entry.id,
        kind,
        by,
        state: serde_json::from_value(details["state"].clone()).ok(),
        until_time: details["untilNs"].as_i64().map(time::to_rfc3339),
        until_count: details["untilCount"].as_u64(),
        assignee: details["name"].as_str().map(str::to_owned),
        exception_hash: string("hash"),
        rule_version: details["version"].as_u64().and_then(|version| version.try_into().ok()),
        joined_issues: details["issues"].as_u64(),
        comment: string("text"),
        edited_at: entry.edited_ns.map(time::to_rfc3339),
        ..regressed(entry.at_ns)
    }
}

/// `POST /api/exception-stack-traces/{hash}/comments`.
pub async fn comment(
    executor: &Executor,
    by: &Actor,
    project: &Project,
    hash: u64,
    request: IssueCommentRequest,
) -> Result<IssueCommentWritten, QueryError> {
    let comment = checked(&request)?;
    let id = executor.context.projects.comment_on_issue(by, project, hash, comment).await?;
    Ok(IssueCommentWritten { id })
}

/// `PUT /api/exception-stack-traces/comments/{id}`.
pub async fn edit_comment(
    executor: &Executor,
    by: &Actor,
    project: &Project,
    id: i64,
    request: IssueCommentRequest,
) -> Result<IssueCommentWritten, QueryError> {
    let comment = checked(&request)?;
    executor.context.projects.edit_issue_comment(by, project, id, comment).await?;
    Ok(IssueCommentWritten { id })
}

/// `DELETE /api/exception-stack-traces/comments/{id}`. `of_anyone`: also comments of other users.
pub async fn delete_comment(
    executor: &Executor,
    by: &Actor,
    project: &Project,
    id: i64,
    of_anyone: bool,
) -> Result<IssueCommentWritten, QueryError> {
    executor.context.projects.delete_issue_comment(by, project, id, of_anyone).await?;
    Ok(IssueCommentWritten { id })
}

/// The trimmed comment.
fn checked(request: &IssueCommentRequest) -> Result<&str, QueryError> {
    let comment = request.comment.trim();
    if comment.is_empty() {
        return Err(QueryError::unprocessable("the comment is empty"));
    }
    if comment.chars().count() > limits::ISSUE_COMMENT_CHARS_MAX {
        let most = limits::ISSUE_COMMENT_CHARS_MAX;
        return Err(QueryError::unprocessable(format!("a comment has at most {most} characters")));
    }
    if comment.contains('\0') {
        return Err(QueryError::unprocessable("a comment has no null characters"));
    }
    Ok(comment)
}
