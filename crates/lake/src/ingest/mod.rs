//! Rows on their way into the memtable: what is dropped, renamed or paired before they are stored.
//!
//! - [`names`]: the limit on names per service and day. [`calls`]: pairs the sides of calls between services. [`stacks`]:
//!   drops stacks of profiles that are stored already. [`usage`]: AI Traces that repeat the usage of others.

pub(crate) mod calls;
pub(crate) mod names;
pub(crate) mod stacks;
pub(crate) mod usage;
