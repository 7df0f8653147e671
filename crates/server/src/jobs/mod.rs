//! Background work over store and accounts. Nothing that [`crate::app`] wires may name a job.
//!
//! - [`retention_changes`]: changes of retention, and deleted projects. [`resymbolicate`]: stack traces whose symbols came
//!   later. [`first_versions`]: first sights of versions. [`demo`]: loads demo data.

pub mod demo;
pub mod first_versions;
pub mod resymbolicate;
pub mod retention_changes;
