//! A fake receiver of notifications: HTTP on loopback that records requests and answers as a test sets.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// One received request.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    pub fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value.as_str())
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    pub fn body(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

type Answers = Arc<Mutex<VecDeque<(u16, String)>>>;

pub struct Receiver {
    pub address: SocketAddr,
    received: UnboundedReceiver<Request>,
    answers: Answers,
}

impl Receiver {
    /// Answers `200 {}` unless a test sets other answers.
    pub async fn open() -> Receiver {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (taken, received) = unbounded_channel();
        let answers = Answers::default();
        let shared = answers.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (taken, answers) = (taken.clone(), shared.clone());
                tokio::spawn(async move { drop(serve(stream, &taken, &answers).await) });
            }
        });
        Receiver { address, received, answers }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Sets the answers to the next requests.
    pub fn answer(&self, answers: &[(u16, &str)]) {
        let answers = answers.iter().map(|(status, body)| (*status, (*body).to_owned()));
        self.answers.lock().expect("no panic holds it").extend(answers);
    }

    pub async fn next(&mut self) -> Request {
        let wait = tokio::time::timeout(std::time::Duration::from_secs(60), self.received.recv());
        wait.await.expect("a request within a minute").expect("the receiver runs")
    }

    /// Whether no unread request has arrived.
    pub fn is_empty(&self) -> bool {
        self.received.is_empty()
    }
}

async fn serve(stream: TcpStream, taken: &UnboundedSender<Request>, answers: &Answers) -> std::io::Result<()> {
    let (read, mut write) = stream.into_split();
    let mut reader = BufReader::new(read);
    let mut line = String::new();
    reader.read_line(&mut line).await?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).await?;
        match line.trim_end().split_once(": ") {
            Some((name, value)) => headers.push((name.to_owned(), value.to_owned())),
            None => break,
        }
    }
    let mut request = Request { method, path, headers, body: Vec::new() };
    let length: usize = request.header("Content-Length").parse().unwrap_or(0);
    request.body.resize(length, 0);
    reader.read_exact(&mut request.body).await?;
    let next = answers.lock().expect("no panic holds it").pop_front();
    let (status, body) = next.unwrap_or((200, "{}".to_owned()));
    let _ = taken.send(request);
    let head = format!("HTTP/1.1 {status} X\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", body.len());
    write.write_all(&[head.as_bytes(), body.as_bytes()].concat()).await
}
