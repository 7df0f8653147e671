//! Acknowledge links: what a link shows, and acknowledging with it. WIRE 5.7.

use sqlx::AnyConnection;
use tidewatch_accounts::{Actor, ControlError};

use super::ack::{find_link, mark_used};
use super::pages::{COLUMNS, OncallPage, acknowledge, page, page_of_subject};
use crate::oncall::OnCall;

/// The alert that a link acknowledges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AckLink {
    /// Identifies the alert within the organization.
    pub subject: String,
    /// Time of the acknowledgement, nanoseconds since the epoch; `None`: not acknowledged yet.
    pub acknowledged_ns: Option<i64>,
    /// The page, if the alert is one. It is not resolved.
    pub page: Option<OncallPage>,
}

impl OnCall {
    /// Looks a link up. `None` when there is no such link, or its page is resolved; [`ControlError::NoLongerValid`] when
    /// it has expired at `now_ns`.
    pub async fn ack_link(&self, token: &str, now_ns: i64) -> Result<Option<AckLink>, ControlError> {
        let mut connection = self.database.pool().acquire().await?;
        let Some(link) = find_link(&mut connection, token, now_ns).await? else { return Ok(None) };
        let page = page_of(&mut connection, link.organization, &link.subject).await?;
        let acknowledged_ns = link.acknowledged_ns;
        Ok(view(AckLink { subject: link.subject, acknowledged_ns, page }))
    }

    /// Acknowledges the alert; a second time changes nothing. `None` and errors as for [`OnCall::ack_link`].
    pub async fn acknowledge(&self, actor: &Actor, token: &str) -> Result<Option<AckLink>, ControlError> {
        let mut write = self.database.write().await?;
        let Some(link) = find_link(write.on(), token, actor.at_ns).await? else { return Ok(None) };
        let organization = link.organization;
        let found = page_of(write.on(), organization, &link.subject).await?;
        if found.as_ref().is_some_and(|page| page.status == "resolved") {
            return Ok(None);
        }
        if link.acknowledged_ns.is_none() {
            mark_used(&mut write, token, actor.at_ns).await?;
            let actor = Actor { user_id: link.user, ..actor.clone() };
            if let Some(page) = &found {
                acknowledge(&mut write, &actor, page.id, "link").await?;
            }
            write.audit(actor.did("alert.acknowledge").on("alert", &link.subject).within(organization)).await?;
        }
        let page = page_of(write.on(), organization, &link.subject).await?;
        write.commit().await?;
        let acknowledged_ns = link.acknowledged_ns.or(Some(actor.at_ns));
        Ok(view(AckLink { subject: link.subject, acknowledged_ns, page }))
    }
}

/// The link as people see it: the page's own acknowledgement counts, by which way it came.
fn view(link: AckLink) -> Option<AckLink> {
    match &link.page {
        None => Some(link),
        Some(page) if page.status == "resolved" => None,
        Some(page) => Some(AckLink { acknowledged_ns: page.acknowledged_ns, ..link }),
    }
}

async fn page_of(on: &mut AnyConnection, organization: i64, subject: &str) -> Result<Option<OncallPage>, ControlError> {
    let Some(id) = page_of_subject(subject) else { return Ok(None) };
    let found = format!("SELECT {COLUMNS} FROM oncall_pages WHERE id = $1 AND organization_id = $2");
    let row = sqlx::query(sqlx::AssertSqlSafe(found)).bind(id).bind(organization).fetch_optional(on).await?;
    row.as_ref().map(page).transpose()
}
