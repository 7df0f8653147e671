//! Templates of the mails, as text and as HTML. Names are user input: they are escaped in HTML, and cannot contain line
//! breaks in headers and text.

use maud::{DOCTYPE, html};

use crate::{Mail, Notice, Role};
use tidewatch_runtime::redact::is_hidden;

/// The style of a mail's body. Styles are in attributes: mail programs leave style sheets out.
pub const BODY_STYLE: &str =
    "margin:0;padding:24px;background:#f5f6f8;color:#1b1f24;font:16px/1.5 system-ui,sans-serif";
/// The style of a link that looks like a button.
pub const BUTTON_STYLE: &str =
    "display:inline-block;padding:10px 16px;background:#0b5cad;color:#fff;border-radius:6px;text-decoration:none";

/// The link that accepts an invitation.
pub fn invitation_link(base_url: &str, token: &str) -> String {
    format!("{base_url}/accept-invitation#token={token}")
}

/// The mail with the link of an invitation. WIRE 5.2.
pub fn invitation(base_url: &str, organization: &str, inviter: &str, role: Role, recipient: &str, token: &str) -> Mail {
    let (organization, inviter) = (one_line(organization), one_line(inviter));
    Template {
        recipient,
        subject: format!("{inviter} invites you to {organization} on Tidewatch"),
        lines: &[
            format!("{inviter} invites you to the organization {organization} on Tidewatch, as {}.", named(role)),
            "The link works once, for seven days.".to_owned(),
        ],
        action: "Accept the invitation",
        link: invitation_link(base_url, token),
        last: "If you do not know what this is about, leave it: nothing happens without you.",
    }
    .mail()
}

/// The mail with the link of a password reset. WIRE 5.2.
pub fn password_reset(base_url: &str, recipient: &str, token: &str) -> Mail {
    Template {
        recipient,
        subject: "A new password for Tidewatch".to_owned(),
        lines: &[
            "Somebody, probably you, asked for a new password for your account on Tidewatch.".to_owned(),
            "The link works once, for one hour. A new password signs you out everywhere.".to_owned(),
        ],
        action: "Choose a new password",
        link: format!("{base_url}/reset-password#token={token}"),
        last: "If it was not you, leave it: your password stays as it is.",
    }
    .mail()
}

/// The mail with a code that proves ownership of the account to which a provider is linked.
pub fn link_code(base_url: &str, recipient: &str, code: &str) -> Mail {
    Template {
        recipient,
        subject: "A code for signing in to Tidewatch".to_owned(),
        lines: &[
            "Somebody, probably you, signs in to Tidewatch with another provider for the first time.".to_owned(),
            format!(
                "The code {code} connects that provider to your account. It is good for ten minutes, in that window."
            ),
        ],
        action: "Look at your account",
        link: format!("{base_url}/account"),
        last: "If it was not you, give the code to nobody: without it nothing happens.",
    }
    .mail()
}

/// The mail about a security event of an account.
pub fn notice(base_url: &str, notice: &Notice) -> Mail {
    let at = jiff::Timestamp::from_nanosecond(i128::from(notice.at_ns)).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    let from = match notice.address.as_str() {
        "" => "the command line of the server".to_owned(),
        address => address.to_owned(),
    };
    let program = match one_line(&notice.user_agent) {
        program if program.is_empty() => String::new(),
        program => format!(" by {program}"),
    };
    Template {
        recipient: &notice.recipient,
        subject: "A change to your Tidewatch account".to_owned(),
        lines: &[
            notice.what.to_owned(),
            format!("It was done at {} from {from}{program}.", at.strftime("%Y-%m-%d %H:%M UTC")),
        ],
        action: "Look at your account's security log",
        link: format!("{base_url}/account"),
        last: "If it was not you, change your password, end all sessions, and tell an admin.",
    }
    .mail()
}

fn named(role: Role) -> &'static str {
    match role {
        Role::Owner => "its owner",
        Role::Admin => "an admin",
        Role::User => "a user",
        Role::Readonly => "a read-only member",
    }
}

/// A mail with one link. Its parts are plain text.
pub struct Template<'a> {
    /// E-mail address without a display name.
    pub recipient: &'a str,
    /// One line.
    pub subject: String,
    /// Paragraphs, one line each ([`one_line`]).
    pub lines: &'a [String],
    /// The words of the link.
    pub action: &'a str,
    /// The address of the link.
    pub link: String,
    /// The last paragraph.
    pub last: &'a str,
}

impl Template<'_> {
    /// Renders the mail as text and as HTML.
    pub fn mail(self) -> Mail {
        let Template { recipient, subject, lines, action, link, last } = self;
        let text = format!("{}\n\n{action}:\n{link}\n\n{last}\n", lines.join("\n\n"));
        let html = html! {
            (DOCTYPE) "\n"
            html lang="en" {
                head { meta charset="utf-8"; title { (subject) } } "\n"
                body style=(BODY_STYLE) {
                    "\n"
                    div style="max-width:560px;margin:0 auto;padding:24px;background:#fff;border-radius:8px" {
                        "\n"
                        @for line in lines { p style="margin:0 0 16px" { (line) } "\n" }
                        p style="margin:0 0 16px" { a href=(link) style=(BUTTON_STYLE) { (action) } } "\n"
                        p style="margin:0 0 16px;word-break:break-all" { a href=(link) { (link) } } "\n"
                        p style="margin:0;color:#57606a" { (last) } "\n"
                    }
                }
            }
            "\n"
        }
        .into_string();
        Mail { recipient: recipient.to_owned(), subject, text, html }
    }
}

/// Replaces line breaks, other white space and hidden characters, so that no line or header ends early.
pub fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split(|c: char| is_hidden(c) || c.is_whitespace()).filter(|w| !w.is_empty()).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_absolute_and_names_are_escaped() {
        let hostile = "<img src=x onerror=\"alert(1)\">\r\nBcc: all@example.com";
        let mail = invitation("https://tide.example.com", hostile, "A & B's", Role::User, "a@b.c", "twi_1");
        assert!(mail.text.contains("\nhttps://tide.example.com/accept-invitation#token=twi_1\n"));
        assert!(mail.html.contains("href=\"https://tide.example.com/accept-invitation#token=twi_1\""));
        assert!(!mail.html.contains("<img") && mail.html.contains("&lt;img src=x onerror=&quot;alert(1)&quot;&gt;"));
        assert!(mail.html.contains("A &amp; B's"));
        assert!(!mail.subject.contains(['\r', '\n']) && !mail.text.contains("\nBcc:"), "{}", mail.subject);

        let mail = password_reset("https://tide.example.com", "a@b.c", "twr_1");
        assert!(mail.text.contains("\nhttps://tide.example.com/reset-password#token=twr_1\n"));
    }
}
