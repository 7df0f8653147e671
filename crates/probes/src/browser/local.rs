//! A check on this machine: a worker process, bounded in time.

use std::process::Stdio;
use std::time::Duration;

use tidewatch_limits as limits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

use super::installation::Installation;
use super::job::{Assignment, Job, Report};

/// The program of this process, also after its file was replaced.
const OWN_PROGRAM: &str = "/proc/self/exe";
/// Size of a report: its output, and an error.
const REPORT_BYTES_MAX: u64 = 1 << 20;

/// Makes a check. When this is dropped, the worker ends it.
pub async fn run(job: Job, installation: Installation) -> Report {
    let time_max = Duration::from_secs(job.timeout_seconds) + limits::BROWSER_GRACE;
    match tokio::time::timeout(time_max, work(&Assignment { job, installation })).await {
        Ok(Ok(report)) => report,
        Ok(Err(error)) => Report::failed(format!("the worker of the check failed: {error}")),
        Err(_) => Report::failed("the worker of the check did not end in time"),
    }
}

async fn work(assignment: &Assignment) -> std::io::Result<Report> {
    let mut command = Command::new(OWN_PROGRAM);
    command.arg("browser-worker").env_clear().envs(std::env::var_os("TMPDIR").map(|folder| ("TMPDIR", folder)));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    // A signal of the terminal ends the server, which ends it. It is not killed: it has processes to end itself.
    command.process_group(0);
    let mut child = command.spawn()?;
    let missing = || std::io::Error::other("it has no pipes");
    // Open until the report is here: its end is the sign to give up.
    let mut input = child.stdin.take().ok_or_else(missing)?;
    let output = child.stdout.take().ok_or_else(missing)?;
    let mut line = serde_json::to_string(assignment)?;
    line.push('\n');
    input.write_all(line.as_bytes()).await?;
    let mut report = Vec::new();
    output.take(REPORT_BYTES_MAX).read_to_end(&mut report).await?;
    let status = child.wait().await?;
    serde_json::from_slice(&report).map_err(|_| std::io::Error::other(format!("it ended with {status}")))
}
