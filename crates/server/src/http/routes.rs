//! All routes. The methods and paths of the documented ones are declared at their handlers.
//!
//! | path | authorization | body |
//! |---|---|---|
//! | `POST /api/otel/v1/{traces,metrics,logs}`, also with a trailing slash and without `/api/otel` | a project token | `limits::OTLP` |
//! | `POST /opentelemetry.proto.collector.…/Export` (gRPC) | a project token | `limits::OTLP` |
//! | `POST /grpc.health.v1.Health/Check` | none | `limits::ANONYMOUS` |
//! | `POST /api/otel/v1development/profiles`, likewise | a project token | `limits::OTLP` |
//! | `POST /api/report`, `/api/profiles/ingest` | a project token | `limits::REPORT` |
//! | `OPTIONS` of these | none | |
//! | `GET /health`, `/readyz`, `/livez`, `GET /api/openapi.json` | none | |
//! | `GET /api/has-organizations`, `POST /api/register`, `POST /api/login` | none | `limits::ANONYMOUS` |
//! | `GET /api/me/login-bundle`, `PUT /api/me/password`, `/api/projects...` | a login, and a role | `limits::JSON` |
//! | `/api/auth/...`, `/api/oauth/register`, `/api/ack/...`, `/.well-known/...` of `auth/` | none | `limits::ANONYMOUS` |
//! | `/api/heartbeat/...` | a token in the path | none is read |
//! | the rest of `auth/` | a login | `limits::JSON` |
//! | `/api/...` of `dashboard/` | a login and membership of `?projectId=` | `limits::JSON` |
//! | `/api/organizations/{id}/teams...` and the rest of `oncall/` | a login or a token, and a role; a token in the path of feeds | `limits::JSON` |
//! | `POST /api/symbols/upload`, `POST /api/sourcemaps/upload` | an upload token | `limits::UPLOAD` |
//! | `/api/organizations/{id}/{incidents,post-mortems,status-pages}...` | a login and membership of the organization | `limits::JSON`, `limits::STATUS_LOGO` |
//! | `/api/status/...`, `/api/status-domains/resolve`, `/status/...`, `/` of a custom domain | none | `limits::ANONYMOUS` |
//! | any other `GET` | none: the UI | |

use std::sync::Arc;

use axum::body::HttpBody;
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::routing::{MethodRouter, get, post};
use axum::{Router, http};
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{And, Predicate, SizeAbove};
use utoipa::openapi::OpenApi;

use super::api::{AllDescriptions, Api, Descriptions, NoDescriptions, routes};
use super::ingest::{cors, grpc, otlp, profile, report, starting};
use super::{account, auth, dashboard, health, heartbeats, oncall, openapi, status, ui, uploads};
use crate::app::{App, AppState};
use crate::error::ApiError;
use tidewatch_limits as limits;

/// The routes with OpenAPI descriptions, and their undocumented spellings.
pub fn api<D: Descriptions>() -> Api<D> {
    Api::new()
        .merge(account::routes())
        .merge(auth::routes())
        .merge(dashboard::routes())
        .merge(status::routes())
        .merge(oncall::routes())
        .merge(heartbeats::routes())
        .merge(telemetry())
        .routes(routes!(uploads::symbols))
        .routes(routes!(uploads::source_maps))
        .routes(routes!(health::ready))
}

/// The OTLP paths: the documented ones, and the variants that exporters use.
fn telemetry<D: Descriptions>() -> Api<D> {
    let with_preflight =
        |handler: MethodRouter<AppState>| handler.options(cors::preflight).fallback(otlp::wrong_method);
    let mut router = Router::new();
    for base in ["/api/otel", ""] {
        for end in ["", "/"] {
            router = router
                .route(&format!("{base}/v1/traces{end}"), with_preflight(post(otlp::traces)))
                .route(&format!("{base}/v1/metrics{end}"), with_preflight(post(otlp::metrics)))
                .route(&format!("{base}/v1/logs{end}"), with_preflight(post(otlp::logs)))
                .route(&format!("{base}/v1development/profiles{end}"), with_preflight(post(otlp::profiles)));
        }
    }
    let native = post(report::report).options(cors::preflight).fallback(report::wrong_method);
    let pprof = post(profile::ingest).options(cors::preflight).fallback(profile::wrong_method);
    let router = router.route("/api/report", native).route("/api/profiles/ingest", pprof);
    Api::new()
        .described(routes!(report::report))
        .described(routes!(profile::ingest))
        .described(routes!(otlp::profiles))
        .described(routes!(otlp::traces))
        .described(routes!(otlp::metrics))
        .described(routes!(otlp::logs))
        .undescribed(router)
        .undescribed(grpc::routes())
}

/// The router of the public listeners.
pub fn router(app: Arc<App>) -> Router {
    api::<NoDescriptions>()
        .into_router()
        .route("/livez", get(health::alive))
        .route("/readyz", get(health::ready))
        .route("/api/openapi.json", get(async || ([(CONTENT_TYPE, "application/json")], openapi::document())))
        .method_not_allowed_fallback(async || ApiError::MethodNotAllowed("this path does not take this method"))
        .fallback(ui::serve)
        .layer(compression())
        .with_state(AppState::from(app))
}

/// Compresses JSON responses with the encoding that `Accept-Encoding` prefers: zstd, brotli or gzip. The UI's files are
/// compressed already; exports and events are streams.
fn compression() -> CompressionLayer<And<SizeAbove, JsonResponses>> {
    CompressionLayer::new().compress_when(SizeAbove::new(limits::COMPRESSED_BYTES_MIN).and(JsonResponses))
}

#[derive(Debug, Clone, Copy)]
struct JsonResponses;

impl Predicate for JsonResponses {
    fn should_compress<B: HttpBody>(&self, response: &http::Response<B>) -> bool {
        let content_type = response.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
        content_type.split(|byte| *byte == b';').next() == Some(b"application/json")
    }
}

/// Generates the OpenAPI document. A test compares it with `docs/openapi.json`, which the binary embeds.
pub fn generate_document() -> OpenApi {
    openapi::complete(api::<AllDescriptions>().document())
}

/// The router while the store is opened and the journal is replayed.
pub fn starting() -> Router {
    Router::new()
        .route("/health", get(health::starting))
        .route("/readyz", get(health::starting))
        .route("/livez", get(health::alive_starting))
        .fallback(starting::starting)
}
