//! Mails to subscribers of status pages.

use tidewatch_accounts::Mail;
use tidewatch_accounts::mail::templates::{Template, one_line};

/// The mail that asks a subscriber of a status page to confirm. `link`: of the subscription.
pub(super) fn status_confirmation(page: &str, recipient: &str, link: &str) -> Mail {
    let page = one_line(page);
    Template {
        recipient,
        subject: format!("Confirm your subscription to {page}"),
        lines: &[
            format!("Somebody, probably you, subscribed this address to the status page {page}."),
            "You get mail about its incidents only after you confirm, within 24 hours.".to_owned(),
        ],
        action: "Confirm the subscription",
        link: link.to_owned(),
        last: "If it was not you, leave it: nothing is sent without your confirmation.",
    }
    .mail()
}
