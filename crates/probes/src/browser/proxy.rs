//! The only way of the browser to a network: an HTTP proxy on loopback that contacts what the policy allows.
//!
//! A name is resolved here, its addresses are checked, and the connection goes to a checked one.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{CONNECTION, HOST, HeaderName, HeaderValue, TE, TRANSFER_ENCODING, UPGRADE};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, Uri};
use hyper_util::rt::TokioIo;
use tidewatch_limits as limits;
use tidewatch_runtime::outbound::policy::OutboundPolicy;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

type Body = BoxBody<Bytes, hyper::Error>;
/// Is called with the reason of each refusal.
pub type Notice = Arc<dyn Fn(String) + Send + Sync>;

/// Header fields of one connection, which are not passed on.
const OF_CONNECTION: [HeaderName; 6] = [
    CONNECTION,
    TE,
    TRANSFER_ENCODING,
    UPGRADE,
    HeaderName::from_static("proxy-connection"),
    HeaderName::from_static("proxy-authorization"),
];

/// Serves until it is dropped.
pub async fn serve(listener: TcpListener, policy: OutboundPolicy, notice: Notice) {
    let permits = Arc::new(Semaphore::new(limits::BROWSER_CONNECTIONS_MAX));
    while let Ok(permit) = permits.clone().acquire_owned().await {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let notice = notice.clone();
        tokio::spawn(async move {
            let answer = service_fn(move |request| answer(request, policy, notice.clone()));
            let connection = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer);
            // The browser sees an error of its connection itself.
            let _ = connection.with_upgrades().await;
            drop(permit);
        });
    }
}

/// An error ends the connection without a response, which is an error of the network for the page. A response of the
/// proxy would be one of the site.
async fn answer(request: Request<Incoming>, policy: OutboundPolicy, notice: Notice) -> Result<Response<Body>, String> {
    let is_tunnel = request.method() == Method::CONNECT;
    let answered = if is_tunnel { tunnel(request, policy).await } else { forward(request, policy).await };
    answered.inspect_err(|reason| notice(reason.clone()))
}

/// Connects to the first checked address of a host that accepts.
async fn connect(uri: &Uri, default_port: u16, policy: OutboundPolicy) -> Result<TcpStream, String> {
    let host = uri.host().ok_or("the browser named no host")?;
    let port = uri.port_u16().unwrap_or(default_port);
    let addresses = policy.resolve(host, port).await.map_err(|error| error.to_string())?;
    let mut refused = String::new();
    for address in addresses {
        match TcpStream::connect(address).await {
            Ok(stream) => return Ok(stream),
            Err(error) => refused = format!("cannot connect to {address}: {error}"),
        }
    }
    Err(refused)
}

/// `CONNECT`: bytes both ways, as they are.
async fn tunnel(request: Request<Incoming>, policy: OutboundPolicy) -> Result<Response<Body>, String> {
    let mut stream = connect(request.uri(), 443, policy).await?;
    tokio::spawn(async move {
        let Ok(upgraded) = hyper::upgrade::on(request).await else { return };
        // Either side ends it.
        let _ = tokio::io::copy_bidirectional(&mut TokioIo::new(upgraded), &mut stream).await;
    });
    Ok(Response::new(Full::new(Bytes::new()).map_err(|never| match never {}).boxed()))
}

/// A request of plain HTTP, whose target has scheme and host.
async fn forward(request: Request<Incoming>, policy: OutboundPolicy) -> Result<Response<Body>, String> {
    let (mut head, body) = request.into_parts();
    if head.uri.scheme_str() != Some("http") {
        return Err("the browser sent a request without an address".to_owned());
    }
    let stream = connect(&head.uri, 80, policy).await?;
    let authority = head.uri.authority().map(|authority| authority.as_str().to_owned()).unwrap_or_default();
    head.headers.insert(HOST, HeaderValue::from_str(&authority).map_err(|error| error.to_string())?);
    head.uri = head.uri.path_and_query().map_or_else(Uri::default, |path| Uri::from(path.clone()));
    let chosen: Vec<HeaderName> = named(&head.headers);
    OF_CONNECTION.iter().chain(&chosen).for_each(|name| drop(head.headers.remove(name)));
    let failed = |error: hyper::Error| format!("{authority} sent no HTTP response: {error}");
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(failed)?;
    // Its end is seen by the response.
    tokio::spawn(async move { drop(connection.await) });
    let mut response = sender.send_request(Request::from_parts(head, body)).await.map_err(failed)?;
    let chosen: Vec<HeaderName> = named(response.headers());
    OF_CONNECTION.iter().chain(&chosen).for_each(|name| drop(response.headers_mut().remove(name)));
    Ok(response.map(BodyExt::boxed))
}

/// The header fields that `Connection` names.
fn named(headers: &hyper::HeaderMap) -> Vec<HeaderName> {
    let values = headers.get_all(CONNECTION).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).filter_map(|name| name.trim().parse().ok()).collect()
}
