//! Settings of sign-in with Google, GitHub or any OpenID Connect provider. WIRE 5.5; docs/operate/accounts.md.

use std::path::PathBuf;

use anyhow::{Context, bail, ensure};
use clap::ArgAction;
use clap::builder::BoolishValueParser;

use crate::Role;
use crate::secrets::secret_settings::{key_setting, secret_setting};

/// A part of the server's configuration.
#[derive(Debug, Clone, clap::Args)]
pub struct SsoSettings {
    /// Sign-in with Google: client id. The callback is `APP_BASE_URL` with `/api/auth/callback/google`.
    #[arg(long, env = "GOOGLE_CLIENT_ID")]
    pub google_client_id: Option<String>,
    /// Client secret for Google.
    #[arg(long, env = "GOOGLE_CLIENT_SECRET", hide_env_values = true, hide = true)]
    pub google_client_secret: Option<String>,
    /// A file with that secret.
    #[arg(long, env = "GOOGLE_CLIENT_SECRET_FILE", conflicts_with = "google_client_secret")]
    pub google_client_secret_file: Option<PathBuf>,
    /// Issuer of Google; another address is for tests only.
    #[arg(long, env = "GOOGLE_ISSUER_URL", default_value = "https://accounts.google.com")]
    pub google_issuer_url: String,
    /// Sign-in with GitHub: id of the OAuth app. The callback is `APP_BASE_URL` with `/api/auth/callback/github`.
    #[arg(long, env = "GITHUB_CLIENT_ID")]
    pub github_client_id: Option<String>,
    /// Client secret for GitHub.
    #[arg(long, env = "GITHUB_CLIENT_SECRET", hide_env_values = true, hide = true)]
    pub github_client_secret: Option<String>,
    /// A file with that secret.
    #[arg(long, env = "GITHUB_CLIENT_SECRET_FILE", conflicts_with = "github_client_secret")]
    pub github_client_secret_file: Option<PathBuf>,
    /// GitHub, or a GitHub Enterprise server.
    #[arg(long, env = "GITHUB_URL", default_value = "https://github.com")]
    pub github_url: String,
    /// API of GitHub.
    #[arg(long, env = "GITHUB_API_URL", default_value = "https://api.github.com")]
    pub github_api_url: String,
    /// Sign-in with OpenID Connect: client id. The callback is `APP_BASE_URL` with `/api/auth/callback/oidc`.
    #[arg(long, env = "OIDC_CLIENT_ID")]
    pub oidc_client_id: Option<String>,
    /// Client secret for OpenID Connect.
    #[arg(long, env = "OIDC_CLIENT_SECRET", hide_env_values = true, hide = true)]
    pub oidc_client_secret: Option<String>,
    /// A file with that secret.
    #[arg(long, env = "OIDC_CLIENT_SECRET_FILE", conflicts_with = "oidc_client_secret")]
    pub oidc_client_secret_file: Option<PathBuf>,
    /// Issuer of the provider; its `/.well-known/openid-configuration` contains everything else.
    #[arg(long, env = "OIDC_ISSUER_URL")]
    pub oidc_issuer_url: Option<String>,
    /// For a provider without discovery: authorization endpoint.
    #[arg(long, env = "OIDC_AUTH_URL")]
    pub oidc_auth_url: Option<String>,
    /// For a provider without discovery: token endpoint.
    #[arg(long, env = "OIDC_TOKEN_URL")]
    pub oidc_token_url: Option<String>,
    /// For a provider without discovery: userinfo endpoint.
    #[arg(long, env = "OIDC_USERINFO_URL")]
    pub oidc_userinfo_url: Option<String>,
    /// Label of the sign-in button.
    #[arg(long, env = "OIDC_DISPLAY_NAME", default_value = "Single sign-on")]
    pub oidc_display_name: String,
    /// Scopes requested in addition to `openid email profile`, separated by spaces or commas.
    #[arg(long, env = "OIDC_EXTRA_SCOPES", default_value = "")]
    pub oidc_extra_scopes: String,
    /// Claim with the roles or groups of a user: a string or a list.
    #[arg(long, env = "OIDC_ROLE_CLAIM")]
    pub oidc_role_claim: Option<String>,
    /// Maps values of the role claim to roles: `sre=admin,developers=user,staff=readonly`. The highest match applies.
    #[arg(long, env = "OIDC_ROLE_MAP", default_value = "")]
    pub oidc_role_map: String,
    /// Claim with the organization that new users join and to which roles apply, as its id or a key of `oidc_org_map`;
    /// the first organization by default.
    #[arg(long, env = "OIDC_ORG_CLAIM")]
    pub oidc_org_claim: Option<String>,
    /// Maps values of the organization claim to ids of organizations: `acme=1,platform=7`.
    #[arg(long, env = "OIDC_ORG_MAP", default_value = "")]
    pub oidc_org_map: String,
    /// Create accounts for users without an invitation, with the role of the role map or `readonly`.
    #[arg(long, env = "OIDC_AUTO_CREATE_USERS", action = ArgAction::Set, value_parser = BoolishValueParser::new(),
        num_args = 0..=1, default_value = "false", default_missing_value = "true")]
    pub oidc_auto_create_users: bool,
    /// Key for the cookie of a pending sign-in, at least 32 characters, the same on every node; the key for secrets by
    /// default.
    #[arg(long, env = "OAUTH_SESSION_SECRET", hide_env_values = true, hide = true)]
    pub oauth_session_secret: Option<String>,
    /// A file with that key.
    #[arg(long, env = "OAUTH_SESSION_SECRET_FILE", conflicts_with = "oauth_session_secret")]
    pub oauth_session_secret_file: Option<PathBuf>,
    /// Accept providers on other machines at `http://` addresses. A man in the middle can then read codes, secrets and
    /// identities, and sign in as any user. Loopback addresses are always accepted.
    #[arg(long, env = "SSO_ALLOW_HTTP", action = ArgAction::Set, value_parser = BoolishValueParser::new(),
        num_args = 0..=1, default_value = "false", default_missing_value = "true")]
    pub sso_allow_http: bool,
    /// Refuse sign-in with passwords.
    #[arg(long, env = "DISABLE_PASSWORD_LOGIN", action = ArgAction::Set, value_parser = BoolishValueParser::new(),
        num_args = 0..=1, default_value = "false", default_missing_value = "true")]
    pub disable_password_login: bool,
}

impl Default for SsoSettings {
    fn default() -> SsoSettings {
        SsoSettings {
            google_client_id: None,
            google_client_secret: None,
            google_client_secret_file: None,
            google_issuer_url: "https://accounts.google.com".to_owned(),
            github_client_id: None,
            github_client_secret: None,
            github_client_secret_file: None,
            github_url: "https://github.com".to_owned(),
            github_api_url: "https://api.github.com".to_owned(),
            oidc_client_id: None,
            oidc_client_secret: None,
            oidc_client_secret_file: None,
            oidc_issuer_url: None,
            oidc_auth_url: None,
            oidc_token_url: None,
            oidc_userinfo_url: None,
            oidc_display_name: "Single sign-on".to_owned(),
            oidc_extra_scopes: String::new(),
            oidc_role_claim: None,
            oidc_role_map: String::new(),
            oidc_org_claim: None,
            oidc_org_map: String::new(),
            oidc_auto_create_users: false,
            oauth_session_secret: None,
            oauth_session_secret_file: None,
            sso_allow_http: false,
            disable_password_login: false,
        }
    }
}

impl SsoSettings {
    /// Returns the client secret for Google. Fails if its file cannot be read.
    pub fn google_secret(&self) -> anyhow::Result<Option<String>> {
        secret_setting(&self.google_client_secret, &self.google_client_secret_file, "secret of the Google client")
    }

    /// Returns the client secret for GitHub. Fails if its file cannot be read.
    pub fn github_secret(&self) -> anyhow::Result<Option<String>> {
        secret_setting(&self.github_client_secret, &self.github_client_secret_file, "secret of the GitHub client")
    }

    /// Returns the client secret for OpenID Connect. Fails if its file cannot be read.
    pub fn oidc_secret(&self) -> anyhow::Result<Option<String>> {
        secret_setting(&self.oidc_client_secret, &self.oidc_client_secret_file, "secret of the OpenID Connect client")
    }

    /// Returns the key for the cookie of a pending sign-in, if it is set. Fails if it is too short or its file cannot
    /// be read.
    pub fn session_key(&self) -> anyhow::Result<Option<Vec<u8>>> {
        key_setting(&self.oauth_session_secret, &self.oauth_session_secret_file, "key for sign-ins under way")
    }

    /// Parses the role map, in the order of the setting. Fails for unknown roles and for `owner`.
    pub fn role_map(&self) -> anyhow::Result<Vec<(String, Role)>> {
        let mut map = Vec::new();
        for pair in self.oidc_role_map.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
            let (value, role) = pair.rsplit_once('=').with_context(|| format!("oidc_role_map: {pair} has no ="))?;
            let role = match Role::parse(role.trim()) {
                Some(Role::Owner) | None => bail!("oidc_role_map: {role} is not admin, user or readonly"),
                Some(role) => role,
            };
            map.push((value.trim().to_owned(), role));
        }
        Ok(map)
    }

    /// Parses the map of the organization claim: values and ids of organizations.
    pub fn org_map(&self) -> anyhow::Result<Vec<(String, i64)>> {
        let mut map = Vec::new();
        for pair in self.oidc_org_map.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
            let (value, id) = pair.rsplit_once('=').with_context(|| format!("oidc_org_map: {pair} has no ="))?;
            let id = id.trim().parse().with_context(|| format!("oidc_org_map: {id} is not an organization's id"))?;
            map.push((value.trim().to_owned(), id));
        }
        Ok(map)
    }

    /// URLs of the configured providers with `http://` on another machine.
    fn plain_http(&self) -> impl Iterator<Item = &str> {
        let google = self.google_client_id.is_some().then_some(&self.google_issuer_url);
        let github = self.github_client_id.is_some().then_some([&self.github_url, &self.github_api_url]);
        let oidc = [&self.oidc_issuer_url, &self.oidc_auth_url, &self.oidc_token_url, &self.oidc_userinfo_url];
        let oidc = self.oidc_client_id.is_some().then_some(oidc);
        let all = google.into_iter().chain(github.into_iter().flatten()).chain(oidc.into_iter().flatten().flatten());
        all.map(String::as_str).filter(|url| is_plain_http(url))
    }

    /// Logs a warning for each URL that is accepted because of `sso_allow_http`.
    pub fn warn_of_plain_http(&self) {
        for url in self.plain_http() {
            tracing::warn!(url, "{url} is not https: sign-ins through it can be read and changed on their way");
        }
    }

    /// Validates the settings before the server starts.
    pub fn check(&self) -> anyhow::Result<()> {
        self.role_map()?;
        self.org_map()?;
        self.session_key()?;
        let secrets = [
            ("google", &self.google_client_id, self.google_secret()?),
            ("github", &self.github_client_id, self.github_secret()?),
            ("oidc", &self.oidc_client_id, self.oidc_secret()?),
        ];
        for (name, id, secret) in secrets {
            ensure!(id.is_some() == secret.is_some(), "{name}_client_id and {name}_client_secret need each other");
        }
        let endpoints = [&self.oidc_auth_url, &self.oidc_token_url, &self.oidc_userinfo_url];
        let endpoints = endpoints.iter().filter(|url| url.is_some()).count();
        if self.oidc_client_id.is_some() {
            let has_discovery = self.oidc_issuer_url.is_some() && endpoints == 0;
            let has_endpoints = self.oidc_issuer_url.is_none() && endpoints == 3;
            ensure!(
                has_discovery || has_endpoints,
                "oidc needs either oidc_issuer_url, or oidc_auth_url, oidc_token_url and oidc_userinfo_url"
            );
        }
        if let (Some(url), false) = (self.plain_http().next(), self.sso_allow_http) {
            bail!(
                "{url} is not https: others on the way could sign in as anybody; sso_allow_http takes it all the same"
            );
        }
        let has_provider =
            self.google_client_id.is_some() || self.github_client_id.is_some() || self.oidc_client_id.is_some();
        ensure!(
            has_provider || !self.disable_password_login,
            "disable_password_login: there is no other way to sign in"
        );
        Ok(())
    }
}

/// Returns whether the URL is `http://` to another machine.
pub fn is_plain_http(url: &str) -> bool {
    let Ok(url) = url::Url::parse(url) else { return false };
    let is_localhost = match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    url.scheme() == "http" && !is_localhost
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_to_other_machines_is_recognized() {
        for (url, expected) in [
            ("https://id.example", false),
            ("http://id.example", true),
            ("http://10.0.0.1:8080/realms/a", true),
            ("http://localhost:8080", false),
            ("http://127.0.0.9", false),
            ("http://[::1]:8080", false),
            ("http://127.0.0.1.example", true),
            ("", false),
        ] {
            assert_eq!(is_plain_http(url), expected, "{url}");
        }
    }

    #[test]
    fn plain_http_is_refused_unless_allowed() {
        let oidc = |change: fn(&mut SsoSettings)| {
            let (id, secret) = (Some("id".to_owned()), Some("secret".to_owned()));
            let issuer = Some("https://id.example".to_owned());
            let mut settings = SsoSettings {
                oidc_client_id: id,
                oidc_client_secret: secret,
                oidc_issuer_url: issuer,
                ..SsoSettings::default()
            };
            change(&mut settings);
            settings.check().map_err(|error| error.to_string())
        };
        let plain = |settings: &mut SsoSettings| settings.oidc_issuer_url = Some("http://id.example".to_owned());
        assert_eq!(oidc(|_| ()), Ok(()));
        assert_eq!(oidc(|settings| settings.oidc_issuer_url = Some("http://127.0.0.1:9".to_owned())), Ok(()));
        let refused = oidc(plain).expect_err("a provider without TLS");
        assert!(refused.starts_with("http://id.example is not https"), "{refused}");
        let with_endpoints = |settings: &mut SsoSettings| {
            settings.oidc_issuer_url = None;
            settings.oidc_auth_url = Some("https://id.example/authorize".to_owned());
            settings.oidc_token_url = Some("http://id.example/token".to_owned());
            settings.oidc_userinfo_url = Some("https://id.example/me".to_owned());
        };
        assert!(oidc(with_endpoints).is_err(), "the token endpoint is plain HTTP");
        // URLs of a provider that is not configured are not checked.
        assert_eq!(oidc(|settings| settings.github_url = "http://git.example".to_owned()), Ok(()));
        let allowed = |settings: &mut SsoSettings| {
            settings.oidc_issuer_url = Some("http://id.example".to_owned());
            settings.sso_allow_http = true;
        };
        assert_eq!(oidc(allowed), Ok(()));
    }

    #[test]
    fn organizations_are_named_by_their_ids() {
        let map = |text: &str| SsoSettings { oidc_org_map: text.to_owned(), ..SsoSettings::default() }.org_map();
        assert_eq!(map("acme=1, a=b=7").expect("a map"), [("acme".to_owned(), 1), ("a=b".to_owned(), 7)]);
        assert!(map("").expect("no map").is_empty());
        for text in ["acme", "acme=", "acme=one"] {
            assert!(map(text).is_err(), "{text}");
        }
    }
}
