//! Mail over TLS to a mail server in the test: commands before and after the handshake.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::{MailSettings, SendError, SmtpTls, Transport};
use crate::Mail;

/// Behavior of the mail server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Server {
    Starttls,
    /// TLS from the first byte.
    Implicit,
    /// Does not offer STARTTLS, as if a man in the middle removed the line.
    WithoutStarttls,
    /// Offers STARTTLS, and then refuses it.
    BrokenStarttls,
}

/// The commands of a client.
#[derive(Debug, Default)]
struct Received {
    plain: Vec<String>,
    encrypted: Vec<String>,
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/tls").join(name)
}

/// Serves one connection on a free port of `host`.
fn serve(server: Server, host: &str, certificate: &str) -> (SocketAddr, JoinHandle<Received>) {
    let listener = TcpListener::bind((host, 0)).expect("a free port");
    let address = listener.local_addr().expect("an address");
    let chain = vec![CertificateDer::from_pem_file(fixture(&format!("{certificate}.crt"))).expect("a certificate")];
    let key = PrivateKeyDer::from_pem_file(fixture(&format!("{certificate}.key"))).expect("a key");
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .expect("they fit");
    let run = move || {
        let mut received = Received::default();
        let (mut stream, _) = listener.accept().expect("a client");
        // Only for clients that hang; the tests do not wait for this timeout.
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a socket");
        if server == Server::Implicit || matches!(converse(&mut stream, server, true, &mut received.plain), Ok(true)) {
            let connection = ServerConnection::new(Arc::new(config)).expect("a configuration");
            let mut stream = StreamOwned::new(connection, stream);
            let _ = converse(&mut stream, server, server == Server::Implicit, &mut received.encrypted);
        }
        received
    };
    (address, thread::spawn(run))
}

/// Responds to commands until QUIT, or until the TLS handshake: then returns true.
fn converse(
    stream: &mut (impl Read + Write),
    server: Server,
    greets: bool,
    received: &mut Vec<String>,
) -> io::Result<bool> {
    if greets {
        stream.write_all(b"220 mail\r\n")?;
    }
    let is_plain = greets && server != Server::Implicit;
    loop {
        let line = line(stream)?;
        received.push(line.clone());
        let answer = match line.split([' ', ':']).next().unwrap_or_default() {
            "EHLO" if is_plain && server == Server::WithoutStarttls => "250-mail\r\n250 AUTH PLAIN\r\n",
            "EHLO" if is_plain => "250-mail\r\n250-AUTH PLAIN\r\n250 STARTTLS\r\n",
            "EHLO" => "250-mail\r\n250 AUTH PLAIN\r\n",
            "STARTTLS" if server == Server::BrokenStarttls => "454 not now\r\n",
            "STARTTLS" => {
                stream.write_all(b"220 go\r\n")?;
                return Ok(true);
            }
            "AUTH" => "235 hello\r\n",
            "DATA" => {
                stream.write_all(b"354 go\r\n")?;
                while self::line(stream)? != "." {}
                "250 taken\r\n"
            }
            "QUIT" => return Ok(false),
            _ => "250 fine\r\n",
        };
        stream.write_all(answer.as_bytes())?;
        stream.flush()?;
    }
}

fn line(stream: &mut impl Read) -> io::Result<String> {
    let mut line = Vec::new();
    while !line.ends_with(b"\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        line.push(byte[0]);
    }
    Ok(String::from_utf8_lossy(&line[..line.len() - 2]).into_owned())
}

/// Sends one mail, with a password, to a server with `certificate`, trusting `authority`.
fn send(
    server: Server,
    host: &str,
    certificate: &str,
    authority: Option<&str>,
    tls: SmtpTls,
) -> (Result<(), SendError>, Received) {
    let (address, served) = serve(server, host, certificate);
    let settings = MailSettings {
        smtp_host: Some(address.ip().to_string()),
        smtp_port: Some(address.port()),
        smtp_username: Some("tidewatch".to_owned()),
        smtp_password: Some("secret".to_owned()),
        smtp_from: Some("Tidewatch <tidewatch@example.com>".to_owned()),
        smtp_tls: tls,
        smtp_ca_file: authority.map(|name| fixture(&format!("{name}.crt"))),
        ..MailSettings::default()
    };
    settings.check().expect("good settings");
    let transport = Transport::new(&settings).expect("good settings").expect("a server is set");
    let (recipient, subject) = ("somebody@example.com".to_owned(), "hello".to_owned());
    let mail = Mail { recipient, subject, text: "text".to_owned(), html: "<p>text</p>".to_owned() };
    let sent = transport.send(1, &mail, "");
    // Dropping the transport closes its connection.
    drop(transport);
    (sent, served.join().expect("the mail server does not fail"))
}

fn sends_mail(lines: &[String]) -> bool {
    ["AUTH", "MAIL", "RCPT", "DATA"].iter().any(|word| lines.iter().any(|line| line.starts_with(word)))
}

#[test]
fn mail_is_delivered_over_tls() {
    for (server, tls, certificate, authority) in [
        (Server::Starttls, SmtpTls::Starttls, "issued", "ca"),
        (Server::Implicit, SmtpTls::Tls, "issued", "ca"),
        // A self-signed certificate in `smtp_ca_file`.
        (Server::Starttls, SmtpTls::Starttls, "one", "one"),
    ] {
        let (sent, received) = send(server, "127.0.0.1", certificate, Some(authority), tls);
        assert!(sent.is_ok(), "{server:?}: {sent:?}");
        assert!(!sends_mail(&received.plain), "{server:?}: {received:?}");
        let words: Vec<&str> = received.encrypted.iter().filter_map(|line| line.split([' ', ':']).next()).collect();
        assert_eq!(words[..5], ["EHLO", "AUTH", "MAIL", "RCPT", "DATA"], "{server:?}: {received:?}");
    }
}

#[test]
fn invalid_certificates_are_refused_before_any_mail_is_sent() {
    for (server, tls) in [(Server::Starttls, SmtpTls::Starttls), (Server::Implicit, SmtpTls::Tls)] {
        for (why, host, certificate, authority) in [
            ("of another authority", "127.0.0.1", "two", Some("ca")),
            ("of no authority that the machine knows", "127.0.0.1", "issued", None),
            ("for another host", "127.0.0.2", "issued", Some("ca")),
        ] {
            let (sent, received) = send(server, host, certificate, authority, tls);
            // The operator can correct the configuration: the mail waits.
            assert!(matches!(sent, Err(SendError::Later(_))), "{server:?}, {why}: {sent:?}");
            assert!(
                !sends_mail(&received.plain) && !sends_mail(&received.encrypted),
                "{server:?}, {why}: {received:?}"
            );
        }
    }
}

#[test]
fn without_starttls_no_mail_is_sent() {
    for server in [Server::WithoutStarttls, Server::BrokenStarttls] {
        let (sent, received) = send(server, "127.0.0.1", "issued", Some("ca"), SmtpTls::Starttls);
        assert!(sent.is_err(), "{server:?}");
        assert!(!sends_mail(&received.plain) && received.encrypted.is_empty(), "{server:?}: {received:?}");
    }
}
