//! The projects of a query, by their number in the store.

use std::sync::Arc;

use uuid::Uuid;

use super::views::span::ProjectName;
use tidewatch_accounts::Project;

/// Projects of a query, sorted by number.
#[derive(Debug, Clone)]
pub struct Projects(Vec<Arc<Project>>);

impl Projects {
    /// A query of one project.
    pub fn one(project: &Arc<Project>) -> Projects {
        Projects(vec![project.clone()])
    }

    /// A query of several projects, in any order.
    pub fn new(mut projects: Vec<Arc<Project>>) -> Projects {
        projects.sort_by_key(|project| project.number);
        Projects(projects)
    }

    /// The projects, by number.
    pub fn all(&self) -> &[Arc<Project>] {
        &self.0
    }

    /// Numbers of the projects, ascending.
    pub fn numbers(&self) -> Vec<u32> {
        self.0.iter().map(|project| project.number).collect()
    }

    /// Id of a project; nil for a number outside the query, which the store never returns.
    pub fn id(&self, number: u32) -> Uuid {
        self.find(number).map_or(Uuid::nil(), |project| project.id)
    }

    /// Id and name of a project; nil and empty for a number outside the query.
    pub fn named(&self, number: u32) -> ProjectName {
        let name = self.find(number).map_or("", |project| &project.name);
        ProjectName { id: self.id(number).to_string(), name: name.to_owned() }
    }

    fn find(&self, number: u32) -> Option<&Arc<Project>> {
        self.0.binary_search_by_key(&number, |project| project.number).ok().map(|at| &self.0[at])
    }
}
