//! OTLP responses: the signal's ExportResponse, or `google.rpc.Status`, in the encoding of the request.
//!
//! DECISIONS 19. The tests decode the protobuf messages with prost.

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use serde_json::json;
use tidewatch_domain::decode::Encoding;
use tidewatch_domain::encode::Message;
use tidewatch_domain::model::{RequestKind, Signal};

use crate::error::ApiError;
use tidewatch_ingest::outcome::Rejections;

const PROTOBUF: HeaderValue = HeaderValue::from_static("application/x-protobuf");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const BAD_REQUEST: &str = "type.googleapis.com/google.rpc.BadRequest";

/// The records of an accepted request that are not stored, or not completely.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartialSuccess {
    /// The number of records that are not stored. Zero if the message is only a warning.
    pub rejected: u64,
    /// The reasons, in English.
    pub message: String,
}

impl PartialSuccess {
    /// `None` if every record of the request is stored completely.
    pub fn of(rejections: &Rejections, kind: RequestKind) -> Option<PartialSuccess> {
        let message = rejections.message(kind)?;
        Some(PartialSuccess { rejected: rejections.total(), message })
    }
}

/// The signal's ExportResponse as protobuf. `partial`: `None` for full success, which leaves `partial_success` unset.
pub fn message(partial: Option<&PartialSuccess>) -> Vec<u8> {
    let mut body = Vec::new();
    if let Some(partial) = partial {
        // ExportTracePartialSuccess { rejected_spans = 1, error_message = 2 }; the other signals have the same numbers.
        Message(&mut body).message(1, |message| {
            message.uint(1, partial.rejected);
            message.text(2, &partial.message);
        });
    }
    body
}

/// A response with status 200. `partial`: `None` for full success, which leaves `partial_success` unset.
pub fn success(kind: RequestKind, encoding: Encoding, partial: Option<&PartialSuccess>) -> Response {
    let body = match (encoding, partial) {
        (Encoding::Protobuf, partial) => message(partial),
        (Encoding::Json, None) => b"{}".to_vec(),
        (Encoding::Json, Some(partial)) => {
            let rejected = match kind {
                RequestKind::Otlp(Signal::Traces) => "rejectedSpans",
                RequestKind::Otlp(Signal::Metrics) => "rejectedDataPoints",
                RequestKind::Otlp(Signal::Logs) => "rejectedLogRecords",
                RequestKind::OtlpProfiles | RequestKind::Profile | RequestKind::Report => "rejectedProfiles",
            };
            // int64 is a string in OTLP JSON.
            json!({ "partialSuccess": { rejected: partial.rejected.to_string(), "errorMessage": partial.message } })
                .to_string()
                .into_bytes()
        }
    };
    build(StatusCode::OK, encoding, body)
}

/// A response with status 4xx or 5xx and a `google.rpc.Status`. A 400 also has a `BadRequest` detail.
pub fn failure(encoding: Encoding, error: &ApiError) -> Response {
    let (status, message) = (error.status(), error.to_string());
    let code = grpc_code(status);
    let detailed = matches!(error, ApiError::Malformed(_));
    let body = match encoding {
        Encoding::Protobuf => {
            let mut body = Vec::new();
            let mut status = Message(&mut body);
            status.uint(1, code);
            status.text(2, &message);
            if detailed {
                // BadRequest { field_violations = 1 { field = 1, description = 2 } } inside Any { type_url = 1, value =
                // 2 }.
                status.message(3, |any| {
                    any.text(1, BAD_REQUEST);
                    any.message(2, |bad_request| {
                        bad_request.message(1, |violation| {
                            violation.text(1, "body");
                            violation.text(2, &message);
                        });
                    });
                });
            }
            body
        }
        Encoding::Json => {
            let mut body = json!({ "code": code, "message": message });
            if detailed {
                body["details"] = json!([{
                    "@type": BAD_REQUEST,
                    "fieldViolations": [{ "field": "body", "description": message }],
                }]);
            }
            body.to_string().into_bytes()
        }
    };
    let mut response = build(status, encoding, body);
    if let Some(seconds) = error.retry_after_seconds() {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    if let ApiError::Unauthorized(_) = error {
        response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

fn build(status: StatusCode, encoding: Encoding, body: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let content_type = match encoding {
        Encoding::Protobuf => PROTOBUF,
        Encoding::Json => JSON,
    };
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response
}

/// The google.rpc.Code of an HTTP status.
pub fn grpc_code(status: StatusCode) -> u64 {
    match status.as_u16() {
        401 => 16,                 // UNAUTHENTICATED
        403 => 7,                  // PERMISSION_DENIED
        404 => 5,                  // NOT_FOUND
        405 | 415 => 12,           // UNIMPLEMENTED
        408 | 504 => 4,            // DEADLINE_EXCEEDED
        429 => 8,                  // RESOURCE_EXHAUSTED
        503 => 14,                 // UNAVAILABLE
        code if code >= 500 => 13, // INTERNAL
        _ => 3,                    // INVALID_ARGUMENT
    }
}
