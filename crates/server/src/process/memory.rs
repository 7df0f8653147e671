//! Returns freed memory to the system, also while the process is idle.
//!
//! The allocator keeps freed memory for a while, because most of it is soon allocated again, and returns it when it
//! next allocates or frees a larger block. The delay is one second by default; at full load the memory freed within a
//! second is a seventh of all memory. An idle server allocates no larger blocks: memory that its start used for a
//! moment, or the 19 MB of a password hash, stayed with the process. So a larger block is allocated and freed
//! periodically.
//!
//! The allocator reads its settings before `main`, so `serve` calls `exec` on itself once. A delay that the operator
//! configured is kept.

use std::hint::black_box;
use std::time::Duration;

/// The environment variable of the allocator's delay, and our value in milliseconds.
const DELAY: (&str, &str) = ("MIMALLOC_PURGE_DELAY", "100");
/// Interval of purges. A little more than the allocator's default delay of one second.
const PAUSE: Duration = Duration::from_millis(1100);
/// Larger than the blocks that the allocator serves from its own pages (512 KB), so that it is returned at once. Never
/// written to.
const BLOCK_BYTES: usize = 1024 * 1024;

/// Replaces the process by the same program with an allocator delay of a tenth of a second.
///
/// The allocator reads its settings from the environment before `main`; setting them later would need unsafe code. A
/// delay that is already set in the environment stays. Where this fails the process continues unchanged.
pub fn shorten_purge_delay() {
    #[cfg(unix)]
    if std::env::var_os(DELAY.0).is_none()
        && let Err(error) = re_exec()
    {
        tracing::debug!(%error, "freed memory is kept for a second: {error}");
    }
}

/// Returns only on failure.
#[cfg(unix)]
fn re_exec() -> std::io::Result<()> {
    use std::os::unix::process::CommandExt as _;

    let mut arguments = std::env::args_os();
    let mut program = std::process::Command::new(std::env::current_exe()?);
    if let Some(name) = arguments.next() {
        program.arg0(name);
    }
    Err(program.args(arguments).env(DELAY.0, DELAY.1).exec())
}

/// Purges periodically until the process ends. Each purge takes a few microseconds.
pub async fn purge_periodically() {
    loop {
        tokio::time::sleep(PAUSE).await;
        purge();
    }
}

/// Makes the allocator return memory that was freed at least its delay ago.
fn purge() {
    drop(black_box(Vec::<u8>::with_capacity(BLOCK_BYTES)));
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use tidewatch_bench::process;

    use super::*;

    /// Resident memory in bytes; `None` where there is no `/proc`.
    fn resident() -> Option<u64> {
        process::usage(std::process::id()).map(|usage| usage.resident)
    }

    #[test]
    fn freed_memory_is_returned_to_the_system() {
        // Far more than the other tests of the process take and free meanwhile.
        const TAKEN: usize = 256 * 1024 * 1024;
        let Some(before) = resident() else { return };
        let taken = black_box(vec![1_u8; TAKEN]);
        assert!(resident().unwrap() >= before + TAKEN as u64 / 2, "the allocator of the program is in use");
        drop(taken);
        let deadline = Instant::now() + Duration::from_secs(60);
        while resident().unwrap() > before + TAKEN as u64 / 4 {
            assert!(Instant::now() < deadline, "still held");
            process::pause(Duration::from_millis(20));
            purge();
        }
    }
}
