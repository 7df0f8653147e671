//! Alerts: rules, their delivery, monitors, incidents, status pages and on-call. Rules and state machines are pure;
//! the server runs them, the control database stores them.
//!
//! - [`config_files`]: alerting as files: which files, what differs from a server, what to send.
//! - [`escape`], [`markdown`]: what users have written, as HTML that runs nothing.
//! - [`incidents`]: alerts that fire together become one incident.
//! - [`oncall`]: who is on call, whom a page reaches and when.
//! - [`delivery`]: messages in the form of each type of channel, and the conversation with each service.
//! - [`rules`]: notification rules.
//! - [`monitors`]: checks of an address, or of a job that reports, at intervals.
//! - [`outbound`]: which addresses the server may contact on behalf of a user.
//! - [`status_pages`]: public status pages.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod config_files;
pub mod delivery;
pub mod escape;
pub mod incidents;
pub mod markdown;
pub mod monitors;
pub mod oncall;
pub mod rules;
pub mod status_pages;

pub use tidewatch_runtime::outbound::policy as outbound;
