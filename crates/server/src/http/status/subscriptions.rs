//! Subscriptions of visitors to a status page. Forms of pages without JavaScript; a link of a mail changes nothing before
//! a button is pressed, because mail scanners open links.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use tidewatch_alerts::status_pages::{SubscriberKind, Subscription, html, settings};
use tidewatch_limits::per_ip::StatusSubscription;

use super::public::{self, HTML};
use crate::contexts::{Accounts, Alerting};
use crate::error::ApiError;
use crate::http::account::check_email;
use crate::http::gate::body::FormOrJson;
use crate::http::gate::per_ip::PerIp;
use tidewatch_alerts::status_pages::rendered::Rendered;

/// Fields of the forms: one of the two.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct SubscribeForm {
    /// A mailbox.
    email: Option<String>,
    /// A webhook.
    webhook: Option<String>,
}

/// `POST /status/{slug}/subscribe`. The answer is the same whether or not the address has subscribed already.
pub async fn subscribe(
    _: PerIp<StatusSubscription>,
    State(alerting): State<Arc<Alerting>>,
    State(accounts): State<Arc<Accounts>>,
    Path(slug): Path<String>,
    FormOrJson(form): FormOrJson<SubscribeForm>,
) -> Result<Response, ApiError> {
    let rendered = public::find(&alerting, &slug).await?;
    let announcer = &alerting.announcer;
    let (kind, address) = match (form.email, form.webhook) {
        (Some(email), None) if announcer.has_mail => (SubscriberKind::Email, check_email(&email)?),
        (None, Some(webhook)) => {
            (SubscriberKind::Webhook, settings::webhook(&webhook).map_err(ApiError::unprocessable)?)
        }
        (Some(_), None) => return Err(ApiError::unprocessable("this server sends no mail")),
        _ => return Err(ApiError::malformed("email or webhook is missing")),
    };
    let page = alerting
        .rooms
        .status_pages
        .status_page(rendered.id)
        .await?
        .ok_or_else(|| ApiError::not_found("no such status page"))?;
    alerting.rooms.status_pages.subscribe_to_status(announcer, &page, kind, &address, alerting.clock.now_ns()).await?;
    accounts.mailer.wake();
    let sentence = match kind {
        SubscriberKind::Email => "We have sent a mail to this address. Open its link to confirm the subscription.",
        SubscriberKind::Webhook => {
            "We have sent a request to this address. Open the link in its header Subscription-Link to confirm."
        }
    };
    Ok(notice(StatusCode::ACCEPTED, &rendered, sentence))
}

/// `GET /status/{slug}/subscriptions/{token}`: the page of a subscription.
pub async fn look_up(
    _: PerIp<StatusSubscription>,
    State(alerting): State<Arc<Alerting>>,
    Path((slug, token)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    let (rendered, subscription) = subscription(&alerting, &slug, &token).await?;
    let body = html::subscription(&rendered.page.name, &slug, &token, &subscription);
    Ok(([(CONTENT_TYPE, HTML)], body).into_response())
}

/// `POST /status/{slug}/subscriptions/{token}/confirm`.
pub async fn confirm(
    _: PerIp<StatusSubscription>,
    State(alerting): State<Arc<Alerting>>,
    Path((slug, token)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    let (rendered, _) = subscription(&alerting, &slug, &token).await?;
    alerting.rooms.status_pages.confirm_subscription(&token, alerting.clock.now_ns()).await?;
    Ok(notice(StatusCode::OK, &rendered, "You are notified of incidents on this page."))
}

/// `POST /status/{slug}/subscriptions/{token}/unsubscribe`: of the page, and of mail programs (RFC 8058).
pub async fn unsubscribe(
    _: PerIp<StatusSubscription>,
    State(alerting): State<Arc<Alerting>>,
    Path((slug, token)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    let (rendered, _) = subscription(&alerting, &slug, &token).await?;
    alerting.rooms.status_pages.end_subscription(&token).await?;
    Ok(notice(StatusCode::OK, &rendered, "You are no longer notified, and your address is deleted."))
}

fn notice(status: StatusCode, rendered: &Rendered, sentence: &str) -> Response {
    let body = html::notice(&rendered.page.name, &rendered.page.slug, sentence);
    (status, [(CONTENT_TYPE, HTML)], body).into_response()
}

/// The subscription of a token to the page of a slug.
async fn subscription(alerting: &Alerting, slug: &str, token: &str) -> Result<(Arc<Rendered>, Subscription), ApiError> {
    let rendered = public::find(alerting, slug).await?;
    let found = alerting.rooms.status_pages.subscription(token, alerting.clock.now_ns()).await?;
    let found = found.filter(|subscription| subscription.page == rendered.id);
    let found =
        found.ok_or_else(|| ApiError::not_found("this subscription has ended, or was not confirmed in time"))?;
    Ok((rendered, found))
}
