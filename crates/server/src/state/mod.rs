//! State of this process that handlers and jobs share. [`crate::app`] holds one of each.
//!
//! - [`quotas`]: ingest quotas of projects. [`live_tails`]: open tails of logs. [`demos`]: progress of demo data.
//! - [`notifier`]: sends messages to channels. [`status_pages`]: public status pages in memory; [`monitor_source`]: their
//!   monitors.

pub mod demos;
pub mod live_tails;
pub mod monitor_source;
pub mod notifier;
pub mod quotas;
pub mod status_pages;
