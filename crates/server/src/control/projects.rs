//! Making and changing projects.

use std::sync::Arc;

use rusqlite::{Connection, params};
use tidewatch_domain::project::IngestSettings;
use uuid::Uuid;

use super::{Control, ControlError, Project};

#[derive(Debug, Clone)]
pub struct NewProject {
    pub organization_id: i64,
    pub name: String,
    pub framework: String,
}

/// The project's changeable part, as it shall be.
#[derive(Debug, Clone)]
pub struct ProjectChange {
    pub name: String,
    pub framework: String,
    pub settings: IngestSettings,
}

impl Control {
    pub fn create_project(&self, new: &NewProject, now_ns: i64) -> Result<Arc<Project>, ControlError> {
        let database = self.database.lock();
        let number = insert_project(&database, new, now_ns)?;
        self.refresh(&database)?;
        drop(database);
        self.project_by_number(number).ok_or(ControlError::UnknownProject)
    }

    pub fn change_project(&self, number: u32, change: &ProjectChange) -> Result<Arc<Project>, ControlError> {
        let database = self.database.lock();
        let settings = &change.settings;
        database.execute(
            "UPDATE projects SET name = ?2, framework = ?3, keep_unmatched_roots = ?4, issues_from_logs = ?5, \
             sample_rate = ?6, error_sample_rate = ?7 WHERE number = ?1",
            params![
                number,
                change.name,
                change.framework,
                settings.keep_unmatched_roots,
                settings.issues_from_logs,
                settings.sample_rate,
                settings.error_sample_rate
            ],
        )?;
        self.refresh(&database)?;
        drop(database);
        self.project_by_number(number).ok_or(ControlError::UnknownProject)
    }
}

/// Returns the new project's number.
pub(super) fn insert_project(database: &Connection, new: &NewProject, now_ns: i64) -> Result<u32, ControlError> {
    let id = Uuid::from_bytes(uuid_v4_bytes()?);
    database.execute(
        "INSERT INTO projects (id, organization, name, framework, token, upload_token, created_ns) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        params![id.to_string(), new.organization_id, new.name, new.framework, new_token()?, new_token()?, now_ns],
    )?;
    Ok(u32::try_from(database.last_insert_rowid()).expect("the schema keeps project numbers inside 32 bits"))
}

/// 32 hex digits: a random UUID without dashes, as exporters of this protocol know it. WIRE 5.6.
fn new_token() -> Result<String, ControlError> {
    Ok(Uuid::from_bytes(uuid_v4_bytes()?).simple().to_string())
}

fn uuid_v4_bytes() -> Result<[u8; 16], ControlError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(*uuid::Builder::from_random_bytes(bytes).as_uuid().as_bytes())
}
