//! The store from its opening to its end: the state that its threads share, and their work on the listed files.
//!
//! - [`open`]: opens the store. [`state`]: what the threads share. [`workers`]: the threads; [`warm`]: read-ahead after a
//!   start.
//! - [`replacement`]: changes of the listed files. [`maintenance`]: merges and expiry. [`rewrite`]: changes columns of
//!   stored rows.
//! - [`usage`]: corrects AI Traces that repeat the usage of others.
//! - [`trusted_time`]: the clock of retention. [`check`]: verification. [`set_aside`]: takes a damaged part out of service.

pub mod check;
pub(crate) mod maintenance;
pub(crate) mod open;
pub(crate) mod replacement;
pub(crate) mod rewrite;
pub(crate) mod set_aside;
pub(crate) mod state;
pub(crate) mod trusted_time;
pub(crate) mod usage;
pub(crate) mod warm;
pub(crate) mod workers;
