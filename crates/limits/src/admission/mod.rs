//! Admission control: concurrent requests ([`slots`]), the memory of their bodies ([`budget`]) and the transfer rate of
//! a body ([`slow_client`]); a [`body_permit`] combines the three for one body. Also limits on the requests of one
//! client address ([`per_ip`]) and on failed sign-ins ([`guesses`]).
//!
//! Nothing here depends on routes or handlers. Invariant: memory is bounded, whatever length a client declares.

pub mod body_permit;
pub mod budget;
pub mod guesses;
pub mod per_ip;
pub mod slots;
pub mod slow_client;

/// Message of the response to a request that gets no slot or no memory.
pub const FULL: &str = "too many requests at once; try again later";

/// More requests than a limit allows. Holds the seconds until the next one is allowed; at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooMany(pub u64);
