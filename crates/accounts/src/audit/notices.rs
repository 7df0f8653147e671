//! Mails to users about security events of their accounts, for some actions of the audit log. Written in the
//! transaction of the entry.

use std::fmt::Display;

use super::entry::Actor;
use crate::{ControlError, Notice, Write};

/// The sentence for an action of the audit log; `None` if it sends no mail.
pub(super) fn sentence(action: &str) -> Option<&'static str> {
    Some(match action {
        "passkey.add" => "A passkey was added to your account. It signs in without your password.",
        "passkey.remove" => "A passkey was removed from your account.",
        "token.create" => "A personal access token of your account was made.",
        "two_factor.disable" => "Two-factor sign-in with an authenticator was turned off for your account.",
        "two_factor.recover" => "A recovery code was used to sign in to your account.",
        "user.link" => "Another provider can sign in to your account.",
        "sign_in.new_device" => "Your account was signed in to from a device that was not used before.",
        _ => return None,
    })
}

/// Puts the mail into the outbox, if a template is set. `subject` is the entry's, for actions without a user.
pub(super) async fn insert(
    write: &mut Write<'_>,
    sentence: &'static str,
    actor: &Actor,
    subject: impl Display,
) -> Result<(), ControlError> {
    let Some(template) = write.database().notice_template().get() else { return Ok(()) };
    let of_subject = || subject.to_string().strip_prefix("user:").and_then(|id| id.parse().ok());
    let Some(user) = actor.user_id.or_else(of_subject) else { return Ok(()) };
    let recipient: Option<String> =
        sqlx::query_scalar("SELECT email FROM users WHERE id = $1").bind(user).fetch_optional(write.on()).await?;
    let Some(recipient) = recipient else { return Ok(()) };
    let (address, user_agent) = (actor.address.clone(), actor.user_agent.clone());
    let notice = Notice { recipient, what: sentence, at_ns: actor.at_ns, address, user_agent };
    write.insert_mail(&template(&notice), actor.at_ns).await
}
