//! The providers an operator has set up.

use parking_lot::Mutex;
use ureq::Agent;

use super::endpoints::Endpoints;
use super::id_token::Keys;
use crate::Role;
use crate::secrets::seal::Sealer;
use crate::sso::settings::SsoSettings;
use tidewatch_limits as limits;
use tidewatch_runtime::outbound;

/// One provider.
pub struct Provider {
    /// `google`, `github` or `oidc`.
    pub id: &'static str,
    /// What the button says.
    pub name: String,
    pub client_id: String,
    pub client_secret: String,
    pub kind: Kind,
    pub scopes: String,
    pub role_claim: Option<String>,
    pub role_map: Vec<(String, Role)>,
    pub org_claim: Option<String>,
    /// What its values mean: ids of organizations.
    pub org_map: Vec<(String, i64)>,
    /// People nobody invited are let in.
    pub may_create: bool,
    /// What discovery found, and the keys; read again when they are old or do not fit.
    pub found: Mutex<Option<(Endpoints, i64)>>,
    pub keys: Mutex<Option<Keys>>,
}

pub enum Kind {
    Discovered { issuer: String },
    Told(Endpoints),
    GitHub { web: String, api: String },
}

/// Sign-ins elsewhere.
pub struct Sso {
    pub providers: Vec<Provider>,
    /// Seals the cookie of the round trip.
    pub sealer: Sealer,
    /// Of discovery documents, addresses without TLS on other machines are taken too.
    pub allows_http: bool,
    pub agent: Agent,
}

const SCOPES: &str = "openid email profile";

impl Provider {
    /// Who signs its ID tokens, where that is told.
    pub fn issuer(&self) -> Option<&str> {
        match &self.kind {
            Kind::Discovered { issuer } => Some(issuer),
            Kind::Told(endpoints) => endpoints.issuer.as_deref(),
            Kind::GitHub { .. } => None,
        }
    }

    /// What asks it to have the person sign in again, whatever session it keeps. Google refuses prompts that it does not
    /// know; neither it nor GitHub has one for that, and both ask which account it shall be.
    pub fn fresh_parameters(&self) -> &'static [(&'static str, &'static str)] {
        match self.id {
            "google" | "github" => &[("prompt", "select_account")],
            _ => &[("prompt", "login"), ("max_age", "0")],
        }
    }

    /// Whether it says when a person signed in, once it was asked with `max_age`. OpenID Connect Core, 2: `auth_time`.
    pub fn says_when(&self) -> bool {
        self.id == "oidc" && matches!(self.kind, Kind::Discovered { .. })
    }
}

impl Sso {
    /// `sealer`: when the operator gave no key of its own.
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
            found: Mutex::new(None),
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
                None => Kind::Told(Endpoints {
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

    pub fn provider(&self, id: &str) -> Option<&Provider> {
        self.providers.iter().find(|provider| provider.id == id)
    }
}
