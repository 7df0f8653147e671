//! Mails to people on call.

use tidewatch_accounts::Mail;
use tidewatch_accounts::mail::templates::Template;

/// The mail with a code that proves that a contact method reaches its owner.
pub fn contact_code(base_url: &str, recipient: &str, code: &str) -> Mail {
    Template {
        recipient,
        subject: "A code for a contact method of Tidewatch".to_owned(),
        lines: &[
            "Somebody, probably you, wants pages of Tidewatch at this address.".to_owned(),
            format!("The code {code} confirms it. It is good for ten minutes."),
        ],
        action: "Enter the code in your account",
        link: format!("{base_url}/account?tab=contact"),
        last: "If it was not you, leave it: without the code nothing is sent here.",
    }
    .mail()
}
