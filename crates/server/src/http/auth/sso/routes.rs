//! Which other sign-ins there are, the way to them and back, and the first organisation of who came so. WIRE 5.5.
//!
//! The login travels in the fragment of `/auth/callback`, which browsers send to no server and into no log.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::header::{COOKIE, LOCATION, SET_COOKIE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use url::form_urlencoded::Serializer;

use super::round_trip::{RoundTrip, no_cookie};
use crate::app::App;
use crate::control::Entered;
use crate::error::ApiError;
use crate::http::account::{
    begin_session, bundle, check_framework, check_project_name, check_text, project_view, renew_session, second_step,
};
use crate::http::gate::auth::{Admin, InPerson, OrganizationAccess, Origin, Via};
use crate::http::gate::body::AnonymousBody;
use crate::http::gate::per_ip::PerIp;
use crate::http::gate::session_cookie::Page;
use crate::http::openapi::{ErrorBody, Failures, NotFound, TooMany};
use crate::http::setup_code;
use crate::limits::per_ip::{FinishSetup, SsoCallback, SsoStart};
use crate::query::views::account::{LoginBundle, RegisterAnswer};
use crate::query::views::auth::{
    CallbackQuery, FinishSetupRequest, ProviderView, ProvidersAnswer, SsoProviderView, SsoView, StartQuery,
};

/// How people can sign in here.
#[utoipa::path(
    get,
    path = "/api/auth/providers",
    operation_id = "listProviders",
    tag = "credentials",
    responses((status = 200, description = "The answer", body = ProvidersAnswer)),
    security(())
)]
pub async fn providers(State(app): State<Arc<App>>) -> Json<ProvidersAnswer> {
    let password = !app.config.sso.disable_password_login;
    Json(ProvidersAnswer {
        password,
        passkeys: app.passkeys.is_some(),
        providers: app
            .sso
            .providers
            .iter()
            .map(|provider| ProviderView { id: provider.id.to_owned(), name: provider.name.clone() })
            .collect(),
        registration: password && !app.control.has_organizations(),
    })
}

/// How members sign in elsewhere.
#[utoipa::path(
    get,
    path = "/api/organizations/{id}/sso",
    operation_id = "organizationSignIn",
    tag = "organizations",
    params(("id" = i64, Path)),
    responses((status = 200, description = "The answer", body = SsoView), Failures)
)]
pub async fn of_organization(State(app): State<Arc<App>>, _: OrganizationAccess<Admin>) -> Json<SsoView> {
    let providers = app.sso.providers.iter().map(|provider| SsoProviderView {
        id: provider.id.to_owned(),
        name: provider.name.clone(),
        enabled: true,
        issuer: provider.issuer().map(str::to_owned),
        client_id: provider.client_id.clone(),
        auto_create: provider.may_create,
        role_claim: provider.role_claim.clone(),
        role_map: provider.role_map.iter().map(|(value, role)| (value.clone(), role.as_str().to_owned())).collect(),
    });
    Json(SsoView { password_login: !app.config.sso.disable_password_login, providers: providers.collect() })
}

/// Sends the browser to the provider.
#[utoipa::path(
    get,
    path = "/api/auth/start/{provider}",
    operation_id = "startSignIn",
    tag = "credentials",
    params(("provider" = String, Path, description = "`google`, `github` or `oidc`"), StartQuery),
    responses((status = 302, description = "To the provider, or to `/login?error=`"), NotFound, TooMany),
    security(())
)]
pub async fn start(
    _: PerIp<SsoStart>,
    State(app): State<Arc<App>>,
    Path(provider): Path<String>,
    Query(query): Query<StartQuery>,
) -> Result<Response, ApiError> {
    let known = app.sso.provider(&provider).ok_or_else(|| ApiError::not_found("no such provider"))?;
    let now_ns = app.clock.now_ns();
    let trip = RoundTrip::begin(known.id, query.redirect.as_deref(), now_ns)?;
    let inner = app.clone();
    let endpoints = tokio::task::spawn_blocking(move || match inner.sso.provider(&provider) {
        Some(known) => inner.sso.endpoints(known, now_ns),
        None => anyhow::bail!("the provider is gone"),
    });
    let endpoints = match endpoints.await.map_err(ApiError::internal)? {
        Ok(endpoints) => endpoints,
        Err(error) => {
            tracing::error!(provider = known.id, "a sign-in cannot begin: {error:#}");
            return Ok(see("/login?error=oauth_failed", None));
        }
    };
    let callback = callback_url(&app, known.id);
    let challenge = trip.challenge();
    let mut url = url::Url::parse(&endpoints.authorization).map_err(ApiError::internal)?;
    url.query_pairs_mut().extend_pairs([
        ("response_type", "code"),
        ("client_id", &known.client_id),
        ("redirect_uri", &callback),
        ("scope", &known.scopes),
        ("state", &trip.state),
        ("nonce", &trip.nonce),
        ("code_challenge", &challenge),
        ("code_challenge_method", "S256"),
    ]);
    if query.fresh == Some(true) {
        url.query_pairs_mut().extend_pairs([("prompt", "login"), ("max_age", "0")]);
    }
    let cookie = trip.cookie(&app.sso.sealer, app.config.is_https());
    let cookie = cookie.ok_or_else(|| ApiError::internal("a sign-in's cookie cannot be sealed"))?;
    Ok(see(url.as_str(), Some(cookie)))
}

/// Where the provider sends the browser back to.
#[utoipa::path(
    get,
    path = "/api/auth/callback/{provider}",
    operation_id = "finishSignIn",
    tag = "credentials",
    params(("provider" = String, Path, description = "`google`, `github` or `oidc`"), CallbackQuery),
    responses((status = 302, description = "To `/auth/callback#token=...&needsSetup=...`, to `/auth/callback#mfaToken=...&methods=...` for the second step, or to `/login?error=` with `oauth_no_email`, `oauth_email_unverified`, `invite_required`, `oauth_denied`, `oauth_state` or `oauth_failed`"), NotFound, TooMany),
    security(())
)]
pub async fn callback(
    _: PerIp<SsoCallback>,
    from: Origin,
    State(app): State<Arc<App>>,
    Path(provider): Path<String>,
    Query(query): Query<CallbackQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    if app.sso.provider(&provider).is_none() {
        return Err(ApiError::not_found("no such provider"));
    }
    let to = match finish(&app, from, provider, query, &headers).await? {
        Ok(to) => to,
        Err(word) => format!("/login?error={word}"),
    };
    Ok(see(&to, Some(no_cookie(app.config.is_https()))))
}

/// Where the browser goes next, or the error it shows.
async fn finish(
    app: &Arc<App>,
    from: Origin,
    provider: String,
    query: CallbackQuery,
    headers: &HeaderMap,
) -> Result<Result<String, &'static str>, ApiError> {
    let now_ns = app.clock.now_ns();
    let cookies: Vec<&str> = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok()).collect();
    let state = query.state.unwrap_or_default();
    let trip = RoundTrip::read(&cookies.join("; "), &app.sso.sealer, &provider, &state, now_ns);
    let Some(trip) = trip else { return Ok(Err("oauth_state")) };
    if let Some(error) = query.error {
        return Ok(Err(if error == "access_denied" { "oauth_denied" } else { "oauth_failed" }));
    }
    let Some(code) = query.code else { return Ok(Err("oauth_failed")) };
    let redirect = trip.redirect.clone();
    let (inner, callback, id) = (app.clone(), callback_url(app, &provider), provider.clone());
    let who = tokio::task::spawn_blocking(move || match inner.sso.provider(&id) {
        Some(known) => Ok((inner.sso.who(known, &trip, &code, &callback, now_ns)?, known.may_create)),
        None => anyhow::bail!("the provider is gone"),
    });
    let (profile, may_create) = match who.await.map_err(ApiError::internal)? {
        Ok(who) => who,
        Err(error) => {
            tracing::warn!(%provider, "a sign-in failed: {error:#}");
            return Ok(Err("oauth_failed"));
        }
    };
    let by = from.by(app, profile.email.as_deref().unwrap_or(&profile.subject));
    let (user, needs_setup) = match app.control.enter(&by, &provider, &profile, may_create).await? {
        Entered::In { user, needs_setup } => (user, needs_setup),
        Entered::NoEmail if profile.is_email_seen => return Ok(Err("oauth_email_unverified")),
        Entered::NoEmail => return Ok(Err("oauth_no_email")),
        Entered::InviteRequired => return Ok(Err("invite_required")),
    };
    // The provider's own word for several factors is enough; without it the second step is asked for here.
    let asks_for_more = !profile.is_multi_factor
        && app.control.memberships(user.id).iter().any(|member| member.organization.requires_two_factor);
    let has = app.control.second_factors(user.id).await?;
    let pairs = if asks_for_more && has.any() {
        let asked = second_step(app, &user, has).await?;
        [("mfaToken", asked.mfa_token), ("methods", asked.methods.join(","))]
    } else {
        app.control.record_sign_in(&by, &user, &provider).await?;
        // The provider sends the browser here, and the page that follows is ours.
        let token = begin_session(app, &Origin { page: Page::Own, ..from }, &user).await?;
        [("token", token), ("needsSetup", needs_setup.to_string())]
    };
    let mut fragment = Serializer::new(String::new());
    fragment.extend_pairs(pairs);
    if let Some(redirect) = redirect {
        fragment.append_pair("redirect", &redirect);
    }
    Ok(Ok(format!("/auth/callback#{}", fragment.finish())))
}

/// The first organisation and project, made by who signed in elsewhere. Only while there is none.
#[utoipa::path(
    post,
    path = "/api/auth/finish-setup",
    operation_id = "finishSetup",
    tag = "credentials",
    request_body = FinishSetupRequest,
    responses((status = 201, description = "Made", body = RegisterAnswer), (status = 409, description = "An organisation exists already", body = ErrorBody), Failures, TooMany)
)]
pub async fn finish_setup(
    _: PerIp<FinishSetup>,
    State(app): State<Arc<App>>,
    InPerson(caller): InPerson,
    AnonymousBody(request): AnonymousBody<FinishSetupRequest>,
) -> Result<(StatusCode, Json<RegisterAnswer>), ApiError> {
    if app.control.has_organizations() {
        return Err(ApiError::Conflict("an organization already exists; ask for an invitation"));
    }
    setup_code::check(&app, request.setup_code.as_deref())?;
    let name = check_text("organizationName", &request.organization_name)?;
    let timezone =
        check_text("timezone", request.timezone.as_deref().filter(|zone| !zone.is_empty()).unwrap_or("UTC"))?;
    let project = check_project_name(&request.project_name)?;
    let framework = check_framework(request.framework.as_deref())?;
    let by = caller.by(&app);
    let project = app.control.set_up(&by, caller.user.id, &name, &timezone, &project, &framework).await?;
    let (token, LoginBundle { user, projects, organizations }) =
        (renew_session(&app, &caller, &caller.user).await?, bundle(&app, &caller.user, &Via::Login));
    let project = project_view(&app, &project, crate::control::Role::Owner, &Via::Login);
    Ok((StatusCode::CREATED, Json(RegisterAnswer { token, user, project, projects, organizations })))
}

fn callback_url(app: &App, provider: &str) -> String {
    format!("{}/api/auth/callback/{provider}", app.config.base_url())
}

/// 302, as the wire has it.
fn see(to: &str, cookie: Option<String>) -> Response {
    let mut headers = HeaderMap::new();
    if let Ok(to) = to.parse() {
        headers.insert(LOCATION, to);
    }
    if let Some(cookie) = cookie.and_then(|cookie| cookie.parse().ok()) {
        headers.insert(SET_COOKIE, cookie);
    }
    (StatusCode::FOUND, headers).into_response()
}
