//! Bodies that confirm a change.

use serde::Serialize;
use utoipa::ToSchema;

/// Confirmation of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Done {
    /// What was changed, in one sentence.
    pub message: String,
}

/// Confirmation of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct StatusAnswer {
    /// What was done, in one word, such as `deleted`.
    pub status: String,
}

impl StatusAnswer {
    /// The answer with this word.
    pub fn of(status: &str) -> StatusAnswer {
        StatusAnswer { status: status.to_owned() }
    }
}
