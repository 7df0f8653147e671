//! The tables of incidents.
//!
//! - `incident`: their parts. `incidents`: their reads.
//! - `changes`: what people change.
//! - `grouping`: notifications become incidents, in one transaction with the cursor.
//! - `announce`: the subscribers of status pages are notified.

mod announce;
mod changes;
mod grouping;
mod incident;
mod incidents;
mod rows;

pub use announce::Announcer;
pub(crate) use announce::{RULE_TYPE, SUBSCRIBER_SEALED_AS, TOKEN_SEALED_AS, direct};
pub use changes::{IncidentChange, NewIncident};
pub use grouping::{AlertFact, GroupedIncident};
pub use incident::{GroupedAlert, Incident, IncidentStatus, IncidentUpdate};
use incidents::NO_INCIDENT;
pub use incidents::{IncidentFilter, PostMortem};
