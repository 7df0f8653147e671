//! CPU time and memory of a process, read from `/proc`.

use std::time::{Duration, Instant};

/// CPU time and memory of a process at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Usage {
    /// CPU time of all threads in seconds, kernel time included.
    pub cpu_seconds: f64,
    /// Resident memory in bytes.
    pub resident: u64,
    /// Peak resident memory in bytes, since the process started.
    pub resident_peak: u64,
}

/// The usage of a process. `None`: there is no such process or no `/proc`.
pub fn usage(pid: u32) -> Option<Usage> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let bytes = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name))?;
        Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
    };
    let (resident, resident_peak) = (bytes("VmRSS")?, bytes("VmHWM")?);
    Some(Usage { cpu_seconds: cpu_seconds(pid)?, resident, resident_peak })
}

/// CPU seconds of a process, ended threads included. The process-wide value counts ticks of 10 ms on Linux, so the sum
/// of the running threads' nanoseconds is used where it is larger. `None`: there is no such process or no `/proc`.
pub fn cpu_seconds(pid: u32) -> Option<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is a name in parentheses, which may contain anything.
    let rest = stat.rsplit_once(')')?.1;
    let ticks = rest.split_whitespace().skip(11).take(2).map(|field| field.parse::<u64>().ok());
    let whole = ticks.sum::<Option<u64>>()? as f64 / 100.0;
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let running = threads.flatten().filter_map(|thread| {
        let text = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    });
    Some(whole.max(running.sum::<u64>() as f64 / 1e9))
}

/// CPU seconds of the running threads whose name starts with `name`.
pub fn thread_cpu_seconds(pid: u32, name: &str) -> f64 {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return 0.0 };
    let read = |path: std::path::PathBuf| std::fs::read_to_string(path).unwrap_or_default();
    let named = threads.flatten().filter(|thread| read(thread.path().join("comm")).starts_with(name));
    let spent = |text: String| text.split(' ').next().and_then(|field| field.parse::<u64>().ok());
    named.filter_map(|thread| spent(read(thread.path().join("schedstat")))).sum::<u64>() as f64 / 1e9
}

/// Waits until the process uses less than 2 % of a core over `calm`; false when `timeout` passes first.
pub fn wait_quiet(pid: u32, calm: Duration, timeout: Duration) -> bool {
    let deadline = Instant::now() + timeout;
    let mut last = cpu_seconds(pid).unwrap_or_default();
    while Instant::now() < deadline {
        pause(calm);
        let now = cpu_seconds(pid).unwrap_or_default();
        if now - last < calm.as_secs_f64() * 0.02 {
            return true;
        }
        last = now;
    }
    false
}

/// Blocks for this duration. There is no event to wait for when another process is watched or a rate is kept.
pub fn pause(duration: Duration) {
    let until = Instant::now() + duration;
    while let Some(left) = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
        std::thread::park_timeout(left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_of_this_process_is_plausible() {
        let usage = usage(std::process::id()).expect("Linux");
        assert!(usage.resident > 1 << 20 && usage.resident_peak >= usage.resident / 2, "{usage:?}");
        assert_eq!(super::usage(u32::MAX), None);
    }
}
