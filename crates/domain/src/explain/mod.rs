//! Ranks the attributes that distinguish some requests from others by the part of the difference that they explain.
//!
//! A selection in some minutes divides requests into four sets: in the band of the selection or not, in its minutes or
//! before. A [`Table`] holds their attributes, dictionary-encoded; [`explain`] ranks conditions on them, and
//! [`own_time`] says in which operations the added time was spent. Everything is deterministic: the same rows give the
//! same answer in any order.
//!
//! Invariant: a row is in at most one of the four sets.

mod cause_order;
mod conjunction;
mod cover;
mod numbers;
mod own_time;
#[cfg(test)]
mod own_time_tests;
mod score;
mod search;
mod statistics;
mod table;
#[cfg(test)]
mod tests;

pub use cause_order::is_repeat;
pub use cover::{Explanation, NoRows, Row, RowKind, explain};
pub use own_time::{MeanTime, OperationTime, RequestTime, Span, mean_times, own_time, own_times};
pub use search::Mode;
pub use table::{Column, Condition, LeftOut, Predicate, SampleRates, Set, Table, Values};
