//! Roll-up definitions: what a ranking or a chart asks of many rows, added up when the rows are written.
//!
//! - [`spec`] says what is rolled up of each table: which columns tell cells apart, what is summed, what is sketched.
//! - [`levels`] knows the widths of cells in time, and which cells cover a range.
//! - [`sketch`] is the log-bucket sketch: mergeable, relative error below 1 %. [`samples`]: exact quantiles.

pub mod levels;
pub mod samples;
pub mod sketch;
pub mod spec;
