//! GitHub: OAuth without OpenID Connect. The profile has the primary address, only if GitHub has verified it. Blocks.

use anyhow::Context;

use super::endpoints::Endpoints;
use super::provider::Sso;
use crate::{OrganizationClaim, ProviderProfile};

/// Returns the endpoints of the site `web`.
pub fn endpoints(web: &str) -> Endpoints {
    Endpoints {
        issuer: None,
        authorization: format!("{web}/login/oauth/authorize"),
        token: format!("{web}/login/oauth/access_token"),
        userinfo: None,
        jwks: None,
        takes_secret_in_body: true,
    }
}

/// Returns the profile of the user of an access token.
pub fn profile(sso: &Sso, api: &str, token: &str) -> anyhow::Result<ProviderProfile> {
    let user = sso.get(&format!("{api}/user"), Some(token)).context("GitHub's user")?;
    let emails = sso.get(&format!("{api}/user/emails"), Some(token)).context("GitHub's addresses")?;
    let subject = user["id"].as_i64().context("GitHub does not say who it is")?.to_string();
    let primary = emails.as_array().into_iter().flatten().find(|email| email["primary"] == true);
    let email = primary.and_then(|email| email["email"].as_str()).map(str::to_lowercase);
    let is_verified = primary.is_some_and(|email| email["verified"] == true);
    let name = user["name"].as_str().filter(|name| !name.is_empty()).or(user["login"].as_str()).unwrap_or("Somebody");
    Ok(ProviderProfile {
        subject,
        is_email_seen: email.is_some(),
        email: email.filter(|_| is_verified),
        name: name.chars().take(100).collect(),
        role: None,
        // GitHub does not report how the user signed in.
        is_multi_factor: false,
        signed_in_ns: None,
        organization: OrganizationClaim::First,
    })
}
