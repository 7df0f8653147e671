//! Routes for tests only, behind the same gates: they exercise the limits of routes that do not exist yet.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use bytes::Bytes;
use serde_json::{Value, json};
use tidewatch_limits as limits;
use tidewatch_limits::Window;
use tidewatch_limits::per_ip::Token;
use tidewatch_server::app::{App, AppState};
use tidewatch_server::error::ApiError;
use tidewatch_server::http::gate::body::{AnonymousBody, JsonBody};
use tidewatch_server::http::gate::per_ip::{PerIp, client_address};
use tidewatch_server::http::gate::upload;
use tidewatch_server::http::routes;
use tokio::sync::mpsc;

/// The real routes with these added.
pub fn router(app: Arc<App>) -> Router {
    let tests = Router::new()
        .route("/test/upload", post(uploaded))
        .route("/test/json", post(async |JsonBody(body): JsonBody<Value>| Json(body)))
        .route("/test/anonymous", post(async |AnonymousBody(body): AnonymousBody<Value>| Json(body)))
        .route("/test/window/{number}", post(window))
        .route("/test/token", post(token))
        .route("/test/address", get(address))
        .route("/test/tail", get(tail))
        .with_state(AppState::from(app.clone()));
    routes::router(app).merge(tests)
}

async fn uploaded(State(app): State<Arc<App>>, request: Request) -> Result<Json<Value>, ApiError> {
    let upload = upload::receive(&app.ingest, &app.process, request, &limits::UPLOAD).await?;
    let files: Vec<Value> = upload
        .files
        .iter()
        .map(|file| {
            let on_disk = std::fs::metadata(&file.path).expect("the file is there").len();
            assert_eq!(on_disk, file.bytes);
            json!({ "field": file.field, "name": file.name, "bytes": file.bytes })
        })
        .collect();
    Ok(Json(json!({ "uploaded": files.len(), "files": files, "fields": upload.fields })))
}

async fn window(State(app): State<Arc<App>>, Path(number): Path<usize>, request: Request) -> Result<(), ApiError> {
    let (parts, _) = request.into_parts();
    Ok(app.process.per_ip.count(Window::ALL[number], client_address(&parts.extensions), app.process.clock.now_ns())?)
}

/// Checks like the token endpoint: the window first, then the body with the grant type.
async fn token(
    over: Result<PerIp<Token>, ApiError>,
    AnonymousBody(body): AnonymousBody<Value>,
) -> Result<Json<Value>, ApiError> {
    let grant = body["grant_type"].as_str().unwrap_or_default();
    over.map_err(|error| error.for_grant(grant))?;
    Ok(Json(json!({})))
}

async fn address(parts: Parts) -> String {
    client_address(&parts.extensions).to_string()
}

/// An endless stream with a line every ten seconds.
async fn tail() -> Response {
    let (sender, receiver) = mpsc::channel::<Result<Bytes, std::convert::Infallible>>(1);
    tokio::spawn(async move {
        while sender.send(Ok(Bytes::from_static(b"line\n"))).await.is_ok() {
            tokio::time::sleep(std::time::Duration::from_secs(10)).await;
        }
    });
    Body::from_stream(Lines(receiver)).into_response()
}

struct Lines(mpsc::Receiver<Result<Bytes, std::convert::Infallible>>);

impl futures_core::Stream for Lines {
    type Item = Result<Bytes, std::convert::Infallible>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        self.0.poll_recv(context)
    }
}
