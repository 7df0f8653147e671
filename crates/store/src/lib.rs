//! The telemetry store: what was acknowledged, and every question about it.
//!
//! [`tables`] is the only schema. [`plan::Plan`] is the only query language. [`lake`] is the embedded engine:
//! memtable, immutable Parquet parts, a SQLite catalog. Rows come in as [`columns::Rows`] and go out as Arrow batches,
//! which `batch` reads and `rollup` adds up.

pub mod answer;
mod arrow_schema;
mod batch;
pub mod columns;
mod error;
pub mod lake;
pub mod plan;
mod rollup;
pub mod sqlite_wal;
pub mod tables;

pub use answer::Answer;
pub use arrow_schema::arrow_schema;
pub(crate) use arrow_schema::memory_schema;
pub use error::StoreError;
