//! Projects, their settings, and what users decide about their telemetry.
//!
//! - `changes`: creating, changing and deleting projects. `demo`: the project with demo data.
//! - `lookups`: projects in memory.
//! - `issues`, `issue_activity`: decisions about Issues, and their history.
//! - `deploys`: versions and deploys. `slow_endpoints`: Endpoints that are known to be slow. `saved_views`: views of
//!   pages.

mod changes;
mod demo;
mod deploys;
mod issue_activity;
mod issues;
mod lookups;
mod saved_views;
mod slow_endpoints;

pub(crate) use changes::insert_project;

pub use changes::{NewProject, ProjectChange};
pub use deploys::{Deploy, FirstVersion};
pub use issue_activity::{IssueActivity, IssueActivityKind};
pub use issues::IssueDecision;
pub use saved_views::{NewView, SavedView, ViewChange, ViewRights};
pub use slow_endpoints::SlowEndpoint;

use crate::Database;

/// Projects, their settings, and what users decide about their telemetry.
#[derive(Clone)]
pub struct Projects {
    database: Database,
}

impl Projects {
    /// Reads and writes in `database`.
    pub fn new(database: Database) -> Projects {
        Projects { database }
    }
}
