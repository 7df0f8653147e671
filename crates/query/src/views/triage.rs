//! Decisions of users about Issues: states, assignees, merges, comments.

use serde::{Deserialize, Serialize};
use tidewatch_domain::rules::issue_state::State;
use utoipa::ToSchema;

use super::rows;

/// States of Issues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum IssueState {
    /// Nobody has decided, or the decision no longer holds.
    Open,
    /// It occurred again after it was resolved.
    Regressed,
    /// Until it occurs again.
    Resolved,
    /// Until it occurs in a version that is first seen after the decision, or without a version.
    ResolvedInNextVersion,
    /// Until a time, or a number of occurrences.
    Muted,
    /// Hidden until it occurs again.
    Archived,
}

impl From<State> for IssueState {
    fn from(state: State) -> IssueState {
        match state {
            State::Open => IssueState::Open,
            State::Regressed => IssueState::Regressed,
            State::Resolved => IssueState::Resolved,
            State::ResolvedInNextVersion => IssueState::ResolvedInNextVersion,
            State::Muted => IssueState::Muted,
            State::Archived => IssueState::Archived,
        }
    }
}

impl From<IssueState> for State {
    fn from(state: IssueState) -> State {
        match state {
            IssueState::Open => State::Open,
            IssueState::Regressed => State::Regressed,
            IssueState::Resolved => State::Resolved,
            IssueState::ResolvedInNextVersion => State::ResolvedInNextVersion,
            IssueState::Muted => State::Muted,
            IssueState::Archived => State::Archived,
        }
    }
}

/// The latest decision of a user about an Issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IssueDecisionView {
    /// The decided state; never `open` or `regressed`.
    pub state: IssueState,
    /// Time of the decision.
    #[schema(format = DateTime)]
    pub decided_at: String,
    /// End of a mute; null without one.
    #[schema(format = DateTime, required)]
    pub until_time: Option<String>,
    /// Number of occurrences that ends a mute; null without one.
    #[schema(required)]
    pub until_count: Option<u64>,
}

/// The first occurrence that the resolution of an Issue does not cover.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IssueRegression {
    /// Its time.
    #[schema(format = DateTime)]
    pub at: String,
    /// Its service; empty when absent.
    pub service: String,
    /// Its version; empty when unknown.
    pub version: String,
}

/// A user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IssuePerson {
    /// Id of the user.
    pub user_id: i64,
    /// Display name.
    pub name: String,
    /// E-mail address.
    pub email: String,
}

/// Body of `POST /api/exception-stack-traces/state`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IssueStateRequest {
    /// At most 1000 hashes, 16 hexadecimal digits each.
    pub hashes: Vec<String>,
    /// The new state: any but `regressed`.
    pub state: IssueState,
    /// End of a mute.
    #[serde(default)]
    #[schema(format = DateTime, default = json!(null))]
    pub until_time: Option<String>,
    /// Number of occurrences after the request that ends a mute, at least 1.
    #[serde(default)]
    pub until_count: Option<u64>,
}

/// Body of `POST /api/exception-stack-traces/assign`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IssueAssignRequest {
    /// At most 1000 hashes, 16 hexadecimal digits each.
    pub hashes: Vec<String>,
    /// Id of a user with access to the project; null: nobody.
    #[serde(default)]
    pub user_id: Option<i64>,
}

/// Body of `POST /api/exception-stack-traces/merge`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct IssueMergeRequest {
    /// At most 1000 hashes, 16 hexadecimal digits each.
    pub hashes: Vec<String>,
    /// The hash that they are merged into.
    pub into: String,
}

/// Result of a change of Issues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct IssuesChanged {
    /// Number of changed Issues.
    pub changed: u64,
}

/// Result of a merge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IssuesMerged {
    /// The hash of the Issue that shows the occurrences of all.
    pub exception_hash: String,
}

/// Body of the operations that archive, unarchive and unmerge Issues.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct HashesRequest {
    /// At most 1000 hashes, 16 hexadecimal digits each.
    pub hashes: Vec<String>,
}

/// Result of archiving.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct Archived {
    /// Number of archived Issues.
    pub archived: u64,
}

/// Result of unarchiving.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct Unarchived {
    /// Number of unarchived Issues.
    pub unarchived: u64,
}

/// Kinds of entries of the activity of an Issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum IssueActivityType {
    /// A user set the state.
    State,
    /// It occurred again after it was resolved.
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

/// An entry of the activity of an Issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IssueActivityView {
    /// Id of the entry; 0 for a regression that no later decision has answered.
    pub id: i64,
    /// The kind.
    #[serde(rename = "type")]
    pub kind: IssueActivityType,
    /// Time of the entry.
    #[schema(format = DateTime)]
    pub at: String,
    /// The user; null for entries of the server.
    #[schema(required)]
    pub by: Option<IssuePerson>,
    /// Of `state`: the new state; null for other kinds.
    #[schema(required)]
    pub state: Option<IssueState>,
    /// Of a mute: its end; null without one.
    #[schema(format = DateTime, required)]
    pub until_time: Option<String>,
    /// Of a mute: the number of occurrences that ends it; null without one.
    #[schema(required)]
    pub until_count: Option<u64>,
    /// Of `assigned`: name of the assignee, null for nobody.
    #[schema(required)]
    pub assignee: Option<String>,
    /// Of `merged` and `unmerged`: the other hash; else empty.
    pub exception_hash: String,
    /// Of `joined`: the version of the rule; null for other kinds.
    #[schema(required)]
    pub rule_version: Option<u8>,
    /// Of `joined`: the number of Issues that are one now; null for other kinds.
    #[schema(required)]
    pub joined_issues: Option<u64>,
    /// Of `comment`: its content; else empty.
    pub comment: String,
    /// Of `comment`: time of the latest change; null without one.
    #[schema(format = DateTime, required)]
    pub edited_at: Option<String>,
}

/// `GET /api/exception-stack-traces/{hash}/activity`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct IssueActivityList {
    /// Entries, latest first.
    #[serde(serialize_with = "rows::cut")]
    pub data: Vec<IssueActivityView>,
    /// Whether there are earlier entries.
    pub more: bool,
}

/// Body of the operations that write a comment.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct IssueCommentRequest {
    /// 1 to 10,000 characters.
    pub comment: String,
}

/// Result of writing a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct IssueCommentWritten {
    /// Id of the comment.
    pub id: i64,
}

/// An Issue that is similar to another one.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SimilarIssue {
    /// Hash of the normalized stack trace: 16 hexadecimal digits.
    pub exception_hash: String,
    /// Title of the Issue.
    pub title: String,
    /// Exception type; empty when absent.
    pub exception_type: String,
    /// Message of the latest occurrence; empty when absent.
    pub message: String,
    /// Time of the latest occurrence.
    #[schema(format = DateTime)]
    pub last_seen: String,
    /// Overlap of the frames next to the error or of the words of the messages, whichever is greater: 1/3 to 1.
    pub similarity: f64,
}

/// `GET /api/exception-stack-traces/{hash}/similar`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct SimilarIssues {
    /// At most 10 Issues, the most similar first.
    #[serde(serialize_with = "rows::cut")]
    pub data: Vec<SimilarIssue>,
}
