//! The projects a question is about, by the number the store knows them by.

use std::sync::Arc;

use uuid::Uuid;

use super::views::span::ProjectName;
use tidewatch_accounts::Project;

#[derive(Debug, Clone)]
pub struct Projects(Vec<Arc<Project>>);

impl Projects {
    pub fn one(project: &Arc<Project>) -> Projects {
        Projects(vec![project.clone()])
    }

    /// Ascending by number.
    pub fn new(mut projects: Vec<Arc<Project>>) -> Projects {
        projects.sort_by_key(|project| project.number);
        Projects(projects)
    }

    pub fn numbers(&self) -> Vec<u32> {
        self.0.iter().map(|project| project.number).collect()
    }

    /// The nil id for a number that was not asked about: the store never answers with one.
    pub fn id(&self, number: u32) -> Uuid {
        self.find(number).map_or(Uuid::nil(), |project| project.id)
    }

    pub fn named(&self, number: u32) -> ProjectName {
        let name = self.find(number).map_or("", |project| &project.name);
        ProjectName { id: self.id(number).to_string(), name: name.to_owned() }
    }

    fn find(&self, number: u32) -> Option<&Arc<Project>> {
        self.0.binary_search_by_key(&number, |project| project.number).ok().map(|at| &self.0[at])
    }
}
