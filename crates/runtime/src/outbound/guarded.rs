//! HTTP requests to servers that users configure.
//!
//! Each connection goes to an address that [`OutboundPolicy`] has accepted after the resolution of the name: there is no
//! second resolution, so a name whose answer changes reaches nothing else. Redirects are not followed.

use std::io::{self, Read};
use std::time::Duration;

use ureq::config::Config;
use ureq::http::{HeaderMap, Request, Uri, header};
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use ureq::{Agent, Error};

use super::config;
use super::policy::{OutboundError, OutboundPolicy};

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboundRequest {
    /// `POST`.
    pub method: &'static str,
    /// An absolute address, `http` or `https`.
    pub url: String,
    /// Names and values.
    pub headers: Vec<(String, String)>,
    /// The body; empty: none.
    pub body: Vec<u8>,
}

/// The response to a request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OutboundResponse {
    /// The HTTP status.
    pub status: u16,
    /// Seconds of `Retry-After`.
    pub retry_after_seconds: Option<u64>,
    /// The beginning of the body; invalid UTF-8 is replaced.
    pub body: String,
}

/// Reasons for which there is no response. The message names the host and never the rest of the address, which may be a
/// secret.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The address is malformed.
    #[error("the address is not an http or https address")]
    Address,
    /// A header is malformed.
    #[error("a header is malformed")]
    Header,
    /// The policy refuses the address, or the name has none.
    #[error(transparent)]
    Refused(#[from] OutboundError),
    /// The server did not respond in time. Holds the host.
    #[error("{0} does not answer in time")]
    Timeout(String),
    /// The connection failed. Holds the host and the cause.
    #[error("no connection to {0}: {1}")]
    Connection(String, String),
}

/// An HTTP client for addresses of users.
#[derive(Debug, Clone)]
pub struct GuardedClient {
    agent: Agent,
    body_bytes_max: u64,
}

impl GuardedClient {
    /// Creates a client whose calls end after `call_max`, and that reads at most `body_bytes_max` of a response.
    pub fn new(policy: OutboundPolicy, call_max: Duration, body_bytes_max: u64) -> GuardedClient {
        GuardedClient::with_resolver(policy, call_max, body_bytes_max, DefaultResolver::default())
    }

    fn with_resolver(
        policy: OutboundPolicy,
        call_max: Duration,
        body_bytes_max: u64,
        resolver: impl Resolver,
    ) -> GuardedClient {
        // A connection that is used again would not be checked again.
        let config = config(call_max).max_idle_connections(0).user_agent("Tidewatch").build();
        let agent = Agent::with_parts(config, DefaultConnector::default(), CheckedResolver { policy, inner: resolver });
        GuardedClient { agent, body_bytes_max }
    }

    /// Sends a request. Responses with an error status are no errors. Blocks.
    pub fn send(&self, request: &OutboundRequest) -> Result<OutboundResponse, CallError> {
        let uri: Uri = request.url.parse().map_err(|_| CallError::Address)?;
        let host = match (uri.scheme_str(), uri.host()) {
            (Some("http" | "https"), Some(host)) if !host.is_empty() => host.to_owned(),
            _ => return Err(CallError::Address),
        };
        let mut builder = Request::builder().method(request.method).uri(uri);
        for (name, value) in &request.headers {
            builder = builder.header(name, value);
        }
        let sent = match request.body.is_empty() {
            true => builder.body(()).map_err(|_| CallError::Header).map(|request| self.agent.run(request)),
            false => {
                builder.body(&request.body[..]).map_err(|_| CallError::Header).map(|request| self.agent.run(request))
            }
        };
        let response = sent?.map_err(|error| described(error, &host))?;
        let (status, retry_after_seconds) = (response.status().as_u16(), retry_after_seconds(response.headers()));
        let mut body = Vec::new();
        // The status is what counts: a body that cannot be read completely explains it partly.
        let _ = response.into_body().into_reader().take(self.body_bytes_max).read_to_end(&mut body);
        Ok(OutboundResponse { status, retry_after_seconds, body: String::from_utf8_lossy(&body).into_owned() })
    }
}

fn retry_after_seconds(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()
}

fn described(error: Error, host: &str) -> CallError {
    match error {
        Error::Timeout(_) => CallError::Timeout(host.to_owned()),
        Error::HostNotFound => OutboundError::Unresolved(host.to_owned()).into(),
        Error::BadUri(_) => CallError::Address,
        Error::Http(_) => CallError::Header,
        Error::Other(other) => match other.downcast::<OutboundError>() {
            Ok(refused) => CallError::Refused(*refused),
            Err(other) => CallError::Connection(host.to_owned(), other.to_string()),
        },
        Error::Io(error) => match error.kind() {
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => CallError::Timeout(host.to_owned()),
            io::ErrorKind::ConnectionRefused => {
                CallError::Connection(host.to_owned(), "it refuses the connection".to_owned())
            }
            _ => CallError::Connection(host.to_owned(), error.to_string()),
        },
        other => CallError::Connection(host.to_owned(), other.to_string()),
    }
}

/// Resolves a name once, and refuses it if any of its addresses is refused.
#[derive(Debug)]
struct CheckedResolver<R> {
    policy: OutboundPolicy,
    inner: R,
}

impl<R: Resolver> Resolver for CheckedResolver<R> {
    fn resolve(&self, uri: &Uri, config: &Config, timeout: NextTimeout) -> Result<ResolvedSocketAddrs, Error> {
        let found = match self.inner.resolve(uri, config, timeout) {
            // The failure of a look-up.
            Err(Error::Io(_)) => return Err(Error::HostNotFound),
            other => other?,
        };
        for address in found.iter() {
            self.policy.check(address.ip()).map_err(|refused| Error::Other(Box::new(refused)))?;
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::net::{SocketAddr, TcpListener};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread::JoinHandle;

    use super::*;

    const STRICT: OutboundPolicy = OutboundPolicy { allows_private: false };
    const OPEN: OutboundPolicy = OutboundPolicy { allows_private: true };

    /// Answers each call with the next list of addresses, and counts the calls.
    #[derive(Debug, Clone)]
    struct Answers(Arc<(Vec<Vec<SocketAddr>>, AtomicUsize)>);

    impl Answers {
        fn new(answers: &[&[SocketAddr]]) -> Answers {
            let answers = answers.iter().map(|answer| answer.to_vec()).collect();
            Answers(Arc::new((answers, AtomicUsize::new(0))))
        }

        fn calls(&self) -> usize {
            self.0.1.load(Ordering::SeqCst)
        }
    }

    impl Resolver for Answers {
        fn resolve(&self, _: &Uri, _: &Config, _: NextTimeout) -> Result<ResolvedSocketAddrs, Error> {
            let call = self.0.1.fetch_add(1, Ordering::SeqCst);
            let mut found = self.empty();
            self.0.0[call.min(self.0.0.len() - 1)].iter().for_each(|address| found.push(*address));
            Ok(found)
        }
    }

    /// Answers `count` requests with `response`; returns the request lines.
    fn serve(count: usize, response: &'static str) -> (SocketAddr, JoinHandle<Vec<String>>) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let served = std::thread::spawn(move || {
            let answer = |stream: std::net::TcpStream| {
                let mut lines = BufReader::new(stream.try_clone().expect("a socket")).lines();
                let first = lines.next().expect("a line").expect("a line");
                while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
                (&stream).write_all(response.as_bytes()).expect("a client");
                first
            };
            (0..count).map(|_| answer(listener.accept().expect("a client").0)).collect()
        });
        (address, served)
    }

    fn get(url: &str) -> OutboundRequest {
        OutboundRequest { method: "GET", url: url.to_owned(), headers: Vec::new(), body: Vec::new() }
    }

    fn client(policy: OutboundPolicy) -> GuardedClient {
        GuardedClient::new(policy, Duration::from_secs(20), 100)
    }

    /// Item "SSRF attempts": loopback, link-local, metadata addresses, IPv6-mapped, decimal, octal and hex forms.
    #[test]
    fn private_targets_are_refused_in_every_form() {
        for host in [
            "127.0.0.1",
            "127.1",
            "localhost",
            "2130706433",
            "0x7f000001",
            "0x7f.0.0.1",
            "0177.0.0.1",
            "017700000001",
            "0",
            "0.0.0.0",
            "169.254.169.254",
            "0xa9fea9fe",
            "2852039166",
            "0251.0376.0251.0376",
            "100.100.100.200",
            "10.0.0.1",
            "172.16.1.1",
            "192.168.1.1",
            "[::1]",
            "[::]",
            "[::ffff:127.0.0.1]",
            "[::ffff:169.254.169.254]",
            "[64:ff9b::7f00:1]",
            "[2002:7f00:1::]",
            "[fe80::1]",
            "[fd00:ec2::254]",
        ] {
            for url in [format!("http://{host}/"), format!("http://{host}:8080/a"), format!("https://{host}/")] {
                let refused = client(STRICT).send(&get(&url)).expect_err(&url);
                assert!(matches!(refused, CallError::Refused(OutboundError::Private(_))), "{url}: {refused}");
            }
        }
        for url in ["file:///etc/passwd", "ftp://example.com/", "gopher://127.0.0.1/", "/a", "http://", ""] {
            assert!(matches!(client(OPEN).send(&get(url)), Err(CallError::Address)), "{url}");
        }
        let unknown = client(STRICT).send(&get("http://no-such-name.invalid/secret")).expect_err("no address");
        assert_eq!(unknown.to_string(), "no-such-name.invalid cannot be resolved");
    }

    /// Item "SSRF attempts": DNS rebinding. What is checked is what is connected to.
    #[test]
    fn a_name_is_resolved_once_and_every_address_is_checked() {
        let public: SocketAddr = "93.184.216.34:80".parse().expect("an address");
        let private: SocketAddr = "127.0.0.1:80".parse().expect("an address");
        let mixed = Answers::new(&[&[public, private]]);
        let sent = GuardedClient::with_resolver(STRICT, Duration::from_secs(20), 100, mixed.clone());
        let refused = sent.send(&get("http://rebind.example/")).expect_err("an address is private");
        assert!(matches!(refused, CallError::Refused(OutboundError::Private(_))), "{refused}");

        // The second answer would lead elsewhere: it is never asked for.
        let (address, served) = serve(1, "HTTP/1.1 204 No Content\r\n\r\n");
        let closed: SocketAddr = "127.0.0.1:1".parse().expect("an address");
        let changing = Answers::new(&[&[address], &[closed]]);
        let sent = GuardedClient::with_resolver(OPEN, Duration::from_secs(20), 100, changing.clone());
        assert_eq!(sent.send(&get("http://rebind.example/")).expect("a response").status, 204);
        assert_eq!((changing.calls(), served.join().expect("it served")), (1, vec!["GET / HTTP/1.1".to_owned()]));

        // A later request resolves again, and is checked again.
        let (address, served) = serve(1, "HTTP/1.1 204 No Content\r\nConnection: keep-alive\r\n\r\n");
        let changing = Answers::new(&[&[address], &[closed]]);
        let sent = GuardedClient::with_resolver(OPEN, Duration::from_secs(20), 100, changing.clone());
        assert_eq!(sent.send(&get("http://rebind.example/")).expect("a response").status, 204);
        assert!(matches!(sent.send(&get("http://rebind.example/")), Err(CallError::Connection(..))));
        assert_eq!(changing.calls(), 2);
        served.join().expect("it served");
    }

    /// Item "SSRF attempts": redirects are not followed.
    #[test]
    fn redirects_are_responses() {
        let (address, served) =
            serve(1, "HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/latest\r\nContent-Length: 0\r\n\r\n");
        let response = client(OPEN).send(&get(&format!("http://{address}/start"))).expect("a response");
        assert_eq!(response.status, 302);
        assert_eq!(served.join().expect("it served"), ["GET /start HTTP/1.1"]);
    }

    #[test]
    fn bodies_are_bounded_and_retry_after_is_read() {
        let (address, served) = serve(
            1,
            concat!(
                "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\nContent-Length: 120\r\n\r\n",
                "0123456789012345678901234567890123456789012345678901234567890123456789",
                "01234567890123456789012345678901234567890123456789",
            ),
        );
        let response = client(OPEN).send(&get(&format!("http://{address}/"))).expect("a response");
        assert_eq!((response.status, response.retry_after_seconds, response.body.len()), (429, Some(7), 100));
        served.join().expect("it served");
    }

    /// Secrets are in paths of addresses: errors name the host only.
    #[test]
    fn errors_do_not_contain_the_path() {
        let error = client(OPEN).send(&get("http://127.0.0.1:1/services/SECRET")).expect_err("nobody listens");
        assert!(error.to_string().starts_with("no connection to 127.0.0.1: "), "{error}");
        assert!(!error.to_string().contains("SECRET"));
    }
}
