//! The activity of Issues: changes of state, assignee and merges, regressions, and comments.

use serde_json::{Value, json};

use super::Projects;
use crate::{Actor, ControlError, Project, Write};
use tidewatch_limits as limits;

/// Kinds of entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IssueActivityKind {
    /// A user set the state.
    State,
    /// It had occurred again after it was resolved.
    Regressed,
    /// A user assigned it.
    Assigned,
    /// A user merged another hash into it.
    Merged,
    /// A user made a merged hash an Issue of its own.
    Unmerged,
    /// A version of the grouping rule joined other Issues with it.
    Joined,
    /// A user wrote a comment.
    Comment,
}

impl IssueActivityKind {
    const ALL: [(IssueActivityKind, &'static str); 7] = [
        (IssueActivityKind::State, "state"),
        (IssueActivityKind::Regressed, "regressed"),
        (IssueActivityKind::Assigned, "assigned"),
        (IssueActivityKind::Merged, "merged"),
        (IssueActivityKind::Unmerged, "unmerged"),
        (IssueActivityKind::Joined, "joined"),
        (IssueActivityKind::Comment, "comment"),
    ];

    fn parse(name: &str) -> Option<IssueActivityKind> {
        IssueActivityKind::ALL.into_iter().find(|(_, known)| *known == name).map(|(kind, _)| kind)
    }

    fn name(self) -> &'static str {
        IssueActivityKind::ALL.into_iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }
}

/// An entry of the activity of an Issue.
#[derive(Debug, Clone, PartialEq)]
pub struct IssueActivity {
    /// Row id.
    pub id: i64,
    /// Nanoseconds since the epoch.
    pub at_ns: i64,
    /// `None` for entries of the server.
    pub user_id: Option<i64>,
    /// E-mail address of the user; empty for entries of the server.
    pub actor: String,
    /// The kind.
    pub kind: IssueActivityKind,
    /// A JSON object; its fields depend on the kind.
    pub details: Value,
    /// Time of the latest change of a comment, nanoseconds since the epoch.
    pub edited_ns: Option<i64>,
}

const NO_COMMENT: ControlError = ControlError::Missing("no such comment");
const OF_ANOTHER: ControlError = ControlError::Forbidden("only the author changes a comment");

impl Projects {
    /// Returns the stored regressions of the Issues of a project from `from_ns` to before `to_ns`: hash and time,
    /// ascending by time, at most [`limits::ISSUE_ACTIVITY_LISTED_MAX`].
    pub async fn issue_regressions(
        &self,
        project: u32,
        from_ns: i64,
        to_ns: i64,
    ) -> Result<Vec<(u64, i64)>, ControlError> {
        let rows: Vec<(String, i64)> = sqlx::query_as(
            "SELECT hash, at_ns FROM issue_activity WHERE project = $1 AND kind = $2 AND at_ns >= $3 AND at_ns < $4 \
             ORDER BY at_ns, id LIMIT $5",
        )
        .bind(i64::from(project))
        .bind(IssueActivityKind::Regressed.name())
        .bind(from_ns)
        .bind(to_ns)
        .bind(limits::ISSUE_ACTIVITY_LISTED_MAX as i64)
        .fetch_all(self.database.pool())
        .await?;
        let hash =
            |name: &str| u64::from_str_radix(name, 16).map_err(|_| ControlError::Unreadable("an issue activity"));
        rows.iter().map(|(name, at_ns)| Ok((hash(name)?, *at_ns))).collect()
    }

    /// Returns the activity of an Issue and of the hashes that belong to it, descending by time: at most
    /// [`limits::ISSUE_ACTIVITY_LISTED_MAX`] entries, and whether there are earlier ones.
    pub async fn issue_activity(&self, project: u32, hash: u64) -> Result<(Vec<IssueActivity>, bool), ControlError> {
        type Columns = (i64, i64, Option<i64>, String, String, String, Option<i64>);
        let mut rows: Vec<Columns> = sqlx::query_as(
            "WITH RECURSIVE members (hash) AS (SELECT CAST($2 AS TEXT) UNION \
             SELECT issue_hashes.hash FROM issue_hashes JOIN members ON issue_hashes.issue = members.hash \
             WHERE issue_hashes.project = $1) \
             SELECT id, at_ns, user_id, actor, kind, details, edited_ns FROM issue_activity WHERE project = $1 \
             AND hash IN (SELECT hash FROM members) ORDER BY at_ns DESC, id DESC LIMIT $3",
        )
        .bind(i64::from(project))
        .bind(format!("{hash:016x}"))
        .bind(limits::ISSUE_ACTIVITY_LISTED_MAX as i64 + 1)
        .fetch_all(self.database.pool())
        .await?;
        let has_earlier = rows.len() > limits::ISSUE_ACTIVITY_LISTED_MAX;
        rows.truncate(limits::ISSUE_ACTIVITY_LISTED_MAX);
        let entry = |(id, at_ns, user_id, actor, kind, details, edited_ns): Columns| {
            let kind = IssueActivityKind::parse(&kind)?;
            let details = serde_json::from_str(&details).ok()?;
            Some(IssueActivity { id, at_ns, user_id, actor, kind, details, edited_ns })
        };
        Ok((rows.into_iter().filter_map(entry).collect(), has_earlier))
    }

    /// Stores a comment. Returns its row id. [`ControlError::TooMany`] beyond [`limits::ISSUE_COMMENTS_MAX`].
    pub async fn comment_on_issue(
        &self,
        actor: &Actor,
        project: &Project,
        hash: u64,
        comment: &str,
    ) -> Result<i64, ControlError> {
        let mut write = self.database.write().await?;
        let count: i64 = sqlx::query_scalar(
            "SELECT COUNT(*) FROM issue_activity WHERE project = $1 AND hash = $2 AND kind = 'comment'",
        )
        .bind(i64::from(project.number))
        .bind(format!("{hash:016x}"))
        .fetch_one(write.on())
        .await?;
        if count >= limits::ISSUE_COMMENTS_MAX {
            return Err(ControlError::TooMany("comments on this Issue"));
        }
        let details = json!({ "text": comment });
        let id = record(&mut write, actor, project, hash, IssueActivityKind::Comment, &details).await?;
        write.audit(actor.did("issue.comment").on_project(project).with(json!({ "comment": id }))).await?;
        write.commit().await?;
        Ok(id)
    }

    /// Changes a comment of the actor. [`ControlError::Missing`] if there is none; [`ControlError::Forbidden`] if
    /// another user wrote it.
    pub async fn edit_issue_comment(
        &self,
        actor: &Actor,
        project: &Project,
        id: i64,
        comment: &str,
    ) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        if author(&mut write, project, id).await? != actor.user_id {
            return Err(OF_ANOTHER);
        }
        sqlx::query("UPDATE issue_activity SET details = $2, edited_ns = $3 WHERE id = $1")
            .bind(id)
            .bind(json!({ "text": comment }).to_string())
            .bind(actor.at_ns)
            .execute(write.on())
            .await?;
        write.audit(actor.did("issue.edit_comment").on_project(project).with(json!({ "comment": id }))).await?;
        write.commit().await
    }

    /// Deletes a comment: of the actor, or any if `of_anyone`. Fails like [`Projects::edit_issue_comment`].
    pub async fn delete_issue_comment(
        &self,
        actor: &Actor,
        project: &Project,
        id: i64,
        of_anyone: bool,
    ) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        if author(&mut write, project, id).await? != actor.user_id && !of_anyone {
            return Err(OF_ANOTHER);
        }
        sqlx::query("DELETE FROM issue_activity WHERE id = $1").bind(id).execute(write.on()).await?;
        write.audit(actor.did("issue.delete_comment").on_project(project).with(json!({ "comment": id }))).await?;
        write.commit().await
    }
}

/// The author of a comment.
async fn author(write: &mut Write<'_>, project: &Project, id: i64) -> Result<Option<i64>, ControlError> {
    let found: Option<Option<i64>> =
        sqlx::query_scalar("SELECT user_id FROM issue_activity WHERE id = $1 AND project = $2 AND kind = 'comment'")
            .bind(id)
            .bind(i64::from(project.number))
            .fetch_optional(write.on())
            .await?;
    found.ok_or(NO_COMMENT)
}

/// Inserts an entry within the caller's transaction, and deletes the earliest ones beyond
/// [`limits::ISSUE_ACTIVITY_MAX`], except comments. Returns the row id.
pub(super) async fn record(
    write: &mut Write<'_>,
    actor: &Actor,
    project: &Project,
    hash: u64,
    kind: IssueActivityKind,
    details: &Value,
) -> Result<i64, ControlError> {
    let (number, hash) = (i64::from(project.number), format!("{hash:016x}"));
    let id: i64 = sqlx::query_scalar(
        "INSERT INTO issue_activity (project, hash, at_ns, user_id, actor, kind, details) \
         VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id",
    )
    .bind(number)
    .bind(&hash)
    .bind(actor.at_ns)
    .bind(actor.user_id)
    .bind(&actor.name)
    .bind(kind.name())
    .bind(details.to_string())
    .fetch_one(write.on())
    .await?;
    if kind != IssueActivityKind::Comment {
        sqlx::query(
            "DELETE FROM issue_activity WHERE project = $1 AND hash = $2 AND kind <> 'comment' AND id <= \
             (SELECT id FROM issue_activity WHERE project = $1 AND hash = $2 AND kind <> 'comment' \
             ORDER BY id DESC LIMIT 1 OFFSET $3)",
        )
        .bind(number)
        .bind(&hash)
        .bind(limits::ISSUE_ACTIVITY_MAX)
        .execute(write.on())
        .await?;
    }
    Ok(id)
}
