//! Limits of channels and of the delivery of notifications.

use std::time::Duration;

use crate::units::{minutes, seconds};

/// Channels of a project.
pub const CHANNELS_MAX: i64 = 100;
/// Characters of the name of a channel.
pub const CHANNEL_NAME_CHARS_MAX: usize = 100;
/// Bytes of one value in the configuration of a channel.
pub const CHANNEL_VALUE_BYTES_MAX: usize = 4 << 10;
/// Recipients of a mail channel. WIRE 7.
pub const CHANNEL_RECIPIENTS_MAX: usize = 10;
/// Own headers of a webhook, and labels of GitHub issues.
pub const CHANNEL_ENTRIES_MAX: usize = 20;
/// Window of the rate of a channel.
pub const CHANNEL_WINDOW: Duration = minutes(1);
/// Messages that are sent to a channel within [`CHANNEL_WINDOW`]; of more notifications digests are made.
pub const CHANNEL_MESSAGES_MAX: i64 = 10;
/// Messages within [`CHANNEL_WINDOW`] to a channel whose receiver follows each alert, and takes no digests.
pub const CHANNEL_EVENTS_MAX: i64 = 100;
/// Notifications in one digest.
pub const DIGEST_NOTIFICATIONS_MAX: i64 = 500;
/// Notifications that a digest lists; the others are counted.
pub const DIGEST_LINES_MAX: usize = 50;
/// Attempts at a notification. WIRE 7.
pub const NOTIFICATION_TRIES: usize = 1 + NOTIFICATION_RETRIES.len();
/// Delays between the attempts at a notification. WIRE 7.
pub const NOTIFICATION_RETRIES: [Duration; 4] = [minutes(1), minutes(5), minutes(15), minutes(60)];
/// Maximum delay between two attempts at a notification.
pub const NOTIFICATION_RETRY_MAX: Duration = minutes(60);
/// Messages of one channel that are claimed together, and sent one after the other.
pub const NOTIFICATION_CLAIM_MAX: usize = 10;
/// Lease of a message that a node is sending, renewed before each message: other nodes do not send it in this time.
pub const NOTIFICATION_LEASE: Duration = minutes(2);
/// Channels and direct targets that are sent to at once.
pub const NOTIFICATION_SENDERS_MAX: usize = 8;
/// Default interval at which the outbox of notifications is polled when this node queues none.
pub const OUTBOX_POLL_SECONDS: u64 = 15;
/// Time of one request to the server of a channel.
pub const NOTIFICATION_CALL_MAX: Duration = seconds(15);
/// Size of the response of a channel's server that is read, bytes.
pub const NOTIFICATION_ANSWER_BYTES_MAX: u64 = 4 << 20;
/// Characters of the response of a channel's server that are shown.
pub const NOTIFICATION_ANSWER_CHARS_SHOWN: usize = 200;
/// Time for which the outcome of a notification is kept.
pub const NOTIFICATION_OUTCOMES_KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// Interval at which older outcomes are deleted.
pub const NOTIFICATION_TIDY_PAUSE: Duration = minutes(60);
/// Time that a stop waits for messages that are being sent. Others are sent after the next start.
pub const NOTIFICATION_STOP_MAX: Duration = seconds(2);
/// Tests of channels that run at once.
pub const CHANNEL_TESTS_MAX: usize = 4;
