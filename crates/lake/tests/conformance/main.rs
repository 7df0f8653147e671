//! Every way to hold the same rows answers a plan alike: one batch in memory, many batches, parts beside memory, a real
//! lake between flushes and merges, and a naive model that knows nothing of batches.
//!
//! - `engine`: the suite of every engine, [`tidewatch_store::conformance`], over a lake. `holders`: the ways to hold rows.
//! - `dictionaries`: what is answered or ruled out without reading rows.
//! - `random`: the property. `rolled`: the same for roll-ups.
//! - `cases`: answers written out by hand.

mod cases;
mod dictionaries;
mod engine;
mod holders;
mod random;
mod rolled;
