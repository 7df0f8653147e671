//! Realistic traffic of a fictional shop. `tidewatch demo` sends it through the public OTLP routes with a project
//! token, like any exporter. The server can also load an hour of it into a project of its own.

mod otlp;
pub(crate) mod random;
mod shop;
pub mod traffic;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, bail};
use serde_json::{Value, json};

use shop::Shop;
use traffic::Traffic;

/// Sends an hour of history, then goes on live until interrupted.
#[derive(Debug, clap::Args)]
pub struct DemoArgs {
    /// Base address of the server.
    #[arg(long, env = "TIDEWATCH_URL", default_value = "http://127.0.0.1:8080")]
    url: String,
    /// Project token (Connect page). Without one the demo signs in with --email and --password,
    /// registering them first when the server is new.
    #[arg(long, env = "TIDEWATCH_TOKEN")]
    token: Option<String>,
    #[arg(long, default_value = "demo@example.com")]
    email: String,
    #[arg(long, default_value = "demo-password")]
    password: String,
    /// Minutes of history to send first.
    #[arg(long, default_value_t = 60)]
    history_minutes: u64,
    /// Things that happen in the shop per second.
    #[arg(long, default_value_t = 3.0)]
    rate: f64,
    /// Stop after the history instead of going on live.
    #[arg(long)]
    once: bool,
    /// The same seed gives the same traffic.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Runs until interrupted, or until the history is sent with `--once`.
pub fn run(args: &DemoArgs, mut print_line: impl FnMut(&str)) -> anyhow::Result<()> {
    let base = args.url.trim_end_matches('/');
    wait_ready(base)?;
    let token = match &args.token {
        Some(token) => token.clone(),
        None => token_by_sign_in(base, args, &mut print_line)?,
    };
    let now_ns = now_ns()?;
    let mut traffic = Traffic::until(now_ns, args.history_minutes, args.rate, args.seed ^ now_ns);
    let mut sent = 0;
    print_line(&format!("sending {} minutes of history to {base}", args.history_minutes));
    loop {
        let live_ns = self::now_ns()?;
        if traffic.clock_ns() >= live_ns {
            if args.once {
                break;
            }
            std::thread::park_timeout(Duration::from_nanos(traffic.clock_ns() - live_ns));
            continue;
        }
        if traffic.step() {
            sent += export(base, &token, &mut traffic.shop)?;
        }
    }
    sent += export(base, &token, &mut traffic.shop)?;
    print_line(&format!("sent {sent} spans"));
    Ok(())
}

/// Waits until the server is ready: one that has just started may still replay its journal.
fn wait_ready(base: &str) -> anyhow::Result<()> {
    for _ in 0..60 {
        match agent().get(format!("{base}/health")).call() {
            Ok(response) if response.status() == 200 => return Ok(()),
            _ => std::thread::park_timeout(Duration::from_millis(500)),
        }
    }
    bail!("no server is ready at {base}: start one with `make run`")
}

/// Posts all pending exports, retrying on 503. Returns the number of spans.
fn export(base: &str, token: &str, shop: &mut Shop) -> anyhow::Result<usize> {
    let spans = shop.exports.span_count;
    for (signal, body) in shop.exports.take_bodies() {
        let url = format!("{base}/api/otel/v1/{}", signal.as_str());
        let mut attempts = 0;
        loop {
            let request = agent().post(&url).header("Content-Type", "application/x-protobuf");
            let answer = request.header("Authorization", format!("Bearer {token}")).send(&body);
            match answer {
                Ok(response) if response.status().is_success() => break,
                Ok(response) if response.status() == 503 && attempts < 20 => attempts += 1,
                Ok(mut response) => {
                    let why = response.body_mut().read_to_string().unwrap_or_default();
                    bail!("{url} answered {}: {why}", response.status());
                }
                Err(error) => return Err(error).with_context(|| format!("cannot post to {url}")),
            }
            std::thread::park_timeout(Duration::from_secs(1));
        }
    }
    Ok(spans)
}

fn agent() -> ureq::Agent {
    ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(Duration::from_secs(60)))
        .build()
        .into()
}

/// Registers the demo account on a new server, or signs in. Returns the first project's token.
fn token_by_sign_in(base: &str, args: &DemoArgs, print_line: &mut impl FnMut(&str)) -> anyhow::Result<String> {
    let register = json!({
        "email": args.email, "password": args.password, "name": "Demo",
        "organizationName": "Demo shop", "timezone": "UTC", "projectName": "Shop", "framework": "opentelemetry",
        "setupCode": std::env::var("TIDEWATCH_SETUP_CODE").ok(),
    });
    let (status, body) = post(&format!("{base}/api/register"), &register)?;
    if status == 201 {
        print_line(&format!("registered {} with the password {}", args.email, args.password));
        return first_token(&body);
    }
    if status == 403 {
        bail!(
            "the server is new: register in the browser and pass --token, or set TIDEWATCH_SETUP_CODE to the code that it printed"
        );
    }
    let login = json!({"email": args.email, "password": args.password});
    let (status, body) = post(&format!("{base}/api/login"), &login)?;
    if status != 200 {
        bail!("the server already has an account: pass --token with a project token from its Connect page");
    }
    first_token(&body)
}

fn post(url: &str, body: &Value) -> anyhow::Result<(u16, Value)> {
    let mut response = agent().post(url).send_json(body).with_context(|| format!("cannot reach {url}"))?;
    let status = response.status().as_u16();
    Ok((status, response.body_mut().read_json().unwrap_or(Value::Null)))
}

fn first_token(bundle: &Value) -> anyhow::Result<String> {
    bundle["projects"][0]["token"].as_str().map(str::to_owned).context("the account has no project")
}

fn now_ns() -> anyhow::Result<u64> {
    Ok(SystemTime::now().duration_since(UNIX_EPOCH).context("the clock is before 1970")?.as_nanos() as u64)
}
