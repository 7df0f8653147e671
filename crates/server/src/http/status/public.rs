//! Routes for visitors of status pages: without an account, from memory, at most 30 requests a minute.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, HOST, VARY};
use axum::http::{Extensions, HeaderMap, HeaderName, HeaderValue, Method, Uri};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde::Deserialize;
use tidewatch_alerts::status_pages::views::{PublicStatus, ResolvedDomain};
use tidewatch_alerts::status_pages::{html, settings};
use tidewatch_limits::Window;
use tidewatch_limits::per_ip::{StatusDomain, StatusLogo, StatusPage};

use super::view;
use crate::contexts::{Alerting, Process};
use crate::error::ApiError;
use crate::http::gate::per_ip::{PerIp, client_address};
use crate::http::openapi::{NotFound, TooMany};
use crate::http::ui;
use tidewatch_alerts::status_pages::rendered::{Document, Rendered};

/// `Content-Type` of pages.
pub const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");
/// Shared caches may keep what is in memory here as long.
const HALF_A_MINUTE: HeaderValue = HeaderValue::from_static("public, max-age=30");
const FIVE_MINUTES: HeaderValue = HeaderValue::from_static("public, max-age=300");
/// Feed and badge are for other sites; neither is a page.
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const CROSS_ORIGIN: HeaderValue = HeaderValue::from_static("cross-origin");

/// Query string of the page.
#[derive(Debug, Deserialize)]
pub struct PageQuery {
    /// `1`: without logo, past incidents and subscription.
    embed: Option<String>,
}

/// The public page of a slug; 404 for private and unknown ones.
pub async fn find(alerting: &Alerting, slug: &str) -> Result<Arc<Rendered>, ApiError> {
    let found = alerting
        .status_pages
        .page(&alerting.rooms.status_pages, &alerting.announcer, slug, alerting.clock.now_ns())
        .await?;
    found.ok_or_else(|| ApiError::not_found("no such status page"))
}

/// The state of a public status page, at most 30 seconds old.
#[utoipa::path(
    get,
    path = "/api/status/{slug}",
    operation_id = "getPublicStatus",
    tag = "status pages",
    params(("slug" = String, Path, description = "The last part of the page's address")),
    responses((status = 200, description = "Success", body = PublicStatus), NotFound, TooMany),
    security(())
)]
pub async fn status(
    _: PerIp<StatusPage>,
    State(alerting): State<Arc<Alerting>>,
    Path(slug): Path<String>,
) -> Result<impl IntoResponse, ApiError> {
    let rendered = find(&alerting, &slug).await?;
    Ok(([(CACHE_CONTROL, HALF_A_MINUTE)], Json(view::public(&rendered.page))))
}

/// The logo of a public status page: PNG or JPEG.
#[utoipa::path(
    get,
    path = "/api/status/{slug}/logo",
    operation_id = "getPublicStatusLogo",
    tag = "status pages",
    params(("slug" = String, Path, description = "The last part of the page's address")),
    responses((status = 200, description = "The picture", content_type = "image/png", body = Vec<u8>), NotFound, TooMany),
    security(())
)]
pub async fn logo(
    _: PerIp<StatusLogo>,
    State(alerting): State<Arc<Alerting>>,
    Path(slug): Path<String>,
) -> Result<Response, ApiError> {
    let rendered = find(&alerting, &slug).await?;
    let content_type = rendered.logo_type.as_deref().and_then(|name| HeaderValue::from_str(name).ok());
    let content_type = content_type.ok_or_else(|| ApiError::not_found("the status page has no logo"))?;
    let (blobs, name) = (alerting.status_logos.clone(), logo_name(rendered.id));
    let read = tokio::task::spawn_blocking(move || blobs.get(&name)).await.map_err(ApiError::internal)?;
    let file = read.map_err(ApiError::internal)?.ok_or_else(|| ApiError::not_found("the status page has no logo"))?;
    Ok(([(CONTENT_TYPE, content_type), (CACHE_CONTROL, FIVE_MINUTES)], file).into_response())
}

/// The name of the blob of a page's logo. WIRE 9.
pub fn logo_name(page: i64) -> String {
    format!("statuspages/{page}/logo")
}

/// The slug of the status page at the root of the request's host.
#[utoipa::path(
    get,
    path = "/api/status-domains/resolve",
    operation_id = "resolveStatusDomain",
    tag = "status pages",
    responses((status = 200, description = "Success", body = ResolvedDomain), NotFound, TooMany),
    security(())
)]
pub async fn resolve(
    _: PerIp<StatusDomain>,
    State(alerting): State<Arc<Alerting>>,
    headers: HeaderMap,
    uri: Uri,
) -> Result<Json<ResolvedDomain>, ApiError> {
    let slug = slug_of_host(&alerting, &headers, &uri).await?;
    slug.map(|slug| Json(ResolvedDomain { slug })).ok_or_else(|| ApiError::not_found("no status page has this host"))
}

async fn slug_of_host(alerting: &Alerting, headers: &HeaderMap, uri: &Uri) -> Result<Option<String>, ApiError> {
    let header = headers.get(HOST).and_then(|host| host.to_str().ok());
    // HTTP/2 has the host in the URI.
    let Some(host) = header.or_else(|| uri.authority().map(|authority| authority.as_str())) else { return Ok(None) };
    Ok(alerting
        .status_pages
        .slug_of_domain(&alerting.rooms.status_pages, &settings::host(host), alerting.clock.now_ns())
        .await?)
}

/// `/`: the status page of a custom domain, otherwise the UI.
pub async fn root(
    State(alerting): State<Arc<Alerting>>,
    State(process): State<Arc<Process>>,
    extensions: Extensions,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Response {
    // The UI does not depend on the control database.
    let slug = slug_of_host(&alerting, &headers, &uri).await.unwrap_or_default();
    let Some(slug) = slug else { return ui::serve(method, uri, headers, body).await };
    let counted = process.per_ip.count(Window::StatusPage, client_address(&extensions), alerting.clock.now_ns());
    if let Err(too_many) = counted {
        return ApiError::from(too_many).into_response();
    }
    match find(&alerting, &slug).await {
        Ok(rendered) => document(&rendered.html, &headers),
        Err(error) => error.into_response(),
    }
}

/// `/status/{slug}`: the page.
pub async fn page(
    _: PerIp<StatusPage>,
    State(alerting): State<Arc<Alerting>>,
    Path(slug): Path<String>,
    Query(query): Query<PageQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let rendered = find(&alerting, &slug).await?;
    let is_embedded = query.embed.as_deref() == Some("1");
    Ok(document(if is_embedded { &rendered.embedded } else { &rendered.html }, &headers))
}

/// `/status/{slug}/feed.atom`.
pub async fn feed(
    _: PerIp<StatusPage>,
    State(alerting): State<Arc<Alerting>>,
    Path(slug): Path<String>,
) -> Result<Response, ApiError> {
    let rendered = find(&alerting, &slug).await?;
    Ok(for_other_sites(answer(HeaderValue::from_static("application/atom+xml; charset=utf-8"), rendered.feed.clone())))
}

/// `/status/{slug}/badge.svg`.
pub async fn badge(
    _: PerIp<StatusPage>,
    State(alerting): State<Arc<Alerting>>,
    Path(slug): Path<String>,
) -> Result<Response, ApiError> {
    let rendered = find(&alerting, &slug).await?;
    Ok(for_other_sites(answer(HeaderValue::from_static("image/svg+xml"), rendered.badge.clone())))
}

/// The style sheet of status pages.
pub async fn style() -> Response {
    let content_type = HeaderValue::from_static("text/css; charset=utf-8");
    ([(CONTENT_TYPE, content_type), (CACHE_CONTROL, FIVE_MINUTES)], html::STYLE).into_response()
}

fn document(document: &Document, headers: &HeaderMap) -> Response {
    let takes_gzip = ui::accepts(headers, ACCEPT_ENCODING.as_str(), "gzip");
    let mut response = answer(HTML, if takes_gzip { document.gzip.clone() } else { document.plain.clone() });
    response.headers_mut().insert(VARY, HeaderValue::from_static("Accept-Encoding"));
    if takes_gzip {
        response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}

fn answer(content_type: HeaderValue, body: Bytes) -> Response {
    ([(CONTENT_TYPE, content_type), (CACHE_CONTROL, HALF_A_MINUTE)], body).into_response()
}

fn for_other_sites(mut response: Response) -> Response {
    response.headers_mut().insert(RESOURCE_POLICY, CROSS_ORIGIN);
    response
}
