//! The subscribers of status pages are notified of updates of incidents, in the transaction of the update: by mail
//! through the outbox of mails, webhooks through the outbox of notifications.

use tidewatch_accounts::{ControlError, Write};

use super::IncidentUpdate;
use crate::channels::{AlertStatus, Notification, Severity, Target, notify};
use crate::incidents::{IncidentStatus, mails};

/// The type of rule of these notifications: they are no alerts.
pub(crate) const RULE_TYPE: &str = "status_page";
/// The purpose that the addresses of subscribers are sealed for.
pub(crate) const SUBSCRIBER_SEALED_AS: &str = "status page subscriber";
/// The purpose that the tokens of subscriptions are sealed for.
pub(crate) const TOKEN_SEALED_AS: &str = "status page subscription";

/// Address of this installation, and its means of reaching subscribers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announcer {
    /// The address of the server, without a slash at its end.
    pub base_url: String,
    /// Whether mail can be sent.
    pub has_mail: bool,
}

impl Announcer {
    /// The public page of a slug.
    pub fn page(&self, slug: &str) -> String {
        format!("{}/status/{slug}", self.base_url)
    }

    /// The page of a subscription. `action` is empty, `/confirm` or `/unsubscribe`.
    pub fn subscription(&self, slug: &str, token: &str, action: &str) -> String {
        format!("{}/status/{slug}/subscriptions/{token}{action}", self.base_url)
    }
}

/// The target of a webhook that has subscribed, with a header. A link with the token of the subscription is in a
/// header, because targets are sealed and notifications are not.
pub(crate) fn direct(url: &str, header: &str, value: &str) -> Target {
    let config = serde_json::json!({ "url": url, "method": "POST", "headers": { header: value } });
    Target::Direct { channel_type: "webhook".to_owned(), config }
}

/// The row of a subscriber: its kind, and sealed its address and its token.
type Subscriber = (String, String, String);

/// Notifies the confirmed subscribers of the public pages that show the incident.
pub(super) async fn announce(
    write: &mut Write<'_>,
    announcer: &Announcer,
    incident: i64,
    update: &IncidentUpdate,
) -> Result<(), ControlError> {
    let pages: Vec<(i64, i64, String, String)> = sqlx::query_as(
        "SELECT p.id, p.organization_id, p.name, p.slug FROM status_pages p \
         JOIN incident_pages s ON s.page_id = p.id WHERE s.incident_id = $1 AND p.public = 1 ORDER BY p.id",
    )
    .bind(incident)
    .fetch_all(write.on())
    .await?;
    if pages.is_empty() {
        return Ok(());
    }
    let (title, severity): (String, String) = sqlx::query_as("SELECT title, severity FROM incidents WHERE id = $1")
        .bind(incident)
        .fetch_one(write.on())
        .await?;
    let severity = Severity::of_name(&severity).ok_or(ControlError::Unreadable("an incident"))?;
    for (page, organization, name, slug) in pages {
        let subscribers: Vec<Subscriber> = sqlx::query_as(
            "SELECT kind, target_sealed, token_sealed FROM status_subscribers \
             WHERE page_id = $1 AND confirmed_ns IS NOT NULL ORDER BY id",
        )
        .bind(page)
        .fetch_all(write.on())
        .await?;
        let mut webhooks = Vec::new();
        for (kind, target, token) in subscribers {
            let database = write.database();
            let target = database.sealer().open(SUBSCRIBER_SEALED_AS, &target)?;
            let token = database.sealer().open(TOKEN_SEALED_AS, &token)?;
            let one_click = announcer.subscription(&slug, &token, "/unsubscribe");
            if kind == "webhook" {
                webhooks.push(direct(&target, "List-Unsubscribe", &format!("<{one_click}>")));
                continue;
            }
            if !announcer.has_mail {
                continue;
            }
            let (link, leave) = (announcer.page(&slug), announcer.subscription(&slug, &token, ""));
            let mail =
                mails::status_update(&name, &title, update.status.name(), &update.message, &target, &link, &leave);
            write.insert_list_mail(&mail, &one_click, update.at_ns).await?;
        }
        if webhooks.is_empty() {
            continue;
        }
        let notification = Notification {
            organization,
            project: None,
            alert_key: format!("status:{page}:{incident}"),
            status: if update.status == IncidentStatus::Resolved { AlertStatus::Resolved } else { AlertStatus::Firing },
            severity,
            rule_type: RULE_TYPE.to_owned(),
            rule_name: name,
            subject: format!("{title}: {}", update.status.name()),
            body: update.message.clone(),
            path: format!("/status/{slug}"),
            series: Vec::new(),
            at_ns: update.at_ns,
        };
        notify(write, &notification, &webhooks).await?;
    }
    Ok(())
}
