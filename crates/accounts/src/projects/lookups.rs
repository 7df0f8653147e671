//! Projects in memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use uuid::Uuid;

use super::Projects;
use crate::{DeletedProject, Project, Role};

impl Projects {
    /// Returns a project by its id.
    pub fn project_by_id(&self, id: Uuid) -> Option<Arc<Project>> {
        self.database.directory().read().project_by_id(id)
    }

    /// Returns a project by its number.
    pub fn project_by_number(&self, number: u32) -> Option<Arc<Project>> {
        self.database.project_by_number(number)
    }

    /// Returns the organization's demo project.
    pub fn demo_project(&self, organization: i64) -> Option<Arc<Project>> {
        let directory = self.database.directory().read();
        let is_it = |project: &&Arc<Project>| project.demo.is_some() && project.organization_id == organization;
        directory.all_projects().iter().find(is_it).cloned()
    }

    /// Returns the numbers of the organization's projects, ascending.
    pub fn project_numbers(&self, organization: i64) -> Vec<u32> {
        let directory = self.database.directory().read();
        let owned = directory.all_projects().iter().filter(|project| project.organization_id == organization);
        owned.map(|project| project.number).collect()
    }

    /// Returns the retention in days by project number, of the projects that set one.
    pub fn retention_days(&self) -> BTreeMap<u32, u32> {
        let directory = self.database.directory().read();
        let own = |project: &Arc<Project>| Some((project.number, project.settings.retention_days?));
        directory.all_projects().iter().filter_map(own).collect()
    }

    /// Returns all projects, ascending by number.
    pub fn all_projects(&self) -> Vec<Arc<Project>> {
        self.database.directory().read().all_projects().to_vec()
    }

    /// Returns the deleted projects, ascending by number.
    pub fn deleted_projects(&self) -> Arc<[DeletedProject]> {
        self.database.directory().read().deleted_projects()
    }

    /// Returns the projects that the user has access to, with the user's role, ascending by number.
    pub fn projects_of(&self, user: i64) -> Vec<(Arc<Project>, Role)> {
        let directory = self.database.directory().read();
        let role = |project: &Arc<Project>| Some((project.clone(), directory.role_in(user, project)?));
        directory.all_projects().iter().filter_map(role).collect()
    }
}
