//! Background work over store and accounts. Nothing that [`crate::app`] wires may name a job.
//!
//! - [`regroup`]: stored exceptions, after a change of the grouping rule.
//! - [`retention_changes`]: changes of retention, and deleted projects. [`resymbolicate`]: stack traces whose symbols came
//!   later. [`first_versions`]: first sights of versions. [`ai_prices`]: changes of the price table. [`demo`]: loads demo
//!   data.

pub mod ai_prices;
pub mod demo;
pub mod first_versions;
pub mod regroup;
pub mod resymbolicate;
pub mod retention_changes;
