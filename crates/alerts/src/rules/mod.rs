//! Notification rules.
//!
//! ```text
//! JSON ──config──> RuleConfig ──evaluation (queries)──> Measured ──state──> Outcome ──words──> Notification
//! ```
//!
//! - [`config`]: the types of rules, their keys, defaults and bounds. [`severity`]: how bad a value is. [`state`]: when a
//!   rule fires and ends. These are pure. `words`: the sentences of notifications.
//! - [`evaluation`]: reads values with the crate `query`, and applies the changes of states.

pub mod config;
pub mod evaluation;
pub mod severity;
pub mod state;
mod words;
