//! Alerting, in a room per subject: each has its tables in the control database, its rules, its request and answer
//! bodies, and its background work.
//!
//! - [`rules`]: notification rules. [`channels`]: where notifications are sent. [`incidents`]: alerts that fire together.
//! - [`monitors`]: checks of an address, or of a job that reports, at intervals. [`status_pages`]: public status pages.
//! - [`oncall`]: who is on call, whom a page reaches and when.
//! - [`config_files`]: alerting as files: which files, what differs from a server, what to send.
//! - [`fields`]: descriptions of configurations, by which requests are checked and forms are drawn.
//! - [`markdown`]: what users have written, as HTML that runs nothing.
//! - [`outbound`]: which addresses the server may contact on behalf of a user.
//!
//! SQL is in files of `tables` only. A change of two rooms is one transaction: functions of other rooms take
//! [`tidewatch_accounts::Write`].

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod channels;
pub mod config_files;
pub mod fields;
pub mod incidents;
pub mod markdown;
pub mod monitors;
pub mod oncall;
pub mod rules;
pub mod status_pages;
mod tables;

pub use tidewatch_runtime::outbound::policy as outbound;

use tidewatch_accounts::Database;

use channels::Channels;
use incidents::Incidents;
use monitors::Monitors;
use oncall::OnCall;
use rules::Rules;
use status_pages::StatusPages;

/// The rooms of alerting over one control database.
#[derive(Clone)]
pub struct Alerts {
    /// Notification rules.
    pub rules: Rules,
    /// Channels and notifications.
    pub channels: Channels,
    /// Incidents.
    pub incidents: Incidents,
    /// Monitors.
    pub monitors: Monitors,
    /// On-call.
    pub oncall: OnCall,
    /// Status pages.
    pub status_pages: StatusPages,
}

impl Alerts {
    /// The rooms over this database.
    pub fn new(database: &Database) -> Alerts {
        Alerts {
            rules: Rules::new(database),
            channels: Channels::new(database),
            incidents: Incidents::new(database),
            monitors: Monitors::new(database),
            oncall: OnCall::new(database),
            status_pages: StatusPages::new(database),
        }
    }
}
