//! Mails that are sent without the outbox.

use crate::Mail;

/// A mail that is sent at once, without the outbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImmediateMail {
    /// Recipient, subject and bodies. The HTML refers to the picture as `cid:chart`.
    pub mail: Mail,
    /// The left part of the Message-ID: equal in every attempt.
    pub message_id: String,
    /// The left part of the id that the mails about one subject refer to.
    pub thread_id: String,
    /// A chart, PNG.
    pub picture: Option<Vec<u8>>,
}
