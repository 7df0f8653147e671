//! OpenID Connect: discovery of endpoints, exchange of a code, and the profile of the user. Blocks.

use anyhow::{Context, bail, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};
use url::form_urlencoded;

use super::endpoints::Endpoints;
use super::id_token::{self, Expected, IdTokenError, Keys};
use super::pending_sign_in::PendingSignIn;
use super::provider::{Kind, Provider, Sso};
use super::{factors, github};
use crate::sso::settings::is_plain_http;
use crate::{OrganizationClaim, ProviderProfile, Role};
use tidewatch_domain::units::SECOND_NS;
use tidewatch_limits as limits;

/// Reads the endpoints from the discovery document of `issuer`. `http://` URLs on other machines are refused unless
/// `allows_http`.
fn read_discovery(document: &Value, issuer: &str, allows_http: bool) -> anyhow::Result<Endpoints> {
    let text = |name: &str| document[name].as_str().map(str::to_owned);
    let reported = text("issuer").context("the discovery document names no issuer")?;
    // OpenID Connect Discovery, 4.3.
    ensure!(
        reported.trim_end_matches('/') == issuer.trim_end_matches('/'),
        "the discovery document is of another issuer: {reported}"
    );
    let methods: Vec<&str> = document["token_endpoint_auth_methods_supported"]
        .as_array()
        .map(|methods| methods.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let found = Endpoints {
        issuer: Some(reported),
        authorization: text("authorization_endpoint").context("no authorization_endpoint")?,
        token: text("token_endpoint").context("no token_endpoint")?,
        userinfo: text("userinfo_endpoint"),
        jwks: Some(text("jwks_uri").context("no jwks_uri")?),
        takes_secret_in_body: methods.contains(&"client_secret_post") && !methods.contains(&"client_secret_basic"),
    };
    let named = [Some(&found.authorization), Some(&found.token), found.userinfo.as_ref(), found.jwks.as_ref()];
    for url in named.into_iter().flatten() {
        ensure!(allows_http || !is_plain_http(url), "the discovery document names {url}, which is not https");
    }
    Ok(found)
}

impl Sso {
    /// Returns the endpoints of a provider, from discovery if necessary. Discovery is cached for
    /// [`limits::SSO_DISCOVERY_LIFE`].
    pub fn endpoints(&self, provider: &Provider, now_ns: i64) -> anyhow::Result<Endpoints> {
        let issuer = match &provider.kind {
            Kind::Configured(endpoints) => return Ok(endpoints.clone()),
            Kind::GitHub { web, .. } => return Ok(github::endpoints(web)),
            Kind::Discovered { issuer } => issuer,
        };
        if let Some((found, at_ns)) = &*provider.discovered.lock()
            && now_ns.saturating_sub(*at_ns) < limits::SSO_DISCOVERY_LIFE.as_nanos() as i64
        {
            return Ok(found.clone());
        }
        let url = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
        let document = self.get(&url, None).context("discovery")?;
        let found = read_discovery(&document, issuer, self.allows_http)?;
        *provider.discovered.lock() = Some((found.clone(), now_ns));
        Ok(found)
    }

    /// Exchanges the code of a callback for tokens, and returns the profile of the user. `callback` is the redirect
    /// URI. Fails if the provider is unreachable or its response is not valid.
    pub fn fetch_profile(
        &self,
        provider: &Provider,
        pending: &PendingSignIn,
        code: &str,
        callback: &str,
        now_ns: i64,
    ) -> anyhow::Result<ProviderProfile> {
        let endpoints = self.endpoints(provider, now_ns)?;
        let tokens = self.exchange(provider, &endpoints, pending, code, callback)?;
        let access_token = tokens["access_token"].as_str().context("no access token")?;
        if let Kind::GitHub { api, .. } = &provider.kind {
            return github::profile(self, api, access_token);
        }
        let mut claims = match &endpoints.issuer {
            Some(issuer) => {
                let token = tokens["id_token"].as_str().context("no ID token")?;
                let expected =
                    Expected { issuer, client_id: &provider.client_id, nonce: &pending.nonce, now: now_ns / SECOND_NS };
                self.checked(provider, &endpoints, token, &expected)?
            }
            None => Map::new(),
        };
        let is_multi_factor = factors::are_several(&claims);
        // Only from the ID token: user info is not signed, and not about this sign-in.
        let auth_time = claims.get("auth_time").and_then(Value::as_f64);
        let signed_in_ns = auth_time.map(|seconds| (seconds as i64).saturating_mul(SECOND_NS).min(now_ns));
        if let Some(url) = &endpoints.userinfo
            && (claims.is_empty() || lacks_claims(provider, &claims))
        {
            let more = self.get(url, Some(access_token)).context("user info")?;
            let more = more.as_object().context("the user info is no object")?;
            // OpenID Connect Core, 5.3.2: user info may be about another user.
            if let Some(subject) = claims.get("sub") {
                ensure!(more.get("sub") == Some(subject), "the user info is about another person");
            }
            for (name, value) in more {
                claims.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
        Ok(ProviderProfile { is_multi_factor, signed_in_ns, ..profile(provider, &claims)? })
    }

    fn checked(
        &self,
        provider: &Provider,
        endpoints: &Endpoints,
        token: &str,
        expected: &Expected<'_>,
    ) -> anyhow::Result<Map<String, Value>> {
        let known = provider.keys.lock().clone();
        if let Some(keys) = &known {
            match id_token::check(token, keys, expected) {
                // Keys are rotated from time to time. The token comes from the provider itself, so others cannot
                // trigger this request.
                Err(IdTokenError::UnknownKey) => {}
                checked => return Ok(checked?),
            }
        }
        let url = endpoints.jwks.as_deref().context("the provider names no keys")?;
        let keys = Keys::parse(&self.get(url, None).context("the provider's keys")?);
        let checked = id_token::check(token, &keys, expected);
        *provider.keys.lock() = Some(keys);
        Ok(checked?)
    }

    fn exchange(
        &self,
        provider: &Provider,
        endpoints: &Endpoints,
        pending: &PendingSignIn,
        code: &str,
        callback: &str,
    ) -> anyhow::Result<Value> {
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.extend_pairs([
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", callback),
            ("code_verifier", &pending.verifier),
        ]);
        let mut request = self
            .agent
            .post(&endpoints.token)
            .header("Accept", "application/json")
            .header("Content-Type", "application/x-www-form-urlencoded");
        if endpoints.takes_secret_in_body {
            form.extend_pairs([("client_id", &provider.client_id), ("client_secret", &provider.client_secret)]);
        } else {
            // RFC 6749, 2.3.1: both are form-encoded first.
            let encoded = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
            let pair = format!("{}:{}", encoded(&provider.client_id), encoded(&provider.client_secret));
            request = request.header("Authorization", format!("Basic {}", STANDARD.encode(pair)));
        }
        let answer = request.send(form.finish()).context("the token endpoint")?;
        let tokens = read(answer).context("the token endpoint")?;
        // GitHub reports errors with status 200.
        if let Some(error) = tokens["error"].as_str() {
            bail!("the token endpoint refused the code: {error}");
        }
        Ok(tokens)
    }

    /// Requests JSON with GET, authorized by `token` if there is one. Fails for error statuses without a JSON `error`.
    pub fn get(&self, url: &str, token: Option<&str>) -> anyhow::Result<Value> {
        let mut request = self.agent.get(url).header("Accept", "application/json").header("User-Agent", "tidewatch");
        if let Some(token) = token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        read(request.call()?)
    }
}

fn read(mut answer: ureq::http::Response<ureq::Body>) -> anyhow::Result<Value> {
    let status = answer.status();
    let text = answer.body_mut().with_config().limit(limits::SSO_ANSWER_BYTES_MAX).read_to_string()?;
    let value = serde_json::from_str(&text).ok().or_else(|| form(&answer, &text));
    match value {
        Some(value) if status.is_success() || value["error"].is_string() => Ok(value),
        _ => bail!("it answered {status}"),
    }
}

/// Parses a form: some OAuth servers, as GitHub formerly, respond with a form whatever `Accept` requests.
fn form(answer: &ureq::http::Response<ureq::Body>, text: &str) -> Option<Value> {
    let kind = answer.headers().get("Content-Type")?.to_str().ok()?;
    let is_form = kind.split(';').next()?.trim().eq_ignore_ascii_case("application/x-www-form-urlencoded");
    let pairs = form_urlencoded::parse(text.as_bytes()).into_owned();
    is_form.then(|| Value::Object(pairs.map(|(name, value)| (name, Value::String(value))).collect()))
}

fn lacks_claims(provider: &Provider, claims: &Map<String, Value>) -> bool {
    let lacks = |name: &str| !claims.contains_key(name);
    lacks("email")
        || lacks("email_verified")
        || lacks("name")
        || [&provider.role_claim, &provider.org_claim].into_iter().flatten().any(|name| lacks(name))
}

fn profile(provider: &Provider, claims: &Map<String, Value>) -> anyhow::Result<ProviderProfile> {
    let text = |name: &str| claims.get(name).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
    let subject = text("sub").context("the provider does not say who it is")?.to_owned();
    let is_verified = match claims.get("email_verified") {
        Some(Value::Bool(value)) => *value,
        Some(Value::String(value)) => value == "true",
        _ => false,
    };
    let email = text("email").map(str::to_lowercase);
    let name = text("name").or_else(|| text("preferred_username")).or(email.as_deref()).unwrap_or("Somebody");
    let name = name.chars().take(100).collect();
    let role = provider.role_claim.as_ref().and_then(|claim| claims.get(claim)).and_then(|value| role(provider, value));
    let organization = match &provider.org_claim {
        Some(claim) => organization_of_claim(provider, claims.get(claim)),
        None => OrganizationClaim::First,
    };
    Ok(ProviderProfile {
        subject,
        is_email_seen: email.is_some(),
        email: email.filter(|_| is_verified),
        name,
        role,
        is_multi_factor: false,
        signed_in_ns: None,
        organization,
    })
}

/// Maps the first known value of the claim to an organization, by the operator's map or by its id. Names are not used,
/// because any user may give an organization any name.
fn organization_of_claim(provider: &Provider, value: Option<&Value>) -> OrganizationClaim {
    let values = match value {
        Some(Value::Array(many)) => many.iter().collect(),
        Some(one) => vec![one],
        None => Vec::new(),
    };
    let strings = values.into_iter().filter_map(|value| match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    });
    let meant = |text: String| {
        let mapped = provider.org_map.iter().find(|(name, _)| *name == text).map(|(_, id)| *id);
        mapped.or_else(|| text.parse().ok())
    };
    let mut ids = strings.filter_map(meant);
    ids.next().map_or(OrganizationClaim::Nowhere, OrganizationClaim::Organization)
}

/// The highest role that the role map gives for one of the claim's values.
fn role(provider: &Provider, value: &Value) -> Option<Role> {
    let values: Vec<&str> = match value {
        Value::String(one) => vec![one],
        Value::Array(many) => many.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let meant =
        |role: Role| provider.role_map.iter().any(|(name, means)| *means == role && values.contains(&name.as_str()));
    [Role::Admin, Role::User, Role::Readonly].into_iter().find(|role| meant(*role))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn discovery_with_plain_http_endpoints_is_refused_unless_allowed() {
        let issuer = "https://id.example/";
        let document = |name: &str, url: &str| {
            let mut document = json!({
                "issuer": "https://id.example", "authorization_endpoint": "https://id.example/authorize",
                "token_endpoint": "https://id.example/token", "userinfo_endpoint": "http://127.0.0.1:8080/me",
                "jwks_uri": "https://id.example/keys",
            });
            document[name] = json!(url);
            document
        };
        for name in ["authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri"] {
            assert!(read_discovery(&document(name, "https://id.example/x"), issuer, false).is_ok(), "{name}");
            let plain = document(name, "http://id.example/x");
            assert!(read_discovery(&plain, issuer, false).is_err(), "{name}");
            assert!(read_discovery(&plain, issuer, true).is_ok(), "{name}: the operator allows it");
        }
        assert!(read_discovery(&document("issuer", "https://evil.example"), issuer, false).is_err());
    }
}
