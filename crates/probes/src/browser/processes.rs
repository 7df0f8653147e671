//! The processes below this one: their memory, and their end.
//!
//! A worker is the subreaper of what it starts: a process that loses its parent becomes a child of the worker, so none
//! leaves the tree.

use std::collections::HashMap;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// Makes this process the parent of those that lose theirs.
#[cfg(target_os = "linux")]
pub fn adopt_orphans() -> std::io::Result<()> {
    Ok(rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?)
}

/// Fails: there are no subreapers elsewhere.
#[cfg(not(target_os = "linux"))]
pub fn adopt_orphans() -> std::io::Result<()> {
    Err(std::io::Error::other("checks by a browser need Linux"))
}

/// When memory is short, the kernel ends this process, and those that it starts, before the server. Without effect
/// where that is not permitted.
pub fn yield_memory() {
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
}

/// One line of `/proc/<pid>/stat`.
struct Stat {
    parent: i32,
    is_ended: bool,
}

fn stat(pid: i32) -> Option<Stat> {
    let line = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may contain spaces and parentheses.
    let (_, rest) = line.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    let is_ended = matches!(fields.next()?, "Z" | "X");
    Some(Stat { parent: fields.next()?.parse().ok()?, is_ended })
}

/// The processes that run below this one.
fn descendants() -> Vec<Pid> {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let stats: HashMap<i32, Stat> = pids.filter_map(|pid| Some((pid, stat(pid)?))).collect();
    let is_below = |pid: i32| {
        let mut at = pid;
        // Bounded, because a process may end, and its number be used again, between two reads.
        for _ in 0..stats.len() {
            match stats.get(&at) {
                Some(stat) if stat.parent == own => return true,
                Some(stat) => at = stat.parent,
                None => return false,
            }
        }
        false
    };
    let running = stats.iter().filter(|(_, stat)| !stat.is_ended).map(|(pid, _)| *pid);
    running.filter(|pid| is_below(*pid)).filter_map(Pid::from_raw).collect()
}

/// Bytes of memory that a process has for itself: without files and programs that others map too.
fn memory_of(pid: Pid) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", pid.as_raw_nonzero())).unwrap_or_default();
    let kilobytes = |name: &str| -> u64 {
        let value = status.lines().find_map(|line| line.strip_prefix(name));
        value.and_then(|value| value.trim().trim_end_matches("kB").trim().parse().ok()).unwrap_or(0)
    };
    (kilobytes("RssAnon:") + kilobytes("RssShmem:")) * 1024
}

/// Completes when the processes below this one use more than `bytes_max` together.
pub async fn exceed(bytes_max: u64, pause: Duration) {
    while descendants().into_iter().map(memory_of).sum::<u64>() <= bytes_max {
        tokio::time::sleep(pause).await;
    }
}

/// Kills every process below this one. Returns when none runs.
pub async fn end_all() {
    loop {
        let running = descendants();
        if running.is_empty() {
            return;
        }
        for pid in running {
            // One that has ended meanwhile is no error.
            let _ = kill_process(pid, Signal::KILL);
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
