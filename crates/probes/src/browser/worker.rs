//! The worker process of one check: `tidewatch browser-worker`.
//!
//! Standard input: the job, and then nothing until the server ends or gives up, which ends the check. Standard output:
//! the report. It starts Chromium and Node, passes their messages on, and ends both with whatever they have started.

use std::io::Write;
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use parking_lot::Mutex;
use serde::Deserialize;
use tidewatch_limits as limits;
use tidewatch_runtime::outbound::policy::OutboundPolicy;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::net::unix::pipe;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::devtools::{self, Passed};
use super::installation::Installation;
use super::job::{Assignment, Job, Report};
use super::output::Output;
use super::{processes, proxy};

/// The program of the process with the script.
const SCRIPT_PROGRAM: &str = include_str!("worker.js");
/// The program of this process, also after its file was replaced.
const OWN_PROGRAM: &str = "/proc/self/exe";
/// Messages that wait until the script reads them.
const QUEUED_MAX: usize = 4;
/// Messages of one script that are refused before it is ended.
const REFUSED_MAX: usize = 1000;

/// Makes one check.
pub fn run() -> anyhow::Result<()> {
    // One thread: children are ended when the thread that has started them ends.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let report = runtime.block_on(serve())?;
    // A look-up of a name may still block.
    runtime.shutdown_background();
    if let Some(report) = report {
        writeln!(std::io::stdout(), "{}", serde_json::to_string(&report)?)?;
    }
    Ok(())
}

/// `None`: the server gave up.
async fn serve() -> anyhow::Result<Option<Report>> {
    processes::adopt_orphans()?;
    processes::yield_memory();
    let input = std::io::stdin().as_fd().try_clone_to_owned()?;
    let mut input = BufReader::new(pipe::Receiver::from_owned_fd(input)?);
    let mut line = String::new();
    input.read_line(&mut line).await?;
    let assignment: Assignment = serde_json::from_str(&line).context("standard input is no job")?;
    let folder = tempfile::Builder::new().prefix("tidewatch-browser-").tempdir()?;
    let output = Arc::new(Mutex::new(Output::default()));
    let report = tokio::select! {
        report = check(&assignment, folder.path(), &output) => Some(report),
        _ = input.read_u8() => None,
    };
    processes::end_all().await;
    Ok(report)
}

async fn check(assignment: &Assignment, folder: &Path, output: &Arc<Mutex<Output>>) -> Report {
    let Assignment { job, installation } = assignment;
    let ended = tokio::select! {
        ended = run_script(job, installation, folder, output) => ended,
        () = tokio::time::sleep(Duration::from_secs(job.timeout_seconds)) => {
            Err(format!("no result within {} s", job.timeout_seconds))
        }
        () = processes::exceed(limits::BROWSER_MEMORY_BYTES_MAX, limits::BROWSER_MEMORY_PAUSE) => {
            Err(format!("the browser and the script used more than {} MiB of memory", limits::BROWSER_MEMORY_BYTES_MAX >> 20))
        }
    };
    let (error, duration_ns) = match ended {
        Ok(ended) => (ended.reason(&mut output.lock()), ended.duration_ns()),
        Err(error) => (Some(error), None),
    };
    Report { error, duration_ns, output: std::mem::take(&mut *output.lock()).into_string() }
}

/// Report of the script's process at its end.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Ended {
    duration_ms: Option<f64>,
    error: Option<String>,
    /// The line of the script, counted from 1.
    line: Option<u32>,
}

impl Ended {
    fn duration_ns(&self) -> Option<i64> {
        let ms = self.duration_ms.filter(|ms| ms.is_finite() && *ms >= 0.0)?;
        Some((ms * 1e6) as i64)
    }

    /// The first line of the error; all of them are printed.
    fn reason(&self, output: &mut Output) -> Option<String> {
        let error = self.error.as_ref()?;
        let mut lines = error.lines().filter(|line| !line.trim().is_empty());
        let first = lines.next().unwrap_or("the script threw nothing that has a message").trim();
        if lines.next().is_some() {
            output.add(error);
        }
        let place = self.line.map(|line| format!("line {line}: ")).unwrap_or_default();
        // The browser knows only that a connection ended.
        let refusal = output.refusal().filter(|_| first.contains("net::ERR_"));
        let refusal = refusal.map(|refusal| format!(" ({refusal})")).unwrap_or_default();
        Some(format!("{place}{first}{refusal}"))
    }
}

/// A started program with its pipes.
struct Started {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// The end of what it wrote to standard error.
    complaints: JoinHandle<String>,
}

impl Started {
    fn new(mut command: Command) -> Result<Started, String> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let failed = || "a process of the check does not start".to_owned();
        let mut child = command.spawn().map_err(|error| format!("{}: {error}", failed()))?;
        let input = child.stdin.take().ok_or_else(failed)?;
        let output = BufReader::new(child.stdout.take().ok_or_else(failed)?);
        let complaints = tokio::spawn(last_lines(child.stderr.take().ok_or_else(failed)?));
        Ok(Started { child, input, output, complaints })
    }
}

/// Reads until the end, and returns the last kilobytes.
async fn last_lines(mut stream: ChildStderr) -> String {
    const KEPT: usize = 4096;
    let (mut kept, mut chunk) = (Vec::new(), [0; KEPT]);
    while let Ok(length @ 1..) = stream.read(&mut chunk).await {
        kept.extend_from_slice(&chunk[..length]);
        kept.drain(..kept.len().saturating_sub(KEPT));
    }
    String::from_utf8_lossy(&kept).into_owned()
}

/// Reason for which a program ended that should have run on.
async fn cause(mut child: Child, complaints: JoinHandle<String>, name: &str) -> String {
    /// Descriptors may be open in a child of the program.
    const PATIENCE: Duration = Duration::from_secs(1);
    let status = child.wait().await.map_or_else(|error| error.to_string(), |status| status.to_string());
    let lines = tokio::time::timeout(PATIENCE, complaints).await.ok().and_then(Result::ok).unwrap_or_default();
    if lines.contains("heap out of memory") {
        return format!("the script used more than {} MiB for its objects", limits::BROWSER_SCRIPT_HEAP_MIB);
    }
    let last = lines.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    format!("{name} ended without a result ({status}) {last}").trim_end().to_owned()
}

async fn run_script(
    job: &Job,
    installation: &Installation,
    folder: &Path,
    output: &Arc<Mutex<Output>>,
) -> Result<Ended, String> {
    let failed = |error: std::io::Error| format!("the check cannot be prepared: {error}");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(failed)?;
    let address = format!("http://{}", listener.local_addr().map_err(failed)?);
    let policy = OutboundPolicy { allows_private: job.allows_private };
    let notices = output.clone();
    tokio::spawn(proxy::serve(listener, policy, Arc::new(move |reason| notices.lock().refused(reason))));
    let program = folder.join("worker.js");
    let home = folder.join("home");
    std::fs::write(&program, SCRIPT_PROGRAM).and_then(|()| std::fs::create_dir(&home)).map_err(failed)?;
    let browser = Started::new(browser_command(installation, &home))?;
    let mut script = Started::new(script_command(installation, &program))?;
    let first = serde_json::json!({
        "script": job.script, "env": job.env, "traceId": job.trace_id, "timeoutMs": job.timeout_seconds * 1000,
        "playwright": installation.playwright, "artifacts": home,
    });
    send(&mut script.input, first.to_string().as_bytes()).await.map_err(failed)?;
    let (refused, refusals) = mpsc::unbounded_channel();
    tokio::select! {
        ended = to_browser(script.output, browser.input, refused, output, &address) => match ended {
            Some(ended) => ended,
            None => Err(cause(script.child, script.complaints, "the script").await),
        },
        () = to_script(browser.output, script.input, refusals) => {
            Err(cause(browser.child, browser.complaints, "the browser").await)
        }
    }
}

/// Passes messages of the script on, until it has a result. `None`: it ended without one.
async fn to_browser(
    mut script: BufReader<ChildStdout>,
    mut browser: ChildStdin,
    refused: mpsc::UnboundedSender<String>,
    output: &Mutex<Output>,
    proxy: &str,
) -> Option<Result<Ended, String>> {
    let mut refused_count = 0;
    loop {
        let message = receive(&mut script, limits::BROWSER_REQUEST_BYTES_MAX).await?;
        let (kind, message) = message.split_first()?;
        match kind {
            b'>' => match devtools::check(message, proxy) {
                // The end of the browser is seen by the other direction.
                Ok(Passed::Browser(message)) => drop(send(&mut browser, message.as_bytes()).await),
                Ok(Passed::Script(answer)) if refused_count < REFUSED_MAX => {
                    refused_count += 1;
                    refused.send(answer).ok()?;
                }
                Ok(Passed::Script(_)) => return Some(Err("the script sent too much that is refused".to_owned())),
                Err(error) => return Some(Err(error)),
            },
            b'L' => output.lock().add(&String::from_utf8_lossy(message)),
            b'R' => {
                let ended = serde_json::from_slice(message);
                return Some(ended.map_err(|error| format!("the script has no valid result: {error}")));
            }
            _ => return None,
        }
    }
}

/// Passes messages of the browser, and refusals, on to the script. Returns when the browser has ended.
async fn to_script(
    mut browser: BufReader<ChildStdout>,
    mut script: ChildStdin,
    mut refusals: mpsc::UnboundedReceiver<String>,
) {
    let (queue, mut queued) = mpsc::channel(QUEUED_MAX);
    let read = async {
        while let Some(message) = receive(&mut browser, limits::BROWSER_MESSAGE_BYTES_MAX).await {
            if queue.send(message).await.is_err() {
                return;
            }
        }
    };
    let write = async {
        loop {
            let message = tokio::select! {
                Some(refusal) = refusals.recv() => refusal.into_bytes(),
                Some(message) = queued.recv() => message,
                else => return,
            };
            // The end of the script is seen by the other direction.
            let _ = send(&mut script, &message).await;
        }
    };
    tokio::select! { () = read => {}, () = write => {} }
}

/// The next message, without its NUL. `None` at the end, and for one that is too large.
async fn receive(stream: &mut BufReader<ChildStdout>, bytes_max: usize) -> Option<Vec<u8>> {
    let mut message = Vec::new();
    stream.take(bytes_max as u64 + 1).read_until(0, &mut message).await.ok()?;
    (message.pop() == Some(0)).then_some(message)
}

async fn send(stream: &mut ChildStdin, message: &[u8]) -> std::io::Result<()> {
    stream.write_all(message).await?;
    stream.write_all(&[0]).await
}

/// A command of this binary that becomes `program`.
fn confined(role: &str, program: &Path) -> Command {
    let mut command = Command::new(OWN_PROGRAM);
    command.arg("browser-process").arg(role).arg(program);
    command
}

fn script_command(installation: &Installation, program: &Path) -> Command {
    let mut command = confined("script", &installation.node);
    command.arg(&installation.permission_flag).arg("--no-warnings");
    command.arg(format!("--max-old-space-size={}", limits::BROWSER_SCRIPT_HEAP_MIB));
    let package = |name: &str| -> PathBuf { installation.playwright.with_file_name(name) };
    let read = [
        program.to_owned(),
        installation.playwright.join("*"),
        package("playwright").join("*"),
        package("package.json"),
    ];
    command.args(read.iter().map(|path| format!("--allow-fs-read={}", path.display())));
    command.arg(program).env_clear();
    command
}

fn browser_command(installation: &Installation, home: &Path) -> Command {
    let mut command = confined("browser", &installation.chromium);
    command.args([
        "--headless",
        "--remote-debugging-pipe",
        "--no-first-run",
        "--no-startup-window",
        "--no-default-browser-check",
        "--disable-background-networking",
        "--disable-background-timer-throttling",
        "--disable-backgrounding-occluded-windows",
        "--disable-breakpad",
        "--disable-client-side-phishing-detection",
        "--disable-component-update",
        "--disable-default-apps",
        "--disable-dev-shm-usage",
        "--disable-domain-reliability",
        "--disable-extensions",
        "--disable-features=DialMediaRouteProvider,MediaRouter,OptimizationHints,Translate",
        "--disable-gpu",
        "--disable-renderer-backgrounding",
        "--disable-sync",
        "--hide-scrollbars",
        "--metrics-recording-only",
        "--mute-audio",
        "--password-store=basic",
        // What is of no context of a script, such as the services of the browser itself, has no network: nothing
        // listens there. The proxy of a context is set when a script makes it.
        "--proxy-server=http://127.0.0.1:1",
        "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
        "--disable-quic",
        "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
        "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    ]);
    command.arg(format!("--proxy-bypass-list={}", devtools::BYPASSES_NOTHING));
    command.arg(format!("--user-data-dir={}", home.join("profile").display()));
    if rustix::process::geteuid().is_root() {
        // It refuses to start with its sandbox as root.
        command.arg("--no-sandbox");
    }
    command.env_clear().current_dir(home);
    command.env("HOME", home).env("TMPDIR", home).env("XDG_RUNTIME_DIR", home).env("LANG", "C.UTF-8");
    command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("DBUS_SESSION_BUS_ADDRESS", "disabled:");
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The error of a script: reason, and what is printed.
    #[test]
    fn the_first_line_of_an_error_is_the_reason() {
        for (error, line, reason, printed) in [
            ("title is Hi", Some(6), "line 6: title is Hi", ""),
            ("title is Hi", None, "title is Hi", ""),
            ("failed\n\nExpected: 1\n", Some(2), "line 2: failed", "failed\n\nExpected: 1\n"),
            ("", None, "the script threw nothing that has a message", ""),
        ] {
            let mut output = Output::default();
            let ended = Ended { error: Some(error.to_owned()), line, duration_ms: None };
            assert_eq!(ended.reason(&mut output).as_deref(), Some(reason));
            assert_eq!(output.into_string(), printed);
        }
    }
}
