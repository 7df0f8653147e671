//! `/api/contact-methods...`, `/api/user-notification-rules`: how the caller is reached.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde_json::Value;

use super::people::id;
use crate::contexts::{Accounts, Alerting, Process};
use crate::error::ApiError;
use crate::http::confirmation::Done;
use crate::http::gate::auth::{LoginUser, SignedIn};
use crate::http::gate::body::JsonBody;
use crate::http::openapi::{Failures, NotFound};
use tidewatch_accounts::User;
use tidewatch_alerts::oncall::page_views::*;
use tidewatch_alerts::oncall::{ContactMethod, NewContactMethod, UserRule, contact, mails};
use tidewatch_limits as limits;
use tidewatch_query::time::to_rfc3339;

const NO_METHOD: &str = "no such contact method";
const NO_MAIL: &str = "this server has no mail server (SMTP_HOST), so no code can be sent to an email address";

/// The contact methods of the caller, secrets masked.
#[utoipa::path(
    get,
    path = "/api/contact-methods",
    operation_id = "listContactMethods",
    tag = "on-call",
    responses((status = 200, description = "Success", body = ContactMethods), Failures)
)]
pub async fn list(State(alerting): State<Arc<Alerting>>, caller: SignedIn) -> Result<Json<ContactMethods>, ApiError> {
    let methods = alerting.rooms.oncall.contact_methods(caller.user.id).await?;
    let methods = methods.iter().map(|method| view(caller.user.id, method)).collect();
    Ok(Json(ContactMethods { methods, sms_enabled: alerting.notifier.sends_sms() }))
}

/// Adds a contact method, and sends a code to it. Pages use it once the code is entered.
#[utoipa::path(
    post,
    path = "/api/contact-methods",
    operation_id = "createContactMethod",
    tag = "on-call",
    request_body = ContactMethodRequest,
    responses((status = 201, description = "Created", body = ContactMethodView), Failures)
)]
pub async fn create(
    State(alerting): State<Arc<Alerting>>,
    State(accounts): State<Arc<Accounts>>,
    State(process): State<Arc<Process>>,
    LoginUser(caller): LoginUser,
    JsonBody(request): JsonBody<ContactMethodRequest>,
) -> Result<(StatusCode, Json<ContactMethodView>), ApiError> {
    let new = checked(&alerting, &caller.user, &request.method_type, &request.config.unwrap_or_default())?;
    let id = alerting.rooms.oncall.add_contact_method(&caller.actor(&alerting.clock), &new).await?;
    if !new.is_verified {
        send_code(&alerting, &accounts, &process, &caller, id).await?;
    }
    Ok((StatusCode::CREATED, Json(view(caller.user.id, &own(&alerting, &caller, id).await?))))
}

/// Changes a contact method. With another target it must be verified again.
#[utoipa::path(
    put,
    path = "/api/contact-methods/{id}",
    operation_id = "changeContactMethod",
    tag = "on-call",
    params(("id" = i64, Path)),
    request_body = ContactMethodRequest,
    responses((status = 200, description = "Success", body = ContactMethodView), Failures, NotFound)
)]
pub async fn change(
    State(alerting): State<Arc<Alerting>>,
    State(accounts): State<Arc<Accounts>>,
    State(process): State<Arc<Process>>,
    LoginUser(caller): LoginUser,
    Path(method): Path<String>,
    JsonBody(request): JsonBody<ContactMethodRequest>,
) -> Result<Json<ContactMethodView>, ApiError> {
    let old = own(&alerting, &caller, id(&method, NO_METHOD)?).await?;
    let kind = if request.method_type.is_empty() { old.method_type.clone() } else { request.method_type };
    let new = match &request.config {
        Some(config) => Some(checked(&alerting, &caller.user, &kind, &contact::unmasked(config, &old.config))?),
        None if kind != old.method_type => Some(checked(&alerting, &caller.user, &kind, &Value::Null)?),
        None => None,
    };
    alerting
        .rooms
        .oncall
        .change_contact_method(&caller.actor(&alerting.clock), old.id, new.as_ref(), request.enabled)
        .await?;
    let stored = own(&alerting, &caller, old.id).await?;
    if old.is_verified && !stored.is_verified {
        send_code(&alerting, &accounts, &process, &caller, old.id).await?;
    }
    Ok(Json(view(caller.user.id, &stored)))
}

/// Deletes a contact method, with its steps in chains.
#[utoipa::path(
    delete,
    path = "/api/contact-methods/{id}",
    operation_id = "deleteContactMethod",
    tag = "on-call",
    params(("id" = i64, Path)),
    responses((status = 200, description = "Deleted", body = Done), Failures, NotFound)
)]
pub async fn delete(
    State(alerting): State<Arc<Alerting>>,
    LoginUser(caller): LoginUser,
    Path(method): Path<String>,
) -> Result<Json<Done>, ApiError> {
    alerting.rooms.oncall.delete_contact_method(&caller.actor(&alerting.clock), id(&method, NO_METHOD)?).await?;
    Ok(Json(Done { message: "the contact method was deleted".to_owned() }))
}

/// Verifies a contact method by the code that was sent to it.
#[utoipa::path(
    post,
    path = "/api/contact-methods/{id}/verify",
    operation_id = "verifyContactMethod",
    tag = "on-call",
    params(("id" = i64, Path)),
    request_body = ContactCode,
    responses((status = 200, description = "Verified", body = ContactVerified), Failures, NotFound)
)]
pub async fn verify(
    State(alerting): State<Arc<Alerting>>,
    LoginUser(caller): LoginUser,
    Path(method): Path<String>,
    JsonBody(request): JsonBody<ContactCode>,
) -> Result<Json<ContactVerified>, ApiError> {
    let method = id(&method, NO_METHOD)?;
    alerting.rooms.oncall.verify_contact_method(&caller.actor(&alerting.clock), method, &request.code).await?;
    Ok(Json(ContactVerified { verified: true }))
}

/// Sends another code.
#[utoipa::path(
    post,
    path = "/api/contact-methods/{id}/resend-code",
    operation_id = "resendContactCode",
    tag = "on-call",
    params(("id" = i64, Path)),
    responses((status = 200, description = "Sent", body = Done), (status = 429, description = "Too many messages"), Failures, NotFound)
)]
pub async fn resend(
    State(alerting): State<Arc<Alerting>>,
    State(accounts): State<Arc<Accounts>>,
    State(process): State<Arc<Process>>,
    LoginUser(caller): LoginUser,
    Path(method): Path<String>,
) -> Result<Json<Done>, ApiError> {
    let method = own(&alerting, &caller, id(&method, NO_METHOD)?).await?;
    check_delivery(&alerting, &method.method_type)?;
    send_code(&alerting, &accounts, &process, &caller, method.id).await?;
    Ok(Json(Done { message: "the code was sent".to_owned() }))
}

/// Sends a test message.
#[utoipa::path(
    post,
    path = "/api/contact-methods/{id}/test",
    operation_id = "testContactMethod",
    tag = "on-call",
    params(("id" = i64, Path)),
    responses((status = 200, description = "Queued", body = ContactTested), (status = 429, description = "Too many messages"), Failures, NotFound)
)]
pub async fn test(
    State(alerting): State<Arc<Alerting>>,
    LoginUser(caller): LoginUser,
    Path(method): Path<String>,
) -> Result<Json<ContactTested>, ApiError> {
    alerting.rooms.oncall.test_contact_method(&caller.actor(&alerting.clock), id(&method, NO_METHOD)?).await?;
    Ok(Json(ContactTested { success: true }))
}

/// The chains of the caller.
#[utoipa::path(
    get,
    path = "/api/user-notification-rules",
    operation_id = "userNotificationRules",
    tag = "on-call",
    responses((status = 200, description = "Success", body = UserRules), Failures)
)]
pub async fn rules(State(alerting): State<Arc<Alerting>>, caller: SignedIn) -> Result<Json<UserRules>, ApiError> {
    let (high, low) = alerting.rooms.oncall.user_rules(caller.user.id).await?;
    let view = |rules: Vec<UserRule>| {
        let view = |rule: UserRule| UserRuleView { contact_method_id: rule.method, delay_minutes: rule.delay_minutes };
        rules.into_iter().map(view).collect()
    };
    Ok(Json(UserRules { high: view(high), low: view(low) }))
}

/// Replaces the chains of the caller.
#[utoipa::path(
    put,
    path = "/api/user-notification-rules",
    operation_id = "setUserNotificationRules",
    tag = "on-call",
    request_body = UserRules,
    responses((status = 200, description = "Success", body = UserRules), Failures)
)]
pub async fn set_rules(
    State(alerting): State<Arc<Alerting>>,
    LoginUser(caller): LoginUser,
    JsonBody(request): JsonBody<UserRules>,
) -> Result<Json<UserRules>, ApiError> {
    let (high, low) = (chain(&request.high)?, chain(&request.low)?);
    alerting.rooms.oncall.set_user_rules(&caller.actor(&alerting.clock), &high, &low).await?;
    Ok(Json(request))
}

fn chain(steps: &[UserRuleView]) -> Result<Vec<UserRule>, ApiError> {
    let (most, minutes_max) = (limits::ONCALL_CHAIN_STEPS_MAX, limits::ONCALL_CHAIN_MINUTES_MAX);
    if steps.len() > most {
        return Err(ApiError::unprocessable(format!("a chain has at most {most} steps")));
    }
    if steps.iter().any(|step| !(0..=minutes_max).contains(&step.delay_minutes)) {
        return Err(ApiError::unprocessable(format!("delayMinutes is 0 to {minutes_max}")));
    }
    let rule = |step: &UserRuleView| UserRule { method: step.contact_method_id, delay_minutes: step.delay_minutes };
    Ok(steps.iter().map(rule).collect())
}

fn checked(alerting: &Alerting, user: &User, kind: &str, config: &Value) -> Result<NewContactMethod, ApiError> {
    let is_email =
        |address: &str| address.len() <= limits::EMAIL_BYTES_MAX && address.parse::<lettre::Address>().is_ok();
    let checked = contact::check(kind, config, is_email, &user.email, alerting.notifier.sends_sms());
    let checked = checked.map_err(ApiError::unprocessable)?;
    let is_own = kind == "email" && checked.config["address"] == *user.email;
    let is_verified = is_own && user.is_email_verified;
    if !is_verified {
        check_delivery(alerting, kind)?;
    }
    Ok(NewContactMethod { method_type: checked.kind, config: checked.config, summary: checked.summary, is_verified })
}

/// A code reaches a method of this kind. 409 for email without a mail server.
fn check_delivery(alerting: &Alerting, kind: &str) -> Result<(), ApiError> {
    if kind == "email" && !alerting.announcer.has_mail { Err(ApiError::Conflict(NO_MAIL)) } else { Ok(()) }
}

async fn send_code<N>(
    alerting: &Alerting,
    accounts: &Accounts,
    process: &Process,
    caller: &SignedIn<N>,
    method: i64,
) -> Result<(), ApiError> {
    let base_url = process.config.base_url();
    let mail = move |address: &str, code: &str| mails::contact_code(&base_url, address, code);
    alerting.rooms.oncall.send_contact_code(&caller.actor(&alerting.clock), method, &mail).await?;
    accounts.mailer.wake();
    Ok(())
}

async fn own<N>(alerting: &Alerting, caller: &SignedIn<N>, method: i64) -> Result<ContactMethod, ApiError> {
    let methods = alerting.rooms.oncall.contact_methods(caller.user.id).await?;
    methods.into_iter().find(|one| one.id == method).ok_or_else(|| ApiError::not_found(NO_METHOD))
}

fn view(user: i64, method: &ContactMethod) -> ContactMethodView {
    ContactMethodView {
        id: method.id,
        user_id: user,
        method_type: method.method_type.clone(),
        config: contact::masked(&method.config),
        summary: method.summary.clone(),
        enabled: method.is_enabled,
        verified: method.is_verified,
        created_at: to_rfc3339(method.created_ns),
    }
}
