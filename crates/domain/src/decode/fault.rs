//! The error type of the decoders, and its internal form.

/// Refusal of a body, with its reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct DecodeError {
    /// One sentence for the caller.
    pub message: String,
}

/// A boxed [`DecodeError`], one pointer wide, so that results of the inner readers fit into two registers.
pub(crate) type Fault = Box<DecodeError>;

/// Creates a fault. `message` is lower-case, without a full stop, and names the field and the offset.
#[cold]
#[inline(never)]
pub(crate) fn make(message: std::fmt::Arguments<'_>) -> Fault {
    Box::new(DecodeError { message: message.to_string() })
}

/// `fault!("… {at}")`: formats a [`Fault`].
macro_rules! fault {
    ($($message:tt)*) => { crate::decode::fault::make(format_args!($($message)*)) };
}
pub(crate) use fault;
