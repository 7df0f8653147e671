//! The directory: users, organizations, roles, projects and tokens, as of one version.

use std::collections::HashMap;
use std::sync::Arc;

use uuid::Uuid;

use super::organization::{Membership, Organization};
use super::project::{DeletedProject, Project};
use super::user::User;
use crate::Role;
use crate::secrets::tokens::fingerprint;

/// The data that authorizes requests, as of one version.
#[derive(Default)]
pub struct Directory {
    pub(super) version: i64,
    pub(super) users: HashMap<i64, Arc<User>>,
    pub(super) organizations: HashMap<i64, Arc<Organization>>,
    /// user -> organization -> role
    pub(super) roles: HashMap<i64, HashMap<i64, Role>>,
    /// user -> project -> role in it
    pub(super) overrides: HashMap<i64, HashMap<u32, Role>>,
    /// Ascending by number.
    pub(super) projects: Vec<Arc<Project>>,
    pub(super) deleted: Arc<[DeletedProject]>,
    pub(super) by_token: HashMap<[u8; 32], TokenOwner>,
    pub(super) by_upload_token: HashMap<[u8; 32], TokenOwner>,
    /// project -> end of the grace period of its replaced tokens: runtime, upload
    pub(super) replaced: HashMap<u32, [i64; 2]>,
    /// sealed token -> token: opening the tokens of all projects would dominate the cost of a reload.
    pub(super) opened: HashMap<String, String>,
}

/// The project of a token, and the end of the token's validity.
pub(super) struct TokenOwner {
    pub(super) project: Arc<Project>,
    /// Nanoseconds since the epoch; `i64::MAX`: the token is the current one.
    pub(super) expires_ns: i64,
}

impl Directory {
    pub(crate) fn version(&self) -> i64 {
        self.version
    }

    pub(crate) fn user(&self, id: i64) -> Option<Arc<User>> {
        self.users.get(&id).filter(|user| !user.is_disabled).cloned()
    }

    pub(crate) fn memberships(&self, user: i64) -> Vec<Membership> {
        let Some(roles) = self.roles.get(&user) else { return Vec::new() };
        let mut memberships: Vec<Membership> = roles
            .iter()
            .filter_map(|(organization, &role)| {
                Some(Membership { organization: self.organizations.get(organization)?.clone(), role })
            })
            .collect();
        memberships.sort_by_key(|membership| membership.organization.id);
        memberships
    }

    pub(crate) fn membership(&self, user: i64, organization: i64) -> Option<Membership> {
        let role = *self.roles.get(&user)?.get(&organization)?;
        Some(Membership { organization: self.organizations.get(&organization)?.clone(), role })
    }

    pub(crate) fn has_organizations(&self) -> bool {
        !self.organizations.is_empty()
    }

    /// The oldest organization.
    pub(crate) fn first_organization(&self) -> Option<i64> {
        self.organizations.keys().min().copied()
    }

    pub(crate) fn project_by_token(&self, token: &str, now_ns: i64) -> Option<Arc<Project>> {
        project_of_token(&self.by_token, token, now_ns)
    }

    pub(crate) fn project_by_upload_token(&self, token: &str, now_ns: i64) -> Option<Arc<Project>> {
        project_of_token(&self.by_upload_token, token, now_ns)
    }

    /// The ends of the grace periods of the project's replaced tokens: runtime, upload.
    pub(crate) fn replaced_tokens(&self, project: u32, now_ns: i64) -> [Option<i64>; 2] {
        let until = self.replaced.get(&project).copied().unwrap_or_default();
        until.map(|until| (until > now_ns).then_some(until))
    }

    pub(crate) fn project_by_id(&self, id: Uuid) -> Option<Arc<Project>> {
        self.projects.iter().find(|project| project.id == id).cloned()
    }

    pub(crate) fn project_by_number(&self, number: u32) -> Option<Arc<Project>> {
        let at = self.projects.binary_search_by_key(&number, |project| project.number).ok()?;
        Some(self.projects[at].clone())
    }

    /// Ascending by number.
    pub(crate) fn all_projects(&self) -> &[Arc<Project>] {
        &self.projects
    }

    /// Ascending by number.
    pub(crate) fn deleted_projects(&self) -> Arc<[DeletedProject]> {
        self.deleted.clone()
    }

    /// The project tokens that are opened already.
    pub(crate) fn opened_tokens(&self) -> HashMap<String, String> {
        self.opened.clone()
    }

    /// Becomes `fresh`, unless that is of an older version.
    pub(crate) fn replace_by(&mut self, fresh: Directory) {
        if fresh.version >= self.version {
            *self = fresh;
        }
    }

    pub(crate) fn all_users(&self) -> impl Iterator<Item = &Arc<User>> {
        self.users.values()
    }

    pub(crate) fn all_organizations(&self) -> impl Iterator<Item = &Arc<Organization>> {
        self.organizations.values()
    }

    pub(crate) fn role_in(&self, user: i64, project: &Project) -> Option<Role> {
        let role = *self.roles.get(&user)?.get(&project.organization_id)?;
        let requires_two_factor = self.organizations.get(&project.organization_id)?.requires_two_factor;
        if requires_two_factor && !self.users.get(&user)?.meets_two_factor() {
            return None;
        }
        let project_role = self.overrides.get(&user).and_then(|projects| projects.get(&project.number));
        Some(role.overridden(project_role.copied()))
    }
}

fn project_of_token(tokens: &HashMap<[u8; 32], TokenOwner>, token: &str, now_ns: i64) -> Option<Arc<Project>> {
    tokens.get(&fingerprint(token)).filter(|owner| now_ns < owner.expires_ns).map(|owner| owner.project.clone())
}
