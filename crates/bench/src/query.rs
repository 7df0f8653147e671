//! `tidewatch bench query`: times reads of any HTTP API, one at a time.
//!
//! A list of reads is JSON: `[{"name": "traces", "method": "POST", "path": "/api/spans?projectId={project}", "body":
//! {…}}]`. `{project}` is replaced by the id of the login's first project. `bench fill` writes such a list for its
//! data.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::http::{self, Connection, Request, Target};
use super::load::Latencies;
use super::process;

/// Arguments of `tidewatch bench query`.
#[derive(Debug, Clone, clap::Args)]
pub struct QueryArgs {
    /// Base address.
    #[arg(long, env = "TIDEWATCH_BENCH_URL", default_value = "http://127.0.0.1:8080")]
    pub url: String,
    /// Sent as `Authorization: Bearer TOKEN`; or sign in with --email and --password.
    #[arg(long)]
    pub token: Option<String>,
    /// Of a Tidewatch account: signs in first, and puts its first project in the place of `{project}`.
    #[arg(long, requires = "password")]
    pub email: Option<String>,
    /// Password of that account.
    #[arg(long)]
    pub password: Option<String>,
    /// Another header, `Name: value`; may be repeated.
    #[arg(long = "header", short = 'H')]
    pub headers: Vec<String>,
    /// A file with a list of reads.
    #[arg(long, conflicts_with = "path")]
    pub reads: Option<PathBuf>,
    /// One read: its path and query.
    #[arg(long)]
    pub path: Option<String>,
    /// Its method; POST when there is a body, else GET.
    #[arg(long)]
    pub method: Option<String>,
    /// A file with its body.
    #[arg(long)]
    pub body: Option<PathBuf>,
    /// Media type of bodies.
    #[arg(long, default_value = "application/json")]
    pub content_type: String,
    /// Times each read is made and not counted, after the very first.
    #[arg(long, default_value_t = 3)]
    pub warm_up: usize,
    /// Times each read is made and counted.
    #[arg(long, default_value_t = 50)]
    pub repeat: usize,
    /// Stop repeating a read after this number of seconds.
    #[arg(long, default_value_t = 20.0)]
    pub seconds: f64,
    /// The server's process on this machine: print the CPU time a read takes.
    #[arg(long)]
    pub pid: Option<u32>,
    /// Print one line of JSON per read instead.
    #[arg(long)]
    pub json: bool,
}

/// One read: a request whose response time is measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Read {
    /// Name in the output.
    pub name: String,
    /// HTTP method. `None`: POST with a body, else GET.
    #[serde(default)]
    pub method: Option<String>,
    /// Path and query.
    pub path: String,
    /// The body: a string is sent unchanged, any other value as JSON.
    #[serde(default)]
    pub body: Option<Value>,
}

/// The timing of a read.
#[derive(Debug, Clone)]
pub struct Timed {
    /// Status of the first response.
    pub status: u16,
    /// Size of the last response's body in bytes.
    pub bytes: usize,
    /// Latency of the first request in milliseconds.
    pub first_ms: f64,
    /// Latencies after the warm-up.
    pub warm: Latencies,
    /// Number of those.
    pub count: usize,
    /// CPU time of the server per read after the warm-up, in milliseconds. `None`: its process is not known.
    pub cpu_ms: Option<f64>,
    /// Body of the last response.
    pub answer: Vec<u8>,
}

/// Number of repetitions of a read.
#[derive(Debug, Clone, Copy)]
pub struct Repeats {
    /// Requests that are not counted, after the first one.
    pub warm_up: usize,
    /// Requests that are counted, at least one.
    pub count: usize,
    /// Time after which no further request is sent.
    pub at_most: Duration,
}

/// A server with the credentials for its API.
#[derive(Debug, Clone)]
pub struct Reader {
    /// The server.
    pub target: Target,
    /// Headers of each request, `Name: value`.
    pub headers: Vec<String>,
    /// Replacement for `{project}`.
    pub project: Option<String>,
}

/// Runs the reads and prints one line for each with `print_line`.
pub fn run(arguments: &QueryArgs, mut print_line: impl FnMut(&str)) -> anyhow::Result<()> {
    let reads = reads(arguments)?;
    let target = Target::parse(&arguments.url)?;
    let mut headers = arguments.headers.clone();
    headers.push(format!("Content-Type: {}", arguments.content_type));
    headers.extend(arguments.token.iter().map(|token| format!("Authorization: Bearer {token}")));
    let mut reader = Reader { target, headers, project: None };
    if let (Some(email), Some(password)) = (&arguments.email, &arguments.password) {
        let answer = reader.post("/api/login", &json!({"email": email, "password": password}))?;
        reader.sign_in(&answer)?;
    }
    let at_most = Duration::from_secs_f64(arguments.seconds.clamp(0.0, 1e6));
    let repeats = Repeats { warm_up: arguments.warm_up, count: arguments.repeat.max(1), at_most };
    if !arguments.json {
        print_line(&format!(
            "{:<44} {:>6} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
            "read", "status", "bytes", "first ms", "p50 ms", "p99 ms", "max ms", "CPU ms"
        ));
    }
    for read in reads {
        let timed = reader.time(&read, repeats, arguments.pid)?;
        let at = |share| timed.warm.quantile(share);
        print_line(&match arguments.json {
            true => json!({
                "name": read.name, "status": timed.status, "bytes": timed.bytes, "count": timed.count,
                "firstMs": timed.first_ms, "p50Ms": at(0.5), "p99Ms": at(0.99), "maxMs": at(1.0), "cpuMs": timed.cpu_ms,
            })
            .to_string(),
            false => format!(
                "{:<44} {:>6} {:>9} {:>9.2} {:>9.2} {:>9.2} {:>9.2} {:>9}",
                read.name,
                timed.status,
                timed.bytes,
                timed.first_ms,
                at(0.5),
                at(0.99),
                at(1.0),
                timed.cpu_ms.map_or("-".to_owned(), |milliseconds| format!("{milliseconds:.2}"))
            ),
        });
    }
    Ok(())
}

fn reads(arguments: &QueryArgs) -> anyhow::Result<Vec<Read>> {
    if let Some(path) = &arguments.reads {
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        return serde_json::from_str(&text).with_context(|| format!("{} is no list of reads", path.display()));
    }
    let Some(path) = &arguments.path else { bail!("give --reads FILE, or --path PATH") };
    let body = arguments.body.as_ref().map(|file| {
        let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        anyhow::Ok(Value::String(text))
    });
    Ok(vec![Read { name: path.clone(), method: arguments.method.clone(), path: path.clone(), body: body.transpose()? }])
}

impl Reader {
    /// Reads token and project from the response to a login or registration. An error if there is no token.
    pub fn sign_in(&mut self, answer: &Value) -> anyhow::Result<()> {
        let token = answer["token"].as_str().context("the login gave no token")?;
        self.headers.push(format!("Authorization: Bearer {token}"));
        self.project = answer["projects"][0]["id"].as_str().map(str::to_owned);
        Ok(())
    }

    /// Posts JSON and returns the JSON of the response. An error for any status but 2xx.
    pub fn post(&self, path: &str, body: &Value) -> anyhow::Result<Value> {
        let read = Read { name: path.to_owned(), method: None, path: path.to_owned(), body: Some(body.clone()) };
        let mut connection = Connection::new(self.target.clone());
        let status = connection.send(&self.request(&read))?;
        let text = String::from_utf8_lossy(&connection.answer);
        if !(200..300).contains(&status) {
            bail!("{path} answered {status}: {text}");
        }
        serde_json::from_str(&text).with_context(|| format!("{path} answered no JSON"))
    }

    /// The HTTP request of a read.
    pub fn request(&self, read: &Read) -> Request {
        let path = read.path.replace("{project}", self.project.as_deref().unwrap_or_default());
        let path = format!("{}{path}", self.target.path);
        let method = read.method.as_deref().unwrap_or(if read.body.is_some() { "POST" } else { "GET" });
        let body = match &read.body {
            None => Vec::new(),
            Some(Value::String(text)) => text.clone().into_bytes(),
            Some(value) => value.to_string().into_bytes(),
        };
        Request { head: http::head(method, &self.target, &path, &self.headers), body }
    }

    /// Times a read on a connection of its own. Connecting is not timed. `pid`: the server's process.
    pub fn time(&self, read: &Read, repeats: Repeats, pid: Option<u32>) -> anyhow::Result<Timed> {
        let request = self.request(read);
        let mut connection = Connection::new(self.target.clone());
        connection.connect()?;
        let mut once = || {
            let start = Instant::now();
            let status = connection.send(&request).with_context(|| read.name.clone())?;
            anyhow::Ok((status, start.elapsed(), std::mem::take(&mut connection.answer)))
        };
        let (status, first, mut answer) = once()?;
        for _ in 0..repeats.warm_up {
            once()?;
        }
        let cpu = || pid.and_then(process::cpu_seconds);
        let (before, begun) = (cpu(), Instant::now());
        let (mut warm, mut count) = (Latencies::default(), 0);
        while count < repeats.count && (count == 0 || begun.elapsed() < repeats.at_most) {
            let (_, took, body) = once()?;
            answer = body;
            warm.add(took);
            count += 1;
        }
        warm.sort();
        let cpu_ms = cpu().zip(before).map(|(after, before)| (after - before) * 1e3 / count as f64);
        Ok(Timed { status, bytes: answer.len(), first_ms: first.as_secs_f64() * 1e3, warm, count, cpu_ms, answer })
    }
}
