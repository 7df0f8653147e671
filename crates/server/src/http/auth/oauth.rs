//! OAuth clients: dynamic registration, and the decisions of the consent page `/oauth/authorize`. OAuth 2.1; WIRE 5.4.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use axum::http::StatusCode;

use super::fields::check_projects;
use super::redirect::{is_registered, may_be_registered, with_query};
use crate::contexts::{Accounts, Process};
use crate::error::ApiError;
use crate::http::auth::bodies::credentials::{
    ClientQuery, ClientRegistration, ClientView, ConsentAnswer, ConsentRequest, RegisteredClient,
};
use crate::http::gate::auth::{ClientInfo, FreshLoginUser, LoginUser};
use crate::http::gate::body::{AnonymousBody, JsonBody};
use crate::http::gate::per_ip::PerIp;
use crate::http::gate::resource::is_ours;
use crate::http::openapi::{Failures, NotFound, TooMany};
use tidewatch_accounts::{NewCode, OauthClient, Scope, ScopeLevel};
use tidewatch_domain::units::SECOND_NS;
use tidewatch_limits as limits;
use tidewatch_limits::per_ip::OauthRegister;
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
    from: ClientInfo,
    State(accounts): State<Arc<Accounts>>,
    AnonymousBody(request): AnonymousBody<ClientRegistration>,
) -> Result<(StatusCode, Json<RegisteredClient>), ApiError> {
    let uris = request.redirect_uris.unwrap_or_default();
    let is_valid =
        (1..=limits::REDIRECT_URIS_MAX).contains(&uris.len()) && uris.iter().all(|uri| may_be_registered(uri));
    if !is_valid {
        return Err(ApiError::malformed("invalid_redirect_uri"));
    }
    let name = request.client_name.as_deref().map(str::trim).filter(|name| !name.is_empty()).unwrap_or("A client");
    let is_public = request.token_endpoint_auth_method.as_deref().is_none_or(|method| method == "none");
    let are_known = |requested: &Option<Vec<String>>, known: &[&str]| {
        requested.as_ref().is_none_or(|requested| requested.iter().all(|one| known.contains(&one.as_str())))
    };
    let is_readable = !name.contains(is_hidden) && name.chars().count() <= limits::CREDENTIAL_NAME_CHARS_MAX;
    let is_known = are_known(&request.grant_types, &GRANTS) && are_known(&request.response_types, &["code"]);
    if !(is_public && is_readable && is_known) {
        return Err(ApiError::malformed("invalid_client_metadata"));
    }
    let client =
        accounts.control.credentials.register_client(&from.actor(&accounts.clock, "client"), name, &uris).await?;
    let response = RegisteredClient {
        client_id: client.id,
        client_id_issued_at: client.created_ns / SECOND_NS,
        client_name: client.name,
        redirect_uris: client.redirect_uris,
        token_endpoint_auth_method: "none".to_owned(),
        grant_types: GRANTS.map(str::to_owned).to_vec(),
        response_types: vec!["code".to_owned()],
    };
    Ok((StatusCode::CREATED, Json(response)))
}

const GRANTS: [&str; 2] = ["authorization_code", "refresh_token"];

/// The client that requests consent. Fails if the redirect URI is not registered for the client, before anything is
/// sent there.
#[utoipa::path(
    get,
    path = "/api/oauth/client",
    operation_id = "getClient",
    tag = "credentials",
    params(ClientQuery),
    responses((status = 200, description = "Success", body = ClientView), NotFound, Failures)
)]
pub async fn client(
    State(accounts): State<Arc<Accounts>>,
    _: LoginUser,
    Query(query): Query<ClientQuery>,
) -> Result<Json<ClientView>, ApiError> {
    let (id, uri) = (query.client_id.unwrap_or_default(), query.redirect_uri.unwrap_or_default());
    let client = registered_client(&accounts, &id, &uri).await?;
    Ok(Json(ClientView { client_id: client.id, client_name: client.name, redirect_uri: uri }))
}

/// Grants consent. The response has the URL that leads back to the client, with a code.
#[utoipa::path(
    post,
    path = "/api/oauth/approve",
    operation_id = "approveClient",
    tag = "credentials",
    request_body = ConsentRequest,
    responses((status = 200, description = "Success", body = ConsentAnswer), NotFound, Failures)
)]
pub async fn approve(
    State(accounts): State<Arc<Accounts>>,
    State(process): State<Arc<Process>>,
    FreshLoginUser(caller): FreshLoginUser,
    JsonBody(request): JsonBody<ConsentRequest>,
) -> Result<Json<ConsentAnswer>, ApiError> {
    registered_client(&accounts, &request.client_id, &request.redirect_uri).await?;
    // OAuth 2.1, 4.1.1: no code without PKCE, and none with `plain`.
    let challenge = request.code_challenge.as_deref().unwrap_or_default();
    let is_s256 = request.code_challenge_method.as_deref() == Some("S256")
        && challenge.len() == 43
        && challenge.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if !is_s256 {
        return Err(ApiError::malformed("invalid_request"));
    }
    let resource = request.resource.as_deref().unwrap_or_default();
    if !resource.is_empty() && !is_ours(&process.config.base_url(), resource) {
        return Err(ApiError::malformed("invalid_target"));
    }
    // The page sends the scope that the client has requested, or less. The user selects the projects.
    let level = ScopeLevel::requested(request.scope.as_deref());
    let scope = Scope { level, projects: check_projects(&accounts, &caller, request.project_ids.as_deref())? };
    let new = NewCode {
        user: caller.user.id,
        session_epoch: caller.user.session_epoch,
        client_id: &request.client_id,
        redirect_uri: &request.redirect_uri,
        code_challenge: challenge,
        resource,
        scope: &scope,
    };
    let code = accounts.control.credentials.issue_code(&caller.actor(&accounts.clock), &new).await?;
    redirect_to_client(&process, &request, ("code", &code))
}

/// Denies consent. The response has the URL that leads back to the client, with `access_denied`.
#[utoipa::path(
    post,
    path = "/api/oauth/deny",
    operation_id = "denyClient",
    tag = "credentials",
    request_body = ConsentRequest,
    responses((status = 200, description = "Success", body = ConsentAnswer), NotFound, Failures)
)]
pub async fn deny(
    State(accounts): State<Arc<Accounts>>,
    State(process): State<Arc<Process>>,
    _: LoginUser,
    JsonBody(request): JsonBody<ConsentRequest>,
) -> Result<Json<ConsentAnswer>, ApiError> {
    registered_client(&accounts, &request.client_id, &request.redirect_uri).await?;
    redirect_to_client(&process, &request, ("error", "access_denied"))
}

async fn registered_client(accounts: &Accounts, id: &str, redirect_uri: &str) -> Result<OauthClient, ApiError> {
    let client =
        accounts.control.credentials.oauth_client(id).await?.ok_or_else(|| ApiError::not_found("no such client"))?;
    if !is_registered(redirect_uri, &client.redirect_uris) {
        return Err(ApiError::malformed("redirect_uri is not one that the client registered"));
    }
    Ok(client)
}

/// The URL that leads back to the client, with the client's state and the issuer (RFC 9207).
fn redirect_to_client(
    process: &Process,
    request: &ConsentRequest,
    outcome: (&str, &str),
) -> Result<Json<ConsentAnswer>, ApiError> {
    let issuer = process.config.base_url();
    let mut pairs = vec![outcome, ("iss", issuer.as_str())];
    if let Some(state) = &request.state {
        pairs.push(("state", state));
    }
    let redirect_to =
        with_query(&request.redirect_uri, &pairs).ok_or_else(|| ApiError::malformed("invalid_request"))?;
    Ok(Json(ConsentAnswer { redirect_to }))
}
