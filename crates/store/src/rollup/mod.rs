//! Roll-up definitions: the aggregates of rankings and charts that are computed when rows are written.
//!
//! - [`spec`]: the roll-up of each table: the columns that distinguish cells, the sums and the sketch.
//! - [`levels`]: the widths of cells in time, and the cells that cover a range.
//! - [`sketch`]: the log-bucket sketch, mergeable, with a relative error below 1 %. [`samples`]: exact quantiles.

pub mod levels;
pub mod samples;
pub mod sketch;
pub mod spec;
