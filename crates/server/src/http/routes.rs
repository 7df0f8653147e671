//! All routes on one screen. Methods and paths of the documented ones stand at their handlers.
//!
//! | path | who may call | body |
//! |---|---|---|
//! | `POST /api/otel/v1/{traces,metrics,logs}`, also with a trailing slash and without `/api/otel` | a project token | `limits::OTLP` |
//! | `OPTIONS` of these | anybody | |
//! | `GET /health`, `/readyz`, `/livez`, `GET /api/openapi.json` | anybody | |
//! | `GET /api/has-organizations`, `POST /api/register`, `POST /api/login` | anybody | `limits::ANONYMOUS` |
//! | `GET /api/me/login-bundle`, `PUT /api/me/password`, `/api/projects...` | a login, and a role | `limits::JSON` |
//! | `/api/auth/...`, `/api/oauth/register`, `/api/ack/...`, `/.well-known/...` of `auth/` | anybody | `limits::ANONYMOUS` |
//! | the rest of `auth/` | a login | `limits::JSON` |
//! | `/api/...` of `dashboard/` | a login and membership of `?projectId=` | `limits::JSON` |
//! | `POST /api/symbols/upload`, `POST /api/sourcemaps/upload` | an upload token | `limits::UPLOAD` |
//! | any other `GET` | anybody: the UI | |

use std::sync::Arc;

use axum::body::HttpBody;
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::routing::{MethodRouter, get, post};
use axum::{Json, Router, http};
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{And, Predicate, SizeAbove};
use utoipa::openapi::OpenApi;

use super::api::{Api, routes};
use super::ingest::{cors, grpc, otlp, starting};
use super::{account, auth, dashboard, health, openapi, ui, uploads};
use crate::app::App;
use crate::error::ApiError;
use tidewatch_limits as limits;

/// Everything the OpenAPI document knows about.
pub fn api() -> Api {
    Api::new()
        .merge(account::routes())
        .merge(auth::routes())
        .merge(dashboard::routes())
        .merge(telemetry())
        .routes(routes!(uploads::symbols))
        .routes(routes!(uploads::source_maps))
        .routes(routes!(health::ready))
}

/// The OTLP paths: as documented, and as exporters spell them.
fn telemetry() -> Api {
    let door = |handler: MethodRouter<Arc<App>>| handler.options(cors::preflight).fallback(otlp::wrong_method);
    let mut router = Router::new();
    for base in ["/api/otel", ""] {
        for end in ["", "/"] {
            router = router
                .route(&format!("{base}/v1/traces{end}"), door(post(otlp::traces)))
                .route(&format!("{base}/v1/metrics{end}"), door(post(otlp::metrics)))
                .route(&format!("{base}/v1/logs{end}"), door(post(otlp::logs)));
        }
    }
    Api::new()
        .described(routes!(otlp::traces))
        .described(routes!(otlp::metrics))
        .described(routes!(otlp::logs))
        .undescribed(router)
        .undescribed(grpc::routes())
}

/// The whole service.
pub fn router(app: Arc<App>) -> Router {
    api()
        .into_router()
        .route("/livez", get(health::alive))
        .route("/readyz", get(health::ready))
        .route("/api/openapi.json", get(async || Json(document())))
        .method_not_allowed_fallback(async || ApiError::MethodNotAllowed("this path does not take this method"))
        .fallback(ui::serve)
        .layer(compression())
        .with_state(app)
}

/// Answers in JSON are compressed by what `Accept-Encoding` prefers: zstd, brotli or gzip. The UI's files come
/// compressed already; exports and events are streams.
fn compression() -> CompressionLayer<And<SizeAbove, JsonAnswers>> {
    CompressionLayer::new().compress_when(SizeAbove::new(limits::COMPRESSED_BYTES_MIN).and(JsonAnswers))
}

#[derive(Debug, Clone, Copy)]
struct JsonAnswers;

impl Predicate for JsonAnswers {
    fn should_compress<B: HttpBody>(&self, response: &http::Response<B>) -> bool {
        let content_type = response.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
        content_type.split(|byte| *byte == b';').next() == Some(b"application/json")
    }
}

/// The whole API, as `/api/openapi.json` and `tidewatch openapi` show it.
pub fn document() -> OpenApi {
    openapi::complete(api().document())
}

/// What is served while the store is being opened and replayed.
pub fn starting() -> Router {
    Router::new()
        .route("/health", get(health::starting))
        .route("/readyz", get(health::starting))
        .route("/livez", get(health::alive_starting))
        .fallback(starting::starting)
}
