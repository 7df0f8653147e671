//! The tables of status pages.
//!
//! - `pages`: the pages. `public`: the reads for visitors.
//! - `maintenance`: planned work. `subscribers`: who is notified.

mod database;
mod maintenance;
mod pages;
mod public;
mod subscribers;

pub use database::StatusPages;
pub use maintenance::MaintenanceWindow;
use pages::check_owner;
pub use pages::{NewStatusPage, StatusComponent, StatusPage};
pub use public::{Outage, PageAddress, PublicIncident};
pub use subscribers::{SubscriberKind, Subscription};
