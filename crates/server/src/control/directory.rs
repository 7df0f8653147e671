//! Who exists and who may see what, in memory: loaded at start, replaced after each write.
//!
//! Tokens are looked up by their SHA-256, so the time of a look-up says nothing about how near a guess came.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::{Connection, Row};
use sha2::{Digest, Sha256};
use tidewatch_domain::project::IngestSettings;
use uuid::Uuid;

use super::{Control, ControlError};

/// One person, without the password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    pub id: i64,
    pub email: String,
    pub name: String,
    /// Nanoseconds since the epoch.
    pub created_ns: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Organization {
    pub id: i64,
    pub name: String,
    pub timezone: String,
}

/// WIRE 5.3, most powerful first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    Owner,
    Admin,
    User,
    Readonly,
}

impl Role {
    pub fn as_str(self) -> &'static str {
        match self {
            Role::Owner => "owner",
            Role::Admin => "admin",
            Role::User => "user",
            Role::Readonly => "readonly",
        }
    }

    fn parse(text: &str) -> Role {
        match text {
            "owner" => Role::Owner,
            "admin" => Role::Admin,
            "user" => Role::User,
            _ => Role::Readonly,
        }
    }

    /// May change the organisation's projects and what is decided about them.
    pub fn may_write(self) -> bool {
        self != Role::Readonly
    }
}

/// A user's place in an organisation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    pub organization: Arc<Organization>,
    pub role: Role,
}

/// One project: what telemetry belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct Project {
    pub id: Uuid,
    /// The `project` column of every telemetry table. Never 0, never used again.
    pub number: u32,
    pub name: String,
    /// 32 hex digits: what exporters send.
    pub token: String,
    /// 32 hex digits: what symbol uploads send.
    pub upload_token: String,
    pub framework: String,
    pub organization_id: i64,
    /// Nanoseconds since the epoch.
    pub created_ns: i64,
    pub settings: IngestSettings,
}

/// Everything a request needs to know about people and projects.
#[derive(Default)]
pub struct Directory {
    users: HashMap<i64, Arc<User>>,
    organizations: HashMap<i64, Arc<Organization>>,
    /// user -> organisation -> role
    roles: HashMap<i64, HashMap<i64, Role>>,
    /// Ascending by number.
    projects: Vec<Arc<Project>>,
    by_token: HashMap<[u8; 32], Arc<Project>>,
}

impl Directory {
    pub fn load(database: &Connection) -> Result<Directory, ControlError> {
        let mut directory = Directory::default();
        for user in all(database, "SELECT id, email, name, created_ns FROM users", |row| {
            Ok(User { id: row.get(0)?, email: row.get(1)?, name: row.get(2)?, created_ns: row.get(3)? })
        })? {
            directory.users.insert(user.id, Arc::new(user));
        }
        for organization in all(database, "SELECT id, name, timezone FROM organizations", |row| {
            Ok(Organization { id: row.get(0)?, name: row.get(1)?, timezone: row.get(2)? })
        })? {
            directory.organizations.insert(organization.id, Arc::new(organization));
        }
        for (organization, user, role) in all(database, "SELECT organization, user, role FROM memberships", |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, String>(2)?))
        })? {
            directory.roles.entry(user).or_default().insert(organization, Role::parse(&role));
        }
        for project in all(database, SELECT_PROJECTS, read_project)? {
            let project = Arc::new(project);
            directory.by_token.insert(fingerprint(&project.token), project.clone());
            directory.projects.push(project);
        }
        Ok(directory)
    }
}

const SELECT_PROJECTS: &str = "SELECT id, number, name, token, upload_token, framework, organization, created_ns, \
     keep_unmatched_roots, issues_from_logs, sample_rate, error_sample_rate FROM projects ORDER BY number";

fn read_project(row: &Row<'_>) -> rusqlite::Result<Project> {
    let id: String = row.get(0)?;
    Ok(Project {
        id: Uuid::parse_str(&id)
            .map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, error.into()))?,
        number: row.get(1)?,
        name: row.get(2)?,
        token: row.get(3)?,
        upload_token: row.get(4)?,
        framework: row.get(5)?,
        organization_id: row.get(6)?,
        created_ns: row.get(7)?,
        settings: IngestSettings {
            keep_unmatched_roots: row.get(8)?,
            issues_from_logs: row.get(9)?,
            sample_rate: row.get(10)?,
            error_sample_rate: row.get(11)?,
        },
    })
}

fn all<T>(
    database: &Connection,
    sql: &str,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, ControlError> {
    Ok(database.prepare(sql)?.query_map([], read)?.collect::<Result<_, _>>()?)
}

fn fingerprint(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

/// Look-ups; none of them touches the disk.
impl Control {
    pub fn has_organizations(&self) -> bool {
        !self.directory.read().organizations.is_empty()
    }

    pub fn user(&self, id: i64) -> Option<Arc<User>> {
        self.directory.read().users.get(&id).cloned()
    }

    /// Ascending by organisation id.
    pub fn memberships(&self, user: i64) -> Vec<Membership> {
        let directory = self.directory.read();
        let Some(roles) = directory.roles.get(&user) else { return Vec::new() };
        let mut memberships: Vec<Membership> = roles
            .iter()
            .filter_map(|(organization, &role)| {
                Some(Membership { organization: directory.organizations.get(organization)?.clone(), role })
            })
            .collect();
        memberships.sort_by_key(|membership| membership.organization.id);
        memberships
    }

    pub fn role(&self, user: i64, organization: i64) -> Option<Role> {
        self.directory.read().roles.get(&user)?.get(&organization).copied()
    }

    /// The project an exporter's token belongs to.
    pub fn project_by_token(&self, token: &str) -> Option<Arc<Project>> {
        self.directory.read().by_token.get(&fingerprint(token)).cloned()
    }

    pub fn project_by_id(&self, id: Uuid) -> Option<Arc<Project>> {
        self.directory.read().projects.iter().find(|project| project.id == id).cloned()
    }

    pub fn project_by_number(&self, number: u32) -> Option<Arc<Project>> {
        let directory = self.directory.read();
        let at = directory.projects.binary_search_by_key(&number, |project| project.number).ok()?;
        Some(directory.projects[at].clone())
    }

    /// Every project the user may open, with the user's role there; ascending by number.
    pub fn projects_of(&self, user: i64) -> Vec<(Arc<Project>, Role)> {
        let directory = self.directory.read();
        let Some(roles) = directory.roles.get(&user) else { return Vec::new() };
        directory
            .projects
            .iter()
            .filter_map(|project| Some((project.clone(), *roles.get(&project.organization_id)?)))
            .collect()
    }
}
