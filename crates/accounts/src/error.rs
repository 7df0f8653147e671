//! The error of every change and read.

use crate::secrets::seal::SealError;

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
