//! Answers from roll-ups: a cell of a part's roll-up replaces the rows it was computed from.
//!
//! - [`rollup_plan`]: which plans cells can answer, and which keys of a part pass a test.
//! - [`read`]: reads the cells of one part into the groups and states of rows.
//!
//! Rows that no cell covers (the unaligned ends of the time range, parts without a roll-up, memory) are scanned into
//! the same states. Counts, sums and times are exact. Quantiles come from sketches, for scanned rows too.

mod aggregators;
pub(crate) mod read;
pub(crate) mod rollup_plan;

pub(crate) use rollup_plan::RollupPlan;
