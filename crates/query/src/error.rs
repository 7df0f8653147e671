//! Why a query is not answered.

use tidewatch_store::StoreError;

use tidewatch_accounts::ControlError;

/// The refusal of a query, without the status: the server chooses it.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The request cannot be read.
    #[error("{0}")]
    Malformed(String),
    /// Known, but not allowed.
    #[error("{0}")]
    Forbidden(&'static str),
    #[error("{0}")]
    NotFound(String),
    /// Readable, but not acceptable.
    #[error("{0}")]
    Unprocessable(String),
    /// Too many queries at once.
    #[error("{0}")]
    Overloaded(&'static str),
    #[error("the question took longer than its deadline")]
    Deadline,
    /// The accounts' database refused.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// A defect of ours; the cause is in the log.
    #[error("internal error")]
    Internal,
}

impl QueryError {
    pub fn malformed(message: impl Into<String>) -> QueryError {
        QueryError::Malformed(message.into())
    }

    pub fn not_found(message: impl Into<String>) -> QueryError {
        QueryError::NotFound(message.into())
    }

    pub fn unprocessable(message: impl Into<String>) -> QueryError {
        QueryError::Unprocessable(message.into())
    }

    /// Logs the cause.
    pub fn internal(cause: impl std::fmt::Display) -> QueryError {
        tracing::error!(%cause, "a query failed: {cause}");
        QueryError::Internal
    }
}

impl From<StoreError> for QueryError {
    fn from(error: StoreError) -> QueryError {
        match error {
            StoreError::Deadline => QueryError::Deadline,
            StoreError::Budget(_) => QueryError::unprocessable("the question reads too much; narrow the range"),
            other => QueryError::internal(other),
        }
    }
}
