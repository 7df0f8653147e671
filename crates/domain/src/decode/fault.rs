//! Failures on the way through a body: one pointer wide while they travel, a [`DecodeError`] when they leave.

use super::DecodeError;

/// A [`DecodeError`] on its way up. Boxed so that the results of the inner readers stay in two registers.
pub(crate) type Fault = Box<DecodeError>;

/// Makes a fault. `message` is lower-case, without a full stop, and names what and where.
#[cold]
#[inline(never)]
pub(crate) fn make(message: std::fmt::Arguments<'_>) -> Fault {
    Box::new(DecodeError { message: message.to_string() })
}

/// `fault!("… {at}")`: a formatted [`Fault`].
macro_rules! fault {
    ($($message:tt)*) => { crate::decode::fault::make(format_args!($($message)*)) };
}
pub(crate) use fault;
