//! What the admins of an organization set.

use serde::{Deserialize, Serialize};

/// What an organization's admins set, as its column `settings` holds it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct OrganizationSettings {
    pub require_two_factor: bool,
}

impl OrganizationSettings {
    /// What cannot be read is as nobody had set it.
    pub(super) fn read(text: &str) -> OrganizationSettings {
        serde_json::from_str(text).unwrap_or_default()
    }
}
