//! Answers from roll-ups: a cell of a part's roll-up stands for all the rows it was made of.
//!
//! - [`fit`]: which plans cells can answer, and what each key of a part passes.
//! - [`read`]: the cells of one part, into the same groups and states that rows go to.
//!
//! What no cell covers (the ragged ends of the range, parts without a roll-up, memory) is scanned as ever, into the
//! same states. Counts, sums and times are exact; quantiles are those of the sketch, whoever brings the values.

mod aggregators;
pub(crate) mod fit;
pub(crate) mod read;

pub(crate) use fit::Rolled;
