//! How much work is taken on at once: requests ([`slots`]), memory for their bodies ([`budget`]), and time for a client to
//! send one ([`pace`]). A [`turn`] is all three for one body. How often one address
//! may ask ([`per_ip`]) and how often a sign-in may fail ([`guesses`]).

pub mod budget;
pub mod guesses;
pub mod pace;
pub mod per_ip;
pub mod slots;
pub mod turn;

use crate::error::ApiError;

/// The answer to a request for which there is no slot or no memory.
pub const FULL: ApiError = ApiError::Overloaded("too many requests at once; try again later");
