//! The tables of channels and notifications.

mod channels;
mod history;
mod notifications;
mod outbox;

pub use channels::{CHANNEL_FAILED, Channel, ESCALATION};
pub use history::{NotificationFilter, StoredNotification};
pub(crate) use notifications::TARGET_SEALED_AS;
pub use notifications::notify;
pub use outbox::{ClaimedMessage, FailedAttempt};
