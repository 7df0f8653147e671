//! Sign-in with other providers: their list, the redirect and the callback, and the first organization of such a user.
//! WIRE 5.5.
//!
//! The session's token is in the fragment of `/auth/callback`, which browsers do not send to servers.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::header::{COOKIE, LOCATION, SET_COOKIE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use url::form_urlencoded::Serializer;

use crate::contexts::{Accounts, Process};
use crate::error::ApiError;
use crate::http::account::bodies::login::{LoginBundle, RegisterAnswer};
use crate::http::account::{
    NEVER, available, begin_proved_session, bundle, check_framework, check_project_name, check_text, project_view,
    renew_session, second_step,
};
use crate::http::auth::bodies::sign_in::{
    CallbackQuery, FinishSetupRequest, ProviderView, ProvidersAnswer, SsoProviderView, SsoView, StartQuery,
};
use crate::http::gate::auth::{Admin, ClientInfo, LoginUser, OrganizationAccess, Via};
use crate::http::gate::body::AnonymousBody;
use crate::http::gate::per_ip::PerIp;
use crate::http::gate::session_cookie::Page;
use crate::http::openapi::{ErrorBody, Failures, NotFound, TooMany};
use crate::http::setup_code;
use tidewatch_accounts::sso::pending_sign_in::{PendingSignIn, no_cookie};
use tidewatch_accounts::sso::{Provider, Sso};
use tidewatch_accounts::{Actor, PendingLink, ProviderProfile, ProviderSignIn, User};
use tidewatch_limits::per_ip::{FinishSetup, SsoCallback, SsoStart};

/// The sign-in methods of this server.
#[utoipa::path(
    get,
    path = "/api/auth/providers",
    operation_id = "listProviders",
    tag = "credentials",
    responses((status = 200, description = "Success", body = ProvidersAnswer)),
    security(())
)]
pub async fn providers(
    State(accounts): State<Arc<Accounts>>,
    State(process): State<Arc<Process>>,
) -> Json<ProvidersAnswer> {
    let password = !process.config.sso.disable_password_login;
    Json(ProvidersAnswer {
        password,
        passkeys: accounts.passkeys.is_some(),
        providers: accounts
            .sso
            .providers
            .iter()
            .map(|provider| ProviderView { id: provider.id.to_owned(), name: provider.name.clone() })
            .collect(),
        registration: password && !accounts.control.people.has_organizations(),
    })
}

/// The single sign-on settings that apply to the members of an organization.
#[utoipa::path(
    get,
    path = "/api/organizations/{id}/sso",
    operation_id = "organizationSignIn",
    tag = "organizations",
    params(("id" = i64, Path)),
    responses((status = 200, description = "Success", body = SsoView), Failures)
)]
pub async fn of_organization(
    State(accounts): State<Arc<Accounts>>,
    State(process): State<Arc<Process>>,
    _: OrganizationAccess<Admin>,
) -> Json<SsoView> {
    let providers = accounts.sso.providers.iter().map(|provider| SsoProviderView {
        id: provider.id.to_owned(),
        name: provider.name.clone(),
        enabled: true,
        issuer: provider.issuer().map(str::to_owned),
        client_id: provider.client_id.clone(),
        auto_create: provider.may_create,
        role_claim: provider.role_claim.clone(),
        role_map: provider.role_map.iter().map(|(value, role)| (value.clone(), role.as_str().to_owned())).collect(),
    });
    Json(SsoView { password_login: !process.config.sso.disable_password_login, providers: providers.collect() })
}

/// Begins a sign-in with a provider. Redirects the browser to it.
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
    State(accounts): State<Arc<Accounts>>,
    State(process): State<Arc<Process>>,
    Path(provider): Path<String>,
    Query(query): Query<StartQuery>,
    caller: Result<LoginUser, ApiError>,
) -> Result<Response, ApiError> {
    let known = accounts.sso.provider(&provider).ok_or_else(|| ApiError::not_found("no such provider"))?;
    let now_ns = accounts.clock.now_ns();
    let mut pending = PendingSignIn::begin(known.id, query.redirect.as_deref(), now_ns)?;
    pending.is_fresh = query.fresh == Some(true);
    // With a session this is a step-up, otherwise a sign-in.
    let session = caller.ok().and_then(|LoginUser(caller)| caller.session);
    pending.session = session.filter(|_| pending.is_fresh).map(|session| session.id);
    let endpoints = match call_provider(&accounts, &provider, move |sso, known| sso.endpoints(known, now_ns)).await? {
        Ok(endpoints) => endpoints,
        Err(error) => {
            tracing::error!(provider = known.id, "a sign-in cannot begin: {error:#}");
            return Ok(redirect_response("/login?error=oauth_failed", None));
        }
    };
    let callback = callback_url(&process, known.id);
    let challenge = pending.challenge();
    let mut url = url::Url::parse(&endpoints.authorization).map_err(ApiError::internal)?;
    url.query_pairs_mut().extend_pairs([
        ("response_type", "code"),
        ("client_id", &known.client_id),
        ("redirect_uri", &callback),
        ("scope", &known.scopes),
        ("state", &pending.state),
        ("nonce", &pending.nonce),
        ("code_challenge", &challenge),
        ("code_challenge_method", "S256"),
    ]);
    if pending.is_fresh {
        url.query_pairs_mut().extend_pairs(known.fresh_parameters());
    }
    let cookie = pending.cookie(&accounts.sso.sealer, process.config.is_https());
    let cookie = cookie.ok_or_else(|| ApiError::internal("a sign-in's cookie cannot be sealed"))?;
    Ok(redirect_response(url.as_str(), Some(cookie)))
}

/// Completes a sign-in with a provider, which redirects the browser here.
#[utoipa::path(
    get,
    path = "/api/auth/callback/{provider}",
    operation_id = "finishSignIn",
    tag = "credentials",
    params(("provider" = String, Path, description = "`google`, `github` or `oidc`"), CallbackQuery),
    responses((status = 302, description = "To `/auth/callback#token=...&needsSetup=...`, to `/auth/callback#mfaToken=...&methods=...` for the second step, the same with `&link=` and the provider's name for a proof of the account that the provider is linked to, to `redirect` after a step-up, or to `/login?error=` with `oauth_no_email`, `oauth_email_unverified`, `invite_required`, `oauth_denied`, `oauth_state`, `oauth_link_refused`, `oauth_not_fresh`, `oauth_other_person` or `oauth_failed`"), NotFound, TooMany),
    security(())
)]
pub async fn callback(
    _: PerIp<SsoCallback>,
    from: ClientInfo,
    State(accounts): State<Arc<Accounts>>,
    State(process): State<Arc<Process>>,
    Path(provider): Path<String>,
    Query(query): Query<CallbackQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    if accounts.sso.provider(&provider).is_none() {
        return Err(ApiError::not_found("no such provider"));
    }
    let to = match finish(&accounts, &process, from, provider, query, &headers).await? {
        Ok(to) => to,
        Err(word) => format!("/login?error={word}"),
    };
    Ok(redirect_response(&to, Some(no_cookie(process.config.is_https()))))
}

/// Calls a provider on a blocking thread. The inner error is the provider's.
async fn call_provider<T: Send + 'static>(
    accounts: &Arc<Accounts>,
    id: &str,
    call: impl FnOnce(&Sso, &Provider) -> anyhow::Result<T> + Send + 'static,
) -> Result<anyhow::Result<T>, ApiError> {
    let accounts = accounts.clone();
    let id = id.to_owned();
    let called = tokio::task::spawn_blocking(move || match accounts.sso.provider(&id) {
        Some(known) => call(&accounts.sso, known),
        None => anyhow::bail!("the provider is gone"),
    });
    called.await.map_err(ApiError::internal)
}

/// Completes a sign-in. Returns the URL of the next page, or the error code for the login page.
async fn finish(
    accounts: &Arc<Accounts>,
    process: &Arc<Process>,
    from: ClientInfo,
    provider: String,
    query: CallbackQuery,
    headers: &HeaderMap,
) -> Result<Result<String, &'static str>, ApiError> {
    let now_ns = accounts.clock.now_ns();
    // A redirect by the provider looks foreign, but leads to a page of this server.
    let from = ClientInfo { page: Page::Own, ..from };
    let cookies: Vec<&str> = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok()).collect();
    let state = query.state.unwrap_or_default();
    let pending = PendingSignIn::read(&cookies.join("; "), &accounts.sso.sealer, &provider, &state, now_ns);
    let Some(pending) = pending else { return Ok(Err("oauth_state")) };
    if let Some(error) = query.error {
        return Ok(Err(if error == "access_denied" { "oauth_denied" } else { "oauth_failed" }));
    }
    let Some(code) = query.code else { return Ok(Err("oauth_failed")) };
    let sign_in = pending.clone();
    let callback = callback_url(process, &provider);
    let who = call_provider(accounts, &provider, move |sso, known| {
        let profile = sso.fetch_profile(known, &pending, &code, &callback, now_ns)?;
        Ok((profile, known.may_create, known.reports_auth_time()))
    });
    let (profile, may_create, reports_auth_time) = match who.await? {
        Ok(who) => who,
        Err(error) => {
            tracing::warn!(%provider, "a sign-in failed: {error:#}");
            return Ok(Err("oauth_failed"));
        }
    };
    let proved_ns = match profile.signed_in_ns {
        Some(at_ns) if !sign_in.is_fresh || sign_in.is_after_start(at_ns) => at_ns,
        // The provider reports no authentication time.
        None if sign_in.is_fresh && !reports_auth_time => now_ns,
        None if !sign_in.is_fresh => NEVER,
        other => {
            tracing::warn!(%provider, auth_time = ?other, "a step-up is refused: the provider's auth_time is missing or too old");
            return Ok(Err("oauth_not_fresh"));
        }
    };
    if let Some(session) = sign_in.session {
        return step_up(accounts, &from, &provider, &profile, session, proved_ns, sign_in.redirect).await;
    }
    let actor = from.actor(&accounts.clock, profile.email.as_deref().unwrap_or(&profile.subject));
    let (user, needs_setup) =
        match accounts.control.sign_in.sign_in_with_provider(&actor, &provider, &profile, may_create, None).await? {
            ProviderSignIn::In { user, needs_setup } => (user, needs_setup),
            ProviderSignIn::Unproved(user) => {
                return require_account_proof(accounts, &user, provider, profile, sign_in.redirect).await;
            }
            ProviderSignIn::NoEmail if profile.is_email_seen => return Ok(Err("oauth_email_unverified")),
            ProviderSignIn::NoEmail => return Ok(Err("oauth_no_email")),
            ProviderSignIn::InviteRequired => return Ok(Err("invite_required")),
        };
    // The second step is skipped if the provider reports a multi-factor authentication.
    let needs_second_step = !profile.is_multi_factor
        && accounts.control.people.memberships(user.id).iter().any(|member| member.organization.requires_two_factor);
    let has = accounts.control.sign_in.second_factors(user.id).await?;
    let pairs = if needs_second_step && has.any() {
        let second = second_step(accounts, &user, has).await?;
        vec![("mfaToken", second.mfa_token), ("methods", second.methods.join(","))]
    } else {
        from.record_sign_in(accounts, &user, &provider).await?;
        let token = begin_proved_session(accounts, &from, &user, proved_ns).await?;
        vec![("token", token), ("needsSetup", needs_setup.to_string())]
    };
    Ok(Ok(callback_page(pairs, sign_in.redirect)))
}

/// The URL of the page that continues a sign-in.
fn callback_page(pairs: Vec<(&str, String)>, redirect: Option<String>) -> String {
    let mut fragment = Serializer::new(String::new());
    fragment.extend_pairs(pairs);
    if let Some(redirect) = redirect {
        fragment.append_pair("redirect", &redirect);
    }
    format!("/auth/callback#{}", fragment.finish())
}

/// Completes a step-up of the session in which the round trip began, if it belongs to the user of the identity.
async fn step_up(
    accounts: &Accounts,
    from: &ClientInfo,
    provider: &str,
    profile: &ProviderProfile,
    session: i64,
    proved_ns: i64,
    redirect: Option<String>,
) -> Result<Result<String, &'static str>, ApiError> {
    let Some(user) = accounts.control.sign_in.user_of_identity(provider, &profile.subject).await? else {
        return Ok(Err("oauth_other_person"));
    };
    let actor = Actor { user_id: Some(user.id), ..from.actor(&accounts.clock, &user.email) };
    let held = accounts.control.sign_in.session_of_login(&actor, session).await?;
    if !held.is_some_and(|held| held.user == user.id && held.session_epoch == user.session_epoch) {
        return Ok(Err("oauth_other_person"));
    }
    accounts.control.sign_in.prove_session(&actor, session, provider, proved_ns).await?;
    Ok(Ok(redirect.unwrap_or_else(|| "/account".to_owned())))
}

/// Requires a proof of the account before a provider is linked to it: the provider has verified the account's address,
/// but is not linked yet.
async fn require_account_proof(
    accounts: &Accounts,
    user: &User,
    provider: String,
    profile: ProviderProfile,
    redirect: Option<String>,
) -> Result<Result<String, &'static str>, ApiError> {
    let has = accounts.control.sign_in.second_factors(user.id).await?;
    let methods = available([
        ("totp", has.totp),
        ("passkey", has.passkeys > 0 && accounts.passkeys.is_some()),
        ("recovery", has.any() && has.recovery_codes_left > 0),
        ("password", !has.any() && !user.has_no_password),
        ("email", !has.any() && accounts.mailer.is_set_up),
    ]);
    if methods.is_empty() {
        tracing::warn!(%provider, user = user.id, "a provider is not linked: the account has no password, and no mail can be sent");
        return Ok(Err("oauth_link_refused"));
    }
    let name = accounts.sso.provider(&provider).map_or_else(|| provider.clone(), |known| known.name.clone());
    let link = PendingLink { provider, profile };
    let token = accounts.control.sign_in.await_link_proof(user.id, &link, accounts.clock.now_ns()).await?;
    let pairs = vec![("mfaToken", token), ("methods", methods.join(",")), ("link", name)];
    Ok(Ok(callback_page(pairs, redirect)))
}

/// Creates the first organization and project, for a user who signed in with a provider. Fails if an organization
/// exists.
#[utoipa::path(
    post,
    path = "/api/auth/finish-setup",
    operation_id = "finishSetup",
    tag = "credentials",
    request_body = FinishSetupRequest,
    responses((status = 201, description = "Created", body = RegisterAnswer), (status = 409, description = "An organization exists already", body = ErrorBody), Failures, TooMany)
)]
pub async fn finish_setup(
    _: PerIp<FinishSetup>,
    State(accounts): State<Arc<Accounts>>,
    State(process): State<Arc<Process>>,
    LoginUser(caller): LoginUser,
    AnonymousBody(request): AnonymousBody<FinishSetupRequest>,
) -> Result<(StatusCode, Json<RegisterAnswer>), ApiError> {
    if accounts.control.people.has_organizations() {
        return Err(ApiError::Conflict("an organization already exists; ask for an invitation"));
    }
    setup_code::check(&accounts, &process, request.setup_code.as_deref())?;
    let name = check_text("organizationName", &request.organization_name)?;
    let timezone =
        check_text("timezone", request.timezone.as_deref().filter(|zone| !zone.is_empty()).unwrap_or("UTC"))?;
    let project = check_project_name(&request.project_name)?;
    let framework = check_framework(request.framework.as_deref())?;
    let actor = caller.actor(&accounts.clock);
    let project =
        accounts.control.people.set_up(&actor, caller.user.id, &name, &timezone, &project, &framework).await?;
    let (token, LoginBundle { user, projects, organizations }) = (
        renew_session(&accounts, &caller, &caller.user).await?,
        bundle(&accounts, &process, &caller.user, &Via::Login),
    );
    let project = project_view(&accounts, &process, &project, tidewatch_accounts::Role::Owner, &Via::Login);
    Ok((StatusCode::CREATED, Json(RegisterAnswer { token, user, project, projects, organizations })))
}

fn callback_url(process: &Process, provider: &str) -> String {
    format!("{}/api/auth/callback/{provider}", process.config.base_url())
}

/// A redirect with status 302, which the wire specification requires.
fn redirect_response(to: &str, cookie: Option<String>) -> Response {
    let mut headers = HeaderMap::new();
    if let Ok(to) = to.parse() {
        headers.insert(LOCATION, to);
    }
    if let Some(cookie) = cookie.and_then(|cookie| cookie.parse().ok()) {
        headers.insert(SET_COOKIE, cookie);
    }
    (StatusCode::FOUND, headers).into_response()
}
