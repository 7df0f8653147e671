//! The discovery documents of OAuth, at the root of the origin. RFC 8414, RFC 9728.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;

use crate::contexts::Process;
use crate::http::auth::bodies::credentials::{AuthorizationServer, ProtectedResource};
use tidewatch_accounts::ScopeLevel;

/// The metadata of the authorization server. RFC 8414.
#[utoipa::path(
    get,
    path = "/.well-known/oauth-authorization-server",
    operation_id = "authorizationServer",
    tag = "credentials",
    responses((status = 200, description = "Success", body = AuthorizationServer)),
    security(())
)]
pub async fn authorization_server(State(process): State<Arc<Process>>) -> Json<AuthorizationServer> {
    let base = process.config.base_url();
    let strings = |strings: &[&str]| strings.iter().map(|text| (*text).to_owned()).collect();
    Json(AuthorizationServer {
        authorization_endpoint: format!("{base}/oauth/authorize"),
        token_endpoint: format!("{base}/api/auth/token"),
        registration_endpoint: format!("{base}/api/oauth/register"),
        device_authorization_endpoint: format!("{base}/api/auth/device/authorize"),
        response_types_supported: strings(&["code"]),
        grant_types_supported: strings(&[
            "authorization_code",
            "refresh_token",
            "urn:ietf:params:oauth:grant-type:device_code",
        ]),
        code_challenge_methods_supported: strings(&["S256"]),
        token_endpoint_auth_methods_supported: strings(&["none"]),
        scopes_supported: ScopeLevel::Admin.words(),
        authorization_response_iss_parameter_supported: true,
        issuer: base,
    })
}

/// The metadata of the protected resource. RFC 9728.
#[utoipa::path(
    get,
    path = "/.well-known/oauth-protected-resource",
    operation_id = "protectedResource",
    tag = "credentials",
    responses((status = 200, description = "Success", body = ProtectedResource)),
    security(())
)]
pub async fn protected_resource(State(process): State<Arc<Process>>) -> Json<ProtectedResource> {
    let base = process.config.base_url();
    Json(ProtectedResource {
        resource: base.clone(),
        authorization_servers: vec![base],
        bearer_methods_supported: vec!["header".to_owned()],
        scopes_supported: ScopeLevel::Admin.words(),
    })
}
