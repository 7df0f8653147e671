//! The seam of the control database: everything that a room with tables of its own needs from this crate.
//!
//! A room is a struct over a [`Database`]. It reads from [`Database::pool`], changes with
//! [`Database::write`], seals its secrets with [`Database::sealer`] and divides work between nodes with
//! leases. Its audit entries and mails are written in the transaction of the change ([`Write::audit`],
//! [`Write::insert_mail`]).
//!
//! The schemas of all rooms are in `migrations/` of this crate: migrations are one ordered sequence, because a table of
//! a room refers to projects, users and organizations.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

use parking_lot::{Mutex, RwLock};
use sqlx::AnyPool;
use tokio::sync::Notify;

use super::db::{Connections, Engine, Write};
use super::directory::Directory;
use super::secrets::seal::Sealer;
use super::{ControlError, Membership, Project, User, notices};

/// The open control database. Clones share it.
#[derive(Clone)]
pub struct Database {
    shared: Arc<Shared>,
}

struct Shared {
    connections: Connections,
    sealer: Sealer,
    directory: RwLock<Directory>,
    /// Renders the mails about security events, if mail can be sent.
    notice_template: OnceLock<notices::NoticeTemplate>,
    /// By name. See [`Database::signal`].
    signals: Mutex<BTreeMap<&'static str, Arc<Notify>>>,
}

impl Database {
    /// Loads the directory of a migrated database.
    pub(super) async fn load(connections: Connections, sealer: Sealer) -> Result<Database, ControlError> {
        let directory = RwLock::new(Directory::load(&connections.pool, &sealer, &HashMap::new()).await?);
        let (notice_template, signals) = (OnceLock::new(), Mutex::default());
        Ok(Database { shared: Arc::new(Shared { connections, sealer, directory, notice_template, signals }) })
    }

    /// Returns the pool, for single reads.
    pub fn pool(&self) -> &AnyPool {
        &self.shared.connections.pool
    }

    /// Begins a change. Waits while another writer is active.
    pub async fn write(&self) -> Result<Write<'_>, ControlError> {
        Write::begin(self).await
    }

    /// Encrypts secrets that must be readable again.
    pub fn sealer(&self) -> &Sealer {
        &self.shared.sealer
    }

    /// The database engine in use.
    pub fn engine(&self) -> Engine {
        self.shared.connections.engine
    }

    /// Wakes a task of this node. [`Write::signals`] wakes it after a commit.
    pub fn signal(&self, name: &'static str) -> Arc<Notify> {
        self.shared.signals.lock().entry(name).or_default().clone()
    }

    /// Returns a user by id; `None` if unknown or disabled.
    pub fn user(&self, id: i64) -> Option<Arc<User>> {
        self.directory().read().user(id)
    }

    /// Returns the user's memberships, ascending by organization id.
    pub fn memberships(&self, user: i64) -> Vec<Membership> {
        self.directory().read().memberships(user)
    }

    /// Returns a project by its number.
    pub fn project_by_number(&self, number: u32) -> Option<Arc<Project>> {
        self.directory().read().project_by_number(number)
    }

    /// Reloads the directory. An older version never replaces a newer one.
    pub async fn refresh(&self) -> Result<(), ControlError> {
        let opened = self.directory().read().opened_tokens();
        let fresh = Directory::load(self.pool(), self.sealer(), &opened).await?;
        self.directory().write().replace_by(fresh);
        Ok(())
    }

    pub(super) fn connections(&self) -> &Connections {
        &self.shared.connections
    }

    pub(super) fn directory(&self) -> &RwLock<Directory> {
        &self.shared.directory
    }

    pub(super) fn notice_template(&self) -> &OnceLock<notices::NoticeTemplate> {
        &self.shared.notice_template
    }
}
