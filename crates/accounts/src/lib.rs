//! The control plane: accounts, projects, and what people decided about them. The only folder with SQL here.
//!
//! - [`db`]: SQLite or PostgreSQL, connections, the one writer. Start there to add a statement.
//! - [`migrations`]: the schema's versions.
//! - [`directory`]: users, roles, projects and tokens in memory. What a request needs to know is answered from it.
//! - [`role`]: roles and what they open. [`audit`]: who changed what.
//! - `sign_ins`, `notices`: what happens to people's accounts, in the log and by mail.
//! - `sessions`: sign-ins of people that last; `devices`: the browsers they sign in from.
//! - `identities`, `second_factor`, `passkeys`: sign-in elsewhere, in two steps, without a password; `provider_links`: a
//!   sign-in elsewhere that waits for a proof of the account. `support`: what `tidewatch admin` does.
//! - `access_tokens`, `device_codes`, `oauth`, `grants`, `ack`, `setup`: credentials of machines and clients; `scope`:
//!   what they may do.
//! - `copies`: for backups.
//! - [`tokens`], [`users`], [`people`], [`organizations`], [`members`] (and what is allowed: [`member_rules`]),
//!   [`invitations`], [`resets`], [`projects`], `demo`, [`preferences`], [`outbox`]: one table or a few, each.
//!
//! A change looks like this, everywhere:
//!
//! ```text
//! let mut write = self.write().await?;
//! sqlx::query("UPDATE users SET name = $2 WHERE id = $1").bind(user).bind(name).execute(write.on()).await?;
//! write.audit(by.did("user.rename").on("user", user)).await?;
//! write.changes_directory(); // if it changes what `directory.rs` holds
//! write.commit().await?;
//! ```

#![forbid(unsafe_code)]

mod access_tokens;
mod ack;
pub mod audit;
mod copies;
pub mod db;
mod demo;
mod device_codes;
mod devices;
pub mod directory;
mod grants;
mod identities;
mod invitations;
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
mod passkey_proof;
mod passkeys;
mod pending_link;
mod people;
mod preferences;
mod projects;
mod provider_links;
mod quota;
mod resets;
mod role;
mod scope;
mod second_factor;
pub mod secrets;
mod sessions;
mod setup;
mod sign_ins;
pub mod sso;
mod support;
pub mod tokens;
mod users;

use std::collections::HashMap;
use std::sync::OnceLock;

use parking_lot::RwLock;

pub use access_tokens::{PERSONAL_PREFIX, PersonalToken};
pub use ack::AckLink;
pub use audit::{AuditLine, AuditQuestion, By};
pub use copies::{copy_database, has_had_accounts, integrity, projects_in};
pub use db::Location;
pub use device_codes::{DeviceCode, DeviceRequest, Poll};
pub use directory::{DeletedProject, Demo, Membership, Organization, Project, ProjectSettings, User};
pub use grants::{Grant, Issued};
pub use identities::{Entered, Place, ProviderProfile};
pub use invitations::{Invitation, Invited, NewInvitation};
pub use members::Member;
pub use notices::Notice;
pub use oauth::{Exchange, Exchanged, NewCode, OauthClient};
pub use organization_settings::OrganizationSettings;
pub use organizations::{NewAccount, OrganizationChange};
pub use outage::Outage;
pub use outbox::{Claimed, Mail};
pub use passkey_proof::Proof;
pub use passkeys::{AddedPasskey, Ceremony, Passkey, user_handle};
pub use pending_link::PendingLink;
pub use people::{AlsoEnd, Profile};
pub use preferences::SlowEndpoint;
pub use projects::{NewProject, ProjectChange};
pub use provider_links::LinkMail;
pub use quota::Quota;
pub use role::{Need, Role};
pub use scope::{Scope, ScopeLevel};
pub use second_factor::{Answered, SecondFactors, Shown};
pub use sessions::{BegunSession, HeldSession, Session};
pub use setup::{PlannedProject, SetupSession, SetupStatus};
pub use tokens::TokenKind;
pub use users::{NewUser, StoredUser};

use crate::secrets::seal::{SealError, Sealer};
use db::Database;
use directory::Directory;

/// The control database, open.
pub struct Control {
    database: Database,
    sealer: Sealer,
    directory: RwLock<Directory>,
    /// Writes mails about people's accounts, where mail can be sent.
    letter: OnceLock<notices::Letter>,
}

#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    #[error("the control database failed: {0}")]
    Database(#[from] sqlx::Error),
    #[error("an organization already exists")]
    OrganizationExists,
    #[error("unknown project")]
    UnknownProject,
    #[error("the email address has an account already")]
    EmailTaken,
    #[error("already a member")]
    MemberAlready,
    #[error("unknown user")]
    UnknownUser,
    /// A rule says no.
    #[error("{0}")]
    Forbidden(&'static str),
    #[error("{0}")]
    Missing(&'static str),
    /// It was there and will not be again.
    #[error("{0}")]
    Gone(&'static str),
    #[error("{0}")]
    Conflict(&'static str),
    /// RFC 6749, 5.2: unknown, used, expired, revoked or another client's.
    #[error("invalid_grant")]
    InvalidGrant,
    /// RFC 8707, 2: not the resource that was approved.
    #[error("invalid_target")]
    InvalidTarget,
    #[error("there are too many {0}; delete some first")]
    TooMany(&'static str),
    /// Again after so many seconds.
    #[error("{0}")]
    TooOften(&'static str, u64),
    #[error("{0}; nothing was changed; restore a backup (docs/operations.md, Damaged accounts)")]
    Damaged(String),
    #[error("the control database holds {0} that cannot be read")]
    Unreadable(&'static str),
    #[error(transparent)]
    Seal(#[from] SealError),
    #[error("the control database's secrets were sealed with another key; give this node the same sealing key")]
    OtherKey,
    #[error("no randomness for a new token: {0}")]
    Randomness(#[from] getrandom::Error),
    #[error("the control database is of a newer version ({0}) than this program knows ({1})")]
    TooNew(i64, i64),
}

impl Control {
    /// Opens or makes the database and brings it to the newest version.
    pub async fn open(location: &Location, sealer: Sealer) -> Result<Control, ControlError> {
        let database = Database::connect(location).await?;
        migrations::run(&database, &sealer).await?;
        check_key(&database, &sealer).await?;
        let directory = RwLock::new(Directory::load(&database.pool, &sealer, &HashMap::new()).await?);
        Ok(Control { database, sealer, directory, letter: OnceLock::new() })
    }

    /// Encrypts what has to be read again.
    pub fn sealer(&self) -> &Sealer {
        &self.sealer
    }

    /// From now on people are told by mail what happens to their accounts.
    pub fn tell_people(&self, letter: notices::Letter) {
        let _ = self.letter.set(letter);
    }

    /// Which database it is.
    pub fn engine(&self) -> db::Engine {
        self.database.engine
    }

    pub async fn close(&self) {
        self.database.close().await;
    }
}

const SEALED_FACT: &str = "sealing key";

/// Several nodes need one key: a text sealed by the first says whether this is it.
async fn check_key(database: &Database, sealer: &Sealer) -> Result<(), ControlError> {
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
