//! On-call: who is on call, whom a page reaches and when. Pure: the control database stores pages, the server runs them.
//!
//! - [`zone`]: instants and the clocks on the wall. [`layer`]: one rotation. [`schedule`]: layers and overrides.
//! - [`policy`]: the steps of an escalation. [`escalation`]: which step runs when; [`chain`]: the chain of one person.
//! - [`engine`]: these rules as the control database calls them.
//! - [`contact`]: contact methods. [`calendar`]: shifts as an iCalendar feed.

pub mod calendar;
pub mod chain;
pub mod contact;
pub mod engine;
pub mod escalation;
pub mod layer;
pub mod policy;
pub mod schedule;
pub mod wait;
pub mod zone;

/// Nanoseconds of a minute.
pub const MINUTE_NS: i64 = 60_000_000_000;
