//! A mail server for tests: plain SMTP on loopback that stores received mails and can refuse the first ones as busy.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tidewatch_accounts::mail::settings::SmtpTls;
use tidewatch_server::config::Config;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::engines::On;
use crate::harness::{Harness, Project};

/// One received mail.
#[derive(Debug, Clone)]
pub struct Received {
    pub from: String,
    pub to: Vec<String>,
    /// Head and body as they were sent.
    pub raw: String,
}

pub struct Mailbox {
    pub address: SocketAddr,
    received: UnboundedReceiver<Received>,
    /// The number of recipients that are refused with 451 before one is accepted.
    busy: Arc<AtomicUsize>,
    /// The number of recipients refused with 451 so far.
    pub refused_busy: Arc<AtomicUsize>,
}

impl Mailbox {
    pub async fn open() -> Mailbox {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (taken, received) = unbounded_channel();
        let (busy, refused_busy) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let shared = (busy.clone(), refused_busy.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (taken, (busy, refused)) = (taken.clone(), shared.clone());
                tokio::spawn(async move { drop(converse(stream, taken, &busy, &refused).await) });
            }
        });
        Mailbox { address, received, busy, refused_busy }
    }

    /// Refuses the next `times` recipients with 451.
    pub fn be_busy(&self, times: usize) {
        self.busy.store(times, Ordering::SeqCst);
    }

    pub async fn next(&mut self) -> Received {
        let wait = tokio::time::timeout(std::time::Duration::from_secs(60), self.received.recv());
        wait.await.expect("a mail within a minute").expect("the mail server runs")
    }

    /// Whether no unread mail has arrived.
    pub fn is_empty(&mut self) -> bool {
        self.received.is_empty()
    }

    /// Starts a server that sends its mails to this mailbox.
    pub async fn harness(&self, database: &On) -> (Harness, Project) {
        let address = self.address;
        let mut harness = Harness::on_with(database, move |config| send_to(config, address)).await;
        let project = harness.register().await;
        (harness, project)
    }
}

pub fn send_to(config: &mut Config, address: SocketAddr) {
    config.mail.smtp_host = Some(address.ip().to_string());
    config.mail.smtp_port = Some(address.port());
    config.mail.smtp_from = Some("Tidewatch <tidewatch@example.com>".to_owned());
    config.mail.smtp_tls = SmtpTls::None;
    config.base_url = Some("https://tide.example.com/".to_owned());
}

/// The part of RFC 5321 that the tests need.
async fn converse(
    stream: TcpStream,
    taken: UnboundedSender<Received>,
    busy: &AtomicUsize,
    refused: &AtomicUsize,
) -> std::io::Result<()> {
    let (read, mut write) = stream.into_split();
    let mut lines = BufReader::new(read).lines();
    write.write_all(b"220 test ESMTP\r\n").await?;
    let mut mail = Received { from: String::new(), to: Vec::new(), raw: String::new() };
    while let Some(line) = lines.next_line().await? {
        let word = line.split([' ', ':']).next().unwrap_or_default().to_uppercase();
        let answer = match word.as_str() {
            "EHLO" => "250-test\r\n250 8BITMIME",
            "HELO" | "NOOP" => "250 fine",
            "RSET" => {
                mail = Received { from: String::new(), to: Vec::new(), raw: String::new() };
                "250 fine"
            }
            "MAIL" => {
                mail.from = address_in(&line);
                "250 fine"
            }
            "RCPT" if busy.load(Ordering::SeqCst) > 0 => {
                busy.fetch_sub(1, Ordering::SeqCst);
                refused.fetch_add(1, Ordering::SeqCst);
                "451 come back later"
            }
            "RCPT" => {
                mail.to.push(address_in(&line));
                "250 fine"
            }
            "DATA" => {
                write.write_all(b"354 go on\r\n").await?;
                while let Some(line) = lines.next_line().await? {
                    if line == "." {
                        break;
                    }
                    mail.raw.push_str(line.strip_prefix('.').unwrap_or(&line));
                    mail.raw.push_str("\r\n");
                }
                let done =
                    std::mem::replace(&mut mail, Received { from: String::new(), to: Vec::new(), raw: String::new() });
                let _ = taken.send(done);
                "250 taken"
            }
            "QUIT" => {
                write.write_all(b"221 bye\r\n").await?;
                return Ok(());
            }
            _ => "500 what",
        };
        write.write_all(format!("{answer}\r\n").as_bytes()).await?;
    }
    Ok(())
}

fn address_in(line: &str) -> String {
    line.split(['<', '>']).nth(1).unwrap_or_default().to_owned()
}

impl Received {
    /// Lines of the head, folded ones joined.
    pub fn head(&self) -> Vec<String> {
        let head = self.raw.split("\r\n\r\n").next().unwrap_or_default();
        let mut lines: Vec<String> = Vec::new();
        for line in head.split("\r\n") {
            match lines.last_mut() {
                Some(last) if line.starts_with([' ', '\t']) => last.push_str(line.trim_start()),
                _ => lines.push(line.to_owned()),
            }
        }
        lines
    }

    /// The whole mail with quoted-printable undone.
    pub fn text(&self) -> String {
        let joined = self.raw.replace("=\r\n", "");
        let bytes = joined.as_bytes();
        let mut out = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            let code = bytes.get(at + 1..at + 3).and_then(|two| std::str::from_utf8(two).ok());
            match code.and_then(|two| u8::from_str_radix(two, 16).ok()) {
                Some(byte) if bytes[at] == b'=' => {
                    out.push(byte);
                    at += 3;
                }
                _ => {
                    out.push(bytes[at]);
                    at += 1;
                }
            }
        }
        String::from_utf8_lossy(&out).into_owned()
    }

    /// The token of the link in the mail.
    pub fn token(&self, page: &str) -> String {
        let text = self.text();
        let link = format!("https://tide.example.com/{page}#token=");
        let rest = text.split(&link).nth(1).unwrap_or_else(|| panic!("no {link} in {text}"));
        rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect()
    }
}

/// Invites a person and returns the token from the mail.
pub async fn invite(harness: &Harness, mailbox: &mut Mailbox, email: &str, role: &str) -> String {
    let organization = organization(harness).await;
    let path = format!("/api/organizations/{organization}/invitations");
    harness.api("POST", &path, &json!({"email": email, "role": role})).await.expect(201);
    let mail = mailbox.next().await;
    assert_eq!(mail.to, [email.to_lowercase()]);
    mail.token("accept-invitation")
}

/// The id of the organization that the harness's login owns.
pub async fn organization(harness: &Harness) -> i64 {
    let bundle = harness.api("GET", "/api/me/login-bundle", &Value::Null).await.expect(200).json();
    bundle["organizations"][0]["id"].as_i64().expect("an organization")
}

/// Invites a person, accepts the invitation, and returns their login and id.
pub async fn member(harness: &Harness, mailbox: &mut Mailbox, name: &str, role: &str) -> (String, i64) {
    let token = invite(harness, mailbox, &format!("{name}@example.com"), role).await;
    let body = json!({"name": name, "password": "correct horse"});
    let path = format!("/api/invitations/{token}/accept");
    let answer = harness.api_as("", "POST", &path, &body).await.expect(201).json();
    (crate::harness::text(&answer["token"]), answer["user"]["id"].as_i64().expect("an id"))
}
