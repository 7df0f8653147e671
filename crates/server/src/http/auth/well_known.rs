//! The two documents by which clients find everything else, at the root of the origin. RFC 8414, RFC 9728.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;

use crate::app::App;
use tidewatch_accounts::ScopeLevel;
use tidewatch_query::views::auth::{AuthorizationServer, ProtectedResource};

/// Where to register, ask and exchange.
#[utoipa::path(
    get,
    path = "/.well-known/oauth-authorization-server",
    operation_id = "authorizationServer",
    tag = "credentials",
    responses((status = 200, description = "The answer", body = AuthorizationServer)),
    security(())
)]
pub async fn authorization_server(State(app): State<Arc<App>>) -> Json<AuthorizationServer> {
    let base = app.config.base_url();
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    Json(AuthorizationServer {
        authorization_endpoint: format!("{base}/oauth/authorize"),
        token_endpoint: format!("{base}/api/auth/token"),
        registration_endpoint: format!("{base}/api/oauth/register"),
        device_authorization_endpoint: format!("{base}/api/auth/device/authorize"),
        response_types_supported: texts(&["code"]),
        grant_types_supported: texts(&[
            "authorization_code",
            "refresh_token",
            "urn:ietf:params:oauth:grant-type:device_code",
        ]),
        code_challenge_methods_supported: texts(&["S256"]),
        token_endpoint_auth_methods_supported: texts(&["none"]),
        scopes_supported: ScopeLevel::Admin.words(),
        authorization_response_iss_parameter_supported: true,
        issuer: base,
    })
}

/// What the tokens open, and who issues them.
#[utoipa::path(
    get,
    path = "/.well-known/oauth-protected-resource",
    operation_id = "protectedResource",
    tag = "credentials",
    responses((status = 200, description = "The answer", body = ProtectedResource)),
    security(())
)]
pub async fn protected_resource(State(app): State<Arc<App>>) -> Json<ProtectedResource> {
    let base = app.config.base_url();
    Json(ProtectedResource {
        resource: base.clone(),
        authorization_servers: vec![base],
        bearer_methods_supported: vec!["header".to_owned()],
        scopes_supported: ScopeLevel::Admin.words(),
    })
}
