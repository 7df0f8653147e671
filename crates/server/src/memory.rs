//! Memory that was freed goes back to the system, also when nothing happens afterwards.
//!
//! The allocator keeps what was freed for a while, for it is mostly wanted again, and then gives it back when it next
//! takes or frees a larger block. The while is a second unless it is told otherwise, which at full load is a seventh of
//! all memory; and a server that nobody asks anything never does: what its start took for a moment, or the
//! 19 MB of a password's hash, stayed for as long as it was idle. So a larger block is taken and freed now and then.

use std::hint::black_box;
use std::time::Duration;

/// The allocator's setting for that while, and ours, in milliseconds.
const DELAY: (&str, &str) = ("MIMALLOC_PURGE_DELAY", "100");
/// How often. A little more than the second that the allocator waits where it was not told otherwise.
const PAUSE: Duration = Duration::from_millis(1100);
/// More than the allocator cuts out of blocks of its own (512 KB), so that it gives it back at once. Never written to.
const BLOCK_BYTES: usize = 1024 * 1024;

/// Starts the program once more, in this process, with an allocator that keeps what was freed for a tenth of a second.
///
/// It reads its settings from the environment, before `main`; telling it later would be unsafe code. A delay that the
/// environment has already stays. Where it cannot be done all goes on as it is.
pub fn keep_freed_briefly() {
    #[cfg(unix)]
    if std::env::var_os(DELAY.0).is_none()
        && let Err(error) = start_again()
    {
        tracing::debug!(%error, "freed memory is kept for a second: {error}");
    }
}

/// Returns only when it fails.
#[cfg(unix)]
fn start_again() -> std::io::Result<()> {
    use std::os::unix::process::CommandExt as _;

    let mut arguments = std::env::args_os();
    let mut program = std::process::Command::new(std::env::current_exe()?);
    if let Some(name) = arguments.next() {
        program.arg0(name);
    }
    Err(program.args(arguments).env(DELAY.0, DELAY.1).exec())
}

/// Until the process ends; a few microseconds each time.
pub async fn give_back_always() {
    loop {
        tokio::time::sleep(PAUSE).await;
        give_back();
    }
}

/// Has the allocator look for what was freed a second ago or earlier.
fn give_back() {
    drop(black_box(Vec::<u8>::with_capacity(BLOCK_BYTES)));
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use tidewatch_bench::process;

    use super::*;

    /// Bytes; `None` where there is no `/proc`.
    fn resident() -> Option<u64> {
        process::usage(std::process::id()).map(|usage| usage.resident)
    }

    #[test]
    fn what_is_freed_goes_back_to_the_system() {
        const TAKEN: usize = 64 * 1024 * 1024;
        let Some(before) = resident() else { return };
        let taken = black_box(vec![1_u8; TAKEN]);
        assert!(resident().unwrap() >= before + TAKEN as u64, "the allocator of the program is in use");
        drop(taken);
        let deadline = Instant::now() + Duration::from_secs(60);
        while resident().unwrap() > before + TAKEN as u64 / 4 {
            assert!(Instant::now() < deadline, "still held");
            process::pause(Duration::from_millis(20));
            give_back();
        }
    }
}
