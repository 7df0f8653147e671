//! Every way to hold the same rows gives the same result of a plan: one batch in memory, many batches, parts beside
//! memory, a real lake between flushes and merges, and a naive model without batches.
//!
//! - `engine`: the common test suite of engines, [`tidewatch_store::conformance`], over a lake. `holders`: the ways to
//!   hold rows.
//! - `dictionaries`: queries that are answered without reading rows, and rows that are skipped by dictionaries.
//! - `random`: the property. `rolled`: the property for roll-ups.
//! - `cases`: hand-written results.

mod cases;
mod dictionaries;
mod engine;
mod holders;
mod random;
mod rolled;
