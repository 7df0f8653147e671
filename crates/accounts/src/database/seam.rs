//! The open database, and a change of it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, OnceLock, Weak};

use parking_lot::{Mutex, RwLock};
use sqlx::{Any, AnyConnection, AnyPool, Executor, Transaction};
use tokio::sync::Notify;

use super::connections::{Connections, Engine};
use super::notice::NoticeTemplate;
use crate::directory::Directory;
use crate::secrets::seal::Sealer;
use crate::{ControlError, Membership, Project, User};

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
    notice_template: OnceLock<NoticeTemplate>,
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
        let transaction = self.connections().begin().await?;
        Ok(Write { database: self, transaction, changes_directory: false, signals: BTreeSet::new() })
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

    /// Sets the template of mails about security events; without one none are sent. Only the first call has an effect.
    pub fn set_notice_template(&self, template: NoticeTemplate) {
        let _ = self.shared.notice_template.set(template);
    }

    /// Closes the connections; waits at most five seconds.
    pub async fn close(&self) {
        self.shared.connections.close().await;
    }

    /// A reference that does not keep the database open.
    pub(crate) fn downgrade(&self) -> WeakDatabase {
        WeakDatabase(Arc::downgrade(&self.shared))
    }

    pub(super) fn connections(&self) -> &Connections {
        &self.shared.connections
    }

    pub(crate) fn directory(&self) -> &RwLock<Directory> {
        &self.shared.directory
    }

    pub(crate) fn notice_template(&self) -> &OnceLock<NoticeTemplate> {
        &self.shared.notice_template
    }
}

/// A database that may have been closed: its last [`Database`] was dropped.
pub(crate) struct WeakDatabase(Weak<Shared>);

impl WeakDatabase {
    pub(crate) fn upgrade(&self) -> Option<Database> {
        self.0.upgrade().map(|shared| Database { shared })
    }
}

/// A transaction with a change. Dropped without a commit it is rolled back.
pub struct Write<'a> {
    database: &'a Database,
    transaction: Transaction<'static, Any>,
    changes_directory: bool,
    signals: BTreeSet<&'static str>,
}

impl<'a> Write<'a> {
    /// The database that is changed.
    pub fn database(&self) -> &'a Database {
        self.database
    }

    /// The connection that statements run on: `.execute(write.on())`.
    pub fn on(&mut self) -> &mut AnyConnection {
        &mut self.transaction
    }

    /// Marks the change as one of users, organizations, memberships, projects or tokens: every node then reloads its
    /// directory.
    pub fn changes_directory(&mut self) {
        self.changes_directory = true;
    }

    /// Wakes the task that waits for this signal ([`Database::signal`]) after the commit.
    pub fn signals(&mut self, name: &'static str) {
        self.signals.insert(name);
    }

    /// Commits the change. When it returns, this node's directory contains the change.
    pub async fn commit(mut self) -> Result<(), ControlError> {
        if self.changes_directory {
            self.transaction.execute("UPDATE directory_version SET version = version + 1").await?;
        }
        self.transaction.commit().await?;
        if self.changes_directory {
            self.database.refresh().await?;
        }
        for name in self.signals {
            self.database.signal(name).notify_one();
        }
        Ok(())
    }
}
