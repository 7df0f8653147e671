//! Notification rules.
//!
//! ```text
//! JSON ──config──> RuleConfig ──evaluation (queries)──> Measured ──state──> Outcome ──words──> Notification
//! ```
//!
//! - [`config`]: the types of rules, their keys, defaults and bounds. [`severity`]: how bad a value is. [`state`]: when a
//!   rule fires and ends. These are pure. `words`: the sentences of notifications.
//! - [`evaluation`]: reads values with the crate `query`, and applies the changes of states. [`worker`]: does so
//!   periodically.
//! - `tables`: the rules and their states. [`views`]: the bodies of the API. [`types`]: the types with the fields of
//!   forms.

pub mod config;
pub mod evaluation;
pub mod severity;
pub mod state;
mod tables;
pub mod types;
pub mod views;
mod words;
pub mod worker;

pub use tables::{
    NewRule, NotificationRule, RuleBatch, RuleChange, RuleChanges, RuleClaim, RuleState, RuleStateKind, alert_key,
};

use tidewatch_accounts::Database;
use tidewatch_query::context::QueryContext;

/// The notification rules of projects and their states.
#[derive(Clone)]
pub struct Rules {
    database: Database,
}

impl Rules {
    /// The room over this database.
    pub fn new(database: &Database) -> Rules {
        Rules { database: database.clone() }
    }

    /// The room over the database of these queries.
    pub fn of(context: &QueryContext) -> Rules {
        Rules::new(&context.database)
    }
}
