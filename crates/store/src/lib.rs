//! The interface between the service and the engines that store its telemetry.
//!
//! [`TelemetryStore`] is the interface of an engine, [`JournaledStore`] that of an engine behind a journal. [`tables`] is
//! the only schema, [`plan::Plan`] the only query language. Rows come in as [`columns::Rows`] and go out as Arrow batches, which [`answer::Answer`] reads. [`rollup`]
//! defines the aggregates that engines compute while rows are written. [`trace_search`] finds traces. This crate depends on no engine:
//! `tidewatch-lake` is the embedded one.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod answer;
mod arrow_schema;
pub mod columns;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod days;
mod error;
mod gap;
mod journaled;
mod outcome;
pub mod plan;
pub mod query_memory;
pub mod retention;
mod rewrite;
pub mod rollup;
mod stats;
pub mod tables;
mod telemetry;
pub mod trace_search;

pub use answer::Answer;
pub use arrow_schema::{arrow_schema, memory_schema};
pub use error::StoreError;
pub use gap::Gap;
pub use journaled::{Applied, JournaledStore, KeepRecords, LostFiles, LostStats, Observer, OnFatal, OpenEngine};
pub use outcome::{Outcome, OutcomeCount};
pub use rewrite::{Change, Changed, Rewrite};
pub use stats::{CompletedWork, Stats, TableStats, Work};
pub use telemetry::{Cursor, Deletion, OnWorkCompleted, TelemetryStore};
