//! Mails as data. A change of an account may write one in its transaction, with a template that the database holds.

/// A mail to one recipient.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mail {
    /// E-mail address without a display name.
    pub recipient: String,
    /// One line.
    pub subject: String,
    /// The body as plain text.
    pub text: String,
    /// The body as HTML.
    pub html: String,
}

/// A security event of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// E-mail address of the account.
    pub recipient: String,
    /// The event, as one sentence.
    pub what: &'static str,
    /// Nanoseconds since the epoch.
    pub at_ns: i64,
    /// IP address of the client; empty for the command line.
    pub address: String,
    /// User-Agent of the client; may be empty.
    pub user_agent: String,
}

/// Renders the mail of a notice.
pub type NoticeTemplate = Box<dyn Fn(&Notice) -> Mail + Send + Sync>;
