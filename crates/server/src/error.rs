//! Error responses of the API. The only file that chooses status codes.
//!
//! Everywhere but on the OTLP paths the body is `{"error": "<one sentence>"}` (DECISIONS 19); OTLP wraps the same
//! status and sentence as `google.rpc.Status` (`http/ingest/response.rs`), and a browser receives them on a status page's
//! paths as a page (`http/status/error_page.rs`).

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tidewatch_store::StoreError;

use tidewatch_accounts::logins::LoginError;
use tidewatch_accounts::{ControlError, Outage};
use tidewatch_ingest::error::ExportError;
use tidewatch_limits as limits;
use tidewatch_limits::admission::TooMany;
use tidewatch_query::error::QueryError;

/// An error response. Each variant is one status.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApiError {
    /// 400: the request is malformed.
    #[error("{0}")]
    Malformed(String),
    /// 400: the text of a query is no query; with the position in bytes.
    #[error("{0}")]
    InQuery(String, usize),
    /// 401: missing, unknown or expired credentials; the message never says which.
    #[error("{0}")]
    Unauthorized(&'static str),
    /// 403: authenticated, but not allowed.
    #[error("{0}")]
    Forbidden(&'static str),
    /// 403 with the code `step_up_required`: allowed after the person has confirmed their identity again.
    #[error("confirm that it is you first: POST /api/me/step-up")]
    StepUpRequired,
    /// 404: not found.
    #[error("{0}")]
    NotFound(String),
    /// 405: the path exists, but not with this method.
    #[error("{0}")]
    MethodNotAllowed(&'static str),
    /// 408: the body came too slowly.
    #[error("the request body came too slowly")]
    Slow,
    /// 409: in conflict with the current state.
    #[error("{0}")]
    Conflict(&'static str),
    /// 410: expired or deleted for good.
    #[error("{0}")]
    NoLongerValid(&'static str),
    /// 413, with the limit in bytes.
    #[error("the request body is larger than {0} bytes")]
    TooLarge(usize),
    /// 413: the project's stored uploads leave no space for it.
    #[error("{0}")]
    NoRoom(String),
    /// 415: content type or content encoding is not supported.
    #[error("{0}")]
    UnsupportedMedia(String),
    /// 422: well-formed, but not acceptable.
    #[error("{0}")]
    Unprocessable(String),
    /// 400 in the shape of RFC 8628: a device-code poll over its window. Spec: errors, first row.
    #[error("slow_down")]
    SlowDown,
    /// 429 with `Retry-After`, seconds.
    #[error("too many requests; try again in {0} seconds")]
    TooMany(u64),
    /// 429 with `Retry-After`, seconds: the project's ingest quota is used up.
    #[error("{0}; try again in {1} seconds")]
    OverQuota(&'static str, u64),
    /// 500: an internal error; the cause is in the log, not in the response.
    #[error("internal error")]
    Internal,
    /// 503 with a jittered `Retry-After`.
    #[error("{0}")]
    Overloaded(&'static str),
    /// 504: the query exceeded its deadline.
    #[error("the query took longer than its deadline")]
    Deadline,
}

impl ApiError {
    /// 400 with this message.
    pub fn malformed(message: impl Into<String>) -> ApiError {
        ApiError::Malformed(message.into())
    }

    /// 404 with this message.
    pub fn not_found(message: impl Into<String>) -> ApiError {
        ApiError::NotFound(message.into())
    }

    /// 422 with this message.
    pub fn unprocessable(message: impl Into<String>) -> ApiError {
        ApiError::Unprocessable(message.into())
    }

    /// 500; logs the cause.
    pub fn internal(cause: impl std::fmt::Display) -> ApiError {
        tracing::error!(%cause, "a request failed: {cause}");
        ApiError::Internal
    }

    /// 503 for a temporary outage of the control database; logs the cause.
    fn unavailable(outage: Outage, cause: &ControlError) -> ApiError {
        tracing::error!(%cause, "a request was refused: {cause}");
        ApiError::Overloaded(match outage {
            Outage::NoSpace => "no space left on the disk of the accounts database; try again later",
            Outage::Unreachable => "the accounts database cannot be reached; try again later",
        })
    }

    /// Converts the error for a token endpoint: a device-code poll over its limit receives `slow_down`.
    pub fn for_grant(self, grant_type: &str) -> ApiError {
        match self {
            ApiError::TooMany(_) if grant_type == DEVICE_CODE_GRANT || grant_type == "device_code" => {
                ApiError::SlowDown
            }
            other => other,
        }
    }

    /// The HTTP status.
    pub fn status(&self) -> StatusCode {
        match self {
            ApiError::Malformed(_) | ApiError::InQuery(..) | ApiError::SlowDown => StatusCode::BAD_REQUEST,
            ApiError::Unauthorized(_) => StatusCode::UNAUTHORIZED,
            ApiError::Forbidden(_) | ApiError::StepUpRequired => StatusCode::FORBIDDEN,
            ApiError::NotFound(_) => StatusCode::NOT_FOUND,
            ApiError::MethodNotAllowed(_) => StatusCode::METHOD_NOT_ALLOWED,
            ApiError::Slow => StatusCode::REQUEST_TIMEOUT,
            ApiError::Conflict(_) => StatusCode::CONFLICT,
            ApiError::NoLongerValid(_) => StatusCode::GONE,
            ApiError::TooLarge(_) | ApiError::NoRoom(_) => StatusCode::PAYLOAD_TOO_LARGE,
            ApiError::UnsupportedMedia(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            ApiError::Unprocessable(_) => StatusCode::UNPROCESSABLE_ENTITY,
            ApiError::TooMany(_) | ApiError::OverQuota(..) => StatusCode::TOO_MANY_REQUESTS,
            ApiError::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            ApiError::Overloaded(_) => StatusCode::SERVICE_UNAVAILABLE,
            ApiError::Deadline => StatusCode::GATEWAY_TIMEOUT,
        }
    }

    /// The machine-readable code.
    fn code(&self) -> Option<&'static str> {
        matches!(self, ApiError::StepUpRequired).then_some("step_up_required")
    }

    /// The place of the fault in the text of a query, bytes.
    fn position(&self) -> Option<usize> {
        match self {
            ApiError::InQuery(_, position) => Some(*position),
            _ => None,
        }
    }

    /// `Retry-After` in seconds, for statuses that have one. Never 0; jittered for 503. DECISIONS 19.
    pub fn retry_after_seconds(&self) -> Option<u64> {
        match self {
            ApiError::TooMany(seconds) | ApiError::OverQuota(_, seconds) => Some((*seconds).max(1)),
            ApiError::Overloaded(_) => Some(jittered_seconds()),
            _ => None,
        }
    }
}

/// 200 for a process that works, else 503. Health checks answer with their own body.
pub fn health_status(is_healthy: bool) -> StatusCode {
    if is_healthy { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }
}

/// 409 with a body that describes the current state.
pub fn conflict_with(body: impl Serialize) -> Response {
    (StatusCode::CONFLICT, Json(body)).into_response()
}

/// Whether an exporter sends a request again after an answer of `status`. OTLP/HTTP, "Failures".
pub fn is_retryable(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT
    )
}

/// RFC 8628, 3.4.
const DEVICE_CODE_GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// A random number of seconds from [`limits::RETRY_AFTER_SECONDS`].
fn jittered_seconds() -> u64 {
    random_in(*limits::RETRY_AFTER_SECONDS.start(), *limits::RETRY_AFTER_SECONDS.end())
}

/// A random number in `low..=high`.
pub fn random_in(low: u64, high: u64) -> u64 {
    fastrand::u64(low..=high)
}

/// Body of every error answer outside OTLP.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct ErrorBody {
    /// One sentence.
    pub error: String,
    /// For programs, where they can do something about it: `step_up_required`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
    /// Of a `query` that is wrong: where, in bytes from its beginning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<usize>,
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let body = ErrorBody { error: self.to_string(), code: self.code(), position: self.position() };
        let mut response = (self.status(), Json(body)).into_response();
        if let Some(seconds) = self.retry_after_seconds() {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status() == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        // For `http/status/error_page.rs`.
        response.extensions_mut().insert(self);
        response
    }
}

impl From<ControlError> for ApiError {
    fn from(error: ControlError) -> ApiError {
        match error {
            ControlError::OrganizationExists => {
                ApiError::Conflict("an organization already exists; ask for an invitation")
            }
            ControlError::EmailTaken => ApiError::Conflict("the email address has an account already"),
            ControlError::MemberAlready => ApiError::Conflict("already a member"),
            ControlError::UnknownProject => ApiError::NotFound("no such project".to_owned()),
            ControlError::UnknownUser => ApiError::NotFound("no such user".to_owned()),
            ControlError::Forbidden(why) => ApiError::Forbidden(why),
            ControlError::Missing(what) => ApiError::NotFound(what.to_owned()),
            ControlError::NoLongerValid(what) => ApiError::NoLongerValid(what),
            ControlError::Conflict(why) => ApiError::Conflict(why),
            ControlError::Unacceptable(why) => ApiError::unprocessable(why),
            ControlError::InvalidGrant => ApiError::malformed("invalid_grant"),
            ControlError::InvalidTarget => ApiError::malformed("invalid_target"),
            ControlError::TooMany(_) => ApiError::Unprocessable(error.to_string()),
            ControlError::TooOften(why, seconds) => ApiError::OverQuota(why, seconds),
            other => match other.outage() {
                Some(outage) => ApiError::unavailable(outage, &other),
                None => ApiError::internal(other),
            },
        }
    }
}

impl From<QueryError> for ApiError {
    fn from(error: QueryError) -> ApiError {
        match error {
            QueryError::Malformed(message) => ApiError::Malformed(message),
            QueryError::InQuery(fault) => {
                let position = fault.position;
                ApiError::InQuery(QueryError::InQuery(fault).to_string(), position)
            }
            QueryError::Forbidden(message) => ApiError::Forbidden(message),
            QueryError::NotFound(message) => ApiError::NotFound(message),
            QueryError::Unprocessable(message) => ApiError::Unprocessable(message),
            QueryError::Overloaded(message) => ApiError::Overloaded(message),
            QueryError::Deadline => ApiError::Deadline,
            QueryError::Control(error) => error.into(),
            QueryError::Internal => ApiError::Internal,
        }
    }
}

impl From<ExportError> for ApiError {
    fn from(error: ExportError) -> ApiError {
        match error {
            ExportError::Malformed(message) => ApiError::Malformed(message),
            ExportError::Unauthorized(message) => ApiError::Unauthorized(message),
            ExportError::Forbidden(message) => ApiError::Forbidden(message),
            ExportError::Slow => ApiError::Slow,
            ExportError::TooLarge(bytes_max) => ApiError::TooLarge(bytes_max),
            ExportError::UnsupportedMedia(message) => ApiError::UnsupportedMedia(message),
            ExportError::OverQuota(message, seconds) => ApiError::OverQuota(message, seconds),
            ExportError::Overloaded(message) => ApiError::Overloaded(message),
            ExportError::Internal => ApiError::Internal,
        }
    }
}

impl From<TooMany> for ApiError {
    fn from(TooMany(seconds): TooMany) -> ApiError {
        ApiError::TooMany(seconds)
    }
}

impl From<LoginError> for ApiError {
    fn from(error: LoginError) -> ApiError {
        ApiError::internal(error)
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> ApiError {
        QueryError::from(error).into()
    }
}
