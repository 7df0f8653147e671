//! Reasons for not accepting an export.

/// The refusal of an export, without the status: the server chooses it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    /// The body is no valid export.
    #[error("{0}")]
    Malformed(String),
    /// There is no token, or it belongs to no project.
    #[error("{0}")]
    Unauthorized(&'static str),
    /// The project does not allow the origin.
    #[error("{0}")]
    Forbidden(&'static str),
    /// The body came too slowly.
    #[error("the request body came too slowly")]
    Slow,
    /// The body is larger than this number of bytes.
    #[error("the request body is larger than {0} bytes")]
    TooLarge(usize),
    /// The content type or the content encoding is not supported.
    #[error("{0}")]
    UnsupportedMedia(String),
    /// The project's quota is exhausted; seconds until it is renewed.
    #[error("{0}; try again in {1} seconds")]
    OverQuota(&'static str, u64),
    /// The client should retry later.
    #[error("{0}")]
    Overloaded(&'static str),
    /// An internal error; the cause is in the log.
    #[error("internal error")]
    Internal,
}

impl ExportError {
    /// [`ExportError::Malformed`] with this message.
    pub fn malformed(message: impl Into<String>) -> ExportError {
        ExportError::Malformed(message.into())
    }

    /// Logs `cause` and returns [`ExportError::Internal`].
    pub fn internal(cause: impl std::fmt::Display) -> ExportError {
        tracing::error!(%cause, "an export failed: {cause}");
        ExportError::Internal
    }
}
