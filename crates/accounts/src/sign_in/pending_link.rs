//! A provider's sign-in that waits for proof of the account to which it will be linked, as its challenge stores it.

use serde::{Deserialize, Serialize};

use super::SignIn;
use super::identities::ProviderProfile;
use crate::ControlError;
use crate::secrets::tokens::hash;

/// The purpose that waiting links are sealed for.
const SEALED_AS: &str = "provider link";

/// A provider and profile that will be linked to an account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingLink {
    /// Id of the provider, as in [`SignIn::sign_in_with_provider`].
    pub provider: String,
    /// The profile that the provider reported.
    pub profile: ProviderProfile,
}

/// Hashes a mailed code together with the secret token, so that the codes cannot be enumerated from a copy of the
/// database.
pub(super) fn mail_code_hash(token: &str, code: &str) -> String {
    hash(&format!("{token} {code}"))
}

impl SignIn {
    pub(super) fn seal_link(&self, link: &PendingLink) -> Result<String, ControlError> {
        let text = serde_json::to_string(link).map_err(|_| ControlError::Unreadable("a provider's sign-in"))?;
        Ok(self.database.sealer().seal(SEALED_AS, &text)?)
    }

    pub(super) fn open_link(&self, sealed: &str) -> Result<PendingLink, ControlError> {
        let text = self.database.sealer().open(SEALED_AS, sealed)?;
        serde_json::from_str(&text).map_err(|_| ControlError::Unreadable("a provider's sign-in"))
    }
}
