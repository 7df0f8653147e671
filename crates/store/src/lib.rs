//! The seam between the service and the engines that hold its telemetry.
//!
//! [`tables`] is the only schema. [`plan::Plan`] is the only query language. Rows come in as [`columns::Rows`] and go out
//! as Arrow batches, which [`answer::Answer`] reads. [`rollup`] defines what engines add up while rows are written.
//! No engine is named here: `tidewatch-lake` is the embedded one.

#![forbid(unsafe_code)]

pub mod answer;
mod arrow_schema;
pub mod columns;
mod error;
pub mod plan;
pub mod rollup;
pub mod tables;

pub use answer::Answer;
pub use arrow_schema::{arrow_schema, memory_schema};
pub use error::StoreError;
