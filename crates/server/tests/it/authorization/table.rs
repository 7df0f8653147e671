//! One row for each route of the OpenAPI document.
//!
//! `row(method, path, what it needs, body, what those hear who have it)`. Paths are the document's; what is in braces is
//! filled in by `cast.rs` with something that does not exist. Bodies are such that nothing is changed that later rows
//! need.

/// What a route asks of its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    Nothing,
    /// A project's token for exporters.
    RuntimeToken,
    /// A project's token for uploads.
    UploadToken,
    /// Any person.
    Person,
    /// Any person by their own login, not by a token.
    InPerson,
    /// Any member of the project or organisation.
    Read,
    Write,
    Admin,
    #[expect(dead_code, reason = "no route is the owner's alone yet")]
    Owner,
}

pub struct Row {
    pub method: &'static str,
    pub path: &'static str,
    pub needs: Needs,
    pub body: &'static str,
    /// What those hear who have what is needed.
    pub status: u16,
    /// Takes `?projectId=`.
    pub is_about_a_project: bool,
}

/// Of a project, or of nothing in particular.
const fn row(method: &'static str, path: &'static str, needs: Needs, body: &'static str, status: u16) -> Row {
    let is_about_a_project = matches!(needs, Needs::Read | Needs::Write | Needs::Admin | Needs::Owner);
    Row { method, path, needs, body, status, is_about_a_project }
}

use Needs::{Admin, InPerson, Nothing, Person, Read, RuntimeToken, UploadToken, Write};

#[rustfmt::skip]
pub const TABLE: &[Row] = &[
    row("GET", "/.well-known/oauth-authorization-server", Nothing, "", 200),
    row("GET", "/.well-known/oauth-protected-resource", Nothing, "", 200),
    row("GET", "/api/ack/{token}", Nothing, "", 404),
    row("POST", "/api/ack/{token}", Nothing, "", 404),
    row("GET", "/api/auth/callback/{provider}", Nothing, "", 404),
    row("POST", "/api/auth/finish-setup", InPerson, "{}", 400),
    row("GET", "/api/auth/providers", Nothing, "", 200),
    row("GET", "/api/auth/start/{provider}", Nothing, "", 404),
    row("POST", "/api/login/mfa", Nothing, "{}", 400),
    row("POST", "/api/setup-tokens", InPerson, r#"{"organizationId":0}"#, 403),
    row("GET", "/api/setup/drafts", InPerson, "", 200),
    row("POST", "/api/setup/drafts/{id}", InPerson, r#"{"projects":[]}"#, 404),
    row("DELETE", "/api/setup/drafts/{id}", InPerson, "", 404),
    row("GET", "/api/setup/session", Nothing, "", 401),
    row("POST", "/api/setup/plan", Nothing, "", 401),
    row("POST", "/api/projects/batch", Person, r#"{"projects":[]}"#, 422),
    row("POST", "/api/login/mfa/passkey/start", Nothing, r#"{"mfaToken":"x"}"#, 404),
    row("POST", "/api/login/passkey/finish", Nothing, "{}", 400),
    row("POST", "/api/login/passkey/start", Nothing, "{}", 404),
    row("POST", "/api/me/passkeys/finish", InPerson, "{}", 400),
    row("POST", "/api/me/passkeys/start", InPerson, "{}", 404),
    row("DELETE", "/api/me/passkeys/{id}", InPerson, "{}", 404),
    row("PUT", "/api/me/passkeys/{id}", InPerson, "{}", 400),
    row("GET", "/api/me/two-factor", InPerson, "", 200),
    row("POST", "/api/me/two-factor/recovery-codes", InPerson, "{}", 400),
    row("DELETE", "/api/me/two-factor/totp", InPerson, "{}", 400),
    row("POST", "/api/me/two-factor/totp", InPerson, "{}", 400),
    row("POST", "/api/me/two-factor/totp/confirm", InPerson, "{}", 400),
    row("POST", "/api/auth/device/authorize", Nothing, "{}", 200),
    row("POST", "/api/auth/device/token", Nothing, "{}", 400),
    row("POST", "/api/auth/logout", Nothing, "{}", 200),
    row("POST", "/api/auth/token", Nothing, "{}", 400),
    row("GET", "/api/device", InPerson, "", 404),
    row("POST", "/api/device/approve", InPerson, "{}", 400),
    row("POST", "/api/device/deny", InPerson, "{}", 400),
    row("GET", "/api/me/grants", InPerson, "", 200),
    row("DELETE", "/api/me/grants/{id}", InPerson, "", 404),
    row("POST", "/api/oauth/approve", InPerson, "{}", 400),
    row("GET", "/api/oauth/client", InPerson, "", 404),
    row("POST", "/api/oauth/deny", InPerson, "{}", 400),
    row("POST", "/api/oauth/register", Nothing, "{}", 400),
    row("GET", "/api/personal-access-tokens", InPerson, "", 200),
    row("POST", "/api/personal-access-tokens", InPerson, "{}", 400),
    row("DELETE", "/api/personal-access-tokens/{id}", InPerson, "", 404),
    row("POST", "/api/ai-traces", Read, "{}", 200),
    row("POST", "/api/ai-traces/chart", Read, "{}", 200),
    row("POST", "/api/ai-traces/grouped", Read, "{}", 200),
    row("POST", "/api/ai-traces/trace", Read, "{}", 400),
    row("POST", "/api/ai-traces/{id}", Read, "{}", 404),
    row("GET", "/api/dashboard/overview", Read, "", 200),
    row("POST", "/api/distributed-traces/{traceId}", Read, "{}", 404),
    row("POST", "/api/drops", Read, "{}", 200),
    row("POST", "/api/endpoints", Read, "{}", 200),
    row("POST", "/api/endpoints/chart", Read, "{}", 200),
    row("POST", "/api/endpoints/endpoint", Read, "{}", 400),
    row("POST", "/api/endpoints/grouped", Read, "{}", 200),
    row("GET", "/api/endpoints/slow", Read, "", 400),
    row("POST", "/api/endpoints/slow", Write, "{}", 400),
    row("POST", "/api/endpoints/{id}", Read, "{}", 404),
    row("POST", "/api/exception-stack-traces", Read, "{}", 200),
    row("POST", "/api/exception-stack-traces/archive", Write, "{}", 400),
    row("POST", "/api/exception-stack-traces/by-id/{id}", Read, "{}", 404),
    row("POST", "/api/exception-stack-traces/unarchive", Write, "{}", 400),
    row("POST", "/api/exception-stack-traces/{hash}", Read, "{}", 404),
    row("POST", "/api/forgot-password", Nothing, r#"{"email":"nobody"}"#, 200),
    row("GET", "/api/has-organizations", Nothing, "", 200),
    row("GET", "/api/invitations/{token}", Nothing, "", 404),
    row("POST", "/api/invitations/{token}/accept", Nothing, r#"{"name":"A","password":"12345678"}"#, 404),
    row("POST", "/api/invitations/{token}/accept-existing", Person, "", 404),
    row("POST", "/api/login", Nothing, "{}", 401),
    row("POST", "/api/logs", Read, "{}", 200),
    row("POST", "/api/logs/histogram", Read, "{}", 200),
    row("PUT", "/api/me", Person, "{}", 200),
    row("GET", "/api/me/login-bundle", Person, "", 200),
    row("PUT", "/api/me/password", InPerson, "{}", 400),
    row("GET", "/api/metrics/discover", Read, "", 200),
    row("GET", "/api/metrics/discover/instances", Read, "", 200),
    row("GET", "/api/metrics/discover/tags", Read, "", 400),
    row("POST", "/api/metrics/query", Read, "{}", 400),
    row("POST", "/api/organizations", Person, "{}", 400),
    row("GET", "/api/organizations/{id}/audit", Admin, "", 200),
    row("GET", "/api/organizations/{id}/audit/export", Admin, "", 400),
    row("GET", "/api/organizations/{id}/invitations", Admin, "", 200),
    row("POST", "/api/organizations/{id}/invitations", Admin, "{}", 400),
    row("DELETE", "/api/organizations/{id}/invitations/{invitationId}", Admin, "", 404),
    row("GET", "/api/organizations/{id}/members", Read, "", 200),
    // Anybody may leave; whether there is somebody else is told to owners and admins alone.
    row("DELETE", "/api/organizations/{id}/members/{userId}", Admin, "", 404),
    row("PUT", "/api/organizations/{id}/members/{userId}", Admin, "{}", 400),
    row("GET", "/api/organizations/{id}/members/{userId}/project-roles", Read, "", 404),
    row("PUT", "/api/organizations/{id}/members/{userId}/project-roles", Admin, "{}", 400),
    row("GET", "/api/organizations/{id}/settings", Read, "", 200),
    row("GET", "/api/organizations/{id}/sso", Admin, "", 200),
    row("PUT", "/api/organizations/{id}/settings", Admin, "{}", 200),
    row("POST", "/api/otel/v1/logs", RuntimeToken, "{}", 200),
    row("POST", "/api/otel/v1/metrics", RuntimeToken, "{}", 200),
    row("POST", "/api/otel/v1/traces", RuntimeToken, "{}", 200),
    row("GET", "/api/password-reset/{token}", Nothing, "", 200),
    row("POST", "/api/password-reset/{token}", Nothing, r#"{"password":"12345678"}"#, 400),
    row("DELETE", "/api/projects", Admin, "{}", 400),
    row("GET", "/api/projects", Person, "", 200),
    row("POST", "/api/projects", Person, "{}", 400),
    row("PUT", "/api/projects", Write, "{}", 200),
    row("POST", "/api/projects/source-map-token", Admin, "{}", 200),
    row("POST", "/api/projects/token", Admin, "{}", 200),
    row("POST", "/api/register", Nothing, "{}", 400),
    row("POST", "/api/sourcemaps/upload", UploadToken, "{}", 400),
    row("POST", "/api/spans", Read, "{}", 200),
    row("GET", "/api/spans/{traceId}/{spanId}", Read, "", 404),
    row("DELETE", "/api/symbols", Write, "", 200),
    row("GET", "/api/symbols", Read, "", 200),
    row("GET", "/api/symbols/missing", Read, "", 200),
    row("POST", "/api/symbols/resolve", Read, "{}", 400),
    row("POST", "/api/symbols/sources", Read, "{}", 400),
    row("POST", "/api/symbols/upload", UploadToken, "{}", 400),
    row("POST", "/api/tasks", Read, "{}", 200),
    row("POST", "/api/tasks/chart", Read, "{}", 200),
    row("POST", "/api/tasks/grouped", Read, "{}", 200),
    row("POST", "/api/tasks/task", Read, "{}", 400),
    row("POST", "/api/tasks/{id}", Read, "{}", 404),
    row("GET", "/health", Nothing, "", 200),
    // Last: the logins of all who may call it are over.
    row("POST", "/api/me/sessions/revoke", InPerson, "", 200),
];
