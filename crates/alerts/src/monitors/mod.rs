//! Monitors: checks of an address, or of a job that reports, at intervals. WIRE 6.
//!
//! - [`config`]: what a user chooses, per type, with its limits; [`secrets`]: the parts that answers mask.
//! - [`schedule`]: when each monitor is checked. [`heartbeat`]: when a job is late.
//! - [`verdict`]: whether what a check has seen is as it should be. [`rules`]: states, and the words about their changes.
//! - [`views`], [`overview`], [`manage`], [`read`]: the API.
//!
//! - `tables`: monitors, their results and what follows from them.
//!
//! `server/src/alerts/monitors` makes the checks.

pub mod config;
pub mod heartbeat;
pub mod manage;
pub mod overview;
pub mod read;
pub mod rules;
pub mod schedule;
pub mod secrets;
mod tables;
pub mod verdict;
pub mod views;

pub use tables::{
    Lease, Monitor, MonitorChange, MonitorDay, MonitorOutcome, MonitorResult, MonitorResultsOf, MonitorRules,
    MonitorSlot, MonitorStanding, MonitorState, MonitorSummary, MonitorSums, MonitorTimings, MonitorTransition,
    NewMonitor, ScheduledMonitor,
};

use tidewatch_accounts::Database;
use tidewatch_query::context::QueryContext;

/// The monitors of projects and their results.
#[derive(Clone)]
pub struct Monitors {
    database: Database,
}

impl Monitors {
    /// The room over this database.
    pub fn new(database: &Database) -> Monitors {
        Monitors { database: database.clone() }
    }

    /// The room over the database of these queries.
    pub fn of(context: &QueryContext) -> Monitors {
        Monitors::new(&context.database)
    }
}
