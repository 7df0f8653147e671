//! How much work is taken on at once: requests ([`slots`]), memory for their bodies ([`budget`]), and time for a client to
//! send one ([`pace`]). A [`turn`] is all three for one body. How often one address
//! may ask ([`per_ip`]) and how often a sign-in may fail ([`guesses`]).

pub mod budget;
pub mod guesses;
pub mod pace;
pub mod per_ip;
pub mod slots;
pub mod turn;

/// The answer to a request for which there is no slot or no memory.
pub const FULL: &str = "too many requests at once; try again later";

/// More requests than a window allows. Holds the seconds until the next one may come; never 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooMany(pub u64);
