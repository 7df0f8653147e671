//! On-call: who is on call, whom a page reaches and when. WIRE 5.7.
//!
//! - [`zone`]: instants and the clocks on the wall. [`layer`]: one rotation. [`schedule`]: layers and overrides.
//! - [`policy`]: the steps of an escalation. [`escalation`]: which step runs when; [`chain`]: the chain of one person.
//! - [`progress`]: where a page is in its policy and in the chains of people, as transactions store it.
//! - [`contact`]: contact methods. [`calendar`]: shifts as an iCalendar feed.
//! - [`mails`]: codes for contact methods. [`worker`]: opens and escalates pages.
//! - `tables`: teams, schedules, policies, pages and contact methods. [`views`], [`page_views`]: the bodies of the API.
//!
//! Invariants: a notification becomes one page, and a step runs once, whichever node ends at whatever time.

pub mod calendar;
pub mod chain;
pub mod contact;
pub mod escalation;
pub mod layer;
pub mod mails;
pub mod page_views;
pub mod policy;
pub mod progress;
pub mod schedule;
mod tables;
pub mod views;
pub mod wait;
pub mod worker;
pub mod zone;

pub(crate) use tables::page_of_subject;
pub use tables::{
    AckLink, ContactMethod, NewContactMethod, NewOverride, NewPage, NewPolicy, NewSchedule, NewTeam, OncallOverride,
    OncallPage, OncallPolicy, OncallSchedule, OncallTeam, PageDelivery, PageEvent, PageFilter, UserRule,
};

use tidewatch_accounts::Database;

/// The lease of the node that opens and escalates pages.
pub const LEASE: &str = "oncall";

/// The teams, schedules, policies and pages of organizations, and the contact methods of people.
#[derive(Clone)]
pub struct OnCall {
    database: Database,
}

impl OnCall {
    /// The room over this database.
    pub fn new(database: &Database) -> OnCall {
        OnCall { database: database.clone() }
    }
}
