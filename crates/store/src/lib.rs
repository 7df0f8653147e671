//! The seam between the service and the engines that hold its telemetry.
//!
//! [`TelemetryStore`] is what the service needs of an engine. [`tables`] is the only schema. [`plan::Plan`] is the only query language. Rows come in as [`columns::Rows`] and go out
//! as Arrow batches, which [`answer::Answer`] reads. [`rollup`] defines what engines add up while rows are written.
//! No engine is named here: `tidewatch-lake` is the embedded one.

#![forbid(unsafe_code)]

pub mod answer;
mod arrow_schema;
pub mod columns;
#[cfg(feature = "conformance")]
pub mod conformance;
mod counted;
pub mod days;
mod error;
mod gap;
pub mod plan;
pub mod query_memory;
pub mod retention;
mod rewrite;
pub mod rollup;
mod stats;
pub mod tables;
mod telemetry;

pub use answer::Answer;
pub use arrow_schema::{arrow_schema, memory_schema};
pub use counted::{Counted, Outcome};
pub use error::StoreError;
pub use gap::Gap;
pub use rewrite::{Change, Changed, Rewrite};
pub use stats::{Stats, TableStats, Work, Worked};
pub use telemetry::{Cursor, OnWorked, TelemetryStore};
