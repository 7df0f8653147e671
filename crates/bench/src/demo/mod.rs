//! Realistic traffic of a fictional shop. `tidewatch demo` sends it through the public OTLP routes with a project
//! token, like any exporter. The server can also load an hour of it into a project of its own.
//!
//! Loaded traffic passes admission, quota and journal like any export. An organization has one demo project.

pub mod incident;
mod instance;
mod otlp;
pub(crate) mod random;
mod shop;
pub mod traffic;
mod visitor;

use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tidewatch_domain::units::SECOND_NS;

use anyhow::{Context, bail};
use serde_json::{Value, json};

use incident::{Effect, Incident, Plan};
use shop::Shop;
use traffic::{History, Traffic};

/// Spans that wait before an export of the history.
const SPANS_PER_EXPORT: usize = 4000;

/// Sends a day of history with an incident in its last hour, then goes on live until interrupted.
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
    /// Fault of the shop, from 40 minutes before the end of the history, or in its last third.
    #[arg(long, value_enum, default_value_t = Incident::Release)]
    incident: Incident,
    /// Strength of the fault.
    #[arg(long, value_enum, default_value_t = Effect::Big)]
    effect: Effect,
    /// Minutes of history to send first.
    #[arg(long, default_value_t = 26 * 60)]
    history_minutes: u64,
    /// The end of the history, such as 2026-11-23T09:44:00Z; nothing live follows. Default: now, and live traffic.
    #[arg(long)]
    now: Option<jiff::Timestamp>,
    /// Things that happen in the shop per second in the last two hours; a tenth of it before.
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
    let (token, project) = match &args.token {
        Some(token) => (token.clone(), None),
        None => token_by_sign_in(base, args, &mut print_line)?,
    };
    let now_ns = match args.now {
        Some(now) => u64::try_from(now.as_nanosecond()).context("--now is before 1970")?,
        None => now_ns()?,
    };
    let is_once = args.once || args.now.is_some();
    let history = History {
        now_ns,
        minutes: args.history_minutes,
        rate: args.rate,
        seed: args.seed,
        incident: args.incident,
        effect: args.effect,
    };
    print_line(&format!("sending {} minutes of history to {base}", args.history_minutes));
    let mut traffic = Traffic::new(history);
    let sent = send_history(base, &token, &mut traffic, now_ns)?;
    print_line(&planted(history.plan()));
    print_line(&format!("see {}", page(base, project.as_deref(), args.incident)));
    print_line(&format!("sent {sent} spans"));
    if is_once { Ok(()) } else { go_live(base, &token, &mut traffic) }
}

/// Sends live traffic until interrupted, or until an export fails.
fn go_live(base: &str, token: &str, traffic: &mut Traffic) -> anyhow::Result<()> {
    loop {
        let live_ns = now_ns()?;
        if traffic.clock_ns() >= live_ns {
            std::thread::park_timeout(Duration::from_nanos(traffic.clock_ns() - live_ns));
        } else if traffic.step() {
            export(base, token, &mut traffic.shop)?;
        }
    }
}

/// Sends the traffic until `now_ns`. Returns the number of spans.
fn send_history(base: &str, token: &str, traffic: &mut Traffic, now_ns: u64) -> anyhow::Result<usize> {
    let mut sent = 0;
    while traffic.clock_ns() < now_ns {
        traffic.step();
        if traffic.shop.exports.span_count >= SPANS_PER_EXPORT {
            sent += export(base, token, &mut traffic.shop)?;
        }
    }
    Ok(sent + export(base, token, &mut traffic.shop)?)
}

/// Description of the fault: its kind, its start, and the expected answers of the product.
fn planted(plan: Plan) -> String {
    let at = i64::try_from(plan.at_ns / SECOND_NS as u64).unwrap_or_default();
    let at = jiff::Timestamp::from_second(at).map_or_else(|_| String::new(), |at| at.to_string());
    let time = at.get(11..16).unwrap_or_default();
    format!("planted: {} at {time} UTC ({at}); expect: {}", plan.incident.name(), plan.incident.expected())
}

/// The address of the page of what got worse; of the Overview when nothing did. `project`: `None` if it is not known.
fn page(base: &str, project: Option<&str>, incident: Incident) -> String {
    let Some(project) = project else { return base.to_owned() };
    let overview = format!("{base}/p/{project}");
    let Some(question) = incident.expected().question else { return overview };
    let list = if question.entity == "ai_trace" { "ai" } else { "endpoints" };
    let mut page = format!("{overview}/{list}/");
    for byte in question.name.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => page.push(char::from(byte)),
            byte => page.push_str(&format!("%{byte:02X}")),
        }
    }
    page
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

/// Registers the demo account on a new server, or signs in. Returns the first project's token and its id.
fn token_by_sign_in(
    base: &str,
    args: &DemoArgs,
    print_line: &mut impl FnMut(&str),
) -> anyhow::Result<(String, Option<String>)> {
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

fn first_token(bundle: &Value) -> anyhow::Result<(String, Option<String>)> {
    let project = &bundle["projects"][0];
    let id = project["id"].as_str().map(str::to_owned);
    project["token"].as_str().map(|token| (token.to_owned(), id)).context("the account has no project")
}

fn now_ns() -> anyhow::Result<u64> {
    Ok(SystemTime::now().duration_since(UNIX_EPOCH).context("the clock is before 1970")?.as_nanos() as u64)
}
