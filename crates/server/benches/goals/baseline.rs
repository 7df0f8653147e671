//! The baseline server: hyper reads the body, prost decodes it, and the result is discarded.

use std::convert::Infallible;
use std::io::Read;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use opentelemetry_proto::tonic::collector::{
    logs::v1::ExportLogsServiceRequest, metrics::v1::ExportMetricsServiceRequest, trace::v1::ExportTraceServiceRequest,
};
use prost::Message;

pub fn serve(address: &str) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(address).await.expect("a free address");
        loop {
            let Ok((stream, _)) = listener.accept().await else { continue };
            tokio::spawn(async move {
                let connection = hyper::server::conn::http1::Builder::new();
                connection.serve_connection(TokioIo::new(stream), service_fn(answer)).await.ok();
            });
        }
    });
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let path = request.uri().path().to_owned();
    let gzip = request.headers().contains_key("content-encoding");
    let body = request.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let body = if gzip { gunzip(&body) } else { body };
    let decoded = match path.rsplit('/').next() {
        Some("traces") => ExportTraceServiceRequest::decode(body).is_ok(),
        Some("logs") => ExportLogsServiceRequest::decode(body).is_ok(),
        Some("metrics") => ExportMetricsServiceRequest::decode(body).is_ok(),
        _ => true,
    };
    let mut response = Response::new(Full::default());
    if !decoded {
        *response.status_mut() = hyper::StatusCode::BAD_REQUEST;
    }
    Ok(response)
}

fn gunzip(body: &[u8]) -> Bytes {
    let mut out = Vec::new();
    flate2::read::GzDecoder::new(body).read_to_end(&mut out).ok();
    out.into()
}
