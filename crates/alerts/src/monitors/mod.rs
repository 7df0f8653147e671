//! Monitors: checks of an address, or of a job that reports, at intervals. WIRE 6.
//!
//! - [`config`]: what a user chooses, per type, with its limits; [`secrets`]: the parts that answers mask.
//! - [`schedule`]: when each monitor is checked. [`heartbeat`]: when a job is late.
//! - [`verdict`]: whether what a check has seen is as it should be. [`rules`]: states, and the words about their changes.
//! - [`views`], [`overview`], [`manage`], [`read`]: the API.
//!
//! `server/src/alerts/monitors` makes the checks; `accounts/monitor_results.rs` stores what follows from them.

pub mod config;
pub mod heartbeat;
pub mod manage;
pub mod overview;
pub mod read;
pub mod rules;
pub mod schedule;
pub mod secrets;
pub mod verdict;
pub mod views;
