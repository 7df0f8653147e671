//! The ids in paths, and the incidents that a user sees.

use tidewatch_alerts::incidents::Incident;

use crate::contexts::{Accounts, Alerting};
use crate::error::ApiError;
use crate::http::gate::auth::OrganizationAccess;

const NO_INCIDENT: &str = "no such incident";

/// The id of a path. 404 if it is no number.
pub fn number(value: &str, what: &'static str) -> Result<i64, ApiError> {
    value.parse().map_err(|_| ApiError::not_found(what))
}

/// The incident of a path, if the caller sees it.
pub async fn find<N>(
    alerting: &Alerting,
    accounts: &Accounts,
    access: &OrganizationAccess<N>,
    id: &str,
) -> Result<Incident, ApiError> {
    let incident = alerting.rooms.incidents.incident(access.organization.id, number(id, NO_INCIDENT)?).await?;
    if sees(accounts, access.user.id, &incident) { Ok(incident) } else { Err(ApiError::not_found(NO_INCIDENT)) }
}

/// Whether a user sees an incident: every member of the organization, or of its project if it has one.
pub fn sees(accounts: &Accounts, user: i64, incident: &Incident) -> bool {
    let Some(number) = incident.project else { return true };
    accounts
        .control
        .projects
        .project_by_number(number)
        .is_some_and(|project| accounts.control.people.role_in(user, &project).is_some())
}
