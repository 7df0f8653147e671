//! Every way to hold the same rows answers a plan alike: one batch in memory, many batches, parts beside memory, a real
//! lake between flushes and merges, and a naive model that knows nothing of batches.
//!
//! - `rows`: a table as plain values, and random ones.
//! - `model`: the algebra again, written as simply as it can be.
//! - `plans`: random plans. `holders`: the ways to hold rows. `compare`: what "alike" means.
//! - `dictionaries`: what is answered or ruled out without reading rows.
//! - `random`: the property. `rolled`: the same for roll-ups. `keeping`: rows kept no longer.
//! - `cases`: answers written out by hand.

mod cases;
mod compare;
mod dice;
mod dictionaries;
mod holders;
mod keeping;
mod model;
mod plans;
mod random;
mod rolled;
mod rows;
