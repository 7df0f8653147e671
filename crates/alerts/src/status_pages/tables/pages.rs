//! Status pages: what they show of which monitors, at which address.

use serde::{Deserialize, Serialize};
use serde_json::json;
use tidewatch_accounts::{Actor, ControlError, Write};
use tidewatch_limits as limits;

use super::database::StatusPages;
use crate::tables::RowValues;

/// A monitor on a status page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusComponent {
    /// Row id of the monitor.
    pub check_id: i64,
    /// The name of its group; empty: none.
    pub group: String,
}

/// A status page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusPage {
    /// Row id.
    pub id: i64,
    /// Row id of the organization.
    pub organization: i64,
    /// Settings by its owner.
    pub settings: NewStatusPage,
    /// The content type of its logo, and when it was set.
    pub logo: Option<(String, i64)>,
    /// Confirmed subscribers.
    pub subscribers: i64,
    /// Nanoseconds since the epoch.
    pub created_ns: i64,
    /// Time of the latest change.
    pub updated_ns: i64,
}

/// The parts of a status page that its owner chooses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewStatusPage {
    /// Its name.
    pub name: String,
    /// The last part of its address.
    pub slug: String,
    /// Whether visitors see it.
    pub is_public: bool,
    /// Description of the page's subject.
    pub description: String,
    /// The host at whose root it is shown.
    pub custom_domain: Option<String>,
    /// Its monitors, in order.
    pub components: Vec<StatusComponent>,
}

const NO_PAGE: ControlError = ControlError::Missing("no such status page");
const UNREADABLE: ControlError = ControlError::Unreadable("a status page");
const COLUMNS: &str = "id, organization_id, name, slug, public, description, custom_domain, components, logo_type, \
     logo_ns, created_ns, updated_ns, \
     (SELECT COUNT(*) FROM status_subscribers s WHERE s.page_id = p.id AND s.confirmed_ns IS NOT NULL)";

/// The columns of [`COLUMNS`].
type Columns = (i64, i64, String, String, i64, String, Option<String>, String, String, i64, i64, i64, i64);

impl StatusPages {
    /// Returns the status pages of an organization, by name.
    pub async fn status_pages(&self, organization: i64) -> Result<Vec<StatusPage>, ControlError> {
        let statement = format!("SELECT {COLUMNS} FROM status_pages p WHERE organization_id = $1 ORDER BY name, id");
        let rows: Vec<Columns> =
            sqlx::query_as(sqlx::AssertSqlSafe(statement)).bind(organization).fetch_all(self.database.pool()).await?;
        rows.into_iter().map(page).collect()
    }

    /// Returns a status page. `None`: there is none of this id.
    pub async fn status_page(&self, id: i64) -> Result<Option<StatusPage>, ControlError> {
        let statement = format!("SELECT {COLUMNS} FROM status_pages p WHERE id = $1");
        let row: Option<Columns> =
            sqlx::query_as(sqlx::AssertSqlSafe(statement)).bind(id).fetch_optional(self.database.pool()).await?;
        row.map(page).transpose()
    }

    /// Creates a status page. Returns its row id. [`ControlError::Conflict`] if slug or domain are taken;
    /// [`ControlError::TooMany`] beyond [`limits::STATUS_PAGES_MAX`].
    pub async fn create_status_page(
        &self,
        actor: &Actor,
        organization: i64,
        new: &NewStatusPage,
    ) -> Result<i64, ControlError> {
        let mut write = self.database.write().await?;
        let count: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM status_pages WHERE organization_id = $1")
            .bind(organization)
            .fetch_one(write.on())
            .await?;
        if count >= limits::STATUS_PAGES_MAX {
            return Err(ControlError::TooMany("status pages"));
        }
        check_unique(&mut write, new, None).await?;
        let row = chosen(new, actor.at_ns)?.set("organization_id", organization);
        let id = row.set("created_ns", actor.at_ns).insert(&mut write).await?;
        write
            .audit(actor.did("status_page.create").on("status_page", id).within(organization).with(about(new)))
            .await?;
        write.commit().await?;
        Ok(id)
    }

    /// Replaces what the owner chooses. Errors as for [`StatusPages::create_status_page`].
    pub async fn change_status_page(
        &self,
        actor: &Actor,
        organization: i64,
        id: i64,
        new: &NewStatusPage,
    ) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        check_owner(&mut write, organization, id).await?;
        check_unique(&mut write, new, Some(id)).await?;
        chosen(new, actor.at_ns)?.update(&mut write, &[("id", id)]).await?;
        write
            .audit(actor.did("status_page.change").on("status_page", id).within(organization).with(about(new)))
            .await?;
        write.commit().await
    }

    /// Deletes a status page with its subscribers and maintenance windows.
    pub async fn delete_status_page(&self, actor: &Actor, organization: i64, id: i64) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        check_owner(&mut write, organization, id).await?;
        sqlx::query("DELETE FROM status_pages WHERE id = $1").bind(id).execute(write.on()).await?;
        write.audit(actor.did("status_page.delete").on("status_page", id).within(organization)).await?;
        write.commit().await
    }

    /// Records that a status page has a logo of this content type; empty: none.
    pub async fn set_status_page_logo(
        &self,
        actor: &Actor,
        organization: i64,
        id: i64,
        content_type: &str,
    ) -> Result<(), ControlError> {
        let mut write = self.database.write().await?;
        check_owner(&mut write, organization, id).await?;
        sqlx::query("UPDATE status_pages SET logo_type = $2, logo_ns = $3, updated_ns = $3 WHERE id = $1")
            .bind(id)
            .bind(content_type)
            .bind(actor.at_ns)
            .execute(write.on())
            .await?;
        let details = json!({ "logo": content_type });
        write.audit(actor.did("status_page.logo").on("status_page", id).within(organization).with(details)).await?;
        write.commit().await
    }
}

fn page(columns: Columns) -> Result<StatusPage, ControlError> {
    let (id, organization, name, slug, public, description, custom_domain, components, logo_type, logo_ns, ..) =
        &columns;
    Ok(StatusPage {
        id: *id,
        organization: *organization,
        settings: NewStatusPage {
            name: name.clone(),
            slug: slug.clone(),
            is_public: *public != 0,
            description: description.clone(),
            custom_domain: custom_domain.clone(),
            components: serde_json::from_str(components).map_err(|_| UNREADABLE)?,
        },
        logo: (!logo_type.is_empty()).then(|| (logo_type.clone(), *logo_ns)),
        created_ns: columns.10,
        updated_ns: columns.11,
        subscribers: columns.12,
    })
}

/// The columns that the owner chooses.
fn chosen(new: &NewStatusPage, at_ns: i64) -> Result<RowValues, ControlError> {
    let components = serde_json::to_string(&new.components).map_err(|_| UNREADABLE)?;
    Ok(RowValues::of("status_pages")
        .set("name", &new.name)
        .set("slug", &new.slug)
        .set("public", i64::from(new.is_public))
        .set("description", &new.description)
        .set("custom_domain", new.custom_domain.as_deref())
        .set("components", components)
        .set("updated_ns", at_ns))
}

fn about(new: &NewStatusPage) -> serde_json::Value {
    json!({ "name": new.name, "slug": new.slug, "public": new.is_public, "domain": new.custom_domain })
}

pub(super) async fn check_owner(write: &mut Write<'_>, organization: i64, id: i64) -> Result<(), ControlError> {
    let count: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM status_pages WHERE id = $1 AND organization_id = $2")
        .bind(id)
        .bind(organization)
        .fetch_one(write.on())
        .await?;
    if count == 1 { Ok(()) } else { Err(NO_PAGE) }
}

async fn check_unique(write: &mut Write<'_>, new: &NewStatusPage, own: Option<i64>) -> Result<(), ControlError> {
    let own = own.unwrap_or(0);
    let slug: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM status_pages WHERE slug = $1 AND id <> $2")
        .bind(&new.slug)
        .bind(own)
        .fetch_one(write.on())
        .await?;
    if slug > 0 {
        return Err(ControlError::Conflict("another status page has this slug"));
    }
    let Some(domain) = &new.custom_domain else { return Ok(()) };
    let taken: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM status_pages WHERE custom_domain = $1 AND id <> $2")
        .bind(domain)
        .bind(own)
        .fetch_one(write.on())
        .await?;
    if taken > 0 { Err(ControlError::Conflict("another status page has this domain")) } else { Ok(()) }
}
