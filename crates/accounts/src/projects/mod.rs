//! Projects, their settings, and what users decide about their telemetry.
//!
//! - `changes`: creating, changing and deleting projects. `demo`: the project with demo data.
//! - `lookups`: projects in memory.
//! - `issues`, `issue_activity`: decisions about Issues, and their history. `issue_hashes`, `new_hashes`: the hashes of
//!   an Issue. `grouping_rules`: rules that make them.
//! - `deploys`: versions and deploys. `slow_endpoints`: Endpoints that are known to be slow. `saved_views`: views of
//!   pages.

mod changes;
mod demo;
mod deploys;
mod grouping_rules;
mod issue_activity;
mod issue_hashes;
mod issues;
mod lookups;
mod new_hashes;
mod saved_views;
mod slow_endpoints;

pub(crate) use changes::insert_project;

pub use changes::{NewProject, ProjectChange};
pub use deploys::{Deploy, FirstVersion};
pub use issue_activity::{IssueActivity, IssueActivityKind};
pub use issue_hashes::{HashCause, HashPointer, IssueJoin};
pub use issues::IssueDecision;
pub use new_hashes::{NewHashes, WaitingHashes};
pub use saved_views::{NewView, SavedView, ViewChange, ViewRights};
pub use slow_endpoints::SlowEndpoint;

use std::sync::Arc;

use crate::Database;

/// Projects, their settings, and what users decide about their telemetry.
#[derive(Clone)]
pub struct Projects {
    database: Database,
    new_hashes: Arc<NewHashes>,
}

impl Projects {
    /// Reads and writes in `database`.
    pub fn new(database: Database) -> Projects {
        Projects { database, new_hashes: Arc::default() }
    }

    /// Hashes of Issues that wait to be compared with earlier versions of the grouping rule. Clones share them.
    pub fn new_hashes(&self) -> &Arc<NewHashes> {
        &self.new_hashes
    }
}
