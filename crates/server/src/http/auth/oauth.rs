//! Clients that register themselves and ask a person through the consent page `/oauth/authorize`. OAuth 2.1; WIRE 5.4.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use axum::http::StatusCode;

use super::check_projects;
use super::redirect::{is_registered, may_be_registered, with_query};
use crate::app::App;
use crate::error::ApiError;
use crate::http::gate::auth::{FreshInPerson, InPerson, Origin};
use crate::http::gate::body::{AnonymousBody, JsonBody};
use crate::http::gate::per_ip::PerIp;
use crate::http::gate::resource::is_ours;
use crate::http::openapi::{Failures, NotFound, TooMany};
use tidewatch_accounts::{NewCode, OauthClient, Scope, ScopeLevel};
use tidewatch_limits as limits;
use tidewatch_limits::per_ip::OauthRegister;
use tidewatch_query::views::auth::{
    ClientQuery, ClientRegistration, ClientView, ConsentAnswer, ConsentRequest, RegisteredClient,
};
use tidewatch_runtime::redact::is_hidden;

/// Registers a public client. RFC 7591.
#[utoipa::path(
    post,
    path = "/api/oauth/register",
    operation_id = "registerClient",
    tag = "credentials",
    request_body = ClientRegistration,
    responses((status = 201, description = "Registered", body = RegisteredClient), Failures, TooMany),
    security(())
)]
pub async fn register(
    _: PerIp<OauthRegister>,
    from: Origin,
    State(app): State<Arc<App>>,
    AnonymousBody(request): AnonymousBody<ClientRegistration>,
) -> Result<(StatusCode, Json<RegisteredClient>), ApiError> {
    let uris = request.redirect_uris.unwrap_or_default();
    let is_right =
        (1..=limits::REDIRECT_URIS_MAX).contains(&uris.len()) && uris.iter().all(|uri| may_be_registered(uri));
    if !is_right {
        return Err(ApiError::malformed("invalid_redirect_uri"));
    }
    let name = request.client_name.as_deref().map(str::trim).filter(|name| !name.is_empty()).unwrap_or("A client");
    let is_public = request.token_endpoint_auth_method.as_deref().is_none_or(|method| method == "none");
    let knows = |asked: &Option<Vec<String>>, known: &[&str]| {
        asked.as_ref().is_none_or(|asked| asked.iter().all(|one| known.contains(&one.as_str())))
    };
    let is_readable = !name.contains(is_hidden) && name.chars().count() <= limits::CREDENTIAL_NAME_CHARS_MAX;
    let is_known = knows(&request.grant_types, &GRANTS) && knows(&request.response_types, &["code"]);
    if !(is_public && is_readable && is_known) {
        return Err(ApiError::malformed("invalid_client_metadata"));
    }
    let client = app.control.register_client(&from.by(&app, "client"), name, &uris).await?;
    let answer = RegisteredClient {
        client_id: client.id,
        client_id_issued_at: client.created_ns / 1_000_000_000,
        client_name: client.name,
        redirect_uris: client.redirect_uris,
        token_endpoint_auth_method: "none".to_owned(),
        grant_types: GRANTS.map(str::to_owned).to_vec(),
        response_types: vec!["code".to_owned()],
    };
    Ok((StatusCode::CREATED, Json(answer)))
}

const GRANTS: [&str; 2] = ["authorization_code", "refresh_token"];

/// Who asks for consent. An address that is not the client's own is refused here, before anything is sent there.
#[utoipa::path(
    get,
    path = "/api/oauth/client",
    operation_id = "getClient",
    tag = "credentials",
    params(ClientQuery),
    responses((status = 200, description = "The answer", body = ClientView), NotFound, Failures)
)]
pub async fn client(
    State(app): State<Arc<App>>,
    _: InPerson,
    Query(query): Query<ClientQuery>,
) -> Result<Json<ClientView>, ApiError> {
    let (id, uri) = (query.client_id.unwrap_or_default(), query.redirect_uri.unwrap_or_default());
    let client = known(&app, &id, &uri).await?;
    Ok(Json(ClientView { client_id: client.id, client_name: client.name, redirect_uri: uri }))
}

/// Consents: the answer leads back to the client with a code.
#[utoipa::path(
    post,
    path = "/api/oauth/approve",
    operation_id = "approveClient",
    tag = "credentials",
    request_body = ConsentRequest,
    responses((status = 200, description = "The answer", body = ConsentAnswer), NotFound, Failures)
)]
pub async fn approve(
    State(app): State<Arc<App>>,
    FreshInPerson(caller): FreshInPerson,
    JsonBody(request): JsonBody<ConsentRequest>,
) -> Result<Json<ConsentAnswer>, ApiError> {
    known(&app, &request.client_id, &request.redirect_uri).await?;
    // OAuth 2.1, 4.1.1: no code without PKCE, and none with `plain`.
    let challenge = request.code_challenge.as_deref().unwrap_or_default();
    let is_s256 = request.code_challenge_method.as_deref() == Some("S256")
        && challenge.len() == 43
        && challenge.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if !is_s256 {
        return Err(ApiError::malformed("invalid_request"));
    }
    let resource = request.resource.as_deref().unwrap_or_default();
    if !resource.is_empty() && !is_ours(&app.config.base_url(), resource) {
        return Err(ApiError::malformed("invalid_target"));
    }
    // The page sends the scope that the client asked for, or less of it. Project ids are the person's choice.
    let level = ScopeLevel::asked(request.scope.as_deref());
    let scope = Scope { level, projects: check_projects(&app, &caller, request.project_ids.as_deref())? };
    let new = NewCode {
        user: caller.user.id,
        session_epoch: caller.user.session_epoch,
        client_id: &request.client_id,
        redirect_uri: &request.redirect_uri,
        code_challenge: challenge,
        resource,
        scope: &scope,
    };
    let code = app.control.issue_code(&caller.by(&app), &new).await?;
    lead_back(&app, &request, ("code", &code))
}

/// Refuses: the answer leads back to the client with `access_denied`.
#[utoipa::path(
    post,
    path = "/api/oauth/deny",
    operation_id = "denyClient",
    tag = "credentials",
    request_body = ConsentRequest,
    responses((status = 200, description = "The answer", body = ConsentAnswer), NotFound, Failures)
)]
pub async fn deny(
    State(app): State<Arc<App>>,
    _: InPerson,
    JsonBody(request): JsonBody<ConsentRequest>,
) -> Result<Json<ConsentAnswer>, ApiError> {
    known(&app, &request.client_id, &request.redirect_uri).await?;
    lead_back(&app, &request, ("error", "access_denied"))
}

async fn known(app: &Arc<App>, id: &str, redirect_uri: &str) -> Result<OauthClient, ApiError> {
    let client = app.control.oauth_client(id).await?.ok_or_else(|| ApiError::not_found("no such client"))?;
    if !is_registered(redirect_uri, &client.redirect_uris) {
        return Err(ApiError::malformed("redirect_uri is not one that the client registered"));
    }
    Ok(client)
}

/// With the client's state, and who answers (RFC 9207).
fn lead_back(app: &App, request: &ConsentRequest, what: (&str, &str)) -> Result<Json<ConsentAnswer>, ApiError> {
    let issuer = app.config.base_url();
    let mut pairs = vec![what, ("iss", issuer.as_str())];
    if let Some(state) = &request.state {
        pairs.push(("state", state));
    }
    let redirect_to =
        with_query(&request.redirect_uri, &pairs).ok_or_else(|| ApiError::malformed("invalid_request"))?;
    Ok(Json(ConsentAnswer { redirect_to }))
}
