//! Bodies that confirm a change.

use serde::Serialize;
use utoipa::ToSchema;

/// Confirmation of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Done {
    /// Description of the change, one sentence.
    pub message: String,
}

/// Confirmation of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct StatusAnswer {
    /// Outcome in one word, such as `deleted`.
    pub status: String,
}

impl StatusAnswer {
    /// The answer with this word.
    pub fn of(status: &str) -> StatusAnswer {
        StatusAnswer { status: status.to_owned() }
    }
}
