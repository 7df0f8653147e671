//! Mails about one's own account: which lines of the audit log are worth one. Written in the transaction of the line.

use std::fmt::Display;

use super::ControlError;
use super::db::Write;
use super::outbox::{Mail, insert_mail};

/// Something happened to an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The account's address.
    pub recipient: String,
    /// One sentence.
    pub what: &'static str,
    /// Nanoseconds since the epoch.
    pub at_ns: i64,
    /// Where it was done from, and by which program.
    pub address: String,
    pub user_agent: String,
}

/// Writes the mail of a notice.
pub type Letter = Box<dyn Fn(&Notice) -> Mail + Send + Sync>;

/// What a line of the log means to the owner of the account; none: it is worth no mail.
pub(super) fn sentence(action: &str) -> Option<&'static str> {
    Some(match action {
        "passkey.add" => "A passkey was added to your account. It signs in without your password.",
        "passkey.remove" => "A passkey was removed from your account.",
        "token.create" => "A personal access token of your account was made.",
        "two_factor.disable" => "Two-factor sign-in with an authenticator was turned off for your account.",
        "two_factor.recover" => "A recovery code was used to sign in to your account.",
        "user.link" => "Another provider can sign in to your account from now on.",
        "sign_in.new_device" => "Your account was signed in to from a device that was not used before.",
        _ => return None,
    })
}

/// Puts the mail into the outbox, when mail can be sent. `subject`: the line's, for what nobody signed in has done.
pub(super) async fn insert(
    write: &mut Write<'_>,
    what: &'static str,
    by: &super::By,
    subject: impl Display,
) -> Result<(), ControlError> {
    let control = write.control();
    let Some(letter) = control.letter.get() else { return Ok(()) };
    let of_subject = || subject.to_string().strip_prefix("user:").and_then(|id| id.parse().ok());
    let Some(user) = by.user_id.or_else(of_subject) else { return Ok(()) };
    let recipient: Option<String> =
        sqlx::query_scalar("SELECT email FROM users WHERE id = $1").bind(user).fetch_optional(write.on()).await?;
    let Some(recipient) = recipient else { return Ok(()) };
    let (address, user_agent) = (by.address.clone(), by.user_agent.clone());
    let notice = Notice { recipient, what, at_ns: by.at_ns, address, user_agent };
    insert_mail(control, write, &letter(&notice), by.at_ns).await
}
