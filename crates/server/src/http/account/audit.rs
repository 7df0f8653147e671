//! `/api/organizations/{id}/audit`: who changed what, for admins; page by page or as one file. `/api/me/security-log`: what
//! happened to one's own account.

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
use crate::app::App;
use crate::error::ApiError;
use crate::http::gate::auth::{Admin, InPerson, InPersonAs, OrganizationAccess};
use crate::http::openapi::Failures;
use crate::http::streamed_body::{self, BodySender};
use tidewatch_accounts::{AuditLine, AuditQuestion};
use tidewatch_limits as limits;
use tidewatch_query::views::people::{AuditActor, AuditLineView, AuditPage};

/// Which lines.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct AuditQuery {
    /// Lines older than this one's id.
    before: Option<i64>,
    /// 1 to 200; 50 when absent. An export is not cut into pages.
    limit: Option<i64>,
    /// An action or the kind of thing: `project.change`, `project`.
    action: Option<String>,
    /// What this person did.
    user_id: Option<i64>,
    /// `true`: also what happened to the accounts of the organization's members, sign-ins among it.
    accounts: Option<bool>,
}

/// How an export looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Format {
    Csv,
    Jsonl,
}

/// What is exported.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ExportQuery {
    /// `csv` or `jsonl`.
    #[param(value_type = String)]
    format: Format,
}

const LIMIT: i64 = 50;

impl AuditQuery {
    fn question(&self, organization: i64, most: i64) -> AuditQuestion<'_> {
        AuditQuestion {
            organization,
            before: self.before.unwrap_or(i64::MAX),
            most,
            action: self.action.as_deref().unwrap_or_default(),
            user: self.user_id.unwrap_or(0),
            has_accounts: self.accounts.unwrap_or(false),
        }
    }
}

/// Lines of the audit log, newest first.
#[utoipa::path(
    get,
    path = "/api/organizations/{id}/audit",
    operation_id = "auditLog",
    tag = "organizations",
    params(("id" = i64, Path), AuditQuery),
    responses((status = 200, description = "The answer", body = AuditPage), Failures)
)]
pub async fn page(
    State(app): State<Arc<App>>,
    access: OrganizationAccess<Admin>,
    query: Result<Query<AuditQuery>, axum::extract::rejection::QueryRejection>,
) -> Result<Json<AuditPage>, ApiError> {
    let Query(query) = query.map_err(|error| ApiError::malformed(error.body_text()))?;
    let limit = checked_limit(query.limit)?;
    // One more says whether there is another page.
    let lines = app.control.audit_lines(&query.question(access.organization.id, limit + 1)).await?;
    Ok(Json(paged(lines, limit)))
}

/// Which lines of one's own.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct SecurityLogQuery {
    /// Lines older than this one's id.
    before: Option<i64>,
    /// 1 to 200; 50 when absent.
    limit: Option<i64>,
}

/// What happened to one's own account, newest first: sign-ins, refused ones too, and changes of credentials.
#[utoipa::path(
    get,
    path = "/api/me/security-log",
    operation_id = "securityLog",
    tag = "account",
    params(SecurityLogQuery),
    responses((status = 200, description = "The answer", body = AuditPage), Failures)
)]
pub async fn own(
    State(app): State<Arc<App>>,
    InPerson(caller): InPerson,
    query: Result<Query<SecurityLogQuery>, axum::extract::rejection::QueryRejection>,
) -> Result<Json<AuditPage>, ApiError> {
    let Query(query) = query.map_err(|error| ApiError::malformed(error.body_text()))?;
    let limit = checked_limit(query.limit)?;
    let lines = app.control.security_log(caller.user.id, query.before.unwrap_or(i64::MAX), limit + 1).await?;
    Ok(Json(paged(lines, limit)))
}

fn checked_limit(limit: Option<i64>) -> Result<i64, ApiError> {
    let limit = limit.unwrap_or(LIMIT);
    match (1..=limits::AUDIT_LINES_MAX).contains(&limit) {
        true => Ok(limit),
        false => Err(ApiError::unprocessable(format!("limit is 1 to {}", limits::AUDIT_LINES_MAX))),
    }
}

/// A page of `limit` lines; one more among `lines` says that there is another.
fn paged(mut lines: Vec<AuditLine>, limit: i64) -> AuditPage {
    let is_more = lines.len() as i64 > limit;
    lines.truncate(limit as usize);
    let next = lines.last().filter(|_| is_more).map(|line| line.id);
    AuditPage { data: lines.into_iter().map(view).collect(), next }
}

/// The audit log as a file, newest first: CSV, or a line of JSON for each. At most 100 000 lines; `before` goes on.
#[utoipa::path(
    get,
    path = "/api/organizations/{id}/audit/export",
    operation_id = "exportAuditLog",
    tag = "organizations",
    params(("id" = i64, Path), ExportQuery, AuditQuery),
    responses((status = 200, description = "The file", body = String, content_type = "text/csv"), Failures)
)]
pub async fn export(
    State(app): State<Arc<App>>,
    access: OrganizationAccess<InPersonAs<Admin>>,
    format: Result<Query<ExportQuery>, axum::extract::rejection::QueryRejection>,
    query: Result<Query<AuditQuery>, axum::extract::rejection::QueryRejection>,
) -> Result<Response, ApiError> {
    let Query(ExportQuery { format }) =
        format.map_err(|_| ApiError::malformed("format is not one of csv and jsonl"))?;
    let Query(query) = query.map_err(|error| ApiError::malformed(error.body_text()))?;
    let organization = access.organization.id;
    // The first page is read before the answer begins, so that a database that is away is a 500.
    let first = app.control.audit_lines(&query.question(organization, limits::AUDIT_LINES_MAX)).await?;
    app.control.audit_export(&access.by(&app), organization).await?;
    let (pages, body) = streamed_body::channel();
    tokio::spawn(write_pages(app, organization, query, format, first, pages));
    let (kind, name) = match format {
        Format::Csv => ("text/csv; charset=utf-8", "attachment; filename=\"audit.csv\""),
        Format::Jsonl => ("application/jsonl; charset=utf-8", "attachment; filename=\"audit.jsonl\""),
    };
    Ok(([(CONTENT_TYPE, kind), (CONTENT_DISPOSITION, name)], Body::new(body)).into_response())
}

/// Page after page into the body, as fast as it is read.
async fn write_pages(
    app: Arc<App>,
    organization: i64,
    query: AuditQuery,
    format: Format,
    first: Vec<AuditLine>,
    pages: BodySender,
) {
    let (mut lines, mut left) = (first, limits::AUDIT_EXPORT_LINES_MAX);
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
        if count < limits::AUDIT_LINES_MAX || left <= 0 {
            return pages.end().await;
        }
        let question = AuditQuestion { before, ..query.question(organization, limits::AUDIT_LINES_MAX.min(left)) };
        lines = match app.control.audit_lines(&question).await {
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
    for (place, cell) in cells.into_iter().enumerate() {
        text.push_str(if place == 0 { "" } else { "," });
        push_cell(cell, text);
    }
    text.push_str("\r\n");
}

/// RFC 4180. What a spreadsheet would take for a formula is kept from being one.
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

fn view(line: AuditLine) -> AuditLineView {
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
