//! Organizations and the roles of their members.

use std::sync::Arc;

use crate::Role;

/// An organization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Organization {
    /// Row id, ascending in time of creation.
    pub id: i64,
    /// Display name.
    pub name: String,
    /// IANA name.
    pub timezone: String,
    /// Members without a second factor have no access to its projects.
    pub requires_two_factor: bool,
}

/// A user's membership in an organization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    /// The organization.
    pub organization: Arc<Organization>,
    /// The user's role in it.
    pub role: Role,
}
