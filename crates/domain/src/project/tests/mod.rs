//! Tests of all rules together: readable rows, and properties of any batch.

mod any_batch;
mod builder;
mod logs;
mod metrics;
mod traces;
