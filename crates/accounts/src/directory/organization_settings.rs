//! Settings of an organization.

use serde::{Deserialize, Serialize};

/// Settings that the admins of an organization change; JSON in the column `settings`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct OrganizationSettings {
    /// Members need a second factor for access to the organization's projects.
    pub require_two_factor: bool,
}

impl OrganizationSettings {
    /// Parses the stored JSON; the defaults if it cannot be parsed.
    pub(super) fn read(text: &str) -> OrganizationSettings {
        serde_json::from_str(text).unwrap_or_default()
    }
}
