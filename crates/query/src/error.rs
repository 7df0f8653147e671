//! Errors of queries.

use tidewatch_domain::query_language::ParseError;
use tidewatch_store::StoreError;

use tidewatch_accounts::ControlError;

/// Failures of a query. The server chooses the HTTP status.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The request cannot be parsed.
    #[error("{0}")]
    Malformed(String),
    /// The text of a query is no query, or does not fit the rows.
    #[error("the query is wrong at position {}: {}", .0.position, .0.message)]
    InQuery(#[from] ParseError),
    /// The caller has no permission.
    #[error("{0}")]
    Forbidden(&'static str),
    /// The resource does not exist in the project.
    #[error("{0}")]
    NotFound(String),
    /// The request is well-formed, but its values are out of bounds.
    #[error("{0}")]
    Unprocessable(String),
    /// Too many concurrent queries.
    #[error("{0}")]
    Overloaded(&'static str),
    /// The query did not finish before its deadline.
    #[error("the query took longer than its deadline")]
    Deadline,
    /// An error of the control database.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// A defect; the cause is in the log.
    #[error("internal error")]
    Internal,
}

impl QueryError {
    /// A [`QueryError::Malformed`] with this message for the user.
    pub fn malformed(message: impl Into<String>) -> QueryError {
        QueryError::Malformed(message.into())
    }

    /// A [`QueryError::NotFound`] with this message for the user.
    pub fn not_found(message: impl Into<String>) -> QueryError {
        QueryError::NotFound(message.into())
    }

    /// A [`QueryError::Unprocessable`] with this message for the user.
    pub fn unprocessable(message: impl Into<String>) -> QueryError {
        QueryError::Unprocessable(message.into())
    }

    /// Logs the cause and returns [`QueryError::Internal`].
    pub fn internal(cause: impl std::fmt::Display) -> QueryError {
        tracing::error!(%cause, "a query failed: {cause}");
        QueryError::Internal
    }
}

impl From<StoreError> for QueryError {
    fn from(error: StoreError) -> QueryError {
        match error {
            StoreError::Deadline => QueryError::Deadline,
            StoreError::Budget(_) => QueryError::unprocessable("the query reads too much; narrow the range"),
            other => QueryError::internal(other),
        }
    }
}
