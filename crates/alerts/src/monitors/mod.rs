//! Monitors: checks of an address, or of a job that reports, at intervals. WIRE 6.
//!
//! - [`config`]: what a user chooses, per type, with its limits; [`secrets`]: the parts that answers mask.
//! - [`schedule`]: when each monitor is checked. [`heartbeat`]: when a job is late.
//! - [`verdict`]: whether what a check has seen is as it should be. [`standing`]: states, and the words about their changes.
//! - [`views`], [`overview`], [`manage`], [`read`]: the API. [`types`]: the types with the fields of forms.
//! - [`worker`]: makes the checks that are due. [`probe`]: one check, which the crate `probes` makes; `requests`: its
//!   request from the configuration; `browser`: a check by a browser, without the values of its secrets.
//! - `tables`: monitors, their results and what follows from them.

mod browser;
pub mod config;
pub mod heartbeat;
pub mod manage;
pub mod overview;
pub mod probe;
pub mod read;
mod requests;
pub mod schedule;
pub mod secrets;
pub mod standing;
mod tables;
pub mod types;
pub mod verdict;
pub mod views;
pub mod worker;

pub use standing::{MonitorOutcome, MonitorStanding, MonitorState};
pub use tables::{
    Lease, Monitor, MonitorDay, MonitorResult, MonitorResultsOf, MonitorSlot, MonitorSummary, MonitorSums,
    MonitorTimings, MonitorTransition, NewMonitor, ScheduledMonitor,
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
