//! The configured providers.

use parking_lot::Mutex;
use ureq::Agent;

use super::endpoints::Endpoints;
use super::id_token::Keys;
use crate::Role;
use crate::secrets::seal::Sealer;
use crate::sso::settings::SsoSettings;
use tidewatch_limits as limits;
use tidewatch_runtime::outbound;

/// A provider that users sign in with.
pub struct Provider {
    /// `google`, `github` or `oidc`.
    pub id: &'static str,
    /// Label of the sign-in button.
    pub name: String,
    /// OAuth client id.
    pub client_id: String,
    /// OAuth client secret.
    pub client_secret: String,
    /// Protocol and endpoints.
    pub kind: Kind,
    /// Requested scopes, separated by spaces.
    pub scopes: String,
    /// Claim with the roles or groups of a user.
    pub role_claim: Option<String>,
    /// Values of the role claim and their roles.
    pub role_map: Vec<(String, Role)>,
    /// Claim with the organization of a user.
    pub org_claim: Option<String>,
    /// Values of the organization claim and their organization ids.
    pub org_map: Vec<(String, i64)>,
    /// Creates accounts for users without an invitation.
    pub may_create: bool,
    /// Cached result of discovery, and its time in nanoseconds since the epoch.
    pub discovered: Mutex<Option<(Endpoints, i64)>>,
    /// Cached keys of ID tokens; fetched again when a token has an unknown key.
    pub keys: Mutex<Option<Keys>>,
}

/// Protocol and endpoints of a provider.
pub enum Kind {
    /// OpenID Connect with discovery.
    Discovered {
        /// Issuer; its discovery document contains the endpoints.
        issuer: String,
    },
    /// OAuth with endpoints that the operator configured.
    Configured(Endpoints),
    /// GitHub, or a GitHub Enterprise server.
    GitHub {
        /// URL of the site.
        web: String,
        /// URL of the API.
        api: String,
    },
}

/// Sign-in with providers.
pub struct Sso {
    /// The configured providers.
    pub providers: Vec<Provider>,
    /// Seals the cookie of a pending sign-in.
    pub sealer: Sealer,
    /// Accepts `http://` URLs on other machines in discovery documents.
    pub allows_http: bool,
    /// HTTP client for requests to providers.
    pub agent: Agent,
}

const SCOPES: &str = "openid email profile";

impl Provider {
    /// Returns the issuer of its ID tokens; `None` for providers without ID tokens.
    pub fn issuer(&self) -> Option<&str> {
        match &self.kind {
            Kind::Discovered { issuer } => Some(issuer),
            Kind::Configured(endpoints) => endpoints.issuer.as_deref(),
            Kind::GitHub { .. } => None,
        }
    }

    /// Returns the parameters that request a fresh sign-in at the provider, regardless of its session. Google refuses
    /// unknown prompts; neither Google nor GitHub supports this one, and both show their account chooser instead.
    pub fn fresh_parameters(&self) -> &'static [(&'static str, &'static str)] {
        match self.id {
            "google" | "github" => &[("prompt", "select_account")],
            _ => &[("prompt", "login"), ("max_age", "0")],
        }
    }

    /// Returns whether it reports the time of the sign-in when `max_age` is requested. OpenID Connect Core, 2:
    /// `auth_time`.
    pub fn reports_auth_time(&self) -> bool {
        self.id == "oidc" && matches!(self.kind, Kind::Discovered { .. })
    }
}

impl Sso {
    /// Creates the configured providers. `sealer` is used unless the settings have a key for pending sign-ins. Fails
    /// for invalid settings.
    pub fn new(settings: &SsoSettings, sealer: &Sealer) -> anyhow::Result<Sso> {
        let provider = |id, name: &str, client_id: &str, client_secret, kind| Provider {
            id,
            name: name.to_owned(),
            client_id: client_id.to_owned(),
            client_secret,
            kind,
            scopes: SCOPES.to_owned(),
            role_claim: None,
            role_map: Vec::new(),
            org_claim: None,
            org_map: Vec::new(),
            may_create: false,
            discovered: Mutex::new(None),
            keys: Mutex::new(None),
        };
        settings.warn_of_plain_http();
        let mut providers = Vec::new();
        if let (Some(id), Some(secret)) = (&settings.google_client_id, settings.google_secret()?) {
            let kind = Kind::Discovered { issuer: settings.google_issuer_url.clone() };
            providers.push(provider("google", "Google", id, secret, kind));
        }
        if let (Some(id), Some(secret)) = (&settings.github_client_id, settings.github_secret()?) {
            let plain = |url: &str| url.trim_end_matches('/').to_owned();
            let kind = Kind::GitHub { web: plain(&settings.github_url), api: plain(&settings.github_api_url) };
            let github = provider("github", "GitHub", id, secret, kind);
            providers.push(Provider { scopes: "read:user user:email".to_owned(), ..github });
        }
        if let (Some(id), Some(secret)) = (&settings.oidc_client_id, settings.oidc_secret()?) {
            let kind = match &settings.oidc_issuer_url {
                Some(issuer) => Kind::Discovered { issuer: issuer.clone() },
                None => Kind::Configured(Endpoints {
                    issuer: None,
                    authorization: settings.oidc_auth_url.clone().unwrap_or_default(),
                    token: settings.oidc_token_url.clone().unwrap_or_default(),
                    userinfo: settings.oidc_userinfo_url.clone(),
                    jwks: None,
                    takes_secret_in_body: false,
                }),
            };
            let oidc = provider("oidc", &settings.oidc_display_name, id, secret, kind);
            let more = settings.oidc_extra_scopes.replace(',', " ");
            let scopes: Vec<&str> = SCOPES.split(' ').chain(more.split_whitespace()).collect();
            providers.push(Provider {
                scopes: scopes.join(" "),
                role_claim: settings.oidc_role_claim.clone(),
                role_map: settings.role_map()?,
                org_claim: settings.oidc_org_claim.clone(),
                org_map: settings.org_map()?,
                may_create: settings.oidc_auto_create_users,
                ..oidc
            });
        }
        let sealer = settings.session_key()?.map_or_else(|| sealer.clone(), |key| Sealer::new(&key));
        Ok(Sso {
            providers,
            sealer,
            allows_http: settings.sso_allow_http,
            agent: outbound::agent(limits::SSO_CALL_MAX),
        })
    }

    /// Returns a configured provider by its id.
    pub fn provider(&self, id: &str) -> Option<&Provider> {
        self.providers.iter().find(|provider| provider.id == id)
    }
}
