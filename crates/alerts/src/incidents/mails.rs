//! Mails about incidents to subscribers of status pages.

use tidewatch_accounts::Mail;
use tidewatch_accounts::mail::templates::{Template, one_line};

/// The mail about an update of an incident, to a subscriber of a status page. `link`: of the page; `unsubscribe`: of
/// the subscription.
pub(super) fn status_update(
    page: &str,
    title: &str,
    status: &str,
    message: &str,
    recipient: &str,
    link: &str,
    unsubscribe: &str,
) -> Mail {
    let (page, title) = (one_line(page), one_line(title));
    let paragraphs = message.lines().map(one_line).filter(|line| !line.is_empty());
    let lines: Vec<String> = std::iter::once(format!("{title}: {status}")).chain(paragraphs).collect();
    Template {
        recipient,
        subject: format!("{page}: {title} ({status})"),
        lines: &lines,
        action: "Look at the status page",
        link: link.to_owned(),
        last: &format!("You subscribed to this status page. To unsubscribe: {unsubscribe}"),
    }
    .mail()
}
