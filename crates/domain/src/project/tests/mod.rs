//! The rules together: rows a product person can read, and what holds for any batch.

mod any_batch;
mod builder;
mod logs;
mod metrics;
mod traces;
