//! The control plane: accounts, projects, and what people decided about them. The only folder that names SQLite here.
//!
//! One connection behind a mutex; statements take well under a millisecond, and everything an export or a dashboard
//! request needs to know (tokens, members, settings) is answered from memory ([`directory`]). Writers go through
//! `App::control`, which keeps them off the async threads.

mod accounts;
mod directory;
mod migrations;
mod preferences;
mod projects;

use std::path::Path;

use parking_lot::{Mutex, RwLock};
use rusqlite::Connection;

pub use accounts::{NewAccount, StoredUser};
pub use directory::{Membership, Organization, Project, Role, User};
pub use preferences::SlowEndpoint;
pub use projects::{NewProject, ProjectChange};

use directory::Directory;

/// The control database, open.
pub struct Control {
    database: Mutex<Connection>,
    directory: RwLock<Directory>,
}

#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    #[error("the control database failed: {0}")]
    Database(#[from] rusqlite::Error),
    #[error("an organization already exists")]
    OrganizationExists,
    #[error("unknown project")]
    UnknownProject,
    #[error("no randomness for a new token: {0}")]
    Randomness(#[from] getrandom::Error),
    #[error("the control database is of a newer version ({0}) than this program knows ({1})")]
    TooNew(i64, i64),
}

impl Control {
    /// Opens or makes the database and brings it to the newest version.
    pub fn open(path: &Path) -> Result<Control, ControlError> {
        let mut database = Connection::open(path)?;
        database.pragma_update(None, "journal_mode", "WAL")?;
        database.pragma_update(None, "synchronous", "FULL")?;
        database.pragma_update(None, "foreign_keys", true)?;
        migrations::run(&mut database)?;
        let directory = RwLock::new(Directory::load(&database)?);
        Ok(Control { database: Mutex::new(database), directory })
    }

    /// Reads the directory again after a write. The caller holds the database, so that no older state overwrites a newer.
    fn refresh(&self, database: &Connection) -> Result<(), ControlError> {
        let fresh = Directory::load(database)?;
        *self.directory.write() = fresh;
        Ok(())
    }
}
