//! Incidents: alerts that fire together, or what a person has opened; with updates, a post-mortem and the status pages
//! that show it.
//!
//! - `grouping`: alerts that fire together become one incident. [`worker`]: groups new notifications.
//! - `tables`: incidents, their updates and post-mortems. [`views`]: the bodies of the API.
//!
//! Invariant: each notification counts once, because incidents and cursor change in one transaction under a lease.

mod grouping;
mod mails;
mod tables;
pub mod views;
pub mod worker;

pub use grouping::{group, is_momentary};
pub use tables::{
    AlertFact, Announcer, GroupedAlert, GroupedIncident, Incident, IncidentChange, IncidentFilter, IncidentStatus,
    IncidentUpdate, NewIncident, PostMortem,
};
pub(crate) use tables::{RULE_TYPE, SUBSCRIBER_SEALED_AS, TOKEN_SEALED_AS, direct};

use tidewatch_accounts::Database;

/// The incidents of organizations.
#[derive(Clone)]
pub struct Incidents {
    database: Database,
}

impl Incidents {
    /// The room over this database.
    pub fn new(database: &Database) -> Incidents {
        Incidents { database: database.clone() }
    }
}
