//! How much work is taken on at once: requests ([`slots`]), memory for their bodies ([`budget`]), and time for a client to
//! send one ([`pace`]). A [`turn`] is all three for one body.

pub mod budget;
pub mod pace;
pub mod slots;
pub mod turn;

use crate::error::ApiError;

/// The answer to a request for which there is no slot or no memory.
pub const FULL: ApiError = ApiError::Overloaded("too many requests at once; try again later");
