//! The activity of Issues: changes of state, assignee and merges, regressions, and comments.

use serde_json::{Value, json};

use super::audit::{Actor, Entry};
use super::db::Write;
use super::{Control, ControlError, Project};
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
    /// A user wrote a comment.
    Comment,
}

impl IssueActivityKind {
    const ALL: [(IssueActivityKind, &'static str); 6] = [
        (IssueActivityKind::State, "state"),
        (IssueActivityKind::Regressed, "regressed"),
        (IssueActivityKind::Assigned, "assigned"),
        (IssueActivityKind::Merged, "merged"),
        (IssueActivityKind::Unmerged, "unmerged"),
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

impl Control {
    /// Returns the activity of an Issue by its hashes, descending by time: all stored entries, of which
    /// [`limits::ISSUE_ACTIVITY_MAX`] and [`limits::ISSUE_COMMENTS_MAX`] limit the number per hash.
    pub async fn issue_activity(&self, project: u32, hashes: &[u64]) -> Result<Vec<IssueActivity>, ControlError> {
        type Columns = (i64, i64, Option<i64>, String, String, String, Option<i64>);
        let mut all = Vec::new();
        for hash in hashes {
            let rows: Vec<Columns> = sqlx::query_as(
                "SELECT id, at_ns, user_id, actor, kind, details, edited_ns FROM issue_activity \
                 WHERE project = $1 AND hash = $2",
            )
            .bind(i64::from(project))
            .bind(format!("{hash:016x}"))
            .fetch_all(self.pool())
            .await?;
            let entry = |(id, at_ns, user_id, actor, kind, details, edited_ns): Columns| {
                let kind = IssueActivityKind::parse(&kind)?;
                let details = serde_json::from_str(&details).ok()?;
                Some(IssueActivity { id, at_ns, user_id, actor, kind, details, edited_ns })
            };
            all.extend(rows.into_iter().filter_map(entry));
        }
        all.sort_by_key(|entry| std::cmp::Reverse((entry.at_ns, entry.id)));
        Ok(all)
    }

    /// Stores a comment. Returns its row id. [`ControlError::TooMany`] beyond [`limits::ISSUE_COMMENTS_MAX`].
    pub async fn comment_on_issue(
        &self,
        actor: &Actor,
        project: &Project,
        hash: u64,
        comment: &str,
    ) -> Result<i64, ControlError> {
        let mut write = self.write().await?;
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
        write.audit(about(actor.did("issue.comment"), project).with(json!({ "comment": id }))).await?;
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
        let mut write = self.write().await?;
        if author(&mut write, project, id).await? != actor.user_id {
            return Err(OF_ANOTHER);
        }
        sqlx::query("UPDATE issue_activity SET details = $2, edited_ns = $3 WHERE id = $1")
            .bind(id)
            .bind(json!({ "text": comment }).to_string())
            .bind(actor.at_ns)
            .execute(write.on())
            .await?;
        write.audit(about(actor.did("issue.edit_comment"), project).with(json!({ "comment": id }))).await?;
        write.commit().await
    }

    /// Deletes a comment: of the actor, or any if `of_anyone`. Fails like [`Control::edit_issue_comment`].
    pub async fn delete_issue_comment(
        &self,
        actor: &Actor,
        project: &Project,
        id: i64,
        of_anyone: bool,
    ) -> Result<(), ControlError> {
        let mut write = self.write().await?;
        if author(&mut write, project, id).await? != actor.user_id && !of_anyone {
            return Err(OF_ANOTHER);
        }
        sqlx::query("DELETE FROM issue_activity WHERE id = $1").bind(id).execute(write.on()).await?;
        write.audit(about(actor.did("issue.delete_comment"), project).with(json!({ "comment": id }))).await?;
        write.commit().await
    }
}

/// Names the project of an entry of the audit log.
pub(super) fn about<'a>(entry: Entry<'a>, project: &Project) -> Entry<'a> {
    entry.on("project", project.id).within(project.organization_id)
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
