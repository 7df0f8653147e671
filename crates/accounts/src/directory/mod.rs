//! Users, organizations, roles, projects and tokens in memory, so that requests are authorized without the database.
//!
//! The directory is loaded at start and after each change by this node. Changes by other nodes and by the command line
//! increment a version, which is polled (`database/follow.rs`).
//!
//! - `index`: the directory. `load`: reads it from the database.
//! - `user`, `organization`, `organization_settings`, `project`, `quota`: what it holds.

mod grouping_rules;
mod index;
mod load;
mod organization;
mod organization_settings;
mod project;
mod quota;
mod user;

pub(crate) use index::Directory;
pub(crate) use load::version;

pub(crate) use grouping_rules::{StoredRule, StoredRules};
pub use organization::{Membership, Organization};
pub use organization_settings::OrganizationSettings;
pub use project::{DeletedProject, Demo, Project, ProjectSettings, content_lists, content_terms};
pub use quota::Quota;
pub use user::User;
