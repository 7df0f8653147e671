//! Why a file is refused or cannot be converted.

/// One sentence for the person who uploaded the file: lower-case, without a full stop, naming the thing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SymbolError {
    /// The bytes are not the format they look like, or are cut off.
    #[error("{0}")]
    Malformed(String),
    /// A well-formed file that nothing can be looked up in: no identifier, no debug information, another format.
    #[error("{0}")]
    Unusable(String),
    /// Whoever asked for the conversion wants it no more.
    #[error("the conversion was interrupted")]
    Interrupted,
    /// Reading on would cost more than [`crate::limits`] allows.
    #[error("too large: {what} is over {limit}")]
    TooLarge {
        /// What was counted.
        what: &'static str,
        /// The bound it passed.
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
