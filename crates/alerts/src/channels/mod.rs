//! Channels: where the notifications of a project are sent, their messages, and whether that works.
//!
//! - [`notification`]: what people are notified of. [`secrets`]: the parts of configurations that answers mask.
//! - [`delivery`]: messages in the form of each type of channel, and the conversation with each service. [`notifier`]:
//!   sends them. [`worker`]: sends the notifications in the outbox. [`types`]: the types with the fields of forms.
//! - `tables`: channels, notifications, their history and the outbox.

pub mod delivery;
pub mod notification;
pub mod notifier;
pub mod secrets;
mod tables;
pub mod types;
pub mod worker;

pub use notification::{AlertStatus, Notification, PRIVATE_LINE, SeriesPoint, Severity, Target};
pub use secrets::{MaskedSecretError, SECRET_SENTINEL, mask_secrets, unmask_secrets, without_secrets};
pub(crate) use tables::TARGET_SEALED_AS;
pub use tables::{
    CHANNEL_FAILED, Channel, ClaimedMessage, ESCALATION, FailedAttempt, NotificationFilter, StoredNotification, notify,
};

use tidewatch_accounts::Database;

/// The signal of the control database after a node has queued notifications.
const NOTIFICATIONS_QUEUED: &str = "notifications queued";

/// The channels of projects, their notifications and the outbox.
#[derive(Clone)]
pub struct Channels {
    database: Database,
}

impl Channels {
    /// The room over this database.
    pub fn new(database: &Database) -> Channels {
        Channels { database: database.clone() }
    }

    /// Completes when this node has queued notifications since the last call.
    pub async fn notifications_queued(&self) {
        self.database.signal(NOTIFICATIONS_QUEUED).notified().await;
    }
}
