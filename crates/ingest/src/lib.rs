//! From an accepted body to stored rows, and what became of every request and record.
//!
//! - [`pipeline`]: the steps of one export. [`intake`]: the journal before the lake. [`replay`]: the replay after a crash; [`set_aside`]: what it cannot use.
//! - [`quota`], [`origins`]: what a project may send, and from which pages.
//! - [`knowledge`]: what the rules are told besides; [`prices`]: of AI calls. [`record`]: a journal record. [`coding`]: content encodings. [`outcome`]: why something is not stored.

#![forbid(unsafe_code)]

pub mod accept;
pub mod coding;
pub mod error;
pub mod hints;
pub mod intake;
pub mod knowledge;
pub mod metrics;
pub mod origins;
pub mod outcome;
pub mod pipeline;
pub mod prices;
pub mod record;
pub mod refusals;
pub mod rejection_log;
pub mod replay;
pub mod set_aside;
pub mod symbols;
