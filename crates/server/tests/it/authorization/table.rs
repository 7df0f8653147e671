//! One row for each route of the OpenAPI document.
//!
//! `row(method, path, required permission, accepted credentials, body, status for callers with the permission)`. Paths
//! are the document's; `callers.rs` replaces their parameters with values that identify nothing that exists. Bodies
//! change nothing that later rows need.

use tidewatch_accounts::ScopeLevel;

/// The permission that a route requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    Nothing,
    /// A project's token for exporters.
    RuntimeToken,
    /// A project's token for uploads.
    UploadToken,
    /// Any person.
    Person,
    /// Any member of the project or organization.
    Read,
    Write,
    Admin,
    #[expect(dead_code, reason = "no route is the owner's alone yet")]
    Owner,
    /// The owner of any organization.
    OwnerOfAny,
}

/// The kinds of credential that a route accepts. For a new route, decide whether a token may call it. A person's login
/// is a bearer token or the cookie of a page of this server, and both have the same permissions (`Caller::Admin`,
/// `Caller::AdminsPage`); the cookie in a request from any other page has none (`Caller::ForeignPage`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kinds {
    /// None, or a project's own token.
    NoPerson,
    /// A person's login only: for routes that create, show or end credentials, grant access, or cannot be undone.
    Login,
    /// A login with a recent proof (step-up): for routes that create credentials, change roles or delete.
    FreshLogin,
    /// A login, or a personal or client's token with this scope or a higher one.
    Token(ScopeLevel),
}

const READS: Kinds = Kinds::Token(ScopeLevel::Read);
const WRITES: Kinds = Kinds::Token(ScopeLevel::Write);
const ADMINISTERS: Kinds = Kinds::Token(ScopeLevel::Admin);

/// A selection of profiles that do not exist.
const PROFILES: &str = r#"{"serviceName":"x","type":"y"}"#;

pub struct Row {
    pub method: &'static str,
    pub path: &'static str,
    pub needs: Needs,
    pub kinds: Kinds,
    pub body: &'static str,
    /// The status for callers with the required permission.
    pub status: u16,
    /// Whether the route takes `?projectId=`.
    pub is_about_a_project: bool,
}

/// A row of a route that takes `?projectId=` if `needs` is a role in a project.
const fn row(
    method: &'static str,
    path: &'static str,
    needs: Needs,
    kinds: Kinds,
    body: &'static str,
    status: u16,
) -> Row {
    let is_about_a_project = matches!(needs, Needs::Read | Needs::Write | Needs::Admin | Needs::Owner);
    Row { method, path, needs, kinds, body, status, is_about_a_project }
}

use Kinds::{FreshLogin, Login, NoPerson};
use Needs::{Admin, Nothing, OwnerOfAny, Person, Read, RuntimeToken, UploadToken, Write};

#[rustfmt::skip]
pub const TABLE: &[Row] = &[
    row("GET", "/.well-known/oauth-authorization-server", Nothing, NoPerson, "", 200),
    row("GET", "/.well-known/oauth-protected-resource", Nothing, NoPerson, "", 200),
    row("GET", "/api/ack", Nothing, NoPerson, "", 400),
    row("POST", "/api/ack", Nothing, NoPerson, "", 400),
    row("GET", "/api/ack/{token}", Nothing, NoPerson, "", 404),
    row("POST", "/api/ack/{token}", Nothing, NoPerson, "", 404),
    row("GET", "/api/auth/callback/{provider}", Nothing, NoPerson, "", 404),
    row("POST", "/api/auth/finish-setup", Person, Login, "{}", 400),
    row("GET", "/api/auth/providers", Nothing, NoPerson, "", 200),
    row("GET", "/api/auth/start/{provider}", Nothing, NoPerson, "", 404),
    row("POST", "/api/login/mfa", Nothing, NoPerson, "{}", 400),
    row("POST", "/api/setup-tokens", Person, Login, r#"{"organizationId":0}"#, 403),
    row("GET", "/api/setup/drafts", Person, Login, "", 200),
    row("POST", "/api/setup/drafts/{id}", Person, Login, r#"{"projects":[]}"#, 404),
    row("DELETE", "/api/setup/drafts/{id}", Person, Login, "", 404),
    row("GET", "/api/setup/session", Nothing, NoPerson, "", 401),
    row("POST", "/api/setup/plan", Nothing, NoPerson, "", 401),
    row("POST", "/api/projects/batch", Person, WRITES, r#"{"projects":[]}"#, 422),
    row("POST", "/api/login/mfa/mail", Nothing, NoPerson, r#"{"mfaToken":"x"}"#, 404),
    row("POST", "/api/login/mfa/passkey/start", Nothing, NoPerson, r#"{"mfaToken":"x"}"#, 404),
    row("POST", "/api/login/passkey/finish", Nothing, NoPerson, "{}", 400),
    row("POST", "/api/login/passkey/start", Nothing, NoPerson, "{}", 404),
    row("POST", "/api/me/passkeys/finish", Person, Login, "{}", 400),
    row("POST", "/api/me/passkeys/start", Person, Login, "{}", 404),
    row("DELETE", "/api/me/passkeys/{id}", Person, Login, "{}", 404),
    row("PUT", "/api/me/passkeys/{id}", Person, Login, "{}", 400),
    row("GET", "/api/me/two-factor", Person, Login, "", 200),
    row("POST", "/api/me/two-factor/recovery-codes", Person, Login, "{}", 400),
    row("DELETE", "/api/me/two-factor/totp", Person, Login, "{}", 400),
    row("POST", "/api/me/two-factor/totp", Person, Login, "{}", 400),
    row("POST", "/api/me/two-factor/totp/confirm", Person, Login, "{}", 400),
    row("POST", "/api/auth/device/authorize", Nothing, NoPerson, "{}", 200),
    row("POST", "/api/auth/device/token", Nothing, NoPerson, "{}", 400),
    row("POST", "/api/auth/logout", Nothing, NoPerson, "{}", 200),
    row("POST", "/api/auth/token", Nothing, NoPerson, "{}", 400),
    row("GET", "/api/device", Person, Login, "", 404),
    row("POST", "/api/device/approve", Person, FreshLogin, "{}", 400),
    row("POST", "/api/device/deny", Person, Login, "{}", 400),
    row("GET", "/api/me/grants", Person, Login, "", 200),
    row("DELETE", "/api/me/grants/{id}", Person, Login, "", 404),
    row("POST", "/api/oauth/approve", Person, FreshLogin, "{}", 400),
    row("GET", "/api/oauth/client", Person, Login, "", 404),
    row("POST", "/api/oauth/deny", Person, Login, "{}", 400),
    row("POST", "/api/oauth/register", Nothing, NoPerson, "{}", 400),
    row("GET", "/api/personal-access-tokens", Person, Login, "", 200),
    row("POST", "/api/personal-access-tokens", Person, FreshLogin, "{}", 400),
    row("DELETE", "/api/personal-access-tokens/{id}", Person, Login, "", 404),
    row("POST", "/api/ai-conversations/conversation", Read, READS, "{}", 400),
    row("POST", "/api/ai-conversations/grouped", Read, READS, "{}", 200),
    row("POST", "/api/ai-traces", Read, READS, "{}", 200),
    row("POST", "/api/ai-traces/chart", Read, READS, "{}", 200),
    row("POST", "/api/ai-traces/grouped", Read, READS, "{}", 200),
    row("POST", "/api/ai-traces/trace", Read, READS, "{}", 400),
    row("POST", "/api/ai-traces/{id}", Read, READS, "{}", 404),
    row("POST", "/api/ai-users/grouped", Read, READS, "{}", 200),
    row("GET", "/api/dashboard/overview", Read, READS, "", 200),
    row("POST", "/api/overview/answers", Read, READS, "{}", 200),
    row("GET", "/api/overview/data-since", Read, READS, "", 200),
    row("POST", "/api/overview/changes", Read, READS, "{}", 200),
    row("POST", "/api/distributed-traces/{traceId}", Read, READS, "{}", 404),
    row("POST", "/api/compare", Read, READS, "{}", 200),
    row("POST", "/api/deploys", Write, WRITES, "{}", 400),
    row("POST", "/api/deploys/list", Read, READS, "{}", 200),
    row("POST", "/api/deploys/version", Read, READS, "{}", 404),
    row("POST", "/api/first-version", Read, READS, "{}", 200),
    row("POST", "/api/drops", Read, READS, "{}", 200),
    row("GET", "/api/refusals", OwnerOfAny, Login, "", 200),
    row("POST", "/api/endpoints", Read, READS, "{}", 200),
    row("POST", "/api/endpoints/chart", Read, READS, "{}", 200),
    row("POST", "/api/endpoints/endpoint", Read, READS, "{}", 400),
    row("POST", "/api/endpoints/grouped", Read, READS, "{}", 200),
    row("GET", "/api/endpoints/slow", Read, READS, "", 400),
    row("POST", "/api/endpoints/slow", Write, WRITES, "{}", 400),
    row("POST", "/api/endpoints/{id}", Read, READS, "{}", 404),
    row("POST", "/api/exception-stack-traces", Read, READS, "{}", 200),
    row("POST", "/api/exception-stack-traces/archive", Write, WRITES, "{}", 400),
    row("POST", "/api/exception-stack-traces/by-id/{id}", Read, READS, "{}", 404),
    row("GET", "/api/exception-stack-traces/by-id/{id}/recording", Read, READS, "", 404),
    row("POST", "/api/exception-stack-traces/unarchive", Write, WRITES, "{}", 400),
    row("POST", "/api/exception-stack-traces/state", Write, WRITES, "{}", 400),
    row("POST", "/api/exception-stack-traces/assign", Write, WRITES, "{}", 400),
    row("POST", "/api/exception-stack-traces/merge", Write, WRITES, "{}", 400),
    row("POST", "/api/exception-stack-traces/unmerge", Write, WRITES, "{}", 400),
    row("PUT", "/api/exception-stack-traces/comments/{id}", Write, WRITES, "{}", 400),
    row("DELETE", "/api/exception-stack-traces/comments/{id}", Write, WRITES, "", 404),
    row("GET", "/api/exception-stack-traces/{hash}/similar", Read, READS, "", 404),
    row("GET", "/api/exception-stack-traces/{hash}/activity", Read, READS, "", 200),
    row("POST", "/api/exception-stack-traces/{hash}/comments", Write, WRITES, "{}", 400),
    row("POST", "/api/exception-stack-traces/{hash}", Read, READS, "{}", 404),
    row("GET", "/api/export", Read, READS, "", 400),
    row("POST", "/api/forgot-password", Nothing, NoPerson, r#"{"email":"nobody"}"#, 200),
    row("GET", "/api/has-organizations", Nothing, NoPerson, "", 200),
    row("GET", "/api/invitation", Nothing, NoPerson, "", 400),
    row("POST", "/api/invitation/accept", Nothing, NoPerson, r#"{"name":"A","password":"12345678"}"#, 400),
    row("POST", "/api/invitation/accept-existing", Person, Login, "", 400),
    row("GET", "/api/invitations/{token}", Nothing, NoPerson, "", 404),
    row("POST", "/api/invitations/{token}/accept", Nothing, NoPerson, r#"{"name":"A","password":"12345678"}"#, 404),
    row("POST", "/api/invitations/{token}/accept-existing", Person, Login, "", 404),
    row("POST", "/api/login", Nothing, NoPerson, "{}", 401),
    row("POST", "/api/logs", Read, READS, "{}", 200),
    row("POST", "/api/logs/around", Read, READS, "{}", 400),
    row("POST", "/api/logs/export", Read, READS, "{}", 200),
    row("POST", "/api/logs/histogram", Read, READS, "{}", 200),
    row("POST", "/api/logs/patterns", Read, READS, "{}", 200),
    row("GET", "/api/logs/tail", Read, READS, "", 400),
    row("POST", "/api/query/complete", Read, READS, r#"{"rows":"log"}"#, 200),
    row("POST", "/api/query/facets", Read, READS, r#"{"rows":"log"}"#, 200),
    row("PUT", "/api/me", Person, WRITES, "{}", 200),
    row("GET", "/api/me/login-bundle", Person, READS, "", 200),
    row("GET", "/api/me/security-log", Person, Login, "", 200),
    row("PUT", "/api/me/password", Person, Login, "{}", 400),
    row("GET", "/api/metrics/discover", Read, READS, "", 200),
    row("GET", "/api/metrics/discover/instances", Read, READS, "", 200),
    row("GET", "/api/metrics/discover/tags", Read, READS, "", 400),
    row("POST", "/api/metrics/query", Read, READS, "{}", 400),
    row("POST", "/api/organizations", Person, ADMINISTERS, "{}", 400),
    row("GET", "/api/organizations/{id}/audit", Admin, ADMINISTERS, "", 200),
    row("GET", "/api/organizations/{id}/audit/export", Admin, Login, "", 400),
    row("GET", "/api/organizations/{id}/demo", Read, READS, "", 200),
    row("POST", "/api/organizations/{id}/demo", Admin, ADMINISTERS, r#"{"historyMinutes":0}"#, 422),
    row("GET", "/api/organizations/{id}/invitations", Admin, ADMINISTERS, "", 200),
    row("POST", "/api/organizations/{id}/invitations", Admin, FreshLogin, "{}", 400),
    row("DELETE", "/api/organizations/{id}/invitations/{invitationId}", Admin, Login, "", 404),
    row("GET", "/api/organizations/{id}/members", Read, READS, "", 200),
    // Every member may leave; only owners and admins learn whether another member exists.
    row("DELETE", "/api/organizations/{id}/members/{userId}", Admin, FreshLogin, "", 404),
    row("PUT", "/api/organizations/{id}/members/{userId}", Admin, FreshLogin, "{}", 400),
    row("GET", "/api/organizations/{id}/members/{userId}/project-roles", Read, READS, "", 404),
    row("PUT", "/api/organizations/{id}/members/{userId}/project-roles", Admin, FreshLogin, "{}", 400),
    row("GET", "/api/organizations/{id}/settings", Read, READS, "", 200),
    row("GET", "/api/organizations/{id}/sso", Admin, ADMINISTERS, "", 200),
    row("PUT", "/api/organizations/{id}/settings", Admin, Login, "{}", 200),
    row("POST", "/api/otel/v1/logs", RuntimeToken, NoPerson, "{}", 200),
    row("POST", "/api/otel/v1/metrics", RuntimeToken, NoPerson, "{}", 200),
    row("POST", "/api/otel/v1/traces", RuntimeToken, NoPerson, "{}", 200),
    row("POST", "/api/otel/v1development/profiles", RuntimeToken, NoPerson, "{}", 200),
    row("POST", "/api/profiles/dimensions", Read, READS, PROFILES, 200),
    row("POST", "/api/profiles/flamegraph", Read, READS, PROFILES, 200),
    row("POST", "/api/profiles/grouped", Read, READS, "{}", 200),
    row("POST", "/api/profiles/ingest", RuntimeToken, NoPerson, "{}", 400),
    row("POST", "/api/profiles/labels", Read, READS, PROFILES, 200),
    row("POST", "/api/profiles/links", Read, READS, r#"{"serviceName":"x"}"#, 200),
    row("POST", "/api/profiles/pprof", Read, READS, PROFILES, 404),
    row("POST", "/api/profiles/series", Read, READS, PROFILES, 200),
    row("POST", "/api/profiles/series/breakdown", Read, READS, r#"{"serviceName":"x","type":"y","dimension":"appVersion"}"#, 200),
    row("POST", "/api/profiles/top", Read, READS, PROFILES, 200),
    row("POST", "/api/profiles/types", Read, READS, "{}", 200),
    row("POST", "/api/report", RuntimeToken, NoPerson, "{}", 200),
    row("GET", "/api/password-reset", Nothing, NoPerson, "", 400),
    row("POST", "/api/password-reset", Nothing, NoPerson, r#"{"password":"12345678"}"#, 400),
    row("GET", "/api/password-reset/{token}", Nothing, NoPerson, "", 200),
    row("POST", "/api/password-reset/{token}", Nothing, NoPerson, r#"{"password":"12345678"}"#, 400),
    row("DELETE", "/api/projects", Admin, FreshLogin, "{}", 400),
    row("GET", "/api/projects", Person, READS, "", 200),
    row("POST", "/api/projects", Person, WRITES, "{}", 400),
    row("PUT", "/api/projects", Write, WRITES, "{}", 200),
    row("DELETE", "/api/projects/source-map-token/previous", Admin, Login, "", 404),
    row("DELETE", "/api/projects/token/previous", Admin, Login, "", 404),
    row("POST", "/api/register", Nothing, NoPerson, "{}", 400),
    row("POST", "/api/sourcemaps/upload", UploadToken, NoPerson, "{}", 400),
    row("DELETE", "/api/sessions", Admin, Login, "", 400),
    row("POST", "/api/sessions", Read, READS, "{}", 200),
    row("POST", "/api/sessions/{id}", Read, READS, "{}", 404),
    row("GET", "/api/sessions/{id}/recording", Read, READS, "", 404),
    row("POST", "/api/explain", Read, READS, "{}", 400),
    row("POST", "/api/heatmap", Read, READS, "{}", 400),
    row("POST", "/api/traces/search", Read, READS, "{}", 200),
    row("POST", "/api/traces/{traceId}/columns", Read, READS, "{}", 404),
    row("POST", "/api/spans", Read, READS, "{}", 200),
    row("GET", "/api/services", Read, READS, "", 200),
    row("GET", "/api/spans/{traceId}/{spanId}", Read, READS, "", 404),
    row("DELETE", "/api/symbols", Write, WRITES, "", 200),
    row("GET", "/api/symbols", Read, READS, "", 200),
    row("GET", "/api/symbols/missing", Read, READS, "", 200),
    row("POST", "/api/symbols/resolve", Read, READS, "{}", 400),
    row("POST", "/api/symbols/sources", Read, READS, "{}", 400),
    row("POST", "/api/symbols/upload", UploadToken, NoPerson, "{}", 400),
    row("POST", "/api/tasks", Read, READS, "{}", 200),
    row("POST", "/api/tasks/chart", Read, READS, "{}", 200),
    row("POST", "/api/tasks/grouped", Read, READS, "{}", 200),
    row("POST", "/api/tasks/task", Read, READS, "{}", 400),
    row("POST", "/api/tasks/{id}", Read, READS, "{}", 404),
    row("GET", "/health", Nothing, NoPerson, "", 200),
    row("GET", "/api/me/sessions", Person, Login, "", 200),
    row("DELETE", "/api/me/sessions/{id}", Person, Login, "", 404),
    row("POST", "/api/me/step-up", Person, Login, "{}", 400),
    row("POST", "/api/me/step-up/start", Person, Login, "", 200),
    // The last rows: they rotate the project's tokens and end the logins of permitted callers.
    row("POST", "/api/projects/source-map-token", Admin, FreshLogin, "{}", 200),
    row("POST", "/api/projects/token", Admin, FreshLogin, "{}", 200),
    row("POST", "/api/me/logout", Person, Login, "", 200),
    // Every caller gets a new login before this row.
    row("POST", "/api/me/sessions/revoke", Person, Login, "", 200),
];
