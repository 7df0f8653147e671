//! Responses while the store is being opened.

use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse, Response};
use tidewatch_domain::decode::Encoding;

use super::otlp::media_type;
use super::{cors, grpc, response};
use crate::error::ApiError;

/// The response to any request while the store is being opened: 503 with `Retry-After`. On the OTLP paths its body has
/// the form of DECISIONS 19.
pub async fn starting(uri: Uri, headers: HeaderMap) -> Response {
    if grpc::is_grpc(&headers) {
        return grpc::starting();
    }
    let error = ApiError::Overloaded("the server is starting");
    cors::allow_any_origin(match media_type(&headers) {
        encoding if is_otlp(uri.path()) => response::failure(encoding.unwrap_or(Encoding::Json), &error),
        _ => error.into_response(),
    })
}

fn is_otlp(path: &str) -> bool {
    let path = path.strip_prefix("/api/otel").unwrap_or(path);
    ["/v1/traces", "/v1/metrics", "/v1/logs", "/v1development/profiles"]
        .contains(&path.strip_suffix('/').unwrap_or(path))
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;
    use axum::http::HeaderValue;
    use axum::http::header::CONTENT_TYPE;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn paths() {
        for (path, expected) in [
            ("/api/otel/v1/traces", true),
            ("/v1/logs/", true),
            ("/v1/metrics", true),
            ("/api/otel/v1development/profiles", true),
            ("/api/otel/v1", false),
            ("/api/otel/v1/traces/x", false),
            ("/api/projects", false),
        ] {
            assert_eq!(is_otlp(path), expected, "{path}");
        }
    }

    // DECISIONS 19: errors on the OTLP paths are google.rpc.Status in the request's encoding, while starting too.
    #[tokio::test]
    async fn a_starting_server_answers_exporters_with_a_status() {
        let status = json!({ "code": 14, "message": "the server is starting" });
        let error = json!({ "error": "the server is starting" });
        for (path, content_type, expected) in [
            ("/api/otel/v1/traces", "application/json", Some(&status)),
            ("/v1/logs/", "application/json", Some(&status)),
            ("/v1/metrics", "text/plain", Some(&status)),
            ("/api/otel/v1/traces", "application/x-protobuf", None),
            ("/api/projects", "application/json", Some(&error)),
        ] {
            let headers = HeaderMap::from_iter([(CONTENT_TYPE, content_type.parse().unwrap())]);
            let response = starting(path.parse().unwrap(), headers).await;
            assert_eq!(response.status(), 503, "{path}");
            assert!(response.headers().contains_key("retry-after"), "{path}");
            let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
            match expected {
                Some(expected) => assert_eq!(serde_json::from_slice::<Value>(&body).unwrap(), *expected, "{path}"),
                // Code 14 as field 1.
                None => assert_eq!(body[..2], [8, 14]),
            }
        }
        let grpc = HeaderMap::from_iter([(CONTENT_TYPE, "application/grpc".parse().unwrap())]);
        let response = starting("/x.Y/Z".parse().unwrap(), grpc).await;
        assert_eq!(
            (response.status().as_u16(), &response.headers()["grpc-status"]),
            (200, &HeaderValue::from_static("14"))
        );
    }

    #[test]
    fn media_types() {
        for (value, expected) in [
            ("application/x-protobuf", Some(Encoding::Protobuf)),
            ("Application/X-Protobuf; charset=utf-8", Some(Encoding::Protobuf)),
            ("application/protobuf", Some(Encoding::Protobuf)),
            ("application/json", Some(Encoding::Json)),
            ("APPLICATION/JSON;charset=UTF-8", Some(Encoding::Json)),
            ("application/json ; a=b", Some(Encoding::Json)),
            ("text/plain", None),
            ("application/x-www-form-urlencoded", None),
            ("application/jsonp", None),
            ("", None),
        ] {
            let headers = HeaderMap::from_iter([(CONTENT_TYPE, value.parse().unwrap())]);
            assert_eq!(media_type(&headers), expected, "{value:?}");
        }
        assert_eq!(media_type(&HeaderMap::new()), None);
    }
}
