//! Users, organizations and roles in memory.

use std::sync::Arc;

use super::People;
use crate::{Membership, Organization, Project, Role, User};

impl People {
    /// Returns whether any organization exists.
    pub fn has_organizations(&self) -> bool {
        self.database.directory().read().has_organizations()
    }

    /// Returns the oldest organization: its owner operates this server.
    pub fn first_organization(&self) -> Option<i64> {
        self.database.directory().read().first_organization()
    }

    /// Returns a user by id; `None` if unknown or disabled.
    pub fn user(&self, id: i64) -> Option<Arc<User>> {
        self.database.user(id)
    }

    /// Returns the user's memberships, ascending by organization id.
    pub fn memberships(&self, user: i64) -> Vec<Membership> {
        self.database.memberships(user)
    }

    /// Returns the user's membership in an organization.
    pub fn membership(&self, user: i64, organization: i64) -> Option<Membership> {
        self.database.directory().read().membership(user, organization)
    }

    /// Returns the user's effective role in a project. `None` without access, also for lack of the second factor that
    /// the organization requires.
    pub fn role_in(&self, user: i64, project: &Project) -> Option<Role> {
        self.database.directory().read().role_in(user, project)
    }

    /// Returns all users who are not disabled, ascending by id.
    pub fn users(&self) -> Vec<Arc<User>> {
        let directory = self.database.directory().read();
        let mut users: Vec<_> = directory.all_users().filter(|user| !user.is_disabled).cloned().collect();
        users.sort_by_key(|user| user.id);
        users
    }

    /// Returns all organizations, ascending by id.
    pub fn organizations(&self) -> Vec<Arc<Organization>> {
        let mut organizations: Vec<_> = self.database.directory().read().all_organizations().cloned().collect();
        organizations.sort_by_key(|organization| organization.id);
        organizations
    }
}
