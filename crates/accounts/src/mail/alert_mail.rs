//! Mails about alerts.

use crate::Mail;

/// A mail about an alert, which is sent at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertMail {
    /// Recipient, subject and bodies. The HTML refers to the picture as `cid:chart`.
    pub mail: Mail,
    /// The left part of the Message-ID: equal in every attempt.
    pub message_id: String,
    /// The left part of the id that the mails about one alert refer to.
    pub thread_id: String,
    /// A chart, PNG.
    pub picture: Option<Vec<u8>>,
}
