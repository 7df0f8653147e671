//! The control plane: people, organizations, projects, roles, credentials, sign-in, audit log and mail, and the control
//! database that other rooms have tables in.
//!
//! - [`Control`]: the open control database with its parts.
//! - `people`: [`People`]. Users, organizations, members, invitations.
//! - `projects`: [`Projects`]. Projects and their settings, Issues, deploys, saved views.
//! - `credentials`: [`Credentials`]. Tokens of projects, people and programs.
//! - `sign_in`: [`SignIn`]. Passwords, providers, second factors, passkeys, sessions.
//! - [`audit`]: the audit log. [`mail`]: mails, and the thread that sends them.
//! - `database`: SQLite or PostgreSQL, [`Database`] and [`Write`], over which rooms of other crates have tables of their
//!   own. Start there to add a statement. Its `migrations` are the versions of the schema.
//! - `directory`: users, roles, projects and tokens in memory. Requests are authorized from it.
//! - `role`: roles and their permissions. [`sso`]: the protocols of providers. [`secrets`]: keys and cryptography.
//!
//! Every change has this form:
//!
//! ```text
//! let mut write = self.database.write().await?;
//! sqlx::query("UPDATE users SET name = $2 WHERE id = $1").bind(user).bind(name).execute(write.on()).await?;
//! write.audit(actor.did("user.rename").on("user", user)).await?;
//! write.changes_directory(); // if it changes data that the directory contains
//! write.commit().await?;
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod audit;
mod credentials;
mod database;
mod directory;
mod error;
pub mod mail;
mod people;
mod projects;
mod role;
pub mod secrets;
mod sign_in;
pub mod sso;

pub use audit::{Actor, AuditEntry, AuditFilter, AuditLog};
pub use credentials::{
    Credentials, DeviceCode, DeviceRequest, Exchange, Exchanged, Grant, Issued, NewCode, OauthClient, PERSONAL_PREFIX,
    PersonalToken, PlannedProject, Poll, Scope, ScopeLevel, SetupSession, SetupStatus, TokenKind,
};
pub use database::{
    Database, Engine, Location, Mail, Notice, NoticeTemplate, Outage, Write, copy_database, has_had_accounts,
    integrity, projects_in,
};
pub use directory::{
    DeletedProject, Demo, Membership, Organization, OrganizationSettings, Project, ProjectSettings, Quota, User,
    content_lists, content_terms,
};
pub use error::ControlError;
pub use mail::{ClaimedMail, Outbox};
pub use people::{
    Invitation, Invited, Member, NewAccount, NewInvitation, NewUser, OrganizationChange, People, Profile,
};
pub use projects::{
    Deploy, FirstVersion, HashCause, HashPointer, IssueActivity, IssueActivityKind, IssueDecision, IssueJoin,
    NewHashes, NewProject, NewView, ProjectChange, Projects, SavedView, SlowEndpoint, ViewChange, ViewRights,
    WaitingHashes,
};
pub use role::{Permission, Role};
pub use secrets::tokens;
pub use sign_in::{
    ActiveSession, AddedPasskey, AlsoRevoke, Ceremony, LinkMail, NewSession, OrganizationClaim, Passkey, PendingLink,
    ProviderProfile, ProviderSignIn, SecondFactorOutcome, SecondFactorResponse, SecondFactors, Session, SignIn,
    StoredUser, Verification, logins, user_handle,
};

use secrets::seal::Sealer;

/// The open control database, by subject. A function that needs one subject takes its part.
pub struct Control {
    database: Database,
    /// Users, organizations and their members.
    pub people: People,
    /// Projects, their settings, and what users decide about their telemetry.
    pub projects: Projects,
    /// Tokens of projects, people and programs.
    pub credentials: Credentials,
    /// Proofs of identity, and the sessions of people.
    pub sign_in: SignIn,
    /// Changes, with their authors.
    pub audit_log: AuditLog,
    /// Mails that wait to be sent.
    pub outbox: Outbox,
}

impl Control {
    /// Opens or creates the database, migrates it to the newest schema version, and loads the directory.
    pub async fn open(location: &Location, sealer: Sealer) -> Result<Control, ControlError> {
        let database = Database::open(location, sealer).await?;
        Ok(Control {
            people: People::new(database.clone()),
            projects: Projects::new(database.clone()),
            credentials: Credentials::new(database.clone()),
            sign_in: SignIn::new(database.clone()),
            audit_log: AuditLog::new(database.clone()),
            outbox: Outbox::new(database.clone()),
            database,
        })
    }

    /// The database, for rooms that have tables of their own.
    pub fn database(&self) -> &Database {
        &self.database
    }
}
