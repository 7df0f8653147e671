//! The control plane: accounts, organizations, projects, roles, tokens, sign-in, audit log and mail, and the control
//! database that other rooms have tables in.
//!
//! - [`db`]: SQLite or PostgreSQL, connections, the single writer. Start there to add a statement.
//! - [`migrations`]: the versions of the schema.
//! - [`directory`]: users, roles, projects and tokens in memory. Requests are authorized from it.
//! - [`role`]: roles and their permissions. [`audit`]: the audit log.
//! - `sign_ins`, `notices`: security events of accounts, in the audit log and by mail.
//! - `sessions`: sessions of users; `devices`: the browsers from which they sign in.
//! - `identities`, `second_factor`, `passkeys`: sign-in with a provider, with a second factor, with a passkey;
//!   `provider_links`: a sign-in with a provider that waits for proof of the account. `support`: for `tidewatch admin`.
//! - `access_tokens`, `device_codes`, `oauth`, `grants`, `setup`: credentials of programs and clients; `scope`:
//!   their permissions.
//! - `copies`: copies of the database for backups.
//! - [`tokens`], [`users`], [`people`], [`organizations`], [`members`] (rules: [`member_rules`]), [`invitations`],
//!   [`resets`], [`projects`], `demo`, [`preferences`], `deploys`, `issues`, `issue_activity`,
//!   `saved_views`, `leases`, [`outbox`]: one or a few tables each.
//! - `seam`: [`Database`], over which rooms of other crates have tables of their own.
//!
//! Every change has this form:
//!
//! ```text
//! let mut write = self.write().await?;
//! sqlx::query("UPDATE users SET name = $2 WHERE id = $1").bind(user).bind(name).execute(write.on()).await?;
//! write.audit(actor.did("user.rename").on("user", user)).await?;
//! write.changes_directory(); // if it changes data that the directory contains
//! write.commit().await?;
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod access_tokens;
pub mod audit;
mod copies;
pub mod db;
mod demo;
mod deploys;
mod device_codes;
mod devices;
pub mod directory;
mod grants;
mod identities;
mod invitations;
mod issue_activity;
mod issues;
mod leases;
pub mod logins;
pub mod mail;
mod member_rules;
mod members;
mod migrations;
mod notices;
mod oauth;
mod organization_settings;
mod organizations;
mod outage;
mod outbox;
mod passkey_verification;
mod passkeys;
mod pending_link;
mod people;
mod preferences;
mod projects;
mod provider_links;
mod quota;
mod resets;
mod role;
mod saved_views;
mod scope;
mod seam;
mod second_factor;
pub mod secrets;
mod sessions;
mod setup;
mod sign_ins;
pub mod sso;
mod support;
pub mod tokens;
mod users;

use parking_lot::RwLock;
use sqlx::AnyPool;

pub use access_tokens::{PERSONAL_PREFIX, PersonalToken};
pub use audit::{Actor, AuditEntry, AuditFilter};
pub use copies::{copy_database, has_had_accounts, integrity, projects_in};
pub use db::{Location, Write};
pub use deploys::{Deploy, FirstVersion};
pub use device_codes::{DeviceCode, DeviceRequest, Poll};
pub use directory::{
    DeletedProject, Demo, Membership, Organization, Project, ProjectSettings, User, content_lists, content_terms,
};
pub use grants::{Grant, Issued};
pub use identities::{OrganizationClaim, ProviderProfile, ProviderSignIn};
pub use invitations::{Invitation, Invited, NewInvitation};
pub use issue_activity::{IssueActivity, IssueActivityKind};
pub use issues::IssueDecision;
pub use members::Member;
pub use notices::Notice;
pub use oauth::{Exchange, Exchanged, NewCode, OauthClient};
pub use organization_settings::OrganizationSettings;
pub use organizations::{NewAccount, OrganizationChange};
pub use outage::Outage;
pub use outbox::{ClaimedMail, Mail};
pub use passkey_verification::Verification;
pub use passkeys::{AddedPasskey, Ceremony, Passkey, user_handle};
pub use pending_link::PendingLink;
pub use people::{AlsoRevoke, Profile};
pub use preferences::SlowEndpoint;
pub use projects::{NewProject, ProjectChange};
pub use provider_links::LinkMail;
pub use quota::Quota;
pub use role::{Permission, Role};
pub use saved_views::{NewView, SavedView, ViewChange, ViewRights};
pub use scope::{Scope, ScopeLevel};
pub use seam::Database;
pub use second_factor::{SecondFactorOutcome, SecondFactorResponse, SecondFactors};
pub use sessions::{ActiveSession, NewSession, Session};
pub use setup::{PlannedProject, SetupSession, SetupStatus};
pub use tokens::TokenKind;
pub use users::{NewUser, StoredUser};

use crate::secrets::seal::{SealError, Sealer};
use db::Connections;
use directory::Directory;

/// The open control database.
pub struct Control {
    database: Database,
}

/// An error of the control database, or a rule that a change violates. Its message is for the user.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// The database failed. See [`ControlError::outage`] for temporary failures.
    #[error("the control database failed: {0}")]
    Database(#[from] sqlx::Error),
    /// The first registration is over.
    #[error("an organization already exists")]
    OrganizationExists,
    /// The project does not exist, or was deleted meanwhile.
    #[error("unknown project")]
    UnknownProject,
    /// Another user has this address.
    #[error("the email address has an account already")]
    EmailTaken,
    /// The user is already a member of the organization.
    #[error("already a member")]
    MemberAlready,
    /// The user does not exist or is disabled.
    #[error("unknown user")]
    UnknownUser,
    /// A rule forbids the change. Holds the message.
    #[error("{0}")]
    Forbidden(&'static str),
    /// The requested entry does not exist. Holds the message.
    #[error("{0}")]
    Missing(&'static str),
    /// The entry has expired, or was used or revoked. Holds the message.
    #[error("{0}")]
    NoLongerValid(&'static str),
    /// The change is well-formed, but a rule refuses it. Holds the message.
    #[error("{0}")]
    Unacceptable(&'static str),
    /// The change conflicts with the stored state. Holds the message.
    #[error("{0}")]
    Conflict(&'static str),
    /// The grant is unknown, used, expired, revoked or another client's. RFC 6749, 5.2.
    #[error("invalid_grant")]
    InvalidGrant,
    /// The resource is not the approved one. RFC 8707, 2.
    #[error("invalid_target")]
    InvalidTarget,
    /// A limit on the number of stored entries is reached. Holds their name.
    #[error("there are too many {0}; delete some first")]
    TooMany(&'static str),
    /// A rate limit is exceeded. Holds the message and the seconds until the next attempt.
    #[error("{0}")]
    TooOften(&'static str, u64),
    /// The database file is damaged. Holds a description.
    #[error("{0}; nothing was changed; restore a backup (docs/operate/operations.md, Damaged accounts)")]
    Damaged(String),
    /// A stored value cannot be decoded. Holds its name.
    #[error("the control database holds {0} that cannot be read")]
    Unreadable(&'static str),
    /// A secret could not be sealed or opened.
    #[error(transparent)]
    Seal(#[from] SealError),
    /// The sealing key differs from the one the database was created with.
    #[error("the control database's secrets were sealed with another key; give this node the same sealing key")]
    OtherKey,
    /// The operating system returned no random bytes.
    #[error("no randomness for a new token: {0}")]
    Randomness(#[from] getrandom::Error),
    /// The schema version of the database, and the newest version that this program supports.
    #[error("the control database is of a newer version ({0}) than this program knows ({1})")]
    TooNew(i64, i64),
}

impl Control {
    /// Opens or creates the database, migrates it to the newest schema version, and loads the directory.
    pub async fn open(location: &Location, sealer: Sealer) -> Result<Control, ControlError> {
        let database = Connections::connect(location).await?;
        migrations::run(&database, &sealer).await?;
        check_key(&database, &sealer).await?;
        Ok(Control { database: Database::load(database, sealer).await? })
    }

    /// The seam for rooms that have tables of their own.
    pub fn database(&self) -> &Database {
        &self.database
    }

    /// Encrypts secrets that must be readable again.
    pub fn sealer(&self) -> &Sealer {
        self.database.sealer()
    }

    /// Sets the template of mails about security events; without one none are sent. Only the first call has an effect.
    pub fn set_notice_template(&self, template: notices::NoticeTemplate) {
        let _ = self.database.notice_template().set(template);
    }

    /// The database engine in use.
    pub fn engine(&self) -> db::Engine {
        self.database.engine()
    }

    /// Closes the connections; waits at most five seconds.
    pub async fn close(&self) {
        self.database.connections().close().await;
    }

    /// Begins a change. Waits while another writer is active.
    async fn write(&self) -> Result<Write<'_>, ControlError> {
        self.database.write().await
    }

    /// Returns the pool, for single reads.
    fn pool(&self) -> &AnyPool {
        self.database.pool()
    }

    fn directory(&self) -> &RwLock<Directory> {
        self.database.directory()
    }
}

/// Name and purpose of the sealed string that the key is checked with.
const SEALED_FACT: &str = "sealing key";

/// Checks that all nodes have the same key: the first node seals a known string, which the others open.
async fn check_key(database: &Connections, sealer: &Sealer) -> Result<(), ControlError> {
    let mut transaction = database.begin().await?;
    let known: Option<String> = sqlx::query_scalar("SELECT value FROM facts WHERE name = $1")
        .bind(SEALED_FACT)
        .fetch_optional(&mut *transaction)
        .await?;
    match known {
        Some(sealed) => drop(sealer.open(SEALED_FACT, &sealed).map_err(|_| ControlError::OtherKey)?),
        None => {
            sqlx::query("INSERT INTO facts (name, value) VALUES ($1, $2)")
                .bind(SEALED_FACT)
                .bind(sealer.seal(SEALED_FACT, "this key")?)
                .execute(&mut *transaction)
                .await?;
        }
    }
    transaction.commit().await?;
    Ok(())
}
