//! Why an export is not accepted.

/// The refusal of an export, without the status: the server chooses it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    /// The body is no such export.
    #[error("{0}")]
    Malformed(String),
    /// No token, or one of no project.
    #[error("{0}")]
    Unauthorized(&'static str),
    /// The project refuses the origin.
    #[error("{0}")]
    Forbidden(&'static str),
    /// The body came too slowly.
    #[error("the request body came too slowly")]
    Slow,
    /// The body is larger than this number of bytes.
    #[error("the request body is larger than {0} bytes")]
    TooLarge(usize),
    /// Content type or content encoding that is not taken.
    #[error("{0}")]
    UnsupportedMedia(String),
    /// The project has sent what it may; seconds until it may send again.
    #[error("{0}; try again in {1} seconds")]
    OverQuota(&'static str, u64),
    /// The sender should try again later.
    #[error("{0}")]
    Overloaded(&'static str),
    /// A defect of ours; the cause is in the log.
    #[error("internal error")]
    Internal,
}

impl ExportError {
    pub fn malformed(message: impl Into<String>) -> ExportError {
        ExportError::Malformed(message.into())
    }

    /// Logs the cause.
    pub fn internal(cause: impl std::fmt::Display) -> ExportError {
        tracing::error!(%cause, "an export failed: {cause}");
        ExportError::Internal
    }
}
