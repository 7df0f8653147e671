//! Rows of the tables of incidents.

use tidewatch_accounts::ControlError;

use super::incident::{GroupedAlert, Incident, IncidentStatus, IncidentUpdate};
use crate::channels::Severity;

pub(super) const COLUMNS: &str = "id, organization_id, project, title, severity, status, automatic, started_ns, \
     resolved_ns, updated_ns";

/// The columns of [`COLUMNS`].
pub(super) type Columns = (i64, i64, Option<i64>, String, String, String, i64, i64, Option<i64>, i64);
/// Status, message, author, time.
pub(super) type UpdateColumns = (String, String, String, i64);
/// Key, type, severity, subject, path, beginning, end.
pub(super) type AlertColumns = (String, String, String, String, String, i64, Option<i64>);

const UNREADABLE: ControlError = ControlError::Unreadable("an incident");

pub(super) fn incident(columns: Columns) -> Result<Incident, ControlError> {
    let (id, organization, project, title, severity, status, automatic, started_ns, resolved_ns, updated_ns) = columns;
    Ok(Incident {
        id,
        organization,
        project: project.map(u32::try_from).transpose().map_err(|_| UNREADABLE)?,
        title,
        severity: Severity::of_name(&severity).ok_or(UNREADABLE)?,
        status: IncidentStatus::of_name(&status).ok_or(UNREADABLE)?,
        is_automatic: automatic != 0,
        started_ns,
        resolved_ns,
        updated_ns,
    })
}

pub(super) fn update((status, message, author, at_ns): UpdateColumns) -> Result<IncidentUpdate, ControlError> {
    let status = IncidentStatus::of_name(&status).ok_or(UNREADABLE)?;
    Ok(IncidentUpdate { status, message, author, at_ns })
}

pub(super) fn alert(columns: AlertColumns) -> Result<GroupedAlert, ControlError> {
    let (key, rule_type, severity, subject, path, fired_ns, resolved_ns) = columns;
    let severity = Severity::of_name(&severity).ok_or(UNREADABLE)?;
    Ok(GroupedAlert { key, rule_type, severity, subject, path, fired_ns, resolved_ns })
}
