//! State of this process that handlers and jobs share. [`crate::app`] holds one of each.
//!
//! - [`quotas`]: ingest quotas of projects. [`live_tails`]: open tails of logs. [`demos`]: progress of demo data.

pub mod demos;
pub mod live_tails;
pub mod quotas;
