//! Incidents, their updates and their alerts, as rows have them.

use crate::channels::Severity;

/// State of the investigation of an incident.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IncidentStatus {
    /// Its cause is not known.
    Investigating,
    /// Its cause is known.
    Identified,
    /// It seems to be over.
    Monitoring,
    /// It is over.
    Resolved,
}

impl IncidentStatus {
    const ALL: [(IncidentStatus, &'static str); 4] = [
        (IncidentStatus::Investigating, "investigating"),
        (IncidentStatus::Identified, "identified"),
        (IncidentStatus::Monitoring, "monitoring"),
        (IncidentStatus::Resolved, "resolved"),
    ];

    /// The name on the wire and in the database.
    pub fn name(self) -> &'static str {
        IncidentStatus::ALL.into_iter().find(|(status, _)| *status == self).map_or("", |(_, name)| name)
    }

    /// The status of a name.
    pub fn of_name(name: &str) -> Option<IncidentStatus> {
        IncidentStatus::ALL.into_iter().find(|(_, known)| *known == name).map(|(status, _)| status)
    }

    /// Whether an update may set `next`. An incident that is over is opened again by any other status; it cannot end
    /// twice.
    pub fn may_become(self, next: IncidentStatus) -> bool {
        !(self == IncidentStatus::Resolved && next == IncidentStatus::Resolved)
    }
}

/// An incident.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incident {
    /// Row id.
    pub id: i64,
    /// Row id of the organization.
    pub organization: i64,
    /// Number of the project; `None`: of the organization.
    pub project: Option<u32>,
    /// One line.
    pub title: String,
    /// The highest of its alerts, or as a person has set it.
    pub severity: Severity,
    /// The latest status.
    pub status: IncidentStatus,
    /// Whether alerts have opened it: it is resolved after they end.
    pub is_automatic: bool,
    /// Nanoseconds since the epoch.
    pub started_ns: i64,
    /// `None`: open.
    pub resolved_ns: Option<i64>,
    /// Time of the latest change.
    pub updated_ns: i64,
}

/// An update of an incident.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncidentUpdate {
    /// The status that it set.
    pub status: IncidentStatus,
    /// Message to readers; plain, may have line breaks.
    pub message: String,
    /// E-mail address of the author; empty: the server.
    pub author: String,
    /// Nanoseconds since the epoch.
    pub at_ns: i64,
}

/// An alert of an incident.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupedAlert {
    /// See [`AlertFact::key`].
    pub key: String,
    /// The type of its rule.
    pub rule_type: String,
    /// Severity of the alert.
    pub severity: Severity,
    /// One line.
    pub subject: String,
    /// The page that shows it.
    pub path: String,
    /// When it began.
    pub fired_ns: i64,
    /// When it ended; `None`: it fires.
    pub resolved_ns: Option<i64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_incident_ends_once_and_can_be_opened_again() {
        use IncidentStatus::{Identified, Investigating, Monitoring, Resolved};
        for (from, to, may) in [
            (Investigating, Identified, true),
            (Investigating, Resolved, true),
            (Identified, Investigating, true),
            (Monitoring, Monitoring, true),
            (Monitoring, Resolved, true),
            (Resolved, Investigating, true),
            (Resolved, Resolved, false),
        ] {
            assert_eq!(from.may_become(to), may, "{from:?} {to:?}");
        }
        for (status, name) in IncidentStatus::ALL {
            assert_eq!(IncidentStatus::of_name(name), Some(status));
            assert_eq!(status.name(), name);
        }
        assert_eq!(IncidentStatus::of_name("open"), None);
    }
}
