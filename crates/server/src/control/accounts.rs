//! Users and the first registration.

use std::sync::Arc;

use rusqlite::{OptionalExtension, params};

use super::projects::insert_project;
use super::{Control, ControlError, NewProject, Project, User};

/// The first registration: an organisation, its owner and a project.
#[derive(Debug, Clone)]
pub struct NewAccount {
    /// Lower case.
    pub email: String,
    pub name: String,
    /// Argon2id, PHC string.
    pub password_hash: String,
    pub organization_name: String,
    pub timezone: String,
    pub project_name: String,
    pub framework: String,
}

/// What a login is checked against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredUser {
    pub id: i64,
    pub password_hash: String,
}

impl Control {
    /// Registers the first account, all of it or nothing. Fails once any organisation exists.
    pub fn register(&self, new: &NewAccount, now_ns: i64) -> Result<(Arc<User>, Arc<Project>), ControlError> {
        let mut database = self.database.lock();
        let transaction = database.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let taken: bool = transaction.query_row(
            "SELECT EXISTS (SELECT 1 FROM organizations) OR EXISTS (SELECT 1 FROM users)",
            [],
            |row| row.get(0),
        )?;
        if taken {
            return Err(ControlError::OrganizationExists);
        }
        transaction.execute(
            "INSERT INTO organizations (name, timezone, created_ns) VALUES (?1, ?2, ?3)",
            params![new.organization_name, new.timezone, now_ns],
        )?;
        let organization_id = transaction.last_insert_rowid();
        transaction.execute(
            "INSERT INTO users (email, name, password_hash, created_ns) VALUES (?1, ?2, ?3, ?4)",
            params![new.email, new.name, new.password_hash, now_ns],
        )?;
        let user = transaction.last_insert_rowid();
        transaction.execute(
            "INSERT INTO memberships (organization, user, role) VALUES (?1, ?2, 'owner')",
            params![organization_id, user],
        )?;
        let project = NewProject { organization_id, name: new.project_name.clone(), framework: new.framework.clone() };
        let number = insert_project(&transaction, &project, now_ns)?;
        transaction.commit()?;
        self.refresh(&database)?;
        drop(database);
        let user = self.user(user).expect("the user was committed a moment ago");
        let project = self.project_by_number(number).expect("the project was committed a moment ago");
        Ok((user, project))
    }

    /// By e-mail, in any case of letters.
    pub fn stored_user(&self, email: &str) -> Result<Option<StoredUser>, ControlError> {
        let found = self
            .database
            .lock()
            .query_row("SELECT id, password_hash FROM users WHERE email = ?1", [email.to_lowercase()], |row| {
                Ok(StoredUser { id: row.get(0)?, password_hash: row.get(1)? })
            })
            .optional()?;
        Ok(found)
    }
}
