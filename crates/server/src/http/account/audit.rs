//! `/api/organizations/{id}/audit`: the audit log for admins, in pages or as a file. `/api/me/security-log`: the
//! entries about the user's own account.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde::Deserialize;
use utoipa::IntoParams;

use super::view::rfc3339;
use crate::contexts::Accounts;
use crate::error::ApiError;
use crate::http::account::bodies::people::{AuditActor, AuditLineView, AuditPage};
use crate::http::connection::streamed_body::{self, BodySender};
use crate::http::gate::auth::{Admin, LoginUser, OrganizationAccess, ViaLogin};
use crate::http::openapi::Failures;
use tidewatch_accounts::{AuditEntry, AuditFilter};
use tidewatch_limits as limits;

/// Selects entries of the audit log.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct AuditQuery {
    /// Only entries older than the one with this id.
    before: Option<i64>,
    /// The size of a page: 1 to 200, by default 50. Ignored by exports.
    limit: Option<i64>,
    /// Only this action, or actions on this kind of object: `project.change`, `project`.
    action: Option<String>,
    /// Only actions of this user.
    user_id: Option<i64>,
    /// `true`: also entries about the accounts of the organization's members, such as sign-ins.
    accounts: Option<bool>,
}

/// The format of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Format {
    Csv,
    Jsonl,
}

/// The parameters of an export, besides the selection of entries.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ExportQuery {
    /// `csv` or `jsonl`.
    #[param(value_type = String)]
    format: Format,
}

const LIMIT: i64 = 50;

impl AuditQuery {
    fn filter(&self, organization: i64, most: i64) -> AuditFilter<'_> {
        AuditFilter {
            organization,
            before: self.before.unwrap_or(i64::MAX),
            limit: most,
            action: self.action.as_deref().unwrap_or_default(),
            user: self.user_id.unwrap_or(0),
            has_accounts: self.accounts.unwrap_or(false),
        }
    }
}

/// A page of the audit log, the newest entries first.
#[utoipa::path(
    get,
    path = "/api/organizations/{id}/audit",
    operation_id = "auditLog",
    tag = "organizations",
    params(("id" = i64, Path), AuditQuery),
    responses((status = 200, description = "Success", body = AuditPage), Failures)
)]
pub async fn page(
    State(accounts): State<Arc<Accounts>>,
    access: OrganizationAccess<Admin>,
    query: Result<Query<AuditQuery>, axum::extract::rejection::QueryRejection>,
) -> Result<Json<AuditPage>, ApiError> {
    let Query(query) = query.map_err(|error| ApiError::malformed(error.body_text()))?;
    let limit = checked_limit(query.limit)?;
    // One more entry shows whether there is another page.
    let lines = accounts.control.audit_log.entries(&query.filter(access.organization.id, limit + 1)).await?;
    Ok(Json(paged(lines, limit)))
}

/// Selects entries of the user's security log.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct SecurityLogQuery {
    /// Only entries older than the one with this id.
    before: Option<i64>,
    /// The size of a page: 1 to 200, by default 50.
    limit: Option<i64>,
}

/// The security log of the user's account, the newest entries first: sign-ins, failed sign-ins and changes of
/// credentials.
#[utoipa::path(
    get,
    path = "/api/me/security-log",
    operation_id = "securityLog",
    tag = "account",
    params(SecurityLogQuery),
    responses((status = 200, description = "Success", body = AuditPage), Failures)
)]
pub async fn own(
    State(accounts): State<Arc<Accounts>>,
    LoginUser(caller): LoginUser,
    query: Result<Query<SecurityLogQuery>, axum::extract::rejection::QueryRejection>,
) -> Result<Json<AuditPage>, ApiError> {
    let Query(query) = query.map_err(|error| ApiError::malformed(error.body_text()))?;
    let limit = checked_limit(query.limit)?;
    let lines =
        accounts.control.sign_in.security_log(caller.user.id, query.before.unwrap_or(i64::MAX), limit + 1).await?;
    Ok(Json(paged(lines, limit)))
}

fn checked_limit(limit: Option<i64>) -> Result<i64, ApiError> {
    let limit = limit.unwrap_or(LIMIT);
    match (1..=limits::AUDIT_ENTRIES_MAX).contains(&limit) {
        true => Ok(limit),
        false => Err(ApiError::unprocessable(format!("limit is 1 to {}", limits::AUDIT_ENTRIES_MAX))),
    }
}

/// A page of `limit` entries. If `lines` has more, there is another page.
fn paged(mut lines: Vec<AuditEntry>, limit: i64) -> AuditPage {
    let is_more = lines.len() as i64 > limit;
    lines.truncate(limit as usize);
    let next = lines.last().filter(|_| is_more).map(|line| line.id);
    AuditPage { data: lines.into_iter().map(view).collect(), next }
}

/// Exports the audit log as CSV or JSON lines, the newest entries first. At most 100 000 entries; continue with
/// `before`.
#[utoipa::path(
    get,
    path = "/api/organizations/{id}/audit/export",
    operation_id = "exportAuditLog",
    tag = "organizations",
    params(("id" = i64, Path), ExportQuery, AuditQuery),
    responses((status = 200, description = "The file", body = String, content_type = "text/csv"), Failures)
)]
pub async fn export(
    State(accounts): State<Arc<Accounts>>,
    access: OrganizationAccess<ViaLogin<Admin>>,
    format: Result<Query<ExportQuery>, axum::extract::rejection::QueryRejection>,
    query: Result<Query<AuditQuery>, axum::extract::rejection::QueryRejection>,
) -> Result<Response, ApiError> {
    let Query(ExportQuery { format }) =
        format.map_err(|_| ApiError::malformed("format is not one of csv and jsonl"))?;
    let Query(query) = query.map_err(|error| ApiError::malformed(error.body_text()))?;
    let organization = access.organization.id;
    // The first page is read before the response begins, so that an unavailable database is a 500.
    let first = accounts.control.audit_log.entries(&query.filter(organization, limits::AUDIT_ENTRIES_MAX)).await?;
    accounts.control.audit_log.record_export(&access.actor(&accounts.clock), organization).await?;
    let (pages, body) = streamed_body::channel();
    tokio::spawn(write_pages(accounts, organization, query, format, first, pages));
    let (kind, name) = match format {
        Format::Csv => ("text/csv; charset=utf-8", "attachment; filename=\"audit.csv\""),
        Format::Jsonl => ("application/jsonl; charset=utf-8", "attachment; filename=\"audit.jsonl\""),
    };
    Ok(([(CONTENT_TYPE, kind), (CONTENT_DISPOSITION, name)], Body::new(body)).into_response())
}

/// Writes the pages into the body, as fast as the client reads it.
async fn write_pages(
    accounts: Arc<Accounts>,
    organization: i64,
    query: AuditQuery,
    format: Format,
    first: Vec<AuditEntry>,
    pages: BodySender,
) {
    let (mut lines, mut left) = (first, limits::AUDIT_EXPORT_ENTRIES_MAX);
    let mut text = if format == Format::Csv { CSV_HEAD.to_owned() } else { String::new() };
    loop {
        let count = lines.len() as i64;
        left -= count;
        let before = lines.last().map_or(0, |line| line.id);
        for line in lines {
            match format {
                Format::Csv => csv(&view(line), &mut text),
                Format::Jsonl => jsonl(&view(line), &mut text),
            }
        }
        if pages.send(Bytes::from(std::mem::take(&mut text))).await.is_err() {
            return;
        }
        if count < limits::AUDIT_ENTRIES_MAX || left <= 0 {
            return pages.end().await;
        }
        let filter = AuditFilter { before, ..query.filter(organization, limits::AUDIT_ENTRIES_MAX.min(left)) };
        lines = match accounts.control.audit_log.entries(&filter).await {
            Ok(next) => next,
            Err(error) => {
                tracing::error!(%error, "an export of the audit log broke off: {error}");
                return;
            }
        };
    }
}

const CSV_HEAD: &str = "id,at,actorId,actor,action,target,ip,userAgent,detail\r\n";

fn csv(line: &AuditLineView, text: &mut String) {
    let (id, email) = match &line.actor {
        Some(actor) => (actor.id.map_or_else(String::new, |id| id.to_string()), actor.email.as_str()),
        None => (String::new(), ""),
    };
    let detail = line.detail.to_string();
    let agent = line.user_agent.as_deref().unwrap_or_default();
    let id_of_line = line.id.to_string();
    let cells = [&id_of_line, &line.at, &id, email, &line.action, &line.target, &line.ip, agent, &detail];
    for (index, cell) in cells.into_iter().enumerate() {
        text.push_str(if index == 0 { "" } else { "," });
        push_cell(cell, text);
    }
    text.push_str("\r\n");
}

/// Appends a CSV cell (RFC 4180). Cells that a spreadsheet would evaluate as a formula begin with `'`.
fn push_cell(cell: &str, text: &mut String) {
    let is_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if !is_formula && !cell.contains([',', '"', '\r', '\n']) {
        text.push_str(cell);
        return;
    }
    text.push('"');
    text.push_str(if is_formula { "'" } else { "" });
    text.push_str(&cell.replace('"', "\"\""));
    text.push('"');
}

fn jsonl(line: &AuditLineView, text: &mut String) {
    if let Ok(json) = serde_json::to_string(line) {
        text.push_str(&json);
        text.push('\n');
    }
}

fn view(line: AuditEntry) -> AuditLineView {
    let actor = (!line.actor.is_empty()).then_some(AuditActor { id: line.user_id, email: line.actor });
    AuditLineView {
        id: line.id,
        at: rfc3339(line.at_ns),
        actor,
        action: line.action,
        target: line.subject,
        ip: line.address,
        user_agent: (!line.user_agent.is_empty()).then_some(line.user_agent),
        detail: line.details,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells() {
        for (cell, expected) in [
            ("plain", "plain"),
            ("a,b", "\"a,b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("a\r\nb", "\"a\r\nb\""),
            ("=HYPERLINK(\"x\")", "\"'=HYPERLINK(\"\"x\"\")\""),
            ("+1", "\"'+1\""),
            ("-1", "\"'-1\""),
            ("@x", "\"'@x\""),
            ("", ""),
        ] {
            let mut text = String::new();
            push_cell(cell, &mut text);
            assert_eq!(text, expected, "{cell:?}");
        }
    }
}
