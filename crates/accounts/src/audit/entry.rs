//! Entries to be written, and their author.

use std::fmt::Display;

use serde_json::Value;

use crate::Project;
#[cfg(doc)]
use tidewatch_limits as limits;

/// The author of a change, with the time and origin of the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// `None` for requests without a user, and for the command line.
    pub user_id: Option<i64>,
    /// E-mail address of the user, or the name of the acting program.
    pub name: String,
    /// IP address of the client; empty for the command line.
    pub address: String,
    /// User-Agent of the client, truncated to [`limits::USER_AGENT_CHARS_MAX`] characters.
    pub user_agent: String,
    /// Time of the change, nanoseconds since the epoch.
    pub at_ns: i64,
}

/// An entry to be written.
#[derive(Debug)]
pub struct Entry<'a> {
    pub(super) actor: &'a Actor,
    pub(super) action: &'static str,
    pub(super) subject: String,
    pub(super) organization_id: Option<i64>,
    pub(super) details: Value,
}

impl Actor {
    /// Starts an entry for `action`: the kind of object, a dot, and the verb (`project.rename`).
    pub fn did(&self, action: &'static str) -> Entry<'_> {
        Entry { actor: self, action, subject: String::new(), organization_id: None, details: Value::Null }
    }
}

impl Entry<'_> {
    /// Sets the object of the action: its kind and id.
    pub fn on(mut self, kind: &str, id: impl Display) -> Self {
        self.subject = format!("{kind}:{id}");
        self
    }

    /// Sets a project as the object of the action, and its organization.
    pub fn on_project(self, project: &Project) -> Self {
        self.on("project", project.id).within(project.organization_id)
    }

    /// Sets the organization whose admins may read the entry.
    pub fn within(mut self, organization: i64) -> Self {
        self.organization_id = Some(organization);
        self
    }

    /// Sets the details: a JSON object without secrets.
    pub fn with(mut self, details: Value) -> Self {
        self.details = details;
        self
    }
}
