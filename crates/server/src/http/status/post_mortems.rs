//! Post-mortems of incidents, in Markdown.

use std::sync::Arc;

use crate::http::confirmation::Done;
use axum::Json;
use axum::extract::{Path, State};
use tidewatch_alerts::incidents::PostMortem;
use tidewatch_alerts::incidents::views::*;
use tidewatch_alerts::markdown;
use tidewatch_alerts::status_pages::rfc3339;
use tidewatch_limits as limits;

use super::view;
use super::visible::{find, sees};
use crate::contexts::{Accounts, Alerting};
use crate::error::ApiError;
use crate::http::gate::auth::{OrganizationAccess, Read, Write};
use crate::http::gate::body::JsonBody;
use crate::http::openapi::{Failures, NotFound};

/// The post-mortems of an organization, latest incident first.
#[utoipa::path(
    get,
    path = "/api/organizations/{id}/post-mortems",
    operation_id = "listPostMortems",
    tag = "incidents",
    params(("id" = i64, Path)),
    responses((status = 200, description = "Success", body = PostMortems), Failures)
)]
pub async fn list(
    State(alerting): State<Arc<Alerting>>,
    State(accounts): State<Arc<Accounts>>,
    access: OrganizationAccess<Read>,
) -> Result<Json<PostMortems>, ApiError> {
    let found = alerting.rooms.incidents.post_mortems(access.organization.id).await?;
    let visible = found.iter().filter(|(incident, _)| sees(&accounts, access.user.id, incident));
    let rows = visible.map(|(incident, post_mortem)| PostMortemRow {
        incident: view::incident(&accounts, incident),
        published: post_mortem.is_published,
        updated_at: rfc3339(post_mortem.updated_ns),
    });
    Ok(Json(PostMortems { post_mortems: rows.collect() }))
}

/// Markdown as a tree without HTML. Nothing is stored.
#[utoipa::path(
    post,
    path = "/api/organizations/{id}/post-mortems/preview",
    operation_id = "previewPostMortem",
    tag = "incidents",
    params(("id" = i64, Path)),
    request_body = PreviewRequest,
    responses((status = 200, description = "Success", body = MarkdownView), Failures)
)]
pub async fn preview(
    _access: OrganizationAccess<Read>,
    JsonBody(request): JsonBody<PreviewRequest>,
) -> Result<Json<MarkdownView>, ApiError> {
    check(&request.body)?;
    Ok(Json(MarkdownView { nodes: view::markdown(markdown::parse(&request.body)) }))
}

/// Stores the post-mortem of an incident.
#[utoipa::path(
    put,
    path = "/api/organizations/{id}/incidents/{incidentId}/post-mortem",
    operation_id = "writePostMortem",
    tag = "incidents",
    params(("id" = i64, Path), ("incidentId" = i64, Path)),
    request_body = PostMortemRequest,
    responses((status = 200, description = "Success", body = PostMortemView), Failures, NotFound)
)]
pub async fn write(
    State(alerting): State<Arc<Alerting>>,
    State(accounts): State<Arc<Accounts>>,
    access: OrganizationAccess<Write>,
    Path((_organization, id)): Path<(String, String)>,
    JsonBody(request): JsonBody<PostMortemRequest>,
) -> Result<Json<PostMortemView>, ApiError> {
    let incident = find(&alerting, &accounts, &access, &id).await?;
    check(&request.body)?;
    let actor = access.actor(&alerting.clock);
    alerting.rooms.incidents.write_post_mortem(&actor, &incident, &request.body, request.published).await?;
    alerting.status_pages.forget();
    let stored = alerting.rooms.incidents.post_mortem(incident.id).await?;
    stored.map(|stored| Json(view_of(stored))).ok_or_else(|| ApiError::not_found("the incident has no post-mortem"))
}

/// Deletes the post-mortem of an incident.
#[utoipa::path(
    delete,
    path = "/api/organizations/{id}/incidents/{incidentId}/post-mortem",
    operation_id = "deletePostMortem",
    tag = "incidents",
    params(("id" = i64, Path), ("incidentId" = i64, Path)),
    responses((status = 200, description = "Deleted", body = Done), Failures, NotFound)
)]
pub async fn delete(
    State(alerting): State<Arc<Alerting>>,
    State(accounts): State<Arc<Accounts>>,
    access: OrganizationAccess<Write>,
    Path((_organization, id)): Path<(String, String)>,
) -> Result<Json<Done>, ApiError> {
    let incident = find(&alerting, &accounts, &access, &id).await?;
    alerting.rooms.incidents.delete_post_mortem(&access.actor(&alerting.clock), &incident).await?;
    alerting.status_pages.forget();
    Ok(Json(Done { message: "the post-mortem was deleted".to_owned() }))
}

pub fn view_of(post_mortem: PostMortem) -> PostMortemView {
    PostMortemView {
        nodes: view::markdown(markdown::parse(&post_mortem.body)),
        body: post_mortem.body,
        published: post_mortem.is_published,
        author: post_mortem.author,
        updated_at: rfc3339(post_mortem.updated_ns),
    }
}

/// A beginning of a post-mortem: its questions, and the timeline.
pub fn draft(title: &str, timeline: &[TimelineEntry]) -> String {
    let mut out = format!("# {}\n\n## What happened\n\n\n## Impact\n\n\n## Timeline\n\n", plain(title));
    for entry in timeline {
        let what = match entry.kind.as_str() {
            "opened" => format!("Opened: {}", plain(&entry.title)),
            "alert_fired" => format!("Alert: {}", plain(&entry.title)),
            "alert_ended" => format!("Alert ended: {}", plain(&entry.title)),
            "deploy" => format!("Deploy: {}", plain(&entry.title)),
            "issue_new" => format!("New Issue: {}", plain(&entry.title)),
            "issue_regressed" => format!("Issue is back: {}", plain(&entry.title)),
            _ => format!("{}: {}", plain(&entry.title), plain(&entry.message)),
        };
        out.push_str(&format!("- {} {what}\n", entry.time));
    }
    out.push_str("\n## Cause\n\n\n## What we change\n\n- \n");
    out
}

/// A line whose characters mean nothing in Markdown.
fn plain(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for c in value.chars() {
        match c {
            '\n' | '\r' => out.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|' | '~' | '!' | '&' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

fn check(body: &str) -> Result<(), ApiError> {
    let most = limits::POST_MORTEM_BYTES_MAX;
    if body.len() > most {
        return Err(ApiError::unprocessable(format!("a post-mortem has at most {most} bytes")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_a_draft_mean_nothing_in_markdown() {
        let entry = TimelineEntry {
            time: "2026-11-25T10:00:00Z".to_owned(),
            kind: "alert_fired".to_owned(),
            title: "[a](javascript:alert(1)) <b>\n# c".to_owned(),
            message: String::new(),
            author: String::new(),
            path: String::new(),
        };
        let draft = draft("*x*", &[entry]);
        let html = markdown::html(&markdown::parse(&draft)).into_string();
        assert!(html.contains("<h4>*x*</h4>"), "{html}");
        assert!(html.contains("Alert: [a](javascript:alert(1)) &lt;b&gt; # c</li>"), "{html}");
    }
}
