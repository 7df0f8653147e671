//! Takes an accepted request to the store: decoding, rules, journal, rows. Symbol files and symbolication.
//!
//! - [`accept`], [`pipeline`]: the steps of one export. [`durable_store`]: the journal and the engine behind it.
//!   [`replay`]: the replay of the journal at start; [`set_aside`]: records that a replay cannot use.
//! - [`origins`]: web pages that may send with a project's token. [`refusals`], [`rejection_log`], [`hints`],
//!   [`metrics`]: what operators and members see of it.
//!   [`live_logs`]: new log records for live tails.
//! - [`enrichment`]: inputs of the rules besides the request; [`prices`]: of AI calls; [`symbols`]: of stack traces.
//!   [`record`], [`request_attributes`]: the format of a journal record. [`coding`]: content encodings. [`outcome`],
//!   [`error`]: why something is not stored.
//!
//! Invariant: every request and every record is counted once, as stored or under a drop reason.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod accept;
pub mod coding;
pub mod durable_store;
pub mod enrichment;
pub mod error;
pub mod first_versions;
pub mod hints;
pub mod live_logs;
pub mod metrics;
pub mod origins;
pub mod outcome;
pub mod pipeline;
pub mod prices;
pub mod record;
pub mod refusals;
pub mod rejection_log;
pub mod replay;
pub mod request_attributes;
pub mod rule_arrivals;
pub mod set_aside;
pub mod symbols;
mod workspace;
