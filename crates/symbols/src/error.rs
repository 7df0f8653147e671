//! Errors of detecting and converting files.

/// Reasons for which a file was refused. The message is for the person who uploaded it: lower-case, without a full
/// stop.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SymbolError {
    /// The file violates its format, or is truncated.
    #[error("{0}")]
    Malformed(String),
    /// A well-formed file without use for symbolication: no identifier, no debug information, another format.
    #[error("{0}")]
    Unusable(String),
    /// The caller stopped the conversion.
    #[error("the conversion was interrupted")]
    Interrupted,
    /// The file exceeds a limit in [`crate::limits`].
    #[error("too large: {what} is over {limit}")]
    TooLarge {
        /// The counted quantity.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
}

impl SymbolError {
    pub(crate) fn malformed(text: impl Into<String>) -> Self {
        Self::Malformed(text.into())
    }

    pub(crate) fn unusable(text: impl Into<String>) -> Self {
        Self::Unusable(text.into())
    }
}

impl From<gimli::Error> for SymbolError {
    fn from(error: gimli::Error) -> Self {
        Self::Malformed(format!("cannot read the debug information: {error}"))
    }
}

impl From<object::Error> for SymbolError {
    fn from(error: object::Error) -> Self {
        Self::Malformed(format!("cannot read the object file: {error}"))
    }
}

pub(crate) type Result<T> = std::result::Result<T, SymbolError>;
