//! `POST /api/organizations`, `/api/organizations/{id}/settings`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;

use super::fields;
use crate::contexts::Accounts;
use crate::error::ApiError;
use crate::http::account::bodies::login::OrganizationView;
use crate::http::account::bodies::people::{
    NewOrganizationRequest, OrganizationSettingsRequest, OrganizationSettingsView,
};
use crate::http::gate::auth::{Admin, OrganizationAccess, Read, SignedIn, ViaLogin};
use crate::http::gate::body::JsonBody;
use crate::http::openapi::Failures;
use tidewatch_accounts::{Organization, OrganizationChange, OrganizationSettings, Role};
use tidewatch_limits as limits;

/// Creates an organization. The caller becomes its owner.
#[utoipa::path(
    post,
    path = "/api/organizations",
    operation_id = "createOrganization",
    tag = "organizations",
    request_body = NewOrganizationRequest,
    responses((status = 201, description = "Created", body = OrganizationView), Failures)
)]
pub async fn create(
    State(accounts): State<Arc<Accounts>>,
    caller: SignedIn<Admin>,
    JsonBody(request): JsonBody<NewOrganizationRequest>,
) -> Result<(StatusCode, Json<OrganizationView>), ApiError> {
    let name = fields::text("name", &request.name)?;
    let timezone = fields::timezone(request.timezone.as_deref())?;
    let owned =
        accounts.control.people.memberships(caller.user.id).iter().filter(|one| one.role == Role::Owner).count();
    if owned >= limits::ORGANIZATIONS_OWNED_MAX {
        let most = limits::ORGANIZATIONS_OWNED_MAX;
        return Err(ApiError::unprocessable(format!("nobody owns more than {most} organizations")));
    }
    let id = accounts
        .control
        .people
        .create_organization(&caller.actor(&accounts.clock), &name, &timezone, caller.user.id)
        .await?;
    let view = OrganizationView { id, name, role: Role::Owner.as_str().to_owned(), timezone };
    Ok((StatusCode::CREATED, Json(view)))
}

/// The settings of an organization.
#[utoipa::path(
    get,
    path = "/api/organizations/{id}/settings",
    operation_id = "organizationSettings",
    tag = "organizations",
    params(("id" = i64, Path)),
    responses((status = 200, description = "Success", body = OrganizationSettingsView), Failures)
)]
pub async fn settings(access: OrganizationAccess<Read>) -> Json<OrganizationSettingsView> {
    Json(view(&access.organization))
}

/// Changes the settings of an organization. Absent fields are unchanged.
#[utoipa::path(
    put,
    path = "/api/organizations/{id}/settings",
    operation_id = "changeOrganizationSettings",
    tag = "organizations",
    params(("id" = i64, Path)),
    request_body = OrganizationSettingsRequest,
    responses((status = 200, description = "Success", body = OrganizationSettingsView), Failures)
)]
pub async fn change_settings(
    State(accounts): State<Arc<Accounts>>,
    access: OrganizationAccess<ViaLogin<Admin>>,
    JsonBody(request): JsonBody<OrganizationSettingsRequest>,
) -> Result<Json<OrganizationSettingsView>, ApiError> {
    let old = &access.organization;
    let require_two_factor = request.require_two_factor.unwrap_or(old.requires_two_factor);
    if require_two_factor && !old.requires_two_factor && !access.user.meets_two_factor() {
        return Err(ApiError::unprocessable("turn on two-factor sign-in for yourself first"));
    }
    if old.requires_two_factor && !require_two_factor {
        access.check_fresh(&accounts.clock)?;
    }
    let change = OrganizationChange {
        name: request.name.as_deref().map_or(Ok(old.name.clone()), |name| fields::text("name", name))?,
        timezone: request.timezone.as_deref().map_or(Ok(old.timezone.clone()), |zone| fields::timezone(Some(zone)))?,
        settings: OrganizationSettings { require_two_factor },
    };
    accounts.control.people.change_organization(&access.actor(&accounts.clock), old.id, &change).await?;
    let OrganizationChange { name, timezone, .. } = change;
    Ok(Json(OrganizationSettingsView { id: old.id, name, timezone, require_two_factor }))
}

fn view(organization: &Organization) -> OrganizationSettingsView {
    OrganizationSettingsView {
        id: organization.id,
        name: organization.name.clone(),
        timezone: organization.timezone.clone(),
        require_two_factor: organization.requires_two_factor,
    }
}
